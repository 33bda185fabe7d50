//! Deadlines: what lapses and what does not.

use avert::{
    domain::{Alert, AlertFilter, AlertQuery, AlertStatus, Deadline},
    store::AttemptEnd,
};
use chrono::Duration;

use super::{
    Fixture,
    organizations::organization,
    outcome,
    resolutions::{claim, claimed},
    row,
};
use crate::support::alerts::{noon, open_alert};

contract!(
    an_open_alert_past_its_deadline_becomes_expired_at_its_deadline,
    what_waits_for_the_provider_does_not_lapse_until_it_is_released,
    only_as_many_lapse_as_are_asked_for_the_earliest_first,
    only_open_alerts_without_outcome_lapse,
    alerts_of_every_organization_lapse,
);

fn due(id: &str, seconds: i64) -> Alert {
    Alert { deadline: Deadline::At(noon() + Duration::seconds(seconds)), ..open_alert(id) }
}

async fn an_open_alert_past_its_deadline_becomes_expired_at_its_deadline(fixture: Fixture) {
    let (past, exact, future) = (due("past", -10), due("exact", 0), due("future", 1));
    fixture.bring(&[past.clone(), exact.clone(), future.clone()]).await;
    let next_before = fixture.store.next_deadline().await.unwrap();

    let expired = fixture.store.expire_due(noon(), 100).await.unwrap();

    let lapsed = Alert {
        status: AlertStatus::Expired,
        expired_at: past.deadline.moment(),
        updated_at: Some(noon()),
        ..past.clone()
    };
    assert_eq!(expired, 2);
    assert_eq!(next_before, past.deadline.moment());
    assert_eq!(fixture.get(&past).await, lapsed);
    assert_eq!(fixture.get(&exact).await.status, AlertStatus::Expired);
    assert_eq!(fixture.get(&future).await, future);
    assert_eq!(fixture.store.next_deadline().await.unwrap(), future.deadline.moment());
    let filter = AlertFilter { statuses: vec![AlertStatus::Expired], ..AlertFilter::default() };
    assert_eq!(fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1, 2);
    assert_eq!(fixture.store.expire_due(noon(), 100).await.unwrap(), 0);
}

async fn what_waits_for_the_provider_does_not_lapse_until_it_is_released(fixture: Fixture) {
    let alert = due("P1", 10);
    fixture.bring(std::slice::from_ref(&alert)).await;
    let request = claim(&fixture, &alert);
    let generation = claimed(&fixture, request.clone()).await;
    let late = noon() + Duration::minutes(1);

    let while_running =
        (fixture.store.expire_due(late, 100).await.unwrap(), fixture.store.next_deadline().await.unwrap());
    fixture.store.end_attempt(request.attempt, generation, AttemptEnd::Released, "refused", late.into()).await.unwrap();
    let next = fixture.store.next_deadline().await.unwrap();
    let released = fixture.store.expire_due(late, 100).await.unwrap();

    assert_eq!(while_running, (0, None));
    assert_eq!(next, alert.deadline.moment());
    assert_eq!(released, 1);
}

async fn only_as_many_lapse_as_are_asked_for_the_earliest_first(fixture: Fixture) {
    let alerts: Vec<Alert> = (1..=5).map(|number| due(&format!("P{number}"), -number)).collect();
    fixture.bring(&alerts).await;

    let first = fixture.store.expire_due(noon(), 2).await.unwrap();
    let next = fixture.store.next_deadline().await.unwrap();
    let rest = fixture.store.expire_due(noon(), 100).await.unwrap();

    assert_eq!((first, next, rest), (2, alerts[2].deadline.moment(), 3));
}

async fn only_open_alerts_without_outcome_lapse(fixture: Fixture) {
    let answered = due("answered", -1);
    let answered = Alert { outcome: Some(outcome(&answered, "resolved")), ..answered };
    let processing = Alert { status: AlertStatus::Processing, ..due("processing", -1) };
    let endless = Alert { deadline: Deadline::Unknown, ..open_alert("endless") };
    fixture.bring(&[answered, processing, endless]).await;

    assert_eq!(fixture.store.next_deadline().await.unwrap(), None);
    assert_eq!(fixture.store.expire_due(noon(), 100).await.unwrap(), 0);
}

async fn alerts_of_every_organization_lapse(fixture: Fixture) {
    let (another, own, theirs) = (organization("another"), due("own", -1), due("theirs", -2));
    fixture.store.add_organization(another.clone(), noon()).await.unwrap();
    fixture.bring(std::slice::from_ref(&own)).await;
    fixture.store.ingest(another.organization.id, vec![row(&theirs, false)], noon()).await.unwrap();

    let expired = fixture.store.expire_due(noon(), 100).await.unwrap();

    assert_eq!(expired, 2);
    let theirs = fixture.store.get_alert(another.organization.id, theirs.id).await.unwrap().unwrap();
    assert_eq!([fixture.get(&own).await.status, theirs.status.clone()], [AlertStatus::Expired, AlertStatus::Expired]);
}
