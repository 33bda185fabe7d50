//! PostgreSQL behind [`crate::store::Store`]: a pool of connections, units of work as transactions, and a thread that
//! tells others that this process lives and hears what they have changed.

mod alerts;
mod audit;
mod chain;
mod clock;
mod columns;
mod conditions;
mod connection;
mod copy_mark;
mod counts;
pub(super) mod due;
mod events;
pub mod examine;
mod expiry;
mod fault;
mod find;
mod fingerprint;
mod handle;
mod ingest;
mod insights;
mod keeper;
mod list;
mod liveness;
mod look;
pub mod migrate;
mod named;
mod opening;
pub(super) mod outcomes;
mod pool;
mod retention;
mod rows;
mod session;
mod statements;
mod store;
mod sums;
mod tls;
pub(super) mod transfer;
mod unit;
mod units;

pub(super) use self::connection::Connection;
pub(super) use self::fault::{Work, WorkFault, is_duplicate as is_taken};
pub use self::handle::PostgresStore;
pub(super) use self::liveness::{is_beside_service, is_dead};
pub use self::opening::PostgresOptions;
pub(super) use self::unit::Unit;
