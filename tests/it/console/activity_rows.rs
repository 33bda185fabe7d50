//! The rows of the Activity screen and of the journal's pane: what was decided together in one, what words narrow them
//! to, notes, notices, and what the webhooks of an outcome came to.

use avert::console::message::Message;
use avert::desk::{BuiltIn, JournalStep, WholeJournal};
use avert::domain::resolution::Decision;
use avert::domain::time::Clock;
use avert::domain::{Alert, AlertId, Currency, DeliveryState, EventKind, Resolution};
use avert::service::ResolveRequest;
use chrono::Duration;
use rstest::rstest;

use super::activity::{decide, declined, desk, line, redacted, started};
use super::bulk::alike;
use super::cases::three;
use super::fake::delivery;
use super::rig::{Made, Rig, clock};

/// Five alerts answered together, the first of them refused.
fn bulk(size: (u16, u16)) -> (Rig, Vec<Alert>) {
    // Their ids are shown in pictures.
    let known = |(number, alert)| Alert { id: AlertId(uuid::Uuid::from_u128(number)), ..alert };
    let alerts: Vec<Alert> = (1..).zip(alike(6)).map(known).collect();
    let mut rig = started(Made { alerts: alerts.clone(), size, ..desk() });
    rig.service.next_resolution(declined());
    rig.press("V j j j j V b alt-n");
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
    list.filter(|line| line.contains("NOT REFUNDED 1.00 EUR")).count()
}

#[test]
fn what_was_decided_together_is_one_row_with_what_became_of_it() {
    let (mut rig, _) = bulk((160, 40));

    rig.press("4 tab");

    let row = line(&mut rig, "▌");
    for words in ["! 14:03:", "bulk", "5 NOT REFUNDED 5.00 EUR", "view Open", "4 recorded, 1 failed   enter shows each"]
    {
        assert!(row.contains(words), "{words:?} is not in {row}");
    }
    assert_eq!(decided(&mut rig), 0, "{}", rig.screen());
    assert!(line(&mut rig, "Needs you").contains("Today 5"), "each decision counts: {}", rig.screen());
}

#[rstest]
#[case::whole((200, 60), "36 NOT REFUNDED 1,111,108.50 EUR +8 more ")]
#[case::over_the_alert((80, 24), "36 NOT REFUNDED 1,111,108.50 EUR +8 more ")]
#[case::shortened((60, 16), "36 NOT REFUNDED 1.1M EUR +8 ")]
fn the_money_of_a_run_in_many_currencies_is_shortened_and_counted_before_it_goes(
    #[case] size: (u16, u16),
    #[case] words: &str,
) {
    let mut alerts = alike(36);
    for (number, alert) in alerts.iter_mut().enumerate() {
        alert.amount = Some("123456.50".parse().unwrap());
        alert.currency = Currency::new(
            ["EUR", "EUR", "EUR", "USD", "USD", "CAD", "CHF", "GBP", "AED", "SAR", "BRL", "PLN"][number % 12],
        );
    }
    let mut rig = started(Made { alerts, size, ..desk() });
    rig.press("* b alt-n ctrl-s");
    rig.type_text("36");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(60));

    rig.press("esc esc 4 tab");

    assert!(line(&mut rig, "36 NOT REFUNDED").contains(words), "{}", rig.screen());
}

#[test]
fn enter_unfolds_a_run_and_folds_it_again() {
    let (mut rig, alerts) = bulk((160, 40));
    rig.press("4 tab enter");
    let unfolded = decided(&mut rig);
    let (row, folds) = (line(&mut rig, "▌"), line(&mut rig, "? help"));

    rig.press("j enter");
    rig.advance(Duration::milliseconds(200));
    let gone_to = rig.current();
    rig.press("4 k enter");

    assert_eq!(unfolded, 5, "{row}");
    assert!(row.contains("enter folds them"), "{row}");
    assert!(folds.contains("enter fold"), "{folds}");
    assert_eq!(gone_to, alerts[0].id);
    assert_eq!(decided(&mut rig), 0, "{}", rig.screen());
}

#[rstest]
#[case((80, 24))]
#[case((120, 40))]
#[case((200, 60))]
fn no_column_moves_when_a_run_unfolds_or_folds_again(#[case] size: (u16, u16)) {
    let mut alerts = alike(40);
    alerts[14].merchant_order_id = Some("A-ORDER-THAT-IS-LONGER-THAN-ITS-LIKES".to_owned());
    let mut rig = started(Made { alerts, size, ..desk() });
    rig.press("* b alt-n ctrl-s");
    rig.type_text("40");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(60));
    rig.press("esc esc 4 tab");
    let folded = line(&mut rig, "WHAT");

    rig.press("enter");
    let unfolded = line(&mut rig, "WHAT");
    rig.press("enter");

    assert_eq!(unfolded, folded);
    assert_eq!(line(&mut rig, "WHAT"), folded);
}

