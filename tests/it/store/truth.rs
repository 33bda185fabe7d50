//! What becomes known after the answer: each report once, matched whatever comes first, and never a change of an alert.

use std::collections::BTreeSet;

use avert::domain::{
    Alert, AlertStatus, AnswerKind, CardScheme, ContradictionKind, Currency, Deadline, Outcome, RefundProof,
    RefundState, SalesCount, TruthCounts, TruthKind, TruthReport,
};
use chrono::Duration;

use super::{Fixture, outcome, row};
use crate::support::alerts::{noon, open_alert};

contract!(
    a_report_is_recorded_once_and_matched_early_or_late,
    whatever_order_alerts_and_reports_come_in_the_same_matches_result,
    a_report_changes_no_alert,
    an_alert_that_changes_is_matched_anew,
    dates_at_a_transactions_id_hide_no_alert,
    a_proof_is_kept_and_takes_over_what_its_refund_tells,
    answers_are_counted_with_the_disputes_after_them,
    a_dispute_after_an_answer_and_a_failed_refund_contradict_it,
    a_dismissed_contradiction_stays_away_while_it_matches_and_hides_no_other,
    sales_are_kept_once_a_month_and_scheme_for_each_organization,
    reports_of_another_organization_match_nothing_here,
);

const ARN: &str = "74320456118200319945216";

fn answered(provider_id: &str, transaction_id: &str) -> Alert {
    let alert = Alert { transaction_id: Some(transaction_id.to_owned()), ..open_alert(provider_id) };
    let deadline = Deadline::At(noon() + Duration::minutes(20));
    Alert { status: AlertStatus::Resolved, outcome: Some(outcome(&alert, "resolved")), deadline, ..alert }
}

