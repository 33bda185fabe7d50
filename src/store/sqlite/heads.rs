//! The token index of how fields begin: it tells which alerts have a short text as a whole value, and which have one that begins with it.
//!
//! The index of trigrams cannot: one trigram may stand in one field and the next one in another.

use super::sql::phrase;
use crate::store::searched::{EDGE, searchable};

/// So many characters of a field are kept.
const KEPT: usize = 4;

/// Stands behind a value that is kept as a whole.
const END: char = '\u{e080}';

/// Stands for the first character of ASCII; what parts tokens cannot be in one.
const ASCII: u32 = 0xe000;

/// The beginnings of the fields of a text that searches look into, as the index takes them.
pub(super) fn heads(text: &str) -> String {
    let fields = text.split(EDGE).filter(|field| !field.is_empty());
    fields.map(head).collect::<Vec<_>>().join(" ")
}

/// What the index is asked for so that a field is this text, or may be where it is a longer one.
pub(super) fn being(text: &str) -> String {
    phrase(&head(&searchable(text)))
}

/// What it is asked for so that a field begins with this text, or may where it is a longer one; `None` where nearly every field might.
pub(super) fn beginning_with(text: &str) -> Option<String> {
    let text = searchable(text);
    let begun = kept(&text);
    match text.chars().count() {
        0..=2 => None,
        // The index has these beginnings as well.
        3 => Some(format!("{}*", phrase(&begun))),
        KEPT => Some(format!("({} OR {})", phrase(&begun), phrase(&head(&text)))),
        _ => Some(phrase(&begun)),
    }
}

/// Whether the index knows all of a text, so that what it finds for it has it.
pub(super) fn tells_all_of(text: &str) -> bool {
    searchable(text).chars().nth(KEPT).is_none()
}

fn head(field: &str) -> String {
    let mut head = kept(field);
    if field.chars().nth(KEPT).is_none() {
        head.push(END);
    }
    head
}

fn kept(field: &str) -> String {
    let token = |c: char| if c.is_ascii() && !c.is_ascii_alphanumeric() { char::from_u32(ASCII + u32::from(c)).unwrap_or(c) } else { c };
    field.chars().take(KEPT).map(token).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rusqlite::Connection;

    use super::*;
    use crate::store::sqlite::statements::{Statements as _, cell};

    /// The alerts that the index finds among these, each the values of its fields.
    fn found(alerts: &[&[&str]], asked: &str) -> Vec<i64> {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(include_str!("../../../assets/migrations/sqlite/0018_heads.sql")).unwrap();
        for (key, fields) in (1_i64..).zip(alerts) {
            let text = fields.iter().fold(EDGE.to_owned(), |text, field| text + &searchable(field) + EDGE);
            conn.run("INSERT INTO alert_head (rowid, text) VALUES (?1, ?2)", (key, heads(&text))).unwrap();
        }
        conn.all("SELECT rowid FROM alert_head WHERE alert_head MATCH ?1", [asked], cell).unwrap()
    }

    const ALERTS: &[&[&str]] = &[&["411111", "8411"], &["411", "A b-c"], &["4", "Ünder \"x\""], &["4111", "a b"], &["", "a*"]];

    #[rstest]
    #[case("411", &[2])]
    #[case("4111", &[4])]
    #[case("4", &[3])]
    #[case("a b", &[4])]
    #[case("A*", &[5])]
    #[case("411111", &[1])]
    #[case("8", &[])]
    fn a_short_text_is_found_as_a_whole_value_alone(#[case] text: &str, #[case] expected: &[i64]) {
        assert_eq!(found(ALERTS, &being(text)), expected);
    }

    #[rstest]
    #[case("411", &[1, 2, 4])]
    #[case("4111", &[1, 4])]
    #[case("a b", &[2, 4])]
    #[case("A b-", &[2])]
    #[case("ünde", &[3])]
    #[case("ünder \"", &[3])]
    #[case("111", &[])]
    fn a_short_text_is_found_where_a_value_begins_with_it(#[case] text: &str, #[case] expected: &[i64]) {
        assert_eq!(found(ALERTS, &beginning_with(text).unwrap()), expected);
    }

    #[rstest]
    #[case("", true)]
    #[case("abcd", true)]
    #[case("äöüß", true)]
    #[case("abcde", false)]
    fn the_index_knows_all_of_what_is_short(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(tells_all_of(text), expected);
        assert_eq!(beginning_with("ab"), None);
    }
}
