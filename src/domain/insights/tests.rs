//! Tests of insights.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::{Outcome, time::from_iso};

fn now() -> Timestamp {
    from_iso("2026-03-10T12:07:00Z").unwrap()
}

fn open(minutes_left: i64, amount: Option<&str>, currency: &str) -> Alert {
    Alert {
        deadline: Deadline::At(now() + Duration::minutes(minutes_left)),
        amount: amount.map(|amount| amount.parse().unwrap()),
        currency: Currency::new(currency),
        status: AlertStatus::Open,
        ..Alert::sample()
    }
}

fn answered(raised: i64, took: i64, status: AlertStatus, refunded: &str) -> Alert {
    let raised = now() - Duration::minutes(raised);
    let alert = Alert { alert_time: Some(raised), status, ..Alert::sample() };
    let outcome = Outcome {
        refunded: refunded.to_owned(),
        action_time: Some(raised + Duration::minutes(took)),
        ..Outcome::sample(alert.id)
    };
    Alert { outcome: Some(outcome), ..alert }
}

/// Returns the answers given on a day.
fn decisions(day: &DayCount) -> u64 {
    day.refunded + day.not_refunded + day.not_settled + day.invalid
}

#[test]
fn what_lapses_is_summed_by_quarter_and_currency_and_the_far_future_is_one_sum() {
    let alerts = [
        open(5, Some("10.10"), "EUR"),
        open(7, Some("0.90"), "EUR"),
        open(3, None, "EUR"),
        open(6, Some("5"), "AED"),
        open(60, Some("99999999999"), "EUR"),
        open(240, Some("4"), "EUR"),
        open(241, Some("8"), "EUR"),
        open(5_000, Some("1"), "EUR"),
        open(9_000, Some("2"), "EUR"),
        open(0, Some("7"), "EUR"),
    ];

    let lapsing = Insights::of(&alerts, now(), Calendar::UTC).lapsing;

    let told: Vec<_> = lapsing
        .iter()
        .map(|row| {
            (
                row.quarter.map(|quarter| quarter.format("%H:%M").to_string()),
                row.soon,
                row.sum.alerts,
                row.sum.money.to_string(),
                row.sum.unpriced,
            )
        })
        .collect();
    let at = |time: &str| Some(time.to_owned());
    assert_eq!(
        told,
        [
            (at("12:00"), true, 1, "5.00 AED".to_owned(), 0),
            (at("12:00"), true, 3, "11.00 EUR".to_owned(), 1),
            (at("13:00"), true, 1, "99,999,999,999.00 EUR".to_owned(), 0),
            (at("16:00"), true, 1, "4.00 EUR".to_owned(), 0),
            (at("16:00"), false, 1, "8.00 EUR".to_owned(), 0),
            (None, false, 2, "3.00 EUR".to_owned(), 0),
        ]
    );
}

#[test]
fn a_notice_neither_lapses_nor_is_missed_and_a_type_that_nobody_knows_does() {
    let of = |alert_type: AlertType| Alert { alert_type, ..open(60, Some("5"), "EUR") };
    let missed = |alert: Alert| Alert { status: AlertStatus::Expired, expired_at: Some(now()), ..alert };
    let (notice, unknown) = (of(AlertType::VerifiDisputeNotice), of(AlertType::parse("CDRN_QUERY")));

    let told = Insights::of(&[notice.clone(), missed(notice), unknown.clone(), missed(unknown)], now(), Calendar::UTC);

    assert_eq!(told.lapsing.iter().map(|row| row.sum.alerts).collect::<Vec<_>>(), [1]);
    assert_eq!(told.days.iter().map(|count| count.missed).sum::<u64>(), 1);
}

