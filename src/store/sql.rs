//! One text of SQL for two databases, and units of work that are written once over it.
//!
//! Texts are SQLite's; PostgreSQL's are made of them, once for each: `?1` becomes `$1`, what stands in `/*+ ... */` is
//! read by PostgreSQL alone, and what stands between `/*-*/` and `/*+` by SQLite alone. So the lock of a row is
//! `/*+FOR UPDATE*/`.
//!
//! A unit of work acts only through its [`UnitOfWork`]: it may be done again. On SQLite every step of it is
//! done at once.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rusqlite::CachedStatement;
use tokio_postgres::types::ToSql;

use super::cells::{FromCell, SqlCell, ToCell};
use super::postgres::{Connection, Unit as OnPostgres, Work, WorkFault, is_beside_service, is_dead, is_taken};
use super::seal::Seal;
use super::sealed::KEY_CHECK;
use super::sqlite::{Memory, Unit as OnSqlite, audit, is_duplicate};
use super::{StoreError, StoreResult};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Actor, CutOffs, InstanceId, OrganizationId, Pruned};

/// Values of a statement.
pub(super) type BoundValues<'a> = &'a [&'a dyn ToCell];

/// A row of an answer.
pub(super) enum StoredRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

impl<'r> StoredRow<'r> {
    /// Reads a column.
    pub(super) fn get<T: FromCell<'r>>(&self, column: usize) -> Work<T> {
        let cell = match self {
            Self::Sqlite(row) => SqlCell::of_sqlite(row.get_ref(column)?)?,
            Self::Postgres(row) => row.try_get(column)?,
        };
        Ok(T::of(cell)?)
    }
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: for<'c> FromCell<'c>>(row: &StoredRow<'_>) -> Work<T> {
    row.get(0)
}

/// The rows of a database, as a transaction sees them.
pub(super) enum StoreRows<'u> {
    Sqlite(Mutex<&'u mut rusqlite::Connection>),
    Postgres(&'u Connection),
}

/// The rows of a SQLite database, by this connection.
pub(super) fn on_sqlite(conn: &mut rusqlite::Connection) -> StoreRows<'_> {
    StoreRows::Sqlite(Mutex::new(conn))
}

/// One unit of work.
pub(super) struct UnitOfWork<'u> {
    pub(super) rows: StoreRows<'u>,
    /// Whom the audit log puts it down to.
    pub(super) by: &'u Actor,
    pub(super) database: UnitContext<'u>,
}

/// What units of work know of their database.
pub(super) enum UnitContext<'u> {
    Sqlite(Memory<'u>),
    Postgres(&'u OnPostgres<'u>),
}

impl<'u> Deref for UnitOfWork<'u> {
    type Target = StoreRows<'u>;

    fn deref(&self) -> &StoreRows<'u> {
        &self.rows
    }
}

impl From<rusqlite::Error> for WorkFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Final(error.into())
    }
}

/// The connection to SQLite.
fn locked<'l, 'u>(conn: &'l Mutex<&'u mut rusqlite::Connection>) -> MutexGuard<'l, &'u mut rusqlite::Connection> {
    conn.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A statement of SQLite with its values.
fn bound<'c>(
    conn: &'c rusqlite::Connection,
    sql: &str,
    values: BoundValues<'_>,
) -> rusqlite::Result<CachedStatement<'c>> {
    let mut statement = conn.prepare_cached(sql)?;
    for (value, place) in values.iter().zip(1..) {
        statement.raw_bind_parameter(place, value.cell())?;
    }
    Ok(statement)
}

/// Values as PostgreSQL takes them.
fn typed<'v>(values: BoundValues<'v>) -> Vec<&'v (dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}

/// The text of a statement for PostgreSQL.
fn for_postgres(sql: &str) -> Arc<str> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Arc<str>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(text) = known.get(sql) {
        return Arc::clone(text);
    }
    let text: Arc<str> = rewritten(sql).into();
    known.insert(sql.to_owned(), Arc::clone(&text));
    text
}

fn rewritten(sql: &str) -> String {
    let mut texts = sql.split("/*-*/");
    let first = texts.next().unwrap_or_default().to_owned();
    let of_postgres = texts.fold(first, |text, next| text + next.split_once("/*+").map_or(next, |(_, rest)| rest));
    of_postgres.replace("/*+", "").replace("*/", "").replace('?', "$")
}

