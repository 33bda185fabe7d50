//! Configuration of the networks: gateways, authentication, capabilities.

use std::path::PathBuf;

use clap::ValueEnum;
use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    table::{SettingSection, SettingTable, table},
    values::{Bounded, words},
};
use crate::domain::{
    Provider,
    url::{BaseUrl, PlainHttp},
    webhook::endpoint::valid_header,
};

/// Sections of the networks that can have a gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NetworkSections {
    pub ethoca: Option<NetworkSettings>,
    pub verifi: Option<NetworkSettings>,
    pub cdrn: Option<NetworkSettings>,
}

impl NetworkSections {
    /// Returns the networks that have a section, with their settings.
    pub fn given(&self) -> impl Iterator<Item = (&'static Provider, &NetworkSettings)> {
        let Self { ethoca, verifi, cdrn } = self;
        let all = [(&Provider::Ethoca, ethoca), (&Provider::Verifi, verifi), (&Provider::Cdrn, cdrn)];
        all.into_iter().filter_map(|(network, set)| Some((network, set.as_ref()?)))
    }
}

/// Authentication of avert at a gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum NetworkAuth {
    /// `Authorization: Bearer`; the credential is the token.
    Bearer,
    /// `Authorization: Basic`; the credential is `USER:PASSWORD`.
    Basic,
    /// A header of the gateway's own; the credential is its value.
    Header,
    /// Not at all.
    None,
}

words!(NetworkAuth);

table! {
    /// Settings of one network. They are checked when they are read.
    // What is derived becomes a function of its own, around which the check is put.
    #[serde(remote = "Self")]
    NetworkSettings {
        /// Address of the gateway; paths are added to it.
        url: String = "";
        /// Allow plain http beyond this machine, where others can read credential and alerts on
        /// the way.
        insecure_http: bool = false;
        /// Authentication: bearer (a token), basic (USER:PASSWORD), header (a header of its own) or none.
        auth: NetworkAuth = "bearer";
        /// Name of the header, with auth = "header".
        header: String = "";
        /// File with the credential alone; empty for the environment: AVERT_ETHOCA_CREDENTIAL, AVERT_VERIFI_CREDENTIAL,
        /// AVERT_CDRN_CREDENTIAL.
        credential_file: PathBuf = "";
        /// File with the certificates (PEM) that are trusted there, and no others; empty for this machine's
        /// authorities.
        ca_file: PathBuf = "";
        /// The gateway can be asked for the result of an answer whose reply was lost.
        lookup: bool = false;
        /// The gateway knows the same answer sent again by its Idempotency-Key, and gives the first reply again.
        idempotent: bool = false;
        /// The gateway records the same answer once, and says of a second one only that the alert was answered already.
        final_error_only: bool = false;
        /// Seconds that a call may take in all, 1 to 60.
        timeout_seconds: Bounded<1, 60> = 10;
        /// Seconds after a call for which "not known" is no answer yet, 0 to 86400.
        settle_seconds: Bounded<0, 86_400> = 60;
        /// Pull alerts from the gateway; they can also be pushed to POST /operator/v1/alerts.
        pull: bool = false;
        /// Seconds between pulls, 1 to 3600.
        pull_seconds: Bounded<1, 3_600> = 60;
        /// Name or id of the organization that pulled alerts are for; empty where there is only one.
        pull_organization: String = "";
        /// Let the simulator answer again for a network that had a gateway; then this stands alone in the section.
        simulated: bool = false;
    }
}

impl NetworkSettings {
    /// Returns the base URL of the gateway; the error says what is wrong and what is allowed.
    pub fn base(&self) -> Result<BaseUrl, String> {
        let plain_http = PlainHttp::when(self.insecure_http, "allow it with insecure_http = true");
        BaseUrl::parse(&self.url, plain_http).map_err(|error| format!("url {error}"))
    }

    /// Checks the settings and normalizes the address; the error says what is wrong and what is allowed.
    fn check(self) -> Result<Self, String> {
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

impl<'de> Deserialize<'de> for NetworkSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)?.check().map_err(D::Error::custom)
    }
}

impl SettingTable for NetworkSections {
    fn describe(name: &str, help: &'static str, all: &mut Vec<SettingSection>) {
        all.push(SettingSection { name: name.to_owned(), help, settings: &[] });
        NetworkSettings::describe("providers.ethoca", "", all);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::config::{ConfigError, Settings};

    fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::parse(text, Path::new("avert.toml"))
    }

    /// Returns the settings of a network in the listed file, without the comment marks.
    fn listed() -> String {
        let text = include_str!("../../assets/config.default.toml");
        let (_, section) = text.split_once("[providers]\n").unwrap();
        let (_, section) = section.split_once("# [providers.ethoca]\n").unwrap();
        let (section, _) = section.split_once("\n\n").unwrap();
        let is_setting = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(' '));
        let lines: Vec<&str> = section.lines().map(|line| line.trim_start_matches("# ")).filter(is_setting).collect();
        format!("[providers.ethoca]\n{}", lines.join("\n"))
    }

    #[test]
    fn the_settings_of_a_network_are_listed_with_their_defaults() {
        let read = parse(&listed()).unwrap();

        let expected =
            NetworkSettings { url: "https://gateway.example/ethoca".to_owned(), ..NetworkSettings::default() };
        assert_eq!(read.providers.ethoca, Some(expected));
    }

    #[rstest]
    #[case(
        "[providers.visa]\nurl = \"https://a.example\"",
        1,
        "unknown field `visa`, expected one of `ethoca`, `verifi`, `cdrn`"
    )]
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
        "\"0\" is not allowed: whole numbers from 1 to 60"
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
    fn a_network_that_is_simulated_has_no_gateway() {
        let settings = parse("[providers.cdrn]\nsimulated = true").unwrap();

        assert_eq!(
            (settings.gateways().count(), settings.removed_gateways().collect::<Vec<_>>()),
            (0, vec![&Provider::Cdrn])
        );
    }
}
