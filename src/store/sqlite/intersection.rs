//! Index intersection: everything that matches, marked by each index that knows a part of what is asked for.

use rusqlite::Connection;

use super::condition_marks;
use super::conditions::Conditions;
use super::counts::CellFilter;
use super::marks::{Marks, ROW};
use super::query::Wanted;
use super::readers::Reader;
use super::selection::{
    by_words_index, counted, from_alerts, has_one_organization, is_by_deadline, is_little, matching,
};
use super::sql::Sql;
use super::text_marks;
use crate::store::StoreResult;

/// Fewer steps than this are taken before the columns are gone through.
const FEW: u128 = 10_000;

/// Everything that matches, where it takes more than one index to know: that is the total as well.
pub(super) fn matched(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.is_counted() || wanted.expires.is_some() && wanted.conditions.is_any() {
        return Ok(None);
    }
    let (cache, of) = (reader.marks(), (reader.newest()?, matching(wanted), reader.budget.is_hurried()));
    Ok(cache.kept_or(of, || Ok(find(reader, wanted)?.map(Marks::into_keys)))?.map(Marks::of_keys))
}

fn find(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.conditions.is_any() { by_parts(reader, wanted) } else { by_conditions(reader, wanted).map(Some) }
}

/// By the index of each local condition, and then by what else is asked.
fn by_conditions(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Marks> {
    if is_little(reader, wanted) {
        return Ok(Marks::of(&reader.conn, &matching(wanted))?);
    }
    let marks = condition_marks::marked(
        &wanted.conditions,
        &reader.conn,
        wanted.organization,
        reader.counts.all(wanted.organization),
    )?;
    let others = Wanted { conditions: Conditions::default(), ..wanted.clone() };
    if others.is_everything() {
        return Ok(marks);
    }
    match by_words(reader, &others)? {
        Some(words) => Ok(marks.common(&words)),
        None => Ok(marks.and(&reader.conn, &matching(&others))?),
    }
}

/// By the columns of words and companies, where nothing else is asked for.
pub(super) fn by_words(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if !wanted.is_of_words() {
        return Ok(None);
    }
    Ok(reader.having(wanted.organization, &wanted.cells, wanted.companies.as_ref())?.map(Marks::of_keys))
}

/// By the texts and the time of the transaction, and then by words and the time of the alert; `None` where one index
/// knows all of it.
fn by_parts(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Option<Marks>> {
    if wanted.companies.is_some() && wanted.is_of_words() {
        // The counts know nothing of companies.
        return by_words(reader, wanted);
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
    let Parts { marks, is_own } = parts(conn, wanted, reader.counts.all(wanted.organization))?;
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
    let others = if tests < FEW || is_by_deadline(&rest) { None } else { by_words(reader, &rest)? };
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
        all.push(text_marks::of_phrases(conn, phrases)?);
    }
    for text in wanted.short_texts() {
        all.push(match text_marks::of_pair(conn, wanted.organization, text, alerts)? {
            Some(marks) => marks,
            None => {
                is_own = true;
                text_marks::by_scan(conn, wanted.organization, text)?
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
    let (from, until) = wanted.span_days();
    reader.counts.total(wanted.organization, &CellFilter::default(), from, until)
}
