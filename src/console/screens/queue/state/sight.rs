//! What is in sight of the list, and what of it closes.

use chrono::Duration;

use super::Queue;
use crate::console::times::next_second_before;
use crate::domain::{Alert, Deadline, Timestamp};

/// A window closes so soon that its list is read more often.
const CLOSES_SOON: Duration = Duration::minutes(30);

impl Queue {
    /// Whether a window closes soon, or may within the hour, among what is in sight.
    pub(super) fn closes_soon(&self, now: Timestamp) -> bool {
        self.waiting_in_sight().any(|alert| match alert.deadline {
            Deadline::At(moment) => (now..now + CLOSES_SOON).contains(&moment),
            Deadline::HoursLeft(hours) => hours == 0,
            Deadline::Unknown => false,
        })
    }

    /// The alerts in sight that wait for an answer.
    fn waiting_in_sight(&self) -> impl Iterator<Item = &Alert> {
        let rows = self.listing.window().into_iter();
        let shown = rows.filter_map(|(_, row)| self.listing.row(row).alert()).chain(self.current());
        shown.filter(|alert| alert.outcome.is_none() && alert.expired_at.is_none())
    }

    /// When the time left of an alert that is in sight changes by the second.
    pub fn closing(&self, now: Timestamp) -> Option<Timestamp> {
        self.waiting_in_sight().filter_map(|alert| next_second_before(alert.deadline.moment()?, now)).min()
    }
}
