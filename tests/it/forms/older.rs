//! The resolve form in the words of the older dialect.

use avert::console::dialogs::resolve_form::{Choice, FormStep, FormSubmission, FormWarning, ResolveForm};
use avert::desk::Draft;
use avert::domain::resolution::{OlderRefunded, OlderWord};
use avert::domain::{Alert, AlertType, Resolution, decide};
use crossterm::event::{Event, KeyCode};
use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn older(choice: Choice) -> ResolveForm {
    ResolveForm::new(&travel_alert(), choice, OLDER, None, Vec::new(), noon())
}

fn sent(step: FormStep) -> FormSubmission {
    match step {
        FormStep::Submit(submission) => *submission,
        step => panic!("nothing was sent: {step:?}"),
    }
}

/// Word, refund and amount of what was sent.
fn said(resolution: &Resolution) -> (&str, &str, Option<String>) {
    match resolution {
        Resolution::Older { word, refunded, amount_stopped, .. } => {
            (word.as_str(), refunded.as_str(), amount_stopped.map(|amount| amount.to_string()))
        }
        other => panic!("not of the older dialect: {other:?}"),
    }
}

fn tabs(count: usize) -> Vec<Event> {
    vec![key(KeyCode::Tab); count]
}

#[rstest]
#[case(Choice::Refunded, ("RESOLVED", "REFUNDED", None))]
#[case(Choice::NotRefunded, ("UNRESOLVED_DISPUTE", "NOT REFUNDED", None))]
fn a_decision_is_sent_with_one_key(#[case] choice: Choice, #[case] expected: (&str, &str, Option<String>)) {
    let mut form = older(choice);

    let submission = sent(form.handle(&ctrl('s')));

    assert_eq!(said(&submission.resolution), expected);
}

#[test]
fn confirmed_fraud_has_words_of_its_own() {
    let fraud = Alert { alert_type: AlertType::EthocaConfirmedFraud, ..travel_alert() };
    let send =
        |choice| sent(ResolveForm::new(&fraud, choice, OLDER, None, Vec::new(), noon()).handle(&ctrl('s'))).resolution;

    let (refunded, not_refunded) = (send(Choice::Refunded), send(Choice::NotRefunded));

    assert_eq!(said(&refunded), ("STOPPED", "REFUNDED", None));
    assert_eq!(said(&not_refunded), ("MISSED", "NOT REFUNDED", None));
}

#[test]
fn a_digit_within_words_typed_beside_the_comments_chooses_nothing() {
    let mut form = older(Choice::NotRefunded);

    play(&mut form, typed("refused 4 times"));
    let screen = Screen::resolve(&form, 80, 24);
    let submission = sent(form.handle(&ctrl('s')));

    assert!(screen.has("Tab goes to the comments."));
    assert_eq!(said(&submission.resolution), ("UNRESOLVED_DISPUTE", "NOT REFUNDED", None));
}

#[test]
fn a_digit_within_words_says_how_to_choose_and_a_move_lets_it_choose_again() {
    let mut form = older(Choice::NotRefunded);

    play(&mut form, typed("x4"));
    let screen = Screen::resolve(&form, 80, 24);
    let submission = sent(play(&mut form, [key(KeyCode::Down)].into_iter().chain(typed("4")).chain([ctrl('s')])));

    assert!(screen.has("Up and down choose, tab goes on."));
    assert_eq!(said(&submission.resolution), ("MISSED", "NOT REFUNDED", None));
}

#[test]
fn a_letter_that_leads_to_the_resolution_is_no_text() {
    let mut form = older(Choice::NotRefunded);
    play(&mut form, tabs(1));

    let submission = sent(play(&mut form, typed("i4").into_iter().chain([ctrl('s')])));

    assert_eq!(said(&submission.resolution), ("MISSED", "NOT REFUNDED", None));
}

#[test]
fn an_invalid_alert_asks_for_the_resolution_and_the_refund_at_their_fields() {
    let mut form = older(Choice::Invalid);

    let step = form.handle(&ctrl('s'));

    let screen = Screen::resolve(&form, 120, 40);
    assert_eq!(step, FormStep::Stay);
    assert_eq!(screen.find("✗ choose a resolution, 1 to 13").y, screen.find("13 ( ) NOT_FOUND").y + 1);
    assert_eq!(screen.find("✗ choose the refund").y, screen.find("Refund  ").y + 1);
}

