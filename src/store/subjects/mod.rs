//! Units of work that are written once for both databases, by subject.

pub(super) mod access;
pub(super) mod alerts;
pub(super) mod attempts;
pub(super) mod audit;
mod calls;
pub(super) mod deliveries;
pub(super) mod endpoints;
mod failing;
mod ingest;
pub(super) mod insights;
pub(super) mod leases;
pub(super) mod networks;
pub(super) mod opening;
pub(super) mod organizations;
pub(super) mod outbox;
pub(super) mod rules;
pub(super) mod sources;
mod subscriptions;
pub(super) mod truth;
pub(super) mod upkeep;
