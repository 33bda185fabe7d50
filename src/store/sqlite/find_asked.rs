//! Requests to the full-text indexes: the rarest trigrams of the searched texts, and the beginnings of values; the
//! candidates that they have.

use rusqlite::Connection;

use super::heads::{self, FieldOwners};
use super::marks::Marks;
use super::sql::{Sql, phrase};
use super::statements::{Statements as _, cell};
use crate::domain::MatchGrade;
use crate::domain::find_reading::Reading;
use crate::store::StoreResult;
use crate::store::searched::{find_key, find_pattern};

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
    /// For all words of a reading, each of which has to match so well; nothing where no index knows anything of them.
    /// Of the trigrams the rarest.
    pub(super) fn of(
        conn: &Connection,
        reading: &Reading,
        grade: MatchGrade,
        fields: FieldOwners,
    ) -> StoreResult<Option<Self>> {
        let (mut wanted, mut begun): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for text in reading.words() {
            let grade = if reading.is_whole_only(text) { MatchGrade::Whole } else { grade };
            let head = match grade {
                MatchGrade::Whole => Some(heads::being(text, fields)),
                MatchGrade::Prefix => heads::beginning_with(text, fields),
                MatchGrade::Inside => None,
            };
            let is_told = head.is_some() && heads::tells_all_of(text);
            begun.extend(head);
            for trigram in spread(&find_pattern(text, grade)).into_iter().filter(|_| !is_told) {
                if !wanted.contains(&trigram) {
                    wanted.push(trigram);
                }
            }
        }
        let newest: i64 = conn.one("SELECT coalesce(max(key), 0) FROM alert", [], cell)?;
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

    /// Hands the keys of the candidates over, in order, for as long as more are wanted.
    pub(super) fn each(&self, conn: &Connection, mut take: impl FnMut(i64) -> bool) -> StoreResult<()> {
        let (Some(trigrams), Some(heads)) = (&self.trigrams, &self.heads) else {
            let Some((by, expression)) = self.expressions().next() else { return Ok(()) };
            let mut statement = conn.prepare_cached(by)?;
            let mut rows = statement.query([expression])?;
            while let Some(row) = rows.next()? {
                if !take(row.get(0)?) {
                    break;
                }
            }
            return Ok(());
        };
        // A merge join: both come in the order of their keys.
        let (mut by_trigrams, mut by_heads) = (conn.prepare_cached(BY_TRIGRAMS)?, conn.prepare_cached(BY_HEADS)?);
        let (mut left, mut right) = (by_heads.query([heads])?, by_trigrams.query([trigrams])?);
        let next = |rows: &mut rusqlite::Rows<'_>| rows.next()?.map(|row| row.get::<_, i64>(0)).transpose();
        let (mut a, mut b) = (next(&mut left)?, next(&mut right)?);
        while let (Some(key), Some(other)) = (a, b) {
            if key == other && !take(key) {
                break;
            }
            if key <= other {
                a = next(&mut left)?;
            }
            if other <= key {
                b = next(&mut right)?;
            }
        }
        Ok(())
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
        conn.one(&first, (expression, SAMPLE), |row| Ok((row.get(0)?, row.get(1)?)))?;
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

/// The trigrams that begin with a word too short for one.
pub(super) enum Beginning {
    None,
    /// As an expression that any of them fulfils.
    Some(String),
    Many,
}

/// Most trigrams that are asked for.
const MOST_TRIGRAMS: usize = 200;

pub(super) fn beginning_with(conn: &Connection, word: &str) -> StoreResult<Beginning> {
    let word = find_key(word);
    let end = format!("{word}{}", char::MAX);
    let beginning = "SELECT term FROM alert_find_term WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let terms: Vec<String> = conn.all(beginning, (&word, &end, MOST_TRIGRAMS as i64 + 1), cell)?;
    Ok(match terms.len() {
        0 => Beginning::None,
        1..=MOST_TRIGRAMS => Beginning::Some(terms.iter().map(|term| phrase(term)).collect::<Vec<_>>().join(" OR ")),
        _ => Beginning::Many,
    })
}
