//! The rows of a run: its decisions and what got none, in the order of their form; once it has ended what needs somebody stands first.

use std::collections::HashMap;

use super::{DecisionRun, RunItem, RunResult};
use crate::domain::{Alert, AlertId};

/// An alert that was chosen with those of a run and got no decision.
#[derive(Debug, Clone)]
pub struct LeftOut {
    pub alert: Alert,
    pub why: String,
    /// Whether it should be looked at by itself.
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
            Self::Decided(RunItem { result: RunResult::Recorded { .. } | RunResult::TakenBack, .. }) => 2,
            Self::Decided(_) => 0,
            Self::LeftOut(left) if left.care && left.alert.outcome.is_none() => 1,
            Self::LeftOut(_) => 2,
        }
    }
}

impl DecisionRun {
    /// Its rows in their order.
    pub fn rows(&self) -> Vec<RunRow<'_>> {
        let places: HashMap<AlertId, usize> = self.order.iter().copied().zip(0..).collect();
        let place = |row: &RunRow<'_>| places.get(&row.alert().id).copied().unwrap_or(usize::MAX);
        let has_ended = self.has_ended();
        let mut rows: Vec<RunRow<'_>> = self.items.iter().map(RunRow::Decided).chain(self.left_out.iter().map(RunRow::LeftOut)).collect();
        rows.sort_by_key(|row| (if has_ended { row.rank() } else { 0 }, place(row)));
        rows
    }
}
