//! Configuration, layered: file < environment < flags, each with its default.
//!
//! A setting is one line of a `table!`: file, environment, defaults and the list of all settings come from it. The list
//! is written to `assets/config.default.toml` and into `avert help configuration`; a test holds them equal. A key that
//! does not exist, or a value that is not allowed, is refused with its line and with what is allowed.

#![allow(rustdoc::bare_urls, reason = "docs of settings are their help, which is plain text")]

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

mod networks;
mod rules;
mod sources;
mod table;
#[cfg(test)]
mod tests;
mod values;

pub use networks::{NetworkAuth, NetworkSections, NetworkSettings};
pub use rules::{RuleNames, RuleSections, RuleSettings};
pub use sources::{SourceName, SourceSections, SourceSettings};
pub use table::{ConfigError, Setting, SettingSection};
pub use values::*;

use table::{SettingTable, SettingType, table};
use tracing::level_filters::LevelFilter;

use crate::outbound::address::AllowedNetwork;
use crate::{
    desk::links::LinkTemplate,
    domain::{Environment, Provider, QuietHours, database::DatabaseLocation, without_mark},
};

table! {
    /// The configuration: every setting.
    Settings {
        /// Environment: sandbox or production. Keys say it, and the console shows it.
        environment: Environment = "sandbox", "AVERT_ENVIRONMENT";
        /// Name or id of the organization that commands and the console act for; empty where there is only one.
        organization: String = "", "AVERT_ORGANIZATION";
        /// File with the key that endpoints' credentials are encrypted with; empty for secret.key beside the database.
        /// On PostgreSQL it has to be named, and every process on the database needs the same one.
        secret_key_file: PathBuf = "", "AVERT_SECRET_KEY_FILE";
    }
    tables {
        /// The database. `database = "ADDRESS"` above all sections is the same as the address alone.
        #[serde(deserialize_with = "read_database")]
        database: Database;
        /// The HTTP service, `avert serve`.
        serve: Serve;
        /// Webhook endpoints.
        webhooks: Webhooks;
        /// Hours that a merchant has to answer, from the alert's time on, by provider. Known alerts keep the
        /// deadline they got.
        windows: Windows;
        /// Days that records are kept, 0 for ever. Alerts, outcomes, and deliveries that are still to be tried are
        /// always kept.
        retention: Retention;
        /// Answers go to a network by a gateway: an HTTP service of yours that speaks the provider contract. A
        /// network without a gateway is played by a simulator inside the engine, and answers to its alerts reach
        /// nobody, except through a source with answers = "native". Set up one section for each network: ethoca,
        /// verifi, cdrn.
        providers: NetworkSections;
        /// Sources: others whose webhooks become alerts, at POST /inbound/NAME. Set up one section for each; the
        /// page `avert help sources` says how, and how a map is written.
        sources: SourceSections;
        /// Rules that answer by themselves, within limits: `avert help rules` says how. Their lines stand in the file
        /// of rules.
        rules: RuleSections;
        /// The networks without a gateway.
        simulator: SimulatorSettings;
        /// The console.
        console: Console;
        /// Reminders of the console: before a deadline, and when an answer was not recorded. Each is a message and a
        /// line of the journal as well.
        notices: Notices;
        /// Addresses that `o` opens in the browser, http or https: the order, the payment, and the portals of the
        /// networks. In braces behind the host stands what the alert tells: {id}, {provider}, {providerId},
        /// {merchantOrderId}, {transactionId}, {acquirerReferenceNumber}, {authCode}, {merchantId},
        /// {merchantDescriptor}, {amount} or {currency}, such as "https://shop.example/orders/{merchantOrderId}".
        links: Links;
        /// The log.
        log: Log;
    }
}

table! {
    /// Settings of the database.
    Database {
        /// The database: sqlite:PATH, or postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=MODE, percent-encoded; empty
        /// for avert.db in the data directory. The password of a server may also be in the file that
        /// --database-password-file or PGPASSFILE names.
        address: Option<DatabaseLocation> = "", "AVERT_DATABASE";
        /// Most connections of one process to a server, 3 to 1000. Fewer are used where the server gives fewer.
        connections: Bounded<3, 1_000> = 20, "AVERT_DATABASE_CONNECTIONS";
    }
}

