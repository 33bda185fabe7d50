//! Totals of money in words: one sum stands for all, with how many currencies more there are.

use super::text::{counted, sanitize};
use crate::domain::{Alert, CurrencySum};

/// Returns the sum in the currency of most alerts, and how many currencies more there are: `1,480.00 AED + 2
/// currencies`. Nothing where there is no sum.
pub fn total_words(sums: &[CurrencySum]) -> String {
    let mut priced = sums.iter().filter(|sum| sum.unpriced < sum.alerts);
    let Some(first) = priced.next() else { return String::new() };
    let first = sanitize(&first.money.to_string()).into_owned();
    match priced.count() {
        0 => first,
        others => format!("{first} + {}", counted(others as u64, "currency", "currencies")),
    }
}

/// Returns the same of alerts.
pub fn total_of<'a>(alerts: impl Iterator<Item = &'a Alert>) -> String {
    total_words(&CurrencySum::of(alerts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Currency;

    #[test]
    fn the_sum_of_most_alerts_stands_for_all_with_how_many_currencies_more_there_are() {
        let of = |amount: &str, currency: &str| Alert {
            amount: Some(amount.parse().unwrap()),
            currency: Currency::new(currency),
            ..Alert::sample()
        };
        let alerts =
            [of("1000", "USD"), of("12.50", "EUR"), of("0.10", "EUR"), Alert { amount: None, ..Alert::sample() }];

        assert_eq!(total_of(alerts.iter()), "12.60 EUR + 1 currency");
        assert_eq!(total_of(alerts[..1].iter()), "1,000.00 USD");
    }
}
