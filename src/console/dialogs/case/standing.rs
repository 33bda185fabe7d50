//! How the alerts of a case stand to a decision for it: which ones wait for one, and what each would get, in the words
//! of the dialect.

use crate::console::AppContext;
use crate::console::dialogs::answer_form::{Choice, KnownCase, foresee};
use crate::console::guards::{Gets, cannot_be_answered};
use crate::console::text::counted;
use crate::console::unfinished::in_words;
use crate::desk::AnswerDraft;
use crate::domain::resolution::invalid;
use crate::domain::resolution::{Decision, InvalidReason};
use crate::domain::{Alert, AlertId, Dialect, Resolution, ResolutionParts};

/// How an alert stands to a decision for its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Waits,
    /// Its window has closed: it takes part only where it is ticked.
    Lapsed,
    /// No answer is asked for: the same.
    Notice,
    /// A decision on it is held here, is with the network, or nobody knows what became of it.
    Decided,
    Answered,
}

impl Standing {
    pub(super) fn of(alert: &Alert, cx: &AppContext) -> Self {
        if alert.outcome.is_some() {
            Self::Answered
        } else if cannot_be_answered(alert, cx.known_decisions()).is_some() {
            Self::Decided
        } else if alert.is_closed(cx.now) {
            Self::Lapsed
        } else if alert.alert_type.is_notice() {
            Self::Notice
        } else {
            Self::Waits
        }
    }

    /// Returns true where a decision can be made on it, ticked or not.
    pub(super) fn can_be_answered(self) -> bool {
        matches!(self, Self::Waits | Self::Lapsed | Self::Notice)
    }
}

/// How many alerts stand so, in words: `2 wait`, `1 lapsed`, `1 decided`; whether that calls for somebody.
pub(super) fn counts(alerts: &[Alert], cx: &AppContext) -> Vec<(String, bool)> {
    let of = |standing| alerts.iter().filter(|alert| Standing::of(alert, cx) == standing).count() as u64;
    let waits = of(Standing::Waits);
    let mut told = vec![(format!("{waits} open"), waits > 0)];
    let lapsed = of(Standing::Lapsed);
    let rest = [
        (lapsed, format!("{lapsed} expired")),
        (of(Standing::Notice), counted(of(Standing::Notice), "notice", "notices")),
        (of(Standing::Decided), format!("{} decided", of(Standing::Decided))),
    ];
    told.extend(rest.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| (words, false)));
    told
}

/// What it is worked out from what each alert would get: where none of it has changed, that has not either.
#[derive(Debug, PartialEq)]
pub(super) struct ForeseenFrom {
    case: KnownCase,
    /// True where money has gone back already, or is about to.
    refunded: bool,
    /// How each alert stands, and whether its money will have gone back, by what is decided here.
    alerts: Vec<(Standing, bool)>,
    /// What was written for the case before.
    drafts: Vec<AnswerDraft>,
}

impl ForeseenFrom {
    pub(super) fn of(case: KnownCase, refunded: bool, cx: &AppContext) -> Self {
        let stands = |alert: &Alert| (Standing::of(alert, cx), cx.known_decisions().foreseen(alert).refund_is_likely());
        let ids: Vec<AlertId> = case.alerts.iter().map(|alert| alert.id).collect();
        Self {
            refunded,
            alerts: case.alerts.iter().map(stands).collect(),
            drafts: cx.answer_drafts.of_case(&ids).cloned().collect(),
            case,
        }
    }
}

/// What each alert of a case that waits would get by the key that fits: a refund and what follows it, or an answer as
/// invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// True where it is the refund of the alert under the cursor; else money has gone back already, or is about to.
    pub(super) refunds: bool,
    pub(super) gets: Vec<(AlertId, String)>,
    /// How many of them are sent something.
    pub(super) sent: usize,
}

impl Foreseen {
    /// What the form for the case would send as it opens.
    pub(super) fn of(from: &ForeseenFrom, cx: &AppContext) -> Option<Self> {
        let (case, refunded) = (&from.case, from.refunded);
        let waits = |alert: &Alert| Standing::of(alert, cx) == Standing::Waits;
        let shows = case.alerts.iter().any(waits) && (refunded || case.alerts.len() > 1);
        if !shows || cx.place.read_only {
            return None;
        }
        let choice = if refunded { Choice::Invalid } else { Choice::Refunded };
        let gets = foresee(case, choice, cx);
        let words = |(at, alert): (usize, &Alert)| {
            let words = match gets.as_ref().map(|gets| &gets[at]) {
                Some(Gets::Sent(resolution)) => sent_words(resolution),
                Some(Gets::Out { cautions, .. }) if !cautions.is_empty() => "needs Send anyway".to_owned(),
                Some(Gets::Out { .. }) => "not sent".to_owned(),
                None => "needs a reason".to_owned(),
            };
            (alert.id, words)
        };
        // Of what does not wait the state says why it is not sent; where it is what the others follow, it has to be
        // ticked.
        let is_told = |alert: &Alert| {
            waits(alert) || !refunded && alert.id == case.first && Standing::of(alert, cx).can_be_answered()
        };
        let sent = gets.iter().flatten().filter(|gets| matches!(gets, Gets::Sent(_))).count();
        let gets = case.alerts.iter().enumerate().filter(|(_, alert)| is_told(alert)).map(words).collect();
        Some(Self { refunds: !refunded, gets, sent })
    }

    /// What an alert would get.
    pub(super) fn gets(&self, id: AlertId) -> &str {
        self.gets.iter().find(|(alert, _)| *alert == id).map_or("", |(_, words)| words)
    }
}

/// What is sent, in few words.
fn sent_words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Current { decision: Decision::Invalid(reason), .. } => reason_words(*reason, Dialect::Current),
        other => in_words(other),
    }
}

/// An answer as invalid: of the current dialect its reason alone.
fn reason_words(reason: InvalidReason, dialect: Dialect) -> String {
    match dialect {
        Dialect::Current => reason.words().to_owned(),
        Dialect::Older => made_of(invalid(reason, dialect, String::new())),
    }
}

/// What follows a refund, in the words of a dialect.
pub(super) fn duplicate_words(dialect: Dialect) -> String {
    reason_words(InvalidReason::Duplicate, dialect)
}

fn made_of(parts: ResolutionParts) -> String {
    Resolution::from_parts(parts, Dialect::Older, None)
        .map_or_else(|_| String::new(), |resolution| in_words(&resolution))
}

/// Labels of the answer keys in a case, in the words of its dialect, and shorter: refund, not refunded, invalid.
/// `several` wait.
pub(super) fn key_words(several: bool, refunded: bool, dialect: Dialect) -> [(String, String); 3] {
    let follows = match dialect {
        Dialect::Current => "duplicate".to_owned(),
        Dialect::Older => InvalidReason::Duplicate.older_word().to_string(),
    };
    // The older dialect has no word for it: its words are chosen in the form, or follow from a refund.
    let invalid = match (dialect, refunded) {
        (Dialect::Current, _) => "invalid",
        (Dialect::Older, true) => "as the refund needs",
        (Dialect::Older, false) => "other word",
    };
    [("refund", format!("others {follows}")), ("not refunded", "all".to_owned()), (invalid, "all".to_owned())]
        .map(|(brief, more)| (if several { format!("{brief}, {more}") } else { brief.to_owned() }, brief.to_owned()))
}
