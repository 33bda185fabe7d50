//! Several alerts answered together: marking, the form, what leaves, what is taken back, what failed; and the last
//! decision again.

use avert::{
    console::message::{Effect, Keep, Message},
    desk::{BuiltIn, JournalStep},
    domain::{
        Alert, AlertFilter, AlertId, AlertStatus, AlertType, Currency, Dialect, Outcome, Resolution,
        resolution::Decision, time::Clock,
    },
    service::{OutcomeUnknown, ResolveRequest, ServiceError},
};
use chrono::Duration;
use rstest::rstest;

use super::{
    fake::{Fate, answered_by_omar, morning, refunded_sibling},
    rig::{Made, Rig, assert_screens, clock, screens},
    settling::unfinished,
};

/// So many open alerts of payments of their own, the first to lapse first.
pub fn alike(count: usize) -> Vec<Alert> {
    let now = clock().now();
    let one = morning(now).remove(0);
    let alert = |number: usize| Alert {
        // Known, for pictures.
        id: AlertId(uuid::Uuid::from_u128(70_000 + number as u128)),
        provider_id: format!("7KQ2F{number:04}"),
        card_last_four: format!("{number:04}"),
        auth_code: None,
        acquirer_reference_number: None,
        amount: Some("1.00".parse().unwrap()),
        deadline: avert::domain::Deadline::At(
            now + Duration::hours(4) + Duration::minutes(i64::try_from(number).unwrap()),
        ),
        ..one.clone()
    };
    (0..count).map(alert).collect()
}

fn sandbox(alerts: Vec<Alert>) -> Made {
    let mut made = Made::of(alerts);
    made.place.environment = Some(avert::domain::Environment::Sandbox);
    made
}

fn statuses(rig: &Rig, alerts: &[Alert]) -> Vec<AlertStatus> {
    alerts.iter().map(|alert| rig.service.alert(alert.id).unwrap().status).collect()
}

#[test]
fn the_form_of_several_has_room_between_its_fields_as_that_of_one_has() {
    let mut rig = Made { size: (120, 40), ..Made::of(alike(3)) }.start();

    rig.press("* i");

    let screen = rig.screen();
    let before_comments = screen.lines().position(|line| line.contains("Comments")).unwrap() - 1;
    let line: String = screen.lines().nth(before_comments).unwrap().chars().take(70).collect();
    assert_eq!(line.trim(), "", "{screen}");
}

#[test]
fn the_form_of_several_says_which_answers_leave_with_no_time_to_undo_them() {
    let mut alerts = alike(3);
    alerts[0].deadline = avert::domain::Deadline::At(clock().now() + Duration::seconds(4));
    let mut rig = Made { size: (120, 40), ..Made::of(alerts) }.start();

    rig.press("* n");

    assert!(rig.screen().contains("1 due now: sent at once, no undo."), "{}", rig.screen());
}

#[test]
fn a_comment_of_blanks_is_no_comment() {
    let mut rig = Made { size: (120, 40), ..Made::of(alike(1)) }.start();
    rig.press("n");
    rig.type_text("  ");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    let sent = rig.service.resolutions.lock().unwrap().clone();
    assert_eq!(sent.iter().map(|(_, request)| request.resolution.comments()).collect::<Vec<_>>(), [""]);
}

