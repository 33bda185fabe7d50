//! Posting a received delivery on to another URL: with retries when it is forwarded as it comes, once when a recording
//! is replayed.

use std::{sync::Arc, time::Duration};

use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::recording::RecordedDelivery;
use crate::{
    domain::{CaCertificates, EndpointAuth, FieldError, Secret, signing, time::SharedClock, url::EndpointUrl},
    outbound::{client::HttpClient, credential, handshake::cause, proxy::Proxy},
};

/// Longest time for a post in all.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Most deliveries that may wait to be forwarded; more are answered 503, so that their sender retries.
const MOST_WAITING: usize = 256;

/// Most forwards at once.
const AT_ONCE: usize = 8;

/// The HTTP client of received deliveries: a URL and a credential of its own.
#[derive(Debug, Clone)]
pub struct Reposter {
    http: HttpClient,
    url: EndpointUrl,
    auth: Option<EndpointAuth>,
}

impl Reposter {
    /// Builds one for this URL, with this credential where it asks for one. Where certificates are named, no others are
    /// trusted there.
    ///
    /// # Errors
    /// When this machine cannot have an HTTP client; the text says why.
    pub fn new(url: EndpointUrl, auth: Option<EndpointAuth>, trusted: CaCertificates) -> Result<Self, String> {
        let http = HttpClient::new(trusted.into(), Proxy::towards(url.as_url()), |builder| builder.timeout(TIMEOUT))?;
        Ok(Self { http, url, auth })
    }

    /// Posts a delivery's bytes once, with its type and webhook headers, and returns the status of the answer.
    ///
    /// # Errors
    /// When no answer came; the text says why, in words for a user.
    pub async fn post(&self, delivery: &RecordedDelivery) -> Result<u16, String> {
        let mut headers = HeaderMap::new();
        headers.extend(self.auth.as_ref().map(credential::header).transpose()?);
        let webhook = [
            (CONTENT_TYPE, &delivery.content_type),
            (CONTENT_ENCODING, &delivery.content_encoding),
            (HeaderName::from_static("webhook-id"), &delivery.webhook_id),
            (HeaderName::from_static("webhook-timestamp"), &delivery.webhook_timestamp),
            (HeaderName::from_static("webhook-signature"), &delivery.webhook_signature),
        ];
        for (name, value) in webhook {
            let Some(value) = value else { continue };
            let value = HeaderValue::from_str(value).map_err(|_| format!("its {name} cannot be sent in a header"))?;
            headers.insert(name, value);
        }
        let request =
            self.http.client.post(self.url.as_url().clone()).headers(headers).body(delivery.body.clone()).build();
        let request = request.map_err(|error| format!("the request cannot be made: {}", cause(&error)))?;
        match self.http.client.execute(request).await {
            Ok(response) => Ok(response.status().as_u16()),
            Err(error) => Err(self.http.reason(&error, TIMEOUT, TIMEOUT).to_string()),
        }
    }
}

/// The replayer of recorded deliveries: each is posted once, signed anew where there is a secret for it.
#[derive(Clone)]
pub struct Replayer {
    reposter: Reposter,
    secret: Option<Secret>,
    clock: SharedClock,
}

impl Replayer {
    /// Builds one that posts by this reposter.
    ///
    /// # Errors
    /// When the secret cannot sign.
    pub fn new(reposter: Reposter, secret: Option<Secret>, clock: SharedClock) -> Result<Self, FieldError> {
        if let Some(secret) = &secret {
            signing::key_of(secret.reveal())?;
        }
        Ok(Self { reposter, secret, clock })
    }

    /// Posts a delivery. What was sent, and the status of the answer or why none came.
    pub async fn replay(&self, delivery: RecordedDelivery) -> (RecordedDelivery, Result<u16, String>) {
        let sent = match &self.secret {
            Some(secret) => delivery.clone().signed_anew(secret, self.clock.now()),
            None => Ok(delivery.clone()),
        };
        match sent {
            Ok(sent) => {
                let result = self.reposter.post(&sent).await;
                (sent, result)
            }
            Err(error) => (delivery, Err(format!("it cannot be signed: the secret {}", error.message))),
        }
    }
}

/// Checks that a status says that a delivery was taken (2xx).
pub fn is_taken(status: u16) -> bool {
    (200..300).contains(&status)
}

/// The forwarder of a receiver: three attempts of each delivery, each of them logged.
#[derive(Debug, Clone)]
pub struct Forwarder {
    reposter: Reposter,
    pauses: [Duration; 2],
    waiting: Arc<Semaphore>,
    at_once: Arc<Semaphore>,
}

impl Forwarder {
    /// Builds a forwarder with these pauses between its attempts.
    pub fn new(reposter: Reposter, pauses: [Duration; 2]) -> Self {
        Self {
            reposter,
            pauses,
            waiting: Arc::new(Semaphore::new(MOST_WAITING)),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// A place for one more delivery; nothing where too many wait.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.waiting).try_acquire_owned().ok()
    }

    /// Posts a delivery until it is taken, three times at most. What came of the last attempt.
    pub(super) async fn forward(&self, delivery: &RecordedDelivery) -> Result<u16, String> {
        let _turn = self.at_once.acquire().await;
        for (attempt, pause) in (1..).zip(self.pauses) {
            let result = self.attempt(delivery, attempt).await;
            if matches!(result, Ok(status) if is_taken(status)) {
                return result;
            }
            tokio::time::sleep(pause).await;
        }
        self.attempt(delivery, self.pauses.len() + 1).await
    }

    async fn attempt(&self, delivery: &RecordedDelivery, attempt: usize) -> Result<u16, String> {
        let (webhook_id, to) = (delivery.webhook_id.as_deref().unwrap_or_default(), &self.reposter.url);
        let result = self.reposter.post(delivery).await;
        match &result {
            Ok(status) if is_taken(*status) => tracing::info!(webhook_id, %to, attempt, status, "forwarded"),
            Ok(status) => tracing::warn!(webhook_id, %to, attempt, status, "not forwarded: it was not taken"),
            Err(error) => tracing::warn!(webhook_id, %to, attempt, "not forwarded: {error}"),
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::url::PlainHttp;

    #[tokio::test]
    async fn so_many_deliveries_wait_and_one_more_only_when_another_has_gone() {
        let url = EndpointUrl::parse("http://127.0.0.1:9/", PlainHttp::Allowed).unwrap();
        let forwarder =
            Forwarder::new(Reposter::new(url, None, CaCertificates::default()).unwrap(), [Duration::ZERO; 2]);
        let mut waiting: Vec<_> = std::iter::from_fn(|| forwarder.place()).take(10 * MOST_WAITING).collect();

        assert_eq!(waiting.len(), MOST_WAITING);
        assert!(forwarder.clone().place().is_none(), "they are counted together");
        waiting.pop();
        assert!(forwarder.place().is_some());
    }
}
