//! The HTTP server: the interface's routes, credentials, the error table, protection.
//!
//! A request is checked in this order: host and origin, credentials, id, content type, body; then the engine answers
//! 404 and 409. The body of a request is not read before its credentials are known. [`router`] is the whole surface,
//! [`serve()`] runs it on a listener.

use avert_domain as domain;
use avert_engine as engine;
use avert_inbound as inbound;
use avert_service as service;
use avert_wire as wire;

mod access;
mod alerts;
mod client_address;
mod concurrency_limit;
mod conditional;
mod guard;
mod limit;
mod list_budget;
mod observe;
mod operator;
mod problem;
mod routes;
mod serve;
mod source_events;
mod state;
mod token;

pub use guard::HostError;
pub use problem::Code;
pub use routes::{ROUTES, router};
pub use serve::serve;
pub use state::{ApiOptions, MAX_BODY, MAX_HEAD, MAX_IMPORT, MAX_SOURCE_BODY};
