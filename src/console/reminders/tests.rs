//! Tests of what calls, and how often.

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::domain::{AlertType, Provider, time::from_iso};

const BEFORE: Duration = Duration::minutes(30);

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

fn lapsing_at(minutes: &[i64]) -> Vec<Alert> {
    minutes.iter().zip(0..).map(|(minutes, number)| due(number, Deadline::At(at(*minutes)))).collect()
}

fn reading(closing: Vec<Alert>) -> Reminders {
    let mut calls = Reminders::begun(now());
    assert!(calls.take_due(now()));
    calls.read(Ok(closing), BEFORE, now());
    calls
}

fn nobody(_: AlertId) -> bool {
    false
}

/// Reads the same again, and returns the network ids of those that call.
fn calling(calls: &mut Reminders, now: Timestamp) -> Vec<String> {
    calls.read(Ok(calls.closing.clone()), BEFORE, now);
    calls.come_near(BEFORE, nobody, now).into_iter().map(|alert| alert.provider_id).collect()
}

#[test]
fn an_alert_calls_once_when_it_comes_near() {
    let mut calls = reading(lapsing_at(&[25, 31]));

    let told = [calling(&mut calls, now()), calling(&mut calls, now()), calling(&mut calls, at(2))];

    assert_eq!(told, [vec!["7KQ0".to_owned()], vec![], vec!["7KQ1".to_owned()]]);
}

#[test]
fn several_that_come_near_together_are_one_call_that_goes_to_the_first() {
    let mut calls = reading(lapsing_at(&[20, 12, 28]));

    assert_eq!(calling(&mut calls, now()), ["7KQ1", "7KQ0", "7KQ2"]);
}

#[test]
fn a_call_names_the_first_and_what_is_left() {
    let call =
        |near: &[Alert]| near_words(near, "due 12:25", BEFORE).map(|(words, outside)| [words, outside].join(" / "));

    let calls = [lapsing_at(&[25]), lapsing_at(&[12, 20, 28])].map(|near| call(&near).unwrap());

    assert_eq!(
        calls,
        [
            "CDRN 7KQ0 due 12:25, unanswered. / CDRN 7KQ0 due 12:25",
            "CDRN 7KQ0 due 12:25, and 2 more within 30m. / 3 alerts due within 30m, CDRN 7KQ0 due 12:25",
        ]
    );
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
    closing[0].alert_type = AlertType::VerifiFraudNotice;
    closing[1].expired_at = Some(now());
    let underway = closing[2].id;
    let mut calls = reading(closing);

    assert_eq!(calls.come_near(BEFORE, |id| id == underway, now()), []);
    assert_eq!(calling(&mut calls, now()), ["7KQ2"], "an answer that was undone leaves it open");
}

#[test]
fn it_is_read_again_when_the_next_one_comes_near_and_each_minute() {
    let mut soon = reading(lapsing_at(&[31, 200]));
    let bursts = reading(vec![due(1, Deadline::At(at(30) + Duration::seconds(1)))]);

    assert_eq!([soon.next_wake(), bursts.next_wake()], [Some(at(1)), Some(now() + Duration::seconds(5))]);
    assert_eq!(reading(lapsing_at(&[200])).next_wake(), Some(at(1)));
    assert!(soon.take_due(at(1)) && soon.next_wake().is_none(), "one reading at a time");
}

#[test]
fn what_does_not_answer_is_asked_again() {
    let mut calls = Reminders::begun(now());

    calls.read(Err(ServiceError::Unavailable("busy".to_owned())), BEFORE, now());

    assert_eq!(calls.next_wake(), Some(at(1)));
}

#[test]
fn one_that_was_near_calls_though_nobody_answers_any_more() {
    let mut calls = reading(lapsing_at(&[31]));

    calls.read(Err(ServiceError::Unreachable("no connection".to_owned())), BEFORE, at(2));

    assert_eq!(calls.come_near(BEFORE, nobody, at(2)).len(), 1);
}

