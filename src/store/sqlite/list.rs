//! The list planner: the exact total and one page, each by the cheapest way there is.
//!
//! Totals come from the counts where they know them, else from counting through an index. Pages choose row keys first,
//! from an index in the order of the sort where there is one. The wide rows are read last. The ways to a page, cheapest
//! first:
//!
//! 1. By days, in the order of the alert time: the counts say on which days the page lies ([`by_days`]). By words, in
//!    the order of provider, type or status: the counts say which of them the page belongs to ([`by_words`]).
//! 2. By walking the index that is in the order of the sort, as far as a budget reaches ([`walk`]).
//! 3. By walking it past marks on everything that matches ([`past_marks`]), word by word where the columns tell these.
//! 4. By putting everything that matches in order ([`sorted_marks`]).
//!
//! A filter that takes more than one index is marked first, by each of them and by the columns: that is the total as
//! well ([`intersection`](super::intersection)).

use rusqlite::Connection;

use super::{
    budget::{FEW_STEPS, FEWEST_STEPS},
    counts::{CellFilter, day_start},
    intersection::{
        BY_TIME, by_words, by_words_index, counted, from_alerts, from_own_index, from_texts, has_one_organization,
        is_by_deadline, matched, matching,
    },
    marked_orders::{FEW, by_id, marks_in_words, ordered, past_marks, reversed, sorted_marks, wait, words_of},
    marks::{Marks, ROW},
    query::{SortColumn, Wanted, is_partial, sort_column},
    readers::Reader,
    sql::{Sql, Statements as _, cell, keys},
};
use crate::{
    StoreResult,
    domain::{
        AlertFilter, AlertId, AlertQuery, OrganizationId, Page, SharedAlert, SortField, SortOrder, time::Timestamp,
    },
    order::{Nulls, PagePart, push_direction},
};

/// Most rows that are passed on the way to a page before the matches are marked first.
const MOST_PASSED: u64 = 500;

/// Number of steps through the columns that cost as much as one along an index.
const COLUMN_SHARE: u128 = 40;

/// One page with the exact total.
pub(crate) fn list(
    reader: &mut Reader,
    organization: OrganizationId,
    query: &AlertQuery,
    now: Timestamp,
) -> StoreResult<Page<SharedAlert>> {
    let mut page = Page { data: Vec::new(), total: 0, counted: true, page: query.page.page, size: query.page.size };
    let Some(organization) = reader.organization(organization)? else { return Ok(page) };
    let Some(wanted) = planned(reader, organization, &query.filter, now)? else { return Ok(page) };
    let matched = matched(reader, &wanted)?;
    page.total = matched.as_ref().map_or_else(|| total(reader, &wanted), |marks| Ok(marks.len()))?;
    let offset = query.page.page.saturating_mul(query.page.size.into());
    if offset >= page.total {
        return Ok(page);
    }
    let part = PagePart { sort: query.sort, offset, limit: u64::from(query.page.size).min(page.total - offset) };
    let keys = page_keys(reader, &wanted, part, page.total, matched)?;
    page.data = keys.into_iter().map(|key| reader.alert(key)).collect::<StoreResult<_>>()?;
    Ok(page)
}

/// A filter with the counts of its matches; `None` where nothing can match.
pub(super) fn planned(
    reader: &mut Reader,
    organization: i64,
    filter: &AlertFilter,
    now: Timestamp,
) -> StoreResult<Option<Wanted>> {
    reader.refresh_counts(organization)?;
    let mut wanted = Wanted::new(reader, organization, filter, now)?;
    if wanted.is_impossible() {
        return Ok(None);
    }
    if !wanted.cells.is_any() {
        let (first, end) = reader.counts.of(organization).span(&wanted.cells, wanted.alert_days());
        wanted.span = (first.map(day_start), end.map(day_start));
    }
    wanted.waits = waits(reader, &wanted)?;
    Ok(Some(wanted))
}

