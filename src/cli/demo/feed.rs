//! The generator of test alerts: a demo's backlog and its arrivals one by one, or the history of years.
//!
//! Pure: the same seed and the same times give the same alerts. Cards are a BIN and four digits; no whole number is
//! ever made.

use std::{collections::VecDeque, time::Duration as Wait};

use chrono::{Datelike, Duration};
use rand::{Rng, RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::IndexedRandom};
use rust_decimal::Decimal;

use super::shop::{AlertKind, CardRange, Catalogue, Issuer, Merchant, RULES, order_of};
use crate::domain::{
    Alert, AlertId, AlertPatch, AlertStatus, AlertType, Amount, CompanyId, Currency, OrderState, OutcomeId, Provider,
    Resolution, Timestamp,
    alert::default_window,
    card::mask_card_numbers,
    decide,
    duplicate::evidence,
    resolution::{Decision, InvalidReason},
    rule::{parse_rules, suggestion},
};

/// Number of recent alerts that a duplicate can be of.
const REMEMBERED: usize = 400;

/// Longest time that any network gives for an answer.
const LONGEST_WINDOW: Duration = Duration::hours(72);

/// Number of alerts without a suggestion that are due first.
const PLAIN: usize = 3;

fn left(alert: &Alert, now: Timestamp) -> Duration {
    alert.alert_time.map_or(Duration::zero(), |raised| raised + default_window(&alert.provider) - now)
}

fn waits(alert: &Alert, now: Timestamp) -> bool {
    alert.outcome.is_none() && left(alert, now) > Duration::zero()
}

/// Seeded generator of alerts.
#[derive(Debug)]
pub struct DemoFeed {
    rng: Xoshiro256PlusPlus,
    catalogue: Catalogue,
    recent: VecDeque<Alert>,
    line: u64,
}

