//! Journal of a console's ledger: the steps that were read at the start, and the console's own.

use uuid::Uuid;

use super::{Ledger, PendingDecision};
use crate::{
    domain::Timestamp,
    ledger::{
        history::{DecisionRecord, History},
        steps::{JournalEntry, JournalStep, JournalWriter},
    },
};

impl Ledger {
    /// Makes the ledger of a console on this place; `session` identifies it in the journal file.
    pub fn new(place: &str, user: Option<String>, session: Option<Uuid>) -> Self {
        let writer = JournalWriter { session: session.unwrap_or_default(), place: place.to_owned(), user };
        Self { writer, ..Self::default() }
    }

    /// Returns the history, with this console's own steps.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Returns the session of this console.
    pub fn session(&self) -> Uuid {
        self.writer.session
    }

    /// Records a step of a decision, or a notification.
    pub fn record(&mut self, decision: impl Into<Option<String>>, step: JournalStep, now: Timestamp) {
        let entry = self.writer.entry(now, decision.into(), step.masked());
        self.history.take(entry.clone());
        self.own.push(entry.clone());
        self.unwritten.push(entry);
    }

    /// Removes the decisions that are undone, and returns them.
    pub(super) fn take_out(
        &mut self,
        taken: impl FnMut(&mut PendingDecision) -> bool,
        now: Timestamp,
    ) -> Vec<PendingDecision> {
        let taken: Vec<PendingDecision> = self.all.extract_if(.., taken).collect();
        taken.iter().for_each(|decision| self.record(decision.journal_key(), JournalStep::TakenBack, now));
        taken
    }

    /// Takes in decisions that an earlier console ended without sending.
    pub fn know_unsent(&mut self, left: &[DecisionRecord], now: Timestamp) {
        for left in left {
            self.record(left.key.clone(), JournalStep::NeverLeft, now);
            // It is written once the user has read of it.
            self.unwritten.pop();
        }
    }

    /// Takes the steps that are to be written, for one write.
    pub fn take_unwritten(&mut self) -> Vec<JournalEntry> {
        std::mem::take(&mut self.unwritten)
    }

    /// Begins a journal file under this session: all own steps are to be written.
    pub fn kept_from(&mut self, session: Uuid) {
        self.own.iter_mut().for_each(|entry| entry.session = session);
        self.writer.session = session;
        self.unwritten.clone_from(&self.own);
    }

    /// Takes in the entries of the journal.
    pub fn read(&mut self, entries: Vec<JournalEntry>) {
        // Own steps are held, written or not.
        let others = entries.into_iter().filter(|entry| entry.session != self.writer.session);
        self.history = History::of(others.chain(self.own.iter().cloned()));
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::{
        domain::{Alert, AlertId, Resolution},
        ledger::steps::JournalDecision,
    };

    const OWN: Uuid = Uuid::from_u128(7);

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn says(decision: Decision) -> Resolution {
        Resolution::Current { decision, comments: String::new() }
    }

    fn staged() -> JournalStep {
        JournalStep::staged(JournalDecision::of(&Alert::sample(), &says(Decision::Refunded)), None)
    }

    fn ledger() -> Ledger {
        let mut ledger = Ledger::new("acme-eu", None, Some(OWN));
        ledger.record("own".to_owned(), staged(), now());
        ledger
    }

    fn keys(ledger: &Ledger) -> Vec<&str> {
        ledger.history().records().iter().map(|record| record.key.as_str()).collect()
    }

    fn entries(keys: &[(Uuid, &str)]) -> Vec<JournalEntry> {
        let writer = |session: Uuid| JournalWriter { session, place: "acme-eu".to_owned(), user: None };
        let entry = |(session, key): &(Uuid, &str)| writer(*session).entry(now(), Some((*key).to_owned()), staged());
        keys.iter().map(entry).collect()
    }

    fn steps(ledger: &mut Ledger) -> Vec<String> {
        ledger.take_unwritten().iter().map(|entry| entry.step.name()).collect()
    }

    #[test]
    fn its_own_steps_are_known_at_once_and_never_twice() {
        let mut ledger = ledger();
        let at_once = keys(&ledger).len();

        ledger.read(entries(&[(Uuid::nil(), "other"), (OWN, "own")]));

        assert_eq!(at_once, 1);
        assert_eq!(keys(&ledger), ["other", "own"]);
    }

    #[test]
    fn what_an_earlier_console_did_not_send_calls_for_somebody() {
        let mut ledger = ledger();
        let earlier = entries(&[(Uuid::nil(), "left")]);
        ledger.know_unsent(History::of(earlier.clone()).records(), now());

        ledger.read(earlier);

        assert!(ledger.history().record("left").unwrap().needs_attention());
        assert_eq!(steps(&mut ledger), ["staged"], "it is written once somebody has read it");
    }

    #[test]
    fn a_decision_that_leaves_has_left_before_the_disk_says_so() {
        let mut ledger = ledger();

        ledger.record("own".to_owned(), JournalStep::Sent, now());

        assert_eq!(ledger.history().record("own").and_then(DecisionRecord::sent_at), Some(now()));
    }

    #[test]
    fn each_step_of_a_pending_decision_is_written_once_and_all_of_them_anew_to_a_journal_that_had_none() {
        let mut ledger = Ledger::default();
        let other = Alert { id: AlertId::generate(), ..Alert::sample() };
        ledger.stage(Alert::sample(), says(Decision::Refunded), Duration::zero(), now());
        ledger.stage(other, says(Decision::NotRefunded), Duration::seconds(5), now());
        ledger.take_back(now());
        ledger.leave_checked(now());

        let written = steps(&mut ledger);
        let again = steps(&mut ledger);
        ledger.kept_from(OWN);

        assert_eq!((&written[..], again), (&["staged", "staged", "takenBack", "sent"].map(str::to_owned)[..], vec![]));
        assert_eq!(steps(&mut ledger), written);
    }
}
