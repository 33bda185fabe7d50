//! The rows of either database, asked by one text of SQL.

use std::{
    collections::HashMap,
    fmt::Debug,
    ops::Deref,
    sync::{Arc, LazyLock, Mutex},
};

use futures::FutureExt as _;
use tokio_postgres::types::ToSql;

use crate::{
    StoreError, StoreResult,
    alert_rows::{Stored, alert_of, selection},
    cells::{BoundValues, StoredRow, cell, missing_row},
    composed::{Sql, rewritten},
    domain::{Alert, AlertId},
    error::{Work, WorkFault},
    postgres::Connection,
    sqlite::{Dictionary, Reader, Statements as _, read_alerts},
    worker::locked,
};

/// The keys in a list, which is the first value of a statement.
pub(super) const KEYS: &str =
    "(SELECT /*-*/value FROM json_each(?1)/*+value::bigint FROM json_array_elements_text(?1::text::json)*/)";

/// A list of keys as a value of a statement.
pub(super) fn listed(keys: &impl Debug) -> String {
    format!("{keys:?}")
}

/// The rows of a database, as a transaction sees them.
pub(super) enum StoreRows<'u> {
    Sqlite(Mutex<SqliteRows<'u>>),
    Postgres(&'u Connection),
}

impl Connection {
    /// The rows of its database.
    pub(super) fn rows(&self) -> StoreRows<'_> {
        StoreRows::Postgres(self)
    }
}

/// The rows of a SQLite database: by a connection alone, with the words and ids that it remembers, or by a reader.
pub(super) enum SqliteRows<'u> {
    Alone(&'u mut rusqlite::Connection),
    Written(&'u mut rusqlite::Connection, &'u mut Dictionary),
    Read(&'u mut Reader),
}

impl Deref for SqliteRows<'_> {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &rusqlite::Connection {
        match self {
            Self::Alone(conn) | Self::Written(conn, _) => conn,
            Self::Read(reader) => &reader.conn,
        }
    }
}

impl SqliteRows<'_> {
    /// The connection, with the words and ids that it remembers; `None` where it remembers none.
    pub(super) fn with_dictionary(&mut self) -> Option<(&mut rusqlite::Connection, &mut Dictionary)> {
        match self {
            Self::Alone(_) => None,
            Self::Written(conn, dictionary) => Some((conn, dictionary)),
            Self::Read(reader) => Some((&mut reader.conn, &mut reader.dictionary)),
        }
    }
}

/// The fault of a unit of work that needs more than its rows remember.
pub(super) fn of_two_databases() -> WorkFault {
    WorkFault::Final(StoreError::Unusable("a unit of work on two databases".to_owned()))
}

/// The rows of a SQLite database, by this connection.
pub(super) fn on_sqlite(conn: &mut rusqlite::Connection) -> StoreRows<'_> {
    StoreRows::Sqlite(Mutex::new(SqliteRows::Alone(conn)))
}

/// Values as PostgreSQL takes them.
fn typed<'v>(values: BoundValues<'v>) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The text of a statement for PostgreSQL, made once.
fn for_postgres(sql: &str) -> Arc<str> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<str>>>> = LazyLock::new(Mutex::default);
    let mut known = locked(&KNOWN);
    if let Some(text) = known.get(sql) {
        return Arc::clone(text);
    }
    let text: Arc<str> = rewritten(sql).into();
    known.insert(sql.to_owned(), Arc::clone(&text));
    text
}

