//! Answers that were begun and not sent: kept while one types, gone on with by the same key, after an undo and a
//! restart.

use avert::{
    console::{
        app::DeskState,
        message::{Effect, Keep},
    },
    desk::{AnswerDraft, Draft},
    domain::{
        Alert, AlertId, Dialect, Environment, Resolution,
        resolution::{Decision, OlderRefunded, OlderWord},
        time::Clock as _,
    },
    service::ServiceError,
};
use chrono::Duration;
use uuid::Uuid;

use super::{
    bulk::alike,
    cases::three,
    fake::{Fate, morning},
    rig::{Made, Rig, clock},
};

/// The answer drafts that were handed to the desk and not dropped since, by now.
fn on_the_desk(rig: &Rig) -> Vec<AnswerDraft> {
    let mut kept: Vec<AnswerDraft> = Vec::new();
    for effect in &rig.done {
        match effect {
            Effect::Keep(Keep::AnswerDraft(draft)) => {
                kept.retain(|known| known.id != draft.id);
                kept.push(draft.clone());
            }
            Effect::Keep(Keep::NoAnswerDraft(id)) => kept.retain(|known| known.id != *id),
            _ => {}
        }
    }
    kept
}

fn begun(alerts: &[Alert], comments: &str) -> AnswerDraft {
    let alerts: Vec<AlertId> = alerts.iter().map(|alert| alert.id).collect();
    let answer = Draft { refunded: Some("NOT REFUNDED".to_owned()), comments: comments.to_owned(), ..Draft::default() };
    AnswerDraft { id: Uuid::now_v7(), case: false, alerts, left_out: Vec::new(), answer }
}

/// A console on a desk that has kept a draft.
fn after_a_restart(alerts: Vec<Alert>, draft: AnswerDraft) -> Rig {
    Made { kept: DeskState { answer_drafts: vec![draft], ..DeskState::default() }, ..Made::of(alerts) }.start()
}

fn said(rig: &Rig) -> Vec<Resolution> {
    rig.service.resolutions.lock().unwrap().iter().map(|(_, request)| request.resolution.clone()).collect()
}

#[test]
fn whoever_takes_an_answer_to_several_back_to_leave_has_its_text_at_the_next_start() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("shipped on time");
    rig.press("ctrl-s 3 ctrl-s");
    let staged = rig.screen();

    rig.press("q t");

    let kept = on_the_desk(&rig);
    assert!(rig.has_quit(), "{staged}");
    assert_eq!(
        kept.iter().map(|draft| draft.answer.comments.as_str()).collect::<Vec<_>>(),
        ["shipped on time"],
        "{staged}"
    );
}

#[test]
fn what_is_typed_for_what_is_marked_is_kept_within_300_ms_and_a_card_number_in_it_masked() {
    let alerts = alike(3);
    let mut rig = Rig::new(alerts.clone());
    rig.press("* n");
    rig.type_text("card 4111 1111 1111 1111");

    rig.advance(Duration::milliseconds(300));

    let kept = on_the_desk(&rig);
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(kept[0].answer, begun(&alerts, "card 4111 11** **** 1111").answer);
    assert_eq!(kept[0].alerts, alerts.iter().map(|alert| alert.id).collect::<Vec<_>>());
}

#[test]
fn esc_keeps_what_was_typed_decided_and_left_out_and_the_same_key_goes_on_with_it() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("no order");
    rig.press("tab space j x esc");

    rig.press("n");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("no order") && form.contains("2 will be sent") && form.contains("skipped by you"), "{form}");
    assert!(form.contains("Draft restored."), "{form}");
    let expected = Resolution::Current { decision: Decision::NotRefunded, comments: "no order".to_owned() };
    assert_eq!(said(&rig), [expected.clone(), expected]);
    assert_eq!(on_the_desk(&rig), [], "what was sent is no draft");
}

#[test]
fn what_stands_in_the_form_is_kept_when_the_terminal_goes_away() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("no order");

    let effects = rig.app.abandon();

    assert!(
        effects.iter().any(
            |effect| matches!(effect, Effect::Keep(Keep::AnswerDraft(draft)) if draft.answer.comments == "no order")
        ),
        "{effects:?}"
    );
}

#[test]
fn the_footer_offers_to_answer_together_only_what_is_marked() {
    let mut rig = Rig::new(alike(5));
    let footer = |rig: &mut Rig| rig.screen().lines().last().unwrap().to_owned();
    rig.press("space j space n ctrl-s");
    rig.advance(Duration::seconds(8));
    rig.press("esc");
    rig.press("G space k space");
    let marked = footer(&mut rig);
    rig.press("n");
    rig.type_text("begun");
    rig.press("esc esc esc");

    let nothing_marked = footer(&mut rig);

    assert!(marked.contains("r refunded, 2 marked"), "{marked}");
    assert!(nothing_marked.contains("b last run") && !nothing_marked.contains("draft forgether"), "{nothing_marked}");
}