table! {
    /// Settings of `avert serve`.
    Serve {
        /// Address to listen on; port 0 picks a free one. Other than loopback needs --insecure-http.
        listen: Listen = "127.0.0.1:7317", "AVERT_LISTEN";
        /// Further names that requests may carry in their Host header, beside the bound address.
        allow_hosts: Vec<String> = [], "AVERT_ALLOW_HOST";
        /// Proxies in front of it that are believed what Forwarded, or else X-Forwarded-For, says of the client's
        /// address: addresses and networks such as "127.0.0.1" and "10.0.0.0/8". The rightmost address that is none of
        /// them counts, for limits and in the audit log.
        trusted_proxies: Vec<TrustedProxy> = [], "AVERT_TRUSTED_PROXIES";
        /// Connections that may be open from one address that is no trusted proxy's, 1 to 4096; at the bound its
        /// own oldest idle one gives way.
        connections_per_address: Bounded<1, 4_096> = 1024;
        /// Requests for access tokens of a client from one address that may fail, at once and again in each minute;
        /// a right secret always gets its token.
        tokens_per_minute: Bounded<1, 10_000> = 60, "AVERT_TOKENS_PER_MINUTE";
        /// Seconds that one list may take, 1 to 60; then it is ended with 503, and the answer names a filter to
        /// add. The audit log, counts and companies have as long.
        list_seconds: Bounded<1, 60> = 5;
    }
}

table! {
    /// Settings of webhooks.
    Webhooks {
        /// Loopback and private addresses that endpoints may be at: IP addresses or networks, with or without a port,
        /// such as 127.0.0.1:9000, 10.0.0.0/8 or [fd00::/8]:443. None is reached that is not named here.
        allow: Vec<AllowedNetwork> = [], "AVERT_WEBHOOKS_ALLOW";
        /// Endpoints that an organization may have.
        endpoints_per_organization: Bounded<1, 1_000> = 32, "AVERT_ENDPOINTS_PER_ORGANIZATION";
    }
}

table! {
    /// Response windows in hours, by provider and by type.
    Windows {
        /// Of alerts from ETHOCA.
        ethoca: Hours = 24, "AVERT_WINDOW_ETHOCA";
        /// Of alerts from VERIFI.
        verifi: Hours = 72, "AVERT_WINDOW_VERIFI";
        /// Of alerts from CDRN.
        cdrn: Hours = 72, "AVERT_WINDOW_CDRN";
    }
    tables {
        /// Windows of single alert types, which go before their provider's: VERIFI_CANCEL = 48.
        types: BTreeMap<TypeName, Hours>;
    }
}

table! {
    /// Retention periods in days; 0 for ever.
    Retention {
        /// Attempts of deliveries that arrived.
        tries_days: Days = 30, "AVERT_KEEP_TRIES_DAYS";
        /// Deliveries that arrived, with their events.
        deliveries_days: Days = 90, "AVERT_KEEP_DELIVERIES_DAYS";
        /// Failed deliveries (every attempt failed, or their endpoint was disabled), with their events and
        /// attempts.
        given_up_days: Days = 365, "AVERT_KEEP_GIVEN_UP_DAYS";
        /// Ended attempts to record an answer; an Idempotency-Key is remembered for a day in any case.
        attempts_days: Days = 365, "AVERT_KEEP_ATTEMPTS_DAYS";
        /// Events of sources, with their bodies; what became an alert stays.
        source_events_days: Days = 30, "AVERT_KEEP_SOURCE_EVENTS_DAYS";
        /// The audit log: seven years. What is left of it still verifies.
        audit_days: Days = 2557, "AVERT_KEEP_AUDIT_DAYS";
    }
}

table! {
    /// The simulator that replies to answers in place of networks that have no gateway.
    SimulatorSettings {
        /// Faults to play: none (answers at once), flaky (fails now and then), down (never answers yes), slow (takes
        /// seconds), slow-cdrn (CDRN alone does).
        fault: SimulatorFault = "none", "AVERT_SIMULATOR_FAULT";
    }
}

table! {
    /// Settings of the console.
    Console {
        /// Colours: auto (by the terminal's background), dark, light, high-contrast or ansi.
        theme: ThemeSetting = "auto", "AVERT_THEME";
        /// Use the mouse in the console; the terminal's own selection then needs shift.
        mouse: bool = true, "AVERT_MOUSE";
        /// Undo time: seconds in which an answer can be undone before it is sent, 0 to 60; 0 sends at once.
        grace_seconds: Bounded<0, 60> = 5, "AVERT_GRACE_SECONDS";
        /// File with keys of your own; empty for keymap.toml beside the settings file, where there is one.
        keymap: PathBuf = "", "AVERT_KEYMAP";
        /// Your name in the journal of answers; empty for the name of the login.
        user: String = "", "AVERT_USER";
        /// Time zone of all times in the console: local (this machine's) or utc.
        times: TimesSetting = "local", "AVERT_TIMES";
        /// Draw nothing but words and signs, for screen readers: no boxes, lines and blocks (also
        /// --plain).
        plain: bool = false, "AVERT_PLAIN";
    }
}

