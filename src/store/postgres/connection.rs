//! Connections: transactions that end with the unit of work that began them, and statements in one call. A unit of work
//! has a connection, its actor, and its entries of the audit log.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use deadpool_postgres::Object;
use futures::TryStreamExt as _;
use tokio::sync::OwnedSemaphorePermit;
use tokio_postgres::{
    Row, SimpleQueryMessage,
    types::{ToSql, Type},
};

use super::fault::{ends_the_connection, in_words, is_read_only};
use crate::{
    StoreError,
    cells::{StoredRow, cell},
    composed::{Sql, rewritten},
    context::StoreContext,
    domain::{Actor, OrganizationId, audit::UnlinkedEntry},
    error::Work,
    worker::locked,
};

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Longest wait for the statement after a commit, which has been answered by then.
const BEHIND_A_COMMIT: Duration = Duration::from_secs(1);

/// A connection from the pool. One that is lost, or dropped within a transaction, is closed, and the server rolls back.
/// One that may only read is closed with all idle ones in the pool. Their mode was fixed when they were opened, and
/// new ones learn of a change.
pub(crate) struct Connection {
    client: Option<Object>,
    place: Option<OwnedSemaphorePermit>,
    /// True where it is lost, or within a transaction.
    unusable: AtomicBool,
    read_only: AtomicBool,
    changed: AtomicBool,
}

impl Connection {
    /// One of a pool, with its place there.
    pub(super) fn new(client: Object, place: Option<OwnedSemaphorePermit>) -> Self {
        let [unusable, read_only, changed] = std::array::from_fn(|_| AtomicBool::new(false));
        Self { client: Some(client), place, unusable, read_only, changed }
    }

    /// Closes it, so that another connection can be opened; returns its place in the pool.
    pub(super) fn give_up(mut self) -> Option<OwnedSemaphorePermit> {
        self.unusable.store(true, Ordering::Relaxed);
        self.place.take()
    }

    pub(super) fn client(&self) -> Work<&Object> {
        Ok(self.client.as_ref().ok_or_else(|| StoreError::Unavailable("the connection to it is closed".to_owned()))?)
    }

    /// Notes the result of a statement; a connection that it has cost is not used again.
    fn noticed<T>(&self, done: Result<T, tokio_postgres::Error>) -> Result<T, tokio_postgres::Error> {
        if done.as_ref().is_err_and(ends_the_connection) {
            self.unusable.store(true, Ordering::Relaxed);
        }
        if done.as_ref().is_err_and(is_read_only) {
            self.read_only.store(true, Ordering::Relaxed);
        }
        done
    }

    /// Begins a transaction in this mode.
    pub(super) async fn begin(&self, mode: &str) -> Work<()> {
        self.unusable.store(true, Ordering::Relaxed);
        Ok(self.noticed(self.client()?.batch_execute(&format!("BEGIN {mode}")).await)?)
    }

    /// Ends the transaction and runs this statement afterwards; returns its number, where it has one. A failure behind
    /// the commit is not the transaction's, and is only logged.
    pub(super) async fn commit(&self, afterwards: &str) -> Work<Option<u64>> {
        let answers = self.client()?.simple_query_raw(&format!("COMMIT; {afterwards}")).await;
        let mut answers = std::pin::pin!(self.noticed(answers)?);
        // The first answer is the one to COMMIT.
        self.noticed(answers.try_next().await)?;
        self.unusable.store(false, Ordering::Relaxed);
        let behind = async {
            let mut number = None;
            while let Some(answer) = self.noticed(answers.try_next().await)? {
                if let SimpleQueryMessage::Row(row) = answer {
                    number = row.get(0).and_then(|number| number.parse().ok());
                }
            }
            Ok::<_, tokio_postgres::Error>(number)
        };
        match tokio::time::timeout(BEHIND_A_COMMIT, behind).await {
            Ok(Ok(number)) => Ok(number),
            Ok(Err(error)) => {
                tracing::warn!(
                    error = in_words(&error),
                    "a change was stored, and those who wait for news hear of it with the next one"
                );
                Ok(None)
            }
            Err(_) => {
                self.unusable.store(true, Ordering::Relaxed);
                Ok(None)
            }
        }
    }

