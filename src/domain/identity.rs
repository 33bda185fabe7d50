//! Identity: texts that identify nothing, facts that contradict an identifier, and facts that changed since a decision.

use std::borrow::Cow;

use crate::{
    Alert, Money, closed_enum,
    fold::search_key,
    sanitize::{are_digits, excerpt},
};

/// Words in the place of an identifier, in several languages; their letters alone.
const EMPTY_WORDS: &str = "na nan nil null none unknown undefined empty blank missing unavailable notavailable \
    notapplicable notprovided notset \
                           notgiven novalue nodata tbd tba ka nv nd unbekannt keine keineangabe leer inconnu aucun \
                           aucune vide nonrenseigne \
                           desconhecido nenhum nulo vazio naoinformado desconocido ninguno vacio sconosciuto nessuno \
                           なし 無し 不明 該当なし";

/// Least number of repetitions of a sign that fills a reference or a code; a shorter one may be real.
const FILLER: usize = 6;

/// A kind of identifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identifier {
    /// A network's id of an alert, an order's number, a transaction's id.
    Name,
    /// An acquirer's reference number or an authorization code.
    Code,
}

impl Identifier {
    /// Returns the identifier in a text; `None` where it identifies nothing.
    pub fn read(self, text: Option<&str>) -> Option<&str> {
        text.map(str::trim).filter(|text| !is_spreadsheet_number(text) && !self.is_empty(text))
    }

    /// Returns the identifier in a text that has to be one.
    ///
    /// # Errors
    /// When the text identifies nothing: what it is instead, and the way out.
    pub fn require(self, text: &str) -> Result<&str, String> {
        let flaw = match is_spreadsheet_number(text.trim()) {
            true => "a spreadsheet has made a number of it; format the column as text and export it again",
            false => "that identifies nothing, and an identifier is required",
        };
        self.read(Some(text)).ok_or_else(|| format!("is {:?}: {flaw}", excerpt(text)))
    }

    fn is_empty(self, text: &str) -> bool {
        let key = if text.is_ascii() { Cow::Borrowed(text) } else { search_key(text).into() };
        let signs = key.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase());
        let Some(first) = signs.clone().next() else { return true };
        let is_filler = first == '0' || self == Self::Code && signs.clone().nth(FILLER - 1).is_some();
        // Null markers of databases, and errors of spreadsheets: `#REF!`.
        let is_error = text == r"\N" || text.starts_with('#') && text.ends_with(['!', '?']);
        is_error
            || is_filler && signs.clone().all(|sign| sign == first)
            || EMPTY_WORDS.split(' ').any(|word| word.chars().eq(signs.clone()))
    }
}

/// Returns true for a long number as a spreadsheet writes it: `5.36E+18`, a round one `5E+18`. A code such as `12E456`
/// is real.
fn is_spreadsheet_number(text: &str) -> bool {
    let Some((number, power)) = text.split_once(['E', 'e']) else { return false };
    let small = || power.strip_prefix('-').filter(|_| number.contains(['.', ',']));
    let is_power = power.strip_prefix('+').or_else(small).is_some_and(|power| power.len() == 2 && are_digits(power));
    is_power && number.split(['.', ',']).all(are_digits)
}

impl Alert {
    /// Returns the acquirer's reference number, where it identifies something.
    pub fn known_arn(&self) -> Option<&str> {
        Identifier::Code.read(self.acquirer_reference_number.as_deref())
    }

    /// Returns the authorization code, likewise.
    pub fn known_auth_code(&self) -> Option<&str> {
        Identifier::Code.read(self.auth_code.as_deref())
    }

    /// Returns the number of the merchant's order, likewise.
    pub fn known_order_id(&self) -> Option<&str> {
        Identifier::Name.read(self.merchant_order_id.as_deref())
    }

    /// Returns the transaction's id, likewise.
    pub fn known_transaction_id(&self) -> Option<&str> {
        Identifier::Name.read(self.transaction_id.as_deref())
    }

    /// Returns what is known of its card.
    pub fn card_digits(&self) -> CardDigits<'_> {
        CardDigits { bin: &self.card_bin, last_four: &self.card_last_four }
    }
}

/// The digits that are known of a card; empty where they are not.
#[derive(Debug, Clone, Copy)]
pub struct CardDigits<'a> {
    pub bin: &'a str,
    pub last_four: &'a str,
}

