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
//! 4. By putting everything that matches in order ([`Marks::sorted`]).
//!
//! A filter that takes more than one index is marked first, by each of them and by the columns: that is the total as
//! well ([`intersection`](super::intersection)).

use rusqlite::Connection;

use super::{
    budget::{FEW_STEPS, FEWEST_STEPS},
    counts::{Cell, CellFilter, NO_OUTCOME, day_start},
    intersection::{
        BY_DEADLINE, BY_TIME, by_columns, counted, from_alerts, is_by_deadline, matched, matching, own_index,
    },
    marks::{Marks, ROW, past_marks, reversed},
    query::{SortColumn, Wanted, id_column, sort_column},
    readers::Reader,
    sql::{Sql, Statements as _, cell, keys},
};
use crate::{
    StoreResult,
    domain::{
        AlertFilter, AlertId, AlertQuery, AlertStatus, OrganizationId, Page, SharedAlert, SortField, SortOrder,
        time::Timestamp,
    },
    order::{BY_ID, PagePart, is_partial, push_direction, push_order},
};

/// Most alerts that are put in order by reading the row of each where words come first.
const FEW: u64 = 4_000;

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
    let counting = from_alerts(Sql::new("SELECT count(*) "), wanted, Some(own_index(wanted)));
    Ok(count(&reader.conn, &counting)?)
}

fn page_keys(
    reader: &mut Reader,
    wanted: &Wanted,
    part: PagePart,
    total: u64,
    mut marks: Option<Marks>,
) -> StoreResult<Vec<i64>> {
    let column = sort_column(reader, wanted.organization, part.sort.field)?;
    if wanted.is_counted() && part.sort.field == SortField::AlertTimeStamp {
        return by_days(reader, wanted, &column, part, total);
    }
    if let Some(words) = &column.words
        && (wanted.is_counted() || total > FEW)
    {
        if !wanted.is_counted() && marks.is_none() {
            marks = Some(everything(reader, wanted)?);
        }
        if let Some(keys) = by_words(reader, wanted, words, part, marks.as_ref())? {
            return Ok(keys);
        }
    }
    in_order(reader, wanted, &column, part, total, marks)
}

/// A part in the order of a column, by the cheapest way; `marks` are on everything that matches, where they are known.
fn in_order(
    reader: &mut Reader,
    wanted: &Wanted,
    column: &SortColumn,
    part: PagePart,
    total: u64,
    marks: Option<Marks>,
) -> StoreResult<Vec<i64>> {
    let costs = Costs::of(reader, wanted, column, part, total, marks.is_some());
    if let Some(index) = column.index
        && marks.is_none()
        && costs.walking <= costs.marking.min(costs.sorting)
        && let Some(keys) = walk(reader, wanted, column, index, part, total)?
    {
        return Ok(keys);
    }
    let marks = marks.map_or_else(|| everything(reader, wanted), Ok)?;
    match column.index {
        // Alerts that came together have ids near to each other: a walk may pass most others first.
        Some(index) if costs.marking <= costs.sorting && (index != BY_ID || total > FEW) => {
            past_marks(&reader.conn, wanted.organization, column, index, part, marks)
        }
        _ => Ok(marks.sorted(&reader.conn, wanted.organization, column, part)?),
    }
}

/// Marks everything that matches: by the columns where they tell, else by an index.
pub(super) fn everything(reader: &mut Reader, wanted: &Wanted) -> StoreResult<Marks> {
    match by_columns(reader, wanted)? {
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
    fn of(reader: &Reader, wanted: &Wanted, column: &SortColumn, part: PagePart, total: u64, is_marked: bool) -> Self {
        let near = part.backwards(total).unwrap_or(part);
        let counts = reader.counts.of(wanted.organization);
        let (page, total, all) = (u128::from(near.offset + near.limit), u128::from(total), u128::from(counts.all()));
        // Matches are thought of as spread evenly; where they are not, the walk's budget ends it.
        let passed = page * all / total.max(1);
        let within = u128::from(counts.total(&CellFilter::default(), wanted.alert_days()));
        let finding = match () {
            () if is_marked => 0,
            () if wanted.expires.is_some() || wanted.is_timed() => total,
            () if is_by_deadline(wanted) => u128::from(counted(reader, wanted)),
            () => within,
        };
        let walking = match column.index {
            Some(BY_TIME) => page * within / total.max(1),
            // The index holds little but what is asked for.
            Some(BY_DEADLINE) if !has_nulls(wanted, BY_DEADLINE) => page,
            Some(index) if knows_words(wanted, index) => passed,
            _ => passed * ROW,
        };
        let marking = match () {
            () if is_marked => 0,
            () if wanted.is_of_words() => all / COLUMN_SHARE,
            () => finding + total,
        };
        Self { walking, marking: marking + passed, sorting: finding + total * ROW }
    }
}

/// Returns whether what matches may have no value to sort by, and so no place in a partial index.
fn has_nulls(wanted: &Wanted, index: &str) -> bool {
    match index {
        BY_DEADLINE => !wanted.waits && wanted.expires.is_none(),
        _ => is_partial(index) && wanted.cells.expired != Some(true),
    }
}

/// Returns whether an index in the order of a sort knows all that is asked for.
fn knows_words(wanted: &Wanted, index: &str) -> bool {
    wanted.is_in_every_index() && !is_partial(index) && index != BY_ID
}

/// Returns whether the counts say that everything that matches waits for an answer: each has a deadline then.
fn waits(reader: &mut Reader, wanted: &Wanted) -> StoreResult<bool> {
    if wanted.cells.statuses.is_none() && wanted.cells.outcomes.is_none() {
        return Ok(false);
    }
    let expired = reader.dictionary.words.find(&reader.conn, AlertStatus::Expired.as_str())?;
    let is_over = |cell: &Cell| cell.outcome != NO_OUTCOME || Some(cell.status) == expired;
    let counts = reader.counts.of(wanted.organization);
    Ok(counts.total_of(|cell| wanted.cells.matches(cell) && is_over(cell), wanted.alert_days()) == 0)
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
        let mut sql = from_alerts(Sql::new("SELECT a.key "), wanted, Some(BY_TIME));
        sql.push(" AND a.alert_time IS NULL");
        push_direction(&mut sql, None, part.sort.order);
        sql.window(part.offset, part.limit);
        found.extend(keys(&reader.conn, &sql)?);
    }
    Ok(found)
}

