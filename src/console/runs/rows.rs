//! The rows of a run: each decision with what became of it, and what got none, in their order.

use std::collections::HashMap;

use crate::domain::{Alert, AlertId, Resolution, Timestamp};

/// Why it is not said of an answer that it is one's own.
const AS_DECIDED: &str = "answered as chosen, by whom is unknown";

/// What is said of a decision that was not recorded where a later one on its alert was.
pub const DECIDED_AGAIN: &str = "answered again since";

/// An alert of a run.
#[derive(Debug, Clone)]
pub struct RunItem {
    pub alert: Alert,
    pub resolution: Resolution,
    /// Its decision.
    pub key: u64,
    pub result: RunResult,
}

/// What became of an alert of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunResult {
    /// On its way; its decision says where.
    Underway,
    TakenBack,
    Recorded {
        status: String,
        at: Timestamp,
    },
    /// It has the outcome that was meant, by whomever: the alert's status.
    AsDecided {
        status: String,
        at: Timestamp,
    },
    /// It was not recorded, and a later decision of this console on the alert was: the alert's status.
    DecidedAgain {
        status: String,
        at: Timestamp,
    },
    /// Another's answer is on the alert: its status and outcome.
    Conflict(String),
    /// It is certain that it was not recorded, and why.
    Refused(String),
    /// It could not be sent, which is certain, and why: it waits here.
    NotSent(String),
    /// Whether it arrived is not known, and why.
    Unknown(String),
}

impl RunResult {
    /// Its word in results that are written to a file, as of `alerts resolve --from`.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Underway => "underway",
            Self::TakenBack => "skipped",
            Self::Recorded { .. } | Self::AsDecided { .. } => "recorded",
            Self::Conflict(_) => "conflict",
            Self::Refused(_) | Self::DecidedAgain { .. } | Self::NotSent(_) => "failed",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Returns true where nothing is left to be done: the alert has its answer, or none was wanted after all.
    pub const fn is_settled(&self) -> bool {
        self.went_well() || matches!(self, Self::Conflict(_))
    }

    /// Returns true where nobody has to look at it.
    pub const fn went_well(&self) -> bool {
        matches!(self, Self::Recorded { .. } | Self::AsDecided { .. } | Self::DecidedAgain { .. } | Self::TakenBack)
    }

    /// Why, where there is more to say.
    pub fn reason(&self) -> &str {
        match self {
            Self::Underway => "",
            Self::TakenBack => "undone",
            Self::Recorded { status, .. } => status,
            Self::AsDecided { .. } => AS_DECIDED,
            Self::DecidedAgain { .. } => DECIDED_AGAIN,
            Self::Conflict(why) | Self::Refused(why) | Self::NotSent(why) | Self::Unknown(why) => why,
        }
    }
}

/// An alert that was chosen with those of a run and got no decision.
#[derive(Debug, Clone)]
pub struct LeftOut {
    pub alert: Alert,
    pub why: String,
    /// True where it should be looked at by itself.
    pub care: bool,
}

/// A row of a run.
#[derive(Debug, Clone, Copy)]
pub enum RunRow<'a> {
    Decided(&'a RunItem),
    LeftOut(&'a LeftOut),
}

impl<'a> RunRow<'a> {
    /// The alert that it is about.
    pub fn alert(self) -> &'a Alert {
        match self {
            Self::Decided(item) => &item.alert,
            Self::LeftOut(left) => &left.alert,
        }
    }

    /// How soon it needs somebody, once nothing moves by itself any more.
    fn rank(self) -> u8 {
        match self {
            Self::Decided(RunItem { result, .. }) if result.went_well() => 2,
            Self::Decided(_) => 0,
            Self::LeftOut(left) if left.care && left.alert.outcome.is_none() => 1,
            Self::LeftOut(_) => 2,
        }
    }
}

/// The rows in the order of their form, where that is known; once nothing moves any more what needs somebody stands
/// first.
pub(super) fn in_order<'a>(
    items: &'a [RunItem],
    left_out: &'a [LeftOut],
    order: &[AlertId],
    has_ended: bool,
) -> Vec<RunRow<'a>> {
    let places: HashMap<AlertId, usize> = order.iter().copied().zip(0..).collect();
    let place = |row: &RunRow<'_>| places.get(&row.alert().id).copied().unwrap_or(usize::MAX);
    let mut rows: Vec<RunRow<'_>> =
        items.iter().map(RunRow::Decided).chain(left_out.iter().map(RunRow::LeftOut)).collect();
    rows.sort_by_key(|row| (if has_ended { row.rank() } else { 0 }, place(row)));
    rows
}
