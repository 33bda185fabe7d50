//! Monitoring programmes of the card schemes (VAMP, ECP): what they measure in a month, where they begin, and how near
//! to it a merchant is.

use std::{fmt, str::FromStr};

use chrono::{Datelike, Months, NaiveDate};

use crate::closed_enum;
use crate::{
    FieldError, Timestamp,
    calendar::parse_day,
    sanitize::{are_digits, excerpt},
};

closed_enum! {
    /// A card scheme that has a monitoring programme.
    #[derive(PartialOrd, Ord)]
    pub enum CardScheme {
        Visa = "visa": "Visa",
        Mastercard = "mastercard": "Mastercard",
    }
}

impl CardScheme {
    /// Returns the scheme of a card by the first digits of its number. `None` where it is another one's, or where four
    /// digits are not known.
    pub fn of_card(beginning: &str) -> Option<Self> {
        let four: u32 = beginning.get(..4).filter(|four| are_digits(four))?.parse().ok()?;
        match four {
            4_000..5_000 => Some(Self::Visa),
            5_100..5_600 | 2_221..=2_720 => Some(Self::Mastercard),
            _ => None,
        }
    }

    /// Returns the scheme of a payment provider's word by its beginning: `visadebit`, `mc_applepay`, `maestro`.
    pub fn of_word(word: &str) -> Option<Self> {
        match &*word.get(..2)?.to_ascii_lowercase() {
            "vi" => Some(Self::Visa),
            "ma" | "mc" => Some(Self::Mastercard),
            _ => None,
        }
    }
}

/// Counts of a month for monitoring programmes on one scheme's cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitoredCount {
    pub scheme: CardScheme,
    /// Reported fraud; without a feed of fraud reports the alerts that report fraud.
    pub fraud_reports: u64,
    /// Disputes; without a feed of disputes the alerts that were answered with a chargeback, or not in time.
    pub chargebacks: u64,
}

/// Most sales of a month that can be entered.
pub const MOST_SALES: u64 = 1_000_000_000_000;

/// The sales of a month on one scheme's cards, which no alert tells: the operator enters them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SalesCount {
    pub month: SalesMonth,
    pub scheme: CardScheme,
    pub count: u64,
    pub entered_at: Timestamp,
}

impl SalesCount {
    /// Checks its month and its number.
    ///
    /// # Errors
    /// Where the month is still to come, or nobody sells so much.
    pub fn validate(self) -> Result<Self, FieldError> {
        if self.month > SalesMonth::of(self.entered_at) {
            let why = format!("{} is still to come: sales are entered for this month or one before", self.month);
            return Err(FieldError::new("month", why));
        }
        if self.count > MOST_SALES {
            return Err(FieldError::new("count", format!("is too large: at most {MOST_SALES} is allowed")));
        }
        Ok(self)
    }
}

/// A month of sales: `2026-11`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SalesMonth(NaiveDate);

impl SalesMonth {
    /// Returns the UTC month of a moment.
    pub fn of(moment: Timestamp) -> Self {
        Self(moment.date_naive().with_day(1).unwrap_or_default())
    }

    /// Returns the month before.
    #[must_use]
    pub fn before(self) -> Self {
        Self(self.0.checked_sub_months(Months::new(1)).unwrap_or(self.0))
    }

    /// Describes the month: `November 2026`.
    pub fn words(self) -> String {
        self.0.format("%B %Y").to_string()
    }
}

impl fmt::Display for SalesMonth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m"))
    }
}

impl FromStr for SalesMonth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("{:?} is no month: year and month are needed, such as 2026-11", excerpt(text));
        parse_day(&format!("{}-01", text.trim())).map(Self).ok_or_else(wrong)
    }
}

/// A monitoring programme at one of its thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Programme {
    pub scheme: CardScheme,
    pub name: &'static str,
    /// Region of the programme, or its name there, where its own name does not say it.
    pub about: &'static str,
    /// The ratio from which on it applies, in hundredths of a percent.
    pub ratio: u64,
    /// The number from which on it applies, both together.
    pub number: u64,
}

