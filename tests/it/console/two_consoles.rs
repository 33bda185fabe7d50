//! Two consoles on one desk: what the other one has begun for an alert is offered in its form, and neither's text is
//! lost.

use std::collections::HashMap;

use avert::console::app::DeskState;
use avert::console::effects::{Effect, Keep};
use avert::desk::{Desk, Draft};
use avert::domain::AlertId;
use chrono::Duration;
use tempfile::TempDir;

use super::rig::{Made, Rig};

fn draft(refunded: &str, comments: &str) -> Draft {
    Draft { refunded: Some(refunded.to_owned()), comments: comments.to_owned(), ..Draft::default() }
}

/// A console on whose desk another one has begun an answer to the first alert since, after what this one had kept for
/// it.
fn beside_another(own: Option<Draft>, theirs: &Draft) -> (Rig, AlertId, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let desk = || Desk::open(directory.path()).unwrap();
    let made = Made::default();
    let id = made.alerts[0].id;
    let drafts: HashMap<AlertId, Draft> = own.into_iter().map(|own| (id, own)).collect();
    let rig = Made { desk: Some(desk()), kept: DeskState { drafts, ..DeskState::default() }, ..made }.start();
    desk().drafts().put(id, theirs).unwrap();
    (rig, id, directory)
}

fn offer(rig: &mut Rig) -> Option<String> {
    let screen = rig.screen();
    let mut lines = screen.lines().skip_while(|line| !line.contains("another session's draft"));
    let words: Vec<&str> =
        lines.by_ref().take(2).map(|line| line.trim_matches(|c: char| c == '│' || c.is_whitespace())).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

#[test]
fn what_another_console_has_begun_is_offered_and_taken_in_with_ones_own_text_kept() {
    let (mut rig, id, _directory) = beside_another(None, &draft("NOT REFUNDED", "goods were sent"));
    rig.press("r");
    rig.type_text("mine");
    let offered = offer(&mut rig).unwrap_or_else(|| rig.screen());

    rig.press("alt-o");
    rig.advance(Duration::seconds(1));
    let theirs = rig.screen();
    let aside = rig.done.iter().any(|effect| *effect == Effect::Keep(Keep::AsideDraft(id, draft("REFUNDED", "mine"))));
    rig.press("alt-o");
    let back = rig.screen();

    assert!(offered.contains("NOT REFUNDED \"goods were sent\"") && offered.contains("alt-o takes it"), "{offered}");
    assert!(theirs.contains("(•) Not refunded") && theirs.contains("goods were sent"), "{theirs}");
    assert!(aside, "{:?}", rig.done);
    assert!(theirs.contains("saved beside this one: REFUNDED \"mine\""), "{theirs}");
    assert!(
        back.contains("(•) Refunded") && back.contains("mine") && back.contains("saved beside this one: NOT REFUNDED"),
        "{back}"
    );
}

#[test]
fn a_text_for_another_decision_is_set_aside_once_something_is_written_for_this_one() {
    let (mut rig, id, _directory) = beside_another(None, &draft("NOT REFUNDED", ""));
    rig.press("r");
    rig.type_text("paid back");
    rig.press("esc n");
    let untouched = rig.done.len();

    rig.type_text("shipped");
    rig.advance(Duration::seconds(1));
    let written = rig.screen();
    rig.press("alt-o");
    let back = rig.screen();

    let aside = Effect::Keep(Keep::AsideDraft(id, draft("REFUNDED", "paid back")));
    assert!(rig.done[untouched..].contains(&aside), "{:?}", rig.done);
    assert!(written.contains("saved beside this one: REFUNDED \"paid back\""), "{written}");
    assert!(back.contains("(•) Refunded") && back.contains("paid back"), "{back}");
}

#[test]
fn what_is_kept_tells_the_desk_what_this_console_knew_there() {
    let own = draft("REFUNDED", "mine");
    let (mut rig, id, _directory) = beside_another(Some(own.clone()), &draft("REFUNDED", "theirs"));
    rig.press("r");

    rig.type_text("!");
    rig.advance(Duration::seconds(1));

    assert!(offer(&mut rig).is_some_and(|words| words.contains("\"theirs\"")), "{}", rig.screen());
    let kept = Effect::Keep(Keep::Draft(id, draft("REFUNDED", "mine!"), Some(own)));
    assert!(rig.done.contains(&kept), "{:?}", rig.done);
}

#[test]
fn ones_own_text_is_not_offered_as_anothers() {
    let own = draft("REFUNDED", "mine");
    let (mut rig, ..) = beside_another(Some(own.clone()), &own);

    rig.press("r");

    assert_eq!(offer(&mut rig), None, "{}", rig.screen());
    assert!(rig.screen().contains("mine"), "{}", rig.screen());
}
