//! A reading of what was typed into a search: words, each of which has to match a field, and how well.

use crate::closed_enum;

closed_enum! {
    /// Grade of a match between a word and a field; the better one is the lesser one.
    #[derive(PartialOrd, Ord)]
    pub enum MatchGrade {
        /// The word is the whole value.
        Whole = "whole",
        /// The value begins with the word.
        Prefix = "prefix",
        /// The word is inside the value.
        Inside = "inside",
    }
}

/// A conjunction of words: one way to understand what was typed. An alert matches as well as the word that matches
/// least.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    words: Vec<String>,
    /// Words that match as a whole value only.
    whole: Vec<String>,
}

impl Reading {
    /// Returns the reading that a text is a whole value.
    pub(super) fn whole_value(text: &str) -> Self {
        let mut reading = Self::default();
        reading.add_whole(text);
        reading
    }

    pub(super) fn add(&mut self, word: &str) {
        if !word.is_empty() && !self.words.iter().any(|known| known == word) {
            self.words.push(word.to_owned());
        }
    }

    pub(super) fn add_whole(&mut self, word: &str) {
        self.add(word);
        if !word.is_empty() && !self.is_whole_only(word) {
            self.whole.push(word.to_owned());
        }
    }

    /// Takes in a word as another reading has it.
    pub(super) fn add_as(&mut self, other: &Self, word: &str) {
        if other.is_whole_only(word) {
            self.add_whole(word);
        } else {
            self.add(word);
        }
    }

    /// Returns the words, as search keys, each once.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns true for a word that has to be a whole value.
    pub fn is_whole_only(&self, word: &str) -> bool {
        self.whole.iter().any(|whole| whole == word)
    }

    /// Returns the match grades that a result may have. A single character is inside nearly everything: it only matches
    /// as a whole value or a prefix.
    pub fn grades(&self) -> &'static [MatchGrade] {
        match self.words.as_slice() {
            words if words.len() == self.whole.len() => &[MatchGrade::Whole],
            [word] if word.chars().nth(1).is_none() => &[MatchGrade::Whole, MatchGrade::Prefix],
            _ => &MatchGrade::ALL,
        }
    }

    /// Returns the grade by which these fields, as search keys, match. `None` where a word does not match at all, or by
    /// no grade that [`Reading::grades`] allows.
    pub(super) fn grade(&self, fields: &[String]) -> Option<MatchGrade> {
        let of_word = |word: &String| fields.iter().filter_map(|field| self.grade_in(field, word)).min();
        let grade =
            self.words.iter().map(of_word).try_fold(MatchGrade::Whole, |worst, grade| Some(worst.max(grade?)))?;
        self.grades().contains(&grade).then_some(grade)
    }

    /// Returns the grade by which a field matches a word.
    pub(super) fn grade_in(&self, field: &str, word: &str) -> Option<MatchGrade> {
        grade_in(field, word).filter(|grade| *grade == MatchGrade::Whole || !self.is_whole_only(word))
    }

    /// Returns true where every match of this reading at this grade also matches the other one: its words are parts of
    /// these.
    pub(super) fn is_implied(&self, other: &Self, grade: MatchGrade) -> bool {
        let has = |wanted: &String| {
            let is_enough = |word: &String| match other.is_whole_only(wanted) {
                true => word == wanted && self.is_whole_only(word),
                false => grade_in(word, wanted).is_some_and(|found| found <= grade),
            };
            self.words.iter().any(is_enough)
        };
        other.words.iter().all(has)
    }
}

fn grade_in(field: &str, word: &str) -> Option<MatchGrade> {
    match field.find(word)? {
        0 if field.len() == word.len() => Some(MatchGrade::Whole),
        0 => Some(MatchGrade::Prefix),
        _ => Some(MatchGrade::Inside),
    }
}
