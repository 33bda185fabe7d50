//! The Settings screen: keys and clients are created, shown once, copied, revoked; nothing keeps a secret.

use avert::{
    console::{
        SessionInfo,
        message::{Effect, Message},
    },
    domain::{CredentialKind, KeyScope, Secret, time::Clock},
    service::ServiceError,
};
use chrono::Duration;
use crossterm::event::Event;
use rstest::rstest;

use super::{
    fake::{SECRET, credentials, morning},
    rig::{Made, Rig, clock},
};

/// The Settings screen on the usual keys and clients.
fn settings() -> Rig {
    on(Made::default())
}

fn on(made: Made) -> Rig {
    let mut rig = made.start();
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press("5");
    rig
}

fn work(rig: &Rig, id: &str) -> bool {
    rig.service.credentials.lock().unwrap().iter().any(|known| known.id == id && known.revoked_at.is_none())
}

#[test]
fn the_screens_are_changed_by_their_digits_and_by_a_click() {
    let mut rig = settings();
    assert!(rig.screen().contains("Keys and clients"), "{}", rig.screen());

    rig.press("1");
    assert!(rig.screen().contains("To answer, by deadline"));
    rig.click_on("5 Settings");
    assert!(rig.screen().contains("Keys and clients"));
    rig.press("esc");

    assert!(rig.screen().contains("To answer, by deadline"));
}

#[test]
fn every_key_and_client_is_shown_with_its_use_and_whether_it_works() {
    let mut rig = settings();

    let screen = rig.screen();

    let row = |id: &str| {
        screen.lines().find(|line| line.contains(id)).unwrap_or_else(|| panic!("no {id}:\n{screen}")).to_owned()
    };
    for (id, words) in [
        ("4fGx81kPq2Z", ["key", "alerts", "3m ago", "works"]),
        ("b7WnE2xK9sH", ["key", "alerts", "never", "works"]),
        ("Zk3vN5tQ1cD", ["key", "operator", "3h ago", "works"]),
        ("avc_live_Hj6Tq1oV8eU", ["client", "alerts", "1d ago", "works"]),
        ("9aRRt0Lm7Yb", ["key", "alerts", "20d ago", "revoked 20d ago"]),
    ] {
        assert!(words.iter().all(|word| row(id).contains(word)), "{}", row(id));
    }
}

#[test]
fn automatic_rules_are_stopped_by_one_key_once_that_is_confirmed() {
    let mut rig = settings();
    let stopped = |rig: &Rig| *rig.service.rules_stopped.lock().unwrap();

    rig.press("S enter");
    let kept = stopped(&rig);
    rig.press("S s");

    assert_eq!((kept, stopped(&rig)), (0, 1));
    assert!(rig.screen().contains("All automatic rules are stopped."), "{}", rig.screen());
}

#[rstest]
#[case("", CredentialKind::Key(KeyScope::Alerts))]
#[case("down", CredentialKind::Key(KeyScope::Operator))]
#[case("down down", CredentialKind::Key(KeyScope::Both))]
#[case("end", CredentialKind::Client)]
fn what_is_chosen_is_created_and_its_secret_is_shown(#[case] keys: &str, #[case] kind: CredentialKind) {
    let mut rig = settings();

    rig.press(&format!("n {keys} enter"));

    let created = rig.service.credentials.lock().unwrap().last().cloned().unwrap();
    assert_eq!(created.kind, kind);
    assert!(rig.screen().contains(SECRET), "{}", rig.screen());
    rig.press("d");
    assert!(rig.screen().lines().any(|line| line.starts_with('▌') && line.contains(&created.id)), "{}", rig.screen());
}

#[test]
fn a_secret_is_closed_on_purpose_only_and_is_on_no_screen_afterwards() {
    let mut rig = settings();
    rig.press("n enter");

    for keys in ["enter", "esc", "q", "space", "x", "1", "ctrl-d"] {
        rig.press(keys);
        assert!(rig.screen().contains(SECRET), "{keys} closed it");
    }
    assert!(rig.screen().contains("It cannot be shown again"), "{}", rig.screen());
    rig.click(1, 1);
    rig.update(Message::Input(Event::Paste("d".to_owned())));
    assert!(rig.screen().contains(SECRET));
    rig.press("d");

    assert!(!rig.screen().contains("S3cr3t"), "{}", rig.screen());
    for keys in ["5", "1", "5", "n esc", "?"] {
        rig.press(keys);
        assert!(!rig.screen().contains("S3cr3t"), "{}", rig.screen());
    }
}

