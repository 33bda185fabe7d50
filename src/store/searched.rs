//! The text that searches look into, as every store keeps it beside an alert.

use crate::domain::filter::search_fields;
use crate::domain::find::find_fields;
use crate::domain::fold::fold;
use crate::domain::{Alert, Currency, FindQuery, MatchGrade};

/// Stands between the fields of [`search_text`]. No field has it: see [`searchable`].
const SEPARATOR: char = '\u{1f}';

/// Stands before and behind each field of [`find_text`]: twice, so that one or two characters at an end make a trigram too.
pub(super) const EDGE: &str = "\u{1f}\u{1f}";

/// Stands before the descriptor in [`search_text`], so that its beginning can be searched for.
pub(super) const DESCRIPTOR_MARK: char = '\u{1d}';

/// Every blank, for a database that takes them off the ends of a text.
pub(super) fn blanks() -> String {
    (0..=0x3000).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect()
}

/// Every spelling of these codes in letters of either case: an index knows each as it came.
pub(super) fn spellings(codes: &[Currency]) -> Vec<String> {
    let each = |code: &Currency| {
        let begun = vec![String::new()];
        code.as_str().chars().fold(begun, |begun, letter| {
            let mut both = vec![letter.to_ascii_uppercase(), letter.to_ascii_lowercase()];
            both.dedup();
            begun.iter().flat_map(|text| both.iter().map(move |letter| format!("{text}{letter}"))).collect()
        })
    };
    codes.iter().flat_map(each).collect()
}

/// Text as it is searched: lower case, and without what has a meaning of its own or what an index cannot hold.
pub(super) fn searchable(text: &str) -> String {
    let replace = |c: char| match c {
        '\0' | SEPARATOR | DESCRIPTOR_MARK => '\u{1e}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    fold(text).chars().map(replace).collect()
}

/// What searches look into: the four fields, so that nothing matches across two of them.
pub(super) fn search_text(alert: &Alert) -> String {
    let [provider_id, descriptor, card_bin, card_last_four] = search_fields(alert).map(searchable);
    format!("{provider_id}{SEPARATOR}{DESCRIPTOR_MARK}{descriptor}{SEPARATOR}{card_bin}{SEPARATOR}{card_last_four}")
}

/// What a search over all fields looks into.
pub(super) fn find_text(alert: &Alert) -> String {
    let mut text = EDGE.to_owned();
    for field in find_fields(alert) {
        text.push_str(&searchable(&field.value));
        text.push_str(EDGE);
    }
    text
}

/// What [`find_text`] has to contain so that every word matches at least as well as this.
pub(super) fn find_patterns(query: &FindQuery, grade: MatchGrade) -> Vec<String> {
    let pattern = |word: &String| match (grade, searchable(word)) {
        (MatchGrade::Whole, word) => format!("{EDGE}{word}{EDGE}"),
        (MatchGrade::Prefix, word) => format!("{EDGE}{word}"),
        (MatchGrade::Inside, word) => word,
    };
    query.words().iter().map(pattern).collect()
}

/// What [`find_text`] has to contain so that all that was typed is a whole value; none where that is the one word.
pub(super) fn phrase_pattern(query: &FindQuery) -> Option<String> {
    Some(format!("{EDGE}{}{EDGE}", searchable(query.phrase()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_blank_is_forgotten() {
        assert_eq!(blanks().chars().count(), (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()).count());
    }
}
