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
    columns::{self, Column, Placed, Regions},
    facts::{Facts, RowOrders, Searched},
    link::{Link, USUAL},
    listing::Listing,
    marked::MarkedAlerts,
    sums::ListSums,
};
use crate::{
    Action, ClickTargets, Effect, Loadable,
    desk::{BuiltIn, Layout, snoozes::ChosenAlerts},
    domain::{Alert, AlertFilter, AlertId, AtRisk, Calendar, Sort, SortField, SortOrder, Timestamp, query},
    views::View,
    widgets::scrollbar::Scroll,
};

/// The hours ahead that the line over the list tells of.
pub const AT_RISK_HOURS: u32 = 4;

/// Changes are gathered so long before the list is loaded again.
const CHANGES_REST: Duration = Duration::milliseconds(250);

/// How often a list is loaded again where changes are told: what lapses and what is late show by themselves.
const REREAD: Duration = Duration::seconds(60);

/// Lifetime of a search for duplicates through the interface alone: 5 min for display, 30 s for an answer.
const SEARCH_LASTS: [Duration; 2] = [Duration::minutes(5), Duration::seconds(30)];

/// The list's share of the width beside the detail, in percent.
const USUAL_DIVIDER: u8 = 66;

/// What a click can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueTarget {
    /// A row of the list, by its number in the whole list.
    Row(u64),
    Title(Column),
    /// Whatever a key would do.
    Do(Action),
    /// A chip, by what it sets.
    Chip(query::Key),
    /// The line between list and detail.
    Divider,
}

/// How a list is sorted that is to be sorted by a field: the other way round where it is already.
pub fn sorted_by(sort: Sort, field: SortField) -> Sort {
    let order = if sort.field == field { sort.order.reversed() } else { SortOrder::Ascending };
    Sort { field, order }
}

/// What was listed before a found alert was gone to.
#[derive(Debug)]
struct SetAside {
    filter: AlertFilter,
    sort: Sort,
    /// The list itself with its cursor, once the other one stands in its place.
    listing: Option<Listing>,
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
    /// What is known of the alert under the cursor beyond the alert.
    pub facts: Facts,
    pub all: Loadable<u64>,
    /// The sums of what is listed, where the service adds up.
    pub sums: ListSums,
    /// What lapses soon.
    pub at_risk: Loadable<Vec<AtRisk>>,
    /// The state of the connection to the service.
    pub link: Link,
    /// Interval at which its user wants the list read again.
    chosen: Option<Duration>,
    /// Lines that the notes above the footer need beyond the one that is kept for them.
    pub more_notes: u16,
    /// Which alerts are known to be one of several on a payment, as it was found when the cursor was on them; and
    /// whether another of those was refunded.
    known_duplicates: HashMap<AlertId, bool>,
    /// While the order is frozen: how many alerts the list has by now, where that is more.
    pub new: Option<u64>,
    pub(super) targets: ClickTargets<QueueTarget>,
    pub(super) last_click: Option<(AlertId, Timestamp)>,
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
    /// What searches for duplicates found.
    searched: Searched,
    /// Which alerts the shop's orders say were refunded or cancelled before.
    orders: RowOrders,
    /// The alerts whose doubles were looked for since the list was read last.
    compared: HashSet<AlertId>,
    frozen: bool,
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
    aside: Option<SetAside>,
    /// What was listed before another list that could not be read.
    read_last: Option<Listing>,
    /// The alerts that are put aside.
    snoozed: ChosenAlerts,
    /// The alert that the cursor goes to once the list that is asked for is here.
    sought: Option<AlertId>,
    /// The alert that the cursor stays on in that list, where it is there.
    followed: Option<AlertId>,
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
        let (filter, sort) = (view.filter.clone(), view.sort);
        let mut queue = Self {
            listing: Listing::new(0, filter, sort, 1),
            view,
            divider: kept.divider.unwrap_or(USUAL_DIVIDER).clamp(20, 90),
            area,
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
        let mut effects = self.overview();
        if self.operator {
            effects.push(Effect::Watch(0, Wait::ZERO));
        }
        self.refresh_due = Some(now + self.every(now));
        effects
    }

