//! The settings that are changed while the console is open: one table of what each is called, may be, is, and does when
//! it changes.

use std::time::Duration;

use super::{Preferences, setting::SettingValue, theme::ThemeName};
use crate::domain::QuietHours;

/// A setting that can be changed here.
#[derive(Debug)]
pub struct UserSetting {
    /// The table of the settings file that it stands in, and its name there.
    pub table: &'static str,
    pub key: &'static str,
    /// Its name on the screen.
    pub label: &'static str,
    /// Values to choose from, and what they mean.
    pub options: &'static [(SettingValue, &'static str)],
    /// Returns its value.
    pub current: fn(&Preferences) -> SettingValue,
    /// Has it be this from now on.
    pub apply: fn(&mut Preferences, SettingValue),
}

/// A setting is the one of its name.
impl PartialEq for UserSetting {
    fn eq(&self, other: &Self) -> bool {
        (self.table, self.key) == (other.table, other.key)
    }
}

impl Eq for UserSetting {}

use SettingValue::{Flag, Hours, Number, Word};

const UNDO: &str = "seconds to undo an answer";
const REMINDER: &str = "minutes before an alert is due";
const QUIET: &str = "local time, without bell and desktop messages";

/// Every one, in the order of the screen.
pub const USER_SETTINGS: &[UserSetting] = &[
    UserSetting {
        table: "console",
        key: "theme",
        label: "theme",
        options: &[
            (Word("auto"), "by the terminal's background"),
            (Word("dark"), "for dark backgrounds"),
            (Word("light"), "for light backgrounds"),
            (Word("high-contrast"), "the strongest contrast"),
            (Word("ansi"), "the terminal's 16 colours, on its black"),
        ],
        current: |preferences| Word(preferences.theme.map_or("auto", ThemeName::as_str)),
        apply: |preferences, value| preferences.theme = value.to_string().parse().ok(),
    },
    UserSetting {
        table: "console",
        key: "grace_seconds",
        label: "undo time (s)",
        options: &[
            (Number(0), "answers are sent at once, no undo"),
            (Number(2), UNDO),
            (Number(5), UNDO),
            (Number(10), UNDO),
            (Number(20), UNDO),
            (Number(60), UNDO),
        ],
        current: |preferences| Number(u32::try_from(preferences.undo_window.as_secs()).unwrap_or(u32::MAX)),
        apply: |preferences, value| preferences.undo_window = Duration::from_secs(value.number().into()),
    },
    UserSetting {
        table: "console",
        key: "mouse",
        label: "mouse",
        options: &[(Flag(true), "clicks and wheel work here"), (Flag(false), "the terminal selects text")],
        current: |preferences| Flag(preferences.mouse),
        apply: |preferences, value| preferences.mouse = value == Flag(true),
    },
    UserSetting {
        table: "console",
        key: "times",
        label: "times",
        options: &[(Word("local"), "this machine's time zone"), (Word("utc"), "UTC")],
        current: |preferences| Word(if preferences.utc { "utc" } else { "local" }),
        apply: |preferences, value| preferences.utc = value == Word("utc"),
    },
    UserSetting {
        table: "notices",
        key: "bell",
        label: "bell",
        options: &[(Flag(true), "rings for due and failed answers"), (Flag(false), "never rings")],
        current: |preferences| Flag(preferences.reminders.bell),
        apply: |preferences, value| preferences.reminders.bell = value == Flag(true),
    },
    UserSetting {
        table: "notices",
        key: "before_minutes",
        label: "reminder (min)",
        options: &[
            (Number(0), "no reminder"),
            (Number(15), REMINDER),
            (Number(30), REMINDER),
            (Number(60), REMINDER),
            (Number(120), REMINDER),
        ],
        current: |preferences| Number(u32::try_from(preferences.reminders.before.num_minutes()).unwrap_or_default()),
        apply: |preferences, value| preferences.reminders.before = chrono::Duration::minutes(value.number().into()),
    },
    UserSetting {
        table: "notices",
        key: "quiet",
        label: "quiet hours",
        options: &[
            (Hours(None), "rings at any time"),
            (Hours(Some(QuietHours::of_hours(18, 8))), QUIET),
            (Hours(Some(QuietHours::of_hours(20, 8))), QUIET),
            (Hours(Some(QuietHours::of_hours(22, 7))), QUIET),
        ],
        current: |preferences| Hours(preferences.reminders.quiet),
        apply: |preferences, value| preferences.reminders.quiet = if let Hours(quiet) = value { quiet } else { None },
    },
];

impl UserSetting {
    /// Returns the meaning of its value.
    pub fn words(&self, value: SettingValue) -> &'static str {
        self.options.iter().find(|(option, _)| *option == value).map_or("", |(_, words)| words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_usual_can_be_chosen_again() {
        for setting in USER_SETTINGS {
            let usual = (setting.current)(&Preferences::default());

            assert!(setting.options.iter().any(|(option, _)| *option == usual), "{} is {usual}", setting.key);
        }
    }
}
