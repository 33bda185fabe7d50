//! The fields of an answer in the words of the older dialect.

use avert::{
    console::dialogs::answer_form::{AnswerFields, Choice},
    desk::Draft,
    domain::{Alert, AlertType, Dialect, Resolution, resolution::OlderWord},
};
use crossterm::event::{Event, KeyCode};
use rstest::rstest;

use super::*;

fn older(choice: Choice) -> AnswerFields {
    with_draft(choice, Dialect::Older, &Draft::default())
}

fn sent(form: &mut AnswerFields) -> Option<Resolution> {
    sent_in(form, Dialect::Older)
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

    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), expected);
}

#[test]
fn confirmed_fraud_has_words_of_its_own() {
    let fraud = Alert { alert_type: AlertType::EthocaConfirmedFraud, ..travel_alert() };
    let send = |choice| {
        let mut form = AnswerFields::new(&fraud, choice, Dialect::Older, &Draft::default());
        sent(&mut form).unwrap()
    };

    let (refunded, not_refunded) = (send(Choice::Refunded), send(Choice::NotRefunded));

    assert_eq!(said(&refunded), ("STOPPED", "REFUNDED", None));
    assert_eq!(said(&not_refunded), ("MISSED", "NOT REFUNDED", None));
}

#[test]
fn what_is_typed_into_a_fresh_form_is_its_comment() {
    let mut form = older(Choice::NotRefunded);

    play(&mut form, typed("refused 4 times"));
    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), ("UNRESOLVED_DISPUTE", "NOT REFUNDED", None));
    assert_eq!(submission.comments(), "refused 4 times");
}

#[test]
fn an_invalid_alert_asks_for_the_resolution_and_the_refund_at_their_fields() {
    let mut form = older(Choice::Invalid);

    let step = sent(&mut form);

    let screen = Screen::answer(&form, 120, 40);
    assert_eq!(step, None);
    assert_eq!(screen.find("✗ choose one: 1 to 13").y, screen.find("13 ( ) NOT_FOUND").y + 1);
    assert_eq!(screen.find("✗ choose one: alt-r").y, screen.find("Refund  ").y + 1);
}

#[rstest]
#[case("5", "NOTFOUND", "NOT REFUNDED")]
#[case("4", "MISSED", "NOT REFUNDED")]
#[case("11", "PREVIOUSLY_REFUNDED", "REFUNDED")]
#[case("12", "UNRESOLVED_DISPUTE", "NOT REFUNDED")]
fn a_number_chooses_and_the_refund_follows_where_the_word_says_it(
    #[case] keys: &str,
    #[case] word: &str,
    #[case] refunded: &str,
) {
    let mut form = older(Choice::Invalid);

    play(&mut form, typed(keys).into_iter());
    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), (word, refunded, None));
}

#[rstest]
#[case(0)]
#[case(1)]
#[case(4)]
#[case(5)]
fn the_printed_letters_choose_the_refund_wherever_nothing_is_typed(#[case] tabs_before: usize) {
    for (letter, refunded) in [('r', "REFUNDED"), ('n', "NOT REFUNDED"), ('s', "NOT SETTLED")] {
        let mut form = older(Choice::Invalid);
        play(&mut form, typed("2").into_iter().chain([alt('r')]));
        play(&mut form, typed("9.50"));
        play(&mut form, vec![key(KeyCode::BackTab); 2]);

        play(&mut form, tabs(tabs_before).into_iter().chain([alt(letter)]));

        let submission = sent(&mut form).unwrap();
        assert_eq!(said(&submission), ("PARTIALLY_STOPPED", refunded, Some("9.50".to_owned())));
    }
}

#[test]
fn what_is_typed_on_the_resolution_is_no_decision_and_not_lost_without_a_word() {
    let mut form = older(Choice::Invalid);
    let before = form.answer();

    play(&mut form, typed("customer sues, no refund"));

    assert_eq!(form.answer(), before);
    assert!(Screen::answer(&form, 120, 40).has("Text goes into the comments"));
}

#[rstest]
#[case("4", "MISSED")]
#[case("11", "PREVIOUSLY_REFUNDED")]
fn after_its_number_the_resolution_stands_and_more_digits_are_text(#[case] number: &str, #[case] word: &str) {
    let mut form = older(Choice::Refunded);

    play(&mut form, [key(KeyCode::BackTab)]);
    play(&mut form, typed(number).into_iter().chain(typed("2 orders, r n s")));

    let submission = sent(&mut form).unwrap();
    assert_eq!(said(&submission).0, word);
    assert_eq!(submission.comments(), "2 orders, r n s");
}

#[test]
fn a_number_goes_on_to_what_it_still_asks_for() {
    let mut form = older(Choice::Invalid);

    play(&mut form, typed("5").into_iter().chain(typed("not in our books")));

    let submission = sent(&mut form).unwrap();
    assert_eq!(said(&submission), ("NOTFOUND", "NOT REFUNDED", None));
    assert_eq!(submission.comments(), "not in our books");
}

#[test]
fn in_the_comments_the_letters_are_text() {
    let mut form = older(Choice::Refunded);

    play(&mut form, typed("n1"));

    let submission = sent(&mut form).unwrap();
    assert_eq!(said(&submission), ("RESOLVED", "REFUNDED", None));
    assert_eq!(submission.comments(), "n1");
}