#[test]
fn a_letter_in_the_comments_that_was_meant_for_another_answer_sends_nothing() {
    let mut rig = Made { size: (120, 40), ..Made::of(alike(1)) }.start();
    rig.press("r");
    rig.type_text("n");

    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let refused = (rig.screen(), rig.sent());
    rig.press("backspace alt-n ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(refused.0.contains("is one character") && refused.1 == 0, "{}", refused.0);
    let sent = rig.service.resolutions.lock().unwrap().clone();
    assert!(matches!(&sent[..], [(_, request)] if !request.resolution.gives_money_back()), "{sent:?}");
}

#[test]
fn what_is_marked_is_answered_by_one_form_and_lands() {
    let alerts = alike(4);
    let mut rig = Rig::new(alerts.clone());

    rig.press("space space j space n");
    rig.type_text("no order");
    rig.press("ctrl-s");
    let staged = rig.screen();
    rig.advance(Duration::seconds(6));

    assert!(staged.contains("sends in 5 s"), "{staged}");
    let (open, lost) = (AlertStatus::Open, AlertStatus::Chargeback);
    assert_eq!(statuses(&rig, &alerts), [lost.clone(), lost.clone(), open, lost]);
    let sent = rig.service.resolutions.lock().unwrap().clone();
    assert!(sent.iter().all(|(_, request)| request.resolution.comments() == "no order"), "{sent:?}");
    let screen = rig.screen();
    assert!(screen.contains("3 recorded") && screen.contains("recorded"), "{screen}");
}

#[test]
fn a_range_is_marked_from_where_it_began_to_the_cursor_and_esc_undoes_one_thing_at_a_time() {
    let mut rig = Rig::new(alike(6));

    rig.press("j V j j");
    let extending = rig.screen();
    rig.press("V k space");
    let marked = rig.screen();
    rig.press("V esc");
    let still = rig.screen();
    rig.press("esc");

    assert!(extending.contains("range of 3"), "{extending}");
    assert!(marked.contains("2 marked"), "a mark is taken away by the same key: {marked}");
    assert!(still.contains("2 marked") && !still.contains("range of"), "{still}");
    assert!(!rig.screen().contains("marked"), "{}", rig.screen());
}

#[test]
fn all_of_a_filter_is_marked_by_its_pages_and_never_more_than_a_thousand() {
    let mut rig = Rig::new(alike(1_150));

    rig.press("*");
    let screen = rig.screen();

    assert!(screen.contains("1,000 marked  1,000.00 EUR"), "{screen}");
    assert!(screen.contains("1,000 marked of 1,150, at most 1,000 at once."), "{screen}");
}

#[test]
fn a_range_over_rows_that_are_not_here_is_read() {
    let mut rig = Rig::new(alike(950));

    rig.press("V G V");

    assert!(rig.screen().contains("950 marked  950.00 EUR"), "{}", rig.screen());
}

#[test]
fn refunds_leave_as_they_are_looked_at_however_long_that_takes() {
    let mut rig = Rig::new(alike(20));
    rig.press("* r tab");
    rig.type_text("20");
    rig.holding_looks = true;
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    let sent: Vec<usize> = (0..4)
        .map(|_| {
            rig.release_one();
            rig.advance(Duration::seconds(3));
            rig.sent()
        })
        .collect();

    assert_eq!(sent, [1, 2, 3, 4], "{}", rig.screen());
}

#[test]
fn above_ten_alerts_their_number_is_typed_before_anything_leaves() {
    let alerts = alike(12);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n ctrl-s");
    let asked = rig.screen();
    rig.type_text("11");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let wrong = rig.sent();

    rig.press("backspace");
    rig.type_text("2");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(asked.contains("type 12 to confirm"), "{asked}");
    assert_eq!((wrong, rig.sent()), (0, 12));
    assert!(statuses(&rig, &alerts).iter().all(|status| *status == AlertStatus::Chargeback));
}

#[test]
fn a_digit_in_the_list_of_the_form_leads_to_no_screen() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n tab");

    rig.press("4");

    let screen = rig.screen();
    assert!(screen.contains("Answer 3 alerts") && screen.contains("A form is open"), "{screen}");
}

#[test]
fn a_digit_in_the_list_of_the_form_goes_to_the_number_that_is_asked_for() {
    let mut rig = Rig::new(alike(12));
    rig.press("* n tab tab");

    rig.press("1 2 ctrl-s");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 12, "{}", rig.screen());
}

#[test]
fn the_number_says_at_its_field_what_it_wants() {
    for size in [(80, 24), (120, 40)] {
        let mut rig = Made { size, ..Made::of(alike(12)) }.start();
        rig.press("* n ctrl-s");
        let asked = rig.screen();

        rig.press("1 2");
        let typed = rig.screen();
        rig.press("ctrl-s");
        rig.advance(Duration::seconds(6));

        // Behind it or below it, by the room.
        let at_field = |screen: &str| {
            let lines = screen.lines().skip_while(|line| !line.contains("type 12 to confirm"));
            lines.take(2).collect::<String>()
        };
        assert!(at_field(&asked).contains("✗ The number is not typed yet."), "{asked}");
        assert!(!typed.contains('✗'), "{typed}");
        assert_eq!(rig.sent(), 12);
    }
}

