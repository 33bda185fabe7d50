//! A picture of every state of the screen, at two sizes, and of some at a wide one.

use avert::{
    domain::{AlertStatus, DeliveryState, Environment, EventKind, time::Clock},
    service::{FoundOutBy, OutcomeUnknown, ServiceError},
};
use chrono::Duration;

use super::{
    fake::{Fate, credentials, delivery, morning, refunded_sibling},
    rig::{Made, Rig, SIZES, clock},
};

/// The wide size, and the states that are taken at it too.
const WIDE: (u16, u16) = (160, 48);
const WIDE_STATES: [&str; 12] = [
    "list",
    "page",
    "marked",
    "together",
    "run",
    "case-form",
    "webhooks",
    "find",
    "resolve",
    "staged",
    "settings",
    "insights",
];

/// Takes the pictures of a state.
fn pictures(name: &str, made: impl Fn() -> Made, state: impl Fn(&mut Rig)) {
    let wide = WIDE_STATES.contains(&name).then_some(WIDE);
    for (width, height) in SIZES.into_iter().chain(wide) {
        let mut rig = Made { size: (width, height), ..made() }.start();
        state(&mut rig);
        // What is around the alert comes once the cursor rests.
        rig.advance(Duration::milliseconds(100));
        insta::assert_snapshot!(format!("{name}@{width}x{height}"), rig.screen());
    }
}

/// A morning with a double of the second alert that was refunded.
pub fn doubled() -> Made {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    Made::of(alerts)
}

#[test]
fn the_list() {
    pictures("list", doubled, |rig| rig.press("j"));
}

#[test]
fn the_list_scrolled_to_its_end() {
    pictures("list-end", doubled, |rig| rig.press("G"));
}

#[test]
fn an_alert_on_a_page_of_its_own() {
    pictures("page", doubled, |rig| rig.press("j enter"));
}

#[test]
fn alerts_that_are_marked() {
    pictures("marked", doubled, |rig| rig.press("space space j V j j"));
}

#[test]
fn several_alerts_to_be_answered_together() {
    pictures("together", doubled, |rig| rig.press("space space space space space r"));
}

#[test]
fn what_became_of_alerts_that_were_answered_together() {
    pictures("run", doubled, |rig| {
        rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed(
            "the case was closed by the issuer".to_owned(),
        )));
        rig.press("space space j space n ctrl-s");
        rig.advance(Duration::seconds(6));
    });
}

#[test]
fn an_answer_that_was_begun() {
    pictures("begun", doubled, |rig| {
        rig.press("j i");
        rig.type_text("no such order");
        rig.press("esc");
    });
}

#[test]
fn a_case_to_be_answered_as_a_whole() {
    pictures("case-form", doubled, |rig| rig.press("j enter i"));
}

#[test]
fn an_alert_with_its_webhooks() {
    pictures("webhooks", doubled, |rig| {
        let (id, now) = (rig.current(), rig.clock.now());
        let deliveries = [
            delivery(id, EventKind::AlertCreated, DeliveryState::Delivered, 1, Some("200"), None),
            delivery(
                id,
                EventKind::AlertResolved,
                DeliveryState::Pending,
                3,
                Some("503"),
                Some(now + Duration::minutes(10)),
            ),
            delivery(id, EventKind::AlertResolved, DeliveryState::Exhausted, 13, Some("connection refused"), None),
        ];
        rig.service.deliveries.lock().unwrap().extend(deliveries);
        rig.hear();
        rig.press("enter J J J J J J J J");
    });
}

#[test]
fn a_rule_of_the_network() {
    pictures("network-rule", doubled, |rig| {
        rig.press("/");
        rig.type_text("1145");
        rig.press("enter enter");
    });
}

#[test]
fn a_notice() {
    pictures("notice", doubled, |rig| {
        rig.press("/");
        rig.type_text("3302");
        rig.press("enter enter");
    });
}

#[test]
fn everything_with_how_it_ended() {
    pictures("all", doubled, |rig| {
        let id = rig.current();
        rig.change(|alerts| {
            let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
            alert.status = AlertStatus::Expired;
            alert.expired_at = Some(clock().now() - Duration::hours(2));
        });
        rig.press("v up up enter");
        rig.advance(Duration::milliseconds(200));
        rig.press("esc G");
    });
}

#[test]
fn an_answered_alert() {
    pictures("answered", doubled, |rig| {
        rig.press("/ ctrl-u");
        rig.type_text("status:resolved");
        rig.press("enter enter");
    });
}

#[test]
fn the_search_as_one_types() {
    pictures("search", doubled, |rig| {
        rig.press("/");
        rig.type_text("acme*travel");
        rig.advance(Duration::milliseconds(600));
    });
}

#[test]
fn a_search_over_all_fields() {
    pictures("find", doubled, |rig| {
        rig.press("ctrl-f");
        rig.type_text("11");
        rig.advance(Duration::milliseconds(200));
        rig.press("down");
    });
}

