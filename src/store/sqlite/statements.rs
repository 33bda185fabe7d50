//! Statements in one call: prepared once for each connection, run with their values, their rows read. Ids are stored as
//! their 16 bytes.

use rusqlite::types::FromSql;
use rusqlite::{Connection, Params, Row};

use crate::domain::time::Timestamp;
use crate::domain::{
    AlertId, AttemptId, ClockEpoch, CompanyId, DatabaseId, DeliveryId, EndpointId, EnrollmentId, EventId, InstanceId,
    OrganizationId,
};
use crate::store::StoreResult;
pub(super) use crate::store::alert_rows::{micros, moment};

/// Prepared statements of a connection, kept by their text.
pub(super) trait Statements {
    /// Runs a statement that has no answer; how many rows it changed.
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

/// A moment that may not be there.
pub(super) fn optional_moment(row: &Row<'_>, column: usize) -> StoreResult<Option<Timestamp>> {
    row.get::<_, Option<i64>>(column)?.map(moment).transpose()
}

macro_rules! stored_as_bytes {
    ($($id:ident),+) => {$(
        impl ToSql for $id {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.as_bytes().to_sql()
            }
        }

        impl FromSql for $id {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                FromSql::column_result(value).map(|bytes| Self(Uuid::from_bytes(bytes)))
            }
        }
    )+};
}

stored_as_bytes!(
    AlertId,
    AttemptId,
    ClockEpoch,
    CompanyId,
    DatabaseId,
    DeliveryId,
    EndpointId,
    EnrollmentId,
    EventId,
    InstanceId,
    OrganizationId
);
