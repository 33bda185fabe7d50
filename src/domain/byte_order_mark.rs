//! Byte order mark: what editors on Windows put before a text in UTF-8.

/// The mark itself.
pub const BYTE_ORDER_MARK: &str = "\u{FEFF}";

/// A text without the mark that may stand before it.
pub fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}
