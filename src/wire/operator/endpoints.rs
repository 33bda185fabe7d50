//! Webhook endpoints and deliveries in JSON. No credential is ever in an answer.

use serde::{Deserialize, Serialize};
use url::form_urlencoded::Serializer;

use crate::{
    domain::{
        AlertId, Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState,
        Endpoint, EndpointId, EventId, EventKind, EventTemplate, Provider, Secret, SentRequest, Subscription,
        time::{Timestamp, to_iso},
        url::EndpointUrl,
    },
    operator::{
        MOST_ROWS, PageJson,
        text::{Member, Text, json_type, stands_for},
    },
};

json_type! {
    /// A webhook endpoint.
    #[derive(Clone)]
    pub struct EndpointJson for Endpoint {
        pub id: Text<EndpointId>,
        url: Text<EndpointUrl>,
        /// `Basic`, or the name of the header that holds the credential.
        auth: String,
        created_at: Text<Timestamp>,
        #[serde(flatten)]
        disabled: DisabledJson,
        /// Time of the last successful delivery.
        last_success_at = last_success: Option<Text<Timestamp>>,
        /// Since when nothing was delivered there, where deliveries fail.
        failing_since: Option<Text<Timestamp>>,
        /// True where deliveries are signed.
        signed: bool,
        /// Until when an older secret signs along.
        old_secret_until: Option<Text<Timestamp>>,
        /// True where certificates of its own are trusted, and not the authorities of the machine that sends.
        #[serde(default)]
        has_ca_certificate: bool,
        #[serde(flatten)]
        subscription: SubscriptionJson,
    }
}

json_type! {
    #[derive(Clone)]
    struct SubscriptionJson for Subscription {
        /// Events that go there.
        #[serde(default = "events_of_interface")]
        events: Vec<Text<EventKind>>,
        /// Providers of their alerts; empty for all.
        #[serde(default)]
        providers: Vec<Text<Provider>>,
        /// Template of their bodies.
        template: Option<Text<EventTemplate>>,
        /// Minutes before its deadline at which `alert.expiring` calls an alert.
        #[serde(default = "minutes")]
        minutes: u32,
    }
}

/// The events of an endpoint of a service that knows no others.
fn events_of_interface() -> Vec<Text<EventKind>> {
    EventKind::OF_INTERFACE.map(Text).into()
}

fn minutes() -> u32 {
    Subscription::default().minutes
}

json_type! {
    #[derive(Clone)]
    struct DisabledJson {
        enabled: bool,
        disabled_at: Option<Text<Timestamp>>,
        disabled_reason: Option<String>,
    }
}

impl Member<Option<(Timestamp, String)>> for DisabledJson {
    fn of(disabled: Option<(Timestamp, String)>) -> Self {
        let (at, disabled_reason) = disabled.unzip();
        Self { enabled: at.is_none(), disabled_at: Member::of(at), disabled_reason }
    }

    fn field(self) -> Option<(Timestamp, String)> {
        Some((self.disabled_at?.0, self.disabled_reason.unwrap_or_default()))
    }
}

json_type! {
    /// An endpoint, with its signing secret where that was made just now: it is told this once.
    pub struct CreatedEndpointJson {
        #[serde(flatten)]
        pub endpoint: EndpointJson,
        #[serde(skip_serializing_if = "Option::is_none")]
        pub secret: Option<Text<Secret>>,
    }
}

impl CreatedEndpointJson {
    /// The endpoint, with the secret that was made for it.
    pub fn of(endpoint: Endpoint, made: Option<Secret>) -> Self {
        Self { endpoint: endpoint.into(), secret: made.map(Text) }
    }
}

json_type! {
    /// One event on its way to one endpoint.
    pub struct DeliveryJson for Delivery {
        id: Text<DeliveryId>,
        event_id = event: Text<EventId>,
        /// Kind of the event, such as `alert.created`.
        event = kind: Text<EventKind>,
        /// Time of the event.
        at: Text<Timestamp>,
        alert_id = alert: Text<AlertId>,
        /// Marks a test event, of a made-up alert.
        test: bool,
        endpoint_id = endpoint: Text<EndpointId>,
        url: String,
        state: Text<DeliveryState>,
        attempts: u32,
        /// Time of the next attempt.
        due_at = due: Option<Text<Timestamp>>,
        /// The status of the last answer, or why there was none.
        last_result: Option<String>,
        delivered_at: Option<Text<Timestamp>>,
    }
}

/// A page of deliveries; `next` is the last one's id.
pub type DeliveryPageJson = PageJson<DeliveryJson, Text<DeliveryId>>;

stands_for!(DeliveryPageJson DeliveryPage { data: data, next: next });

json_type! {
    /// A delivery with its body and its attempts.
    pub struct DeliveryLogJson for DeliveryLog {
        #[serde(flatten)]
        delivery: DeliveryJson,
        /// Body of each attempt, to the byte.
        body: String,
        tries = attempts: Vec<DeliveryAttemptJson>,
    }
}

json_type! {
    /// One attempt to deliver.
    struct DeliveryAttemptJson for DeliveryAttempt {
        number: u32,
        started_at: Text<Timestamp>,
        duration_ms: u64,
        status: Option<u16>,
        /// Reason of the failure.
        error: Option<String>,
        /// The beginning of the answer's body.
        answer: String,
        /// The request, where it is still kept; without the credential.
        sent: Option<SentJson>,
    }
}

json_type! {
    #[cfg_attr(test, schemars(inline))]
    struct SentJson for SentRequest {
        url: String,
        headers: Vec<HeaderJson>,
    }
}

json_type! {
    #[cfg_attr(test, schemars(inline))]
    struct HeaderJson {
        name: String,
        value: String,
    }
}

impl Member<(String, String)> for HeaderJson {
    fn of((name, value): (String, String)) -> Self {
        Self { name, value }
    }

    fn field(self) -> (String, String) {
        (self.name, self.value)
    }
}

json_type! {
    /// Number of deliveries that are due again.
    pub struct RedeliveredJson {
        pub redelivered: u64,
    }
}

/// The query string of a list of deliveries.
pub fn delivery_query(filter: &DeliveryFilter) -> String {
    let DeliveryFilter { states, endpoint, alert, event, kind, from, until, after, size } = filter;
    let states = states.iter().map(|state| state.as_str()).collect::<Vec<_>>().join(",");
    let event = kind.as_ref().map(|kind| kind.as_str().to_owned()).or_else(|| event.map(|event| event.to_string()));
    let given = [
        ("size", size.map(|size| size.clamp(1, MOST_ROWS).to_string())),
        ("state", Some(states).filter(|states| !states.is_empty())),
        ("endpoint", endpoint.map(|id| id.to_string())),
        ("alert", alert.map(|id| id.to_string())),
        ("event", event),
        ("from", from.map(to_iso)),
        ("until", until.map(to_iso)),
        ("after", after.map(|id| id.to_string())),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    Serializer::new(String::new()).extend_pairs(given).finish()
}
