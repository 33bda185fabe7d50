//! Local conditions: what a filter asks beyond the parameters of the list operation, as plain predicates over an alert.

use std::ops::RangeInclusive;

use super::{
    alert::Alert,
    calendar::{CalendarDay, CalendarHour},
    fold::fold,
    money::{Amount, Currency, MAX_DECIMALS},
};

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
    /// Comparisons, those with the longer signs first.
    pub const ALL: [Self; 5] = [Self::AtMost, Self::AtLeast, Self::Less, Self::More, Self::Equal];

    /// Returns the sign that it is written with.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::AtMost => "<=",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::More => ">",
            Self::Equal => "=",
        }
    }

    /// Returns the least and the largest amount that fulfil the comparison, in millionths.
    fn micros(self, than: Amount) -> (i128, i128) {
        let decimal = than.decimal();
        // A mantissa has 96 bits and at most 28 places: neither number leaves 128 bits.
        let (digits, unit) = (decimal.mantissa() * 10_i128.pow(MAX_DECIMALS), 10_i128.pow(decimal.scale()));
        let floor = digits.div_euclid(unit);
        let ceiling = floor + i128::from(digits.rem_euclid(unit) != 0);
        match self {
            Self::AtMost => (i128::MIN, floor),
            Self::AtLeast => (ceiling, i128::MAX),
            Self::Less => (i128::MIN, ceiling - 1),
            Self::More => (floor + 1, i128::MAX),
            Self::Equal => (ceiling, floor),
        }
    }
}

/// Predicates beyond the list operation's parameters. All of them hold together, and any of a list's values; an empty
/// list means "any".
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalConditions {
    pub amounts: Vec<(Comparison, Amount)>,
    pub currencies: Vec<Currency>,
    /// Prefixes of the issuer's name, letter case ignored.
    pub issuers: Vec<String>,
    pub mccs: Vec<String>,
    /// `true` for notices only, which expect no answer; `false` for all other alerts.
    pub notices: Option<bool>,
    /// Answered on this day.
    pub answered: Option<CalendarDay>,
    /// Open, and due in this hour. Notices are never due: they expect no answer.
    pub due: Option<CalendarHour>,
}

impl LocalConditions {
    /// Returns true where no condition is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns true for an alert that fulfils all conditions. An alert fulfils no condition on a fact that it does not
    /// state, or on an amount that cannot be compared.
    pub fn matches(&self, alert: &Alert) -> bool {
        let mcc = alert.mcc.as_deref().map_or("", str::trim);
        // Zeros behind the last place of another deployment's amounts change nothing.
        let micros = alert.amount.and_then(|amount| Amount::from(amount.decimal().normalize()).micros());
        self.micros().is_none_or(|wanted| micros.is_some_and(|micros| wanted.contains(&micros)))
            && (self.currencies.is_empty()
                || self.currencies.iter().any(|wanted| wanted.as_str().eq_ignore_ascii_case(alert.currency.as_str())))
            && (self.issuers.is_empty() || self.wants_issuer(&alert.issuer))
            && (self.mccs.is_empty() || self.mccs.iter().any(|wanted| wanted == mcc))
            && self.notices.is_none_or(|notices| alert.alert_type.is_notice() == notices)
            && self.answered.is_none_or(|day| {
                alert.outcome.as_ref().and_then(|outcome| outcome.action_time).is_some_and(|at| day.contains(at))
            })
            && self.due.is_none_or(|hour| {
                let waits = alert.expired_at.is_none() && !alert.alert_type.is_notice();
                waits && alert.waits_until().is_some_and(|at| hour.contains(at))
            })
    }

    /// Returns the amounts that fulfil every comparison, in millionths: an empty range where none can, `None` where
    /// nothing is compared.
    pub fn micros(&self) -> Option<RangeInclusive<i64>> {
        let ranges = self.amounts.iter().map(|(comparison, than)| comparison.micros(*than));
        let (least, most) =
            ranges.reduce(|(least, most), (other_least, other_most)| (least.max(other_least), most.min(other_most)))?;
        let least = i64::try_from(least.max(i64::MIN.into()));
        let most = i64::try_from(most.min(i64::MAX.into()));
        Some(match (least, most) {
            (Ok(least), Ok(most)) => least..=most,
            // Beyond every amount there is.
            _ => RangeInclusive::new(1, 0),
        })
    }

