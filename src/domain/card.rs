//! Card number masking: prose never keeps a card number beyond its last four digits.

use std::borrow::Cow;

use super::sanitize::is_invisible;

/// Masks every run of 13 to 19 digits that passes the Luhn check, with or without single blanks or hyphens in between,
/// down to its last four digits. Text without such a run comes back unchanged.
///
/// A run begins and ends where digits do: a stretch inside a longer number (an ARN has 23 digits) is not a card. Characters that nobody
/// sees part no digits. The digits of a UUID are an id's: by chance many of them would pass.
pub fn mask_card_numbers(text: &str) -> Cow<'_, str> {
    if !has_digits_of_a_card(text) {
        return Cow::Borrowed(text);
    }
    let mut chars: Vec<char> = text.chars().collect();
    let mut changed = false;
    for chain in chains(&chars) {
        let mut first = 0;
        while first < chain.len() {
            let card = (first + 1..=chain.len())
                .rev()
                .map(|end| (end, chain[first..end].iter().flatten().copied().collect::<Vec<usize>>()))
                .find(|(_, digits)| (13..=19).contains(&digits.len()) && luhn(digits.iter().map(|&index| chars[index])));
            match card {
                Some((end, digits)) => {
                    for &index in &digits[..digits.len() - 4] {
                        chars[index] = '*';
                    }
                    changed = true;
                    first = end;
                }
                None => first += 1,
            }
        }
    }
    if changed { Cow::Owned(chars.into_iter().collect()) } else { Cow::Borrowed(text) }
}

/// Whether a text has as many digits as the shortest card number. Most have not, and need no closer look.
fn has_digits_of_a_card(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).nth(12).is_some()
}

/// Blocks of digits by their places, chained where only one blank or hyphen stands between them.
fn chains(chars: &[char]) -> Vec<Vec<Vec<usize>>> {
    let mut chains: Vec<Vec<Vec<usize>>> = Vec::new();
    // How many characters stand between a digit and the one before it; 2 is too many.
    let mut between = 2;
    let mut id_ends = 0;
    for (at, &c) in chars.iter().enumerate().filter(|(_, c)| !is_invisible(**c)) {
        if is_uuid_at(chars, at) {
            id_ends = at + UUID_CHARS;
        }
        if at < id_ends || !c.is_ascii_digit() {
            between = if between == 0 && matches!(c, ' ' | '-') { 1 } else { 2 };
            continue;
        }
        match (between, chains.last_mut()) {
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

/// Whether a UUID (RFC 9562) stands here by itself.
fn is_uuid_at(chars: &[char], at: usize) -> bool {
    let Some(window) = chars.get(at..at + UUID_CHARS) else { return false };
    let is_part = |index: usize| chars.get(index).is_some_and(|c| c.is_alphanumeric() || *c == '-');
    if window[8] != '-' || window[13] != '-' || at.checked_sub(1).is_some_and(is_part) || is_part(at + UUID_CHARS) {
        return false;
    }
    let text: String = window.iter().collect();
    uuid::Uuid::try_parse(&text).is_ok_and(|id| (1..=8).contains(&id.get_version_num()) && id.get_variant() == uuid::Variant::RFC4122)
}

/// Whether the digits pass the Luhn check.
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

/// Whether `text` holds a number of card length that begins with `bin` and ends with `last_four`.
pub fn holds_card_number(text: &str, bin: &str, last_four: &str) -> bool {
    if bin.is_empty() || !has_digits_of_a_card(text) {
        return false;
    }
    let chars: Vec<char> = text.chars().collect();
    chains(&chars).iter().any(|chain| {
        (0..chain.len()).any(|first| {
            (first + 1..=chain.len()).any(|end| {
                let number: String = chain[first..end].iter().flatten().map(|&index| chars[index]).collect();
                (13..=19).contains(&number.len()) && number.starts_with(bin) && number.ends_with(last_four)
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("card 4111111111111111 refunded", "card ************1111 refunded")]
    #[case("4111 1111 1111 1111", "**** **** **** 1111")]
    #[case("4111-1111-1111-1111.", "****-****-****-1111.")]
    #[case("4111111111111111 12/27", "************1111 12/27")]
    #[case("amex 371449635398431", "amex ***********8431")]
    #[case("41111111-1111-1111 is no id", "********-****-1111 is no id")]
    #[case("4111\u{200b}1111\u{ad} 1111\u{200d}1111", "****\u{200b}****\u{ad} ****\u{200d}1111")]
    fn a_card_number_in_prose_is_masked(#[case] text: &str, #[case] masked: &str) {
        assert_eq!(mask_card_numbers(text), masked);
    }

    #[rstest]
    #[case("order 4111111111111112")]
    #[case("ARN 74320456118200319945216 is long")]
    #[case("411111 1111")]
    #[case("Refunded on 20 Nov, ticket 10293")]
    #[case("delivery 41111111-0004-7abc-8def-0123456789ab not found")]
    fn other_digits_stay(#[case] text: &str) {
        assert_eq!(mask_card_numbers(text), text);
    }

    #[test]
    fn a_provider_id_that_is_the_card_itself_is_found() {
        assert!(holds_card_number("X-4111111111111111", "411111", "1111"));
        assert!(!holds_card_number("5F2RE3960S9ASDC2F026BF16", "411111", "1111"));
    }

    proptest! {
        #[test]
        fn masking_keeps_the_length_and_is_stable(text in "[0-9a-z \\-]{0,60}") {
            let once = mask_card_numbers(&text).into_owned();
            prop_assert_eq!(once.chars().count(), text.chars().count());
        }
    }
}
