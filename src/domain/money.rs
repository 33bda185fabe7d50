//! Exact money: decimal amounts that keep the digits they came with, currencies and their exponents.

use std::{convert::Infallible, fmt, str::FromStr};

use rust_decimal::Decimal;

use crate::{count::grouped, sanitize::excerpt};

/// The largest number of decimal places that the engine stores; no currency of ISO 4217 has more than four.
pub const MAX_DECIMALS: u32 = 6;

/// An exact decimal amount. `10.00` stays `10.00`: trailing zeros are part of the value as received.
///
/// Amounts never pass through a binary float.
#[derive(Debug, Clone, Copy)]
pub struct Amount(Decimal);

impl Amount {
    /// Returns the amount as a decimal.
    pub fn decimal(self) -> Decimal {
        self.0
    }

    /// Returns the amount in millionths, for storage and order; `None` when it is negative, has more than
    /// [`MAX_DECIMALS`] decimal places or is too large.
    pub fn micros(self) -> Option<i64> {
        if self.0.scale() > MAX_DECIMALS || self.0.is_sign_negative() && !self.0.is_zero() {
            return None;
        }
        let micros = self.0.mantissa().checked_mul(10_i128.pow(MAX_DECIMALS - self.0.scale()))?;
        i64::try_from(micros).ok()
    }

    /// Returns the sum of two amounts, without trailing zeros beyond two places; the largest there is where it would be
    /// more.
    pub fn saturating_add(self, other: Self) -> Self {
        Self::two_places(self.0.checked_add(other.0).unwrap_or(Decimal::MAX))
    }

    /// Returns the amount of this number of millionths, without trailing zeros beyond two places.
    pub fn from_micros(micros: i128) -> Self {
        Self::two_places(Decimal::from_i128_with_scale(micros, MAX_DECIMALS))
    }

    fn two_places(decimal: Decimal) -> Self {
        let mut decimal = decimal.normalize();
        decimal.rescale(decimal.scale().max(2));
        Self(decimal)
    }
}

impl From<Decimal> for Amount {
    fn from(decimal: Decimal) -> Self {
        Self(decimal)
    }
}

// Equal means the same digits: 10.0 and 10.00 differ, because a stored amount must come back as it came.
impl PartialEq for Amount {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 && self.0.scale() == other.0.scale()
    }
}

impl Eq for Amount {}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl FromStr for Amount {
    type Err = String;

    /// Reads a plain or exponential decimal (`129.90`, `1e2`); no grouping, no plus sign, no blanks.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fail = || format!("{:?} is not a decimal amount such as 129.90", excerpt(text));
        let bytes = text.as_bytes();
        let plain = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'e' | b'E' | b'+');
        if !bytes.iter().all(plain) || !bytes.iter().any(u8::is_ascii_digit) || bytes.first() == Some(&b'+') {
            return Err(fail());
        }
        let decimal = if bytes.iter().any(|b| matches!(b, b'e' | b'E')) {
            Decimal::from_scientific(text)
        } else {
            Decimal::from_str_exact(text)
        };
        decimal.map(Self).map_err(|_| fail())
    }
}

/// A currency code, kept as it came (ISO 4217 where the sender follows it).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Currency(String);

impl Currency {
    /// Returns a currency of this code.
    pub fn new(code: impl Into<String>) -> Self {
        Self(code.into())
    }

    /// Returns the code.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for one currency: codes are kept in the letter case they came in.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }

    /// Returns the decimal places of the currency's minor unit by ISO 4217; 2 for unknown codes.
    pub fn exponent(&self) -> u32 {
        match self.0.as_str() {
            "BIF" | "CLP" | "DJF" | "GNF" | "ISK" | "JPY" | "KMF" | "KRW" | "PYG" | "RWF" | "UGX" | "UYI" | "VND"
            | "VUV" | "XAF" | "XOF" | "XPF" => 0,
            "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
            "CLF" | "UYW" => 4,
            _ => 2,
        }
    }
}

impl FromStr for Currency {
    type Err = Infallible;

    fn from_str(code: &str) -> Result<Self, Infallible> {
        Ok(Self::new(code))
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// An amount with its currency.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Money {
    pub amount: Amount,
    pub currency: Currency,
}

impl FromStr for Money {
    type Err = String;

    /// Reads an amount that is not negative and a currency: `500.00 EUR`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.trim().split_once(' ').filter(|(_, currency)| currency.trim().len() == 3);
        let read = parts.and_then(|(amount, currency)| {
            let amount: Amount = amount.parse().ok().filter(|amount: &Amount| amount.micros().is_some())?;
            Some(Self { amount, currency: Currency::new(currency.trim().to_ascii_uppercase()) })
        });
        read.ok_or_else(|| format!("{:?} is no money: an amount and a currency, such as 500.00 EUR", excerpt(text)))
    }
}

