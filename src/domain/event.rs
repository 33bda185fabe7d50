//! Events: what the service reports to a merchant's systems, and the templates of its bodies.

use crate::{closed_enum, word_enums::open_enum};

open_enum! {
    /// Kind of an event: the two of the interface, and those about the work itself.
    pub enum EventKind {
        AlertCreated = "alert.created",
        AlertResolved = "alert.resolved",
        AlertExpiring = "alert.expiring",
        EndpointFailing = "endpoint.failing",
        RuleStopped = "rule.stopped",
        SourceFailing = "source.failing",
    }
}

impl EventKind {
    /// The events of the interface, which an endpoint gets where nothing else is said.
    pub const OF_INTERFACE: [Self; 2] = [Self::AlertCreated, Self::AlertResolved];

    /// Returns true for the two events of the interface.
    pub fn is_of_interface(&self) -> bool {
        Self::OF_INTERFACE.contains(self)
    }
}

closed_enum! {
    /// Template of the body of an event about the work.
    pub enum EventTemplate {
        /// A line of text, as Slack's incoming webhooks take it.
        Slack = "slack",
    }
}