impl StoreRows<'_> {
    /// Runs a statement that has no answer; returns the number of changed rows.
    pub(super) async fn run(&self, sql: &str, values: BoundValues<'_>) -> Work<u64> {
        match self {
            Self::Sqlite(conn) => Ok(locked(conn).run(sql, values)?),
            Self::Postgres(conn) => conn.run(&for_postgres(sql), &typed(values)).await,
        }
    }

    /// Reads every row of the answer.
    pub(super) async fn all<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Vec<T>> {
        match self {
            Self::Sqlite(conn) => Ok(locked(conn).all(sql, values, read)?),
            Self::Postgres(conn) => conn.all(&for_postgres(sql), &typed(values), read).await,
        }
    }

    /// Reads the first row of the answer, where there is one.
    pub(super) async fn first<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Option<T>> {
        if let Self::Sqlite(conn) = self {
            return Ok(locked(conn).first(sql, values, read)?);
        }
        Ok(self.all(sql, values, read).await?.into_iter().next())
    }

    /// The same of every row, by SQL that is composed for one use: PostgreSQL plans it for its values.
    pub(super) async fn composed<T>(&self, sql: &Sql, read: impl Fn(&StoredRow<'_>) -> Work<T> + Send) -> Work<Vec<T>> {
        match self {
            Self::Sqlite(_) => self.all(&sql.text, &sql.cells(), read).await,
            Self::Postgres(conn) => conn.made(sql, read).await,
        }
    }

    /// Reads the alerts that a [`selection`] finds.
    async fn alerts(&self, sql: &str, values: BoundValues<'_>) -> Work<Vec<Stored>> {
        match self {
            Self::Sqlite(rows) => match locked(rows).with_dictionary() {
                Some((conn, dictionary)) => Ok(read_alerts(conn, dictionary, sql, values)?),
                None => Err(of_two_databases()),
            },
            Self::Postgres(_) => self.all(sql, values, |row| alert_of(row, &mut None)).await,
        }
    }

    /// Reads an alert by its row's key.
    pub(super) async fn alert(&self, key: i64) -> Work<Alert> {
        static BY_KEY: LazyLock<String> = LazyLock::new(|| selection("a.key = ?1"));
        let found = self.alerts(&BY_KEY, &[&key]).await?.pop();
        Ok(found.ok_or_else(|| missing(key))?.alert)
    }

    /// Reads one alert of an organization by its id.
    pub(super) async fn alert_by_id(&self, organization: i64, id: AlertId) -> Work<Option<Stored>> {
        static BY_ID: LazyLock<String> = LazyLock::new(|| selection("a.organization = ?1 AND a.id = ?2"));
        Ok(self.alerts(&BY_ID, &[&organization, &id]).await?.pop())
    }

    /// Reads alerts by their rows' keys, in that order.
    pub(super) async fn alerts_by_keys(&self, keys: &[i64]) -> Work<Vec<Stored>> {
        static BY_KEYS: LazyLock<String> = LazyLock::new(|| selection(&format!("a.key IN {KEYS}")));
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.alerts(&BY_KEYS, &[&listed(&keys)]).await?;
        let mut found: HashMap<i64, Stored> = found.into_iter().map(|stored| (stored.key, stored)).collect();
        keys.iter().map(|key| Ok(found.remove(key).ok_or_else(|| missing(*key))?)).collect()
    }

    /// A fact by its name.
    pub(super) async fn fact(&self, name: &str) -> Work<Option<Vec<u8>>> {
        self.first("SELECT value FROM fact WHERE name = ?1", &[&name], cell).await
    }

    /// Keeps a fact in place of an earlier one of this name.
    pub(super) async fn keep_fact(&self, name: &str, value: &[u8]) -> Work<()> {
        let kept = "INSERT INTO fact (name, value) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET value = excluded.value";
        self.run(kept, &[&name, &value]).await.map(drop)
    }

    /// Locks rows until the end, where others can be at work beside.
    pub(super) async fn lock(&self, sql: &str, values: BoundValues<'_>) -> Work<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.all(sql, values, |_| Ok(())).await.map(drop),
        }
    }

    /// Reads the row that is always there.
    pub(super) async fn one<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<T> {
        let found = self.first(sql, values, read).await?;
        Ok(found.ok_or_else(missing_row)?)
    }
}

fn missing(key: i64) -> StoreError {
    StoreError::Corrupt(format!("no alert in row {key}"))
}

/// Returns the result of a unit of work that waits for nothing: it is polled once.
pub(super) fn driven<T>(work: impl Future<Output = Work<T>>) -> StoreResult<T> {
    let waits = || StoreError::Unavailable("a unit of work waited for something beside its database".to_owned());
    work.now_or_never().ok_or_else(waits)?.map_err(StoreError::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_not_polled_again() {
        let mut polls = 0;
        let waits = std::future::poll_fn(|_| {
            polls += 1;
            std::task::Poll::<Work<()>>::Pending
        });

        let done = driven(waits);

        assert!(matches!(done, Err(StoreError::Unavailable(_))), "{done:?}");
        assert_eq!(polls, 1);
    }
}
