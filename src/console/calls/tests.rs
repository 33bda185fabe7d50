//! Tests of what calls, and how often.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::{AlertType, Provider, time::from_iso};

const BEFORE: Duration = Duration::minutes(30);
const TOLD: Zone = Zone::Utc;

fn now() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn at(minutes: i64) -> Timestamp {
    now() + Duration::minutes(minutes)
}

fn due(number: u128, deadline: Deadline) -> Alert {
    let id = AlertId(uuid::Uuid::from_u128(number + 1));
    Alert { provider_id: format!("7KQ{number}"), deadline, ..Alert::new(id, Provider::Cdrn, AlertType::VerifiDispute) }
}

fn lapsing_at(minutes: &[i64]) -> ClosingAlerts {
    let alerts: Vec<Alert> =
        minutes.iter().enumerate().map(|(number, minutes)| due(number as u128, Deadline::At(at(*minutes)))).collect();
    ClosingAlerts { alerts, first: true, more: false }
}

fn reading(closing: ClosingAlerts) -> Calls {
    let mut calls = Calls::begun(now());
    assert!(calls.take_due(now()));
    calls.read(Ok(closing), BEFORE, now());
    calls
}

fn nobody(_: AlertId) -> bool {
    false
}

#[test]
fn an_alert_calls_once_when_it_comes_near_and_names_what_is_left() {
    let mut calls = reading(lapsing_at(&[25, 31]));

    let first = calls.deadlines(BEFORE, nobody, TOLD, now()).unwrap();
    let again = calls.deadlines(BEFORE, nobody, TOLD, now());
    let second = calls.deadlines(BEFORE, nobody, TOLD, at(2)).unwrap();

    assert_eq!(first.words, "CDRN 7KQ0 due at 12:25, unanswered.");
    assert_eq!(first.outside, "CDRN 7KQ0 due in 25m");
    assert_eq!((again, second.about[0].provider_id.as_str()), (None, "7KQ1"));
}

#[test]
fn several_that_come_near_together_are_one_call_that_goes_to_the_first() {
    let mut calls = reading(lapsing_at(&[20, 12, 28]));

    let call = calls.deadlines(BEFORE, nobody, TOLD, now()).unwrap();

    assert_eq!(call.words, "CDRN 7KQ1 and 2 more expire within 30m, the first at 12:12.");
    assert_eq!(call.about.iter().map(|alert| alert.provider_id.as_str()).collect::<Vec<_>>(), ["7KQ1", "7KQ0", "7KQ2"]);
}

#[test]
fn where_only_whole_hours_are_known_alerts_may_lapse() {
    let alerts = vec![due(0, Deadline::HoursLeft(0)), due(1, Deadline::HoursLeft(0))];
    let mut calls = reading(ClosingAlerts { alerts, first: true, more: false });

    let call = calls.deadlines(BEFORE, nobody, TOLD, now()).unwrap();

    assert_eq!(call.words, "CDRN 7KQ0 and 1 more may expire within 30m, the first before 13:00.");
    assert_eq!(call.outside, "2 alerts may expire within 30m, CDRN 7KQ0 in less than 1 h");
}

#[rstest]
#[case::to_the_moment(Deadline::At(at(30)), true)]
#[case::later(Deadline::At(at(31)), false)]
#[case::lapsed(Deadline::At(at(0)), false)]
#[case::whole_hours_that_may_be_less(Deadline::HoursLeft(0), true)]
#[case::whole_hours_that_are_more(Deadline::HoursLeft(1), false)]
#[case::none_by_the_services_count(Deadline::HoursLeft(-1), false)]
#[case::not_told(Deadline::Unknown, false)]
fn whole_hours_count_at_the_earliest_that_they_can_end(#[case] deadline: Deadline, #[case] is_near: bool) {
    assert_eq!(lapses_within(&due(1, deadline), BEFORE, now()), is_near);
}

#[test]
fn nothing_calls_that_asks_for_no_answer_has_one_or_whose_answer_is_on_its_way() {
    let mut closing = lapsing_at(&[5, 6, 7]);
    closing.alerts[0].alert_type = AlertType::VerifiFraudNotice;
    closing.alerts[1].expired_at = Some(now());
    let underway = closing.alerts[2].id;
    let mut calls = reading(closing);

    assert_eq!(calls.deadlines(BEFORE, |id| id == underway, TOLD, now()), None);
    assert!(calls.deadlines(BEFORE, nobody, TOLD, now()).is_some(), "an answer that was undone leaves it open");
}

#[test]
fn it_is_read_again_when_the_next_one_comes_near_and_each_minute() {
    let mut soon = reading(lapsing_at(&[31, 200]));
    let mut bursts = Calls::begun(now());
    bursts.read(
        Ok(ClosingAlerts {
            alerts: vec![due(1, Deadline::At(at(30) + Duration::seconds(1)))],
            first: true,
            more: false,
        }),
        BEFORE,
        now(),
    );

    assert_eq!([soon.next_wake(), bursts.next_wake()], [Some(at(1)), Some(now() + Duration::seconds(5))]);
    assert_eq!(reading(lapsing_at(&[200])).next_wake(), Some(at(1)));
    assert!(soon.take_due(at(1)) && soon.next_wake().is_none(), "one reading at a time");
}

