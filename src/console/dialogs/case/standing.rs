//! How the alerts of a case stand to a decision for it: which ones wait for one, and what each would get, in the words of the dialect.

use std::borrow::Cow;

use crate::console::AppContext;
use crate::console::dialogs::resolve_form::{is_closed, usual_answer};
use crate::console::guards::{KnownDecisions, cannot_be_answered};
use crate::console::text::counted;
use crate::console::unfinished::in_words;
use crate::domain::advice::advice;
use crate::domain::case::invalid;
use crate::domain::duplicate::Duplicate;
use crate::domain::resolution::{Decision, InvalidReason};
use crate::domain::{Alert, AlertId, Dialect, Resolution, ResolutionParts, duplicate};

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
        } else if cannot_be_answered(alert, KnownDecisions::of(cx)).is_some() {
            Self::Decided
        } else if is_closed(alert, cx.now) {
            Self::Lapsed
        } else if alert.alert_type.is_notice() {
            Self::Notice
        } else {
            Self::Waits
        }
    }

    /// Whether a decision can be made on it, ticked or not.
    pub(super) fn can_be_answered(self) -> bool {
        matches!(self, Self::Waits | Self::Lapsed | Self::Notice)
    }
}

/// How many alerts stand so, in words: `2 wait`, `1 lapsed`, `1 decided`; whether that calls for somebody.
pub(super) fn counts(alerts: &[Alert], cx: &AppContext) -> Vec<(String, bool)> {
    let of = |standing| alerts.iter().filter(|alert| Standing::of(alert, cx) == standing).count() as u64;
    let waits = of(Standing::Waits);
    let mut told = vec![(format!("{waits} {}", if waits == 1 { "waits" } else { "wait" }), waits > 0)];
    let lapsed = of(Standing::Lapsed);
    let rest = [
        (lapsed, format!("{lapsed} lapsed")),
        (of(Standing::Notice), counted(of(Standing::Notice), "notice", "notices")),
        (of(Standing::Decided), format!("{} decided", of(Standing::Decided))),
    ];
    told.extend(rest.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| (words, false)));
    told
}

/// A refund of a case and what follows it, or what an answer as invalid says: for each alert that waits what it would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Foreseen {
    /// Whether the alert under the cursor is refunded; else money has gone back already, or is about to.
    pub(super) refunds: bool,
    pub(super) gets: Vec<(AlertId, String)>,
}

impl Foreseen {
    /// What every alert that waits gets where the case is decided as is suggested; nothing where none follows from the other ones.
    pub(super) fn of(alerts: &[Alert], cursor: &Alert, cx: &AppContext) -> Option<Self> {
        let foreseen: Vec<Alert> = alerts.iter().map(|alert| cx.decisions.foreseen(alert).into_owned()).collect();
        let waits: Vec<&Alert> = alerts.iter().filter(|alert| Standing::of(alert, cx) == Standing::Waits).collect();
        let dialect = cx.place.dialect;
        if foreseen.iter().any(Alert::was_refunded) {
            let gets = |alert: &&Alert| {
                let others = foreseen.iter().filter(|other| other.id != alert.id);
                let duplicates: Vec<Duplicate> = others.filter_map(|other| Duplicate::of(alert, other)).collect();
                let reason = advice(alert, duplicates.iter(), None).filter(|advice| advice.after_refund)?.decision.reason()?;
                Some((alert.id, reason_words(reason, dialect)))
            };
            return Some(Self { refunds: false, gets: waits.iter().filter_map(gets).collect() });
        }
        if waits.len() < 2 || Standing::of(cursor, cx) != Standing::Waits {
            return None;
        }
        let gets = |alert: &&&Alert| alert.id == cursor.id || duplicate::evidence(cursor, alert).is_some();
        let gets = waits.iter().filter(gets).map(|alert| {
            let words = if alert.id == cursor.id { refund_words(alert, dialect) } else { duplicate_words(dialect) };
            (alert.id, words)
        });
        Some(Self { refunds: true, gets: gets.collect() })
    }

    /// What an alert would get.
    pub(super) fn gets(&self, id: AlertId) -> &str {
        self.gets.iter().find(|(alert, _)| *alert == id).map_or("", |(_, words)| words)
    }
}

/// An answer as invalid: of the current dialect its reason alone.
fn reason_words(reason: InvalidReason, dialect: Dialect) -> String {
    match dialect {
        Dialect::Current => match reason {
            InvalidReason::PreviouslyRefunded => "refunded before".to_owned(),
            InvalidReason::Duplicate => "duplicate".to_owned(),
            other => other.words().to_owned(),
        },
        Dialect::Older => made_of(invalid(reason, dialect, String::new())),
    }
}

/// What follows a refund, in the words of a dialect.
pub(super) fn duplicate_words(dialect: Dialect) -> String {
    reason_words(InvalidReason::Duplicate, dialect)
}

fn refund_words(alert: &Alert, dialect: Dialect) -> String {
    match dialect {
        Dialect::Current => Decision::Refunded.words(),
        Dialect::Older => made_of(usual_answer(Decision::Refunded, alert, dialect, String::new())),
    }
}

fn made_of(parts: ResolutionParts) -> String {
    Resolution::from_parts(parts, Dialect::Older, None).map_or_else(|_| String::new(), |resolution| in_words(&resolution))
}

/// What the keys of a decision do in a case, in the words of its dialect: refund, not refunded, invalid. `several` wait; `wide` where there is
/// room for more words.
pub(super) fn key_words(several: bool, wide: bool, refunded: bool, dialect: Dialect) -> [Cow<'static, str>; 3] {
    let follows = match dialect {
        Dialect::Current => "refund, others duplicate".to_owned(),
        Dialect::Older => format!("refund, others {}", InvalidReason::Duplicate.older_word()),
    };
    let refund = match (several, wide) {
        (false, _) => "refund".into(),
        (true, true) => follows.into(),
        (true, false) => "refund one".into(),
    };
    // The older dialect has no word for it: its words are chosen in the form, or follow from a refund.
    let invalid = match (dialect, refunded) {
        (Dialect::Current, _) => "invalid",
        (Dialect::Older, true) => "what fits the refund",
        (Dialect::Older, false) => "other word",
    };
    let all = |words: &'static str| if several { format!("{words}, all").into() } else { words.into() };
    [refund, all("not refunded"), all(invalid)]
}
