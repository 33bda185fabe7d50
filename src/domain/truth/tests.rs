//! Tests of reports, their match with alerts, and the proof of a refund.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::{Alert, AlertStatus, OrderEvidence, time::from_iso};

const ARN: &str = "74320456118200319945216";

fn alert() -> Alert {
    Alert {
        transaction_id: Some("T-77AB".to_owned()),
        merchant_order_id: Some("1001".to_owned()),
        acquirer_reference_number: Some(ARN.to_owned()),
        ..Alert::sample()
    }
}

fn dispute(change: impl FnOnce(&mut TruthReport)) -> TruthReport {
    let mut report = TruthReport { id: "D-1".to_owned(), ..TruthReport::default() };
    change(&mut report);
    report
}

fn refund(state: &str) -> TruthReport {
    let cells = [("id", "re_1"), ("reference", "7001"), ("transaction_id", "T-77AB"), ("status", state)];
    TruthReport::of_cells(TruthKind::Refund, cells).unwrap()
}

fn on_card(report: &mut TruthReport) {
    (report.card_bin, report.card_last_four) = (Some("411111".to_owned()), Some("1234".to_owned()));
}

fn of_money(report: &mut TruthReport) {
    (report.amount, report.currency) = ("129.9".parse().ok(), Some(Currency::new("EUR")));
}

#[rstest]
#[case::transaction(|report: &mut TruthReport| report.transaction_id = Some("20260303-t-77ab".to_owned()),
    Some(OrderEvidence::TransactionId))]
#[case::order(|report: &mut TruthReport| report.order_id = Some(" 1001".to_owned()), Some(OrderEvidence::OrderNumber))]
#[case::arn_and_card(|report: &mut TruthReport| { report.arn = Some(ARN.to_owned()); on_card(report); },
    Some(OrderEvidence::ArnAndCard))]
#[case::arn_and_amount(|report: &mut TruthReport| { report.arn = Some(ARN.to_owned()); of_money(report); },
    Some(OrderEvidence::ArnAndAmount))]
#[case::arn_alone(|report: &mut TruthReport| report.arn = Some(ARN.to_owned()), None)]
#[case::card_alone(on_card, None)]
#[case::card_and_amount_without_a_time(|report: &mut TruthReport| { on_card(report); of_money(report); }, None)]
#[case::card_and_amount_soon_after(|report: &mut TruthReport| {
    on_card(report); of_money(report); report.at = from_iso("2026-03-17T09:00:00Z"); },
    Some(OrderEvidence::AmountAndCard))]
#[case::card_and_amount_of_another_month(|report: &mut TruthReport| {
    on_card(report); of_money(report); report.at = from_iso("2026-04-17T09:00:00Z"); }, None)]
#[case::last_four_and_amount(|report: &mut TruthReport| {
    on_card(report); of_money(report); report.card_bin = None; report.at = from_iso("2026-03-04T09:00:00Z"); }, None)]
#[case::another_card(|report: &mut TruthReport| {
    report.transaction_id = Some("T-77AB".to_owned()); report.card_last_four = Some("9999".to_owned()); }, None)]
#[case::a_part_of_the_amount(|report: &mut TruthReport| {
    report.transaction_id = Some("T-77AB".to_owned()); of_money(report); report.amount = "5".parse().ok(); },
    Some(OrderEvidence::TransactionId))]
fn a_report_matches_by_what_identifies_the_payment(
    #[case] change: fn(&mut TruthReport),
    #[case] expected: Option<OrderEvidence>,
) {
    assert_eq!(evidence(&alert(), &dispute(change)), expected);
}

#[rstest]
#[case("N/A")]
#[case("000000")]
#[case("5.36E+18")]
#[case("null")]
fn what_identifies_nothing_matches_nothing(#[case] filler: &str) {
    let text = Some(filler.to_owned());
    let alert = Alert {
        transaction_id: text.clone(),
        merchant_order_id: text.clone(),
        acquirer_reference_number: text.clone(),
        ..Alert::sample()
    };
    let report = dispute(|report| {
        (report.transaction_id, report.order_id, report.arn) = (text.clone(), text.clone(), text.clone());
        report.card_last_four = Some("1234".to_owned());
    });

    assert_eq!(evidence(&alert, &report), None);
    assert_eq!(report.facts(), Vec::<String>::new());
    assert!(TruthReport::of_cells(TruthKind::Dispute, [("id", filler)]).is_err());
}

