//! Alerts coming in: identity, what a known one takes over, and what follows.

use avert::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, CompanyId, Currency, Deadline,
    IngestReport, Provider,
};
use chrono::Duration;

use super::{Fixture, outcome, row};
use crate::support::alerts::{noon, open_alert};

contract!(
    changed_provider_data_are_taken_over_and_the_update_shows,
    an_alert_seen_again_as_it_was_changes_nothing,
    what_a_row_leaves_empty_keeps_its_stored_value,
    a_known_alert_keeps_status_outcome_deadline_and_creation,
    a_resolved_alert_keeps_every_time,
    an_open_alert_takes_over_times_that_are_given,
    an_alert_is_known_by_provider_and_provider_id,
    an_alert_is_known_by_a_given_id,
    two_rows_of_one_alert_in_one_batch_are_one_alert,
    alerts_without_any_provider_id_are_never_the_same,
    searches_and_totals_follow_a_change,
    a_batch_is_stored_as_a_whole_or_not_at_all,
);

async fn ingest(fixture: &Fixture, rows: Vec<AlertPatch>) -> IngestReport {
    fixture.store.ingest(fixture.organization, rows, noon() + Duration::hours(1)).await.unwrap()
}

/// A row that is recognised by provider and provider id, with a fresh id.
fn by_provider_id(alert: &Alert) -> AlertPatch {
    row(&Alert { id: AlertId::generate(), ..alert.clone() }, false).without("id")
}

fn report(created: u64, updated: u64, unchanged: u64) -> IngestReport {
    IngestReport { created, updated, unchanged, rejected: vec![] }
}

async fn changed_provider_data_are_taken_over_and_the_update_shows(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let news = Alert { issuer: "Another Bank".to_owned(), amount: Some("130.00".parse().unwrap()), ..alert.clone() };

    let told = ingest(&fixture, vec![row(&news, false)]).await;

    assert_eq!(told, report(0, 1, 0));
    assert_eq!(fixture.get(&alert).await, Alert { updated_at: Some(noon() + Duration::hours(1)), ..news });
}

async fn an_alert_seen_again_as_it_was_changes_nothing(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let change = *fixture.store.changes().borrow();

    let told = ingest(&fixture, vec![row(&alert, true), by_provider_id(&alert)]).await;

    assert_eq!(told, report(0, 0, 2));
    assert_eq!(fixture.get(&alert).await, alert);
    assert_eq!(*fixture.store.changes().borrow(), change);
}

async fn what_a_row_leaves_empty_keeps_its_stored_value(fixture: Fixture) {
    let alert = Alert { company_id: Some(CompanyId::generate()), has_external_transaction: true, ..open_alert("P1") };
    fixture.bring(std::slice::from_ref(&alert)).await;
    let bare = Alert {
        id: alert.id,
        provider_id: alert.provider_id.clone(),
        amount: alert.amount,
        currency: Currency::new("EUR"),
        company_id: Some(CompanyId::generate()),
        alert_time: Some(noon()),
        transaction_time: Some(noon()),
        ..Alert::new(AlertId::generate(), alert.provider.clone(), alert.alert_type.clone())
    };
    let made = row(&bare, false).without("companyId").without("alertTimeStamp").without("transactionTimeStamp");

    let told = ingest(&fixture, vec![made]).await;

    assert_eq!(told, report(0, 0, 1));
    assert_eq!(fixture.get(&alert).await, alert);
}

async fn a_known_alert_keeps_status_outcome_deadline_and_creation(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let claimed = Alert {
        status: AlertStatus::Resolved,
        outcome: Some(outcome(&alert, "resolved")),
        deadline: Deadline::At(noon() + Duration::days(9)),
        created_at: Some(noon()),
        expired_at: Some(noon()),
        ..alert.clone()
    };

    let told = ingest(&fixture, vec![row(&claimed, false)]).await;

    assert_eq!(told, report(0, 0, 1));
    assert_eq!(fixture.get(&alert).await, alert);
}

async fn a_resolved_alert_keeps_every_time(fixture: Fixture) {
    let alert = open_alert("P1");
    let alert = Alert { status: AlertStatus::Resolved, outcome: Some(outcome(&alert, "resolved")), ..alert };
    fixture.bring(std::slice::from_ref(&alert)).await;
    let news = Alert {
        alert_time: Some(noon()),
        transaction_time: Some(noon()),
        status: AlertStatus::Open,
        outcome: None,
        issuer: "Another Bank".to_owned(),
        ..alert.clone()
    };

    ingest(&fixture, vec![row(&news, false)]).await;

    let expected =
        Alert { issuer: "Another Bank".to_owned(), updated_at: Some(noon() + Duration::hours(1)), ..alert.clone() };
    assert_eq!(fixture.get(&alert).await, expected);
}

