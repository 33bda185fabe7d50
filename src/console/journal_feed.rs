//! The journal as a console holds it: what stood in it at the start, and its own steps as they are made.

use chrono::Duration;
use uuid::Uuid;

use super::{Effect, Keep, text::counted};
use crate::{
    desk::{DecisionRecord, Fate, History, JournalEntry, JournalStep, JournalWriter, WholeJournal},
    domain::{AlertId, Timestamp},
};

/// One that cannot be read is tried again after so long.
const AGAIN: Duration = Duration::seconds(5);

/// A decision that failed calls for somebody so long.
pub const CALLS_FOR: Duration = Duration::days(7);

/// The journal of a desk, as a console holds it.
#[derive(Debug, Default)]
pub struct JournalFeed {
    history: History,
    /// This console's own steps: they are known before they are on the disk.
    own: Vec<JournalEntry>,
    /// This console, the place that it works on, and who sits at it.
    writer: JournalWriter,
    /// Time at which it is read; none where it is kept nowhere.
    due: Option<Timestamp>,
    read_at: Option<Timestamp>,
    is_kept: bool,
    /// Since when it cannot be read, and why.
    trouble: Option<(Timestamp, String)>,
    /// The lines of it that cannot be read, by their numbers.
    unreadable: Vec<usize>,
}

impl JournalFeed {
    /// The journal of a console on this place; `session` is its name in the journal on the disk, where there is one.
    pub fn new(place: &str, user: Option<String>, session: Option<Uuid>, now: Timestamp) -> Self {
        let is_kept = session.is_some();
        let writer = JournalWriter { session: session.unwrap_or_default(), place: place.to_owned(), user };
        Self { writer, is_kept, due: is_kept.then_some(now), ..Self::default() }
    }

    /// Returns true where what was written at a place is of the organization that this console works on. Which networks
    /// a place is without, or has simulated, stands behind its name and may have changed since.
    pub fn is_of_here(&self, place: &str) -> bool {
        place.split(", ").next() == self.writer.place.split(", ").next()
    }

    /// The newest decision on an alert, where it certainly failed here and somebody still has to see to it.
    pub fn failed_on(&self, alert: AlertId, now: Timestamp) -> Option<&DecisionRecord> {
        self.history.latest_on(alert).filter(|record| now - record.made_at < CALLS_FOR && self.is_failed(record))
    }

    /// Returns true where a decision certainly failed here, none came after it, and somebody still has to see to it.
    pub fn is_failed(&self, record: &DecisionRecord) -> bool {
        record.fate() == Fate::NotRecorded
            && !record.dismissed
            && !self.history.is_superseded(record)
            && record.place == self.writer.place
    }

    /// The moments at which the newest decisions of this place were recorded.
    pub fn recorded_at(&self) -> Vec<Timestamp> {
        self.history.recorded_at(&self.writer.place)
    }

    /// Returns the history that the journal tells.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The place that this console works on.
    pub fn place(&self) -> &str {
        &self.writer.place
    }

    /// Returns true where a decision was made by whoever sits here.
    pub fn is_own(&self, session: Uuid, user: Option<&str>) -> bool {
        session == self.writer.session || self.is_user(user)
    }

    /// Returns true where this is the name of whoever sits here.
    pub fn is_user(&self, user: Option<&str>) -> bool {
        user.is_some() && user == self.writer.user.as_deref()
    }

    /// Returns true where the journal is on a disk, and was not read yet.
    pub fn is_loading(&self) -> bool {
        self.is_kept && self.read_at.is_none() && self.trouble.is_none()
    }

    /// Since when it cannot be read, and why.
    pub fn trouble(&self) -> Option<&(Timestamp, String)> {
        self.trouble.as_ref()
    }

    /// That some of its lines cannot be read, in a sentence; nothing where all can be.
    pub fn unreadable(&self) -> Option<String> {
        let lines = counted(self.unreadable.len() as u64, "line", "lines");
        self.unreadable.first().map(|first| format!("{lines} of the journal cannot be read, from line {first}."))
    }

    /// Takes in a step of a decision, or what else is told, and returns what writes it.
    pub fn write(&mut self, decision: impl Into<Option<String>>, step: JournalStep, now: Timestamp) -> Effect {
        Effect::Keep(Keep::Journal(vec![self.wrote(decision.into(), step, now)]))
    }

    /// Takes in steps that are written at once, each of a decision, and returns what writes them.
    pub fn write_all(&mut self, steps: Vec<(String, JournalStep)>, now: Timestamp) -> Effect {
        let wrote = |(decision, step)| self.wrote(Some(decision), step, now);
        Effect::Keep(Keep::Journal(steps.into_iter().map(wrote).collect()))
    }

    /// Knows of decisions that another console ended before they left. On the disk that stands once somebody has read
    /// it.
    pub fn know_unsent(&mut self, left: &[DecisionRecord], now: Timestamp) {
        left.iter().for_each(|left| drop(self.wrote(Some(left.key.clone()), JournalStep::NeverLeft, now)));
    }

    fn wrote(&mut self, decision: Option<String>, step: JournalStep, now: Timestamp) -> JournalEntry {
        let entry = self.writer.entry(now, decision, step);
        self.history.take(entry.clone());
        self.own.push(entry.clone());
        entry
    }

    /// The journal is on the disk from now on, under this name of the console; what it does not have yet.
    pub fn kept_from(&mut self, session: Uuid, now: Timestamp) -> Vec<JournalEntry> {
        self.own.iter_mut().for_each(|entry| entry.session = session);
        (self.writer.session, self.is_kept) = (session, true);
        // The own steps in it go by their new name.
        self.due = Some(now);
        self.own.clone()
    }

