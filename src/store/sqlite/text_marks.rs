//! Searched texts as marks: three characters and more by their trigrams, two by the trigrams that begin with them.

use rusqlite::{Connection, OptionalExtension as _};

use super::marks::Marks;
use super::sql::{Sql, phrase};
use super::statements::Statements as _;
use crate::store::StoreResult;
use crate::store::searched::{DESCRIPTOR_MARK, searchable};

/// Most trigrams that are asked for.
const MOST_TERMS: usize = 400;

/// Most last fours that are looked through: there are ten thousand of digits.
const MOST_ENDINGS: usize = 12_000;

/// Marks the alerts with these phrases, of every organization.
pub(super) fn of_phrases(conn: &Connection, phrases: String) -> rusqlite::Result<Marks> {
    Marks::of(conn, &matching(phrases))
}

/// Marks the alerts with these two characters somewhere, of this organization and of others. `None` where there are so
/// many that going through all `alerts` takes no longer.
pub(super) fn of_pair(conn: &Connection, organization: i64, pair: &str, alerts: u64) -> StoreResult<Option<Marks>> {
    if pair.chars().count() != 2 {
        return Ok(None);
    }
    let beginning = "SELECT term, doc FROM alert_trigram_term WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let end = format!("{pair}{}", char::MAX);
    let terms: Vec<(String, i64)> =
        conn.all(beginning, (pair, end, limit(MOST_TERMS)), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let postings: u64 = terms.iter().map(|(_, alerts)| alerts.unsigned_abs()).sum();
    if terms.len() > MOST_TERMS || postings > alerts {
        return Ok(None);
    }
    let mut marks = Marks::default();
    for (term, _) in terms {
        marks.add(conn, &matching(phrase(&term)))?;
    }
    // Behind the beginning of a descriptor there is always something.
    if pair.starts_with(DESCRIPTOR_MARK) {
        return Ok(Some(marks));
    }
    let Some(endings) = last_fours(conn, organization)? else { return Ok(None) };
    for ending in endings.into_iter().filter(|ending| searchable(ending).ends_with(pair)) {
        let mut ends = Sql::new("SELECT a.key FROM alert a INDEXED BY alert_by_card_last_four WHERE a.organization = ");
        ends.value(organization);
        ends.push(" AND a.card_last_four = ");
        ends.value(ending);
        marks.add(conn, &ends)?;
    }
    Ok(Some(marks))
}

/// Marks the alerts of this organization with a text, by going through the texts of all.
pub(super) fn by_scan(conn: &Connection, organization: i64, text: &str) -> rusqlite::Result<Marks> {
    let mut scan = Sql::new("SELECT s.alert FROM alert_search s WHERE instr(s.text, ");
    scan.value(text.to_owned());
    scan.push(") > 0 AND s.organization = ");
    scan.value(organization);
    Marks::of(conn, &scan)
}

/// Endings that the text of an alert can have, each once; `None` where these are too many.
fn last_fours(conn: &Connection, organization: i64) -> StoreResult<Option<Vec<String>>> {
    // A loose index scan: each value is looked for behind the one before. An empty one ends nothing.
    let mut next = conn.prepare_cached(
        "SELECT card_last_four FROM alert INDEXED BY alert_by_card_last_four WHERE organization = ?1 AND \
            card_last_four > ?2
         ORDER BY card_last_four LIMIT 1",
    )?;
    let (mut values, mut last) = (Vec::new(), String::new());
    while let Some(value) = next.query_row((organization, &last), |row| row.get::<_, String>(0)).optional()? {
        if values.len() == MOST_ENDINGS {
            return Ok(None);
        }
        values.push(value.clone());
        last = value;
    }
    Ok(Some(values))
}

/// The LIMIT of one more than is allowed, so that more are noticed.
fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1)
}

fn matching(expression: String) -> Sql {
    let mut sql = Sql::new("SELECT t.rowid FROM alert_trigram t WHERE t.text MATCH ");
    sql.value(expression);
    sql
}
