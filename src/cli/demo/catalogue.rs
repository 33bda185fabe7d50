//! The demo's catalogue: shops, banks and networks, from `assets/demo/`.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde::Deserialize;

use crate::domain::Alert;

/// Rules of a desk that has none of its own.
pub(super) const RULES: &str = include_str!("../../../assets/demo/rules.txt");

/// Catalogue that the generator chooses from.
#[derive(Debug)]
pub(super) struct Catalogue {
    pub merchants: Vec<Merchant>,
    pub issuers: Vec<Issuer>,
    pub networks: NetworkCatalogue,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Merchant {
    pub name: String,
    pub descriptors: Vec<String>,
    pub contact: String,
    pub mcc: String,
    pub currency: String,
    pub order: String,
    pub prices: Vec<String>,
    #[serde(default)]
    pub subscription: bool,
}

/// Card issuer with its card ranges.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Issuer {
    pub name: String,
    /// Currencies that its cards are mostly used in.
    pub home: Vec<String>,
    pub cards: Vec<CardRange>,
}

/// Card range: a scheme and a BIN.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CardRange {
    pub scheme: String,
    pub bin: String,
}

/// Catalogue of the networks' values.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NetworkCatalogue {
    #[serde(rename = "kind")]
    pub kinds: Vec<AlertKind>,
    /// Reason codes by scheme.
    pub reasons: BTreeMap<String, Reasons>,
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    pub partners: Partners,
    pub comments: Comments,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlertKind {
    pub provider: String,
    #[serde(rename = "type")]
    pub alert_type: String,
    pub weight: u32,
    pub schemes: Vec<String>,
    pub id: String,
    pub initiated_by: Vec<String>,
    #[serde(default)]
    pub fraud: bool,
    #[serde(default)]
    pub subscription: bool,
}

/// Reason codes of a card scheme.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reasons {
    pub fraud: Vec<String>,
    pub dispute: Vec<String>,
    pub cancel: Vec<String>,
}

/// Rule by which VERIFI refunds by itself.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub name: String,
    pub kind: String,
    pub below: Option<Decimal>,
    pub reason: Option<String>,
}

impl Rule {
    /// Returns whether it refunds the payment of such an alert.
    pub(super) fn applies_to(&self, alert: &Alert) -> bool {
        let is_below = self.below.is_none_or(|limit| alert.amount.is_some_and(|amount| amount.decimal() < limit));
        is_below && (self.reason.is_none() || self.reason == alert.reason_code)
    }
}

/// Names in VERIFI's own fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Partners {
    pub tiers: Vec<String>,
    pub names: Vec<String>,
    pub clients: Vec<String>,
    pub acquirer_bins: Vec<String>,
}

/// Comments of desks, by decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comments {
    pub refunded: Vec<String>,
    pub not_refunded: Vec<String>,
    pub previously_refunded: Vec<String>,
    pub chargeback_received: Vec<String>,
    pub duplicate: Vec<String>,
    pub not_found: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Merchants {
    merchant: Vec<Merchant>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Issuers {
    issuer: Vec<Issuer>,
}

impl Catalogue {
    /// Returns the built-in catalogue.
    pub(super) fn built_in() -> Self {
        // The files are part of the program and a test reads them: they cannot be wrong in a build that passed.
        let valid = "the built-in demo data is valid";
        let merchants: Merchants = toml::from_str(include_str!("../../../assets/demo/merchants.toml")).expect(valid);
        let issuers: Issuers = toml::from_str(include_str!("../../../assets/demo/issuers.toml")).expect(valid);
        let networks = toml::from_str(include_str!("../../../assets/demo/networks.toml")).expect(valid);
        Self { merchants: merchants.merchant, issuers: issuers.issuer, networks }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::code_words::{dispute_reason, merchant_category};
    use crate::domain::{AlertType, Amount, Currency, Provider};

    #[test]
    fn prices_have_exactly_the_decimals_of_their_currency() {
        for merchant in Catalogue::built_in().merchants {
            let exponent = Currency::new(&merchant.currency).exponent();
            for price in &merchant.prices {
                let amount: Amount = price.parse().unwrap();
                assert_eq!(amount.decimal().scale(), exponent, "{}: {price}", merchant.name);
            }
        }
    }

    #[test]
    fn currencies_of_no_decimals_and_of_three_are_among_them() {
        let currencies: BTreeSet<String> =
            Catalogue::built_in().merchants.into_iter().map(|merchant| merchant.currency).collect();

        assert!(currencies.contains("JPY") && currencies.contains("KWD") && currencies.len() >= 12, "{currencies:?}");
    }

    #[test]
    fn kinds_and_cards_are_of_the_interface_and_of_their_scheme() {
        let catalogue = Catalogue::built_in();
        for kind in &catalogue.networks.kinds {
            assert!(
                Provider::known(&kind.provider).is_some() && AlertType::known(&kind.alert_type).is_some(),
                "{kind:?}"
            );
            assert!(kind.schemes.iter().all(|scheme| catalogue.networks.reasons.contains_key(scheme)), "{kind:?}");
        }
        for card in catalogue.issuers.iter().flat_map(|issuer| &issuer.cards) {
            let first = match card.scheme.as_str() {
                "visa" => "4",
                "mastercard" if card.bin.starts_with('2') => "22",
                "mastercard" => "5",
                "amex" => "37",
                "discover" => "6011",
                other => panic!("{other}"),
            };
            assert!(card.bin.starts_with(first) && matches!(card.bin.len(), 6 | 8), "{card:?}");
        }
    }

    #[test]
    fn every_currency_has_a_bank_at_home_in_it_with_a_visa_card() {
        let Catalogue { merchants, issuers, .. } = Catalogue::built_in();
        for merchant in merchants {
            let at_home = |issuer: &&Issuer| issuer.home.contains(&merchant.currency);
            assert!(
                issuers.iter().filter(at_home).any(|issuer| issuer.cards.iter().any(|card| card.scheme == "visa")),
                "{}",
                merchant.currency
            );
        }
    }

    #[test]
    fn every_reason_and_every_trade_has_words() {
        let Catalogue { merchants, networks, .. } = Catalogue::built_in();
        let codes =
            networks.reasons.values().flat_map(|reasons| [&reasons.fraud, &reasons.dispute, &reasons.cancel]).flatten();
        let bare: Vec<&String> = codes
            .filter(|code| dispute_reason(code).is_none())
            .chain(merchants.iter().map(|merchant| &merchant.mcc).filter(|mcc| merchant_category(mcc).is_none()))
            .collect();

        assert_eq!(bare, Vec::<&String>::new());
    }

    #[test]
    fn descriptors_are_as_long_as_statements_allow() {
        for merchant in Catalogue::built_in().merchants {
            assert!(merchant.descriptors.iter().all(|descriptor| descriptor.len() <= 22), "{}", merchant.name);
        }
    }
}