    /// Rolls the transaction back. Where that fails the connection is closed, and the server does it.
    pub(super) async fn roll_back(&self) {
        if let Ok(client) = self.client()
            && client.batch_execute("ROLLBACK").await.is_ok()
        {
            self.unusable.store(false, Ordering::Relaxed);
        }
    }

    /// Returns whether a statement has changed anything.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// Runs a statement that has no answer; returns the number of changed rows.
    pub(crate) async fn run(&self, sql: &str, values: Values<'_>) -> Work<u64> {
        let client = self.client()?;
        let statement = self.noticed(client.prepare_cached(sql).await)?;
        let rows = self.noticed(client.execute(&statement, values).await)?;
        if rows > 0 {
            self.changed.store(true, Ordering::Relaxed);
        }
        Ok(rows)
    }

    /// Runs statements that have no values and no answer.
    pub(super) async fn batch(&self, sql: &str) -> Work<()> {
        Ok(self.noticed(self.client()?.batch_execute(sql).await)?)
    }

    /// Reads every row of the answer.
    pub(crate) async fn all<T>(
        &self,
        sql: &str,
        values: Values<'_>,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Vec<T>> {
        let client = self.client()?;
        let statement = self.noticed(client.prepare_cached(sql).await)?;
        let rows = self.noticed(client.query(&statement, values).await)?;
        rows.iter().map(|row| read(&StoredRow::Postgres(row))).collect()
    }

    /// Returns the rows of the answer to SQL that is composed for one use: it is planned for its values and not cached.
    pub(crate) async fn composed(&self, sql: &Sql) -> Work<Vec<Row>> {
        let (text, cells) = (rewritten(&sql.text), sql.cells());
        let values: Vec<(&(dyn ToSql + Sync), Type)> =
            cells.iter().map(|value| (value as &(dyn ToSql + Sync), value.cell().kind())).collect();
        Ok(self.noticed(self.client()?.query_typed(&text, &values).await)?)
    }

    /// Reads every row of such an answer.
    pub(crate) async fn made<T>(&self, sql: &Sql, read: impl Fn(&StoredRow<'_>) -> Work<T> + Send) -> Work<Vec<T>> {
        self.composed(sql).await?.iter().map(|row| read(&StoredRow::Postgres(row))).collect()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let read_only = *self.read_only.get_mut();
        if (*self.unusable.get_mut() || read_only)
            && let Some(client) = self.client.take()
        {
            if let Some(pool) = Object::pool(&client).filter(|_| read_only) {
                pool.retain(|_, _| false);
            }
            drop(Object::take(client));
        }
    }
}

/// The shared context of units of work.
pub(crate) struct Shared {
    pub(super) context: StoreContext,
    /// Cache of the keys of organizations, which never change.
    pub(super) organizations: Mutex<HashMap<OrganizationId, i64>>,
    /// True where entries of the audit log will be linked in a moment.
    pub(super) links: AtomicBool,
}

/// One unit of work.
pub(crate) struct Unit<'r> {
    pub(crate) conn: Connection,
    pub(crate) shared: &'r Shared,
    /// Actor in the audit log.
    pub(super) by: &'r Actor,
    /// Entries for the audit log that it has not stored yet.
    pub(super) entries: Mutex<Vec<UnlinkedEntry>>,
}

impl<'r> Unit<'r> {
    pub(super) fn new(conn: Connection, shared: &'r Shared, by: &'r Actor) -> Self {
        Self { conn, shared, by, entries: Mutex::new(Vec::new()) }
    }

    /// The key of an organization, where it is there. Not for units of work that may have made it themselves.
    pub(crate) async fn organization(&self, id: OrganizationId) -> Work<Option<i64>> {
        let known = || locked(&self.shared.organizations);
        let remembered = known().get(&id).copied();
        if remembered.is_some() {
            return Ok(remembered);
        }
        let read = self.conn.rows().first("SELECT key FROM organization WHERE id = ?1", &[&id], cell).await?;
        if let Some(key) = read {
            known().insert(id, key);
        }
        Ok(read)
    }

    /// Adds an entry to the audit log.
    pub(crate) fn put_down(&self, entry: UnlinkedEntry) {
        locked(&self.entries).push(entry);
    }
}
