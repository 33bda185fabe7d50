//! The rows of a run: each decision with what became of it, and what got none, in their order.

use std::collections::HashMap;

use crate::console::answer_words::answered_as;
use crate::desk::{AnswerStep, Fate};
use crate::domain::{Alert, AlertId, Resolution, Timestamp};

/// Reason where the outcome is the one that was meant and its author is unknown.
const AS_DECIDED: &str = "answered as chosen, by whom is unknown";

/// Reason where an answer was never sent.
pub const NEVER_LEFT: &str = "not sent: the console ended first";

/// What is said of a decision that was not recorded where a later one on its alert was.
pub const DECIDED_AGAIN: &str = "answered again since";

/// An alert of a run.
#[derive(Debug, Clone)]
pub struct RunItem {
    pub alert: Alert,
    pub resolution: Resolution,
    /// Its decision.
    pub key: u64,
    /// The step that its fate rests on, and when that was; nothing while it is on its way.
    pub step: Option<(Timestamp, AnswerStep)>,
    /// True where it was not recorded, and a later decision on the alert was.
    pub again: bool,
}

impl RunItem {
    /// Its fate. Where it is on its way, its decision says how far.
    pub fn fate(&self) -> Fate {
        self.step.as_ref().map_or(Fate::Sending, |(_, step)| step.fate())
    }

    /// Its word in results that are written to a file, as of `alerts resolve --from`.
    pub fn word(&self) -> &'static str {
        match self.fate() {
            Fate::Sending => "underway",
            Fate::Undone => "skipped",
            Fate::Recorded if !self.again => "recorded",
            Fate::AlreadyAnswered => "conflict",
            Fate::Recorded | Fate::NotRecorded | Fate::Queued => "failed",
            Fate::Unconfirmed => "unknown",
        }
    }

    /// Returns true where nothing is left to be done: the alert has its answer, or none was wanted after all.
    pub fn is_settled(&self) -> bool {
        self.went_well() || self.fate() == Fate::AlreadyAnswered
    }

    /// Returns true where nobody has to look at it.
    pub fn went_well(&self) -> bool {
        matches!(self.fate(), Fate::Recorded | Fate::Undone)
    }

    /// Why, where there is more to say.
    pub fn reason(&self) -> String {
        let answer = |status: &str| match &self.alert.outcome {
            Some(_) => answered_as(&self.alert),
            None => status.to_owned(),
        };
        let Some((_, step)) = &self.step else { return String::new() };
        match step {
            _ if self.again => DECIDED_AGAIN.to_owned(),
            AnswerStep::TakenBack => "undone".to_owned(),
            AnswerStep::Recorded(status) => status.clone(),
            AnswerStep::AsDecided(_) => AS_DECIDED.to_owned(),
            AnswerStep::Overtaken(status) => format!("already answered: {}", answer(status)),
            AnswerStep::Answered(status) => format!("answered otherwise since: {}", answer(status)),
            AnswerStep::NeverLeft => NEVER_LEFT.to_owned(),
            step => step.reason().unwrap_or_default().to_owned(),
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
            Self::Decided(item) if item.went_well() => 2,
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
