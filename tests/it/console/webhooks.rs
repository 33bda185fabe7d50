//! The Webhooks screen: how endpoints do, what became of each delivery, every attempt, and what is sent again.

use avert::{
    console::{
        SessionInfo,
        message::{Effect, Message},
    },
    domain::{
        Alert, AlertId, Answers, Delivery, DeliveryFilter, DeliveryPage, DeliveryState, source::SourceStatus,
        time::Clock,
    },
    service::ServiceError,
};
use chrono::Duration;
use rstest::rstest;
use uuid::Uuid;

use super::{
    fake::refunded_sibling,
    fake_webhooks::{Sent, deliveries, delivery_id, endpoint_id, endpoints},
    rig::{Made, Rig, clock},
};

/// The Webhooks screen on a morning's deliveries.
fn webhooks() -> Rig {
    on(Made::default())
}

/// The Webhooks screen of a console that was made like this.
pub(super) fn on(made: Made) -> Rig {
    let mut rig = made.start();
    let now = rig.clock.now();
    rig.service.endpoints.lock().unwrap().extend(endpoints(now));
    rig.service.deliveries.lock().unwrap().extend(deliveries(now));
    rig.press("3");
    rest(&mut rig);
    rig
}

/// The cursor rests, and the attempts come.
fn rest(rig: &mut Rig) {
    rig.advance(Duration::milliseconds(200));
}

pub(super) fn line(rig: &mut Rig, words: &str) -> String {
    let screen = rig.screen();
    screen.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("no {words}:\n{screen}")).to_owned()
}

pub(super) fn has(rig: &mut Rig, words: &str) -> bool {
    rig.screen().contains(words)
}

fn sent(rig: &Rig) -> Vec<Sent> {
    rig.service.sent_webhooks.lock().unwrap().clone()
}

#[test]
fn every_state_of_the_screen_has_its_picture() {
    for (width, height) in [(80, 24), (120, 40)] {
        let take = |name: &str, keys: &str| {
            let mut rig = on(Made { size: (width, height), ..Made::default() });
            rig.press(keys);
            rest(&mut rig);
            insta::assert_snapshot!(format!("{name}@{width}x{height}"), rig.screen());
        };
        take("list", "j j j");
        take("endpoints", "tab j");
        take("page", "j j j enter");
    }
}

/// A source that had so many events of each kind.
fn source(name: &str, mapped: u64, unmapped: u64, rejected: u64) -> SourceStatus {
    let last_received = Some(clock().now() - Duration::minutes(4));
    let preset = Some("stripe".to_owned());
    let answers = Some(Answers::Here);
    let known = SourceStatus { name: name.to_owned(), preset, answers, last_received, ..SourceStatus::default() };
    SourceStatus { received: mapped + unmapped, mapped, unmapped, rejected, ..known }
}

/// The Webhooks screen with two sources.
fn with_sources(size: (u16, u16)) -> Rig {
    let mut rig = Made { size, ..Made::default() }.start();
    *rig.service.sources.lock().unwrap() = vec![source("stripe-eu", 1_204, 0, 0), source("own", 31, 2, 7)];
    let now = rig.clock.now();
    rig.service.endpoints.lock().unwrap().extend(endpoints(now));
    rig.service.deliveries.lock().unwrap().extend(deliveries(now));
    rig.press("3");
    rest(&mut rig);
    rig
}

#[test]
fn sources_are_listed_with_what_became_of_their_events() {
    for (width, height) in [(80, 24), (120, 40)] {
        insta::assert_snapshot!(format!("sources@{width}x{height}"), with_sources((width, height)).screen());
    }
}

#[test]
fn the_list_of_sources_has_the_keys_between_the_others_and_tests_no_endpoint() {
    let mut rig = with_sources((120, 40));

    rig.press("tab tab j t y y");

    assert_eq!(sent(&rig), []);
    let copied = |effect: &Effect| matches!(effect, Effect::Copy(name) if name.reveal() == "own");
    assert!(rig.done.iter().any(copied), "{:?}", rig.done);
}

