//! Case folding: letter case as every search, prefix and comparison of words ignores it.

/// Letter case folded: Unicode lower case.
pub fn fold(text: &str) -> String {
    text.to_lowercase()
}
