//! The state of an alert, in its detail: the answer on its way, the draft, what is suggested and what speaks against
//! it, the shop's order, and notes.

use ratatui::text::Span;

use super::{Fact, Parts};
use crate::{
    Action, Loadable,
    answer_words::{answer_words, answered_as, list_behind},
    decisions::PendingDecision,
    desk::{AnswerStep, DecisionRecord, Fate, MatchedOrders},
    dialogs::alert_rows::{progress, progress_at_engine},
    domain::{
        Alert, AlertStatus, Dialect, OrderAdvice, OrderMatch, ResolutionAttempt, Timestamp,
        advice::AdviceBasis,
        duplicate::{self, DuplicateEvidence},
        redact::without_exchange,
        resolution::{Decision, InvalidReason, OlderWord},
        rule::DecisionRule,
    },
    screens::queue::{
        ListSign,
        facts::{Facts, Warning, warnings},
    },
    suggestion::Suggestion,
    text::sanitize,
    times,
    unfinished::{Stage, in_words, said_in_words},
};

/// The key of an answer of each kind.
const ANSWERS: [(Action, Decision); 3] = [
    (Action::Refund, Decision::Refunded),
    (Action::NotRefunded, Decision::NotRefunded),
    (Action::Invalid, Decision::Invalid(InvalidReason::NotFound)),
];

