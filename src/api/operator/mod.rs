//! The operator API, `/operator/v1`: for keys with the scope `operator` only.

pub(super) mod alerts;
pub(super) mod changes;
pub(super) mod credentials;
pub(super) mod deliveries;
pub(super) mod endpoints;
mod extract;
pub(super) mod index;
pub(super) mod stats;
