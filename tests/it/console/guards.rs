//! Each guard holds an answer back until it is confirmed, whichever way the answer is given.

use avert::domain::{Alert, AlertId, AlertType, Deadline, Environment, Provider, time::Clock as _};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{morning, refunded_sibling},
    rig::{Made, Rig, clock},
};

/// An alert that a guard holds, and one of another payment that none does.
fn guarded(guard: &str) -> Vec<Alert> {
    let now = clock().now();
    let [alert, other] = <[Alert; 2]>::try_from(morning(now)[..2].to_vec()).unwrap();
    let due = Deadline::At(now + Duration::hours(2));
    let alert = Alert { deadline: due, ..alert };
    let other = Alert { deadline: Deadline::At(now + Duration::hours(1)), ..other };
    match guard {
        "notice" => vec![Alert { alert_type: AlertType::VerifiDisputeNotice, ..alert }, other],
        "closed" => vec![Alert { deadline: Deadline::At(now - Duration::minutes(1)), ..alert }, other],
        "network rule" => vec![
            Alert {
                provider: Provider::Verifi,
                alert_type: AlertType::VerifiDispute,
                rule_name: Some("Above 10".to_owned()),
                ..alert
            },
            other,
        ],
        "refunded double" => vec![alert.clone(), other, refunded_sibling(&alert, 1_001, now)],
        other => panic!("no guard {other}"),
    }
}

/// A console on all alerts, the one that a guard holds, and the other one.
fn started(guard: &str) -> (Rig, AlertId, AlertId) {
    let alerts = guarded(guard);
    let (id, other) = (alerts[0].id, alerts[1].id);
    let mut made = Made::of(alerts);
    made.place.environment = Some(Environment::Sandbox);
    let mut rig = made.start();
    rig.press("v end enter");
    rig.advance(Duration::seconds(1));
    (rig, id, other)
}

fn go_to(rig: &mut Rig, alert: AlertId) {
    rig.update(avert::console::Message::GoToAlert(alert));
    rig.advance(Duration::seconds(1));
}

#[test]
fn a_space_in_the_form_of_a_repeated_answer_is_no_tick() {
    let (mut rig, id, other) = started("notice");
    go_to(&mut rig, other);
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    let before = rig.sent();
    go_to(&mut rig, id);

    rig.press(". space ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), before, "{}", rig.screen());
}

#[rstest]
fn a_guard_holds_an_answer_back_until_it_is_confirmed(
    #[values("notice", "closed", "network rule", "refunded double")] guard: &str,
    #[values("one", "several", "case", "again")] way: &str,
) {
    let (mut rig, id, other) = started(guard);
    if way == "again" {
        go_to(&mut rig, other);
        rig.press("r ctrl-s");
        rig.advance(Duration::seconds(6));
    }
    let before = rig.sent();
    go_to(&mut rig, id);

    rig.press(match way {
        "one" => "r ctrl-s",
        "several" => "space r ctrl-s",
        "case" => "enter r ctrl-s",
        _ => ".",
    });
    rig.advance(Duration::seconds(6));
    let held = rig.sent();
    // In a list it is the row that is ticked. An answer that is repeated opens in its comments.
    rig.press(match (way, guard) {
        ("again", _) => "ctrl-s space ctrl-s",
        ("several", _) | ("case", "refunded double") => "tab space ctrl-s",
        _ => "space ctrl-s",
    });
    rig.advance(Duration::seconds(6));

    assert_eq!((held, rig.sent()), (before, before + 1), "{}", rig.screen());
}
