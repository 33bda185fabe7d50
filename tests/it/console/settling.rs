//! What the engine has not settled: seen in the list and beside it, and settled by a person's word, never by Enter.

use avert::{
    domain::{AlertId, AlertStatus, AttemptId, Resolution, ResolutionAttempt, resolution::Decision},
    service::{OutcomeUnknown, ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;
use uuid::Uuid;

use super::{
    fake::{Fate, morning},
    rig::{Made, Rig, clock},
};

pub fn unfinished(alert: AlertId, state: &str) -> ResolutionAttempt {
    let now = avert::domain::time::Clock::now(clock().as_ref());
    ResolutionAttempt {
        id: AttemptId(Uuid::from_u128(77)),
        alert,
        state: state.to_owned(),
        resolution: Resolution::Current { decision: Decision::Refunded, comments: "by the shop".to_owned() },
        started_at: now - Duration::minutes(12),
        next_check: (state == "UNKNOWN").then(|| now + Duration::minutes(3)),
        checks: 4,
        detail: "the network cannot be asked".to_owned(),
        actor: "key ops-1".to_owned(),
    }
}

/// A rig whose third alert has an unsettled decision; the cursor is on it.
fn rig(state: &str) -> (Rig, AlertId) {
    let now = avert::domain::time::Clock::now(clock().as_ref());
    let alerts = morning(now);
    let id = alerts[2].id;
    let mut rig = Rig::new(alerts);
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(id, state)];
    rig.hear();
    rig.press("j j");
    assert_eq!(rig.current(), id);
    (rig, id)
}

#[test]
fn a_decision_of_unknown_fate_says_what_was_sent_and_when_it_is_looked_at_next() {
    let (mut rig, _) = rig("UNKNOWN");

    let screen = rig.screen();

    for words in ["? Refunded: unconfirmed", "13:51, 12m ago", "Checking, next in"] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    assert!(screen.lines().any(|line| line.contains("▌?") && line.contains("18.50")), "no mark in the list:\n{screen}");
    assert!(!screen.contains("p  set the result"), "{screen}");
}

#[test]
fn a_look_that_nobody_makes_is_not_announced() {
    let (mut rig, _) = rig("UNKNOWN");

    rig.advance(Duration::minutes(20));

    let screen = rig.screen();
    assert!(screen.contains("Checking now."), "{screen}");
}

#[test]
fn a_parked_decision_asks_a_person_in_the_list_beside_it_and_at_the_foot() {
    let (mut rig, _) = rig("PARKED");

    let screen = rig.screen();

    for words in ["? Refunded: unconfirmed", "the network cannot be asked", "p  set the result", "p set result"] {
        assert!(screen.contains(words), "{words:?} is not in\n{screen}");
    }
    assert!(screen.lines().any(|line| line.contains("▌?") && line.contains("18.50")), "no mark in the list:\n{screen}");
}

#[rstest]
#[case("UNKNOWN", "unconfirmed: no reply yet")]
#[case("PARKED", "p sets the result")]
#[case("INFLIGHT", "sending")]
fn no_other_answer_is_begun_on_an_alert_whose_decision_is_not_settled(#[case] state: &str, #[case] words: &str) {
    let (mut rig, _) = rig(state);

    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 0);
    rig.press("r");
    assert!(rig.screen().contains(words), "{}", rig.screen());
}

#[test]
fn a_person_says_that_the_network_applied_it_and_the_alert_is_resolved() {
    let (mut rig, id) = rig("PARKED");

    rig.press("p");
    let dialog = rig.screen();
    rig.press("a ctrl-s");

    for words in ["Set the result of Refunded", "by the shop", "API status becomes RESOLVED", "can be answered again"] {
        assert!(dialog.contains(words), "{words:?} is not in\n{dialog}");
    }
    assert_eq!(*rig.service.settled.lock().unwrap(), [(AttemptId(Uuid::from_u128(77)), true)]);
    assert_eq!(rig.service.alert(id).unwrap().status, AlertStatus::Resolved);
    assert!(rig.screen().contains("ETHOCA 18.50 EUR is RESOLVED"), "{}", rig.screen());
}

#[test]
fn a_person_says_that_it_did_not_and_the_alert_can_be_answered_again() {
    let (mut rig, id) = rig("PARKED");

    rig.press("p n ctrl-s");
    rig.hear();
    assert!(rig.screen().contains("not applied. Answer it again."), "{}", rig.screen());
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.service.settled.lock().unwrap().iter().map(|(_, applied)| *applied).collect::<Vec<_>>(), [false]);
    assert_eq!(rig.service.alert(id).unwrap().status, AlertStatus::Chargeback);
}

#[test]
fn what_is_told_of_a_parked_decision_goes_once_it_is_settled() {
    let (mut rig, _) = rig("PARKED");
    let told = "check the network's portal";
    assert!(rig.screen().contains(told), "{}", rig.screen());

    rig.press("p n ctrl-s");
    rig.hear();

    assert!(rig.screen().contains("not applied. Answer it again.") && !rig.screen().contains(told), "{}", rig.screen());
}