#[test]
fn a_search_over_all_fields_that_finds_nothing() {
    pictures("find-nothing", doubled, |rig| {
        rig.press("ctrl-f");
        rig.type_text("nobody");
        rig.advance(Duration::milliseconds(200));
    });
}

#[test]
fn an_alert_that_was_found() {
    pictures("found", doubled, |rig| {
        rig.press("ctrl-f");
        rig.type_text("resolved");
        rig.press("ctrl-u");
        rig.type_text("refunded by");
        rig.advance(Duration::milliseconds(200));
        rig.press("enter");
        rig.advance(Duration::milliseconds(600));
    });
}

#[test]
fn a_search_that_cannot_be_understood() {
    pictures("search-wrong", doubled, |rig| {
        rig.press("/");
        rig.type_text("expires:soon");
        rig.advance(Duration::milliseconds(200));
    });
}

#[test]
fn a_search_of_which_much_is_to_be_said() {
    pictures("search-sort", doubled, |rig| {
        rig.press("/");
        rig.type_text("sort:nothing");
        rig.advance(Duration::milliseconds(200));
    });
}

#[test]
fn a_search_that_finds_nothing() {
    pictures("search-nothing", doubled, |rig| {
        rig.press("/");
        rig.type_text("nobody");
        rig.press("enter");
        rig.advance(Duration::milliseconds(600));
    });
}

#[test]
fn no_alerts_at_all() {
    pictures("empty", || Made::of(Vec::new()), |_| {});
}

#[test]
fn nothing_left_to_do() {
    pictures("nothing-open", doubled, |rig| {
        rig.change(|alerts| alerts.retain(|alert| alert.outcome.is_some()));
        rig.press("j");
        rig.press("v down down down down enter");
        rig.press("v up up up up enter");
    });
}

#[test]
fn the_first_answer_on_its_way() {
    pictures("loading", || Made { holding: true, ..doubled() }, |_| {});
}

#[test]
fn a_service_that_does_not_answer() {
    pictures("down", || Made { down: true, ..doubled() }, |_| {});
}

#[test]
fn what_was_loaded_marked_stale() {
    pictures("stale", doubled, |rig| {
        rig.service.set_down(Some(ServiceError::Unavailable("the disk is full".to_owned())));
        rig.hear();
    });
}

#[test]
fn the_views() {
    pictures("views", doubled, |rig| rig.press("v"));
}

#[test]
fn the_help() {
    pictures("help", doubled, |rig| rig.press("?"));
}

#[test]
fn the_help_narrowed() {
    pictures("help-search", doubled, |rig| {
        rig.press("?");
        rig.type_text("copy");
    });
}

#[test]
fn naming_a_view() {
    pictures("name", doubled, |rig| {
        rig.press("v alt-s");
        rig.type_text("Mine");
    });
}

#[test]
fn the_resolve_form() {
    pictures("resolve", doubled, |rig| rig.press("j i"));
}

#[test]
fn the_filter_form() {
    pictures("filter", doubled, |rig| rig.press("f"));
}

#[test]
fn a_staged_decision() {
    pictures("staged", doubled, |rig| {
        rig.press("r ctrl-s");
        rig.advance(Duration::milliseconds(1_500));
        rig.press("k");
    });
}

#[test]
fn two_staged_decisions() {
    pictures("staged-two", doubled, |rig| rig.press("r ctrl-s n tab space ctrl-s"));
}

#[test]
fn a_decision_with_the_service() {
    pictures("sending", doubled, |rig| {
        rig.press("r ctrl-s");
        rig.holding = true;
        rig.advance(Duration::seconds(6));
        rig.press("k");
    });
}

#[test]
fn a_decision_that_landed() {
    pictures("landed", doubled, |rig| {
        rig.press("r ctrl-s");
        rig.advance(Duration::seconds(6));
    });
}

#[test]
fn a_decision_that_was_refused() {
    pictures("refused", doubled, |rig| {
        let why = "ETHOCA answered 503: service unavailable";
        rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed(why.to_owned())));
        rig.press("r ctrl-s");
        rig.advance(Duration::seconds(6));
        rig.press("k");
    });
}

#[test]
fn a_decision_that_came_second() {
    pictures("overtaken", doubled, |rig| {
        let id = rig.current();
        rig.press("r ctrl-s k");
        rig.service.change(|alerts| {
            let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
            *alert = refunded_sibling(alert, id.0.as_u128(), clock().now());
        });
        rig.advance(Duration::seconds(6));
    });
}

#[test]
fn a_decision_that_nobody_knows_the_fate_of() {
    pictures("unknown", doubled, |rig| {
        let unknown = OutcomeUnknown::new("the network gave no reply within 10 s", FoundOutBy::LookUp);
        rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(unknown)));
        rig.press("r ctrl-s");
        rig.advance(Duration::seconds(6));
        rig.press("k");
    });
}

#[test]
fn leaving_with_decisions_that_have_not_left() {
    pictures("leave", doubled, |rig| rig.press("r ctrl-s n tab space ctrl-s q"));
}

