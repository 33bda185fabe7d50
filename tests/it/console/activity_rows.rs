//! The rows of the Activity screen: answers that were given together, and notes.

use avert::{
    desk::BuiltIn,
    domain::{Alert, AlertId, Resolution, resolution::Decision},
    service::ResolveRequest,
};
use chrono::Duration;

use super::{
    activity::{declined, desk, line, started},
    bulk::alike,
    cases::three,
    rig::{Made, Rig},
};

/// Five alerts answered together, the first of them refused.
fn bulk(size: (u16, u16)) -> (Rig, Vec<Alert>) {
    // Their ids are shown in pictures.
    let known = |(number, alert)| Alert { id: AlertId(uuid::Uuid::from_u128(number)), ..alert };
    let alerts: Vec<Alert> = (1..).zip(alike(6)).map(known).collect();
    let mut rig = started(Made { alerts: alerts.clone(), size, ..desk() });
    rig.service.next_resolution(declined());
    rig.press("V j j j j V n");
    rig.type_text("no order");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(20));
    rig.press("esc esc");
    (rig, alerts)
}

/// How many rows of the list tell of one decision.
fn decided(rig: &mut Rig) -> usize {
    let screen = rig.screen();
    let list = screen.lines().take_while(|line| !line.contains("─────"));
    list.filter(|line| line.contains("Not refunded 1.00 EUR")).count()
}

#[test]
fn what_failed_of_a_run_needs_somebody_by_itself_and_is_decided_again() {
    let (mut rig, alerts) = bulk((160, 40));

    rig.press("4");
    let (row, screen) = (line(&mut rig, "▌"), rig.screen());
    rig.press("t");
    rig.advance(Duration::milliseconds(100));

    assert!(row.contains("Not refunded 1.00 EUR") && screen.contains("case closed by issuer"), "{screen}");
    assert_eq!(rig.current(), alerts[0].id);
    assert!(rig.screen().contains("no order"), "{}", rig.screen());
}

#[test]
fn a_case_whose_refund_was_decided_again_and_recorded_calls_for_nobody() {
    let mut rig = started(Made { alerts: three(), size: (160, 40), ..desk() });
    rig.service.next_resolution(declined());
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.press("esc esc esc 4 t");
    rig.advance(Duration::milliseconds(100));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(7));
    let told = rig.screen();
    rig.press("1 b");

    assert!(!told.contains("failed") && told.contains("3 recorded."), "{told}");
    let (page, refunded) = (rig.screen(), line(&mut rig, "answered again since: RESOLVED"));
    assert!(!refunded.contains("<") && !refunded.contains("0h"), "{page}");
    assert!(!page.contains("answer failed ones again") && !page.contains("✗"), "{page}");
}

#[test]
fn a_run_whose_failure_is_decided_again_says_so_though_its_end_was_told() {
    let (mut rig, alerts) = bulk((160, 40));
    rig.press("b");
    let failed = rig.screen();
    rig.press("esc 4 t");
    rig.advance(Duration::milliseconds(100));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let told = rig.screen();
    rig.press("1 b");
    let page = rig.screen();

    assert!(failed.contains("4 recorded, 1 failed") && failed.contains("answer failed ones again"), "{failed}");
    assert!(rig.service.alert(alerts[0].id).unwrap().outcome.is_some());
    assert!(!told.contains("1 failed"), "{told}");
    assert!(page.contains("5 recorded") && !page.contains("answer failed ones again"), "{page}");
}

#[test]
fn a_run_whose_failure_another_answered_since_offers_it_no_more() {
    let (mut rig, alerts) = bulk((160, 40));
    let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };

    rig.service.record(alerts[0].id, &ResolveRequest { resolution: refunded, idempotency_key: None }).unwrap();
    rig.show_view(BuiltIn::All);
    rig.hear();
    rig.advance(Duration::seconds(2));
    rig.press("b");

    let page = rig.screen();
    assert!(page.contains("4 recorded, 1 already answered"), "{page}");
    assert!(page.contains("already answered: Refunded") && !page.contains("answer failed ones again"), "{page}");
}

#[test]
fn a_failure_that_was_answered_again_says_so_in_the_history() {
    let (mut rig, _) = bulk((160, 40));
    rig.press("b r ctrl-s");
    rig.advance(Duration::seconds(20));

    rig.press("esc esc 4 tab");

    assert_eq!(decided(&mut rig), 6, "{}", rig.screen());
    assert!(rig.screen().contains("not recorded; answered again since: CHARGEBA"), "{}", rig.screen());
}

#[test]
fn notes_have_a_view_of_their_own_and_lead_to_their_alert() {
    let mut rig = started(desk());
    rig.press("a");
    rig.type_text("called the customer");
    rig.press("ctrl-s j");
    rig.advance(Duration::seconds(30));
    rig.press("a");
    rig.type_text("waits for the bank");
    rig.press("ctrl-s 4");

    super::activity::shift_tab(&mut rig);
    let (newest, views) = (line(&mut rig, "▌"), line(&mut rig, "To do"));
    rig.press("j");
    let oldest = line(&mut rig, "▌");
    rig.press("enter");
    rig.advance(Duration::milliseconds(200));

    assert!(views.contains("Notes"), "{views}");
    assert!(newest.contains("waits for the bank") && newest.contains("VERIFI ··8831 A-10311"), "{newest}");
    assert!(
        oldest.contains("omar") && oldest.contains("called the customer") && oldest.contains("ETHOCA ··1234 A-10293"),
        "{oldest}"
    );
    assert!(rig.screen().contains("WHAT HAPPENED") && rig.screen().contains("A-10293"), "{}", rig.screen());
}
