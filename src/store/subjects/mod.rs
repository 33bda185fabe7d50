//! Units of work that are written once for both databases, by subject.

pub(super) mod access;
mod alerts;
mod alike;
mod attempts;
mod audit;
mod claims;
mod deliveries;
mod endpoints;
pub(super) mod insights;
pub(super) mod named;
pub(super) mod networks;
pub(super) mod organizations;
pub(super) mod outbox;
mod rekeying;
mod retention;
mod signing;
mod token_keys;
mod upkeep;