#[test]
fn the_title_tells_what_is_due_and_is_plain_where_nothing_is() {
    let settings = ReminderSettings::default();
    let calls = reading(lapsing_at(&[10, 20, 40]));
    let title =
        |calls: &Reminders, failed, now| calls.title("acme", &settings, [(failed, "failed"), (0, "held")], nobody, now);

    assert_eq!(title(&calls, 0, now()), "avert: 2 due within 30m - acme");
    assert_eq!(title(&calls, 1, at(41)), "avert: 1 failed - acme");
    assert_eq!(title(&Reminders::default(), 0, now()), "avert: acme");
}

#[test]
fn what_is_told_outside_holds_nothing_of_the_card_and_no_money() {
    let [alert] = &mut lapsing_at(&[10])[..] else { panic!("one alert") };
    (alert.card_bin, alert.card_last_four, alert.merchant_name) =
        ("411111".to_owned(), "1234".to_owned(), "ACME".to_owned());
    alert.amount = Some("129.90".parse().unwrap());
    let mut calls = Reminders::default();
    calls.failed(alert);

    let (_, outside) = near_words(std::slice::from_ref(alert), "due 12:10", BEFORE).unwrap();

    assert_eq!([outside, calls.take_failures().concat()], ["CDRN 7KQ0 due 12:10", "To do: CDRN 7KQ0"]);
    assert_eq!(calls.take_failures(), Vec::<String>::new());
}

proptest! {
    /// Whatever is read when, each alert is told at most once.
    #[test]
    fn each_alert_calls_at_most_once(
        steps in proptest::collection::vec((proptest::collection::vec((0u128..8, 0i64..120), 0..8), 0u128..8), 1..40),
    ) {
        let mut calls = Reminders::begun(now());
        let mut told: HashMap<AlertId, u32> = HashMap::new();
        for (minute, (rows, underway)) in steps.into_iter().enumerate() {
            let now = at(i64::try_from(minute).unwrap());
            let rows: BTreeMap<u128, i64> = rows.into_iter().collect();
            let alerts: Vec<Alert> = rows.into_iter().map(|(number, minutes)| due(number,
                Deadline::At(at(minutes)))).collect();
            let underway = due(underway, Deadline::Unknown).id;
            calls.read(Ok(alerts), BEFORE, now);

            for alert in calls.come_near(BEFORE, |id| id == underway, now) {
                prop_assert!(lapses_within(&alert, BEFORE, now) && alert.id != underway);
                *told.entry(alert.id).or_default() += 1;
            }
        }
        prop_assert!(told.values().all(|times| *times == 1));
    }
}

fn notice(sequence: DesktopSequence, words: &str) -> String {
    Reminder { bell: false, desktop: Some((sequence, words.to_owned())) }.sequence()
}

#[test]
fn a_notice_rings_and_tells_its_words() {
    let loud = Reminder { bell: true, desktop: Some((DesktopSequence::Osc9, "3 alerts".to_owned())) };

    assert_eq!(loud.sequence(), "\x07\x1b]9;3 alerts\x1b\\");
    assert_eq!(notice(DesktopSequence::Osc777, "3 alerts"), "\x1b]777;notify;avert;3 alerts\x1b\\");
}

#[test]
fn nothing_is_switched_on_nothing_is_written() {
    let silent = ReminderSettings { bell: false, ..ReminderSettings::default() };

    assert_eq!(silent.reminder("3 alerts"), None);
    assert_eq!(ReminderSettings::default().reminder("3 alerts"), Some(Reminder { bell: true, desktop: None }));
}

proptest! {
    #[test]
    fn no_words_end_a_sequence_or_part_its_fields(words in any::<String>()) {
        let told = notice(DesktopSequence::Osc777, &words);
        let inside = told.strip_prefix("\x1b]777;notify;avert;").and_then(|rest| rest.strip_suffix("\x1b\\"))
            .unwrap();

        prop_assert!(!inside.contains(|sign: char| sign.is_control() || sign == ';'));
    }
}
