//! Index intersection: everything that matches a filter, marked by each index that knows a part of what is asked for.
//!
//! Local conditions are marks by the index of each column. Searched texts are marks by trigrams: three characters and
//! more by their own, two by those that begin with them.

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    counts::CellFilter,
    marks::{Marks, ROW},
    query::{Conditions, Wanted},
    readers::Reader,
    sql::{Sql, Statements as _, cell, phrase},
};
use crate::{
    StoreResult,
    filter::{DESCRIPTOR_MARK, searchable},
};

/// Fewer steps than this are taken before the columns are gone through.
const FEW: u128 = 10_000;

/// Everything that matches, where it takes more than one index to know: that is the total as well.
pub(super) fn matched(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.is_counted() || wanted.expires.is_some() && wanted.conditions.is_any() {
        return Ok(None);
    }
    let (cache, of) = (reader.marks(), (reader.newest()?, matching(wanted), reader.budget.is_hurried()));
    cache.kept_or(of, || find(reader, wanted))
}

fn find(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.conditions.is_any() { by_parts(reader, wanted) } else { by_conditions(reader, wanted).map(Some) }
}

/// By the index of each local condition, and then by what else is asked.
fn by_conditions(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Marks> {
    if is_little(reader, wanted) {
        return Ok(Marks::of(&reader.conn, &matching(wanted))?);
    }
    let marks = marked_by_conditions(
        &wanted.conditions,
        &reader.conn,
        wanted.organization,
        reader.counts.of(wanted.organization).all(),
    )?;
    let others = Wanted { conditions: Conditions::default(), ..wanted.clone() };
    if others.is_everything() {
        return Ok(marks);
    }
    match by_columns(reader, &others)? {
        Some(words) => Ok(marks.common(&words)),
        None => Ok(marks.and(&reader.conn, &matching(&others))?),
    }
}

/// By the columns of words and companies, where nothing else is asked for.
pub(super) fn by_columns(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if !wanted.is_of_words() {
        return Ok(None);
    }
    reader.having(wanted.organization, &wanted.cells, wanted.companies.as_ref())
}

/// By the texts and the time of the transaction, and then by words and the time of the alert; `None` where one index
/// knows all of it.
fn by_parts(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.companies.is_some() && wanted.is_of_words() {
        // The counts know nothing of companies.
        return by_columns(reader, wanted);
    }
    let is_timed = wanted.transaction_time != (None, None);
    if wanted.texts.is_empty() && (!is_timed || wanted.is_in_transaction_time()) {
        return Ok(None);
    }
    let is_short = wanted.short_texts().next().is_some();
    if wanted.is_texts_only() && !is_short {
        return Ok(None);
    }
    let conn = &reader.conn;
    if is_short && !is_timed && wanted.indexed_texts().is_none() && is_little(reader, wanted) {
        return Ok(Some(Marks::of(
            conn,
            &from_alerts(Sql::new("SELECT a.key "), wanted, Some(by_words_index(wanted))),
        )?));
    }
    let Parts { marks, is_own } = parts(conn, wanted, reader.counts.of(wanted.organization).all())?;
    let mut rest = Wanted { texts: Vec::new(), transaction_time: (None, None), ..wanted.clone() };
    if is_timed {
        rest = Wanted { cells: CellFilter { providers: None, types: None, ..rest.cells }, companies: None, ..rest };
    }
    if rest.is_everything() {
        if is_own || has_one_organization(conn)? {
            return Ok(Some(marks));
        }
        return Ok(Some(marks.and(conn, &from_alerts(Sql::new("SELECT a.key "), &rest, Some("alert_by_id")))?));
    }
    let tests = u128::from(marks.len()) * ROW;
    let others = if tests < FEW || is_by_deadline(&rest) { None } else { by_columns(reader, &rest)? };
    if let Some(words) = others {
        return Ok(Some(marks.common(&words)));
    }
    let conn = &reader.conn;
    if tests < u128::from(steps(reader, &rest)) {
        return Ok(Some(marks.tested(conn, from_alerts(Sql::new("SELECT 1 "), &rest, None))?));
    }
    Ok(Some(marks.and(conn, &from_alerts(Sql::new("SELECT a.key "), &rest, Some(by_words_index(&rest))))?))
}

/// Marks that texts and the time of the transaction leave.
struct Parts {
    marks: Marks,
    /// True where nothing of another organization is among it.
    is_own: bool,
}

fn parts(conn: &Connection, wanted: &Wanted, alerts: u64) -> StoreResult<Parts> {
    let (mut all, mut is_own) = (Vec::new(), false);
    if let Some(phrases) = wanted.indexed_texts() {
        all.push(of_phrases(conn, phrases)?);
    }
    for text in wanted.short_texts() {
        all.push(match of_pair(conn, wanted.organization, text, alerts)? {
            Some(marks) => marks,
            None => {
                is_own = true;
                by_scan(conn, wanted.organization, text)?
            }
        });
    }
    if wanted.transaction_time != (None, None) {
        is_own = true;
        // The index of this time knows the network, the type and the company as well.
        let Wanted { cells: CellFilter { providers, types, .. }, .. } = wanted.clone();
        let cells = CellFilter { providers, types, ..CellFilter::default() };
        let timed = Wanted { cells, alert_time: (None, None), texts: Vec::new(), ..wanted.clone() };
        all.push(Marks::of(conn, &from_alerts(Sql::new("SELECT a.key "), &timed, Some("alert_by_transaction_time")))?);
    }
    let marks = all.into_iter().reduce(|left, right| left.common(&right)).unwrap_or_default();
    Ok(Parts { marks, is_own })
}

/// Number of alerts that the index of words goes through for these.
fn steps(reader: &Reader, wanted: &Wanted) -> u64 {
    if is_by_deadline(wanted) {
        return counted(reader, wanted);
    }
    reader.counts.of(wanted.organization).total(&CellFilter::default(), wanted.span_days())
}

/// Adds one of the conditions to a statement.
type Push = fn(&Conditions, &mut Sql);

/// Marks the matching alerts: by the index of each column, and past the marks of those where a column has none. `all`
/// is the number of alerts.
fn marked_by_conditions(
    wanted: &Conditions,
    conn: &Connection,
    organization: i64,
    all: u64,
) -> rusqlite::Result<Marks> {
    let indexed: [(bool, &str, Push); 3] = [
        (wanted.issuers.is_some(), "INDEXED BY alert_by_issuer", Conditions::push_issuers),
        (wanted.amounts.is_some(), "INDEXED BY alert_by_amount", Conditions::push_amounts),
        (wanted.currencies.is_some(), "INDEXED BY alert_by_currency", Conditions::push_currencies),
    ];
    let from = |index: &str, push: Push| {
        let mut sql = Sql::new(&format!("SELECT a.key FROM alert a {index} WHERE a.organization = "));
        sql.value(organization);
        push(wanted, &mut sql);
        sql
    };
    let mut marks: Option<Marks> = None;
    if wanted.answered.is_some() {
        let mut sql = Sql::new(
            "SELECT a.key FROM outcome o INDEXED BY outcome_by_action_time CROSS JOIN alert a ON a.key = o.alert",
        );
        sql.push(" WHERE a.organization = ");
        sql.value(organization);
        wanted.push_answered(&mut sql);
        marks = Some(Marks::of(conn, &sql)?);
    }
    for (_, index, push) in indexed.into_iter().filter(|(asked, ..)| *asked) {
        let sql = from(index, push);
        marks = Some(match marks {
            Some(marks) => marks.and(conn, &sql)?,
            None => Marks::of(conn, &sql)?,
        });
    }
    match marks {
        Some(marks) if wanted.mccs.is_none() => Ok(marks),
        Some(marks) if marks.is_few(all) => {
            let mut test = Sql::new("SELECT 1 FROM alert a WHERE 1");
            wanted.push_mccs(&mut test);
            marks.tested(conn, test)
        }
        Some(marks) => marks.and(conn, &from("NOT INDEXED", Conditions::push_mccs)),
        None => Marks::of(conn, &from("NOT INDEXED", Conditions::push_mccs)),
    }
}

/// Most trigrams that are asked for.
const MOST_TERMS: usize = 400;

/// Most last fours that are looked through: there are ten thousand of digits.
const MOST_ENDINGS: usize = 12_000;

/// Marks the alerts with these phrases, of every organization.
fn of_phrases(conn: &Connection, phrases: String) -> rusqlite::Result<Marks> {
    Marks::of(conn, &with_trigrams(phrases))
}

/// Marks the alerts with these two characters somewhere, of this organization and of others. `None` where there are so
/// many that going through all `alerts` takes no longer.
fn of_pair(conn: &Connection, organization: i64, pair: &str, alerts: u64) -> StoreResult<Option<Marks>> {
    if pair.chars().count() != 2 {
        return Ok(None);
    }
    let beginning = "SELECT term, doc FROM alert_trigram_term WHERE term >= ?1 AND term < ?2 LIMIT ?3";
    let end = format!("{pair}{}", char::MAX);
    let terms: Vec<(String, i64)> =
        conn.all(beginning, &[&pair, &end, &limit(MOST_TERMS)], |row| Ok((row.get(0)?, row.get(1)?)))?;
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
fn by_scan(conn: &Connection, organization: i64, text: &str) -> rusqlite::Result<Marks> {
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

fn with_trigrams(expression: String) -> Sql {
    let mut sql = Sql::new("SELECT t.rowid FROM alert_trigram t WHERE t.text MATCH ");
    sql.value(expression);
    sql
}

/// The index of the alert time, which knows every word of an alert.
pub(super) const BY_TIME: &str = "alert_by_time";

/// The index of alerts that wait for an answer.
pub(super) const BY_DEADLINE: &str = "alert_by_open_deadline";

/// The index that knows every word of what matches, and the company.
pub(super) fn by_words_index(wanted: &Wanted) -> &'static str {
    if is_by_deadline(wanted) { BY_DEADLINE } else { BY_TIME }
}

/// Returns whether the index of alerts that wait for an answer knows all that is asked for; it knows no companies.
pub(super) fn is_by_deadline(wanted: &Wanted) -> bool {
    wanted.waits && wanted.companies.is_none()
}

/// Number of alerts by the counts that may match.
pub(super) fn counted(reader: &Reader, wanted: &Wanted) -> u64 {
    reader.counts.of(wanted.organization).total(&wanted.cells, wanted.alert_days())
}

/// Returns whether reading the row of each that may match is less than going through all there are.
pub(super) fn is_little(reader: &Reader, wanted: &Wanted) -> bool {
    u128::from(counted(reader, wanted)) * ROW < u128::from(reader.counts.of(wanted.organization).all())
}

/// The index to go by where rows are read for conditions: that of words where little is left by them, else none.
pub(super) fn rows_index(reader: &Reader, wanted: &Wanted) -> Option<&'static str> {
    (wanted.conditions.is_any() || is_little(reader, wanted)).then(|| by_words_index(wanted))
}

/// Returns whether there is one organization alone.
pub(super) fn has_one_organization(conn: &Connection) -> StoreResult<bool> {
    conn.one("SELECT count(*) = 1 FROM organization", &[], cell)
}

/// The keys of everything that matches, to be marked.
pub(super) fn matching(wanted: &Wanted) -> Sql {
    if !wanted.is_texts_only() {
        return from_own_index(Sql::new("SELECT a.key "), wanted, Some(by_words_index(wanted)));
    }
    let key = if wanted.indexed_texts().is_some() { "t.rowid" } else { "s.alert" };
    // Alerts of other organizations are not met on an index of this one's.
    from_texts(Sql::new(&format!("SELECT {key} ")), wanted, true)
}

/// FROM and WHERE of texts and nothing else, without touching the wide rows.
pub(super) fn from_texts(mut sql: Sql, wanted: &Wanted, one_organization: bool) -> Sql {
    match wanted.indexed_texts() {
        Some(phrases) if one_organization && wanted.short_texts().next().is_none() => {
            sql.push("FROM alert_trigram t WHERE t.text MATCH ");
            sql.value(phrases);
            return sql;
        }
        Some(phrases) => {
            sql.push("FROM alert_trigram t CROSS JOIN alert_search s ON s.alert = t.rowid WHERE t.text MATCH ");
            sql.value(phrases);
        }
        None => sql.push("FROM alert_search s WHERE 1"),
    }
    push_short_tests(&mut sql, wanted);
    sql.push(" AND s.organization = ");
    sql.value(wanted.organization);
    sql
}

fn push_short_tests(sql: &mut Sql, wanted: &Wanted) {
    for text in wanted.short_texts() {
        sql.push(" AND instr(s.text, ");
        sql.value(text.clone());
        sql.push(") > 0");
    }
}

/// FROM and WHERE through the index of the condition that leaves least to look at; through `otherwise` where no
/// condition has one.
pub(super) fn from_own_index(mut sql: Sql, wanted: &Wanted, otherwise: Option<&str>) -> Sql {
    if wanted.expires.is_some() {
        return from_alerts(sql, wanted, Some(BY_DEADLINE));
    }
    if let Some(phrases) = wanted.indexed_texts() {
        sql.push("FROM alert_trigram t CROSS JOIN alert a ON a.key = t.rowid");
        if wanted.short_texts().next().is_some() {
            sql.push(" CROSS JOIN alert_search s ON s.alert = t.rowid");
        }
        wanted.push_conditions(&mut sql, wanted.alert_time);
        push_short_tests(&mut sql, wanted);
        sql.push(" AND t.text MATCH ");
        sql.value(phrases);
        return sql;
    }
    if wanted.transaction_time != (None, None) {
        return from_alerts(sql, wanted, Some("alert_by_transaction_time"));
    }
    if wanted.short_texts().next().is_some() && wanted.cells.is_any() {
        sql.push("FROM alert_search s CROSS JOIN alert a ON a.key = s.alert");
        wanted.push_conditions(&mut sql, wanted.alert_time);
        push_short_tests(&mut sql, wanted);
        return sql;
    }
    from_alerts(sql, wanted, otherwise)
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
    wanted.push_text_tests(&mut sql);
    sql
}