#[test]
fn a_secret_that_does_not_fit_its_line_goes_on_in_the_next_one() {
    let mut rig = on(Made { size: (80, 24), ..Made::default() });

    rig.press("n enter");

    let shown: String = rig.screen().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    assert!(shown.contains(SECRET), "{}", rig.screen());
}

#[test]
fn a_secret_is_copied_by_one_key_and_kept_by_nothing() {
    let mut rig = settings();

    rig.press("n enter y");

    assert!(rig.done.contains(&Effect::Copy(Secret::new(SECRET))));
    let told = format!("{:?}", rig.done);
    assert!(!told.contains("S3cr3t"), "{told}");
    assert!(rig.screen().contains("clipboard"));
}

#[test]
fn a_client_has_two_things_to_copy() {
    let mut rig = settings();

    rig.press("n end enter i");
    rig.click_on("Copy the secret");

    let id = rig.service.credentials.lock().unwrap().last().unwrap().id.clone();
    let copied: Vec<_> = rig.done.iter().filter(|effect| matches!(effect, Effect::Copy(_))).collect();
    assert_eq!(copied, [&Effect::Copy(Secret::new(id)), &Effect::Copy(Secret::new(SECRET))]);
}

#[test]
fn a_secret_that_comes_while_another_dialog_is_open_waits_for_its_end() {
    let mut rig = settings();
    rig.holding = true;
    rig.press("n enter n");
    assert!(rig.screen().contains("one is being created"), "{}", rig.screen());
    rig.press("?");

    rig.release();
    assert!(!rig.screen().contains(SECRET));
    rig.press("esc");

    assert!(rig.screen().contains(SECRET), "{}", rig.screen());
    assert_eq!(rig.service.credentials.lock().unwrap().len(), 6);
}

#[test]
fn a_credential_is_revoked_when_asked_and_told_so_and_enter_keeps_it() {
    let mut rig = settings();

    rig.press("x");
    assert!(rig.screen().contains("Revoke key b7WnE2xK9sH?"), "{}", rig.screen());
    rig.press("enter");
    assert!(work(&rig, "b7WnE2xK9sH"));
    rig.press("x esc x r");

    assert!(!work(&rig, "b7WnE2xK9sH"));
    assert!(rig.screen().contains("Revoked key b7WnE2xK9sH"), "{}", rig.screen());
    assert!(rig.screen().contains("revoked just now"), "{}", rig.screen());
}

#[test]
fn what_is_revoked_already_is_said_to_be_so() {
    let mut rig = settings();

    rig.press("j j j j x");
    assert!(rig.screen().contains("already revoked"), "{}", rig.screen());
    // Another desk is faster: the list here does not know it yet.
    rig.press("g x");
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().iter_mut().find(|known| known.id == "b7WnE2xK9sH").unwrap().revoked_at =
        Some(now - Duration::minutes(2));
    rig.press("r");

    assert!(rig.screen().contains("Already revoked key b7WnE2xK9sH."), "{}", rig.screen());
}

#[test]
fn revoking_what_this_console_itself_uses_is_warned_of() {
    let mut rig = on(Made { own: vec!["4fGx81kPq2Z".to_owned()], ..Made::default() });
    let row = |screen: String| screen.lines().find(|line| line.contains("4fGx81kPq2Z")).unwrap().to_owned();
    assert!(row(rig.screen()).contains("in use here"));

    rig.press("j j j x");

    assert!(rig.screen().contains("Revoke key 4fGx81kPq2Z?"), "{}", rig.screen());
    assert!(rig.screen().contains("This console uses it"), "{}", rig.screen());
}

