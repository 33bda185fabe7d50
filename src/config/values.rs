//! The values of settings: words, numbers within bounds, addresses.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    str::FromStr,
};

use clap::ValueEnum;
use ipnet::IpNet;
use serde::{Deserialize, Deserializer, de::Error as _};
use tracing::level_filters::LevelFilter;

use super::table::{SettingType, from_file, parsed};
use crate::domain::{AlertType, Environment};

/// Fault that the simulator plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SimulatorFault {
    /// Answers at once, always.
    None,
    /// Fails now and then.
    Flaky,
    /// Never records an answer.
    Down,
    /// Takes seconds.
    Slow,
    /// CDRN takes seconds, the others answer at once.
    SlowCdrn,
}

/// Time zone of the console's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TimesSetting {
    /// This machine's zone.
    #[value(alias = "both")]
    Local,
    Utc,
}

/// Colours of the console.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThemeSetting {
    /// By the terminal's background.
    Auto,
    /// For dark backgrounds.
    Dark,
    /// For light backgrounds.
    Light,
    /// Strongest contrast.
    HighContrast,
    /// The terminal's own 16 colours.
    Ansi,
}

/// Sequence that brings a reminder to the desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DesktopSetting {
    /// Not at all.
    Off,
    /// By the sequence of iTerm2, WezTerm, ghostty and Windows Terminal.
    Osc9,
    /// By that of urxvt, foot, kitty and VTE.
    Osc777,
}

/// Form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Listening address: `ADDRESS:PORT`, where ADDRESS is an IP address or `localhost`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen(pub SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numeric = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
        numeric
            .as_deref()
            .unwrap_or(text)
            .parse()
            .map(Self)
            .map_err(|_| format!("{text:?} is not an address and a port, such as 127.0.0.1:7317"))
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Trusted proxy: an IP address, or a network in CIDR notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrustedProxy(pub IpNet);

impl FromStr for TrustedProxy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let address = text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
        let range = address.or_else(|_| text.parse::<IpNet>());
        range.map(Self).map_err(|_| {
            format!("{text:?} is not allowed: an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8")
        })
    }
}

/// Alert type of the interface.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeName(pub AlertType);

impl<'de> Deserialize<'de> for TypeName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = AlertType::KNOWN.iter().find(|known| known.as_str() == text).cloned().map(Self);
        known.ok_or_else(|| {
            let allowed: Vec<&str> = AlertType::KNOWN.iter().map(AlertType::as_str).collect();
            D::Error::custom(format!("{text:?} is not an alert type: one of {}", allowed.join(", ")))
        })
    }
}

/// Whole number within bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounded<const LEAST: u32, const MOST: u32>(pub u32);

/// Whole hours, up to a year.
pub type Hours = Bounded<1, 8_760>;

/// Whole days, 0 for ever.
pub type Days = Bounded<0, 3_650>;

impl<const LEAST: u32, const MOST: u32> FromStr for Bounded<LEAST, MOST> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.trim().parse().ok().filter(|number| (LEAST..=MOST).contains(number));
        number.map(Self).ok_or_else(|| format!("{text:?} is not allowed: whole numbers from {LEAST} to {MOST}"))
    }
}

impl<const LEAST: u32, const MOST: u32> SettingType for Bounded<LEAST, MOST> {
    fn read(text: &str) -> Result<Self, String> {
        text.parse()
    }
}

impl<'de, const LEAST: u32, const MOST: u32> Deserialize<'de> for Bounded<LEAST, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_file(deserializer)
    }
}

parsed!(Listen, TrustedProxy, LevelFilter);

/// Reads one of an enum's words, exactly.
pub(super) fn word<T: ValueEnum>(text: &str) -> Result<T, String> {
    T::from_str(text, false).map_err(|_| {
        let allowed: Vec<String> = T::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value)
            .map(|value| value.get_name().to_owned())
            .collect();
        format!("{text:?} is not allowed: one of {}", allowed.join(", "))
    })
}

macro_rules! words {
    ($($kind:ty),+) => {$(
        impl $crate::config::table::SettingType for $kind {
            fn read(text: &str) -> Result<Self, String> {
                $crate::config::values::word(text)
            }
        }
    )+};
}

pub(super) use words;

impl SettingType for Environment {
    fn read(text: &str) -> Result<Self, String> {
        let allowed = Self::ALL.map(Self::as_str).join(", ");
        Self::parse(text).ok_or_else(|| format!("{text:?} is not allowed: one of {allowed}"))
    }
}

words!(SimulatorFault, TimesSetting, ThemeSetting, DesktopSetting, LogFormat);