#[test]
fn what_failed_of_a_run_needs_somebody_by_itself_and_is_decided_again() {
    let (mut rig, alerts) = bulk((160, 40));

    rig.press("4");
    let row = line(&mut rig, "▌");
    rig.press("o");
    rig.advance(Duration::milliseconds(100));

    assert!(row.contains("NOT REFUNDED 1.00 EUR") && row.contains("case closed by issuer"), "{row}");
    assert_eq!(rig.current(), alerts[0].id);
    assert!(rig.screen().contains("no order"), "{}", rig.screen());
}

#[test]
fn a_case_whose_refund_was_decided_again_and_recorded_calls_for_nobody() {
    let mut rig = started(Made { alerts: three(), size: (160, 40), ..desk() });
    rig.service.next_resolution(declined());
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.press("esc esc esc 4 o");
    rig.advance(Duration::milliseconds(100));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(7));
    let told = rig.screen();
    rig.press("4 tab");
    let row = line(&mut rig, "1 REFUNDED; 2 INVALID");
    rig.press("1 b");

    assert!(!told.contains("failed") && told.contains("2 recorded, 1 decided again since."), "{told}");
    assert!(row.contains("✓") && row.contains("2 recorded, 1 decided again since"), "{row}");
    let (page, refunded) = (rig.screen(), line(&mut rig, "decided again since: RESOLVED"));
    assert!(refunded.contains("✓") && !refunded.contains("<") && !refunded.contains("0h"), "{page}");
    assert!(!page.contains("answer what failed again") && !page.contains("✗"), "{page}");
}

#[test]
fn a_run_whose_failure_is_decided_again_says_so_though_its_end_was_told() {
    let (mut rig, alerts) = bulk((160, 40));
    rig.press("b");
    let failed = rig.screen();
    rig.press("esc 4 o");
    rig.advance(Duration::milliseconds(100));

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let told = rig.screen();
    rig.press("4 tab");
    let row = line(&mut rig, "5 NOT REFUNDED");
    rig.press("1 b");
    let page = rig.screen();

    assert!(failed.contains("4 recorded, 1 failed") && failed.contains("answer what failed again"), "{failed}");
    assert!(rig.service.alert(alerts[0].id).unwrap().outcome.is_some());
    assert!(!told.contains("1 failed"), "{told}");
    assert!(row.contains("✓") && row.contains("4 recorded, 1 decided again since"), "{row}");
    assert!(page.contains("4 recorded, 1 decided again since") && !page.contains("answer what failed again"), "{page}");
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
    assert!(page.contains("4 recorded, 1 answered by another"), "{page}");
    assert!(
        page.contains("answered another way since: RESOLVED, REFUNDED") && !page.contains("answer what failed again"),
        "{page}"
    );
}

#[test]
fn a_run_that_was_answered_again_as_one_is_counted_so_and_not_as_failed() {
    let (mut rig, _) = bulk((160, 40));
    rig.press("b r ctrl-s");
    rig.advance(Duration::seconds(20));

    rig.press("esc esc 4 tab");

    let row = line(&mut rig, "5 NOT REFUNDED");
    assert!(row.contains("✓") && row.contains("4 recorded, 1 decided again since"), "{row}\n{}", rig.screen());
}

#[test]
fn a_row_beneath_its_run_is_seen_to_like_any_other() {
    let (mut rig, _) = bulk((160, 40));
    rig.press("4 tab enter j");
    let row = line(&mut rig, "▌");

    rig.press("x");

    assert!(row.contains("network refused: "), "{row}");
    assert!(line(&mut rig, "▌").contains("seen to; network refused"), "{}", rig.screen());
}

#[test]
fn a_key_that_is_for_one_decision_says_so_on_a_run() {
    let (mut rig, _) = bulk((160, 40));

    rig.press("4 tab o");

    assert!(
        rig.screen().contains("o opens the form of a decision that failed: enter shows each of these."),
        "{}",
        rig.screen()
    );
}

