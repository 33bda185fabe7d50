//! Lists: the exact total and one page, each by the cheapest way there is.
//!
//! Totals come from the counts where they know them, else from counting through an index. Pages choose row keys first, from an index
//! where one is in the order of the sort, and read the wide rows last. The ways to a page, cheapest first:
//!
//! 1. By days: in the order of the alert time, where the counts say on which days the page lies ([`by_days`]).
//! 2. By walking the index that is in the order of the sort, as far as a budget reaches ([`walk`]).
//! 3. By putting everything that matches in order ([`sorted`]).

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::counts::day_start;
use super::query::{Search, SortColumn, Sql, Wanted, push_direction, push_order, sort_column};
use super::readers::Reader;
use super::rows::{organization_key, read_by_key};
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertQuery, AlertStatus, OrganizationId, Page, Sort, SortField, SortOrder};
use crate::store::StoreResult;

/// One page with the exact total.
pub(super) fn list(reader: &mut Reader, organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> StoreResult<Page<Alert>> {
    let mut page = Page { data: Vec::new(), total: 0, page: query.page.page, size: query.page.size };
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(page) };
    reader.counts.refresh(&reader.conn)?;
    let wanted = Wanted::new(&reader.conn, &mut reader.dictionary, organization, &query.filter, now)?;
    if wanted.is_impossible() {
        return Ok(page);
    }
    page.total = total(reader, &wanted)?;
    let offset = query.page.page.saturating_mul(query.page.size.into());
    if offset >= page.total {
        return Ok(page);
    }
    let part = Part { sort: query.sort, offset, limit: u64::from(query.page.size).min(page.total - offset) };
    let keys = page_keys(reader, &wanted, part, page.total)?;
    let alerts: StoreResult<Vec<_>> = keys.into_iter().map(|key| read_by_key(&reader.conn, &mut reader.dictionary, key)).collect();
    page.data = alerts?;
    Ok(page)
}

/// How many alerts the organization has.
pub(super) fn count_all(reader: &mut Reader, organization: OrganizationId) -> StoreResult<u64> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(0) };
    reader.counts.refresh(&reader.conn)?;
    Ok(reader.counts.all(organization))
}

/// Which part of everything that matches, in which order. It lies within what there is.
#[derive(Debug, Clone, Copy)]
struct Part {
    sort: Sort,
    offset: u64,
    limit: u64,
}

fn total(reader: &Reader, wanted: &Wanted) -> StoreResult<u64> {
    if wanted.is_counted() {
        let (from, until) = wanted.alert_days();
        return Ok(reader.counts.total(wanted.organization, &wanted.cells, from, until));
    }
    let mut sql = Sql::new("SELECT count(*) ");
    match &wanted.search {
        Some(search) if wanted.is_search_only() => {
            let only = has_one_organization(&reader.conn)?;
            push_search_only(&mut sql, search, wanted.organization, only);
        }
        _ => push_source(&mut sql, wanted, Some("alert_by_time")),
    }
    let total: i64 = reader.conn.prepare_cached(&sql.text)?.query_row(params_from_iter(&sql.values), |row| row.get(0))?;
    Ok(total.unsigned_abs())
}

fn has_one_organization(conn: &Connection) -> StoreResult<bool> {
    Ok(conn.prepare_cached("SELECT count(*) = 1 FROM organization")?.query_row([], |row| row.get(0))?)
}

/// FROM and WHERE of a search and nothing else, without touching the wide rows.
fn push_search_only(sql: &mut Sql, search: &Search, organization: i64, only: bool) {
    match search {
        Search::Indexed(text) if only => {
            sql.push("FROM alert_trigram WHERE text MATCH ");
            sql.value(phrase(text));
        }
        Search::Indexed(text) => {
            sql.push("FROM alert_trigram t CROSS JOIN alert_search s ON s.alert = t.rowid WHERE t.text MATCH ");
            sql.value(phrase(text));
            sql.push(" AND s.organization = ");
            sql.value(organization);
        }
        Search::Short(text) => {
            sql.push("FROM alert_search WHERE instr(text, ");
            sql.value(text.clone());
            sql.push(") > 0 AND organization = ");
            sql.value(organization);
        }
    }
}

