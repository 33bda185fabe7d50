//! Sources with an interface of their own: what they have is polled, each thing once with their webhooks, and Justt's
//! alerts are answered there.

use std::{
    net::{IpAddr, Ipv4Addr},
    sync::{Arc, Mutex},
    time::Duration,
};

use avert::{
    domain::{
        Alert, AlertQuery, AlertStatus, Answers, Deadline, Decision, Secret, TruthKind, source::SourceStatus,
        time::to_iso,
    },
    engine::{Engine, EngineSettings, InboundSource, PullFrom, PullOf, Pulled, SignedRequest},
    inbound::signature::SourceHeaders,
    providers::{
        Providers,
        http::native::{NativeInterface, NativeSource},
    },
    service::{Alerts, FoundOutBy, ServiceError, Sources},
    sources::{SourceForm, justt::CdrnCodes},
    store::{EventsOf, SharedStore},
};
use axum::http::{HeaderMap, HeaderValue};
use chrono::TimeDelta;
use rstest::rstest;
use serde_json::{Value, json};

use crate::support::{
    alerts::{NOON, noon},
    clock::ManualClock,
    engine::{acting, network, resolve},
    raw_server::{Asked, Play, RawServer},
    store::open,
};

/// Secret that must never be seen.
const KEY: &str = "sk-5up3r-s3cr3t";

type Answering = dyn FnMut(&Asked) -> Option<Play> + Send;

/// A vendor's service of this preset with an engine beside it.
struct House {
    preset: &'static str,
    server: RawServer,
    clock: Arc<ManualClock>,
    engine: Engine,
    /// Asked before everything else: the faults of a test.
    first: Arc<Mutex<Box<Answering>>>,
    _directory: tempfile::TempDir,
}

impl House {
    async fn new(
        preset: &'static str,
        codes: Option<CdrnCodes>,
        plan: impl Fn(&Asked) -> Play + Send + Sync + 'static,
    ) -> Self {
        let (directory, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(NOON));
        let first: Arc<Mutex<Box<Answering>>> = Arc::new(Mutex::new(Box::new(|_: &Asked| None)));
        let fault = Arc::clone(&first);
        let server = RawServer::start(move |asked, _| {
            assert_eq!(asked.header("authorization"), format!("Bearer {KEY}"));
            (fault.lock().unwrap())(asked).unwrap_or_else(|| plan(asked))
        })
        .await;
        let engine = engine(preset, &server.url(), ("acme", codes), open(directory.path()), &clock);
        Self { preset, server, clock, engine, first, _directory: directory }
    }

    /// Starts again with another account at Justt and other codes.
    fn restart(&mut self, account: &str, codes: Option<CdrnCodes>) {
        let store = Arc::clone(self.engine.store());
        self.engine = engine(self.preset, &self.server.url(), (account, codes), store, &self.clock);
    }

    /// Answers the next requests so, one after the other.
    fn then(&self, plays: impl IntoIterator<Item = Play>) {
        let mut plays = plays.into_iter().collect::<Vec<_>>().into_iter();
        *self.first.lock().unwrap() = Box::new(move |_| plays.next());
    }

    /// Polls every list of the source once more, longer after the time before than any pause.
    async fn poll(&self) -> Vec<Pulled> {
        self.poll_every(60).await
    }

    /// The same of one that is polled every so many seconds.
    async fn poll_every(&self, seconds: u64) -> Vec<Pulled> {
        self.clock.advance(TimeDelta::minutes(16));
        let source = self.engine.source("eu").unwrap();
        let mut ends = Vec::new();
        for list in source.native.as_ref().unwrap().lists() {
            let from = PullFrom {
                of: PullOf::Source { name: "eu".to_owned(), list: list.name.to_owned() },
                source: list.rows,
                place: list.place,
                organization: None,
                every: Duration::from_secs(seconds),
            };
            ends.push(self.engine.pull_once(&from).await.unwrap());
        }
        ends
    }

