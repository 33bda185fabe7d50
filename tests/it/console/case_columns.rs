//! The list of a case's form: it says what the form sends, whatever the case.

use std::collections::HashMap;

use avert::{
    console::SessionInfo,
    desk::Desk,
    domain::{
        Alert, AlertId, AlertStatus, AlertType, Delivery, DeliveryState, Dialect, EventKind, MerchantOrder, OrderState,
        Provider, Resolution, time::Clock as _,
    },
};
use chrono::Duration;
use proptest::{prelude::*, sample::select};

use super::{
    cases::three,
    fake::{delivery, refunded_sibling},
    rig::{Made, Rig, clock},
};
use crate::support::size::sized;

/// How an alert of the case stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Waits,
    Ruled,
    RefundedBefore,
    RefundedSince,
    Declined,
    Notice,
    Lapsed,
}

const STANDS: [Stands; 9] = [
    Stands::Waits,
    Stands::Waits,
    Stands::Waits,
    Stands::Ruled,
    Stands::RefundedBefore,
    Stands::RefundedSince,
    Stands::Declined,
    Stands::Notice,
    Stands::Lapsed,
];

/// What the shop's order of the first alert says; it was found by that alert's transaction alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ordered {
    Nothing,
    Shipped,
    RefundedBefore,
    RefundedSince,
}

#[derive(Debug, Clone)]
struct Case {
    stands: [Stands; 3],
    order: Ordered,
    dialect: Dialect,
    tabs: usize,
}

fn answered(alert: &Alert, hours_ago: i64, refunded: bool) -> Alert {
    let mut outcome = refunded_sibling(alert, 1, clock().now()).outcome.unwrap();
    outcome.alert_id = alert.id;
    outcome.action_time = Some(clock().now() - Duration::hours(hours_ago));
    let (status, word) =
        if refunded { (AlertStatus::Resolved, "refunded") } else { (AlertStatus::Chargeback, "not refunded") };
    outcome.refunded = word.to_owned();
    Alert { outcome: Some(outcome), status, ..alert.clone() }
}

/// One alert of the case, raised two hours ago.
fn standing(alert: Alert, stands: Stands) -> Alert {
    let now = clock().now();
    let alert = Alert { alert_time: Some(now - Duration::hours(2)), rule_name: None, rule_type: None, ..alert };
    match stands {
        Stands::Waits => alert,
        Stands::Ruled => Alert { provider: Provider::Verifi, rule_name: Some("Above 10 EUR".to_owned()), ..alert },
        Stands::RefundedBefore => answered(&alert, 9, true),
        Stands::RefundedSince => answered(&alert, 1, true),
        Stands::Declined => answered(&alert, 1, false),
        Stands::Notice => Alert { alert_type: AlertType::VerifiDisputeNotice, ..alert },
        Stands::Lapsed => Alert {
            status: AlertStatus::Expired,
            expired_at: Some(now - Duration::minutes(5)),
            deadline: avert::domain::Deadline::At(now - Duration::minutes(5)),
            ..alert
        },
    }
}

impl Case {
    fn open(&self) -> (tempfile::TempDir, Rig, Vec<AlertId>) {
        let now = clock().now();
        let payment: Vec<Alert> =
            three().into_iter().filter(|alert| alert.id.0.as_u128() == 1 || alert.id.0.as_u128() > 2_000).collect();
        let mut alerts: Vec<Alert> =
            payment.into_iter().zip(self.stands).map(|(alert, stands)| standing(alert, stands)).collect();
        alerts[0].transaction_id = Some("TX-1".to_owned());
        let directory = tempfile::tempdir().unwrap();
        let desk = Desk::open(directory.path()).unwrap();
        let (state, hours_ago) = match self.order {
            Ordered::Nothing => (None, 0),
            Ordered::Shipped => (Some(OrderState::Shipped), 30),
            Ordered::RefundedBefore => (Some(OrderState::Refunded), 30),
            Ordered::RefundedSince => (Some(OrderState::Refunded), 1),
        };
        let order = MerchantOrder {
            order_id: "NW-1".to_owned(),
            transaction_id: alerts[0].transaction_id.clone(),
            state,
            state_at: Some(now - Duration::hours(hours_ago)),
            ..MerchantOrder::default()
        };
        desk.make_orders().unwrap().import(state.map(|_| order).into_iter().collect()).unwrap();
        let ids = alerts.iter().map(|alert| alert.id).collect();
        let place = SessionInfo { dialect: self.dialect, ..Made::default().place };
        let mut rig = Made { alerts, desk: Some(desk), place, size: (200, 60), ..Made::default() }.start();
        rig.show_view(avert::desk::BuiltIn::All);
        rig.press("enter g");
        rig.press(&"tab ".repeat(self.tabs));
        (directory, rig, ids)
    }
}

/// What the list of the form says of each alert, where it sends something.
fn column(form: &str, rig: &Rig, ids: &[AlertId]) -> Option<HashMap<AlertId, String>> {
    // The detail beside the list has words of its own.
    let list = |line: &str| line.split('│').next().unwrap_or_default().to_owned();
    let form = form.lines().map(list).collect::<Vec<_>>().join("\n");
    let head = form.lines().find(|line| line.contains("ANSWER"))?;
    let at = head.split("ANSWER").next()?.chars().count();
    let row = |id: &AlertId| {
        let name = rig.service.alert(*id).unwrap().provider_id;
        let line = form.lines().skip_while(|line| !line.contains("ANSWER")).skip(1).find(|line| line.contains(&name));
        let line = line.unwrap_or_else(|| panic!("{name}: {form}"));
        let is_sent = line.trim_start_matches(['▌', '▏', ' ']).starts_with('·');
        let cell: String = line.chars().skip(at).collect();
        let words = cell.trim_matches(|c: char| c.is_whitespace() || c == '┃').to_owned();
        (*id, if is_sent { words } else { String::new() })
    };
    Some(ids.iter().map(row).collect())
}

