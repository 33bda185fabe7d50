//! Doubles of an alert whose decision is on its way: what is not recorded is not told as a fact, and what rests on it waits for it.

use avert::console::message::Message;
use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId, AlertStatus};
use avert::service::ServiceError;
use chrono::Duration;

use super::fake::{Fate, morning, refunded_sibling};
use super::rig::{Made, Rig, clock};

/// A morning whose first alert has an open double at its own network; both ids.
fn twins() -> (Rig, [AlertId; 2]) {
    let now = clock().now();
    let mut alerts = morning(now);
    let other = refunded_sibling(&alerts[0], 1_001, now);
    let twin = Alert { status: AlertStatus::Open, outcome: None, provider_id: "TWIN".to_owned(), ..other };
    let ids = [alerts[0].id, twin.id];
    alerts.push(twin);
    (Made { size: (200, 60), ..Made::of(alerts) }.start(), ids)
}

/// Refunds the first twin and puts the cursor on the second.
fn refund_the_first(rig: &mut Rig, [first, second]: [AlertId; 2]) {
    rig.update(Message::GoToAlert(first));
    rig.press("r ctrl-s");
    rig.update(Message::GoToAlert(second));
    rig.advance(Duration::milliseconds(500));
}

fn reason(rig: &Rig, id: AlertId) -> Option<String> {
    rig.service.alert(id).and_then(|alert| alert.outcome)?.dispute_reason_code
}

#[test]
fn a_staged_refund_of_a_double_is_not_told_as_recorded() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);

    let detail = rig.screen();
    rig.press("r");
    let form = rig.screen();

    assert!(detail.contains("REFUNDED waits here, not sent yet") && !detail.contains("RESOLVED, refunded"), "{detail}");
    assert!(form.contains("a refund is on its way: ETHOCA") && !form.contains("refunded already"), "{form}");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));
    assert_eq!(rig.sent(), 1, "a second refund asks for its tick");
}

#[test]
fn the_double_of_a_staged_refund_is_a_duplicate_that_leaves_once_that_is_recorded() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);

    rig.press("i");
    let fits = rig.screen();
    rig.press("3 ctrl-s");
    let staged = rig.screen();
    rig.advance(Duration::seconds(20));

    assert!(fits.contains("✓ a refund of ETHOCA 8F2C77AA2082 is on its way; this reason fits"), "{fits}");
    assert!(staged.contains("leaves once the refund is recorded"), "{staged}");
    assert_eq!((rig.sent(), reason(&rig, ids[1]).as_deref()), (2, Some("duplicate")));
}

#[test]
fn what_rests_on_a_refund_that_is_refused_stays_and_asks() {
    let (mut rig, ids) = twins();
    refund_the_first(&mut rig, ids);
    rig.press("i 3 ctrl-s");
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));

    rig.advance(Duration::seconds(20));

    assert!(rig.screen().contains("The refund was not recorded"), "{}", rig.screen());
    assert_eq!((rig.sent(), reason(&rig, ids[1])), (1, None));
}

#[test]
fn a_range_takes_in_nobody_who_arrives() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("V j j");
    let sooner = |alert: &Alert| Alert { id: AlertId::generate(), provider_id: "SOONER".to_owned(), ..alert.clone() };

    rig.change(|alerts| alerts.insert(1, sooner(&alerts[1])));
    rig.hear();
    rig.advance(Duration::seconds(5));
    let ranged = rig.screen();
    rig.press("V");
    rig.advance(Duration::seconds(5));

    assert!(ranged.contains("range of 3") && ranged.contains("1 new"), "{ranged}");
    assert!(rig.screen().contains("3 marked"), "{}", rig.screen());
    assert!(rig.app.queue().marked.alerts().iter().all(|alert| alert.provider_id != "SOONER"));
}
