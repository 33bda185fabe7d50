//! The bitmap scan of a list: everything that matches is marked first, each alert by one bit, and the index that is in the order of the sort
//! is walked next, past the marks and without reading a row.

use fixedbitset::FixedBitSet;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::query::{Nulls, SortColumn, Sql, push_direction};
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
    let mut valued = of_index(index, organization);
    if column.nulls != Nulls::Never {
        valued.push(&format!(" AND {} IS NOT NULL", column.value));
    }
    push_direction(&mut valued, Some(&column.value), direction);
    // Whatever is still marked once everything with a value is passed has none.
    let others = by_id(organization, direction);
    let mut window = Window { skip: offset, left: limit, keys: Vec::new() };
    if column.nulls != Nulls::Never && column.nulls_come_first(order) != backwards {
        let mut without = marks.clone();
        each_key(conn, &valued, |key| {
            without.take(key);
            true
        })?;
        window.fill(conn, &others, &mut without)?;
        window.fill(conn, &valued, &mut marks)?;
    } else {
        window.fill(conn, &valued, &mut marks)?;
        if column.nulls != Nulls::Never {
            window.fill(conn, &others, &mut marks)?;
        }
    }
    Ok(window.keys)
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
