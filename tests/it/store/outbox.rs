//! The outbox: what is owed to whom, in which order, and who may send it now.

use avert::{
    domain::{
        Actor, Alert, CaCertificates, Delivery, DeliveryFilter, DeliveryState, Endpoint, EndpointAuth, EndpointId,
        NewEndpoint, NextStep, OrganizationId, Secret, Timestamp,
    },
    store::{AttemptRecord, CommitRequest, DueDelivery, PullEnd},
};
use chrono::Duration;

use super::{
    Fixture,
    organizations::organization,
    resolutions::{claim, resolve},
    row,
};
use crate::support::{
    alerts::{noon, open_alert},
    tls::Authority,
};

contract!(
    a_new_alert_is_announced_to_every_endpoint_with_its_credential,
    a_silent_alert_is_announced_to_nobody,
    a_delivery_is_leased_to_one_at_a_time_and_again_after_its_lease,
    of_what_is_leased_only_that_comes_back_whose_lease_has_run_out,
    a_record_whose_fence_is_lost_changes_nothing,
    a_failed_try_is_due_again_with_the_same_event_and_the_next_number,
    a_resolution_is_told_after_the_creation_has_arrived,
    a_resolution_waits_two_minutes_at_most,
    a_clock_set_back_keeps_no_retry_waiting_longer_than_its_gap,
    a_clock_set_back_does_not_make_a_lease_longer_than_twice_what_it_is,
    what_is_held_back_hides_nothing_that_is_due_before_it_is_let_go,
    a_resolution_goes_out_when_the_creation_is_exhausted,
    a_slow_endpoint_gets_no_more_than_its_share_and_holds_up_nobody,
    what_is_due_longest_goes_first_and_never_more_than_asked_for,
    an_organization_with_much_that_is_due_takes_no_turn_of_another,
    an_organization_has_no_more_endpoints_than_it_may,
    a_skipped_endpoint_gets_nothing,
    a_disabled_endpoint_gets_nothing_more,
    every_try_shows_in_the_deliveries_of_the_alert,
    what_may_not_be_sent_from_here_was_no_attempt_and_stays_due,
    beside_a_service_others_lease_nothing_until_it_has_ended,
    an_event_has_the_trace_of_its_request_whoever_ends_the_work,
);

async fn endpoint(fixture: &Fixture, url: &str) -> Endpoint {
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new(format!("token of {url}")) };
    let new = NewEndpoint::new(url.parse().unwrap(), auth);
    fixture.store.add_endpoint(fixture.organization, new, 32, noon()).await.unwrap().expect("room for one more")
}

async fn due_at(fixture: &Fixture, now: Timestamp) -> Vec<DueDelivery> {
    fixture.store.claim_due_deliveries(now, now + Duration::seconds(45), 100, 100, &[]).await.unwrap()
}

fn record(due: &DueDelivery, next: NextStep) -> AttemptRecord {
    AttemptRecord {
        delivery: due.delivery,
        generation: due.generation,
        started_at: noon(),
        duration: Duration::milliseconds(120),
        status: Some(if next == NextStep::Delivered { 204 } else { 503 }),
        error: None,
        refused: false,
        answer: "answer".to_owned(),
        sent: None,
        ended_at: noon(),
        next,
    }
}

async fn finish(fixture: &Fixture, due: &DueDelivery, next: NextStep) {
    fixture.store.record_attempts([record(due, next)].into(), noon()).await.unwrap();
}

/// The deliveries of an alert's events, oldest first.
async fn deliveries_of(fixture: &Fixture, organization: OrganizationId, alert: &Alert) -> Vec<Delivery> {
    let filter = DeliveryFilter { alert: Some(alert.id), size: Some(1_000), ..DeliveryFilter::default() };
    let mut page = fixture.store.deliveries(organization, filter).await.unwrap();
    page.data.reverse();
    page.data
}

async fn states(fixture: &Fixture, alert: &Alert) -> Vec<DeliveryState> {
    deliveries_of(fixture, fixture.organization, alert).await.into_iter().map(|delivery| delivery.state).collect()
}

