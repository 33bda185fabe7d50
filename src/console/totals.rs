//! Totals of money in words: one sum stands for all, with how many currencies more there are.

use super::text::{counted, sanitize};
use crate::domain::{Alert, Money, money::sums_by_currency};

/// Returns the sum in the currency of most alerts, and how many currencies more there are: `1,480.00 AED + 2
/// currencies`. Nothing where there is no sum.
pub fn total_words(sums: &[Money]) -> String {
    let Some((first, others)) = sums.split_first() else { return String::new() };
    let first = sanitize(&first.to_string()).into_owned();
    match others.len() {
        0 => first,
        others => format!("{first} + {}", counted(others as u64, "currency", "currencies")),
    }
}

/// Returns the same of alerts.
pub fn total_of<'a>(alerts: impl Iterator<Item = &'a Alert>) -> String {
    total_words(&sums_by_currency(alerts.filter_map(Alert::money).map(|money| (1, money))))
}
