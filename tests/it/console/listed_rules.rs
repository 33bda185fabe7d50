//! Rules in Settings: each with its answer and query, its alerts one key away, and the file read again.

use avert::console::SessionInfo;
use chrono::Duration;

use super::{
    fake::morning,
    rig::{Made, Rig, clock},
};
use avert::domain::time::Clock as _;

const RULES: &str = "\
# what other shops sell
strangers: descriptor:\"OTHER SHOP\" -> invalid not-found
small: amount<25 currency:EUR,USD type:customer_dispute -> refunded \"below the fee of a dispute\"
stream: descriptor:\"ACME STREAM\" -> not-refunded";

/// Settings with the cursor on the first rule.
fn listed(made: Made) -> Rig {
    let mut rig = Made { rules: RULES, ..made }.start();
    rig.press("5");
    rig.advance(Duration::seconds(1));
    while !rig.screen().lines().any(|line| line.starts_with("▌ strangers")) {
        rig.press("tab");
    }
    rig
}

fn made() -> Made {
    Made { size: (160, 50), ..Made::of(morning(clock().now())) }
}

#[test]
fn each_rule_has_its_answer_and_its_query() {
    let screen = listed(made()).screen();

    let line = screen.lines().find(|line| line.contains("stream")).unwrap();
    assert!(line.contains("Not refunded") && line.contains("descriptor:\"ACME STREAM\""), "{screen}");
    assert!(screen.contains("/home/omar/.config/avert/rules.txt"), "{screen}");
}

#[test]
fn without_a_rule_an_example_says_how_one_looks() {
    let mut rig = made().start();

    rig.press("5");

    assert!(rig.screen().contains("small: amount<25 currency:EUR,USD -> refunded"), "{}", rig.screen());
}

#[test]
fn enter_lists_the_alerts_of_a_rule_where_the_list_knows_its_query_and_else_says_why_not() {
    let place = SessionInfo { name: "shop".to_owned(), remote: true, ..SessionInfo::default() };
    let mut rig = listed(Made { place, operator: false, ..made() });

    rig.press("j enter");
    let refused = rig.screen();
    rig.press("j enter");
    rig.advance(Duration::seconds(1));
    let listed = rig.screen();

    assert!(refused.contains("The Queue cannot list what small matches") && refused.contains("SUGGESTS"), "{refused}");
    assert!(listed.contains("descriptor:\"ACME STREAM\"") && listed.contains("by deadline"), "{listed}");
}

#[test]
fn the_file_is_read_again_by_a_key_and_a_wrong_line_leaves_the_earlier_rules() {
    let mut rig = listed(made());
    rig.rules_now =
        Err("the rules in /home/omar/.config/avert/rules.txt: line 2: a name and a colon are missing".to_owned());
    rig.press("ctrl-r");
    let wrong = rig.screen();
    rig.rules_now = Ok("small: mcc:1 -> refunded\nnew: currency:KWD -> refunded");
    rig.advance(Duration::minutes(1));

    rig.press("ctrl-r");

    let kept = ["The earlier rules stay", "line 2", "strangers"];
    assert!(kept.iter().all(|words| wrong.contains(words)), "{wrong}");
    let screen = rig.screen();
    assert!(screen.contains("Read again: 2 rules.") && !screen.contains("strangers"), "{screen}");
}