/// What was sent, in the words of the list.
fn words(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Current { decision, .. } => decision.words(),
        Resolution::Older { word, refunded, .. } => format!("{}, {}", word.as_str(), refunded.as_str()),
    }
}

/// What the form says of each alert; and that it sends exactly that.
fn told_and_sent(case: &Case) -> Option<Vec<String>> {
    let (_directory, mut rig, ids) = case.open();
    let screen = rig.screen();
    rig.press(if screen.contains("i answers") { "i" } else { "r" });
    let form = rig.screen();
    let told = column(&form, &rig, &ids)?;
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.advance(Duration::seconds(6));
    let sent: HashMap<AlertId, String> =
        rig.service.resolutions.lock().unwrap().iter().map(|(id, request)| (*id, words(&request.resolution))).collect();
    for id in &ids {
        let said = Some(told[id].as_str()).filter(|said| !said.is_empty());
        assert_eq!(said, sent.get(id).map(String::as_str), "{case:?}\n{screen}\n{form}");
    }
    Some(ids.iter().map(|id| told[id].clone()).collect())
}

fn cases() -> impl Strategy<Value = Case> {
    let one = || select(STANDS.to_vec());
    let order = select(vec![
        Ordered::Nothing,
        Ordered::Nothing,
        Ordered::Shipped,
        Ordered::RefundedBefore,
        Ordered::RefundedSince,
    ]);
    let dialect = select(vec![Dialect::Current, Dialect::Current, Dialect::Older]);
    ((one(), one(), one()), order, dialect, 0usize..3).prop_map(|((first, second, third), order, dialect, tabs)| Case {
        stands: [first, second, third],
        order,
        dialect,
        tabs,
    })
}

#[test]
fn a_webhook_of_a_case_stands_in_one_line_with_its_host() {
    let mut rig = Made { size: (120, 40), ..Made::of(three()) }.start();
    let id = rig.current();
    let of = |url: &str, state, attempts, result| Delivery {
        url: url.to_owned(),
        ..delivery(id, EventKind::AlertCreated, state, attempts, Some(result), None)
    };
    rig.service.deliveries.lock().unwrap().extend([
        of("https://shop.example/hooks/alerts/of/chargebacks", DeliveryState::Delivered, 1, "200"),
        of("https://erp.example/in", DeliveryState::Exhausted, 13, "503"),
    ]);

    rig.press("enter");
    rig.advance(Duration::milliseconds(500));

    let screen = rig.screen();
    let told = |state: &str| {
        screen.lines().find(|line| line.contains(state)).unwrap_or_else(|| panic!("no {state}:\n{screen}"))
    };
    assert!(told("✓ delivered").contains("shop.example"), "{screen}");
    assert!(told("! failed").contains("erp.example"), "{screen}");
    assert!(!screen.contains("hooks/alerts"), "{screen}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: sized(20, 40_000), max_shrink_iters: 60, failure_persistence: None,
        ..ProptestConfig::default() })]

    #[test]
    fn the_list_says_what_the_form_sends_in_every_case(case in cases()) {
        told_and_sent(&case);
    }
}

fn told(stands: [Stands; 3], order: Ordered) -> Vec<String> {
    told_and_sent(&Case { stands, order, dialect: Dialect::Current, tabs: 0 }).unwrap()
}

#[test]
fn a_refund_and_its_duplicates_are_foretold() {
    assert_eq!(
        told([Stands::Waits; 3], Ordered::Nothing),
        ["Refunded", "Invalid (duplicate alert)", "Invalid (duplicate alert)"]
    );
}

#[test]
fn an_order_that_was_refunded_counts_for_each_alert_of_the_payment() {
    assert_eq!(told([Stands::Waits; 3], Ordered::RefundedBefore), ["Invalid (refunded before the alert)"; 3]);
}

#[test]
fn a_rule_at_the_network_of_one_alert_counts_for_each_alert_of_the_payment() {
    assert_eq!(
        told([Stands::Waits, Stands::Ruled, Stands::Waits], Ordered::Nothing),
        ["Invalid (refunded before the alert)"; 3]
    );
}

#[test]
fn one_that_waits_beside_one_that_has_lapsed_is_foretold_what_it_would_get() {
    assert_eq!(told([Stands::Waits, Stands::Lapsed, Stands::Lapsed], Ordered::Nothing), ["Refunded", "", ""]);
    assert_eq!(told([Stands::Waits, Stands::Declined, Stands::Lapsed], Ordered::Nothing), ["Refunded", "", ""]);
}

#[test]
fn with_the_cursor_on_one_that_has_lapsed_its_refund_asks_for_a_tick_and_nothing_follows_without_it() {
    let case = Case {
        stands: [Stands::Waits, Stands::Lapsed, Stands::Lapsed],
        order: Ordered::Nothing,
        dialect: Dialect::Current,
        tabs: 1,
    };

    assert_eq!(told_and_sent(&case), Some(vec![String::new(); 3]));
}

#[test]
fn what_has_lapsed_is_not_sent_and_nothing_is_foretold_of_it() {
    let case = Case {
        stands: [Stands::Waits, Stands::Lapsed, Stands::Waits],
        order: Ordered::Nothing,
        dialect: Dialect::Current,
        tabs: 0,
    };

    assert_eq!(
        told_and_sent(&case),
        Some(vec!["Refunded".to_owned(), String::new(), "Invalid (duplicate alert)".to_owned()])
    );
}
