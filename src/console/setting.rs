//! Settings, rules and profiles, as a console reads and changes them in their files.

use std::{fmt, path::PathBuf};

use crate::{
    desk::SecretStorage,
    domain::{Environment, QuietHours, rule::DecisionRule},
};

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
    /// Returns its number; 0 of what is none.
    pub fn number(self) -> u32 {
        if let Self::Number(number) = self { number } else { 0 }
    }

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

/// Rules as they were read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadRules {
    pub rules: Vec<DecisionRule>,
    /// Where they are, in words.
    pub place: String,
}

/// Where the rules of a console are.
pub trait RulesFile: Send + Sync {
    /// Reads them.
    ///
    /// # Errors
    /// The trouble, in words; then the rules that were read before stay.
    fn read(&self) -> Result<ReadRules, String>;

    /// The file that it reads, where there can be one.
    fn files(&self) -> Vec<PathBuf>;
}

/// A profile as it is listed: what a console can be opened on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProfile {
    pub name: String,
    /// Where it is, in words.
    pub address: String,
    /// Its environment; none where nobody has said it.
    pub environment: Option<Environment>,
    pub read_only: bool,
    /// True where it is meant where none is named.
    pub current: bool,
    /// True where this console is on it.
    pub here: bool,
    pub credential: CredentialPlace,
    /// The variable of the environment whose credential would go to it: it cannot be opened from here.
    pub barred_by: Option<&'static str>,
}

/// Where the credential of a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialPlace {
    /// In the system's keyring.
    Keyring,
    /// In `secrets.toml`, as plain text.
    PlainFile,
    /// A variable of the environment names it.
    Environment,
    /// Nowhere.
    Nowhere,
    /// The keyring does not say.
    Unknown,
    /// None is needed.
    NotNeeded,
}

impl From<SecretStorage> for CredentialPlace {
    fn from(storage: SecretStorage) -> Self {
        match storage {
            SecretStorage::Keyring => Self::Keyring,
            SecretStorage::PlainFile => Self::PlainFile,
        }
    }
}

/// Where the profiles of a user are.
pub trait ProfileDirectory: Send + Sync {
    /// Lists them. A keyring may take its time.
    ///
    /// # Errors
    /// The trouble, in words.
    fn list(&self) -> Result<Vec<ListedProfile>, String>;

    /// The files that it reads.
    fn files(&self) -> Vec<PathBuf>;
}
