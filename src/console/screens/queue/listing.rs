//! The windowed list: of a list of any length only the pages around the visible rows are asked for and kept.
//!
//! The cursor holds an alert's id. A refresh asks for the visible pages anew, takes them over at once when all are
//! here, and looks for the cursor's alert among them: it stays under the cursor wherever it went, and where it has left
//! the list it stays as a ghost until the cursor moves. Its row keeps its line on the screen while others come and go.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, HashSet},
};

use super::{columns::COLUMNS, pages::Pages};
use crate::{
    desk::snoozes::ChosenAlerts,
    domain::{Alert, AlertFilter, AlertId, AlertQuery, Page, PageRequest, Sort},
    service::ServiceError,
};

/// A request ticket: which request an answer belongs to. An answer to a list or a state of it that is no longer shown
/// is dropped.
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
    /// The alerts that it is of alone, whatever else matches.
    pub chosen: Option<ChosenAlerts>,
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
    /// Tells this list from every other one.
    pub id: u64,
    /// The filter of what is listed.
    pub filter: AlertFilter,
    /// In which order it was asked for.
    pub sort: Sort,
    /// The order it is read in: another one than asked for where the service refuses that.
    pub order: Sort,
    /// Number of alerts that match, once known.
    pub total: Option<u64>,
    /// The cursor's row.
    pub cursor: u64,
    /// The cursor's alert, as soon as it is known.
    pub cursor_id: Option<AlertId>,
    /// The first visible row.
    pub top: u64,
    /// Lines over the first visible row: so many rows above the cursor's have left.
    pub lead: u64,
    /// The alerts that are listed alone.
    pub chosen: Option<ChosenAlerts>,
    /// The widest that each column was drawn: what changes while one scrolls moves nothing to and fro.
    pub widths: Cell<[u16; COLUMNS]>,
    pub(super) pages: Pages,
    asked: BTreeSet<u64>,
    epoch: u64,
    next_epoch: u64,
    refresh: Option<Refresh>,
    ghost: Option<Alert>,
    /// True where the window stands where a refresh has left it, so that the cursor's row keeps its line.
    pinned: bool,
    height: u16,
}

impl Listing {
    /// A list of which nothing is known yet.
    pub fn new(id: u64, filter: AlertFilter, sort: Sort, height: u16) -> Self {
        Self { id, filter, sort, order: sort, next_epoch: 1, height: height.max(1), ..Self::default() }
    }

    /// The same by pages of so many alerts each.
    #[must_use]
    pub fn paged(self, size: u32) -> Self {
        Self { pages: Pages::of(size), ..self }
    }

    /// Lists these alerts alone from the next time it is read. Returns whether they are others than before.
    pub fn choose(&mut self, chosen: ChosenAlerts) -> bool {
        let changed = self.chosen.as_ref().is_none_or(|known| known.ids != chosen.ids);
        self.chosen = Some(chosen);
        changed
    }

    /// The alerts that are held.
    pub fn alerts(&self) -> impl Iterator<Item = &Alert> {
        self.pages.alerts()
    }

    /// Returns true where it is of this filter in this order, and of chosen alerts or not.
    pub fn is_of(&self, filter: &AlertFilter, sort: Sort, chosen: bool) -> bool {
        (&self.filter, self.sort, self.chosen.is_some()) == (filter, sort, chosen)
    }

    /// The service refuses the order: the list is read in the interface's own one. `false` where it is already.
    pub fn fall_back(&mut self) -> bool {
        if self.order == Sort::default() {
            return false;
        }
        self.order = Sort::default();
        self.pages.clear();
        self.asked.clear();
        self.refresh = None;
        self.epoch = self.next_epoch;
        self.next_epoch += 1;
        true
    }

    /// Number of rows: every match that is not put aside as far as that is held, and the alert that has left.
    pub fn rows(&self) -> u64 {
        self.total.unwrap_or(0).saturating_sub(self.pages.hidden().count() as u64) + u64::from(self.ghost.is_some())
    }

    /// The cursor's alert with its facts.
    pub fn current(&self) -> Option<&Alert> {
        self.row(self.cursor)
    }

    /// Returns true where the cursor's alert is no longer in the list.
    pub fn is_gone(&self) -> bool {
        self.ghost.is_some()
    }

    /// The alert of a row, where it is here.
    pub fn row(&self, index: u64) -> Option<&Alert> {
        match &self.ghost {
            Some(ghost) if index == self.cursor => Some(ghost),
            Some(_) if index > self.cursor => self.pages.get(index - 1),
            _ => self.pages.get(index),
        }
    }

    /// The row of an alert that is held.
    pub fn row_of(&self, id: AlertId) -> Option<u64> {
        if self.ghost.as_ref().is_some_and(|ghost| ghost.id == id) {
            return Some(self.cursor);
        }
        self.listed_row(id).map(|row| row + u64::from(self.is_gone() && row >= self.cursor))
    }

