//! Card number masking: no text keeps more of a card number (PAN) than its BIN and its last four digits.

use std::{borrow::Cow, ops::RangeInclusive};

use super::sanitize::is_invisible;

/// Digits of a BIN that are kept, whatever the card.
pub(super) const BIN_DIGITS: usize = 6;
/// Digits at a card number's end that are kept.
pub(super) const LAST_DIGITS: usize = 4;
/// Digits of the shortest card number, and of the longest.
const LENGTHS: RangeInclusive<usize> = 13..=19;

/// Masks every card number but for BIN and last four: 13 to 19 digits, with or without single blanks or hyphens in
/// between. They begin as a card network's numbers do and pass the Luhn check. Text without one comes back unchanged.
///
/// Digits are those of every script (Unicode, decimal numbers). Blanks and hyphens include those that hold words
/// together or are as wide as these digits.
///
/// A number begins and ends where digits do: a stretch inside a longer one (an ARN has 23 digits) is not a card.
/// Invisible characters do not separate digits. The digits of a UUID are an id's, and those behind a plus sign a
/// telephone's.
pub fn mask_card_numbers(text: &str) -> Cow<'_, str> {
    if !has_digits_of_a_card(text) {
        return Cow::Borrowed(text);
    }
    let mut chars: Vec<char> = text.chars().collect();
    let cards = card_numbers(&chars);
    if cards.is_empty() {
        return Cow::Borrowed(text);
    }
    for digits in cards {
        for &index in &digits[BIN_DIGITS..digits.len() - LAST_DIGITS] {
            chars[index] = '*';
        }
    }
    Cow::Owned(chars.into_iter().collect())
}

/// Returns true where the whole text is one card number, of a length that its network issues. A card number is a reason
/// to refuse here, so a transaction id of 15 digits must not pass for a Visa number.
pub fn is_card_number(text: &str) -> bool {
    let chars: Vec<char> = text.trim().chars().filter(|c| !is_invisible(*c)).collect();
    match card_numbers(&chars).as_slice() {
        [digits] if digits.first() == Some(&0) && digits.last() == chars.len().checked_sub(1).as_ref() => {
            let number: String = digits.iter().filter_map(|&index| digit(chars[index])).collect();
            lengths(&number).contains(&number.len())
        }
        _ => false,
    }
}

/// Returns true for a text with as many digits as the shortest card number. Most texts have fewer, and need no closer
/// check.
fn has_digits_of_a_card(text: &str) -> bool {
    if text.is_ascii() {
        return text.bytes().filter(u8::is_ascii_digit).nth(LENGTHS.start() - 1).is_some();
    }
    text.chars().filter(|c| digit(*c).is_some()).nth(LENGTHS.start() - 1).is_some()
}

/// The zeros of all scripts (Unicode 16, general category Nd); their other digits follow each.
const ZEROS: [u32; 75] = [
    0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xDE6, 0xE50, 0xED0, 0xF20,
    0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90, 0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0,
    0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10, 0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0,
    0x112F0, 0x11450, 0x114D0, 0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50,
    0x11D50, 0x11DA0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8, 0x1D7E2,
    0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

/// Returns a decimal digit of any script, as the one of ASCII.
pub(super) fn digit(c: char) -> Option<char> {
    if c.is_ascii() {
        return c.is_ascii_digit().then_some(c);
    }
    let code = u32::from(c);
    let zero = ZEROS[..ZEROS.partition_point(|zero| *zero <= code)].last()?;
    char::from_digit(code - zero, 10)
}

/// Returns true for a character that may stand alone between two digits of a number.
fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-' | '\u{A0}' | '\u{202F}' | '\u{3000}' | '\u{2010}' | '\u{2011}' | '\u{FF0D}')
}

/// Returns the card numbers of a text, each as the places of its digits.
fn card_numbers(chars: &[char]) -> Vec<Vec<usize>> {
    let mut cards = Vec::new();
    for chain in chains(chars) {
        let mut first = 0;
        while first < chain.len() {
            let card = (first + 1..=chain.len()).rev().find_map(|end| {
                let digits: Vec<usize> = chain[first..end].concat();
                let number: String = digits.iter().filter_map(|&index| digit(chars[index])).collect();
                (LENGTHS.contains(&number.len()) && !lengths(&number).is_empty() && luhn(number.chars()))
                    .then_some((end, digits))
            });
            match card {
                Some((end, digits)) => {
                    cards.push(digits);
                    first = end;
                }
                None => first += 1,
            }
        }
    }
    cards
}