/// One alert of an organization by its id.
pub(crate) fn get(reader: &mut Reader, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>> {
    let Some(organization) = reader.organization(organization)? else { return Ok(None) };
    let key = "SELECT key FROM alert WHERE organization = ?1 AND id = ?2";
    let key = reader.conn.first(key, &[&organization, &id], cell)?;
    key.map(|key| reader.alert(key)).transpose()
}

fn total(reader: &Reader, wanted: &Wanted) -> StoreResult<u64> {
    if wanted.is_counted() {
        return Ok(counted(reader, wanted));
    }
    let counting = Sql::new("SELECT count(*) ");
    if wanted.is_texts_only() {
        return Ok(count(&reader.conn, &from_texts(counting, wanted, has_one_organization(&reader.conn)?))?);
    }
    Ok(count(&reader.conn, &from_own_index(counting, wanted, Some(by_words_index(wanted))))?)
}

fn page_keys(
    reader: &mut Reader,
    wanted: &Wanted,
    part: PagePart,
    total: u64,
    matched: Option<Marks>,
) -> StoreResult<Vec<i64>> {
    let column = sort_column(reader, wanted.organization, part.sort.field)?;
    if wanted.is_counted() {
        if part.sort.field == SortField::AlertTimeStamp {
            return by_days(reader, wanted, &column, part, total);
        }
        if let Some(words) = &column.words {
            return in_words(reader, wanted, words, part);
        }
    }
    let all = reader.counts.of(wanted.organization).all();
    if total > FEW
        && let Some(words) = &column.words
    {
        let found = match &matched {
            Some(marks) => marks_in_words(reader, wanted.organization, words, part, marks)?,
            None => {
                let marks = Marks::of(&reader.conn, &matching(wanted))?;
                marks_in_words(reader, wanted.organization, words, part, &marks)?
            }
        };
        if let Some(keys) = found {
            return Ok(keys);
        }
    }
    let Some(index) = column.index else {
        let marks = matched.map_or_else(|| everything(reader, wanted), Ok)?;
        return sorted_marks(&reader.conn, wanted.organization, &column, part, total, &marks);
    };
    if let Some(marks) = matched {
        let near = part.backwards(total).unwrap_or(part);
        if u128::from(total) * u128::from(total) * ROW < u128::from(near.offset + near.limit) * u128::from(all) {
            return sorted_marks(&reader.conn, wanted.organization, &column, part, total, &marks);
        }
        return past_marks(&reader.conn, wanted.organization, (&column, index), part, total, marks);
    }
    let costs = Costs::of(reader, wanted, part, total);
    if costs.walking <= costs.marking.min(costs.sorting)
        && let Some(keys) = walk(reader, wanted, &column, index, part, total)?
    {
        return Ok(keys);
    }
    let marks = everything(reader, wanted)?;
    if costs.sorting < costs.marking {
        return sorted_marks(&reader.conn, wanted.organization, &column, part, total, &marks);
    }
    past_marks(&reader.conn, wanted.organization, (&column, index), part, total, marks)
}

/// Marks everything that matches: by the columns where they tell, else by an index.
pub(super) fn everything(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Marks> {
    match by_words(reader, wanted)? {
        Some(marks) => Ok(marks),
        None => Ok(Marks::of(&reader.conn, &matching(wanted))?),
    }
}

/// Estimated costs of the ways to a page, in steps along an index.
#[derive(Debug, Clone, Copy)]
struct Costs {
    walking: u128,
    marking: u128,
    sorting: u128,
}

impl Costs {
    fn of(reader: &Reader, wanted: &Wanted, part: PagePart, total: u64) -> Self {
        let near = part.backwards(total).unwrap_or(part);
        let (page, total, all) = (
            u128::from(near.offset + near.limit),
            u128::from(total),
            u128::from(reader.counts.of(wanted.organization).all()),
        );
        // Matches are thought of as spread evenly; where they are not, the walk's budget ends it.
        let passed = page * all / total.max(1);
        let counts = reader.counts.of(wanted.organization);
        let within = u128::from(counts.total(&CellFilter::default(), wanted.alert_days()));
        let finding = match () {
            () if wanted.expires.is_some() || wanted.is_in_transaction_time() => total,
            () if wanted.is_texts_only() && wanted.indexed_texts().is_some() => total,
            () if wanted.has_own_index() => total * ROW,
            () if is_by_deadline(wanted) => u128::from(counted(reader, wanted)),
            () => within,
        };
        let walking = match part.sort.field {
            SortField::AlertTimeStamp => page * within / total.max(1),
            // The index holds little but what is asked for.
            SortField::HoursLeft => page,
            _ if wanted.is_in_every_index() => passed,
            _ => passed * ROW,
        };
        let marking = if wanted.is_of_words() { all / COLUMN_SHARE } else { finding + total };
        Self { walking, marking: marking + passed, sorting: finding + total * ROW }
    }
}

/// Returns whether the counts say that everything that matches waits for an answer: each has a deadline then.
fn waits(reader: &mut Reader, wanted: &Wanted) -> StoreResult<bool> {
    if wanted.cells.statuses.is_none() && wanted.cells.outcomes.is_none() {
        return Ok(false);
    }
    let waiting = waiting(reader, wanted)?;
    Ok(counted(reader, wanted) == counted(reader, &waiting))
}

/// The same filter, of what waits for an answer only.
fn waiting(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Wanted> {
    let mut waiting = wanted.clone();
    wait(reader, waiting.organization, &mut waiting.cells)?;
    Ok(waiting)
}

/// Number of matches without a value in the column, as far as the index or the counts tell it. Every stored alert has a
/// deadline.
fn nulls(
    reader: &mut Reader,
    wanted: &Wanted,
    by: (&SortColumn, &str),
    part: PagePart,
    total: u64,
) -> StoreResult<Option<u64>> {
    let valued = match part.sort.field {
        _ if by.0.nulls == Nulls::Never => total,
        // All of them wait for an answer, and none has expired.
        SortField::HoursLeft if wanted.expires.is_some() => total,
        SortField::ExpiredAt if wanted.expires.is_some() => 0,
        SortField::HoursLeft if wanted.is_counted() => {
            let waiting = waiting(reader, wanted)?;
            counted(reader, &waiting)
        }
        SortField::ExpiredAt if wanted.is_counted() => {
            let cells = CellFilter { expired: Some(true), ..wanted.cells.clone() };
            if wanted.cells.expired == Some(false) { 0 } else { counted(reader, &Wanted { cells, ..wanted.clone() }) }
        }
        _ if is_partial(by.1) => return Ok(None),
        _ => {
            let nulls = of_group(Sql::new("SELECT count(*) "), wanted, by, Group::Nulls);
            return reader.budget.run(FEW_STEPS, || count(&reader.conn, &nulls));
        }
    };
    Ok(Some(total.saturating_sub(valued)))
}

/// In the order of the alert time: the counts tell which days the page lies on, and only those are looked at.
fn by_days(reader: &Reader, wanted: &Wanted, column: &SortColumn, part: PagePart, total: u64) -> StoreResult<Vec<i64>> {
    let days = reader.counts.of(wanted.organization).days(&wanted.cells, wanted.span_days());
    let mut days: Box<dyn Iterator<Item = (i64, u64)>> = match part.sort.order {
        SortOrder::Ascending => Box::new(days),
        SortOrder::Descending => Box::new(days.rev()),
    };
    let (mut rest, mut found, mut dated) = (part, Vec::new(), 0);
    while rest.limit > 0
        && let Some((day, alerts)) = days.next()
    {
        dated += alerts;
        if let Some(part) = rest.take(alerts) {
            let one_day = Wanted { span: (Some(day_start(day)), Some(day_start(day + 1))), ..wanted.clone() };
            let mut sql = from_alerts(Sql::new("SELECT a.key "), &one_day, Some(BY_TIME));
            push_direction(&mut sql, Some(&column.value), part.sort.order);
            sql.window(part.offset, part.limit);
            found.extend(keys(&reader.conn, &sql)?);
        }
    }
    // Alerts without a time come last in either direction.
    if let Some(part) = rest.take(total.saturating_sub(dated)) {
        found.extend(walk_group(&reader.conn, wanted, (column, BY_TIME), Group::Nulls, part)?);
    }
    Ok(found)
}

/// In the order of provider, type or status: the counts tell which words the page belongs to.
fn in_words(reader: &mut Reader, wanted: &Wanted, words: &[i64], part: PagePart) -> StoreResult<Vec<i64>> {
    let (mut rest, mut keys) = (part, Vec::new());
    for word in ordered(words, part.sort.order) {
        let mut of_word = wanted.clone();
        let list = words_of(&mut of_word.cells, part.sort.field);
        if rest.limit == 0 || list.as_ref().is_some_and(|wanted| !wanted.contains(&word)) {
            continue;
        }
        *list = Some(vec![word]);
        let alerts = counted(reader, &of_word);
        if let Some(part) = rest.take(alerts) {
            keys.extend(in_word(reader, &of_word, part, alerts)?);
        }
    }
    Ok(keys)
}

/// So many of `total`, which all have the same word, in the order of the id: by walking it a little, else past marks.
fn in_word(reader: &mut Reader, wanted: &Wanted, part: PagePart, total: u64) -> StoreResult<Vec<i64>> {
    let near = part.backwards(total).unwrap_or(part);
    let passed = (near.offset + near.limit).saturating_mul(reader.counts.of(wanted.organization).all()) / total.max(1);
    if passed < MOST_PASSED {
        let mut walk = from_alerts(Sql::new("SELECT a.key "), wanted, Some("alert_by_id"));
        push_direction(&mut walk, None, near.sort.order);
        walk.window(near.offset, near.limit);
        if let Some(keys) = reader.budget.run(FEWEST_STEPS, || keys(&reader.conn, &walk))? {
            return Ok(if near.offset == part.offset { keys } else { reversed(keys) });
        }
    }
    let marks = everything(reader, wanted)?;
    by_id(reader, wanted.organization, part, total, marks)
}

/// Walks the index that is in the order of the sort, each group from the end that is nearer; `None` when the page was
/// not reached within the budget, or where its groups cannot be told.
fn walk(
    reader: &mut Reader,
    wanted: &Wanted,
    column: &SortColumn,
    index: &str,
    part: PagePart,
    total: u64,
) -> StoreResult<Option<Vec<i64>>> {
    let by = (column, index);
    if column.nulls == Nulls::Last && part.backwards(total).is_none() {
        // Mostly a page from the beginning has values alone.
        let walked = |reader: &Reader| walk_group(&reader.conn, wanted, by, Group::Valued, part);
        match limited(reader, wanted, index, || walked(reader))? {
            Some(keys) if keys.len() as u64 == part.limit => return Ok(Some(keys)),
            None => return Ok(None),
            _ => {}
        }
    }
    let Some(nulls) = nulls(reader, wanted, by, part, total)? else { return Ok(None) };
    let mut groups = [(Group::Valued, total.saturating_sub(nulls)), (Group::Nulls, nulls)];
    if column.nulls_come_first(part.sort.order) {
        groups.reverse();
    }
    limited(reader, wanted, index, || {
        let (mut rest, mut found) = (part, Vec::new());
        for (group, alerts) in groups {
            let Some(part) = rest.take(alerts) else { continue };
            let back = part.backwards(alerts);
            let keys = walk_group(&reader.conn, wanted, by, group, back.unwrap_or(part))?;
            found.extend(if back.is_some() { reversed(keys) } else { keys });
        }
        Ok(found)
    })
}

/// Walks under the budget, or to the end where no row has to be read for it.
fn limited<T>(
    reader: &Reader,
    wanted: &Wanted,
    index: &str,
    walk: impl FnOnce() -> rusqlite::Result<T>,
) -> StoreResult<Option<T>> {
    if wanted.is_in_every_index() && !is_partial(index) {
        Ok(Some(walk()?))
    } else {
        reader.budget.run(FEW_STEPS, walk)
    }
}

/// Rows with a value to sort by, or those without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    Valued,
    Nulls,
}

/// Walks a part of a group: rows with a value in its order, those without one by id.
fn walk_group(
    conn: &Connection,
    wanted: &Wanted,
    by: (&SortColumn, &str),
    group: Group,
    part: PagePart,
) -> rusqlite::Result<Vec<i64>> {
    if part.limit == 0 {
        return Ok(Vec::new());
    }
    let mut sql = of_group(Sql::new("SELECT a.key "), wanted, by, group);
    push_direction(&mut sql, (group == Group::Valued).then_some(by.0.value.as_str()), part.sort.order);
    sql.window(part.offset, part.limit);
    keys(conn, &sql)
}

/// FROM and WHERE of a group.
fn of_group(sql: Sql, wanted: &Wanted, (column, index): (&SortColumn, &str), group: Group) -> Sql {
    let index = if group == Group::Nulls { nulls_index(index) } else { index };
    let mut sql = from_alerts(sql, wanted, Some(index));
    if column.nulls != Nulls::Never {
        let is = if group == Group::Nulls { "IS" } else { "IS NOT" };
        sql.push(&format!(" AND {} {is} NULL", column.value));
    }
    sql
}

/// The index to find nulls by: those on deadlines and expiry hold none.
fn nulls_index(index: &str) -> &str {
    if is_partial(index) { "alert_by_id" } else { index }
}

fn count(conn: &Connection, sql: &Sql) -> rusqlite::Result<u64> {
    let counted = keys(conn, sql)?;
    Ok(counted.first().copied().unwrap_or_default().unsigned_abs())
}