    /// A webhook comes, whose signature was right.
    async fn receive(&self, id: &'static str, body: &Value) {
        let headers = HeaderMap::from_iter([("webhook-id".parse().unwrap(), HeaderValue::from_static(id))]);
        let request = SignedRequest {
            headers: SourceHeaders(&headers),
            body: body.to_string().into_bytes(),
            from: IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        self.engine.receive(self.engine.source("eu").unwrap(), request).await.unwrap();
    }

    /// The alerts by their network's ids.
    async fn alerts(&self) -> Vec<Alert> {
        let page = acting(&self.engine).await.list(&AlertQuery::default()).await.unwrap();
        let mut alerts: Vec<Alert> = page.data.into_iter().map(|shared| Alert::clone(&shared)).collect();
        alerts.sort_by(|one, other| one.provider_id.cmp(&other.provider_id));
        alerts
    }

    async fn names(&self) -> Vec<String> {
        self.alerts().await.into_iter().map(|alert| alert.provider_id).collect()
    }

    async fn counts(&self) -> SourceStatus {
        acting(&self.engine).await.sources().await.unwrap().remove(0)
    }

    /// Bodies that were posted.
    fn posted(&self) -> Vec<Value> {
        let asked = self.server.asked().into_iter().filter(|asked| asked.method == "POST");
        asked.map(|asked| serde_json::from_slice(&asked.body).unwrap()).collect()
    }
}

/// An engine with one source of this preset, with an account and codes where it is Justt's.
fn engine(
    preset: &str,
    url: &str,
    (account, codes): (&str, Option<CdrnCodes>),
    store: SharedStore,
    clock: &Arc<ManualClock>,
) -> Engine {
    let (scheme, reader) = SourceForm::preset(preset).unwrap().reader().unwrap();
    let (takes_codes, answers) = (codes.is_some(), if preset == "justt" { Answers::Native } else { Answers::Here });
    let interface = match preset {
        "justt" => NativeInterface::Justt { account: Some(account.to_owned()), codes },
        _ => NativeInterface::Stripe,
    };
    let native = NativeSource::new(interface, url, &Secret::new(KEY), clock.clone()).unwrap();
    let native = Arc::new(native);
    let source = InboundSource {
        name: "eu".to_owned(),
        preset: Some(preset.to_owned()),
        scheme,
        secret: None,
        basic: None,
        organization: None,
        answers,
        takes_codes,
        native: Some(Arc::clone(&native)),
        reader,
    };
    let settings = EngineSettings { sources: [source].into(), ..EngineSettings::default() };
    let providers = Providers::all(network(true, true)).with_source("eu", native);
    Engine::new(store, providers, clock.clone(), settings)
}

/// The start of a page's number, and what a page of the number 0 is where they begin at 1.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Begins {
    Zero,
    OneRefusing,
    OneSame,
    OneEmpty,
}

fn justt_alert(name: &str, provider: &str) -> Value {
    json!({
        "internalAlertId": format!("internal-{name}"), "merchantUuid": "m", "provider": provider,
        "providerAlertId": name,
        "alertTimestamp": NOON, "alertType": "customerdispute_alert",
        "transaction": {"id": "TX-1", "amount": 149.99, "currency": "USD", "card": {"last4": "1234"}},
    })
}

/// Justt's list of these alerts, two in a page.
fn justt(begins: Begins, alerts: Vec<Value>) -> impl Fn(&Asked) -> Play + Send + Sync {
    move |asked| {
        assert_eq!(asked.header("reference-account-id"), "acme");
        if asked.method == "POST" {
            return Play::json(201, &json!({"status": 201, "message": "success", "id": "made"}));
        }
        assert_eq!((asked.path(), asked.parameter("limit").as_deref()), ("/pre-chargeback-alerts/alerts", Some("100")));
        let number: usize = asked.parameter("page").unwrap().parse().unwrap();
        let first = usize::from(begins != Begins::Zero);
        let place = match begins {
            Begins::OneRefusing if number == 0 => {
                return Play::json(400, &json!({"status": 400, "message": "page must be 1 at least"}));
            }
            Begins::OneEmpty if number == 0 => alerts.len(),
            _ => 2 * number.saturating_sub(first),
        };
        let rows: Vec<&Value> = alerts.iter().skip(place).take(2).collect();
        let has_more = place + 2 < alerts.len();
        Play::json(200, &json!({"status": 200, "message": "success", "hasMore": has_more, "data": rows}))
    }
}

