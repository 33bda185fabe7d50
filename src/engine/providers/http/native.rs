//! A source with an interface of its own: its lists, which are polled, the charge that a webhook of Stripe's leaves
//! out, and the outcomes that Justt takes.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use chrono::TimeDelta;
use reqwest::{Method, header::CONTENT_TYPE};
use serde_json::Value;

use super::{
    contract::{self, MAX_ANSWER, MAX_PAGE},
    transport::{GatewayAnswer, Transport, Unanswered},
};
use crate::{
    domain::{
        CaCertificates, EndpointAuth, Provider, Secret, Timestamp, redact,
        time::SharedClock,
        url::{BaseUrl, PlainHttp},
    },
    inbound::connections::locked,
    outbound::circuit::{Circuit, CircuitLimits},
    providers::{
        AlertProvider, AlertSource, Capabilities, Cause, Declined, LookUp, PulledPage, Submission, SubmitResult,
    },
    sources::{
        justt::{self, CdrnCodes, JusttOutcome},
        polls::{ListPage, PollPlace},
        stripe,
    },
    wire::refusal::Refusal,
};

/// Failures in a row after which a webhook waits for no charge for a while.
const CHARGES: CircuitLimits =
    CircuitLimits { failures: 3, first_pause: TimeDelta::seconds(30), longest_pause: TimeDelta::minutes(5) };

/// Interface of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NativeInterface {
    Justt {
        /// The merchant's account, where a key is for several.
        account: Option<String>,
        /// Codes that the settings change; nothing where it gets no answers to Verifi's alerts.
        codes: Option<CdrnCodes>,
    },
    Stripe,
}

/// A source with an interface of its own.
pub struct NativeSource {
    interface: NativeInterface,
    base: BaseUrl,
    transport: Transport,
    charges: Mutex<Circuit>,
    clock: SharedClock,
}

impl fmt::Debug for NativeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NativeSource").field("interface", &self.interface).finish_non_exhaustive()
    }
}

impl NativeSource {
    /// Longest time for a call in all.
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// A source with connections of its own, at another address than the vendor's where one is given.
    ///
    /// # Errors
    /// Where the address cannot be one, or the key cannot be sent; the text never holds the key.
    pub fn new(interface: NativeInterface, url: &str, key: &Secret, clock: SharedClock) -> Result<Self, String> {
        let usual = match interface {
            NativeInterface::Justt { .. } => justt::BASE,
            NativeInterface::Stripe => stripe::BASE,
        };
        let base = if url.is_empty() { usual } else { url };
        let base = BaseUrl::parse(base, PlainHttp::Unless("use https")).map_err(|error| format!("url {error}"))?;
        let auth = EndpointAuth::bearer(key.reveal());
        auth.check().map_err(|error| format!("the key cannot be sent: {}", error.message))?;
        let transport = Transport::new(Some(&auth), CaCertificates::default(), Self::TIMEOUT)?;
        Ok(Self { interface, base, transport, charges: Mutex::new(Circuit::new(CHARGES)), clock })
    }

    /// Returns its lists.
    pub fn lists(self: &Arc<Self>) -> Vec<PolledList> {
        let list = |name, kind, account: &str| PolledList {
            name,
            place: format!("{name} {} {account}", self.base).trim_end().to_owned(),
            rows: Arc::new(NativeList { of: Arc::clone(self), name, kind }),
        };
        match &self.interface {
            NativeInterface::Justt { account, .. } => {
                vec![list(justt::ALERTS, "", account.as_deref().unwrap_or_default())]
            }
            NativeInterface::Stripe => stripe::LISTS.into_iter().map(|(name, kind)| list(name, kind, "")).collect(),
        }
    }

    async fn call(&self, method: Method, path: &str, body: Option<Vec<u8>>) -> Result<GatewayAnswer, Unanswered> {
        let most = if body.is_some() { MAX_ANSWER } else { MAX_PAGE };
        let mut call = self.transport.call(method, format!("{}/{path}", self.base), "");
        if let NativeInterface::Justt { account: Some(account), .. } = &self.interface {
            call = call.header(justt::ACCOUNT, account);
        }
        if let Some(body) = body {
            call = call.header(CONTENT_TYPE, "application/json").body(body);
        }
        self.transport.make(call, most).await
    }

    /// Puts the charge into a warning of Stripe's that only names it; it stays as it is where the charge cannot be read
    /// now.
    pub(crate) async fn complete(&self, event: &mut Value) {
        let path = stripe::charge_path(event).filter(|_| self.interface == NativeInterface::Stripe);
        let Some(path) = path.filter(|_| locked(&self.charges).reopens_at(self.clock.now()).is_none()) else { return };
        let read = contract::good(self.call(Method::GET, &path, None).await).and_then(|text| json_of(&text));
        match read {
            Ok(charge) => {
                locked(&self.charges).succeeded();
                stripe::put_charge(event, charge);
            }
            Err(why) => {
                locked(&self.charges).failed(self.clock.now());
                tracing::warn!(why, "the charge of a warning could not be read");
            }
        }
    }
}

fn json_of(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("its answer could not be read: {error}"))
}

/// A list of a source for whoever polls it.
pub struct PolledList {
    pub name: &'static str,
    /// Name, address and account: a cursor is good for these only.
    pub place: String,
    pub rows: Arc<dyn AlertSource>,
}

