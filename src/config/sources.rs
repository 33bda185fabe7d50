//! Configuration of the sources: presets, signatures, secrets, maps.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Deserializer, de::Error as _};

use super::{
    table::{SettingSection, SettingTable, parsed, table},
    values::Bounded,
};
use crate::{
    domain::{Answers, Provider, SignatureScheme, SourceKind, VerifiAnswers},
    sources::{
        BodyReader, EventConditions, EventKey, FieldMap, SourceForm, Window, expression::Expression, justt::CdrnCodes,
        valid_name,
    },
};

/// Name of a source, which is part of its route.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceName(pub String);

impl<'de> Deserialize<'de> for SourceName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        valid_name(&name).map_err(D::Error::custom).map(|()| Self(name))
    }
}

/// Sections of the sources by name.
pub type SourceSections = BTreeMap<SourceName, SourceSettings>;

parsed!(Answers, VerifiAnswers);

table! {
    /// Settings of one source. They are checked when they are read.
    #[serde(remote = "Self")]
    SourceSettings {
        /// Preset: justt, chargeblast, chargebackstop, chargeflow, whop, stripe, shopify or adyen; empty with a
        /// signature and a map of your own.
        preset: String = "";
        /// Signature of its webhooks: standard, stripe, sha512, shopify, adyen or basic; empty for the preset's.
        signature: Option<SignatureScheme> = "";
        /// File with the secret alone; empty for the environment: AVERT_SOURCE_STRIPE_EU_SECRET or
        /// AVERT_SOURCE_STRIPE_EU_SECRET_FILE for the source stripe-eu.
        secret_file: PathBuf = "";
        /// File with USER:PASSWORD of HTTP Basic, where that is asked for beside the signature, as for Adyen; empty for
        /// the environment: AVERT_SOURCE_STRIPE_EU_BASIC or AVERT_SOURCE_STRIPE_EU_BASIC_FILE.
        basic_file: PathBuf = "";
        /// Name or id of the organization that its alerts are for; empty where there is only one.
        organization: String = "";
        /// Way in which its alerts are answered: here (recorded by avert, reported to nobody), gateway (by the gateway
        /// of the alert's network) or native (by justt itself). It counts for alerts that come from now on.
        answers: Answers = "here";
        /// Way in which a native source gets the answers to Verifi's alerts: here (not at all) or codes (by CDRN's
        /// codes).
        verifi: VerifiAnswers = "here";
        /// Seconds between two polls of what justt or stripe has, 0 to 86400; 0 leaves all to their webhooks. Without a
        /// key there are none.
        poll_seconds: Bounded<0, 86_400> = 300;
        /// File with the key of justt's or stripe's interface; empty for the environment:
        /// AVERT_SOURCE_STRIPE_EU_API_KEY or AVERT_SOURCE_STRIPE_EU_API_KEY_FILE.
        api_key_file: PathBuf = "";
        /// Address of that interface; empty for the vendor's.
        url: String = "";
        /// Merchant's account at justt, where a key is for several.
        account: String = "";
        /// Kind of its events: alert, dispute, fraud or refund; empty for the preset's, and for alert without one.
        kind: Option<SourceKind> = "";
        /// Place of the sender's id of an event: "header:NAME" or a path, or several with + between them; empty for the
        /// signature's. sha512 and basic have none: the alert's identity counts then, or a report's with its status.
        event: Option<EventKey> = "";
        /// Time of an event by its sender, as an expression: of two events about one thing the later one counts; empty
        /// for the preset's.
        sent: Option<Expression> = "";
        /// Time to answer from the alert's time on, where the sender gives no deadline: 72h, 90m or 3d; empty for the
        /// network's.
        window: Option<Window> = "";
    }
    tables {
        /// Values that an event has to have, by their paths; others are kept and ignored.
        when: EventConditions;
        /// Fields of the alert, or of the dispute, fraud report or refund, each with the expression that makes it.
        map: FieldMap;
        /// Codes of answers to Verifi's alerts, by what they say: refunded, not_refunded, duplicate and so on.
        codes: CdrnCodes;
    }
}

impl SourceSettings {
    /// Returns the signature scheme and the reader of bodies; the error says what is wrong and what is allowed.
    pub fn reader(&self) -> Result<(SignatureScheme, BodyReader), String> {
        let Self { signature, event, sent, window, kind, when, map, .. } = self.clone();
        let own = SourceForm { signature, event, sent, window, kind, when, map, ..SourceForm::default() };
        let preset = if self.preset.is_empty() { SourceForm::default() } else { SourceForm::preset(&self.preset)? };
        preset.with(own).reader()
    }

