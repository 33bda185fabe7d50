//! Duplicates: several alerts on one payment. What to ask a service for, what says that two of them are, and what
//! follows for an answer.

use std::collections::{BTreeSet, HashMap, HashSet};

use chrono::Duration;

use crate::{
    Alert, AlertFilter, AlertId, AlertQuery, MAX_PAGE_SIZE, PageRequest, Provider, Resolution, Sort, SortField,
    SortOrder, Timestamp, closed_enum,
    identity::{CardComparison, contradiction},
};

/// Longest interval between the dates that two networks give the same transaction.
const SAME_TRANSACTION: Duration = Duration::days(3);

/// Longest interval between two alerts on one transaction, where a transaction time is missing.
const SAME_DISPUTE: Duration = Duration::days(14);

/// Longest interval between two alerts with one auth code, where no card proves a match: codes of six digits recur.
const SAME_CODE: Duration = Duration::days(2);

/// Shorter references than this name no single transaction.
const SHORTEST_ARN: usize = 8;

/// Returns the query for an alert's possible duplicates: everything on the card's last four digits, newest first. The
/// interface comes no nearer to "the same card". `None` where too little is known of the card or the money.
pub fn query(alert: &Alert) -> Option<AlertQuery> {
    let last_four = last_four(alert)?;
    alert.amount.is_some().then(|| AlertQuery {
        filter: AlertFilter { q: Some(last_four.to_owned()), ..AlertFilter::default() },
        sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
    })
}

fn last_four(alert: &Alert) -> Option<&str> {
    Some(alert.card_last_four.trim()).filter(|digits| digits.len() >= 4)
}

closed_enum! {
    /// The evidence that two alerts are on one payment: what they have in common, as it is told beside the other alert.
    pub enum DuplicateEvidence {
        /// Card, amount, currency, and the day of the transaction.
        CardAmountAndDay = "same card, amount and day",
        /// Card, amount and currency, and dates that are near as far as they are known.
        CardAndAmount = "same card and amount",
        /// The acquirer's reference of the transaction.
        Arn = "same ARN",
        /// The same, and digits of the cards differ.
        ArnOnOtherCard = "same ARN, but the card differs",
        /// Card and authorization code, and dates that are near as far as they are known.
        CardAndAuthCode = "same card and auth code",
        /// Authorization code, amount and currency within two days, where one side has no card digits.
        AuthCodeAndAmount = "same auth code and amount",
        /// The card's last four digits, amount, currency and the day of the transaction, where one side has no BIN:
        /// many cards end alike.
        LastFourAmountAndDay = "perhaps the same card: last four, amount and day agree, a BIN is missing",
    }
}

impl DuplicateEvidence {
    /// Returns true where it proves that both are on one payment; otherwise a person has to review it.
    pub const fn is_sure(self) -> bool {
        !matches!(self, Self::LastFourAmountAndDay | Self::ArnOnOtherCard)
    }
}

/// Describes the facts that stay uncompared with a provider that can only be queried through the interface. `None`
/// where nothing more can be compared.
pub fn not_compared(alert: &Alert) -> Option<String> {
    let unchecked = [
        (query(alert).is_none(), "card and amount"),
        (alert.known_arn().is_some(), "ARN"),
        (alert.known_auth_code().is_some(), "auth code"),
    ];
    let unchecked: Vec<&str> = unchecked.into_iter().filter(|(is, _)| *is).map(|(_, fact)| fact).collect();
    (!unchecked.is_empty()).then(|| format!("{} not checked: not searchable here", unchecked.join(", ")))
}

/// Returns the evidence that two alerts are duplicates; `None` where there is none, and for an alert and itself. Times
/// that were not given are none.
pub fn evidence(one: &Alert, other: &Alert) -> Option<DuplicateEvidence> {
    if one.id == other.id {
        return None;
    }
    let transacted = one.given_transaction_time().zip(other.given_transaction_time());
    let raised = one.alert_time.zip(other.alert_time);
    let within = |times: Option<(Timestamp, Timestamp)>, limit: Duration| times.map(|(a, b)| (a - b).abs() <= limit);
    let in_time = || within(transacted, SAME_TRANSACTION).or_else(|| within(raised, SAME_DISPUTE)).unwrap_or(true);
    let money = is_same_money(one, other);
    let (arn, code) = (is_same_arn(one, other), is_same_code(one, other));
    let day = transacted.is_some_and(|(a, b)| a.date_naive() == b.date_naive());
    let is_one_card = is_of_one_card(one, other);
    match one.card_digits().compare(other.card_digits()) {
        _ if is_one_card && money && in_time() => {
            Some(if day { DuplicateEvidence::CardAmountAndDay } else { DuplicateEvidence::CardAndAmount })
        }
        // Without digits on both sides a card says nothing, and the money has to agree.
        CardComparison::Unknown if money && arn => Some(DuplicateEvidence::Arn),
        CardComparison::Unknown if money && code && within(transacted.or(raised), SAME_CODE) == Some(true) => {
            Some(DuplicateEvidence::AuthCodeAndAmount)
        }
        CardComparison::Unknown => None,
        _ if arn && contradiction(one, other.card_digits(), None).is_none() => Some(DuplicateEvidence::Arn),
        _ if arn => Some(DuplicateEvidence::ArnOnOtherCard),
        _ if is_one_card && code && in_time() => Some(DuplicateEvidence::CardAndAuthCode),
        CardComparison::LastFourOnly if money && day => Some(DuplicateEvidence::LastFourAmountAndDay),
        _ => None,
    }
}

