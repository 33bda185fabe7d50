//! The sanitizer's names of before.

pub use super::redact::words as words_of_a_provider;
pub use super::sanitize::{stored_line as one_line, stored_lines as lines};

/// Whether a character only shows itself.
pub fn is_harmless(c: char) -> bool {
    !super::sanitize::is_unsafe(c)
}
