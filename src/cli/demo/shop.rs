//! The demo's catalogue of shops, banks and networks, from `assets/demo/`; and the order behind an alert, made up from
//! the alert's own facts as a shop would have kept them.
//!
//! Orders are pure: alerts on one payment have the same order. Not every alert has one, and not every order has every
//! key.

use std::collections::{BTreeMap, btree_map::Entry};

use chrono::Duration;
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use rust_decimal::Decimal;
use serde::Deserialize;

use crate::domain::{Alert, MerchantOrder, OrderState};

/// Rules of a desk that has none of its own.
pub(super) const RULES: &str = include_str!("../../../assets/demo/rules.txt");

/// Catalogue that the generator chooses from.
#[derive(Debug, Deserialize)]
pub(super) struct Catalogue {
    #[serde(rename = "merchant")]
    pub merchants: Vec<Merchant>,
    #[serde(rename = "issuer")]
    pub issuers: Vec<Issuer>,
    #[serde(flatten)]
    pub networks: NetworkCatalogue,
}

#[derive(Debug, Clone, Deserialize)]
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
pub(super) struct Issuer {
    pub name: String,
    /// Currencies that its cards are mostly used in.
    pub home: Vec<String>,
    pub cards: Vec<CardRange>,
}

/// Card range: a scheme and a BIN.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CardRange {
    pub scheme: String,
    pub bin: String,
}

/// Catalogue of the networks' values.
#[derive(Debug, Deserialize)]
pub(super) struct NetworkCatalogue {
    #[serde(rename = "kind")]
    pub kinds: Vec<AlertKind>,
    /// Reason codes by scheme, and by fraud, dispute and cancel.
    pub reasons: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    #[serde(rename = "rule")]
    pub rules: Vec<Rule>,
    pub partners: Partners,
    /// Comments of desks, by the interface's word for the answer.
    pub comments: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
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

/// Rule by which VERIFI refunds by itself.
#[derive(Debug, Clone, Deserialize)]
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
pub(super) struct Partners {
    pub tiers: Vec<String>,
    pub names: Vec<String>,
    pub clients: Vec<String>,
    pub acquirer_bins: Vec<String>,
}

impl Catalogue {
    /// Returns the built-in catalogue.
    pub(super) fn built_in() -> Self {
        // The files are part of the program and a test reads them: they cannot be wrong in a build that passed.
        toml::from_str(concat!(
            include_str!("../../../assets/demo/merchants.toml"),
            include_str!("../../../assets/demo/issuers.toml"),
            include_str!("../../../assets/demo/networks.toml"),
        ))
        .expect("the built-in demo data is valid")
    }
}

/// Returns the orders of these alerts, each once. An order has its state after the refund, where one of its alerts was
/// refunded.
pub(super) fn orders_of<'a>(alerts: impl Iterator<Item = &'a Alert>) -> Vec<MerchantOrder> {
    let mut orders: BTreeMap<String, MerchantOrder> = BTreeMap::new();
    for alert in alerts {
        let Some(order) = order_of(alert) else { continue };
        match orders.entry(order.order_id.clone()) {
            Entry::Occupied(mut known) if alert.was_refunded() => drop(known.insert(order)),
            Entry::Occupied(_) => {}
            Entry::Vacant(place) => drop(place.insert(order)),
        }
    }
    orders.into_values().collect()
}

