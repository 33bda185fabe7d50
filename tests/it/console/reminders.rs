//! What calls: alerts that lapse soon, decisions that failed or are held here; by bell, desktop, title, message and
//! journal, and when not.

use avert::{
    console::{
        message::Effect,
        reminders::{DesktopSequence, Reminder, ReminderSettings},
    },
    domain::{Alert, AlertId, Deadline, time::Clock},
    service::ServiceError,
};
use chrono::Duration;

use super::{
    fake::{Fate, morning},
    rig::{Made, Rig, clock},
};

/// Alerts that lapse after so many minutes, each of a payment of its own.
fn lapsing(minutes: &[i64]) -> Vec<Alert> {
    let now = clock().now();
    let one =
        morning(now).into_iter().find(|alert| !alert.alert_type.is_notice() && alert.rule_name.is_none()).unwrap();
    let alert = |(number, minutes): (usize, &i64)| Alert {
        id: AlertId::generate(),
        provider_id: format!("7KQ2F{number}"),
        card_last_four: format!("{number:04}"),
        auth_code: None,
        acquirer_reference_number: None,
        deadline: Deadline::At(now + Duration::minutes(*minutes)),
        ..one.clone()
    };
    minutes.iter().enumerate().map(alert).collect()
}

/// Loud: with a bell, the title and a message on the desktop.
fn loud() -> ReminderSettings {
    ReminderSettings { desktop: Some(DesktopSequence::Osc777), ..ReminderSettings::default() }
}

fn calling(alerts: Vec<Alert>) -> Made {
    let mut made = Made { reminders: loud(), ..Made::of(alerts) };
    made.place.environment = Some(avert::domain::Environment::Sandbox);
    made
}

fn reminders(rig: &Rig) -> Vec<Reminder> {
    rig.done
        .iter()
        .filter_map(|effect| if let Effect::Remind(reminder) = effect { Some(reminder.clone()) } else { None })
        .collect()
}

fn words(rig: &Rig) -> Vec<String> {
    reminders(rig).into_iter().filter_map(|reminder| reminder.desktop).map(|(_, words)| words).collect()
}

fn titles(rig: &Rig) -> Vec<&str> {
    rig.done
        .iter()
        .filter_map(|effect| if let Effect::Title(title) = effect { Some(title.as_str()) } else { None })
        .collect()
}

#[test]
fn an_alert_calls_once_when_half_an_hour_is_left() {
    let alerts = lapsing(&[45, 300]);
    let mut rig = calling(alerts.clone()).start();
    rig.advance(Duration::minutes(14));
    let early = words(&rig);

    rig.advance(Duration::seconds(65));
    let screen = rig.screen();
    rig.advance(Duration::minutes(5));

    assert_eq!(early, Vec::<String>::new());
    let name = format!("{} 7KQ2F0 due 14:48", alerts[0].provider);
    assert_eq!(words(&rig), [name]);
    assert!(reminders(&rig)[0].bell);
    assert!(screen.contains("due 14:48, unanswered. Press g in To answer."), "{screen}");
    let told = rig.told();
    assert!(told.iter().any(|(words, alert)| words.contains("due 14:48") && *alert == Some(alerts[0].id)), "{told:?}");
    assert_eq!(titles(&rig), ["avert: acme-eu", "avert: 1 due within 30m - acme-eu"]);
}

#[test]
fn an_alert_outside_the_list_that_is_shown_calls_too() {
    let mut rig = calling(lapsing(&[45, 300])).start();
    rig.press("/");
    rig.type_text("7KQ2F1");
    rig.press("enter");

    rig.advance(Duration::minutes(16));

    assert_eq!(words(&rig).len(), 1);
}

#[test]
fn one_that_was_answered_elsewhere_meanwhile_does_not_call() {
    let alerts = lapsing(&[45, 300]);
    let mut rig = calling(alerts.clone()).start();
    rig.advance(Duration::minutes(14));
    rig.service.change(|all| {
        let answered = all.iter_mut().find(|alert| alert.id == alerts[0].id).unwrap();
        answered.outcome = Some(avert::domain::Outcome { alert_id: answered.id, ..Default::default() });
        answered.status = avert::domain::AlertStatus::Resolved;
    });

    rig.advance(Duration::minutes(2));

    assert_eq!(words(&rig), Vec::<String>::new());
}

#[test]
fn several_at_once_ring_once_and_the_first_is_in_the_journal() {
    let alerts = lapsing(&[10, 20, 25, 300]);

    let rig = calling(alerts.clone()).start();

    assert_eq!(words(&rig), [format!("3 alerts due within 30m, {} 7KQ2F0 due 14:13", alerts[0].provider)]);
    let named: Vec<_> = rig.told().into_iter().filter_map(|(_, alert)| alert).collect();
    assert_eq!(named, [alerts[0].id]);
}

#[test]
fn in_quiet_hours_nothing_rings_and_the_message_stands() {
    // Where the console is, it is 18:03.
    let reminders = ReminderSettings { quiet: Some("18:00-18:10".parse().unwrap()), ..loud() };
    let mut rig = Made { reminders, ..calling(lapsing(&[20, 300])) }.start();
    let screen = rig.screen();
    let quiet = words(&rig);

    rig.advance(Duration::minutes(8));

    assert_eq!(quiet, Vec::<String>::new());
    assert!(screen.contains(", unanswered. Press g in To answer."), "{screen}");
    assert_eq!(titles(&rig).last(), Some(&"avert: 1 due within 30m - acme-eu"));
    assert_eq!(words(&rig), Vec::<String>::new(), "each calls once");
}

