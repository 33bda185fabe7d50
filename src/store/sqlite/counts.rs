//! Materialized counts of alerts by kind and day: kept in the commit that changes an alert, and cached by each reader.
//!
//! A reader reads only those counts again that changed since it last looked, so its memory is always of the snapshot it reads from.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, params};

use super::statements::{Statements as _, cell};
use crate::domain::time::Timestamp;
use crate::store::{StoreError, StoreResult};

pub(super) const DAY_MICROS: i64 = 86_400_000_000;

/// The day of alerts without a time: after every other.
pub(super) const NO_DAY: i64 = i64::MAX;

/// Whole days since 1970.
pub(super) fn day_of(time: Option<Timestamp>) -> i64 {
    time.map_or(NO_DAY, |time| time.timestamp_micros().div_euclid(DAY_MICROS))
}

/// The first microsecond of a day.
pub(super) fn day_start(day: i64) -> i64 {
    day.saturating_mul(DAY_MICROS)
}

/// The key in the place of an outcome where there is none.
pub(super) const NO_OUTCOME: i64 = 0;

/// A cell of the counts: what alerts are counted by; words by their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) provider: i64,
    pub(super) alert_type: i64,
    pub(super) status: i64,
    pub(super) outcome: i64,
    pub(super) expired: bool,
}

/// A cell of one organization on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CountKey {
    pub(super) organization: i64,
    pub(super) day: i64,
    pub(super) cell: Cell,
}

/// Changes of counts, gathered in a unit of work and written at its end.
#[derive(Debug, Default)]
pub(super) struct CountChanges(HashMap<CountKey, i64>);

impl CountChanges {
    /// One alert more.
    pub(super) fn add(&mut self, key: CountKey) {
        *self.0.entry(key).or_default() += 1;
    }

    /// An alert moved from one cell to another.
    pub(super) fn shift(&mut self, from: CountKey, to: CountKey) {
        if from != to {
            *self.0.entry(from).or_default() -= 1;
            *self.0.entry(to).or_default() += 1;
        }
    }

    /// Writes the changes.
    pub(super) fn write(self, conn: &Connection, change: i64) -> StoreResult<()> {
        let mut update = conn.prepare_cached(
            "UPDATE alert_count SET alerts = alerts + ?8, changed = ?9
             WHERE organization = ?1 AND day = ?2 AND provider = ?3 AND type = ?4 AND status = ?5 AND outcome = ?6 AND expired = ?7",
        )?;
        let mut insert = conn.prepare_cached("INSERT INTO alert_count VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?;
        for (CountKey { organization, day, cell }, by) in self.0.into_iter().filter(|(_, by)| *by != 0) {
            let values = params![organization, day, cell.provider, cell.alert_type, cell.status, cell.outcome, cell.expired, by, change];
            if update.execute(values)? == 0 {
                insert.execute(values)?;
            }
        }
        Ok(())
    }
}

/// A filter of cells; `None` means any, an empty list none.
#[derive(Debug, Clone, Default)]
pub(super) struct CellFilter {
    pub(super) providers: Option<Vec<i64>>,
    pub(super) types: Option<Vec<i64>>,
    pub(super) statuses: Option<Vec<i64>>,
    pub(super) outcomes: Option<Vec<i64>>,
    pub(super) expired: Option<bool>,
}

impl CellFilter {
    /// Whether every cell is wanted.
    pub(super) fn is_any(&self) -> bool {
        let lists = [&self.providers, &self.types, &self.statuses, &self.outcomes];
        lists.iter().all(|list| list.is_none()) && self.expired.is_none()
    }

    fn matches(&self, cell: &Cell) -> bool {
        let within = |wanted: &Option<Vec<i64>>, key: i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(&key));
        within(&self.providers, cell.provider)
            && within(&self.types, cell.alert_type)
            && within(&self.statuses, cell.status)
            && within(&self.outcomes, cell.outcome)
            && self.expired.is_none_or(|expired| expired == cell.expired)
    }
}

/// The counts of one organization.
#[derive(Debug, Default)]
struct Counts {
    days: BTreeMap<i64, Vec<(u32, u32)>>,
    totals: Vec<u64>,
}

/// A cache of the counts as of one change number.
#[derive(Debug, Default)]
pub(super) struct CountCache {
    change: Option<i64>,
    /// Every cell there is; days refer to it by position.
    cells: Vec<Cell>,
    positions: HashMap<Cell, u32>,
    organizations: HashMap<i64, Counts>,
}

impl CountCache {
    /// Brings the memory up to the snapshot that the connection reads from.
    pub(super) fn refresh(&mut self, conn: &Connection) -> StoreResult<()> {
        let newest: i64 = conn.one("SELECT number FROM change_number", [], cell)?;
        if self.change == Some(newest) {
            return Ok(());
        }
        let mut statement = conn.prepare_cached(
            "SELECT organization, day, provider, type, status, outcome, expired, alerts FROM alert_count WHERE changed > ?1",
        )?;
        let mut rows = statement.query([self.change.unwrap_or(-1)])?;
        while let Some(row) = rows.next()? {
            let cell =
                Cell { provider: row.get(2)?, alert_type: row.get(3)?, status: row.get(4)?, outcome: row.get(5)?, expired: row.get(6)? };
            let alerts: u32 = row.get(7)?;
            self.set(row.get(0)?, row.get(1)?, cell, alerts)?;
        }
        self.change = Some(newest);
        Ok(())
    }

