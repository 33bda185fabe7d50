//! One call to a gateway and its answer: bounded, made once, and always known whether it may have been sent.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder, Method, Response, redirect, retry};

use super::Credential;
use crate::outbound::{beginning, innermost};

/// The longest that a connection may take to come about.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);
/// Most bytes of a refusal that are looked at.
const MAX_REFUSAL: usize = 64 * 1024;
/// Shorter secrets would blot out half of every answer, and guard nothing.
const SHORTEST_SECRET: usize = 4;

/// A call, to be made once.
pub(super) struct Call {
    method: Method,
    url: String,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
    wrong: Option<String>,
}

impl Call {
    pub(super) fn new(method: Method, url: String) -> Self {
        Self { method, url, headers: HeaderMap::new(), body: None, wrong: None }
    }

    pub(super) fn header(mut self, name: HeaderName, value: String) -> Self {
        match HeaderValue::try_from(value) {
            Ok(value) => {
                self.headers.insert(name, value);
            }
            Err(_) => self.wrong = Some(format!("the header {name} cannot be sent")),
        }
        self
    }

    pub(super) fn json(mut self, body: Vec<u8>) -> Self {
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.body = Some(body);
        self
    }
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Without our own credential, should the gateway have echoed it. Where it broke off: empty, except of a refusal.
    pub(super) body: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// The call was not sent: no name, no connection, no TLS.
    NotSent(String),
    /// It was sent, or may have been: no answer in time, or the connection broke; in words.
    Lost(String),
    /// It was sent, and its answer is too large.
    TooLarge(usize),
}

/// The connections to one gateway.
pub(super) struct Line {
    client: Client,
    timeout: Duration,
    connect_timeout: Duration,
    credential: Carried,
}

/// A credential as calls carry it.
#[derive(Default)]
struct Carried {
    header: Option<(HeaderName, HeaderValue)>,
    /// What of it must not come back in words.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Line {
    pub(super) fn new(credential: &Credential, timeout: Duration) -> Result<Self, String> {
        let connect_timeout = (timeout / 2).min(LONGEST_CONNECT);
        let client = builder(connect_timeout, timeout).build().or_else(|error| {
            // A machine without any root certificate still reaches gateways over plain http; https fails, with its reason.
            tracing::warn!("https gateways cannot be reached: {}", innermost(&error));
            builder(connect_timeout, timeout).tls_certs_only([]).build()
        });
        let client = client.map_err(|error| format!("the HTTP client cannot be set up: {}", innermost(&error)))?;
        let credential = carried(credential)?;
        Ok(Self { client, timeout, connect_timeout, credential })
    }

    /// Makes a call once; at most so many bytes of a good answer are read.
    pub(super) async fn make(&self, call: Call, most: usize) -> Result<Answer, NoAnswer> {
        let Call { method, url, mut headers, body, wrong } = call;
        if let Some(wrong) = wrong {
            return Err(NoAnswer::NotSent(wrong));
        }
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        if let Some((name, value)) = &self.credential.header {
            headers.insert(name, value.clone());
        }
        let request = self.client.request(method, url).headers(headers);
        let request = match body {
            Some(body) => request.body(body),
            None => request,
        };
        let request = request.build().map_err(|error| NoAnswer::NotSent(format!("the call cannot be made: {}", innermost(&error))))?;
        let mut response = self.client.execute(request).await.map_err(|error| self.why(&error))?;
        let status = response.status().as_u16();
        let body =
            if response.status().is_success() { self.body(response, most).await? } else { beginning(&mut response, MAX_REFUSAL).await };
        Ok(Answer { status, body: self.without_secrets(&body) })
    }

    async fn body(&self, mut response: Response, most: usize) -> Result<Vec<u8>, NoAnswer> {
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > most => return Err(NoAnswer::TooLarge(most)),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(error) => return Err(self.why(&error)),
            }
        }
    }

    /// What a failure means. reqwest's own words hold the whole address; the innermost cause does not.
    fn why(&self, error: &reqwest::Error) -> NoAnswer {
        let cause = innermost(error);
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => NoAnswer::NotSent(format!("no connection within {} s", self.connect_timeout.as_secs_f64())),
            (true, false) if error.is_dns() => NoAnswer::NotSent(format!("its name cannot be resolved: {cause}")),
            (true, false) => NoAnswer::NotSent(format!("no connection: {cause}")),
            (false, true) => NoAnswer::Lost(format!("no answer within {} s", self.timeout.as_secs_f64())),
            (false, false) => NoAnswer::Lost(format!("the connection broke before an answer came: {cause}")),
        }
    }

    fn without_secrets(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        self.credential
            .secrets
            .iter()
            .fold(text.into_owned(), |text, secret| if text.contains(secret) { text.replace(secret, "****") } else { text })
    }
}

fn builder(connect_timeout: Duration, timeout: Duration) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("avert/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(connect_timeout)
        .timeout(timeout)
        .redirect(redirect::Policy::none())
        .referer(false)
        // Nothing is sent a second time behind our back.
        .retry(retry::never())
        .no_proxy()
        .pool_idle_timeout(Duration::from_secs(20))
        .pool_max_idle_per_host(8)
}

fn carried(credential: &Credential) -> Result<Carried, String> {
    let (name, value, secrets) = match credential {
        Credential::None => return Ok(Carried::default()),
        Credential::Basic { username, password } => {
            let encoded = BASE64_STANDARD.encode(format!("{username}:{}", password.reveal()));
            (AUTHORIZATION, format!("Basic {encoded}"), vec![encoded, password.reveal().to_owned()])
        }
        Credential::Bearer(token) => (AUTHORIZATION, format!("Bearer {}", token.reveal()), vec![token.reveal().to_owned()]),
        Credential::Header { name, value } => {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| "the credential's header has a name that cannot be sent")?;
            let value = value.reveal();
            // `Token abc`: the scheme is no secret, what follows it is.
            let bare = value.rsplit(' ').next().unwrap_or(value);
            (name, value.to_owned(), vec![value.to_owned(), bare.to_owned()])
        }
    };
    let mut value = HeaderValue::try_from(value).map_err(|_| "the credential cannot be sent in a header")?;
    value.set_sensitive(true);
    let secrets = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST_SECRET).collect();
    Ok(Carried { header: Some((name, value)), secrets })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::Secret;

    fn line(credential: &Credential) -> Line {
        Line::new(credential, Duration::from_secs(1)).unwrap()
    }

    #[rstest]
    #[case(Credential::Basic { username: "desk".to_owned(), password: Secret::new("hunter22") }, "no: hunter22, ZGVzazpodW50ZXIyMg==", "no: ****, ****")]
    #[case(Credential::Bearer(Secret::new("tok-abcdef")), "wrong token tok-abcdef", "wrong token ****")]
    #[case(Credential::Header { name: "X-Key".to_owned(), value: Secret::new("Key abcdef") }, "wrong key abcdef", "wrong key ****")]
    #[case(Credential::Header { name: "X-Key".to_owned(), value: Secret::new("a") }, "banana", "banana")]
    fn a_credential_that_a_gateway_echoes_is_blotted_out(#[case] credential: Credential, #[case] echoed: &str, #[case] kept: &str) {
        assert_eq!(line(&credential).without_secrets(echoed.as_bytes()), kept);
    }

    #[test]
    fn what_is_shown_of_a_line_holds_no_credential() {
        let line = line(&Credential::Bearer(Secret::new("tok-abcdef")));

        assert!(!format!("{line:?} {:?}", line.credential.header).contains("abcdef"));
    }
}