async fn a_new_alert_is_announced_to_every_endpoint_with_its_credential(fixture: Fixture) {
    let basic = EndpointAuth::Basic { username: "merchant".to_owned(), password: Secret::new("pass:word ü") };
    let ca_certificate: CaCertificates = Authority::new().pem().parse().unwrap();
    let named = ca_certificate.to_string();
    let new =
        NewEndpoint { ca_certificate, ..NewEndpoint::new("https://a.example/hook".parse().unwrap(), basic.clone()) };
    let first = fixture.store.add_endpoint(fixture.organization, new, 32, noon()).await.unwrap().unwrap();
    let second = endpoint(&fixture, "https://b.example/hook").await;
    let alert = open_alert("P1");

    fixture.announce(&alert).await;
    let due = due_at(&fixture, noon()).await;

    let body = format!("alert.created {} P1 OPEN none 2026-03-10T12:00:00.000Z", alert.id);
    assert_eq!(due.len(), 2);
    assert_eq!(
        (due[0].endpoint, due[0].target.url.reveal(), &due[0].target.auth),
        (first.id, "https://a.example/hook", &basic)
    );
    assert_eq!(due[1].endpoint, second.id);
    assert_eq!([&*due[0].target.ca_certificate, &*due[1].target.ca_certificate], [named.as_str(), ""]);
    let [kept, none] = [first.id, second.id].map(|id| fixture.store.target(fixture.organization, id, noon()));
    assert_eq!(
        [kept.await, none.await].map(|target| target.unwrap().unwrap().ca_certificate.to_string()),
        [named, String::new()]
    );
    assert!(due.iter().all(|due| *due.body == body && due.attempt == 1));
    assert_eq!(due[0].event, due[1].event);
    assert_eq!((first.auth.as_str(), second.auth.as_str()), ("Basic", "X-Token"));
    assert_eq!(fixture.store.endpoints(fixture.organization).await.unwrap(), [first, second]);
}

async fn a_silent_alert_is_announced_to_nobody(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");

    fixture.bring(std::slice::from_ref(&alert)).await;

    assert!(due_at(&fixture, noon()).await.is_empty());
    assert!(states(&fixture, &alert).await.is_empty());
    assert_eq!(fixture.store.next_due_delivery().await.unwrap(), None);
}

async fn a_delivery_is_leased_to_one_at_a_time_and_again_after_its_lease(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    fixture.announce(&open_alert("P1")).await;

    let first = due_at(&fixture, noon()).await;
    let meanwhile = due_at(&fixture, noon() + Duration::seconds(44)).await;
    let again = due_at(&fixture, noon() + Duration::seconds(45)).await;

    assert_eq!((first.len(), meanwhile.len(), again.len()), (1, 0, 1));
    assert_eq!(
        (again[0].delivery, again[0].event, &again[0].body),
        (first[0].delivery, first[0].event, &first[0].body)
    );
    assert!(again[0].generation > first[0].generation);
    assert_eq!(again[0].attempt, 1, "a try that nobody recorded is not counted");
}

async fn of_what_is_leased_only_that_comes_back_whose_lease_has_run_out(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    endpoint(&fixture, "https://b.example").await;
    fixture.announce(&open_alert("P1")).await;
    let earlier = due_at(&fixture, noon()).await;
    fixture.announce(&open_alert("P2")).await;
    let later = due_at(&fixture, noon() + Duration::seconds(30)).await;

    let now = noon() + Duration::seconds(46);
    let again = fixture.store.claim_due_deliveries(now, now + Duration::seconds(45), 100, 2, &[]).await.unwrap();
    let full = fixture.store.claim_due_deliveries(now, now + Duration::seconds(45), 100, 2, &[]).await.unwrap();

    let ids = |due: &[DueDelivery]| due.iter().map(|due| due.delivery).collect::<Vec<_>>();
    assert_eq!((earlier.len(), later.len()), (2, 2));
    assert_eq!(ids(&again), ids(&earlier), "one to each endpoint, which has one of its two places left");
    assert!(full.is_empty());
}

async fn a_record_whose_fence_is_lost_changes_nothing(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;
    let first = due_at(&fixture, noon()).await.remove(0);
    let second = due_at(&fixture, noon() + Duration::minutes(1)).await.remove(0);

    finish(&fixture, &first, NextStep::Exhausted).await;
    let after_stale = states(&fixture, &alert).await;
    finish(&fixture, &second, NextStep::Delivered).await;
    finish(&fixture, &second, NextStep::Exhausted).await;

    assert_eq!(after_stale, [DeliveryState::Leased]);
    assert_eq!(states(&fixture, &alert).await, [DeliveryState::Delivered]);
}

