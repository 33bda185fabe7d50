//! The resolve form's rules: nothing leaves before every rule of the interface holds, and never by Enter.

use avert::console::dialogs::resolve_form::{Choice, FormContext, FormStep, FormSubmission, FormWarning, ResolveForm};
use avert::console::theme::{Theme, ThemeName};
use avert::domain::outcome::Outcome;
use avert::domain::resolution::{Decision, InvalidReason};
use avert::domain::{Alert, AlertStatus, AlertType, Deadline, OutcomeId, Resolution};
use chrono::Duration;
use crossterm::event::{Event, KeyCode};
use proptest::prelude::*;
use ratatui::layout::Position;
use rstest::rstest;

use super::*;

fn sent(step: FormStep) -> FormSubmission {
    match step {
        FormStep::Submit(submission) => *submission,
        step => panic!("nothing was sent: {step:?}"),
    }
}

fn decision(resolution: &Resolution) -> Decision {
    match resolution {
        Resolution::Current { decision, .. } => *decision,
        other => panic!("not of the current dialect: {other:?}"),
    }
}

pub(super) fn answered(alert: &Alert) -> Alert {
    let outcome = Outcome {
        id: OutcomeId::generate(),
        alert_id: alert.id,
        provider_alert_id: alert.provider_id.clone(),
        status: "success".to_owned(),
        outcome: "resolved".to_owned(),
        refunded: "refunded".to_owned(),
        comments: String::new(),
        dispute_reason_code: None,
        action_time: None,
        amount_stopped: None,
    };
    Alert { outcome: Some(outcome), ..alert.clone() }
}

#[rstest]
#[case(Choice::Refunded, Decision::Refunded)]
#[case(Choice::NotRefunded, Decision::NotRefunded)]
fn a_decision_is_sent_with_one_key(#[case] choice: Choice, #[case] made: Decision) {
    let mut form = form(choice);

    let submission = sent(form.handle(&ctrl('s')));

    assert_eq!(submission.resolution, Resolution::Current { decision: made, comments: String::new() });
    assert_eq!(submission.alert_id, form.alert_id());
}

#[test]
fn invalid_requires_a_reason_and_says_so_at_the_reason() {
    let mut form = form(Choice::Invalid);

    let step = form.handle(&ctrl('s'));

    assert_eq!(step, FormStep::Stay);
    let screen = Screen::resolve(&form, 80, 24);
    let (error, last_reason) = (screen.find("✗ choose a reason"), screen.find("transaction not found"));
    assert_eq!(error.y, last_reason.y + 1);
    assert!(screen.has("Not sent"));
}

#[rstest]
#[case('1', InvalidReason::PreviouslyRefunded)]
#[case('2', InvalidReason::ChargebackReceived)]
#[case('3', InvalidReason::Duplicate)]
#[case('4', InvalidReason::NotFound)]
fn a_digit_gives_the_reason_of_an_invalid_alert(#[case] digit: char, #[case] reason: InvalidReason) {
    let mut form = form(Choice::Invalid);

    let submission = sent(play(&mut form, [key(KeyCode::Char(digit)), ctrl('s')]));

    assert_eq!(decision(&submission.resolution), Decision::Invalid(reason));
}

#[test]
fn a_reason_never_goes_with_another_decision() {
    let mut form = form(Choice::Invalid);

    let submission = sent(play(&mut form, [key(KeyCode::Char('3')), alt('n'), ctrl('s')]));

    assert_eq!(decision(&submission.resolution), Decision::NotRefunded);
}

#[test]
fn a_digit_means_nothing_where_no_reason_is_asked_for() {
    let mut form = form(Choice::Refunded);

    play(&mut form, [key(KeyCode::BackTab), key(KeyCode::Char('2'))]);

    assert!(Screen::resolve(&form, 80, 24).has("A reason goes only with Invalid."));
    assert_eq!(reason(&form), None);
}

#[test]
fn no_reason_is_chosen_beforehand() {
    assert_eq!(reason(&form(Choice::Invalid)), None);
}

#[test]
fn a_double_that_was_refunded_offers_the_reason_that_says_so() {
    let form = ResolveForm::new(
        &travel_alert(),
        Choice::Invalid,
        PRODUCTION,
        None,
        vec![double(DuplicateState::Waiting), refunded_double()],
        noon(),
    );

    assert_eq!(reason(&form), Some(InvalidReason::PreviouslyRefunded));
    assert!(Screen::resolve(&form, 120, 40).has("✓ ETHOCA 5F2RE396 was refunded 3h ago: this reason fits"));
}

