//! The local webhook listener as the console sees it: what is asked of it. Who listens is handed in by whoever opens the console.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::webhook::received::ReceivedEvent;
use crate::domain::{EndpointAuth, Secret};

/// A listen request: where, and what is checked, kept and sent on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListenRequest {
    /// Address and port; port 0 picks a free one.
    pub address: String,
    /// What a sender is known by.
    pub auth: EndpointAuth,
    /// What is sent has to be signed with it; nothing where signatures are not looked at.
    pub secret: Option<Secret>,
    /// Where what is taken is sent on to.
    pub forward: Option<String>,
    /// The file that what is taken is added to.
    pub record: Option<PathBuf>,
}

/// Who is told of each delivery.
pub type Heard = Arc<dyn Fn(ReceivedEvent) + Send + Sync>;

/// A local webhook listener.
#[async_trait]
pub trait WebhookListener: Send + Sync {
    /// Listens from now on, and tells of what comes. The address that it answers at, or why it does not, in words for a user.
    async fn start(&self, request: ListenRequest, heard: Heard) -> Result<SocketAddr, String>;

    /// Takes nothing more. What is on its way has a moment to end.
    async fn stop(&self);
}