#[test]
fn leaving_while_the_service_does_not_answer() {
    let remote = || {
        let mut made = doubled();
        made.place.remote = true;
        made
    };
    pictures("leave-offline", remote, |rig| {
        rig.press("r ctrl-s");
        rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));
        rig.press("ctrl-r q");
    });
}

#[test]
fn an_alert_that_has_left_the_list() {
    pictures("gone", doubled, |rig| {
        rig.press("j j");
        let id = rig.current();
        rig.change(|alerts| {
            let alert = alerts.iter_mut().find(|alert| alert.id == id).unwrap();
            *alert = refunded_sibling(alert, id.0.as_u128(), clock().now());
        });
    });
}

#[test]
fn new_alerts_while_a_form_is_open() {
    pictures("frozen", doubled, |rig| {
        rig.press("f");
        rig.change(|alerts| {
            let mut more = alerts[0].clone();
            more.id = avert::domain::AlertId(uuid::Uuid::from_u128(4_711));
            alerts.push(more);
        });
    });
}

#[test]
fn a_demo_and_a_read_only_sandbox() {
    let demo = || {
        let mut made = doubled();
        made.place.demo = true;
        made.place.environment = Some(Environment::Sandbox);
        made
    };
    pictures("demo", demo, |_| {});
    let read_only = || {
        let mut made = doubled();
        made.place.environment = Some(Environment::Sandbox);
        made.place.read_only = true;
        made
    };
    pictures("read-only", read_only, |rig| rig.press("r"));
}

#[test]
fn a_service_without_anything_beyond_the_interface() {
    pictures("plain", || Made { operator: false, ..doubled() }, |_| {});
}

/// The Settings screen on the usual keys and clients, and what it is told of its console.
pub fn in_settings() -> Made {
    let mut made = doubled();
    made.own = vec!["Zk3vN5tQ1cD".to_owned()];
    made.place.facts = vec![
        ("service", "the engine in this process".to_owned()),
        ("data", "/home/desk/.local/share/avert/avert.db".to_owned()),
    ];
    made
}

pub fn on_settings(rig: &mut Rig) {
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press("5");
}

#[test]
fn the_keys_and_clients() {
    pictures("settings", in_settings, |rig| {
        on_settings(rig);
        rig.press("j");
    });
}

#[test]
fn no_keys_yet() {
    pictures("settings-empty", in_settings, |rig| rig.press("5"));
}

#[test]
fn what_can_be_created() {
    pictures("settings-create", in_settings, |rig| {
        on_settings(rig);
        rig.press("n down");
    });
}

#[test]
fn a_key_that_is_shown_this_once() {
    pictures("settings-secret", in_settings, |rig| {
        on_settings(rig);
        rig.press("n enter y");
    });
}

#[test]
fn client_credentials_that_are_shown_this_once() {
    pictures("settings-client", in_settings, |rig| {
        on_settings(rig);
        rig.press("n end enter esc");
    });
}

#[test]
fn the_question_before_the_consoles_own_key_is_revoked() {
    pictures("settings-revoke", in_settings, |rig| {
        on_settings(rig);
        rig.press("j j x");
    });
}

#[test]
fn a_key_that_was_revoked() {
    pictures("settings-revoked", in_settings, |rig| {
        on_settings(rig);
        rig.press("x r");
    });
}

#[test]
fn keys_that_cannot_be_managed_from_here() {
    pictures("settings-missing", || Made { operator: false, ..in_settings() }, |rig| rig.press("5"));
}

#[test]
fn keys_that_cannot_be_loaded() {
    pictures("settings-down", in_settings, |rig| {
        rig.service.set_down(Some(ServiceError::Unavailable("the database is busy".to_owned())));
        rig.press("5");
    });
}

#[test]
fn the_help_of_the_settings() {
    pictures("settings-help", in_settings, |rig| {
        on_settings(rig);
        rig.press("? end");
    });
}

#[test]
fn a_service_that_can_write_nothing() {
    pictures("unwritable", doubled, |rig| {
        *rig.service.unwritable.lock().unwrap() =
            Some(ServiceError::Unavailable("the disk is full: make room".to_owned()));
        rig.advance(Duration::seconds(61));
        rig.press("y y");
    });
}

#[test]
fn a_view_that_is_to_be_deleted() {
    pictures("view-deleted", doubled, |rig| {
        rig.press("v alt-s");
        rig.type_text("Mine");
        rig.press("enter");
        rig.advance(Duration::seconds(6));
        rig.press("v end alt-x");
    });
}

#[test]
fn a_window_that_is_too_small() {
    let mut rig = doubled().start();
    rig.press("r ctrl-s");
    rig.resize(50, 12);
    insta::assert_snapshot!("too-small", rig.screen());
}

#[test]
fn insights() {
    let made = || Made::of(super::insights::weeks(clock().now()));
    pictures("insights", made, |rig| {
        rig.press("2");
        let [visa, mastercard] = avert::domain::CardScheme::ALL;
        let sales =
            vec![super::insights::sales("2026-11", visa, 9_400), super::insights::sales("2026-10", mastercard, 3_100)];
        super::insights::figures(rig, 5, sales);
    });
}