    fn check(self) -> Result<Self, String> {
        if self.answers == Answers::Native && self.preset != "justt" {
            return Err("answers = \"native\" is not available for this preset: here or gateway".to_owned());
        }
        let names_interface = !self.api_key_file.as_os_str().is_empty() || !self.url.is_empty();
        if names_interface && !["justt", "stripe"].contains(&self.preset.as_str()) {
            return Err("api_key_file and url go with preset = \"justt\" or \"stripe\" alone".to_owned());
        }
        let (_, reader) = self.reader()?;
        if self.answers == Answers::Gateway && reader.brings(&Provider::Stripe) {
            return Err(
                "answers = \"gateway\" is not available: no gateway takes answers to STRIPE, here does".to_owned()
            );
        }
        Ok(self)
    }
}

impl<'de> Deserialize<'de> for SourceSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)?.check().map_err(D::Error::custom)
    }
}

impl SettingTable for SourceSections {
    fn describe(name: &str, help: &'static str, all: &mut Vec<SettingSection>) {
        all.push(SettingSection { name: name.to_owned(), help, settings: &[] });
        SourceSettings::describe("sources.stripe-eu", "", all);
    }
}

impl SettingTable for EventConditions {}
impl SettingTable for FieldMap {}
impl SettingTable for CdrnCodes {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::config::{ConfigError, Settings};

    fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::parse(text, Path::new("avert.toml"))
    }

    const OWN: &str = r#"
        [sources.other]
        signature = "sha512"
        answers = "gateway"
        kind = "alert"
        when = { type = "alert.created" }
        [sources.other.map]
        provider = "='ETHOCA'"
        type = "data.kind | words(fraud=ETHOCA_CONFIRMED_FRAUD)"
    "#;

    #[test]
    fn a_source_has_a_preset_or_a_signature_and_a_map() {
        let preset = parse("[sources.stripe-eu]\npreset = \"stripe\"\nsecret_file = \"/run/secrets/stripe\"").unwrap();
        let own = parse(OWN).unwrap();
        let only = |settings: &Settings| settings.sources.values().next().unwrap().reader().unwrap().0;

        assert_eq!((only(&preset), only(&own)), (SignatureScheme::Stripe, SignatureScheme::Sha512));
    }

    #[rstest]
    #[case("[sources.a]\npreset = \"square\"", 1, "\"square\" is no preset: one of justt, chargeblast")]
    #[case("[sources.a]\nsecret_file = \"x\"", 1, "a preset or a signature is needed: one of standard, stripe")]
    #[case("[sources.\"a b\"]\npreset = \"stripe\"", 1, "\"a b\" is no name of a source: letters, digits and -")]
    #[case("[sources.a]\nsignature = \"md5\"", 2, "\"md5\" is not allowed: one of standard, stripe")]
    #[case("[sources.a]\nanswers = \"there\"", 2, "\"there\" is not allowed: one of here, gateway, native")]
    #[case("[sources.a]\npreset = \"stripe\"\nanswers = \"native\"", 1, "not available for this preset")]
    #[case("[sources.a]\npreset = \"stripe\"\nanswers = \"gateway\"", 1, "no gateway takes answers to STRIPE")]
    #[case(
        "[sources.a]\nsignature = \"basic\"\nanswers = \"gateway\"\nmap = { provider = \"='STRIPE'\" }",
        1,
        "no gateway takes answers to STRIPE"
    )]
    #[case("[sources.a]\npreset = \"shopify\"\nurl = \"https://a.example\"", 1, "go with preset = \"justt\"")]
    #[case("[sources.a]\npreset = \"justt\"\nverifi = \"never\"", 3, "one of here, codes")]
    #[case("[sources.a]\npreset = \"justt\"\n[sources.a.codes]\nrefunded = 7", 4, "is no code of CDRN")]
    #[case(
        "[sources.a]\npreset = \"justt\"\n[sources.a.codes]\npaid = 100",
        4,
        "\"paid\" is not allowed: one of refunded"
    )]
    #[case("[sources.a]\npreset = \"shopify\"\nkind = \"alert\"", 1, "is no field of events of the kind alert")]
    #[case("[sources.a]\npreset = \"shopify\"\nkind = \"order\"", 3, "one of alert, dispute, fraud, refund")]
    #[case("[sources.a]\npreset = \"stripe\"\nwindow = \"2\"", 3, "\"2\" is no window")]
    #[case("[sources.a]\npreset = \"stripe\"\n[sources.a.map]\nprovidr = \"id\"", 4, "\"providr\" is no field")]
    #[case("[sources.a]\npreset = \"stripe\"\n[sources.a.map]\nmcc = \"id | up\"", 4, "\"up\" is no function")]
    #[case("[sources.a]\npreset = \"stripe\"\nsecret = \"x\"", 3, "unknown field `secret`")]
    fn wrong_settings_of_a_source_are_refused_with_their_line(
        #[case] text: &str,
        #[case] wrong: usize,
        #[case] words: &str,
    ) {
        let ConfigError::Line { line, message, .. } = parse(text).unwrap_err() else { panic!("not a line") };

        assert!(message.contains(words), "{message}");
        assert_eq!(line, wrong, "{message}");
    }
}
