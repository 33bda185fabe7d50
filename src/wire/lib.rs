//! The JSON of the interface in both dialects: reads tolerantly, writes one form for each dialect.
//!
//! [`mod@write`] makes answers and event bodies, [`read`] takes alerts in from whatever deployments and files hold,
//! [`body`] reads the resolution bodies exactly as the interface writes them, [`query`] is the query string of the list
//! operation, [`refusal`] and [`token`] are what else other deployments answer, and [`import`] streams whole files.
//! Requests and replies of operators are in `operator`. Decimals never pass through a binary float on any of these
//! ways.

use avert_domain as domain;

pub mod body;
pub mod import;
mod json;
pub mod operator;
pub mod query;
pub mod read;
pub mod refusal;
#[cfg(test)]
mod tests;
pub mod token;
pub mod write;

pub use crate::domain::Dialect;
pub use write::event_body;
