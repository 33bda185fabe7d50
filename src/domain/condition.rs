//! Local conditions: what a filter asks beyond the parameters of the list operation, as plain predicates over an alert.

use super::alert::Alert;
use super::filter::fold;
use super::money::{Amount, Currency};

/// A comparison of amounts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    AtMost,
    AtLeast,
    Less,
    More,
    Equal,
}

impl Comparison {
    /// Every comparison, those with the longer signs first.
    pub const ALL: [Self; 5] = [Self::AtMost, Self::AtLeast, Self::Less, Self::More, Self::Equal];

    /// The sign that it is written with.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::More => ">",
            Self::Equal => "=",
        }
    }

    fn holds(self, one: Amount, other: Amount) -> bool {
        let (one, other) = (one.decimal(), other.decimal());
        match self {
            Self::AtMost => one <= other,
            Self::AtLeast => one >= other,
            Self::Less => one < other,
            Self::More => one > other,
            Self::Equal => one == other,
        }
    }
}

/// Predicates beyond the list operation's parameters. All of them hold together, and any of a list's values; an empty list means "any".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalConditions {
    pub amounts: Vec<(Comparison, Amount)>,
    pub currencies: Vec<Currency>,
    /// What the issuer's name begins with, letter case ignored.
    pub issuers: Vec<String>,
    pub mccs: Vec<String>,
}

impl LocalConditions {
    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        let Self { amounts, currencies, issuers, mccs } = self;
        amounts.is_empty() && currencies.is_empty() && issuers.is_empty() && mccs.is_empty()
    }

    /// Whether an alert fulfils them all. What an alert does not tell fulfils none.
    pub fn matches(&self, alert: &Alert) -> bool {
        let mcc = alert.mcc.as_deref().map_or("", str::trim);
        self.amounts.iter().all(|(comparison, than)| alert.amount.is_some_and(|amount| comparison.holds(amount, *than)))
            && (self.currencies.is_empty() || self.currencies.contains(&alert.currency))
            && (self.issuers.is_empty() || self.wants_issuer(&alert.issuer))
            && (self.mccs.is_empty() || self.mccs.iter().any(|wanted| wanted == mcc))
    }

    /// Whether an issuer's name begins as one of the wanted ones.
    pub fn wants_issuer(&self, name: &str) -> bool {
        let name = fold(name.trim());
        self.issuers.iter().any(|wanted| name.starts_with(&fold(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::query::{Vocabulary, parse};

    fn alert() -> Alert {
        Alert { issuer: "HSBC Bank".to_owned(), mcc: Some("5941".to_owned()), ..Alert::sample() }
    }

    fn conditions(text: &str) -> LocalConditions {
        parse(text, Vocabulary::Desk).unwrap().0.conditions
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
        assert_eq!(conditions(text).matches(&alert()), wanted);
    }

    #[test]
    fn what_an_alert_does_not_tell_fulfils_no_condition() {
        let silent = Alert { amount: None, issuer: String::new(), mcc: None, ..alert() };

        for text in ["amount<130 currency:EUR", "issuer:hsbc", "mcc:5941"] {
            assert!(!conditions(text).matches(&silent), "{text}");
        }
    }
}
