//! The settings that are changed while the console is open: one table of what each is called, may be, is, and does when
//! it changes.

use std::time::Duration;

use super::Preferences;
use super::setting::SettingValue;
use super::theme::ThemeName;
use super::times::ShownClocks;
use crate::domain::QuietHours;

/// A setting that can be changed here.
#[derive(Debug)]
pub struct UserSetting {
    /// The table of the settings file that it stands in, and its name there.
    pub table: &'static str,
    pub key: &'static str,
    /// What it is called on the screen.
    pub label: &'static str,
    /// What can be chosen, and what that means.
    pub options: &'static [(SettingValue, &'static str)],
    /// What it is now.
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
            (Word("auto"), "as the terminal's background calls for"),
            (Word("dark"), "for dark backgrounds"),
            (Word("light"), "for light backgrounds"),
            (Word("high-contrast"), "the strongest contrast"),
            (Word("ansi"), "the terminal's 16 colours, on its black"),
        ],
        current: |preferences| Word(theme_word(preferences.theme)),
        apply: |preferences, value| {
            if let Word(word) = value {
                preferences.theme = THEMES.iter().find(|(_, known)| *known == word).map(|(name, _)| *name);
            }
        },
    },
    UserSetting {
        table: "console",
        key: "grace_seconds",
        label: "grace (s)",
        options: &[
            (Number(0), "a decision leaves at once and cannot be taken back"),
            (Number(2), "seconds in which a decision can be taken back"),
            (Number(5), "seconds in which a decision can be taken back"),
            (Number(10), "seconds in which a decision can be taken back"),
            (Number(20), "seconds in which a decision can be taken back"),
            (Number(60), "seconds in which a decision can be taken back"),
        ],
        current: |preferences| Number(u32::try_from(preferences.grace.as_secs()).unwrap_or(u32::MAX)),
        apply: |preferences, value| {
            if let Number(seconds) = value {
                preferences.grace = Duration::from_secs(seconds.into());
            }
        },
    },
    UserSetting {
        table: "console",
        key: "mouse",
        label: "mouse",
        options: &[
            (Flag(true), "clicks and the wheel work here"),
            (Flag(false), "the terminal has it, and selects text"),
        ],
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
        options: &[
            (Word("both"), "UTC, and beside it the time of this machine"),
            (Word("utc"), "UTC alone"),
            (Word("local"), "the time of this machine alone"),
        ],
        current: |preferences| {
            Word(CLOCKS.iter().find(|(clocks, _)| *clocks == preferences.clocks).map_or("both", |(_, word)| word))
        },
        apply: |preferences, value| {
            if let Some((clocks, _)) = CLOCKS.iter().find(|(_, known)| value == Word(known)) {
                preferences.clocks = *clocks;
            }
        },
    },
    UserSetting {
        table: "notices",
        key: "bell",
        label: "bell",
        options: &[(Flag(true), "rings for what lapses soon and for what failed"), (Flag(false), "never rings")],
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
        label: "calls (min)",
        options: &[
            (Number(0), "before a deadline: not at all"),
            (Number(15), "minutes before a deadline it calls"),
            (Number(30), "minutes before a deadline it calls"),
            (Number(60), "minutes before a deadline it calls"),
            (Number(120), "minutes before a deadline it calls"),
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
            (Hours(None), "it may ring at any time"),
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

/// Clocks that moments are told by, and their words.
const CLOCKS: [(ShownClocks, &str); 3] =
    [(ShownClocks::Both, "both"), (ShownClocks::Utc, "utc"), (ShownClocks::Local, "local")];

/// Themes that are settings, and their words.
const THEMES: [(ThemeName, &str); 4] = [
    (ThemeName::Dark, "dark"),
    (ThemeName::Light, "light"),
    (ThemeName::HighContrast, "high-contrast"),
    (ThemeName::Ansi, "ansi"),
];

fn theme_word(theme: Option<ThemeName>) -> &'static str {
    THEMES.iter().find(|(name, _)| Some(*name) == theme).map_or("auto", |(_, word)| word)
}

impl UserSetting {
    /// What the value of now means.
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