#[test]
fn a_reason_once_chosen_is_not_changed_by_news() {
    let mut form = form(Choice::Invalid);
    form.handle(&key(KeyCode::Char('4')));

    form.set_warnings(vec![refunded_double()]);

    assert_eq!(reason(&form), Some(InvalidReason::NotFound));
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
fn comments_may_have_250_unicode_scalar_values(#[case] comments: &str, #[case] fits: bool) {
    let mut form = form(Choice::Refunded);
    into_comments(&mut form);

    form.handle(&Event::Paste(comments.to_owned()));
    let step = form.handle(&ctrl('s'));

    assert_eq!(matches!(step, FormStep::Submit(_)), fits);
    assert_eq!(form.draft().comments, comments, "a paste is never cut");
    let count = format!("{}/250", comments.chars().count());
    assert!(Screen::resolve(&form, 80, 24).has(&count));
}

#[test]
fn over_the_limit_the_count_turns_to_the_error_style_before_anything_is_sent() {
    let style_of_the_count = |comments: &str| {
        let form =
            ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, draft(None, comments), Vec::new(), noon());
        let screen = Screen::resolve(&form, 80, 24);
        let at = screen.find("/250");
        screen.buffer[(at.x - 1, at.y)].fg
    };
    let theme = Theme::named(ThemeName::Dark);

    assert_eq!(Some(style_of_the_count(&"x".repeat(250))), theme.strong.fg);
    assert_eq!(Some(style_of_the_count(&"x".repeat(251))), theme.danger.fg);
}

#[test]
fn an_overlong_paste_can_be_shortened_and_sent() {
    let mut form = form(Choice::Refunded);
    into_comments(&mut form);
    form.handle(&Event::Paste("x".repeat(251)));
    assert!(Screen::resolve(&form, 80, 24).has("✗ 1 too many (at most 250"));

    let submission = sent(play(&mut form, [key(KeyCode::Backspace), ctrl('s')]));

    assert_eq!(submission.resolution.comments(), "x".repeat(250));
}

#[rstest]
#[case("a\tb", "a b", "Pasted: 1 tab became a blank.")]
#[case("\u{1b}[31mred", "red", "Pasted: 1 control character was left out.")]
fn a_paste_comes_in_without_its_control_characters_and_says_so(
    #[case] pasted: &str,
    #[case] text: &str,
    #[case] word: &str,
) {
    let mut form = form(Choice::Refunded);
    into_comments(&mut form);

    form.handle(&Event::Paste(pasted.to_owned()));

    assert_eq!(form.draft().comments, text);
    assert!(Screen::resolve(&form, 80, 24).has(word));
}

#[test]
fn a_draft_that_holds_a_control_character_is_not_sent() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, draft(None, "bell\u{7}"), Vec::new(), noon());

    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
    assert!(Screen::resolve(&form, 120, 40).has("control character U+0007"));
}

#[test]
fn a_paste_outside_the_comments_is_refused_with_a_word() {
    let mut form = form(Choice::Refunded);
    form.handle(&key(KeyCode::BackTab));

    let step = form.handle(&Event::Paste("i1\u{13}".to_owned()));

    assert_eq!(step, FormStep::Stay);
    assert_eq!((form.draft().comments.as_str(), form.draft().refunded.as_deref()), ("", Some("REFUNDED")));
    assert!(Screen::resolve(&form, 80, 24).has("text goes into the comments only"));
}

#[test]
fn a_card_number_is_announced_as_it_is_typed_and_sent_masked() {
    let mut form = form(Choice::Refunded);
    into_comments(&mut form);

    play(&mut form, typed("card 4111 1111 1111 111"));
    let before = Screen::resolve(&form, 80, 24);
    play(&mut form, typed("1"));
    let after = Screen::resolve(&form, 80, 24);
    let submission = sent(form.handle(&ctrl('s')));

    let note = "only BIN and last four are sent";
    assert_eq!((before.has(note), after.has(note)), (false, true));
    assert_eq!(submission.resolution.comments(), "card 4111 11** **** 1111");
}

#[test]
fn everything_that_is_wrong_is_said_at_once_and_nothing_is_sent() {
    let mut form = ResolveForm::new(
        &travel_alert(),
        Choice::Invalid,
        PRODUCTION,
        draft(None, &"x".repeat(300)),
        Vec::new(),
        noon(),
    );

    let step = form.handle(&ctrl('s'));

    let screen = Screen::resolve(&form, 80, 24);
    assert_eq!(step, FormStep::Stay);
    assert!(screen.has("choose a reason") && screen.has("50 too many"), "{}", screen.text());
}

#[test]
fn an_error_goes_away_when_it_is_mended() {
    let mut form = form(Choice::Invalid);
    form.handle(&ctrl('s'));

    form.handle(&key(KeyCode::Char('1')));

    assert!(!Screen::resolve(&form, 80, 24).has("✗"));
}

#[rstest]
#[case::of_a_refunded_double(travel_alert(), vec![refunded_double()])]
#[case::where_the_network_has_a_rule(Alert { rule_name: Some("Above 10 AED".to_owned()), ..travel_alert() },
    Vec::new())]
