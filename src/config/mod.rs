//! Configuration, layered: file < environment < flags, each with its default.
//!
//! `assets/config.default.toml` lists every setting with its default and a sentence; a test holds it equal to
//! [`Settings::default`]. A key that does not exist, or a value that is not allowed, is refused with its place and with
//! what is allowed.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

mod networks;
mod values;

pub use networks::{Network, NetworkAuth, NetworkSettings};
pub use values::*;

use values::{list, word};

use crate::domain::without_mark;

/// The file that lists every setting with its default.
pub const DEFAULT_FILE: &str = include_str!("../../assets/config.default.toml");

/// A configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the settings file {} cannot be read: {reason}", file.display())]
    Unreadable {
        file: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A line of the file is wrong.
    #[error("{}:{line}: {message}", file.display())]
    Line {
        file: PathBuf,
        /// 1-based.
        line: usize,
        message: String,
    },
    /// An environment variable is wrong.
    #[error("{variable}: {message}")]
    Variable { variable: &'static str, message: String },
}

/// The configuration: every setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub environment: EnvironmentName,
    /// Name or id of the organization to act for; empty where there is only one.
    pub organization: String,
    #[serde(deserialize_with = "read_database")]
    pub database: Database,
    /// The file with the data key; empty for `secret.key` beside the database.
    pub secret_key_file: PathBuf,
    pub serve: Serve,
    pub webhooks: Webhooks,
    pub windows: Windows,
    pub retention: Retention,
    pub providers: BTreeMap<Network, NetworkSettings>,
    /// Who answers decisions of networks that have no gateway.
    pub simulator: SimulatorSettings,
    pub console: Console,
    pub notices: Notices,
    pub links: Links,
    pub log: Log,
}

/// Settings of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Database {
    /// Which database; none for `avert.db` in the data directory.
    pub address: DatabaseSetting,
    /// Most connections of one process to a server.
    pub connections: DatabaseConnections,
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
            Ok(Database { address: address.parse().map_err(E::custom)?, ..Database::default() })
        }

        fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Database, A::Error> {
            Database::deserialize(MapAccessDeserializer::new(table))
        }
    }

    deserializer.deserialize_any(Either)
}

/// Settings of `avert serve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Where it answers.
    pub listen: Listen,
    /// Further names that a Host header may carry.
    pub allow_hosts: Vec<String>,
    /// Proxies that are believed what they say of the client's address.
    pub trusted_proxies: Vec<TrustedProxy>,
    /// How many connections of one address may be open.
    pub connections_per_address: ConnectionsPerAddress,
    /// How often a client may fail to get a token.
    pub tokens_per_minute: TokensPerMinute,
    /// How long one list may take.
    pub list_seconds: ListSeconds,
}

/// Settings of webhooks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Webhooks {
    /// The loopback and private addresses that endpoints may be at.
    pub allow: AllowedNetworks,
    /// How many endpoints an organization may have.
    pub endpoints_per_organization: EndpointsPerOrganization,
}

/// Response windows in hours, by provider and by type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Windows {
    pub ethoca: Hours,
    pub verifi: Hours,
    pub cdrn: Hours,
    /// Single types, which go before their provider.
    pub types: BTreeMap<TypeName, Hours>,
}

impl Default for Windows {
    fn default() -> Self {
        Self { ethoca: Hours(24), verifi: Hours(72), cdrn: Hours(72), types: BTreeMap::new() }
    }
}

/// Retention periods in days; 0 for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// The log of their attempts.
    pub tries_days: Days,
    /// They and their events.
    pub deliveries_days: Days,
    /// Deliveries that were given up, with their attempts and events.
    pub given_up_days: Days,
    /// Decisions that have ended, and their Idempotency-Keys.
    pub attempts_days: Days,
    pub audit_days: Days,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            tries_days: Days(30),
            deliveries_days: Days(90),
            given_up_days: Days(365),
            attempts_days: Days(365),
            audit_days: Days(2557),
        }
    }
}