/// The programmes with their thresholds, as published in 2026.
pub const PROGRAMMES: [Programme; 4] = {
    use CardScheme::{Mastercard, Visa};
    [
        Programme { scheme: Visa, name: "Visa VAMP, EU/US", about: "US, CA, EU, AP", ratio: 150, number: 1_500 },
        Programme { scheme: Visa, name: "Visa VAMP, CEMEA", about: "", ratio: 220, number: 150 },
        Programme { scheme: Mastercard, name: "Mastercard ECM", about: "excessive", ratio: 150, number: 100 },
        Programme { scheme: Mastercard, name: "Mastercard HECM", about: "high excessive", ratio: 300, number: 300 },
    ]
};

/// A reading of a programme: what it counts, against which sales.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProgrammeReading {
    pub programme: Programme,
    pub items: u64,
    pub sales: u64,
}

impl ProgrammeReading {
    /// Returns the reading of a programme; `None` where there were no sales to measure by.
    pub fn of(programme: Programme, counts: &[MonitoredCount], sales: u64) -> Option<Self> {
        let items = programme.items(counts);
        (sales > 0).then_some(Self { programme, items, sales })
    }

    /// Returns the ratio in hundredths of a percent, rounded up: near its threshold it never looks lower than it is.
    pub fn ratio(&self) -> u64 {
        u64::try_from((u128::from(self.items) * 10_000).div_ceil(u128::from(self.sales.max(1)))).unwrap_or(u64::MAX)
    }

    /// Returns true where the programme's threshold ratio is reached.
    pub fn reaches_ratio(&self) -> bool {
        self.ways().0 >= 1_000
    }

    /// Returns true where the programme's threshold number is reached.
    pub fn reaches_number(&self) -> bool {
        self.items >= self.programme.number
    }

    /// Returns the share of its thresholds that is reached, in thousandths: by ratio, and by number.
    fn ways(&self) -> (u128, u128) {
        let ratio = u128::from(self.items) * 10_000 * 1_000
            / (u128::from(self.sales.max(1)) * u128::from(self.programme.ratio.max(1)));
        (ratio, u128::from(self.items) * 1_000 / u128::from(self.programme.number.max(1)))
    }

    /// Returns the share of the thresholds that is reached, in thousandths. The lesser of ratio and number counts,
    /// because both have to be reached.
    pub fn reached(&self) -> u64 {
        let (ratio, number) = self.ways();
        u64::try_from(ratio.min(number)).unwrap_or(u64::MAX)
    }

    /// Returns true where the number is further from its threshold than the ratio.
    pub fn is_led_by_number(&self) -> bool {
        let (ratio, number) = self.ways();
        number < ratio
    }

    /// Returns true where the programme applies.
    pub fn applies(&self) -> bool {
        self.reached() >= 1_000
    }
}

impl Programme {
    /// Returns the month whose sales it is measured by, for chargebacks of this one: Mastercard's is the one before.
    pub fn sales_month(&self, month: SalesMonth) -> SalesMonth {
        if self.scheme == CardScheme::Mastercard { month.before() } else { month }
    }