/// A card network by the beginnings of its numbers (ISO/IEC 7812, issuer identification numbers), with the lengths it
/// issues.
const NETWORKS: [(&[RangeInclusive<u32>], &[usize]); 6] = [
    // Visa
    (&[400_000..=499_999], &[13, 16, 19]),
    // Mastercard
    (&[222_100..=272_099, 510_000..=559_999], &[16]),
    // American Express
    (&[340_000..=349_999, 370_000..=379_999], &[15]),
    // Diners Club
    (&[300_000..=305_999, 309_000..=309_999, 360_000..=369_999, 380_000..=399_999], &[14, 15, 16, 17, 18, 19]),
    // JCB, Maestro, Discover, RuPay, UnionPay
    (
        &[352_800..=358_999, 500_000..=509_999, 560_000..=589_999, 600_000..=699_999, 810_000..=829_999],
        &[16, 17, 18, 19],
    ),
    // Mir
    (&[220_000..=220_499], &[16, 17, 18, 19]),
];

/// Returns the lengths in which the network of these digits issues its numbers; empty for no known network.
fn lengths(number: &str) -> &'static [usize] {
    let beginning = number.get(..BIN_DIGITS).and_then(|digits| digits.parse().ok());
    let network = beginning.and_then(|digits: u32| {
        NETWORKS.iter().find(|(beginnings, _)| beginnings.iter().any(|of| of.contains(&digits)))
    });
    network.map_or(&[], |(_, lengths)| lengths)
}

/// Blocks of digits by their places, chained where only one blank or hyphen stands between them.
fn chains(chars: &[char]) -> Vec<Vec<Vec<usize>>> {
    let mut chains: Vec<Vec<Vec<usize>>> = Vec::new();
    // Number of characters between a digit and the one before it; 2 is too many.
    let mut between = 2;
    let mut id_ends = 0;
    let mut before = None;
    let mut is_telephone = false;
    for (at, &c) in chars.iter().enumerate().filter(|(_, c)| !is_invisible(**c)) {
        if is_uuid_at(chars, at) {
            id_ends = at + UUID_CHARS;
        }
        let last = before.replace(c);
        if at < id_ends || digit(c).is_none() {
            between = if between == 0 && is_separator(c) { 1 } else { 2 };
            continue;
        }
        if between == 2 {
            is_telephone = matches!(last, Some('+' | '＋'));
        }
        match (between, chains.last_mut()) {
            _ if is_telephone => {}
            (0, Some(chain)) => chain.last_mut().into_iter().for_each(|block| block.push(at)),
            (1, Some(chain)) => chain.push(vec![at]),
            _ => chains.push(vec![vec![at]]),
        }
        between = 0;
    }
    chains
}

/// Characters of a UUID with its hyphens.
const UUID_CHARS: usize = uuid::fmt::Hyphenated::LENGTH;

/// Returns true where a separate UUID (RFC 9562) begins at this position.
fn is_uuid_at(chars: &[char], at: usize) -> bool {
    let Some(window) = chars.get(at..at + UUID_CHARS) else { return false };
    let is_part = |index: usize| chars.get(index).is_some_and(|c| c.is_alphanumeric() || *c == '-');
    if window[8] != '-' || window[13] != '-' || at.checked_sub(1).is_some_and(is_part) || is_part(at + UUID_CHARS) {
        return false;
    }
    let text: String = window.iter().collect();
    uuid::Uuid::try_parse(&text)
        .is_ok_and(|id| (1..=8).contains(&id.get_version_num()) && id.get_variant() == uuid::Variant::RFC4122)
}

