//! The view that the Queue lists: what its name says, as far as the list can be asked for it, and as it is by now.

use super::Queue;
use crate::console::Effect;
use crate::console::views::View;
use crate::domain::{AlertFilter, Calendar, Sort, Timestamp};

impl Queue {
    /// Goes to a view.
    pub fn show(&mut self, view: View) -> Vec<Effect> {
        let (filter, sort) = (view.filter.clone(), view.sort);
        self.view = view;
        let effects = self.ask_anew(filter, sort);
        self.clear_rows_offline();
        effects
    }

    /// Takes the view that is listed as it is by now: one of today is another one after midnight. Of what is asked for
    /// only the day that was the view's goes along; what was changed by hand stays.
    pub fn renew_view(&mut self, now: Timestamp, calendar: Calendar) -> Vec<Effect> {
        if self.frozen || self.aside.is_some() || self.search.is_some() {
            return Vec::new();
        }
        let Some(view) = self.view.renewed(self.vocabulary, now, calendar) else { return Vec::new() };
        let (mut filter, sort) = (self.filter().clone(), self.sort());
        let (old, new) = (&self.view.filter, &view.filter);
        if filter.conditions.refunded == old.conditions.refunded {
            filter.conditions.refunded = new.conditions.refunded;
        }
        if filter.start_date == old.start_date {
            filter.start_date = new.start_date;
        }
        self.view = view;
        self.ask_anew(filter, sort)
    }

    /// Asks for another list whose columns are as wide as its own alerts need.
    fn ask_anew(&mut self, filter: AlertFilter, sort: Sort) -> Vec<Effect> {
        let effects = self.ask(filter, sort);
        if let Some(incoming) = &mut self.incoming {
            incoming.forget_widths();
        }
        effects
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