async fn an_open_alert_takes_over_times_that_are_given(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let news = Alert { alert_time: Some(noon() - Duration::days(3)), transaction_time: Some(noon()), ..alert.clone() };

    ingest(&fixture, vec![row(&news, false)]).await;

    let stored = fixture.get(&alert).await;
    assert_eq!(
        (stored.alert_time, stored.transaction_time, stored.deadline),
        (news.alert_time, news.transaction_time, alert.deadline)
    );
}

async fn an_alert_is_known_by_provider_and_provider_id(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let elsewhere = Alert { provider: Provider::Verifi, alert_type: AlertType::VerifiDispute, ..alert.clone() };

    let told = ingest(&fixture, vec![by_provider_id(&alert), by_provider_id(&elsewhere)]).await;

    assert_eq!(told, report(1, 0, 1));
    assert_eq!(fixture.store.count_alerts(fixture.organization).await.unwrap(), 2);
}

async fn an_alert_is_known_by_a_given_id(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let renamed = Alert { provider_id: "P2".to_owned(), ..alert.clone() };
    let another = Alert { id: AlertId::generate(), ..alert.clone() };

    let told = ingest(&fixture, vec![row(&renamed, false), row(&another, false)]).await;

    assert_eq!(told, report(1, 1, 0));
    assert_eq!(fixture.get(&alert).await.provider_id, "P2");
}

async fn two_rows_of_one_alert_in_one_batch_are_one_alert(fixture: Fixture) {
    let alert = open_alert("P1");
    let news = Alert { merchant_descriptor: "ACME*TRAVEL".to_owned(), ..alert.clone() };
    let more = Alert { merchant_descriptor: "ACME*HOTELS".to_owned(), ..alert.clone() };

    let told = ingest(
        &fixture,
        vec![by_provider_id(&alert), by_provider_id(&news), by_provider_id(&more), by_provider_id(&more)],
    )
    .await;

    let (found, total) = fixture.list(&AlertQuery::default()).await;
    assert_eq!((told, total), (report(1, 2, 1), 1));
    assert_eq!(found[0].merchant_descriptor, "ACME*HOTELS");
    assert_eq!(search(&fixture, "travel").await, 0);
    assert_eq!(search(&fixture, "hotels").await, 1);
}

async fn alerts_without_any_provider_id_are_never_the_same(fixture: Fixture) {
    let told = ingest(&fixture, vec![row(&open_alert(""), false), by_provider_id(&open_alert(""))]).await;

    assert_eq!(told, report(2, 0, 0));
}

async fn search(fixture: &Fixture, q: &str) -> u64 {
    let filter = AlertFilter { q: Some(q.to_owned()), ..AlertFilter::default() };
    fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1
}

async fn searches_and_totals_follow_a_change(fixture: Fixture) {
    let alert = open_alert("P1");
    fixture.bring(&[alert.clone(), open_alert("P2")]).await;
    let moved = Alert {
        merchant_descriptor: "NEWNAME".to_owned(),
        provider: Provider::Cdrn,
        alert_time: alert.alert_time.map(|time| time - Duration::days(10)),
        ..alert.clone()
    };
    let total = async |filter: AlertFilter| fixture.list(&AlertQuery { filter, ..AlertQuery::default() }).await.1;
    let of = |provider| AlertFilter { providers: vec![provider], ..AlertFilter::default() };
    let before = (search(&fixture, "ne").await, total(of(Provider::Cdrn)).await);

    ingest(&fixture, vec![row(&moved, false)]).await;

    assert_eq!(before, (0, 0));
    assert_eq!(
        (search(&fixture, "ne").await, search(&fixture, "newname").await, search(&fixture, "acme").await),
        (1, 1, 1)
    );
    assert_eq!((total(of(Provider::Cdrn)).await, total(of(Provider::Ethoca)).await), (1, 1));
    let old = AlertFilter { end_date: Some((noon() - Duration::days(9)).date_naive()), ..AlertFilter::default() };
    assert_eq!(total(old).await, 1);
}

async fn a_batch_is_stored_as_a_whole_or_not_at_all(fixture: Fixture) {
    let stranger = avert::domain::OrganizationId::generate();

    let refused = fixture.store.ingest(stranger, vec![row(&open_alert("P1"), true)], noon()).await;

    assert!(refused.is_err());
    assert_eq!(fixture.store.count_alerts(fixture.organization).await.unwrap(), 0);
}