#[rstest]
#[case("4", "MISSED", "NOT REFUNDED")]
#[case("11", "PREVIOUSLY_REFUNDED", "REFUNDED")]
#[case("12", "UNRESOLVED_DISPUTE", "NOT REFUNDED")]
fn a_number_chooses_and_the_refund_follows_where_the_word_says_it(
    #[case] keys: &str,
    #[case] word: &str,
    #[case] refunded: &str,
) {
    let mut form = older(Choice::Invalid);

    let submission = sent(play(&mut form, typed(keys).into_iter().chain([ctrl('s')])));

    assert_eq!(said(&submission.resolution), (word, refunded, None));
}

#[rstest]
#[case("5")]
#[case("13")]
fn what_was_not_found_leaves_the_refund_to_be_chosen(#[case] number: &str) {
    let mut form = older(Choice::Invalid);

    let step = play(&mut form, typed(number).into_iter().chain([ctrl('s')]));

    assert_eq!(step, FormStep::Stay);
    assert!(Screen::resolve(&form, 120, 40).has("✗ choose the refund"));
}

#[rstest]
#[case(0)]
#[case(1)]
#[case(4)]
#[case(5)]
fn the_printed_letters_choose_the_refund_wherever_nothing_is_typed(#[case] tabs_before: usize) {
    for (letter, refunded) in [('r', "REFUNDED"), ('n', "NOT REFUNDED"), ('s', "NOT SETTLED")] {
        let mut form = older(Choice::Invalid);
        play(&mut form, typed("2"));
        play(&mut form, tabs(1));
        play(&mut form, typed("9.50"));
        play(&mut form, vec![key(KeyCode::BackTab); 2]);

        play(&mut form, tabs(tabs_before).into_iter().chain([alt(letter)]));

        let submission = sent(form.handle(&ctrl('s')));
        assert_eq!(said(&submission.resolution), ("PARTIALLY_STOPPED", refunded, Some("9.50".to_owned())));
    }
}

#[rstest]
#[case(Choice::Refunded)]
#[case(Choice::NotRefunded)]
#[case(Choice::Invalid)]
fn what_is_typed_on_the_resolution_is_no_decision_and_not_lost_without_a_word(#[case] choice: Choice) {
    let mut form = older(choice);
    let before = form.draft();

    play(&mut form, typed("customer sues, no refund"));

    assert_eq!(form.draft(), before);
    assert!(Screen::resolve(&form, 120, 40).has("A number chooses. Tab goes to the comments."));
}

#[rstest]
#[case("4", "MISSED")]
#[case("11", "PREVIOUSLY_REFUNDED")]
fn after_its_number_the_resolution_stands_and_more_digits_are_text(#[case] number: &str, #[case] word: &str) {
    let mut form = older(Choice::Refunded);

    play(&mut form, typed(number).into_iter().chain(typed("2 orders, r n s")));

    let submission = sent(form.handle(&ctrl('s')));
    assert_eq!(said(&submission.resolution).0, word);
    assert_eq!(submission.resolution.comments(), "2 orders, r n s");
}

#[test]
fn a_number_goes_on_to_what_it_still_asks_for() {
    let mut form = older(Choice::Invalid);

    play(&mut form, typed("5").into_iter().chain(typed("nnot in our books")));

    let submission = sent(form.handle(&ctrl('s')));
    assert_eq!(said(&submission.resolution), ("NOTFOUND", "NOT REFUNDED", None));
    assert_eq!(submission.resolution.comments(), "not in our books");
}

#[test]
fn in_the_comments_the_letters_are_text() {
    let mut form = older(Choice::Refunded);

    play(&mut form, tabs(2).into_iter().chain(typed("n1")));

    let submission = sent(form.handle(&ctrl('s')));
    assert_eq!(said(&submission.resolution), ("RESOLVED", "REFUNDED", None));
    assert_eq!(submission.resolution.comments(), "n1");
}

#[test]
fn a_digit_after_the_question_for_the_refund_leaves_the_resolution_alone() {
    let mut form = older(Choice::Invalid);
    play(&mut form, typed("9").into_iter().chain([ctrl('s')]));
    assert!(Screen::resolve(&form, 120, 40).has("✗ choose the refund"));

    play(&mut form, typed("2"));
    let screen = Screen::resolve(&form, 120, 40);
    let submission = sent(play(&mut form, typed("n").into_iter().chain([ctrl('s')])));

    assert!(screen.has("shift-tab goes back to the resolution"), "{}", screen.text());
    assert_eq!(said(&submission.resolution), ("OTHER", "NOT REFUNDED", None));
}