/// In the order of provider, type or status, one word after the other: the counts tell the number of each, or else the
/// marks on everything that matches and the columns. Nothing where the columns do not tell.
fn by_words(
    reader: &mut Reader,
    wanted: &Wanted,
    words: &[i64],
    part: PagePart,
    marks: Option<&Marks>,
) -> StoreResult<Option<Vec<i64>>> {
    let mut words = words.to_vec();
    if part.sort.order == SortOrder::Descending {
        words.reverse();
    }
    let (mut rest, mut found) = (part, Vec::new());
    for word in words {
        let mut of_word = wanted.clone();
        let list = match part.sort.field {
            SortField::Provider => &mut of_word.cells.providers,
            SortField::Type => &mut of_word.cells.types,
            _ => &mut of_word.cells.statuses,
        };
        if rest.limit == 0 || list.as_ref().is_some_and(|wanted| !wanted.contains(&word)) {
            continue;
        }
        *list = Some(vec![word]);
        let marked = match marks {
            None => None,
            Some(marks) => match reader.having(wanted.organization, &of_word.cells, None)? {
                Some(having) => Some(having.common(marks)),
                None => return Ok(None),
            },
        };
        let alerts = marked.as_ref().map_or_else(|| counted(reader, &of_word), Marks::len);
        if let Some(part) = rest.take(alerts) {
            found.extend(in_order(reader, &of_word, &id_column(), part, alerts, marked)?);
        }
    }
    Ok(Some(found))
}

/// Walks the index that is in the order of the sort from the end that is nearer; `None` when the page was not reached
/// within the budget. Rows without a value are walked apart, by id, where the index holds none.
fn walk(
    reader: &Reader,
    wanted: &Wanted,
    column: &SortColumn,
    index: &str,
    part: PagePart,
    total: u64,
) -> StoreResult<Option<Vec<i64>>> {
    let backwards = part.backwards(total);
    let value = &column.value;
    let mut groups = vec![(index, if is_partial(index) { format!(" AND {value} IS NOT NULL") } else { String::new() })];
    groups.extend(has_nulls(wanted, index).then(|| (BY_ID, format!(" AND {value} IS NULL"))));
    if column.nulls.come_first(part.sort.order, backwards.is_some()) {
        groups.reverse();
    }
    let walked = || {
        let (mut rest, mut found) = (backwards.unwrap_or(part), Vec::new());
        for (index, condition) in groups {
            let from = |select| {
                let mut sql = from_alerts(Sql::new(select), wanted, Some(index));
                sql.push(&condition);
                sql
            };
            let mut page = from("SELECT a.key ");
            push_order(&mut page, column, part.sort.order, backwards.is_some());
            page.window(rest.offset, rest.limit);
            let keys = keys(&reader.conn, &page)?;
            match keys.len() as u64 {
                0 => rest.offset = rest.offset.saturating_sub(count(&reader.conn, &from("SELECT count(*) "))?),
                some => (rest.offset, rest.limit) = (0, rest.limit - some),
            }
            found.extend(keys);
            if rest.limit == 0 {
                break;
            }
        }
        Ok(if backwards.is_some() { reversed(found) } else { found })
    };
    if knows_words(wanted, index) {
        return Ok(Some(walked()?));
    }
    reader.budget.run(if index == BY_ID { FEWEST_STEPS } else { FEW_STEPS }, walked)
}

