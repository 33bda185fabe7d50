//! Index intersection: everything that matches a filter, marked by each index that knows a part of what is asked for.
//!
//! Local conditions are marks by the index of each column. Searched texts are marks by trigrams: three characters and
//! more by their own, two by those that begin with them.

use rusqlite::Connection;

use super::{
    counts::CellFilter,
    marks::{Marks, ROW},
    query::Wanted,
    readers::Reader,
    sql::{Sql, Statements as _, cell, phrase},
};
use crate::{
    StoreResult,
    filter::{DESCRIPTOR_MARK, distinct, searchable},
};

/// Fewer steps than this are taken before the columns are gone through.
const FEW: u128 = 10_000;

/// Everything that matches, where it takes more than one index to know: that is the total as well.
pub(super) fn matched(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    let is_indexed = wanted.expires.is_some() || wanted.texts.is_empty() && !wanted.is_timed() && !wanted.is_of_words();
    if wanted.is_counted() || wanted.conditions.is_empty() && (is_indexed || wanted.is_in_transaction_time()) {
        return Ok(None);
    }
    let (cache, of) = (reader.marks(), (reader.newest()?, matching(wanted), reader.budget.is_hurried()));
    cache.kept_or(of, || if wanted.is_of_words() { by_columns(reader, wanted) } else { find(reader, wanted).map(Some) })
}

/// By the columns of words and companies, where nothing else is asked for.
pub(super) fn by_columns(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if !wanted.is_of_words() {
        return Ok(None);
    }
    reader.having(wanted.organization, &wanted.cells, wanted.companies.as_ref())
}