impl Parts<'_> {
    /// Adds the state of the alert: the decision on its way, what speaks against a plain answer, its outcome.
    pub(super) fn answer(&mut self, alert: &Alert, facts: &Facts, with_duplicates: bool, order_told: bool) {
        let draw = self.draw;
        self.under_way(alert);
        self.drafted(alert);
        let suggestion = Suggestion::of(alert, facts, draw);
        let duplicates = facts.duplicates.loaded().filter(|_| with_duplicates).map_or(&[][..], Vec::as_slice);
        let duplicates: Vec<Alert> =
            duplicates.iter().map(|other| draw.known_decisions().foreseen(other).into_owned()).collect();
        for warning in warnings(alert, &duplicates) {
            self.warning(&warning, alert, suggestion.as_ref());
        }
        if let (Some(words), None) = (duplicate::not_compared(alert).filter(|_| !draw.compares_all), &alert.outcome) {
            self.quiet(&words);
        }
        if let (Loadable::Failed(error), None) = (&facts.duplicates, &alert.outcome) {
            self.quiet(&format!("Duplicates not checked: {error}"));
        }
        if let Some(rule) = draw.suggestion(alert) {
            self.rule(rule, matches!(suggestion, Some(Suggestion::Rule(_))));
        }
        self.outcome(alert);
        if let Some(orders) = &facts.orders {
            self.order(
                alert,
                orders,
                suggestion.is_some_and(|suggestion| suggestion.rests_on(AdviceBasis::Order)),
                order_told,
            );
        }
        self.notes(alert);
    }

    /// The callout of an answer that is under way or was not recorded.
    fn under_way(&mut self, alert: &Alert) {
        let draw = self.draw;
        match (draw.decisions.of(alert.id), draw.unfinished.of(alert.id)) {
            // The engine knows more of a decision than whoever sent it and heard nothing.
            (Some(decision), Some(unfinished)) if decision.fate == Fate::Unconfirmed => self.unfinished(unfinished),
            (Some(decision), _) => self.decision(decision),
            (None, Some(unfinished)) => self.unfinished(unfinished),
            (None, None) => match draw.list_behind(alert) {
                Some(record) => self.callout(draw.theme.quiet, "Already answered, the list is behind", |parts| {
                    parts.say(&list_behind(record, draw.times, draw.now), draw.theme.plain);
                }),
                None => draw.failed_before(alert).into_iter().for_each(|record| self.failed_before(record)),
            },
        }
    }

    /// An answer of this console: how far it is, why it waits, and what a key does.
    fn decision(&mut self, decision: &PendingDecision) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let ((sign, style), words, _) = progress(decision, self.draw);
        let is_offline = decision.fate == Fate::Queued && decision.leaves_at().is_none();
        let why = match &decision.polling {
            _ if is_offline && decision.is_closed(now) => {
                Some("avert asks before it sends. The alert has expired.".to_owned())
            }
            _ if is_offline => Some("avert asks before it sends.".to_owned()),
            Some(polling) => {
                let why = polling.why.trim_end_matches('.');
                let next = match polling.has_given_up() {
                    true => "Check the network's portal.".to_owned(),
                    false => next_poll(Some(polling.next_poll), now),
                };
                Some(format!("{why}. {next}"))
            }
            None => decision.why.clone().filter(|_| decision.fate == Fate::NotRecorded),
        };
        let undo = self.draw.key(Action::Undo);
        let offer = match is_offline {
            true => Some(format!("{undo}  undo   {}  send or keep", self.draw.key(Action::Refresh))),
            false => decision.leaves_at().map(|_| format!("{undo}  undo")),
        };
        self.callout(style, &format!("{sign} {}: {words}", decision.word()), |parts| {
            why.iter().for_each(|why| parts.say(&without_exchange(why), theme.plain));
            offer.iter().for_each(|offer| parts.offer(offer, Some(Action::Undo)));
            if decision.fate == Fate::NotRecorded {
                parts.again();
            }
        });
    }

    /// A decision of an earlier console that was not recorded, and why.
    fn failed_before(&mut self, record: &DecisionRecord) {
        let theme = self.draw.theme;
        let (became, why) = match record.step() {
            AnswerStep::NeverLeft => ("not sent", "The console ended first."),
            step => ("not recorded", step.reason().unwrap_or_default()),
        };
        self.callout(theme.danger, &format!("! {}: {became}", said_in_words(&record.said)), |parts| {
            parts.say(&without_exchange(why), theme.plain);
            parts.again();
        });
    }

    /// The keys that answer a decision that was not recorded.
    fn again(&mut self) {
        let keys = [Action::Refund, Action::NotRefunded, Action::Invalid].map(|action| self.draw.key(action)).join(" ");
        let seen_to = [Action::ShowActivity, Action::Dismiss].map(|action| self.draw.key(action)).join(" ");
        self.offer(&format!("{keys}  answer again   {seen_to}  dismiss"), None);
    }

    /// A decision that the engine has not finished: what was sent, when and by whom, and what is known.
    fn unfinished(&mut self, unfinished: &ResolutionAttempt) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let ((sign, style), words, _) = progress_at_engine(unfinished, theme);
        let (at, comments) = (unfinished.started_at, unfinished.resolution.comments());
        self.callout(style, &format!("{sign} {}: {words}", in_words(&unfinished.resolution)), |parts| {
            let sent =
                format!("sent {}, {}, by {}", parts.draw.times.at(at, now), times::ago(at, now), unfinished.actor);
            parts.say(&sent, theme.plain);
            parts.say(&unfinished.detail, theme.plain);
            if !comments.is_empty() {
                parts.say(&format!("comments: {}", comments.replace('\n', " / ")), theme.quiet);
            }
            match Stage::of(unfinished) {
                Stage::Sending => {}
                Stage::Unknown => parts.say(&next_poll(unfinished.next_check, now), theme.plain),
                Stage::Parked => {
                    let key = parts.draw.key(Action::Settle);
                    parts.offer(&format!("{key}  set the result"), Some(Action::Settle));
                }
            }
        });
    }

    /// The answer that is begun and not sent; what was written for one decision goes on with that one alone.
    fn drafted(&mut self, alert: &Alert) {
        let draw = self.draw;
        let Some(draft) = draw.draft(alert) else { return };
        let begun = ANSWERS.into_iter().find(|(_, answer)| draft.refunded.as_deref() == Some(answer.refunded()));
        let begun = begun.filter(|_| draw.dialect == Dialect::Current && !draw.place.read_only);
        self.callout(draw.theme.accent, "Draft saved", |parts| {
            if !draft.comments.is_empty() {
                parts.say(&format!("comments: {}", draft.comments.replace('\n', " / ")), draw.theme.plain);
            }
            if let Some((action, answer)) = begun {
                parts.offer(&format!("{}  continue: {}", draw.key(action), answer.words()), Some(action));
            }
        });
    }

    /// Adds the notes of this machine, the newest first; and that a note is being written.
    fn notes(&mut self, alert: &Alert) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let notes = self.draw.notes.on(alert.id);
        let is_begun = self.draw.notes.has_draft(alert.id);
        if notes.is_empty() && !is_begun {
            return;
        }
        self.blank();
        self.push(vec![Span::styled("NOTES", theme.quiet), Span::styled("  on this machine only", theme.quiet)]);
        for note in notes.iter().rev() {
            for line in note.text.lines() {
                self.say(line, theme.plain);
            }
            let by = note.user.as_deref().map_or_else(String::new, |user| format!(", {}", sanitize(user)));
            self.say(&format!("{}, {}{by}", self.draw.times.at(note.at, now), times::ago(note.at, now)), theme.quiet);
        }
        if is_begun {
            self.say("note not saved yet", theme.warning);
        }
    }

    /// A rule that matches; what it says is set aside where money has gone back already.
    fn rule(&mut self, rule: &DecisionRule, suggests: bool) {
        let theme = self.draw.theme;
        let (name, words) = (&rule.name, rule.decision.words());
        if !suggests {
            return self.quiet(&format!("Rule {name} says {words}: a check warns against it."));
        }
        self.callout(theme.accent, &format!("• Rule {name} suggests: {words}"), |parts| {
            parts.say(&rule.text, theme.quiet);
            if !rule.comments.is_empty() {
                parts.say(&format!("comments: {}", rule.comments), theme.plain);
            }
            if !parts.draw.place.read_only {
                let key = parts.draw.key(Action::Suggested);
                parts.offer(&format!("{key}  take the suggestion"), Some(Action::Suggested));
            }
        });
    }
}

