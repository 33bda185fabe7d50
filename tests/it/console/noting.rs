//! Notes on an alert: typed in a form, kept on this machine, seen in the detail, the list and the case.

use avert::{
    console::{
        SessionInfo,
        app::DeskState,
        message::{BegunText, Effect, Keep, Message},
        runner::Runner,
    },
    desk::{Desk, Note, notes::MAX_NOTE_CHARS},
    domain::{AlertId, Dialect, Environment, time::Clock},
};
use chrono::Duration;

use super::{
    fake::Fake,
    rig::{Made, Rig, assert_screens, clock, records, screens},
};

fn named() -> SessionInfo {
    SessionInfo {
        name: "acme-eu".to_owned(),
        environment: Some(Environment::Sandbox),
        user: Some("Ana Pérez".to_owned()),
        ..SessionInfo::default()
    }
}

fn kept(rig: &Rig) -> Vec<Note> {
    let note = |effect: &Effect| if let Effect::Keep(Keep::Note(note)) = effect { Some(note.clone()) } else { None };
    rig.done.iter().filter_map(note).collect()
}

fn first() -> AlertId {
    AlertId(uuid::Uuid::from_u128(1))
}

#[test]
fn a_note_is_kept_with_its_time_and_who_wrote_it_and_is_seen_everywhere() {
    let mut rig = Made { place: named(), ..Made::default() }.start();

    rig.press("a");
    rig.type_text("Customer called, waits for the bank.");
    rig.press("ctrl-s");
    let screen = rig.screen();
    rig.press("enter");
    let case = rig.screen();

    let note = kept(&rig).pop().unwrap();
    assert_eq!((note.alert, note.user.as_deref(), note.at), (first(), Some("Ana Pérez"), rig.clock.now()));
    assert!(
        screen.contains("NOTES  on this machine only") && screen.contains("Customer called, waits for the bank."),
        "{screen}"
    );
    assert!(screen.contains("14:03, just now, Ana Pérez"), "{screen}");
    assert!(case.contains("just now, Ana Pérez"), "{case}");
    assert_eq!(rig.sent(), 0, "nothing of it leaves this machine");
}

#[test]
fn a_note_and_the_networks_rule_on_one_alert_are_both_seen_in_the_list() {
    let mut alerts = super::fake::morning(clock().now());
    (alerts[0].provider, alerts[0].rule_name) = (avert::domain::Provider::Verifi, Some("Above 10 AED".to_owned()));
    let mut rig = Made { size: (200, 60), ..Made::of(alerts) }.start();

    rig.press("a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s");

    let row = rig.screen().lines().find(|line| line.contains("    41m")).unwrap().to_owned();
    assert!(row.contains("⚠"), "{row}");
}

#[test]
fn a_note_never_holds_a_card_number() {
    let mut rig = Made::default().start();

    rig.press("a");
    rig.type_text("card 4111111111111111");
    rig.advance(Duration::seconds(1));
    let warned = rig.screen();
    rig.press("ctrl-s");

    assert!(warned.contains("card number: only BIN and last four are kept"), "{warned}");
    assert_eq!(kept(&rig)[0].text, "card 411111******1111");
    assert!(!format!("{:?}", rig.done).contains("4111111111111111"), "neither does what is kept while one types");
}

#[test]
fn a_note_that_is_too_long_is_counted_and_refused_and_never_cut() {
    let mut rig = Made::default().start();
    rig.press("a");
    rig.type_text(&"x".repeat(MAX_NOTE_CHARS + 3));
    let counted = rig.screen();

    rig.press("ctrl-s");
    let refused = kept(&rig).len();
    rig.press("backspace backspace backspace ctrl-s");

    assert!(counted.contains("503/500") && counted.contains("✗ 3 too many (at most 500"), "{counted}");
    assert_eq!(refused, 0);
    assert_eq!(kept(&rig)[0].text.chars().count(), MAX_NOTE_CHARS);
}

#[test]
fn an_empty_note_is_refused_and_enter_keeps_nothing() {
    let mut rig = Made::default().start();

    rig.press("a ctrl-s");
    let empty = rig.screen();
    rig.type_text("x");
    rig.press("enter");
    let entered = rig.screen();

    assert!(empty.contains("✗ nothing is written yet"), "{empty}");
    assert!(entered.contains("ctrl-s keeps it, enter does not."), "{entered}");
    assert!(kept(&rig).is_empty());
}

#[test]
fn what_is_typed_is_kept_within_300_ms_and_stands_there_again() {
    let mut rig = Made::default().start();
    rig.press("a");
    rig.type_text("half a no");
    rig.advance(Duration::milliseconds(310));

    let drafted = rig.done.iter().any(|effect| {
        matches!(effect, Effect::Keep(Keep::NoteDraft(id,
            draft)) if *id == first() && draft == "half a no")
    });
    rig.press("esc");
    let begun = rig.screen();
    rig.press("a");
    let again = rig.screen();
    rig.type_text("te");
    rig.press("ctrl-s");

    assert!(drafted, "{:?}", rig.done);
    assert!(begun.contains("note not saved yet"), "{begun}");
    assert!(again.contains("half a no"), "{again}");
    assert_eq!(kept(&rig)[0].text, "half a note");
    assert!(!rig.screen().contains("a note is begun"));
}