/// The simulator that answers decisions in place of networks that have no gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SimulatorSettings {
    /// What it plays.
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub fault: SimulatorFault,
}

/// Settings of the console.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Console {
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub theme: ThemeSetting,
    pub mouse: bool,
    /// How long a decision can be taken back before it is sent.
    pub grace_seconds: GraceSeconds,
    /// File with the user's own keys; empty for `keymap.toml` beside the settings file.
    pub keymap: PathBuf,
    /// Who works here, as the journal names them; empty for the name of the login.
    pub user: String,
    /// By which clocks moments are told.
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub times: TimesSetting,
    /// Whether ages count by the second on the screen.
    pub motion: bool,
    /// Whether the console draws nothing but words and signs.
    pub plain: bool,
    /// The rules that stage by themselves on this machine's own alerts.
    pub auto_rules: Vec<String>,
}

impl Default for Console {
    fn default() -> Self {
        Self {
            theme: ThemeSetting::Auto,
            mouse: true,
            grace_seconds: GraceSeconds(5),
            keymap: PathBuf::new(),
            user: String::new(),
            times: TimesSetting::Both,
            motion: true,
            plain: false,
            auto_rules: Vec::new(),
        }
    }
}

/// Settings of what the console calls for attention by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Notices {
    pub bell: bool,
    /// Whether the terminal's title tells of it.
    pub title: bool,
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub desktop: DesktopSetting,
    /// How long before a deadline; 0 for not at all.
    pub before_minutes: BeforeMinutes,
    /// When neither bell nor desktop is used.
    pub quiet: QuietSetting,
}

impl Default for Notices {
    fn default() -> Self {
        let quiet = "22:00-07:00".parse().unwrap_or_default();
        Self { bell: true, title: true, desktop: DesktopSetting::Off, before_minutes: BeforeMinutes(30), quiet }
    }
}

/// Addresses that the console opens.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Links {
    pub order: LinkSetting,
    pub payment: LinkSetting,
    /// The networks' portals.
    pub ethoca: LinkSetting,
    pub verifi: LinkSetting,
    pub cdrn: LinkSetting,
}

/// Settings of the log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// The log level.
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub level: LogLevel,
}

fn flag(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| format!("{text:?} is not allowed: true or false"))
}

impl Settings {
    /// The networks that have a gateway.
    pub fn gateways(&self) -> impl Iterator<Item = (Network, &NetworkSettings)> {
        self.providers.iter().filter(|(_, set)| !set.simulated).map(|(network, set)| (*network, set))
    }

    /// The networks that are said to be simulated.
    pub fn removed_gateways(&self) -> impl Iterator<Item = Network> {
        self.providers.iter().filter(|(_, set)| set.simulated).map(|(network, _)| *network)
    }

    /// Sets the address of a network's gateway; what the file says of the network otherwise stays.
    fn gateway(&mut self, network: Network, url: &str) -> Result<(), String> {
        if let Some(known) = self.providers.get_mut(&network) {
            if known.simulated {
                return Err(format!(
                    "goes to a gateway, but the settings file says simulated = true of {}",
                    network.as_str()
                ));
            }
            known.url = url.to_owned();
            known.url = known.base()?.to_string();
        } else {
            let settings = NetworkSettings { url: url.to_owned(), ..NetworkSettings::default() };
            self.providers.insert(network, settings.check()?);
        }
        Ok(())
    }
}

/// Sets one setting from a text.
type Set = fn(&mut Settings, &str) -> Result<(), String>;