fn report(kind: TruthKind, cells: &[(&'static str, &str)]) -> TruthReport {
    TruthReport::of_cells(kind, cells.iter().copied()).unwrap()
}

fn dispute(id: &str, transaction_id: &str) -> TruthReport {
    report(TruthKind::Dispute, &[("id", id), ("transaction_id", transaction_id)])
}

fn refund(id: &str, transaction_id: &str, amount: &str, state: &str) -> TruthReport {
    let cells = [("id", id), ("transaction_id", transaction_id), ("amount", amount), ("currency", "EUR")];
    report(TruthKind::Refund, &[cells.as_slice(), &[("status", state)]].concat())
}

fn proof(reference: &str, state: RefundState) -> RefundProof {
    RefundProof {
        reference: reference.to_owned(),
        amount: "129.90".parse().ok(),
        currency: Some(Currency::new("EUR")),
        state,
    }
}

async fn record(fixture: &Fixture, reports: &[TruthReport]) -> TruthCounts {
    fixture.store.record_truth(fixture.organization, reports.to_vec(), noon()).await.unwrap()
}

/// The matches of an alert: the ids of the reports with the words for the match.
async fn matches(fixture: &Fixture, alert: &Alert) -> BTreeSet<(String, String)> {
    let found = fixture.store.truth_of(fixture.organization, alert.id).await.unwrap();
    found.into_iter().map(|(report, matched_by)| (report.id, matched_by)).collect()
}

fn counts(created: u64, updated: u64, unchanged: u64, matched: u64) -> TruthCounts {
    TruthCounts { created, updated, unchanged, matched }
}

async fn a_report_is_recorded_once_and_matched_early_or_late(fixture: Fixture) {
    let (known, late) = (answered("P1", "T-1"), answered("P2", "T-2"));
    fixture.bring(std::slice::from_ref(&known)).await;
    let reports = [dispute("D-1", "T-1"), dispute("D-2", "T-2"), dispute("D-3", "N/A")];

    let first = record(&fixture, &reports).await;
    let again = record(&fixture, &reports).await;
    let more = TruthReport { status: Some("lost".to_owned()), ..dispute("D-1", "T-1") };
    let changed = record(&fixture, &[more.clone(), more]).await;
    fixture.bring(std::slice::from_ref(&late)).await;

    assert_eq!([first, again, changed], [counts(3, 0, 0, 1), counts(0, 0, 3, 1), counts(0, 1, 1, 2)]);
    let by_id = |id: &str| BTreeSet::from([(id.to_owned(), "transaction id".to_owned())]);
    assert_eq!(matches(&fixture, &known).await, by_id("D-1"));
    assert_eq!(matches(&fixture, &late).await, by_id("D-2"));
}

/// Alerts and reports on few payments, of which some facts contradict each other.
fn several() -> (Vec<Alert>, Vec<TruthReport>) {
    let on = |alert: Alert, order: &str, arn: &str| Alert {
        merchant_order_id: Some(order.to_owned()),
        acquirer_reference_number: Some(arn.to_owned()),
        ..alert
    };
    let alerts = vec![
        on(answered("P1", "T-1"), "1001", ARN),
        on(answered("P2", "20260301-T-1"), "N/A", "000000"),
        on(Alert { card_last_four: "9999".to_owned(), ..answered("P3", "T-2") }, "1001", ARN),
        on(answered("P4", "null"), "1002", "74320456118200319945217"),
    ];
    let at = "2026-03-05T10:00:00Z";
    let card = [("card_bin", "411111"), ("card_last_four", "1234")];
    let money = [("amount", "129.9"), ("currency", "EUR")];
    let reports = vec![
        dispute("D-1", "T-1"),
        report(TruthKind::Dispute, &[("id", "D-2"), ("order_id", "1001"), card[0], card[1]]),
        report(TruthKind::Fraud, &[("id", "F-1"), ("arn", ARN), money[0], money[1]]),
        report(TruthKind::Dispute, &[("id", "D-4"), card[0], card[1], money[0], money[1], ("at", at)]),
        refund("re_1", "T-2", "129.90", "succeeded"),
        refund("re_2", "T-9", "129.90", "failed"),
    ];
    (alerts, reports)
}

async fn whatever_order_alerts_and_reports_come_in_the_same_matches_result(fixture: Fixture) {
    let (alerts, reports) = several();
    let expected: Vec<usize> =
        alerts.iter().map(|alert| reports.iter().filter(|report| on_payment(alert, report)).count()).collect();
    let steps = alerts.len() + reports.len();

    // Each rotation and its reverse: every pair comes in both orders.
    for turn in 0..2 * steps {
        let other = fixture.another_organization(&format!("turn {turn}")).await;
        for step in 0..steps {
            let place = (step + turn) % steps;
            let place = if turn < steps { place } else { steps - 1 - place };
            match reports.get(place) {
                Some(report) => drop(record(&other, std::slice::from_ref(report)).await),
                None => other.bring(&alerts[place - reports.len()..=place - reports.len()]).await,
            }
        }

        let mut found = Vec::new();
        for alert in &alerts {
            found.push(matches(&other, alert).await.len());
        }
        assert_eq!(found, expected, "turn {turn}");
    }
}

fn on_payment(alert: &Alert, report: &TruthReport) -> bool {
    avert::domain::truth::evidence(alert, report).is_some()
}

async fn a_report_changes_no_alert(fixture: Fixture) {
    let alert = answered("P1", "T-1");
    let open = Alert { transaction_id: Some("T-1".to_owned()), ..open_alert("P2") };
    fixture.bring(&[alert.clone(), open.clone()]).await;

    record(&fixture, &[dispute("D-1", "T-1"), refund("re_1", "T-1", "129.90", "failed")]).await;
    let kept =
        fixture.store.keep_refund(fixture.organization, alert.id, proof("re_1", RefundState::Pending), noon()).await;

    assert!(kept.unwrap().is_some());
    assert_eq!((fixture.get(&alert).await, fixture.get(&open).await), (alert, open));
}

async fn an_alert_that_changes_is_matched_anew(fixture: Fixture) {
    let alert = Alert { transaction_id: Some("T-1".to_owned()), ..open_alert("P1") };
    fixture.bring(std::slice::from_ref(&alert)).await;
    record(&fixture, &[dispute("D-1", "T-1"), dispute("D-2", "T-2")]).await;

    let news = Alert { transaction_id: Some("T-2".to_owned()), ..alert.clone() };
    fixture.store.ingest(fixture.organization, vec![row(&news, false)], noon()).await.unwrap();

    let found = matches(&fixture, &alert).await;
    assert_eq!(found, BTreeSet::from([("D-2".to_owned(), "transaction id".to_owned())]));
}

async fn dates_at_a_transactions_id_hide_no_alert(fixture: Fixture) {
    let ids = ["t-77ab", "20260303-T-77AB", "2026-03-03/T-77AB", "T-77AB_20260303", "T-77AB # 2026-03-03", "T-77ABC"];
    let alerts: Vec<Alert> = ids.iter().map(|id| answered(&format!("P {id}"), id)).collect();
    fixture.bring(&alerts).await;

    record(&fixture, &[dispute("D-1", "T-77AB"), dispute("D-2", "20260304-T-77AB")]).await;

    let mut found = Vec::new();
    for alert in &alerts {
        found.push(matches(&fixture, alert).await.len());
    }
    assert_eq!(found, [2, 2, 2, 2, 2, 0]);
}

async fn a_proof_is_kept_and_takes_over_what_its_refund_tells(fixture: Fixture) {
    let alert = answered("P1", "T-1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    let keep = async |reference: &str, state| {
        let kept = fixture.store.keep_refund(fixture.organization, alert.id, proof(reference, state), noon());
        kept.await.unwrap().unwrap().state
    };
    let read = async || fixture.store.refunds(fixture.organization, vec![alert.id]).await.unwrap();

    let none = read().await;
    let first = keep("re_1", RefundState::Succeeded).await;
    record(&fixture, &[refund("re_1", "T-9", "129.90", "failed")]).await;
    let told = read().await;
    let again = keep("re_1", RefundState::Succeeded).await;
    let by_reference = matches(&fixture, &alert).await;
    let other = keep("re_2", RefundState::Pending).await;

    assert_eq!(none, []);
    assert_eq!(first, RefundState::Succeeded);
    assert_eq!(told, [(alert.id, proof("re_1", RefundState::Failed))]);
    assert_eq!((again, other), (RefundState::Failed, RefundState::Pending));
    assert_eq!(by_reference, BTreeSet::from([("re_1".to_owned(), "the answer names this refund".to_owned())]));
    assert_eq!(matches(&fixture, &alert).await, BTreeSet::new());
    let stranger = fixture.store.keep_refund(fixture.organization, open_alert("P2").id, proof("x", other), noon());
    assert_eq!(stranger.await.unwrap(), None);
}

async fn answers_are_counted_with_the_disputes_after_them(fixture: Fixture) {
    let not_refunded = |alert: Alert| {
        let told = alert.outcome.clone().map(|told| Outcome { refunded: "not refunded".to_owned(), ..told });
        Alert { status: AlertStatus::Chargeback, outcome: told, ..alert }
    };
    let alerts = [
        answered("P1", "T-1"),
        answered("P2", "T-2"),
        answered("P3", "T-3"),
        not_refunded(answered("P4", "T-4")),
        not_refunded(answered("P5", "T-5")),
    ];
    fixture.bring(&alerts).await;
    let at = |id: &str, transaction: &str, time: chrono::DateTime<chrono::Utc>, status: &str| TruthReport {
        at: Some(time),
        status: Some(status.to_owned()),
        ..dispute(id, transaction)
    };
    let reports = [
        at("D-1", "T-1", noon() + Duration::days(3), "open"),
        at("D-1b", "T-1", noon() + Duration::days(4), "open"),
        at("D-2", "T-2", noon() - Duration::days(3), "open"),
        at("D-3", "T-3", noon() + Duration::days(3), "Prevented"),
        dispute("D-4", "T-4"),
    ];
    record(&fixture, &reports).await;

    let held = fixture.store.held(fixture.organization, noon() - Duration::days(1)).await.unwrap();
    let none = fixture.store.held(fixture.organization, noon() + Duration::seconds(1)).await.unwrap();

    let told: Vec<_> = held.iter().map(|of| (of.answer, of.minutes, of.answered, of.disputed)).collect();
    assert_eq!(told, [(AnswerKind::NotRefunded, Some(15), 2, 1), (AnswerKind::Refunded, Some(15), 3, 1)]);
    assert!(held.iter().all(|of| of.network == alerts[0].provider && of.issuer == alerts[0].issuer), "{held:?}");
    assert_eq!(none, []);
}

async fn a_dispute_after_an_answer_and_a_failed_refund_contradict_it(fixture: Fixture) {
    let [disputed, unpaid, paid_after_all, named] = ["T-1", "T-2", "T-3", "T-4"].map(|id| answered(id, id));
    let open = Alert { transaction_id: Some("T-5".to_owned()), ..open_alert("T-5") };
    fixture.bring(&[disputed.clone(), unpaid.clone(), paid_after_all, named.clone(), open]).await;
    let reports = [
        dispute("D-1", "T-1"),
        refund("re_2", "T-2", "129.90", "canceled"),
        refund("re_3", "T-3", "129.90", "failed"),
        refund("re_3b", "T-3", "129.90", "succeeded"),
        dispute("D-5", "T-5"),
        refund("re_5", "T-5", "129.90", "failed"),
    ];
    record(&fixture, &reports).await;
    let failed = proof("re_4", RefundState::Failed);
    fixture.store.keep_refund(fixture.organization, named.id, failed.clone(), noon()).await.unwrap();
    let read = async |since, limit| fixture.store.contradictions(fixture.organization, since, limit).await.unwrap();

    let found = read(noon(), 100).await;

    let sides: BTreeSet<_> = found
        .iter()
        .map(|item| (item.alert.0, item.kind.as_str(), item.report.as_ref().map(|report| report.id.clone())))
        .collect();
    let expected = [
        (disputed.id.0, ContradictionKind::Disputed.as_str(), Some("D-1".to_owned())),
        (unpaid.id.0, ContradictionKind::NotPaid.as_str(), Some("re_2".to_owned())),
        (named.id.0, ContradictionKind::NotPaid.as_str(), None),
    ];
    assert_eq!(sides, BTreeSet::from(expected));
    let of_dispute = found.iter().find(|item| item.alert == disputed.id).unwrap();
    assert_eq!((of_dispute.answer, of_dispute.matched_by.as_str()), (AnswerKind::Refunded, "transaction id"));
    assert!(found.iter().any(|item| item.refund.as_ref() == Some(&failed)));
    assert_eq!((read(noon(), 2).await.len(), read(noon() + Duration::seconds(1), 100).await.len()), (2, 0));
    for alert in [&disputed, &named] {
        assert!(fixture.store.dismiss_contradictions(fixture.organization, alert.id, noon()).await.unwrap());
    }
    assert_eq!(read(noon(), 100).await.iter().map(|item| item.alert).collect::<Vec<_>>(), [unpaid.id]);
    record(&fixture, &[dispute("D-1b", "T-1")]).await;
    assert_eq!(read(noon(), 100).await.len(), 2, "another dispute is another contradiction");
}

async fn a_dismissed_contradiction_stays_away_while_it_matches_and_hides_no_other(fixture: Fixture) {
    let alert = answered("P1", "T-1");
    fixture.bring(std::slice::from_ref(&alert)).await;
    record(&fixture, &[dispute("D-1", "T-1"), refund("re_1", "T-1", "129.90", "pending")]).await;
    let read = async || fixture.store.contradictions(fixture.organization, noon(), 100).await.unwrap();
    assert!(fixture.store.dismiss_contradictions(fixture.organization, alert.id, noon()).await.unwrap());

    record(&fixture, &[TruthReport { status: Some("lost".to_owned()), ..dispute("D-1", "T-1") }]).await;
    let news = Alert { merchant_name: "Another name".to_owned(), ..alert.clone() };
    fixture.store.ingest(fixture.organization, vec![row(&news, false)], noon()).await.unwrap();
    let after_changes = read().await;
    record(&fixture, &[refund("re_1", "T-1", "129.90", "failed")]).await;

    assert_eq!(after_changes, []);
    assert_eq!(read().await.iter().map(|of| of.kind).collect::<Vec<_>>(), [ContradictionKind::NotPaid]);
}

async fn sales_are_kept_once_a_month_and_scheme_for_each_organization(fixture: Fixture) {
    let other = fixture.another_organization("other").await;
    let of = |month: &str, count| SalesCount {
        month: month.parse().unwrap(),
        scheme: CardScheme::Visa,
        count,
        entered_at: noon(),
    };
    let enter = async |sales| fixture.store.enter_sales(fixture.organization, sales).await.unwrap();

    enter(of("2026-02", 7)).await;
    enter(of("2026-03", 8)).await;
    enter(of("2026-02", 9)).await;

    let sales = async |of: &Fixture| of.store.sales(of.organization).await.unwrap();
    assert_eq!(sales(&fixture).await, [of("2026-03", 8), of("2026-02", 9)]);
    assert_eq!(sales(&other).await, []);
}

async fn reports_of_another_organization_match_nothing_here(fixture: Fixture) {
    let other = fixture.another_organization("other").await;
    let alert = answered("P1", "T-1");
    fixture.bring(std::slice::from_ref(&alert)).await;

    let told = record(&other, &[dispute("D-1", "T-1")]).await;
    let own = record(&fixture, &[dispute("D-1", "T-7")]).await;

    assert_eq!((told, own), (counts(1, 0, 0, 0), counts(1, 0, 0, 0)));
    assert_eq!(matches(&fixture, &alert).await, BTreeSet::new());
}