#[test]
fn arrows_go_through_the_resolutions_and_the_refunds() {
    let mut form = older(Choice::Invalid);

    play(
        &mut form,
        [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::Tab, KeyCode::Right, KeyCode::Right, KeyCode::Right]
            .map(key),
    );
    let submission = sent(form.handle(&ctrl('s')));

    assert_eq!(said(&submission.resolution), ("PREVIOUSLY_CANCELLED", "NOT SETTLED", None));
}

#[test]
fn the_stopped_amount_is_asked_for_only_with_a_partial_stop_and_sent_to_the_digit() {
    let mut form = older(Choice::Refunded);
    let before = Screen::resolve(&form, 120, 40);

    play(&mut form, typed("2"));
    let after = Screen::resolve(&form, 120, 40);
    play(&mut form, typed("500.10"));
    let submission = sent(form.handle(&ctrl('s')));

    assert_eq!((before.has("Stopped"), after.has("Stopped")), (false, true));
    assert!(after.has("AED   of 1,480.00 AED"), "{}", after.text());
    assert_eq!(said(&submission.resolution), ("PARTIALLY_STOPPED", "REFUNDED", Some("500.10".to_owned())));
}

#[test]
fn an_amount_that_was_typed_is_not_sent_with_another_resolution() {
    let mut form = older(Choice::Refunded);
    play(&mut form, typed("2"));
    play(&mut form, typed("500"));

    play(&mut form, vec![key(KeyCode::BackTab); 2]);
    let submission = sent(play(&mut form, typed("3").into_iter().chain([ctrl('s')])));

    assert_eq!(said(&submission.resolution), ("PREVIOUSLY_CANCELLED", "REFUNDED", None));
}

#[rstest]
#[case("", "✗ the stopped amount is needed")]
#[case("0", "✗ the amount must be more than 0 and at most 1,480.00 AED")]
#[case("1480.01", "✗ the amount must be more than 0 and at most 1,480.00 AED")]
#[case("-5", "✗ the amount must be more than 0")]
#[case("a lot", "✗ \"a lot\" is not a decimal amount such as 129.90")]
#[case("1,5", "✗ \"1,5\" is not a decimal amount such as 129.90")]
fn a_wrong_amount_is_told_at_its_field_and_nothing_is_sent(#[case] amount: &str, #[case] words: &str) {
    let mut form = older(Choice::Refunded);
    play(&mut form, typed("2"));
    play(&mut form, typed(amount));

    let step = form.handle(&ctrl('s'));

    let screen = Screen::resolve(&form, 80, 24);
    assert_eq!(step, FormStep::Stay);
    assert_eq!(screen.find(words).y, screen.find("Stopped").y + 1, "{}", screen.text());
}

#[test]
fn a_wrong_amount_is_told_as_soon_as_one_leaves_its_field_and_not_while_one_types() {
    let mut form = older(Choice::Refunded);
    play(&mut form, typed("2"));

    play(&mut form, typed("0"));
    let typing = Screen::resolve(&form, 120, 40).has("✗");
    play(&mut form, tabs(1));

    assert!(!typing);
    assert!(Screen::resolve(&form, 120, 40).has("✗ the amount must be more than 0"));
}

#[rstest]
#[case("1", "RESOLVED")]
#[case("4", "CHARGEBACK")]
#[case("5", "NOT_FOUND")]
#[case("7", "PROCESSING")]
#[case("9", "OTHER")]
#[case("11", "REFUNDED")]
fn what_will_happen_is_said_of_each_resolution(#[case] number: &str, #[case] status: &str) {
    let mut form = older(Choice::Invalid);

    play(&mut form, typed(number));

    let screen = Screen::resolve(&form, 120, 40);
    assert!(screen.has(&format!("status OPEN → {status}  ")) && screen.has("Final once sent."), "{}", screen.text());
}

#[test]
fn every_resolution_stands_there_with_its_meaning() {
    let screen = Screen::resolve(&older(Choice::Invalid), 120, 40);

    for word in OlderWord::KNOWN {
        let row = screen.rows().into_iter().find(|row| row.contains(&format!(") {} ", word.as_str())));
        assert!(
            row.is_some_and(|row| row.trim_end_matches([' ', '│']).ends_with(&format!("  {}", word.words()))),
            "{}",
            screen.text()
        );
    }
}

#[test]
fn on_a_small_screen_the_chosen_ones_meaning_stands_below() {
    let mut form = older(Choice::Invalid);

    play(&mut form, typed("8"));

    let screen = Screen::resolve(&form, 80, 22);
    assert!(OlderWord::KNOWN.iter().all(|word| screen.has(&format!(") {}", word.as_str()))), "{}", screen.text());
    assert!(screen.has(OlderWord::ShipperContacted.words()), "{}", screen.text());
}

