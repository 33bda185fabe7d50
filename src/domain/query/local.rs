//! Conditions that a query of rules knows beyond the list operation: plain predicates over an alert, which no deployment can be asked for.

use super::words::{LocalKey, amount_comparison};
use crate::domain::alert::Alert;
use crate::domain::filter::fold;
use crate::domain::money::{Amount, Currency};

/// A comparison of amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
}

impl Comparison {
    /// The comparison of a sign.
    fn of_sign(sign: &str) -> Option<Self> {
        match sign {
            "<=" => Some(Self::AtMost),
            ">=" => Some(Self::AtLeast),
            "<" => Some(Self::Less),
            ">" => Some(Self::More),
            "=" => Some(Self::Equal),
            _ => None,
        }
    }

    fn holds(self, one: Amount, other: Amount) -> bool {
        let (one, other) = (one.decimal(), other.decimal());
        match self {
            Self::Less => one < other,
            Self::AtMost => one <= other,
            Self::More => one > other,
            Self::AtLeast => one >= other,
            Self::Equal => one == other,
        }
    }
}

/// Conditions beyond the list operation's. All of them hold together, and any of a list's values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalConditions {
    pub amounts: Vec<(Comparison, Amount)>,
    pub currencies: Vec<Currency>,
    /// What the issuer's name begins with, letter case ignored.
    pub issuers: Vec<String>,
    pub mccs: Vec<String>,
}

impl LocalConditions {
    /// Whether an alert fulfils them all. What an alert does not tell fulfils none.
    pub fn matches(&self, alert: &Alert) -> bool {
        let begins = |wanted: &String| fold(alert.issuer.trim()).starts_with(&fold(wanted));
        let mcc = alert.mcc.as_deref().map_or("", str::trim);
        self.amounts.iter().all(|(comparison, than)| alert.amount.is_some_and(|amount| comparison.holds(amount, *than)))
            && (self.currencies.is_empty() || self.currencies.contains(&alert.currency))
            && (self.issuers.is_empty() || self.issuers.iter().any(begins))
            && (self.mccs.is_empty() || self.mccs.iter().any(|wanted| wanted == mcc))
    }

    /// Takes `amount<25` in, where a word is such a condition; why not, where its amount is none.
    pub(super) fn put_amount(&mut self, word: &str) -> Option<Result<(), String>> {
        let (sign, text) = amount_comparison(word)?;
        let comparison = Comparison::of_sign(sign)?;
        let than: Result<Amount, _> = text.parse();
        Some(than.map(|than| self.amounts.push((comparison, than))).map_err(|error| error.to_string()))
    }

    /// Takes a value of a key in; why not, where it is not allowed.
    pub(super) fn put(&mut self, key: LocalKey, value: &str) -> Result<(), String> {
        let value = value.trim();
        if value.is_empty() {
            return Err(format!("a value is missing: {}", key.takes()));
        }
        match key {
            LocalKey::Currency if value.len() == 3 && value.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                self.currencies.push(Currency::new(value.to_ascii_uppercase()));
            }
            LocalKey::Currency => return Err(format!("{value} is not allowed: {}", key.takes())),
            LocalKey::Issuer => self.issuers.push(value.to_owned()),
            LocalKey::Mcc => self.mccs.push(value.to_owned()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::parse_local;
    use super::*;

    fn alert() -> Alert {
        Alert { issuer: "HSBC Bank".to_owned(), mcc: Some("5941".to_owned()), ..Alert::sample() }
    }

    #[rstest]
    #[case("amount<130 currency:eur", true)]
    #[case("amount<129.90 currency:EUR", false)]
    #[case("amount<=129.9 currency:EUR", true)]
    #[case("amount>129.90 currency:EUR", false)]
    #[case("AMOUNT>=129.90 currency:usd,eur", true)]
    #[case("amount=129.9 currency:EUR", true)]
    #[case("amount>100 amount<125 currency:EUR", false)]
    #[case("amount<130 currency:USD", false)]
    #[case("issuer:hsbc", true)]
    #[case("issuer:\"hsbc bank\"", true)]
    #[case("issuer:bank", false)]
    #[case("mcc:5941,5942", true)]
    #[case("mcc:594", false)]
    #[case("currency:EUR provider:ethoca", true)]
    fn an_alert_is_held_to_every_condition(#[case] text: &str, #[case] wanted: bool) {
        let query = parse_local(text).unwrap();

        assert_eq!(query.conditions.matches(&alert()), wanted);
    }

    #[test]
    fn what_an_alert_does_not_tell_fulfils_no_condition() {
        let silent = Alert { amount: None, issuer: String::new(), mcc: None, ..alert() };

        for text in ["amount<130 currency:EUR", "issuer:hsbc", "mcc:5941"] {
            assert!(!parse_local(text).unwrap().conditions.matches(&silent), "{text}");
        }
    }
}
