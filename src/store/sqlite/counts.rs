//! Materialized counts of alerts by kind and day: kept in the commit that changes an alert, and cached by each reader.
//!
//! A reader reads only those counts again that changed since it last looked, so its memory is always of the snapshot it
//! reads from.

use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
    ops,
};

use lru::LruCache;
use rusqlite::Connection;

use super::sql::{Range, Statements as _, cell};
pub(super) use crate::alert_rows::{CountChanges, DAY_MICROS, NO_DAY, day_of};
use crate::{
    StoreError, StoreResult,
    cells::{BoundValues, StoredRow},
    error::Work,
};

/// The SELECT of the counts, from the alerts.
pub(super) fn counted() -> String {
    format!(
        "SELECT organization, CASE WHEN alert_time IS NULL THEN {NO_DAY}
                ELSE (alert_time - ((alert_time % {DAY_MICROS}) + {DAY_MICROS}) % {DAY_MICROS}) / {DAY_MICROS} END,
            provider, type, status, coalesce(outcome, 0), expired_at IS NOT NULL, count(*) FROM alert
        GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )
}

/// The alerts of an organization on a day: a condition behind that of the organization, and the values of both.
pub(super) fn on_day(organization: i64, day: i64) -> (&'static str, Vec<i64>) {
    match day {
        NO_DAY => (" AND a.alert_time IS NULL", vec![organization]),
        day => {
            (" AND a.alert_time >= ?2 AND a.alert_time < ?3", vec![organization, day_start(day), day_start(day + 1)])
        }
    }
}

/// The key of the newest alert: keys count up from 1.
pub(super) fn newest_key(conn: &Connection) -> StoreResult<i64> {
    conn.one("SELECT coalesce(max(key), 0) FROM alert", &[], cell)
}

/// The first microsecond of a day.
pub(super) fn day_start(day: i64) -> i64 {
    day.saturating_mul(DAY_MICROS)
}

/// The days of which a later commit than this one touched the counts, as every one does that changes an alert.
pub(super) fn touched_days(conn: &Connection, organization: i64, since: i64) -> StoreResult<Vec<i64>> {
    let touched = "SELECT DISTINCT day FROM alert_count INDEXED BY alert_count_by_change WHERE organization = ?1 AND \
        changed > ?2";
    conn.all(touched, &[&organization, &since], cell)
}

/// The key in the place of an outcome where there is none.
pub(super) const NO_OUTCOME: i64 = 0;

/// A cell of the counts, the fields that alerts are counted by; words by their keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    pub(super) provider: i64,
    pub(super) alert_type: i64,
    pub(super) status: i64,
    pub(super) outcome: i64,
    pub(super) expired: bool,
}

impl Cell {
    /// Reads the columns of a cell, which begin at this one.
    pub(super) fn read(row: &StoredRow<'_>, first: usize) -> Work<Self> {
        Ok(Self {
            provider: row.get(first)?,
            alert_type: row.get(first + 1)?,
            status: row.get(first + 2)?,
            outcome: row.get::<Option<i64>>(first + 3)?.unwrap_or(NO_OUTCOME),
            expired: row.get(first + 4)?,
        })
    }
}

/// A cell of one organization on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct CountKey {
    pub(super) organization: i64,
    pub(super) day: i64,
    pub(super) cell: Cell,
}