#[test]
fn what_cannot_or_should_not_be_answered_with_the_others_is_left_out_and_said() {
    let now = clock().now();
    let mut alerts = alike(4);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    alerts[2].deadline = avert::domain::Deadline::At(now - Duration::minutes(1));
    let mut rig = Rig::new(alerts.clone());
    rig.list(AlertFilter::default());
    rig.press("* r");

    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("2 will be sent") && form.contains("1 skipped") && form.contains("2 need review"), "{form}");
    assert!(form.contains("already answered: Refunded"), "{form}");
    assert!(form.contains("2 will be sent, 2.00 EUR") && form.contains("1 skipped"), "the sum, and why: {form}");
    assert!(form.contains("possible double refund") && form.contains("expired"), "{form}");
    let sent: Vec<AlertId> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [alerts[0].id, alerts[3].id]);
}

#[test]
fn of_what_is_answered_already_the_form_says_what_was_decided() {
    let mut rig = Made { size: (200, 60), ..sandbox(alike(3)) }.start();
    let first = rig.current();
    rig.press("* n");
    let theirs = Resolution::Current { decision: Decision::Refunded, comments: "refund 88213".to_owned() };
    rig.service.record(first, &ResolveRequest { resolution: theirs, idempotency_key: None }).unwrap();
    let resolved = answered_by_omar(first, clock().now());
    rig.service.audit.lock().unwrap().push(resolved);

    rig.hear();
    rig.advance(Duration::seconds(2));
    let meanwhile = rig.screen();
    rig.press("esc n");
    let opened = rig.screen();

    let told = "already answered: Refunded";
    for form in [meanwhile, opened] {
        assert!(form.contains(told) && form.contains("2 will be sent"), "{form}");
    }
}

#[test]
fn the_largest_sums_stand_beside_their_count() {
    let mut alerts = alike(36);
    for (number, alert) in alerts.iter_mut().enumerate() {
        alert.amount = Some("123456.50".parse().unwrap());
        alert.currency = Currency::new(
            ["EUR", "EUR", "EUR", "USD", "USD", "CAD", "CHF", "GBP", "AED", "SAR", "BRL", "PLN"][number % 12],
        );
    }
    let mut rig = Made { size: (120, 40), ..sandbox(alerts) }.start();

    rig.press("* n");

    let screen = rig.screen();
    let lines: Vec<&str> = screen.lines().collect();
    let sent = lines.iter().find(|line| line.contains("36 will be sent, 1,111,108.50 EUR + 8 currencies"));
    assert!(sent.is_some(), "{screen}");
}

#[test]
fn of_two_on_one_payment_one_alone_is_refunded_with_the_others() {
    let mut alerts = alike(3);
    let twin = (alerts[0].card_last_four.clone(), alerts[0].amount);
    (alerts[2].card_last_four, alerts[2].amount) = twin;
    let mut rig = Rig::new(alerts.clone());

    rig.press("* r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("same payment as"), "{form}");
    assert_eq!(statuses(&rig, &alerts)[2], AlertStatus::Open);
    assert_eq!(rig.sent(), 2);
}

#[test]
fn of_two_on_one_payment_both_are_told_that_no_money_went_back() {
    let mut alerts = alike(3);
    let twin = (alerts[0].card_last_four.clone(), alerts[0].amount);
    (alerts[2].card_last_four, alerts[2].amount) = twin;
    let mut rig = Rig::new(alerts);

    rig.press("* n");

    assert!(rig.screen().contains("3 will be sent"), "{}", rig.screen());
}

#[test]
fn where_alerts_are_marked_the_answer_keys_mean_them_and_the_footer_says_so() {
    let mut rig = Rig::new(alike(4));
    rig.resize(80, 24);

    rig.press("space space");
    let marked = rig.screen();
    rig.press("r");

    let (footer, form) = (marked.lines().last().unwrap(), rig.screen());
    assert!(footer.contains("r refunded, 2 marked"), "{footer}");
    assert!(form.contains("Answer 2 alerts") && form.contains("(•) Refunded"), "{form}");
}

#[test]
fn a_mark_is_seen_on_a_row_whose_last_decision_failed() {
    let mut rig = Rig::new(alike(2));
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("no such case".to_owned())));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    let failed = rig.screen();

    rig.press("g space");

    let marked = rig.screen();
    assert!(failed.contains("!   3h59"), "{failed}");
    assert!(marked.contains("✓   3h59"), "{marked}");
}

