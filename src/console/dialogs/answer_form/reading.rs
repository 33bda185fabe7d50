//! Reads the alerts of the answer form again after something changed at the service: some at a time, all of them
//! in their turn.

use std::collections::VecDeque;

use chrono::Duration;

use crate::domain::{AlertId, Timestamp};

/// So long after some were asked for come the next ones.
const REST: Duration = Duration::seconds(1);

/// Which alerts are to be read again.
#[derive(Debug, Default)]
pub(super) struct ReadingAgain {
    waiting: VecDeque<AlertId>,
    /// True where something changed since those that wait were taken in.
    again: bool,
    due: Option<Timestamp>,
}

impl ReadingAgain {
    /// Something changed: all are to be read once more.
    pub(super) fn changed(&mut self) {
        self.again = true;
    }

    /// The next ones of these alerts, so many at most.
    pub(super) fn take(&mut self, alerts: impl Iterator<Item = AlertId>, most: usize, now: Timestamp) -> Vec<AlertId> {
        if self.due.is_some_and(|due| due > now) {
            return Vec::new();
        }
        if self.waiting.is_empty() && std::mem::take(&mut self.again) {
            self.waiting = alerts.collect();
        }
        let next: Vec<AlertId> = self.waiting.drain(..most.min(self.waiting.len())).collect();
        self.due = (!next.is_empty()).then(|| now + REST);
        next
    }

    /// When there are more to be read.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.due.filter(|_| self.again || !self.waiting.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    #[test]
    fn all_are_read_in_their_turn_however_often_something_changes() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let alerts: Vec<AlertId> = (0..5).map(|_| AlertId::generate()).collect();
        let mut reading = ReadingAgain::default();
        let unasked = reading.take(alerts.iter().copied(), 2, now);

        let mut read = Vec::new();
        for millis in [0, 400, 1_000, 2_000, 3_000] {
            reading.changed();
            read.push(reading.take(alerts.iter().copied(), 2, now + Duration::milliseconds(millis)));
        }

        assert_eq!((unasked, reading.next_due()), (Vec::new(), Some(now + Duration::seconds(4))));
        assert_eq!(read, [&alerts[..2], &[], &alerts[2..4], &alerts[4..], &alerts[..2]]);
    }
}