async fn a_failed_try_is_due_again_with_the_same_event_and_the_next_number(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    fixture.announce(&open_alert("P1")).await;
    let first = due_at(&fixture, noon()).await.remove(0);
    let later = noon() + Duration::seconds(5);

    finish(&fixture, &first, NextStep::RetryAt(later)).await;
    let next = fixture.store.next_due_delivery().await.unwrap();
    let early = due_at(&fixture, later - Duration::microseconds(1)).await;
    let second = due_at(&fixture, later).await.remove(0);

    assert_eq!((next, early.len()), (Some(later), 0));
    assert_eq!((second.event, second.attempt), (first.event, 2));
}

async fn a_resolution_is_told_after_the_creation_has_arrived(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;
    resolve(&fixture, claim(&fixture, &alert)).await;

    let first = due_at(&fixture, noon() + Duration::seconds(2)).await;
    let while_leased = due_at(&fixture, noon() + Duration::seconds(3)).await;
    finish(&fixture, &first[0], NextStep::RetryAt(noon() + Duration::seconds(30))).await;
    let while_pending = due_at(&fixture, noon() + Duration::seconds(4)).await;
    let retried = due_at(&fixture, noon() + Duration::seconds(30)).await;
    finish(&fixture, &retried[0], NextStep::Delivered).await;
    let then = due_at(&fixture, noon() + Duration::seconds(31)).await;

    assert_eq!((first.len(), while_leased.len(), while_pending.len(), retried.len(), then.len()), (1, 0, 0, 1, 1));
    assert!(first[0].body.starts_with("alert.created") && retried[0].body.starts_with("alert.created"));
    assert!(
        then[0].body.starts_with("alert.resolved") && then[0].body.contains("RESOLVED resolved"),
        "{}",
        then[0].body
    );
}

async fn a_resolution_waits_two_minutes_at_most(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;
    let created = due_at(&fixture, noon()).await.remove(0);
    finish(&fixture, &created, NextStep::RetryAt(noon() + Duration::hours(1))).await;
    let resolved_at = resolve(&fixture, claim(&fixture, &alert)).await.updated_at.unwrap();
    let next = fixture.store.next_due_delivery().await.unwrap();

    let early = due_at(&fixture, resolved_at + Duration::minutes(2) - Duration::microseconds(1)).await;
    let then = due_at(&fixture, resolved_at + Duration::minutes(2)).await;

    assert_eq!((early.len(), then.len()), (0, 1));
    assert!(then[0].body.starts_with("alert.resolved"));
    assert_eq!(next, Some(resolved_at + Duration::minutes(2)));
}

async fn a_clock_set_back_keeps_no_retry_waiting_longer_than_its_gap(fixture: Fixture) {
    endpoint(&fixture, "https://a.example/hook").await;
    fixture.announce(&open_alert("P1")).await;
    let first = due_at(&fixture, noon()).await.remove(0);
    finish(&fixture, &first, NextStep::RetryAt(noon() + Duration::hours(12))).await;

    let early = due_at(&fixture, noon() + Duration::hours(11)).await;
    let set_back = due_at(&fixture, noon() - Duration::days(1)).await;

    assert_eq!((early.len(), set_back.len()), (0, 1));
    assert_eq!((set_back[0].delivery, set_back[0].attempt), (first.delivery, 2));
}

async fn a_clock_set_back_does_not_make_a_lease_longer_than_twice_what_it_is(fixture: Fixture) {
    endpoint(&fixture, "https://a.example/hook").await;
    fixture.announce(&open_alert("P1")).await;
    let first = due_at(&fixture, noon()).await;

    let a_little = due_at(&fixture, noon() - Duration::seconds(45)).await;
    let a_day = due_at(&fixture, noon() - Duration::days(1)).await;

    assert_eq!((first.len(), a_little.len(), a_day.len()), (1, 0, 1));
}