#[test]
fn where_there_is_nothing_yet_it_says_what_comes() {
    let mut rig = Made::default().start();
    rig.press("3");

    assert!(has(&mut rig, "avert webhooks add URL"), "{}", rig.screen());
    assert!(has(&mut rig, "Nothing sent yet"), "{}", rig.screen());
}

#[test]
fn a_deployment_without_webhooks_says_what_is_missing_and_sends_nothing() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("3 t s f enter tab");

    assert!(has(&mut rig, "avert login --operator"), "{}", rig.screen());
    assert_eq!(sent(&rig), []);
}

#[test]
fn the_health_of_each_endpoint_is_in_its_row() {
    let mut rig = webhooks();

    for (url, words) in [
        ("shop.example/hooks/alerts", ["healthy", "2m ago"]),
        ("erp.example", ["failing for 2h10", "3h ago"]),
        ("old-shop.example", ["disabled 3d ago: it failed for 120 h", "never"]),
    ] {
        let row = line(&mut rig, url);
        assert!(words.iter().all(|word| row.contains(word)), "{row}");
    }
}

#[test]
fn an_endpoint_whose_deliveries_were_given_up_is_not_well() {
    let give_up = |rig: &mut Rig| {
        let mut deliveries = rig.service.deliveries.lock().unwrap();
        deliveries.iter_mut().filter(|delivery| delivery.endpoint == endpoint_id(1)).for_each(|delivery| {
            (delivery.state, delivery.due) = (DeliveryState::Exhausted, None);
        });
    };
    let mut rig = webhooks();
    give_up(&mut rig);
    rig.hear();
    rig.advance(Duration::seconds(2));
    rig.press("tab");

    let row = line(&mut rig, "shop.example");

    assert!(row.contains("▲ 6 failed") && !row.contains("healthy"), "{row}");
}

#[test]
fn while_it_is_not_known_what_was_given_up_no_endpoint_is_said_to_take_all() {
    let mut rig = Made::default().start();
    let now = rig.clock.now();
    rig.service.endpoints.lock().unwrap().extend(endpoints(now));
    rig.service.set_down(Some(ServiceError::Unavailable("busy".to_owned())));
    rig.press("3");
    rest(&mut rig);
    rig.update(Message::Endpoints(Ok(endpoints(now))));

    let row = line(&mut rig, "shop.example");

    assert!(row.contains("healthy") && !row.contains('●'), "{row}");
}

#[test]
fn a_delivery_shows_every_attempt_with_request_status_time_and_answer() {
    let mut rig = on(Made { size: (200, 60), ..Made::default() });

    rig.press("j j j");
    rest(&mut rig);

    for words in [
        "Attempt 1",
        "Attempt 2",
        "503",
        "no reply within 15 s",
        "15000 ms",
        "34 ms",
        "https://erp.example/in/chargebacks",
        "authorization: Basic ****",
        "out of order: the stock is being counted",
        "next attempt",
    ] {
        assert!(has(&mut rig, words), "{words}:\n{}", rig.screen());
    }
}

#[test]
fn the_attempts_are_those_of_the_delivery_under_the_cursor_and_follow_its_changes() {
    let mut rig = webhooks();
    rig.press("j j j enter");
    rest(&mut rig);
    assert!(has(&mut rig, "Attempt 2") && !has(&mut rig, "Attempt 3"), "{}", rig.screen());

    let change = |delivery: &mut Delivery| delivery.attempts = 3;
    rig.service
        .deliveries
        .lock()
        .unwrap()
        .iter_mut()
        .filter(|delivery| delivery.id == delivery_id(10))
        .for_each(change);
    rig.hear();
    rig.advance(Duration::seconds(2));

    assert!(has(&mut rig, "Attempt 3"), "{}", rig.screen());
    rig.press("j");
    rest(&mut rig);
    assert!(!has(&mut rig, "Attempt 3"), "{}", rig.screen());
}

