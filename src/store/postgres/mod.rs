//! PostgreSQL behind [`crate::Store`]: a pool of connections, units of work as transactions, and a keeper
//! thread. The thread sends heartbeats and learns of the changes of other processes.

pub(super) mod chain;
mod clock;
mod conditions;
mod connection;
mod copy_mark;
pub(super) mod counts;
pub mod examine;
mod fault;
pub(super) mod find;
mod fingerprint;
mod handle;
pub(super) mod ingest;
pub(super) mod insights;
mod keeper;
pub(super) mod list;
mod liveness;
mod look;
pub mod migrate;
mod opening;
pub(super) mod outcomes;
mod pool;
mod rows;
mod session;
mod statements;
pub(super) mod transfer;
mod unit;

pub(super) use self::{
    connection::Connection,
    fault::is_duplicate as is_taken,
    liveness::{is_beside_service, is_dead},
    unit::Unit,
};
pub use self::{handle::PostgresStore, opening::PostgresOptions};