#[test]
fn an_alert_counts_as_waiting_answered_late_or_missed() {
    let waits = open(60, None, "EUR");
    let missed = Alert { status: AlertStatus::Expired, expired_at: Some(now()), ..Alert::sample() };
    let late = Alert { expired_at: Some(now()), ..answered(90, 60, AlertStatus::Resolved, "refunded") };
    let untold = Alert { status: AlertStatus::Chargeback, outcome: None, ..Alert::sample() };

    let kinds = Insights::of(&[waits, missed, late, untold], now(), Calendar::UTC).kinds;

    assert_eq!(kinds.len(), 1);
    assert_eq!((kinds[0].waiting, kinds[0].answered, kinds[0].late, kinds[0].missed), (1, 1, 1, 1));
}

#[test]
fn answers_count_on_the_day_they_were_given_and_older_ones_not() {
    let day = 24 * 60;
    let alerts = [
        answered(day, 10, AlertStatus::Resolved, "refunded"),
        answered(day, day - 5, AlertStatus::Resolved, "refunded"),
        answered(day, day - 5, AlertStatus::Chargeback, "not refunded"),
        // Said to have been refunded before, and counted as invalid all the same.
        answered(day, day - 5, AlertStatus::Invalid, "refunded"),
        answered(31 * day, 10, AlertStatus::Resolved, "refunded"),
    ];

    let insights = Insights::of(&alerts, now(), Calendar::UTC);

    let answers: Vec<_> = insights
        .days
        .iter()
        .map(|count| (Calendar::UTC.day_of(now()) - count.day, count.refunded, count.not_refunded, count.invalid))
        .collect();
    assert_eq!(answers, [(1, 1, 0, 0), (0, 1, 1, 1)]);
    assert_eq!(insights.days[0].raised, 4);
    assert_eq!(
        insights.response_times,
        [ResponseTime { minutes: 10, alerts: 1 }, ResponseTime { minutes: 1435, alerts: 3 }]
    );
}

#[test]
fn what_was_neither_refunded_nor_not_is_counted_as_that_and_is_a_decision() {
    let alerts = [
        answered(60, 30, AlertStatus::Resolved, "not settled"),
        answered(60, 30, AlertStatus::Chargeback, "not refunded"),
    ];

    let days = Insights::of(&alerts, now(), Calendar::UTC).days;

    assert_eq!((days[0].not_settled, days[0].not_refunded, decisions(&days[0])), (1, 1, 2));
}

#[test]
fn an_answer_without_a_time_is_on_no_day_and_is_counted_as_that() {
    let mut alert = answered(60, 30, AlertStatus::Resolved, "refunded");
    alert.outcome.as_mut().unwrap().action_time = None;

    let insights = Insights::of(&[alert], now(), Calendar::UTC);

    assert_eq!((insights.undated, insights.response_times), (1, vec![]));
    assert_eq!(insights.days.iter().map(decisions).sum::<u64>(), 0);
}

#[test]
fn programmes_may_count_fraud_and_what_became_a_chargeback_of_this_month() {
    let on = |card: &str, alert_type: AlertType, status: AlertStatus| Alert {
        card_bin: card.to_owned(),
        alert_type,
        status,
        alert_time: Some(now()),
        ..Alert::sample()
    };
    let last_month = Some(from_iso("2026-02-28T23:59:59Z").unwrap());
    let alerts = [
        on("411111", AlertType::EthocaConfirmedFraud, AlertStatus::Chargeback),
        on("411111", AlertType::EthocaConfirmedFraud, AlertStatus::Resolved),
        on("411111", AlertType::VerifiDispute, AlertStatus::Expired),
        on("411111", AlertType::VerifiDispute, AlertStatus::Open),
        on("222100", AlertType::EthocaCustomerDispute, AlertStatus::Chargeback),
        on("371234", AlertType::EthocaCustomerDispute, AlertStatus::Chargeback),
        Alert { alert_time: last_month, ..on("411111", AlertType::VerifiDispute, AlertStatus::Chargeback) },
    ];

    let told: Vec<_> =
        monitored(&alerts, now()).iter().map(|count| (count.scheme, count.fraud_reports, count.chargebacks)).collect();

    assert_eq!(told, [(CardScheme::Visa, 2, 2), (CardScheme::Mastercard, 0, 1)]);
}

