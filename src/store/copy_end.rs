//! One end of a copy, of either kind of database.

use async_trait::async_trait;

use super::copy_mark::{CopyMark, Occupant};
use super::portable::{PortableRow, PortableTable};
use super::{SchemaState, StoreError, StoreResult};

/// A database that is copied from or to.
#[async_trait(?Send)]
pub(super) trait CopyEnd {
    /// Returns the content of the database.
    fn occupant(&self) -> &Occupant;

    /// A fact by its name.
    async fn fact(&self, name: &str) -> StoreResult<Option<Vec<u8>>>;

    /// Locks this number; false where another connection to the same database has locked it.
    async fn lock(&self, number: i64) -> StoreResult<bool>;

    /// The tables that are carried.
    async fn tables(&self) -> StoreResult<Vec<PortableTable>>;

    /// The next rows of a table, those behind this one.
    async fn rows(&self, table: &PortableTable, after: Option<&PortableRow>) -> StoreResult<Vec<PortableRow>>;

    /// The newest number that an entry of the audit log was ever given.
    async fn newest_entry(&self) -> StoreResult<i64>;

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
