//! Units of work that are written once for both databases: their context, and their kinds.
//!
//! A unit of work acts only through its [`UnitOfWork`], since it may be retried. On SQLite each step completes at once.

use std::{
    ops::Deref,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;

use crate::{
    StoreError, StoreResult, audit_log,
    cells::{StoredRow, cell},
    context::StoreContext,
    domain::{
        Actor, OrganizationId,
        audit::{AuditNote, UnlinkedEntry},
        time::Timestamp,
    },
    encryption::{KEY_CHECK, Seal},
    error::Work,
    postgres::{Unit as OnPostgres, is_beside_service, is_dead},
    sql::{SqliteRows, StoreRows, of_two_databases},
    sqlite::{Memory, Reader, Unit as OnSqlite},
    worker::locked,
};

/// One unit of work.
pub(super) struct UnitOfWork<'u> {
    pub(super) rows: StoreRows<'u>,
    /// Actor in the audit log.
    pub(super) by: &'u Actor,
    pub(super) context: &'u StoreContext,
    pub(super) database: UnitContext<'u>,
}

/// Context of units of work on their database.
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

impl UnitOfWork<'_> {
    /// Returns whether another process serves on this database, and this one does not.
    pub(super) async fn is_beside_service(&self) -> Work<bool> {
        match &self.database {
            UnitContext::Sqlite(memory) => Ok(memory.shared.instances.is_beside_service()),
            UnitContext::Postgres(unit) => is_beside_service(&unit.conn, self.context.own).await,
        }
    }

    /// Does a part of it as only SQLite does.
    pub(super) fn with_sqlite<T>(&self, part: impl FnOnce(&mut OnSqlite<'_>) -> StoreResult<T>) -> Work<T> {
        if let (StoreRows::Sqlite(rows), UnitContext::Sqlite(memory)) = (&self.rows, &self.database)
            && let Some((conn, dictionary)) = locked(rows).with_dictionary()
        {
            return Ok(part(&mut OnSqlite { conn, dictionary, shared: memory.shared, change: memory.change })?);
        }
        Err(of_two_databases())
    }

    /// Reads as only a reader of SQLite does.
    pub(super) fn with_reader<T>(&self, part: impl FnOnce(&mut Reader) -> StoreResult<T>) -> Work<T> {
        if let StoreRows::Sqlite(rows) = &self.rows
            && let SqliteRows::Read(reader) = &mut *locked(rows)
        {
            return Ok(part(reader)?);
        }
        Err(of_two_databases())
    }

    /// SQL that [`UnitOfWork::is_dead`] reads to tell whether the process in this column is provably dead.
    pub(super) fn dead(&self, column: &str) -> String {
        match &self.database {
            UnitContext::Sqlite(_) => column.to_owned(),
            UnitContext::Postgres(_) => is_dead(column, &format!("'{}'::uuid", self.context.own.0)),
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
        Ok(self.context.data_key.seal(row.get(column)?)?)
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

    /// The key of an organization. One that is not there has a key that no row has, so it has nothing.
    pub(super) async fn owner(&self, id: OrganizationId) -> Work<i64> {
        Ok(self.organization(id).await?.unwrap_or_default())
    }

    /// Adds an entry of an organization, which is known by its key, to the audit log.
    pub(super) async fn note(&self, organization: i64, note: AuditNote, at: Timestamp) -> Work<()> {
        self.note_of(self.by, organization, note, at).await
    }

    /// The same by another actor.
    pub(super) async fn note_of(&self, by: &Actor, organization: i64, note: AuditNote, at: Timestamp) -> Work<()> {
        let entry = UnlinkedEntry::of(organization, by, note, at);
        match &self.database {
            UnitContext::Sqlite(_) => audit_log::link(self, entry).await,
            UnitContext::Postgres(unit) => {
                unit.put_down(entry);
                Ok(())
            }
        }
    }

    /// The same for every organization: the change concerns all of them.
    pub(super) async fn note_for_all(&self, note: &AuditNote, at: Timestamp) -> Work<()> {
        let organizations = self.all("SELECT key FROM organization ORDER BY key", &[], cell).await?;
        for organization in organizations {
            self.note(organization, note.clone(), at).await?;
        }
        Ok(())
    }
}

/// Kind of a unit of work.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// One statement, by key.
    ByKey,
    /// The same of few rows, at once where that can be.
    AtOnce,
    /// Reading by key, all from one snapshot.
    Read,
    /// Reading that may go through many rows, in its owner's turn.
    List(Option<OrganizationId>),
    /// The same of mostly few rows, at once where that can be.
    ListAtOnce(OrganizationId),
    /// The same of one statement.
    InTurn(OrganizationId),
    /// Reading many rows, in nobody's turn.
    Many,
    /// A write that readers can see: a new change number, which wakes all who watch.
    Visible,
    /// The same with many rows.
    VisibleMany,
    /// Leases and claims: nobody's view changes.
    Quiet,
    /// The same with many rows.
    QuietMany,
    /// The same before a call whose answer has to be committed.
    Claim,
    /// The end of an attempt whose call was made: visible, and with a connection kept for it.
    Answered,
}

/// A unit of work on what it is given.
pub(super) type Job<A, T> = for<'a, 'u> fn(&'a UnitOfWork<'u>, &'a A) -> BoxFuture<'a, Work<T>>;

/// A unit of work whose result is kept in it: a store is compiled once for all of them.
pub(super) trait AnyUnit: Send + Sync {
    /// Does it, and replaces the result of an earlier time.
    fn run<'a>(&'a self, unit: &'a UnitOfWork<'_>) -> BoxFuture<'a, Work<()>>;
}

struct GivenUnit<A, T> {
    given: A,
    job: Job<A, T>,
    result: Mutex<Option<T>>,
}

impl<A: Send + Sync, T: Send> AnyUnit for GivenUnit<A, T> {
    fn run<'a>(&'a self, unit: &'a UnitOfWork<'_>) -> BoxFuture<'a, Work<()>> {
        Box::pin(async move {
            let result = (self.job)(unit, &self.given).await?;
            *locked(&self.result) = Some(result);
            Ok(())
        })
    }
}