    /// Returns whether it is to be read now.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// When it is to be read.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes in what was read.
    pub fn took(&mut self, answer: Result<WholeJournal, String>, now: Timestamp) {
        let WholeJournal { entries, unreadable } = match answer {
            Ok(whole) => whole,
            Err(why) => {
                let since = self.trouble.take().map_or(now, |(since, _)| since);
                (self.trouble, self.due) = (Some((since, why)), Some(now + AGAIN));
                return;
            }
        };
        (self.trouble, self.read_at, self.unreadable) = (None, Some(now), unreadable);
        // Its own steps are known already, those that are not on the disk yet among them.
        let others = entries.into_iter().filter(|entry| entry.session != self.writer.session);
        self.history = History::of(others.chain(self.own.iter().cloned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{DecisionRecord, JournalDecision};
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::domain::{Alert, Resolution};

    const OWN: Uuid = Uuid::from_u128(7);

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn staged() -> JournalStep {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        JournalStep::staged(JournalDecision::of(&Alert::sample(), &refunded))
    }

    fn feed() -> JournalFeed {
        let mut feed = JournalFeed::new("acme-eu", None, Some(OWN), now());
        feed.write("own".to_owned(), staged(), now());
        feed
    }

    fn keys(feed: &JournalFeed) -> Vec<&str> {
        feed.history().records().iter().map(|record| record.key.as_str()).collect()
    }

    fn whole(keys: &[(Uuid, &str)]) -> WholeJournal {
        let writer = |session: Uuid| JournalWriter { session, place: "acme-eu".to_owned(), user: None };
        let entry = |(session, key): &(Uuid, &str)| writer(*session).entry(now(), Some((*key).to_owned()), staged());
        WholeJournal { entries: keys.iter().map(entry).collect(), ..WholeJournal::default() }
    }

    #[test]
    fn its_own_steps_are_known_at_once_and_never_twice() {
        let mut feed = feed();
        let at_once = keys(&feed).len();

        feed.took(Ok(whole(&[(Uuid::nil(), "other"), (OWN, "own")])), now());

        assert_eq!(at_once, 1);
        assert_eq!(keys(&feed), ["other", "own"]);
    }

    #[test]
    fn what_an_earlier_console_did_not_send_calls_for_somebody() {
        let mut feed = feed();
        let earlier = whole(&[(Uuid::nil(), "left")]);
        feed.know_unsent(History::of(earlier.entries.clone()).records(), now());

        feed.took(Ok(earlier), now());

        assert!(feed.is_failed(feed.history().record("left").unwrap()));
    }

    #[test]
    fn it_is_read_at_the_start_alone() {
        let mut feed = feed();
        let first = feed.take_due(now());
        feed.took(Ok(WholeJournal::default()), now());

        assert_eq!((first, feed.next_wake()), (true, None));
    }

    #[test]
    fn one_that_cannot_be_read_says_since_when_and_is_tried_again() {
        let mut feed = feed();
        feed.take_due(now());
        feed.took(Err("denied".to_owned()), now());
        feed.took(Err("still denied".to_owned()), now() + AGAIN);

        assert_eq!(feed.trouble(), Some(&(now(), "still denied".to_owned())));
        assert_eq!(feed.next_wake(), Some(now() + AGAIN * 2));
        assert_eq!(keys(&feed), ["own"]);
    }

    #[test]
    fn a_console_that_keeps_no_journal_reads_none() {
        let feed = JournalFeed::new("demo", None, None, now());

        assert_eq!((feed.next_wake(), feed.is_loading()), (None, false));
    }

    #[test]
    fn lines_that_cannot_be_read_are_said_as_long_as_they_stand_there() {
        let unreadable = |lines: &[usize]| Ok(WholeJournal { unreadable: lines.to_vec(), ..WholeJournal::default() });
        let mut feed = feed();

        feed.took(unreadable(&[3, 9]), now());
        let said = feed.unreadable();
        feed.took(unreadable(&[]), now());

        assert_eq!(said.as_deref(), Some("2 lines of the journal cannot be read, from line 3."));
        assert_eq!(feed.unreadable(), None, "they were mended");
    }

    #[test]
    fn a_trouble_ends_with_what_is_read() {
        let mut feed = feed();
        feed.took(Err("denied".to_owned()), now());

        feed.took(Ok(WholeJournal::default()), now());

        assert_eq!(feed.trouble(), None);
    }

    #[test]
    fn a_decision_that_leaves_has_left_before_the_disk_says_so() {
        let mut feed = feed();

        feed.write("own".to_owned(), JournalStep::Sent, now());

        assert_eq!(feed.history().record("own").and_then(DecisionRecord::sent_at), Some(now()));
    }

    #[test]
    fn what_its_user_made_at_another_console_is_their_own_too() {
        let feed = JournalFeed::new("acme-eu", Some("maria".to_owned()), Some(OWN), now());
        let nobody = JournalFeed::new("acme-eu", None, Some(OWN), now());

        let own = [(OWN, None), (Uuid::nil(), Some("maria")), (Uuid::nil(), Some("ben")), (Uuid::nil(), None)];

        assert_eq!(own.map(|(session, user)| feed.is_own(session, user)), [true, true, false, false]);
        assert!(!nobody.is_own(Uuid::nil(), None));
    }
}
