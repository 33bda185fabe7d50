//! SQLite behind [`crate::Store`]: one thread that writes, a few that read (by key, and lists), one that empties
//! the log, one that watches.

mod alert_cache;
mod amounts;
pub mod backup;
mod budget;
mod checkpoint;
mod checksum;
mod columns;
mod connection;
mod copy;
mod copy_mark;
mod counts;
mod data_key;
pub mod examine;
mod files;
pub(super) mod find;
mod find_index;
mod fingerprint;
mod handle;
mod heads;
pub(super) mod ingest;
pub(super) mod insights;
mod instance;
mod interned;
mod intersection;
pub(super) mod list;
mod marked_orders;
mod marks;
mod marks_cache;
mod migrate;
mod opening;
pub(super) mod outcomes;
mod query;
mod readers;
mod restore;
mod rows;
mod schema;
mod selection;
mod soundness;
mod sql;
mod staging;
pub(super) mod sums;
#[cfg(test)]
mod tests;
pub(super) mod transfer;
mod turns;
mod watch;
mod worker;
mod write_turn;
mod writer;

pub(super) use self::{
    connection::is_duplicate,
    interned::Dictionary,
    readers::Reader,
    rows::ByKey,
    writer::{Memory, Unit},
};
pub use self::{
    handle::SqliteStore,
    opening::{Location, LongStep, PageCaches, SqliteOptions},
    schema::schema_of,
};
