//! The state of the Queue screen, and what changes it.

mod answers;
mod aside;
mod marking;

use std::{
    collections::{HashMap, HashSet},
    time::Duration as Wait,
};

use chrono::Duration;
use ratatui::layout::Rect;

use super::{
    columns::{self, Column, Regions},
    facts::Facts,
    link::Link,
    listing::Listing,
    marked::MarkedAlerts,
    sums::ListSums,
};
use crate::{
    Action, ClickTargets, Effect, Loadable,
    desk::{BuiltIn, Layout, OrderFindings, snoozes::ChosenAlerts},
    domain::{Alert, AlertFilter, AlertId, Calendar, Sort, SortField, SortOrder, Timestamp, query},
    views::View,
    widgets::scrollbar::Scroll,
};

/// Changes are gathered so long before the list is loaded again.
const CHANGES_REST: Duration = Duration::milliseconds(250);

/// How often a list is loaded again: where changes are told, since what lapses and what is late show by themselves, and
/// where none are.
const REREAD: [Duration; 2] = [Duration::seconds(60), Duration::seconds(15)];

/// Lifetime of a search for duplicates through the interface alone: 5 min for display, 30 s for an answer.
const SEARCH_LASTS: [Duration; 2] = [Duration::minutes(5), Duration::seconds(30)];

/// The list's share of the width beside the detail, in percent.
const USUAL_DIVIDER: u8 = 66;

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueTarget {
    /// A row of the list, by its number in the whole list.
    Row(u64),
    /// The title of a column, by what it sorts by.
    Title(SortField),
    /// Whatever a key would do.
    Do(Action),
    /// A chip, by what it sets.
    Chip(query::Key),
    /// The line between list and detail.
    Divider,
}

/// The Queue screen.
#[derive(Debug, Default)]
pub struct Queue {
    pub listing: Listing,
    /// The list that will be shown once its first page is here.
    pub incoming: Option<Listing>,
    /// The view it began from.
    pub view: View,
    /// The alerts that are marked to be answered together.
    pub marked: MarkedAlerts,
    /// The list's share of the width beside the detail, in percent.
    pub divider: u8,
    /// Scroll position of the detail.
    pub detail_scroll: Scroll,
    /// Facts of the alert under the cursor beyond the alert.
    pub facts: Facts,
    pub all: Loadable<u64>,
    /// The sums of what is listed, where the service adds up.
    pub sums: ListSums,
    /// The state of the connection to the service.
    pub link: Link,
    /// Interval at which its user wants the list read again.
    chosen: Option<Duration>,
    /// Lines that the notes above the footer need beyond the one that is kept for them.
    pub more_notes: u16,
    /// Which alerts are known to be one of several on a payment, as it was found when the cursor was on them; and
    /// whether another of those was refunded.
    known_duplicates: HashMap<AlertId, bool>,
    /// What the shop's orders say of the alerts that were in sight.
    pub(super) orders: HashMap<AlertId, OrderFindings>,
    pub(super) targets: ClickTargets<QueueTarget>,
    /// True where the mouse drags the divider.
    pub(super) is_dragging: bool,
    area: Rect,
    listings: u64,
    /// How many alerts are asked for at once.
    page_size: u32,
    /// The number of the service's last change.
    last_change: u64,
    /// True where the service has what an operator's key opens: then doubles of every visible row are looked for.
    operator: bool,
    /// The alerts whose doubles and orders were looked for since the list was read last.
    compared: HashSet<AlertId>,
    frozen: bool,
    /// True where the list was to be read again while its order is frozen.
    is_behind: bool,
    facts_due: Option<Timestamp>,
    refresh_due: Option<Timestamp>,
    refresh_again: bool,
    /// What its list can be asked for.
    vocabulary: query::Vocabulary,
    /// What the service refuses to sort by.
    refused_orders: Vec<SortField>,
    /// The cursor's alert has left the list: what became of it is asked for.
    ask_gone: bool,
    /// What was listed before a found alert was gone to.
    aside: Option<(AlertFilter, Sort)>,
    /// The list that stood here before, to come back to: what is set aside for a search, and what was read before a
    /// list that cannot be.
    before: Option<Listing>,
    /// The alerts that are put aside.
    snoozed: ChosenAlerts,
    /// The alert that the cursor goes to once the list that is asked for is here.
    sought: Option<AlertId>,
    /// Hints for the next tick.
    hints: Vec<&'static str>,
}

