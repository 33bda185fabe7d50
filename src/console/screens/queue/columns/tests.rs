//! Which columns of the list fit, and what stands in each for an alert.

use proptest::{prelude::*, sample::subsequence};
use rstest::rstest;

use super::*;
use crate::domain::{
    AlertId, AlertType, FindQuery, Outcome, OutcomeId, Provider, Resolution, decide,
    resolution::{Decision, InvalidReason},
    time::from_iso,
};

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

    let unknown: Vec<&str> = Column::ALL
        .into_iter()
        .filter(|column| {
            !is_found(&column.text(&alert, u16::MAX, Zone::default(), Timestamp::UNIX_EPOCH), &alert)
        })
        .map(Column::title)
        .collect();

    // States, answers and days are words of the filter; by the others a list is sorted.
    assert_eq!(unknown, ["DUE IN", "WHEN", "STATUS", "ANSWER"]);
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

#[rstest]
#[case(67, &["DUE IN", "NETWORK", "TYPE", "ORDER", "AMOUNT", "CARD"])]
#[case(78, &["DUE IN", "NETWORK", "TYPE", "ORDER", "AMOUNT", "CARD", "DESCRIPTOR"])]
#[case(110, &["DUE IN", "NETWORK", "TYPE", "ORDER", "AMOUNT", "CARD", "DESCRIPTOR"])]
fn what_matters_least_gives_way_first(#[case] room: u16, #[case] titles: &[&str]) {
    let placed = lay_out(&Column::USUAL, &ContentWidths::default(), room);

    assert_eq!(placed.iter().map(|placed| placed.column.title()).collect::<Vec<_>>(), titles);
}

fn of_one(provider: Provider, amount: &str, descriptor: &str, order: &str) -> ContentWidths {
    let mut widths = ContentWidths::default();
    widths.take_in(&Alert {
        amount: amount.parse().ok(),
        merchant_descriptor: descriptor.to_owned(),
        merchant_order_id: Some(order.to_owned()),
        card_bin: "411111".to_owned(),
        card_last_four: "1234".to_owned(),
        ..Alert { provider, ..Alert::sample() }
    });
    widths
}

fn width_in(placed: &[Placed], column: Column) -> Option<u16> {
    placed.iter().find(|placed| placed.column == column).map(|placed| placed.width)
}

#[test]
fn a_column_is_as_wide_as_its_content_and_no_narrower_than_its_title() {
    let content = of_one(Provider::Cdrn, "9.90", "ACME*SHOP BERLIN", "A-10293");

    let placed = lay_out(&Column::USUAL, &content, 120);

    let widths = Column::USUAL[1..].iter().map(|column| width_in(&placed, *column));
    assert_eq!(widths.collect::<Vec<_>>(), [Some(8), Some(5), Some(7), Some(8), Some(14), Some(16)]);
}

#[rstest]
#[case(75, Some(10), Some(13), Some(6))]
#[case(85, Some(16), Some(13), Some(6))]
#[case(93, Some(16), Some(13), Some(6))]
#[case(99, Some(16), Some(13), Some(6))]
#[case(105, Some(16), Some(13), Some(14))]
fn no_order_is_cut_and_a_card_is_whole_only_in_a_wide_list(
    #[case] room: u16,
    #[case] descriptor: Option<u16>,
    #[case] order: Option<u16>,
    #[case] card: Option<u16>,
) {
    let content = of_one(Provider::Verifi, "1480.00", "ACME*SHOP BERLIN", "SHOP-00010293");

    let placed = lay_out(&Column::USUAL, &content, room);

    let widths = [Column::Descriptor, Column::Order, Column::Card].map(|column| width_in(&placed, column));
    assert_eq!(widths, [descriptor, order, card]);
}

#[test]
fn an_amount_is_never_cut_where_there_is_room_for_it() {
    let content = of_one(Provider::Verifi, "9223372036854.775807", "ACME", "1");

    let placed = lay_out(&Column::USUAL, &content, 76);

    assert_eq!(width_in(&placed, Column::Amount), Some(28));
}

#[rstest]
#[case("411111", 14, "411111 ·· 1234")]
#[case("41111122", 14, "41111122··1234")]
#[case("411111", 13, "411111··1234")]
#[case("411111", 6, "··1234")]
fn a_card_is_shortened_before_it_is_cut(#[case] bin: &str, #[case] width: u16, #[case] shown: &str) {
    let mut alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
    (alert.card_bin, alert.card_last_four) = (bin.to_owned(), "1234".to_owned());

    assert_eq!(card(&alert, width), shown);
}