/// Tells when it is looked up next: `Checking, next in 3m.`
fn next_poll(at: Option<Timestamp>, now: Timestamp) -> String {
    match at.filter(|at| *at > now) {
        Some(at) => format!("Checking, next in {}.", times::short(at - now)),
        None => "Checking now.".to_owned(),
    }
}

/// Orders beside the first one that are listed.
const OTHERS: usize = 2;

impl Parts<'_> {
    /// The order that matches best; `suggests`: its answer is the one that is suggested; `is_told`: that
    /// it is refunded stands elsewhere.
    pub(super) fn order(
        &mut self,
        alert: &Alert,
        orders: &Result<MatchedOrders, String>,
        suggests: bool,
        is_told: bool,
    ) {
        let matched = match orders {
            Ok(matched) => matched,
            Err(why) => return self.quiet(&format!("Your orders cannot be read: {why}")),
        };
        let Some((first, others)) = matched.matches.split_first() else {
            self.section("ORDER", vec![self.fact("match", "none", ""), self.unlinked(matched)]);
            if !matched.unmatched.is_empty() {
                self.offer("link order again", Some(Action::Unmatch));
            }
            return;
        };
        let advice = first.advice(alert);
        let before = advice.as_ref().filter(|advice| advice.was_refunded_before() && alert.outcome.is_none());
        let before = before.filter(|_| suggests || !is_told);
        if let Some(advice) = before {
            let (sign, style) = ListSign::LookFirst.drawn(self.draw.theme);
            self.callout(style, &format!("{sign} The order is already refunded"), |parts| match suggests {
                true => parts.advice(advice),
                false => parts.say(advice.why, parts.draw.theme.plain),
            });
        }
        let is_advised = before.is_some();
        self.section("ORDER", self.order_facts(alert, first, others, matched));
        match advice.filter(|_| !is_advised) {
            Some(advice) if suggests => self.advice(&advice),
            // Another answer is suggested, and this holds beside it.
            Some(advice) if advice.leaves_refund_open => self.say(advice.why, self.draw.theme.warning),
            _ => {}
        }
        self.offer("unlink order", Some(Action::Unmatch));
    }

    fn order_facts(
        &self,
        alert: &Alert,
        first: &OrderMatch,
        others: &[OrderMatch],
        matched: &MatchedOrders,
    ) -> Vec<Fact> {
        let order = &first.order;
        // A shop and its payment provider may number the same order each in its own way.
        let named = alert.known_order_id().filter(|named| !named.eq_ignore_ascii_case(order.order_id.trim()));
        let state = order.state.map(|state| state.as_str().to_owned());
        let paid = order.money().map(|money| money.to_string());
        let mut facts = vec![
            self.fact("id", order.order_id.as_str(), ""),
            self.fact("match", first.words(), ""),
            self.fact("alert says", named.unwrap_or_default(), ""),
            self.fact("state", state.unwrap_or_default(), self.day(order.state_at)),
            self.fact("paid", paid.unwrap_or_default(), self.day(order.paid_at)),
            self.fact("refunded", order.refunded().map(|money| money.to_string()).unwrap_or_default(), ""),
        ];
        let or = |other: &OrderMatch| self.fact("or", format!("{}, {}", other.order.order_id, other.words()), "");
        facts.extend(others.iter().take(OTHERS).map(or));
        if others.len() > OTHERS {
            facts.push(self.fact("or", format!("{} more", others.len() - OTHERS), ""));
        }
        facts.push(self.unlinked(matched));
        facts
    }

    /// A day, and how long ago that was.
    fn day(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!("{}, {}", self.draw.times.day(at), times::ago(at, self.draw.now))).unwrap_or_default()
    }

    /// What the order suggests, and the key that opens the form so.
    fn advice(&mut self, advice: &OrderAdvice) {
        let words = advice.decision.words();
        match self.draw.place.read_only {
            true => self.say(&format!("Suggested: {words}"), self.draw.theme.plain),
            false => self.offer(&format!("{}  {words}", self.draw.key(Action::Suggested)), Some(Action::Suggested)),
        }
        // An answer that says why is said once.
        if !words.contains(advice.why) {
            self.say(advice.why, self.draw.theme.quiet);
        }
    }

    fn unlinked(&self, matched: &MatchedOrders) -> Fact {
        self.fact("unlinked", matched.unmatched.join(", "), "")
    }
}