/// Returns the evidence that proves that two alerts are on one payment, where there is any.
pub fn sure_evidence(one: &Alert, other: &Alert) -> Option<DuplicateEvidence> {
    evidence(one, other).filter(|evidence| evidence.is_sure())
}

/// Returns true for two alerts on one card, as far as the networks identify cards: neither has a BIN, or both have the
/// same.
fn is_of_one_card(one: &Alert, other: &Alert) -> bool {
    match one.card_digits().compare(other.card_digits()) {
        CardComparison::Same => true,
        CardComparison::LastFourOnly => one.card_bin.trim() == other.card_bin.trim(),
        CardComparison::Unknown | CardComparison::Different => false,
    }
}

fn is_same_money(one: &Alert, other: &Alert) -> bool {
    let amounts = one.amount.zip(other.amount).is_some_and(|(one, other)| one.decimal() == other.decimal());
    amounts && one.currency.is_same(&other.currency)
}

fn is_same_arn(one: &Alert, other: &Alert) -> bool {
    one.known_arn().is_some_and(|arn| arn.len() >= SHORTEST_ARN && other.known_arn() == Some(arn))
}

fn is_same_code(one: &Alert, other: &Alert) -> bool {
    one.known_auth_code().is_some_and(|code| other.known_auth_code() == Some(code))
}

/// Returns the duplicates of an alert among candidates: refunded ones first, then those that probably were, in their
/// order otherwise.
pub fn of(alert: &Alert, candidates: &[Alert]) -> Vec<Alert> {
    let mut found: Vec<_> = candidates.iter().filter_map(|other| Some((rank(alert, other)?, other))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, other)| other.clone()).collect()
}

/// Returns the rank of a duplicate of an alert in that order, the first one the least; `None` for an alert that is
/// none.
pub fn rank(alert: &Alert, other: &Alert) -> Option<(bool, bool)> {
    evidence(alert, other).map(|_| (!other.was_refunded(), !other.refund_is_likely()))
}

/// Returns the facts of an alert in one of which a duplicate has to agree, each with its kind.
fn keys(alert: &Alert) -> impl Iterator<Item = (usize, &str)> {
    let keys = [last_four(alert), alert.known_arn(), alert.known_auth_code()];
    keys.into_iter().enumerate().filter_map(|(kind, key)| Some((kind, key?)))
}

/// Returns the positions of each two of many alerts that are duplicates, the earlier one first. Only alerts that share
/// a key are compared.
fn pairs(alerts: &[&Alert]) -> BTreeSet<(usize, usize)> {
    let mut groups: HashMap<(usize, &str), Vec<usize>> = HashMap::new();
    for (position, alert) in alerts.iter().enumerate() {
        keys(alert).for_each(|key| groups.entry(key).or_default().push(position));
    }
    let mut found = BTreeSet::new();
    for group in groups.into_values() {
        for (index, one) in group.iter().enumerate() {
            for other in &group[index + 1..] {
                if !found.contains(&(*one, *other)) && evidence(alerts[*one], alerts[*other]).is_some() {
                    found.insert((*one, *other));
                }
            }
        }
    }
    found
}

/// Returns those of these alerts that have a duplicate among others, of which there may be many more. Each of those is
/// compared only with alerts that share a key.
pub fn with_duplicate_in<'a>(
    alerts: impl IntoIterator<Item = &'a Alert>,
    others: impl IntoIterator<Item = &'a Alert>,
) -> HashSet<AlertId> {
    let mut of_key: HashMap<(usize, &str), Vec<&Alert>> = HashMap::new();
    for alert in alerts {
        keys(alert).for_each(|key| of_key.entry(key).or_default().push(alert));
    }
    let mut found = HashSet::new();
    for other in others {
        let near = keys(other).filter_map(|key| of_key.get(&key)).flatten();
        found.extend(near.filter(|alert| evidence(alert, other).is_some()).map(|alert| alert.id));
    }
    found
}

/// Returns those of many alerts that have duplicates among them; `true` for a possible double refund.
pub fn among<'a>(alerts: impl Iterator<Item = &'a Alert>) -> HashMap<AlertId, bool> {
    let alerts: Vec<&Alert> = alerts.collect();
    let mut found: HashMap<AlertId, bool> = HashMap::new();
    for (one, other) in pairs(&alerts) {
        let (one, other) = (alerts[one], alerts[other]);
        *found.entry(one.id).or_default() |= other.refund_is_likely();
        *found.entry(other.id).or_default() |= one.refund_is_likely();
    }
    found
}