/// By the texts, the time of the transaction and the local conditions, and then by what else is asked.
fn find(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Marks> {
    let has_index = wanted.indexed_texts().is_some() || wanted.is_timed() && wanted.conditions.is_empty();
    if !has_index && is_little(reader, wanted) {
        return Ok(Marks::of(&reader.conn, &matching(wanted))?);
    }
    let marks = parts(&reader.conn, wanted, reader.counts.of(wanted.organization).all())?;
    let mut conditions = wanted.conditions.clone();
    conditions.retain(|condition| condition.tables().is_none());
    let mut rest = Wanted { texts: Vec::new(), transaction_time: (None, None), conditions, ..wanted.clone() };
    if wanted.is_timed() {
        rest = Wanted { cells: CellFilter { providers: None, types: None, ..rest.cells }, companies: None, ..rest };
    }
    // No index knows merchant categories.
    let index = rest.conditions.is_empty().then(|| own_index(&rest));
    let selected = from_alerts(Sql::new("SELECT a.key "), &rest, index);
    let Some(marks) = marks else { return Ok(Marks::of(&reader.conn, &selected)?) };
    if rest.is_everything() && has_one_organization(&reader.conn)? {
        return Ok(marks);
    }
    let tests = u128::from(marks.len()) * ROW;
    let others = if tests < FEW || is_by_deadline(&rest) { None } else { by_columns(reader, &rest)? };
    if let Some(words) = others {
        return Ok(marks.common(&words));
    }
    if tests < u128::from(steps(reader, &rest)) {
        return Ok(marks.tested(&reader.conn, from_alerts(Sql::new("SELECT 1 "), &rest, None))?);
    }
    Ok(marks.and(&reader.conn, &selected)?)
}

/// Marks that texts, the time of the transaction and the conditions leave, each by its index: of texts those of other
/// organizations too. `None` where no condition has an index.
fn parts(conn: &Connection, wanted: &Wanted, alerts: u64) -> StoreResult<Option<Marks>> {
    let mut all = Vec::new();
    if let Some(phrases) = wanted.indexed_texts() {
        all.push(Marks::of(conn, &with_trigrams(phrases))?);
    }
    for text in wanted.short_texts() {
        all.push(match of_pair(conn, wanted.organization, text, alerts)? {
            Some(marks) => marks,
            None => by_scan(conn, wanted.organization, text)?,
        });
    }
    if wanted.is_timed() {
        let CellFilter { providers, types, .. } = wanted.cells.clone();
        let timed = Wanted {
            cells: CellFilter { providers, types, ..CellFilter::default() },
            alert_time: (None, None),
            expires: None,
            texts: Vec::new(),
            conditions: Vec::new(),
            ..wanted.clone()
        };
        all.push(Marks::of(conn, &from_alerts(Sql::new("SELECT a.key "), &timed, Some(BY_TRANSACTION_TIME)))?);
    }
    for condition in &wanted.conditions {
        let Some(tables) = condition.tables() else { continue };
        let mut sql = Sql::new(&format!("SELECT a.key FROM {tables}"));
        sql.with(" WHERE a.organization = ", wanted.organization);
        condition.push(&mut sql);
        all.push(Marks::of(conn, &sql)?);
    }
    Ok(all.into_iter().reduce(|left, right| left.common(&right)))
}

/// Number of alerts that the index of words goes through for these.
fn steps(reader: &Reader, wanted: &Wanted) -> u64 {
    if is_by_deadline(wanted) {
        return counted(reader, wanted);
    }
    reader.counts.of(wanted.organization).total(&CellFilter::default(), wanted.span_days())
}

/// Most trigrams that are asked for.
const MOST_TERMS: usize = 400;

/// Most last fours that are looked through: there are ten thousand of digits.
const MOST_ENDINGS: usize = 12_000;

/// Marks the alerts with these two characters somewhere, of this organization and of others. `None` where there are so
/// many that going through all `alerts` takes no longer.
fn of_pair(conn: &Connection, organization: i64, pair: &str, alerts: u64) -> StoreResult<Option<Marks>> {
    if pair.chars().count() != 2 {
        return Ok(None);
    }
    let beginning =
        format!("SELECT term, doc FROM alert_trigram_term WHERE term >= ?1 AND term < ?2 LIMIT {}", MOST_TERMS + 1);
    let end = format!("{pair}{}", char::MAX);
    let terms: Vec<(String, i64)> = conn.all(&beginning, &[&pair, &end], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let postings: u64 = terms.iter().map(|(_, alerts)| alerts.unsigned_abs()).sum();
    if terms.len() > MOST_TERMS || postings > alerts {
        return Ok(None);
    }
    let mut marks = Marks::default();
    for (term, _) in terms {
        marks.add(conn, &with_trigrams(phrase(&term)))?;
    }
    // Behind the beginning of a descriptor there is always something.
    if pair.starts_with(DESCRIPTOR_MARK) {
        return Ok(Some(marks));
    }
    let endings = format!("{} LIMIT {}", distinct("card_last_four"), MOST_ENDINGS + 1);
    let endings: Vec<String> = conn.all(&endings, &[&organization], cell)?;
    if endings.len() > MOST_ENDINGS {
        return Ok(None);
    }
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
fn by_scan(conn: &Connection, organization: i64, text: &str) -> rusqlite::Result<Marks> {
    let mut scan = Sql::new("SELECT s.alert FROM alert_search s WHERE instr(s.text, ");
    scan.value(text.to_owned());
    scan.push(") > 0 AND s.organization = ");
    scan.value(organization);
    Marks::of(conn, &scan)
}

fn with_trigrams(expression: String) -> Sql {
    let mut sql = Sql::new("SELECT t.rowid FROM alert_trigram t WHERE t.text MATCH ");
    sql.value(expression);
    sql
}

/// The index of the alert time, which knows every word of an alert.
pub(super) const BY_TIME: &str = "alert_by_time";

/// The index of the transaction's time, which knows the network, the type and the company as well.
const BY_TRANSACTION_TIME: &str = "alert_by_transaction_time";

/// The index of alerts that wait for an answer.
pub(super) const BY_DEADLINE: &str = "alert_by_open_deadline";

/// Returns whether the index of alerts that wait for an answer knows all that is asked for; it knows no companies.
pub(super) fn is_by_deadline(wanted: &Wanted) -> bool {
    wanted.waits && wanted.companies.is_none()
}

/// Number of alerts by the counts that may match.
pub(super) fn counted(reader: &Reader, wanted: &Wanted) -> u64 {
    reader.counts.of(wanted.organization).total(&wanted.cells, wanted.alert_days())
}

/// Returns whether reading the row of each that may match is less than going through all there are.
fn is_little(reader: &Reader, wanted: &Wanted) -> bool {
    u128::from(counted(reader, wanted)) * ROW < u128::from(reader.counts.of(wanted.organization).all())
}

/// Returns whether there is one organization alone.
fn has_one_organization(conn: &Connection) -> StoreResult<bool> {
    conn.one("SELECT count(*) = 1 FROM organization", &[], cell)
}

/// The keys of everything that matches, to be marked.
pub(super) fn matching(wanted: &Wanted) -> Sql {
    from_alerts(Sql::new("SELECT a.key "), wanted, Some(own_index(wanted)))
}

/// The index of the condition that leaves least to look at.
pub(super) fn own_index(wanted: &Wanted) -> &'static str {
    match () {
        () if wanted.expires.is_some() || is_by_deadline(wanted) => BY_DEADLINE,
        () if wanted.is_timed() => BY_TRANSACTION_TIME,
        () => BY_TIME,
    }
}

/// FROM and WHERE through this index, or through none.
pub(super) fn from_alerts(mut sql: Sql, wanted: &Wanted, index: Option<&str>) -> Sql {
    sql.push("FROM alert a ");
    match index {
        Some(index) => sql.push(&format!("INDEXED BY {index}")),
        None => sql.push("NOT INDEXED"),
    }
    wanted.push_conditions(&mut sql, if index == Some(BY_TIME) { wanted.span } else { wanted.alert_time });
    if index == Some(BY_DEADLINE) {
        // The index holds nothing else, and is used only where this is said.
        sql.push(" AND a.open_deadline IS NOT NULL");
    }
    sql
}