    /// Returns the number of a month's items that it counts: Visa counts fraud reports beside chargebacks.
    pub fn items(&self, counts: &[MonitoredCount]) -> u64 {
        let fraud = |count: &MonitoredCount| if self.scheme == CardScheme::Visa { count.fraud_reports } else { 0 };
        let of = counts.iter().filter(|count| count.scheme == self.scheme);
        of.map(|count| count.chargebacks + fraud(count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("411111", Some(CardScheme::Visa))]
    #[case("4999", Some(CardScheme::Visa))]
    #[case("510000", Some(CardScheme::Mastercard))]
    #[case("559999", Some(CardScheme::Mastercard))]
    #[case("222100", Some(CardScheme::Mastercard))]
    #[case("272099", Some(CardScheme::Mastercard))]
    #[case("222099", None)]
    #[case("272100", None)]
    #[case("371234", None)]
    #[case("411", None)]
    #[case("4é11", None)]
    #[case("", None)]
    fn a_cards_scheme_is_told_by_its_first_digits(#[case] card: &str, #[case] scheme: Option<CardScheme>) {
        assert_eq!(CardScheme::of_card(card), scheme);
    }

    #[rstest]
    #[case("visa_applepay", Some(CardScheme::Visa))]
    #[case("VISADEBIT", Some(CardScheme::Visa))]
    #[case("mc", Some(CardScheme::Mastercard))]
    #[case("MasterCard", Some(CardScheme::Mastercard))]
    #[case("amex", None)]
    #[case("", None)]
    fn a_scheme_is_what_a_providers_word_begins_with(#[case] word: &str, #[case] scheme: Option<CardScheme>) {
        assert_eq!(CardScheme::of_word(word), scheme);
    }

    #[rstest]
    #[case("2026-11", "November 2026", "2026-10")]
    #[case(" 2026-01 ", "January 2026", "2025-12")]
    fn a_month_is_read_and_told(#[case] text: &str, #[case] words: &str, #[case] before: &str) {
        let month: SalesMonth = text.parse().unwrap();

        assert_eq!((month.words().as_str(), month.before().to_string().as_str()), (words, before));
    }

    #[rstest]
    #[case("")]
    #[case("2026")]
    #[case("2026-13")]
    #[case("2026-00")]
    #[case("26-11")]
    #[case("2026-1")]
    #[case("+026-11")]
    #[case("2026-11-01")]
    fn other_texts_are_no_month(#[case] text: &str) {
        assert!(text.parse::<SalesMonth>().unwrap_err().contains("such as 2026-11"));
    }

    fn counts(fraud_reports: u64, chargebacks: u64) -> [MonitoredCount; 2] {
        [CardScheme::Visa, CardScheme::Mastercard].map(|scheme| MonitoredCount { scheme, fraud_reports, chargebacks })
    }

    #[rstest]
    #[case::both_reached(0, 1_000, 500, 100_000, true)]
    #[case::a_high_ratio_of_few(0, 90, 50, 1_000, false)]
    #[case::many_at_a_low_ratio(0, 1_000, 1_000, 1_000_000, false)]
    fn a_programme_applies_where_ratio_and_number_are_reached(
        #[case] programme: usize,
        #[case] fraud: u64,
        #[case] chargebacks: u64,
        #[case] sales: u64,
        #[case] applies: bool,
    ) {
        let reading = ProgrammeReading::of(PROGRAMMES[programme], &counts(fraud, chargebacks), sales).unwrap();

        assert_eq!((reading.items, reading.applies()), (fraud + chargebacks, applies));
    }

    #[test]
    fn fraud_counts_with_visa_alone_and_mastercard_goes_by_the_sales_of_the_month_before() {
        let month: SalesMonth = "2026-11".parse().unwrap();
        let [vamp, _, ecm, _] = PROGRAMMES;

        assert_eq!((vamp.items(&counts(7, 5)), ecm.items(&counts(7, 5))), (12, 5));
        assert_eq!([vamp, ecm].map(|programme| programme.sales_month(month).to_string()), ["2026-11", "2026-10"]);
    }

    #[rstest]
    #[case::between_two_hundredths(14_901, 150, false)]
    #[case::a_hair_below_the_bound(149_999, 150, false)]
    #[case::at_the_bound(150_000, 150, true)]
    fn a_ratio_never_looks_lower_than_it_is(#[case] items: u64, #[case] hundredths: u64, #[case] reaches: bool) {
        let sales = if items < 100_000 { 1_000_000 } else { 10_000_000 };
        let reading = ProgrammeReading { programme: PROGRAMMES[0], items, sales };

        assert_eq!((reading.ratio(), reading.reaches_ratio()), (hundredths, reaches));
    }

    #[test]
    fn without_sales_there_is_no_reading() {
        assert_eq!(ProgrammeReading::of(PROGRAMMES[0], &counts(1, 1), 0), None);
    }

    proptest! {
        #[test]
        fn more_items_never_bring_a_merchant_further_away(items in 0u64..u64::MAX / 2, sales in 1u64..,
            programme in 0usize..4) {
            let reading = |items| ProgrammeReading { programme: PROGRAMMES[programme], items, sales };

            prop_assert!(reading(items).reached() <= reading(items + 1).reached());
            prop_assert!(reading(items).ratio() <= reading(items + 1).ratio());
        }
    }
}