#[rstest]
#[case("7", "IN_PROGRESS is final")]
#[case("9", "OTHER: say in the comments")]
fn what_a_resolution_leaves_open_is_said(#[case] number: &str, #[case] words: &str) {
    let mut form = older(Choice::Refunded);

    play(&mut form, typed(number));

    assert!(Screen::resolve(&form, 80, 22).has(words));
}

#[test]
fn a_refund_that_does_not_go_with_its_resolution_is_asked_about() {
    let mut form = older(Choice::NotRefunded);

    play(&mut form, tabs(1).into_iter().chain(typed("r")));

    assert!(Screen::resolve(&form, 120, 40).has("UNRESOLVED_DISPUTE contradicts REFUNDED"));
}

#[test]
fn a_refunded_double_offers_the_resolution_that_says_so() {
    let mut form = ResolveForm::new(&travel_alert(), Choice::Invalid, OLDER, None, vec![refunded_double()], noon());

    let screen = Screen::resolve(&form, 120, 40);
    assert!(screen.has("✓ ETHOCA 5F2RE396 was refunded 3h ago: this answer fits"), "{}", screen.text());
    assert_eq!(said(&sent(form.handle(&ctrl('s'))).resolution), ("PREVIOUSLY_REFUNDED", "REFUNDED", None));
}

#[rstest]
#[case("1", true)]
#[case("2", true)]
#[case("3", false)]
#[case("4", false)]
#[case("11", false)]
fn a_second_refund_needs_an_explicit_confirmation(#[case] number: &str, #[case] asked: bool) {
    let mut form = ResolveForm::new(&travel_alert(), Choice::Refunded, OLDER, None, vec![refunded_double()], noon());

    play(&mut form, typed(number));

    assert_eq!(Screen::resolve(&form, 120, 40).has("[ ] Send anyway"), asked);
}

#[test]
fn a_payment_that_was_never_settled_is_not_a_second_refund() {
    let mut form = ResolveForm::new(&travel_alert(), Choice::Refunded, OLDER, None, vec![refunded_double()], noon());

    let submission = sent(play(&mut form, tabs(1).into_iter().chain(typed("s")).chain([ctrl('s')])));

    assert_eq!(said(&submission.resolution), ("RESOLVED", "NOT SETTLED", None));
}

#[test]
fn escape_keeps_resolution_refund_amount_and_comments_for_the_next_time() {
    let mut first = older(Choice::Refunded);
    play(&mut first, typed("2"));
    play(&mut first, typed("7.50"));
    play(&mut first, tabs(1));
    play(&mut first, typed("two of three"));

    let FormStep::Cancel(kept) = first.handle(&key(KeyCode::Esc)) else { panic!("escape closes the form") };
    let mut again = ResolveForm::new(&travel_alert(), Choice::Refunded, OLDER, Some(kept), Vec::new(), noon());

    let submission = sent(again.handle(&ctrl('s')));
    assert_eq!(said(&submission.resolution), ("PARTIALLY_STOPPED", "REFUNDED", Some("7.50".to_owned())));
    assert_eq!(submission.resolution.comments(), "two of three");
}

#[test]
fn nothing_typed_leaves_no_draft() {
    let FormStep::Cancel(kept) = older(Choice::Refunded).handle(&key(KeyCode::Esc)) else {
        panic!("escape closes the form")
    };

    assert!(kept.is_bare(), "{kept:?}");
}

#[test]
fn everything_can_be_done_with_the_mouse() {
    let mut form = older(Choice::Refunded);
    let click = |form: &mut ResolveForm, text: &str| {
        let at = Screen::resolve(form, 120, 40).find(text);
        play(form, [press_at(at), release_at(at)])
    };

    click(&mut form, "PARTIALLY_STOPPED");
    click(&mut form, "( ) NOT SETTLED");
    let field = Screen::resolve(&form, 120, 40).find("Stopped");
    play(&mut form, [press_at(Position { x: field.x + 13, y: field.y })]);
    play(&mut form, typed("12"));
    let submission = sent(click(&mut form, "Send"));

    assert_eq!(said(&submission.resolution), ("PARTIALLY_STOPPED", "NOT SETTLED", Some("12".to_owned())));
}