#[test]
fn a_run_is_exported_as_its_decisions() {
    let directory = tempfile::tempdir().unwrap();
    let alerts = alike(3);
    let mut rig = started(Made { alerts, files: directory.path().to_path_buf(), ..desk() });
    rig.press("V j V b alt-n ctrl-s");
    rig.advance(Duration::seconds(10));
    rig.press("esc esc 4 tab e");
    let asked = rig.screen();

    rig.press("enter");

    let file = std::fs::read_dir(directory.path()).unwrap().next().unwrap().unwrap().path();
    let written = std::fs::read_to_string(file).unwrap();
    assert!(asked.contains("Export 2 rows of Today"), "{asked}");
    assert_eq!(written.lines().filter(|line| line.contains("NOT REFUNDED 1.00 EUR")).count(), 2, "{written}");
}

#[test]
fn a_run_of_another_console_is_one_row_and_a_line_without_the_field_is_a_row_of_its_own() {
    let (rig, _) = bulk((160, 40));
    let steps = rig.done.iter().filter_map(|effect| match effect {
        avert::console::Effect::Keep(avert::console::Keep::JournalSteps(steps)) => Some(steps.clone()),
        _ => None,
    });
    let staged: Vec<JournalStep> = steps.flatten().collect();
    let line_of = |step: &JournalStep, old: bool| {
        let entry = avert::desk::JournalEntry {
            at: avert::domain::time::to_iso(clock().now()),
            session: uuid::Uuid::from_u128(77),
            place: "acme-eu".to_owned(),
            user: Some("maria".to_owned()),
            step: step.clone(),
        };
        let mut json = serde_json::to_value(&entry).unwrap();
        if old {
            json.as_object_mut().unwrap().remove("together");
        }
        serde_json::from_value(json).unwrap()
    };
    let mut other = started(Made { size: (160, 40), ..desk() });

    let entries =
        staged[..3].iter().map(|step| line_of(step, false)).chain(staged[3..].iter().map(|step| line_of(step, true)));
    other.update(Message::JournalRead(Ok(WholeJournal { entries: entries.collect(), ..WholeJournal::default() })));
    other.press("4 tab");

    assert_eq!(staged.len(), 5);
    assert!(line(&mut other, "3 NOT REFUNDED").contains("maria, bulk"), "{}", other.screen());
    assert_eq!(decided(&mut other), 2, "{}", other.screen());
}

#[test]
fn the_case_of_a_payment_is_one_row_too() {
    let mut rig = started(Made { alerts: three(), size: (160, 40), ..desk() });
    rig.press("enter r ctrl-s");
    rig.advance(Duration::seconds(10));

    rig.press("esc esc 4 tab");

    let row = line(&mut rig, "▌");
    for words in
        ["case", "1 REFUNDED; 2 INVALID (duplicate alert) · 129.90 EUR", "A-10293", "3 recorded   enter shows each"]
    {
        assert!(row.contains(words), "{words:?} is not in {row}\n{}", rig.screen());
    }
}

#[test]
fn words_narrow_what_is_shown_and_esc_shows_all_again() {
    let mut rig = started(Made { size: (160, 40), ..desk() });
    decide(&mut rig, "r", "refund 88240");
    decide(&mut rig, "n", "the parcel arrived");
    rig.advance(Duration::seconds(20));
    rig.press("4 tab f");
    let asked = rig.screen();

    rig.type_text("REFUNDED  a-10293");
    rig.press("enter");
    let narrowed = rig.screen();
    rig.press("esc");
    let all = rig.screen();
    rig.press("esc");

    assert!(asked.contains("Filter by words"), "{asked}");
    assert!(narrowed.contains("Today 1 of 2") && narrowed.contains("REFUNDED  a-10293 ✕"), "{narrowed}");
    assert!(narrowed.contains("129.90 EUR") && !narrowed.contains("1,480.00 AED"), "{narrowed}");
    assert!(all.contains("Today 2") && all.contains("4 Activity") && !all.contains("✕"), "{all}");
    assert!(rig.screen().contains("Open, by deadline"), "the next esc leaves the screen: {}", rig.screen());
}

#[test]
fn a_filter_that_nothing_fits_says_which_key_clears_it() {
    let mut rig = started(desk());
    decide(&mut rig, "r", "refund 88240");

    rig.press("4 tab f");
    rig.type_text("nonsense");
    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.contains("Nothing here has these words."), "{screen}");
    assert!(screen.contains("f changes the filter, esc clears it and shows all again."), "{screen}");
}

