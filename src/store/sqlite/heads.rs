//! The token index of the beginnings of fields. It tells which alerts have a short text as a whole value, and which
//! have one that begins with it.
//!
//! The index of trigrams cannot: one trigram may stand in one field and the next one in another. A value has one token:
//! its beginning, and a checksum of the whole of it. Those of outcomes are apart from the others: no alert that waits
//! for an answer has one.

use super::sql::phrase;
use crate::domain::find::{FindField, outcome_fields, own_fields};
use crate::domain::{Alert, Outcome};
use crate::store::searched::find_key;

/// Number of characters of a field that are kept.
const KEPT: usize = 4;

/// Stands for the first character of ASCII; what parts tokens cannot be in one.
const ASCII: u32 = 0xe000;

/// Stands for the first character of all, where it is that of an outcome's field.
const OUTCOME: u32 = 0xf_0000;

/// Stands behind a value that is kept as a whole; the next ones, by the checksum of the value, behind one that is
/// longer.
const END: u32 = 0x10_0000;

/// Number of different checksums. Of a million values that begin alike some 250 have the same one, and no token is rare
/// without need.
const CHECKSUMS: u32 = 4_096;

/// Owner of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Alert,
    Outcome,
}

/// Owners of the fields that are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldOwners {
    /// The alert's own: one that waits for an answer has no others.
    Own,
    /// Its outcome's as well.
    All,
}

/// The beginnings of the fields of an alert that searches look into, as the index takes them.
pub(super) fn heads(alert: &Alert) -> String {
    let of_outcome = alert.outcome.iter().map(outcome_heads).filter(|heads| !heads.is_empty());
    tokens(own_fields(alert), Owner::Alert).chain(of_outcome).collect::<Vec<_>>().join(" ")
}

/// Those that an outcome adds.
pub(super) fn outcome_heads(outcome: &Outcome) -> String {
    tokens(outcome_fields(outcome), Owner::Outcome).collect::<Vec<_>>().join(" ")
}

fn tokens<'a>(fields: impl Iterator<Item = FindField<'a>>, owner: Owner) -> impl Iterator<Item = String> {
    fields.map(move |field| whole(&find_key(&field.value), owner))
}

/// Expression for fields that are this text; a longer text may match others too.
pub(super) fn being(text: &str, fields: FieldOwners) -> String {
    let text = find_key(text);
    asked(fields, |owner| phrase(&whole(&text, owner)))
}

/// Expression for fields that begin with this text; a longer text may match others too. `None` where nearly every field
/// might begin with it.
pub(super) fn beginning_with(text: &str, fields: FieldOwners) -> Option<String> {
    let text = find_key(text);
    // The index has beginnings of three and of four characters as well.
    (text.chars().count() > 2).then(|| asked(fields, |owner| format!("{}*", phrase(&kept(&text, owner)))))
}

fn asked(fields: FieldOwners, of: impl Fn(Owner) -> String) -> String {
    match fields {
        FieldOwners::Own => of(Owner::Alert),
        FieldOwners::All => format!("({} OR {})", of(Owner::Alert), of(Owner::Outcome)),
    }
}

/// Returns whether the index knows all of a text, so that its matches surely have it.
pub(super) fn tells_all_of(text: &str) -> bool {
    find_key(text).chars().nth(KEPT).is_none()
}

fn whole(value: &str, owner: Owner) -> String {
    let is_longer = value.chars().nth(KEPT).is_some();
    let end = if is_longer { END + 1 + crc32fast::hash(value.as_bytes()) % CHECKSUMS } else { END };
    kept(value, owner).chars().chain(char::from_u32(end)).collect()
}

