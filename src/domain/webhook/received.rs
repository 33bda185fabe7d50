//! Deliveries of webhooks to a local receiver, and the address that has to be reachable for them.

use std::net::SocketAddr;

use super::signing::SignatureFault;
use crate::time::Timestamp;

/// A received event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedEvent {
    pub at: Timestamp,
    /// Subject of the delivery; empty where its body was not read.
    pub subject: Subject,
    /// The `webhook-id` header: the same for every attempt of one event.
    pub webhook_id: Option<String>,
    /// Result of the receipt.
    pub receipt: Receipt,
    /// True for a right signature; `None` where there was nothing to check.
    pub verified: Option<bool>,
    pub forwarding: Forwarding,
}

/// Subject of a delivery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    /// `alert.created`, say.
    pub event: Option<String>,
    /// Id of the alert, in the sender's words.
    pub alert: Option<String>,
}

/// Result of the receipt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Receipt {
    Accepted,
    /// Wrong or missing credential: 401, and its body was not read.
    WrongCredential,
    /// Wrong, missing or untimely signature: 401.
    NotVerified(SignatureFault),
    /// Not recorded, or no room to forward it: 503, with the reason.
    NotKept(String),
}

/// State of the forwarding of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forwarding {
    /// Not to be forwarded.
    Nowhere,
    /// Answered with this status.
    Answered(u16),
    /// No answer came; why not, in words.
    Failed(String),
}

/// Describes the address that has to be reachable from outside, for a receiver at this address.
pub fn what_has_to_be_reachable(address: SocketAddr) -> String {
    if address.ip().is_loopback() {
        format!(
            "only programs on this machine reach http://{address}: for a deployment elsewhere let a public https \
                address (a reverse proxy, \
             a tunnel) lead there, and give the deployment that address and the credential"
        )
    } else {
        format!(
            "port {} of {} has to be reachable from the deployment. What comes there in plain http others can read on \
                the way, the \
             credential too: let a proxy with TLS stand before it",
            address.port(),
            address.ip()
        )
    }
}