#[rstest]
#[case::taken("tab", "The test succeeded at https://shop.example/hooks/alerts: 200 in 34 ms.", 1)]
#[case::not_taken("tab j", "The test failed at https://erp.example/in/chargebacks: 503 in 34 ms.", 2)]
fn a_test_of_an_endpoint_says_what_came_of_it(#[case] keys: &str, #[case] words: &str, #[case] endpoint: u128) {
    let mut rig = webhooks();

    rig.press(keys);
    rig.press("t");

    assert_eq!(sent(&rig), [Sent::Test(endpoint_id(endpoint))]);
    assert!(has(&mut rig, words), "{}", rig.screen());
}

#[test]
fn one_endpoint_is_tested_at_a_time() {
    let mut rig = webhooks();
    rig.holding = true;

    rig.press("t t");

    assert!(has(&mut rig, "a test is running"), "{}", rig.screen());
    rig.release();
    assert_eq!(sent(&rig).len(), 1);
    rig.press("t");
    assert_eq!(sent(&rig).len(), 2);
}

#[test]
fn a_delivery_is_sent_again_unless_it_is_on_its_way() {
    let mut rig = webhooks();

    rig.press("j s");
    assert!(has(&mut rig, "the delivery is sending"), "{}", rig.screen());
    rig.press("j s");

    assert_eq!(sent(&rig), [Sent::Again(delivery_id(11))]);
    assert!(has(&mut rig, "Resent"), "{}", rig.screen());
    let now =
        rig.service.deliveries.lock().unwrap().iter().find(|delivery| delivery.id == delivery_id(11)).unwrap().state;
    assert_eq!(now, DeliveryState::Pending);
}

#[test]
fn a_delivery_that_waits_for_its_next_try_is_sent_at_once() {
    let mut rig = webhooks();

    rig.press("j j j s");

    assert_eq!(sent(&rig), [Sent::Again(delivery_id(10))]);
}

#[test]
fn a_read_only_console_sends_no_webhook() {
    let mut rig = on(Made { place: SessionInfo { read_only: true, ..SessionInfo::default() }, ..Made::default() });

    rig.press("j j t s tab j t");

    assert_eq!(sent(&rig), []);
    assert!(has(&mut rig, "read-only connection"), "{}", rig.screen());
}

#[test]
fn what_cannot_be_loaded_again_stays_and_says_since_when() {
    let mut rig = webhooks();
    rig.service.set_down(Some(ServiceError::Unavailable("the disk is full".to_owned())));

    rig.press("ctrl-r");
    assert!(has(&mut rig, "stale since 14:03") && has(&mut rig, "erp.example"), "{}", rig.screen());
    rig.press("tab t");
    assert!(has(&mut rig, "Test of"), "{}", rig.screen());
    rig.service.set_down(None);
    rig.press("ctrl-r");

    assert!(!has(&mut rig, "stale since"), "{}", rig.screen());
}

#[test]
fn more_deliveries_are_loaded_as_the_cursor_comes_near_their_end_and_it_stays_on_its_own() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    let now = rig.clock.now();
    rig.service.endpoints.lock().unwrap().extend(endpoints(now));
    let pattern = deliveries(now).pop().unwrap();
    let many = (1..=250).map(|number| Delivery {
        id: delivery_id(number),
        attempts: u32::try_from(number).unwrap(),
        ..pattern.clone()
    });
    rig.service.deliveries.lock().unwrap().extend(many);
    rig.press("3");
    assert!(has(&mut rig, "Deliveries  100+"), "{}", rig.screen());

    rig.press("G");
    rest(&mut rig);
    assert!(has(&mut rig, "Deliveries  200+"), "{}", rig.screen());
    let cursor = |rig: &mut Rig| line(rig, "▌");
    assert!(cursor(&mut rig).contains(" 151 "), "{}", rig.screen());
    rig.service.deliveries.lock().unwrap().push(Delivery { id: delivery_id(999), ..pattern });
    rig.hear();
    rig.advance(Duration::seconds(2));
    assert!(cursor(&mut rig).contains(" 151 "), "{}", rig.screen());
    rig.press("G");
    rest(&mut rig);
    rig.press("G");
    rest(&mut rig);

    assert!(has(&mut rig, "Deliveries  251  "), "{}", rig.screen());
}

