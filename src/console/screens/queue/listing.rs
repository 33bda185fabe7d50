//! The windowed list: of a list of any length only the pages around the visible rows are asked for and kept.
//!
//! The cursor holds an alert's id. A refresh asks for the visible pages anew, takes them over at once when all are here, and looks for the
//! cursor's alert among them: it stays under the cursor wherever it went, and where it has left the list it stays as a ghost until the
//! cursor moves.

use std::collections::{BTreeMap, BTreeSet};

use super::pages::{PAGE, Pages};
use crate::domain::{Alert, AlertFilter, AlertId, AlertQuery, Page, PageRequest, Sort};
use crate::service::ServiceError;

/// A request ticket: which request an answer belongs to. An answer to a list or a state of it that is no longer shown is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ticket {
    pub listing: u64,
    /// Its state: a refresh begins the next one.
    pub epoch: u64,
    pub page: u64,
}

/// A page to ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// To be given back with the answer.
    pub ticket: Ticket,
    pub query: AlertQuery,
}

/// A row of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ListRow<'a> {
    /// An alert of the list.
    Alert(&'a Alert),
    /// The cursor's alert, which is no longer in the list.
    Gone(&'a Alert),
    /// On its way.
    Pending,
}

impl<'a> ListRow<'a> {
    /// The alert, where it is here.
    pub fn alert(self) -> Option<&'a Alert> {
        match self {
            Self::Alert(alert) | Self::Gone(alert) => Some(alert),
            Self::Pending => None,
        }
    }
}

#[derive(Debug, Clone)]
struct Refresh {
    epoch: u64,
    wanted: BTreeSet<u64>,
    got: BTreeMap<u64, Vec<Alert>>,
    total: u64,
}

/// A windowed list: what is asked for, what of it is here, and where the cursor is.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    id: u64,
    filter: AlertFilter,
    sort: Sort,
    total: Option<u64>,
    pages: Pages,
    asked: BTreeSet<u64>,
    epoch: u64,
    next_epoch: u64,
    refresh: Option<Refresh>,
    cursor: u64,
    cursor_id: Option<AlertId>,
    ghost: Option<Alert>,
    top: u64,
    height: u16,
}

impl Listing {
    /// A list of which nothing is known yet. `id` tells it from every other one.
    pub fn new(id: u64, filter: AlertFilter, sort: Sort, height: u16) -> Self {
        Self { id, filter, sort, next_epoch: 1, height: height.max(1), ..Self::default() }
    }

    /// Tells this list from every other one.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// What is listed.
    pub fn filter(&self) -> &AlertFilter {
        &self.filter
    }

    /// In which order.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// How many alerts match, once known.
    pub fn total(&self) -> Option<u64> {
        self.total
    }

    /// How many rows there are: every match, and the alert that has left.
    pub fn rows(&self) -> u64 {
        self.total.unwrap_or(0) + u64::from(self.ghost.is_some())
    }

    /// The first visible row.
    pub fn top(&self) -> u64 {
        self.top
    }

    /// The cursor's row.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    /// The cursor's alert, as soon as it is known.
    pub fn cursor_id(&self) -> Option<AlertId> {
        self.cursor_id
    }

    /// The cursor's alert with its facts.
    pub fn current(&self) -> Option<&Alert> {
        self.row(self.cursor).alert()
    }

    /// Whether the cursor's alert is no longer in the list.
    pub fn is_gone(&self) -> bool {
        self.ghost.is_some()
    }

    /// How many alerts are held: never more than a few pages.
    pub fn held(&self) -> usize {
        self.pages.alerts().count()
    }

