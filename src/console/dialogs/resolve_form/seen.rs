//! What an analyst should have seen before deciding: duplicates, the network's own rule, notices, the closing window.

use chrono::Duration;

use super::older::Older;
use super::warning::FormWarning;
use super::{Focus, FormMoment, ResolveForm};
use crate::console::answer_words::{answer_told, answered_as};
use crate::console::decisions::leaves_at_once;
use crate::console::text::sanitize;
use crate::console::times;
use crate::console::unfinished::in_words;
use crate::domain::advice::AdviceBasis;
use crate::domain::duplicate::{DecisionSays, Duplicate, DuplicateState};
use crate::domain::resolution::{Decision, OlderWord};
use crate::domain::{AlertStatus, Deadline, OrderAdvice, Timestamp};

/// So long before its end a window is worth a warning.
const CLOSING: Duration = Duration::minutes(15);

/// How much a line asks for attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Attention {
    Stop,
    Care,
    Fits,
    Note,
}

/// A notice of the form: one thing to have seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) tone: Attention,
    pub(super) text: String,
}

impl Seen {
    fn new(tone: Attention, text: impl Into<String>) -> Self {
        Self { tone, text: text.into() }
    }
}

/// What is said of a double whose answer, that it was refunded before, is on its way.
const BEING_ANSWERED: &str = "already being answered, not recorded yet";

/// What stands behind the alert that a key goes to.
pub(super) const WARNED_KEY: &str = "(alt-w)";

impl ResolveForm {
    /// Everything to have seen, what matters most first.
    pub(super) fn seen(&self, moment: FormMoment) -> Vec<Seen> {
        let FormMoment { now, held_back_by } = moment;
        let mut lines = Vec::new();
        lines.extend(self.standing());
        let changed = self.changed.as_ref().filter(|_| self.sends_nothing().is_none());
        lines
            .extend(changed.map(|words| {
                Seen::new(Attention::Stop, format!("changed since the form opened: {}", sanitize(words)))
            }));
        if let Some(why) = held_back_by.filter(|_| self.sends_nothing().is_none()) {
            lines.push(Seen::new(Attention::Care, format!("{why}: it stays queued, avert asks first")));
        }
        let named = self.warned_of(now);
        lines.extend(self.warnings.iter().filter_map(|warning| {
            let Seen { tone, text } = self.seen_of(warning, now)?;
            let is_named = named.is_some() && warning.duplicate() == named;
            Some(Seen { tone, text: if is_named { format!("{text} {WARNED_KEY}") } else { text } })
        }));
        lines.extend(self.network_rule());
        lines.extend(self.window(now));
        if self.alert.alert_type.is_notice() {
            lines.push(Seen::new(Attention::Care, "The network expects no answer."));
        }
        if let Some(older) = &self.older {
            lines.extend(self.words(older));
        }
        if lines.is_empty() {
            lines.push(Seen::new(Attention::Note, "no warnings"));
        }
        lines.sort_by_key(|line| line.tone);
        lines
    }

    /// The other alert that weighs most of those that are warned of.
    pub(super) fn warned_of(&self, now: Timestamp) -> Option<&Duplicate> {
        let told = |warning| Some((self.seen_of(warning, now)?.tone, warning.duplicate()?));
        self.warnings.iter().filter_map(told).min_by_key(|(tone, _)| *tone).map(|(_, duplicate)| duplicate)
    }

    /// Why nothing is sent whatever is decided here, in two parts; none where a decision can leave.
    pub(super) fn sends_nothing(&self) -> Option<(&'static str, String)> {
        match &self.alert.outcome {
            Some(_) => Some(("nothing is sent", format!("already answered: {}", answered_as(&self.alert)))),
            None if self.place.read_only => Some(("nothing is sent", "read-only connection".to_owned())),
            None => None,
        }
    }

    /// Whether the decision would leave without a grace: the window closes before it is over.
    pub(super) fn leaves_at_once(&self, now: Timestamp) -> bool {
        let grace =
            Duration::try_seconds(self.place.grace_seconds.try_into().unwrap_or(i64::MAX)).unwrap_or(Duration::MAX);
        leaves_at_once(&self.alert, grace, now)
    }

