//! The profiles on the Settings screen: which one is open, where each one's credential is, and a key that goes there.

use avert::{
    console::{
        Message, NextConsole, SessionInfo,
        message::Effect,
        runner::Runner,
        setting::{CredentialPlace, ListedProfile},
    },
    domain::{Environment, time::Clock as _},
};
use rstest::rstest;

use super::{
    fake::credentials,
    rig::{Made, Rig, records},
};

fn profile(name: &str, environment: Option<Environment>, credential: CredentialPlace) -> ListedProfile {
    ListedProfile {
        name: name.to_owned(),
        address: format!("{name}.alerts.example"),
        environment,
        read_only: false,
        current: false,
        here: false,
        credential,
        barred_by: None,
    }
}

/// Four of them, the first of which is open.
pub fn profiles() -> Vec<ListedProfile> {
    vec![
        ListedProfile {
            here: true,
            current: true,
            ..profile("shop-eu", Some(Environment::Production), CredentialPlace::Keyring)
        },
        ListedProfile { read_only: true, ..profile("shop-us", Some(Environment::Sandbox), CredentialPlace::PlainFile) },
        ListedProfile { barred_by: Some("AVERT_API_KEY"), ..profile("trial", None, CredentialPlace::Nowhere) },
        ListedProfile {
            address: "this machine".to_owned(),
            ..profile("local", Some(Environment::Sandbox), CredentialPlace::NotNeeded)
        },
    ]
}

fn made() -> Made {
    let mut made = Made { profiles: profiles(), ..Made::default() };
    made.place = SessionInfo {
        profiles: vec!["shop-us".to_owned(), "local".to_owned()],
        facts: vec![
            ("service", "another deployment at shop-eu.alerts.example, current dialect".to_owned()),
            ("credentials", "this console's own is kept in the system's keyring (avert, shop-eu)".to_owned()),
            ("desk", "views, drafts and journal in /home/omar/.local/share/avert/desk/shop-eu".to_owned()),
        ],
        ..made.place
    };
    made
}

fn settings(made: Made) -> Rig {
    let mut rig = made.start();
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press("5");
    rig
}

#[test]
fn they_have_their_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut rig = settings(Made { size: (width, height), ..made() });
        rig.press("tab j");
        insta::assert_snapshot!(format!("profiles@{width}x{height}"), rig.screen());
    }
}

#[rstest]
#[case("shop-eu", &["PRODUCTION", "keyring", "open here"])]
#[case("shop-us", &["sandbox", "plain file", "read-only"])]
#[case("trial", &["unset", "none saved"])]
#[case("local", &["sandbox", "none needed", "this machine"])]
fn each_is_told_with_its_world_and_where_its_credential_is(#[case] name: &str, #[case] words: &[&str]) {
    let mut rig = settings(made());

    let screen = rig.screen();

    let row = screen
        .lines()
        .find(|line| line.trim_start_matches(['▌', ' ']).starts_with(name))
        .unwrap_or_else(|| panic!("{screen}"));
    assert!(words.iter().all(|word| row.contains(word)), "{row}");
}

#[test]
fn enter_leaves_for_the_console_of_the_profile_under_the_cursor() {
    let mut rig = settings(made());

    rig.press("tab j enter");

    assert_eq!(rig.app.next_console(), Some(&NextConsole::Profile("shop-us".to_owned())));
}

#[rstest]
#[case("tab enter", "shop-eu")]
#[case("tab j j enter", "trial cannot be opened here because of AVERT_API_KEY.")]
#[case("tab j space", "space")]
fn what_is_open_already_or_cannot_be_opened_says_so(#[case] keys: &str, #[case] words: &str) {
    let mut rig = settings(made());

    rig.press(keys);

    assert_eq!(rig.app.next_console(), None);
    assert!(rig.screen().contains(words), "{}", rig.screen());
}

#[test]
fn a_profile_that_was_added_meanwhile_is_opened_as_all_others() {
    let mut rig = settings(made());
    let added = profile("team", Some(Environment::Sandbox), CredentialPlace::PlainFile);

    rig.update(Message::Profiles(Ok([profiles(), vec![added]].concat())));
    rig.press("tab j j j j enter");

    assert_eq!(rig.app.next_console(), Some(&NextConsole::Profile("team".to_owned())));
}

#[test]
fn the_palette_knows_a_profile_that_was_added_meanwhile() {
    let mut rig = settings(made());
    let added = profile("team", Some(Environment::Sandbox), CredentialPlace::PlainFile);

    rig.update(Message::Profiles(Ok([profiles(), vec![added]].concat())));
    rig.press(": t e a m");

    assert!(rig.screen().contains("Open its console"), "{}", rig.screen());
}

#[test]
fn profiles_that_cannot_be_listed_are_said_so_and_the_cursor_goes_by() {
    let mut rig = settings(made());
    rig.profiles_now = Err("profiles.toml:3: unknown field `ulr`".to_owned());

    rig.press("tab ctrl-r");
    let screen = rig.screen();
    rig.press("tab");

    assert!(screen.contains("Not available: profiles.toml:3: unknown field `ulr`"), "{screen}");
    assert!(rig.screen().lines().any(|line| line.starts_with("▌ theme")), "{}", rig.screen());
}

#[tokio::test]
async fn where_this_user_has_no_profiles_it_says_so_and_loads_nothing() {
    let mut rig = settings(made());
    let (messages, mut told) = tokio::sync::mpsc::unbounded_channel();
    let mut runner = Runner::new(rig.service.deployment(), None, records(), messages);

    runner.run(Effect::ListProfiles);
    rig.update(told.recv().await.unwrap());

    let screen = rig.screen();
    assert!(screen.contains("Not available: no settings directory") && !screen.contains("Loading"), "{screen}");
}

#[test]
fn a_screen_that_is_too_low_for_all_has_a_scrollbar_and_shows_its_end_with_the_last_row() {
    let mut rig = settings(Made { size: (80, 24), ..made() });

    let first = rig.screen();
    rig.press("tab tab end");

    assert!(first.contains('┃') && !first.contains("quiet hours"), "{first}");
    assert!(rig.screen().contains("views, drafts and journal"), "{}", rig.screen());
}

#[test]
fn revoking_is_offered_where_there_is_a_key() {
    let mut rig = Made::default().start();

    rig.press("5");
    let none = rig.screen();
    rig.service.credentials.lock().unwrap().extend(credentials(rig.clock.now()));
    rig.press("ctrl-r");

    assert!(!none.contains("revoke"), "{none}");
    assert!(rig.screen().contains("x revoke"), "{}", rig.screen());
}

#[test]
fn the_scope_of_a_key_is_whole() {
    let mut rig = settings(made());

    rig.press("n down down enter d");

    assert!(rig.screen().contains("alerts,operator"), "{}", rig.screen());
}
