//! Units of work that are written once for both databases, by subject.

pub(super) mod access;
pub(super) mod alike;
mod attempts;
mod claims;
mod deliveries;
mod endpoints;
pub(super) mod networks;
pub(super) mod organizations;
mod outbox;
mod rekeying;
mod signing;
mod token_keys;
mod upkeep;