async fn what_is_held_back_hides_nothing_that_is_due_before_it_is_let_go(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let (held, other) = (open_alert("P1"), open_alert("P2"));
    fixture.announce(&held).await;
    fixture.announce(&other).await;
    for (due, gap) in due_at(&fixture, noon()).await.iter().zip([Duration::hours(1), Duration::seconds(30)]) {
        finish(&fixture, due, NextStep::RetryAt(noon() + gap)).await;
    }
    // Due at once, held back for two minutes.
    let resolved_at = resolve(&fixture, claim(&fixture, &held)).await.updated_at.unwrap();
    let next = || fixture.store.next_due_delivery();

    assert_eq!(next().await.unwrap(), Some(noon() + Duration::seconds(30)));
    let again = due_at(&fixture, noon() + Duration::seconds(30)).await.remove(0);
    finish(&fixture, &again, NextStep::RetryAt(noon() + Duration::minutes(30))).await;
    assert_eq!(next().await.unwrap(), Some(resolved_at + Duration::minutes(2)));
    // And at another endpoint something is due before either.
    endpoint(&fixture, "https://b.example").await;
    let third = open_alert("P3");
    fixture.announce(&third).await;
    for due in due_at(&fixture, noon()).await {
        let gap = if due.target.url.reveal().starts_with("https://b.") {
            Duration::seconds(50)
        } else {
            Duration::seconds(55)
        };
        finish(&fixture, &due, NextStep::RetryAt(noon() + gap)).await;
    }
    assert_eq!(next().await.unwrap(), Some(noon() + Duration::seconds(50)));
}

async fn a_resolution_goes_out_when_the_creation_is_exhausted(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;
    let created = due_at(&fixture, noon()).await.remove(0);
    resolve(&fixture, claim(&fixture, &alert)).await;

    finish(&fixture, &created, NextStep::Exhausted).await;

    assert_eq!(due_at(&fixture, noon() + Duration::seconds(2)).await.len(), 1);
}

async fn a_slow_endpoint_gets_no_more_than_its_share_and_holds_up_nobody(fixture: Fixture) {
    let slow = endpoint(&fixture, "https://slow.example").await;
    for number in 0..5 {
        fixture.announce(&open_alert(&format!("P{number}"))).await;
    }
    let quick = endpoint(&fixture, "https://quick.example").await;
    fixture.announce(&open_alert("P9")).await;
    let take =
        async || fixture.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 100, 2, &[]).await.unwrap();

    let first = take().await;
    let second = take().await;
    finish(&fixture, &first[0], NextStep::Delivered).await;
    let third = take().await;

    let share = |due: &[DueDelivery], of: &Endpoint| due.iter().filter(|due| due.endpoint == of.id).count();
    assert_eq!((share(&first, &slow), share(&first, &quick)), (2, 1));
    assert!(second.is_empty());
    assert_eq!((share(&third, &slow), third.len()), (1, 1));
}

async fn what_is_due_longest_goes_first_and_never_more_than_asked_for(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    endpoint(&fixture, "https://b.example").await;
    for number in 0..3 {
        fixture.announce(&open_alert(&format!("P{number}"))).await;
    }
    let first = due_at(&fixture, noon()).await;
    let later = |seconds| NextStep::RetryAt(noon() + Duration::seconds(seconds));
    for (due, seconds) in first.iter().zip([50, 30, 10, 60, 20, 40]) {
        finish(&fixture, due, later(seconds)).await;
    }

    let now = noon() + Duration::minutes(5);
    let mut order = Vec::new();
    for limit in [2, 3, 5] {
        let taken =
            fixture.store.claim_due_deliveries(now, now + Duration::seconds(45), limit, 100, &[]).await.unwrap();
        assert!(taken.len() <= limit as usize);
        order.extend(taken.into_iter().map(|due| due.delivery));
    }

    let expected: Vec<_> = [2, 4, 1, 5, 0, 3].map(|index: usize| first[index].delivery).into();
    assert_eq!(order, expected);
}

