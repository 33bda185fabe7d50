//! The view that the Queue lists: what its name says, as far as the list can be asked for it, and as it is by now.

use super::Queue;
use crate::console::Effect;
use crate::console::views::View;
use crate::domain::{Calendar, Timestamp};

impl Queue {
    /// Goes to a view.
    pub fn show(&mut self, view: View) -> Vec<Effect> {
        let (filter, sort) = (view.filter.clone(), view.sort);
        self.view = view;
        let effects = self.ask(filter, sort);
        if let Some(incoming) = &mut self.incoming {
            incoming.forget_widths();
        }
        effects
    }

    /// Shows the view that is listed as it is by now: one of today is another one after midnight. What was changed by hand stays.
    pub fn renew_view(&mut self, now: Timestamp, calendar: Calendar) -> Vec<Effect> {
        let stands = (self.filter(), self.sort()) == (&self.view.filter, self.view.sort);
        if !stands || self.frozen || self.aside.is_some() || self.search.is_some() {
            return Vec::new();
        }
        self.view.renewed(self.vocabulary, now, calendar).map_or_else(Vec::new, |view| self.show(view))
    }

    /// What the view that is listed cannot show though its name says so.
    pub fn view_note(&self) -> Option<&'static str> {
        self.view.note.filter(|_| *self.filter() == self.view.filter)
    }
}
