//! Case folding and search keys: what comparisons of texts ignore of the way they are written.

use unicode_normalization::char::{canonical_combining_class, decompose_compatible};

/// Apostrophe in the forms of keyboards and word processors: the plain one, single quotation marks, the modifier
/// letter, the accents, the prime.
pub(super) const APOSTROPHES: [char; 8] = ['\'', '’', '‘', '‛', 'ʼ', '´', '`', '′'];

/// Stands for hidden digits, and for no dots.
pub(super) const ELLIPSIS: char = '…';

/// Folds the letter case: Unicode lower case.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}

/// Returns the search key of a text: its Unicode compatibility decomposition (NFKD) without diacritics, in folded case,
/// with one apostrophe. Letters without a decomposition, such as `ø` and `ß`, are transliterated to ASCII as in CLDR
/// (`o`, `ss`).
///
/// Each character has its key whatever stands beside it, so the key of a part is a part of the key. A key is its own
/// key.
pub fn search_key(text: &str) -> String {
    if text.is_ascii() {
        let key = text.to_ascii_lowercase();
        return if key.contains('`') { key.replace('`', "'") } else { key };
    }
    let mut key = String::with_capacity(text.len());
    text.chars().for_each(|c| push_key(c, &mut key));
    key
}

fn push_key(c: char, key: &mut String) {
    match c {
        ELLIPSIS => key.push(c),
        // Two of them would be taken apart into a blank and an accent.
        c if APOSTROPHES.contains(&c) => key.push('\''),
        c => decompose_compatible(c, |part| part.to_lowercase().for_each(|part| push_plain(part, key))),
    }
}

fn push_plain(c: char, key: &mut String) {
    match c {
        c if c.is_ascii() && c != '`' => key.push(c),
        c if is_diacritic(c) => {}
        c if APOSTROPHES.contains(&c) => key.push('\''),
        'ß' => key.push_str("ss"),
        'æ' => key.push_str("ae"),
        'œ' => key.push_str("oe"),
        'þ' => key.push_str("th"),
        'ø' => key.push('o'),
        'ł' => key.push('l'),
        'đ' | 'ð' => key.push('d'),
        'ħ' => key.push('h'),
        'ı' => key.push('i'),
        // At the end of a word only.
        'ς' => key.push('σ'),
        c => key.push(c),
    }
}

/// Returns true for a mark that may be left out of a letter: an accent, a stroke, a vowel point of Hebrew or Arabic.
/// The marks of other scripts are letters of their own, such as the vowels of Devanagari and the voicing of kana.
fn is_diacritic(c: char) -> bool {
    matches!(canonical_combining_class(c), 1 | 10..=36 | 202..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Café", "cafe")]
    #[case("Cafe\u{301}", "cafe")]
    #[case("CAFÉ", "cafe")]
    #[case("Müller & Söhne", "muller & sohne")]
    #[case("ＡＣＭＥ　４２", "acme 42")]
    #[case("Straße", "strasse")]
    #[case("STRAẞE", "strasse")]
    #[case("Łódź Ørsted Đorđe Ægir", "lodz orsted dorde aegir")]
    #[case("İstanbul Kadıköy", "istanbul kadikoy")]
    #[case("ΟΔΌΣ", "οδοσ")]
    #[case("οδός", "οδοσ")]
    #[case("O’Brien O‘Brien OʼBrien O´Brien O`Brien O＇Brien", "o'brien o'brien o'brien o'brien o'brien o'brien")]
    #[case("O`Brien", "o'brien")]
    #[case("ﬁne №5 ™", "fine no5 tm")]
    #[case("411111…4242", "411111…4242")]
    #[case("किताब", "किताब")]
    #[case("が", "か\u{3099}")]
    #[case("€20", "€20")]
    #[case("\u{301}", "")]
    fn what_is_written_in_another_form_has_the_same_search_key(#[case] text: &str, #[case] key: &str) {
        assert_eq!(search_key(text), key);
        assert_eq!(search_key(&search_key(text)), key);
    }

    #[test]
    fn a_key_is_its_own_key_and_never_has_what_only_a_control_character_is() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32) {
            let key = search_key(c.encode_utf8(&mut [0; 4]));

            assert_eq!(search_key(&key), key, "{c:?}");
            assert!(c.is_control() || !key.contains(char::is_control), "{c:?}");
            assert!(!key.contains(|c: char| c.is_ascii_uppercase()), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn the_key_of_a_part_is_a_part_of_the_key(before in "\\PC{0,4}", text in "\\PC{0,4}", behind in "\\PC{0,4}") {
            let whole = search_key(&format!("{before}{text}{behind}"));

            prop_assert_eq!(whole, [search_key(&before), search_key(&text), search_key(&behind)].concat());
        }
    }
}
