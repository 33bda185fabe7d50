//! The draw context: what every part of the screen is drawn with.

use ratatui::style::{Modifier, Style};

use super::decisions::Decisions;
use super::keymap::Keymap;
use super::times::{Urgency, Zone};
use super::unfinished::Unfinished;
use super::{Action, Theme};
use crate::domain::{Dialect, Timestamp};

/// The draw context: theme, time and words.
#[derive(Clone, Copy)]
pub struct DrawContext<'a> {
    pub theme: &'a Theme,
    pub now: Timestamp,
    /// The analyst's time zone.
    pub zone: Zone,
    pub keymap: &'a Keymap,
    pub decisions: &'a Decisions,
    /// What the engine has not finished.
    pub unfinished: &'a Unfinished,
    /// In whose words decisions are given.
    pub dialect: Dialect,
}

impl DrawContext<'_> {
    /// The style of a time that is left.
    pub fn urgency(&self, urgency: Urgency) -> Style {
        match urgency {
            Urgency::Now => self.theme.danger,
            Urgency::Soon => self.theme.warning,
            Urgency::Today => self.theme.plain,
            Urgency::Later | Urgency::Over => self.theme.quiet,
        }
    }

    /// Digits: as bright as what decides, but not bold.
    pub fn digits(&self) -> Style {
        self.theme.strong.remove_modifier(Modifier::BOLD)
    }

    /// The key to name for an action.
    pub fn key(&self, action: Action) -> String {
        self.keymap.key_of(action)
    }
}
