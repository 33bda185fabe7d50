//! The fields of an answer: nothing leaves before every rule of the interface holds, and never by Enter.

use avert::{
    console::{
        dialogs::answer_form::{AnswerFields, Choice},
        theme::{Theme, ThemeName},
    },
    desk::Draft,
    domain::{
        Dialect, Resolution,
        resolution::{Decision, InvalidReason},
    },
    ui::form::Entered,
};
use crossterm::event::{Event, KeyCode};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::support::size::sized;

fn decision(resolution: Option<Resolution>) -> Option<Decision> {
    match resolution? {
        Resolution::Current { decision, .. } => Some(decision),
        other => panic!("not of the current dialect: {other:?}"),
    }
}

fn comments(form: &AnswerFields) -> String {
    form.answer().comments
}

fn reason(form: &AnswerFields) -> Option<InvalidReason> {
    form.answer().resolution.as_deref().and_then(InvalidReason::known)
}

#[rstest]
#[case(Choice::Refunded, Decision::Refunded)]
#[case(Choice::NotRefunded, Decision::NotRefunded)]
fn an_answer_of_one_key_is_complete(#[case] choice: Choice, #[case] made: Decision) {
    assert_eq!(decision(sent(&mut form(choice))), Some(made));
}

#[test]
fn invalid_requires_a_reason_and_says_so_at_the_reason() {
    let mut form = form(Choice::Invalid);

    let sent = sent(&mut form);

    let screen = Screen::answer(&form, 80, 24);
    let (error, last_reason) = (screen.find("✗ choose one: 1 to 4"), screen.find("transaction not found"));
    assert_eq!((sent, error.y), (None, last_reason.y + 1));
}

#[rstest]
#[case('1', InvalidReason::PreviouslyRefunded)]
#[case('2', InvalidReason::ChargebackReceived)]
#[case('3', InvalidReason::Duplicate)]
#[case('4', InvalidReason::NotFound)]
fn a_digit_gives_the_reason_of_an_invalid_alert(#[case] digit: char, #[case] reason: InvalidReason) {
    let mut form = form(Choice::Invalid);

    play(&mut form, [key(KeyCode::Char(digit))]);

    assert_eq!(decision(sent(&mut form)), Some(Decision::Invalid(reason)));
}

#[test]
fn a_reason_never_goes_with_another_answer() {
    let mut form = form(Choice::Invalid);

    play(&mut form, [key(KeyCode::Char('3')), alt('n')]);

    assert_eq!(decision(sent(&mut form)), Some(Decision::NotRefunded));
}

#[test]
fn a_digit_means_nothing_on_the_answer() {
    let mut form = form(Choice::Refunded);

    play(&mut form, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);

    assert!(Screen::answer(&form, 80, 24).has("Text goes into the comments"));
    assert_eq!(reason(&form), None);
}

#[test]
fn no_reason_is_chosen_beforehand() {
    assert_eq!(reason(&form(Choice::Invalid)), None);
}

#[rstest]
#[case(&"x".repeat(250), true)]
#[case(&"x".repeat(251), false)]
#[case(&"🦀".repeat(250), true)]
#[case(&"🦀".repeat(251), false)]
#[case(&"e\u{301}".repeat(125), true)]
#[case(&"e\u{301}".repeat(126), false)]
#[case(&format!("{}\n", "x".repeat(249)), true)]
#[case(&format!("{}\n", "x".repeat(250)), false)]
fn comments_may_have_250_unicode_scalar_values(#[case] text: &str, #[case] fits: bool) {
    let mut form = form(Choice::Refunded);

    form.handle(&Event::Paste(text.to_owned()));

    assert_eq!(comments(&form), text, "a paste is never cut");
    assert_eq!(sent(&mut form).is_some(), fits);
    let count = format!("{}/250", text.chars().count());
    assert!(Screen::answer(&form, 80, 24).has(&count));
}

#[test]
fn over_the_limit_the_count_turns_to_the_error_style_before_anything_is_sent() {
    let style_of_the_count = |text: &str| {
        let said = Draft { comments: text.to_owned(), ..Draft::default() };
        let screen = Screen::answer(&with_draft(Choice::Refunded, Dialect::Current, &said), 80, 24);
        let at = screen.find("/250");
        screen.buffer[(at.x - 1, at.y)].fg
    };
    let theme = Theme::named(ThemeName::Dark);

    assert_eq!(Some(style_of_the_count(&"x".repeat(250))), theme.quiet.fg);
    assert_eq!(Some(style_of_the_count(&"x".repeat(251))), theme.danger.fg);
}

