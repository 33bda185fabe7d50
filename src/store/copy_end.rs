//! One end of a copy, of either kind of database.

use super::copy_mark::{CopyMark, Occupant};
use super::portable::{AUDIT_START, PortableCell, PortableRow, PortableTable, TABLES};
use super::postgres::transfer::PostgresEnd;
use super::seal::Seal;
use super::sealed::{self, KEY_CHECK};
use super::sqlite::transfer::SqliteEnd;
use super::{StoreError, StoreResult};
use crate::domain::database::DatabaseLocation;

/// A database that is copied from or to.
pub(super) enum CopyEnd {
    Sqlite(Box<SqliteEnd>),
    Postgres(Box<PostgresEnd>),
}

impl CopyEnd {
    /// What is copied from.
    pub(super) async fn source(from: &DatabaseLocation) -> StoreResult<Self> {
        Ok(match from {
            DatabaseLocation::Sqlite(file) => Self::Sqlite(Box::new(SqliteEnd::source(file)?)),
            DatabaseLocation::Postgres(server) => Self::Postgres(Box::new(PostgresEnd::source(server).await?)),
        })
    }

    /// What is copied to.
    pub(super) async fn target(to: &DatabaseLocation) -> StoreResult<Self> {
        Ok(match to {
            DatabaseLocation::Sqlite(file) => Self::Sqlite(Box::new(SqliteEnd::target(file)?)),
            DatabaseLocation::Postgres(server) => Self::Postgres(Box::new(PostgresEnd::target(server).await?)),
        })
    }

    /// Whether both ends are in one database, however its address is spelt.
    pub(super) async fn is_in_the_database_of(&self, other: &Self) -> StoreResult<bool> {
        match (self, other) {
            (Self::Postgres(source), Self::Postgres(target)) => source.is_in_the_database_of(target).await,
            _ => Ok(false),
        }
    }

    pub(super) fn occupant(&self) -> Occupant {
        match self {
            Self::Sqlite(end) => end.occupant(),
            Self::Postgres(end) => end.occupant(),
        }
    }

    /// What a copy of this end is marked with.
    pub(super) async fn mark(&self, shown: &DatabaseLocation) -> StoreResult<CopyMark> {
        let state = match self {
            Self::Sqlite(end) => end.state()?,
            Self::Postgres(end) => end.state().await?,
        };
        let desk = if let Occupant::Desk(desk) = self.occupant() { desk } else { Vec::new() };
        Ok(CopyMark { source: shown.to_string(), desk, state })
    }

    pub(super) async fn begin(&mut self, mark: &CopyMark, anew: bool) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.begin(mark, anew),
            Self::Postgres(end) => end.begin(&TABLES, mark, anew).await,
        }
    }

    pub(super) async fn count(&self, table: &PortableTable) -> StoreResult<u64> {
        match self {
            Self::Sqlite(end) => end.count(table),
            Self::Postgres(end) => end.count(table).await,
        }
    }

    /// The row of a table that the next ones come behind.
    pub(super) async fn last(&self, table: &PortableTable) -> StoreResult<Option<PortableRow>> {
        // This row is there from the first on, and is only changed.
        if table.name == AUDIT_START {
            return Ok(None);
        }
        match self {
            Self::Sqlite(end) => end.last(table),
            Self::Postgres(end) => end.last(table).await,
        }
    }

    pub(super) async fn rows(
        &self,
        table: &PortableTable,
        after: Option<&PortableRow>,
    ) -> StoreResult<Vec<PortableRow>> {
        match self {
            Self::Sqlite(end) => end.rows(table, after),
            Self::Postgres(end) => end.rows(table, after).await,
        }
    }

    pub(super) async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.write(table, rows),
            Self::Postgres(end) => end.write(table, rows).await,
        }
    }

    pub(super) async fn newest_entry(&self) -> StoreResult<i64> {
        match self {
            Self::Sqlite(end) => end.newest_entry(),
            Self::Postgres(end) => end.newest_entry().await,
        }
    }

    /// How many alerts the search over all fields knows, and how many there are.
    pub(super) async fn indexed(&self) -> StoreResult<(u64, u64)> {
        match self {
            Self::Sqlite(end) => end.indexed(),
            Self::Postgres(end) => end.indexed().await,
        }
    }

    pub(super) async fn index(&mut self) -> StoreResult<u64> {
        match self {
            Self::Sqlite(end) => end.index(),
            Self::Postgres(end) => end.index().await,
        }
    }

    pub(super) async fn give_up(&self) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.give_up(),
            Self::Postgres(end) => end.give_up().await,
        }
    }

    pub(super) async fn finish(&self, newest_entry: i64) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.finish(newest_entry),
            Self::Postgres(end) => end.finish(&TABLES, newest_entry).await,
        }
    }

    /// Refuses a source that was worked on since it is read. A file cannot be: its directory is shut.
    pub(super) async fn stood_still(&self) -> StoreResult<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(end) => end.stood_still().await,
        }
    }

    /// What proves the data key of this end, where it has one.
    pub(super) async fn key_check(&self) -> StoreResult<Option<Vec<u8>>> {
        let facts = TABLES.iter().find(|table| table.name == "fact");
        let facts = match facts {
            Some(facts) => self.rows(facts, None).await?,
            None => Vec::new(),
        };
        let check = facts.into_iter().find(|row| row[0] == PortableCell::Text(KEY_CHECK.to_owned()));
        Ok(match check.as_deref() {
            Some([_, PortableCell::Bytes(check)]) => Some(check.clone()),
            _ => None,
        })
    }

    /// Refuses to go on with what is sealed with another key than it is about to be.
    pub(super) async fn require_key(
        &self,
        shown: &DatabaseLocation,
        of_source: Option<&[u8]>,
        keys: Option<&(Seal, Seal)>,
    ) -> StoreResult<()> {
        let Some(check) = self.key_check().await? else { return Ok(()) };
        let is_same = match keys {
            Some((_, new)) => sealed::proves(new, &check),
            None => of_source == Some(check.as_slice()),
        };
        if is_same {
            return Ok(());
        }
        let words = "is an unfinished copy that is sealed with another key; name the same one with \
            --to-secret-key-file, or remove it";
        Err(StoreError::Unusable(format!("{shown}: {words}")))
    }
}
