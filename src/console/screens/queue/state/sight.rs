//! What is in sight of the list, and what of it closes.

use chrono::Duration;

use super::Queue;
use crate::console::Action;
use crate::console::times::next_second_before;
use crate::domain::{Alert, Deadline, Timestamp};

/// A window closes so soon that its list is read more often.
const CLOSES_SOON: Duration = Duration::minutes(30);

impl Queue {
    /// Whether an action would be one on rows of the list before, while another one is read in its place.
    pub fn is_on_former_rows(&self, action: Action) -> bool {
        let is_on_rows = match action {
            Action::Open
            | Action::OpenLink
            | Action::CopyId
            | Action::CopyJson
            | Action::Note
            | Action::Refund
            | Action::NotRefunded
            | Action::Invalid
            | Action::Suggested
            | Action::Settle
            | Action::Unmatch
            | Action::GoToWarned
            | Action::Mark
            | Action::MarkRange
            | Action::MarkAll => true,
            // What is marked was chosen before, one by one.
            Action::Repeat | Action::Snooze => self.marked.is_empty(),
            _ => false,
        };
        is_on_rows && self.incoming.is_some()
    }

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