#[test]
fn what_was_emptied_again_is_no_draft() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("x");
    rig.advance(Duration::milliseconds(300));
    let before = on_the_desk(&rig).len();

    rig.press("backspace esc");

    assert_eq!((before, on_the_desk(&rig)), (1, vec![]));
}

#[test]
fn what_was_written_for_some_marks_does_not_slip_into_the_form_of_others_and_is_not_lost() {
    let mut rig = Rig::new(alike(4));
    rig.press("space space n");
    rig.type_text("no order");
    rig.press("esc esc j");

    rig.press("space n");
    let other = rig.screen();
    rig.type_text("another matter");
    rig.press("esc esc");

    assert!(other.contains("Answer ETHOCA") && !other.contains("no order"), "{other}");
    let kept: Vec<(usize, String)> =
        on_the_desk(&rig).into_iter().map(|draft| (draft.alerts.len(), draft.answer.comments)).collect();
    assert_eq!(kept, [(2, "no order".to_owned()), (1, "another matter".to_owned())]);
}

#[test]
fn after_an_undo_the_same_alerts_are_marked_and_their_form_opens_as_it_was_filled_in() {
    let alerts = alike(4);
    let mut rig = Rig::new(alerts);
    rig.press("space space space n");
    rig.type_text("no order");
    rig.press("tab space j x ctrl-s");
    let underway = on_the_desk(&rig).len();

    rig.press("u");
    let page = rig.screen();
    rig.press("n");
    let form = rig.screen();
    rig.press("esc");
    let list = rig.screen();
    rig.advance(Duration::minutes(1));

    assert!(page.contains("Undone: 2 answers. Not sent. n reopens the form."), "{page}");
    assert!(form.contains("Answer 3 alerts") && form.contains("no order") && form.contains("2 will be sent"), "{form}");
    assert!(list.contains("3 marked"), "{list}");
    assert_eq!((underway, rig.sent(), on_the_desk(&rig).len()), (1, 0, 1));
}

#[test]
fn the_desk_has_what_was_filled_in_until_it_has_left() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("no order");
    rig.press("ctrl-s");
    let in_undo_window = on_the_desk(&rig).len();

    rig.advance(Duration::seconds(6));

    assert_eq!((in_undo_window, on_the_desk(&rig)), (1, vec![]));
}

#[test]
fn after_a_restart_what_was_marked_is_to_do_and_its_form_opens_as_it_was_left_with_nothing_marked() {
    let alerts = alike(4);
    let mut rig = after_a_restart(alerts.clone(), begun(&alerts[..3], "no order"));
    rig.press("4");
    let to_do = rig.screen();

    rig.press("t");

    let form = rig.screen();
    let said = to_do.contains("Draft: Not refunded") && to_do.contains("not sent: \"no order\"");
    assert!(said && to_do.contains("3 alerts"), "{to_do}");
    assert!(form.contains("Answer 3 alerts") && form.contains("no order") && form.contains("3 will be sent"), "{form}");
    assert!(!form.contains("3 marked") && rig.sent() == 0, "{form}");
}

#[test]
fn the_draft_of_one_alert_opens_from_what_is_to_do_as_it_was_filled() {
    let alerts = alike(2);
    let mut rig = after_a_restart(alerts.clone(), begun(&alerts[1..], "no order"));

    rig.press("4 t");
    let form = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    assert!(form.contains("(•) Not refunded") && form.contains("no order") && !form.contains("1 alert"), "{form}");
    let sent: Vec<_> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [alerts[1].id]);
}

#[test]
fn a_draft_opens_for_those_of_its_alerts_that_still_wait() {
    let mut alerts = alike(5);
    let draft = AnswerDraft { left_out: vec![alerts[1].id], ..begun(&alerts[..4], "no order") };
    let answer = Resolution::Current { decision: Decision::NotRefunded, comments: String::new() };
    avert::domain::decide(&answer).record(&mut alerts[3], avert::domain::OutcomeId::generate(), "", None);
    let kept = DeskState { answer_drafts: vec![draft], ..DeskState::default() };
    let mut rig = Made { kept, size: (200, 40), ..Made::of(alerts) }.start();

    rig.press("4 t");

    let form = rig.screen();
    assert!(
        form.contains("Answer 3 alerts") && form.contains("2 will be sent") && form.contains("1 skipped"),
        "{form}"
    );
}

#[test]
fn an_undo_says_how_many_more_the_form_opens_with() {
    let mut rig = Rig::new(alike(4));
    rig.press("* n tab space j x ctrl-s");

    rig.press("u");

    let screen = rig.screen();
    assert!(screen.contains("Undone: 3 answers.") && screen.contains("n reopens the form."), "{screen}");
    rig.press("esc");
    assert!(rig.screen().contains("4 marked"), "{}", rig.screen());
}

