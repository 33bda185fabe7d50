//! Rules that stage by themselves where their profile names them: never past a guard, on an alert once, and until
//! somebody pauses them.

use avert::console::SessionInfo;
use avert::console::app::DeskState;
use avert::console::message::Message;
use avert::desk::{Desk, JournalAlert, JournalPart, JournalStep, SnoozedAlert};
use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId, AlertStatus, Deadline, Dialect, Environment, OrderState, Provider, SortField};
use avert::service::ServiceError;
use chrono::Duration;
use rstest::rstest;
use uuid::Uuid;

use super::fake::{Fate, morning, refunded_sibling};
use super::orders::order_of;
use super::rig::{Made, Rig, clock};

const RULES: &str = "\
dear: amount>1000 currency:EUR -> not-refunded
small: amount<25 currency:EUR -> refunded \"below the fee\"";

/// A console whose profile names a rule that matches two alerts of the morning, 18.50 and 22.00 EUR.
fn made() -> Made {
    Made { rules: RULES, auto_rules: &["small"], ..Made::default() }
}

fn remote(dialect: Dialect) -> Made {
    let place = SessionInfo {
        name: "shop".to_owned(),
        environment: Some(Environment::Production),
        remote: true,
        dialect,
        ..SessionInfo::default()
    };
    Made { place, operator: false, ..made() }
}

/// The order in which the morning's alerts with these places were sent, and what was said.
fn sent(rig: &Rig) -> Vec<(u128, String)> {
    rig.service
        .resolutions
        .lock()
        .unwrap()
        .iter()
        .map(|(id, request)| (id.0.as_u128(), request.resolution.to_string()))
        .collect()
}

/// The steps of decisions that were written down, with the rule that made each.
fn staged_by(rig: &Rig) -> Vec<Option<String>> {
    rig.journaled()
        .into_iter()
        .filter_map(|step| if let JournalStep::Staged { rule, .. } = step { Some(rule) } else { None })
        .collect()
}

/// A console on a desk that has an order of the shop, in this state, on each alert of the morning that the rule
/// matches.
fn with_orders(state: OrderState) -> (tempfile::TempDir, Rig) {
    let matched = |alert: &Alert| [3, 11].contains(&alert.id.0.as_u128());
    let alerts = morning(clock().now());
    let orders = alerts
        .iter()
        .filter(|alert| matched(alert))
        .map(|alert| order_of(alert, &format!("SO-{}", alert.provider_id), state));
    let directory = tempfile::tempdir().unwrap();
    let desk = Desk::open(directory.path()).unwrap();
    desk.make_orders().unwrap().import(orders.collect()).unwrap();
    let rig = Made { alerts, desk: Some(desk), ..made() }.start();
    (directory, rig)
}

#[rstest]
#[case::refunded(OrderState::Refunded, 0)]
#[case::delivered(OrderState::Delivered, 2)]
fn a_rule_stages_no_refund_for_an_order_whose_money_went_back(#[case] state: OrderState, #[case] staged: usize) {
    let (_directory, mut rig) = with_orders(state);

    minutes(&mut rig, 30);

    assert_eq!(staged_by(&rig).len(), staged, "{}", rig.screen());
}

fn minutes(rig: &mut Rig, minutes: i64) {
    rig.advance(Duration::minutes(minutes));
}

#[rstest]
#[case::an_avert(made(), "REFUNDED", "REFUNDED")]
#[case::another_deployment(remote(Dialect::Current), "REFUNDED", "REFUNDED")]
#[case::another_deployment_of_the_older_dialect(remote(Dialect::Older), "RESOLVED, REFUNDED", "STOPPED, REFUNDED")]
fn a_named_rule_stages_what_it_matches_together_and_it_leaves_after_its_grace_once(
    #[case] made: Made,
    #[case] dispute: &str,
    #[case] fraud: &str,
) {
    let mut rig = made.start();
    let staged = rig.screen();
    let before = rig.sent();

    rig.advance(Duration::seconds(6));
    minutes(&mut rig, 30);

    assert!(staged.contains("small: 2 staged, leave in 5 s, u takes them back"), "{staged}");
    assert_eq!((before, staged_by(&rig)), (0, vec![Some("small".to_owned()); 2]));
    let mut all = sent(&rig);
    all.sort();
    assert_eq!(all, [(3, dispute.to_owned()), (11, fraud.to_owned())]);
    assert!(rig.service.alert(AlertId(Uuid::from_u128(12))).unwrap().outcome.is_none(), "dear is not named");
}

#[test]
fn one_undo_takes_back_all_of_it_for_good() {
    let mut rig = made().start();

    rig.press("u");
    let told = rig.screen();
    minutes(&mut rig, 30);

    assert!(told.contains("Taken back: 2 decisions. Nothing was sent."), "{told}");
    assert_eq!((rig.sent(), staged_by(&rig).len()), (0, 2));
}