fn a_second_refund_needs_an_explicit_confirmation(#[case] alert: Alert, #[case] warnings: Vec<FormWarning>) {
    let mut form = ResolveForm::new(&alert, Choice::Refunded, PRODUCTION, None, warnings, noon());

    let refused = form.handle(&ctrl('s'));
    let screen = Screen::resolve(&form, 80, 24);
    // The refusal has put the focus on what is missing.
    let submission = sent(play(&mut form, [key(KeyCode::Char(' ')), ctrl('s')]));

    assert_eq!(refused, FormStep::Stay);
    assert!(screen.has("[ ] Send anyway") && screen.has("✗ possible double refund"), "{}", screen.text());
    assert_eq!(decision(&submission.resolution), Decision::Refunded);
}

fn notice() -> Alert {
    Alert { alert_type: AlertType::VerifiFraudNotice, ..travel_alert() }
}

fn lapsed() -> Alert {
    Alert { deadline: Deadline::At(noon() - Duration::minutes(1)), ..travel_alert() }
}

fn expired() -> Alert {
    Alert { status: AlertStatus::Expired, deadline: Deadline::Unknown, ..travel_alert() }
}

fn ruled() -> Alert {
    Alert { rule_type: Some("RDR".to_owned()), ..travel_alert() }
}

#[rstest]
fn a_notice_a_closed_window_and_the_networks_own_rule_need_a_second_word(
    #[values(
        (notice(), "no answer expected"),
        (lapsed(), "expired"),
        (expired(), "expired"),
        (ruled(), "probably refunded by the network's rule")
    )]
    doubtful: (Alert, &str),
    #[values(Choice::NotRefunded, Choice::Invalid)] choice: Choice,
) {
    let mut form = ResolveForm::new(&doubtful.0, choice, PRODUCTION, None, Vec::new(), noon());

    let refused = play(&mut form, [key(KeyCode::Char('3')), ctrl('s')]);
    let screen = Screen::resolve(&form, 80, 24);
    let submitted = play(&mut form, [key(KeyCode::Char(' ')), ctrl('s')]);

    assert_eq!(refused, FormStep::Stay);
    assert!(screen.has("[ ] Send anyway") && screen.has(doubtful.1), "{}", screen.text());
    assert!(matches!(submitted, FormStep::Submit(_)), "{submitted:?}");
}

#[test]
fn an_answer_that_says_refunded_before_needs_no_second_word_where_the_network_refunded() {
    let mut form = ResolveForm::new(&ruled(), Choice::Invalid, PRODUCTION, None, Vec::new(), noon());

    assert!(matches!(play(&mut form, [key(KeyCode::Char('1')), ctrl('s')]), FormStep::Submit(_)));
}

#[test]
fn a_window_that_closes_while_the_form_is_open_has_to_be_confirmed_though_another_doubt_was() {
    let mut form = ResolveForm::new(&notice(), Choice::NotRefunded, PRODUCTION, None, Vec::new(), noon());
    play(&mut form, [ctrl('s'), key(KeyCode::Char(' '))]);

    form.set_now(noon() + Duration::minutes(71));

    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
    assert!(Screen::resolve(&form, 120, 40).has("[ ] Send anyway"));
}

#[test]
fn enter_does_not_confirm_a_second_refund() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());
    form.handle(&ctrl('s'));

    play(&mut form, [key(KeyCode::Enter), key(KeyCode::BackTab)]);

    assert!(Screen::resolve(&form, 80, 24).has("[ ] Send anyway"));
    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
}

#[test]
fn a_confirmation_is_for_one_refund_and_asked_for_again_after_another_decision() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());
    play(&mut form, [ctrl('s'), key(KeyCode::Char(' '))]);
    assert!(Screen::resolve(&form, 80, 24).has("[x] Send anyway"));

    let at = Screen::resolve(&form, 80, 24).find("Not refunded");
    play(&mut form, [press_at(at), release_at(at), alt('r')]);

    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
}

#[test]
fn a_double_found_while_the_form_is_open_has_to_be_confirmed() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());
    assert!(Screen::resolve(&form, 80, 24).has("checking duplicates"));

    form.set_warnings(vec![refunded_double()]);

    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
}

#[rstest]
#[case::while_it_is_looked_for_again(vec![FormWarning::Searching])]
#[case::though_the_next_search_failed(vec![FormWarning::NotCompared("duplicates not checked".to_owned())])]
fn a_refund_once_seen_is_not_forgotten(#[case] news: Vec<FormWarning>) {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());

    form.set_warnings(news);

    assert!(Screen::resolve(&form, 80, 24).has("refunded 3h ago: ETHOCA 5F2RE396"));
    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
}

#[test]
fn a_confirmation_stands_while_nothing_new_is_found() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());
    play(&mut form, [ctrl('s'), key(KeyCode::Char(' '))]);

    form.set_warnings(vec![FormWarning::Searching]);
    form.set_warnings(vec![refunded_double()]);

    assert!(matches!(form.handle(&ctrl('s')), FormStep::Submit(_)));
}