/// The text as one phrase of the trigram index: a substring, exactly.
fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// FROM and WHERE through the index that leaves least to look at; through `otherwise` where no condition has one of its own.
fn push_source(sql: &mut Sql, wanted: &Wanted, otherwise: Option<&str>) {
    let has_transaction_time = wanted.transaction_time != (None, None);
    match (&wanted.search, otherwise) {
        _ if wanted.expires.is_some() => push_alerts(sql, wanted, "INDEXED BY alert_by_open_deadline"),
        (Some(Search::Indexed(text)), _) => {
            sql.push("FROM alert_trigram t CROSS JOIN alert a ON a.key = t.rowid");
            wanted.push_conditions(sql);
            sql.push(" AND t.text MATCH ");
            sql.value(phrase(text));
        }
        _ if wanted.descriptor.is_some() => push_alerts(sql, wanted, "INDEXED BY alert_by_descriptor"),
        _ if has_transaction_time => push_alerts(sql, wanted, "INDEXED BY alert_by_transaction_time"),
        (Some(Search::Short(text)), _) => {
            sql.push("FROM alert_search s CROSS JOIN alert a ON a.key = s.alert");
            wanted.push_conditions(sql);
            sql.push(" AND instr(s.text, ");
            sql.value(text.clone());
            sql.push(") > 0");
        }
        (None, Some(index)) => push_alerts(sql, wanted, &format!("INDEXED BY {index}")),
        (None, None) => push_alerts(sql, wanted, "NOT INDEXED"),
    }
}

fn push_alerts(sql: &mut Sql, wanted: &Wanted, index: &str) {
    sql.push("FROM alert a ");
    sql.push(index);
    wanted.push_conditions(sql);
    wanted.push_search_test(sql);
}

fn page_keys(reader: &mut Reader, wanted: &Wanted, part: Part, total: u64) -> StoreResult<Vec<i64>> {
    let mut column = sort_column(&reader.conn, &mut reader.dictionary, &reader.counts, part.sort.field)?;
    if part.sort.field == SortField::HoursLeft && excludes_expired(reader, wanted)? {
        // The same values, without the expired alerts to walk past.
        column = SortColumn { value: "a.open_deadline".to_owned(), index: Some("alert_by_open_deadline"), ..column };
    }
    if part.sort.field == SortField::AlertTimeStamp && wanted.is_counted() {
        return by_days(reader, wanted, &column, part, total);
    }
    if let Some(index) = column.index.filter(|_| is_walk_shorter(wanted, part, total, reader.counts.all(wanted.organization)))
        && let Some(keys) = walk(reader, wanted, &column, index, part)?
    {
        return Ok(keys);
    }
    // Reading the whole table in its order is cheaper than jumping about in it, unless little of it is wanted or the index has it all.
    let in_index = matches!(part.sort.field, SortField::Provider | SortField::Type | SortField::Status | SortField::ExpiredAt);
    let little = total.saturating_mul(8) < reader.counts.all(wanted.organization);
    sorted(&reader.conn, wanted, &column, (in_index || little).then_some("alert_by_time"), part)
}

/// Whether the page is likely to be reached sooner in the order of the sort than by looking at everything that matches.
fn is_walk_shorter(wanted: &Wanted, part: Part, total: u64, all: u64) -> bool {
    // Matches are thought of as spread evenly; where they are not, the walk's budget ends it.
    let walked = u128::from(part.offset + part.limit) * u128::from(all) / u128::from(total.max(1));
    !wanted.has_own_index() || walked < u128::from(total)
}

fn excludes_expired(reader: &mut Reader, wanted: &Wanted) -> StoreResult<bool> {
    let expired = reader.dictionary.words.find(&reader.conn, AlertStatus::Expired.as_str())?;
    let excluded = wanted.cells.statuses.as_ref().is_some_and(|statuses| expired.is_none_or(|expired| !statuses.contains(&expired)));
    Ok(excluded || wanted.expires.is_some())
}