#[test]
fn what_a_rule_stages_can_be_taken_back_even_where_decisions_leave_at_once() {
    let mut rig = Made { grace: std::time::Duration::ZERO, ..made() }.start();

    let staged = rig.screen();
    rig.advance(Duration::seconds(9));
    let before = rig.sent();
    rig.advance(Duration::seconds(2));

    assert!(staged.contains("small: 2 staged, leave in 10 s"), "{staged}");
    assert_eq!((before, rig.sent()), (0, 2));
}

#[test]
fn what_comes_later_is_staged_at_the_pace_of_the_list() {
    let mut rig = Made { alerts: Vec::new(), ..remote(Dialect::Current) }.start();
    let lists = |rig: &Rig| {
        rig.service.lists.lock().unwrap().iter().filter(|query| query.sort.field == SortField::HoursLeft).count()
    };
    minutes(&mut rig, 1);
    let asked = lists(&rig);

    rig.change(|alerts| alerts.extend(morning(clock().now())));
    rig.advance(Duration::seconds(16));

    assert!((3..=12).contains(&asked), "{asked} times in a minute, by the list and the rules");
    assert_eq!(staged_by(&rig).len(), 2);
}

#[test]
fn the_deployment_is_asked_for_what_waits_and_the_first_to_lapse_first() {
    let rules = "small: provider:ethoca amount<25 currency:EUR -> refunded";
    let rig = Made { rules, ..remote(Dialect::Current) }.start();

    let lists = rig.service.lists.lock().unwrap();
    let asked = lists.iter().find(|query| query.filter.providers.len() == 1).expect("a list of the rule's own");

    assert_eq!(asked.filter.statuses, [AlertStatus::Open]);
    assert_eq!((asked.sort.field, asked.page.page, asked.page.size), (SortField::HoursLeft, 0, 100));
}