#[test]
fn a_double_that_turns_out_to_be_gone_is_gone() {
    let mut form = ResolveForm::new(
        &travel_alert(),
        Choice::Refunded,
        PRODUCTION,
        None,
        vec![double(DuplicateState::Waiting)],
        noon(),
    );

    form.set_warnings(vec![FormWarning::Searching]);
    let meanwhile = Screen::resolve(&form, 80, 24).has("open");
    form.set_warnings(Vec::new());

    assert!(meanwhile);
    assert!(!Screen::resolve(&form, 80, 24).has("open"));
}

#[test]
fn a_refund_waits_for_the_search_for_doubles_unless_it_is_sent_twice() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());

    let first = form.handle(&ctrl('s'));
    let word = Screen::resolve(&form, 80, 24).has("Checking duplicates first. ctrl-s again sends now.");
    let second = form.handle(&ctrl('s'));

    assert_eq!((first, word), (FormStep::Stay, true));
    assert!(matches!(second, FormStep::Submit(_)));
}

#[test]
fn a_refund_is_sent_at_once_when_the_search_has_come_back() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());

    form.set_warnings(Vec::new());

    assert!(matches!(form.handle(&ctrl('s')), FormStep::Submit(_)));
}

#[rstest]
#[case(Choice::Refunded, true)]
#[case(Choice::NotRefunded, true)]
#[case(Choice::Invalid, false)]
fn of_a_refunded_double_what_passes_over_the_refund_has_to_be_confirmed(
    #[case] choice: Choice,
    #[case] is_asked: bool,
) {
    let mut form = ResolveForm::new(&travel_alert(), choice, PRODUCTION, None, vec![refunded_double()], noon());

    let at_once = form.handle(&ctrl('s'));

    assert_eq!(matches!(at_once, FormStep::Stay), is_asked);
    assert_eq!(matches!(at_once, FormStep::Submit(_)), !is_asked);
}

#[test]
fn where_a_double_was_refunded_not_refunded_is_offered_the_reason_that_fits() {
    let form = |warnings| ResolveForm::new(&travel_alert(), Choice::NotRefunded, PRODUCTION, None, warnings, noon());

    let (doubled, single) = (form(vec![refunded_double()]), form(Vec::new()));

    for (width, height) in [(80, 24), (120, 40)] {
        assert!(
            Screen::resolve(&doubled, width, height).has("alt-i  Invalid ("),
            "{}",
            Screen::resolve(&doubled, width, height).text()
        );
        assert!(!Screen::resolve(&single, width, height).has("Instead"));
    }
}

#[test]
fn enter_moves_on_from_field_to_field_and_ends_on_the_safe_button() {
    let mut form = form(Choice::Invalid);

    let steps: Vec<FormStep> =
        [key(KeyCode::Enter), key(KeyCode::Enter)].iter().map(|event| form.handle(event)).collect();

    assert_eq!(steps, [FormStep::Stay, FormStep::Stay]);
    assert!(Screen::resolve(&form, 80, 24).has("[ Cancel ]"));
    assert!(matches!(form.handle(&key(KeyCode::Enter)), FormStep::Cancel(_)));
}

#[test]
fn enter_on_send_sends_nothing_and_says_what_does() {
    let mut form = form(Choice::Refunded);
    play(&mut form, [KeyCode::BackTab, KeyCode::BackTab].map(key));
    assert!(Screen::resolve(&form, 80, 24).has("[ Send ]"));

    let step = form.handle(&key(KeyCode::Enter));

    assert_eq!(step, FormStep::Stay);
    assert!(Screen::resolve(&form, 80, 24).has("ctrl-s sends, enter does not."));
    assert!(matches!(form.handle(&key(KeyCode::Char(' '))), FormStep::Submit(_)));
}

#[test]
fn where_a_double_was_refunded_the_reason_that_fits_is_offered_with_its_key() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());
    let offered = Screen::resolve(&form, 80, 24);

    form.handle(&alt('i'));

    assert!(offered.has("Instead") && offered.has("alt-i  Invalid (refunded before the alert)"), "{}", offered.text());
    assert!(!Screen::resolve(&form, 80, 24).has("Instead"));
    assert_eq!(reason(&form), Some(InvalidReason::PreviouslyRefunded));
    assert!(matches!(form.handle(&ctrl('s')), FormStep::Submit(_)));
}

#[test]
fn what_is_wrong_is_named_by_the_label_of_its_field() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());
    play(&mut form, typed(&"x".repeat(251)));

    form.handle(&ctrl('s'));

    let screen = Screen::resolve(&form, 80, 24);
    assert!(screen.has("Not sent: see Comments and Confirm."), "{}", screen.text());
}