#[test]
fn what_is_on_its_way_or_may_have_arrived_is_not_answered_with_the_others() {
    let mut rig = Made { operator: false, ..Made::of(alike(4)) }.start();
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::told("time-out"))));
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));
    rig.press("n ctrl-s");

    rig.press("* n");

    let form = rig.screen();
    assert!(form.contains("an earlier answer is unconfirmed"), "{form}");
    assert!(form.contains("Not refunded: sends in") && form.contains("2 will be sent"), "{form}");
}

#[rstest]
#[case("INFLIGHT", "sending")]
#[case("UNKNOWN", "unconfirmed")]
#[case("PARKED", "unconfirmed")]
fn what_the_engine_has_not_finished_is_not_answered_with_the_others(#[case] state: &str, #[case] words: &str) {
    let alerts = alike(3);
    let mut rig = Rig::new(alerts.clone());
    *rig.service.unfinished.lock().unwrap() = vec![unfinished(alerts[0].id, state)];
    rig.hear();

    rig.press("* n");

    let form = rig.screen();
    assert!(form.contains(words) && form.contains("2 will be sent"), "{form}");
}

#[test]
fn a_refund_that_stands_in_the_list_itself_is_seen_before_the_search_is_over() {
    let mut alerts = alike(4);
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut rig = Rig::new(alerts);
    rig.list(AlertFilter::default());
    rig.press("*");
    rig.holding_searches = true;

    rig.press("r");

    let form = rig.screen();
    assert!(form.contains("checking duplicates") && form.contains("possible double refund"), "{form}");
    assert!(form.contains("3 will be sent"), "{form}");
}

#[test]
fn that_it_is_final_stands_beside_the_number_that_is_typed_at_every_size() {
    for size in [(80, 24), (120, 40)] {
        let mut rig = Made { size, ..Made::of(alike(12)) }.start();

        rig.press("* n");

        let form = rig.screen();
        assert!(form.contains("type 12 to confirm") && form.contains("Final 5 s after ctrl-s. u undoes"), "{form}");
    }
}

#[test]
fn a_narrow_form_names_the_descriptor_of_each_alert_and_the_key_of_the_list() {
    let mut rig = Made { size: (80, 24), ..Made::of(alike(3)) }.start();

    rig.press("* n");

    let form = rig.screen();
    assert!(form.contains("DESCRIPTOR") && form.contains("tab fields, list"), "{form}");
}

#[test]
fn at_120_columns_a_long_reason_loses_no_word_but_the_end_of_an_id() {
    let now = clock().now();
    let mut alerts = alike(4);
    let refunded = refunded_sibling(&alerts[1], 1_001, now);
    alerts.push(Alert { provider_id: "YYRIR37MKDDB3EXGN2LONGID".to_owned(), ..refunded });
    let mut rig = Rig::new(alerts);

    rig.press("* n");

    let form = rig.screen();
    assert!(form.contains("refunded 3h ago: ETHOCA YYRIR37MKDDB3EXGN2"), "{form}");
}

#[test]
fn while_the_service_does_not_answer_the_form_says_that_they_wait_here() {
    let mut made = Made::of(alike(3));
    made.place.remote = true;
    let mut rig = made.start();
    rig.service.set_down(Some(ServiceError::Unreachable("no connection".to_owned())));

    rig.press("ctrl-r space space n");

    let form = rig.screen();
    assert!(form.contains("the service does not answer") && !form.contains("Final"), "{form}");
}