    /// Returns true where the service counts what lapses soon.
    pub fn counts_at_risk(&self) -> bool {
        self.operator
    }

    /// How often the list is loaded again by itself.
    pub fn every(&self, now: Timestamp) -> Duration {
        if self.operator { REREAD } else { self.link.spared(self.chosen.unwrap_or(USUAL), now) }
    }

    /// Returns true where the service should have answered by now.
    pub fn is_late(&self, now: Timestamp) -> bool {
        self.link.is_late(self.every(now), now)
    }

    /// What the screen looks like, to be kept.
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
        match (self.listing.duplicate(id), self.known_duplicates.get(&id).copied()) {
            (None, None) => None,
            (listed, known) => Some(listed.unwrap_or(false) || known.unwrap_or(false)),
        }
    }

    /// Returns true where the shop's money went back for an alert before it came, as far as its orders are known to say
    /// it.
    pub fn refunded_by_order(&self, id: AlertId) -> bool {
        self.orders.says_refunded(id)
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

    /// Gives the list so much of the width beside the detail.
    pub fn move_divider(&mut self, percent: u8) {
        self.divider = percent.clamp(20, 90);
        self.lay_out(self.area);
    }

    /// The mouse is at a column: the divider follows where it is dragged.
    pub(super) fn drag(&mut self, column: u16) {
        if self.is_dragging {
            let percent = u32::from(column) * 100 / u32::from(self.area.width.max(1));
            self.move_divider(u8::try_from(percent).unwrap_or(100));
        }
    }

    /// The list that is asked for: the one that is shown, or another that is not here yet.
    pub fn asked_listing(&self) -> &Listing {
        self.incoming.as_ref().unwrap_or(&self.listing)
    }

    /// What is asked for, answered or not.
    pub fn filter(&self) -> &AlertFilter {
        self.asked_listing().filter()
    }

    /// In which order.
    pub fn sort(&self) -> Sort {
        self.asked_listing().sort()
    }

    /// In which order what is asked for is read: another one where the service refuses that.
    pub fn order(&self) -> Sort {
        self.asked_listing().order()
    }

    /// When what is listed was read; nothing where it was not.
    pub fn read_at(&self) -> Option<Timestamp> {
        self.link.read_at.filter(|_| self.listing.total().is_some())
    }

    /// The alert under the cursor.
    pub fn current(&self) -> Option<&Alert> {
        self.listing.current()
    }

    /// Returns true where the detail is on the screen.
    pub fn detail_is_open(&self) -> bool {
        self.regions().detail.is_some()
    }

    /// Asks for another list; the one that is shown stays until the first page of the other is here.
    pub fn ask(&mut self, filter: AlertFilter, sort: Sort) -> Vec<Effect> {
        if self.asked_listing().is_of(&filter, sort, self.view.is_snoozed()) {
            return Vec::new();
        }
        self.aside = None;
        (self.sought, self.followed) = (None, None);
        self.list(filter, sort, self.view.is_snoozed())
    }

    fn list(&mut self, filter: AlertFilter, sort: Sort, snoozed: bool) -> Vec<Effect> {
        if self.asked_listing().is_of(&filter, sort, snoozed) {
            return Vec::new();
        }
        // A range is one of rows of this list.
        self.hints.extend(self.marked.range.take().map(|_| "The list changed: nothing was marked."));
        let mut effects = self.abandon_incoming();
        if let Some(listing) = self.read_last.take_if(|listing| listing.is_of(&filter, sort, snoozed)) {
            self.put_back(listing);
            effects.extend(self.listing.refresh().into_iter().map(Effect::Load));
        } else if !self.listing.is_of(&filter, sort, snoozed) {
            self.listings += 1;
            let mut incoming = Listing::new(self.listings, filter, sort, self.regions().rows.height)
                .paged(self.page_size)
                .of_chosen(snoozed.then(|| self.snoozed.clone()));
            if self.refused_orders.contains(&sort.field) {
                incoming.fall_back();
            }
            self.incoming = Some(incoming);
        }
        effects
    }

    /// Where nobody answers, the name of the list that is asked for would stand over the rows of another until the next
    /// try.
    fn clear_rows_offline(&mut self) {
        if self.link.is_unreachable
            && let Some(incoming) = self.incoming.take()
        {
            self.take_unread(incoming);
        }
    }

    /// Gives up the list that was asked for and is not here.
    fn abandon_incoming(&mut self) -> Vec<Effect> {
        self.incoming.take().map(|incoming| Effect::Abandon(incoming.id())).into_iter().collect()
    }

    /// Shows a list again that was shown before, with its cursor, as it was read then.
    fn put_back(&mut self, mut listing: Listing) {
        listing.abandon_refresh();
        listing.set_height(self.regions().rows.height);
        self.listing = listing;
    }

    /// Sorts by a column, or the other way round where the list is sorted by it already.
    pub fn sort_by(&mut self, field: SortField) -> Vec<Effect> {
        self.ask_sorted(sorted_by(self.sort(), field))
    }

    /// Asks for the same list in another order; the cursor stays on its alert, as far as that is among what is read
    /// first. The service sorts: where it is not reached the rows stay as they are.
    pub fn ask_sorted(&mut self, sort: Sort) -> Vec<Effect> {
        if self.link.is_unreachable && self.incoming.is_none() && self.listing.total().is_some() {
            self.hints.extend((sort != self.sort()).then_some("Not sorted: offline."));
            return Vec::new();
        }
        let followed = self.listing.cursor_id();
        let effects = self.ask(self.filter().clone(), sort);
        self.followed = followed.filter(|_| self.incoming.is_some());
        effects
    }

    /// Takes the hints.
    pub fn take_hints(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.hints)
    }

    /// The columns of the list that is shown, where they stand.
    pub fn placed_columns(&self) -> Vec<Placed> {
        let shown = columns::shown(self.listing.filter(), self.listing.may_wait());
        columns::lay_out(&shown, self.listing.widths(), self.regions().heads.width)
    }

    /// Sorts by the next column to the right that can be sorted by.
    pub fn sort_next(&mut self) -> Vec<Effect> {
        let shown = self.placed_columns();
        let fields: Vec<SortField> = shown.iter().filter_map(|placed| placed.column.sort_field()).collect();
        let at = fields.iter().position(|field| *field == self.sort().field);
        match fields.get(at.map_or(0, |at| (at + 1) % fields.len().max(1))) {
            Some(field) if *field != self.sort().field => {
                self.ask_sorted(Sort { field: *field, order: SortOrder::Ascending })
            }
            _ => Vec::new(),
        }
    }

    /// Freezes the order while a form or dialog is open, and catches up afterwards.
    pub fn freeze(&mut self, frozen: bool, now: Timestamp) {
        if frozen && self.listing.abandon_refresh() {
            self.new.get_or_insert(self.listing.total().unwrap_or(0));
        }
        if self.frozen && !frozen && self.new.take().is_some() {
            self.refresh_due = Some(now);
        }
        self.frozen = frozen;
    }

    /// Asks soon for everything that is shown: something changed. What changes meanwhile is seen by the same question.
    pub fn changed(&mut self, now: Timestamp) {
        let due = now + CHANGES_REST;
        self.refresh_due = Some(self.refresh_due.map_or(due, |earlier| earlier.min(due)));
    }

    /// Asks now for everything that is shown.
    pub fn refresh(&mut self, now: Timestamp) -> Vec<Effect> {
        self.refresh_due = Some(now + self.every(now));
        self.link.retry_due = None;
        if self.frozen {
            self.new.get_or_insert(self.listing.total().unwrap_or(0));
            // What is put aside here no service can count: that it answers is heard all the same.
            return vec![Effect::Count(self.listing.id(), self.listing.filter().clone())];
        }
        let mut effects = self.overview();
        if self.listing.total().is_some() {
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

    fn overview(&mut self) -> Vec<Effect> {
        self.sums.want();
        if self.operator { vec![Effect::CountAll, Effect::AtRisk(AT_RISK_HOURS)] } else { vec![Effect::CountAll] }
    }
}
