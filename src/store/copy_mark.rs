//! The mark of an unfinished copy: it is in the target before any row comes, and gone with the last commit. Meanwhile
//! every other process that opens the database refuses it.
//!
//! One end of a copy, of either kind of database.

use async_trait::async_trait;

use crate::{
    Finding, SchemaState, StoreError, StoreResult, audit_log,
    portable::{self, PortableRow, PortableTable},
    sql::StoreRows,
};

/// The table with the mark: it is there as long as the copy is not finished.
pub(super) const UNFINISHED_COPY: &str = "unfinished_copy";

/// A copy that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyMark {
    /// The source's address, without a password.
    pub(super) source: String,
    /// The id of the desk; empty where the source has none yet.
    pub(super) desk: Vec<u8>,
}

/// Name of the fact that tells one desk from another.
pub(super) const DESK: &str = "database";

impl CopyMark {
    /// Reason of the refusal, with the way out.
    pub(super) fn refusal(&self) -> String {
        format!("{}; {}", self.words(), Self::ADVICE)
    }

    /// The same as a finding of the doctor.
    pub(super) fn finding(&self, place: &str) -> Finding {
        Finding::wrong("database", format!("{place}: {}", self.words()), Self::ADVICE)
    }

    const ADVICE: &str = "run the same `avert copy` again, or remove it";

    fn words(&self) -> String {
        format!("is an unfinished copy of {}", self.source)
    }
}

/// Content of the database that is copied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Occupant {
    Nobody,
    /// An unfinished copy of an earlier run.
    Copy(CopyMark),
    /// A desk, by its id.
    Desk(Vec<u8>),
}

impl Occupant {
    /// Determines the content of a database with this schema, mark and desk.
    pub(super) fn of(schema: &SchemaState, mark: Option<CopyMark>, desk: Option<Vec<u8>>) -> StoreResult<Self> {
        match (schema, mark) {
            (_, Some(mark)) => Ok(Self::Copy(mark)),
            (SchemaState::Waiting(_), None) => {
                let words = "holds another desk, of an older avert; name an empty database";
                Err(StoreError::Unusable(words.to_owned()))
            }
            (_, None) => Ok(desk.map_or(Self::Nobody, Self::Desk)),
        }
    }
}

/// A database that is copied from or to.
#[async_trait(?Send)]
pub(super) trait CopyEnd {
    /// Returns the content of the database.
    fn occupant(&self) -> &Occupant;

    /// The rows of the database.
    fn store_rows(&mut self) -> StoreRows<'_>;

    /// A fact by its name.
    async fn fact(&mut self, name: &str) -> StoreResult<Option<Vec<u8>>> {
        Ok(self.store_rows().fact(name).await?)
    }

    /// Locks this number; false where another connection to the same database has locked it.
    async fn lock(&mut self, number: i64) -> StoreResult<bool>;

    /// The tables that are carried.
    async fn tables(&mut self) -> StoreResult<Vec<PortableTable>> {
        Ok(portable::tables(&self.store_rows()).await?)
    }

    /// The next rows of a table, those behind this one.
    async fn rows(&mut self, table: &PortableTable, after: Option<&PortableRow>) -> StoreResult<Vec<PortableRow>> {
        Ok(table.next_rows(&self.store_rows(), after).await?)
    }

    /// The newest number that an entry of the audit log was ever given.
    async fn newest_entry(&mut self) -> StoreResult<i64> {
        Ok(audit_log::last_number(&self.store_rows()).await?)
    }

    /// Refuses a source that was changed since it is read.
    async fn stood_still(&self) -> StoreResult<()>;

    /// Marks it as an unfinished copy, and makes all tables there, with nothing in them.
    async fn begin(&mut self, mark: &CopyMark) -> StoreResult<()>;

    /// Stores rows, and commits them.
    async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()>;

    /// Adds every alert to the search over all fields.
    async fn index(&self) -> StoreResult<()>;

    /// Ends the copy: makes the counts from the alerts, and removes the mark.
    async fn finish(&self, tables: &[PortableTable], newest_entry: i64) -> StoreResult<()>;
}

/// Refuses a source whose schema is not this avert's.
pub(super) fn require_current(state: &SchemaState) -> StoreResult<()> {
    let words = match state {
        SchemaState::Current => return Ok(()),
        SchemaState::Empty(_) => "holds nothing to copy; name the right database",
        SchemaState::Waiting(_) => "its schema waits for steps of this avert; apply them with `avert migrate`",
    };
    Err(StoreError::Unusable(words.to_owned()))
}