#[tokio::test]
async fn what_was_being_written_goes_only_when_its_note_is_on_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let keep = async |what: Keep| {
        let (messages, _incoming) = tokio::sync::mpsc::unbounded_channel();
        let service = Fake::with(Vec::new(), clock());
        let desk = Desk::open(directory.path()).unwrap();
        let mut runner = Runner::new(service.deployment(), Some(desk), records(), messages);
        runner.run(Effect::Keep(what));
        runner.finish().await;
        let drafts = Desk::open(directory.path()).unwrap().note_drafts().all(std::time::SystemTime::now()).unwrap();
        drafts.into_iter().map(|(alert, _)| alert).collect::<Vec<_>>()
    };
    let note =
        || Keep::Note(Note { at: clock().now(), alert: first(), user: None, text: "seen".to_owned(), about: None });
    let in_the_way = directory.path().join("notes.ndjson");

    let written = keep(Keep::NoteDraft(first(), "seen".to_owned())).await;
    std::fs::create_dir(&in_the_way).unwrap();
    let failed = keep(note()).await;
    std::fs::remove_dir(&in_the_way).unwrap();
    let kept = keep(note()).await;

    assert_eq!((written, failed, kept), (vec![first()], vec![first()], Vec::new()));
}

#[test]
fn notes_and_what_was_being_written_are_there_after_a_restart() {
    let note = Note {
        at: clock().now() - Duration::days(2),
        alert: first(),
        user: None,
        text: "seen on Monday".to_owned(),
        about: None,
    };
    let draft = "and today".to_owned();
    let state = DeskState { notes: vec![note], note_drafts: [(first(), draft)].into(), ..DeskState::default() };
    let mut rig = Made { kept: state, ..Made::default() }.start();

    let screen = rig.screen();
    rig.press("a");
    let form = rig.screen();

    assert!(screen.contains("seen on Monday") && screen.contains("2d ago"), "{screen}");
    assert!(form.contains("and today"), "{form}");
}

#[test]
fn notes_can_be_taken_where_nothing_may_be_sent_and_elsewhere_in_either_dialect() {
    for dialect in [Dialect::Current, Dialect::Older] {
        let place = SessionInfo { read_only: true, remote: true, dialect, ..named() };
        let mut rig = Made { place, operator: false, ..Made::default() }.start();

        rig.press("a");
        rig.type_text("read only");
        rig.press("ctrl-s");

        assert_eq!(kept(&rig).len(), 1, "{dialect:?}");
    }
}

#[test]
fn a_note_can_be_added_in_the_case_and_help_tells_of_its_keys_there() {
    let mut rig = Made::default().start();
    rig.press("enter ?");
    let help = rig.screen();

    rig.type_text("note");
    rig.press("enter");
    let form = rig.screen();
    rig.type_text("from the case");
    rig.press("ctrl-s");

    assert!(help.contains("Next alert of the payment"), "{help}");
    assert!(form.contains("Notes stay on this computer."), "{form}");
    assert_eq!(kept(&rig)[0].text, "from the case");
    assert!(rig.screen().contains("note"), "the case is still open: {}", rig.screen());
}

#[test]
fn control_characters_and_marks_that_turn_the_writing_never_reach_the_screen() {
    let text = "a\u{202e}b\u{7}c".to_owned();
    let note = Note { at: clock().now(), alert: first(), user: Some("x\u{1b}[2J".to_owned()), text, about: None };
    let mut rig = Made { kept: DeskState { notes: vec![note], ..DeskState::default() }, ..Made::default() }.start();

    let queue = rig.screen();
    rig.press("enter");
    let case = rig.screen();

    for screen in [queue, case] {
        assert!(!screen.contains(['\u{202e}', '\u{7}', '\u{1b}']), "{screen}");
    }
}

#[test]
fn a_note_that_cannot_be_kept_is_not_called_noted_and_stays_as_it_was_typed() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("notes.ndjson: no space left".to_owned());
    rig.press("a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s");
    let told = rig.screen();
    rig.desk_answers = Ok(());

    rig.press("a");
    let again = rig.screen();
    rig.press("ctrl-s");
    let noted = rig.screen();

    assert!(told.contains("Note not saved: notes.ndjson: no space left"), "{told}");
    assert!(!told.contains("Noted.") && told.contains("note not saved yet"), "{told}");
    assert!(again.contains("Customer called."), "{again}");
    assert!(noted.contains("Note saved") && noted.contains("NOTES"), "{noted}");
}

fn pictures(name: &str, state: impl Fn(&mut Rig)) {
    let taken = screens(|size| {
        let mut rig = Made { size, place: named(), ..Made::default() }.start();
        rig.press("j a");
        state(&mut rig);
        rig
    });
    assert_screens!(name, taken);
}

