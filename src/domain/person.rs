//! Person named by a caller: a claim beside the credential in the audit log, never in its place.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

use super::{card::mask_card_numbers, sanitize};

/// The header that carries the name, in lower case.
pub const PERSON_HEADER: &str = "x-avert-user";

/// The most characters of a name.
const MOST_CHARS: usize = 64;

/// ASCII characters that a header cannot hold as they are; everything beyond ASCII is encoded as well.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%');

/// Returns a name as it is stored: one line that is safe to show, no full card number, at most 64 characters. It is
/// empty where nothing is left.
pub fn person_name(said: &str) -> String {
    // An overlong text need not be gone through to its end.
    let start: String = said.chars().take(16 * MOST_CHARS).collect();
    let shown: String =
        sanitize::line(&sanitize::stored_line(&start)).chars().filter(|c| !sanitize::is_unsafe(*c)).collect();
    mask_card_numbers(shown.trim()).chars().take(MOST_CHARS).collect::<String>().trim_end().to_owned()
}

/// Returns a name as a header carries it: UTF-8, percent-encoded where it is not plain ASCII; `None` for no name.
pub fn person_header(name: &str) -> Option<String> {
    let name = person_name(name);
    (!name.is_empty()).then(|| utf8_percent_encode(&name, ENCODED).to_string())
}

/// Returns the name that a header carries. Invalid bytes become replacement characters, and never a refusal: a claim is
/// not worth a missed deadline.
pub fn person_of_header(value: &[u8]) -> String {
    person_name(&percent_decode_str(&String::from_utf8_lossy(value)).decode_utf8_lossy())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("ana", "ana")]
    #[case("Ana Perez", "Ana Perez")]
    #[case("Ana Pérez", "Ana P%C3%A9rez")]
    #[case("100% 東京", "100%25 %E6%9D%B1%E4%BA%AC")]
    fn a_name_is_carried_by_a_header_and_read_back(#[case] name: &str, #[case] header: &str) {
        assert_eq!(person_header(name).as_deref(), Some(header));
        assert_eq!(person_of_header(header.as_bytes()), name);
    }

    #[rstest]
    #[case(b"  ", "")]
    #[case(b"%E2%80%AEana%0A%1B[2J", "ana [2J")]
    #[case(b"4111111111111111", "411111******1111")]
    #[case(b"%FF%", "\u{fffd}%")]
    #[case(b"\xe9", "\u{fffd}")]
    fn what_is_said_is_made_fit_to_be_kept(#[case] header: &[u8], #[case] kept: &str) {
        assert_eq!(person_of_header(header), kept);
    }

    #[test]
    fn no_name_is_no_header() {
        assert_eq!(person_header(" \u{200b} "), None);
    }

    proptest! {
        #[test]
        fn every_name_fits_into_a_header_and_comes_back(name in any::<String>()) {
            let kept = person_name(&name);
            prop_assert!(kept.chars().count() <= MOST_CHARS && !kept.contains(sanitize::is_unsafe));
            let header = person_header(&name);
            prop_assert!(header.iter().all(|text| text.bytes().all(|byte| (0x20..0x7f).contains(&byte))));
            prop_assert_eq!(header.map_or_else(String::new, |text| person_of_header(text.as_bytes())), kept);
        }
    }
}
