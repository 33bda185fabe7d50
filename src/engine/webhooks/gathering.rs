//! The gathering of results: those of sends that end at about the same time are recorded together. A commit of many
//! costs hardly more than a commit of one.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::domain::batch;

/// Number of results that are worth a commit of their own.
const WORTHWHILE: usize = 128;
/// Longest wait of fewer results for more.
const LONGEST_WAIT: Duration = Duration::from_millis(4);

/// Results that wait to be recorded, oldest first.
#[derive(Debug)]
pub(super) struct Gathering<T> {
    results: Vec<T>,
    /// Time since which the oldest one waits.
    since: Option<Instant>,
}

impl<T> Default for Gathering<T> {
    fn default() -> Self {
        Self { results: Vec::new(), since: None }
    }
}

impl<T: Clone> Gathering<T> {
    pub(super) fn add(&mut self, result: T, now: Instant) {
        self.results.push(result);
        self.since.get_or_insert(now);
    }

    /// Puts those back that could not be recorded, before what came since.
    pub(super) fn put_back(&mut self, earlier: &[T], now: Instant) {
        self.results.splice(0..0, earlier.iter().cloned());
        self.since = self.since.or_else(|| (!self.is_empty()).then_some(now));
    }

    /// Takes as many as one commit holds, the oldest ones.
    pub(super) fn take_batch(&mut self) -> Arc<[T]> {
        let count = self.results.len().min(batch::RECORDS);
        let batch = self.results.drain(..count).collect();
        self.since = self.since.filter(|_| !self.results.is_empty());
        batch
    }

    /// Takes them all.
    pub(super) fn take_all(&mut self) -> Arc<[T]> {
        self.since = None;
        self.results.drain(..).collect()
    }

    /// Checks that they are worth a commit: they are many, the oldest has waited long enough, or they hold something
    /// up.
    pub(super) fn is_ready(&self, hold_up: bool, now: Instant) -> bool {
        let has_waited = self.ready_at().is_some_and(|ready| ready <= now);
        !self.is_empty() && (self.len() >= WORTHWHILE || has_waited || hold_up)
    }

    /// Returns the time at which the oldest one has waited long enough.
    pub(super) fn ready_at(&self) -> Option<Instant> {
        self.since.map(|since| since + LONGEST_WAIT)
    }

    pub(super) fn len(&self) -> usize {
        self.results.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.results.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered(count: usize, now: Instant) -> Gathering<usize> {
        let mut gathering = Gathering::default();
        (0..count).for_each(|result| gathering.add(result, now));
        gathering
    }

    #[test]
    fn few_results_that_hold_nothing_up_wait_for_more_but_not_for_long() {
        let now = Instant::now();
        let few = gathered(WORTHWHILE - 1, now);

        assert!(!few.is_ready(false, now));
        assert!(!few.is_ready(false, now + LONGEST_WAIT / 2));
        assert!(few.is_ready(false, now + LONGEST_WAIT));
        assert_eq!(few.ready_at(), Some(now + LONGEST_WAIT));
    }

    #[test]
    fn many_results_and_those_that_hold_something_up_wait_for_nothing() {
        let now = Instant::now();

        assert!(gathered(WORTHWHILE, now).is_ready(false, now));
        assert!(gathered(1, now).is_ready(true, now));
        assert!(!gathered(0, now).is_ready(true, now), "there is nothing to record");
    }

    #[test]
    fn a_commit_takes_the_oldest_and_what_it_leaves_waits_on() {
        let now = Instant::now();
        let mut gathering = gathered(batch::RECORDS + 1, now);

        let first = gathering.take_batch();
        let left = gathering.ready_at();
        let second = gathering.take_batch();

        assert_eq!((first.len(), first[0], &*second), (batch::RECORDS, 0, &[batch::RECORDS][..]));
        assert_eq!((left, gathering.ready_at()), (Some(now + LONGEST_WAIT), None));
    }

    #[test]
    fn what_could_not_be_recorded_comes_before_what_came_since() {
        let now = Instant::now();
        let mut gathering = gathered(2, now);
        let failed = gathering.take_batch();
        gathering.add(2, now);

        gathering.put_back(&failed, now);

        assert_eq!(*gathering.take_batch(), [0, 1, 2]);
    }
}