/// A store that does units of work.
pub(super) trait Units: Clone + Send + Sync + 'static {
    /// Does one, and answers once its changes are durable.
    fn run(&self, way: Way, unit: Arc<dyn AnyUnit>) -> BoxFuture<'_, StoreResult<()>>;

    /// The same with its result.
    fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> impl Future<Output = StoreResult<T>> + Send {
        async move {
            let unit = Arc::new(GivenUnit { given, job, result: Mutex::default() });
            self.run(way, unit.clone()).await?;
            let result = locked(&unit.result).take();
            result.ok_or_else(|| StoreError::Unavailable("a unit of work ended without a result".to_owned()))
        }
    }

    /// Most alerts that are ingested in one commit, which every other writer waits for.
    fn most_taken_in(&self) -> usize;
}

/// A trait of units of work on a subject, done alike by every store: each method has its way, and behind `=>` the
/// function that does it with the unit of work and the method's arguments, those behind `[ref]` as references. An
/// organization that is named behind the way is given by its key. What each database reads in its own way has a
/// function for each of them. A borrowed argument is kept as what the method behind `as` makes of it.
macro_rules! units {
    (@do $store:ident ($($([$by:tt])? $arg:ident),*) { $way:expr $(, $owner:ident)? => $job:ident }) => {
        $store
            .unit($way, ($($arg,)*), |unit, &($($($by)? $arg,)*)| Box::pin(async move {
                $(let $owner = unit.owner($owner).await?;)?
                $job(unit, $($arg),*).await
            }))
            .await
    };
    (@do $store:ident ($($([$by:tt])? $arg:ident),*) { $way:expr => $sqlite:path | $postgres:path }) => {
        $store
            .unit($way, ($($arg,)*), |unit, &($($($by)? $arg,)*)| Box::pin(async move {
                match &unit.database {
                    $crate::units::UnitContext::Sqlite(_) => unit.with_reader(|side| $sqlite(side, $($arg),*)),
                    $crate::units::UnitContext::Postgres(side) => $postgres(side, $($arg),*).await,
                }
            }))
            .await
    };
    (@do $store:ident ($($([$by:tt])? $arg:ident),*) { $way:expr => |$unit:ident| $job:expr }) => {
        $store.unit($way, ($($arg,)*), |$unit, ($($arg,)*)| Box::pin($job)).await
    };
    (@do $store:ident $args:tt { |$every:ident| $job:expr }) => {{
        let $every = $store;
        $job.await
    }};
    ($(#[$about:meta])* $subject:ident: $(
        $(#[$doc:meta])*
        async fn $name:ident($($([$by:tt])? $arg:ident: $kind:ty $(as $kept:ident)?),* $(,)?) -> $answer:ty {
            $($body:tt)*
        }
    )*) => {
        $(#[$about])*
        #[async_trait::async_trait]
        pub trait $subject: Send + Sync {
            $($(#[$doc])* async fn $name(&self, $($arg: $kind),*) -> $crate::StoreResult<$answer>;)*
        }

        #[async_trait::async_trait]
        impl<S: $crate::units::Units> $subject for S {
            $(async fn $name(&self, $($arg: $kind),*) -> $crate::StoreResult<$answer> {
                $($(let $arg = $arg.$kept();)?)*
                units!(@do self ($($([$by])? $arg),*) { $($body)* })
            })*
        }
    };
}
pub(crate) use units;

/// A part of a unit of work that each database writes in its own way, by a function of this name.
macro_rules! either {
    ($unit:ident, $write:ident($($arg:expr),*)) => {
        match &$unit.database {
            $crate::units::UnitContext::Sqlite(_) => {
                $unit.with_sqlite(|side| $crate::sqlite::ingest::$write(side, $($arg),*))
            }
            $crate::units::UnitContext::Postgres(side) => {
                $crate::postgres::rows::$write(&side.conn, $($arg),*).await
            }
        }
    };
}
pub(crate) use either;
