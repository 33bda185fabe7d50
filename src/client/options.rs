//! Configuration of a client: base URL, authentication, timeouts.

use std::time::Duration;

use crate::{
    domain::{AlertId, Secret, time::SharedClock, url::BaseUrl},
    outbound::tls::TlsFiles,
    wire::{Dialect, query::COMPANY_PARAMETER},
};

/// A client error; fit to be shown, and without any secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClientError(pub String);

/// Authentication at the service: an API key, or client credentials for a bearer token.
#[derive(Debug, Clone)]
pub enum AccessCredential {
    /// `X-API-KEY`.
    ApiKey(Secret),
    /// Bearer tokens from `POST {base}/auth/token`.
    ClientCredentials { id: String, secret: Secret },
}

/// Retry gaps; an empty list means no retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses {
    /// Pause before each further attempt of a read.
    pub reads: Vec<Duration>,
    /// The longest wait that a service can ask for; when it asks for more, its refusal is what is told.
    pub longest_asked: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { reads: [250, 1_000].map(Duration::from_millis).into(), longest_asked: Duration::from_secs(5) }
    }
}

/// Configuration of a client.
#[derive(Clone)]
pub struct ClientOptions {
    /// `{base_url}` of the interface: `https://alerts.example.com`, with or without a path; the version prefix is added
    /// to it.
    pub base_url: BaseUrl,
    /// Dialect that the service speaks. Never found out by trying.
    pub dialect: Dialect,
    /// Credential of the caller there.
    pub credential: AccessCredential,
    /// A key with the scope `operator`, for what avert's own engine offers beyond the interface.
    pub operator_key: Option<Secret>,
    /// Name of the person at work. Sent to an avert alone, which writes it beside the credential in its audit log.
    pub person: Option<String>,
    /// The service's name for its company filter.
    pub company_parameter: String,
    /// Files of the trusted authorities and of the client's certificate.
    pub tls: TlsFiles,
    pub connect_timeout: Duration,
    /// Longest time for a read in all.
    pub read_timeout: Duration,
    /// Longest time for a decision in all; over it the call counts as unanswered.
    pub write_timeout: Duration,
    /// Pauses before retries.
    pub pauses: Pauses,
    /// The present moment, by which tokens expire.
    pub clock: SharedClock,
}

impl ClientOptions {
    /// Options at their defaults, but for these.
    pub fn new(base_url: BaseUrl, dialect: Dialect, credential: AccessCredential, clock: SharedClock) -> Self {
        Self {
            base_url,
            dialect,
            credential,
            operator_key: None,
            person: None,
            company_parameter: COMPANY_PARAMETER.to_owned(),
            tls: TlsFiles::default(),
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(20),
            // An engine may wait 15 s for another's resolution and 10 s for its provider, with a look-up after it.
            write_timeout: Duration::from_secs(45),
            pauses: Pauses::default(),
            clock,
        }
    }
}

/// The addresses below a base URL.
#[derive(Debug, Clone)]
pub(super) struct Base(String);

/// The interface's path prefix.
const PREFIX: &str = "/api/v1";

impl Base {
    pub(super) fn of(url: &BaseUrl) -> Self {
        // Whoever copies an address from a page of reference copies the prefix with it.
        let text = url.as_str();
        Self(text.strip_suffix(PREFIX).unwrap_or(text).trim_end_matches('/').to_owned())
    }

    pub(super) fn alerts(&self, query: &str) -> String {
        format!("{}{PREFIX}/alerts?{query}", self.0)
    }

    pub(super) fn alert(&self, id: AlertId) -> String {
        format!("{}{PREFIX}/alerts/{id}", self.0)
    }

    pub(super) fn resolution(&self, id: AlertId) -> String {
        format!("{}/resolution", self.alert(id))
    }

    pub(super) fn outcome(&self, id: AlertId) -> String {
        format!("{}/outcome", self.alert(id))
    }

    /// One of avert's own routes, below `/operator/v1`.
    pub(super) fn operator(&self, path: &str) -> String {
        format!("{}/operator/v1{path}", self.0)
    }

    /// Address of the readiness check.
    pub(super) fn ready(&self) -> String {
        format!("{}/ready", self.0)
    }

    pub(super) fn token(&self) -> String {
        format!("{}/auth/token", self.0)
    }
}

/// The public id in the text of one of avert's API keys, `avk_<live|test>_<id>_<secret>`.
pub(super) fn key_id(key: &str) -> Option<&str> {
    let mut parts = key.split('_');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some("avk"), Some("live" | "test"), Some(id), Some(_)) if !id.is_empty() => Some(id),
        _ => None,
    }
}

/// Refuses what a header cannot carry, without repeating it.
pub(super) fn check_header(what: &str, value: &str) -> Result<(), ClientError> {
    let fits = !value.is_empty() && value.len() <= 4_096 && value.bytes().all(|byte| byte.is_ascii_graphic());
    if fits {
        Ok(())
    } else {
        Err(ClientError(format!("{what} must be 1 to 4096 visible ASCII characters, without blanks")))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("https://alerts.example.com", "https://alerts.example.com/auth/token")]
    #[case("https://alerts.example.com/", "https://alerts.example.com/auth/token")]
    #[case("https://alerts.example.com/sandbox/", "https://alerts.example.com/sandbox/auth/token")]
    #[case("https://alerts.example.com/sandbox/api/v1/", "https://alerts.example.com/sandbox/auth/token")]
    #[case(" http://127.0.0.1:7317 ", "http://127.0.0.1:7317/auth/token")]
    #[case("http://localhost:7317", "http://localhost:7317/auth/token")]
    #[case("http://[::1]:7317", "http://[::1]:7317/auth/token")]
    #[case("http://2130706433", "http://127.0.0.1/auth/token")]
    fn addresses_are_made_below_the_base(#[case] base: &str, #[case] token: &str) {
        assert_eq!(Base::of(&base.parse().unwrap()).token(), token);
    }
}