/// In the order of the alert time: the counts tell which days the page lies on, and only those are looked at.
fn by_days(reader: &Reader, wanted: &Wanted, column: &SortColumn, part: Part, total: u64) -> StoreResult<Vec<i64>> {
    let (from, until) = wanted.alert_days();
    let days = reader.counts.days(wanted.organization, &wanted.cells, from, until);
    let mut days: Box<dyn Iterator<Item = (i64, u64)>> = match part.sort.order {
        SortOrder::Ascending => Box::new(days),
        SortOrder::Descending => Box::new(days.rev()),
    };
    let mut found = Vec::new();
    let (mut skip, mut left, mut dated) = (part.offset, part.limit, 0);
    while left > 0
        && let Some((day, alerts)) = days.next()
    {
        dated += alerts;
        if skip >= alerts {
            skip -= alerts;
            continue;
        }
        let take = left.min(alerts - skip);
        let mut sql = Sql::new("SELECT a.key ");
        let one_day = Wanted { alert_time: (Some(day_start(day)), Some(day_start(day + 1))), ..wanted.clone() };
        push_alerts(&mut sql, &one_day, "INDEXED BY alert_by_time");
        push_direction(&mut sql, Some(&column.value), part.sort.order);
        push_window(&mut sql, skip, take);
        found.extend(keys(&reader.conn, &sql)?);
        (skip, left) = (0, left - take);
    }
    if left > 0 && total > dated {
        // What has no time comes last in either direction.
        found.extend(walk_nulls(&reader.conn, wanted, column, "alert_by_time", Part { offset: skip, limit: left, ..part })?);
    }
    Ok(found)
}

/// Walks the index that is in the order of the sort; `None` when the page was not reached within the budget.
fn walk(reader: &Reader, wanted: &Wanted, column: &SortColumn, index: &str, part: Part) -> StoreResult<Option<Vec<i64>>> {
    let conn = &reader.conn;
    let mut sql = Sql::new("SELECT a.key ");
    push_walk(&mut sql, wanted, column, index);
    push_direction(&mut sql, Some(&column.value), part.sort.order);
    push_window(&mut sql, part.offset, part.limit);
    let Some(mut found) = reader.budget.run(|| keys(conn, &sql))? else { return Ok(None) };
    let missing = part.limit - found.len() as u64;
    if missing > 0 && column.nullable {
        let valued = if found.is_empty() {
            let mut sql = Sql::new("SELECT count(*) ");
            push_walk(&mut sql, wanted, column, index);
            let count: i64 = conn.prepare_cached(&sql.text)?.query_row(params_from_iter(&sql.values), |row| row.get(0))?;
            count.unsigned_abs()
        } else {
            part.offset + found.len() as u64
        };
        let rest = Part { offset: part.offset.saturating_sub(valued), limit: missing, ..part };
        found.extend(walk_nulls(conn, wanted, column, index, rest)?);
    }
    Ok(Some(found))
}

fn push_walk(sql: &mut Sql, wanted: &Wanted, column: &SortColumn, index: &str) {
    push_alerts(sql, wanted, &format!("INDEXED BY {index}"));
    if column.nullable {
        sql.push(&format!(" AND {} IS NOT NULL", column.value));
    }
}

/// What has no value to sort by, by id.
fn walk_nulls(conn: &Connection, wanted: &Wanted, column: &SortColumn, index: &str, part: Part) -> StoreResult<Vec<i64>> {
    // The indexes on deadlines hold no nulls.
    let index = if part.sort.field == SortField::HoursLeft { "alert_by_id" } else { index };
    let mut sql = Sql::new("SELECT a.key ");
    push_alerts(&mut sql, wanted, &format!("INDEXED BY {index}"));
    sql.push(&format!(" AND {} IS NULL", column.value));
    push_direction(&mut sql, None, part.sort.order);
    push_window(&mut sql, part.offset, part.limit);
    Ok(keys(conn, &sql)?)
}

/// Puts everything that matches in order.
fn sorted(conn: &Connection, wanted: &Wanted, column: &SortColumn, otherwise: Option<&str>, part: Part) -> StoreResult<Vec<i64>> {
    let mut sql = Sql::new("SELECT a.key ");
    push_source(&mut sql, wanted, otherwise);
    push_order(&mut sql, column, part.sort.order);
    push_window(&mut sql, part.offset, part.limit);
    Ok(keys(conn, &sql)?)
}

fn push_window(sql: &mut Sql, offset: u64, limit: u64) {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    sql.push(" LIMIT ");
    sql.value(number(limit));
    sql.push(" OFFSET ");
    sql.value(number(offset));
}

fn keys(conn: &Connection, sql: &Sql) -> rusqlite::Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&sql.text)?;
    let keys = statement.query_map(params_from_iter::<&Vec<Value>>(&sql.values), |row| row.get(0))?;
    keys.collect()
}