impl Money {
    /// Returns the number of its decimals: those of its currency, and never fewer than are significant.
    pub fn decimals(&self) -> u32 {
        self.amount.decimal().normalize().scale().max(self.currency.exponent())
    }

    /// Returns true for a fraction in a currency that is known to have no decimals.
    pub fn is_finer_than_its_currency(&self) -> bool {
        self.currency.exponent() == 0 && self.decimals() > 0
    }

    /// Returns the number as people read it: thousands grouped, the currency's decimals, and never fewer digits than
    /// are significant.
    pub fn number(&self) -> String {
        let mut decimal = self.amount.decimal();
        decimal.rescale(self.decimals());
        decimal.set_sign_negative(decimal.is_sign_negative() && !decimal.is_zero());
        let text = decimal.to_string();
        let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
        let (sign, whole) = whole.split_at(usize::from(whole.starts_with('-')));
        format!("{sign}{}{fraction}", grouped(whole))
    }

    /// Returns the same number without grouping, as a search takes it.
    pub fn plain_number(&self) -> String {
        self.number().replace(',', "")
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} {}", self.number(), self.currency))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("10.00")]
    #[case("0.5")]
    #[case("12000")]
    #[case("32.450")]
    #[case("9223372036854.775807")]
    fn an_amount_keeps_the_digits_it_came_with(#[case] text: &str) {
        let amount: Amount = text.parse().unwrap();

        assert_eq!(amount.to_string(), text);
    }

    #[rstest]
    #[case("")]
    #[case("ten")]
    #[case("1,000.00")]
    #[case("1_000")]
    #[case("+5")]
    #[case(" 5")]
    #[case(".")]
    #[case("1e400")]
    #[case("NaN")]
    fn what_is_not_an_amount_is_refused(#[case] text: &str) {
        let error = text.parse::<Amount>().unwrap_err();

        assert!(error.contains("129.90"), "{error}");
    }

    #[rstest]
    #[case("1", Some(1_000_000))]
    #[case("0.000001", Some(1))]
    #[case("0.0000001", None)]
    #[case("-1", None)]
    #[case("9223372036854.775807", Some(i64::MAX))]
    #[case("9223372036854.775808", None)]
    fn micros_are_exact_or_absent(#[case] text: &str, #[case] micros: Option<i64>) {
        assert_eq!(text.parse::<Amount>().unwrap().micros(), micros);
    }

    #[rstest]
    #[case("1480", "AED", "1,480.00 AED")]
    #[case("12000", "JPY", "12,000 JPY")]
    #[case("12000.00", "JPY", "12,000 JPY")]
    #[case("32.45", "KWD", "32.450 KWD")]
    #[case("0.125", "EUR", "0.125 EUR")]
    #[case("999999999.9", "USD", "999,999,999.90 USD")]
    #[case("3.5", "CLF", "3.5000 CLF")]
    #[case("-1234.5", "EUR", "-1,234.50 EUR")]
    #[case("-0.00", "EUR", "0.00 EUR")]
    fn money_is_shown_with_its_currencys_decimals(#[case] text: &str, #[case] code: &str, #[case] shown: &str) {
        let money = Money { amount: text.parse().unwrap(), currency: Currency::new(code) };

        assert_eq!(money.to_string(), shown);
    }

    proptest! {
        #[test]
        fn every_storable_amount_survives_text_and_micros(micros in 0..=i64::MAX, scale in 0u32..=6) {
            let text = Decimal::from_i128_with_scale(i128::from(micros), scale).to_string();
            if let Ok(amount) = text.parse::<Amount>() {
                prop_assert_eq!(amount.to_string(), text);
                if let Some(stored) = amount.micros() {
                    prop_assert_eq!(Amount::from_micros(i128::from(stored)).decimal(), amount.decimal());
                }
            }
        }

        #[test]
        fn no_text_makes_parsing_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Amount>();
        }
    }

    #[test]
    fn equal_amounts_have_the_same_digits() {
        let [ten, ten_exactly, eleven] = ["10.0", "10.00", "11.0"].map(|text| text.parse::<Amount>().unwrap());

        assert_eq!(ten, ten);
        assert_ne!(ten, ten_exactly);
        assert_ne!(ten, eleven);
    }

    #[rstest]
    #[case(100_000_000, "100.00")]
    #[case(12_500_000, "12.50")]
    #[case(12_345_000, "12.345")]
    #[case(0, "0.00")]
    fn millionths_are_shown_to_two_places_at_least(#[case] micros: i128, #[case] text: &str) {
        assert_eq!(Amount::from_micros(micros).to_string(), text);
    }
}