#[rstest]
#[case(80, 24)]
#[case(120, 40)]
fn how_long_the_window_is_open_stands_in_the_forms_head_at_every_size(#[case] width: u16, #[case] height: u16) {
    let alert = Alert { deadline: Deadline::At(noon() + Duration::seconds(13)), ..travel_alert() };
    let form =
        ResolveForm::new(&alert, Choice::Refunded, PRODUCTION, None, vec![double(DuplicateState::Waiting)], noon());

    let screen = Screen::resolve(&form, width, height);

    assert!(screen.has("due in 13s"), "{}", screen.text());
}

#[test]
fn while_the_service_does_not_answer_the_form_says_that_what_is_sent_waits() {
    let form = form(Choice::NotRefunded);
    let moment = FormMoment { now: noon(), held_back_by: Some("the service does not answer") };

    let screen = Screen::of(80, 24, |frame| form.draw(frame, frame.area(), &Theme::named(ThemeName::Dark), moment));

    assert!(screen.has("the service does not answer: it stays queued, avert asks"), "{}", screen.text());
    assert!(screen.has("ctrl-s  stays queued") && !screen.has("sends after"), "{}", screen.text());
}

#[rstest]
#[case::and_found_a_refund(vec![refunded_double()], "Not sent: see Confirm.")]
#[case::and_failed(
    vec![FormWarning::NotSearched("duplicates not checked: no connection".to_owned())],
    "Not sent: duplicates not checked."
)]
fn a_search_that_is_over_is_not_said_to_go_on(#[case] found: Vec<FormWarning>, #[case] says: &str) {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());
    form.handle(&ctrl('s'));
    assert!(Screen::resolve(&form, 120, 40).has("Checking duplicates first."));

    form.set_warnings(found);
    let step = form.send_kept();

    let screen = Screen::resolve(&form, 120, 40);
    assert_eq!(step, FormStep::Stay);
    assert!(!screen.has("Still looking") && screen.has(says), "{}", screen.text());
}

#[test]
fn a_refund_sent_during_the_search_for_doubles_leaves_when_it_ends_with_nothing_to_confirm() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());
    play(&mut form, typed("sent back").into_iter().chain([ctrl('s')]));
    let meanwhile = form.send_kept();

    form.set_warnings(vec![double(DuplicateState::Waiting)]);
    let submission = sent(form.send_kept());

    assert_eq!(meanwhile, FormStep::Stay);
    assert_eq!((decision(&submission.resolution), submission.resolution.comments()), (Decision::Refunded, "sent back"));
}

#[rstest]
#[case::a_letter(key(KeyCode::Char('x')))]
#[case::another_decision(alt('n'))]
#[case::a_paste(Event::Paste("more".to_owned()))]
fn another_key_calls_a_kept_sending_off(#[case] event: Event) {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());

    play(&mut form, [ctrl('s'), event]);
    form.set_warnings(Vec::new());

    assert_eq!(form.send_kept(), FormStep::Stay);
}

#[test]
fn a_kept_sending_ends_where_somebody_else_has_answered_meanwhile() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![FormWarning::Searching], noon());
    form.handle(&ctrl('s'));

    form.update_alert(&Alert { id: form.alert_id(), ..answered(&travel_alert()) });
    let step = form.send_kept();

    assert_eq!(step, FormStep::Stay);
    assert!(Screen::resolve(&form, 120, 40).has("Already answered: OPEN, Refunded."));
}

#[rstest]
#[case(Choice::Refunded, "REFUNDED")]
#[case(Choice::NotRefunded, "NOT REFUNDED")]
fn what_is_typed_into_a_fresh_form_is_its_comment_and_never_a_decision(#[case] choice: Choice, #[case] made: &str) {
    let mut form = form(choice);

    play(&mut form, typed("nir 3 r? in 2 ways"));

    assert_eq!((form.draft().refunded.as_deref(), form.draft().comments.as_str()), (Some(made), "nir 3 r? in 2 ways"));
    assert_eq!(reason(&form), None);
}

#[test]
fn with_alt_the_letters_decide_from_the_comments_and_the_text_stays() {
    let mut form = form(Choice::Refunded);

    play(&mut form, typed("goods").into_iter().chain([alt('n')]).chain(typed(" were")));
    let not_refunded = form.draft().refunded;
    play(&mut form, [alt('i'), key(KeyCode::Char('3'))].into_iter().chain(typed(" sent 3 times")));

    assert_eq!(not_refunded.as_deref(), Some("NOT REFUNDED"));
    let submission = sent(form.handle(&ctrl('s')));
    assert_eq!(decision(&submission.resolution), Decision::Invalid(InvalidReason::Duplicate));
    assert_eq!(submission.resolution.comments(), "goods were sent 3 times");
}

#[test]
fn a_character_made_with_altgr_is_text() {
    let mut form = form(Choice::Refunded);

    form.handle(&Event::Key(KeyEvent::new(KeyCode::Char('n'), KeyModifiers::CONTROL | KeyModifiers::ALT)));

    assert_eq!((form.draft().refunded.as_deref(), form.draft().comments.as_str()), (Some("REFUNDED"), "n"));
}