#[test]
fn a_double_of_what_is_refunded_is_left_to_people_and_the_others_are_staged() {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[2], 1_001, now));
    let mut rig = Made { alerts, ..made() }.start();

    minutes(&mut rig, 10);

    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn a_refunded_double_beyond_the_first_page_of_a_search_is_found() {
    let now = clock().now();
    let mut alerts = morning(now);
    // Before and after it as many that have the same digits and are on other payments.
    let alike = |number: u128| {
        let amount = if number == 2_125 { alerts[2].amount } else { "1.00".parse().ok() };
        Alert { amount, ..refunded_sibling(&alerts[2], number, now) }
    };
    let alike: Vec<Alert> = (2_000..2_250).map(alike).collect();
    alerts.extend(alike);
    let mut rig = Made { alerts, ..remote(Dialect::Current) }.start();

    minutes(&mut rig, 5);

    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn while_doubles_are_being_looked_for_nothing_is_staged() {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    rig.holding_searches = true;
    rig.change(|alerts| alerts.extend(morning(clock().now())));
    rig.advance(Duration::seconds(20));
    let before = staged_by(&rig).len();

    rig.release();

    assert_eq!((before, staged_by(&rig).len()), (0, 2));
}

#[rstest]
#[case::the_form("n", &[])]
#[case::a_case("enter", &[])]
#[case::the_form_for_several("space b", &[])]
#[case::the_help("?", &[])]
#[case::marked("space", &[11])]
fn what_somebody_has_in_hand_is_left_to_them_and_beneath_a_dialog_nothing_is_staged(
    #[case] take: &str,
    #[case] staged: &[u128],
) {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    rig.holding_searches = true;
    // The first one of the list is the rule's.
    rig.change(|alerts| alerts.extend(morning(clock().now()).into_iter().skip(2)));
    rig.advance(Duration::seconds(16));
    let in_hand = rig.current();
    rig.press(take);
    rig.release();
    rig.advance(Duration::seconds(16));
    rig.release();
    let waiting = rig.app.decisions().not_left().map(|decision| decision.alert.id.0.as_u128());
    let meanwhile: Vec<u128> = sent(&rig).into_iter().map(|(alert, _)| alert).chain(waiting).collect();
    rig.press("esc esc esc");

    minutes(&mut rig, 1);

    assert_eq!((in_hand, meanwhile.as_slice()), (AlertId(Uuid::from_u128(3)), staged));
    assert_eq!(rig.sent(), 2);
}

#[test]
fn while_ones_own_decision_waits_nothing_is_staged_that_undo_would_take_back_in_its_place() {
    let grace = std::time::Duration::from_secs(60);
    let mut rig = Made { alerts: Vec::new(), grace, ..made() }.start();
    rig.change(|alerts| alerts.extend(morning(clock().now()).into_iter().take(2)));
    rig.advance(Duration::seconds(16));
    rig.press("n ctrl-s");
    rig.change(|alerts| alerts.extend(morning(clock().now()).into_iter().skip(2)));
    rig.advance(Duration::seconds(40));

    let before = staged_by(&rig).into_iter().flatten().count();
    rig.press("u");
    minutes(&mut rig, 3);

    assert_eq!((before, rig.sent()), (0, 2), "{}", rig.screen());
}

#[test]
fn where_what_was_decided_before_cannot_be_read_no_rule_stages() {
    let troubles = vec!["journal.ndjson cannot be read".to_owned()];
    let mut rig = Made { kept: DeskState { troubles, ..DeskState::default() }, ..made() }.start();
    let told = rig.screen();

    minutes(&mut rig, 5);

    assert!(told.contains("No desk rule stages by itself"), "{told}");
    assert_eq!(rig.sent(), 0);
}

#[test]
fn a_log_that_is_in_no_file_is_told_and_keeps_no_rule_from_staging() {
    let log_trouble = Some("The log is in memory only: logs: denied.".to_owned());
    let mut rig = Made { kept: DeskState { log_trouble, ..DeskState::default() }, ..made() }.start();
    let told = rig.screen();

    minutes(&mut rig, 5);

    assert!(told.contains("The log is in memory only") && !told.contains("No desk rule stages by itself"), "{told}");
    assert_eq!(rig.sent(), 2);
}

#[test]
fn what_is_not_kept_on_the_desk_pauses_the_rules() {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    rig.update(Message::DeskFailed("the disk is full".to_owned()));

    rig.change(|alerts| alerts.extend(morning(clock().now())));
    minutes(&mut rig, 2);

    assert!(rig.screen().contains("Rules are paused") || rig.sent() == 0, "{}", rig.screen());
    assert_eq!(rig.sent(), 0);
}

#[test]
fn an_answer_that_comes_long_after_it_was_asked_for_stages_nothing() {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    rig.holding_searches = true;
    rig.change(|alerts| alerts.extend(morning(clock().now())));
    rig.advance(Duration::seconds(16));

    rig.clock.advance(Duration::hours(3));
    rig.release_one();

    assert_eq!(staged_by(&rig).len(), 0);
}

#[test]
fn a_rule_acts_on_the_alert_itself_where_the_list_leaves_facts_out() {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    rig.service.lists_without_rules();
    rig.change(|alerts| {
        alerts.extend(morning(clock().now()));
        // The network's own rule has refunded it: only the alert itself tells.
        alerts[2].provider = Provider::Verifi;
        alerts[2].rule_name = Some("Below 25 EUR".to_owned());
    });

    minutes(&mut rig, 5);

    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn what_is_snoozed_here_is_left_to_people() {
    let now = clock().now();
    let alert = &morning(now)[2];
    let snoozed = vec![SnoozedAlert { alert: JournalAlert::from(alert), until: now + Duration::hours(1) }];
    let mut rig = Made { kept: DeskState { snoozed, ..DeskState::default() }, ..made() }.start();

    minutes(&mut rig, 5);

    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn before_the_journal_is_read_nothing_is_staged_and_what_it_tells_of_is_left_alone() {
    let session = Some(Uuid::from_u128(5));
    let mut rig = Made { kept: DeskState { session, ..DeskState::default() }, ..made() }.start();
    rig.advance(Duration::seconds(40));
    let before = staged_by(&rig).len();
    let earlier = r#"{"at":"2026-11-20T09:00:00.000Z","session":"00000000-0000-0000-0000-000000000001",
        "place":"acme-eu","step":"staged","decision":"d",
        "alert":{"id":"00000000-0000-0000-0000-000000000003","provider":"ETHOCA",
        "providerId":"X","currency":"EUR"},"refunded":"REFUNDED"}"#;
    let entries = vec![serde_json::from_str(earlier).unwrap()];

    rig.update(Message::JournalRead(Ok(JournalPart { entries, anew: true, ..JournalPart::default() })));
    minutes(&mut rig, 1);

    assert_eq!(before, 0);
    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn at_a_read_only_place_nothing_is_staged_and_it_is_said() {
    let place = SessionInfo { name: "shop".to_owned(), read_only: true, ..SessionInfo::default() };
    let mut rig = Made { place, ..made() }.start();

    let screen = rig.screen();
    minutes(&mut rig, 5);

    assert!(screen.contains("This place is read-only: the desk rules named for it (small) stage nothing."), "{screen}");
    assert!(!screen.contains("rules act"), "{screen}");
    assert_eq!((rig.sent(), staged_by(&rig).len()), (0, 0));
}

#[rstest]
#[case::it_does_not_answer(ServiceError::Unreachable("no connection".to_owned()))]
#[case::it_is_busy(ServiceError::Unavailable("busy".to_owned()))]
#[case::it_asks_to_be_left_alone(ServiceError::Throttled { why: "busy".to_owned(),
    wait: std::time::Duration::from_secs(300) })]