#[test]
fn what_cannot_be_asked_is_told_once_and_what_does_not_answer_is_asked_again() {
    let mut calls = Calls::begun(now());
    let refused = || Err(ServiceError::InvalidRequest(Vec::new()));

    let told = [calls.read(refused(), BEFORE, now()).is_some(), calls.read(refused(), BEFORE, now()).is_some()];
    let busy = calls.read(Err(ServiceError::Unavailable("busy".to_owned())), BEFORE, now());

    assert_eq!((told, busy, calls.next_wake()), ([true, false], None, Some(at(1))));
}

#[test]
fn one_that_was_near_calls_though_nobody_answers_any_more() {
    let mut calls = reading(lapsing_at(&[31]));

    calls.read(Err(ServiceError::Unreachable("no connection".to_owned())), BEFORE, at(2));

    assert!(calls.deadlines(BEFORE, nobody, TOLD, at(2)).is_some());
}

#[test]
fn where_all_that_was_read_is_near_those_that_come_near_are_said_to_be_the_least() {
    let mut calls = reading(ClosingAlerts { more: true, ..lapsing_at(&[10; 100]) });

    let underway = calls.closing.alerts[99].id;

    let call = calls.deadlines(BEFORE, |id| id == underway, TOLD, now()).unwrap();

    assert!(call.words.starts_with("CDRN 7KQ0 and at least 98 more expire within 30m"), "{call:?}");
    assert!(call.outside.starts_with("at least 99 alerts expire within 30m"), "{call:?}");
}

#[rstest]
#[case::all_read(true, false, "2 alerts")]
#[case::in_order(true, true, "2 alerts")]
#[case::in_no_order(false, true, "at least 2 alerts")]
fn what_is_in_the_order_of_deadlines_has_no_more_before_one_that_is_later(
    #[case] first: bool,
    #[case] more: bool,
    #[case] told: &str,
) {
    let mut calls = reading(ClosingAlerts { first, more, ..lapsing_at(&[10, 11, 200]) });

    let call = calls.deadlines(BEFORE, nobody, TOLD, now()).unwrap();

    assert!(call.outside.starts_with(told), "{call:?}");
}

#[test]
fn the_title_tells_what_is_due_and_is_plain_where_nothing_is() {
    let settings = NoticeSettings::default();
    let mut calls = reading(lapsing_at(&[10, 20, 40]));
    let title =
        |calls: &Calls, failed, now| calls.title("acme", &settings, [(failed, "failed"), (0, "held")], nobody, now);

    assert_eq!(title(&calls, 0, now()), "avert: 2 due within 30m - acme");
    assert_eq!(title(&calls, 1, at(41)), "avert: 1 failed - acme");
    assert_eq!(title(&Calls::default(), 0, now()), "avert: acme");
    calls.closing = ClosingAlerts { more: true, ..lapsing_at(&[10; 100]) };
    assert_eq!(title(&calls, 0, now()), "avert: 100+ due within 30m - acme");
}

#[test]
fn what_is_told_outside_holds_nothing_of_the_card_and_no_money() {
    let mut closing = lapsing_at(&[10]);
    let alert = &mut closing.alerts[0];
    (alert.card_bin, alert.card_last_four, alert.merchant_name) =
        ("411111".to_owned(), "1234".to_owned(), "ACME".to_owned());
    alert.amount = Some("129.90".parse().unwrap());
    let mut calls = reading(closing.clone());
    calls.failed(&closing.alerts[0]);

    let call = calls.deadlines(BEFORE, nobody, TOLD, now()).unwrap();

    assert_eq!([call.outside, calls.take_failures().concat()], ["CDRN 7KQ0 due in 10m", "To do: CDRN 7KQ0"]);
    assert_eq!(calls.take_failures(), Vec::<String>::new());
}

proptest! {
    /// Whatever is read when, each alert is told at most once.
    #[test]
    fn each_alert_calls_at_most_once(
        steps in proptest::collection::vec((proptest::collection::vec((0u128..8, 0i64..120), 0..8), 0u128..8), 1..40),
    ) {
        let mut calls = Calls::begun(now());
        let mut told: HashMap<AlertId, u32> = HashMap::new();
        for (minute, (rows, underway)) in steps.into_iter().enumerate() {
            let now = at(i64::try_from(minute).unwrap());
            let rows: BTreeMap<u128, i64> = rows.into_iter().collect();
            let alerts: Vec<Alert> = rows.into_iter().map(|(number, minutes)| due(number,
                Deadline::At(at(minutes)))).collect();
            let underway = due(underway, Deadline::Unknown).id;
            calls.read(Ok(ClosingAlerts { alerts, first: true, more: false }), BEFORE, now);

            let call = calls.deadlines(BEFORE, |id| id == underway, TOLD, now);
            for alert in call.into_iter().flat_map(|call| call.about) {
                prop_assert!(lapses_within(&alert, BEFORE, now) && alert.id != underway);
                *told.entry(alert.id).or_default() += 1;
            }
        }
        prop_assert!(told.values().all(|times| *times == 1));
    }
}
