//! The list planner: the exact total and one page, both from one snapshot.
//!
//! Totals come from the counts where they know them. Pages choose row keys first, from an index where one is in the order of the sort, and
//! read the wide rows last. What has no value to sort by is read apart, so that one index serves both directions; and deep in the order of the
//! alert time the counts say on which day a page begins.

use super::conditions::{Nulls, Wanted, push_order, sort_column};
use super::connection::Connection;
use super::counts::{DAY_MICROS, NO_DAY};
use super::fault::Work;
use super::rows::{organization_key, read_by_keys};
use super::statements::{Sql, Value, cell, limit_of};
use super::unit::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{AlertQuery, OrganizationId, Page, SharedAlert, Sort, SortField, SortOrder};

/// From here on it pays to ask the counts where a page begins.
const DEEP: u64 = 1_000;

/// One page with the exact total.
pub(super) async fn list(unit: &Unit<'_>, organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> Work<Page<SharedAlert>> {
    let conn = &unit.conn;
    let mut page = Page { data: Vec::new(), total: 0, counted: true, page: query.page.page, size: query.page.size };
    let Some(organization) = organization_key(conn, organization).await? else { return Ok(page) };
    let wanted = Wanted::new(conn, organization, &query.filter, now).await?;
    page.total = if wanted.is_counted() { counted(conn, &wanted).await? } else { count(conn, &wanted, "").await? };
    let offset = query.page.page.saturating_mul(query.page.size.into());
    if offset >= page.total {
        return Ok(page);
    }
    let part = Part { sort: query.sort, offset, limit: u64::from(query.page.size).min(page.total - offset) };
    let keys = page_keys(conn, &wanted, part, page.total).await?;
    page.data = read_by_keys(conn, &keys).await?.into_iter().map(|stored| stored.alert.into()).collect();
    Ok(page)
}

/// How many alerts the organization has.
pub(super) async fn count_all(conn: &Connection, organization: OrganizationId) -> Work<u64> {
    let all = "SELECT coalesce(sum(alerts), 0)::bigint FROM alert_count WHERE organization = (SELECT key FROM organization WHERE id = $1)";
    Ok(conn.one(all, &[&organization.0], cell::<i64>).await?.unsigned_abs())
}

/// Which part of everything that matches, in which order. It lies within what there is.
#[derive(Debug, Clone, Copy)]
struct Part {
    sort: Sort,
    offset: u64,
    limit: u64,
}

/// How many alerts the counts know of that match.
async fn counted(conn: &Connection, wanted: &Wanted) -> Work<u64> {
    let mut sql = Sql::new("SELECT coalesce(sum(a.alerts), 0)::bigint");
    wanted.push_counts(&mut sql);
    total_of(conn, &sql).await
}

/// How many alerts match, and this condition too.
async fn count(conn: &Connection, wanted: &Wanted, condition: &str) -> Work<u64> {
    let mut sql = Sql::new("SELECT count(*)");
    wanted.push_alerts(&mut sql);
    sql.push(condition);
    total_of(conn, &sql).await
}

async fn total_of(conn: &Connection, sql: &Sql) -> Work<u64> {
    Ok(conn.made(sql, cell::<i64>).await?.first().map_or(0, |total| total.unsigned_abs()))
}

async fn page_keys(conn: &Connection, wanted: &Wanted, part: Part, total: u64) -> Work<Vec<i64>> {
    let (column, nulls) = sort_column(part.sort.field);
    let order = part.sort.order;
    match nulls {
        Nulls::Never => keys(conn, wanted, "", Some(column), part).await,
        Nulls::Least if order == SortOrder::Ascending => {
            let valued = if wanted.waits() { total } else { count(conn, wanted, &valued(column)).await? };
            let nulls = total.saturating_sub(valued);
            let first = Part { limit: part.limit.min(nulls.saturating_sub(part.offset)), ..part };
            let rest = Part { offset: part.offset.saturating_sub(nulls), limit: part.limit - first.limit, ..part };
            let mut found = keys(conn, wanted, &without(column), None, first).await?;
            found.extend(keys(conn, wanted, &self::valued(column), Some(column), rest).await?);
            Ok(found)
        }
        Nulls::Last | Nulls::Least => {
            let (nearer, nearer_part) = if part.offset >= DEEP && part.sort.field == SortField::AlertTimeStamp && wanted.is_counted() {
                skip_days(conn, wanted, part).await?
            } else {
                (wanted.clone(), part)
            };
            let mut found = keys(conn, &nearer, &valued(column), Some(column), nearer_part).await?;
            let missing = part.limit - found.len() as u64;
            if missing > 0 {
                let valued = match found.len() as u64 {
                    0 => count(conn, wanted, &valued(column)).await?,
                    some => part.offset + some,
                };
                let rest = Part { offset: part.offset.saturating_sub(valued), limit: missing, ..part };
                found.extend(keys(conn, wanted, &without(column), None, rest).await?);
            }
            Ok(found)
        }
    }
}

fn valued(column: &str) -> String {
    format!(" AND {column} IS NOT NULL")
}

fn without(column: &str) -> String {
    format!(" AND {column} IS NULL")
}

/// Skips whole days that lie before the part; what is wanted from there on, and the part within it.
async fn skip_days(conn: &Connection, wanted: &Wanted, part: Part) -> Work<(Wanted, Part)> {
    let mut sql = Sql::new("SELECT a.day, sum(a.alerts)::bigint");
    wanted.push_counts(&mut sql);
    sql.with(" AND a.day < ", Value::Number(NO_DAY));
    sql.push(" GROUP BY a.day ORDER BY a.day");
    let mut days: Vec<(i64, i64)> = conn.made(&sql, |row| Ok((row.try_get(0)?, row.try_get(1)?))).await?;
    if part.sort.order == SortOrder::Descending {
        days.reverse();
    }
    let mut skipped = 0;
    for (day, alerts) in days {
        let alerts = alerts.unsigned_abs();
        if skipped + alerts > part.offset {
            let (from, until) = wanted.alert_time();
            let span = match part.sort.order {
                SortOrder::Ascending => (from.max(Some(day.saturating_mul(DAY_MICROS))), until),
                SortOrder::Descending => {
                    let end = (day + 1).saturating_mul(DAY_MICROS);
                    (from, Some(until.map_or(end, |until| until.min(end))))
                }
            };
            return Ok((wanted.within(span), Part { offset: part.offset - skipped, ..part }));
        }
        skipped += alerts;
    }
    Ok((wanted.clone(), part))
}

/// The keys of a part of what matches, and this condition too, in the order of a column, or by id.
async fn keys(conn: &Connection, wanted: &Wanted, condition: &str, column: Option<&str>, part: Part) -> Work<Vec<i64>> {
    if part.limit == 0 {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new("SELECT a.key");
    wanted.push_alerts(&mut sql);
    sql.push(condition);
    push_order(&mut sql, column, part.sort.order);
    sql.with(" LIMIT ", Value::Number(limit_of(part.limit)));
    sql.with(" OFFSET ", Value::Number(limit_of(part.offset)));
    conn.made(&sql, cell).await
}
