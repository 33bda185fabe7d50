//! A network behind a gateway: a service that speaks avert's provider contract (`assets/docs/provider-contract.md`)
//! over HTTP.
//!
//! `line` makes one call and knows whether it may have been sent; `contract` is what calls and answers look like and
//! mean.

mod contract;
mod transport;

use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Method, header::HeaderName};

use self::transport::{GatewayCall, Transport};
use super::{AlertProvider, AlertSource, Capabilities, LookUp, PulledPage, Submission, SubmitResult};
use crate::domain::{
    CaCertificates, EndpointAuth, Secret,
    url::BaseUrl,
    webhook::endpoint::{valid_basic, valid_header},
};

/// Authentication at a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayCredential {
    /// Not at all.
    None,
    /// `Authorization: Basic` (RFC 7617).
    Basic {
        /// User name; no colon in it.
        username: String,
        password: Secret,
    },
    /// `Authorization: Bearer` (RFC 6750).
    Bearer(Secret),
    /// A header of the gateway's own choice.
    Header { name: String, value: Secret },
}

impl GatewayCredential {
    /// Refuses what a header cannot carry, without repeating it.
    fn check(&self) -> Result<(), String> {
        let checked = match self {
            Self::None => Ok(()),
            Self::Basic { username, password } => valid_basic(username, password.reveal()),
            Self::Bearer(token) => valid_header("Authorization", token.reveal()),
            Self::Header { name, value } => valid_header(name, value.reveal()),
        };
        checked.map_err(|error| format!("the credential cannot be sent: {} {}", error.field, error.message))
    }

    /// The header that it is sent in.
    fn auth(self) -> Option<EndpointAuth> {
        match self {
            Self::None => None,
            Self::Basic { username, password } => Some(EndpointAuth::Basic { username, password }),
            Self::Bearer(token) => {
                let value = Secret::new(format!("Bearer {}", token.reveal()));
                Some(EndpointAuth::Header { name: "Authorization".to_owned(), value })
            }
            Self::Header { name, value } => Some(EndpointAuth::Header { name, value }),
        }
    }
}

/// Configuration of an [`HttpProvider`].
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Address of the gateway; paths are added to it.
    pub url: BaseUrl,
    pub credential: GatewayCredential,
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
        let HttpOptions { url: base, credential, trusted, capabilities, timeout } = options;
        credential.check()?;
        let transport = Transport::new(credential.auth().as_ref(), trusted, timeout)?;
        Ok(Self { base, capabilities, transport })
    }
}

#[async_trait]
impl AlertProvider for HttpProvider {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let call = GatewayCall::new(Method::POST, format!("{}/decisions", self.base))
            .header(HeaderName::from_static("idempotency-key"), submission.attempt.to_string())
            .json(contract::decision(submission));
        contract::submitted(self.transport.make(call, contract::MAX_ANSWER).await, submission.attempt)
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        let call = GatewayCall::new(Method::GET, contract::look_up_address(&self.base, submission));
        contract::looked_up(self.transport.make(call, contract::MAX_ANSWER).await, submission.attempt)
    }
}

#[async_trait]
impl AlertSource for HttpProvider {
    async fn pull(&self, cursor: Option<&str>) -> Result<PulledPage, String> {
        let call = GatewayCall::new(Method::GET, contract::page_address(&self.base, cursor));
        contract::page(self.transport.make(call, contract::MAX_PAGE).await)
    }
}
