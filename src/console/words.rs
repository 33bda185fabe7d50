//! The words of an answer, as every screen says them.

use super::{
    desk::JournalDecision,
    domain::{Amount, Currency, Money, Resolution, sanitize},
};

/// Describes a decision in the words of its dialect: `REFUNDED`, `INVALID (duplicate alert)`, `PARTIALLY_STOPPED, 9.50,
/// REFUNDED`.
pub fn in_words(resolution: &Resolution) -> String {
    worded(resolution, |amount| amount.to_string())
}

/// Describes a decision as the journal keeps it.
pub fn said_in_words(said: &JournalDecision) -> String {
    let words = said.resolution().map_or_else(|| said.refunded.clone(), |resolution| in_words(&resolution));
    sanitize::line(&words).into_owned()
}

/// Describes a decision with this currency at its amount.
pub fn in_words_with(resolution: &Resolution, currency: &Currency) -> String {
    worded(resolution, |amount| Money { amount, currency: currency.clone() }.to_string())
}

fn worded(resolution: &Resolution, money: impl Fn(Amount) -> String) -> String {
    match resolution {
        Resolution::Current { decision, .. } => decision.words(),
        Resolution::Older { word, refunded, amount_stopped, .. } => {
            let amount = amount_stopped.map_or_else(String::new, |amount| format!(" {},", money(amount)));
            format!("{},{amount} {}", word.as_str(), refunded.as_str())
        }
    }
}