/// A list of a source.
struct NativeList {
    of: Arc<NativeSource>,
    name: &'static str,
    /// Type of the events that its rows are.
    kind: &'static str,
}

impl NativeList {
    async fn page(&self, place: &PollPlace, now: Timestamp) -> Result<ListPage, String> {
        match self.of.interface {
            NativeInterface::Justt { .. } => {
                let answer = self.of.call(Method::GET, &justt::page_path(place), None).await;
                let status = answer.as_ref().map_or(0, |answer| answer.status);
                match justt::page_of_refusal(place, status) {
                    Some(page) => Ok(page),
                    None => justt::page(place, &json_of(&contract::good(answer)?)?, now),
                }
            }
            NativeInterface::Stripe => {
                let answer = self.of.call(Method::GET, &stripe::page_path(self.name, place), None).await;
                stripe::page(self.kind, &json_of(&contract::good(answer)?)?, now)
            }
        }
    }
}

#[async_trait]
impl AlertSource for NativeList {
    async fn pull(&self, cursor: Option<&str>) -> Result<PulledPage, String> {
        let now = self.of.clock.now();
        let place = PollPlace::read(cursor, now);
        let ListPage { events, next } = self.page(&place, now).await.map_err(|why| redact::words(&why))?;
        Ok(PulledPage {
            rows: events.iter().map(Value::to_string).collect(),
            cursor: Some(place.next(next.as_deref())),
            is_last: next.is_none(),
        })
    }
}

/// The provider of Justt's alerts. It cannot be asked what became of an answer, and the same one sent twice counts
/// twice.
#[async_trait]
impl AlertProvider for NativeSource {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let NativeInterface::Justt { codes, .. } = &self.interface else {
            return SubmitResult::Declined(Declined::NotSent("the source takes no answers".to_owned()));
        };
        let usual = CdrnCodes::new();
        let codes =
            match codes {
                None if submission.provider == Provider::Cdrn => return SubmitResult::Declined(Declined::NotSent(
                    "answers to Verifi's alerts do not go to the source any more: the settings lack verifi = \"codes\""
                        .to_owned(),
                )),
                codes => codes.as_ref().unwrap_or(&usual),
            };
        let reference = submission.origin.as_ref().map_or("", |origin| origin.reference.as_str());
        let outcome = JusttOutcome::of(reference, &submission.provider, &submission.resolution, codes);
        let body = serde_json::to_vec(&outcome).unwrap_or_default();
        submitted(self.call(Method::POST, justt::OUTCOME, Some(body)).await)
    }

    async fn look_up(&self, _: &Submission) -> LookUp {
        LookUp::NotTold("the source cannot be asked what became of an answer".to_owned())
    }
}

/// Translates Justt's answer to an outcome: one that took it names what it made.
fn submitted(answer: Result<GatewayAnswer, Unanswered>) -> SubmitResult {
    let GatewayAnswer { status, body } = match answer {
        Ok(answer) => answer,
        Err(unanswered) => return contract::unsubmitted(unanswered),
    };
    let named = |body: &str| {
        let made: Value = serde_json::from_str(body).ok()?;
        made.get("id")?.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
    };
    match status {
        200..=299 if named(&body).is_some() => SubmitResult::Accepted,
        409 => SubmitResult::Indeterminate(Cause::AlreadyActioned),
        408 | 500..=599 => SubmitResult::Indeterminate(Cause::ServerError(status)),
        400 | 422 if !Refusal::read(body.as_bytes()).is_page => {
            SubmitResult::Declined(Declined::Refused(contract::refusal(status, &body)))
        }
        400..=499 => SubmitResult::Declined(Declined::TurnedAway(contract::refusal(status, &body))),
        _ => SubmitResult::Indeterminate(Cause::Unreadable(format!("it answered {status}, and names no outcome"))),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(201, r#"{"status": 201, "message": "success", "id": "04318fb0"}"#, SubmitResult::Accepted)]
    #[case(201, r#"{"status": 201, "message": "success"}"#, unreadable(201))]
    #[case(200, "<html>welcome</html>", unreadable(200))]
    #[case(302, "", unreadable(302))]
    #[case(500, r#"{"status": 500, "message": "oops"}"#, SubmitResult::Indeterminate(Cause::ServerError(500)))]
    #[case(409, "{}", SubmitResult::Indeterminate(Cause::AlreadyActioned))]
    #[case(400, r#"{"status": 400, "message": "Invalid parameters"}"#,
        SubmitResult::Declined(Declined::Refused("it answered 400: Invalid parameters".to_owned())))]
    #[case(429, "", SubmitResult::Declined(Declined::TurnedAway("it gets too many calls (429)".to_owned())))]
    fn only_an_outcome_that_is_named_was_taken(
        #[case] status: u16,
        #[case] body: &str,
        #[case] expected: SubmitResult,
    ) {
        assert_eq!(submitted(Ok(GatewayAnswer { status, body: body.to_owned() })), expected);
    }

    fn unreadable(status: u16) -> SubmitResult {
        SubmitResult::Indeterminate(Cause::Unreadable(format!("it answered {status}, and names no outcome")))
    }
}