#[test]
fn an_alert_is_left_out_by_hand_and_taken_in_again() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n tab space j x x");
    let out = rig.screen();
    rig.press("G space G x");

    let form = rig.screen();

    assert!(out.contains("1 will be sent") && out.contains("skipped by you"), "{out}");
    assert!(form.contains("2 will be sent"), "{form}");
}

#[test]
fn what_is_typed_in_the_comments_is_no_command() {
    let mut rig = Rig::new(alike(3));

    rig.press("* n");
    rig.type_text("x j k 12 .");
    let form = rig.screen();

    assert!(form.contains("x j k 12 .") && form.contains("3 will be sent"), "{form}");
}

#[test]
fn without_a_reason_nothing_leaves() {
    let mut rig = Rig::new(alike(3));

    rig.press("* i ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(rig.screen().contains("choose one: 1 to 4"), "{}", rig.screen());
    rig.press("3 ctrl-s");
    rig.advance(Duration::seconds(6));
    assert_eq!(rig.sent(), 3);
}

#[test]
fn one_undo_takes_all_back_and_nothing_was_sent() {
    let mut rig = Rig::new(alike(3));

    rig.press("* n ctrl-s esc u");
    rig.advance(Duration::minutes(1));

    assert_eq!(rig.sent(), 0);
    assert!(rig.app.ledger().staged().is_empty());
}

#[test]
fn failures_never_stop_the_rest_and_what_failed_is_sent_again() {
    let alerts = alike(6);
    let mut rig = Rig::new(alerts.clone());
    rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed by the issuer".to_owned())));

    rig.press("* n ctrl-s");
    rig.advance(Duration::seconds(6));
    let failed = rig.screen();
    rig.press("r");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("Answer ETHOCA") && form.contains("1 will be sent"), "{form}");
    assert!(failed.contains("5 recorded, 1 failed") && failed.contains("closed by the issuer"), "{failed}");
    assert_eq!(rig.sent(), 7);
    assert!(rig.screen().contains("1 recorded"), "{}", rig.screen());
}

#[test]
fn of_many_four_are_with_the_networks_at_once() {
    let mut rig = Rig::new(alike(9));
    rig.press("* n ctrl-s");
    rig.holding = true;

    rig.advance(Duration::seconds(6));
    let at_once = rig.held();
    rig.press("ctrl-p");
    rig.release();
    let paused = rig.sent();
    rig.press("ctrl-p");
    rig.advance(Duration::milliseconds(100));

    assert_eq!((at_once, paused, rig.sent()), (4, 4, 9));
}

#[test]
fn what_became_of_each_stays_until_it_is_dismissed() {
    let mut rig = Rig::new(alike(2));
    rig.press("* n ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press("esc");
    let list = rig.screen();
    rig.press("b");
    let again = rig.screen();
    rig.press("x b");

    assert!(!list.contains("RESULT"), "{list}");
    assert!(again.contains("RESULT") && again.contains("2 recorded"), "{again}");
    assert!(rig.screen().contains("no run yet"), "{}", rig.screen());
}

#[test]
fn the_older_dialect_answers_several_in_its_own_words() {
    let alerts = alike(2);
    let mut made = Made::of(alerts.clone());
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();

    rig.press("* i 9 alt-n");
    rig.type_text("by telephone");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    let words: Vec<String> = statuses(&rig, &alerts).iter().map(ToString::to_string).collect();
    assert_eq!(words, ["OTHER", "OTHER"]);
}

#[test]
fn a_stopped_amount_is_of_one_alert_alone() {
    let mut made = Made::of(alike(3));
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();

    rig.press("* i 2 alt-s");
    rig.type_text("0.50");

    let form = rig.screen();
    assert!(form.contains("0 will be sent") && form.contains("a stopped amount is of one alert"), "{form}");
}

#[test]
fn a_decision_with_a_stopped_amount_is_made_again_in_its_form_without_that() {
    let mut made = sandbox(alike(3));
    made.place.dialect = Dialect::Older;
    let mut rig = made.start();
    rig.press("i 2 alt-s");
    rig.type_text("0.50");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));
    let sent = rig.sent();

    rig.press(".");

    let form = rig.screen();
    assert_eq!(sent, 1, "{form}");
    assert!(form.contains("2 (•) PARTIALLY_STOPPED") && form.contains("Stopped"), "{form}");
}