    /// Returns true for an issuer's name with one of the wanted prefixes.
    pub fn wants_issuer(&self, name: &str) -> bool {
        let name = fold(name.trim());
        self.issuers.iter().any(|wanted| name.starts_with(&fold(wanted)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::select;
    use rstest::rstest;
    use rust_decimal::Decimal;

    use super::*;
    use crate::query::{Vocabulary, parse};
    use crate::time::from_iso;
    use crate::{AlertType, Deadline, Outcome};

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

    #[rstest]
    #[case("amount<99999999999999999999 currency:EUR", true)]
    #[case("amount<=9223372036854.775807 currency:EUR", true)]
    #[case("amount>9223372036854.775807 currency:EUR", false)]
    #[case("amount>99999999999999999999 currency:EUR", false)]
    #[case("amount>-99999999999999999999 currency:EUR", true)]
    #[case("amount<-99999999999999999999 currency:EUR", false)]
    fn an_amount_is_compared_with_one_beyond_every_other(#[case] text: &str, #[case] wanted: bool) {
        let largest = Alert { amount: Some("9223372036854.775807".parse().unwrap()), ..alert() };

        assert_eq!(conditions(text).matches(&largest), wanted);
    }

    #[test]
    fn what_lapses_in_an_hour_waits_and_has_its_deadline_in_it() {
        let at = |deadline: &str| Alert { deadline: Deadline::At(from_iso(deadline).unwrap()), ..Alert::sample() };
        let [before, first, last, behind] =
            ["2026-03-10T11:59:59Z", "2026-03-10T12:00:00Z", "2026-03-10T12:59:59Z", "2026-03-10T13:00:00Z"].map(at);
        let answered = Alert { outcome: Some(Outcome::sample(first.id)), ..first.clone() };
        let notice = Alert { alert_type: AlertType::VerifiFraudNotice, ..first.clone() };
        let by_hours = Alert { deadline: Deadline::HoursLeft(1), ..first.clone() };

        let wanted = [&before, &first, &last, &behind, &answered, &notice, &by_hours]
            .map(|alert| conditions("due:2026-03-10T16+04:00").matches(alert));

        assert_eq!(wanted, [false, true, true, false, false, false, false]);
    }

    #[test]
    fn zeros_behind_an_amount_and_the_letter_case_of_its_currency_change_nothing() {
        let odd = Alert { amount: Some("19.99000000".parse().unwrap()), currency: Currency::new("eur"), ..alert() };

        assert!(conditions("amount<25 currency:EUR").matches(&odd));
    }

    #[test]
    fn an_amount_that_no_order_knows_fulfils_no_comparison() {
        for amount in ["-3", "0.0000001"] {
            let odd = Alert { amount: Some(amount.parse().unwrap()), ..alert() };

            assert!(!conditions("amount<25 currency:EUR").matches(&odd), "{amount}");
        }
    }

    proptest! {
        #[test]
        fn amounts_are_compared_as_the_decimals_they_are(
            micros in prop_oneof![0..50i64, 0..=i64::MAX],
            // Around the amount, in finer steps than amounts have, or anywhere.
            than in prop_oneof![
                (-150..150i64).prop_map(Err),
                (any::<i64>(), 0..28u32).prop_map(|(digits, scale)| Ok(Decimal::new(digits, scale))),
            ],
            comparison in select(&Comparison::ALL[..]),
        ) {
            let amount = Decimal::from_i128_with_scale(micros.into(), MAX_DECIMALS);
            let near = |step: i64| Decimal::from_i128_with_scale(i128::from(micros) * 100 + i128::from(step),
                MAX_DECIMALS + 2);
            let than = than.unwrap_or_else(near);
            let conditions = LocalConditions { amounts: vec![(comparison, than.into())], ..LocalConditions::default() };
            let alert = Alert { amount: Some(amount.into()), ..alert() };

            let expected = match comparison {
                Comparison::AtMost => amount <= than,
                Comparison::AtLeast => amount >= than,
                Comparison::Less => amount < than,
                Comparison::More => amount > than,
                Comparison::Equal => amount == than,
            };
            prop_assert_eq!(conditions.matches(&alert), expected);
        }
    }
}