#[test]
fn after_its_digit_the_reason_stands_and_more_digits_are_text() {
    let mut form = form(Choice::Invalid);

    play(&mut form, typed("34 items, 1 order"));

    assert_eq!((reason(&form), form.draft().comments.as_str()), (Some(InvalidReason::Duplicate), "4 items, 1 order"));
}

#[test]
fn what_is_typed_where_a_reason_is_asked_for_is_not_lost_without_a_word() {
    let mut form = form(Choice::Invalid);

    play(&mut form, typed("r"));

    assert_eq!(form.draft().refunded.as_deref(), Some("INVALID"));
    assert!(Screen::resolve(&form, 80, 24).has("A digit chooses. Tab goes to the comments."));
}

#[test]
fn a_form_that_was_overtaken_promises_nothing_more() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());

    form.update_alert(&Alert { id: form.alert_id(), status: AlertStatus::Chargeback, ..answered(&travel_alert()) });

    for (width, height) in [(80, 24), (120, 40)] {
        let screen = Screen::resolve(&form, width, height);
        assert!(screen.has("nothing is sent"), "{}", screen.text());
        for promise in ["→", "webhook", "final", "sends", "anyway", "ctrl-s"] {
            assert!(!screen.has(promise), "{promise}: {}", screen.text());
        }
    }
    assert!(Screen::resolve(&form, 120, 40).has("already answered: CHARGEBACK, Refunded"));
}

#[rstest]
#[case(14, true)]
#[case(15, false)]
fn the_form_says_beforehand_where_there_is_no_time_for_a_grace(#[case] seconds: i64, #[case] at_once: bool) {
    let alert = Alert { deadline: Deadline::At(noon() + Duration::seconds(seconds)), ..travel_alert() };
    let form = ResolveForm::new(&alert, Choice::NotRefunded, PRODUCTION, None, Vec::new(), noon());

    let screen = Screen::resolve(&form, 120, 40);

    assert_eq!((screen.has("sends at once"), screen.has("sends after 5 s")), (at_once, !at_once));
    assert!(screen.has(&format!("due in {seconds}s")), "{}", screen.text());
}

#[test]
fn letters_decide_on_the_decision_and_are_text_in_the_comments() {
    let mut form = form(Choice::Refunded);

    play(&mut form, [KeyCode::BackTab, KeyCode::Char('n')].map(key));
    into_comments(&mut form);
    play(&mut form, typed("rin 1 ? "));

    assert_eq!((form.draft().refunded.as_deref(), form.draft().comments.as_str()), (Some("NOT REFUNDED"), "rin 1 ? "));
}

#[test]
fn arrows_go_through_decisions_and_reasons() {
    let mut form = form(Choice::Refunded);

    form.handle(&key(KeyCode::BackTab));

    play(
        &mut form,
        [KeyCode::Right, KeyCode::Right, KeyCode::Right, KeyCode::Down, KeyCode::Down, KeyCode::Down].map(key),
    );

    assert_eq!(
        (form.draft().refunded.as_deref(), reason(&form)),
        (Some("INVALID"), Some(InvalidReason::ChargebackReceived))
    );
}

#[test]
fn escape_keeps_what_was_typed_and_the_next_form_has_it_back_under_the_new_decision() {
    let mut first = form(Choice::Invalid);
    first.handle(&key(KeyCode::Char('3')));
    into_comments(&mut first);
    play(&mut first, typed("see ticket 7"));

    let FormStep::Cancel(kept) = first.handle(&key(KeyCode::Esc)) else { panic!("escape closes the form") };
    let again = ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, Some(kept), Vec::new(), noon());

    let draft = again.draft();
    assert_eq!((draft.comments.as_str(), reason(&again)), ("see ticket 7", Some(InvalidReason::Duplicate)));
    assert_eq!(draft.refunded.as_deref(), Some("REFUNDED"));
}

#[test]
fn a_line_is_begun_with_alt_enter() {
    let mut form = form(Choice::Refunded);
    into_comments(&mut form);

    play(&mut form, typed("one"));
    form.handle(&Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT)));
    play(&mut form, typed("two"));

    assert_eq!(sent(form.handle(&ctrl('s'))).resolution.comments(), "one\ntwo");
}

#[test]
fn nothing_is_sent_from_a_read_only_profile() {
    let place = FormContext { read_only: true, ..PRODUCTION };
    let mut form = ResolveForm::new(&travel_alert(), Choice::Refunded, place, None, Vec::new(), noon());

    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
    assert!(Screen::resolve(&form, 80, 24).has("Read-only connection"));
}

#[test]
fn nothing_is_sent_once_somebody_else_has_answered() {
    let mut form = form(Choice::Refunded);

    form.update_alert(&answered(&open_alert("another one")));
    let other = Screen::resolve(&form, 120, 40).has("already answered");
    let mut mine = answered(&travel_alert());
    mine.id = form.alert_id();
    form.update_alert(&mine);

    assert!(!other);
    assert_eq!(form.handle(&ctrl('s')), FormStep::Stay);
    assert!(Screen::resolve(&form, 120, 40).has("⚠ already answered: OPEN, Refunded"));
}

