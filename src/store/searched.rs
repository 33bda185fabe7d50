//! The text that searches look into, as every store keeps it beside an alert.

use std::sync::LazyLock;

use crate::domain::{
    Alert, Currency, MatchGrade, Outcome,
    filter::search_fields,
    find::{FindField, find_fields, outcome_fields},
    find_words::Reading,
    fold::{fold, search_key},
};

/// Stands between the fields of [`search_text`]. No field has it: see [`searchable`].
const SEPARATOR: char = '\u{1f}';

/// Stands before and behind each field of [`find_text`]: twice, so that one or two characters at an end make a trigram
/// too.
pub(super) const EDGE: &str = "\u{1f}\u{1f}";

/// Stands before the descriptor in [`search_text`], so that its beginning can be searched for.
pub(super) const DESCRIPTOR_MARK: char = '\u{1d}';

/// The share of a search over all fields: alerts that wait for an answer come before the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchShare {
    Waiting,
    Rest,
}

impl SearchShare {
    pub(super) const ALL: [Self; 2] = [Self::Waiting, Self::Rest];
}

/// Every blank, for a database that takes them off the ends of a text.
pub(super) static BLANKS: LazyLock<String> =
    LazyLock::new(|| (0..=0x3000).filter_map(char::from_u32).filter(|c| c.is_whitespace()).collect());

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

/// Returns text as the list operation searches it: in lower case, with separators and characters replaced that an index
/// cannot hold.
pub(super) fn searchable(text: &str) -> String {
    kept(fold(text))
}

/// Returns text as the search over all fields knows it: its search key, with the same characters replaced.
pub(super) fn find_key(text: &str) -> String {
    kept(search_key(text))
}

/// Replaces separators, and characters that an index cannot hold.
fn kept(text: String) -> String {
    let replace = |c: char| match c {
        '\0' | SEPARATOR | DESCRIPTOR_MARK => '\u{1e}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    if text.chars().all(|c| replace(c) == c) { text } else { text.chars().map(replace).collect() }
}

/// Returns the text that searches look into: the four fields, separated, so that nothing matches across two of them.
pub(super) fn search_text(alert: &Alert) -> String {
    let [provider_id, descriptor, card_bin, card_last_four] = search_fields(alert).map(searchable);
    format!("{provider_id}{SEPARATOR}{DESCRIPTOR_MARK}{descriptor}{SEPARATOR}{card_bin}{SEPARATOR}{card_last_four}")
}

/// Returns the text that a search over all fields looks into.
pub(super) fn find_text(alert: &Alert) -> String {
    edged(find_fields(alert))
}

/// Returns the text that an outcome adds to its alert's, between edges of its own; `None` where it adds nothing. No
/// trigram stands in two fields. So the trigrams of an answered alert are those of the alert before and these.
pub(super) fn outcome_text(outcome: &Outcome) -> Option<String> {
    let mut fields = outcome_fields(outcome).peekable();
    fields.peek().is_some().then(|| edged(fields))
}

fn edged<'a>(fields: impl IntoIterator<Item = FindField<'a>>) -> String {
    let mut text = EDGE.to_owned();
    for field in fields {
        text.push_str(&find_key(&field.value));
        text.push_str(EDGE);
    }
    text
}

/// Returns the pattern that [`find_text`] has to contain so that a text matches at least as well as this.
pub(super) fn find_pattern(text: &str, grade: MatchGrade) -> String {
    match (grade, find_key(text)) {
        (MatchGrade::Whole, text) => format!("{EDGE}{text}{EDGE}"),
        (MatchGrade::Prefix, text) => format!("{EDGE}{text}"),
        (MatchGrade::Inside, text) => text,
    }
}

/// The same for every word of a reading.
pub(super) fn find_patterns(reading: &Reading, grade: MatchGrade) -> Vec<String> {
    let of_word = |word: &String| if reading.is_whole_only(word) { MatchGrade::Whole } else { grade };
    reading.words().iter().map(|word| find_pattern(word, of_word(word))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::domain::attempt::record_outcome;
    use crate::domain::resolution::Decision;
    use crate::domain::time::Timestamp;
    use crate::domain::{AlertId, AlertType, AttemptId, Provider, Resolution};

    fn trigrams(text: &str) -> BTreeSet<String> {
        text.chars().collect::<Vec<_>>().windows(3).map(|trigram| trigram.iter().collect()).collect()
    }

    #[test]
    fn an_answer_adds_the_text_of_its_outcome_and_takes_nothing_away() {
        let mut alert = Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud);
        let before = find_text(&alert);
        let resolution =
            Resolution::Current { decision: Decision::Refunded, comments: "Café’s till ½ \u{301}".to_owned() };

        record_outcome(&mut alert, AttemptId::generate(), &resolution, Timestamp::UNIX_EPOCH);

        let added = alert.outcome.as_ref().and_then(outcome_text).unwrap();
        let both: BTreeSet<String> = trigrams(&before).union(&trigrams(&added)).cloned().collect();
        assert_eq!(trigrams(&find_text(&alert)), both);
        // So that an index that counts them can take out all at once what was put in twice.
        let count = |text: &str| text.chars().count() - 2;
        assert_eq!(count(&find_text(&alert)), count(&before) + count(&added));
    }

    #[test]
    fn no_blank_is_forgotten() {
        assert_eq!(
            BLANKS.chars().count(),
            (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_whitespace()).count()
        );
    }
}
