//! The match between alerts and reports: by the ladder of orders, and by card and amount as of duplicates.

use std::collections::HashMap;

use chrono::Duration;

use super::TruthReport;
use crate::{
    Alert, Amount, MatchConfidence, MerchantOrder, OrderEvidence,
    identity::{CardComparison, Identifier},
    order::{compare, transaction_key},
};

/// Longest interval between an alert and a report that only card and amount connect.
pub const SAME_DISPUTE: Duration = Duration::days(14);

/// Returns the fact that proves that a report is on an alert's payment; `None` where there is none, or another fact
/// contradicts it.
pub fn evidence(alert: &Alert, report: &TruthReport) -> Option<OrderEvidence> {
    let found = compare(alert, as_order(alert, report))?;
    let is_same_card = alert.card_digits().compare(report.card_digits()) == CardComparison::Same;
    let is_near = || alert.alert_time.zip(report.at).is_some_and(|(raised, at)| (at - raised).abs() <= SAME_DISPUTE);
    let is_by_card = found.evidence == OrderEvidence::AmountAndCard && is_same_card && is_near();
    let is_sure = found.confidence >= MatchConfidence::Likely || is_by_card;
    (is_sure && !found.is_contradicted).then_some(found.evidence)
}

/// Returns the payment of a report as an order. A part of a payment may be disputed or refunded: another amount than
/// the alert's is no evidence, and contradicts nothing.
fn as_order(alert: &Alert, report: &TruthReport) -> MerchantOrder {
    let amount = report.amount.filter(|amount| alert.amount.is_some_and(|own| own.decimal() == amount.decimal()));
    MerchantOrder {
        order_id: report.order_id.clone().unwrap_or_default(),
        transaction_id: report.transaction_id.clone(),
        arn: report.arn.clone(),
        card_bin: report.card_bin.clone(),
        card_last_four: report.card_last_four.clone(),
        amount,
        currency: report.currency.clone().filter(|_| amount.is_some()),
        ..MerchantOrder::default()
    }
}

/// Returns the facts of an alert in one of which a report has to agree.
pub fn alert_facts(alert: &Alert) -> Vec<String> {
    let order = alert.known_order_id().map(str::to_ascii_lowercase);
    let arn = alert.known_arn().map(str::to_ascii_lowercase);
    facts(transaction_key(alert.transaction_id.as_deref()), order, arn, &alert.card_last_four, alert.amount)
}

impl TruthReport {
    /// Returns the facts in one of which an alert has to agree.
    pub fn facts(&self) -> Vec<String> {
        let order = Identifier::Name.read(self.order_id.as_deref()).map(str::to_ascii_lowercase);
        let arn = Identifier::Code.read(self.arn.as_deref()).map(str::to_ascii_lowercase);
        facts(self.transaction_key(), order, arn, self.card_digits().last_four, self.amount)
    }

    /// Returns the transaction's id for comparison; `None` where it identifies nothing.
    pub fn transaction_key(&self) -> Option<String> {
        transaction_key(self.transaction_id.as_deref())
    }
}

fn facts(
    transaction: Option<String>,
    order: Option<String>,
    arn: Option<String>,
    last_four: &str,
    amount: Option<Amount>,
) -> Vec<String> {
    let card = amount.filter(|_| !last_four.trim().is_empty());
    let card = card.map(|amount| format!("{} {}", last_four.trim(), amount.decimal().normalize()));
    let facts = [("transaction", transaction), ("order", order), ("arn", arn), ("card", card)];
    facts.into_iter().filter_map(|(kind, fact)| Some(format!("{kind} {}", fact?))).collect()
}

/// Returns the matches between many alerts and many reports, by their positions. Only those that share a fact are
/// compared.
pub fn matches(alerts: &[&Alert], reports: &[&TruthReport]) -> Vec<(usize, usize, OrderEvidence)> {
    let mut of_fact: HashMap<String, Vec<usize>> = HashMap::new();
    for (position, report) in reports.iter().enumerate() {
        report.facts().into_iter().for_each(|fact| of_fact.entry(fact).or_default().push(position));
    }
    let mut found = Vec::new();
    for (position, alert) in alerts.iter().enumerate() {
        let mut near: Vec<usize> =
            alert_facts(alert).iter().filter_map(|fact| of_fact.get(fact)).flatten().copied().collect();
        near.sort_unstable();
        near.dedup();
        let proven = near.into_iter().filter_map(|report| Some((report, evidence(alert, reports[report])?)));
        found.extend(proven.map(|(report, evidence)| (position, report, evidence)));
    }
    found
}