#[test]
fn the_form_of_a_note_in_pictures() {
    pictures("form", |rig| rig.type_text("Customer called: the parcel came on Tuesday, and they wait for their bank."));
}

#[test]
fn a_note_that_is_refused_in_pictures() {
    pictures("refused", |rig| {
        rig.type_text(&"Customer called. ".repeat(31));
        rig.press("ctrl-s");
    });
}

#[test]
fn a_note_that_was_kept_in_pictures() {
    pictures("kept", |rig| {
        rig.type_text("Customer called: the parcel came on Tuesday, and they wait for their bank.");
        rig.press("ctrl-s");
    });
}

#[test]
fn whoever_leaves_is_asked_before_a_text_is_lost_that_could_not_be_kept() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("no space left".to_owned());
    rig.press("a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s q");
    let asked = rig.screen();
    rig.press("enter");
    let (stayed, left) = (rig.screen(), rig.has_quit());
    rig.press("q l");

    assert!(asked.contains("1 text could not be saved") && asked.contains("the note on ETHOCA 129.90 EUR"), "{asked}");
    assert!(!stayed.contains("could not be saved") && !left, "{stayed}");
    assert!(rig.has_quit(), "{}", rig.screen());
}

#[test]
fn a_text_in_an_open_form_that_cannot_be_kept_as_one_leaves_is_asked_about() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.press("n");
    rig.type_text("not ours");
    rig.desk_answers = Err("no space left".to_owned());

    rig.press("ctrl-c");
    let asked = rig.screen();

    assert!(asked.contains("the answer to ETHOCA 129.90 EUR") && !rig.has_quit(), "{asked}");
}

#[test]
fn whoever_leaves_once_there_is_room_again_and_the_text_is_kept_is_asked_nothing() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("no space left".to_owned());
    rig.press("a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s");
    rig.desk_answers = Ok(());

    rig.press("a ctrl-s q");

    assert!(rig.has_quit(), "{}", rig.screen());
}

#[test]
fn texts_that_could_not_be_kept_are_tried_once_more_as_one_leaves() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("no space left".to_owned());
    rig.press("n");
    rig.type_text("not ours");
    rig.press("esc j a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s * n");
    rig.type_text("shipped on time");
    rig.press("esc");
    rig.desk_answers = Ok(());
    let before = rig.done.len();

    rig.press("q");

    let again: Vec<&str> = rig.done[before..]
        .iter()
        .filter_map(|effect| match effect {
            Effect::Keep(Keep::NoteDraft(_, draft)) => Some(draft.as_str()),
            Effect::Keep(Keep::AnswerDraft(draft)) => Some(draft.answer.comments.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(again, ["not ours", "shipped on time", "Customer called."]);
    assert!(rig.has_quit(), "{}", rig.screen());
}

#[test]
fn whoever_stayed_for_a_text_leaves_without_a_question_once_there_is_room() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("no space left".to_owned());
    rig.press("a");
    rig.type_text("Customer called.");
    rig.press("ctrl-s q enter");
    let stayed = rig.has_quit();
    rig.desk_answers = Ok(());

    rig.press("q");

    assert!(!stayed && rig.has_quit(), "{}", rig.screen());
}

#[test]
fn a_decision_that_was_taken_off_an_answer_again_is_no_text_to_be_lost() {
    let mut rig = Made { place: named(), ..Made::default() }.start();
    rig.desk_answers = Err("no space left".to_owned());
    rig.press("n");
    rig.type_text("ab");
    rig.advance(Duration::seconds(1));
    rig.press("backspace backspace esc q");

    assert!(rig.has_quit(), "{}", rig.screen());
}

#[test]
fn a_begun_note_that_could_not_be_kept_when_the_console_was_ended_is_told_as_lost() {
    let ended = |answer: Result<(), String>| {
        let mut rig = Made { place: named(), ..Made::default() }.start();
        rig.press("a");
        rig.type_text("asked the shop");
        let effects = rig.app.end();
        assert!(matches!(effects.as_slice(), [Effect::Keep(Keep::NoteDraft(..))]), "{effects:?}");
        rig.app.lost_words([Message::TextKept(BegunText::Note(first()), answer)])
    };

    let (kept, lost) = (ended(Ok(())), ended(Err("no space left".to_owned())));

    assert_eq!(kept, "");
    assert!(lost.starts_with("; lost: the note on ETHOCA"), "{lost:?}");
}

#[test]
fn a_console_that_keeps_nothing_asks_before_what_was_begun_there_is_lost() {
    let kept = DeskState { keeps_nothing: true, ..DeskState::default() };
    let mut rig = Made { place: named(), kept, ..Made::default() }.start();
    assert!(rig.screen().contains("▲ nothing is saved") && !rig.screen().contains("live"), "{}", rig.screen());
    rig.press("n");
    rig.type_text("not ours");
    rig.press("esc q");

    assert!(rig.screen().contains("the answer to ETHOCA 129.90 EUR") && !rig.has_quit(), "{}", rig.screen());
}
