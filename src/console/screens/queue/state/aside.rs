//! The view that the Queue lists, the snoozed alerts that leave it, and an alert that was found: what was listed is set
//! aside whole, and comes back.

use std::collections::HashSet;

use super::Queue;
use crate::{
    Action, Effect,
    desk::snoozes::ChosenAlerts,
    domain::{Alert, AlertFilter, AlertId, Calendar, Sort, SortField, SortOrder, Timestamp},
    times::next_second_before,
    views::{SnoozeList, View},
};

impl Queue {
    /// Goes to an alert that was found, whatever is listed: where it is not held, what is listed is set aside.
    pub fn go_to_found(&mut self, alert: &Alert) -> Vec<Effect> {
        if self.incoming.is_none() && self.listing.move_to_alert(alert.id) {
            return Vec::new();
        }
        let day = alert.alert_time.map(|at| at.date_naive());
        let filter = AlertFilter {
            q: Some(alert.provider_id.trim().to_owned()).filter(|id| !id.is_empty()),
            start_date: day,
            end_date: day,
            ..AlertFilter::default()
        };
        let sort = Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending };
        self.list_found(filter, sort, Some(alert.id))
    }

    /// Lists what was searched for, the cursor on the alert that is sought; what is listed now is set aside for it.
    pub fn list_found(&mut self, filter: AlertFilter, sort: Sort, sought: Option<AlertId>) -> Vec<Effect> {
        self.aside = Some(self.before_search());
        self.list(filter, sort, false, sought)
    }

    /// The filter and the sort without those of a search.
    pub fn before_search(&self) -> (AlertFilter, Sort) {
        self.aside.clone().unwrap_or_else(|| (self.filter().clone(), self.sort()))
    }

    /// Returns true where what was listed is set aside for an alert that was found.
    pub fn is_set_aside(&self) -> bool {
        self.aside.is_some()
    }

    /// Lists again what was set aside, the cursor where it was.
    pub fn restore(&mut self) -> Vec<Effect> {
        let Some((filter, sort)) = self.aside.take() else { return Vec::new() };
        self.list(filter, sort, self.view.is_snoozed(), None)
    }

    /// Goes to a view. Where nobody answers, its name would stand over the rows of another until the next try.
    pub fn show(&mut self, view: View) -> Vec<Effect> {
        let (filter, sort) = (view.filter.clone(), view.sort);
        self.view = view;
        self.aside = None;
        let effects = self.ask(filter, sort);
        if let Some(incoming) = self.incoming.take_if(|_| self.link.is_unreachable) {
            self.take_place(incoming);
        }
        effects
    }

    /// Takes the view that is listed as it is by now, where nothing of it was changed: one of today is another one
    /// after midnight.
    pub fn renew_view(&mut self, now: Timestamp, calendar: Calendar) -> Vec<Effect> {
        if self.frozen || self.aside.is_some() || *self.filter() != self.view.filter {
            return Vec::new();
        }
        let Some(view) = self.view.renewed(self.vocabulary, now, calendar) else { return Vec::new() };
        let (filter, sort) = (view.filter.clone(), self.sort());
        self.view = view;
        self.ask(filter, sort)
    }

    /// What the list cannot show though the view's name says so: as long as that of the view's filter which is near it
    /// is asked for, however the list is narrowed.
    pub fn view_note(&self) -> Option<&'static str> {
        let (asked, of_view) = (self.filter(), &self.view.filter);
        let stands = if of_view.types.is_empty() {
            asked.start_date == of_view.start_date
        } else {
            asked.types == of_view.types
        };
        self.view.note.filter(|_| stands)
    }

    /// Follows which alerts are put aside: lists hide them, the view of them is read again where they are others.
    pub fn follow_snoozes(&mut self, snoozes: &SnoozeList, now: Timestamp) -> Vec<Effect> {
        self.snoozed = ChosenAlerts { ids: snoozes.in_order(), at: now };
        let (ids, none, mut effects) = (snoozes.ids(), HashSet::new(), Vec::new());
        for listing in [Some(&mut self.listing), self.incoming.as_mut()].into_iter().flatten() {
            // What a find goes to stands there whatever is put aside.
            let is_found = self.aside.as_ref().is_some_and(|(filter, _)| *filter != listing.filter);
            if listing.chosen.is_none() {
                listing.set_hidden(if is_found { &none } else { &ids });
            } else if listing.choose(self.snoozed.clone()) && listing.total.is_some() {
                effects.extend(listing.refresh().into_iter().map(Effect::Load));
            }
        }
        effects
    }

    /// The cursor leaves what was put aside, where it stands on one of these.
    pub fn left_aside(&self, ids: &[AlertId]) -> bool {
        self.listing.chosen.is_none() && self.listing.cursor_id.is_some_and(|id| ids.contains(&id))
    }

    /// How many alerts of what is listed are put aside, in words; nothing where that is the view of them, or there are
    /// none.
    pub fn snoozed_words(&self) -> Option<String> {
        if self.listing.chosen.is_some() || self.snoozed.ids.is_empty() || self.aside.is_some() {
            return None;
        }
        Some(match self.listing.hidden().map(|hidden| hidden.len()) {
            Some(0) => return None,
            Some(hidden) => format!("{hidden} snoozed"),
            // Whether the others are in this list is not known here: it is counted and added up with them.
            None => format!("up to {} snoozed", self.snoozed.ids.len()),
        })
    }

    /// Returns true where an action would be one on rows of the list before, while another one is read in its place.
    pub fn is_on_former_rows(&self, action: Action) -> bool {
        let is_on_rows = match action {
            Action::Open
            | Action::OpenLink
            | Action::CopyId
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

    /// When the time left of an alert that is in sight changes by the second.
    pub fn closing(&self, now: Timestamp) -> Option<Timestamp> {
        let shown = self.listing.in_sight().chain(self.current());
        let waiting = shown.filter(|alert| alert.outcome.is_none() && alert.expired_at.is_none());
        waiting.filter_map(|alert| next_second_before(alert.deadline.moment()?, now)).min()
    }
}