#[rstest]
#[case("p enter")]
#[case("p a enter enter enter enter")]
#[case("p n tab tab enter enter enter")]
#[case("p ctrl-s ctrl-s enter")]
#[case("p space")]
#[case("p esc")]
#[case("p a esc")]
fn nothing_is_settled_by_enter_or_without_an_answer(#[case] keys: &str) {
    let (mut rig, _) = rig("PARKED");

    rig.press(keys);

    assert!(rig.service.settled.lock().unwrap().is_empty());
}

#[test]
fn the_last_word_can_be_said_with_the_mouse() {
    let (mut rig, _) = rig("PARKED");

    rig.press("p");
    rig.click_on("( ) applied");
    assert!(rig.service.settled.lock().unwrap().is_empty());
    rig.click_on("Save");

    assert_eq!(rig.service.settled.lock().unwrap().len(), 1);
}

#[test]
fn the_dialog_opens_from_any_alert_on_the_oldest_that_waits() {
    let (mut rig, id) = rig("PARKED");

    rig.press("g p a ctrl-s");

    assert_eq!(rig.service.alert(id).unwrap().status, AlertStatus::Resolved);
}

#[test]
fn what_was_settled_meanwhile_is_not_settled_twice() {
    let (mut rig, _) = rig("PARKED");
    rig.press("p a");

    rig.service.unfinished.lock().unwrap().clear();
    rig.hear();
    rig.press("ctrl-s");

    assert!(rig.service.settled.lock().unwrap().is_empty());
    assert!(rig.screen().contains("The result is already set"), "{}", rig.screen());
}

#[test]
fn where_the_service_has_no_operators_side_it_is_said_who_can_settle() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("p");

    assert!(rig.screen().contains("operator sets results"), "{}", rig.screen());
}

#[test]
fn a_decision_of_this_desk_that_the_engine_gave_up_is_told_as_not_recorded_and_never_sent_again() {
    let mut rig = Rig::new(morning(avert::domain::time::Clock::now(clock().as_ref())));
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    assert!(rig.app.ledger().is_checking(id));

    rig.service.unfinished.lock().unwrap().clear();
    rig.hear();

    assert!(rig.screen().contains("did not apply it"), "{}", rig.screen());
    assert_eq!(rig.sent(), 1);
}

#[test]
fn activity_leads_from_a_decision_that_waits_for_a_word_to_where_it_is_said() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    assert!(rig.app.ledger().is_checking(id));

    *rig.service.unfinished.lock().unwrap() = vec![unfinished(id, "PARKED")];
    rig.hear();
    rig.press("4");

    let screen = rig.screen();
    assert!(screen.contains("check the network's portal, p sets the result"), "{screen}");
    assert!(!screen.contains("next look"), "{screen}");
}

#[test]
fn elsewhere_a_decision_whose_answer_never_came_is_looked_at_until_it_is_found() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("k");
    let first = rig.screen();
    rig.advance(Duration::minutes(3));
    rig.press("esc");
    let in_vain = rig.screen();

    let request = rig.service.resolutions.lock().unwrap()[0].1.clone();
    rig.service.record(id, &request).unwrap();
    rig.advance(Duration::seconds(61));

    assert!(first.contains("Refunded: unconfirmed"), "{first}");
    assert!(in_vain.contains("Refunded: unconfirmed"), "{in_vain}");
    assert!(
        rig.screen().contains("ETHOCA 129.90 EUR: Refunded (API status RESOLVED), by whom is not known"),
        "{}",
        rig.screen()
    );
    assert_eq!(rig.sent(), 1, "never a second time by itself");
}

#[test]
fn elsewhere_anothers_outcome_is_told_when_the_answer_never_came() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    let id = rig.current();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    let theirs = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    rig.service.record(id, &ResolveRequest { resolution: theirs, idempotency_key: None }).unwrap();
    rig.advance(Duration::seconds(10));

    let screen = rig.screen();
    assert!(screen.contains("already answered: Not refunded"), "{screen}");
}

#[test]
fn an_answer_after_one_that_may_have_arrived_needs_a_second_word() {
    let mut rig = Made { operator: false, ..Made::default() }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press("k n ctrl-s");
    let asked = rig.screen();
    rig.press("space ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(
        asked.contains("Refunded was sent before and is unconfirmed") && asked.contains("[ ] Send anyway"),
        "{asked}"
    );
    assert_eq!(rig.sent(), 2);
}

#[rstest]
fn the_dialog_looks_as_it_did(
    #[values((80, 24), (120, 40))] size: (u16, u16),
    #[values("asked", "answered")] state: &str,
) {
    let now = avert::domain::time::Clock::now(clock().as_ref());
    let alerts = morning(now);
    let id = alerts[1].id;
    let mut rig = Made { size, ..Made::of(alerts) }.start();
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(id, "PARKED")];
    rig.hear();

    rig.press(if state == "asked" { "p" } else { "p n tab tab enter" });
    rig.advance(Duration::seconds(16));

    insta::assert_snapshot!(format!("settle_{state}@{}x{}", size.0, size.1), rig.screen());
}

#[test]
fn a_key_that_means_nothing_in_the_dialog_leaves_it_open() {
    let (mut rig, _) = rig("PARKED");
    rig.press("p");

    rig.press("4");

    assert!(rig.screen().contains("Set the result of Refunded"), "{}", rig.screen());
}
