//! Webhook endpoints, deliveries and delivery attempts, and what may be changed about an endpoint.

use chrono::TimeDelta;

use super::closed_enum::closed_enum;
use super::resolution::FieldError;
use super::secret::Secret;
use super::time::Timestamp;
use super::url::{EndpointUrl, PlainHttp};
use super::{AlertId, DeliveryId, EndpointId, EventId, EventKind};
use super::{endpoint, signing};

/// How an endpoint knows that it is us (interface, Events).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndpointAuth {
    /// `Authorization: Basic`.
    Basic {
        /// User name; no colon in it.
        username: String,
        /// Password.
        password: Secret,
    },
    /// A header of the endpoint's own choice.
    Header {
        /// Header name.
        name: String,
        /// Header value.
        value: Secret,
    },
}

impl EndpointAuth {
    /// What is wrong with it, where it could not be sent. No error repeats it.
    fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Basic { username, password } => endpoint::valid_basic(username, password.reveal()),
            Self::Header { name, value } => endpoint::valid_header(name, value.reveal()),
        }
    }
}

/// A webhook endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// Where to.
    pub url: EndpointUrl,
    /// How it knows us.
    pub auth: EndpointAuth,
    /// What deliveries are signed with (`whsec_…`); nothing where they are not signed.
    pub signing: Option<Secret>,
}

impl NewEndpoint {
    /// The endpoint at an address, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn parse(url: &str, plain_http: PlainHttp, auth: EndpointAuth, signing: Option<Secret>) -> Result<Self, Vec<FieldError>> {
        let url = EndpointUrl::parse(url, plain_http).map_err(FieldError::from);
        let parts = [auth.check(), signing.as_ref().map_or(Ok(()), valid_secret)];
        match (url, all_right(parts)) {
            (Ok(url), Ok(())) => Ok(Self { url, auth, signing }),
            (url, parts) => Err(url.err().into_iter().chain(parts.err().into_iter().flatten()).collect()),
        }
    }

    /// All that is wrong with it, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        all_right([self.auth.check(), self.signing.as_ref().map_or(Ok(()), valid_secret)])
    }
}

fn valid_secret(secret: &Secret) -> Result<(), FieldError> {
    signing::key_of(secret.reveal()).map(drop)
}

fn all_right(parts: impl IntoIterator<Item = Result<(), FieldError>>) -> Result<(), Vec<FieldError>> {
    let wrong: Vec<FieldError> = parts.into_iter().filter_map(Result::err).collect();
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

/// A webhook endpoint as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Identifier.
    pub id: EndpointId,
    /// Where to.
    pub url: EndpointUrl,
    /// `Basic` or the header's name; never its value.
    pub auth: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// Since when it gets nothing any more, and why.
    pub disabled: Option<(Timestamp, String)>,
    /// Since when every try has failed; nothing while it answers or nothing was sent.
    pub failing_since: Option<Timestamp>,
    /// Whether what it gets is signed.
    pub signed: bool,
    /// Until when an old secret signs along with the one that took its place.
    pub old_secret_until: Option<Timestamp>,
}

/// What is to change about an endpoint; what is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointChange {
    /// Where to from now on.
    pub url: Option<EndpointUrl>,
    /// A new credential.
    pub auth: Option<EndpointAuth>,
    /// Whether anything is sent there.
    pub enabled: Option<bool>,
    /// What deliveries are signed with from now on.
    pub signing: Option<SigningChange>,
}

impl EndpointChange {
    /// All that is wrong with what is to change, field by field. No error repeats a credential.
    pub fn check(&self) -> Result<(), Vec<FieldError>> {
        let (secret, overlap) = match &self.signing {
            Some(SigningChange::Rotate { secret, overlap }) => (Some(secret), Some(*overlap)),
            Some(SigningChange::Stop) | None => (None, None),
        };
        let parts = [self.auth.as_ref().map(EndpointAuth::check), secret.map(valid_secret), overlap.map(signing::valid_overlap)];
        all_right(parts.into_iter().flatten())
    }
}

impl EndpointChange {
    /// What of it changes this endpoint: a part that is as it is already is left out.
    pub fn of(self, endpoint: &Endpoint) -> Self {
        let (url, enabled) = (self.url.filter(|url| *url != endpoint.url), self.enabled);
        Self { url, enabled: enabled.filter(|enabled| *enabled == endpoint.disabled.is_some()), ..self }
    }
}

/// What is to change about the signatures of an endpoint's deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SigningChange {
    /// Sign with this secret; those before it sign along for so long.
    Rotate {
        /// The new secret, `whsec_…`.
        secret: Secret,
        /// Between none and 30 days.
        overlap: TimeDelta,
    },
    /// Sign nothing any more.
    Stop,
}

closed_enum! {
    /// State of a delivery (reliability, The outbox).
    pub enum DeliveryState {
        /// Waits for its time.
        Pending = "pending",
        /// Being tried right now.
        Leased = "leased",
        /// The receiver took it.
        Delivered = "delivered",
        /// Every try failed.
        Exhausted = "exhausted",
        /// Given up because its endpoint is gone or disabled.
        Cancelled = "cancelled",
    }
}

/// One event on its way to one endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Identifier.
    pub id: DeliveryId,
    /// The event; its id is the `webhook-id`.
    pub event: EventId,
    /// What happened.
    pub kind: EventKind,
    /// To which alert; the nil UUID where it is a test.
    pub alert: AlertId,
    /// Whether an operator asked for it to try the endpoint out.
    pub test: bool,
    /// Where to.
    pub endpoint: EndpointId,
    /// The endpoint's address.
    pub url: String,
    /// Where it is.
    pub state: DeliveryState,
    /// Tries so far.
    pub attempts: u32,
    /// When it is tried next, while it waits.
    pub due: Option<Timestamp>,
    /// What the last try came to: a status code or an error, in words.
    pub last_result: Option<String>,
    /// When the receiver took it.
    pub delivered_at: Option<Timestamp>,
}

/// Which deliveries are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryFilter {
    /// In one of these states; empty for any.
    pub states: Vec<DeliveryState>,
    /// To this endpoint.
    pub endpoint: Option<EndpointId>,
    /// Of this alert.
    pub alert: Option<AlertId>,
    /// Of this event.
    pub event: Option<EventId>,
    /// Of this kind of event.
    pub kind: Option<EventKind>,
    /// Older than this delivery: where the page before ended.
    pub after: Option<DeliveryId>,
    /// At most so many, 1 or more.
    pub size: u32,
}

impl Default for DeliveryFilter {
    fn default() -> Self {
        Self { states: Vec::new(), endpoint: None, alert: None, event: None, kind: None, after: None, size: 10 }
    }
}

/// A page of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryPage {
    /// Newest first.
    pub data: Vec<Delivery>,
    /// What to ask the next page with; `None` on the last one.
    pub next: Option<DeliveryId>,
}

/// A delivery and its tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryLog {
    /// The delivery.
    pub delivery: Delivery,
    /// The body, byte for byte the same in every try.
    pub body: String,
    /// Its tries, oldest first.
    pub tries: Vec<DeliveryTry>,
}

/// One try to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryTry {
    /// Which one; 1-based.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The answer's status, where one came.
    pub status: Option<u16>,
    /// Why no answer came, in words.
    pub error: Option<String>,
    /// The beginning of the answer.
    pub answer: String,
    /// What was sent; nothing where no request could be made.
    pub sent: Option<SentRequest>,
}

/// A request as it was sent, without its body (which is the event's) and with the endpoint's credential masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// The address.
    pub url: String,
    /// Headers with their values.
    pub headers: Vec<(String, String)>,
}