    /// The row of an alert that is held and listed, as if none had left.
    fn listed_row(&self, id: AlertId) -> Option<u64> {
        self.pages.row_of(id).filter(|(_, is_hidden)| !is_hidden).map(|(row, _)| row)
    }

    /// An alert that is held, by its id.
    pub fn find(&self, id: AlertId) -> Option<&Alert> {
        self.ghost.iter().chain(self.pages.alerts()).find(|alert| alert.id == id)
    }

    /// Takes over what is newly known of an alert, wherever it stands.
    pub fn replace(&mut self, fresh: &Alert) {
        self.pages.replace(fresh);
        self.clamp();
        if let Some(ghost) = self.ghost.as_mut().filter(|ghost| ghost.id == fresh.id) {
            ghost.clone_from(fresh);
        }
    }

    /// Says how many rows are visible; the cursor stays among them.
    pub fn set_height(&mut self, height: u16) {
        self.height = height.max(1);
        self.show_cursor();
    }

    /// Returns the last row; the first one where there is none.
    fn last_row(&self) -> u64 {
        self.rows().saturating_sub(1)
    }

    /// Puts the cursor on a row, or on the nearest there is.
    pub fn move_to(&mut self, row: u64) {
        let mut target = row.min(self.last_row());
        if target == self.cursor {
            self.fill_foot();
            return;
        }
        if self.ghost.take().is_some() && target > self.cursor {
            target -= 1;
        }
        self.cursor = target.min(self.last_row());
        self.cursor_id = self.pages.get(self.cursor).map(|alert| alert.id);
        self.unpin();
        self.show_cursor();
    }

    /// Puts the cursor on an alert, where it is among what is held of the list, put aside or not; whether it is.
    pub fn move_to_alert(&mut self, id: AlertId) -> bool {
        let Some((row, _)) = self.pages.row_of(id) else { return false };
        (self.cursor, self.cursor_id, self.ghost) = (row, Some(id), self.hidden_alert(id).cloned());
        self.show_cursor();
        true
    }

    /// Moves the cursor by so many rows.
    pub fn move_by(&mut self, rows: i64) {
        self.move_to(self.cursor.saturating_add_signed(rows));
    }

    /// Scrolls by so many rows; the cursor follows only when it would be left behind.
    pub fn scroll_by(&mut self, rows: i64) {
        self.unpin();
        self.top = self.top.saturating_add_signed(rows).min(self.last_top());
        let last = (self.top + u64::from(self.height) - 1).min(self.last_row());
        if self.cursor < self.top || self.cursor > last {
            self.move_to(self.cursor.clamp(self.top, last.max(self.top)));
        }
    }

    fn last_top(&self) -> u64 {
        self.rows().saturating_sub(self.height.into())
    }

    fn unpin(&mut self) {
        (self.pinned, self.lead) = (false, 0);
    }

    /// Brings rows from above into lines that are blank below the last row.
    fn fill_foot(&mut self) {
        if self.top > self.last_top() {
            self.unpin();
            self.show_cursor();
        }
    }

    fn show_cursor(&mut self) {
        let height = u64::from(self.height);
        let lines = self.cursor.saturating_sub(self.top);
        if self.pinned && self.cursor >= self.top && self.lead + lines < height {
            return;
        }
        self.unpin();
        if self.cursor < self.top {
            self.top = self.cursor;
        } else if lines >= height {
            self.top = self.cursor + 1 - height;
        }
        self.top = self.top.min(self.last_top());
    }

    /// The pages of the visible rows and of one screen before and after them.
    fn wanted(&self) -> BTreeSet<u64> {
        let height = u64::from(self.height);
        self.pages_of(self.top.saturating_sub(height), self.top + 2 * height)
    }

    /// The pages of the rows from one to before another one.
    fn pages_of(&self, first: u64, end: u64) -> BTreeSet<u64> {
        let last = self.pages.place_of(end.max(1) - 1).min(self.total.unwrap_or(1).max(1) - 1);
        let (first, size) = (self.pages.place_of(first).min(last), u64::from(self.pages.size));
        (first / size..=last / size).collect()
    }

    fn request(&self, page: u64, epoch: u64) -> Need {
        Need {
            ticket: Ticket { listing: self.id, epoch, page },
            chosen: self.chosen.clone(),
            query: AlertQuery {
                filter: self.filter.clone(),
                sort: self.order,
                page: PageRequest { page, size: self.pages.size },
            },
        }
    }

    /// The pages that are missing and not yet asked for; they count as asked for from now on.
    pub fn needs(&mut self) -> Vec<Need> {
        let missing = self.pages.missing(self.wanted());
        let missing: Vec<u64> = missing.difference(&self.asked).copied().collect();
        self.asked.extend(&missing);
        missing.into_iter().map(|page| self.request(page, self.epoch)).collect()
    }

