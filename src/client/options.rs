//! What a client is made with: where the service is, how one is known there, how long things may take.

use std::net::IpAddr;
use std::time::Duration;

use url::{Host, Url};

use crate::domain::time::SharedClock;
use crate::domain::{AlertId, Secret};
use crate::wire::Dialect;
use crate::wire::query::COMPANY_PARAMETER;

/// Why there is no client; fit to be shown, and without any secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ClientError(pub String);

/// How one is known to the service (interface, Authentication).
#[derive(Debug, Clone)]
pub enum Credential {
    /// `X-API-KEY`.
    ApiKey(Secret),
    /// Bearer tokens from `POST {base}/auth/token`.
    ClientCredentials {
        /// `client_id`.
        id: String,
        /// `client_secret`.
        secret: Secret,
    },
}

/// How long to wait before what is tried again; a list that is empty means that nothing is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pauses {
    /// Before each further try of a read.
    pub reads: Vec<Duration>,
    /// The longest wait that a service can ask for; when it asks for more, its refusal is what is told.
    pub longest_asked: Duration,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { reads: [250, 1_000].map(Duration::from_millis).into(), longest_asked: Duration::from_secs(5) }
    }
}

/// What a client is made with.
#[derive(Clone)]
pub struct ClientOptions {
    /// `{base_url}` of the interface: `https://alerts.example.com`, with or without a path; the version prefix is added to it.
    pub base_url: String,
    /// Which of the two variants the service speaks. Never found out by trying.
    pub dialect: Dialect,
    /// How one is known there.
    pub credential: Credential,
    /// A key with the scope `operator`, for what avert's own engine offers beyond the interface.
    pub operator_key: Option<Secret>,
    /// The service's name for its company filter.
    pub company_parameter: String,
    /// Whether plain http may leave this machine, where others can read credentials and alerts on the way.
    pub insecure_http: bool,
    /// How long a connection may take.
    pub connect_timeout: Duration,
    /// How long a read may take in all.
    pub read_timeout: Duration,
    /// How long a decision may take in all, before it is given up.
    pub write_timeout: Duration,
    /// How long to wait before what is tried again.
    pub pauses: Pauses,
    /// The present moment, by which tokens expire.
    pub clock: SharedClock,
}

impl ClientOptions {
    /// Everything else at its default.
    pub fn new(base_url: impl Into<String>, dialect: Dialect, credential: Credential, clock: SharedClock) -> Self {
        Self {
            base_url: base_url.into(),
            dialect,
            credential,
            operator_key: None,
            company_parameter: COMPANY_PARAMETER.to_owned(),
            insecure_http: false,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(20),
            // An engine may wait 15 s for another's resolution and 10 s for its provider, with a look-up after it.
            write_timeout: Duration::from_secs(45),
            pauses: Pauses::default(),
            clock,
        }
    }
}

/// The checked base URL, and the addresses below it.
#[derive(Debug, Clone)]
pub(super) struct Base {
    url: Url,
    /// The base without a slash at its end.
    text: String,
}

/// The interface's path prefix.
const PREFIX: &str = "/api/v1";

impl Base {
    pub(super) fn of(text: &str, insecure_http: bool) -> Result<Self, ClientError> {
        let refuse = |why: &str| Err(ClientError(format!("the base URL {why}")));
        let Ok(mut url) = Url::parse(text.trim()) else {
            return refuse("is no address such as https://alerts.example.com");
        };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return refuse("must begin with https:// (or http:// on this machine)");
        }
        if !url.username().is_empty() || url.password().is_some() {
            return refuse("must hold no user name or password: the credential is given apart from it");
        }
        if url.query().is_some() || url.fragment().is_some() {
            return refuse("must hold no query and no fragment");
        }
        // Whoever copies an address from a page of reference copies the prefix with it.
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(PREFIX).unwrap_or(path).to_owned();
        url.set_path(&path);
        let base = Self { text: url.as_str().trim_end_matches('/').to_owned(), url };
        if base.url.scheme() == "http" && !base.is_loopback() && !insecure_http {
            return refuse("is plain http beyond this machine, where others can read credentials and alerts on the way: use https");
        }
        Ok(base)
    }

    /// Whether the service is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        match self.url.host() {
            Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => IpAddr::V6(address).to_canonical().is_loopback(),
            None => false,
        }
    }

    pub(super) fn host(&self) -> String {
        let host = self.url.host_str().unwrap_or_default();
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    pub(super) fn alerts(&self, query: &str) -> String {
        format!("{}{PREFIX}/alerts?{query}", self.text)
    }

    pub(super) fn alert(&self, id: AlertId) -> String {
        format!("{}{PREFIX}/alerts/{id}", self.text)
    }

    pub(super) fn resolution(&self, id: AlertId) -> String {
        format!("{}{PREFIX}/alerts/{id}/resolution", self.text)
    }

    pub(super) fn outcome(&self, id: AlertId) -> String {
        format!("{}{PREFIX}/alerts/{id}/outcome", self.text)
    }

    /// One of avert's own routes, below `/operator/v1`.
    pub(super) fn operator(&self, path: &str) -> String {
        format!("{}/operator/v1{path}", self.text)
    }

    pub(super) fn token(&self) -> String {
        format!("{}/auth/token", self.text)
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
    if fits { Ok(()) } else { Err(ClientError(format!("{what} must be 1 to 4096 visible ASCII characters, without blanks"))) }
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
        assert_eq!(Base::of(base, false).unwrap().token(), token);
    }

    #[rstest]
    #[case("alerts.example.com", "no address")]
    #[case("ftp://alerts.example.com", "https://")]
    #[case("file:///etc", "https://")]
    #[case("https://user:pass@alerts.example.com", "user name")]
    #[case("https://alerts.example.com/?key=1", "query")]
    #[case("https://alerts.example.com/#a", "fragment")]
    #[case("http://alerts.example.com", "plain http")]
    #[case("http://10.0.0.1", "plain http")]
    #[case("http://localhost.example.com", "plain http")]
    #[case("http://127.0.0.1.example.com", "plain http")]
    fn a_base_that_cannot_be_used_or_is_not_safe_is_refused(#[case] base: &str, #[case] words: &str) {
        let ClientError(error) = Base::of(base, false).unwrap_err();

        assert!(error.contains(words) && !error.contains("pass@"), "{error}");
    }

    #[test]
    fn plain_http_beyond_this_machine_is_a_choice() {
        assert!(Base::of("http://10.0.0.1", true).is_ok());
    }
}