    /// What makes sending impossible.
    fn standing(&self) -> Option<Seen> {
        let text = match &self.alert.outcome {
            Some(_) => format!("already answered: {}", answer_told(&self.alert, self.answered_by.as_deref())),
            None if self.place.read_only => "read-only connection".to_owned(),
            None => return None,
        };
        Some(Seen::new(Attention::Stop, text))
    }

    fn seen_of(&self, warning: &FormWarning, now: Timestamp) -> Option<Seen> {
        let duplicate = match warning {
            FormWarning::Searching => return Some(Seen::new(Attention::Note, "checking duplicates…")),
            FormWarning::MayHaveArrived(word) => {
                let text = format!("{} was sent before and is unconfirmed", sanitize(word));
                return Some(Seen::new(Attention::Stop, text));
            }
            FormWarning::ListBehind(text) => return Some(Seen::new(Attention::Stop, sanitize(text))),
            FormWarning::NotSearched(text) | FormWarning::Other(text) => {
                return Some(Seen::new(Attention::Care, sanitize(text)));
            }
            FormWarning::NotCompared(text) => return Some(Seen::new(Attention::Note, sanitize(text))),
            FormWarning::Cancelled(id) => {
                let text = format!("order {} cancelled, refund unknown: look first", sanitize(id));
                return self.refunds().then(|| Seen::new(Attention::Care, text));
            }
            FormWarning::Order(id, order) => return self.shop_order(id, order),
            FormWarning::Duplicate(duplicate) => duplicate,
        };
        let who = format!("{} {}", sanitize(duplicate.provider.as_str()), sanitize(&duplicate.provider_id));
        let same = duplicate.evidence.words();
        let when = |at: &Option<Timestamp>| at.map_or("already".to_owned(), |at| times::ago(at, now));
        let advised = self.advice().map(|advice| advice.decision);
        let offered = warning.offers(&self.alert).map(Decision::Invalid);
        let fits = offered.is_some_and(|offered| advised == Some(offered) && self.says(offered));
        let careful = if fits { Attention::Fits } else { Attention::Care };
        let grave = if self.refunds() && duplicate.evidence.is_sure() { Attention::Stop } else { Attention::Care };
        let what = if self.older.is_some() { "answer" } else { "reason" };
        let (tone, text) = match &duplicate.state {
            DuplicateState::Refunded { at } if fits => {
                (Attention::Fits, format!("{who} was refunded {}: this {what} fits", when(at)))
            }
            DuplicateState::Refunded { at } => (grave, format!("refunded {}: {who}, {same}", when(at))),
            DuplicateState::RefundedByRule if fits => {
                (Attention::Fits, format!("{who} was probably refunded by its network: this {what} fits"))
            }
            DuplicateState::RefundedByRule => {
                (grave, format!("probably refunded by the network's rule: {who}, {same}"))
            }
            DuplicateState::OnItsWay(resolution) | DuplicateState::MayHaveArrived(resolution) => {
                let is_unknown = matches!(duplicate.state, DuplicateState::MayHaveArrived(_));
                let how_far = if is_unknown { "is unconfirmed" } else { "is under way" };
                match DecisionSays::of(resolution) {
                    DecisionSays::Refunds if fits => {
                        let text = format!("a refund of {who} {how_far}: this {what} follows it");
                        (Attention::Fits, text)
                    }
                    DecisionSays::RefundedBefore => {
                        let tone = if fits { Attention::Fits } else { grave };
                        let said = if is_unknown { "already answered, unconfirmed" } else { BEING_ANSWERED };
                        (tone, format!("{said}: {who}, {same}"))
                    }
                    DecisionSays::Refunds => (grave, format!("a refund {how_far}: {who}, {same}")),
                    DecisionSays::NotRefunded => {
                        (careful, format!("{} {how_far}: {who}, {same}", in_words(resolution)))
                    }
                }
            }
            DuplicateState::Waiting => (careful, format!("open: {who}, {same}")),
            DuplicateState::Answered { outcome, at } => {
                (careful, format!("answered {} {}: {who}, {same}", sanitize(outcome), when(at)))
            }
        };
        Some(Seen::new(tone, text))
    }