/// A form of the older dialect in any state.
fn any_form() -> impl Strategy<Value = ResolveForm> {
    let choice = prop::sample::select(&Choice::ALL[..]);
    let words = prop::option::of(prop::sample::select(OlderWord::KNOWN));
    let refunds = prop::option::of(prop::sample::select(OlderRefunded::KNOWN));
    let amounts = prop::sample::select(vec!["", "0", "10", "1480.00", "9999", "x"]);
    let texts = prop::sample::select(vec![String::new(), "x".repeat(250), "x".repeat(251)]);
    let warnings = prop::sample::select(vec![
        vec![],
        vec![refunded_double()],
        vec![double(DuplicateState::Waiting), FormWarning::Searching],
    ]);
    (choice, words, refunds, amounts, texts, warnings, any::<bool>(), any::<bool>()).prop_map(
        |(choice, word, refunded, amount, comments, warnings, rule, notice)| {
            let alert_type = if notice { AlertType::VerifiDisputeNotice } else { AlertType::VerifiDispute };
            let alert = Alert { rule_name: rule.then(|| "Above 10 AED".to_owned()), alert_type, ..travel_alert() };
            let draft = Draft {
                resolution: word.map(|word| word.to_string()),
                refunded: refunded.map(|refunded| refunded.to_string()),
                amount_stopped: Some(amount.to_owned()).filter(|amount| !amount.is_empty()),
                comments,
            };
            ResolveForm::new(&alert, choice, OLDER, Some(draft), warnings, noon())
        },
    )
}

fn any_key() -> impl Strategy<Value = Event> {
    let keys =
        [KeyCode::Enter, KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right];
    let letters = " rns12305.x".chars().map(KeyCode::Char);
    let keys: Vec<KeyCode> = keys.into_iter().chain(letters).collect();
    prop_oneof![8 => prop::sample::select(keys).prop_map(key), 1 => Just(ctrl('s'))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn enter_never_sends_from_any_focus_in_any_state(mut form in any_form(),
        events in prop::collection::vec(any_key(), 0..30)) {
        for event in &events {
            form.handle(event);
            let step = form.handle(&key(KeyCode::Enter));
            prop_assert!(!matches!(step, FormStep::Submit(_)), "{step:?}");
            form.handle(&key(KeyCode::BackTab));
        }
    }

    #[test]
    fn whatever_is_sent_keeps_the_rules(mut form in any_form(), events in prop::collection::vec(any_key(), 0..60)) {
        for event in &events {
            let Some(FormStep::Submit(submission)) = Some(form.handle(event)) else { continue };
            let Resolution::Older { word, amount_stopped, comments,
                .. } = &submission.resolution else { panic!("of the current dialect") };
            prop_assert_eq!(amount_stopped.is_some(), *word == OlderWord::PartiallyStopped);
            prop_assert!(amount_stopped.is_none_or(|amount| amount.decimal() > 0.into()
                && amount.decimal() <= 1480.into()));
            prop_assert!(comments.chars().count() <= 250);
            let screen = Screen::resolve(&form, 120, 60);
            let asked = screen.has("Send anyway") || screen.has("Send anyway");
            prop_assert!(screen.has("[x] ") || !asked, "a doubtful answer was sent without a confirmation");
            prop_assert!(screen.has(&format!("→ {}", decide(&submission.resolution).status)),
                "what was said would happen did not");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_form_can_be_drawn_at_any_size(mut form in any_form(), width in 1u16..130, height in 1u16..45,
        send in any::<bool>()) {
        if send {
            form.handle(&ctrl('s'));
        }
        Screen::resolve(&form, width, height);
    }

    #[test]
    fn from_80_by_22_on_buttons_and_errors_are_always_seen(mut form in any_form(), width in 80u16..130,
        height in 22u16..45) {
        let step = form.handle(&ctrl('s'));

        let screen = Screen::resolve(&form, width, height);

        prop_assert!(screen.has("Cancel") && screen.has("Send") && screen.has("/250"), "{}", screen.text());
        prop_assert!(screen.has("✗") || matches!(step, FormStep::Submit(_)) || screen.has("Checking duplicates"), "{}",
            screen.text());
    }
}

#[test]
fn while_a_resolution_is_chosen_each_stands_with_its_meaning_in_eighty_columns_too() {
    let mut form = ResolveForm::new(&travel_alert(), Choice::Invalid, OLDER, None, Vec::new(), noon());
    let choosing = Screen::resolve(&form, 80, 24);

    form.handle(&key(KeyCode::Tab));

    assert!(choosing.has("STOPPED               stopped before") && choosing.has("NOT_FOUND"), "{}", choosing.text());
    let after = Screen::resolve(&form, 80, 24);
    assert!(
        after.has("Seen") && after.has("Then"),
        "what speaks against it is seen before it is sent:\n{}",
        after.text()
    );
}
