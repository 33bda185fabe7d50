//! A network behind a gateway: a service that speaks avert's provider contract (`assets/docs/provider-contract.md`)
//! over HTTP.
//!
//! `transport` makes one call and knows whether it may have been sent; `contract` is what calls and answers look
//! like and mean. `native` speaks the interfaces of sources that have one of their own.

mod contract;
pub mod native;
mod transport;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Method, header::CONTENT_TYPE};

use self::transport::Transport;
use super::{AlertProvider, AlertSource, Capabilities, LookUp, PulledPage, Submission, SubmitResult};
use crate::domain::{CaCertificates, EndpointAuth, url::BaseUrl};

/// Configuration of an [`HttpProvider`].
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Address of the gateway; paths are added to it.
    pub url: BaseUrl,
    /// Authentication at the gateway.
    pub auth: Option<EndpointAuth>,
    /// The certificates that are trusted there, and no others.
    pub trusted: CaCertificates,
    /// Capabilities of the gateway after a lost answer.
    pub capabilities: Capabilities,
    /// Longest time for a call in all: name, connection, request and answer. A connection may take half of it.
    pub timeout: Duration,
}

/// The HTTP provider: a network behind a gateway.
#[derive(Debug)]
pub struct HttpProvider {
    base: BaseUrl,
    capabilities: Capabilities,
    transport: Transport,
}

impl HttpProvider {
    /// A provider with connections of its own. Nothing is sent yet.
    ///
    /// # Errors
    /// When an option is wrong; the text says what is allowed, and never the credential.
    pub fn new(options: HttpOptions) -> Result<Self, String> {
        let HttpOptions { url: base, auth, trusted, capabilities, timeout } = options;
        let checked = auth.as_ref().map_or(Ok(()), EndpointAuth::check);
        checked.map_err(|error| format!("the credential cannot be sent: {} {}", error.field, error.message))?;
        let transport = Transport::new(auth.as_ref(), trusted, timeout)?;
        Ok(Self { base, capabilities, transport })
    }
}

#[async_trait]
impl AlertProvider for HttpProvider {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let call = self
            .transport
            .call(Method::POST, format!("{}/decisions", self.base), &submission.trace)
            .header("idempotency-key", submission.attempt.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(contract::decision(submission));
        contract::submitted(self.transport.make(call, contract::MAX_ANSWER).await, submission.attempt)
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        let call =
            self.transport.call(Method::GET, contract::look_up_address(&self.base, submission), &submission.trace);
        contract::looked_up(self.transport.make(call, contract::MAX_ANSWER).await, submission.attempt)
    }
}

#[async_trait]
impl AlertSource for HttpProvider {
    async fn pull(&self, cursor: Option<&str>) -> Result<PulledPage, String> {
        let call = self.transport.call(Method::GET, contract::page_address(&self.base, cursor), "");
        contract::page(self.transport.make(call, contract::MAX_PAGE).await)
    }
}