table! {
    /// Settings of the reminders.
    Notices {
        /// Ring the terminal's bell.
        bell: bool = true;
        /// Show in the terminal's title how many alerts are due soon.
        title: bool = true;
        /// Calls on the desktop, by a sequence that the terminal has to know: off, osc9 or osc777. They have counts,
        /// time left and the network's id.
        desktop: DesktopSetting = "off";
        /// Minutes before its deadline that an alert calls, once, 0 to 1440; 0 calls for no deadline.
        before_minutes: Bounded<0, 1_440> = 30;
        /// Hours of local time in which neither bell nor desktop is used; empty for none.
        quiet: Option<QuietHours> = "22:00-07:00";
    }
}

table! {
    /// Addresses that the console opens.
    Links {
        /// The order in the shop; empty for none.
        order: Option<LinkTemplate> = "";
        /// The payment at its processor; empty for none.
        payment: Option<LinkTemplate> = "";
        /// The portal of ETHOCA; empty for none.
        ethoca: Option<LinkTemplate> = "";
        /// The portal of VERIFI; empty for none.
        verifi: Option<LinkTemplate> = "";
        /// The portal of CDRN; empty for none.
        cdrn: Option<LinkTemplate> = "";
    }
}

table! {
    /// Settings of the log.
    Log {
        /// Level of the log: off, error, warn, info, debug or trace.
        level: LevelFilter = "info", "AVERT_LOG";
        /// Form of the log: text, or json for one object a line.
        format: LogFormat = "text", "AVERT_LOG_FORMAT";
    }
}

/// Reads the settings of the database: a table, or the address alone.
fn read_database<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Database, D::Error> {
    struct Either;

    impl<'de> Visitor<'de> for Either {
        type Value = Database;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the address of a database")
        }

        fn visit_str<E: de::Error>(self, address: &str) -> Result<Database, E> {
            Ok(Database { address: SettingType::read(address).map_err(E::custom)?, ..Database::default() })
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Database, A::Error> {
            Database::deserialize(MapAccessDeserializer::new(table))
        }
    }

    deserializer.deserialize_any(Either)
}

/// Alert types are settings of the file alone.
impl SettingTable for BTreeMap<TypeName, Hours> {
    fn read_environment(&mut self, _: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        Ok(())
    }

    fn describe(name: &str, help: &'static str, all: &mut Vec<SettingSection>) {
        all.push(SettingSection { name: name.to_owned(), help, settings: &[] });
    }
}

impl Settings {
    /// Returns every setting, by the sections of the file.
    pub fn sections() -> Vec<SettingSection> {
        let mut all = Vec::new();
        Self::describe("", "", &mut all);
        all
    }

    /// Returns the environment variable of a setting; `None` where it has none.
    pub fn variable_of(section: &str, name: &str) -> Option<&'static str> {
        let section = Self::sections().into_iter().find(|known| known.name == section)?;
        let setting = section.settings.iter().find(|setting| setting.name == name)?;
        Some(setting.variable).filter(|variable| !variable.is_empty())
    }

    /// Returns the networks that have a gateway, with their settings.
    pub fn gateways(&self) -> impl Iterator<Item = (&'static Provider, &NetworkSettings)> {
        self.providers.given().filter(|(_, set)| !set.simulated)
    }

    /// Returns the networks whose gateway was removed: their section says `simulated = true`.
    pub fn removed_gateways(&self) -> impl Iterator<Item = &'static Provider> {
        self.providers.given().filter(|(_, set)| set.simulated).map(|(network, _)| network)
    }

    /// Reads the settings from a file's text, without the environment. `file` names the origin of the text in errors.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            ConfigError::Line { file: file.to_owned(), line, message: error.message().replace('\n', ", ") }
        })
    }

    /// Reads the settings: defaults, then the file (if there is one), then the environment, which `lookup` reads.
    pub fn load(file: Option<&Path>, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut settings = match file {
            None => Self::default(),
            Some(file) => {
                let unreadable = |reason: String| ConfigError::Unreadable { file: file.to_owned(), reason };
                let bytes = std::fs::read(file).map_err(|error| unreadable(error.to_string()))?;
                let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
                Self::parse(without_mark(&text), file)?
            }
        };
        settings.read_environment(&lookup)?;
        Ok(settings)
    }
}