#[test]
fn words_that_fit_a_run_in_part_show_those_decisions_by_themselves() {
    let mut shown = Vec::new();
    for words in ["closed by issuer", "chargeback, recorded", "bulk"] {
        let (mut rig, _) = bulk((160, 40));
        rig.press("4 tab f");
        rig.type_text(words);

        rig.press("enter");

        shown.push((decided(&mut rig), rig.screen().contains("5 NOT REFUNDED 5.00 EUR")));
    }

    assert_eq!(shown, [(1, false), (4, false), (0, true)], "the run is one row where all of it has the words");
}

#[test]
fn the_audit_log_is_narrowed_too() {
    let mut rig = started(desk());
    super::activity::audit(&rig, 12);
    rig.press("4 tab tab tab tab tab");
    rig.advance(Duration::milliseconds(200));

    rig.press("f");
    rig.type_text("pérez");
    rig.press("enter");

    let screen = rig.screen();
    assert!(screen.contains("Service 1 of 12") && screen.contains("number 1"), "{screen}");
}

#[test]
fn notes_have_a_view_of_their_own_and_lead_to_their_alert() {
    let mut rig = started(desk());
    let first = rig.current();
    rig.press("a");
    rig.type_text("called the customer");
    rig.press("ctrl-s j");
    rig.advance(Duration::seconds(30));
    rig.press("a");
    rig.type_text("waits for the bank");
    rig.press("ctrl-s 4");

    super::activity::shift_tab(&mut rig);
    let (newest, views) = (line(&mut rig, "▌"), line(&mut rig, "Needs you"));
    rig.press("j");
    let oldest = line(&mut rig, "▌");
    rig.press("enter");
    rig.advance(Duration::milliseconds(200));

    assert!(views.contains("Notes 2"), "{views}");
    assert!(newest.contains("waits for the bank") && newest.contains("VERIFI ··8831 A-10311"), "{newest}");
    assert!(
        oldest.contains("omar") && oldest.contains("called the customer") && oldest.contains("ETHOCA ··1234 A-10293"),
        "{oldest}"
    );
    assert_eq!(rig.current(), first);
}

#[test]
fn the_proof_of_a_decision_says_what_its_webhooks_came_to() {
    let mut rig = started(desk());
    let id = decide(&mut rig, "r", "refund 88240");
    let now = rig.clock.now();
    let of = |state, attempts, due| delivery(id, EventKind::AlertResolved, state, attempts, None, due);
    let delivered = avert::domain::Delivery { delivered_at: Some(now), ..of(DeliveryState::Delivered, 1, None) };
    let other = delivery(id, EventKind::AlertCreated, DeliveryState::Exhausted, 9, None, None);
    *rig.service.deliveries.lock().unwrap() =
        vec![delivered.clone(), of(DeliveryState::Pending, 2, Some(now + Duration::seconds(30))), other];
    rig.press("4 tab");
    rig.advance(Duration::milliseconds(200));
    let waits = line(&mut rig, "webhook delivered");

    *rig.service.deliveries.lock().unwrap() = vec![delivered.clone(), delivered];
    rig.advance(Duration::seconds(33));

    assert!(waits.contains("webhook delivered to 1 of 2, next try at 14:03:"), "{waits}");
    let after = line(&mut rig, "webhook delivered");
    assert!(after.contains("webhook delivered to 2 of 2") && !after.contains("next try"), "{after}");
}

#[test]
fn where_the_service_tells_of_no_webhooks_the_proof_says_nothing_of_them() {
    let mut rig = started(Made { operator: false, ..desk() });
    decide(&mut rig, "r", "refund 88240");

    rig.press("4 tab");
    rig.advance(Duration::milliseconds(200));

    assert!(rig.screen().contains("recorded: the alert is") && !rig.screen().contains("webhook"), "{}", rig.screen());
}

fn pictures(name: &str, keys: &str) {
    for (width, height) in [(80, 24), (120, 40)] {
        let (mut rig, _) = bulk((width, height));
        rig.press("a");
        rig.type_text("card testing of this morning");
        rig.press("ctrl-s m");
        rig.press(keys);
        rig.advance(Duration::milliseconds(200));
        insta::assert_snapshot!(format!("{name}@{width}x{height}"), redacted(&rig.screen()));
    }
}

#[test]
fn a_run_in_pictures() {
    pictures("run-folded", "4 tab");
}

#[test]
fn an_unfolded_run_in_pictures() {
    pictures("run-unfolded", "4 tab enter");
}

#[test]
fn notes_in_pictures() {
    pictures("notes", "4 tab tab tab tab tab tab tab");
}