    /// Returns true where a refresh is on its way.
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
        let mut wanted = self.pages_of(self.top, self.top + u64::from(self.height));
        wanted.extend(self.pages_of(self.cursor, self.cursor + 1));
        let needs = wanted.iter().map(|page| self.request(*page, epoch)).collect();
        self.refresh = Some(Refresh { epoch, wanted, got: BTreeMap::new(), total: 0 });
        needs
    }

    /// Takes an answer in. Returns whether anything that is shown may have changed; an answer that nobody waits for
    /// changes nothing.
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
        let Some(mut refresh) = self.refresh.take() else { return Ok(false) };
        let answer = answer?;
        refresh.total = answer.total;
        refresh.got.insert(page, answer.data);
        if refresh.wanted.iter().all(|page| refresh.got.contains_key(page)) {
            self.take_over(refresh);
            return Ok(true);
        }
        self.refresh = Some(refresh);
        Ok(false)
    }

    fn take_over(&mut self, refresh: Refresh) {
        let (line, before) = (self.line(), self.current().cloned());
        self.pages.clear();
        self.asked.clear();
        self.epoch = refresh.epoch;
        self.total = Some(refresh.total);
        self.ghost = None;
        for (page, alerts) in refresh.got {
            self.pages.hold(page, alerts, &self.wanted());
        }
        self.stay(before, line);
    }

    /// The cursor stays on its alert and on its line, whatever rows there are by now; where the alert has none any more
    /// it is a ghost, as it was `before`.
    fn stay(&mut self, before: Option<Alert>, line: u64) {
        if let Some(id) = self.cursor_id {
            self.ghost = None;
            match self.pages.row_of(id) {
                Some((row, false)) => self.cursor = row,
                aside => {
                    self.cursor = aside.map_or(self.cursor, |(row, _)| row).min(self.rows());
                    self.ghost = self.hidden_alert(id).cloned().or(before.filter(|alert| alert.id == id));
                    self.cursor_id = self.ghost.as_ref().map(|ghost| ghost.id);
                }
            }
            (self.top, self.lead) = (self.cursor.saturating_sub(line), line.saturating_sub(self.cursor));
            self.pinned = true;
        }
        self.clamp();
    }

    /// The cursor's line in the window.
    fn line(&self) -> u64 {
        self.lead + self.cursor.saturating_sub(self.top)
    }

    /// Has these alerts have no row: they are put aside. The one under the cursor stays there until it moves.
    pub fn set_hidden(&mut self, hidden: &HashSet<AlertId>) {
        if *hidden != self.pages.hidden_ids {
            let (line, before) = (self.line(), self.current().cloned());
            self.pages.hide(hidden);
            self.stay(before, line);
        }
    }

    /// The alerts that are put aside, wherever in the list they are.
    pub fn hidden_ids(&self) -> &HashSet<AlertId> {
        &self.pages.hidden_ids
    }

    /// The alerts of what is held that are put aside; none where not all of the list is held.
    pub fn hidden(&self) -> Option<Vec<&Alert>> {
        let all = self.pages.hold_all_before(self.total.unwrap_or(0));
        all.then(|| self.pages.hidden().collect())
    }

    fn hidden_alert(&self, id: AlertId) -> Option<&Alert> {
        self.pages.hidden().find(|alert| alert.id == id)
    }

    /// Number of alerts that are listed with a row, where that is known, else of all with those that are put aside.
    pub fn listed(&self) -> Option<u64> {
        let hidden = self.hidden().map_or(0, |hidden| hidden.len());
        Some(self.total?.saturating_sub(hidden as u64))
    }

    /// The rows that are in sight, each with its line.
    pub fn window(&self) -> Vec<(u16, u64)> {
        let first = u16::try_from(self.lead).unwrap_or(u16::MAX);
        (first..self.height).zip(self.top..self.rows()).collect()
    }

    /// The alerts that are in sight.
    pub fn in_sight(&self) -> impl Iterator<Item = &Alert> {
        self.window().into_iter().filter_map(|(_, row)| self.row(row))
    }

    /// Keeps cursor and window inside the list and learns the id under the cursor.
    fn clamp(&mut self) {
        // What was put aside and has been answered since has its row again.
        if let Some(row) = self.ghost.as_ref().and_then(|ghost| self.listed_row(ghost.id)) {
            (self.ghost, self.cursor) = (None, row);
        }
        self.cursor = self.cursor.min(self.last_row());
        if self.ghost.is_none() {
            let found = self.pages.get(self.cursor).map(|alert| alert.id);
            // The page came with another alert in this row: the row is where the cursor was put, unless its alert is
            // still held.
            match self.cursor_id.filter(|id| found != Some(*id)).map(|id| self.listed_row(id)) {
                Some(Some(row)) => self.cursor = row,
                Some(None) | None => self.cursor_id = found,
            }
        }
        self.show_cursor();
    }
}

#[cfg(test)]
mod tests;
