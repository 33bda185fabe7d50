//! Text from outside, made safe to show: providers' data and answers are hostile.

/// Removes what could steer a terminal or turn text around: control characters, direction marks, invisible blanks. Line breaks and
/// tabs become blanks, and blanks at the ends go.
pub fn one_line(text: &str) -> String {
    if text.chars().all(is_harmless) {
        return text.trim().to_owned();
    }
    let blanked = text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}') { ' ' } else { c });
    blanked.filter(|&c| is_harmless(c)).collect::<String>().trim().to_owned()
}

/// The same for text of several lines: line breaks stay.
pub fn lines(text: &str) -> String {
    text.chars().filter(|&c| c == '\n' || is_harmless(c)).collect::<String>().trim().to_owned()
}

/// A provider's own words for a message or the log: one line, at most 200 characters, no card number.
pub fn words_of_a_provider(text: &str) -> String {
    // Masked before it is cut: of a number that the cut goes through, the rest could no longer be told from other digits.
    let masked = one_line(text);
    super::card::mask_card_numbers(&masked).chars().take(200).collect()
}

/// Whether a character only shows itself.
pub fn is_harmless(c: char) -> bool {
    let turns = matches!(c, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}');
    !c.is_control() && !turns
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ACME*SHOP", "ACME*SHOP")]
    #[case("  ACME\tSHOP\n", "ACME SHOP")]
    #[case("red \u{1b}[31malert\u{7}", "red [31malert")]
    #[case("c1 \u{9b}31m", "c1 31m")]
    #[case("evil\u{202e}txt.exe", "eviltxt.exe")]
    #[case("Grüße 東京", "Grüße 東京")]
    fn hostile_text_becomes_one_harmless_line(#[case] text: &str, #[case] safe: &str) {
        assert_eq!(one_line(text), safe);
    }

    #[test]
    fn text_of_several_lines_keeps_its_line_breaks() {
        assert_eq!(lines("one\r\ntwo\u{1b}\n"), "one\ntwo");
    }

    #[test]
    fn a_providers_words_are_short_and_hold_no_card_number() {
        let words = words_of_a_provider(&format!("card 4111111111111111 {}", "x".repeat(500)));

        assert!(words.starts_with("card ************1111 "), "{words}");
        assert!(words.chars().count() <= 200);
    }

    #[test]
    fn a_card_number_that_the_cut_goes_through_is_masked_too() {
        let words = words_of_a_provider(&format!("{} 4111111111111111", "x".repeat(187)));

        assert!(words.ends_with("x ************"), "{words}");
    }

    proptest! {
        #[test]
        fn what_was_made_safe_stays_as_it_is(text in any::<String>()) {
            let once = one_line(&text);
            prop_assert!(once.chars().all(is_harmless));
            prop_assert_eq!(one_line(&once), once);
        }
    }
}
