//! The HTTP client's set-up: nothing is sent twice, and no redirect is followed. Each caller tells its user why a call
//! has no answer.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect, retry};

use super::{
    handshake::cause,
    proxy::{HostNames, Proxy},
    reason::Reason,
    tls::ClientTls,
};

/// Name of avert in requests.
pub const USER_AGENT: &str = concat!("avert/", env!("CARGO_PKG_VERSION"));

/// An HTTP client with connections of its own.
#[derive(Debug, Clone)]
pub struct HttpClient {
    pub client: Client,
    tls: ClientTls,
    proxy: Option<Proxy>,
}

impl HttpClient {
    /// Builds a client that calls by this proxy of the environment, or directly. `adapt` sets what differs between
    /// clients.
    ///
    /// # Errors
    /// When this machine cannot have one; the text says why.
    pub fn new(
        tls: ClientTls,
        proxy: Option<Proxy>,
        adapt: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Self, String> {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .referer(false)
            // Callers that want packed answers ask for them.
            .gzip(false)
            // Nothing is sent a second time behind our back.
            .retry(retry::never())
            .dns_resolver(HostNames)
            .tls_backend_preconfigured(tls.config()?)
            .pool_idle_timeout(Duration::from_secs(20))
            .pool_max_idle_per_host(8);
        let builder = if proxy.is_some() { builder } else { builder.no_proxy() };
        let client =
            adapt(builder).build().map_err(|error| format!("the HTTP client cannot be set up: {}", cause(&error)))?;
        Ok(Self { client, tls, proxy })
    }

    /// The reason of a failed call that had so long for its connection and so long in all.
    pub fn reason(&self, error: &reqwest::Error, connect: Duration, all: Duration) -> Reason {
        Reason::of(error, connect, all, &self.tls, self.proxy.as_ref())
    }
}