/// Checks the digits by the Luhn algorithm.
pub fn luhn(digits: impl DoubleEndedIterator<Item = char>) -> bool {
    let sum: u32 = digits
        .rev()
        .filter_map(|digit| digit.to_digit(10))
        .enumerate()
        .map(|(index, digit)| match (index % 2, digit * 2) {
            (0, _) => digit,
            (_, doubled) if doubled > 9 => doubled - 9,
            (_, doubled) => doubled,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("card 4111111111111111 refunded", "card 411111******1111 refunded")]
    #[case("4111 1111 1111 1111", "4111 11** **** 1111")]
    #[case("4111-1111-1111-1111.", "4111-11**-****-1111.")]
    #[case("4111111111111111 12/27", "411111******1111 12/27")]
    #[case("amex 371449635398431", "amex 371449*****8431")]
    #[case("41111111-1111-1111 is no id", "411111**-****-1111 is no id")]
    #[case("4111\u{200b}1111\u{ad} 1111\u{200d}1111", "4111\u{200b}11**\u{ad} ****\u{200d}1111")]
    #[case("mc 5555555555554444, 2223003122003222", "mc 555555******4444, 222300******3222")]
    #[case("6011111111111117 3530111333300000", "601111******1117 353011******0000")]
    #[case("id 455555555555559", "id 455555*****5559")]
    #[case("30569309025904/6759649826438453", "305693****5904/675964******8453")]
    #[case("4222222222222", "422222***2222")]
    #[case("カード４１１１１１１１１１１１１１１１", "カード４１１１１１******１１１１")]
    #[case("４１１１　１１１１－１１１１　１１１１", "４１１１　１１**－****　１１１１")]
    #[case("4111\u{a0}1111\u{2011}1111\u{202f}1111", "4111\u{a0}11**\u{2011}****\u{202f}1111")]
    #[case("٤١١١١١١١١١١١١١١١ and 𝟜𝟙𝟙𝟙𝟙𝟙𝟙𝟙11111111", "٤١١١١١******١١١١ and 𝟜𝟙𝟙𝟙𝟙𝟙******1111")]
    #[case(
        "41111111-0004-4abc-8def-0123456789ab 4111111111111111",
        "41111111-0004-4abc-8def-0123456789ab 411111******1111"
    )]
    #[case(
        "see 41111111-0004-7abc-8def-0123456789ab: 4111111111111111",
        "see 41111111-0004-7abc-8def-0123456789ab: 411111******1111"
    )]
    // Longer than a UUID, or none by its variant: digits like others.
    #[case("x41111111-0004-7abc-8def-0123456789ab", "x411111**-*004-7abc-8def-0123456789ab")]
    #[case("41111111-0004-7abc-8def-0123456789abc", "411111**-*004-7abc-8def-0123456789abc")]
    #[case("-41111111-0004-7abc-8def-0123456789ab", "-411111**-*004-7abc-8def-0123456789ab")]
    #[case("41111111-0004-7abc-0def-0123456789ab", "411111**-*004-7abc-0def-0123456789ab")]
    fn a_card_number_in_prose_is_masked(#[case] text: &str, #[case] masked: &str) {
        assert_eq!(mask_card_numbers(text), masked);
    }

    #[rstest]
    #[case("order 4111111111111112")]
    #[case("番号４１１１１１１１１１１１１１１２")]
    #[case("電話＋４１１１１１１１１１１１１１１１")]
    #[case("ARN 74320456118200319945216 is long")]
    #[case("411111 1111")]
    #[case("4111x1111x1111x1111")]
    #[case("4111  1111 1111 1111")]
    #[case("41111111-0004-7abc-8def-0123456789ab")]
    #[case("order 1111111111111117")]
    #[case("invoice 20261122000000005")]
    #[case("call +4111 1111 1111 1111 now")]
    #[case("Refunded on 20 Nov, ticket 10293")]
    #[case("delivery 41111111-0004-7abc-8def-0123456789ab not found")]
    fn other_digits_stay(#[case] text: &str) {
        assert_eq!(mask_card_numbers(text), text);
    }

    #[rstest]
    #[case("4111111111111111", true)]
    #[case(" 4111-1111-1111-1111 ", true)]
    #[case("４１１１１１１１１１１１１１１１", true)]
    #[case("X-4111111111111111", false)]
    #[case("4111111111111111 and more", false)]
    #[case("4111111111111112", false)]
    #[case("455555555555559", false)]
    #[case("74320456118200319945216", false)]
    #[case("", false)]
    fn a_name_is_a_card_number_where_the_whole_of_it_is(#[case] text: &str, #[case] is_card: bool) {
        assert_eq!(is_card_number(text), is_card);
    }

    proptest! {
        #[test]
        fn masking_keeps_the_length_and_is_stable(text in "[0-9a-z \\-]{0,60}") {
            let once = mask_card_numbers(&text).into_owned();
            prop_assert_eq!(once.chars().count(), text.chars().count());
        }
    }
}
