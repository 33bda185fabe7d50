//! Which columns of the list fit, and what stands in each for an alert.

use proptest::{prelude::*, sample::subsequence};
use rstest::rstest;

use super::*;
use crate::domain::{
    AlertId, AlertType, FindQuery, Outcome, OutcomeId, Provider, Resolution, decide,
    resolution::{Decision, InvalidReason},
    time::from_iso,
};
use crate::ui::table::DataTable;

/// Every column.
const ALL: [Column; COLUMNS] = [
    Column::Left,
    Column::When,
    Column::Provider,
    Column::Type,
    Column::Order,
    Column::Amount,
    Column::Card,
    Column::Descriptor,
    Column::Outcome,
    Column::ProviderId,
];
/// Returns whether an alert is found by a text.
fn is_found(text: &str, alert: &Alert) -> bool {
    FindQuery::parse(text).is_ok_and(|query| query.grade(alert).is_some())
}

#[rstest]
#[case::refunded(AlertStatus::Resolved, Resolution::Current { decision: Decision::Refunded, comments: String::new() })]
#[case::not_refunded(AlertStatus::Chargeback, Resolution::Current { decision: Decision::NotRefunded,
    comments: String::new() })]
#[case::duplicate(
    AlertStatus::Invalid,
    Resolution::Current { decision: Decision::Invalid(InvalidReason::Duplicate), comments: String::new() }
)]
fn what_a_column_shows_is_found(#[case] status: AlertStatus, #[case] resolution: Resolution) {
    let mut alert = Alert {
        provider_id: "8F2C77AA".to_owned(),
        merchant_descriptor: "ACME*SHOP BERLIN".to_owned(),
        issuer: "Emirates NBD".to_owned(),
        merchant_name: "ACME Travel".to_owned(),
        merchant_order_id: Some("A-10293".to_owned()),
        reason_code: Some("10.4".to_owned()),
        alert_time: from_iso("2026-03-09T13:12:00Z"),
        transaction_time: from_iso("2026-01-15T06:00:00Z"),
        updated_at: from_iso("2026-03-11T06:00:00Z"),
        ..Alert::sample()
    };
    decide(&resolution).record(&mut alert, OutcomeId::generate(), "", from_iso("2026-03-12T06:00:00Z"));
    assert_eq!(alert.status, status);

    let unknown: Vec<&str> = ALL
        .into_iter()
        .filter(|column| !is_found(&column.text(&alert, u16::MAX, Zone::default(), Timestamp::UNIX_EPOCH), &alert))
        .map(Column::title)
        .collect();

    // States, answers and days are words of the filter; by the others a list is sorted.
    assert_eq!(unknown, ["DUE IN", "WHEN", "ANSWER"]);
}

#[test]
fn every_kind_that_a_column_shows_is_found() {
    for alert_type in AlertType::KNOWN {
        assert!(
            is_found(alert_type.words(), &Alert { alert_type: alert_type.clone(), ..Alert::sample() }),
            "{alert_type}"
        );
    }
}

/// Widths of columns in so much room, for a list of one alert; none of those that gave way.
fn widths(columns: &[Column], alert: &Alert, room: u16) -> Vec<Option<u16>> {
    let cell = |column: Column| {
        move |alert: &&Alert, width| {
            let text = column.text(alert, width, Zone::Utc, Timestamp::UNIX_EPOCH);
            Span::raw(text.into_owned())
        }
    };
    let drawn = columns.iter().map(|column| column.drawn(column.title(), cell(*column))).collect();
    let table = DataTable::of(drawn, &[alert], room);
    (0..columns.len()).map(|at| table.places.iter().find(|place| place.column == at).map(|place| place.width)).collect()
}

fn of_one(provider: Provider, amount: &str, descriptor: &str, order: &str) -> Alert {
    Alert {
        amount: amount.parse().ok(),
        merchant_descriptor: descriptor.to_owned(),
        merchant_order_id: Some(order.to_owned()),
        card_bin: "411111".to_owned(),
        card_last_four: "1234".to_owned(),
        ..Alert { provider, ..Alert::sample() }
    }
}

#[rstest]
#[case(40, &["DUE IN", "NETWORK", "TYPE", "AMOUNT"])]
#[case(60, &["DUE IN", "NETWORK", "TYPE", "ORDER", "AMOUNT", "CARD"])]
#[case(110, &["DUE IN", "NETWORK", "TYPE", "ORDER", "AMOUNT", "CARD", "DESCRIPTOR"])]
fn what_matters_least_gives_way_first(#[case] room: u16, #[case] titles: &[&str]) {
    let alert = of_one(Provider::Cdrn, "9.90", "ACME*SHOP BERLIN", "A-10293");

    let shown = Column::USUAL.into_iter().zip(widths(&Column::USUAL, &alert, room));

    let shown: Vec<&str> = shown.filter(|(_, width)| width.is_some()).map(|(column, _)| column.title()).collect();
    assert_eq!(shown, titles);
}