async fn an_organization_with_much_that_is_due_takes_no_turn_of_another(fixture: Fixture) {
    let neighbour = organization("neighbour");
    let other = neighbour.organization.id;
    fixture.store.add_organization(neighbour, noon()).await.unwrap();
    for number in 0..4 {
        endpoint(&fixture, &format!("https://{number}.busy.example")).await;
    }
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
    let quiet = NewEndpoint::new("https://quiet.example".parse().unwrap(), auth);
    fixture.store.add_endpoint(other, quiet, 32, noon()).await.unwrap().unwrap();
    for number in 0..10 {
        fixture.announce(&open_alert(&format!("P{number}"))).await;
    }
    let later = noon() + Duration::seconds(1);
    let rows = (0..3).map(|number| row(&open_alert(&format!("Q{number}")), true)).collect();
    fixture.store.ingest(other, rows, later).await.unwrap();

    let claim = async |limit| {
        let due =
            fixture.store.claim_due_deliveries(later, later + Duration::seconds(45), limit, 100, &[]).await.unwrap();
        due.iter().filter(|due| due.organization == other).count()
    };

    assert_eq!(claim(4).await, 2, "half of what is claimed, though the other one's was due before");
    assert_eq!(claim(1).await, 0, "the busy one's turn: it is due longest");
    assert_eq!(claim(1).await, 1, "then the quiet one's again");
}

async fn an_organization_has_no_more_endpoints_than_it_may(fixture: Fixture) {
    let add = async || {
        let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
        let new = NewEndpoint::new("https://a.example".parse().unwrap(), auth);
        fixture.store.add_endpoint(fixture.organization, new, 2, noon()).await.unwrap()
    };
    let (first, second, third) = (add().await, add().await, add().await);
    assert!(fixture.store.remove_endpoint(fixture.organization, first.unwrap().id, noon()).await.unwrap());

    assert!(second.is_some() && third.is_none());
    assert_eq!(fixture.store.endpoints(fixture.organization).await.unwrap().len(), 1);
    assert!(add().await.is_some() && add().await.is_none(), "a removed one makes room");
}

async fn a_skipped_endpoint_gets_nothing(fixture: Fixture) {
    let broken = endpoint(&fixture, "https://broken.example").await;
    let healthy = endpoint(&fixture, "https://healthy.example").await;
    fixture.announce(&open_alert("P1")).await;

    let due =
        fixture.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 10, 10, &[broken.id]).await.unwrap();

    assert_eq!(due.iter().map(|due| due.endpoint).collect::<Vec<EndpointId>>(), [healthy.id]);
}

async fn a_disabled_endpoint_gets_nothing_more(fixture: Fixture) {
    let gone = endpoint(&fixture, "https://gone.example").await;
    let (first, second, third) = (open_alert("P1"), open_alert("P2"), open_alert("P3"));
    for alert in [&first, &second, &third] {
        fixture.announce(alert).await;
    }
    let mut due = fixture.store.claim_due_deliveries(noon(), noon() + Duration::seconds(45), 2, 10, &[]).await.unwrap();
    let (other, told_off) = (due.pop().unwrap(), due.pop().unwrap());

    finish(&fixture, &told_off, NextStep::DisableEndpoint("410 Gone".to_owned())).await;
    finish(&fixture, &other, NextStep::RetryAt(noon())).await;
    let late = open_alert("P4");
    fixture.announce(&late).await;

    assert!(due_at(&fixture, noon() + Duration::days(1)).await.is_empty());
    for alert in [&first, &second, &third] {
        assert_eq!(states(&fixture, alert).await, [DeliveryState::Cancelled]);
    }
    assert!(states(&fixture, &late).await.is_empty());
    let shown = fixture.store.endpoints(fixture.organization).await.unwrap();
    assert_eq!(shown, [Endpoint { disabled: Some((noon(), "410 Gone".to_owned())), ..gone }]);
    assert_eq!(fixture.store.next_due_delivery().await.unwrap(), None);
}

async fn every_try_shows_in_the_deliveries_of_the_alert(fixture: Fixture) {
    let endpoint = endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;
    let first = due_at(&fixture, noon()).await.remove(0);
    let broken = AttemptRecord {
        status: None,
        error: Some("connection refused".to_owned()),
        refused: false,
        answer: "ü".repeat(20_000),
        ..record(&first, NextStep::RetryAt(noon() + Duration::seconds(5)))
    };

    fixture.store.record_attempts([broken].into(), noon()).await.unwrap();
    let waiting = deliveries_of(&fixture, fixture.organization, &alert).await.remove(0);
    let second = due_at(&fixture, noon() + Duration::seconds(5)).await.remove(0);
    finish(&fixture, &second, NextStep::Delivered).await;
    let delivered = deliveries_of(&fixture, fixture.organization, &alert).await.remove(0);

    assert_eq!(
        (waiting.id, waiting.event, waiting.alert, waiting.endpoint),
        (first.delivery, first.event, alert.id, endpoint.id)
    );
    assert_eq!(
        (waiting.state, waiting.attempts, waiting.due),
        (DeliveryState::Pending, 1, Some(noon() + Duration::seconds(5)))
    );
    assert_eq!(waiting.last_result.as_deref(), Some("connection refused"));
    assert_eq!((delivered.state, delivered.attempts, delivered.due), (DeliveryState::Delivered, 2, None));
    assert_eq!((delivered.last_result.as_deref(), delivered.delivered_at), (Some("204"), Some(noon())));
    assert_eq!(deliveries_of(&fixture, OrganizationId::generate(), &alert).await, []);
}