    fn set(&mut self, organization: i64, day: i64, cell: Cell, alerts: u32) -> StoreResult<()> {
        let position = match self.positions.get(&cell) {
            Some(&position) => position,
            None => {
                let position = u32::try_from(self.cells.len()).map_err(|_| StoreError::Corrupt("too many kinds of alerts".to_owned()))?;
                self.cells.push(cell);
                self.positions.insert(cell, position);
                position
            }
        };
        let counts = self.organizations.entry(organization).or_default();
        if counts.totals.len() < self.cells.len() {
            counts.totals.resize(self.cells.len(), 0);
        }
        let day = counts.days.entry(day).or_default();
        let total = &mut counts.totals[position as usize];
        match day.iter_mut().find(|(at, _)| *at == position) {
            Some((_, known)) => {
                *total = *total + u64::from(alerts) - u64::from(*known);
                *known = alerts;
            }
            None => {
                *total += u64::from(alerts);
                day.push((position, alerts));
            }
        }
        Ok(())
    }

    /// How many alerts an organization has, in all.
    pub(super) fn all(&self, organization: i64) -> u64 {
        self.organizations.get(&organization).map_or(0, |counts| counts.totals.iter().sum())
    }

    /// The days from the first match to the last, the end excluded, where matches without a date are not among them.
    pub(super) fn span(&self, organization: i64, filter: &CellFilter, from: Option<i64>, until: Option<i64>) -> (Option<i64>, Option<i64>) {
        let undated = self.organizations.get(&organization).and_then(|counts| counts.days.get(&NO_DAY));
        if from.is_none() && until.is_none() && undated.is_some_and(|cells| sum(cells, &self.wanted(filter)) > 0) {
            return (None, None);
        }
        let mut days = self.days(organization, filter, from, until);
        match (days.next(), days.next_back()) {
            (Some((first, _)), Some((last, _))) => (Some(first), Some(last + 1)),
            (Some((only, _)), None) => (Some(only), Some(only + 1)),
            (None, _) => (from, until),
        }
    }

    /// How many alerts match, on days from `from` on and before `until`.
    pub(super) fn total(&self, organization: i64, filter: &CellFilter, from: Option<i64>, until: Option<i64>) -> u64 {
        let Some(counts) = self.organizations.get(&organization) else { return 0 };
        let wanted = self.wanted(filter);
        if from.is_none() && until.is_none() {
            return counts.totals.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(alerts, _)| alerts).sum();
        }
        counts.days.range(bounds(from, until)).map(|(_, cells)| sum(cells, &wanted)).sum()
    }

    /// The days with matches, earliest first, with how many there are; days without a date last.
    pub(super) fn days(&self, organization: i64, filter: &CellFilter, from: Option<i64>, until: Option<i64>) -> MatchingDays<'_> {
        let range = self.organizations.get(&organization).map(|counts| counts.days.range(bounds(from, until)));
        MatchingDays { range, wanted: self.wanted(filter) }
    }

    /// The keys that occur, of whatever `pick` picks.
    pub(super) fn occurring(&self, pick: impl Fn(&Cell) -> i64) -> Vec<i64> {
        let mut keys: Vec<i64> = self.cells.iter().map(pick).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn wanted(&self, filter: &CellFilter) -> Vec<bool> {
        self.cells.iter().map(|cell| filter.matches(cell)).collect()
    }
}

/// Days with matches, from either end.
pub(super) struct MatchingDays<'a> {
    range: Option<std::collections::btree_map::Range<'a, i64, Vec<(u32, u32)>>>,
    wanted: Vec<bool>,
}

impl Iterator for MatchingDays<'_> {
    type Item = (i64, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let range = self.range.as_mut()?;
        range.map(|(day, cells)| (*day, sum(cells, &self.wanted))).find(|(_, alerts)| *alerts > 0)
    }
}

impl DoubleEndedIterator for MatchingDays<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let range = self.range.as_mut()?;
        range.rev().map(|(day, cells)| (*day, sum(cells, &self.wanted))).find(|(_, alerts)| *alerts > 0)
    }
}

fn sum(cells: &[(u32, u32)], wanted: &[bool]) -> u64 {
    cells.iter().filter(|(position, _)| wanted[*position as usize]).map(|(_, alerts)| u64::from(*alerts)).sum()
}

/// Days from `from` on and before `until`; where either is given, alerts without a date do not count.
fn bounds(from: Option<i64>, until: Option<i64>) -> std::ops::Range<i64> {
    let until = until.unwrap_or(NO_DAY);
    from.unwrap_or(i64::MIN).min(until)..until
}
