//! Statements in one call: prepared once for each connection, run with their values, their rows read. Ids are stored as
//! their 16 bytes.

use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};
use uuid::Uuid;

use crate::domain::DatabaseId;
use crate::store::StoreResult;
pub(super) use crate::store::alert_rows::{micros, moment};

/// Prepared statements of a connection, kept by their text.
pub(super) trait Statements {
    /// Runs a statement that has no answer; returns the number of changed rows.
    fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize>;

    /// Reads every row of the answer.
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>>;

    /// Reads the first row of the answer, where there is one.
    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>>;

    /// Reads the row that is always there.
    fn one<T>(&self, sql: &str, values: impl Params, read: impl FnOnce(&Row<'_>) -> StoreResult<T>) -> StoreResult<T> {
        self.first(sql, values, read)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }
}

impl Statements for Connection {
    fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize> {
        Ok(self.prepare_cached(sql)?.execute(values)?)
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        rows.next()?.map(read).transpose()
    }
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: FromSql>(row: &Row<'_>) -> StoreResult<T> {
    Ok(row.get(0)?)
}

/// The id in a column, which is stored as its bytes.
pub(super) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

/// The database's own id, where it has one yet.
pub(super) fn known_identity(conn: &Connection) -> StoreResult<Option<DatabaseId>> {
    conn.first("SELECT value FROM fact WHERE name = 'database'", [], |row| Ok(DatabaseId(id(row, 0)?)))
}
