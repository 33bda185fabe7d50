//! The bitmap scan of a list: everything that matches is marked first, each alert by one bit, and the index that is in the order of the sort
//! is walked next, past the marks and without reading a row.

use fixedbitset::FixedBitSet;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::query::{Nulls, SortColumn, Sql, is_partial, push_direction};
use crate::domain::SortOrder;

/// The keys of the alerts that match and have not been passed yet.
#[derive(Debug, Clone)]
pub(super) struct Marks(FixedBitSet);

impl Marks {
    /// Marks what a statement selects.
    pub(super) fn of(conn: &Connection, matching: &Sql) -> rusqlite::Result<Self> {
        let mut marks = FixedBitSet::new();
        each_key(conn, matching, |key| {
            marks.grow_and_insert(key);
            true
        })?;
        Ok(Self(marks))
    }

    /// How many are marked.
    pub(super) fn len(&self) -> u64 {
        self.0.count_ones(..) as u64
    }

    /// Of what is marked, what a statement selects as well.
    pub(super) fn and(&self, conn: &Connection, selecting: &Sql) -> rusqlite::Result<Self> {
        let mut both = FixedBitSet::with_capacity(self.0.len());
        each_key(conn, selecting, |key| {
            if self.0.contains(key) {
                both.insert(key);
            }
            true
        })?;
        Ok(Self(both))
    }

    /// Whether this key was marked; it is no longer.
    pub(super) fn take(&mut self, key: usize) -> bool {
        let was = self.0.contains(key);
        if was {
            self.0.remove(key);
        }
        was
    }
}

/// A page while it is filled: so many are still to be skipped, so many wanted.
#[derive(Debug)]
struct Window {
    skip: u64,
    left: u64,
    keys: Vec<i64>,
}

impl Window {
    /// Fills in what a statement selects and is marked. Ends where the page is full.
    fn fill(&mut self, conn: &Connection, ordered: &Sql, marks: &mut Marks) -> rusqlite::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        each_key(conn, ordered, |key| {
            if marks.take(key) {
                if self.skip > 0 {
                    self.skip -= 1;
                } else {
                    self.keys.extend(i64::try_from(key));
                    self.left -= 1;
                }
            }
            self.left > 0
        })
    }
}

/// A page of what is marked in the order of an index, from `offset` on; from the end where `backwards`, its keys too.
pub(super) fn page(
    conn: &Connection,
    organization: i64,
    (column, index): (&SortColumn, &str),
    (order, backwards): (SortOrder, bool),
    (offset, limit): (u64, u64),
    mut marks: Marks,
) -> rusqlite::Result<Vec<i64>> {
    let direction = if backwards { order.reversed() } else { order };
    let has_nulls = column.nulls != Nulls::Never;
    let knows_nulls = has_nulls && !is_partial(index);
    let mut valued = of_index(index, organization);
    if has_nulls {
        valued.push(&format!(" AND {} IS NOT NULL", column.value));
    }
    push_direction(&mut valued, Some(&column.value), direction);
    let others = if knows_nulls {
        let mut nulls = of_index(index, organization);
        nulls.push(&format!(" AND {} IS NULL", column.value));
        push_direction(&mut nulls, None, direction);
        nulls
    } else {
        // Whatever is still marked once everything with a value is passed has none.
        by_id(organization, direction)
    };
    let mut window = Window { skip: offset, left: limit, keys: Vec::new() };
    if has_nulls && column.nulls_come_first(order) != backwards {
        let mut without = marks.clone();
        if !knows_nulls {
            each_key(conn, &valued, |key| {
                without.take(key);
                true
            })?;
        }
        window.fill(conn, &others, &mut without)?;
        window.fill(conn, &valued, &mut marks)?;
    } else {
        window.fill(conn, &valued, &mut marks)?;
        if has_nulls {
            window.fill(conn, &others, &mut marks)?;
        }
    }
    Ok(window.keys)
}

/// So many alerts are asked for what they are sorted by.
const SAMPLE: usize = 64;