/// Comparison of two cards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CardComparison {
    Same,
    /// The last four digits agree, and one side has no BIN.
    LastFourOnly,
    /// One side has no last four digits.
    Unknown,
    Different,
}

impl CardDigits<'_> {
    /// Compares two cards by the digits known of both.
    pub fn compare(self, other: CardDigits<'_>) -> CardComparison {
        let bins = both_told(self.bin, other.bin, 1).map(|(one, other)| is_same_bin(one, other));
        let last_fours = both_told(self.last_four, other.last_four, 4).map(|(one, other)| one == other);
        match (last_fours, bins) {
            (Some(false), _) | (_, Some(false)) => CardComparison::Different,
            (Some(true), Some(true)) => CardComparison::Same,
            (Some(true), None) => CardComparison::LastFourOnly,
            (None, _) => CardComparison::Unknown,
        }
    }
}

fn both_told<'a>(one: &'a str, other: &'a str, least: usize) -> Option<(&'a str, &'a str)> {
    let (one, other) = (one.trim(), other.trim());
    (one.len().min(other.len()) >= least).then_some((one, other))
}

/// Networks give six digits of a BIN or eight.
fn is_same_bin(one: &str, other: &str) -> bool {
    one == other || one.len().min(other.len()) >= 6 && (one.starts_with(other) || other.starts_with(one))
}

closed_enum! {
    /// A fact that contradicts an identifier: it is not outweighed by it.
    pub enum Contradiction {
        /// The digits of the cards differ.
        OtherCard = "but the card differs",
        /// More is disputed than was paid in all, in one currency.
        MoreThanTotal = "but more is disputed than it cost",
    }
}

/// Returns what contradicts that an alert is on the payment of this card, of this total where it is known.
pub fn contradiction(alert: &Alert, card: CardDigits<'_>, total: Option<Money>) -> Option<Contradiction> {
    if alert.card_digits().compare(card) == CardComparison::Different {
        return Some(Contradiction::OtherCard);
    }
    let (disputed, total) = alert.money().zip(total)?;
    let is_more = disputed.currency.is_same(&total.currency) && disputed.amount.decimal() > total.amount.decimal();
    is_more.then_some(Contradiction::MoreThanTotal)
}

impl Alert {
    /// Describes a fact behind a decision that differs from `before`: the money, the card, the payment's identifiers,
    /// or the alert's type. A fact that one side does not know, as in a reduced answer, is no change. Neither is
    /// another spelling of a number.
    pub fn changed_since(&self, before: &Self) -> Option<String> {
        if self.updated_at.zip(before.updated_at).is_some_and(|(now, then)| now < then) {
            // An older read than the one that was decided on.
            return None;
        }
        if let (Some(then), Some(now)) = (before.money(), self.money())
            && (then.currency != now.currency || then.amount.decimal() != now.amount.decimal())
        {
            return Some(format!("{then} is {now} by now"));
        }
        let others = [
            ("card", is_another(Some(&before.card_bin), Some(&self.card_bin))),
            ("card", is_another(Some(&before.card_last_four), Some(&self.card_last_four))),
            ("ARN", is_another(before.known_arn(), self.known_arn())),
            ("transaction", is_another(before.known_transaction_id(), self.known_transaction_id())),
            ("order", is_another(before.known_order_id(), self.known_order_id())),
            ("type", self.alert_type != before.alert_type && !before.alert_type.as_str().is_empty()),
        ];
        others.into_iter().find(|(_, differs)| *differs).map(|(what, _)| format!("its {what} is another by now"))
    }
}