#[test]
fn a_draft_whose_alerts_are_answered_by_now_is_dropped_when_it_is_opened() {
    let mut alerts = alike(2);
    for alert in &mut alerts {
        avert::domain::decide(&Resolution::Current { decision: Decision::NotRefunded, comments: String::new() })
            .record(alert, avert::domain::OutcomeId::generate(), "", None);
    }
    let draft = begun(&alerts, "no order");
    let mut rig = after_a_restart(alerts, draft.clone());

    rig.press("4 t");

    assert!(rig.done.contains(&Effect::Keep(Keep::NoAnswerDraft(draft.id))), "{}", rig.screen());
}

#[test]
fn what_was_begun_for_marks_that_were_taken_away_is_to_do_and_x_drops_it() {
    let mut rig = Rig::new(alike(3));
    rig.press("* n");
    rig.type_text("no order");
    rig.press("esc esc esc 4");
    let to_do = rig.screen();

    rig.press("x 1 * n");

    assert!(to_do.contains("3 alerts") && to_do.contains("not sent: \"no order\""), "{to_do}");
    assert!(on_the_desk(&rig).is_empty() && !rig.screen().contains("no order"), "{}", rig.screen());
}

#[test]
fn what_was_begun_before_a_restart_is_no_target_of_the_last_decision_made_again() {
    let alerts = alike(4);
    let mut rig = after_a_restart(alerts.clone(), begun(&alerts[1..], "no order"));
    rig.press("r ctrl-s");
    rig.advance(Duration::seconds(6));
    let last = rig.current();

    rig.press(".");
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    let sent: Vec<AlertId> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [alerts[0].id, last], "{}", rig.screen());
}

#[test]
fn a_draft_is_found_by_its_alerts_too() {
    let alerts = alike(3);
    let mut rig = after_a_restart(alerts.clone(), begun(&alerts, "no order"));

    rig.press("* n");

    assert!(rig.screen().contains("no order"), "{}", rig.screen());
}

#[test]
fn what_was_begun_before_and_lies_on_the_desk_is_not_lost_where_nothing_can_be_kept() {
    let alerts = alike(3);
    let kept = DeskState {
        answer_drafts: vec![begun(&alerts, "shipped on time")],
        keeps_nothing: true,
        ..DeskState::default()
    };
    let mut rig = Made { kept, ..Made::of(alerts) }.start();

    rig.press("q");

    assert!(rig.has_quit(), "{}", rig.screen());
}

#[test]
fn who_was_left_out_of_a_case_is_kept_though_nothing_was_typed() {
    let mut rig = Rig::new(three());
    rig.press("enter r tab j space esc");

    rig.press("r");

    let form = rig.screen();
    assert!(form.contains("skipped by you") && form.contains("2 will be sent"), "{form}");
    assert_eq!(on_the_desk(&rig).len(), 1);
}

#[test]
fn a_text_for_another_answer_stays_and_comes_back_with_that_answer() {
    let mut rig = Rig::new(morning(clock().now()));
    rig.press("r");
    rig.type_text("paid back");
    rig.press("esc n");
    let other = rig.screen();
    rig.type_text("shipped");

    rig.press("esc r");
    let back = rig.screen();
    rig.press("esc n");

    assert!(
        other.contains("Comments     optional") && other.contains("Your draft for \"Refunded\" is saved."),
        "{other}"
    );
    assert!(back.contains("(•) Refunded") && back.contains("paid back"), "{back}");
    assert!(rig.screen().contains("(•) Not refunded") && rig.screen().contains("shipped"), "{}", rig.screen());
}

#[test]
fn what_is_typed_for_a_case_is_kept_for_the_case_and_is_no_answer_to_one_of_its_alerts() {
    let mut rig = Rig::new(three());
    rig.press("enter r");
    rig.type_text("88213");
    rig.press("esc");

    rig.press("r");
    let again = rig.screen();
    rig.press("esc n");
    let other = rig.screen();
    rig.press("esc esc r");
    let alone = rig.screen();

    assert!(again.contains("88213") && again.contains("Draft restored."), "{again}");
    assert!(!other.contains("88213") && other.contains("Your draft for \"Refunded\" is saved."), "{other}");
    assert!(alone.contains("Answer ETHOCA") && !alone.contains("88213"), "{alone}");
    assert_eq!(on_the_desk(&rig).len(), 1);
}