/// Every environment variable that sets a setting.
const VARIABLES: &[(&str, Set)] = &[
    ("AVERT_ENVIRONMENT", |settings, text| word(text).map(|value| settings.environment = value)),
    ("AVERT_ORGANIZATION", |settings, text| {
        text.clone_into(&mut settings.organization);
        Ok(())
    }),
    ("AVERT_DATABASE", |settings, text| text.parse().map(|value| settings.database.address = value)),
    ("AVERT_DATABASE_CONNECTIONS", |settings, text| text.parse().map(|value| settings.database.connections = value)),
    ("AVERT_SECRET_KEY_FILE", |settings, text| {
        settings.secret_key_file = text.into();
        Ok(())
    }),
    ("AVERT_LISTEN", |settings, text| text.parse().map(|value| settings.serve.listen = value)),
    ("AVERT_ALLOW_HOST", |settings, text| {
        let Ok(hosts) = list(text);
        settings.serve.allow_hosts = hosts;
        Ok(())
    }),
    ("AVERT_TRUSTED_PROXIES", |settings, text| list(text).map(|value| settings.serve.trusted_proxies = value)),
    ("AVERT_TOKENS_PER_MINUTE", |settings, text| text.parse().map(|value| settings.serve.tokens_per_minute = value)),
    ("AVERT_WEBHOOKS_ALLOW", |settings, text| text.parse().map(|value| settings.webhooks.allow = value)),
    ("AVERT_ENDPOINTS_PER_ORGANIZATION", |settings, text| {
        text.parse().map(|value| settings.webhooks.endpoints_per_organization = value)
    }),
    ("AVERT_WINDOW_ETHOCA", |settings, text| text.parse().map(|value| settings.windows.ethoca = value)),
    ("AVERT_WINDOW_VERIFI", |settings, text| text.parse().map(|value| settings.windows.verifi = value)),
    ("AVERT_WINDOW_CDRN", |settings, text| text.parse().map(|value| settings.windows.cdrn = value)),
    ("AVERT_KEEP_TRIES_DAYS", |settings, text| text.parse().map(|value| settings.retention.tries_days = value)),
    ("AVERT_KEEP_DELIVERIES_DAYS", |settings, text| {
        text.parse().map(|value| settings.retention.deliveries_days = value)
    }),
    ("AVERT_KEEP_GIVEN_UP_DAYS", |settings, text| text.parse().map(|value| settings.retention.given_up_days = value)),
    ("AVERT_KEEP_ATTEMPTS_DAYS", |settings, text| text.parse().map(|value| settings.retention.attempts_days = value)),
    ("AVERT_KEEP_AUDIT_DAYS", |settings, text| text.parse().map(|value| settings.retention.audit_days = value)),
    ("AVERT_ETHOCA_URL", |settings, text| settings.gateway(Network::Ethoca, text)),
    ("AVERT_VERIFI_URL", |settings, text| settings.gateway(Network::Verifi, text)),
    ("AVERT_CDRN_URL", |settings, text| settings.gateway(Network::Cdrn, text)),
    ("AVERT_SIMULATOR_FAULT", |settings, text| word(text).map(|value| settings.simulator.fault = value)),
    ("AVERT_THEME", |settings, text| word(text).map(|value| settings.console.theme = value)),
    ("AVERT_MOUSE", |settings, text| flag(text).map(|value| settings.console.mouse = value)),
    ("AVERT_GRACE_SECONDS", |settings, text| text.parse().map(|value| settings.console.grace_seconds = value)),
    ("AVERT_KEYMAP", |settings, text| {
        settings.console.keymap = text.into();
        Ok(())
    }),
    ("AVERT_USER", |settings, text| {
        text.clone_into(&mut settings.console.user);
        Ok(())
    }),
    ("AVERT_TIMES", |settings, text| word(text).map(|value| settings.console.times = value)),
    ("AVERT_MOTION", |settings, text| flag(text).map(|value| settings.console.motion = value)),
    ("AVERT_PLAIN", |settings, text| flag(text).map(|value| settings.console.plain = value)),
    ("AVERT_AUTO_RULES", |settings, text| {
        let Ok(names) = list(text);
        settings.console.auto_rules = names;
        Ok(())
    }),
    ("AVERT_LOG", |settings, text| word(text).map(|value| settings.log.level = value)),
];

