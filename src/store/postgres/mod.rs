//! PostgreSQL behind [`crate::store::Store`]: a pool of connections, units of work as transactions, and a thread that tells others that this
//! process lives and hears what they have changed.

mod access;
mod alerts;
mod alike;
mod attempts;
mod audit;
mod chain;
mod clock;
mod columns;
mod conditions;
mod connection;
mod copy_mark;
mod counts;
mod deliveries;
mod due;
mod endpoints;
mod events;
pub mod examine;
mod expiry;
mod fault;
mod find;
mod handle;
mod ingest;
mod insights;
mod keeper;
mod list;
mod liveness;
pub mod migrate;
mod networks;
mod opening;
mod organizations;
mod outbox;
mod rekeying;
mod retention;
mod rows;
mod signing;
mod statements;
mod store;
mod sums;
mod tls;
mod token_keys;
pub(super) mod transfer;
mod unit;
mod upkeep;

pub use self::handle::PostgresStore;
pub use self::opening::PostgresOptions;