#[test]
fn a_deployment_that_is_searched_by_the_interface_is_asked_once_for_each_card() {
    let now = clock().now();
    let mut alerts = alike(3);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut rig = Made { operator: false, ..Made::of(alerts) }.start();
    let asked = |rig: &Rig| rig.service.lists.lock().unwrap().iter().filter(|query| query.filter.q.is_some()).count();
    let unasked = asked(&rig);

    rig.press("* n");
    let denied = rig.screen();
    rig.press("alt-r");
    let form = rig.screen();

    assert!(asked(&rig) >= unasked + 3, "{unasked} {}", asked(&rig));
    assert!(denied.contains("2 will be sent") && denied.contains("1 needs review"), "{denied}");
    assert!(form.contains("2 will be sent") && form.contains("1 needs review"), "{form}");
}

#[test]
fn a_payment_that_was_refunded_is_not_told_as_not_refunded_with_the_others_until_that_is_confirmed() {
    let now = clock().now();
    let mut alerts = alike(4);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n");

    let form = rig.screen();
    rig.press("tab space");
    let confirmed = rig.screen();
    rig.press("alt-i 3");
    let anew = rig.screen();

    assert!(form.contains("3 will be sent") && form.contains("1 needs review"), "{form}");
    assert!(form.contains("refunded 3h ago: ETHOCA 5F2RE396"), "{form}");
    assert!(confirmed.contains("4 will be sent"), "{confirmed}");
    assert!(anew.contains("refunded 3h ago") || anew.contains("4 will be sent"), "{anew}");
}

#[test]
fn what_is_made_again_on_marks_stops_at_a_payment_that_was_refunded() {
    let now = clock().now();
    let mut alerts = alike(4);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut rig = sandbox(alerts.clone()).start();
    rig.press("n ctrl-s");
    rig.advance(Duration::seconds(6));

    rig.press("* .");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 1);
    assert!(rig.screen().contains("1 needs review"), "{}", rig.screen());
}

#[test]
fn the_last_decision_is_made_again_with_its_comment_and_can_be_taken_back() {
    let mut rig = sandbox(alike(4)).start();
    rig.press(".");
    let none = rig.screen();
    rig.press("n");
    rig.type_text("no order");
    rig.press("ctrl-s . . u");
    rig.advance(Duration::seconds(6));

    let sent = rig.service.resolutions.lock().unwrap().clone();

    assert!(none.contains("No answer yet in this session"), "{none}");
    let expected = Resolution::Current { decision: Decision::NotRefunded, comments: "no order".to_owned() };
    assert_eq!(
        sent.iter().map(|(_, request)| request.resolution.clone()).collect::<Vec<_>>(),
        [expected.clone(), expected]
    );
}

#[test]
fn on_production_and_where_a_guard_asks_for_a_tick_the_form_opens_instead() {
    let now = clock().now();
    let mut alerts = alike(3);
    alerts.push(refunded_sibling(&alerts[1], 1_001, now));
    let mut real = Rig::new(alerts.clone());
    let mut guarded = sandbox(alerts).start();

    for rig in [&mut real, &mut guarded] {
        rig.press("r ctrl-s .");
        rig.advance(Duration::seconds(10));
    }

    assert_eq!((real.sent(), guarded.sent()), (1, 1));
    for rig in [&mut real, &mut guarded] {
        assert!(rig.screen().contains("Recorded as"), "{}", rig.screen());
    }
}

