//! The facts that two alerts share, each by itself, the strongest first.

use super::{is_of_one_card, is_same_arn, is_same_code};
use crate::alert::Alert;

/// A fact that two alerts share, stronger ones before weaker ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedFact {
    /// The acquirer's reference, which names a transaction.
    Arn,
    TransactionId,
    AuthCode,
    Card,
    /// Amount and currency.
    Amount,
    /// The day of the transaction.
    Day,
}

impl SharedFact {
    /// Describes the fact.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Arn => "ARN",
            Self::TransactionId => "transaction id",
            Self::AuthCode => "auth code",
            Self::Card => "card",
            Self::Amount => "amount",
            Self::Day => "day",
        }
    }
}

/// Returns the facts that two alerts share, strongest first. A fact missing from one of them is not shared.
pub fn shared_facts(one: &Alert, other: &Alert) -> Vec<SharedFact> {
    let amounts = one.amount.zip(other.amount).is_some_and(|(one, other)| one.decimal() == other.decimal());
    let days = [one, other].map(|alert| alert.given_transaction_time().map(|at| at.date_naive()));
    let all = [
        (SharedFact::Arn, is_same_arn(one, other)),
        (
            SharedFact::TransactionId,
            one.known_transaction_id().is_some_and(|id| other.known_transaction_id() == Some(id)),
        ),
        (SharedFact::AuthCode, is_same_code(one, other)),
        (SharedFact::Card, is_of_one_card(one, other)),
        (SharedFact::Amount, amounts && one.currency.is_same(&other.currency)),
        (SharedFact::Day, days[0].is_some() && days[0] == days[1]),
    ];
    all.into_iter().filter(|(_, shared)| *shared).map(|(fact, _)| fact).collect()
}