#[test]
fn a_read_only_console_changes_no_credential() {
    let mut rig = on(Made { place: SessionInfo { read_only: true, ..SessionInfo::default() }, ..Made::default() });

    rig.press("n enter x r");

    assert_eq!(rig.service.credentials.lock().unwrap().iter().filter(|known| known.revoked_at.is_none()).count(), 4);
    assert!(rig.screen().contains("READ-ONLY"), "{}", rig.screen());
}

#[test]
fn the_cursor_is_on_something_that_can_be_changed_where_there_are_no_keys() {
    let mut rig = Made::default().start();
    rig.service.credentials.lock().unwrap().clear();

    rig.press("5");
    let there = rig.screen();
    rig.press("j j enter enter");

    let row = there.lines().find(|line| line.starts_with('▌')).unwrap_or_else(|| panic!("no cursor: {there}"));
    assert!(row.contains("theme"), "{row}");
    assert!(rig.screen().lines().any(|line| line.starts_with('▌') && line.contains("mouse")), "{}", rig.screen());
}

#[test]
fn a_setting_is_on_or_off() {
    let mut rig = settings();
    let page = rig.screen();

    rig.press("tab j j enter");

    let menu = rig.screen();
    let row = |screen: &str, label: &str| screen.lines().find(|line| line.contains(label)).unwrap().to_owned();
    assert!(row(&page, "clicks and wheel").contains(" on "), "{page}");
    assert!(row(&menu, "the terminal selects text").contains(" off "), "{menu}");
    for screen in [page, menu] {
        assert!(!screen.contains("true") && !screen.contains("false"), "{screen}");
    }
}

#[test]
fn where_keys_cannot_be_managed_it_says_what_is_missing() {
    let mut rig = Made { operator: false, ..Made::default() }.start();

    rig.press("5 n");

    assert!(rig.screen().contains("avert login --operator"), "{}", rig.screen());
    assert!(!rig.screen().contains("Create;"), "{}", rig.screen());
}

#[test]
fn what_could_not_be_done_is_said_and_can_be_tried_again() {
    let mut rig = settings();
    rig.service.set_down(Some(ServiceError::Unavailable("the disk is full".to_owned())));

    rig.press("n enter");
    assert!(rig.screen().contains("Not created: the service cannot answer: the disk is full"), "{}", rig.screen());
    rig.press("x r");
    assert!(rig.screen().contains("was not revoked"), "{}", rig.screen());
    assert!(rig.screen().contains("stale since 14:03"), "{}", rig.screen());
    rig.service.set_down(None);
    rig.press("n enter");

    assert!(rig.screen().contains(SECRET), "{}", rig.screen());
}

#[test]
fn the_list_is_loaded_again_by_itself_while_it_is_looked_at() {
    let mut rig = settings();
    rig.service.credentials.lock().unwrap()[0].id = "renamed00000".to_owned();

    rig.advance(Duration::seconds(16));

    assert!(rig.screen().contains("renamed00000"));
}

#[test]
fn no_decision_can_be_made_from_the_settings() {
    let mut rig = settings();

    rig.press("r i ctrl-s j k enter / f v c");
    rig.advance(Duration::seconds(30));

    assert_eq!(rig.sent(), 0);
    assert!(rig.screen().contains("Keys and clients"), "{}", rig.screen());
}

#[test]
fn a_service_that_cannot_write_is_said_so_until_it_can() {
    let mut rig = Rig::new(morning(clock().now()));
    *rig.service.unwritable.lock().unwrap() = Some(ServiceError::Unavailable("the disk is full".to_owned()));

    rig.advance(Duration::seconds(61));
    let screen = rig.screen();
    assert!(screen.contains("▲ nothing can be recorded"), "{screen}");
    assert!(screen.contains("the disk is full"), "{screen}");
    rig.advance(Duration::minutes(5));
    assert!(rig.screen().contains("▲ nothing can be recorded"), "{}", rig.screen());
    *rig.service.unwritable.lock().unwrap() = None;
    rig.advance(Duration::seconds(6));

    assert!(rig.screen().contains("● live"), "{}", rig.screen());
    assert!(rig.screen().contains("Answers can be recorded again"), "{}", rig.screen());
}
