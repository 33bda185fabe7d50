//! The HTTP client's set-up: nothing is sent twice, no redirect is followed, and a machine without root certificates still has one.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect, retry};

use super::causes::cause;
use super::names::HostNames;

/// How avert names itself.
pub const USER_AGENT: &str = concat!("avert/", env!("CARGO_PKG_VERSION"));

/// A client with connections of its own; `adapt` says what is not the same for all, and `peers` whom it calls, for the log.
///
/// # Errors
/// Why this machine cannot have one.
pub fn client(peers: &str, adapt: impl Fn(ClientBuilder) -> ClientBuilder) -> Result<Client, String> {
    let builder = || {
        adapt(
            Client::builder()
                .user_agent(USER_AGENT)
                .redirect(redirect::Policy::none())
                .referer(false)
                // Who wants packed answers says so.
                .gzip(false)
                // Nothing is sent a second time behind our back.
                .retry(retry::never())
                .dns_resolver(HostNames)
                .pool_idle_timeout(Duration::from_secs(20))
                .pool_max_idle_per_host(8),
        )
    };
    let client = builder().build().or_else(|error| {
        // A machine without any root certificate still reaches others over plain http; https fails, each time with its reason.
        tracing::warn!("https {peers} cannot be reached: {}", cause(&error));
        builder().tls_certs_only([]).build()
    });
    client.map_err(|error| format!("the HTTP client cannot be set up: {}", cause(&error)))
}