/// What is wrong with a value, in the words of the settings: serde names its own types.
fn in_words(message: &str) -> String {
    let given = |rest: &str| rest.split_once(' ').map_or(rest, |(_, value)| value).trim_matches('`').to_owned();
    match message.strip_prefix("invalid type: ").and_then(|rest| rest.rsplit_once(", expected ")) {
        Some((rest, "a boolean")) => format!("{} is not allowed: true or false", given(rest)),
        _ => message.replace('\n', ", "),
    }
}

impl Settings {
    /// The settings of a file's text; `file` is where the text came from, for errors.
    pub fn parse(text: &str, file: &Path) -> Result<Self, ConfigError> {
        toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start).min(text.len());
            let line = text.bytes().take(start).filter(|byte| *byte == b'\n').count() + 1;
            let message = in_words(error.message());
            ConfigError::Line { file: file.to_owned(), line, message }
        })
    }

    /// Defaults, then the file (if there is one), then the environment, which `lookup` reads.
    pub fn load(file: Option<&Path>, lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ConfigError> {
        let mut settings = match file {
            None => Self::default(),
            Some(file) => {
                let unreadable = |reason: String| ConfigError::Unreadable { file: file.to_owned(), reason };
                // A pipe that nobody writes to would never end; one that a shell has made for this command does.
                if is_pipe(file) && !file.starts_with("/dev") && !file.starts_with("/proc") {
                    return Err(unreadable("it is a pipe: a file is needed".to_owned()));
                }
                let bytes = std::fs::read(file).map_err(|error| unreadable(error.to_string()))?;
                let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
                Self::parse(without_mark(&text), file)?
            }
        };
        for (variable, set) in VARIABLES {
            // An empty variable is one that is not set: that is how a shell takes one back.
            if let Some(text) = lookup(variable).filter(|text| !text.is_empty()) {
                set(&mut settings, &text).map_err(|message| ConfigError::Variable { variable, message })?;
            }
        }
        Ok(settings)
    }
}

#[cfg(unix)]
fn is_pipe(file: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    std::fs::metadata(file).is_ok_and(|there| there.file_type().is_fifo())
}