#[test]
fn an_overlong_paste_can_be_shortened_and_sent() {
    let mut form = form(Choice::Refunded);
    form.handle(&Event::Paste("x".repeat(251)));
    assert!(Screen::answer(&form, 80, 24).has("✗ 1 too many (at most 250"));

    form.handle(&key(KeyCode::Backspace));

    assert_eq!(sent(&mut form).unwrap().comments(), "x".repeat(250));
}

#[rstest]
#[case("\u{7}red", "red", "Pasted without 1 control character.")]
#[case("a\tb\u{7}\u{7}", "a b", "Pasted without 2 control characters.")]
fn a_paste_comes_in_without_its_control_characters_and_says_so(
    #[case] pasted: &str,
    #[case] text: &str,
    #[case] word: &str,
) {
    let mut form = form(Choice::Refunded);

    form.handle(&Event::Paste(pasted.to_owned()));

    assert_eq!(comments(&form), text);
    assert!(Screen::answer(&form, 80, 24).has(word));
}

#[test]
fn a_draft_that_holds_a_control_character_is_not_sent() {
    let said = Draft { comments: "bell\u{7}".to_owned(), ..Draft::default() };
    let mut form = with_draft(Choice::Refunded, Dialect::Current, &said);

    assert_eq!(sent(&mut form), None);
    assert!(Screen::answer(&form, 120, 40).has("control character U+0007"));
}

#[test]
fn a_paste_outside_the_comments_is_refused_with_a_word() {
    let mut form = form(Choice::Refunded);
    form.handle(&key(KeyCode::BackTab));

    form.handle(&Event::Paste("i1\u{13}".to_owned()));

    let answer = form.answer();
    assert_eq!((answer.comments.as_str(), answer.refunded.as_deref()), ("", Some("REFUNDED")));
    assert!(Screen::answer(&form, 80, 24).has("Nothing was pasted"));
}

#[test]
fn a_card_number_is_announced_as_it_is_typed_and_sent_masked() {
    let mut form = form(Choice::Refunded);

    play(&mut form, typed("card 4111 1111 1111 111"));
    let before = Screen::answer(&form, 80, 24);
    play(&mut form, typed("1"));
    let after = Screen::answer(&form, 80, 24);

    let note = "only BIN and last four are sent";
    assert_eq!((before.has(note), after.has(note)), (false, true));
    assert_eq!(sent(&mut form).unwrap().comments(), "card 4111 11** **** 1111");
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_nothing_is_sent() {
    let said = Draft { comments: "x".repeat(300), ..Draft::default() };
    let mut form = with_draft(Choice::Invalid, Dialect::Current, &said);

    let sent = sent(&mut form);

    let screen = Screen::answer(&form, 80, 24);
    assert_eq!(sent, None);
    assert!(screen.has("choose one: 1 to 4") && screen.has("has 300 characters: at most 250"), "{}", screen.text());
}

#[test]
fn an_error_goes_away_when_it_is_mended() {
    let mut form = form(Choice::Invalid);
    sent(&mut form);

    form.handle(&key(KeyCode::Char('1')));

    assert!(!Screen::answer(&form, 80, 24).has("✗"));
}

#[test]
fn enter_moves_on_from_field_to_field_and_says_at_the_end_what_sends() {
    let mut form = form(Choice::Invalid);

    let steps = [KeyCode::Enter; 2].map(|code| form.handle(&key(code)));

    assert_eq!(steps, [Entered::Nothing; 2]);
    assert!(Screen::answer(&form, 80, 24).has("ctrl-s sends, enter does not."));
}

#[rstest]
#[case(Choice::Refunded, "REFUNDED")]
#[case(Choice::NotRefunded, "NOT REFUNDED")]
fn what_is_typed_into_a_fresh_form_is_its_comment_and_never_an_answer(#[case] choice: Choice, #[case] made: &str) {
    let mut form = form(choice);

    play(&mut form, typed("nir 3 r? in 2 ways"));

    let answer = form.answer();
    assert_eq!((answer.refunded.as_deref(), answer.comments.as_str()), (Some(made), "nir 3 r? in 2 ways"));
}

#[test]
fn with_alt_the_letters_answer_from_the_comments_and_the_text_stays() {
    let mut form = form(Choice::Refunded);

    play(&mut form, typed("goods").into_iter().chain([alt('n')]).chain(typed(" were")));
    let not_refunded = form.answer().refunded;
    play(&mut form, [alt('i'), key(KeyCode::Char('3'))].into_iter().chain(typed(" sent 3 times")));

    assert_eq!(not_refunded.as_deref(), Some("NOT REFUNDED"));
    assert_eq!(decision(sent(&mut form)), Some(Decision::Invalid(InvalidReason::Duplicate)));
    assert_eq!(comments(&form), "goods were sent 3 times");
}

#[test]
fn a_character_made_with_altgr_is_text() {
    let mut form = form(Choice::Refunded);

    form.handle(&Event::Key(KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL | KeyModifiers::ALT)));

    let answer = form.answer();
    assert_eq!((answer.refunded.as_deref(), answer.comments.as_str()), (Some("REFUNDED"), "n"));
}

