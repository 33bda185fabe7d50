//! Deliveries that are due, as both databases find and lease them.

use std::{collections::HashMap, sync::Arc};

use crate::domain::{DeliveryId, EventId, OrganizationId, time::Timestamp};

/// A pending delivery, and the time from which it can be sent.
pub(super) struct Waiting {
    pub(super) due: Timestamp,
    pub(super) key: i64,
    pub(super) sendable_at: Timestamp,
}

/// A delivery that was leased.
pub(super) struct Leased {
    pub(super) delivery: DeliveryId,
    pub(super) generation: i64,
    pub(super) attempt: u32,
    pub(super) event: EventId,
    pub(super) body: Arc<str>,
}

/// Number of leased deliveries, by endpoint and by organization.
#[derive(Default)]
pub(super) struct InHand {
    pub(super) of_endpoints: HashMap<i64, u32>,
    pub(super) of_organizations: HashMap<OrganizationId, u32>,
}

impl InHand {
    /// Counts deliveries to an endpoint.
    pub(super) fn add(&mut self, endpoint: i64, organization: OrganizationId, count: u32) {
        *self.of_endpoints.entry(endpoint).or_default() += count;
        *self.of_organizations.entry(organization).or_default() += count;
    }
}