fn ethoca(names: &[&str]) -> Vec<Value> {
    names.iter().map(|name| justt_alert(name, "ethoca")).collect()
}

#[rstest]
#[case(Begins::Zero)]
#[case(Begins::OneRefusing)]
#[case(Begins::OneSame)]
#[case(Begins::OneEmpty)]
#[tokio::test]
async fn every_alert_of_justts_is_polled_once_wherever_its_pages_begin(#[case] begins: Begins) {
    let house = House::new("justt", None, justt(begins, ethoca(&["A", "B", "C", "D", "E"]))).await;

    let ends = [house.poll().await, house.poll().await].concat();

    assert!(ends.iter().all(|end| matches!(end, Pulled::Pages { .. })), "{ends:?}");
    assert_eq!(house.names().await, ["A", "B", "C", "D", "E"]);
    let counts = house.counts().await;
    assert_eq!((counts.received, counts.mapped), (5, 5));
    let since = |at: usize| house.server.asked()[at].parameter("startDate").unwrap();
    let begun = noon() + TimeDelta::minutes(16);
    assert_eq!(since(0), to_iso(begun - TimeDelta::days(7)));
    assert_eq!(since(house.server.asked().len() - 1), to_iso(begun - TimeDelta::days(1)));
}

#[rstest]
#[case(true)]
#[case(false)]
#[tokio::test]
async fn an_alert_that_comes_both_ways_is_one(#[case] webhook_first: bool) {
    let house = House::new("justt", None, justt(Begins::Zero, ethoca(&["A"]))).await;
    let webhook = json!({"type": "pre_chargeback_alert.received", "timestamp": NOON, "data": ethoca(&["A"])[0]});
    if webhook_first {
        house.receive("msg_1", &webhook).await;
    }

    house.poll().await;
    house.receive("msg_1", &webhook).await;

    assert_eq!(house.names().await, ["A"]);
    assert_eq!(house.counts().await.mapped, 2);
}

#[tokio::test]
async fn an_alert_is_what_justt_said_of_it_last_however_it_came() {
    let house = House::new("justt", None, justt(Begins::Zero, ethoca(&["A"]))).await;
    let webhook = |minutes, amount: Value| {
        let sent = to_iso(noon() + TimeDelta::minutes(minutes));
        let mut alert = ethoca(&["A"]).remove(0);
        alert["transaction"]["amount"] = amount;
        json!({"type": "pre_chargeback_alert.received", "timestamp": sent, "data": alert})
    };
    let amounts =
        async || house.alerts().await.iter().map(|alert| alert.amount.unwrap().to_string()).collect::<Vec<_>>();

    house.receive("msg_1", &webhook(0, Value::Null)).await;
    let unmapped = amounts().await;
    house.poll().await;
    let polled = amounts().await;
    house.receive("msg_2", &webhook(17, json!(99.99))).await;
    let corrected = amounts().await;
    house.poll().await;

    assert_eq!((unmapped.len(), polled, corrected.clone()), (0, vec!["149.99".to_owned()], vec!["99.99".to_owned()]));
    assert_eq!(amounts().await, corrected, "a row that did not change");
}

#[tokio::test]
async fn a_deadline_that_the_poll_brings_goes_before_one_that_was_reckoned() {
    let mut alerts = ethoca(&["A"]);
    let webhook = json!({"type": "pre_chargeback_alert.received", "timestamp": NOON, "data": alerts[0]});
    alerts[0]["metadata"] = json!({"responseDeadline": to_iso(noon() + TimeDelta::hours(5))});
    let house = House::new("justt", None, justt(Begins::Zero, alerts)).await;

    house.receive("msg_1", &webhook).await;
    let reckoned = house.alerts().await[0].deadline;
    house.poll().await;

    let brought = house.alerts().await[0].deadline;
    assert_eq!([reckoned, brought], [24, 5].map(|hours| Deadline::At(noon() + TimeDelta::hours(hours))));
}