    /// A row of the list.
    pub fn row(&self, index: u64) -> ListRow<'_> {
        let index = match &self.ghost {
            Some(ghost) if index == self.cursor => return ListRow::Gone(ghost),
            Some(_) if index > self.cursor => index - 1,
            _ => index,
        };
        self.pages.get(index).map_or(ListRow::Pending, ListRow::Alert)
    }

    /// An alert that is held, by its id.
    pub fn find(&self, id: AlertId) -> Option<&Alert> {
        let ghost = self.ghost.as_ref().filter(|ghost| ghost.id == id);
        ghost.or_else(|| self.pages.alerts().find(|alert| alert.id == id))
    }

    /// Takes over what is newly known of an alert, wherever it stands.
    pub fn replace(&mut self, fresh: &Alert) {
        for alert in self.pages.alerts_mut().chain(&mut self.ghost).filter(|alert| alert.id == fresh.id) {
            alert.clone_from(fresh);
        }
    }

    /// Says how many rows are visible; the cursor stays among them.
    pub fn set_height(&mut self, height: u16) {
        self.height = height.max(1);
        self.show_cursor();
    }

    /// Puts the cursor on a row, or on the nearest there is.
    pub fn move_to(&mut self, row: u64) {
        let mut target = row.min(self.rows().saturating_sub(1));
        if target == self.cursor {
            return;
        }
        if self.ghost.take().is_some() && target > self.cursor {
            target -= 1;
        }
        self.cursor = target.min(self.total.unwrap_or(0).saturating_sub(1));
        self.cursor_id = self.pages.get(self.cursor).map(|alert| alert.id);
        self.show_cursor();
    }

    /// Puts the cursor on an alert, where it is among what is held of the list.
    pub fn move_to_alert(&mut self, id: AlertId) {
        let Some(position) = self.pages.position_of(id) else { return };
        self.ghost = None;
        (self.cursor, self.cursor_id) = (position, Some(id));
        self.show_cursor();
    }

    /// Moves the cursor by so many rows.
    pub fn move_by(&mut self, rows: i64) {
        self.move_to(self.cursor.saturating_add_signed(rows));
    }

    /// Scrolls by so many rows; the cursor follows only when it would be left behind.
    pub fn scroll_by(&mut self, rows: i64) {
        self.top = self.top.saturating_add_signed(rows).min(self.last_top());
        let last = self.top + u64::from(self.height) - 1;
        if self.cursor < self.top {
            self.move_to(self.top);
        } else if self.cursor > last {
            self.move_to(last);
        }
    }

    /// Scrolls so that this row is the first one, as far as there are rows after it.
    pub fn scroll_to(&mut self, row: u64) {
        let distance = i64::try_from(row).unwrap_or(i64::MAX) - i64::try_from(self.top).unwrap_or(i64::MAX);
        self.scroll_by(distance);
    }

    fn last_top(&self) -> u64 {
        self.rows().saturating_sub(u64::from(self.height))
    }

    fn show_cursor(&mut self) {
        let height = u64::from(self.height);
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if self.cursor >= self.top + height {
            self.top = self.cursor + 1 - height;
        }
        self.top = self.top.min(self.last_top());
    }

    /// The pages of the visible rows and of one screen before and after them.
    fn wanted(&self) -> BTreeSet<u64> {
        let height = u64::from(self.height);
        let first = self.top.saturating_sub(height);
        let end = (self.top + 2 * height).min(self.total.unwrap_or(1).max(1));
        (first / u64::from(PAGE)..=(end.max(first + 1) - 1) / u64::from(PAGE)).collect()
    }

    fn request(&self, page: u64, epoch: u64) -> Need {
        Need {
            ticket: Ticket { listing: self.id, epoch, page },
            query: AlertQuery { filter: self.filter.clone(), sort: self.sort, page: PageRequest { page, size: PAGE } },
        }
    }

    /// The pages that are missing and not yet asked for; they count as asked for from now on.
    pub fn needs(&mut self) -> Vec<Need> {
        let missing = self.pages.missing(self.wanted());
        let missing: Vec<u64> = missing.difference(&self.asked).copied().collect();
        self.asked.extend(&missing);
        missing.into_iter().map(|page| self.request(page, self.epoch)).collect()
    }

    /// Whether a refresh is on its way.
    pub fn is_refreshing(&self) -> bool {
        self.refresh.is_some()
    }

    /// Gives a refresh up that is on its way; whether there was one.
    pub fn abandon_refresh(&mut self) -> bool {
        self.refresh.take().is_some()
    }

    /// Begins a refresh: the visible pages are asked for anew and shown when all are here.
    pub fn refresh(&mut self) -> Vec<Need> {
        let epoch = self.next_epoch;
        self.next_epoch += 1;
        let height = u64::from(self.height);
        let end = (self.top + height).min(self.rows()).max(self.top + 1);
        let size = u64::from(PAGE);
        let mut wanted: BTreeSet<u64> = (self.top / size..=(end - 1) / size).collect();
        wanted.insert(self.cursor / size);
        let needs = wanted.iter().map(|page| self.request(*page, epoch)).collect();
        self.refresh = Some(Refresh { epoch, wanted, got: BTreeMap::new(), total: 0 });
        needs
    }

    /// Takes an answer in. Returns whether anything that is shown may have changed; an answer that nobody waits for changes nothing.
    ///
    /// # Errors
    /// The answer's own error, where the answer was waited for.
    pub fn accept(&mut self, ticket: Ticket, answer: Result<Page<Alert>, ServiceError>) -> Result<bool, ServiceError> {
        if ticket.listing != self.id {
            return Ok(false);
        }
        if self.refresh.as_ref().is_some_and(|refresh| refresh.epoch == ticket.epoch) {
            return self.accept_refresh(ticket.page, answer);
        }
        if ticket.epoch != self.epoch || !self.asked.remove(&ticket.page) {
            return Ok(false);
        }
        let page = answer?;
        self.total = Some(page.total);
        self.pages.hold(ticket.page, page.data, &self.wanted());
        self.clamp();
        Ok(true)
    }

    fn accept_refresh(&mut self, page: u64, answer: Result<Page<Alert>, ServiceError>) -> Result<bool, ServiceError> {
        let Some(refresh) = &mut self.refresh else { return Ok(false) };
        match answer {
            Ok(answer) => {
                refresh.total = answer.total;
                refresh.got.insert(page, answer.data);
            }
            Err(error) => {
                self.refresh = None;
                return Err(error);
            }
        }
        if !refresh.wanted.iter().all(|page| refresh.got.contains_key(page)) {
            return Ok(false);
        }
        if let Some(refresh) = self.refresh.take() {
            self.take_over(refresh);
        }
        Ok(true)
    }

    fn take_over(&mut self, refresh: Refresh) {
        let before = self.current().cloned();
        self.pages.clear();
        self.asked.clear();
        self.epoch = refresh.epoch;
        self.total = Some(refresh.total);
        self.ghost = None;
        for (page, alerts) in refresh.got {
            self.pages.hold(page, alerts, &self.wanted());
        }
        if let Some(id) = self.cursor_id {
            match self.pages.position_of(id) {
                Some(position) => {
                    // The row keeps its line; a list that stood at its beginning goes on showing it, so that what is new there is seen.
                    let line = self.cursor.saturating_sub(self.top);
                    let at_start = self.top == 0 && position < u64::from(self.height);
                    self.top = if at_start { 0 } else { position.saturating_sub(line) };
                    self.cursor = position;
                }
                None => {
                    self.ghost = before.filter(|alert| alert.id == id);
                    self.cursor = self.cursor.min(refresh.total);
                    if self.ghost.is_none() {
                        self.cursor_id = None;
                    }
                }
            }
        }
        self.clamp();
    }

    /// Whether an alert of what is loaded is one of several on a payment; `Some(true)` where another of those was refunded.
    pub fn duplicate(&self, id: AlertId) -> Option<bool> {
        self.pages.duplicate(id)
    }

    /// Keeps cursor and window inside the list and learns the id under the cursor.
    fn clamp(&mut self) {
        self.cursor = self.cursor.min(self.rows().saturating_sub(1));
        if self.ghost.is_none() {
            match (self.cursor_id, self.pages.get(self.cursor).map(|alert| alert.id)) {
                (None, found) => self.cursor_id = found,
                // The page came with another alert in this row: the row is where the cursor was put, unless its alert is still held.
                (Some(id), found) if found != Some(id) => match self.pages.position_of(id) {
                    Some(position) => self.cursor = position,
                    None => self.cursor_id = found,
                },
                _ => {}
            }
        }
        self.show_cursor();
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use rstest::rstest;

    use super::super::pages::KEPT;
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertType, Provider, SortField, SortOrder};

    const SORT: Sort = Sort { field: SortField::AlertTimeStamp, order: SortOrder::Ascending };

    /// Alerts one minute after the other.
    fn alerts(count: i64) -> Vec<Alert> {
        let start = from_iso("2026-03-10T12:00:00Z").unwrap();
        (0..count)
            .map(|minute| {
                let alert_time = Some(start + Duration::minutes(minute));
                Alert { alert_time, ..Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiCancel) }
            })
            .collect()
    }

    fn page_of(all: &[Alert], need: &Need) -> Page<Alert> {
        let size = usize::try_from(PAGE).unwrap();
        let start = usize::try_from(need.ticket.page).unwrap() * size;
        let data = all.iter().skip(start).take(size).cloned().collect();
        Page { data, total: all.len() as u64, counted: true, page: need.ticket.page, size: PAGE }
    }

    fn load(listing: &mut Listing, all: &[Alert]) -> usize {
        let needs = listing.needs();
        for need in &needs {
            listing.accept(need.ticket, Ok(page_of(all, need))).unwrap();
        }
        needs.len()
    }

    fn refresh(listing: &mut Listing, all: &[Alert]) {
        for need in listing.refresh() {
            listing.accept(need.ticket, Ok(page_of(all, &need))).unwrap();
        }
    }

    fn listing(all: &[Alert], height: u16) -> Listing {
        let mut listing = Listing::new(1, AlertFilter::default(), SORT, height);
        load(&mut listing, all);
        load(&mut listing, all);
        listing
    }

    #[test]
    fn only_pages_around_the_window_are_asked_for() {
        let all = alerts(1_000);
        let mut listing = Listing::new(1, AlertFilter::default(), SORT, 40);

        assert_eq!(load(&mut listing, &all), 1);
        assert_eq!(load(&mut listing, &all), 0);
        listing.move_to(999);
        assert_eq!(load(&mut listing, &all), 1);
        assert_eq!(listing.current(), all.last());
    }

    #[test]
    fn few_pages_are_kept_however_far_one_walks() {
        let all = alerts(5_000);
        let mut listing = listing(&all, 40);

        for row in (0..5_000).step_by(30) {
            listing.move_to(row);
            load(&mut listing, &all);
            assert_eq!(listing.cursor_id(), Some(all[usize::try_from(row).unwrap()].id));
        }

        assert!(listing.held() <= KEPT * 100, "{}", listing.held());
    }

    #[test]
    fn the_cursors_alert_stays_under_it_when_others_come_before_it() {
        let all = alerts(300);
        let mut listing = listing(&all[10..], 20);
        listing.move_to(150);
        load(&mut listing, &all[10..]);
        let (id, line) = (listing.cursor_id(), listing.cursor() - listing.top());

        refresh(&mut listing, &all);

        assert_eq!((listing.cursor_id(), listing.cursor()), (id, 160));
        assert_eq!(listing.current().map(|alert| alert.id), id);
        assert_eq!(listing.cursor() - listing.top(), line);
    }

    #[test]
    fn a_list_at_its_beginning_shows_what_is_new_there() {
        let all = alerts(30);
        let mut listing = listing(&all[3..], 20);

        refresh(&mut listing, &all);

        assert_eq!((listing.top(), listing.cursor()), (0, 3));
        assert_eq!(listing.current().map(|alert| alert.id), Some(all[3].id));
    }

    #[test]
    fn an_alert_that_leaves_stays_as_a_ghost_until_the_cursor_moves() {
        let all = alerts(30);
        let mut listing = listing(&all, 20);
        listing.move_to(5);
        let rest: Vec<_> = all.iter().filter(|alert| alert.id != all[5].id).cloned().collect();

        refresh(&mut listing, &rest);

        assert_eq!(listing.row(5), ListRow::Gone(&all[5]));
        assert_eq!((listing.row(4), listing.row(6)), (ListRow::Alert(&all[4]), ListRow::Alert(&all[6])));
        assert_eq!((listing.rows(), listing.total()), (30, Some(29)));

        listing.move_by(1);

        assert_eq!(listing.current(), Some(&all[6]));
        assert_eq!((listing.cursor(), listing.rows()), (5, 29));
    }

    #[rstest]
    #[case(-1, 4)]
    #[case(1, 6)]
    #[case(10, 15)]
    fn leaving_a_ghost_goes_to_the_row_that_was_seen_there(#[case] step: i64, #[case] seen: usize) {
        let all = alerts(30);
        let mut listing = listing(&all, 20);
        listing.move_to(5);
        let rest: Vec<_> = all.iter().filter(|alert| alert.id != all[5].id).cloned().collect();
        refresh(&mut listing, &rest);

        listing.move_by(step);

        assert_eq!(listing.current(), Some(&all[seen]));
    }

    #[test]
    fn a_list_that_empties_keeps_the_ghost_alone() {
        let all = alerts(1);
        let mut listing = listing(&all, 20);

        refresh(&mut listing, &[]);

        assert_eq!((listing.rows(), listing.current()), (1, Some(&all[0])));
        listing.move_by(1);
        assert_eq!(listing.rows(), 1);
    }

    #[test]
    fn a_stale_answer_changes_nothing() {
        let all = alerts(300);
        let mut listing = listing(&all, 20);
        listing.move_to(250);
        let late = listing.needs();
        refresh(&mut listing, &all[..10]);

        for need in late {
            assert_eq!(listing.accept(need.ticket, Ok(page_of(&all, &need))), Ok(false));
        }

        assert_eq!(listing.total(), Some(10));
    }

    #[test]
    fn a_failed_refresh_keeps_what_is_shown() {
        let all = alerts(50);
        let mut listing = listing(&all, 20);
        let need = listing.refresh().remove(0);

        let error = listing.accept(need.ticket, Err(ServiceError::Unavailable("busy".to_owned()))).unwrap_err();

        assert_eq!(error, ServiceError::Unavailable("busy".to_owned()));
        assert!(!listing.is_refreshing());
        assert_eq!(listing.current(), Some(&all[0]));
    }

    #[test]
    fn a_page_that_failed_is_asked_for_again_when_it_is_needed() {
        let mut listing = Listing::new(1, AlertFilter::default(), SORT, 20);
        let need = listing.needs().remove(0);
        assert!(listing.needs().is_empty());

        let refused = listing.accept(need.ticket, Err(ServiceError::Unavailable("busy".to_owned())));

        assert!(refused.is_err());
        assert_eq!(listing.needs().len(), 1);
    }

    #[test]
    fn scrolling_takes_the_cursor_along_only_at_the_edge() {
        let all = alerts(90);
        let mut listing = listing(&all, 20);
        listing.move_to(10);

        listing.scroll_by(5);
        assert_eq!((listing.top(), listing.cursor()), (5, 10));
        listing.scroll_by(10);
        assert_eq!((listing.top(), listing.cursor()), (15, 15));
        listing.scroll_by(1_000);
        assert_eq!((listing.top(), listing.cursor()), (70, 70));
        listing.scroll_to(0);
        assert_eq!((listing.top(), listing.cursor()), (0, 19));
    }
}
