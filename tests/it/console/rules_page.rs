//! The rules on a page: what each matches now, how it would have done, and the file read again.

use avert::console::SessionInfo;
use avert::console::effects::Effect;
use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId};
use avert::service::ServiceError;
use chrono::Duration;
use rstest::rstest;

use super::fake::{morning, refunded_sibling};
use super::rig::{Made, Rig, clock};

const RULES: &str = "\
# what other shops sell
strangers: descriptor:\"OTHER SHOP\" -> invalid not-found
small: amount<25 currency:EUR,USD type:customer_dispute -> refunded \"below the fee of a dispute\"
stream: descriptor:\"ACME STREAM\" -> not-refunded
rest: issuer:emirates -> refunded";

fn made() -> Made {
    let now = clock().now();
    let mut alerts = morning(now);
    alerts.push(refunded_sibling(&alerts[5], 1_001, now));
    Made { rules: RULES, ..Made::of(alerts) }
}

/// The page, as somebody who knows the console opens it.
fn page(made: Made) -> Rig {
    let mut rig = made.start();
    rig.advance(Duration::seconds(7));
    rig.press("6");
    rig
}

/// The words of the list's line of a rule.
fn line(rig: &mut Rig, rule: &str) -> Vec<String> {
    let screen = rig.screen();
    let line = screen
        .lines()
        .find(|line| line.trim_start_matches(['▌', ' ']).starts_with(rule))
        .unwrap_or_else(|| panic!("{rule}: {screen}"));
    line.trim_start_matches(['▌', ' '])
        .split("  ")
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[rstest]
#[case(80, 24)]
#[case(120, 40)]
fn the_page_at_every_size(#[case] width: u16, #[case] height: u16) {
    let mut rig = page(Made { size: (width, height), ..made() });
    insta::assert_snapshot!(format!("open@{width}x{height}"), rig.screen());

    rig.press("j r");

    insta::assert_snapshot!(format!("rehearsed@{width}x{height}"), rig.screen());
}

#[rstest]
#[case(80, 24)]
#[case(120, 40)]
fn without_a_rule_it_says_what_rules_are_and_where_they_would_be(#[case] width: u16, #[case] height: u16) {
    let mut rig = page(Made { rules: "", size: (width, height), ..made() });

    insta::assert_snapshot!(format!("empty@{width}x{height}"), rig.screen());
}

#[test]
fn each_rule_says_how_many_wait_that_it_wins() {
    let mut rig = page(Made { size: (200, 60), ..made() });

    let lines = ["strangers", "small", "stream", "rest"].map(|rule| line(&mut rig, rule));

    assert_eq!(lines[0][..3], ["strangers", "INVALID (transaction not found)", "0"]);
    assert_eq!(lines[1][..3], ["small", "REFUNDED", "1"]);
    assert_eq!(lines[2][..3], ["stream", "NOT REFUNDED", "6"]);
    // What the rules before it win is none of its own.
    assert_eq!(lines[3][..3], ["rest", "REFUNDED", "12"]);
}

#[test]
fn where_one_page_is_not_all_the_number_says_of_how_many_it_is() {
    let now = clock().now();
    let alerts: Vec<Alert> = (1..=130_u128)
        .map(|number| Alert { id: AlertId(uuid::Uuid::from_u128(number)), ..morning(now)[0].clone() })
        .collect();
    let mut rig = page(Made { alerts, rules: "all: currency:EUR -> refunded", ..Made::default() });

    assert_eq!(line(&mut rig, "all")[2], "100 of 100");
    let screen = rig.screen();
    assert!(screen.contains("it matches 100 of the 100 that lapse first; 30 more were not read"), "{screen}");
}

#[test]
fn what_could_not_be_read_is_no_number() {
    let mut rig = made().start();
    rig.service.set_down(Some(ServiceError::Unavailable("busy".to_owned())));

    rig.press("6");

    assert_eq!(line(&mut rig, "stream")[2], "?");
    assert!(rig.screen().contains("not known: the service cannot answer: busy"), "{}", rig.screen());
}

#[test]
fn a_rehearsal_holds_each_rule_against_what_was_decided_and_sends_nothing() {
    let mut rig = page(Made { size: (200, 60), ..made() });
    let before = rig.sent();

    rig.press("r");

    assert_eq!(line(&mut rig, "stream")[3..], ["7", "–", "1", "6"]);
    assert_eq!(line(&mut rig, "small")[3..], ["1", "–", "–", "1"]);
    assert_eq!(rig.sent(), before);
}

#[test]
fn esc_gives_a_rehearsal_up_and_then_closes_the_page() {
    let mut rig = page(made());
    rig.holding = true;
    rig.press("r");
    let running = rig.screen();

    rig.press("esc");
    let given_up = rig.screen();
    rig.release();
    let late = rig.screen();
    rig.press("esc");

    assert!(running.contains("reading the last 30 days") && running.contains("give it up"), "{running}");
    assert!(rig.done.contains(&Effect::GiveUpRehearsal));
    assert!(given_up.contains("tries the desk rules on the alerts of the last 30 days") && late == given_up, "{late}");
    assert!(rig.screen().contains("by deadline"), "{}", rig.screen());
}

#[test]
fn enter_lists_what_a_rule_wants_where_a_list_can_be_asked_for_it_and_else_says_why_not() {
    let place = SessionInfo { name: "shop".to_owned(), remote: true, ..SessionInfo::default() };
    let mut rig = page(Made { place, operator: false, ..made() });

    rig.press("j enter");
    let refused = rig.screen();
    rig.press("j enter");
    rig.advance(Duration::seconds(1));
    let listed = rig.screen();

    assert!(refused.contains("The Queue cannot list what small matches") && refused.contains("SUGGESTS"), "{refused}");
    assert!(
        listed.contains("status:open")
            && listed.contains("descriptor:\"ACME STREAM\"")
            && listed.contains("by deadline"),
        "{listed}"
    );
}

#[test]
fn the_file_is_read_again_by_a_key_and_a_wrong_line_leaves_the_rules_of_before() {
    let mut rig = page(made());
    rig.rules_now =
        Err("the rules in /home/omar/.config/avert/rules.txt: line 2: a name and a colon are missing".to_owned());
    rig.press("ctrl-r");
    let wrong = rig.screen();
    rig.rules_now = Ok("small: mcc:1 -> refunded\nnew: currency:KWD -> refunded");
    rig.advance(Duration::minutes(1));

    rig.press("ctrl-r");

    assert!(
        wrong.contains("The desk rules of before stay") && wrong.contains("line 2") && wrong.contains("strangers"),
        "{wrong}"
    );
    let screen = rig.screen();
    assert!(screen.contains("Read again: 2 desk rules.") && !screen.contains("strangers"), "{screen}");
    assert_eq!(line(&mut rig, "new")[2], "1");
}

#[rstest]
#[case(80, "6 Rules")]
#[case(200, "1 Queue   2 Insights   3 Webhooks   4 Activity   5 Settings   6 Rules")]
fn the_header_says_that_one_is_on_the_page_while_it_is_open(#[case] width: u16, #[case] tabs: &str) {
    let mut rig = page(Made { size: (width, 24), ..made() });

    let open = rig.screen().lines().next().unwrap().to_owned();
    rig.press("esc");

    assert!(open.contains(tabs), "{open}");
    assert!(!rig.screen().lines().next().unwrap().contains("Rules"), "{}", rig.screen());
}

#[test]
fn the_columns_of_a_rehearsal_are_there_once_there_was_one() {
    let mut rig = page(made());
    let before = rig.screen();

    rig.press("r");
    rig.advance(Duration::seconds(1));

    assert!(!before.contains("DISAGREED") && rig.screen().contains("DISAGREED"), "{before}\n{}", rig.screen());
}
