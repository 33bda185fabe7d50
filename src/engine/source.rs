//! A source: whose webhooks are taken, how they are checked, and how a body becomes events, alerts and reports.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::{
    domain::{
        AlertPatch, Answers, Deadline, FieldError, IntakeTerms, Origin, Provider, Secret, SignatureScheme, Timestamp,
        signing::SignatureFault, time::later_by,
    },
    inbound::signature::{SourceHeaders, check_basic, check_source},
    providers::http::native::NativeSource,
    sources::{BodyReader, ReadBody, justt::alert_id, polls::short_hash, stripe},
    store::EventResult,
    wire::read::{self, UnknownNames},
};

/// Longest id of an event, in bytes; a longer one is kept as its hash.
const LONGEST_ID: usize = 255;

/// An event in a body of a source.
#[derive(Debug, Clone)]
pub struct SentEvent {
    /// Its body as it is kept.
    pub raw: Vec<u8>,
    /// Its body, read; `None` where it is not JSON.
    pub body: Option<Value>,
}

/// A source of alerts and reports: who may send, and how a body becomes one.
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
    /// True where it takes answers to Verifi's alerts too.
    pub takes_codes: bool,
    /// The source's own interface, where this process has a key for it.
    pub native: Option<Arc<NativeSource>>,
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

    /// Reads the events of a body: one as it came, or several that it holds.
    pub fn events(&self, raw: Vec<u8>) -> Vec<SentEvent> {
        let Ok(body) = serde_json::from_slice(&raw) else { return vec![SentEvent { raw, body: None }] };
        let mut events = self.reader.events(body);
        if events.len() == 1 {
            return vec![SentEvent { raw, body: events.pop() }];
        }
        let alone = |body: Value| SentEvent { raw: body.to_string().into_bytes(), body: Some(body) };
        events.into_iter().map(alone).collect()
    }

    /// Puts into an event what its webhook leaves out and its source can tell.
    pub(super) async fn complete(&self, event: &mut SentEvent) {
        if let (Some(native), Some(body)) = (&self.native, &mut event.body) {
            native.complete(body).await;
        }
    }

    /// Maps an event to the alert or the report that it would become.
    pub fn map(&self, event: &SentEvent, terms: &IntakeTerms<'_>) -> EventResult {
        let Some(body) = &event.body else {
            return EventResult::Unmapped(vec![FieldError::new("", "the body is not JSON")]);
        };
        let fields = match self.reader.read(body) {
            ReadBody::Alert(fields) => fields,
            ReadBody::Report(report) => return EventResult::Report(report),
            ReadBody::Ignored => return EventResult::Ignored,
            ReadBody::Unmapped(reasons) => return EventResult::Unmapped(reasons),
        };
        let fields: Map<_, _> = fields.into_iter().map(|(name, text)| (name, Value::String(text))).collect();
        let row = read::incoming(&Value::Object(fields).to_string(), 1, &mut UnknownNames::default());
        match row.map(|row| self.with_origin(row, body, terms.now)).and_then(AlertPatch::validate) {
            Ok(row) => EventResult::Alert(Box::new(row.complete(terms))),
            Err(error) => {
                let why = "names an unread charge, see api_key_file";
                let charge = stripe::charge_path(body).map(|_| FieldError::new("data.object.charge", why));
                EventResult::Unmapped(charge.into_iter().chain([error]).collect())
            }
        }
    }

    /// Adds the origin, and the deadline of the source's window where the sender gave none.
    fn with_origin(&self, mut row: AlertPatch, body: &Value, now: Timestamp) -> AlertPatch {
        let (mut answers, mut reference) = (self.answers, String::new());
        match (answers, &row.alert.provider) {
            // No gateway takes its answers.
            (Answers::Gateway, Provider::Stripe) => answers = Answers::Here,
            (Answers::Native, provider) => {
                let takes = *provider == Provider::Ethoca || (self.takes_codes && *provider == Provider::Cdrn);
                match alert_id(body).filter(|_| takes) {
                    Some(id) => id.clone_into(&mut reference),
                    None => answers = Answers::Here,
                }
            }
            _ => {}
        }
        row.alert.origin = Some(Origin { source: self.name.clone(), answers, reference });
        row.moves_deadline = matches!(row.alert.deadline, Deadline::At(_));
        if let (Deadline::Unknown, Some(window)) = (row.alert.deadline, self.reader.window()) {
            // Where no network waits, a warning that came late can be answered as any other.
            let raised = row.alert.alert_time.filter(|_| row.alert.provider != Provider::Stripe);
            row.alert.deadline = Deadline::At(later_by(raised.unwrap_or(now), window));
        }
        row
    }

    /// The sender's id of an event: its own, which a polled one without headers holds itself, else the identity of its
    /// alert, or of its report with the status, else a hash of the body.
    pub(super) fn event_id(&self, headers: SourceHeaders<'_>, event: &SentEvent, result: &EventResult) -> String {
        let polled = |body: &Value| self.native.as_ref().and_then(|_| Some(body.get("id")?.as_str()?.to_owned()));
        let own = |body| self.reader.event_id(body, |name| headers.get(name)).or_else(|| polled(body));
        let own = event.body.as_ref().and_then(own);
        let fits = |id: &String| !id.is_empty() && id.len() <= LONGEST_ID && !id.contains(char::is_control);
        let identity = || match result {
            EventResult::Alert(row) if row.is_by_id() => Some(row.alert.id.to_string()),
            EventResult::Alert(row) => Some(format!("{} {}", row.alert.provider, row.alert.provider_id)),
            EventResult::Report(report) => {
                let parts = [Some(report.kind.as_str()), Some(&report.id), report.status.as_deref()];
                Some(parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        match own.or_else(identity) {
            Some(id) if fits(&id) => id,
            Some(id) => short_hash(id.as_bytes()),
            None => short_hash(&event.raw),
        }
    }
}