#[test]
fn the_last_quarter_that_is_told_ends_seventy_two_hours_on() {
    let last = (last_quarter(now()) - now()).num_minutes();

    let quarters =
        [last - 1, last].map(|left| Insights::of(&[open(left, None, "EUR")], now(), Calendar::UTC).lapsing[0].quarter);

    assert_eq!(quarters, [Some(last_quarter(now()) - QUARTER), None]);
}

#[test]
fn what_has_less_than_an_hour_left_has_not_lapsed() {
    let alert = Alert { deadline: Deadline::HoursLeft(0), ..open(1, None, "EUR") };

    assert_eq!(
        Insights::of(&[alert], now(), Calendar::UTC)
            .lapsing
            .iter()
            .map(|row| (row.soon, row.sum.alerts))
            .collect::<Vec<_>>(),
        [(true, 1)]
    );
}

#[test]
fn what_has_no_time_left_by_another_services_count_is_not_said_to_lapse() {
    let alert = Alert { deadline: Deadline::HoursLeft(-1), ..open(1, None, "EUR") };

    assert!(Insights::of(&[alert], now(), Calendar::UTC).lapsing.is_empty());
}

#[test]
fn a_month_ends_before_the_next_one_begins() {
    let at = |raised: &str| Alert { alert_time: from_iso(raised), status: AlertStatus::Chargeback, ..Alert::sample() };
    let alerts = ["2026-03-01T00:00:00Z", "2026-03-31T23:59:59Z", "2026-04-01T00:00:00Z"].map(at);

    assert_eq!(monitored(&alerts, now()).iter().map(|count| count.chargebacks).collect::<Vec<_>>(), [2]);
}

#[rstest]
#[case(119, 119)]
#[case(121, 125)]
#[case(4_319, 4_320)]
#[case(4_321, 4_380)]
fn longer_response_times_are_told_less_finely(#[case] minutes: u64, #[case] told: u64) {
    assert_eq!(rounded_up(minutes), told);
}

#[rstest]
#[case(500, Some(20))]
#[case(900, Some(90))]
#[case(990, Some(90))]
#[case(0, Some(5))]
fn a_percentile_is_the_answer_at_its_rank(#[case] per_mille: u64, #[case] minutes: Option<u64>) {
    let times = [(5, 2), (20, 5), (90, 3)].map(|(minutes, alerts)| ResponseTime { minutes, alerts });

    assert_eq!(percentile(&times, per_mille), minutes);
}

#[test]
fn without_answers_there_is_no_percentile() {
    assert_eq!(percentile(&[], 500), None);
}

proptest! {
    #[test]
    fn so_many_of_a_thousand_answers_came_within_a_percentile(
        mut took in proptest::collection::vec(0u64..10_000, 1..60),
        per_mille in 1u64..=1_000,
    ) {
        took.sort_unstable();
        let times: Vec<ResponseTime> = took.iter().map(|minutes| ResponseTime { minutes: *minutes,
            alerts: 1 }).collect();

        let within = percentile(&times, per_mille).unwrap();

        let inside = took.iter().filter(|minutes| **minutes <= within).count() as u64;
        let below = took.iter().filter(|minutes| **minutes < within).count() as u64;
        prop_assert!(inside * 1_000 >= per_mille * took.len() as u64);
        prop_assert!(below * 1_000 < per_mille * took.len() as u64);
    }

    #[test]
    fn rounding_up_never_shortens_and_stays_near(minutes in 0u64..100_000) {
        let rounded = rounded_up(minutes);

        prop_assert!(rounded >= minutes && rounded - minutes <= minutes / 24);
        prop_assert_eq!(rounded_up(rounded), rounded);
    }
}
