//! Pages of marked rows, in every order: by walking an index past the marks, or by reading the rows of a few. Columns
//! that tell the words allow one after the other.

use rusqlite::Connection;

use super::{
    counts::{CellFilter, NO_OUTCOME},
    marks::{self, Marks},
    query::{SortColumn, id_column},
    readers::Reader,
};
use crate::{
    StoreResult,
    domain::{AlertStatus, SortField, SortOrder},
    order::PagePart,
};

/// Most alerts that are put in order by reading the row of each.
pub(super) const FEW: u64 = 4_000;

/// Puts the marked rows in order, from the end that is nearer.
pub(super) fn sorted_marks(
    conn: &Connection,
    organization: i64,
    column: &SortColumn,
    part: PagePart,
    total: u64,
    marks: &Marks,
) -> StoreResult<Vec<i64>> {
    let back = part.backwards(total);
    let window = (back.unwrap_or(part).offset, part.limit);
    let keys = marks.sorted(conn, organization, column, (part.sort.order, back.is_some()), window)?;
    Ok(if back.is_some() { reversed(keys) } else { keys })
}

/// Walks an index past the marks on everything that matches, from the end that is nearer.
pub(super) fn past_marks(
    conn: &Connection,
    organization: i64,
    (column, index): (&SortColumn, &str),
    part: PagePart,
    total: u64,
    marks: Marks,
) -> StoreResult<Vec<i64>> {
    let back = part.seen_from_end(total);
    let backwards =
        marks::is_nearer_to_end(conn, organization, column, part.sort.order, (part.offset, back.offset), &marks)?;
    let window = (if backwards { back.offset } else { part.offset }, part.limit);
    let keys = marks::page(conn, organization, (column, index), (part.sort.order, backwards), window, marks)?;
    Ok(if backwards { reversed(keys) } else { keys })
}

/// Leaves of the words those of what waits for an answer.
pub(super) fn wait(reader: &mut Reader, organization: i64, cells: &mut CellFilter) -> StoreResult<()> {
    let expired = reader.dictionary.words.find(&reader.conn, AlertStatus::Expired.as_str())?;
    let statuses = cells.statuses.get_or_insert_with(|| reader.counts.of(organization).occurring(|cell| cell.status));
    statuses.retain(|status| Some(*status) != expired);
    let outcomes = cells.outcomes.get_or_insert_with(|| vec![NO_OUTCOME]);
    outcomes.retain(|outcome| *outcome == NO_OUTCOME);
    Ok(())
}

/// The same order of words as a sort asks for.
pub(super) fn ordered(words: &[i64], order: SortOrder) -> Box<dyn Iterator<Item = i64> + '_> {
    match order {
        SortOrder::Ascending => Box::new(words.iter().copied()),
        SortOrder::Descending => Box::new(words.iter().rev().copied()),
    }
}

/// The words of a filter that an order of words is about.
pub(super) fn words_of(cells: &mut CellFilter, field: SortField) -> &mut Option<Vec<i64>> {
    match field {
        SortField::Provider => &mut cells.providers,
        SortField::Type => &mut cells.types,
        _ => &mut cells.statuses,
    }
}

/// So many of what is marked, in the order of provider, type or status; nothing where the columns do not tell the
/// words.
pub(super) fn marks_in_words(
    reader: &mut Reader,
    organization: i64,
    words: &[i64],
    part: PagePart,
    marks: &Marks,
) -> StoreResult<Option<Vec<i64>>> {
    let (mut rest, mut keys) = (part, Vec::new());
    for word in ordered(words, part.sort.order) {
        if rest.limit == 0 {
            break;
        }
        let mut cells = CellFilter::default();
        *words_of(&mut cells, part.sort.field) = Some(vec![word]);
        let Some(having) = reader.having(organization, &cells, None)? else { return Ok(None) };
        let of_word = marks.clone().common(&having);
        let alerts = of_word.len();
        if let Some(part) = rest.take(alerts) {
            keys.extend(by_id(reader, organization, part, alerts, of_word)?);
        }
    }
    Ok(Some(keys))
}

/// So many of what is marked, in the order of the id.
pub(super) fn by_id(
    reader: &Reader,
    organization: i64,
    part: PagePart,
    total: u64,
    marks: Marks,
) -> StoreResult<Vec<i64>> {
    let column = id_column();
    if total <= FEW {
        return sorted_marks(&reader.conn, organization, &column, part, total, &marks);
    }
    past_marks(&reader.conn, organization, (&column, "alert_by_id"), part, total, marks)
}

pub(super) fn reversed(mut keys: Vec<i64>) -> Vec<i64> {
    keys.reverse();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Sort;
    use crate::order::push_order;
    use crate::sqlite::marks::tests::{marked, reading};
    use crate::sqlite::query::sort_column;
    use crate::sqlite::sql::{Sql, keys};

    #[tokio::test]
    async fn a_page_of_what_is_marked_is_that_of_its_order() {
        let pages = reading(|reader, organization| {
            let mut pages = Vec::new();
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
                    let (marks, total) = (marked(reader, "key % 2 = 0")?, expected.len() as u64);
                    let found = match (&column.words, column.index) {
                        (Some(words), _) => marks_in_words(reader, organization, words, part, &marks)?.unwrap(),
                        (None, Some(index)) => {
                            past_marks(&reader.conn, organization, (&column, index), part, total, marks)?
                        }
                        (None, None) => unreachable!("every other order has an index"),
                    };
                    pages.push((
                        field,
                        order,
                        offset,
                        found,
                        expected.iter().copied().skip(offset).take(4).collect::<Vec<_>>(),
                    ));
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
    async fn what_another_organization_has_is_on_no_page() {
        let found = reading(|reader, organization| {
            let mut found = Vec::new();
            for field in SortField::ALL {
                let (column, marks) = (sort_column(reader, organization, field)?, marked(reader, "1")?);
                let part = PagePart { sort: Sort { field, ..Sort::default() }, offset: 0, limit: 4 };
                found.extend(match (&column.words, column.index) {
                    (None, Some(index)) => {
                        past_marks(&reader.conn, organization + 1, (&column, index), part, 60, marks)?
                    }
                    _ => marks_in_words(
                        reader,
                        organization + 1,
                        column.words.as_deref().unwrap_or_default(),
                        part,
                        &marks,
                    )?
                    .unwrap(),
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
                let marks = marked(reader, "key % 2 = 0")?;
                let total = marks.len();
                let read = by_id(reader, organization, part, total, marks.clone())?;
                pages.push((
                    read,
                    past_marks(&reader.conn, organization, (&id_column(), "alert_by_id"), part, total, marks)?,
                ));
            }
            Ok(pages)
        })
        .await;

        for (read, walked) in pages {
            assert_eq!((read.len(), &read), (4, &walked));
        }
    }
}