impl StoreRows<'_> {
    /// Runs a statement that has no answer; how many rows it changed.
    pub(super) async fn run(&self, sql: &str, values: BoundValues<'_>) -> Work<u64> {
        match self {
            Self::Sqlite(conn) => Ok(bound(&locked(conn), sql, values)?.raw_execute()? as u64),
            Self::Postgres(conn) => conn.run(&for_postgres(sql), &typed(values)).await,
        }
    }

    /// Adds a row that has to be the only one of its kind, or fails with this.
    pub(super) async fn add(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        taken: impl Fn() -> StoreError + Send,
    ) -> Work<()> {
        match self {
            Self::Sqlite(conn) => match bound(&locked(conn), sql, values)?.raw_execute() {
                Err(error) if is_duplicate(&error) => Err(taken().into()),
                done => Ok(done.map(drop)?),
            },
            Self::Postgres(conn) => match conn.try_run(&for_postgres(sql), &typed(values)).await? {
                Err(error) if is_taken(&error) => Err(taken().into()),
                done => Ok(done.map(drop)?),
            },
        }
    }

    /// Adds a row and returns its key; the text ends with `/*+RETURNING key*/`.
    pub(super) async fn insert(&self, sql: &str, values: BoundValues<'_>) -> Work<i64> {
        match self {
            Self::Sqlite(conn) => {
                let conn = locked(conn);
                bound(&conn, sql, values)?.raw_execute()?;
                Ok(conn.last_insert_rowid())
            }
            Self::Postgres(conn) => {
                conn.mark_changed();
                self.one(sql, values, cell).await
            }
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
            Self::Sqlite(conn) => {
                let conn = locked(conn);
                let mut statement = bound(&conn, sql, values)?;
                let (mut rows, mut all) = (statement.raw_query(), Vec::new());
                while let Some(row) = rows.next()? {
                    all.push(read(&StoredRow::Sqlite(row))?);
                }
                Ok(all)
            }
            Self::Postgres(conn) => {
                let rows = conn.query(&for_postgres(sql), &typed(values)).await?;
                rows.iter().map(|row| read(&StoredRow::Postgres(row))).collect()
            }
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
            let conn = locked(conn);
            let mut statement = bound(&conn, sql, values)?;
            let mut rows = statement.raw_query();
            return rows.next()?.map(|row| read(&StoredRow::Sqlite(row))).transpose();
        }
        Ok(self.all(sql, values, read).await?.into_iter().next())
    }

    /// The same of every row, by SQL that was made for this once: PostgreSQL plans it for its values.
    pub(super) async fn made<T>(
        &self,
        sql: &str,
        values: BoundValues<'_>,
        read: impl Fn(&StoredRow<'_>) -> Work<T> + Send,
    ) -> Work<Vec<T>> {
        let Self::Postgres(conn) = self else { return self.all(sql, values, read).await };
        let values: Vec<_> = values.iter().map(|value| (value as &(dyn ToSql + Sync), value.cell().kind())).collect();
        conn.typed(&rewritten(sql), &values).await?.iter().map(|row| read(&StoredRow::Postgres(row))).collect()
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
        Ok(found.ok_or_else(|| StoreError::Corrupt("a row that is always there is missing".to_owned()))?)
    }
}