fn is_another(then: Option<&str>, now: Option<&str>) -> bool {
    let (then, now) = (then.unwrap_or_default().trim(), now.unwrap_or_default().trim());
    !then.is_empty() && !now.is_empty() && then != now
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{AlertType, Currency, Timestamp};

    fn changed(change: impl FnOnce(&mut Alert)) -> Option<String> {
        let (arn, updated_at) = (Some("7432".to_owned()), Some(Timestamp::UNIX_EPOCH));
        let before = Alert { acquirer_reference_number: arn, updated_at, ..Alert::sample() };
        let mut now = before.clone();
        change(&mut now);
        now.changed_since(&before)
    }

    #[rstest]
    #[case::nothing(|_: &mut Alert| (), None)]
    #[case::another_amount(|alert: &mut Alert| alert.amount = "999.00".parse().ok(), Some("999.00"))]
    #[case::another_currency(|alert: &mut Alert| alert.currency = Currency::new("CHF"), Some("CHF"))]
    #[case::another_card(|alert: &mut Alert| alert.card_last_four = "0001".to_owned(), Some("its card"))]
    #[case::another_arn(|alert: &mut Alert| alert.acquirer_reference_number = Some("8".to_owned()), Some("its ARN"))]
    #[case::a_reference_that_was_none(|alert: &mut Alert| alert.acquirer_reference_number = Some("N/A".to_owned()),
        None)]
    #[case::another_type(|alert: &mut Alert| alert.alert_type = AlertType::VerifiFraudNotice, Some("its type"))]
    #[case::a_field_that_is_not_told(|alert: &mut Alert| alert.amount = None, None)]
    #[case::a_card_that_is_not_told(|alert: &mut Alert| alert.card_bin = String::new(), None)]
    #[case::another_comment(|alert: &mut Alert| alert.issuer = "Another bank".to_owned(), None)]
    fn what_a_decision_rests_on_is_compared(#[case] change: fn(&mut Alert), #[case] says: Option<&str>) {
        let words = changed(change);

        match says {
            None => assert_eq!(words, None),
            Some(says) => assert!(words.as_deref().is_some_and(|words| words.contains(says)), "{words:?}"),
        }
    }

    #[test]
    fn another_way_to_write_a_number_is_no_change_and_neither_is_an_older_read() {
        let trailing_zeros =
            changed(|alert| alert.amount = alert.amount.map(|amount| format!("{amount}00").parse().unwrap()));
        let older = changed(|alert| {
            alert.amount = "999.00".parse().ok();
            alert.updated_at = alert.updated_at.map(|at| at - chrono::TimeDelta::seconds(1));
        });

        assert_eq!([trailing_zeros, older], [None, None]);
    }

    const NOTHING: [&str; 26] = [
        "",
        " ",
        "-",
        "--",
        "\u{2013}",
        "?",
        "***",
        "N/A",
        "n.a.",
        "#N/A",
        "NULL",
        "(null)",
        "<None>",
        "nil",
        "Unknown",
        "not available",
        "n / a",
        "unbekannt",
        "0",
        "000000",
        "0.00",
        "0,00",
        "00000000-0000-0000-0000-000000000000",
        "\u{ff10}\u{ff10}",
        "\u{ff2e}\u{ff0f}\u{ff21}",
        "#REF!",
    ];

    #[test]
    fn empty_words_and_zeros_identify_nothing() {
        for text in NOTHING {
            assert_eq!(
                [Identifier::Name, Identifier::Code].map(|kind| kind.read(Some(text))),
                [None, None],
                "{text:?}"
            );
        }
    }

    #[rstest]
    #[case("5.36E+18", true)]
    #[case("5,36E+18", true)]
    #[case("7.4208476320000E+22", true)]
    #[case("1.00e-07", true)]
    #[case("5E+18", true)]
    #[case("12E456", false)]
    #[case("5.36E+1", false)]
    #[case("5.36E+180", false)]
    #[case("12E-18", false)]
    #[case("A5.36E+18", false)]
    #[case("5.36E18", false)]
    #[case(".E+18", false)]
    fn a_long_number_that_a_spreadsheet_wrote_identifies_nothing(#[case] text: &str, #[case] is_one: bool) {
        let told = Identifier::Code.require(text);

        assert_eq!(told.is_err_and(|why| why.contains("a spreadsheet has made a number of it")), is_one);
        assert_eq!(Identifier::Code.read(Some(text)).is_none(), is_one);
    }

    #[rstest]
    #[case("111111", None, Some("111111"))]
    #[case("XxXxXx", None, Some("XxXxXx"))]
    #[case("99999999999999999999999", None, Some("99999999999999999999999"))]
    #[case("11111", Some("11111"), Some("11111"))]
    #[case("111112", Some("111112"), Some("111112"))]
    fn one_sign_six_times_is_no_reference_and_no_code_but_may_be_a_name(
        #[case] text: &str,
        #[case] code: Option<&str>,
        #[case] name: Option<&str>,
    ) {
        assert_eq!((Identifier::Code.read(Some(text)), Identifier::Name.read(Some(text))), (code, name));
    }

    #[rstest]
    #[case("12E456")]
    #[case("093112")]
    #[case("00000A")]
    #[case("100000")]
    #[case("74320456118200319945216")]
    #[case("NA-1001")]
    #[case("none-7")]
    #[case("#1001")]
    #[case("1.5")]
    fn an_identifier_is_read_without_the_blanks_around_it(#[case] text: &str) {
        let written = format!(" {text} ");

        assert_eq!([Identifier::Name, Identifier::Code].map(|kind| kind.read(Some(&written))), [Some(text); 2]);
    }

    proptest! {
        #[test]
        fn case_and_signs_make_no_word_an_identifier(
            word in proptest::sample::select(EMPTY_WORDS.split(' ').collect::<Vec<_>>()),
            upper in any::<bool>(),
            sign in "[-_/.#<>() \"']{0,3}",
        ) {
            let word = if upper { word.to_uppercase() } else { word.to_owned() };
            let spelled: Vec<String> = word.chars().map(String::from).collect();

            for text in [format!("{sign}{word}{sign}"), spelled.join(&sign)] {
                prop_assert_eq!(Identifier::Name.read(Some(&text)), None);
            }
        }

        #[test]
        fn a_name_that_is_none_is_no_code_either_and_reading_again_changes_nothing(text in "\\PC{0,30}") {
            let name = Identifier::Name.read(Some(&text));

            prop_assert_eq!(Identifier::Name.read(name), name);
            if name.is_none() {
                prop_assert_eq!(Identifier::Code.read(Some(&text)), None);
            }
        }

        #[test]
        fn two_different_digits_of_a_plain_number_identify(number in "[0-9]{1,23}") {
            let is_one_digit = number.bytes().all(|digit| digit == number.as_bytes()[0]);

            prop_assert_eq!(Identifier::Name.read(Some(&number)).is_none(), is_one_digit && number.starts_with('0'));
            prop_assert_eq!(Identifier::Code.read(Some(&number)).is_none(),
                is_one_digit && (number.starts_with('0') || number.len() >= 6));
        }
    }

    #[rstest]
    #[case(("411111", "1234"), ("411111", "1234"), CardComparison::Same)]
    #[case(("411111", "1234"), ("41111122", "1234"), CardComparison::Same)]
    #[case(("41111133", "1234"), ("41111122", "1234"), CardComparison::Different)]
    #[case(("411111", "1234"), ("", "1234"), CardComparison::LastFourOnly)]
    #[case(("411111", "1234"), ("411111", "1235"), CardComparison::Different)]
    #[case(("411111", ""), ("552201", "1234"), CardComparison::Different)]
    #[case(("411111", ""), ("411111", "1234"), CardComparison::Unknown)]
    #[case(("", ""), ("411111", "1234"), CardComparison::Unknown)]
    #[case(("411111", "42"), ("411111", "0042"), CardComparison::Unknown)]
    fn cards_differ_where_digits_that_both_tell_do(
        #[case] one: (&str, &str),
        #[case] other: (&str, &str),
        #[case] expected: CardComparison,
    ) {
        let digits = |(bin, last_four)| CardDigits { bin, last_four };

        assert_eq!(digits(one).compare(digits(other)), expected);
        assert_eq!(digits(other).compare(digits(one)), expected);
    }

    #[rstest]
    #[case("129.90", "EUR", None)]
    #[case("200", "EUR", None)]
    #[case("129.89", "EUR", Some(Contradiction::MoreThanTotal))]
    #[case("129.89", "eur", Some(Contradiction::MoreThanTotal))]
    #[case("1.00", "USD", None)]
    fn more_than_a_total_in_its_currency_contradicts(
        #[case] total: &str,
        #[case] currency: &str,
        #[case] expected: Option<Contradiction>,
    ) {
        let alert = Alert::sample();
        let total = Money { amount: total.parse().unwrap(), currency: Currency::new(currency) };
        let other_card = CardDigits { bin: "411111", last_four: "9999" };

        assert_eq!(contradiction(&alert, alert.card_digits(), Some(total.clone())), expected);
        assert_eq!(contradiction(&alert, other_card, Some(total)), Some(Contradiction::OtherCard));
        assert_eq!(contradiction(&alert, alert.card_digits(), None), None);
    }
}