#[test]
fn after_its_digit_the_reason_stands_and_more_digits_are_text() {
    let mut form = form(Choice::Invalid);

    play(&mut form, typed("34 items, 1 order"));

    assert_eq!((reason(&form), comments(&form).as_str()), (Some(InvalidReason::Duplicate), "4 items, 1 order"));
}

#[test]
fn what_is_typed_where_a_reason_is_asked_for_is_not_lost_without_a_word() {
    let mut form = form(Choice::Invalid);

    play(&mut form, typed("r"));

    assert_eq!(form.choice(), Choice::Invalid);
    assert!(Screen::answer(&form, 80, 24).has("Text goes into the comments"));
}

#[test]
fn arrows_go_through_answers_and_reasons() {
    let mut form = form(Choice::Refunded);

    form.handle(&key(KeyCode::BackTab));
    play(&mut form, [KeyCode::Right, KeyCode::Right, KeyCode::Down, KeyCode::Down, KeyCode::Down].map(key));

    assert_eq!((form.choice(), reason(&form)), (Choice::Invalid, Some(InvalidReason::ChargebackReceived)));
}

#[test]
fn a_line_is_begun_with_alt_enter() {
    let mut form = form(Choice::Refunded);

    play(&mut form, typed("one"));
    form.handle(&Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT)));
    play(&mut form, typed("two"));

    assert_eq!(comments(&form), "one\ntwo");
}

#[test]
fn everything_can_be_chosen_with_the_mouse() {
    let mut form = form(Choice::Refunded);

    for text in ["( ) Invalid", "( ) duplicate alert"] {
        let at = Screen::answer(&form, 120, 40).find(text);
        play(&mut form, [press_at(at)]);
    }
    play(&mut form, typed("twice"));

    assert_eq!((reason(&form), comments(&form).as_str()), (Some(InvalidReason::Duplicate), "twice"));
}

#[test]
fn a_click_into_the_comments_puts_the_cursor_there() {
    let said = Draft { comments: "one three".to_owned(), ..Draft::default() };
    let mut form = with_draft(Choice::Refunded, Dialect::Current, &said);

    let at = Screen::answer(&form, 120, 40).find("three");
    play(&mut form, [press_at(at)]);
    play(&mut form, typed("two "));

    assert_eq!(comments(&form), "one two three");
}

fn any_key() -> impl Strategy<Value = Event> {
    let keys = [KeyCode::Tab, KeyCode::BackTab, KeyCode::Up, KeyCode::Down, KeyCode::Left, KeyCode::Right];
    let letters = " rnis1234x".chars().map(KeyCode::Char);
    let keys: Vec<KeyCode> = keys.into_iter().chain([KeyCode::Backspace]).chain(letters).collect();
    prop_oneof![8 => prop::sample::select(keys).prop_map(key), 1 => Just(Event::Paste("text\n".to_owned()))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(60, 120_000)))]

    #[test]
    fn enter_never_sends_from_any_focus_in_any_state(
        choice in prop::sample::select(&Choice::ALL[..]),
        older in any::<bool>(),
        events in prop::collection::vec(any_key(), 0..30),
        (width, height) in (30u16..130, 2u16..45),
    ) {
        let dialect = if older { Dialect::Older } else { Dialect::Current };
        let mut form = with_draft(choice, dialect, &Draft::default());
        for event in &events {
            form.handle(event);

            let entered = form.handle(&key(KeyCode::Enter));

            prop_assert_eq!(entered, Entered::Nothing);
            Screen::answer(&form, width, height);
        }
    }
}
