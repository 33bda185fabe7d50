//! The operator API, `/operator/v1`: for keys with the scope `operator` only.

pub(super) mod alerts;
pub(super) mod attempts;
pub(super) mod changes;
pub(super) mod credentials;
pub(super) mod deliveries;
pub(super) mod duplicates;
pub(super) mod endpoints;
mod extract;
pub(super) mod find;
pub(super) mod index;
pub(super) mod stats;