impl DemoFeed {
    /// Returns a generator that this seed determines.
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            catalogue: Catalogue::built_in(),
            recent: VecDeque::new(),
            line: 0,
        }
    }

    /// Returns the alerts of the start, oldest first: a quarter of them is open, the rest is history.
    pub fn backlog(&mut self, count: u32, now: Timestamp) -> Vec<AlertPatch> {
        let waiting = count.div_ceil(4);
        let mut alerts: Vec<Alert> = (waiting..count).map(|index| self.past(index, now)).collect();
        for index in 0..waiting {
            alerts.push(self.waiting(index, waiting, now));
        }
        self.make_plain_first(&mut alerts, now);
        alerts.sort_by_key(|alert| alert.alert_time);
        alerts.into_iter().map(|alert| self.incoming(alert)).collect()
    }

    /// Makes the alerts that are due first plain ones, as a new user looks at them: no notice, rule, duplicate or order
    /// state. Random numbers come from a copy, so later alerts do not depend on it.
    fn make_plain_first(&mut self, alerts: &mut [Alert], now: Timestamp) {
        let later = self.rng.clone();
        let rules = parse_rules(RULES).unwrap_or_default();
        let is_plain = |alert: &Alert, all: &[Alert]| {
            let state = order_of(alert).and_then(|order| order.state);
            let suggested = alert.alert_type.is_notice()
                || alert.network_rule_applied()
                || suggestion(&rules, alert, now).is_some();
            !suggested
                && matches!(state, None | Some(OrderState::Paid))
                && all.iter().all(|other| evidence(alert, other).is_none())
        };
        let mut waiting: Vec<usize> = (0..alerts.len()).filter(|place| waits(&alerts[*place], now)).collect();
        waiting.sort_by_key(|place| left(&alerts[*place], now));
        for place in waiting.into_iter().take(PLAIN) {
            let mut plain = alerts[place].clone();
            while !is_plain(&plain, alerts) {
                let kind = self.kind(|_| true);
                plain = self.fresh(&kind, now);
                let window = default_window(&plain.provider);
                self.set_time(&mut plain, now + left(&alerts[place], now) - window);
            }
            self.replace(&mut alerts[place], plain);
        }
        self.rng = later;
    }

    /// Replaces an alert, here and among the recent ones.
    fn replace(&mut self, alert: &mut Alert, by: Alert) {
        if let Some(remembered) = self.recent.iter_mut().find(|known| known.id == alert.id) {
            remembered.clone_from(&by);
        }
        *alert = by;
    }

    /// Returns the next alert to arrive. Most have their whole window, some were delayed and are due within minutes,
    /// and some are duplicates.
    pub fn arrival(&mut self, now: Timestamp) -> AlertPatch {
        let delay = self.seconds(1, 40);
        let raised = now - delay;
        let mut alert = self.any(raised, 0.12);
        if self.rng.random_bool(0.1) {
            let left = self.seconds(70, 540);
            let window = default_window(&alert.provider);
            self.set_time(&mut alert, now + left - window);
        }
        alert.created_at = Some(now);
        alert.updated_at = Some(now);
        self.remember(&alert);
        self.incoming(alert)
    }

    /// Returns an alert of any kind, which is a duplicate with this probability.
    fn any(&mut self, raised: Timestamp, duplicates: f64) -> Alert {
        let duplicate = if self.rng.random_bool(duplicates) { self.duplicate(raised, |_| true) } else { None };
        duplicate.unwrap_or_else(|| {
            let kind = self.kind(|_| true);
            self.fresh(&kind, raised)
        })
    }

    /// Returns the time until the next arrival, at so many a minute on average. The gaps are exponentially distributed,
    /// within bounds.
    pub fn gap(&mut self, per_minute: f64) -> Wait {
        let mean = 60.0 / per_minute;
        let drawn: f64 = self.rng.random();
        Wait::from_secs_f64((-(1.0 - drawn).ln() * mean).clamp(mean / 20.0, mean * 4.0))
    }

    fn incoming(&mut self, alert: Alert) -> AlertPatch {
        self.line += 1;
        AlertPatch::of(alert).at(self.line)
    }

    /// Returns an open alert, the `index`th of `count`: deadlines from under a minute to three days.
    fn waiting(&mut self, index: u32, count: u32, now: Timestamp) -> Alert {
        let left = match f64::from(index) / f64::from(count) {
            _ if index < 3 && count >= 12 => Duration::seconds(50 + 40 * i64::from(index)) + self.seconds(0, 15),
            part if part < 0.2 => self.seconds(4 * 60, 58 * 60),
            part if part < 0.45 => self.seconds(3_600, 6 * 3_600),
            part if part < 0.72 => self.seconds(6 * 3_600, 23 * 3_600),
            _ => self.seconds(24 * 3_600, 71 * 3_600),
        };
        // One alert in eight is a duplicate of a resolved one, and one in eight a duplicate of an open one.
        let duplicate = match index % 8 {
            3 => self.duplicate(now - Duration::hours(20), |alert| alert.status == AlertStatus::Resolved),
            6 => self.duplicate(now - Duration::hours(20), |alert| {
                alert.outcome.is_none() && alert.status == AlertStatus::Open
            }),
            _ => None,
        };
        let mut alert = duplicate.unwrap_or_else(|| {
            let kind = self.kind(|kind| {
                left < Duration::hours(24) || default_window(&Provider::parse(&kind.provider)) > Duration::hours(24)
            });
            self.fresh(&kind, now)
        });
        let window = default_window(&alert.provider);
        let left = if left < window { left } else { Duration::seconds(left.num_seconds() % (20 * 3_600) + 3_600) };
        let raised = now + left - window;
        self.set_time(&mut alert, raised);
        self.remember(&alert);
        alert
    }

    /// Returns an alert of the last two weeks; every fourth is of the last day and has been answered since.
    fn past(&mut self, index: u32, now: Timestamp) -> Alert {
        let today = index.is_multiple_of(4);
        // Some of the others expired.
        let decision = (today || !self.rng.random_bool(0.14)).then(|| self.decision());
        let kind = self.kind(|_| true);
        let window = default_window(&Provider::parse(&kind.provider));
        let age = match decision {
            None => window + self.seconds(3_600, 11 * 86_400),
            Some(_) if today => self.seconds(3_600, 20 * 3_600),
            Some(_) => self.seconds(26 * 3_600, 14 * 86_400),
        };
        let mut alert = self.fresh(&kind, now - age);
        if let Some(decision) = decision {
            let latest = (window - Duration::minutes(10)).min(age - Duration::minutes(1));
            let answered = now - age + self.seconds(300, latest.num_seconds());
            self.answer(&mut alert, decision, answered);
        }
        self.remember(&alert);
        alert
    }

    /// Returns alert `index` of `count`, spread evenly over `span`, oldest first, of one of these companies. The last
    /// twentieth is open; of the others four in five were answered.
    pub fn history(
        &mut self,
        index: u64,
        count: u64,
        span: Duration,
        companies: &[CompanyId],
        now: Timestamp,
    ) -> AlertPatch {
        let waits = index * 20 >= count * 19;
        let decision = if self.rng.random_bool(0.21) { None } else { Some(self.decision()) };
        let latest = LONGEST_WINDOW + Duration::hours(1);
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let age =
            latest + Duration::seconds((span - latest).num_seconds() * whole(count - index) / whole(count).max(1));
        let raised = now - age;
        let mut alert = self.any(raised, 0.1);
        let window = default_window(&alert.provider);
        match decision {
            _ if waits => {
                let left = self.seconds(60, window.num_seconds());
                self.set_time(&mut alert, now + left - window);
            }
            Some(decision) => {
                let answered = raised + self.seconds(300, window.num_seconds() - 600);
                self.answer(&mut alert, decision, answered);
            }
            None => {}
        }
        // The first one has half of all, the next one half of the rest.
        alert.company_id = companies.iter().find(|_| self.rng.random_bool(0.5)).or(companies.last()).copied();
        self.remember(&alert);
        self.incoming(alert)
    }

    fn remember(&mut self, alert: &Alert) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(alert.clone());
    }

    fn decision(&mut self) -> Decision {
        match self.rng.random_range(0..100) {
            0..58 => Decision::Refunded,
            58..75 => Decision::NotRefunded,
            75..84 => Decision::Invalid(InvalidReason::PreviouslyRefunded),
            84..89 => Decision::Invalid(InvalidReason::ChargebackReceived),
            89..95 => Decision::Invalid(InvalidReason::Duplicate),
            _ => Decision::Invalid(InvalidReason::NotFound),
        }
    }

    /// Gives an alert the outcome that this decision has by the interface's own table.
    fn answer(&mut self, alert: &mut Alert, decision: Decision, at: Timestamp) {
        let word = decision.reason().map_or(decision.refunded(), InvalidReason::as_str);
        let written = self.catalogue.networks.comments.get(word);
        let comments = written.and_then(|written| written.choose(&mut self.rng)).cloned().unwrap_or_default();
        let said = Resolution::Current { decision, comments };
        decide(&said).record(alert, OutcomeId(self.uuid(at)), said.comments(), Some(at));
    }

    /// Returns a new alert of this kind, raised at this time, about a purchase some days before.
    fn fresh(&mut self, kind: &AlertKind, raised: Timestamp) -> Alert {
        let merchant = self.merchant(kind.subscription);
        let (issuer, scheme, bin) = self.card(kind, &merchant.currency);
        let last_four = self.fill("####");
        let mut alert =
            Alert::new(AlertId(self.uuid(raised)), Provider::parse(&kind.provider), AlertType::parse(&kind.alert_type));
        alert.issuer = issuer;
        alert.card_bin = bin;
        alert.card_last_four = last_four;
        let expiry = raised.year() + self.rng.random_range(1..5);
        alert.card_expiration_date = Some(format!("{:02}/{:02}", self.rng.random_range(1..=12), expiry % 100));
        alert.merchant_descriptor = self.choose(&merchant.descriptors);
        alert.descriptor_contact = Some(merchant.contact.clone());
        alert.merchant_name = merchant.name.clone();
        alert.merchant_id = format!("M-{}", self.fill("#####"));
        alert.merchant_order_id = self.rng.random_bool(0.9).then(|| self.fill(&merchant.order));
        alert.mcc = Some(merchant.mcc.clone());
        alert.currency = Currency::new(&merchant.currency);
        alert.amount = Some(self.amount(&merchant));
        alert.transaction_type = self.pick(&["eCommerce", "eCommerce", "eCommerce", "ECOMMERCE", "keyed"]);
        alert.payment_type = Some(self.pick(&["Credit Card", "Credit Card", "Debit Card"]));
        alert.auth_code = Some(self.fill("######"));
        alert.reason_code = self.reason(kind, &scheme);
        let bought = raised - self.seconds(4 * 86_400, 40 * 86_400);
        alert.transaction_time = Some(bought);
        alert.acquirer_reference_number = Some(self.acquirer_reference(bought));
        alert.has_external_transaction = self.rng.random_bool(0.3);
        self.network_fields(&mut alert, kind);
        self.set_time(&mut alert, raised);
        alert
    }

    /// Returns the same dispute from another network: card, purchase and money are those of a recent alert that
    /// `wanted` picks.
    fn duplicate(&mut self, raised: Timestamp, wanted: impl Fn(&Alert) -> bool) -> Option<Alert> {
        let candidates: Vec<usize> = (0..self.recent.len())
            .filter(|&index| {
                let alert = &self.recent[index];
                let close = alert.alert_time.is_some_and(|time| (raised - time).abs() < Duration::days(3));
                // Only VISA cards are seen by both networks.
                alert.card_bin.starts_with('4') && close && !alert.alert_type.is_notice() && wanted(alert)
            })
            .collect();
        let original = self.recent[*candidates.choose(&mut self.rng)?].clone();
        let by_ethoca = original.provider == Provider::Ethoca;
        Some(self.seen_by(|provider| (provider == "ETHOCA") != by_ethoca, original, raised))
    }

    /// Returns the payment of an alert as an alert of another network, which `network` picks.
    fn seen_by(&mut self, network: impl Fn(&str) -> bool, original: Alert, raised: Timestamp) -> Alert {
        let kind =
            self.kind(|kind| !kind.subscription && !kind.alert_type.ends_with("NOTICE") && network(&kind.provider));
        let mut alert = Alert {
            id: AlertId(self.uuid(raised)),
            provider: Provider::parse(&kind.provider),
            alert_type: AlertType::parse(&kind.alert_type),
            status: AlertStatus::Open,
            outcome: None,
            // Networks do not tell the same of one purchase: ARN and authorization code are missing now and then.
            auth_code: original.auth_code.clone().filter(|_| self.rng.random_bool(0.7)),
            acquirer_reference_number: original.acquirer_reference_number.clone().filter(|_| self.rng.random_bool(0.6)),
            acquirer_bin: None,
            rule_type: None,
            rule_name: None,
            installment_number: None,
            pricing_tier: None,
            ethoca_merchant_id: None,
            partner_id: None,
            partner_name: None,
            client_name: None,
            caid: None,
            transaction_id: None,
            chargeback_amount: None,
            chargeback_currency: None,
            ..original
        };
        self.network_fields(&mut alert, &kind);
        self.set_time(&mut alert, raised);
        alert
    }

    /// Sets the fields that only one network knows, and its id.
    fn network_fields(&mut self, alert: &mut Alert, kind: &AlertKind) {
        alert.initiated_by = self.choose(&kind.initiated_by);
        alert.provider_id = loop {
            let id = self.fill(&kind.id);
            // An id must never look like a card number.
            if mask_card_numbers(&id) == id {
                break id;
            }
        };
        match alert.provider {
            Provider::Ethoca => {
                alert.ethoca_merchant_id = Some(self.fill("MER######"));
                alert.transaction_id = Some(self.fill("T**********"));
                alert.chargeback_amount = alert.amount;
                alert.chargeback_currency = Some(alert.currency.clone());
            }
            Provider::Verifi => {
                let partner = self.rng.random_range(0..self.catalogue.networks.partners.names.len());
                alert.partner_id = Some(format!("P{:03}", 100 + partner));
                alert.partner_name = self.catalogue.networks.partners.names.get(partner).cloned();
                alert.client_name = self.catalogue.networks.partners.clients.get(partner).cloned();
                alert.pricing_tier = self.catalogue.networks.partners.tiers.choose(&mut self.rng).cloned();
                alert.acquirer_bin = self.catalogue.networks.partners.acquirer_bins.choose(&mut self.rng).cloned();
                alert.caid = Some(self.fill("CA##########"));
                alert.installment_number = self.rng.random_bool(0.1).then(|| "1".to_owned());
                let rules = &self.catalogue.networks.rules;
                if self.rng.random_bool(0.28)
                    && let drawn = self.rng.random_range(0..rules.len())
                    && let Some(rule) =
                        rules.iter().cycle().skip(drawn).take(rules.len()).find(|rule| rule.applies_to(alert))
                {
                    alert.rule_name = Some(rule.name.replace("{currency}", alert.currency.as_str()));
                    alert.rule_type = Some(rule.kind.clone());
                }
            }
            Provider::Cdrn | Provider::Stripe | Provider::Other(_) => {
                alert.acquirer_bin = None;
            }
        }
    }

    /// Sets the times of an alert that was raised at this time.
    fn set_time(&mut self, alert: &mut Alert, raised: Timestamp) {
        alert.alert_time = Some(raised);
        // A purchase comes before its alert, also where another network raised its alert earlier than the first one.
        if alert.transaction_time.is_none_or(|bought| bought >= raised) {
            alert.transaction_time = Some(raised - Duration::days(1));
        }
        let received = raised + self.seconds(1, 25);
        alert.created_at = Some(received);
        alert.updated_at = Some(received);
    }

    fn kind(&mut self, wanted: impl Fn(&AlertKind) -> bool) -> AlertKind {
        let kinds: Vec<&AlertKind> = self.catalogue.networks.kinds.iter().filter(|kind| wanted(kind)).collect();
        let chosen = kinds.choose_weighted(&mut self.rng, |kind| kind.weight);
        // Each question of this file leaves kinds to choose from: a test asks them all.
        (*chosen.expect("the catalogue has a kind for each question")).clone()
    }

    fn merchant(&mut self, subscription: bool) -> Merchant {
        let merchants: Vec<&Merchant> =
            self.catalogue.merchants.iter().filter(|merchant| !subscription || merchant.subscription).collect();
        (*merchants.choose(&mut self.rng).expect("the catalogue has merchants of either sort")).clone()
    }

    /// Returns issuer, scheme and BIN of a card for such alerts; mostly of a bank in the shop's country.
    fn card(&mut self, kind: &AlertKind, currency: &str) -> (String, String, String) {
        let fits = |card: &&CardRange| kind.schemes.contains(&card.scheme);
        let abroad = self.rng.random_bool(0.15);
        let issuers =
            self.catalogue.issuers.iter().filter(|issuer| abroad || issuer.home.iter().any(|home| home == currency));
        let cards: Vec<(&Issuer, &CardRange)> =
            issuers.flat_map(|issuer| issuer.cards.iter().filter(fits).map(move |card| (issuer, card))).collect();
        let (issuer, card) =
            cards.choose(&mut self.rng).expect("a test holds that every currency has a card for each kind");
        (issuer.name.clone(), card.scheme.clone(), card.bin.clone())
    }

    fn reason(&mut self, kind: &AlertKind, scheme: &str) -> Option<String> {
        let reasons = self.catalogue.networks.reasons.get(scheme)?;
        let subject = match kind {
            AlertKind { fraud: true, .. } => "fraud",
            AlertKind { subscription: true, .. } => "cancel",
            _ => "dispute",
        };
        let codes = reasons.get(subject)?;
        codes.choose(&mut self.rng).cloned()
    }

    fn amount(&mut self, merchant: &Merchant) -> Amount {
        let price: Amount = self.choose(&merchant.prices).parse().expect("a test holds that prices are amounts");
        let pieces =
            if merchant.subscription { 1 } else { self.rng.random_range(1..=3_u32).min(self.rng.random_range(1..=3)) };
        Amount::from(price.decimal() * Decimal::from(pieces))
    }

    /// Returns an acquirer reference number in the networks' form: 23 digits with the day of the purchase in them.
    fn acquirer_reference(&mut self, bought: Timestamp) -> String {
        let start = self.fill("74######");
        let (year, day) = (bought.year() % 10, bought.ordinal());
        format!("{}{year}{day:03}{}", &start[..7], self.fill("############"))
    }

    /// Returns a UUID of version 7 for this time, from the generator's own random numbers.
    fn uuid(&mut self, at: Timestamp) -> uuid::Uuid {
        let mut chance = [0; 10];
        self.rng.fill_bytes(&mut chance);
        uuid::Builder::from_unix_timestamp_millis(u64::try_from(at.timestamp_millis()).unwrap_or_default(), &chance)
            .into_uuid()
    }

    /// Fills a pattern: `#` becomes a digit, `?` a capital letter, `*` either.
    fn fill(&mut self, shape: &str) -> String {
        const SIGNS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        shape
            .chars()
            .map(|sign| match sign {
                '#' => char::from(SIGNS[self.rng.random_range(0..10)]),
                '?' => char::from(SIGNS[self.rng.random_range(10..36)]),
                '*' => char::from(SIGNS[self.rng.random_range(0..36)]),
                other => other,
            })
            .collect()
    }

    fn choose(&mut self, from: &[String]) -> String {
        from.choose(&mut self.rng).cloned().unwrap_or_default()
    }

    fn pick(&mut self, from: &[&str]) -> String {
        from.choose(&mut self.rng).copied().unwrap_or_default().to_owned()
    }

    fn seconds(&mut self, least: i64, most: i64) -> Duration {
        Duration::seconds(self.rng.random_range(least..=most.max(least)))
    }
}

#[cfg(test)]
mod tests;
