//! The reading of the journal by a console: when it is due, and what could not be read.

use chrono::Duration;

use super::text::counted;
use crate::{
    desk::{JournalEntry, WholeJournal},
    domain::Timestamp,
};

/// One that cannot be read is tried again after so long.
const AGAIN: Duration = Duration::seconds(5);

/// The reading of a desk's journal.
#[derive(Debug, Default)]
pub struct JournalReading {
    /// Time at which it is read; none where it is kept nowhere.
    due: Option<Timestamp>,
    is_loading: bool,
    /// Since when it cannot be read, and why.
    trouble: Option<(Timestamp, String)>,
    /// The lines of it that cannot be read, by their numbers.
    unreadable: Vec<usize>,
}

impl JournalReading {
    /// Begins where the journal is kept on a disk: it is read now.
    pub fn begun(is_kept: bool, now: Timestamp) -> Self {
        Self { due: is_kept.then_some(now), is_loading: is_kept, ..Self::default() }
    }

    /// Has it read again: the journal is on the disk from now on.
    pub fn again(&mut self, now: Timestamp) {
        self.due = Some(now);
    }

    /// Returns true where the journal is on a disk, and was not read yet.
    pub fn is_loading(&self) -> bool {
        self.is_loading
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

    /// Returns whether it is to be read now.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// Moment of the next reading.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes in what was read; returns its entries.
    pub fn took(&mut self, answer: Result<WholeJournal, String>, now: Timestamp) -> Option<Vec<JournalEntry>> {
        self.is_loading = false;
        match answer {
            Ok(WholeJournal { entries, unreadable }) => {
                (self.trouble, self.unreadable) = (None, unreadable);
                Some(entries)
            }
            Err(why) => {
                let since = self.trouble.take().map_or(now, |(since, _)| since);
                (self.trouble, self.due) = (Some((since, why)), Some(now + AGAIN));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn reading() -> JournalReading {
        JournalReading::begun(true, now())
    }

    #[test]
    fn it_is_read_at_the_start_alone() {
        let mut reading = reading();
        let first = reading.take_due(now());
        reading.took(Ok(WholeJournal::default()), now());

        assert_eq!((first, reading.next_wake()), (true, None));
    }

    #[test]
    fn one_that_cannot_be_read_says_since_when_and_is_tried_again() {
        let mut reading = reading();
        reading.take_due(now());
        reading.took(Err("denied".to_owned()), now());
        let entries = reading.took(Err("still denied".to_owned()), now() + AGAIN);

        assert_eq!(reading.trouble(), Some(&(now(), "still denied".to_owned())));
        assert_eq!(reading.next_wake(), Some(now() + AGAIN * 2));
        assert_eq!(entries, None, "what is known stays");
    }

    #[test]
    fn a_console_that_keeps_no_journal_reads_none() {
        let reading = JournalReading::begun(false, now());

        assert_eq!((reading.next_wake(), reading.is_loading()), (None, false));
    }

    #[test]
    fn lines_that_cannot_be_read_are_said_as_long_as_they_stand_there() {
        let unreadable = |lines: &[usize]| Ok(WholeJournal { unreadable: lines.to_vec(), ..WholeJournal::default() });
        let mut reading = reading();

        reading.took(unreadable(&[3, 9]), now());
        let said = reading.unreadable();
        reading.took(unreadable(&[]), now());

        assert_eq!(said.as_deref(), Some("2 lines of the journal cannot be read, from line 3."));
        assert_eq!(reading.unreadable(), None, "they were mended");
    }

    #[test]
    fn a_trouble_ends_with_what_is_read() {
        let mut reading = reading();
        reading.took(Err("denied".to_owned()), now());

        reading.took(Ok(WholeJournal::default()), now());

        assert_eq!(reading.trouble(), None);
    }
}
