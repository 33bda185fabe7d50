//! SQLite behind [`crate::Store`]: one thread that writes, a few that read (by key, and lists), one that empties
//! the log, one that watches.

pub mod backup;
mod beginnings;
mod budget;
mod caches;
mod checkpoint;
mod columns;
mod connection;
mod copy;
mod counts;
mod examine;
mod files;
pub(super) mod find;
mod find_index;
pub(super) mod ingest;
pub(super) mod insights;
mod instance;
mod interned;
mod intersection;
pub(super) mod list;
mod marks;
mod migrate;
pub mod names;
mod query;
mod readers;
mod restore;
mod rows;
mod schema;
mod soundness;
mod sql;
mod staging;
mod store;
#[cfg(test)]
mod tests;
pub(super) mod transfer;
mod turns;
mod watch;
mod writer;

use crate::worker;

pub use self::{
    examine::{examine, is_idle},
    schema::schema_of,
    store::{LongStep, PageCaches, SqliteOptions, SqliteStore},
};
pub(super) use self::{
    interned::Dictionary,
    readers::Reader,
    rows::read_alerts,
    sql::Statements,
    writer::{Memory, Unit},
};
