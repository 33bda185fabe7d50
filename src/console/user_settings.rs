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
        apply: |preferences, value| {
            if let Word(word) = value {
                preferences.theme = word.parse().ok();
            }
        },
    },
    UserSetting {
        table: "console",
        key: "grace_seconds",
        label: "undo time (s)",
        options: &[
            (Number(0), "answers are sent at once, no undo"),
            (Number(2), "seconds to undo an answer"),
            (Number(5), "seconds to undo an answer"),
            (Number(10), "seconds to undo an answer"),
            (Number(20), "seconds to undo an answer"),
            (Number(60), "seconds to undo an answer"),
        ],
        current: |preferences| Number(u32::try_from(preferences.undo_window.as_secs()).unwrap_or(u32::MAX)),
        apply: |preferences, value| {
            if let Number(seconds) = value {
                preferences.undo_window = Duration::from_secs(seconds.into());
            }
        },
    },
    UserSetting {
        table: "console",
        key: "mouse",
        label: "mouse",
        options: &[(Flag(true), "clicks and wheel work here"), (Flag(false), "the terminal selects text")],
        current: |preferences| Flag(preferences.mouse),
        apply: |preferences, value| {
            if let Flag(mouse) = value {
                preferences.mouse = mouse;
            }
        },
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
        current: |preferences| Flag(preferences.notices.bell),
        apply: |preferences, value| {
            if let Flag(bell) = value {
                preferences.notices.bell = bell;
            }
        },
    },
    UserSetting {
        table: "notices",
        key: "before_minutes",
        label: "reminder (min)",
        options: &[
            (Number(0), "no reminder"),
            (Number(15), "minutes before an alert is due"),
            (Number(30), "minutes before an alert is due"),
            (Number(60), "minutes before an alert is due"),
            (Number(120), "minutes before an alert is due"),
        ],
        current: |preferences| Number(u32::try_from(preferences.notices.before.num_minutes()).unwrap_or_default()),
        apply: |preferences, value| {
            if let Number(minutes) = value {
                preferences.notices.before = chrono::Duration::minutes(minutes.into());
            }
        },
    },
    UserSetting {
        table: "notices",
        key: "quiet",
        label: "quiet hours",
        options: &[
            (Hours(None), "rings at any time"),
            (Hours(Some(QuietHours::of_hours(18, 8))), "local time, without bell and desktop messages"),
            (Hours(Some(QuietHours::of_hours(20, 8))), "local time, without bell and desktop messages"),
            (Hours(Some(QuietHours::of_hours(22, 7))), "local time, without bell and desktop messages"),
        ],
        current: |preferences| Hours(preferences.notices.quiet),
        apply: |preferences, value| {
            if let Hours(quiet) = value {
                preferences.notices.quiet = quiet;
            }
        },
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