/// Returns a hash (FNV-1a) that all alerts on a payment share: of the fields that two networks tell alike.
fn payment(alert: &Alert) -> u64 {
    let money = alert.amount.map(|amount| amount.to_string()).unwrap_or_default();
    let text = [&alert.card_bin, &alert.card_last_four, &money, alert.currency.as_str()].join("|");
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the order of an alert; `None` where the shop knows none.
pub(super) fn order_of(alert: &Alert) -> Option<MerchantOrder> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(payment(alert));
    if rng.random_bool(0.12) {
        return None;
    }
    // Many shops tell networks another number than their own.
    let named = alert.merchant_order_id.clone().filter(|_| rng.random_bool(0.4));
    let paid_at = alert.transaction_time.map(|at| at + Duration::minutes(rng.random_range(-90..90)));
    let mut order = MerchantOrder {
        order_id: named.unwrap_or_else(|| format!("W-{:06}", rng.random_range(100_000..1_000_000))),
        transaction_id: alert.transaction_id.clone().filter(|_| rng.random_bool(0.5)),
        arn: alert.acquirer_reference_number.clone().filter(|_| rng.random_bool(0.5)),
        auth_code: alert.auth_code.clone().filter(|_| rng.random_bool(0.7)),
        card_bin: Some(alert.card_bin.clone()),
        card_last_four: Some(alert.card_last_four.clone()),
        amount: alert.amount,
        currency: Some(alert.currency.clone()),
        paid_at,
        descriptor: Some(alert.merchant_descriptor.clone()),
        ..MerchantOrder::default()
    };
    let after = |hours: i64| paid_at.map(|at| at + Duration::hours(hours));
    (order.state, order.state_at) = if alert.was_refunded() {
        // Money of an order that is answered as refunded before went back before the alert came.
        let answered = || alert.outcome.as_ref()?.action_time.map(|at| at - Duration::minutes(5));
        let before = alert.alert_time.filter(|_| alert.says_refunded_before()).map(|at| at - Duration::hours(3));
        (Some(OrderState::Refunded), before.or_else(answered))
    } else {
        match rng.random_range(0..100) {
            0..24 => (Some(OrderState::Paid), paid_at),
            24..48 => (Some(OrderState::Shipped), after(rng.random_range(12..60))),
            48..74 => (Some(OrderState::Delivered), after(rng.random_range(48..94))),
            // Purchases are four days old at least when an alert comes.
            74..90 => (Some(OrderState::Refunded), after(rng.random_range(24..94))),
            _ => (Some(OrderState::Cancelled), after(rng.random_range(1..20))),
        }
    };
    order.refunded_amount = order.amount.filter(|_| order.state == Some(OrderState::Refunded));
    Some(order)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashSet};

    use super::super::DemoFeed;
    use super::*;
    use crate::console::code_words::{dispute_reason, merchant_category};
    use crate::domain::duplicate::DuplicateEvidence;
    use crate::domain::order::matches;
    use crate::domain::rule::{parse_rules, suggestion};
    use crate::domain::time::from_iso;
    use crate::domain::{AlertType, Amount, Currency, MatchConfidence, OrderEvidence, Provider, duplicate};

    #[test]
    fn the_rules_of_the_demo_can_be_read_and_suggest_something() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let rules = parse_rules(RULES).unwrap();

        let rows = DemoFeed::new(1).backlog(240, now);

        assert!(rows.iter().any(|row| suggestion(&rules, &row.alert, now).is_some()));
    }

    #[test]
    fn alerts_on_one_payment_are_on_one_order_and_a_refund_of_one_is_the_orders() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let alerts: Vec<Alert> = DemoFeed::new(1).backlog(240, now).into_iter().map(|row| row.alert).collect();
        let orders = orders_of(alerts.iter());
        let state_of = |alert: &Alert| {
            let id = order_of(alert)?.order_id;
            orders.iter().find(|order| order.order_id == id)?.state
        };

        let doubles: Vec<(&Alert, &Alert)> = alerts
            .iter()
            .enumerate()
            .flat_map(|(at, one)| alerts[at + 1..].iter().map(move |other| (one, other)))
            .filter(|(one, other)| duplicate::evidence(one, other) == Some(DuplicateEvidence::CardAmountAndDay))
            .collect();

        assert!(doubles.len() > 10, "{}", doubles.len());
        for (one, other) in doubles {
            assert_eq!(order_of(one).map(|order| order.order_id), order_of(other).map(|order| order.order_id));
            if (one.was_refunded() || other.was_refunded()) && order_of(one).is_some() {
                assert_eq!(state_of(one), Some(OrderState::Refunded));
            }
        }
    }

    #[test]
    fn most_alerts_of_a_demo_have_an_order_that_is_found_by_one_key_or_another() {
        let now = from_iso("2026-03-10T12:00:00Z").unwrap();
        let alerts: Vec<Alert> = DemoFeed::new(1).backlog(240, now).into_iter().map(|row| row.alert).collect();
        let orders = orders_of(alerts.iter());

        let found: Vec<_> =
            alerts.iter().filter_map(|alert| matches(alert, orders.clone()).into_iter().next()).collect();

        let evidence: HashSet<String> = found.iter().map(|found| format!("{:?}", found.evidence)).collect();
        let states: HashSet<_> = orders.iter().filter_map(|order| order.state).collect();
        assert!(found.len() > 190 && found.len() < 240, "{}", found.len());
        assert!(found.iter().filter(|found| found.confidence >= MatchConfidence::Likely).count() > 150);
        assert!(
            evidence.contains(&format!("{:?}", OrderEvidence::AuthCodeAndCard)) && evidence.len() >= 4,
            "{evidence:?}"
        );
        assert_eq!(states.len(), OrderState::ALL.len());
    }

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
        let codes = networks.reasons.values().flat_map(BTreeMap::values).flatten();
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
