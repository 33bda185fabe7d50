//! Configuration of the rules that answer by themselves: their names and limits.

use std::{collections::BTreeMap, fmt};

use chrono::NaiveDate;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, Visitor},
};

use super::{
    table::{ConfigError, SettingSection, SettingTable, table},
    values::Bounded,
};
use crate::domain::{Money, rule::automatic::RuleLimits};

/// Names of the rules that answer by themselves, and the limits of rules by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleSections {
    pub automatic: Vec<String>,
    pub limits: BTreeMap<String, RuleSettings>,
}

table! {
    /// Settings above the sections of the rules, as they are described.
    RuleNames {
        /// Names of the rules that answer by themselves; each needs a section with its limits.
        automatic: Vec<String> = [];
    }
}

table! {
    /// Limits of one rule. They are checked when they are read.
    #[serde(remote = "Self")]
    RuleSettings {
        /// Most answers of a UTC day in an organization, 1 to 100000.
        per_day: Bounded<0, 100_000> = 0;
        /// Most money of the alerts that it answers on such a day, with its currency: "500.00 EUR". It answers alerts
        /// in that currency alone.
        amount_per_day: Option<Money> = "";
        /// Day from which it answers, such as "2026-12-01"; empty for 24 hours after the engine first saw its line.
        /// Until then it only notes what it would have answered.
        from: Option<NaiveDate> = "";
        /// Refunds are made elsewhere: it answers Refunded although no succeeded refund of the payment is known.
        refunds_elsewhere: bool = false;
    }
}

impl RuleSettings {
    /// Returns the limits, both of which are needed.
    fn limits(&self) -> Option<RuleLimits> {
        let Self { per_day, amount_per_day, from, refunds_elsewhere } = self.clone();
        let amount_per_day = amount_per_day.filter(|_| per_day.0 > 0)?;
        Some(RuleLimits { per_day: per_day.0, amount_per_day, from, refunds_elsewhere })
    }
}

impl<'de> Deserialize<'de> for RuleSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Self::deserialize(deserializer)?;
        let missing = "per_day and amount_per_day are needed, such as per_day = 50 and amount_per_day = \"500.00 EUR\"";
        read.limits().map(|_| read).ok_or_else(|| D::Error::custom(missing))
    }
}

impl RuleSections {
    /// Returns the limits of the automatic rules by name.
    pub fn automatic(&self) -> Vec<(String, RuleLimits)> {
        let limits = |name: &String| Some((name.clone(), self.of(name)?.limits()?));
        self.automatic.iter().filter_map(limits).collect()
    }

    fn of(&self, rule: &str) -> Option<&RuleSettings> {
        self.limits.iter().find(|(name, _)| name.eq_ignore_ascii_case(rule)).map(|(_, limits)| limits)
    }
}

impl<'de> Deserialize<'de> for RuleSections {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Sections;

        impl<'de> Visitor<'de> for Sections {
            type Value = RuleSections;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("names of automatic rules, and a section for each")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<RuleSections, A::Error> {
                let mut read = RuleSections::default();
                while let Some(key) = table.next_key::<String>()? {
                    if key == "automatic" {
                        read.automatic = table.next_value()?;
                    } else {
                        read.limits.insert(key, table.next_value()?);
                    }
                }
                match read.automatic.iter().find(|name| read.of(name).is_none()) {
                    Some(name) => Err(A::Error::custom(format!("{name:?} is automatic: [rules.{name}] is needed"))),
                    None => Ok(read),
                }
            }
        }

        deserializer.deserialize_map(Sections)
    }
}

impl SettingTable for RuleSections {
    fn read_environment(&mut self, _: &dyn Fn(&str) -> Option<String>) -> Result<(), ConfigError> {
        Ok(())
    }

    fn describe(name: &str, help: &'static str, all: &mut Vec<SettingSection>) {
        RuleNames::describe(name, help, all);
        RuleSettings::describe("rules.small", "", all);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::config::Settings;

    fn parse(text: &str) -> Result<Settings, ConfigError> {
        Settings::parse(text, Path::new("avert.toml"))
    }

    const SMALL: &str = "[rules]\nautomatic = [\"small\"]\n[rules.Small]\nper_day = 50\namount_per_day = \"500.00 \
        EUR\"\nfrom = \"2026-12-01\"\nrefunds_elsewhere = true\n";

    #[test]
    fn a_rule_is_automatic_by_its_name_and_has_the_limits_of_its_section() {
        let settings = parse(&format!("{SMALL}[rules.other]\nper_day = 1\namount_per_day = \"1 USD\"")).unwrap();

        let limits = RuleLimits {
            per_day: 50,
            amount_per_day: "500.00 EUR".parse().unwrap(),
            from: NaiveDate::from_ymd_opt(2026, 12, 1),
            refunds_elsewhere: true,
        };
        assert_eq!(settings.rules.automatic(), [("small".to_owned(), limits)]);
    }

    #[rstest]
    #[case("[rules]\nautomatic = [\"small\"]", 1, "[rules.small] is needed")]
    #[case("[rules.small]\nper_day = 5", 1, "per_day and amount_per_day are needed")]
    #[case("[rules.small]\namount_per_day = \"5 EUR\"", 1, "per_day and amount_per_day are needed")]
    #[case("[rules.small]\nper_day = 5\namount_per_day = \"5\"", 3, "\"5\" is no money: an amount and a currency")]
    #[case("[rules.small]\nper_day = 5\namount_per_day = \"-5 EUR\"", 3, "\"-5 EUR\" is no money")]
    #[case("[rules.small]\nper_day = 100001", 2, "0 to 100000")]
    #[case("[rules.small]\nper_week = 5", 2, "unknown field `per_week`")]
    fn wrong_limits_are_refused_with_their_line(#[case] text: &str, #[case] wrong: usize, #[case] words: &str) {
        let ConfigError::Line { line, message, .. } = parse(text).unwrap_err() else { panic!("not a line") };

        assert!(message.contains(words), "{message}");
        assert_eq!(line, wrong, "{message}");
    }
}
