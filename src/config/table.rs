//! Tables of settings: a setting is one line with its name, type, default and environment variable, below its help.

use std::{fmt::Display, path::PathBuf, str::FromStr};

use serde::{Deserialize, Deserializer, de::Error as _};

/// Error of a setting, in a file or in the environment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the settings file {} cannot be read: {reason}", file.display())]
    Unreadable {
        file: PathBuf,
        /// Reason that the system gives.
        reason: String,
    },
    /// A line of the file is wrong.
    #[error("{}:{line}: {message}", file.display())]
    Line {
        file: PathBuf,
        /// Number of the line, from 1.
        line: usize,
        message: String,
    },
    /// An environment variable is wrong.
    #[error("{variable}: {message}")]
    Variable { variable: &'static str, message: String },
}

/// Description of a setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Key in its section.
    pub name: &'static str,
    /// Default, as it is written in the file.
    pub default: &'static str,
    /// Environment variable, which overrides the file; empty where there is none.
    pub variable: &'static str,
    /// Help text.
    pub help: &'static str,
    /// JSON schema of the value.
    #[cfg(test)]
    pub(super) schema: fn() -> serde_json::Value,
}

/// Section of the settings file.
#[derive(Debug, Clone)]
pub struct SettingSection {
    /// Heading, such as `windows.types`; empty above all headings.
    pub name: String,
    /// Help text of the section.
    pub help: &'static str,
    /// Settings of the section, in the order of the file.
    pub settings: &'static [Setting],
}

/// Table of settings.
pub(super) trait SettingTable {
    /// Sets the settings that the environment names; none of a table of the file alone.
    fn read_environment(&mut self, _lookup: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        Ok(())
    }

    /// Adds the table, and those inside it, to `all`; by itself a table whose keys are free.
    fn describe(name: &str, help: &'static str, all: &mut Vec<SettingSection>) {
        all.push(SettingSection { name: name.to_owned(), help, settings: &[] });
    }
}

/// Type of a setting's value. The message of a refusal says what is allowed.
pub(super) trait SettingType: Sized {
    /// Reads a text of the environment, or a single value of the file.
    fn read(text: &str) -> Result<Self, String>;

    /// Reads a list of the file.
    fn read_items(_items: &[String]) -> Result<Self, String> {
        Err("a list is not allowed: one value".to_owned())
    }
}

/// Type of a setting's value, in a JSON schema.
#[cfg(test)]
pub(super) trait SettingSchema {
    /// Returns the schema of a value in the file. A text with a form of its own, such as an address, is a text to it.
    fn schema() -> serde_json::Value;
}

macro_rules! parsed {
    ($($kind:ty),+) => {$(
        impl $crate::config::table::SettingType for $kind {
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|error| format!("{error}"))
            }
        }
    )+};
}

parsed!(String, PathBuf);

impl SettingType for bool {
    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("{text:?} is not allowed: true or false"))
    }
}

/// Reads an empty text as `None`.
impl<T: FromStr<Err: Display>> SettingType for Option<T> {
    fn read(text: &str) -> Result<Self, String> {
        Some(text).filter(|text| !text.is_empty()).map(parse).transpose()
    }
}

/// Reads items between commas; empty ones are left out.
impl<T: FromStr<Err: Display>> SettingType for Vec<T> {
    fn read(text: &str) -> Result<Self, String> {
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(parse).collect()
    }

    fn read_items(items: &[String]) -> Result<Self, String> {
        items.iter().map(|item| parse(item)).collect()
    }
}

fn parse<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// Reads a value of the file.
pub(super) fn from_file<'de, D: Deserializer<'de>, T: SettingType>(deserializer: D) -> Result<T, D::Error> {
    read_value(toml::Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// Reads a value in the form of the file.
pub(super) fn read_value<T: SettingType>(value: toml::Value) -> Result<T, String> {
    let text = |value: toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match value {
        toml::Value::Array(items) => T::read_items(&items.into_iter().map(text).collect::<Vec<_>>()),
        toml::Value::Table(_) => Err("a table is not allowed: one value".to_owned()),
        value => T::read(&text(value)),
    }
}

/// Sets a field to the value of its environment variable, where that is set.
pub(super) fn read_variable<T: SettingType>(
    field: &mut T,
    variable: &'static str,
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<(), ConfigError> {
    // A shell unsets a variable by an empty value, so an empty one is not set.
    if let Some(text) = lookup(variable).filter(|text| !text.is_empty()) {
        *field = T::read(&text).map_err(|message| ConfigError::Variable { variable, message })?;
    }
    Ok(())
}

/// Defines a table of settings, and below `tables` those inside it.
macro_rules! table {
    (
        $(#[$about:meta])*
        $Table:ident { $(
            $(#[doc = $help:literal])+
            $name:ident: $kind:ty = $default:tt $(, $variable:literal)?;
        )* }
        $(tables { $(
            $(#[doc = $inside:literal])+
            $(#[serde($($how:tt)*)])?
            $inner:ident: $Inner:ty;
        )* })?
    ) => {
        #[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $(#[$about])*
        pub struct $Table {
            $(
                $(#[doc = $help])+
                #[serde(deserialize_with = "crate::config::table::from_file")]
                pub $name: $kind,
            )*
            $($(
                $(#[doc = $inside])+
                $(#[serde($($how)*)])?
                pub $inner: $Inner,
            )*)?
        }

        impl Default for $Table {
            fn default() -> Self {
                Self {
                    $($name: crate::config::table::default_of(stringify!($default)),)*
                    $($($inner: Default::default(),)*)?
                }
            }
        }

        impl crate::config::table::SettingTable for $Table {
            fn read_environment(
                &mut self,
                lookup: &dyn Fn(&str) -> Option<String>,
            ) -> Result<(), crate::config::table::ConfigError> {
                $($(crate::config::table::read_variable(&mut self.$name, $variable, lookup)?;)?)*
                $($(self.$inner.read_environment(lookup)?;)*)?
                let _ = lookup;
                Ok(())
            }

            fn describe(name: &str, help: &'static str, all: &mut Vec<crate::config::table::SettingSection>) {
                const SETTINGS: &[crate::config::table::Setting] = &[$(crate::config::table::Setting {
                    name: stringify!($name),
                    default: stringify!($default),
                    variable: concat!($($variable)?),
                    help: concat!($($help),+),
                    #[cfg(test)]
                    schema: <$kind as crate::config::table::SettingSchema>::schema,
                },)*];
                all.push(crate::config::table::SettingSection { name: name.to_owned(), help, settings: SETTINGS });
                $($(
                    let inside = [name, stringify!($inner)].join(if name.is_empty() { "" } else { "." });
                    <$Inner as crate::config::table::SettingTable>::describe(&inside, concat!($($inside),+), all);
                )*)?
            }
        }
    };
}

pub(super) use parsed;
pub(super) use table;

/// Reads the default of a table's line.
pub(super) fn default_of<T: SettingType>(default: &str) -> T {
    let value = default.parse::<toml::Value>().map_err(|error| error.to_string());
    value.and_then(read_value).expect("a default is a value of its setting")
}
