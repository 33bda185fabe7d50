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

/// Least severity that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// Errors.
    Error,
    /// Errors and warnings.
    Warn,
    /// Errors, warnings and events.
    Info,
    /// Events with details.
    Debug,
    /// Everything.
    Trace,
}

impl LogLevel {
    /// Returns the level as the log filters by it.
    pub const fn filter(self) -> LevelFilter {
        match self {
            Self::Off => LevelFilter::OFF,
            Self::Error => LevelFilter::ERROR,
            Self::Warn => LevelFilter::WARN,
            Self::Info => LevelFilter::INFO,
            Self::Debug => LevelFilter::DEBUG,
            Self::Trace => LevelFilter::TRACE,
        }
    }
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

/// Defines whole numbers within bounds, read from a text and from a settings file.
macro_rules! bounded {
    ($($(#[$about:meta])* pub struct $name:ident($least:literal..=$most:literal, $unit:literal);)+) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub u32);

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let number = text.trim().parse::<u32>().ok().filter(|number| ($least..=$most).contains(number));
                number.map(Self).ok_or_else(|| format!("{text:?} is not allowed: {} from {} to \
                    {}", $unit, $least, $most))
            }
        }

        parsed!($name);
    )+};
}

bounded! {
    /// Whole hours, 1 to 8760 (a year).
    pub struct Hours(1..=8760, "whole hours");

    /// Whole days, 0 to 3650.
    pub struct Days(0..=3650, "whole days");

    /// Whole seconds, 0 to 60.
    pub struct GraceSeconds(0..=60, "whole seconds");

    /// Whole minutes, 0 to 1440 (a day).
    pub struct BeforeMinutes(0..=1_440, "whole minutes");

    /// Requests for access tokens of a client from one address that may fail in a minute, 1 to 10000.
    pub struct TokensPerMinute(1..=10_000, "whole numbers");

    /// Open connections of one address, 1 to 4096.
    pub struct ConnectionsPerAddress(1..=4_096, "whole numbers");

    /// Connections of one process to a database on a server, 3 to 1000.
    pub struct DatabaseConnections(3..=1_000, "whole numbers");

    /// Webhook endpoints of an organization, 1 to 1000.
    pub struct EndpointsPerOrganization(1..=1_000, "whole numbers");

    /// Longest time of one list, in whole seconds, 1 to 60.
    pub struct ListSeconds(1..=60, "whole seconds");

    /// Whole seconds, 1 to 60.
    pub struct TimeoutSeconds(1..=60, "whole seconds");

    /// Whole seconds, 0 to 86400 (a day).
    pub struct LagSeconds(0..=86_400, "whole seconds");

    /// Calls at the same time, 1 to 1000.
    pub struct Places(1..=1_000, "whole numbers");

    /// Failures in a row, 1 to 1000.
    pub struct Failures(1..=1_000, "whole numbers");

    /// Whole seconds, 1 to 3600.
    pub struct PauseSeconds(1..=3_600, "whole seconds");

    /// Whole seconds, 1 to 3600.
    pub struct PullSeconds(1..=3_600, "whole seconds");
}

parsed!(Listen, TrustedProxy);

impl<'de> Deserialize<'de> for Hours {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_file(deserializer)
    }
}

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

words!(SimulatorFault, TimesSetting, ThemeSetting, DesktopSetting, LogLevel);