impl UnitOfWork<'_> {
    /// This process.
    pub(super) fn own(&self) -> InstanceId {
        match &self.database {
            UnitContext::Sqlite(memory) => memory.shared.instances.own(),
            UnitContext::Postgres(unit) => unit.shared.own,
        }
    }

    /// Returns whether another process serves on this database, and this one does not.
    pub(super) async fn is_beside_service(&self) -> Work<bool> {
        match &self.database {
            UnitContext::Sqlite(memory) => Ok(memory.shared.instances.is_beside_service()),
            UnitContext::Postgres(unit) => is_beside_service(&unit.conn, unit.shared.own).await,
        }
    }

    /// Does a part of it as only SQLite does.
    pub(super) fn with_sqlite<T>(&self, part: impl FnOnce(&mut OnSqlite<'_>) -> StoreResult<T>) -> Work<T> {
        match (&self.rows, &self.database) {
            (StoreRows::Sqlite(conn), UnitContext::Sqlite(memory)) => Ok(memory.with(&mut locked(conn), part)?),
            _ => Err(StoreError::Unusable("a unit of work on two databases".to_owned()).into()),
        }
    }

    /// SQL that tells with [`UnitOfWork::is_dead`] whether the process in this column is provably gone.
    pub(super) fn dead(&self, column: &str) -> String {
        match &self.database {
            UnitContext::Sqlite(_) => column.to_owned(),
            UnitContext::Postgres(unit) => is_dead(column, &format!("'{}'::uuid", unit.shared.own.0)),
        }
    }

    /// Reads the column of [`UnitOfWork::dead`].
    pub(super) fn is_dead(&self, row: &StoredRow<'_>, column: usize) -> Work<bool> {
        Ok(match &self.database {
            UnitContext::Sqlite(memory) => {
                row.get::<Option<_>>(column)?.is_some_and(|instance| memory.is_dead(instance))
            }
            UnitContext::Postgres(_) => row.get::<Option<_>>(column)?.unwrap_or_default(),
        })
    }

    /// The seal that a row was sealed with, by the proof in this column of it.
    pub(super) fn seal_of(&self, row: &StoredRow<'_>, column: usize) -> Work<Seal> {
        let key = match &self.database {
            UnitContext::Sqlite(memory) => &memory.shared.data_key,
            UnitContext::Postgres(unit) => &unit.shared.data_key,
        };
        Ok(key.seal(row.get(column)?)?)
    }

    /// The seal to seal with: until the end of this unit of work no other one comes in its place.
    pub(super) async fn sealing(&self) -> Work<Seal> {
        let check = "SELECT value FROM fact WHERE name = ?1/*+ FOR UPDATE*/";
        self.one(check, &[&KEY_CHECK], |row| self.seal_of(row, 0)).await
    }

    /// The key of an organization, where it is there. Not for units of work that may have made it themselves.
    pub(super) async fn organization(&self, id: OrganizationId) -> Work<Option<i64>> {
        if let UnitContext::Postgres(unit) = &self.database {
            return unit.organization(id).await;
        }
        self.first("SELECT key FROM organization WHERE id = ?1", &[&id], cell).await
    }

    /// The key of an organization that has to be there.
    pub(super) async fn known_organization(&self, id: OrganizationId) -> Work<i64> {
        let known = self.organization(id).await?;
        Ok(known.ok_or_else(|| StoreError::Corrupt(format!("no organization {id}")))?)
    }

    /// Has the audit log say this of an organization, which is known by its key.
    pub(super) fn note(&self, organization: i64, note: AuditNote, at: Timestamp) -> Work<()> {
        self.note_of(self.by, organization, note, at)
    }

    /// The same of somebody else.
    pub(super) fn note_of(&self, by: &Actor, organization: i64, note: AuditNote, at: Timestamp) -> Work<()> {
        match &self.database {
            UnitContext::Sqlite(_) => {
                self.with_sqlite(|unit| audit::record_of(unit.conn, by, organization, note, at))?;
            }
            UnitContext::Postgres(unit) => unit.note_of(by, organization, note, at),
        }
        Ok(())
    }

    /// The same of every organization: what was done concerns all of them.
    pub(super) async fn note_for_all(&self, note: &AuditNote, at: Timestamp) -> Work<()> {
        let organizations = self.all("SELECT key FROM organization ORDER BY key", &[], cell).await?;
        organizations.into_iter().try_for_each(|organization| self.note(organization, note.clone(), at))
    }
}

/// How a unit of work is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// One statement, by key.
    Look,
    /// The same of what is little, at once where that can be.
    AtOnce,
    /// Reading by key, all from one snapshot.
    Read,
    /// Reading what may have to look at much, in its owner's turn.
    List(Option<OrganizationId>),
    /// The same of one statement.
    Turn(OrganizationId),
    /// A write that readers can see: a new change number, and everybody who watches is woken.
    Visible,
    /// The same with many rows.
    VisibleMuch,
    /// Leases and claims: nobody's view changes.
    Quiet,
    /// The same before a call whose answer has to be committed.
    Claim,
    /// The end of an attempt whose call was made: visible, and with a connection kept for it.
    Answered,
}

/// A unit of work on what it is given.
pub(super) type Job<A, T> = for<'a, 'u> fn(&'a UnitOfWork<'u>, &'a A) -> BoxFuture<'a, Work<T>>;

/// A store that does units of work.
pub(super) trait Units: Clone + Send + Sync + 'static {
    /// Does one, and answers once what it changed is durable.
    fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> impl Future<Output = StoreResult<T>> + Send;

    /// Prunes by age, as each database finds what is old best.
    fn prune_rows(
        &self,
        cut_offs: CutOffs,
        limit: u32,
        now: Timestamp,
    ) -> impl Future<Output = StoreResult<Pruned>> + Send;
}

/// What comes of a unit of work that waits for nothing: it is polled once.
pub(super) fn driven<T>(work: BoxFuture<'_, Work<T>>) -> StoreResult<T> {
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

        let done = driven(Box::pin(waits));

        assert!(matches!(done, Err(StoreError::Unavailable(_))), "{done:?}");
        assert_eq!(polls, 1);
    }

    #[test]
    fn a_text_is_made_for_postgres() {
        let locked = "SELECT a FROM b/*-*/ INDEXED BY c/*+*/ WHERE d = ?1 AND e = ?12/*+ FOR UPDATE OF b*/";
        let cast = "SELECT ?1/*+::text*/ WHERE f = /*-*/0/*+false*/";

        assert_eq!(rewritten(locked), "SELECT a FROM b WHERE d = $1 AND e = $12 FOR UPDATE OF b");
        assert_eq!(rewritten(cast), "SELECT $1::text WHERE f = false");
    }
}
