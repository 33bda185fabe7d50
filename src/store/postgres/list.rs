//! The list planner: the exact total and one page, both from one snapshot; and sums of what matches.
//!
//! Totals come from the counts where they know them. Pages choose ids first, from an index in the order of the sort
//! that holds the id as well, where there is one. The wide rows are read last. The ways to a page:
//!
//! 1. All that matches waits for an answer, or has a text in it: it is little, and put in order ([`matched`]); that
//!    counts it, too.
//! 2. In the order of the alert time the counts say on which day the page begins ([`skip_days`]). In the order of
//!    provider, type or status they say to which of them it belongs ([`by_words`]).
//! 3. By walking the index that is in the order of the sort. Rows without a value to sort by are read apart, so that
//!    one index serves both directions.

use tokio_postgres::Row;
use uuid::Uuid;

use super::{
    conditions::Wanted,
    connection::{Connection, Unit},
    counts::{DAY_MICROS, NO_DAY},
    rows::read_by_ids,
};
use crate::{
    alert_rows::{SUMS, currency_sum},
    cells::cell,
    composed::{Sql, limit_of},
    domain::{
        AlertFilter, AlertQuery, AlertStatus, CurrencySum, OrganizationId, Page, SharedAlert, SortField, SortOrder,
        time::Timestamp,
    },
    error::Work,
    order::{Nulls, OrderColumn, PagePart, column_of, direction, push_direction},
};

/// Offset from which it pays to ask the counts for the beginning of a page.
const DEEP: u64 = 1_000;

/// Matches are rare where they are less than one in so many.
const RARE: u64 = 8;

/// One page with the exact total.
pub(crate) async fn list(
    unit: &Unit<'_>,
    organization: OrganizationId,
    query: &AlertQuery,
    now: Timestamp,
) -> Work<Page<SharedAlert>> {
    let conn = &unit.conn;
    let mut page = Page { data: Vec::new(), total: 0, counted: true, page: query.page.page, size: query.page.size };
    let Some(organization) = unit.organization(organization).await? else { return Ok(page) };
    let Some((wanted, counts)) = planned(conn, organization, &query.filter, now).await? else { return Ok(page) };
    let part = PagePart {
        sort: query.sort,
        offset: query.page.page.saturating_mul(query.page.size.into()),
        limit: query.page.size.into(),
    };
    let ids = if !wanted.is_counted() && (wanted.waits || wanted.has_indexed_text()) {
        let found = matched(conn, &wanted, part).await?;
        page.total = found.total;
        found.ids
    } else {
        page.total = if wanted.is_counted() { counts.candidates } else { count(conn, &wanted, "").await? };
        if part.offset >= page.total {
            return Ok(page);
        }
        let part = PagePart { limit: part.limit.min(page.total - part.offset), ..part };
        page_ids(conn, &wanted, part, page.total, counts).await?
    };
    page.data = read_by_ids(conn, organization, &ids).await?.into_iter().map(SharedAlert::from).collect();
    Ok(page)
}

/// A filter with the counts of its matches; `None` where nothing can match.
async fn planned(
    conn: &Connection,
    organization: i64,
    filter: &AlertFilter,
    now: Timestamp,
) -> Work<Option<(Wanted, MatchCounts)>> {
    let wanted = Wanted::new(conn, organization, filter, now).await?;
    let counts = MatchCounts::read(conn, &wanted).await?;
    Ok((counts.candidates > 0).then(|| (wanted.waiting(counts.candidates == counts.waiting), counts)))
}

/// Totals from the table of counts.
#[derive(Debug, Clone, Copy)]
struct MatchCounts {
    /// Number of alerts of the organization.
    all: u64,
    /// Number of them that may match.
    candidates: u64,
    /// Number of those that wait for an answer. Each has a deadline: the engine gives one to every alert.
    waiting: u64,
}

/// The sums of alerts of a kind, and of those of them that wait for an answer.
fn push_sums(sql: &mut Sql) {
    sql.push("coalesce(sum(a.alerts), 0)::bigint, coalesce(sum(a.alerts) FILTER (WHERE a.outcome IS NULL");
    sql.with(" AND a.status <> ", AlertStatus::Expired.as_str().to_owned());
    sql.push("), 0)::bigint");
}

impl MatchCounts {
    async fn read(conn: &Connection, wanted: &Wanted) -> Work<Self> {
        let mut sql = Sql::new("SELECT (SELECT coalesce(sum(t.alerts), 0)::bigint FROM alert_total t");
        sql.with(" WHERE t.organization = ", wanted.organization);
        sql.push("), ");
        push_sums(&mut sql);
        wanted.push_totals(&mut sql);
        let read = conn.made(&sql, |row| Ok(Self { all: row.get(0)?, candidates: row.get(1)?, waiting: row.get(2)? }));
        Ok(read.await?.first().copied().unwrap_or(Self { all: 0, candidates: 0, waiting: 0 }))
    }