impl CountChanges<CountKey> {
    /// Writes the changes. Counts that stay as they are carry the number of the commit too: something about their
    /// alerts has changed.
    pub(super) fn write(self, conn: &Connection, change: i64) -> StoreResult<()> {
        const UPDATE: &str = "UPDATE alert_count SET alerts = alerts + ?8, changed = ?9
            WHERE organization = ?1 AND day = ?2 AND provider = ?3 AND type = ?4 AND status = ?5 AND outcome = ?6 \
                AND expired = ?7";
        const INSERT: &str = "INSERT INTO alert_count VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        for (CountKey { organization, day, cell }, by) in self.0 {
            let Cell { provider, alert_type, status, outcome, expired } = &cell;
            let values: BoundValues<'_> =
                &[&organization, &day, provider, alert_type, status, outcome, expired, &by, &change];
            if conn.run(UPDATE, values)? == 0 {
                conn.run(INSERT, values)?;
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
    /// Returns whether every cell is wanted.
    pub(super) fn is_any(&self) -> bool {
        let lists = [&self.providers, &self.types, &self.statuses, &self.outcomes];
        lists.iter().all(|list| list.is_none()) && self.expired.is_none()
    }

    pub(super) fn matches(&self, cell: &Cell) -> bool {
        let within = |wanted: &Option<Vec<i64>>, key: i64| wanted.as_ref().is_none_or(|wanted| wanted.contains(&key));
        within(&self.providers, cell.provider)
            && within(&self.types, cell.alert_type)
            && within(&self.statuses, cell.status)
            && within(&self.outcomes, cell.outcome)
            && self.expired.is_none_or(|expired| expired == cell.expired)
    }
}

/// Most organizations whose counts a reader remembers.
const MOST: NonZeroUsize = NonZeroUsize::new(64).unwrap();

/// The counts of one organization as of one change number.
#[derive(Debug, Default)]
pub(super) struct Counts {
    change: Option<i64>,
    /// Every cell there is; days refer to it by position.
    cells: Vec<Cell>,
    positions: HashMap<Cell, u32>,
    /// The cells of each day, by position.
    days: BTreeMap<i64, Vec<(u32, u32)>>,
    totals: Vec<u64>,
    /// The days on which each cell has alerts, in order.
    dates: Vec<Vec<i64>>,
}

impl Counts {
    fn set(&mut self, day: i64, cell: Cell, alerts: u32) -> StoreResult<()> {
        let position = match self.positions.get(&cell) {
            Some(&position) => position,
            None => {
                let position = u32::try_from(self.cells.len())
                    .map_err(|_| StoreError::Corrupt("too many kinds of alerts".to_owned()))?;
                self.cells.push(cell);
                self.totals.push(0);
                self.dates.push(Vec::new());
                self.positions.insert(cell, position);
                position
            }
        };
        let dates = &mut self.dates[position as usize];
        match dates.binary_search(&day) {
            Err(at) if alerts > 0 => dates.insert(at, day),
            Ok(at) if alerts == 0 => {
                dates.remove(at);
            }
            _ => {}
        }
        let day = self.days.entry(day).or_default();
        let total = &mut self.totals[position as usize];
        match day.binary_search_by_key(&position, |(at, _)| *at) {
            Ok(at) => {
                *total = *total + u64::from(alerts) - u64::from(day[at].1);
                day[at].1 = alerts;
            }
            Err(at) => {
                *total += u64::from(alerts);
                day.insert(at, (position, alerts));
            }
        }
        Ok(())
    }

    fn wanted(&self, filter: &CellFilter) -> Vec<bool> {
        self.cells.iter().map(|cell| filter.matches(cell)).collect()
    }

    /// Number of alerts in all.
    pub(super) fn all(&self) -> u64 {
        self.totals.iter().sum()
    }

    /// The days from the first match to the last, the end excluded, where matches without a date are not among them.
    pub(super) fn span(&self, filter: &CellFilter, days: Range) -> Range {
        let wanted = self.wanted(filter);
        if days == (None, None) && self.days.get(&NO_DAY).is_some_and(|cells| sum(cells, &wanted) > 0) {
            return (None, None);
        }
        self.extent(&wanted, &bounds(days)).map_or(days, |extent| (Some(extent.start), Some(extent.end)))
    }

    /// Number of matching alerts on these days.
    pub(super) fn total(&self, filter: &CellFilter, days: Range) -> u64 {
        self.total_of(|cell| filter.matches(cell), days)
    }

    /// Number of alerts on these days in the wanted cells.
    pub(super) fn total_of(&self, is_wanted: impl Fn(&Cell) -> bool, days: Range) -> u64 {
        let wanted: Vec<bool> = self.cells.iter().map(is_wanted).collect();
        if days == (None, None) {
            return self.totals.iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(alerts, _)| alerts).sum();
        }
        self.days.range(bounds(days)).map(|(_, cells)| sum(cells, &wanted)).sum()
    }

    /// The days with matches, earliest first, with their number.
    pub(super) fn days(&self, filter: &CellFilter, days: Range) -> impl DoubleEndedIterator<Item = (i64, u64)> {
        let wanted = self.wanted(filter);
        let days = self.days.range(bounds(days));
        days.map(move |(day, cells)| (*day, sum(cells, &wanted))).filter(|(_, alerts)| *alerts > 0)
    }

    /// Every matching cell of every matching day, with the number of its alerts; days without a date last.
    pub(super) fn cells(&self, filter: &CellFilter, days: Range) -> Vec<(i64, Cell, u64)> {
        let (wanted, undated) = (self.wanted(filter), days == (None, None));
        let days = self.days.iter().filter(|(day, _)| match **day {
            NO_DAY => undated,
            day => bounds(days).contains(&day),
        });
        let cells =
            days.flat_map(|(day, cells)| cells.iter().map(|(position, alerts)| (*day, *position as usize, *alerts)));
        cells
            .filter(|(_, position, alerts)| wanted[*position] && *alerts > 0)
            .map(|(day, at, alerts)| (day, self.cells[at], alerts.into()))
            .collect()
    }

    /// The keys that occur, of whatever `pick` picks.
    pub(super) fn occurring(&self, pick: impl Fn(&Cell) -> i64) -> Vec<i64> {
        let mut keys: Vec<i64> = self.cells.iter().map(pick).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// The days from the first with matches to the last, the end excluded.
    fn extent(&self, wanted: &[bool], within: &ops::Range<i64>) -> Option<ops::Range<i64>> {
        let dates = self.dates.iter().zip(wanted).filter(|(_, wanted)| **wanted).filter_map(|(dates, _)| {
            let (from, until) =
                (dates.partition_point(|day| *day < within.start), dates.partition_point(|day| *day < within.end));
            Some((*dates[from..until].first()?, dates[until - 1]))
        });
        let (first, last) = dates.reduce(|(first, last), (from, until)| (first.min(from), last.max(until)))?;
        Some(first..last + 1)
    }
}

/// A cache of the counts of the organizations that were asked for last.
#[derive(Debug)]
pub(super) struct CountCache {
    organizations: LruCache<i64, Counts>,
    /// The counts of every other organization.
    none: Counts,
}

impl CountCache {
    /// An empty cache.
    pub(super) fn new() -> Self {
        Self { organizations: LruCache::new(MOST), none: Counts::default() }
    }

    /// The counts of an organization.
    pub(super) fn of(&self, organization: i64) -> &Counts {
        self.organizations.peek(&organization).unwrap_or(&self.none)
    }

    /// Brings the memory of an organization up to the snapshot that the connection reads from, in which `newest` is the
    /// newest commit.
    pub(super) fn refresh(&mut self, conn: &Connection, organization: i64, newest: i64) -> StoreResult<()> {
        let counts = self.organizations.get_or_insert_mut(organization, Counts::default);
        if counts.change == Some(newest) {
            return Ok(());
        }
        // Named, because the primary key begins with the organization too, and would look at all of its rows.
        let index = if counts.change.is_some() { "INDEXED BY alert_count_by_change" } else { "" };
        let changed = format!(
            "SELECT day, provider, type, status, outcome, expired, alerts FROM alert_count {index} WHERE organization \
                = ?1 AND changed > ?2"
        );
        let since = counts.change.unwrap_or(-1);
        let read = |row: &StoredRow<'_>| Ok(counts.set(row.get(0)?, Cell::read(row, 1)?, row.get(6)?)?);
        conn.all(&changed, &[&organization, &since], read)?;
        counts.change = Some(newest);
        Ok(())
    }
}

fn sum(cells: &[(u32, u32)], wanted: &[bool]) -> u64 {
    cells.iter().filter(|(position, _)| wanted[*position as usize]).map(|(_, alerts)| u64::from(*alerts)).sum()
}

/// Days from `from` on and before `until`; where either is given, alerts without a date do not count.
fn bounds((from, until): Range) -> ops::Range<i64> {
    let until = until.unwrap_or(NO_DAY);
    from.unwrap_or(i64::MIN).min(until)..until
}

#[cfg(test)]
mod tests {
    use super::super::connection::{Purpose, open};
    use super::super::migrate::{MIGRATIONS, migrate};
    use super::*;

    fn database() -> (tempfile::TempDir, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("avert.db");
        let mut conn = open(&path, Purpose::Write).unwrap();
        migrate(&mut conn, &path, MIGRATIONS, &|_| ()).unwrap();
        (directory, conn)
    }

    /// So many kinds of alerts of an organization on one day, each with one alert.
    fn kinds(conn: &Connection, organization: i64, count: i64, change: i64) {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
            INSERT INTO alert_count SELECT ?1, 20000, 1, n, 1, 0, 0, 1, ?3 FROM n";
        conn.execute(sql, (organization, count, change)).unwrap();
        conn.execute("UPDATE change_number SET number = ?1", [change]).unwrap();
    }

    fn refresh(cache: &mut CountCache, conn: &Connection, organization: i64) {
        let newest = conn.query_row("SELECT number FROM change_number", [], |row| row.get(0)).unwrap();
        cache.refresh(conn, organization, newest).unwrap();
    }

    fn cells(cache: &CountCache) -> usize {
        cache.organizations.iter().map(|(_, counts)| counts.cells.len()).sum()
    }

    #[test]
    fn the_kinds_of_one_organization_take_nothing_of_another_ones() {
        let (_directory, conn) = database();
        kinds(&conn, 1, 3, 1);
        kinds(&conn, 2, 5, 2);
        let mut cache = CountCache::new();
        refresh(&mut cache, &conn, 1);
        let before = cells(&cache);
        refresh(&mut cache, &conn, 2);

        conn.execute_batch(
            "UPDATE alert_count SET alerts = 4, changed = 3 WHERE organization = 1 AND type = 2; UPDATE change_number \
                SET number = 3",
        )
        .unwrap();
        refresh(&mut cache, &conn, 1);

        assert_eq!(
            (before, cache.of(1).occurring(|cell| cell.alert_type), cache.of(1).all(), cache.of(2).all()),
            (3, vec![1, 2, 3], 6, 5)
        );
    }
}
