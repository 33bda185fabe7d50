//! Amounts among what is typed into a search, as statements, spreadsheets and mails write them: thousands parted by
//! blanks, points, commas or apostrophes, a currency before or behind, a minus or brackets around.

use super::find_reading::Reading;
use super::find_words::{AROUND, LONGEST_PLAIN, SIGNS, amount, is_code, is_digits, typed_words};
use super::money::Currency;

/// An amount is in so many pieces at most, its currency among them.
const MOST_PIECES: usize = 8;

/// What parts the thousands of a number or its decimals, beside blanks.
const POINTS: [char; 3] = ['.', ',', '\''];

/// Currencies by what people write beside an amount, as search keys; what several have names none.
const NAMES: [(&str, Option<&str>); 13] = [
    ("us$", Some("usd")),
    ("ca$", Some("cad")),
    ("c$", Some("cad")),
    ("au$", Some("aud")),
    ("a$", Some("aud")),
    ("nz$", Some("nzd")),
    ("hk$", Some("hkd")),
    ("s$", Some("sgd")),
    ("r$", Some("brl")),
    ("zl", Some("pln")),
    ("kc", Some("czk")),
    ("kr", None),
    ("rs", None),
];

/// The readings that what was typed has amounts in it, where it can: all of it, or what has its currency's sign at it
/// or its thousands or decimals parted by more than a blank. More than one where a number can be two.
pub(super) fn with_amounts(text: &str) -> Vec<Reading> {
    let pieces: Vec<&str> = text.split_whitespace().collect();
    let mut parts: Vec<(&[&str], Option<WrittenAmount>)> = Vec::new();
    let mut at = 0;
    while at < pieces.len() {
        let amount_of = |length: usize| {
            let written = WrittenAmount::read(&pieces[at..at + length].join(" "))?;
            (written.is_marked || length == pieces.len()).then_some((length, written))
        };
        // The longest one: what stands by itself may be a part of it.
        let (length, written) = (1..=MOST_PIECES.min(pieces.len() - at))
            .rev()
            .find_map(amount_of)
            .map_or((1, None), |(length, written)| (length, Some(written)));
        parts.push((&pieces[at..at + length], written));
        at += length;
    }
    let ways = parts.iter().filter_map(|(_, written)| Some(written.as_ref()?.numbers.len())).max().unwrap_or(0);
    (0..ways).map(|way| reading(&parts, way)).collect()
}

/// The reading with each amount in this way, or in the last that it has.
fn reading(parts: &[(&[&str], Option<WrittenAmount>)], way: usize) -> Reading {
    let mut all = Reading::default();
    for part in parts.chunk_by(|(_, one), (_, next)| one.is_none() && next.is_none()) {
        match part {
            [(_, Some(written))] => {
                all.add_whole(&written.numbers[way.min(written.numbers.len() - 1)]);
                match &written.currency {
                    Some(Beside::Sign(code)) => all.add_whole(code.unwrap_or_default()),
                    // It may begin a name as well.
                    Some(Beside::Code(code)) => all.add(code),
                    None => {}
                }
            }
            words => {
                let words =
                    typed_words(&words.iter().flat_map(|(pieces, _)| *pieces).copied().collect::<Vec<_>>().join(" "));
                words.words().iter().for_each(|word| all.add_as(&words, word));
            }
        }
    }
    all
}

/// What stands beside an amount and tells its currency.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Beside {
    /// A sign or an abbreviation; one that several currencies have tells none.
    Sign(Option<&'static str>),
    /// A code of three letters.
    Code(String),
}

impl Beside {
    fn read(text: &str) -> Option<Self> {
        let sign = |(sign, code): &(char, Option<&'static str>)| {
            text.strip_prefix(*sign).filter(|rest| rest.is_empty()).map(|_| *code)
        };
        let code =
            SIGNS.iter().find_map(sign).or_else(|| NAMES.iter().find(|(name, _)| *name == text).map(|(_, code)| *code));
        code.map(Self::Sign).or_else(|| is_code(text).then(|| Self::Code(text.to_owned())))
    }

    fn code(&self) -> Option<&str> {
        match self {
            Self::Sign(code) => *code,
            Self::Code(code) => Some(code),
        }
    }

    /// What both together tell; nothing where they tell two currencies.
    fn and(self, other: Self) -> Option<Self> {
        match (self.code(), other.code()) {
            (Some(code), Some(another)) if code != another => None,
            (None, _) => Some(other),
            (_, _) if matches!(other, Self::Code(_)) => Some(other),
            _ => Some(self),
        }
    }
}

/// An amount as it was written.
#[derive(Debug, PartialEq, Eq)]
struct WrittenAmount {
    /// It with its currency's decimals, as alerts have it; several where the number can be several.
    numbers: Vec<String>,
    currency: Option<Beside>,
    /// Whether it is one by what it looks like, whatever stands around it.
    is_marked: bool,
}