#[test]
fn a_text_for_another_answer_to_a_case_stays_and_comes_back_with_that_answer() {
    let mut rig = Rig::new(three());
    rig.press("enter r");
    rig.type_text("paid back");
    rig.press("esc i tab");
    let other = rig.screen();
    rig.type_text("shipped");

    rig.press("esc r");
    let back = rig.screen();
    rig.press("esc i");

    assert!(!other.contains("paid back") && other.contains("Your draft for \"Refunded\" is saved."), "{other}");
    assert!(back.contains("(•) Refunded") && back.contains("paid back"), "{back}");
    assert!(rig.screen().contains("(•) Invalid") && rig.screen().contains("shipped"), "{}", rig.screen());
    assert_eq!(on_the_desk(&rig).len(), 2);
}

#[test]
fn after_an_undo_of_a_case_its_key_opens_the_form_as_it_was_filled_in() {
    let mut rig = Rig::new(three());
    rig.press("enter r");
    rig.type_text("88213");
    rig.press("ctrl-s u");

    rig.press("r");

    let form = rig.screen();
    assert!(form.contains("88213") && form.contains("3 will be sent"), "{form}");
    assert_eq!(rig.sent(), 0);
}

#[test]
fn text_for_a_case_comes_back_by_its_key_at_the_next_start() {
    let alerts = three();
    let ids = [alerts[0].id, alerts[alerts.len() - 1].id, alerts[alerts.len() - 2].id];
    let answer = Draft { refunded: Some("REFUNDED".to_owned()), comments: "88213".to_owned(), ..Draft::default() };
    let draft = AnswerDraft { id: Uuid::now_v7(), case: true, alerts: ids.to_vec(), left_out: Vec::new(), answer };
    let mut rig = after_a_restart(alerts.clone(), draft);

    rig.press("enter r");

    assert!(rig.screen().contains("88213") && rig.screen().contains("3 will be sent"), "{}", rig.screen());
}

/// Two cases whose refunds were refused, so that what was to follow them waits.
fn two_refused() -> (Rig, [Alert; 4]) {
    let mut alerts = alike(4);
    for (first, other) in [(0, 1), (2, 3)] {
        alerts[other].card_last_four = alerts[first].card_last_four.clone();
        let amount = Some(format!("{}.00", first + 1).parse().unwrap());
        (alerts[first].amount, alerts[other].amount) = (amount, amount);
    }
    let mut rig = Rig::new(alerts.clone());
    for _ in 0..2 {
        rig.service.next_resolution(Fate::Refused(ServiceError::ProviderFailed("closed".to_owned())));
    }
    rig.press("enter r");
    rig.type_text("first");
    rig.press("ctrl-s esc enter r ctrl-s esc");
    rig.advance(Duration::seconds(8));
    (rig, alerts.try_into().unwrap())
}

#[test]
fn what_was_to_follow_refused_refunds_is_asked_about_one_case_at_a_time() {
    let (mut rig, alerts) = two_refused();
    let first = rig.screen();

    rig.press("ctrl-t");
    rig.advance(Duration::milliseconds(100));
    let second = rig.screen();
    rig.press("ctrl-s");
    rig.advance(Duration::seconds(6));

    for (asked, case) in [(&first, "ETHOCA 1.00 EUR, same payment"), (&second, "ETHOCA 3.00 EUR, same payment")] {
        assert!(asked.contains("refund was not recorded") && asked.contains(case), "{asked}");
        assert!(asked.contains("1 answer queued, not sent:"), "{asked}");
    }
    let sent: Vec<AlertId> = rig.service.resolutions.lock().unwrap().iter().map(|(id, _)| *id).collect();
    assert_eq!(sent, [alerts[0].id, alerts[2].id, alerts[3].id]);
}

#[test]
fn what_was_taken_back_there_opens_again_as_it_was_filled_in() {
    let (mut rig, _) = two_refused();
    rig.press("ctrl-t esc");
    rig.advance(Duration::milliseconds(100));

    rig.press("esc esc g enter r");

    assert!(rig.screen().contains("first"), "{}", rig.screen());
}

#[test]
fn the_last_decision_of_the_older_dialect_is_made_again_with_the_refund_that_it_had() {
    let mut made = Made { alerts: alike(3), ..Made::default() };
    (made.place.dialect, made.place.environment) = (Dialect::Older, Some(Environment::Sandbox));
    let mut rig = made.start();
    let number = OlderWord::ALL.iter().position(|word| *word == OlderWord::ShipperContacted).unwrap() + 1;
    rig.press("i");
    rig.type_text(&number.to_string());
    rig.press("alt-n ctrl-s");

    rig.press(".");
    rig.advance(Duration::seconds(6));

    let comments = String::new;
    let expected = || Resolution::Older {
        word: OlderWord::ShipperContacted,
        refunded: OlderRefunded::NotRefunded,
        amount_stopped: None,
        comments: comments(),
    };
    assert_eq!(said(&rig), [expected(), expected()]);
}
