//! Configuration of the networks: gateways, authentication, capabilities.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::values::{
    Failures, LagSeconds, PauseSeconds, Places, PullSeconds, TimeoutSeconds, read_word, word, write_word,
};
use crate::domain::Provider;
use crate::domain::url::{BaseUrl, PlainHttp};
use crate::domain::webhook::auth::valid_header;

/// A network that can have a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Network {
    /// ETHOCA.
    Ethoca,
    /// VERIFI.
    Verifi,
    /// CDRN.
    Cdrn,
}

impl Network {
    /// The word in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ethoca => "ethoca",
            Self::Verifi => "verifi",
            Self::Cdrn => "cdrn",
        }
    }

    /// The name in the interface.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ethoca => "ETHOCA",
            Self::Verifi => "VERIFI",
            Self::Cdrn => "CDRN",
        }
    }

    /// The environment variable with the credential itself.
    pub const fn credential_variable(self) -> &'static str {
        match self {
            Self::Ethoca => "AVERT_ETHOCA_CREDENTIAL",
            Self::Verifi => "AVERT_VERIFI_CREDENTIAL",
            Self::Cdrn => "AVERT_CDRN_CREDENTIAL",
        }
    }
}

impl From<Network> for Provider {
    fn from(network: Network) -> Self {
        match network {
            Network::Ethoca => Provider::Ethoca,
            Network::Verifi => Provider::Verifi,
            Network::Cdrn => Provider::Cdrn,
        }
    }
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        word(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// How avert is known to a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum NetworkAuth {
    /// `Authorization: Bearer`; the credential is the token.
    #[default]
    Bearer,
    /// `Authorization: Basic`; the credential is `USER:PASSWORD`.
    Basic,
    /// A header of the gateway's own; the credential is its value.
    Header,
    /// Not at all.
    None,
}

/// Settings of one network. They are checked when they are read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
// What is derived becomes a function of its own, around which the check is put.
#[serde(remote = "Self", default, deny_unknown_fields)]
pub struct NetworkSettings {
    /// Address of the gateway, in its normal form; empty where it is simulated.
    pub url: String,
    /// Whether plain http may leave this machine.
    pub insecure_http: bool,
    /// How avert is known there.
    #[serde(serialize_with = "write_word", deserialize_with = "read_word")]
    pub auth: NetworkAuth,
    /// Name of the header, with [`NetworkAuth::Header`].
    pub header: String,
    /// File with the credential; empty for the environment variable.
    pub credential_file: PathBuf,
    /// File with the certificates that are trusted there, and no others; empty for this machine's authorities.
    pub ca_file: PathBuf,
    /// Whether the gateway can be asked what became of a decision.
    pub lookup: bool,
    /// Whether it knows a repeated decision again.
    pub idempotent: bool,
    /// Whether it counts a repeated decision once without knowing it again.
    pub final_error_only: bool,
    /// How long a call may take.
    pub timeout_seconds: TimeoutSeconds,
    /// How long after a call a decision may still appear in look-ups.
    pub settle_seconds: LagSeconds,
    /// How many calls are with the gateway at the same time.
    pub max_in_flight: Places,
    /// After so many failures in a row it is left alone.
    pub breaker_failures: Failures,
    /// For how long at first.
    pub breaker_pause_seconds: PauseSeconds,
    /// Whether alerts are pulled from the gateway.
    pub pull: bool,
    /// How often.
    pub pull_seconds: PullSeconds,
    /// Name or id of the organization that pulled alerts are for; empty where there is only one.
    pub pull_organization: String,
    /// Whether the simulator answers for the network again, which had a gateway before; nothing else is said then.
    pub simulated: bool,
}

impl Default for NetworkSettings {
    fn default() -> Self {
        Self {
            url: String::new(),
            insecure_http: false,
            auth: NetworkAuth::default(),
            header: String::new(),
            credential_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            lookup: false,
            idempotent: false,
            final_error_only: false,
            timeout_seconds: TimeoutSeconds(10),
            settle_seconds: LagSeconds(60),
            max_in_flight: Places(8),
            breaker_failures: Failures(5),
            breaker_pause_seconds: PauseSeconds(5),
            pull: false,
            pull_seconds: PullSeconds(60),
            pull_organization: String::new(),
            simulated: false,
        }
    }
}

impl NetworkSettings {
    /// The base URL of the gateway, or what is wrong and what is allowed.
    pub fn base(&self) -> Result<BaseUrl, String> {
        let plain_http = PlainHttp::when(self.insecure_http, "allow it with insecure_http = true");
        BaseUrl::parse(&self.url, plain_http).map_err(|error| format!("url {error}"))
    }

