//! Settings that can be changed in a session: their values, what is stronger than the file, and who keeps
//! them.

use std::{fmt, path::PathBuf};

use crate::domain::QuietHours;

/// The value of a setting, as the settings file has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingValue {
    /// One of some words.
    Word(&'static str),
    /// A whole number.
    Number(u32),
    /// Yes or no.
    Flag(bool),
    /// Hours of the day, or none.
    Hours(Option<QuietHours>),
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Hours(Some(hours)) => hours.fmt(f),
            Self::Hours(None) => f.write_str("none"),
        }
    }
}

impl SettingValue {
    /// As it is shown: a flag is on or off.
    pub fn shown(self) -> String {
        match self {
            Self::Flag(flag) => if flag { "on" } else { "off" }.to_owned(),
            other => other.to_string(),
        }
    }
}

/// A setting that is stronger than the file for this console, and what says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingOverride {
    /// The name of the setting in the file.
    pub key: &'static str,
    /// The flag or variable.
    pub by: String,
}

/// Whoever keeps settings in their file.
pub trait SettingsKeeper: Send + Sync {
    /// Keeps the setting of this name in this table.
    ///
    /// # Errors
    /// In words, when it could not be kept; then the file is as it was.
    fn keep(&self, table: &str, key: &str, value: SettingValue) -> Result<(), String>;

    /// The values of all settings that can be changed here, in the order of their table, as a console would open with
    /// them now.
    ///
    /// # Errors
    /// The trouble with the file, in words.
    fn read(&self) -> Result<Vec<SettingValue>, String>;

    /// The files that it reads.
    fn files(&self) -> Vec<PathBuf>;
}