#[rstest]
#[case::on_a_notice(true, "the network expects no answer")]
#[case::on_one_whose_window_has_closed(false, "expired")]
fn a_form_that_a_repeat_opens_says_why_and_finds_fault_only_once_it_was_tried_to_send_there(
    #[case] notice: bool,
    #[case] why: &str,
) {
    let mut alerts = alike(3);
    match notice {
        true => alerts[1].alert_type = AlertType::VerifiDisputeNotice,
        false => alerts[1].deadline = avert::domain::Deadline::At(clock().now() - Duration::minutes(1)),
    }
    let looked_at = alerts[1].id;
    let mut rig = sandbox(alerts).start();
    rig.show_view(BuiltIn::All);
    rig.press("s g");
    // The one whose window has closed stands first.
    rig.press(if notice { "n ctrl-s" } else { "j n ctrl-s" });
    rig.update(Message::GoToAlert(looked_at));

    rig.press(".");
    rig.advance(Duration::seconds(1));
    let opened = rig.screen();
    rig.press("ctrl-s");
    let tried = rig.screen();

    assert!(opened.contains(&format!("Not repeated: {why}.")), "{opened}");
    assert!(!opened.contains('✗') && !opened.contains("Not sent"), "{opened}");
    assert!(tried.contains(&format!("✗ {why}: tick")) && tried.contains("Not sent: see Send anyway."), "{tried}");
}

#[test]
fn the_last_decision_is_made_again_on_what_is_marked() {
    let alerts = alike(4);
    let mut rig = sandbox(alerts.clone()).start();
    rig.press("n ctrl-s");

    rig.press("space space .");
    rig.advance(Duration::seconds(6));

    assert_eq!(rig.sent(), 3);
    assert_eq!(statuses(&rig, &alerts)[3], AlertStatus::Open);
}

#[test]
fn nothing_is_answered_together_from_a_place_that_is_read_only() {
    let mut made = Made::of(alike(2));
    made.place.read_only = true;
    let mut rig = made.start();

    rig.press("* n");

    assert!(rig.screen().contains("Read-only connection"), "{}", rig.screen());
}

#[test]
fn the_warned_of_alert_is_gone_to_by_one_key_and_esc_comes_back() {
    let now = clock().now();
    let mut alerts = alike(3);
    let sibling = refunded_sibling(&alerts[1], 1_001, now);
    alerts.push(sibling.clone());
    let mut rig = Rig::new(alerts.clone());
    rig.press("j");
    rig.advance(Duration::milliseconds(200));

    rig.press("w");
    let there = rig.current();
    rig.press("esc");

    assert_eq!((there, rig.current()), (sibling.id, alerts[1].id));
    rig.press("k");
    rig.advance(Duration::milliseconds(200));
    rig.press("w");
    assert!(rig.screen().contains("No other alert is named here."), "{}", rig.screen());
}

#[test]
fn a_click_on_the_alert_that_a_warning_names_goes_there() {
    let now = clock().now();
    let mut alerts = alike(3);
    let sibling = refunded_sibling(&alerts[1], 1_001, now);
    alerts.push(sibling.clone());
    let named = format!("{} {}", sibling.provider, sibling.provider_id);
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();
    rig.press("j");
    rig.advance(Duration::milliseconds(200));

    rig.click_on(&format!("{named}, same"));

    assert_eq!(rig.current(), sibling.id, "{}", rig.screen());
}