#[test]
fn a_column_is_as_wide_as_its_content_and_no_narrower_than_its_title() {
    let alert = of_one(Provider::Cdrn, "9.90", "ACME*SHOP BERLIN", "A-10293");

    let widths = widths(&Column::USUAL, &alert, 120);

    assert_eq!(widths[1..], [Some(7), Some(5), Some(7), Some(8), Some(14), Some(16)]);
}

#[test]
fn an_amount_is_never_cut_where_there_is_room_for_it() {
    let alert = of_one(Provider::Verifi, "9223372036854.775807", "ACME", "1");

    assert_eq!(widths(&Column::USUAL, &alert, 76)[4], Some(28));
}

#[rstest]
#[case("411111", 14, "411111 ·· 1234")]
#[case("41111122", 16, "41111122 ·· 1234")]
#[case("411111", 13, "··1234")]
#[case("411111", 6, "··1234")]
fn a_card_is_shortened_before_it_is_cut(#[case] bin: &str, #[case] width: u16, #[case] shown: &str) {
    let mut alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    (alert.card_bin, alert.card_last_four) = (bin.to_owned(), "1234".to_owned());

    assert_eq!(card(&alert, width), shown);
}

#[test]
fn how_alerts_ended_is_shown_where_not_only_open_ones_are_listed() {
    let open = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };

    assert_eq!(shown(&open), Column::USUAL);
    assert_eq!(shown(&AlertFilter::default()).last(), Some(&Column::Outcome));
    let missed = AlertFilter { statuses: vec![AlertStatus::Expired], ..AlertFilter::default() };
    assert_eq!(shown(&missed)[1..], Column::USUAL[1..], "all of them lapsed without an answer");
}

#[rstest]
#[case::what_lapsed(AlertFilter { statuses: vec![AlertStatus::Expired], ..AlertFilter::default() }, Column::When)]
#[case::what_was_answered(AlertFilter { statuses: vec![AlertStatus::Refunded, AlertStatus::Invalid],
    ..AlertFilter::default() }, Column::When)]
#[case::some_of_it_open(AlertFilter { statuses: vec![AlertStatus::Refunded, AlertStatus::Open],
    ..AlertFilter::default() }, Column::Left)]
#[case::all(AlertFilter::default(), Column::Left)]
#[case::open(AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() }, Column::Left)]
fn when_it_was_over_stands_in_place_of_the_time_left_where_nothing_waits(
    #[case] filter: AlertFilter,
    #[case] first: Column,
) {
    assert_eq!(shown(&filter)[0], first);
}

#[test]
fn when_an_alert_was_over_is_told_by_the_hour_today_and_by_the_day_before() {
    let at = |text: &str| from_iso(text);
    let now = at("2026-03-10T12:00:00Z").unwrap();
    let utc = Zone::Utc;
    let mut answered = Alert::sample();
    answered.outcome = Some(Outcome { action_time: at("2026-03-10T09:12:00Z"), ..Outcome::sample(answered.id) });
    let lapsed = Alert { expired_at: at("2026-03-09T23:00:00Z"), ..Alert::sample() };
    let years_ago = Alert { expired_at: at("2024-12-09T23:00:00Z"), ..Alert::sample() };

    let told = [&answered, &lapsed, &years_ago, &Alert::sample()]
        .map(|alert| Column::When.text(alert, 7, utc, now).into_owned());

    assert_eq!(told, ["09:12", "09 Mar", "2024-12", "–"]);
}

proptest! {
    #[test]
    fn columns_never_overlap_and_never_leave_the_row(
        columns in subsequence(&ALL[..], 1..=ALL.len()).prop_shuffle(),
        room in 1u16..300,
    ) {
        let alert = of_one(Provider::Verifi, "1480.00", "ACME*SHOP BERLIN", "SHOP-00010293");

        let widths = widths(&columns, &alert, room);

        let shown: Vec<usize> = widths.into_iter().flatten().map(usize::from).collect();
        prop_assert!(!shown.is_empty());
        let taken = shown.iter().sum::<usize>() + 2 * (shown.len() - 1);
        prop_assert!(shown.len() == 1 || taken <= usize::from(room));
    }
}