#[test]
fn how_alerts_ended_is_shown_where_not_only_open_ones_are_listed() {
    let open = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };

    assert_eq!(shown(&open, true), Column::USUAL);
    let all = shown(&AlertFilter::default(), true);
    assert_eq!((all[3], all[8]), (Column::Status, Column::Outcome));
    let missed = AlertFilter { statuses: vec![AlertStatus::Expired], ..AlertFilter::default() };
    assert_eq!(shown(&missed, true)[1..], Column::USUAL[1..], "all of them lapsed without an answer");
}

#[rstest]
#[case::what_lapsed(AlertFilter { statuses: vec![AlertStatus::Expired], ..AlertFilter::default() }, true, Column::When)]
#[case::what_was_answered(AlertFilter { statuses: vec![AlertStatus::Refunded, AlertStatus::Invalid],
    ..AlertFilter::default() }, true, Column::When)]
#[case::some_of_it_open(AlertFilter { statuses: vec![AlertStatus::Refunded, AlertStatus::Open],
    ..AlertFilter::default() }, true, Column::Left)]
#[case::all(AlertFilter::default(), true, Column::Left)]
#[case::all_of_it_over(AlertFilter::default(), false, Column::When)]
#[case::open(AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() }, false, Column::Left)]
fn when_it_was_over_stands_in_place_of_the_time_left_where_nothing_waits(
    #[case] filter: AlertFilter,
    #[case] waits: bool,
    #[case] first: Column,
) {
    assert_eq!(shown(&filter, waits)[0], first);
}

#[test]
fn when_an_alert_was_over_is_told_by_the_hour_today_and_by_the_day_before() {
    let at = |text: &str| from_iso(text);
    let now = at("2026-03-10T12:00:00Z").unwrap();
    let utc = times::Zone::Utc;
    let mut answered = Alert::sample();
    answered.outcome = Some(Outcome { action_time: at("2026-03-10T09:12:00Z"), ..Outcome::sample(answered.id) });
    let lapsed = Alert { expired_at: at("2026-03-09T23:00:00Z"), ..Alert::sample() };
    let years_ago = Alert { expired_at: at("2024-12-09T23:00:00Z"), ..Alert::sample() };

    let told = [&answered, &lapsed, &years_ago, &Alert::sample()]
        .map(|alert| Column::When.text(alert, 7, utc, now).into_owned());

    assert_eq!(told, ["09:12", "09 Mar", "2024-12", "–"]);
}

#[test]
fn whose_alert_it_is_is_told_where_how_it_stands_is() {
    let content = of_one(Provider::Verifi, "1480.00", "ACME*SHOP BERLIN", "SHOP-00010293");

    let placed = lay_out(&shown(&AlertFilter::default(), true), &content, 74);

    let titles: Vec<_> = placed.iter().map(|placed| placed.column.title()).collect();
    assert_eq!(titles, ["DUE IN", "NETWORK", "TYPE", "STATUS", "ORDER", "AMOUNT", "CARD"]);
}

#[test]
fn no_column_moves_aside_when_a_later_page_has_longer_words_and_figures() {
    let alert = |amount: &str, provider, alert_type| Alert {
        amount: amount.parse().ok(),
        ..Alert::new(AlertId::generate(), provider, alert_type)
    };
    let mut first = ContentWidths::of_pages();
    first.take_in(&alert("9.90", Provider::Cdrn, AlertType::VerifiCancel));
    let mut later = first;
    later.take_in(&alert("1480.00", Provider::Ethoca, AlertType::EthocaCustomerDispute));

    let places = |content: &ContentWidths| {
        lay_out(&Column::USUAL, content, 74).iter().map(|placed| placed.x).collect::<Vec<_>>()
    };

    assert_eq!(places(&first), places(&later));
}

#[test]
fn every_column_stands_at_its_place() {
    for (place, column) in Column::ALL.into_iter().enumerate() {
        assert_eq!(column as usize, place);
    }
}

proptest! {
    #[test]
    fn columns_never_overlap_and_never_leave_the_row(
        columns in subsequence(&Column::ALL[..], 1..=Column::ALL.len()).prop_shuffle(),
        room in 1u16..300,
        content in proptest::collection::vec(0u16..100, Column::ALL.len()),
    ) {
        let placed = lay_out(&columns, &ContentWidths(content.try_into().unwrap()), room);

        prop_assert!(!placed.is_empty());
        for pair in placed.windows(2) {
            prop_assert!(pair[0].x + pair[0].width < pair[1].x);
        }
        prop_assert!(placed.iter().all(|placed| placed.x + placed.width <= room));
    }
}