#[test]
fn what_was_staged_together_is_written_down_at_once_before_it_leaves() {
    let mut rig = Rig::new(alike(3));

    rig.press("* n ctrl-s");

    let steps = rig.done.iter().filter_map(|effect| match effect {
        Effect::Keep(Keep::Journal(entries)) if matches!(entries[0].step, JournalStep::Staged(_)) => {
            Some(entries.len())
        }
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>(), [3]);
}

#[test]
fn marks_stay_while_another_list_is_shown() {
    let mut rig = Rig::new(alike(3));
    rig.press("space");

    rig.update(Message::List(AlertFilter::default(), avert::domain::Sort::default()));

    assert!(rig.screen().contains("1 marked"), "{}", rig.screen());
}

#[test]
fn what_was_left_out_for_a_look_stays_marked_and_nothing_else() {
    let mut alerts = alike(3);
    alerts.push(refunded_sibling(&alerts[1], 1_001, clock().now()));
    let mut rig = Rig::new(alerts.clone());
    rig.press("* r tab j space j x ctrl-s");
    rig.advance(Duration::seconds(6));
    let page = rig.screen();

    rig.press("esc");

    let marked: Vec<AlertId> = rig.app.queue().marked.alerts().iter().map(|alert| alert.id).collect();
    assert!(page.contains("RESULT") && page.contains("recorded"), "{page}");
    assert_eq!(marked, [alerts[1].id]);
    assert!(rig.screen().contains("1 marked"), "{}", rig.screen());
}

/// The database takes nothing, and the console finds that out; or takes it again.
fn set_unwritable(rig: &mut Rig, why: Option<&str>) {
    let failure = why.map(|why| ServiceError::Unavailable(why.to_owned()));
    rig.service.unwritable.lock().unwrap().clone_from(&failure);
    rig.update(Message::Written(failure.map_or(Ok(()), Err)));
}

#[test]
fn while_nothing_can_be_recorded_what_was_answered_together_waits_here_and_asks_when_it_can() {
    let mut rig = Rig::new(alike(10));
    rig.press("* n ctrl-s");
    set_unwritable(&mut rig, Some("the disk is full"));
    rig.advance(Duration::seconds(30));
    let (sent, waiting) = (rig.sent(), rig.screen());

    set_unwritable(&mut rig, None);
    rig.advance(Duration::seconds(1));
    let question = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!(sent, 0);
    assert!(waiting.contains("nothing can be recorded"), "{waiting}");
    assert!(question.contains("10 answers queued, not sent"), "{question}");
    assert_eq!(rig.sent(), 10);
}

#[test]
fn what_the_database_could_not_take_was_not_sent_and_the_rest_waits_with_it() {
    let alerts = alike(10);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n ctrl-s");
    let down = || ServiceError::NotReached("the database cannot do this now (connection refused)".to_owned());
    (0..4).for_each(|_| rig.service.next_resolution(Fate::Refused(down())));
    *rig.service.unwritable.lock().unwrap() = Some(down());
    rig.advance(Duration::seconds(30));
    let (tried, waiting) = (rig.sent(), rig.screen());

    set_unwritable(&mut rig, None);
    rig.advance(Duration::seconds(1));
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(10));

    assert_eq!(tried, 4);
    assert!(!waiting.contains("unknown") && !waiting.contains("failed"), "{waiting}");
    assert!(statuses(&rig, &alerts).iter().all(|status| *status == AlertStatus::Chargeback), "{}", rig.screen());
}

fn pictures(name: &str, alerts: usize, dialect: Dialect, keys: &str) {
    let taken = screens(|size| {
        let mut made = Made { size, ..Made::of(alike(alerts)) };
        made.place.dialect = dialect;
        let mut rig = made.start();
        rig.press(keys);
        rig.advance(Duration::milliseconds(200));
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn the_number_that_is_typed_in_pictures() {
    pictures("typed-count", 12, Dialect::Current, "* n");
    pictures("typed-count-missed", 12, Dialect::Current, "* n ctrl-s");
}

#[test]
fn the_form_of_several_in_the_older_dialect_in_pictures() {
    pictures("older", 3, Dialect::Older, "* i");
    pictures("older-partial", 3, Dialect::Older, "* i 2 alt-s 9");
}

#[test]
fn the_number_that_is_asked_for_follows_what_will_be_sent() {
    let alerts = alike(12);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n ctrl-s");
    let asked = rig.screen();

    let alert = alerts[3].clone();
    let outcome = Some(Outcome { alert_id: alert.id, ..refunded_sibling(&alert, 9, clock().now()).outcome.unwrap() });
    rig.update(Message::Concluded(Box::new(Alert { outcome, ..alert })));
    let after = rig.screen();

    assert!(asked.contains("type 12 to confirm"), "{asked}");
    assert!(after.contains("type 11 to confirm"), "{after}");
}

#[rstest]
#[case::refunded("r", true)]
#[case::not_refunded("n", false)]
fn a_refund_of_some_of_a_payment_says_how_many_more_of_its_alerts_stay_open(#[case] answer: &str, #[case] says: bool) {
    let mut rig = Rig::new(super::cases::three());
    rig.press("space");

    rig.press(answer);
    rig.advance(Duration::seconds(1));

    let form = rig.screen();
    assert_eq!(form.contains("2 more on these payments stay open"), says, "{form}");
}