#[tokio::test]
async fn the_list_of_another_account_is_polled_from_its_beginning() {
    let mut house = House::new("justt", None, |asked| {
        let name = asked.header("reference-account-id");
        Play::json(200, &json!({"hasMore": false, "data": ethoca(&[name])}))
    })
    .await;
    house.poll().await;

    house.restart("umbrella", None);
    house.poll().await;

    let since = house.server.asked()[1].parameter("startDate").unwrap();
    assert_eq!(since, to_iso(noon() + TimeDelta::minutes(32) - TimeDelta::days(7)));
    assert_eq!(house.names().await, ["acme", "umbrella"]);
}

#[tokio::test]
async fn a_poll_that_fails_goes_on_at_its_page_once_it_can() {
    let house = House::new("justt", None, justt(Begins::Zero, ethoca(&["A", "B", "C", "D", "E"]))).await;
    let page = json!({"hasMore": true, "data": ethoca(&["A", "B"])});
    let faults = [
        Play::answer(429, &[], ""),
        Play::json(500, &json!({"status": 500, "message": "oops"})),
        Play::answer(200, &[], "<html>welcome</html>"),
        Play::json(200, &json!({"hasMore": true})),
        Play::Reset,
    ];

    let mut failures = Vec::new();
    for fault in faults {
        house.then([fault]);
        failures.extend(house.poll().await);
    }
    house.then([Play::json(200, &page), Play::json(503, &json!({}))]);
    failures.extend(house.poll().await);
    house.then([]);
    let asked = house.server.asked().len();
    let ended = house.poll().await;

    assert!(failures.iter().all(|end| matches!(end, Pulled::Failed(_))), "{failures:?}");
    assert!(matches!(&failures[0], Pulled::Failed(why) if why.contains("it gets too many calls (429)")));
    assert!(!format!("{failures:?}").contains(KEY));
    assert!(matches!(&ended[0], Pulled::Pages { pages: 2, report } if report.created == 3), "{ended:?}");
    assert_eq!(house.server.asked()[asked].parameter("page").as_deref(), Some("1"), "not from the beginning");
    assert_eq!(house.names().await, ["A", "B", "C", "D", "E"]);
}

