//! One call to a gateway and its answer: bounded, made once, and always known whether it may have been sent.

use std::time::Duration;

use reqwest::{
    Method, RequestBuilder,
    header::{ACCEPT, HeaderName, HeaderValue},
};

use crate::{
    domain::{CaCertificates, EndpointAuth, redact},
    outbound::{
        body::{self, Unread},
        client::HttpClient,
        credential,
        handshake::cause,
        reason::Reason,
    },
    providers::Cause,
    trace,
};

/// The longest that a connection may take to come about.
const LONGEST_CONNECT: Duration = Duration::from_secs(5);

/// An HTTP answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatewayAnswer {
    pub(super) status: u16,
    /// Body without our own credential, should the gateway have echoed it. Empty where it broke off, except of a
    /// refusal.
    pub(super) body: String,
}

/// Reason of a call without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// The call was not sent: no name, no connection, no TLS.
    NotSent(String),
    /// Sent, or maybe sent: no answer in time, or the connection broke.
    Lost(Cause),
    /// Sent, and the answer is too large.
    TooLarge(usize),
}

impl From<Reason> for Unanswered {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Timeout(limit) => Self::Lost(Cause::TimedOut(limit)),
            Reason::Broken(how) | Reason::CutShort(how) => Self::Lost(Cause::Broken(how)),
            not_sent => Self::NotSent(not_sent.to_string()),
        }
    }
}

/// An HTTP client for one gateway.
pub(super) struct Transport {
    http: HttpClient,
    timeout: Duration,
    connect_timeout: Duration,
    header: Option<(HeaderName, HeaderValue)>,
    /// Secrets to redact where an answer repeats them.
    secrets: Vec<String>,
}

impl std::fmt::Debug for Transport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Transport").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl Transport {
    pub(super) fn new(auth: Option<&EndpointAuth>, trusted: CaCertificates, timeout: Duration) -> Result<Self, String> {
        let connect_timeout = (timeout / 2).min(LONGEST_CONNECT);
        let http =
            HttpClient::new(trusted.into(), None, |builder| builder.connect_timeout(connect_timeout).timeout(timeout))?;
        let header = auth.map(credential::header).transpose()?;
        Ok(Self {
            http,
            timeout,
            connect_timeout,
            header,
            secrets: auth.map(credential::secrets).into_iter().flatten().collect(),
        })
    }

    /// A call with our credential, to be made once within a trace.
    pub(super) fn call(&self, method: Method, url: String, trace: &str) -> RequestBuilder {
        let call = self.http.client.request(method, url).header(ACCEPT, "application/json");
        call.headers(self.header.iter().cloned().chain(trace::header(trace)).collect())
    }

    /// Makes a call once; at most so many bytes of a good answer are read.
    pub(super) async fn make(&self, call: RequestBuilder, most: usize) -> Result<GatewayAnswer, Unanswered> {
        let request =
            call.build().map_err(|error| Unanswered::NotSent(format!("the call cannot be made: {}", cause(&error))))?;
        let why = |error| self.http.reason(&error, self.connect_timeout, self.timeout);
        let mut response = self.http.client.execute(request).await.map_err(why)?;
        let body = body::whole(&mut response, most).await.map_err(|unread| match unread {
            Unread::TooLarge => Unanswered::TooLarge(most),
            Unread::Broken(error) => why(error).into(),
        })?;
        let body = redact::secrets(String::from_utf8_lossy(&body.bytes).into_owned(), &self.secrets);
        Ok(GatewayAnswer { status: response.status().as_u16(), body })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Secret;

    #[test]
    fn what_is_shown_of_a_transport_holds_no_credential() {
        let auth = EndpointAuth::Header { name: "Authorization".to_owned(), value: Secret::new("Bearer tok-abcdef") };
        let transport = Transport::new(Some(&auth), CaCertificates::default(), Duration::from_secs(1)).unwrap();

        assert!(!format!("{transport:?} {:?}", transport.header).contains("abcdef"));
    }
}