#[rstest]
#[case(Deadline::At(noon() + Duration::minutes(16)), None)]
#[case(Deadline::At(noon() + Duration::minutes(15)), Some("due in 15m, at 12:15"))]
#[case(Deadline::At(noon()), Some("expired just now"))]
#[case(Deadline::At(noon() - Duration::hours(2)), Some("expired 2h ago: the network may refuse an answer"))]
#[case(Deadline::HoursLeft(0), Some("due within an hour"))]
#[case(Deadline::HoursLeft(1), None)]
#[case(Deadline::Unknown, None)]
fn a_closing_or_closed_window_is_said(#[case] deadline: Deadline, #[case] says: Option<&str>) {
    let alert = Alert { deadline, ..travel_alert() };
    let form = ResolveForm::new(&alert, Choice::NotRefunded, PRODUCTION, None, Vec::new(), noon());

    let screen = Screen::resolve(&form, 120, 40);

    assert_eq!(screen.has("due in 15m, at") || screen.has("expired") || screen.has("within an hour"), says.is_some());
    assert!(says.is_none_or(|says| screen.has(says)), "{}", screen.text());
}

#[test]
fn the_badge_says_production_and_only_there() {
    let trial = ResolveForm::new(&travel_alert(), Choice::Refunded, FormContext::default(), None, Vec::new(), noon());

    assert!(Screen::resolve(&form(Choice::Refunded), 80, 24).has(" PRODUCTION"));
    assert!(!Screen::resolve(&trial, 80, 24).has("PRODUCTION"));
}

#[test]
fn what_a_network_writes_cannot_steer_the_terminal() {
    let alert = Alert {
        merchant_descriptor: "ACME\u{1b}[2J\u{202e}".to_owned(),
        rule_name: Some("\u{1b}]0;x\u{7}".to_owned()),
        provider_id: "a\rb".to_owned(),
        ..travel_alert()
    };
    let form = ResolveForm::new(&alert, Choice::Refunded, PRODUCTION, None, Vec::new(), noon());

    let text = Screen::resolve(&form, 120, 40).text();

    assert!(!text.contains(|c: char| c.is_control() && c != '\n' || c == '\u{202e}'), "{text:?}");
}

/// A click where a text begins on the screen.
fn click(form: &mut ResolveForm, text: &str) -> FormStep {
    let at = Screen::resolve(form, 120, 40).find(text);
    play(form, [press_at(at), release_at(at)])
}

#[test]
fn everything_can_be_done_with_the_mouse() {
    let mut form = form(Choice::Refunded);

    click(&mut form, "( ) Invalid");
    click(&mut form, "NOT_REFUNDED_DUPLICATE");
    click(&mut form, "optional");
    play(&mut form, typed("twice"));
    let submission = sent(click(&mut form, "Send"));

    assert_eq!(
        submission.resolution,
        Resolution::Current { decision: Decision::Invalid(InvalidReason::Duplicate), comments: "twice".to_owned() }
    );
}

#[test]
fn the_confirmation_and_cancel_can_be_clicked() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, None, vec![refunded_double()], noon());

    click(&mut form, "[ ] Send anyway");

    assert!(Screen::resolve(&form, 120, 40).has("[x] Send anyway"));
    assert!(matches!(click(&mut form, "Cancel"), FormStep::Cancel(_)));
}

#[test]
fn a_press_on_send_that_is_let_go_elsewhere_sends_nothing() {
    let mut form = form(Choice::Refunded);
    let send = Screen::resolve(&form, 120, 40).find("Send");

    let slipped = play(&mut form, [press_at(send), release_at(Position { x: 0, y: 0 })]);
    let dragged_in = play(&mut form, [press_at(Position { x: 0, y: 0 }), release_at(send)]);

    assert_eq!((slipped, dragged_in), (FormStep::Stay, FormStep::Stay));
}

#[test]
fn a_click_into_the_comments_puts_the_cursor_there() {
    let mut form =
        ResolveForm::new(&travel_alert(), Choice::Refunded, PRODUCTION, draft(None, "one three"), Vec::new(), noon());

    click(&mut form, "three");
    play(&mut form, typed("two "));

    assert_eq!(form.draft().comments, "one two three");
}

