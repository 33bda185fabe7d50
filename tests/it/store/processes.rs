//! Several processes on the same data: what a dead one left, leases, and who notices what.

use std::time::Duration as Time;

use avert::{
    domain::{AlertQuery, EndpointAuth, MonotonicTime, NewEndpoint, Secret},
    store::{Claim, Commit, CommitRequest},
};
use chrono::Duration;

use super::{Fixture, resolutions::claim, row};
use crate::support::alerts::{noon, open_alert};

contract!(
    the_work_of_a_dead_process_goes_on_at_once_and_that_of_a_living_one_is_left_alone,
    a_lease_that_was_taken_from_a_dead_process_is_respected,
    another_processs_commit_is_noticed,
    several_processes_write_and_all_of_it_is_there_and_counted,
    of_several_processes_one_claims_an_alert,
    several_processes_that_bring_the_same_alert_in_make_one,
    several_processes_share_what_is_due_and_none_gets_what_another_has,
);

async fn the_work_of_a_dead_process_goes_on_at_once_and_that_of_a_living_one_is_left_alone(dying: Fixture) {
    let living = dying.another().await;
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
    dying
        .store
        .add_endpoint(dying.organization, NewEndpoint::new("https://a.example".parse().unwrap(), auth), 32, noon())
        .await
        .unwrap();
    let alert = open_alert("P1");
    dying.announce(&alert).await;
    let request = claim(&dying, &alert);
    let Claim::Claimed { generation, .. } = dying.store.claim_resolution(request.clone()).await.unwrap() else {
        panic!("not claimed")
    };
    let lease = noon() + Duration::seconds(45);
    let leased = dying.store.claim_due_deliveries(noon(), lease, 10, 10, &[]).await.unwrap();

    let while_alive = (
        living.store.claim_due_attempts(noon().into(), lease, 10).await.unwrap().len(),
        living.store.claim_due_deliveries(noon(), lease, 10, 10, &[]).await.unwrap().len(),
    );
    drop(dying);
    let attempts = living.store.claim_due_attempts(noon().into(), lease, 10).await.unwrap();
    let deliveries = living.store.claim_due_deliveries(noon(), lease, 10, 10, &[]).await.unwrap();

    assert_eq!((while_alive, leased.len()), ((0, 0), 1));
    assert_eq!((attempts.len(), attempts[0].attempt), (1, request.attempt));
    assert!(attempts[0].generation > generation);
    assert_eq!((deliveries.len(), deliveries[0].event), (1, leased[0].event));
    let commit = CommitRequest { attempt: request.attempt, generation: attempts[0].generation, now: noon() };
    assert!(matches!(living.store.commit_resolution(commit).await.unwrap(), Commit::Committed(_)));
}

async fn a_lease_that_was_taken_from_a_dead_process_is_respected(dying: Fixture) {
    let (living, third) = (dying.another().await, dying.another().await);
    let alert = open_alert("P1");
    dying.bring(std::slice::from_ref(&alert)).await;
    dying.store.claim_resolution(claim(&dying, &alert)).await.unwrap();
    drop(dying);
    let lease = noon() + Duration::minutes(1);

    let taken = living.store.claim_due_attempts(noon().into(), lease, 10).await.unwrap();
    let past_deadline =
        third.store.claim_due_attempts((noon() + Duration::seconds(30)).into(), lease, 10).await.unwrap();
    let past_lease = third.store.claim_due_attempts(lease.into(), lease + Duration::minutes(1), 10).await.unwrap();

    assert_eq!((taken.len(), past_deadline.len(), past_lease.len()), (1, 0, 1));
    assert_eq!(taken[0].calls_over, MonotonicTime::by_date(noon()), "the call of a dead process is over");
    assert_eq!(
        past_lease[0].calls_over,
        MonotonicTime::by_date(lease),
        "a process that lives and let its lease run out may have called until then"
    );
}

async fn another_processs_commit_is_noticed(writing: Fixture) {
    let watching = writing.another().await;
    let mut changes = watching.store.changes();

    let alert = open_alert("P1");
    writing.store.ingest(writing.organization, vec![row(&alert, false)], noon()).await.unwrap();
    let noticed = tokio::time::timeout(Time::from_secs(60), changes.wait_for(|number| *number == 1)).await;

    assert!(noticed.is_ok(), "not noticed");
    assert_eq!(watching.get(&alert).await, alert);
}

async fn several_processes_write_and_all_of_it_is_there_and_counted(first: Fixture) {
    let fixtures = [first.another().await, first];

    for round in 0..10 {
        for (number, fixture) in fixtures.iter().enumerate() {
            fixture.announce(&open_alert(&format!("P{round}-{number}"))).await;
        }
    }

    for fixture in &fixtures {
        assert_eq!(fixture.list(&AlertQuery::default()).await.1, 20);
    }
}

async fn of_several_processes_one_claims_an_alert(first: Fixture) {
    let second = first.another().await;
    let alert = open_alert("P1");
    first.bring(std::slice::from_ref(&alert)).await;

    let claims = (0..20).map(|number| {
        let fixture = if number % 2 == 0 { &first } else { &second };
        fixture.store.claim_resolution(claim(fixture, &alert))
    });
    let claims = futures::future::join_all(claims).await;

    let won = claims.into_iter().filter(|claim| matches!(claim, Ok(Claim::Claimed { .. }))).count();
    assert_eq!(won, 1);
}

async fn several_processes_that_bring_the_same_alert_in_make_one(first: Fixture) {
    let second = first.another().await;
    let patches = |number: usize| {
        let alerts = (0..5).map(|alert| open_alert(&format!("P{}", (alert + number) % 5)));
        alerts.map(|alert| row(&alert, true).without("id")).collect::<Vec<_>>()
    };

    let batches = (0..8).map(|number| {
        let fixture = if number % 2 == 0 { &first } else { &second };
        fixture.store.ingest(fixture.organization, patches(number), noon())
    });
    let reports = futures::future::join_all(batches).await;

    let created: u64 = reports.into_iter().map(|report| report.unwrap().created).sum();
    assert_eq!((created, first.list(&AlertQuery::default()).await.1), (5, 5));
    assert_eq!(second.store.count_alerts(second.organization).await.unwrap(), 5);
}

async fn several_processes_share_what_is_due_and_none_gets_what_another_has(first: Fixture) {
    let second = first.another().await;
    let auth = EndpointAuth::Header { name: "X-Token".to_owned(), value: Secret::new("token") };
    let endpoint = NewEndpoint::new("https://a.example".parse().unwrap(), auth);
    first.store.add_endpoint(first.organization, endpoint, 32, noon()).await.unwrap();
    for number in 0..12 {
        first.announce(&open_alert(&format!("P{number}"))).await;
    }
    let lease = noon() + Duration::seconds(45);

    let claims = (0..6).map(|number| {
        let fixture = if number % 2 == 0 { &first } else { &second };
        fixture.store.claim_due_deliveries(noon(), lease, 3, 10, &[])
    });
    let claimed = futures::future::join_all(claims).await;

    let mut deliveries: Vec<_> = claimed.into_iter().flat_map(|due| due.unwrap()).map(|due| due.delivery).collect();
    let taken = deliveries.len();
    deliveries.sort_unstable();
    deliveries.dedup();
    assert_eq!((taken, deliveries.len()), (10, 10), "no more are on their way to an endpoint than may be");
}