#[tokio::test]
async fn a_list_without_an_end_is_asked_for_less_often_than_justt_allows() {
    let endless = |asked: &Asked| {
        let name = asked.parameter("page").unwrap();
        Play::json(200, &json!({"hasMore": true, "data": ethoca(&[&name])}))
    };
    let house = House::new("justt", None, endless).await;

    let ends = [house.poll_every(1).await, house.poll_every(1).await].concat();

    assert!(ends.iter().all(|end| matches!(end, Pulled::Pages { pages: 8, .. })), "{ends:?}");
    let asked: Vec<String> = house.server.asked().iter().map(|asked| asked.parameter("page").unwrap()).collect();
    assert_eq!(asked, (0..16).map(|page| page.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_cannot_be_mapped_does_not_hold_up_the_others_of_a_page() {
    let mut alerts = ethoca(&["A", "B"]);
    alerts[0]["provider"] = "new".into();
    let house = House::new("justt", None, justt(Begins::Zero, alerts)).await;

    house.poll().await;

    assert_eq!(house.names().await, ["B"]);
    let counts = house.counts().await;
    assert_eq!((counts.mapped, counts.unmapped), (1, 1));
}

#[tokio::test]
async fn an_answer_to_an_alert_of_ethocas_goes_to_justt_and_one_of_verifis_stays_here() {
    let alerts = vec![justt_alert("A", "ethoca"), justt_alert("V", "verifi")];
    let house = House::new("justt", None, justt(Begins::Zero, alerts)).await;
    house.poll().await;
    let acting = acting(&house.engine).await;
    let alerts = house.alerts().await;

    let answered = resolve(&acting, alerts[0].id, Decision::Refunded).await.unwrap();
    let here = resolve(&acting, alerts[1].id, Decision::NotRefunded).await.unwrap();

    assert_eq!(answered.status, AlertStatus::Resolved);
    assert!(!answered.is_answered_here() && here.is_answered_here());
    let expected = json!({"providerName": "Ethoca", "alertId": "internal-A", "refunded": "refunded",
        "outcome": "resolved"});
    assert_eq!(house.posted(), [expected]);
}

#[tokio::test]
async fn verifis_alerts_are_answered_by_codes_where_the_settings_say_so() {
    let alerts = vec![justt_alert("V", "verifi")];
    let house = House::new("justt", Some(CdrnCodes::new()), justt(Begins::Zero, alerts)).await;
    house.poll().await;
    let alert = house.alerts().await.remove(0);

    resolve(&acting(&house.engine).await, alert.id, Decision::NotRefunded).await.unwrap();

    let expected = json!({"providerName": "Verifi CDRN", "alertId": "internal-V", "refunded": "not refunded",
        "outcome": "900"});
    assert_eq!(house.posted(), [expected]);
}

#[tokio::test]
async fn an_answer_to_verifis_alert_is_not_sent_once_the_settings_do_not_say_codes_any_more() {
    let alerts = vec![justt_alert("V", "verifi")];
    let mut house = House::new("justt", Some(CdrnCodes::new()), justt(Begins::Zero, alerts)).await;
    house.poll().await;
    let alert = house.alerts().await.remove(0);

    house.restart("acme", None);
    let refused = resolve(&acting(&house.engine).await, alert.id, Decision::NotRefunded).await.unwrap_err();

    assert!(refused.to_string().contains("verifi = \"codes\""), "{refused}");
    assert!(house.posted().is_empty());
    house.restart("acme", Some(CdrnCodes::new()));
    let taken = resolve(&acting(&house.engine).await, alert.id, Decision::NotRefunded).await.unwrap();
    assert_eq!((taken.status, house.posted().len()), (AlertStatus::Chargeback, 1));
}

#[rstest]
#[case::broken(Play::Reset)]
#[case::failed(Play::json(500, &json!({"status": 500, "message": "oops"})))]
#[case::a_page(Play::answer(200, &[], "<html>welcome</html>"))]
#[case::names_nothing(Play::json(201, &json!({"status": 201})))]
#[tokio::test]
async fn an_answer_whose_fate_justt_does_not_tell_waits_for_a_person_and_is_sent_once(#[case] play: Play) {
    let house = House::new("justt", None, justt(Begins::Zero, ethoca(&["A"]))).await;
    house.poll().await;
    let (acting, alert) = (acting(&house.engine).await, house.alerts().await.remove(0));
    house.then([play]);

    let told = resolve(&acting, alert.id, Decision::Refunded).await;
    house.clock.advance(TimeDelta::hours(1));
    house.engine.reconcile_once().await.unwrap();

    let Err(ServiceError::ProviderOutcomeUnknown(unknown)) = told else { panic!("{told:?}") };
    assert_eq!(unknown.found_out_by(), FoundOutBy::Person);
    assert_eq!(house.posted().len(), 1);
    let again = resolve(&acting, alert.id, Decision::Refunded).await;
    assert!(matches!(again, Err(ServiceError::WaitsForPerson(_))), "{again:?}");
    assert_eq!(house.posted().len(), 1);
}

#[rstest]
#[case::too_many(429)]
#[case::refused(400)]
#[tokio::test]
async fn an_answer_that_justt_does_not_take_can_be_given_again(#[case] status: u16) {
    let house = House::new("justt", None, justt(Begins::Zero, ethoca(&["A"]))).await;
    house.poll().await;
    let (acting, alert) = (acting(&house.engine).await, house.alerts().await.remove(0));
    house.then([Play::json(status, &json!({"status": status, "message": "Invalid parameters"}))]);

    let refused = resolve(&acting, alert.id, Decision::Refunded).await;
    house.then([]);
    let taken = resolve(&acting, alert.id, Decision::Refunded).await;

    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(taken.unwrap().status, AlertStatus::Resolved);
    assert_eq!(house.posted().len(), 2);
}

fn charge(number: u32) -> Value {
    json!({"id": format!("ch_{number}"), "amount": 12_345, "currency": "eur", "created": noon().timestamp() - 3600,
        "payment_method_details": {"card": {"last4": "4242"}}})
}

fn stripe_warning(number: u32, charge: &Value) -> Value {
    json!({"id": format!("issfr_{number}"), "actionable": true, "charge": charge, "created": noon().timestamp(),
        "fraud_type": "misc"})
}

/// Stripe's lists, one row in a page, and its charges.
fn stripe(asked: &Asked) -> Play {
    let rows = match asked.path() {
        "/v1/radar/early_fraud_warnings" => {
            assert_eq!(asked.parameter("expand[]").as_deref(), Some("data.charge"));
            vec![stripe_warning(2, &charge(2)), stripe_warning(1, &charge(1))]
        }
        "/v1/disputes" => vec![json!({"id": "dp_1", "charge": "ch_1", "amount": 12_345, "currency": "eur",
            "reason": "fraudulent", "status": "needs_response", "created": noon().timestamp(),
            "payment_method_details": {"card": {"brand": "visa"}}})],
        "/v1/refunds" => vec![json!({"id": "re_1", "charge": "ch_1", "amount": 12_345, "currency": "eur",
            "status": "succeeded", "created": noon().timestamp()})],
        "/v1/charges/ch_3" => return Play::json(200, &charge(3)),
        path => return Play::json(404, &json!({"error": {"message": path}})),
    };
    let after = asked.parameter("starting_after");
    let place = after.map_or(0, |id| 1 + rows.iter().position(|row| row["id"] == id.as_str()).unwrap());
    Play::json(200, &json!({"object": "list", "has_more": place + 1 < rows.len(), "data": [rows[place]]}))
}

#[tokio::test]
async fn stripes_warnings_become_alerts_and_its_disputes_and_refunds_reports() {
    let house = House::new("stripe", None, stripe).await;

    house.poll().await;
    let again = house.poll().await;

    assert!(again.iter().all(|end| matches!(end, Pulled::Pages { .. })), "{again:?}");
    assert_eq!(house.names().await, ["issfr_1", "issfr_2"]);
    let first = house.alerts().await.remove(0);
    assert!(first.is_answered_here());
    let caller = house.engine.local_caller(None).await.unwrap();
    let store = house.engine.store();
    let reports = store.truth_of(caller.organization.organization.id, first.id).await.unwrap();
    let kinds: Vec<TruthKind> = reports.iter().map(|(report, _)| report.kind).collect();
    assert_eq!(kinds, [TruthKind::Dispute, TruthKind::Refund]);
    assert_eq!(reports[0].0.network.as_deref(), Some("visa"));
    let counts = house.counts().await;
    assert_eq!((counts.received, counts.mapped, counts.unmapped), (4, 4, 0));
}

#[tokio::test]
async fn a_warning_that_comes_days_late_can_be_answered_where_no_network_waits() {
    let house = House::new("stripe", None, stripe).await;
    let mut warning = stripe_warning(3, &charge(3));
    warning["created"] = json!((noon() - TimeDelta::days(4)).timestamp());

    house
        .receive(
            "unused",
            &json!({"id": "evt_3", "type": "radar.early_fraud_warning.created", "created": noon().timestamp(),
                "data": {"object": warning}}),
        )
        .await;

    assert_eq!(house.alerts().await[0].status, AlertStatus::Open);
}

#[tokio::test]
async fn a_warning_that_names_its_charge_alone_is_completed_and_is_one_with_the_polled_one() {
    let house = House::new("stripe", None, stripe).await;
    let webhook = |number: u32| {
        json!({"id": format!("evt_{number}"), "type": "radar.early_fraud_warning.created",
            "created": noon().timestamp(),
            "data": {"object": stripe_warning(number, &format!("ch_{number}").into())}})
    };

    house.receive("unused", &webhook(3)).await;
    house.receive("unused", &webhook(1)).await;
    let before = (house.names().await, house.counts().await);
    house.poll().await;

    assert_eq!((before.0, before.1.mapped, before.1.unmapped), (vec!["issfr_3".to_owned()], 1, 1));
    assert_eq!(house.names().await, ["issfr_1", "issfr_2", "issfr_3"]);
    let organization = house.engine.local_caller(None).await.unwrap().organization.organization.id;
    let events = house.engine.store().source_events(organization, "eu", EventsOf::Shown, 100).await.unwrap();
    let kept = events.iter().find(|event| event.event == "evt_3").unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&kept.body).unwrap(), webhook(3), "as it came");
}
