//! The alerts that are marked to be answered together, whatever is listed, and the range that is being marked.

use crate::domain::{Alert, AlertId};

/// Most alerts that are marked at once.
pub const MOST_MARKED: usize = 1_000;

/// Where a range began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeStart {
    pub id: AlertId,
    /// Its row when it was last seen.
    pub row: u64,
}

/// The marked alerts, in the order in which they were marked.
#[derive(Debug, Default)]
pub struct MarkedAlerts {
    alerts: Vec<Alert>,
    /// Where the range that is being marked began.
    pub range: Option<RangeStart>,
    /// The number of the last stretch that was asked for.
    asked: u64,
    /// That one, while its answer is still to come.
    pending: Option<PendingStretch>,
}

/// A stretch of the list that is being read to be marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingStretch {
    number: u64,
    /// The alert that it has to begin with, where a range was selected: the list may move meanwhile.
    pub first: Option<AlertId>,
    /// Number of rows that were wanted.
    pub wanted: u64,
}

impl MarkedAlerts {
    /// The marked alerts.
    pub fn alerts(&self) -> &[Alert] {
        &self.alerts
    }

    /// Returns true where nothing is marked and no range begun.
    pub fn is_empty(&self) -> bool {
        self.alerts.is_empty() && self.range.is_none()
    }

    /// Returns true where an alert is marked.
    pub fn contains(&self, id: AlertId) -> bool {
        self.alerts.iter().any(|alert| alert.id == id)
    }

    /// Marks an alert, or takes its mark away. Returns whether there was room for it.
    pub fn toggle(&mut self, alert: &Alert) -> bool {
        let is_marked = self.contains(alert.id);
        self.remove(alert.id);
        is_marked || self.add(std::slice::from_ref(alert)) == 0
    }

    /// Takes the mark of an alert away, where it is marked.
    pub fn remove(&mut self, id: AlertId) {
        self.alerts.retain(|marked| marked.id != id);
    }

    /// Marks alerts; returns for how many there was no room.
    pub fn add(&mut self, alerts: &[Alert]) -> usize {
        let mut over = 0;
        for alert in alerts {
            match self.contains(alert.id) {
                true => {}
                false if self.alerts.len() < MOST_MARKED => self.alerts.push(alert.clone()),
                false => over += 1,
            }
        }
        over
    }

    /// Takes all marks away.
    pub fn clear(&mut self) {
        (self.alerts, self.range, self.pending) = (Vec::new(), None, None);
    }

    /// Takes over what is newly known of an alert.
    pub fn replace(&mut self, fresh: &Alert) {
        self.alerts.iter_mut().filter(|alert| alert.id == fresh.id).for_each(|alert| alert.clone_from(fresh));
    }

    /// The number of a stretch that is asked for now, of so many rows, that has to begin with an alert.
    pub fn ask(&mut self, first: Option<AlertId>, wanted: u64) -> u64 {
        self.asked += 1;
        self.pending = Some(PendingStretch { number: self.asked, first, wanted });
        self.asked
    }

    /// The stretch of this number, where its answer is waited for; no longer from now on.
    pub fn take_answer(&mut self, number: u64) -> Option<PendingStretch> {
        self.pending.take_if(|pending| pending.number == number)
    }

    /// Returns true where rows are still being read.
    pub fn is_reading(&self) -> bool {
        self.pending.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_is_marked_once_and_unmarked_by_the_same_key() {
        let (one, other) = (Alert::sample(), Alert::sample());
        let mut marked = MarkedAlerts::default();

        marked.toggle(&one);
        marked.add(&[one.clone(), other.clone()]);
        let both = marked.alerts().len();
        marked.toggle(&one);

        assert_eq!((both, marked.contains(one.id), marked.contains(other.id)), (2, false, true));
    }

    #[test]
    fn more_than_a_thousand_are_never_marked_and_how_many_had_no_room_is_told() {
        let many: Vec<Alert> = (0..MOST_MARKED + 3).map(|_| Alert::sample()).collect();
        let mut marked = MarkedAlerts::default();

        let over = marked.add(&many);

        assert_eq!((over, marked.alerts().len(), marked.toggle(&Alert::sample())), (3, MOST_MARKED, false));
    }

    #[test]
    fn only_the_stretch_that_was_asked_for_last_is_taken_and_none_after_the_marks_are_gone() {
        let mut marked = MarkedAlerts::default();
        let (first, second) = (marked.ask(None, 1), marked.ask(None, 1));

        let late = marked.take_answer(first).is_some();
        marked.ask(None, 1);
        marked.clear();

        assert_eq!((late, second == first, marked.take_answer(second + 1).is_some()), (false, false, false));
    }
}
