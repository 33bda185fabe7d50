//! Notices: what the terminal is asked to do so that somebody looks up: its bell, its title, a message on the desktop.

use chrono::Duration;

use crate::{domain::QuietHours, ui::terminal::plain};

/// A sequence that has a terminal show a message on the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DesktopSequence {
    Osc9,
    Osc777,
}

/// Settings of reminders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoticeSettings {
    pub bell: bool,
    /// True where the terminal's title tells of what lapses.
    pub title: bool,
    pub desktop: Option<DesktopSequence>,
    /// Time before its deadline at which an alert calls; zero for not at all.
    pub before: Duration,
    pub quiet: Option<QuietHours>,
}

impl Default for NoticeSettings {
    fn default() -> Self {
        Self { bell: true, title: true, desktop: None, before: Duration::minutes(30), quiet: None }
    }
}

impl NoticeSettings {
    /// The notice with these words, by what is switched on.
    pub fn notice(&self, words: &str) -> Option<Notice> {
        let desktop = self.desktop.map(|sequence| (sequence, words.to_owned()));
        (self.bell || desktop.is_some()).then_some(Notice { bell: self.bell, desktop })
    }
}

/// A notice: it rings, and tells a line on the desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub bell: bool,
    pub desktop: Option<(DesktopSequence, String)>,
}

impl Notice {
    /// Returns the bytes that are written to the terminal.
    pub fn sequence(&self) -> String {
        let bell = if self.bell { "\x07" } else { "" };
        let desktop = self.desktop.as_ref().map_or_else(String::new, |(sequence, words)| {
            let words = plain(words);
            match sequence {
                DesktopSequence::Osc9 => format!("\x1b]9;{words}\x1b\\"),
                DesktopSequence::Osc777 => format!("\x1b]777;notify;avert;{words}\x1b\\"),
            }
        });
        format!("{bell}{desktop}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn notice(sequence: DesktopSequence, words: &str) -> String {
        Notice { bell: false, desktop: Some((sequence, words.to_owned())) }.sequence()
    }

    #[test]
    fn a_notice_rings_and_tells_its_words() {
        let loud = Notice { bell: true, desktop: Some((DesktopSequence::Osc9, "3 alerts".to_owned())) };

        assert_eq!(loud.sequence(), "\x07\x1b]9;3 alerts\x1b\\");
        assert_eq!(notice(DesktopSequence::Osc777, "3 alerts"), "\x1b]777;notify;avert;3 alerts\x1b\\");
    }

    #[test]
    fn nothing_is_switched_on_nothing_is_written() {
        let silent = NoticeSettings { bell: false, ..NoticeSettings::default() };

        assert_eq!(silent.notice("3 alerts"), None);
        assert_eq!(NoticeSettings::default().notice("3 alerts"), Some(Notice { bell: true, desktop: None }));
    }

    proptest! {
        #[test]
        fn no_words_end_a_sequence_or_part_its_fields(words in any::<String>()) {
            let told = notice(DesktopSequence::Osc777, &words);
            let inside = told.strip_prefix("\x1b]777;notify;avert;").and_then(|rest| rest.strip_suffix("\x1b\\"))
                .unwrap();

            prop_assert!(!inside.contains(|sign: char| sign.is_control() || sign == ';'));
        }
    }
}