#[test]
fn a_remote_deployment_that_tells_whole_hours_calls_at_the_earliest_that_they_can_end() {
    let mut alerts = lapsing(&[45, 300]);
    (alerts[0].deadline, alerts[1].deadline) = (Deadline::HoursLeft(0), Deadline::HoursLeft(3));

    let rig = Made { operator: false, ..calling(alerts.clone()) }.start();

    assert_eq!(words(&rig), [format!("{} 7KQ2F0 due in less than 1 h", alerts[0].provider)]);
    let asked = rig.service.lists.lock().unwrap().iter().filter(|query| query.filter.expires_in.is_some()).count();
    assert_eq!(asked, 1);
}

#[test]
fn it_costs_one_small_list_a_minute() {
    let mut rig = Made { operator: false, ..calling(lapsing(&[300])) }.start();

    rig.advance(Duration::minutes(10));

    let asked = rig.service.lists.lock().unwrap().iter().filter(|query| query.filter.expires_in == Some(1)).count();
    assert!((10..=11).contains(&asked), "{asked}");
}

#[test]
fn a_decision_that_failed_or_was_overtaken_calls_and_one_that_landed_does_not() {
    let mut rig = calling(lapsing(&[300, 301, 302])).start();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    let landed = words(&rig);

    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(landed, Vec::<String>::new());
    let told = words(&rig);
    assert!(matches!(told.as_slice(), [one] if one.starts_with("To do: ") && one.contains("7KQ2F")), "{told:?}");
    assert_eq!(titles(&rig).last(), Some(&"avert: 1 answer failed - acme-eu"));
}

#[test]
fn a_run_that_failed_in_part_calls_once_at_its_end() {
    let mut rig = calling(lapsing(&[300, 301, 302])).start();
    for _ in 0..2 {
        rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));
    }

    rig.press("* n ctrl-s");
    rig.advance(Duration::seconds(8));

    assert_eq!(words(&rig), ["2 of those answered together need you"]);
}

#[test]
fn a_run_that_is_paused_calls_before_its_deadline_and_is_asked_about_at_its_end() {
    let alerts = lapsing(&[45, 300]);
    let mut rig = calling(alerts.clone()).start();
    rig.press("* n ctrl-s ctrl-p esc");
    rig.advance(Duration::minutes(14));
    let early = words(&rig);

    rig.advance(Duration::minutes(2));
    let called = words(&rig);
    rig.advance(Duration::minutes(29));
    let asked = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(5));

    assert_eq!(early, Vec::<String>::new());
    assert_eq!(called, [format!("1 answer is not sent: {} 7KQ2F0, due 14:48", alerts[0].provider)]);
    assert!(asked.contains("An alert is due while answers are paused"), "{asked}");
    assert_eq!(rig.sent(), 2);
}

#[test]
fn what_was_to_follow_a_refused_refund_calls_with_the_notices_and_stands_in_the_title() {
    let mut alerts = lapsing(&[200, 45]);
    alerts[1].card_last_four = alerts[0].card_last_four.clone();
    let mut rig = calling(alerts.clone()).start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));
    rig.press("j enter r ctrl-s esc");
    rig.advance(Duration::seconds(8));
    rig.press("esc");
    let at_once = words(&rig).len();

    rig.advance(Duration::minutes(15));

    let held = "1 answer is not sent: ";
    let (called, titles) = (words(&rig), titles(&rig));
    assert!(
        called[at_once..].iter().any(|words| words.starts_with(held) && words.ends_with("due 14:48")),
        "{called:?}"
    );
    assert!(titles.last().is_some_and(|title| title.contains("1 queued, not sent, 1 answer failed")), "{titles:?}");
}

#[test]
fn what_was_to_follow_a_refund_does_not_leave_with_what_was_paused() {
    let mut alerts = lapsing(&[45, 200, 250, 300]);
    alerts[2].card_last_four = alerts[1].card_last_four.clone();
    let mut rig = calling(alerts.clone()).start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));
    rig.press("j enter r ctrl-s esc");
    rig.advance(Duration::seconds(8));
    let about_refund = rig.screen();
    rig.press("esc g space G space n ctrl-s ctrl-p esc");
    rig.advance(Duration::minutes(45));
    let asked = rig.screen();

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(5));

    assert!(about_refund.contains("refund was not recorded"), "{about_refund}");
    assert!(
        asked.contains("An alert is due while answers are paused") && asked.contains("2 answers queued"),
        "{asked}"
    );
    assert_eq!(rig.sent(), 3, "the refund that was refused, and both that were paused");
    assert!(rig.service.alert(alerts[2].id).unwrap().outcome.is_none());
    assert!(rig.screen().contains("refund was not recorded"), "{}", rig.screen());
}

#[test]
fn no_setting_reads_or_calls_where_the_time_before_deadlines_is_nothing() {
    let mut rig = Made::of(lapsing(&[10, 20])).start();

    rig.advance(Duration::minutes(5));

    assert_eq!((reminders(&rig), titles(&rig)), (vec![], vec![]));
    assert!(!rig.service.lists.lock().unwrap().iter().any(|query| query.filter.expires_in == Some(4)));
}
