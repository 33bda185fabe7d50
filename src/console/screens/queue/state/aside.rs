//! The view that the Queue lists, the snoozed alerts that leave it, and an alert that was found: what was listed is set
//! aside whole, and comes back.

use std::collections::HashSet;

use super::{Queue, SetAside};
use crate::{
    Action, Effect,
    desk::snoozes::ChosenAlerts,
    domain::{Alert, AlertFilter, AlertId, Calendar, Sort, SortField, SortOrder, Timestamp},
    screens::queue::listing::Listing,
    snoozes::SnoozeList,
    times::next_second_before,
    views::View,
};

impl Queue {
    /// Goes to an alert that was found, whatever is listed: where it is not held, what is listed is set aside.
    pub fn go_to_found(&mut self, alert: &Alert) -> Vec<Effect> {
        if self.incoming.is_none() && self.listing.move_to_alert(alert.id) {
            return Vec::new();
        }
        self.set_aside();
        let day = alert.alert_time.map(|at| at.date_naive());
        let filter = AlertFilter {
            q: Some(alert.provider_id.trim().to_owned()).filter(|id| !id.is_empty()),
            start_date: day,
            end_date: day,
            ..AlertFilter::default()
        };
        self.sought = Some(alert.id);
        let effects = self.list(filter, Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending }, false);
        if self.incoming.is_none() {
            self.reach_sought();
        }
        effects
    }

    /// Lists what was searched for; what is listed now is set aside for it.
    pub fn list_found(&mut self, filter: AlertFilter, sort: Sort) -> Vec<Effect> {
        self.set_aside();
        self.sought = None;
        self.list(filter, sort, false)
    }

    /// The filter and the sort without those of a search.
    pub fn before_search(&self) -> (AlertFilter, Sort) {
        match &self.aside {
            Some(aside) => (aside.filter.clone(), aside.sort),
            None => (self.filter().clone(), self.sort()),
        }
    }

    fn set_aside(&mut self) {
        if self.aside.is_none() {
            self.aside = Some(SetAside { filter: self.filter().clone(), sort: self.sort(), listing: None });
        }
    }

    /// Returns true where what was listed is set aside for an alert that was found.
    pub fn is_set_aside(&self) -> bool {
        self.aside.is_some()
    }

    /// Lists again what was set aside, the cursor where it was.
    pub fn restore(&mut self, now: Timestamp) -> Vec<Effect> {
        let Some(SetAside { filter, sort, listing }) = self.aside.take() else { return Vec::new() };
        self.sought = None;
        let Some(listing) = listing else { return self.list(filter, sort, self.view.is_snoozed()) };
        let abandoned = self.abandon_incoming();
        self.put_back(listing);
        abandoned.into_iter().chain(self.refresh(now)).collect()
    }

    /// The list that was asked for stands in the place of the one before.
    pub(super) fn take_place(&mut self, incoming: Listing) {
        let before = std::mem::replace(&mut self.listing, incoming);
        if let Some(aside) = self.aside.as_mut().filter(|aside| aside.listing.is_none()) {
            aside.listing = Some(before);
        }
        self.reach_sought();
    }

    /// The list that was asked for and could not be read stands in the place of the one before, which is kept for
    /// whoever goes back to it.
    pub(super) fn take_unread(&mut self, incoming: Listing) {
        let before = std::mem::replace(&mut self.listing, incoming);
        if before.total().is_some() {
            self.read_last = Some(before);
        }
        self.new = None;
    }

    /// Puts the cursor on the alert that was sought in the list that is here now.
    fn reach_sought(&mut self) {
        if let Some(id) = self.sought.take() {
            if !self.listing.move_to_alert(id) {
                self.hints.push("The alert is not in this list.");
            }
        } else if let Some(id) = self.followed.take() {
            self.listing.move_to_alert(id);
        }
    }
}

impl Queue {
    /// Goes to a view.
    pub fn show(&mut self, view: View) -> Vec<Effect> {
        let (filter, sort) = (view.filter.clone(), view.sort);
        self.view = view;
        self.aside = None;
        let effects = self.ask(filter, sort);
        self.clear_rows_offline();
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
}

impl Queue {
    /// Follows which alerts are put aside: lists hide them, the view of them is read again where they are others.
    pub fn follow_snoozes(&mut self, snoozes: &SnoozeList, now: Timestamp) -> Vec<Effect> {
        let (ids, none) = (snoozes.ids(), HashSet::new());
        let mut effects = Vec::new();
        self.snoozed = ChosenAlerts { ids: snoozes.in_order(), at: now };
        // What a find goes to stands there whatever is put aside.
        let is_found = self.aside.as_ref().is_some_and(|aside| aside.listing.is_some());
        let listings = [(Some(&mut self.listing), is_found), (self.incoming.as_mut(), self.aside.is_some())];
        for (listing, is_found) in listings {
            let Some(listing) = listing else { continue };
            if listing.chosen().is_none() {
                listing.set_hidden(if is_found { &none } else { &ids });
            } else if listing.choose(self.snoozed.clone()) && listing.total().is_some() {
                effects.extend(listing.refresh().into_iter().map(Effect::Load));
            }
        }
        effects
    }

    /// The cursor leaves what was put aside, where it stands on one of these.
    pub fn left_aside(&self, ids: &[AlertId]) -> bool {
        self.listing.chosen().is_none() && self.listing.cursor_id().is_some_and(|id| ids.contains(&id))
    }

    /// How many alerts of what is listed are put aside, in words; nothing where that is the view of them, or there are
    /// none.
    pub fn snoozed_words(&self) -> Option<String> {
        if self.listing.chosen().is_some() || self.snoozed.ids.is_empty() || self.aside.is_some() {
            return None;
        }
        Some(match self.listing.hidden().map(|hidden| hidden.len()) {
            Some(0) => return None,
            Some(hidden) => format!("{hidden} snoozed"),
            // Whether the others are in this list is not known here: it is counted and added up with them.
            None => format!("up to {} snoozed", self.snoozed.ids.len()),
        })
    }
}

impl Queue {
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