    /// The same with its address in normal form, or what is wrong and what is allowed.
    pub(super) fn check(self) -> Result<Self, String> {
        if self.simulated {
            let nothing_else = self == Self { simulated: true, ..Self::default() };
            let refused = || {
                "simulated = true stands alone: it gives the network back to the simulator, which has no gateway"
                    .to_owned()
            };
            return if nothing_else { Ok(self) } else { Err(refused()) };
        }
        let url = self.base()?.to_string();
        match self.auth {
            NetworkAuth::Header if self.header.is_empty() => {
                return Err("auth = \"header\" needs the name of the header, such as header = \"X-API-Key\"".to_owned());
            }
            NetworkAuth::Header => {
                valid_header(&self.header, "value").map_err(|error| format!("{} {}", error.field, error.message))?;
            }
            _ if !self.header.is_empty() => return Err("header goes only with auth = \"header\"".to_owned()),
            NetworkAuth::None if !self.credential_file.as_os_str().is_empty() => {
                return Err("credential_file does not go with auth = \"none\"".to_owned());
            }
            _ => {}
        }
        if self.idempotent && self.final_error_only {
            return Err(
                "idempotent and final_error_only exclude each other: a repeat is known again, or it is not".to_owned()
            );
        }
        Ok(Self { url, ..self })
    }
}

impl Serialize for NetworkSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for NetworkSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)?.check().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::config::{ConfigError, DEFAULT_FILE, Settings};

    fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::parse(text, Path::new("avert.toml"))
    }

    /// The settings of a network that stand in the listed file, as they would be without the mark of a comment.
    fn listed() -> String {
        let (_, section) = DEFAULT_FILE.split_once("[providers]\n").unwrap();
        let (section, _) = section.split_once("\n\n").unwrap();
        let is_setting =
            |line: &&str| line.starts_with('[') || line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        section.lines().map(|line| line.trim_start_matches("# ")).filter(is_setting).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_settings_of_a_network_are_listed_with_their_defaults_and_completely() {
        let read = parse(&listed()).unwrap();

        let expected =
            NetworkSettings { url: "https://gateway.example/ethoca".to_owned(), ..NetworkSettings::default() };
        assert_eq!(read.providers[&Network::Ethoca], expected);
        let in_file: toml::Table = toml::from_str(&listed()).unwrap();
        assert_eq!(
            in_file["providers"]["ethoca"],
            toml::Value::try_from(&expected).unwrap(),
            "a setting is missing from the list"
        );
    }

    #[rstest]
    #[case("[providers.visa]\nurl = \"https://a.example\"", 1, "\"visa\" is not allowed: one of ethoca, verifi, cdrn")]
    #[case("[providers.cdrn]\nlookup = true", 1, "url is required: an http or https address")]
    #[case("[providers.cdrn]\nurl = \"http://a.example\"", 1, "url is plain http beyond this machine")]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\ntoken = \"x\"",
        3,
        "unknown field `token`, expected one of `url`"
    )]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"oauth\"",
        3,
        "\"oauth\" is not allowed: one of bearer, basic, header, none"
    )]
    #[case("[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"header\"", 1, "needs the name of the header")]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"header\"\nheader = \"Host\"",
        1,
        "Host cannot be chosen"
    )]
    #[case("[providers.cdrn]\nurl = \"https://a.example\"\nheader = \"X-Key\"", 1, "goes only with auth = \"header\"")]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\nauth = \"none\"\ncredential_file = \"a\"",
        1,
        "does not go with auth = \"none\""
    )]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\nidempotent = true\nfinal_error_only = true",
        1,
        "exclude each other"
    )]
    #[case("[providers.cdrn]\nurl = \"https://a.example\"\nsimulated = true", 1, "simulated = true stands alone")]
    #[case(
        "[providers.cdrn]\nurl = \"https://a.example\"\ntimeout_seconds = 0",
        3,
        "\"0\" is not allowed: whole seconds from 1 to 60"
    )]
    fn wrong_settings_of_a_network_are_refused_with_their_line(
        #[case] text: &str,
        #[case] wrong: usize,
        #[case] words: &str,
    ) {
        let ConfigError::Line { line, message, .. } = parse(text).unwrap_err() else { panic!("not a line") };

        assert!(message.contains(words), "{message}");
        assert_eq!(line, wrong, "{message}");
    }

    #[test]
    fn a_network_that_is_simulated_has_no_gateway_and_gets_none_from_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("avert.toml");
        std::fs::write(&file, "[providers.cdrn]\nsimulated = true").unwrap();

        let alone = Settings::load(Some(&file), |_: &str| None).unwrap();
        let both = Settings::load(Some(&file), |name: &str| {
            (name == "AVERT_CDRN_URL").then(|| "https://a.example".to_owned())
        });

        assert_eq!((alone.gateways().count(), alone.removed_gateways().collect::<Vec<_>>()), (0, vec![Network::Cdrn]));
        let error = both.unwrap_err().to_string();
        assert!(error.contains("AVERT_CDRN_URL") && error.contains("simulated = true"), "{error}");
    }

    #[test]
    fn an_address_from_the_environment_is_stronger_than_the_file_and_leaves_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("avert.toml");
        std::fs::write(&file, "[providers.cdrn]\nurl = \"https://file.example\"\nlookup = true").unwrap();
        let variables = |name: &str| match name {
            "AVERT_CDRN_URL" => Some("https://environment.example/".to_owned()),
            "AVERT_ETHOCA_URL" => Some("http://127.0.0.1:9000".to_owned()),
            _ => None,
        };

        let providers = Settings::load(Some(&file), variables).unwrap().providers;

        let cdrn = &providers[&Network::Cdrn];
        assert_eq!((cdrn.url.as_str(), cdrn.lookup), ("https://environment.example", true));
        assert_eq!(providers[&Network::Ethoca].url, "http://127.0.0.1:9000");
        assert!(!providers.contains_key(&Network::Verifi));
    }

    #[test]
    fn an_address_in_the_environment_that_is_not_safe_is_refused_with_its_name() {
        let error = Settings::load(None, |name| (name == "AVERT_VERIFI_URL").then(|| "http://a.example".to_owned()))
            .unwrap_err();

        assert!(error.to_string().starts_with("AVERT_VERIFI_URL: url is plain http beyond this machine"), "{error}");
    }
}
