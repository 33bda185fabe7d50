//! The local webhook listener as the console sees it: what is asked of it. Who listens, and sends what was recorded
//! again, is handed in by whoever opens the console.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

use tokio_util::sync::CancellationToken;

use crate::domain::url::EndpointUrl;
use crate::domain::webhook::received::{ReceivedEvent, ReplayedEvent};
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

/// A replay request: what was recorded, and where it is sent again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayRequest {
    /// The recording.
    pub file: PathBuf,
    /// Where in it the line of the one event begins; nothing for all of them.
    pub only: Option<u64>,
    pub to: EndpointUrl,
    /// What is asked for there.
    pub auth: Option<EndpointAuth>,
    /// What it is signed with anew; nothing where it goes with the signatures that it came with.
    pub secret: Option<Secret>,
}

/// A part of a request that something can be wrong with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestPart {
    /// Where it listens.
    Address,
    Credential,
    /// What signatures are checked or made with.
    Secret,
    /// Where deliveries are sent.
    Target,
    /// The recording.
    File,
}

/// Why nothing came of a request, in words for a user, and which part of it is at fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFailure {
    pub part: RequestPart,
    pub words: String,
}

impl RequestFailure {
    /// With this part.
    pub fn of(part: RequestPart) -> impl FnOnce(String) -> Self {
        move |words| Self { part, words }
    }
}

/// Who is told of each delivery.
pub type Heard = Arc<dyn Fn(ReceivedEvent) + Send + Sync>;

/// Who is told of each delivery that was sent again.
pub type Replayed = Arc<dyn Fn(ReplayedEvent) + Send + Sync>;

/// A local webhook listener.
#[async_trait]
pub trait WebhookListener: Send + Sync {
    /// Listens from now on, and tells of what comes. The address that it answers at, or why it does not.
    async fn start(&self, request: ListenRequest, heard: Heard) -> Result<SocketAddr, RequestFailure>;

    /// Takes nothing more. What is on its way has a moment to end.
    async fn stop(&self);

    /// Sends what was recorded again, one after another and each once, until it is stopped, and tells what came of
    /// each. Why nothing was sent, where that is so.
    async fn replay(
        &self,
        request: ReplayRequest,
        stop: CancellationToken,
        replayed: Replayed,
    ) -> Result<(), RequestFailure>;
}