impl Parts<'_> {
    /// A warning; with the key that answers it where what is suggested rests on it.
    pub(super) fn warning(&mut self, warning: &Warning<'_>, alert: &Alert, suggestion: Option<&Suggestion<'_>>) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        match warning {
            Warning::PaidTwice(others) | Warning::Duplicates(others) => {
                // As in the list: it is amber only where a refund may pay twice.
                let (sign, title) = match (warning, others.len()) {
                    (Warning::PaidTwice(_), _) => (ListSign::LookFirst, "Possible double refund".to_owned()),
                    (_, 1) => (ListSign::SamePayment, "Another alert on this payment".to_owned()),
                    (_, more) => (ListSign::SamePayment, format!("{more} more alerts on this payment")),
                };
                let (sign, style) = sign.drawn(theme);
                self.open_box(style, &format!("{sign} {title}"), theme.strong.patch(style));
                for (index, other) in others.iter().enumerate() {
                    self.named(index, other, alert);
                    self.say(&self.state_of_duplicate(other, now), theme.plain);
                }
            }
            Warning::NetworkRule(name) => {
                let (sign, style) = ListSign::LookFirst.drawn(theme);
                self.open_box(style, &format!("{sign} Probably refunded by the network's rule"), theme.strong);
                name.iter().for_each(|name| self.say(name, theme.plain));
            }
            Warning::Notice => self.open_box(theme.quiet, "The network expects no answer", theme.plain),
        }
        let rests_on_it =
            |suggestion: &&Suggestion<'_>| warning.basis().is_some_and(|basis| suggestion.rests_on(basis));
        let fits = suggestion.filter(rests_on_it).map(Suggestion::decision);
        if self.draw.place.read_only {
            // No key answers where nothing is sent.
            if let Some(decision) = fits.filter(|_| self.draw.dialect == Dialect::Current) {
                self.say(&format!("Suggested: {}", decision.words()), self.draw.theme.plain);
            }
        } else if let Some(reason) = fits.and_then(Decision::reason) {
            let text = format!("{} then {}", self.draw.key(Action::Invalid), answer_in_form(reason, self.draw.dialect));
            self.offer(&text, Some(Action::Invalid));
        }
        self.close_box();
    }

    /// The alert that a warning names, and what both have in common. The key goes to the first one, and so does a click
    /// on it.
    fn named(&mut self, index: usize, other: &Alert, alert: &Alert) {
        let before = self.parts.len();
        self.say(&duplicate_words(other, alert), self.draw.theme.plain);
        if index == 0 {
            self.parts[before..].iter_mut().for_each(|part| part.target = Some(Action::GoToWarned));
        }
    }

    /// State of a duplicate: what is on its way is not recorded.
    fn state_of_duplicate(&self, other: &Alert, now: Timestamp) -> String {
        let draw = self.draw;
        match (draw.decisions.coming(other.id), draw.unfinished.of(other.id)) {
            (Some(decision), _) => format!("{}, {}", decision.word(), progress(decision, draw).1),
            (None, Some(attempt)) => {
                format!("{}, {}", in_words(&attempt.resolution), progress_at_engine(attempt, draw.theme).1)
            }
            (None, None) => state_of_duplicate(other, now),
        }
    }
}