async fn what_may_not_be_sent_from_here_was_no_attempt_and_stays_due(fixture: Fixture) {
    let endpoint = endpoint(&fixture, "https://a.example").await;
    let alert = open_alert("P1");
    fixture.announce(&alert).await;

    for _ in 0..3 {
        let due = due_at(&fixture, noon()).await.remove(0);
        assert_eq!(due.attempt, 1);
        let refused = AttemptRecord {
            status: None,
            error: Some("not sent".to_owned()),
            refused: true,
            ..record(&due, NextStep::RetryAt(noon()))
        };
        fixture.store.record_attempts([refused].into(), noon()).await.unwrap();
    }

    let waiting = deliveries_of(&fixture, fixture.organization, &alert).await.remove(0);
    assert_eq!((waiting.state, waiting.attempts, waiting.due), (DeliveryState::Pending, 0, Some(noon())));
    assert_eq!(waiting.last_result.as_deref(), Some("not sent"));
    let log = fixture.store.delivery(fixture.organization, waiting.id).await.unwrap().unwrap();
    assert_eq!(log.attempts, []);
    assert_eq!(
        fixture.store.endpoints(fixture.organization).await.unwrap(),
        [endpoint],
        "it is not held against the endpoint"
    );
}

async fn beside_a_service_others_lease_nothing_until_it_has_ended(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    fixture.announce(&open_alert("P1")).await;
    let until = noon() + Duration::seconds(150);

    let service = fixture.service().await;
    let second = fixture.service().await;
    let beside = due_at(&fixture, noon()).await;
    let pull = fixture.store.claim_pull("CDRN gateway", noon(), until).await.unwrap();
    let served = service.claim_pull("CDRN gateway", noon(), until).await.unwrap();
    let ended = served.as_ref().map(|lease| lease.generation).unwrap_or_default();
    let end = PullEnd { ended_at: noon(), next_at: noon(), failure: None };
    service.end_pull("CDRN gateway", ended, end).await.unwrap();
    service.close();
    drop(service);
    let one_is_left = due_at(&fixture, noon()).await;
    second.close();
    drop(second);

    assert!(beside.is_empty() && pull.is_none() && served.is_some() && one_is_left.is_empty());
    assert_eq!(due_at(&fixture, noon()).await.len(), 1);
    assert!(fixture.store.claim_pull("CDRN gateway", noon(), until).await.unwrap().is_some());
}

async fn an_event_has_the_trace_of_its_request_whoever_ends_the_work(fixture: Fixture) {
    endpoint(&fixture, "https://a.example").await;
    let (alert, late) = (open_alert("P1"), noon() + Duration::seconds(11));
    let within = |trace: &str| fixture.store.signed(Actor { trace: trace.to_owned(), ..Actor::default() });
    within("pushed").ingest(fixture.organization, vec![row(&alert, true)], noon()).await.unwrap();
    within("answered").claim_resolution(claim(&fixture, &alert)).await.unwrap();

    let [taken] = fixture
        .store
        .claim_due_attempts(late.into(), late + Duration::seconds(10), 10)
        .await
        .unwrap()
        .try_into()
        .expect("one attempt past its deadline");
    let commit = CommitRequest { attempt: taken.attempt, generation: taken.generation, now: late };
    fixture.store.commit_resolution(commit).await.unwrap();
    let created = due_at(&fixture, late).await;
    finish(&fixture, &created[0], NextStep::Delivered).await;
    let resolved = due_at(&fixture, late).await;

    assert_eq!([&taken.trace, &created[0].trace, &resolved[0].trace], ["answered", "pushed", "answered"]);
}
