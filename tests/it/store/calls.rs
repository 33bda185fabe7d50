//! Calls: events about the work, to the endpoints that are marked for them and to no others.

use avert::{
    domain::{
        Alert, AlertType, Deadline, Delivery, DeliveryFilter, Endpoint, EndpointAuth, EventKind, MonotonicTime,
        NewEndpoint, NextStep, Outcome, Provider, Secret, Subscription, Timestamp,
    },
    store::{AttemptEnd, AttemptRecord},
};
use chrono::Duration;

use super::{
    Fixture, outcome,
    resolutions::{claim, claimed},
};
use crate::support::alerts::{noon, open_alert};

contract!(
    an_alert_that_is_due_soon_is_called_once_at_each_endpoint_that_is_marked,
    an_alert_is_called_as_long_before_its_deadline_as_the_endpoint_wants,
    what_asks_for_no_answer_is_not_called,
    an_answer_that_waits_for_a_person_is_called_and_one_that_is_under_way_is_not,
    only_alerts_of_the_named_providers_are_told,
    an_endpoint_that_fails_for_ten_minutes_is_reported_once_until_its_next_success,
);

async fn endpoint(fixture: &Fixture, url: &str, subscription: Subscription) -> Endpoint {
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
    let new = NewEndpoint { subscription, ..NewEndpoint::new(url.parse().unwrap(), auth) };
    fixture.store.add_endpoint(fixture.organization, new, 32, noon()).await.unwrap().expect("room for one more")
}

fn marked(events: &[EventKind]) -> Subscription {
    Subscription { events: events.to_vec(), ..Subscription::default() }
}

fn due(id: &str, minutes: i64) -> Alert {
    Alert { deadline: Deadline::At(noon() + Duration::minutes(minutes)), ..open_alert(id) }
}

/// Records what is to be called, and returns how much that was; nothing is left of it.
async fn call(fixture: &Fixture, now: Timestamp) -> u64 {
    let due = fixture.store.has_expiring(now).await.unwrap();
    let recorded = fixture.store.record_expiring(now, 100).await.unwrap();
    assert_eq!(due, recorded > 0);
    assert!(!fixture.store.has_expiring(now).await.unwrap());
    recorded
}

async fn deliveries_to(fixture: &Fixture, endpoint: &Endpoint) -> Vec<Delivery> {
    let filter = DeliveryFilter { endpoint: Some(endpoint.id), size: Some(100), ..DeliveryFilter::default() };
    fixture.store.deliveries(fixture.organization, filter).await.unwrap().data
}

async fn told(fixture: &Fixture, endpoint: &Endpoint) -> Vec<EventKind> {
    deliveries_to(fixture, endpoint).await.into_iter().map(|delivery| delivery.kind).collect()
}

async fn an_alert_that_is_due_soon_is_called_once_at_each_endpoint_that_is_marked(fixture: Fixture) {
    let plain = endpoint(&fixture, "https://a.example", Subscription::default()).await;
    let [first, second] = ["https://b.example", "https://c.example"]
        .map(|url| endpoint(&fixture, url, marked(&[EventKind::AlertExpiring])));
    let (first, second) = (first.await, second.await);
    let (soon, later) = (due("soon", 20), due("later", 31));
    fixture.announce(&soon).await;
    fixture.announce(&later).await;

    let (called, again) = (call(&fixture, noon()).await, call(&fixture, noon()).await);

    assert_eq!((called, again), (2, 0));
    assert_eq!(told(&fixture, &plain).await, [EventKind::AlertCreated, EventKind::AlertCreated]);
    for marked in [first, second] {
        let deliveries = deliveries_to(&fixture, &marked).await;
        assert_eq!(deliveries.len(), 1);
        assert_eq!((&deliveries[0].kind, deliveries[0].subject()), (&EventKind::AlertExpiring, Some(soon.id)));
    }
}

async fn an_alert_is_called_as_long_before_its_deadline_as_the_endpoint_wants(fixture: Fixture) {
    let subscription = Subscription { minutes: 120, ..marked(&[EventKind::AlertExpiring]) };
    endpoint(&fixture, "https://a.example", subscription.clone()).await;
    fixture.bring(&[due("P1", 121), due("over", -1)]).await;

    let early = call(&fixture, noon()).await;
    let in_time = call(&fixture, noon() + Duration::minutes(1)).await;

    assert_eq!((early, in_time), (0, 1));
    assert_eq!(fixture.store.endpoints(fixture.organization).await.unwrap()[0].subscription, subscription);
}

