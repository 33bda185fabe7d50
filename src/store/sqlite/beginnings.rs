//! The token index of the beginnings of fields. It tells which alerts have a short text as a whole value, and which
//! have one that begins with it.
//!
//! The index of trigrams cannot: one trigram may stand in one field and the next one in another. A value has one token:
//! its beginning, and a checksum of the whole of it. Those of outcomes are apart from the others: no alert that waits
//! for an answer has one.
//!
//! The requests to the full-text indexes are here, too: the rarest trigrams of the searched texts, the beginnings of
//! values, and the candidates that they have.

use rusqlite::Connection;

use super::{
    counts::newest_key,
    marks::Marks,
    sql::{Sql, Statements as _, cell, phrase},
};
use crate::{
    StoreResult,
    domain::{
        Alert, MatchGrade, Outcome,
        find::{FindField, outcome_fields, own_fields},
    },
    filter::{find_key, find_pattern},
};

/// Number of characters of a field that are kept.
const KEPT: usize = 4;

/// Base code point for ASCII, whose punctuation would otherwise part a token.
const ASCII: u32 = 0xe000;

/// Stands for the first character of all, where it is that of an outcome's field.
const OUTCOME: u32 = 0xf_0000;

/// Ends a value that is kept as a whole; `END` plus the checksum of the value ends the beginning of a longer one.
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
fn being(text: &str, fields: FieldOwners) -> String {
    let text = find_key(text);
    asked(fields, |owner| phrase(&whole(&text, owner)))
}