impl Queue {
    /// The screen as it was left, on the alerts to answer.
    pub fn new(
        kept: &Layout,
        vocabulary: query::Vocabulary,
        operator: bool,
        area: Rect,
        now: Timestamp,
        calendar: Calendar,
    ) -> Self {
        let view = View::built_in(BuiltIn::ToAnswer, vocabulary, now, calendar);
        let mut queue = Self {
            listing: Listing::new(0, view.filter.clone(), view.sort, 1),
            view,
            divider: kept.divider.unwrap_or(USUAL_DIVIDER).clamp(20, 90),
            operator,
            vocabulary,
            ..Self::default()
        };
        queue.lay_out(area);
        queue
    }

    /// What has to be asked first; `chosen` is how often its user wants the list read again, `page_size` how many
    /// alerts at once.
    pub fn start(&mut self, chosen: Option<Duration>, page_size: u32, now: Timestamp) -> Vec<Effect> {
        (self.chosen, self.page_size) = (chosen, page_size);
        self.listing = std::mem::take(&mut self.listing).paged(page_size);
        self.sums.want();
        self.refresh_due = Some(now + self.every());
        let watch = self.operator.then_some(Effect::Watch(0, Wait::ZERO));
        [Effect::CountAll].into_iter().chain(watch).collect()
    }

    /// Interval at which the list is loaded again by itself.
    pub fn every(&self) -> Duration {
        let [told, untold] = REREAD;
        if self.operator { told } else { self.chosen.unwrap_or(untold) }
    }

    /// When an answer of the service is late.
    pub fn late_at(&self) -> Option<Timestamp> {
        self.link.late_at(self.every())
    }

    /// The layout of the screen, to be kept.
    pub fn kept(&self) -> Layout {
        Layout { divider: (self.divider != USUAL_DIVIDER).then_some(self.divider) }
    }

    /// Where everything stands.
    pub fn regions(&self) -> Regions {
        Regions::of(self.area, self.divider, self.more_notes)
    }

    /// Returns true where an alert is known to be one of several on a payment: `Some(true)` where another of those was
    /// refunded. Known is what is loaded of the list and what was looked for when the cursor was on it; `None` is no
    /// proof that there are none.
    pub fn duplicate(&self, id: AlertId) -> Option<bool> {
        let known = [&self.listing.pages.duplicates, &self.known_duplicates].map(|known| known.get(&id).copied());
        known.into_iter().flatten().max()
    }

    /// Takes a new size.
    pub fn lay_out(&mut self, area: Rect) {
        self.area = area;
        let height = self.regions().rows.height;
        self.listing.set_height(height);
        if let Some(incoming) = &mut self.incoming {
            incoming.set_height(height);
        }
    }

    /// The mouse is at a column: the divider follows where it is dragged.
    pub(super) fn drag(&mut self, column: u16) {
        if self.is_dragging {
            let percent = u32::from(column) * 100 / u32::from(self.area.width.max(1));
            self.divider = u8::try_from(percent).unwrap_or(100).clamp(20, 90);
            self.lay_out(self.area);
        }
    }

    /// The list that is asked for: the one that is shown, or another that is not here yet.
    pub fn asked_listing(&self) -> &Listing {
        self.incoming.as_ref().unwrap_or(&self.listing)
    }

    /// The filter that is asked for, answered or not.
    pub fn filter(&self) -> &AlertFilter {
        &self.asked_listing().filter
    }

    /// In which order.
    pub fn sort(&self) -> Sort {
        self.asked_listing().sort
    }

    /// When what is listed was read; nothing where it was not.
    pub fn read_at(&self) -> Option<Timestamp> {
        self.link.read_at.filter(|_| self.listing.total.is_some())
    }

    /// The alert under the cursor.
    pub fn current(&self) -> Option<&Alert> {
        self.listing.current()
    }

    /// Asks for another list; the one that is shown stays until the first page of the other is here.
    pub fn ask(&mut self, filter: AlertFilter, sort: Sort) -> Vec<Effect> {
        if self.asked_listing().is_of(&filter, sort, self.view.is_snoozed()) {
            return Vec::new();
        }
        self.aside = None;
        self.list(filter, sort, self.view.is_snoozed(), None)
    }

    /// Lists these alerts, the cursor on the one that is sought.
    fn list(&mut self, filter: AlertFilter, sort: Sort, snoozed: bool, sought: Option<AlertId>) -> Vec<Effect> {
        self.sought = sought;
        let effects = self.replace_listing(filter, sort, snoozed);
        if self.incoming.is_none() {
            self.reach_sought();
        }
        effects
    }