fn kept(field: &str, owner: Owner) -> String {
    let token = |c: char| {
        if c.is_ascii() && !c.is_ascii_alphanumeric() { char::from_u32(ASCII + u32::from(c)).unwrap_or(c) } else { c }
    };
    // Two characters of different planes may come to be one here: what is found is compared.
    let first = |c: char| char::from_u32(OUTCOME + u32::from(c) % 0x1_0000).unwrap_or(c);
    let mut kept: Vec<char> = field.chars().take(KEPT).map(token).collect();
    if owner == Owner::Outcome
        && let Some(begun) = kept.first_mut()
    {
        *begun = first(*begun);
    }
    kept.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rusqlite::Connection;

    use super::*;
    use crate::store::sqlite::statements::{Statements as _, cell};

    /// The alerts that the index finds among these, each the values of its fields.
    fn found(owner: Owner, alerts: &[&[&str]], asked: &str) -> Vec<i64> {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(include_str!("../../../assets/migrations/sqlite/0018_heads.sql")).unwrap();
        conn.execute_batch(include_str!("../../../assets/migrations/sqlite/0019_head_lengths.sql")).unwrap();
        for (key, fields) in (1_i64..).zip(alerts) {
            let fields = fields.iter().map(|value| FindField { label: "", value: (*value).into() });
            let text = tokens(fields, owner).collect::<Vec<_>>().join(" ");
            conn.run("INSERT INTO alert_head (rowid, text) VALUES (?1, ?2)", (key, text)).unwrap();
        }
        conn.all("SELECT rowid FROM alert_head WHERE alert_head MATCH ?1", [asked], cell).unwrap()
    }

    const ALERTS: &[&[&str]] =
        &[&["411111", "8411"], &["411", "A b-c"], &["4", "Ünder \"x\""], &["4111", "a b"], &[], &["a*", "411112"]];

    #[rstest]
    #[case("411", &[2])]
    #[case("4111", &[4])]
    #[case("4", &[3])]
    #[case("a b", &[4])]
    #[case("A*", &[6])]
    #[case("41111", &[])]
    #[case("411111", &[1])]
    #[case("ünder \"x\"", &[3])]
    #[case("8", &[])]
    fn a_text_is_found_as_a_whole_value_by_its_beginning_and_checksum(#[case] text: &str, #[case] expected: &[i64]) {
        for owner in [Owner::Alert, Owner::Outcome] {
            assert_eq!(found(owner, ALERTS, &being(text, FieldOwners::All)), expected, "{owner:?}");
        }
    }

    #[rstest]
    #[case("411", &[1, 2, 4, 6])]
    #[case("4111", &[1, 4, 6])]
    #[case("a b", &[2, 4])]
    #[case("A b-", &[2])]
    #[case("ünde", &[3])]
    #[case("ünder \"", &[3])]
    #[case("UNDER", &[3])]
    #[case("111", &[])]
    fn a_short_text_is_found_where_a_value_begins_with_it(#[case] text: &str, #[case] expected: &[i64]) {
        for owner in [Owner::Alert, Owner::Outcome] {
            assert_eq!(found(owner, ALERTS, &beginning_with(text, FieldOwners::All).unwrap()), expected, "{owner:?}");
        }
    }

    #[test]
    fn what_an_outcome_says_is_not_found_among_an_alerts_own_fields() {
        let found = |owner, fields| {
            (
                found(owner, ALERTS, &being("411", fields)).len(),
                found(owner, ALERTS, &beginning_with("ünder", fields).unwrap()).len(),
            )
        };

        assert_eq!(found(Owner::Outcome, FieldOwners::Own), (0, 0));
        assert_eq!(found(Owner::Alert, FieldOwners::Own), (1, 1));
    }

    #[test]
    fn values_of_any_length_have_a_token() {
        let long = "x".repeat(1_000);

        assert_eq!(found(Owner::Alert, &[&[&long], &["x"]], &being(&long, FieldOwners::Own)), [1]);
    }

    #[rstest]
    #[case("", true)]
    #[case("abcd", true)]
    #[case("äöǘo", true)]
    #[case("äöüß", false)]
    #[case("abcde", false)]
    fn the_index_knows_all_of_what_is_short(#[case] text: &str, #[case] expected: bool) {
        assert_eq!(tells_all_of(text), expected);
        assert_eq!(beginning_with("ab", FieldOwners::All), None);
    }
}
