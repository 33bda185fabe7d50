//! Bringing alerts in, through the engine into the store and back.

use avert::{
    domain::{
        Alert, AlertId, AlertPatch, AlertQuery, AlertStatus, Deadline, IngestOptions, IngestReport,
        resolution::Decision, time::Clock,
    },
    service::{Alerts, Changes, Intake, Stats},
};
use chrono::Duration;

use crate::support::{
    alerts::{noon, open_alert},
    engine::{Desk, bring_in, incoming, resolve},
};

const EVENTS: IngestOptions = IngestOptions { events: true };

fn counted(report: &IngestReport) -> (u64, u64, u64, usize) {
    (report.created, report.updated, report.unchanged, report.rejected.len())
}

/// The alert as another source would bring it: without our id.
fn without_id(alert: &Alert) -> AlertPatch {
    incoming(Alert { id: AlertId::generate(), ..alert.clone() }).without("id")
}

#[tokio::test]
async fn a_batch_is_counted_and_its_bad_rows_are_told_by_line() {
    let desk = Desk::new().await;
    let (known, changed) = (open_alert("P-1"), open_alert("P-2"));
    bring_in(&desk.acting, [known.clone(), changed.clone()]).await;
    let bad = Alert { card_last_four: "12345".to_owned(), ..open_alert("P-3") };
    let rows = [known, Alert { issuer: "Barclays".to_owned(), ..changed }, bad, open_alert("P-4")];
    let rows = rows.into_iter().zip(1..).map(|(alert, line)| incoming(alert).at(line)).collect();

    let report = desk.acting.ingest(rows, EVENTS).await.unwrap();

    assert_eq!(counted(&report), (1, 1, 1, 1));
    assert_eq!((report.rejected[0].line, report.rejected[0].error.field.as_str()), (3, "cardLastFour"));
    assert_eq!(desk.acting.count_all().await, Ok(3));
}

#[tokio::test]
async fn an_alert_seen_again_under_its_provider_id_is_the_same_alert_and_keeps_its_deadline() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    desk.clock.advance(Duration::hours(3));
    let mut again = without_id(&Alert { issuer: "Barclays".to_owned(), ..alert.clone() });
    again.alert.deadline = Deadline::HoursLeft(23);

    let report = desk.acting.ingest(vec![again], EVENTS).await.unwrap();

    assert_eq!(counted(&report), (0, 1, 0, 0));
    let stored = desk.acting.get(alert.id).await.unwrap();
    assert_eq!(
        (stored.issuer.as_str(), stored.deadline, stored.updated_at),
        ("Barclays", alert.deadline, Some(desk.clock.now()))
    );
}

#[tokio::test]
async fn a_resolved_alert_keeps_outcome_and_status_whatever_is_brought_in() {
    let desk = Desk::new().await;
    let alert = open_alert("P-1");
    bring_in(&desk.acting, [alert.clone()]).await;
    let resolved = resolve(&desk.acting, alert.id, Decision::Refunded).await.unwrap();

    let again = Alert { status: AlertStatus::Chargeback, ..alert.clone() };
    desk.acting.ingest(vec![incoming(again), without_id(&alert)], EVENTS).await.unwrap();

    let stored = desk.acting.get(alert.id).await.unwrap();
    assert_eq!((stored.status, stored.outcome), (AlertStatus::Resolved, resolved.outcome));
}

#[tokio::test]
async fn a_batch_larger_than_one_commit_is_taken_whole() {
    let desk = Desk::new().await;

    let report = bring_in(&desk.acting, (0..4_001).map(|index| open_alert(&format!("P-{index}")))).await;

    assert_eq!(counted(&report), (4_001, 0, 0, 0));
    assert_eq!(desk.acting.list(&AlertQuery::default()).await.unwrap().total, 4_001);
}

#[tokio::test]
async fn hours_left_of_an_open_alert_become_a_deadline_that_then_runs() {
    let desk = Desk::new().await;
    let mut row = without_id(&open_alert("P-1"));
    row.alert.deadline = Deadline::HoursLeft(5);
    desk.acting.ingest(vec![row], EVENTS).await.unwrap();
    desk.clock.advance(Duration::minutes(90));

    let alert = desk.acting.list(&AlertQuery::default()).await.unwrap().data.remove(0);

    assert_eq!(alert.deadline, Deadline::At(noon() + Duration::hours(5)));
    assert_eq!(alert.hours_left(desk.clock.now()), 3);
}

#[tokio::test]
async fn what_is_at_risk_is_counted_by_currency_and_any_number_of_hours_can_be_asked_for() {
    let desk = Desk::new().await;
    bring_in(&desk.acting, [open_alert("P-1"), open_alert("P-2")]).await;

    let soon = desk.acting.at_risk(1).await.unwrap();
    let ever = desk.acting.at_risk(u32::MAX).await.unwrap();

    assert_eq!(soon, []);
    assert_eq!((ever[0].alerts, ever[0].money.to_string().as_str()), (2, "259.80 EUR"));
}

#[tokio::test]
async fn a_change_wakes_whoever_waits_for_one() {
    let desk = Desk::new().await;
    bring_in(&desk.acting, [open_alert("P-1")]).await;
    let seen = desk.acting.next_change(0).await.unwrap();

    let (next, _) = tokio::join!(desk.acting.next_change(seen), bring_in(&desk.acting, [open_alert("P-2")]));

    assert!(next.unwrap() > seen);
}