#[test]
fn a_refund_that_failed_stays_failed_whatever_comes_late() {
    let mut known = refund("succeeded");

    let changed = [known.update(refund("failed")), known.update(refund("pending")), known.update(refund("succeeded"))];

    assert_eq!(changed, [true, false, false]);
    assert_eq!(known.refund_state(), Some(RefundState::Failed));
}

#[test]
fn a_version_that_says_less_takes_nothing_away() {
    let mut known = refund("pending");

    known.update(TruthReport::of_cells(TruthKind::Refund, [("id", "re_1"), ("status", "canceled")]).unwrap());

    assert_eq!((known.id.as_str(), known.reference.as_deref()), ("re_1", Some("7001")));
    assert_eq!(known.refund_state(), Some(RefundState::Failed));
}

#[rstest]
#[case(&[("id", "re_1")], "status")]
#[case(&[("id", "re_1"), ("status", "maybe")], "status")]
#[case(&[("status", "failed")], "id")]
#[case(&[("id", "4111111111111111"), ("status", "failed")], "id")]
#[case(&[("id", "re_1"), ("status", "failed"), ("amount", "5")], "currency")]
#[case(&[("id", "re_1"), ("status", "failed"), ("at", "soon")], "at")]
fn a_refund_that_is_not_allowed_names_the_field(#[case] cells: &[(&'static str, &str)], #[case] field: &str) {
    let error = TruthReport::of_cells(TruthKind::Refund, cells.iter().copied()).unwrap_err();

    assert_eq!(error.field, field, "{}", error.message);
}

#[test]
fn a_refund_goes_by_its_id_and_its_reference_and_a_dispute_by_neither() {
    let called = ["re_1", " 7001 ", "re_2", "0000"].map(|name| refund("pending").is_refund_called(name));

    assert_eq!(called, [true, true, false, false]);
    assert!(!dispute(|_| ()).is_refund_called("D-1"));
}

#[rstest]
#[case("re_1", Some("129.90"), Some("EUR"), None)]
#[case("re_1", None, None, None)]
#[case("n/a", None, None, Some("reference"))]
#[case("re_1", Some("129.90"), None, Some("currency"))]
#[case("re_1", None, Some("EUR"), Some("amount"))]
#[case("re_1", Some("129.90"), Some("euro"), Some("currency"))]
fn a_proof_names_a_refund_and_its_whole_money(
    #[case] reference: &str,
    #[case] amount: Option<&str>,
    #[case] currency: Option<&str>,
    #[case] wrong: Option<&str>,
) {
    let proof = RefundProof {
        reference: reference.to_owned(),
        amount: amount.map(|amount| amount.parse().unwrap()),
        currency: currency.map(Currency::new),
        state: RefundState::Succeeded,
    };

    assert_eq!(proof.validate().err().map(|error| error.field).as_deref(), wrong);
}

fn of_refunds(amounts: &[&str], state: &str) -> Vec<TruthReport> {
    let of = |amount: &&str| {
        let (amount, currency) = amount.split_once(' ').unwrap_or((amount, ""));
        let cells = [("id", "re_1"), ("amount", amount), ("currency", currency), ("status", state)];
        TruthReport::of_cells(TruthKind::Refund, cells).unwrap()
    };
    amounts.iter().map(of).collect()
}

#[rstest]
#[case::the_whole(&["129.90 EUR"], "succeeded", true)]
#[case::in_parts(&["100.00 EUR", "29.90 EUR"], "succeeded", true)]
#[case::a_part(&["129.89 EUR"], "succeeded", false)]
#[case::on_its_way(&["129.90 EUR"], "pending", false)]
#[case::failed(&["129.90 EUR"], "failed", false)]
#[case::another_currency(&["129.90 USD"], "succeeded", false)]
#[case::none(&[], "succeeded", false)]
fn a_payment_is_refunded_where_succeeded_refunds_reach_the_amount(
    #[case] amounts: &[&str],
    #[case] state: &str,
    #[case] expected: bool,
) {
    assert_eq!(covered_at(&alert(), &of_refunds(amounts, state), None).is_some(), expected);
}