/// What is pressed in the form for a reason, and what it says: `3  INVALID (duplicate alert)`, or the word of the older
/// dialect.
fn answer_in_form(reason: InvalidReason, dialect: Dialect) -> String {
    let number = |at: Option<usize>| at.map_or(0, |at| at + 1);
    match dialect {
        Dialect::Current => {
            let at = InvalidReason::ALL.iter().position(|known| *known == reason);
            format!("{}  {}", number(at), Decision::Invalid(reason).words())
        }
        Dialect::Older => {
            let word = reason.older_word();
            let at = OlderWord::KNOWN.iter().position(|known| *known == word);
            format!("{}  {word}: {}", number(at), reason.words())
        }
    }
}

/// What two alerts on one payment have in common: `ETHOCA 5F2RE396 · same card and amount`.
fn duplicate_words(other: &Alert, alert: &Alert) -> String {
    let same = duplicate::evidence(alert, other).map_or("same payment", DuplicateEvidence::words);
    format!("{} {} · {same}", other.provider, other.provider_id)
}

/// How far a duplicate is.
fn state_of_duplicate(other: &Alert, now: Timestamp) -> String {
    match &other.outcome {
        Some(_) if other.was_refunded() && other.says_refunded_before() => answered_as(other),
        outcome if other.was_refunded() => {
            let when = outcome.as_ref().and_then(|outcome| outcome.action_time);
            let when = when.map_or_else(String::new, |at| format!(" {}", times::ago(at, now)));
            format!("{}, {}{when}", other.status, Decision::Refunded.words())
        }
        Some(outcome) => answer_words(other, outcome),
        None => {
            let is_open = other.status == AlertStatus::Open;
            let left = if is_open { format!(", due in {}", times::left(other, now).text) } else { String::new() };
            let rule = if other.network_rule_applied() { "; probably refunded by the network's rule" } else { "" };
            format!("{}{left}{rule}", other.status)
        }
    }
}