#[test]
fn the_cursor_stays_on_its_delivery_though_nobody_has_moved_it() {
    let mut rig = Made { size: (200, 60), ..Made::default() }.start();
    let now = rig.clock.now();
    let pattern = deliveries(now).pop().unwrap();
    let numbered = |number: u32| Delivery { id: delivery_id(number.into()), attempts: number, ..pattern.clone() };
    rig.service.endpoints.lock().unwrap().extend(endpoints(now));
    rig.service.deliveries.lock().unwrap().extend((101..=103).map(numbered));
    rig.press("3");
    rest(&mut rig);
    assert!(line(&mut rig, "▌").contains(" 103 "), "{}", rig.screen());

    rig.service.deliveries.lock().unwrap().push(numbered(104));
    rig.hear();
    rig.advance(Duration::seconds(2));

    assert!(line(&mut rig, "▌").contains(" 103 ") && has(&mut rig, " 104 "), "{}", rig.screen());
}

#[test]
fn a_late_answer_to_an_earlier_list_is_not_shown() {
    let mut rig = webhooks();
    let stranger = Delivery {
        id: delivery_id(999),
        url: "https://stranger.example/".to_owned(),
        ..deliveries(clock().now()).remove(0)
    };

    rig.update(Message::DeliveryList(DeliveryFilter::default(), Ok(DeliveryPage { data: vec![stranger], next: None })));

    assert!(!has(&mut rig, "stranger.example") && has(&mut rig, "erp.example/in/charg"), "{}", rig.screen());
}

#[test]
fn the_alert_of_a_delivery_is_gone_to_though_the_view_does_not_show_it_and_one_that_is_gone_is_told() {
    let mut rig = webhooks();
    rig.service.change(|alerts| alerts.retain(|alert| alert.id.0.as_u128() != 12));
    rig.press("1 ctrl-r");
    let before = rig.current();

    rig.press("3 j j a");

    assert_eq!(rig.current(), before);
    assert!(has(&mut rig, "The alert cannot be read") && has(&mut rig, "ENDPOINT"), "{}", rig.screen());

    let mut rig = webhooks();
    let id = AlertId(Uuid::from_u128(12));
    rig.service.change(|alerts| {
        let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
        *alert = Alert { id, ..refunded_sibling(alert, 12, clock().now()) };
    });
    rig.press("1 ctrl-r");
    rig.press("3 j j a");
    rig.advance(Duration::milliseconds(200));

    assert_eq!(rig.current(), id);
    assert!(has(&mut rig, "esc back to To answer"), "{}", rig.screen());
}

#[test]
fn a_goes_to_the_alert_of_the_delivery() {
    let mut rig = webhooks();

    rig.press("j j a");

    assert!(has(&mut rig, "To answer, by deadline"), "{}", rig.screen());
    assert_eq!(rig.current().0.as_u128(), 12);
}

#[test]
fn no_decision_can_be_made_from_the_webhooks() {
    let mut rig = webhooks();

    rig.press("r n i ctrl-s enter ctrl-s");
    rig.advance(Duration::seconds(30));

    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_click_chooses_a_row_and_the_wheel_scrolls_what_is_under_it() {
    let mut rig = on(Made { size: (120, 40), ..Made::default() });

    rig.click_on("erp.example/in");
    rig.press("t");

    assert_eq!(sent(&rig), [Sent::Test(endpoint_id(2))]);
}

#[test]
fn the_alert_of_a_delivery_is_named_by_its_network_and_the_id_there() {
    let mut rig = on(Made { size: (80, 24), ..Made::default() });
    let row = line(&mut rig, "▌");

    rig.press("enter");
    rest(&mut rig);

    let fact = line(&mut rig, "network id  ");
    assert!(row.contains("ETHOCA ··0071") && fact.contains("ETHOCA 8F2C77ABB2A5"), "{row}\n{fact}");
}