fn a_deployment_in_trouble_is_not_asked_for_what_rules_match(#[case] error: ServiceError) {
    let rules = "small: provider:ethoca amount<25 currency:EUR -> refunded";
    let mut rig = Made { rules, ..remote(Dialect::Current) }.start();
    rig.press("u");
    rig.service.set_down(Some(error));
    rig.press("ctrl-r");
    let lists =
        |rig: &Rig| rig.service.lists.lock().unwrap().iter().filter(|query| query.filter.providers.len() == 1).count();
    let before = lists(&rig);

    minutes(&mut rig, 4);

    assert_eq!(lists(&rig), before);
}

#[test]
fn a_key_pauses_the_rules_and_lets_them_go_on() {
    let mut rig = Made { alerts: Vec::new(), ..made() }.start();
    let acting = rig.screen();

    rig.press("P");
    rig.change(|alerts| alerts.extend(morning(clock().now())));
    minutes(&mut rig, 2);
    let paused = (rig.screen(), staged_by(&rig).len());
    rig.press("P");
    rig.advance(Duration::seconds(1));

    assert!(acting.lines().next().unwrap().contains("rules act: small"), "{acting}");
    assert!(paused.0.lines().next().unwrap().contains("rules paused: small") && paused.1 == 0, "{}", paused.0);
    assert_eq!(staged_by(&rig).len(), 2);
}

#[test]
fn the_second_clock_gives_way_to_the_names_of_the_rules_that_act() {
    let head = |width| Made { size: (width, 40), ..made() }.start().screen().lines().next().unwrap().to_owned();

    let (narrow, wide) = (head(150), head(200));

    assert!(narrow.contains("rules act: small") && !narrow.contains("local"), "{narrow}");
    assert!(wide.contains("rules act: small") && wide.contains("local"), "{wide}");
}

#[test]
fn where_no_rule_is_named_the_key_says_so_and_the_header_nothing() {
    let mut rig = Made { auto_rules: &[], ..made() }.start();

    rig.press("P");

    let screen = rig.screen();
    assert!(screen.contains("No desk rule stages by itself here") && !screen.contains("rules act"), "{screen}");
}

#[rstest]
fn at_every_width_the_header_says_that_rules_act(#[values(60, 80, 100, 120, 200)] width: u16) {
    let mut rig = Made { size: (width, 24), ..made() }.start();

    let screen = rig.screen();

    assert!(screen.lines().next().unwrap().contains("rules act"), "{screen}");
}

#[test]
fn another_who_was_first_is_told_and_nothing_is_sent_again() {
    let mut rig = made().start();
    rig.service.change(|alerts| {
        for alert in alerts.iter_mut().filter(|alert| alert.id.0.as_u128() == 3) {
            *alert = Alert {
                outcome: refunded_sibling(alert, 3, clock().now()).outcome,
                status: AlertStatus::Refunded,
                ..alert.clone()
            };
        }
    });

    minutes(&mut rig, 20);

    assert_eq!(rig.sent(), 1);
    assert!(rig.service.alert(AlertId(Uuid::from_u128(11))).unwrap().outcome.is_some());
}

#[test]
fn a_refusal_is_nobodys_but_the_analysts_from_then_on() {
    let mut rig = made().start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));

    minutes(&mut rig, 20);

    assert_eq!(rig.sent(), 2);
}

#[test]
fn what_closes_before_it_could_be_taken_back_is_left_to_people() {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts[2].deadline = Deadline::At(now + Duration::seconds(12));
    let mut rig = Made { alerts, ..made() }.start();

    minutes(&mut rig, 1);

    assert_eq!(sent(&rig).iter().map(|(alert, _)| *alert).collect::<Vec<_>>(), [11]);
}

#[test]
fn the_repeat_key_repeats_what_a_person_decided_and_not_what_a_rule_did() {
    let mut rig = made().start();
    rig.advance(Duration::seconds(6));

    rig.press(".");

    assert!(rig.screen().contains("No decision was made since this console began"), "{}", rig.screen());
}

#[test]
fn the_activity_screen_names_the_rule() {
    let mut rig = Made { size: (200, 60), ..made() }.start();
    rig.advance(Duration::seconds(6));

    rig.press("4 tab");

    let screen = rig.screen();
    assert!(screen.contains("desk rule small") && screen.contains("staged by desk rule small"), "{screen}");
    // Whoever looks for what was decided by hand is not shown what a rule did.
    assert!(screen.contains("Mine 0") && screen.contains("Rules 2"), "{screen}");
    rig.press("tab tab");
    assert!(rig.screen().lines().any(|line| line.starts_with('▌') && line.contains("rule small")), "{}", rig.screen());
}