    /// What the order of the shop says, where the answer that is advised rests on it.
    fn shop_order(&self, id: &str, order: &OrderAdvice) -> Option<Seen> {
        if order.only_warns {
            let tone = if self.refunds() { Attention::Stop } else { Attention::Care };
            let text = || format!("order {}, perhaps of this payment: {}", sanitize(id), order.why);
            return order.was_refunded_before().then(|| Seen::new(tone, text()));
        }
        let advice = self.advice().filter(|advice| advice.basis == AdviceBasis::Order)?;
        let (says, answer) = (format!("order {}: {}", sanitize(id), order.why), advice.decision.words());
        let leaves_open = |warning: &FormWarning| matches!(warning, FormWarning::Cancelled(_));
        Some(if self.says(advice.decision) {
            if self.warnings.iter().any(leaves_open) {
                // That warning says it, and that it fits is not known.
                return None;
            }
            Seen::new(Attention::Fits, format!("{says}: this answer fits"))
        } else {
            let tone = if self.refunds() && advice.after_refund { Attention::Stop } else { Attention::Care };
            // An answer that says why is said once.
            let says =
                if answer.contains(order.why) { format!("order {}", sanitize(id)) } else { format!("{says}; it") };
            Seen::new(tone, format!("{says} suggests {answer}"))
        })
    }

    fn network_rule(&self) -> Option<Seen> {
        if !self.alert.network_rule_applied() {
            return None;
        }
        let rule = self.alert.rule_name.as_deref().map_or(String::new(), |name| format!(" {:?}", sanitize(name)));
        let text = format!("probably refunded by the network's rule{rule}");
        let is_advised = self.advice().is_some_and(|advice| self.says(advice.decision));
        let tone = match (self.says_refunded_before() && is_advised, self.refunds()) {
            (true, _) => Attention::Fits,
            (false, true) => Attention::Stop,
            (false, false) => Attention::Care,
        };
        Some(Seen::new(tone, text))
    }

    /// What the words of the older dialect leave open, or say twice.
    fn words(&self, older: &Older) -> Vec<Seen> {
        let care = |text: String| Seen::new(Attention::Care, text);
        let Some(word) = older.word() else { return Vec::new() };
        let mut lines = Vec::new();
        match word {
            OlderWord::InProgress | OlderWord::ShipperContacted => {
                lines.push(care(format!("{word} is final")));
            }
            OlderWord::OtherWord if self.comments.is_empty() => {
                lines.push(care("OTHER: say in the comments what happened".to_owned()));
            }
            _ => {}
        }
        if let Some((word, refunded)) = older.contradiction() {
            lines.push(care(format!("{word} contradicts {refunded}")));
        }
        lines
    }

    fn window(&self, now: Timestamp) -> Option<Seen> {
        if self.alert.outcome.is_some() {
            return None;
        }
        let closed = "the network may refuse an answer";
        let end = self.alert.expired_at.or_else(|| self.alert.deadline.moment());
        let text = match (end, self.alert.deadline) {
            (Some(end), _) if end <= now => format!("expired {}: {closed}", times::ago(end, now)),
            (Some(end), _) if end - now <= CLOSING => {
                format!("due in {}, at {}", times::short(end - now), self.place.times.at(end, now))
            }
            (None, _) if self.alert.status == AlertStatus::Expired => format!("expired: {closed}"),
            (None, Deadline::HoursLeft(..0)) => "may have expired".to_owned(),
            (None, Deadline::HoursLeft(0)) => "due within an hour, or expired".to_owned(),
            _ => return None,
        };
        Some(Seen::new(Attention::Care, text))
    }

    /// Whether digits choose a reason, or the resolution of the older dialect, right now.
    pub(super) fn digits_choose(&self) -> bool {
        if self.older.is_some() {
            self.focus == Focus::Word
        } else {
            matches!(self.focus, Focus::Reason | Focus::Decision)
        }
    }
}
