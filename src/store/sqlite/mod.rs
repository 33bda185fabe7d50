//! SQLite behind [`crate::store::Store`]: one thread that writes, a few that read (by key, and lists), one that empties the log, one that watches.

mod access;
mod alerts;
mod attempts;
mod audit;
pub mod backup;
mod budget;
mod checkpoint;
mod checksum;
mod clock;
mod connection;
mod counts;
mod deliveries;
mod endpoints;
pub mod examine;
mod expiry;
mod files;
mod finding;
mod handle;
mod ingest;
mod instance;
mod interned;
mod list;
mod migrate;
mod networks;
mod opening;
mod organizations;
mod outbox;
mod query;
mod readers;
mod retention;
mod rows;
mod signing;
mod statements;
mod store;
#[cfg(test)]
mod tests;
mod turns;
mod upkeep;
mod watch;
mod worker;
mod writer;

pub use self::handle::SqliteStore;
pub use self::opening::{Location, SqliteOptions};