#[cfg(not(unix))]
fn is_pipe(_file: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::parse(text, Path::new("avert.toml"))
    }

    fn nothing(_: &str) -> Option<String> {
        None
    }

    #[test]
    fn the_listed_defaults_are_the_defaults_and_complete() {
        let listed = parse(DEFAULT_FILE).unwrap();
        assert_eq!(listed, Settings::default());

        let in_file: toml::Table = toml::from_str(DEFAULT_FILE).unwrap();
        let in_code = toml::Table::try_from(Settings::default()).unwrap();
        assert_eq!(in_file, in_code, "a setting is missing from the file that lists them");
    }

    #[test]
    fn the_page_of_the_settings_shows_the_same_list() {
        let page = include_str!("../../assets/docs/configuration.md");

        let shown =
            page.split_once("<!-- settings: begin -->").and_then(|(_, rest)| rest.split_once("<!-- settings: end -->"));

        assert_eq!(shown.map(|(block, _)| block), Some(format!("\n```toml\n{DEFAULT_FILE}```\n").as_str()));
    }

    #[test]
    fn every_variable_is_named_in_the_file_that_lists_the_settings() {
        for (variable, _) in VARIABLES {
            assert!(DEFAULT_FILE.contains(&format!("({variable}")), "{variable}");
        }
    }

    #[rstest]
    #[case(
        "database = \"mysql:x\"",
        1,
        "not a database: sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=MODE is needed"
    )]
    #[case("database = 5", 1, "expected the address of a database")]
    #[case("[database]\nconnections = 2", 2, "\"2\" is not allowed: whole numbers from 3 to 1000")]
    #[case("[database]\nadress = \"\"", 2, "unknown field `adress`, expected `address` or `connections`")]
    #[case("colour = 1", 1, "unknown field `colour`, expected one of")]
    #[case(
        "\n[console]\nthem = \"dark\"",
        3,
        "unknown field `them`, expected one of `theme`, `mouse`, `grace_seconds`, `keymap`, `user`, `times`, \
            `motion`, `plain`, `auto_rules`"
    )]
    #[case("[console]\ntheme = \"blue\"", 2, "\"blue\" is not allowed: one of auto, dark, light, high-contrast, ansi")]
    #[case("[console]\nmouse = \"yes\"", 2, "\"yes\" is not allowed: true or false")]
    #[case("[console]\nmotion = 1", 2, "1 is not allowed: true or false")]
    #[case("[console]\ngrace_seconds = 2.5", 2, "\"2.5\" is not allowed: whole seconds from 0 to 60")]
    #[case("[console]\ngrace_seconds = \"five\"", 2, "\"five\" is not allowed: whole seconds from 0 to 60")]
    #[case("[notices]\nquiet = \"22-7\"", 2, "\"22-7\" is not allowed: two different times of day such as 22:00-07:00")]
    #[case("[notices]\ndesktop = \"on\"", 2, "\"on\" is not allowed: one of off, osc9, osc777")]
    #[case("[notices]\nbefore_minutes = 1441", 2, "\"1441\" is not allowed: whole minutes from 0 to 1440")]
    #[case("[links]\n\norder = \"ftp://shop.example/{id}\"", 3, "an http:// or https:// address with a host is needed")]
    #[case(
        "[links]\nportal = \"\"",
        2,
        "unknown field `portal`, expected one of `order`, `payment`, `ethoca`, `verifi`, `cdrn`"
    )]
    #[case("[console]\ngrace_seconds = 61", 2, "\"61\" is not allowed: whole seconds from 0 to 60")]
    #[case("[windows]\nethoca = 0", 2, "\"0\" is not allowed: whole hours from 1 to 8760")]
    #[case(
        "[windows.types]\nVERIFI_CANSEL = 48",
        2,
        "\"VERIFI_CANSEL\" is not an alert type: one of ETHOCA_CONFIRMED_FRAUD"
    )]
    #[case("[serve]\nlisten = \"here\"", 2, "\"here\" is not an address and a port, such as 127.0.0.1:7317")]
    #[case(
        "[serve]\ntrusted_proxies = [\"10.0.0.0/40\"]",
        2,
        "\"10.0.0.0/40\" is not allowed: an IP address or a network, such as"
    )]
    #[case("[serve]\nconnections_per_address = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 4096")]
    #[case("[serve]\nlist_seconds = 0", 2, "\"0\" is not allowed: whole seconds from 1 to 60")]
    #[case("environment = \"prod\"", 1, "\"prod\" is not allowed: one of sandbox, production")]
    #[case("[log]\nlevel = 3", 2, "expected a string")]
    #[case(
        "[webhooks]\nallow = [\"10.0.0.0/8\", \"localhost\"]",
        2,
        "\"localhost\" is not allowed: an IP address or a network"
    )]
    #[case("[webhooks]\nendpoints_per_organization = 0", 2, "\"0\" is not allowed: whole numbers from 1 to 1000")]
    #[case("[simulator\nfault = 1", 1, "")]
    fn a_wrong_line_is_refused_with_its_number_and_what_is_allowed(
        #[case] text: &str,
        #[case] wrong: usize,
        #[case] words: &str,
    ) {
        let ConfigError::Line { line, message, .. } = parse(text).unwrap_err() else { panic!("not a line") };

        assert!(message.contains(words), "{message}");
        assert_eq!(line, wrong, "{message}");
    }

    #[test]
    fn a_database_is_named_alone_or_with_its_connections() {
        let alone = parse("database = \"sqlite:a.db\"").unwrap().database;
        let whole = parse("[database]\naddress = \"sqlite:a.db\"\nconnections = 5").unwrap().database;
        let given = Settings::load(None, |name| (name == "AVERT_DATABASE_CONNECTIONS").then(|| "5".to_owned()))
            .unwrap()
            .database;

        assert_eq!((alone.address, alone.connections.0), (whole.address, 20));
        assert_eq!((whole.connections.0, given.connections.0), (5, 5));
    }

    #[test]
    fn the_environment_is_stronger_than_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("avert.toml");
        std::fs::write(&file, "[console]\ntheme = \"dark\"\nmouse = false").unwrap();

        let settings = Settings::load(Some(&file), |name| (name == "AVERT_THEME").then(|| "light".to_owned())).unwrap();

        assert_eq!((settings.console.theme, settings.console.mouse), (ThemeSetting::Light, false));
    }

    #[test]
    fn trusted_proxies_are_addresses_and_networks_separated_by_commas() {
        let settings = Settings::load(None, |name| {
            (name == "AVERT_TRUSTED_PROXIES").then(|| "127.0.0.1, 10.0.0.0/8,::1".to_owned())
        })
        .unwrap();

        let proxies: Vec<String> = settings.serve.trusted_proxies.iter().map(|proxy| proxy.0.to_string()).collect();
        assert_eq!(proxies, ["127.0.0.1/32", "10.0.0.0/8", "::1/128"]);
    }

    #[rstest]
    #[case(
        "AVERT_THEME",
        "blue",
        "AVERT_THEME: \"blue\" is not allowed: one of auto, dark, light, high-contrast, ansi"
    )]
    #[case("AVERT_WINDOW_CDRN", "-1", "AVERT_WINDOW_CDRN: \"-1\" is not allowed: whole hours from 1 to 8760")]
    #[case(
        "AVERT_TRUSTED_PROXIES",
        "127.0.0.1, proxy",
        "AVERT_TRUSTED_PROXIES: \"proxy\" is not allowed: an IP address or a network, such as 127.0.0.1 or 10.0.0.0/8"
    )]
    #[case(
        "AVERT_WEBHOOKS_ALLOW",
        "127.0.0.1,169.254.1.1",
        "AVERT_WEBHOOKS_ALLOW: \"169.254.1.1\" is not allowed: webhooks are never sent to such an address (link-local)"
    )]
    #[case("AVERT_MOUSE", "maybe", "AVERT_MOUSE: \"maybe\" is not allowed: true or false")]
    fn a_wrong_variable_is_refused_with_its_name(#[case] variable: &str, #[case] text: &str, #[case] words: &str) {
        let error = Settings::load(None, |name| (name == variable).then(|| text.to_owned())).unwrap_err();

        assert_eq!(error.to_string(), words);
    }

    #[test]
    fn networks_that_webhooks_may_reach_are_listed_in_the_file_or_with_commas() {
        let listed = parse("[webhooks]\nallow = [\"127.0.0.1:9000\", \"10.0.0.0/8\"]").unwrap();
        let given = Settings::load(None, |name| {
            (name == "AVERT_WEBHOOKS_ALLOW").then(|| "127.0.0.1:9000, 10.0.0.0/8,".to_owned())
        })
        .unwrap();

        assert_eq!(listed.webhooks, given.webhooks);
        assert_eq!(given.webhooks.allow.0.len(), 2);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = Settings::load(Some(Path::new("/nowhere/avert.toml")), nothing).unwrap_err();

        assert!(error.to_string().starts_with("the settings file /nowhere/avert.toml cannot be read: "), "{error}");
    }

    #[test]
    fn localhost_is_an_address() {
        assert_eq!("localhost:0".parse::<Listen>().unwrap().to_string(), "127.0.0.1:0");
    }

    #[test]
    fn each_v_raises_the_level_by_one_up_to_everything() {
        assert_eq!(LogLevel::Info.raised(1), LogLevel::Debug);
        assert_eq!(LogLevel::Warn.raised(9), LogLevel::Trace);
    }
}
