//! What the Queue makes of snoozed alerts: they leave every view but their own, and that one lists them alone.

use std::collections::HashSet;

use super::Queue;
use crate::console::Effect;
use crate::console::snoozes::SnoozeList;
use crate::desk::snoozed_page::ChosenAlerts;
use crate::domain::{AlertId, Timestamp};

impl Queue {
    /// Follows which alerts are put aside: lists hide them, the view of them is read again where they are others.
    pub fn follow_snoozes(&mut self, snoozes: &SnoozeList, now: Timestamp) -> Vec<Effect> {
        let ids = snoozes.ids();
        let mut effects = Vec::new();
        self.snoozed = ChosenAlerts { ids: snoozes.in_order(), at: now };
        // What a find goes to stands there whatever is put aside.
        let found = [self.aside.as_ref().is_some_and(|aside| aside.listing.is_some()), self.aside.is_some()];
        let listings = [Some(&mut self.listing), self.incoming.as_mut()];
        for (listing, is_found) in
            listings.into_iter().zip(found).filter_map(|(listing, is_found)| Some((listing?, is_found)))
        {
            if listing.chosen().is_none() {
                let hidden = if is_found { &HashSet::new() } else { &ids };
                listing.set_hidden(hidden);
            } else if listing.choose(self.snoozed.clone()) && listing.total().is_some() {
                effects.extend(listing.refresh().into_iter().map(Effect::Load));
            }
        }
        effects
    }

    /// Whether what is asked for is the alerts that are put aside alone.
    pub fn lists_snoozed(&self) -> bool {
        self.asked_listing().chosen().is_some()
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
        match self.listing.hidden_alerts() {
            (0, true) => None,
            (hidden, true) => Some(format!("{hidden} snoozed")),
            // Whether the others are in this list is not known here: it is counted and added up with them.
            (_, false) => Some(format!("up to {} of them snoozed", self.snoozed.ids.len())),
        }
    }
}
