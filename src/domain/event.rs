//! Events: the two kinds of message that the service sends to a merchant's system.

use crate::{Alert, AlertId, EventId, Timestamp, word_enums::open_enum};

open_enum! {
    /// Kind of an event (interface, Events).
    pub enum EventKind {
        AlertCreated = "alert.created",
        AlertResolved = "alert.resolved",
    }
}

/// Event as it was recorded with its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Identifier; also the `webhook-id` of every delivery of it.
    pub id: EventId,
    pub kind: EventKind,
    pub alert_id: AlertId,
    pub at: Timestamp,
    /// The request body, rendered once; every attempt sends these bytes.
    pub body: String,
}

/// Renderer of event bodies. It is called inside the transaction that stores the change, so that the event reports
/// exactly the committed state.
pub trait RenderEvent: Send + Sync + 'static {
    /// Returns the request body: `event`, `timestamp`, `payload`.
    fn render(&self, kind: &EventKind, alert: &Alert, at: Timestamp) -> String;
}