/// A form in any state: any decision, any doubts, any text.
fn any_form() -> impl Strategy<Value = ResolveForm> {
    let choice = prop::sample::select(&Choice::ALL[..]);
    let texts = prop::sample::select(vec![
        String::new(),
        "fine".to_owned(),
        "x".repeat(250),
        "x".repeat(251),
        "bell\u{7}".to_owned(),
    ]);
    let warnings = prop::sample::select(vec![
        vec![],
        vec![refunded_double()],
        vec![double(DuplicateState::Waiting), FormWarning::Searching],
    ]);
    let rest = (any::<bool>(), any::<bool>(), prop::option::of(prop::sample::select(&InvalidReason::ALL[..])));
    (choice, texts, warnings, rest).prop_map(|(choice, comments, warnings, (rule, read_only, reason))| {
        let alert = Alert { rule_name: rule.then(|| "Above 10 AED".to_owned()), ..travel_alert() };
        ResolveForm::new(
            &alert,
            choice,
            FormContext { read_only, ..PRODUCTION },
            draft(reason, &comments),
            warnings,
            noon(),
        )
    })
}

fn any_key() -> impl Strategy<Value = Event> {
    let keys = [
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Backspace,
        KeyCode::Char(' '),
        KeyCode::Char('r'),
        KeyCode::Char('n'),
        KeyCode::Char('i'),
        KeyCode::Char('1'),
        KeyCode::Char('4'),
        KeyCode::Char('x'),
    ];
    prop_oneof![8 => prop::sample::select(keys.to_vec()).prop_map(key), 1 => Just(ctrl('s')),
        1 => Just(Event::Paste("text\n".to_owned()))]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn enter_never_sends_from_any_focus_in_any_state(mut form in any_form(),
        events in prop::collection::vec(any_key(), 0..30)) {
        for event in &events {
            form.handle(event);
            let step = form.handle(&key(KeyCode::Enter));
            prop_assert!(!matches!(step, FormStep::Submit(_)), "{step:?}");
            // Enter has moved the focus on; back, so that the next key finds it where it was.
            form.handle(&key(KeyCode::BackTab));
        }
    }

    #[test]
    fn whatever_is_sent_keeps_the_rules(mut form in any_form(), events in prop::collection::vec(any_key(), 0..60)) {
        for event in &events {
            if let FormStep::Submit(submission) = form.handle(event) {
                let chars = submission.resolution.comments().chars().count();
                prop_assert!(chars <= 250);
                let screen = Screen::resolve(&form, 120, 60);
                let (asked, confirmed) = (screen.has(" all the same"), screen.has("[x] "));
                prop_assert!(confirmed || !asked, "a doubtful answer was sent without a confirmation");
                prop_assert_eq!(submission.draft.refunded.as_deref(),
                    Some(decision(&submission.resolution).refunded()));
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn the_form_can_be_drawn_at_any_size(mut form in any_form(), width in 0u16..130, height in 0u16..45,
        send in any::<bool>()) {
        if send {
            form.handle(&ctrl('s'));
        }
        if width > 0 && height > 0 {
            Screen::resolve(&form, width, height);
        }
    }

    /// What a console of 80 by 24 leaves for a form.
    #[test]
    fn in_the_smallest_window_the_buttons_stand_and_the_rest_is_scrolled_to(mut form in any_form(),
        events in prop::collection::vec(any_key(), 0..20)) {
        for event in &events {
            form.handle(event);
        }

        let all = Screen::resolve(&form, 80, 60).rows();
        let mut seen = Vec::new();
        for _ in 0..4 {
            form.handle(&key(KeyCode::PageUp));
        }
        for _ in 0..6 {
            let screen = Screen::resolve(&form, 80, 20);
            prop_assert!(screen.has("Cancel") && screen.has("Send"), "{}", screen.text());
            seen.extend(screen.rows());
            form.handle(&key(KeyCode::PageDown));
        }

        for warned in all.iter().filter(|row| row.contains('⚠') || row.trim_start().starts_with("Confirm")) {
            let text = warned.trim_start_matches(|c: char| !c.is_alphabetic()).trim_end_matches(|c: char| !c
                .is_alphabetic());
            prop_assert!(seen.iter().any(|row| row.contains(text)), "{text:?} is nowhere: {seen:#?}");
        }
    }

    #[test]
    fn what_has_to_be_confirmed_is_in_sight_when_the_form_asks_for_it(mut form in any_form()) {
        form.handle(&ctrl('s'));
        form.handle(&ctrl('s'));

        let screen = Screen::resolve(&form, 80, 20);

        let asks = Screen::resolve(&form, 80, 60).has("✗ it may")
            || Screen::resolve(&form, 80, 60).has("✗ probably");
        let whole = Screen::resolve(&form, 80, 60);
        let elsewhere = ["✗ choose", "too many", "✗ the text"].iter().any(|words| whole.has(words));
        prop_assert!(!asks || elsewhere || screen.has("Confirm") && screen.has("✗"), "{}", screen.text());
    }

    #[test]
    fn from_80_by_22_on_buttons_and_errors_are_always_seen(mut form in any_form(), width in 80u16..130,
        height in 22u16..45) {
        form.handle(&ctrl('s'));

        let screen = Screen::resolve(&form, width, height);

        prop_assert!(screen.has("Cancel") && screen.has("Send") && screen.has("/250"), "{}", screen.text());
    }
}