/// Returns for each of many alerts the positions of its duplicates before it.
pub fn before(alerts: &[&Alert]) -> Vec<BTreeSet<usize>> {
    let mut found = vec![BTreeSet::new(); alerts.len()];
    for (one, other) in pairs(alerts) {
        found[other].insert(one);
    }
    found
}

/// Time of the refund of an alert's payment: before the alert was raised or since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefundTime {
    Before,
    Since,
    /// One of the two times is not known.
    Unknown,
}

impl RefundTime {
    /// Returns that of a refund at this moment, of an alert that was raised then.
    pub(super) fn of(raised: Option<Timestamp>, refunded_at: Option<Timestamp>) -> Self {
        let is_since = refunded_at.zip(raised).map(|(refunded, raised)| refunded >= raised);
        is_since.map_or(Self::Unknown, |since| if since { Self::Since } else { Self::Before })
    }
}

/// A duplicate of an alert, with the facts that matter for the answer to that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    pub provider: Provider,
    /// Id at that network.
    pub provider_id: String,
    pub evidence: DuplicateEvidence,
    pub state: DuplicateState,
}

/// State of a duplicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DuplicateState {
    /// Open: it has no answer either.
    Waiting,
    /// Without an answer, and probably refunded by its network's own rule.
    RefundedByRule,
    /// Refunded, with the time where that is known. An answer that reports an earlier refund does not give the time.
    Refunded { at: Option<Timestamp> },
    /// Queued or being sent: this decision may still be undone or declined.
    OnItsWay(Resolution),
    /// Indeterminate: this decision was sent, and it is not known if it has arrived.
    MayHaveArrived(Resolution),
    /// Answered otherwise, with the time where that is known.
    Answered {
        /// Outcome in words: `not refunded`.
        outcome: String,
        at: Option<Timestamp>,
    },
}

impl Duplicate {
    /// Returns another alert as a duplicate of an alert; `None` without evidence for one. Without an outcome it has the
    /// state of an unfinished decision on it.
    pub fn of(alert: &Alert, other: &Alert, coming: Option<DuplicateState>) -> Option<Self> {
        let evidence = evidence(alert, other)?;
        let at = other.outcome.as_ref().and_then(|outcome| outcome.action_time);
        let state = match (&other.outcome, coming) {
            (None, Some(coming)) => coming,
            _ if other.was_refunded() => DuplicateState::Refunded { at: at.filter(|_| !other.says_refunded_before()) },
            (Some(outcome), _) => DuplicateState::Answered { outcome: outcome.outcome.replace('_', " "), at },
            (None, None) if other.network_rule_applied() => DuplicateState::RefundedByRule,
            (None, None) => DuplicateState::Waiting,
        };
        Some(Self { provider: other.provider.clone(), provider_id: other.provider_id.clone(), evidence, state })
    }

    /// Returns true where money has gone back already, probably has, may have, or is about to.
    pub fn is_refunded(&self) -> bool {
        self.refund_time(None).is_some()
    }

    /// Returns the time of its refund, relative to an alert that was raised then.
    pub(super) fn refund_time(&self, raised: Option<Timestamp>) -> Option<RefundTime> {
        match &self.state {
            DuplicateState::Refunded { at } => Some(RefundTime::of(raised, *at)),
            DuplicateState::RefundedByRule => Some(RefundTime::Unknown),
            DuplicateState::OnItsWay(resolution) | DuplicateState::MayHaveArrived(resolution) => {
                // The alert was there before it.
                let since = resolution.gives_money_back().then_some(RefundTime::Since);
                since.or(resolution.says_refunded_before().then_some(RefundTime::Unknown))
            }
            DuplicateState::Waiting | DuplicateState::Answered { .. } => None,
        }
    }
}

/// The refunds on an alert's payment that were known when its decision was staged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownRefunds {
    /// The other alerts whose refund is recorded, probable or on its way.
    pub alerts: Vec<AlertId>,
    /// True where the shop's orders say that money went back.
    pub by_order: bool,
}

impl KnownRefunds {
    /// Returns true where none of these is another one than was known.
    pub fn cover(&self, others: &Self) -> bool {
        (self.by_order || !others.by_order) && others.alerts.iter().all(|alert| self.alerts.contains(alert))
    }
}

/// Returns the facts that two alerts share, in words. A fact missing from one of them is not shared.
pub fn shared_facts(one: &Alert, other: &Alert) -> Vec<&'static str> {
    let [day, other_day] = [one, other].map(|alert| alert.given_transaction_time().map(|at| at.date_naive()));
    let id = one.known_transaction_id();
    let all = [
        ("card", is_of_one_card(one, other)),
        ("amount", is_same_money(one, other)),
        ("day", day.is_some() && day == other_day),
        ("ARN", is_same_arn(one, other)),
        ("auth code", is_same_code(one, other)),
        ("transaction id", id.is_some() && id == other.known_transaction_id()),
    ];
    all.into_iter().filter(|(_, shared)| *shared).map(|(fact, _)| fact).collect()
}

#[cfg(test)]
mod tests;
