//! Subjects of events, and what renders their bodies.

use crate::{
    Alert, Endpoint, EventKind, EventTemplate, Timestamp, rule::automatic::StoppedRule, source::FailingSource,
};

/// Subject of an event.
#[derive(Debug, Clone, Copy)]
pub enum EventSubject<'s> {
    Alert(&'s Alert),
    Endpoint(&'s Endpoint),
    Rule(&'s StoppedRule),
    Source(&'s FailingSource),
}

/// Renderer of the request body of an event: `event`, `timestamp`, `payload`, or as a template has it. It is called
/// inside the transaction that stores the change, so that the event reports exactly the committed state.
pub type RenderEvent = fn(&EventKind, EventSubject<'_>, Option<EventTemplate>, Timestamp) -> String;
