//! Statements in one call: prepared once for each connection, run with their values, their rows read. Ids are stored as
//! their 16 bytes.

use std::borrow::Borrow;

use rusqlite::{CachedStatement, Connection};

use crate::{
    StoreResult,
    cells::{BoundValues, missing_row},
    cells::{FromCell, StoredRow},
    error::Work,
};
pub(super) use crate::{
    cells::{cell, micros},
    composed::{Range, Sql},
};

/// The keys that a statement selects.
pub(super) fn keys(conn: &Connection, sql: &Sql) -> rusqlite::Result<Vec<i64>> {
    composed(conn, sql)?.raw_query().mapped(|row| row.get(0)).collect()
}

/// A composed statement with its values.
pub(super) fn composed<'c>(conn: &'c Connection, sql: &Sql) -> rusqlite::Result<CachedStatement<'c>> {
    bound(conn, &sql.text, &sql.cells())
}

/// A text as a phrase of a full-text query.
pub(super) fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Prepared statements of a connection, kept by their text.
pub(crate) trait Statements: Borrow<Connection> {
    /// Runs a statement that has no answer; returns the number of changed rows.
    fn run(&self, sql: &str, values: BoundValues<'_>) -> StoreResult<u64> {
        Ok(bound(self.borrow(), sql, values)?.raw_execute()? as u64)
    }

    /// Reads every row of the answer.
    fn all<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        mut read: impl FnMut(&StoredRow<'_>) -> Work<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = bound(self.borrow(), sql, values)?;
        let (mut rows, mut all) = (statement.raw_query(), Vec::new());
        while let Some(row) = rows.next()? {
            all.push(read(&StoredRow::Sqlite(row))?);
        }
        Ok(all)
    }

    /// Reads the first row of the answer, where there is one.
    fn first<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl FnOnce(&StoredRow<'_>) -> Work<T>,
    ) -> StoreResult<Option<T>> {
        let mut statement = bound(self.borrow(), sql, values)?;
        let mut rows = statement.raw_query();
        Ok(rows.next()?.map(|row| read(&StoredRow::Sqlite(row))).transpose()?)
    }

    /// Reads the row that is always there.
    fn one<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl FnOnce(&StoredRow<'_>) -> Work<T>,
    ) -> StoreResult<T> {
        self.first(sql, values, read)?.ok_or_else(missing_row)
    }
}

impl Statements for Connection {}

/// A statement with its values.
pub(super) fn bound<'c>(
    conn: &'c Connection,
    sql: &str,
    values: BoundValues<'_>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = conn.prepare_cached(sql)?;
    for (value, place) in values.iter().zip(1..) {
        statement.raw_bind_parameter(place, value.cell())?;
    }
    Ok(statement)
}

/// A fact by its name.
pub(super) fn fact<T: for<'c> FromCell<'c>>(conn: &Connection, name: &str) -> StoreResult<Option<T>> {
    conn.first("SELECT value FROM fact WHERE name = ?1", &[&name], cell)
}