    fn is_rare(&self, matches: u64) -> bool {
        matches.saturating_mul(RARE) < self.all
    }
}

/// Counts the alerts that match, and this condition too.
async fn count(conn: &Connection, wanted: &Wanted, condition: &str) -> Work<u64> {
    let mut sql = Sql::new("SELECT count(*)");
    wanted.push_alerts(&mut sql);
    sql.push(condition);
    Ok(conn.made(&sql, cell).await?.first().copied().unwrap_or_default())
}

/// Everything that matches, counted, and a page of it.
struct Matched {
    total: u64,
    ids: Vec<Uuid>,
}

/// Finds everything that matches, each by the index of what is asked, counts it and puts it in order.
async fn matched(conn: &Connection, wanted: &Wanted, part: PagePart) -> Work<Matched> {
    let OrderColumn { value: column, nulls, .. } = column_of(part.sort.field);
    let mut sql = Sql::new(&format!("WITH matching AS MATERIALIZED (SELECT a.id, {column} AS value"));
    wanted.push_alerts(&mut sql);
    let direction = direction(part.sort.order);
    let nulls = if nulls == Nulls::Least && part.sort.order == SortOrder::Ascending { "FIRST" } else { "LAST" };
    sql.push(&format!(
        ") SELECT (SELECT count(*) FROM matching), ARRAY(SELECT id FROM matching ORDER BY value {direction} NULLS \
            {nulls}, id {direction}"
    ));
    sql.window(part.offset, part.limit);
    sql.push(")");
    let found = conn.composed(&sql).await?;
    let read = |row: &Row| Ok(Matched { total: row.try_get::<_, i64>(0)?.unsigned_abs(), ids: row.try_get(1)? });
    found.first().map_or(Ok(Matched { total: 0, ids: Vec::new() }), read)
}

/// The ids of a part, which lies within what there is.
async fn page_ids(
    conn: &Connection,
    wanted: &Wanted,
    part: PagePart,
    total: u64,
    counts: MatchCounts,
) -> Work<Vec<Uuid>> {
    let field = part.sort.field;
    let has_an_order_of_its_own = matches!(field, SortField::AlertTimeStamp | SortField::HoursLeft);
    if wanted.waits && !has_an_order_of_its_own || !wanted.is_counted() && counts.is_rare(total) {
        return Ok(matched(conn, wanted, part).await?.ids);
    }
    if wanted.is_counted() && !wanted.waits {
        match field {
            SortField::AlertTimeStamp if part.offset >= DEEP || counts.is_rare(total) => {
                let (near, near_part) = skip_days(conn, wanted, part).await?;
                return nulls_last(conn, wanted, part, (&near, near_part)).await;
            }
            SortField::Provider => return by_words(conn, wanted, "provider", part).await,
            SortField::Type => return by_words(conn, wanted, "type", part).await,
            SortField::Status => return by_words(conn, wanted, "status", part).await,
            _ => {}
        }
    }
    let OrderColumn { value: column, nulls, .. } = column_of(field);
    match nulls {
        Nulls::Never => nearest(conn, wanted, Some(column), part, total).await,
        Nulls::Least if part.sort.order == SortOrder::Ascending => {
            let valued = match () {
                () if wanted.waits => total,
                () if wanted.is_counted() => counts.waiting,
                () => count(conn, wanted, &valued(column)).await?,
            };
            nulls_first(conn, wanted, part, total.saturating_sub(valued)).await
        }
        Nulls::Last | Nulls::Least => nulls_last(conn, wanted, part, (wanted, part)).await,
    }
}

/// Reads so many rows without a value by id, and then those with one.
async fn nulls_first(conn: &Connection, wanted: &Wanted, part: PagePart, nulls: u64) -> Work<Vec<Uuid>> {
    let column = column_of(part.sort.field).value;
    let (mut rest, mut found) = (part, Vec::new());
    if let Some(first) = rest.take(nulls) {
        found = ids(conn, wanted, &without(column), None, first).await?;
    }
    found.extend(ids(conn, wanted, &valued(column), Some(column), rest).await?);
    Ok(found)
}

/// Reads the rows with a value, met nearer by this part of this filter, and then those without one by id.
async fn nulls_last(
    conn: &Connection,
    wanted: &Wanted,
    part: PagePart,
    (near, near_part): (&Wanted, PagePart),
) -> Work<Vec<Uuid>> {
    let column = column_of(part.sort.field).value;
    let mut found = ids(conn, near, &valued(column), Some(column), near_part).await?;
    let missing = part.limit - found.len() as u64;
    if missing > 0 {
        let valued = match found.len() as u64 {
            0 => count(conn, wanted, &valued(column)).await?,
            some => part.offset + some,
        };
        let rest = PagePart { offset: part.offset.saturating_sub(valued), limit: missing, ..part };
        found.extend(ids(conn, wanted, &without(column), None, rest).await?);
    }
    Ok(found)
}