async fn what_asks_for_no_answer_is_not_called(fixture: Fixture) {
    endpoint(&fixture, "https://a.example", marked(&[EventKind::AlertExpiring])).await;
    let answered = due("answered", 10);
    let outcome: Option<Outcome> = Some(outcome(&answered, "resolved"));
    let notice = Alert { alert_type: AlertType::NOTICES[0].clone(), ..due("notice", 10) };
    fixture.bring(&[Alert { outcome, ..answered }, notice]).await;

    assert_eq!(call(&fixture, noon()).await, 0);
}

async fn an_answer_that_waits_for_a_person_is_called_and_one_that_is_under_way_is_not(fixture: Fixture) {
    endpoint(&fixture, "https://a.example", marked(&[EventKind::AlertExpiring])).await;
    let alert = due("unconfirmed", 10);
    fixture.bring(std::slice::from_ref(&alert)).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let end = async |end: AttemptEnd| {
        assert!(fixture.store.end_attempt(request.attempt, generation, end, "", noon().into()).await.unwrap());
        call(&fixture, noon()).await
    };

    let sending = call(&fixture, noon()).await;
    let unknown = end(AttemptEnd::Unknown { next_check: noon(), calls_over: MonotonicTime::by_date(noon()) }).await;
    let parked = end(AttemptEnd::Parked).await;
    let again = call(&fixture, noon()).await;

    assert_eq!((sending, unknown, parked, again), (0, 0, 1, 0));
}

async fn only_alerts_of_the_named_providers_are_told(fixture: Fixture) {
    let events = [EventKind::AlertCreated, EventKind::AlertExpiring];
    let subscription = Subscription { providers: vec![Provider::Cdrn], ..marked(&events) };
    let cdrn_only = endpoint(&fixture, "https://a.example", subscription).await;
    fixture.announce(&due("ethoca", 10)).await;
    fixture.announce(&Alert { provider: Provider::Cdrn, ..due("cdrn", 10) }).await;

    let called = call(&fixture, noon()).await;

    assert_eq!(called, 1);
    assert_eq!(told(&fixture, &cdrn_only).await, [EventKind::AlertExpiring, EventKind::AlertCreated]);
}

async fn an_endpoint_that_fails_for_ten_minutes_is_reported_once_until_its_next_success(fixture: Fixture) {
    let failing = endpoint(&fixture, "https://a.example", Subscription::default()).await;
    let told_of = endpoint(&fixture, "https://b.example", marked(&[EventKind::EndpointFailing])).await;
    let attempt = async |minutes: i64, next: NextStep| {
        let now = noon() + Duration::minutes(minutes);
        fixture.announce(&due(&format!("P{minutes}"), 1_000)).await;
        let claimed =
            fixture.store.claim_due_deliveries(now, now + Duration::seconds(45), 100, 100, &[]).await.unwrap();
        let due = claimed.iter().find(|due| due.endpoint == failing.id).expect("a delivery that is due");
        let record = AttemptRecord {
            delivery: due.delivery,
            generation: due.generation,
            started_at: now,
            duration: Duration::milliseconds(120),
            status: Some(if next == NextStep::Delivered { 204 } else { 503 }),
            error: None,
            refused: false,
            answer: String::new(),
            sent: None,
            ended_at: now,
            next,
        };
        fixture.store.record_attempts([record].into(), now).await.unwrap();
        told(&fixture, &told_of).await.len()
    };

    let mut reported = Vec::new();
    for (minutes, next) in [
        (0, NextStep::Exhausted),
        (9, NextStep::Exhausted),
        (10, NextStep::Exhausted),
        (20, NextStep::Exhausted),
        (21, NextStep::Delivered),
        (30, NextStep::Exhausted),
        (41, NextStep::Exhausted),
        (42, NextStep::DisableEndpoint("410 Gone".to_owned())),
    ] {
        reported.push(attempt(minutes, next).await);
    }

    assert_eq!(reported, [0, 0, 1, 1, 1, 1, 2, 3]);
    let delivery = &deliveries_to(&fixture, &told_of).await[0];
    assert_eq!((&delivery.kind, delivery.subject(), delivery.test), (&EventKind::EndpointFailing, None, false));
}