/// Whether a page is met sooner from the end of an index: what is marked may lie close together there, so some of it, and some of all
/// alerts, is asked for its value. Where that tells nothing, whether less of what is marked lies behind the page than before it.
pub(super) fn is_nearer_to_end(
    conn: &Connection,
    organization: i64,
    column: &SortColumn,
    order: SortOrder,
    (before, behind): (u64, u64),
    marks: &Marks,
) -> rusqlite::Result<bool> {
    let by_count = behind < before;
    let newest: i64 = conn.prepare_cached("SELECT coalesce(max(key), 0) FROM alert")?.query_row([], |row| row.get(0))?;
    let step = usize::try_from(newest).unwrap_or(1) / SAMPLE + 1;
    let all = values(conn, organization, column, (1..).step_by(step).take(SAMPLE))?;
    let step = marks.0.count_ones(..) / SAMPLE + 1;
    let marked = values(conn, organization, column, marks.0.ones().step_by(step))?;
    if all.is_empty() || marked.is_empty() {
        return Ok(by_count);
    }
    // The share of all alerts that lie before the place at which the page is, in the order of the sort.
    let place = |before: u64, behind: u64| {
        let at = usize::try_from(before.saturating_mul(marked.len() as u64) / (before + behind).max(1)).unwrap_or(usize::MAX);
        let value = match order {
            SortOrder::Ascending => &marked[at.min(marked.len() - 1)],
            SortOrder::Descending => &marked[marked.len() - 1 - at.min(marked.len() - 1)],
        };
        let less = all.partition_point(|other| other < value);
        if order == SortOrder::Ascending { less } else { all.len() - less }
    };
    let passed = place(before, behind);
    let left = all.len() - passed.min(all.len());
    Ok(if passed == left { by_count } else { left < passed })
}

/// What a column holds; numbers and texts do not occur together in one.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sorted {
    Number(i64),
    Text(String),
}

/// The values of these alerts in a column, in order; those that have none, or are another organization's, are left out.
fn values(conn: &Connection, organization: i64, column: &SortColumn, keys: impl Iterator<Item = usize>) -> rusqlite::Result<Vec<Sorted>> {
    let value = format!("SELECT {} FROM alert a WHERE a.key = ?1 AND a.organization = ?2", column.value);
    let mut statement = conn.prepare_cached(&value)?;
    let mut values = Vec::new();
    for key in keys {
        let mut rows = statement.query((i64::try_from(key).unwrap_or(i64::MAX), organization))?;
        if let Some(row) = rows.next()? {
            match row.get(0)? {
                Value::Integer(number) => values.push(Sorted::Number(number)),
                Value::Text(text) => values.push(Sorted::Text(text)),
                Value::Null | Value::Real(_) | Value::Blob(_) => {}
            }
        }
    }
    values.sort_unstable();
    Ok(values)
}

/// A page of what is marked in the order of the id.
pub(super) fn page_by_id(
    conn: &Connection,
    organization: i64,
    order: SortOrder,
    (offset, limit): (u64, u64),
    mut marks: Marks,
) -> rusqlite::Result<Vec<i64>> {
    let mut window = Window { skip: offset, left: limit, keys: Vec::new() };
    window.fill(conn, &by_id(organization, order), &mut marks)?;
    Ok(window.keys)
}

fn by_id(organization: i64, order: SortOrder) -> Sql {
    let mut sql = of_index("alert_by_id", organization);
    push_direction(&mut sql, None, order);
    sql
}

fn of_index(index: &str, organization: i64) -> Sql {
    let mut sql = Sql::new(&format!("SELECT a.key FROM alert a INDEXED BY {index} WHERE a.organization = "));
    sql.value(organization);
    sql
}

/// Goes through the keys that a statement selects for as long as it is wanted.
fn each_key(conn: &Connection, sql: &Sql, mut goes_on: impl FnMut(usize) -> bool) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(&sql.text)?;
    let mut rows = statement.query(params_from_iter::<&Vec<Value>>(&sql.values))?;
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        // Keys count up from 1.
        if !usize::try_from(key).is_ok_and(&mut goes_on) {
            break;
        }
    }
    Ok(())
}