/// A part of `total` in the order of a column without nulls, or by id, from the end that is nearer.
async fn nearest(
    conn: &Connection,
    wanted: &Wanted,
    column: Option<&str>,
    part: PagePart,
    total: u64,
) -> Work<Vec<Uuid>> {
    let Some(back) = part.backwards(total) else { return ids(conn, wanted, "", column, part).await };
    let mut found = ids(conn, wanted, "", column, back).await?;
    found.reverse();
    Ok(found)
}

/// In the order of provider, type or status: the counts tell the words that the page belongs to.
async fn by_words(conn: &Connection, wanted: &Wanted, column: &'static str, part: PagePart) -> Work<Vec<Uuid>> {
    let mut sql = Sql::new(&format!("SELECT a.{column}, "));
    push_sums(&mut sql);
    wanted.push_totals(&mut sql);
    sql.push(&format!(
        " GROUP BY a.{column} HAVING sum(a.alerts) > 0 ORDER BY a.{column} {}",
        direction(part.sort.order)
    ));
    let words: Vec<(String, i64, i64)> = conn.made(&sql, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).await?;
    let mut found = Vec::new();
    let mut rest = part;
    for (word, alerts, waiting) in words {
        let of_word = wanted.with_word(column, word).waiting(alerts == waiting);
        let alerts = alerts.unsigned_abs();
        if let Some(part) = rest.take(alerts) {
            found.extend(nearest(conn, &of_word, None, part, alerts).await?);
        }
    }
    Ok(found)
}

fn valued(column: &str) -> String {
    format!(" AND {column} IS NOT NULL")
}

fn without(column: &str) -> String {
    format!(" AND {column} IS NULL")
}

/// Skips whole days that lie before the part; returns the filter from there on, and the part within it.
async fn skip_days(conn: &Connection, wanted: &Wanted, part: PagePart) -> Work<(Wanted, PagePart)> {
    let mut sql = Sql::new("SELECT a.day, sum(a.alerts)::bigint");
    wanted.push_counts(&mut sql);
    sql.with(" AND a.day < ", NO_DAY);
    sql.push(&format!(" GROUP BY a.day HAVING sum(a.alerts) > 0 ORDER BY a.day {}", direction(part.sort.order)));
    // Each of these days has an alert at least.
    sql.with(" LIMIT ", limit_of(part.offset.saturating_add(1)));
    let days: Vec<(i64, i64)> = conn.made(&sql, |row| Ok((row.get(0)?, row.get(1)?))).await?;
    let mut skipped = 0;
    for (day, alerts) in days {
        let alerts = alerts.unsigned_abs();
        if skipped + alerts > part.offset {
            let (from, until) = wanted.alert_time;
            let span = match part.sort.order {
                SortOrder::Ascending => (from.max(Some(day.saturating_mul(DAY_MICROS))), until),
                SortOrder::Descending => {
                    let end = (day + 1).saturating_mul(DAY_MICROS);
                    (from, Some(until.map_or(end, |until| until.min(end))))
                }
            };
            return Ok((wanted.within(span), PagePart { offset: part.offset - skipped, ..part }));
        }
        skipped += alerts;
    }
    Ok((wanted.clone(), part))
}

/// The ids of a part of what matches, and this condition too, in the order of a column, or by id.
async fn ids(
    conn: &Connection,
    wanted: &Wanted,
    condition: &str,
    column: Option<&str>,
    part: PagePart,
) -> Work<Vec<Uuid>> {
    if part.limit == 0 {
        return Ok(Vec::new());
    }
    let mut sql = Sql::new("SELECT a.id");
    wanted.push_alerts(&mut sql);
    sql.push(condition);
    push_direction(&mut sql, column, part.sort.order);
    sql.window(part.offset, part.limit);
    conn.made(&sql, cell).await
}

/// Count and sum of the alerts within a filter for each currency, largest count first.
pub(crate) async fn sums(
    unit: &Unit<'_>,
    organization: OrganizationId,
    filter: &AlertFilter,
    now: Timestamp,
) -> Work<Vec<CurrencySum>> {
    let Some(organization) = unit.organization(organization).await? else { return Ok(Vec::new()) };
    let Some((wanted, _)) = planned(&unit.conn, organization, filter, now).await? else { return Ok(Vec::new()) };
    let mut sql = Sql::new(&format!("SELECT {SUMS}"));
    wanted.push_alerts(&mut sql);
    sql.push(" GROUP BY a.currency ORDER BY count(*) DESC, a.currency");
    unit.conn.made(&sql, |row| currency_sum(row, 0)).await
}
