//! A note: what an analyst keeps beside an alert on their own machine; checked once, before it is kept.

use super::{card::mask_card_numbers, sanitize::stored_lines};

/// The most characters of a note (Unicode scalar values).
pub const MAX_NOTE_CHARS: usize = 500;

/// Error of a text that is no note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("nothing is written yet")]
    Empty,
    #[error("{0} too many: at most {MAX_NOTE_CHARS}")]
    TooLong(usize),
}

/// Returns the text of a note as it is stored: trimmed, card numbers masked but for BIN and last four. It has no
/// control characters but line breaks. One that is too long is refused and never truncated.
pub fn note_text(typed: &str) -> Result<String, NoteError> {
    let over = typed.chars().count().saturating_sub(MAX_NOTE_CHARS);
    if over > 0 {
        return Err(NoteError::TooLong(over));
    }
    let text = mask_card_numbers(&stored_lines(typed)).into_owned();
    if text.is_empty() { Err(NoteError::Empty) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_note_holds_no_card_number_and_no_control_character() {
        let kept = note_text("  called 4111111111111111\u{1b}[2J,\tpaid\nagain  ");

        assert_eq!(kept.as_deref(), Ok("called 411111******1111[2J, paid\nagain"));
    }

    #[test]
    fn a_note_of_the_most_characters_is_kept_whole_and_one_more_is_refused() {
        let most = "é".repeat(MAX_NOTE_CHARS);

        assert_eq!(note_text(&most), Ok(most.clone()));
        assert_eq!(note_text(&format!("{most}!")), Err(NoteError::TooLong(1)));
        assert_eq!(note_text(" \n\u{7} "), Err(NoteError::Empty));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_within_the_bound_and_stays_as_it_is(typed in "[0-9a-z \n\u{7}\u{1b}é-]{0,600}") {
            if let Ok(kept) = note_text(&typed) {
                prop_assert!(kept.chars().count() <= MAX_NOTE_CHARS);
                prop_assert!(!kept.chars().any(|c| c.is_control() && c != '\n'));
                prop_assert!(mask_card_numbers(&kept) == kept);
                prop_assert_eq!(note_text(&kept), Ok(kept.clone()));
            }
        }
    }
}