#[test]
fn a_proof_counts_beside_the_refunds_that_it_does_not_name_and_once_with_those_that_it_names() {
    let proof = |reference: &str, state| RefundProof {
        reference: reference.to_owned(),
        amount: "64.95".parse().ok(),
        currency: Some(Currency::new("EUR")),
        state,
    };
    let half = of_refunds(&["64.95 EUR"], "succeeded");

    assert!(covered_at(&alert(), &half, Some(&proof("re_2", RefundState::Succeeded))).is_some());
    assert_eq!(covered_at(&alert(), &half, Some(&proof("re_1", RefundState::Succeeded))), None);
    assert_eq!(covered_at(&alert(), &half, Some(&proof("re_2", RefundState::Pending))), None);
}

#[rstest]
#[case(AlertStatus::Resolved, "refunded", AnswerKind::Refunded)]
#[case(AlertStatus::Chargeback, "not refunded", AnswerKind::NotRefunded)]
#[case(AlertStatus::Invalid, "refunded", AnswerKind::Invalid)]
#[case(AlertStatus::Resolved, "not settled", AnswerKind::NotSettled)]
fn an_answer_is_read_off_the_status_and_the_outcome(
    #[case] status: AlertStatus,
    #[case] refunded: &str,
    #[case] answer: AnswerKind,
) {
    assert_eq!(AnswerKind::of(&status, refunded), answer);
}

/// Texts of few values, so that many agree.
fn few(of: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    proptest::sample::select(of).prop_map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()))
}

const IDS: &[&str] = &["", "T-77AB", "t-77ab/20260303", "T-88", "N/A", "0000"];
const ARNS: &[&str] = &["", ARN, "74320456118200319945217", "000000"];

prop_compose! {
    fn any_report()(
        transaction_id in few(IDS), order_id in few(IDS), arn in few(ARNS),
        last_four in few(&["", "1234", "9999"]), bin in few(&["", "411111", "522222"]),
        amount in few(&["", "129.90", "129.9", "5"]), day in 1_i64..60,
    ) -> TruthReport {
        dispute(|report| {
            (report.transaction_id, report.order_id, report.arn) = (transaction_id, order_id, arn);
            (report.card_last_four, report.card_bin) = (last_four, bin);
            report.amount = amount.and_then(|amount| amount.parse().ok());
            report.currency = Some(Currency::new("EUR"));
            report.at = from_iso("2026-03-01").map(|at| at + chrono::Duration::days(day));
        })
    }
}

prop_compose! {
    fn any_alert()(report in any_report()) -> Alert {
        Alert {
            transaction_id: report.transaction_id,
            merchant_order_id: report.order_id,
            acquirer_reference_number: report.arn,
            card_bin: report.card_bin.unwrap_or_default(),
            card_last_four: report.card_last_four.unwrap_or_default(),
            amount: report.amount,
            ..Alert::sample()
        }
    }
}

proptest! {
    #[test]
    fn those_that_share_no_fact_are_no_match(
        alerts in proptest::collection::vec(any_alert(), 0..6),
        reports in proptest::collection::vec(any_report(), 0..6),
    ) {
        let (alerts, reports): (Vec<&Alert>, Vec<&TruthReport>) = (alerts.iter().collect(), reports.iter().collect());

        let mut every = Vec::new();
        for (place, alert) in alerts.iter().enumerate() {
            let proven = |(at, report): (usize, &&TruthReport)| Some((place, at, evidence(alert, report)?));
            every.extend(reports.iter().enumerate().filter_map(proven));
        }

        prop_assert_eq!(matches(&alerts, &reports), every);
    }

    #[test]
    fn versions_of_a_refund_end_alike_in_any_order(
        states in proptest::sample::subsequence(vec!["pending", "succeeded", "failed"], 1..=3).prop_shuffle(),
    ) {
        let mut known = refund(states[0]);
        states[1..].iter().for_each(|state| { known.update(refund(state)); });

        let last = states.iter().filter_map(|state| RefundState::parse(state)).max();
        prop_assert_eq!(known.refund_state(), last);
    }
}
