//! Webhook endpoints, deliveries and delivery attempts, and what may be changed about an endpoint.

use chrono::TimeDelta;

use super::resolution::FieldError;
use super::secret::Secret;
use super::time::Timestamp;
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

/// A webhook endpoint to add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEndpoint {
    /// `http` or `https` address.
    pub url: String,
    /// How it knows us.
    pub auth: EndpointAuth,
    /// What deliveries are signed with (`whsec_…`); nothing where they are not signed.
    pub signing: Option<Secret>,
}

impl NewEndpoint {
    /// The endpoint with its address in normal form, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn validate(self) -> Result<Self, Vec<FieldError>> {
        let url = endpoint::valid_url(&self.url);
        let auth = match &self.auth {
            EndpointAuth::Basic { username, password } => endpoint::valid_basic(username, password.reveal()),
            EndpointAuth::Header { name, value } => endpoint::valid_header(name, value.reveal()),
        };
        let secret = self.signing.as_ref().map_or(Ok(()), |secret| signing::key_of(secret.reveal()).map(drop));
        match (url, auth, secret) {
            (Ok(url), Ok(()), Ok(())) => Ok(Self { url, ..self }),
            (url, auth, secret) => Err(url.err().into_iter().chain(auth.err()).chain(secret.err()).collect()),
        }
    }
}

/// A webhook endpoint as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Identifier.
    pub id: EndpointId,
    /// Address.
    pub url: String,
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
    /// A new address.
    pub url: Option<String>,
    /// A new credential.
    pub auth: Option<EndpointAuth>,
    /// Whether anything is sent there.
    pub enabled: Option<bool>,
    /// What deliveries are signed with from now on.
    pub signing: Option<SigningChange>,
}

impl EndpointChange {
    /// The change with its address in normal form, or all that is wrong with it, field by field. No error repeats a credential.
    pub fn validate(self) -> Result<Self, Vec<FieldError>> {
        // A part that stays is checked as one that is known to be right.
        let url = self.url.clone().unwrap_or_else(|| "https://example.com/".to_owned());
        let auth = self.auth.clone().unwrap_or(EndpointAuth::Basic { username: "a".to_owned(), password: Secret::new("a") });
        let (signing, overlap) = match &self.signing {
            Some(SigningChange::Rotate { secret, overlap }) => (Some(secret.clone()), *overlap),
            Some(SigningChange::Stop) | None => (None, TimeDelta::zero()),
        };
        match (NewEndpoint { url, auth, signing }.validate(), signing::valid_overlap(overlap)) {
            (Ok(checked), Ok(())) => Ok(Self { url: self.url.map(|_| checked.url), ..self }),
            (checked, overlap) => Err(checked.err().into_iter().flatten().chain(overlap.err()).collect()),
        }
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

/// Where a delivery is (reliability, The outbox).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeliveryState {
    /// Waits for its time.
    Pending,
    /// Being tried right now.
    Leased,
    /// The receiver took it.
    Delivered,
    /// Every try failed.
    Exhausted,
    /// Given up because its endpoint is gone or disabled.
    Cancelled,
}

impl DeliveryState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Pending, Self::Leased, Self::Delivered, Self::Exhausted, Self::Cancelled];

    /// The spelling in storage and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Leased => "leased",
            Self::Delivered => "delivered",
            Self::Exhausted => "exhausted",
            Self::Cancelled => "cancelled",
        }
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
