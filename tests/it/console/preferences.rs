//! Settings that are changed on the Settings screen: chosen, at once in force, kept, and what is stronger than the
//! file.

use avert::{
    console::{
        Message, Preferences,
        message::Effect,
        setting::{SettingOverride, SettingValue},
        user_settings::USER_SETTINGS,
    },
    domain::time::Clock,
};

use super::{
    fake::credentials,
    rig::{Made, Rig},
};

fn settings(made: Made) -> Rig {
    let mut rig = made.start();
    let now = rig.clock.now();
    rig.service.credentials.lock().unwrap().extend(credentials(now));
    rig.press("5 tab");
    rig
}

fn kept(rig: &Rig) -> Vec<(&'static str, SettingValue)> {
    let kept = |effect: &Effect| match effect {
        Effect::KeepSetting(setting, value) => Some((setting.key, *value)),
        _ => None,
    };
    rig.done.iter().filter_map(kept).collect()
}

#[test]
fn the_list_has_its_pictures() {
    for (width, height) in [(80, 24), (120, 40)] {
        let overrides = vec![SettingOverride { key: "grace_seconds", by: "AVERT_GRACE_SECONDS".to_owned() }];
        let mut rig = settings(Made { size: (width, height), overrides, ..Made::default() });
        rig.press("j");
        insta::assert_snapshot!(format!("settings@{width}x{height}"), rig.screen());
        rig.press("k enter");
        insta::assert_snapshot!(format!("choice@{width}x{height}"), rig.screen());
    }
}

#[test]
fn a_theme_that_is_chosen_is_worn_at_once_and_kept() {
    let mut rig = settings(Made::default());
    let before = rig.draw()[(0, 0)].bg;

    rig.press("enter down down enter");

    assert_ne!(rig.draw()[(0, 0)].bg, before);
    assert_eq!(kept(&rig), [("theme", SettingValue::Word("light"))]);
    assert!(rig.screen().contains("theme: light, kept."), "{}", rig.screen());
}

#[test]
fn a_grace_that_is_chosen_holds_for_the_next_decision() {
    let mut rig = settings(Made::default());

    rig.press("j enter home enter 1 n ctrl-s");

    assert_eq!(kept(&rig), [("grace_seconds", SettingValue::Number(0))]);
    assert_eq!(rig.sent(), 1);
}

#[test]
fn a_value_that_the_list_does_not_have_is_offered_first_and_stays_where_one_only_looks() {
    let mut rig = settings(Made { undo_window: std::time::Duration::from_secs(7), ..Made::default() });

    rig.press("j enter");
    let list = rig.screen();
    rig.press("enter");

    assert!(list.contains("current"), "{list}");
    assert_eq!(kept(&rig), [("grace_seconds", SettingValue::Number(7))]);
}

#[test]
fn the_mouse_is_given_to_the_terminal_and_taken_again() {
    let mut rig = settings(Made::default());

    rig.press("j j enter down enter");
    rig.press("enter up enter");

    let mouse: Vec<_> = rig.done.iter().filter(|effect| matches!(effect, Effect::Mouse(_))).collect();
    assert_eq!(mouse, [&Effect::Mouse(false), &Effect::Mouse(true)]);
}

#[test]
fn the_clocks_that_moments_are_told_by_change_at_once() {
    let mut rig = settings(Made { utc: false, ..Made::default() });
    let before = rig.screen();

    rig.press("j j j enter end enter");

    assert!(before.lines().next().is_some_and(|line| line.contains("18:03 UTC+4")), "{before}");
    assert!(rig.screen().contains("14:03 UTC"), "{}", rig.screen());
}

#[test]
fn what_is_stronger_than_the_file_is_said_beside_it_and_when_it_is_changed() {
    let overrides = vec![SettingOverride { key: "theme", by: "--theme".to_owned() }];
    let mut rig = settings(Made { overrides, ..Made::default() });
    assert!(rig.screen().contains("set by --theme") && !rig.screen().contains('▲'), "{}", rig.screen());

    rig.press("enter down enter");

    assert!(rig.screen().contains("saved. --theme overrides"), "{}", rig.screen());
}

#[test]
fn what_could_not_be_kept_holds_here_and_is_said() {
    let mut rig = settings(Made::default());
    rig.keeping = Err("config.toml:3: unknown field `them`".to_owned());

    rig.press("enter end enter");

    assert!(rig.screen().contains("not saved: config.toml:3"), "{}", rig.screen());
    assert!(rig.screen().contains("ansi"), "{}", rig.screen());
}

#[test]
fn what_somebody_else_changed_in_the_file_holds_here_and_what_stands_here_alone_stays() {
    let mut rig = settings(Made::default());
    let place = |key| USER_SETTINGS.iter().position(|setting| setting.key == key).unwrap();
    let mut file: Vec<SettingValue> =
        USER_SETTINGS.iter().map(|setting| (setting.current)(&Preferences::default())).collect();
    rig.update(Message::SettingsRead(Ok(file.clone())));
    rig.keeping = Err("the disk is full".to_owned());
    rig.press("enter end enter");
    let here = rig.draw()[(0, 0)].bg;

    file[place("grace_seconds")] = SettingValue::Number(20);
    rig.update(Message::SettingsRead(Ok(file.clone())));
    let changed = (rig.screen(), rig.draw()[(0, 0)].bg);
    rig.update(Message::SettingsRead(Err("config.toml:3: unknown field".to_owned())));
    let wrong = rig.screen();
    file[place("theme")] = SettingValue::Word("light");
    rig.update(Message::SettingsRead(Ok(file)));

    assert!(changed.0.contains("Settings read again. undo time (s): 20.") && changed.1 == here, "{}", changed.0);
    assert!(wrong.contains("The earlier settings stay: config.toml:3"), "{wrong}");
    assert_ne!(rig.draw()[(0, 0)].bg, here);
}

#[test]
fn where_nothing_is_kept_nothing_is_said_to_be() {
    let mut rig = settings(Made { kept_in: None, ..Made::default() });

    rig.press("enter end enter");

    assert!(kept(&rig).is_empty());
    assert!(rig.screen().contains("for this session only"), "{}", rig.screen());
}

#[test]
fn keys_and_clients_are_out_of_reach_while_the_cursor_is_in_the_settings() {
    let mut rig = settings(Made::default());

    rig.press("x r enter");

    assert!(!rig.screen().contains("Revoke"), "{}", rig.screen());
    assert!(rig.service.credentials.lock().unwrap().iter().filter(|known| known.revoked_at.is_none()).count() == 4);
}

#[test]
fn a_second_click_changes_a_setting() {
    let mut rig = settings(Made::default());

    rig.click_on("undo time");
    rig.click_on("undo time");

    assert!(rig.screen().contains(USER_SETTINGS[1].options[0].1), "{}", rig.screen());
}

#[test]
fn notices_are_switched_where_the_console_is() {
    let mut rig = settings(Made::default());

    rig.press("j j j j enter down enter");
    rig.press("G k enter end enter");
    rig.press("G enter end enter");

    let night = SettingValue::Hours("22:00-07:00".parse().ok());
    assert_eq!(
        kept(&rig),
        [("bell", SettingValue::Flag(false)), ("before_minutes", SettingValue::Number(120)), ("quiet", night)]
    );
}
