//! Events: the two kinds of message that the service sends to a merchant's system.

use crate::{Alert, Timestamp, word_enums::open_enum};

open_enum! {
    /// Kind of an event (interface, Events).
    pub enum EventKind {
        AlertCreated = "alert.created",
        AlertResolved = "alert.resolved",
    }
}

/// Renderer of the request body of an event: `event`, `timestamp`, `payload`. It is called inside the transaction that
/// stores the change, so that the event reports exactly the committed state.
pub type RenderEvent = fn(&EventKind, &Alert, Timestamp) -> String;
