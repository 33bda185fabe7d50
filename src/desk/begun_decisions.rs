//! Begun decisions: those in the journal that have not come to their end, of every console on the desk. They include
//! those of consoles that are gone.

use uuid::Uuid;

use super::journal_steps::{JournalDecision, JournalEntry, JournalStep};
use crate::domain::Timestamp;
use crate::domain::time::from_iso;

/// A decision that a console which is gone did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftDecision {
    /// Idempotency key.
    pub key: String,
    pub said: JournalDecision,
    pub made_at: Timestamp,
    /// Time at which it was sent; `None` where it never was.
    pub sent_at: Option<Timestamp>,
}

/// A decision as far as it has come, and whose it is.
#[derive(Debug, Clone)]
struct BegunDecision {
    session: Uuid,
    place: String,
    so_far: LeftDecision,
}

/// The begun decisions of a journal, in the order in which they were made.
#[derive(Debug, Clone, Default)]
pub struct BegunDecisions(Vec<BegunDecision>);

impl BegunDecisions {
    /// Takes the next entry in.
    pub fn take(&mut self, entry: &JournalEntry) {
        let at = || from_iso(&entry.at).unwrap_or_default();
        match &entry.step {
            JournalStep::Staged { decision, said, .. } => {
                // A later decision on the alert takes the place of an earlier one.
                self.0.retain(|begun| begun.so_far.said.alert.id != said.alert.id || begun.place != entry.place);
                let so_far = LeftDecision { key: decision.clone(), said: said.clone(), made_at: at(), sent_at: None };
                self.0.push(BegunDecision { session: entry.session, place: entry.place.clone(), so_far });
            }
            JournalStep::Sent { decision } => self.put_sent(decision, Some(at())),
            JournalStep::NotSent { decision, .. } => self.put_sent(decision, None),
            JournalStep::TakenBack { decision }
            | JournalStep::Recorded { decision, .. }
            | JournalStep::AsDecided { decision, .. }
            | JournalStep::Overtaken { decision, .. }
            | JournalStep::Refused { decision, .. }
            | JournalStep::Answered { decision, .. }
            | JournalStep::Read { decision } => self.0.retain(|begun| begun.so_far.key != *decision),
            JournalStep::Unlooked { .. }
            | JournalStep::Settled { .. }
            | JournalStep::Unknown { .. }
            | JournalStep::Typing { .. }
            | JournalStep::Closed { .. }
            | JournalStep::Dismissed { .. }
            | JournalStep::RunDismissed { .. }
            | JournalStep::Notified { .. } => {}
        }
    }

    fn put_sent(&mut self, decision: &str, sent_at: Option<Timestamp>) {
        self.0.iter_mut().filter(|begun| begun.so_far.key == decision).for_each(|begun| begun.so_far.sent_at = sent_at);
    }

    /// Returns the decisions that consoles that are gone left on a place, or on any where none is named. The first list
    /// was sent and has no answer; the second is never sent.
    pub fn left(
        &self,
        place: Option<&str>,
        mut lives: impl FnMut(Uuid) -> bool,
    ) -> (Vec<LeftDecision>, Vec<LeftDecision>) {
        let here = self.0.iter().filter(|begun| place.is_none_or(|place| begun.place == place));
        let left = here.filter(|begun| !lives(begun.session)).map(|begun| begun.so_far.clone());
        left.partition(|left| left.sent_at.is_some())
    }
}
