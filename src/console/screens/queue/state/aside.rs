//! Going to an alert that was found: what was listed is set aside whole, and comes back.

use super::{Queue, SetAside};
use crate::{
    Effect,
    domain::{Alert, AlertFilter, Sort, SortField, SortOrder, Timestamp},
    screens::queue::listing::Listing,
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
