//! PostgreSQL behind [`crate::Store`]: a pool of connections, units of work as transactions, and a keeper
//! thread. The thread sends heartbeats and learns of the changes of other processes.

pub(super) mod chain;
mod conditions;
mod connection;
pub(super) mod counts;
mod examine;
mod fault;
pub(super) mod find;
pub(super) mod insights;
mod keeper;
pub(super) mod list;
pub mod migrate;
mod pool;
pub(super) mod rows;
mod session;
mod store;
pub(super) mod transfer;

pub(super) use self::{
    connection::{Connection, Unit},
    keeper::{is_beside_service, is_dead},
};
pub use self::{
    examine::examine,
    keeper::CLOCK_ADVICE,
    store::{PostgresOptions, PostgresStore},
};
