//! Records of sources: the signature of their webhooks, their kept events and their counts.

use std::str::FromStr;

use uuid::Uuid;

use crate::{AlertId, Answers, Timestamp, TruthKind, VerifiAnswers, closed_enum};

closed_enum! {
    /// Signature scheme of a source's webhooks.
    pub enum SignatureScheme {
        /// Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`; also as `svix-*`.
        Standard = "standard",
        /// `Stripe-Signature: t=UNIX,v1=HEX`, HMAC-SHA256.
        Stripe = "stripe",
        /// `X-Signature: t=UNIX,v1=HEX`, HMAC-SHA512.
        Sha512 = "sha512",
        /// `X-Shopify-Hmac-Sha256: BASE64` of the body.
        Shopify = "shopify",
        /// Adyen's `hmacSignature` of fields of each notification.
        Adyen = "adyen",
        /// No signature: HTTP Basic alone.
        Basic = "basic",
    }
}

closed_enum! {
    /// Kind of a source's events.
    #[derive(Default)]
    pub enum SourceKind {
        #[default]
        Alert = "alert",
        Dispute = "dispute",
        Fraud = "fraud",
        Refund = "refund",
    }
}

impl SourceKind {
    /// Returns the kind of the reports that such events are; `None` of alerts.
    pub fn truth(self) -> Option<TruthKind> {
        TruthKind::parse(self.as_str())
    }
}

closed_enum! {
    /// State of a kept event of a source.
    pub enum EventState {
        /// It became an alert, or a report.
        Mapped = "mapped",
        /// The source's `when` does not ask for it.
        Ignored = "ignored",
        /// It is kept until the map is corrected.
        Unmapped = "unmapped",
    }
}

/// Word that is read from its text, in any letter case.
macro_rules! words {
    ($($kind:ty),+) => {$(
        impl FromStr for $kind {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let allowed = || Self::ALL.map(Self::as_str).join(", ");
                Self::known(text).ok_or_else(|| format!("{text:?} is not allowed: one of {}", allowed()))
            }
        }
    )+};
}

words!(Answers, SignatureScheme, SourceKind, VerifiAnswers);

/// Kept event of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceEvent {
    /// Place among all events, in the order of receipt.
    pub number: i64,
    pub id: Uuid,
    /// The sender's id of it.
    pub event: String,
    pub received_at: Timestamp,
    /// Raw body, as it came.
    pub body: Vec<u8>,
    pub state: EventState,
    /// Reasons of an unmapped one.
    pub reasons: Vec<String>,
    /// Alert that it became, or changed.
    pub alert: Option<AlertId>,
    /// Kind and id of the report that it became, or changed.
    pub report: Option<(TruthKind, String)>,
}

/// A source that fails.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailingSource {
    pub name: String,
    /// Part of it that fails: `events`, or the list that is polled.
    pub part: String,
    pub since: Timestamp,
    /// Reason of the last failure.
    pub reason: String,
}

/// A source with its counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceStatus {
    pub name: String,
    /// Name of its preset; `None` with a map of one's own, and where it is not set up.
    pub preset: Option<String>,
    /// `None` where it is not set up any more.
    pub answers: Option<Answers>,
    /// Requests with a right signature, repeats too.
    pub received: u64,
    pub mapped: u64,
    pub ignored: u64,
    pub unmapped: u64,
    /// Requests with a wrong signature.
    pub rejected: u64,
    pub last_received: Option<Timestamp>,
}