/// Expression for fields that begin with this text; a longer text may match others too. `None` where nearly every field
/// might begin with it.
fn beginning_with(text: &str, fields: FieldOwners) -> Option<String> {
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
fn tells_all_of(text: &str) -> bool {
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

/// Least number of trigrams that the index is asked for, the rarest first; further rare ones come beside them. The
/// candidates that remain are compared.
const TRIGRAMS: usize = 3;

/// Most trigrams that it is asked for.
const MOST_ASKED: usize = 8;

/// Number of trigrams of a word, spread over it, whose frequency is looked up.
const ASKED: usize = 12;

/// Number of the first alerts with a trigram that tell its frequency.
const SAMPLE: i64 = 256;
/// A request to the indexes.
#[derive(Debug)]
pub(super) struct Asked {
    /// Of the index of trigrams, as an expression.
    pub(super) trigrams: Option<String>,
    /// Of the index of beginnings.
    pub(super) heads: Option<String>,
    /// True where some tenth of all alerts may have it.
    pub(super) is_dense: bool,
}

const BY_TRIGRAMS: &str = "SELECT rowid FROM alert_find WHERE alert_find MATCH ?1";
pub(super) const UNINDEXED: &str = "SELECT alert FROM alert_unindexed";
const BY_HEADS: &str = "SELECT rowid FROM alert_head WHERE alert_head MATCH ?1";

impl Asked {
    /// For words, each of which has to match so well; nothing where no index knows anything of them. Of the trigrams
    /// the rarest.
    pub(super) fn of(
        conn: &Connection,
        words: &[String],
        grade: MatchGrade,
        fields: FieldOwners,
    ) -> StoreResult<Option<Self>> {
        let (mut wanted, mut begun): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for text in words {
            let head = match grade {
                MatchGrade::Whole => Some(being(text, fields)),
                MatchGrade::Prefix => beginning_with(text, fields),
                MatchGrade::Inside => None,
            };
            let is_told = head.is_some() && tells_all_of(text);
            begun.extend(head);
            for trigram in spread(&find_pattern(text, grade)).into_iter().filter(|_| !is_told) {
                if !wanted.contains(&trigram) {
                    wanted.push(trigram);
                }
            }
        }
        let newest = newest_key(conn)?;
        let mut by_frequency = Vec::new();
        for trigram in wanted {
            let trigram = phrase(&trigram);
            by_frequency.push((frequency(conn, BY_TRIGRAMS, &trigram, newest)?, trigram));
        }
        by_frequency.sort_unstable();
        let is_dense = |frequency: i64| frequency.saturating_mul(10) > newest;
        let rare = by_frequency.iter().take_while(|(frequency, _)| !is_dense(*frequency)).count();
        by_frequency.truncate(rare.clamp(TRIGRAMS, MOST_ASKED));
        let heads = (!begun.is_empty()).then(|| begun.join(" AND "));
        let of_heads = heads.as_deref().map(|heads| frequency(conn, BY_HEADS, heads, newest)).transpose()?;
        let Some(rarest) = by_frequency.first().map(|(frequency, _)| *frequency).into_iter().chain(of_heads).min()
        else {
            return Ok(None);
        };
        // Few are read sooner than another index tells which of them have its trigrams; and of many that have each of
        // them, most match.
        if of_heads.is_some_and(|found| found < SAMPLE || is_dense(rarest)) {
            by_frequency.clear();
        }
        let trigrams =
            by_frequency.into_iter().map(|(_, trigram)| trigram).reduce(|all, trigram| format!("{all} AND {trigram}"));
        Ok(Some(Self { trigrams, heads, is_dense: is_dense(rarest) }))
    }

    /// The keys of the candidates that the index of trigrams has, so many at most.
    pub(super) fn first(&self, conn: &Connection, most: usize) -> StoreResult<Vec<i64>> {
        conn.all(&format!("{BY_TRIGRAMS} LIMIT ?2"), &[&self.trigrams, &(most as i64)], cell)
    }

    /// Marks all candidates, of all rows or of those within a span.
    pub(super) fn mark(&self, conn: &Connection, span: Option<(i64, i64)>) -> StoreResult<Marks> {
        let mut marks: Option<Marks> = None;
        let within = |candidates: &mut Sql, key: &str| {
            if let Some((first, last)) = span {
                candidates.push(key);
                candidates.push(" BETWEEN ");
                candidates.value(first);
                candidates.push(" AND ");
                candidates.value(last);
            }
        };
        for (by, expression) in self.expressions() {
            let mut candidates = Sql::new(by.strip_suffix("?1").unwrap_or(by));
            candidates.value(expression.to_owned());
            within(&mut candidates, " AND rowid");
            let of_index = Marks::of(conn, &candidates)?;
            marks = Some(match marks {
                Some(marks) => marks.common(&of_index),
                None => of_index,
            });
        }
        let mut marks = marks.unwrap_or_default();
        let mut unindexed = Sql::new(UNINDEXED);
        within(&mut unindexed, " WHERE alert");
        marks.add(conn, &unindexed)?;
        Ok(marks)
    }

    fn expressions(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let heads = self.heads.as_deref().map(|heads| (BY_HEADS, heads));
        heads.into_iter().chain(self.trigrams.as_deref().map(|trigrams| (BY_TRIGRAMS, trigrams)))
    }
}

/// Number of alerts that an index has for an expression, reckoned from the reach of the first of them.
fn frequency(conn: &Connection, by: &str, expression: &str, newest: i64) -> StoreResult<i64> {
    let first = format!("SELECT count(*), max(rowid) FROM ({by} LIMIT ?2)");
    let (found, reach): (i64, Option<i64>) =
        conn.one(&first, &[&expression, &SAMPLE], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(if found < SAMPLE { found } else { found.saturating_mul(newest) / reach.unwrap_or(1).max(1) })
}

/// Some trigrams of a text, spread over it, its first and its last one among them.
fn spread(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let all: Vec<String> = chars.windows(3).map(|trigram| trigram.iter().collect()).collect();
    let Some(last) = all.len().checked_sub(1) else { return Vec::new() };
    let steps = last.clamp(1, ASKED - 1);
    let mut places: Vec<usize> = (0..=steps).map(|step| step * last / steps).collect();
    places.dedup();
    places.into_iter().map(|place| all[place].clone()).collect()
}

/// Most trigrams that are asked for.
const MOST_TRIGRAMS: usize = 200;

/// The trigrams that begin with a word too short for one, as phrases; `None` where there are too many.
pub(super) fn trigrams_beginning_with(conn: &Connection, word: &str) -> StoreResult<Option<Vec<String>>> {
    let word = find_key(word);
    let end = format!("{word}{}", char::MAX);
    let beginning = "SELECT term FROM alert_find_term WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let terms: Vec<String> = conn.all(beginning, &[&word, &end, &(MOST_TRIGRAMS as i64 + 1)], cell)?;
    Ok((terms.len() <= MOST_TRIGRAMS).then(|| terms.iter().map(|term| phrase(term)).collect()))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use rusqlite::Connection;

    use super::*;
    use crate::sqlite::sql::cell;

    /// The alerts that the index finds among these, each the values of its fields.
    fn found(owner: Owner, alerts: &[&[&str]], asked: &str) -> Vec<i64> {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(include_str!("../../../assets/migrations/sqlite/0018_heads.sql")).unwrap();
        conn.execute_batch(include_str!("../../../assets/migrations/sqlite/0019_head_lengths.sql")).unwrap();
        for (key, fields) in (1_i64..).zip(alerts) {
            let fields = fields.iter().map(|value| FindField { label: "", value: (*value).into() });
            let text = tokens(fields, owner).collect::<Vec<_>>().join(" ");
            conn.run("INSERT INTO alert_head (rowid, text) VALUES (?1, ?2)", &[&key, &text]).unwrap();
        }
        conn.all("SELECT rowid FROM alert_head WHERE alert_head MATCH ?1", &[&asked], cell).unwrap()
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