#[test]
fn a_digit_after_the_question_for_the_refund_leaves_the_resolution_alone() {
    let mut form = older(Choice::Invalid);
    play(&mut form, typed("9"));
    sent(&mut form);
    assert!(Screen::answer(&form, 120, 40).has("✗ choose one: alt-r"));

    play(&mut form, typed("2"));
    let screen = Screen::answer(&form, 120, 40);
    play(&mut form, [alt('n')]);
    let submission = sent(&mut form).unwrap();

    assert!(screen.has("Text goes into the comments"), "{}", screen.text());
    assert_eq!(said(&submission), ("OTHER", "NOT REFUNDED", None));
}

#[test]
fn arrows_go_through_the_resolutions_and_the_refunds() {
    let mut form = older(Choice::Invalid);

    play(
        &mut form,
        [KeyCode::Down, KeyCode::Down, KeyCode::Down, KeyCode::BackTab, KeyCode::Right, KeyCode::Right, KeyCode::Right]
            .map(key),
    );
    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), ("PREVIOUSLY_CANCELLED", "NOT SETTLED", None));
}

#[test]
fn the_stopped_amount_is_asked_for_only_with_a_partial_stop_and_sent_to_the_digit() {
    let mut form = older(Choice::Refunded);
    let before = Screen::answer(&form, 120, 40);

    play(&mut form, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);
    let after = Screen::answer(&form, 120, 40);
    play(&mut form, typed("500.10"));
    let submission = sent(&mut form).unwrap();

    assert_eq!((before.has("Stopped"), after.has("Stopped")), (false, true));
    assert_eq!(said(&submission), ("PARTIALLY_STOPPED", "REFUNDED", Some("500.10".to_owned())));
}

#[test]
fn an_amount_that_was_typed_is_not_sent_with_another_resolution() {
    let mut form = older(Choice::Refunded);
    play(&mut form, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);
    play(&mut form, typed("500"));

    play(&mut form, [key(KeyCode::BackTab)]);
    play(&mut form, typed("3"));
    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), ("PREVIOUSLY_CANCELLED", "REFUNDED", None));
}

#[rstest]
#[case("", "✗ is required when resolution is PARTIALLY_STOPPED")]
#[case("0", "✗ 0 is not allowed: more than 0 and at most the alert's amount")]
#[case("1480.01", "✗ 1480.01 is not allowed: more than 0 and at most the")]
#[case("-5", "✗ -5 is not allowed: more than 0")]
#[case("a lot", "✗ \"a lot\" is not a decimal amount such as 129.90")]
#[case("1,5", "✗ \"1,5\" is not a decimal amount such as 129.90")]
fn a_wrong_amount_is_told_at_its_field_and_nothing_is_sent(#[case] amount: &str, #[case] words: &str) {
    let mut form = older(Choice::Refunded);
    play(&mut form, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);
    play(&mut form, typed(amount));

    let step = sent(&mut form);

    let screen = Screen::answer(&form, 80, 24);
    assert_eq!(step, None);
    assert_eq!(screen.find(words).y, screen.find("Stopped").y + 1, "{}", screen.text());
}

#[test]
fn every_resolution_stands_there_with_its_meaning() {
    let screen = Screen::answer(&older(Choice::Invalid), 120, 40);

    for word in OlderWord::ALL {
        let row = screen.rows().into_iter().find(|row| row.contains(&format!(") {} ", word.as_str())));
        assert!(
            row.is_some_and(|row| row.trim_end_matches([' ', '│']).ends_with(&format!("  {}", word.words()))),
            "{}",
            screen.text()
        );
    }
}

#[test]
fn a_draft_brings_resolution_refund_amount_and_comments_back() {
    let mut first = older(Choice::Refunded);
    play(&mut first, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);
    play(&mut first, typed("7.50"));
    play(&mut first, tabs(1));
    play(&mut first, typed("two of three"));

    let mut again = with_draft(Choice::Refunded, Dialect::Older, &first.answer());

    let submission = sent(&mut again).unwrap();
    assert_eq!(said(&submission), ("PARTIALLY_STOPPED", "REFUNDED", Some("7.50".to_owned())));
    assert_eq!(submission.comments(), "two of three");
}

#[test]
fn everything_can_be_done_with_the_mouse() {
    let mut form = older(Choice::Refunded);
    let click = |form: &mut AnswerFields, text: &str| {
        let at = Screen::answer(form, 120, 40).find(text);
        play(form, [press_at(at), release_at(at)])
    };

    click(&mut form, "RESOLVED");
    click(&mut form, "PARTIALLY_STOPPED");
    click(&mut form, "( ) NOT SETTLED");
    let field = Screen::answer(&form, 120, 40).find("Stopped");
    play(&mut form, [press_at(Position { x: field.x + 13, y: field.y })]);
    play(&mut form, typed("12"));
    let submission = sent(&mut form).unwrap();

    assert_eq!(said(&submission), ("PARTIALLY_STOPPED", "NOT SETTLED", Some("12".to_owned())));
}