impl WrittenAmount {
    /// Reads a text that is an amount and nothing else.
    fn read(text: &str) -> Option<Self> {
        let text = text.trim_matches(|c: char| AROUND.contains(&c) || c.is_whitespace());
        let (first, last) = (text.find(|c: char| c.is_ascii_digit())?, text.rfind(|c: char| c.is_ascii_digit())?);
        let (before, number, behind) = (&text[..first], &text[first..=last], &text[last + 1..]);
        // As it is written in Switzerland, and where it was written by hand: `20.-`, `20,--`.
        let behind_stroke = [".-", ",-"]
            .into_iter()
            .find_map(|stroke| behind.strip_prefix(stroke))
            .map(|rest| rest.trim_start_matches('-'));
        let sides = [Side::read(before, '(')?, Side::read(behind_stroke.unwrap_or(behind), ')')?];
        let [one, other] = &sides;
        // No alert is of less than nothing: a minus tells the account that it was booked on.
        if one.has_bracket != other.has_bracket || one.has_minus && other.has_minus {
            return None;
        }
        let is_parted = behind_stroke.is_some() || !is_digits(number);
        let is_glued = before.ends_with(is_letter) || behind.starts_with(is_letter);
        // A word that has letters at its digits is read as one elsewhere, but none has a minus or brackets.
        let is_signed = [&sides[0], &sides[1]].iter().any(|side| side.has_minus || side.has_bracket);
        if !is_parted && (number.len() > LONGEST_PLAIN || is_glued && !is_signed) {
            return None;
        }
        let [one, other] = sides.map(|side| side.currency);
        let currency = match (one, other) {
            (Some(one), Some(other)) => Some(one.and(other)?),
            (one, other) => one.or(other),
        };
        let code = currency.as_ref().and_then(Beside::code);
        let mut numbers: Vec<String> = Vec::new();
        for (whole, decimals) in decimals_of(number) {
            let of_code = |code: &str| {
                let most = Currency::new(code.to_ascii_uppercase()).exponent().max(2) as usize;
                let number = if decimals.is_empty() { whole.clone() } else { format!("{whole}.{decimals}") };
                (decimals.len() <= most).then(|| amount(&number, code)).flatten()
            };
            // Of a currency that is not told alerts may have decimals or none.
            let ways = code.map_or_else(|| vec![of_code("eur"), of_code("jpy")], |code| vec![of_code(code)]);
            for way in ways.into_iter().flatten() {
                if !numbers.contains(&way) {
                    numbers.push(way);
                }
            }
        }
        // What blanks alone part is words among others.
        let is_marked = behind_stroke.is_some() || number.contains(POINTS) || matches!(currency, Some(Beside::Sign(_)));
        (!numbers.is_empty()).then_some(Self { numbers, currency, is_marked })
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase()
}

/// What stands on one side of a number.
#[derive(Debug, Default)]
struct Side {
    currency: Option<Beside>,
    has_minus: bool,
    has_bracket: bool,
}

impl Side {
    /// Nothing where there is what belongs to no amount.
    fn read(text: &str, bracket: char) -> Option<Self> {
        // With letters between it and the number's end of the text a hyphen is none of a number: `INV-1001`,
        // `1001-abc`.
        let is_hyphened = |pair: &[u8]| match (bracket, pair) {
            ('(', [letter, b'-']) | (')', [b'-', letter]) => letter.is_ascii_lowercase(),
            _ => false,
        };
        if text.as_bytes().windows(2).any(is_hyphened) {
            return None;
        }
        let marks = |wanted: char| text.matches(wanted).count();
        if marks('-') + marks('+') > 1 || marks(bracket) > 1 {
            return None;
        }
        let mut side = Self { has_minus: marks('-') > 0, has_bracket: marks(bracket) > 0, currency: None };
        let is_between = |c: char| c.is_whitespace() || c == bracket || c == '-' || c == '+';
        for piece in text.split(is_between).filter(|piece| !piece.is_empty()) {
            let told = Beside::read(piece)?;
            side.currency = Some(match side.currency {
                Some(known) => known.and(told)?,
                None => told,
            });
        }
        Some(side)
    }
}

/// The ways in which a number is a whole and its decimals: `1.234` is one thousand and more, or, of some currencies,
/// little more than one.
fn decimals_of(number: &str) -> Vec<(String, &str)> {
    let parts: Vec<char> = number.chars().filter(|c| !c.is_ascii_digit()).collect();
    let groups: Vec<&str> = number.split(|c: char| !c.is_ascii_digit()).collect();
    let Some((last, heads)) = parts.split_last() else { return vec![(number.to_owned(), "")] };
    let mut ways = Vec::new();
    if is_grouped(&groups, &parts) {
        ways.push((groups.concat(), ""));
    }
    if let Some((decimals, whole)) = groups.split_last()
        && matches!(last, '.' | ',')
        && !heads.contains(last)
        && (is_digits(whole[0]) && heads.is_empty() || is_grouped(whole, heads))
        && (1..=3).contains(&decimals.len())
    {
        ways.push((whole.concat(), *decimals));
    }
    ways
}

/// Whether groups of digits are the thousands of a number that one sign parts; in India a comma parts hundreds of them.
fn is_grouped(groups: &[&str], parts: &[char]) -> bool {
    let [sign, ..] = parts else { return false };
    let [first, middle @ .., last] = groups else { return false };
    let of = |size: usize| (1..=size).contains(&first.len()) && middle.iter().all(|group| group.len() == size);
    parts.iter().all(|other| other == sign)
        && (*sign == ' ' || POINTS.contains(sign))
        && last.len() == 3
        && (of(3) || *sign == ',' && of(2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::alert::{Alert, AlertType, Provider};
    use crate::domain::count::grouped;
    use crate::domain::{AlertId, FindQuery, MatchGrade};

    fn of(amount: &str, currency: &str) -> Alert {
        Alert {
            amount: Some(amount.parse().unwrap()),
            currency: Currency::new(currency),
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }

    #[rstest]
    #[case::blanks("1 234,50 €")]
    #[case::no_break_spaces("1\u{A0}234,50\u{A0}€")]
    #[case::narrow_no_break_spaces("1\u{202F}234,50\u{202F}€")]
    #[case::thin_space("1\u{2009}234.50 EUR")]
    #[case::apostrophe("1'234.50")]
    #[case::typeset_apostrophe("1’234.50 €")]
    #[case::code_before("EUR 1.234,50")]
    #[case::code_before_blanks("eur 1 234,50")]
    #[case::code_behind("1234.50 EUR")]
    #[case::code_at_groups("1'234.50EUR")]
    #[case::sign_at_it("€1,234.50")]
    #[case::sign_before("€ 1,234.50")]
    #[case::sign_behind("1.234,50 €")]
    #[case::sign_of_several("$ 1,234.50")]
    #[case::sign_and_code("€1,234.50 EUR")]
    #[case::sign_of_several_and_code("$1,234.50 EUR")]
    #[case::minus("-1.234,50 €")]
    #[case::true_minus("−1 234,50 €")]
    #[case::minus_behind_the_sign("€-1,234.50")]
    #[case::minus_before_the_code("-EUR 1,234.50")]
    #[case::minus_behind("1.234,50- EUR")]
    #[case::plus("+1,234.50")]
    #[case::brackets("(1,234.50)")]
    #[case::brackets_and_sign("(€1,234.50)")]
    #[case::brackets_and_code("EUR (1,234.50)")]
    #[case::one_decimal("1 234,5 €")]
    #[case::quotes("\"1 234,50 €\"")]
    #[case::direction_marks("\u{200E}1\u{A0}234,50 €\u{200E}")]
    #[case::tab("1 234,50\t€")]
    fn an_amount_is_found_as_it_is_pasted(#[case] text: &str) {
        let query = FindQuery::parse(text).unwrap();

        assert_eq!(query.grade(&of("1234.5", "EUR")), Some(MatchGrade::Whole), "{query:?}");
        assert_ne!(query.grade(&of("234.50", "EUR")), Some(MatchGrade::Whole));
        assert_ne!(query.grade(&of("11234.50", "EUR")), Some(MatchGrade::Whole));
    }

    #[rstest]
    #[case("1.234 €", "1234.00", "EUR")]
    #[case("1 234", "1234.00", "EUR")]
    #[case("1 234", "1234", "JPY")]
    #[case("¥1 234", "1234", "JPY")]
    #[case("12 345 678,90", "12345678.90", "PLN")]
    #[case("1 234,50 zł", "1234.50", "PLN")]
    #[case("1 234,50 Kč", "1234.50", "CZK")]
    #[case("1 234,50 kr", "1234.50", "SEK")]
    #[case("US$ 1,234.50", "1234.50", "USD")]
    #[case("CA$20", "20.00", "CAD")]
    #[case("₹1,23,456.50", "123456.50", "INR")]
    #[case("CHF 1'234.–", "1234.00", "CHF")]
    #[case("20,-", "20.00", "NOK")]
    #[case("20,-- €", "20.00", "EUR")]
    #[case("1.234 KWD", "1.234", "KWD")]
    #[case("1.234 KWD", "1234", "KWD")]
    #[case("1,234.567 KWD", "1234.567", "KWD")]
    #[case("20 €", "20", "EUR")]
    #[case("-20", "20", "EUR")]
    #[case("-20usd", "20", "USD")]
    #[case("(20usd)", "20", "USD")]
    #[case("-usd20", "20", "USD")]
    fn an_amount_has_the_decimals_of_its_currency(#[case] text: &str, #[case] amount: &str, #[case] currency: &str) {
        assert_eq!(FindQuery::parse(text).unwrap().grade(&of(amount, currency)), Some(MatchGrade::Whole));
    }

    #[rstest]
    #[case("1 234,50 €", "USD")]
    #[case("£1 234.50", "EUR")]
    #[case("1 234,50 zł", "EUR")]
    #[case("€1,234.50 USD", "USD")]
    #[case("€1,234.50 USD", "EUR")]
    #[case("1 234.50 usd", "EUR")]
    #[case("-1234.50usd", "EUR")]
    fn an_amount_of_another_currency_is_another_one(#[case] text: &str, #[case] currency: &str) {
        assert_eq!(FindQuery::parse(text).unwrap().grade(&of("1234.50", currency)), None);
    }

    #[rstest]
    #[case("acme 1 234,50 €")]
    #[case("€1 234.50 acme")]
    #[case("acme (1 234,50) berlin")]
    #[case("acme -1’234.50 eur berlin")]
    fn an_amount_is_found_among_other_words(#[case] text: &str) {
        let named = |name: &str| Alert { merchant_name: name.to_owned(), ..of("1234.50", "EUR") };

        assert!(FindQuery::parse(text).unwrap().grade(&named("Acme Berlin")).is_some());
        assert_eq!(FindQuery::parse(text).unwrap().grade(&named("Other")), None);
    }

    #[rstest]
    #[case::order("INV-1001")]
    #[case::order_behind("1001-abc")]
    #[case::order_in_brackets("(inv1001-7)")]
    #[case::order_behind_a_minus("-inv1001x")]
    #[case::order_with_code("inv1001")]
    #[case::day("2026-11-24")]
    #[case::german_day("24.11.2026")]
    #[case::time("09:12")]
    #[case::address("10.0.0.1")]
    #[case::narrow_groups("1 23 456")]
    #[case::decimals_twice("1.50.20")]
    #[case::open_bracket("(20")]
    #[case::two_minus("--20")]
    #[case::long_number("74537604221234567890123")]
    #[case::leading_nought("0042")]
    #[case::two_numbers("20 30")]
    #[case::words_around("acme 20 shop")]
    #[case::groups_among_words("acme 123 456 shop")]
    #[case::code_of_two("20 ab")]
    fn what_can_be_no_amount_is_read_as_none(#[case] text: &str) {
        assert_eq!(with_amounts(&text.to_lowercase()), []);
    }

    /// A number with its thousands parted by this.
    fn written(whole: u32, cents: u8, by: &str, point: char) -> String {
        format!("{}{point}{cents:02}", grouped(&whole.to_string()).replace(',', by))
    }

    proptest! {
        #[test]
        fn any_amount_is_found_in_any_way_of_writing_it(
            whole in 0_u32..99_999_999,
            cents in 0_u8..100,
            by in prop::sample::select(vec!["", " ", "\u{A0}", "\u{202F}", "\u{2009}", "'", "’", ".", ","]),
            point in prop::sample::select(vec!['.', ',']),
            around in prop::sample::select(vec!["#", "€#", "€ #", "# €", "#€", "EUR #", "# eur", "-# €", "(#)",
                "€# EUR", "- # €"]),
            among in prop::sample::select(vec!["#", "acme #", "# acme"]),
        ) {
            prop_assume!(!by.contains(point));
            let typed = among.replace('#', &around.replace('#', &written(whole, cents, by, point)));
            let alert = Alert { merchant_name: "acme".to_owned(), ..of(&format!("{whole}.{cents:02}"), "EUR") };

            let grade = FindQuery::parse(&typed).unwrap().grade(&alert);
            prop_assert_eq!(grade, Some(MatchGrade::Whole), "{:?}", typed);
        }

        #[test]
        fn numbers_are_words_as_well(words in prop::collection::vec("[0-9]{1,6}([.,][0-9]{1,3})?|€|acme|\
            [(]?-?[0-9]{3}[)]?|eur", 1..6)) {
            let typed = words.join(" ");
            let query = FindQuery::parse(&typed).unwrap();
            let of_words = typed_words(&typed);

            prop_assert_eq!(&query.readings()[0], &of_words);
            let mut found = of("7", "USD");
            for (at, word) in of_words.words().iter().enumerate() {
                let places = [&mut found.merchant_name, &mut found.issuer, &mut found.merchant_descriptor,
                    &mut found.merchant_id, &mut found.provider_id];
                let place = places.into_iter().nth(at).unwrap();
                place.clone_from(word);
            }
            prop_assert_eq!(query.grade(&found), Some(MatchGrade::Whole), "{:?}", typed);
        }
    }
}
