//! A source: whose webhooks are taken, how they are checked, and how a body becomes an alert.

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    domain::{
        AlertPatch, Answers, Deadline, FieldError, IntakeTerms, Origin, Secret, SignatureScheme, Timestamp,
        signing::SignatureFault, time::later_by,
    },
    inbound::signature::{SourceHeaders, check_basic, check_source},
    sources::{BodyReader, ReadBody},
    store::EventResult,
    wire::read::{self, UnknownNames},
};

/// Longest id of an event, in bytes; a longer one is kept as its hash.
const LONGEST_ID: usize = 255;

/// A source of alerts: who may send, and how a body becomes an alert.
#[derive(Debug, Clone)]
pub struct InboundSource {
    /// Name, as in its route.
    pub name: String,
    /// Name of its preset; nothing with a map of one's own.
    pub preset: Option<String>,
    pub scheme: SignatureScheme,
    /// Secret of the signature; nothing where this process takes no webhooks.
    pub secret: Option<Secret>,
    /// `user:pass` of HTTP Basic, where that is asked for beside the signature.
    pub basic: Option<Secret>,
    /// Name or id of the organization that its alerts are for; nothing where there is only one.
    pub organization: Option<String>,
    pub answers: Answers,
    pub reader: BodyReader,
}

impl InboundSource {
    /// Verifies a request over its raw bytes.
    ///
    /// # Errors
    /// [`SignatureFault`].
    pub fn check(&self, headers: SourceHeaders<'_>, body: &[u8], now: Timestamp) -> Result<(), SignatureFault> {
        self.basic.as_ref().map_or(Ok(()), |basic| check_basic(basic, headers))?;
        let secret = self.secret.as_ref().ok_or(SignatureFault::Wrong)?;
        check_source(self.scheme, secret, headers, body, now)
    }

    /// Maps a body to the alert that it would become.
    pub fn map(&self, body: &[u8], terms: &IntakeTerms<'_>) -> EventResult {
        match serde_json::from_slice(body) {
            Ok(body) => self.map_json(&body, terms),
            Err(error) => EventResult::Unmapped(vec![FieldError::new("", format!("the body is not JSON: {error}"))]),
        }
    }

    fn map_json(&self, body: &Value, terms: &IntakeTerms<'_>) -> EventResult {
        let fields = match self.reader.read(body) {
            ReadBody::Mapped(fields) => fields,
            ReadBody::Ignored => return EventResult::Ignored,
            ReadBody::Unmapped(reasons) => return EventResult::Unmapped(reasons),
        };
        let fields: Map<_, _> = fields.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        let row = read::incoming(&Value::Object(fields).to_string(), 1, &mut UnknownNames::default());
        match row.map(|row| self.with_deadline(row, terms.now)).and_then(AlertPatch::validate) {
            Ok(row) => EventResult::Alert(Box::new(row.complete(terms))),
            Err(error) => EventResult::Unmapped(vec![error]),
        }
    }

    /// Adds the origin, and the deadline of the source's window where the sender gave none.
    fn with_deadline(&self, mut row: AlertPatch, now: Timestamp) -> AlertPatch {
        row.alert.origin = Some(Origin { source: self.name.clone(), answers: self.answers });
        if let (Deadline::Unknown, Some(window)) = (row.alert.deadline, self.reader.window()) {
            row.alert.deadline = Deadline::At(later_by(row.alert.alert_time.unwrap_or(now), window));
        }
        row
    }

    /// The sender's id of an event: its own, else the identity of its alert, else a hash of the body.
    pub(super) fn event_id(&self, headers: SourceHeaders<'_>, body: &[u8], result: &EventResult) -> String {
        let parsed = serde_json::from_slice(body).unwrap_or(Value::Null);
        let own = self.reader.event_id(&parsed, |name| headers.get(name));
        let fits = |id: &String| !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control);
        let identity = || match result {
            EventResult::Alert(row) if row.is_by_id() => Some(row.alert.id.to_string()),
            EventResult::Alert(row) => Some(format!("{} {}", row.alert.provider, row.alert.provider_id)),
            _ => None,
        };
        let hash = |bytes: &[u8]| Uuid::from_slice(&Sha256::digest(bytes)[..16]).unwrap_or_default().to_string();
        match own.or_else(identity) {
            Some(id) if fits(&id) => id,
            Some(id) => hash(id.as_bytes()),
            None => hash(body),
        }
    }
}