fn count(conn: &Connection, sql: &Sql) -> rusqlite::Result<u64> {
    let counted = keys(conn, sql)?;
    Ok(counted.first().copied().unwrap_or_default().unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Sort, time::Timestamp};
    use crate::sqlite::marks::tests::{marked, reading};

    /// Everything of an organization.
    fn everything_of(reader: &mut Reader, organization: i64) -> StoreResult<Wanted> {
        Wanted::new(reader, organization, &AlertFilter::default(), Timestamp::UNIX_EPOCH)
    }

    #[tokio::test]
    async fn a_page_of_what_is_marked_is_that_of_its_order() {
        let pages = reading(|reader, organization| {
            let (wanted, mut pages) = (everything_of(reader, organization)?, Vec::new());
            for (field, order) in
                SortField::ALL.into_iter().flat_map(|field| SortOrder::ALL.map(|order| (field, order)))
            {
                let column = sort_column(reader, organization, field)?;
                let mut sql = Sql::new("SELECT a.key FROM alert a WHERE a.key % 2 = 0");
                push_order(&mut sql, &column, order, false);
                let expected = keys(&reader.conn, &sql)?;
                for offset in 0..expected.len() {
                    let part = PagePart {
                        sort: Sort { field, order },
                        offset: offset as u64,
                        limit: (expected.len() - offset).min(4) as u64,
                    };
                    let marks = marked(reader, "key % 2 = 0")?;
                    let found = match (&column.words, column.index) {
                        (Some(words), _) => by_words(reader, &wanted, words, part, Some(&marks))?.unwrap(),
                        (None, Some(index)) => past_marks(&reader.conn, organization, &column, index, part, marks)?,
                        (None, None) => unreachable!("every other order has an index"),
                    };
                    let wanted: Vec<i64> = expected.iter().copied().skip(offset).take(4).collect();
                    pages.push((field, order, offset, found, wanted));
                }
            }
            Ok(pages)
        })
        .await;

        assert!(pages.len() > 500);
        for (field, order, offset, found, wanted) in pages {
            assert_eq!(found, wanted, "{field:?} {order:?} {offset}");
        }
    }

    #[tokio::test]
    async fn a_page_is_the_same_by_walking_as_by_sorting() {
        let pages = reading(|reader, organization| {
            let (wanted, mut pages) = (everything_of(reader, organization)?, Vec::new());
            for (field, order) in
                SortField::ALL.into_iter().flat_map(|field| SortOrder::ALL.map(|order| (field, order)))
            {
                let column = sort_column(reader, organization, field)?;
                let Some(index) = column.index else { continue };
                let marks = marked(reader, "1")?;
                for offset in 0..57 {
                    let part = PagePart { sort: Sort { field, order }, offset, limit: 4 };
                    let walked = walk(reader, &wanted, &column, index, part, marks.len())?.unwrap();
                    pages.push((part, walked, marks.sorted(&reader.conn, organization, &column, part)?));
                }
            }
            Ok(pages)
        })
        .await;

        assert!(pages.len() > 500);
        for (part, walked, sorted) in pages {
            assert_eq!((walked.len(), &walked), (4, &sorted), "{part:?}");
        }
    }

    #[tokio::test]
    async fn what_another_organization_has_is_on_no_page() {
        let found = reading(|reader, organization| {
            let (wanted, mut found) = (everything_of(reader, organization + 1)?, Vec::new());
            for field in SortField::ALL {
                let (column, marks) = (sort_column(reader, organization, field)?, marked(reader, "1")?);
                let part = PagePart { sort: Sort { field, ..Sort::default() }, offset: 0, limit: 4 };
                found.extend(match (&column.words, column.index) {
                    (None, Some(index)) => past_marks(&reader.conn, organization + 1, &column, index, part, marks)?,
                    _ => {
                        let words = column.words.as_deref().unwrap_or_default();
                        by_words(reader, &wanted, words, part, Some(&marks))?.unwrap()
                    }
                });
            }
            Ok(found)
        })
        .await;

        assert_eq!(found, [0; 0]);
    }

    #[tokio::test]
    async fn ids_are_in_order_whether_rows_are_read_or_their_index_is_walked() {
        let pages = reading(|reader, organization| {
            let mut pages = Vec::new();
            for (order, offset) in SortOrder::ALL.into_iter().flat_map(|order| [0, 7, 26].map(|offset| (order, offset)))
            {
                let part = PagePart { sort: Sort { order, ..Sort::default() }, offset, limit: 4 };
                let (column, marks) = (id_column(), marked(reader, "key % 2 = 0")?);
                let read = marks.sorted(&reader.conn, organization, &column, part)?;
                pages.push((read, past_marks(&reader.conn, organization, &column, BY_ID, part, marks)?));
            }
            Ok(pages)
        })
        .await;

        for (read, walked) in pages {
            assert_eq!((read.len(), &read), (4, &walked));
        }
    }
}
