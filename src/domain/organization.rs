//! Organizations (tenants), their names, and their companies with enrollments.

use unicode_normalization::UnicodeNormalization as _;

use crate::{CompanyId, EnrollmentId, OrganizationId, fold::fold, sanitize::is_unsafe};

/// The name of the organization that every database begins with.
pub const DEFAULT_ORGANIZATION: &str = "default";

/// A company of an organization, with its enrollments at providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Company {
    pub id: CompanyId,
    pub enrollments: Vec<EnrollmentId>,
}

/// Organization, with the name that people use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Organization {
    pub id: OrganizationId,
    pub name: String,
}

/// Returns a new name as it is stored (composed, without blanks at its ends), or the error of what it must not hold.
pub fn new_name(text: &str) -> Result<String, String> {
    let name: String = text.trim().nfc().collect();
    if let Some(c) = name.chars().find(|c| is_unsafe(*c)) {
        let code = u32::from(c);
        return Err(format!("holds U+{code:04X}, which cannot be seen: visible characters are allowed"));
    }
    let is_place = |part: &str| part.trim().trim_matches('.').is_empty();
    if name.contains('\\') || !name.is_empty() && name.split('/').any(is_place) {
        return Err("is a path: words are allowed".to_owned());
    }
    Ok(name)
}

/// Returns true for two names that differ only in letter case or forms of the same characters.
pub fn is_same_name(left: &str, right: &str) -> bool {
    let key = |name: &str| fold(&name.nfkc().collect::<String>());
    key(left) == key(right)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("  ACME Shop GmbH ", "ACME Shop GmbH")]
    #[case("Käse & Söhne", "Käse & Söhne")]
    #[case("Ka\u{308}se", "Käse")]
    #[case("Carlsen A/S, v1.0", "Carlsen A/S, v1.0")]
    #[case("東京タワー", "東京タワー")]
    #[case("ACME Россия Ελλάδα", "ACME Россия Ελλάδα")]
    #[case("שלום", "שלום")]
    #[case("", "")]
    fn a_name_that_is_what_it_looks_like_is_kept(#[case] text: &str, #[case] kept: &str) {
        assert_eq!(new_name(text).as_deref(), Ok(kept));
    }

    #[rstest]
    #[case::turned_around("x\u{202e}y", "U+202E")]
    #[case::zero_width("de\u{200b}fault", "U+200B")]
    #[case::joined("de\u{200c}fault", "U+200C")]
    #[case::soft_hyphen("de\u{ad}fault", "U+00AD")]
    #[case::an_escape("x\u{1b}[31m", "U+001B")]
    #[case::a_line_break("a\nb", "U+000A")]
    #[case::c1("x\u{9b}31m", "U+009B")]
    #[case::a_path("../x", "path")]
    #[case::a_root("/etc/passwd", "path")]
    #[case::windows("..\\x", "path")]
    #[case::dots("..", "path")]
    #[case::a_dot_between("a/./b", "path")]
    fn what_is_seen_as_something_else_is_refused_and_says_what_is_allowed(#[case] text: &str, #[case] words: &str) {
        let said = new_name(text).unwrap_err();

        assert!(said.contains(words) && said.contains("allowed"), "{said}");
        assert!(!said.contains(is_unsafe), "{said}");
    }

    #[rstest]
    #[case("Default", "default", true)]
    #[case("ｄｅｆａｕｌｔ", "default", true)]
    #[case("ÅRHUS", "A\u{30a}rhus", true)]
    #[case("Käse", "Kase", false)]
    fn names_are_told_apart_by_more_than_letter_case(#[case] left: &str, #[case] right: &str, #[case] same: bool) {
        assert_eq!(is_same_name(left, right), same);
    }
}