    fn replace_listing(&mut self, filter: AlertFilter, sort: Sort, snoozed: bool) -> Vec<Effect> {
        if self.asked_listing().is_of(&filter, sort, snoozed) {
            return Vec::new();
        }
        // A range is one of rows of this list.
        self.hints.extend(self.marked.range.take().map(|_| "The list changed: nothing was marked."));
        let abandoned = self.incoming.take().map(|incoming| Effect::Abandon(incoming.id));
        let mut effects: Vec<Effect> = abandoned.into_iter().collect();
        let height = self.regions().rows.height;
        if let Some(listing) = self.before.take_if(|listing| listing.is_of(&filter, sort, snoozed)) {
            self.listing = listing;
            self.listing.set_height(height);
            effects.extend(self.listing.refresh().into_iter().map(Effect::Load));
        } else if !self.listing.is_of(&filter, sort, snoozed) {
            self.listings += 1;
            let mut incoming = Listing::new(self.listings, filter, sort, height).paged(self.page_size);
            incoming.chosen = snoozed.then(|| self.snoozed.clone());
            if self.refused_orders.contains(&sort.field) {
                incoming.fall_back();
            }
            self.incoming = Some(incoming);
        }
        effects
    }

    /// The list that was asked for stands in the place of the one before, which is kept for whoever goes back to it.
    fn take_place(&mut self, incoming: Listing) {
        let shown = std::mem::replace(&mut self.listing, incoming);
        let is_kept = match (&self.aside, &self.before) {
            (Some((filter, sort)), Some(before)) => !before.is_of(filter, *sort, self.view.is_snoozed()),
            _ => true,
        };
        if is_kept && shown.total.is_some() {
            self.before = Some(shown);
        }
        (self.is_behind, self.refresh_again) = (false, false);
    }

    /// Puts the cursor on the alert that was sought in the list that is here now.
    fn reach_sought(&mut self) {
        let Some(id) = self.sought.take() else { return };
        if !self.listing.move_to_alert(id) && self.is_set_aside() {
            self.hints.push("The alert is not in this list.");
        }
    }

    /// Sorts by a field; by that of the list the other way round. The cursor stays on its alert, as far as that is
    /// among what is read first. The service sorts: where it is not reached the rows stay as they are.
    pub fn sort_by(&mut self, field: SortField) -> Vec<Effect> {
        if self.link.is_unreachable && self.listing.total.is_some() {
            self.hints.push(NOT_SORTED);
            return Vec::new();
        }
        let asked = self.asked_listing();
        let order = if asked.sort.field == field { asked.sort.order.reversed() } else { SortOrder::Ascending };
        let (filter, snoozed) = (asked.filter.clone(), asked.chosen.is_some());
        self.list(filter, Sort { field, order }, snoozed, self.listing.cursor_id)
    }

    /// Takes the hints.
    pub fn take_hints(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.hints)
    }

    /// Sorts by the next column to the right that can be sorted by.
    pub fn sort_next(&mut self) -> Vec<Effect> {
        let shown = columns::shown(&self.listing.filter).into_iter();
        let fields: Vec<SortField> = shown.filter_map(Column::sort_field).collect();
        let at = fields.iter().position(|field| *field == self.sort().field);
        match fields.get(at.map_or(0, |at| (at + 1) % fields.len().max(1))) {
            Some(field) if *field != self.sort().field => self.sort_by(*field),
            _ => Vec::new(),
        }
    }

    /// Freezes the order while a form or dialog is open, and catches up afterwards.
    pub fn freeze(&mut self, frozen: bool, now: Timestamp) {
        self.is_behind |= frozen && self.listing.abandon_refresh();
        if self.frozen && !frozen && std::mem::take(&mut self.is_behind) {
            self.refresh_due = Some(now);
        }
        self.frozen = frozen;
    }

    /// Asks soon for everything that is shown: something changed. What changes meanwhile is seen by the same question.
    pub fn changed(&mut self, now: Timestamp) {
        let due = now + CHANGES_REST;
        self.refresh_due = Some(self.refresh_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Asks now for everything that is shown; while its order is frozen, whether the service answers.
    pub fn refresh(&mut self, now: Timestamp) -> Vec<Effect> {
        self.refresh_due = Some(now + self.every());
        self.link.retry_due = None;
        let mut effects = vec![Effect::CountAll];
        if self.frozen {
            self.is_behind = true;
            return effects;
        }
        self.sums.want();
        if self.listing.total.is_some() {
            // One at a time: a refresh that is never waited for would never end where changes keep coming.
            if self.listing.is_refreshing() {
                self.refresh_again = true;
            } else {
                effects.extend(self.listing.refresh().into_iter().map(Effect::Load));
            }
        }
        if self.facts.alert.is_some() && self.facts_due.is_none() {
            effects.extend(self.ask_facts(SEARCH_LASTS[0], now));
        }
        effects
    }
}

/// Sentence where the service does not sort.
const NOT_SORTED: &str = "Not sorted: the list cannot be read.";
