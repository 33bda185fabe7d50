//! Statements in one call: prepared once for each connection, run with their values, their rows read. Ids are stored as
//! their 16 bytes.

use std::borrow::Borrow;

use rusqlite::{CachedStatement, Connection, Params, Row, types::FromSql};

use crate::{StoreResult, cells::ToCell};
pub(super) use crate::{
    alert_rows::micros,
    composed::{Range, Sql},
};

/// The keys that a statement selects.
pub(super) fn keys(conn: &Connection, sql: &Sql) -> rusqlite::Result<Vec<i64>> {
    composed(conn, sql)?.raw_query().mapped(|row| row.get(0)).collect()
}

/// The rows that a composed statement selects.
pub(super) fn selected<T>(
    conn: &Connection,
    sql: &Sql,
    mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
) -> StoreResult<Vec<T>> {
    let mut statement = composed(conn, sql)?;
    let (mut rows, mut all) = (statement.raw_query(), Vec::new());
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
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
pub(super) trait Statements: Borrow<Connection> {
    /// Runs a statement that has no answer; returns the number of changed rows.
    fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize> {
        Ok(self.borrow().prepare_cached(sql)?.execute(values)?)
    }

    /// Reads every row of the answer.
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.borrow().prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    /// Reads the first row of the answer, where there is one.
    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        let mut statement = self.borrow().prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        rows.next()?.map(read).transpose()
    }

    /// Reads the row that is always there.
    fn one<T>(&self, sql: &str, values: impl Params, read: impl FnOnce(&Row<'_>) -> StoreResult<T>) -> StoreResult<T> {
        self.first(sql, values, read)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }
}

impl Statements for Connection {}

/// A statement with its values.
pub(crate) fn bound<'c>(
    conn: &'c Connection,
    sql: &str,
    values: &[&dyn ToCell],
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = conn.prepare_cached(sql)?;
    for (value, place) in values.iter().zip(1..) {
        statement.raw_bind_parameter(place, value.cell())?;
    }
    Ok(statement)
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: FromSql>(row: &Row<'_>) -> StoreResult<T> {
    Ok(row.get(0)?)
}

/// A fact by its name.
pub(super) fn fact<T: FromSql>(conn: &Connection, name: &str) -> StoreResult<Option<T>> {
    conn.first("SELECT value FROM fact WHERE name = ?1", [name], cell)
}
