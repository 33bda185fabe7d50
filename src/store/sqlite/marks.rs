//! The bitmap scan of a list. Everything that matches is marked first, each alert by one bit. Then the index in the
//! order of the sort is walked, past the marks and without reading a row.

use fixedbitset::FixedBitSet;
use rusqlite::Connection;

use super::{
    counts::newest_key,
    sql::{Sql, composed, keys},
};
use crate::{
    StoreResult,
    order::{BY_ID, PagePart, SortColumn, is_partial, push_direction, push_order},
};

/// Cost of reading a row, in steps along an index.
pub(super) const ROW: u128 = 20;

/// The keys of the alerts that match and have not been passed yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks(FixedBitSet);

impl Marks {
    /// Marks the keys that a statement selects.
    pub(super) fn of(conn: &Connection, matching: &Sql) -> rusqlite::Result<Self> {
        let mut marks = Self::default();
        marks.add(conn, matching)?;
        Ok(marks)
    }

    /// Marks so many keys by blocks of bits.
    pub(super) fn of_blocks(keys: usize, blocks: impl Iterator<Item = usize>) -> Self {
        Self(FixedBitSet::with_capacity_and_blocks(keys, blocks))
    }

    /// Marks the keys that a statement selects as well.
    pub(super) fn add(&mut self, conn: &Connection, matching: &Sql) -> rusqlite::Result<()> {
        each_key(conn, matching, |key| {
            self.0.grow_and_insert(key);
            true
        })
    }

    /// Marks that are in both.
    pub(super) fn common(mut self, other: &Self) -> Self {
        self.0.intersect_with(&other.0);
        self
    }

    /// Marks that are here and not there.
    pub(super) fn without(mut self, other: &Self) -> Self {
        self.0.difference_with(&other.0);
        self
    }

    /// The first and the last key that is marked.
    pub(super) fn span(&self) -> Option<(i64, i64)> {
        let key = |place: Option<usize>| i64::try_from(place?).ok();
        key(self.0.minimum()).zip(key(self.0.maximum()))
    }

    /// Number of marks.
    pub(super) fn len(&self) -> u64 {
        self.0.count_ones(..) as u64
    }

    /// Of what is marked, what a statement selects as well.
    pub(super) fn and(&self, conn: &Connection, selecting: &Sql) -> rusqlite::Result<Self> {
        let mut both = FixedBitSet::with_capacity(self.0.len());
        each_key(conn, selecting, |key| {
            if self.0.contains(key) {
                both.insert(key);
            }
            true
        })?;
        Ok(Self(both))
    }

    /// Of what is marked, what a statement finds that a key is put behind.
    pub(super) fn tested(&self, conn: &Connection, mut test: Sql) -> rusqlite::Result<Self> {
        test.push(" AND a.key = ");
        test.value(0_i64);
        let mut statement = composed(conn, &test)?;
        let mut both = FixedBitSet::with_capacity(self.0.len());
        for key in self.0.ones() {
            statement.raw_bind_parameter(test.values.len(), i64::try_from(key).unwrap_or(i64::MAX))?;
            if statement.raw_query().next()?.is_some() {
                both.insert(key);
            }
        }
        Ok(Self(both))
    }

    /// A part of what is marked of an organization, in the order of a column, from the end that is nearer: the row of
    /// each is read.
    pub(super) fn sorted(
        &self,
        conn: &Connection,
        organization: i64,
        column: &SortColumn,
        part: PagePart,
    ) -> rusqlite::Result<Vec<i64>> {
        let back = part.backwards(self.len());
        let mut sql = self.rows("a.key", organization);
        push_order(&mut sql, column, part.sort.order, back.is_some());
        sql.window(back.unwrap_or(part).offset, part.limit);
        let keys = keys(conn, &sql)?;
        Ok(if back.is_some() { reversed(keys) } else { keys })
    }

    /// A SELECT from the rows of an organization that are marked.
    pub(super) fn rows(&self, select: &str, organization: i64) -> Sql {
        let mut sql = Sql::new(&format!("SELECT {select} FROM json_each("));
        sql.value(self.to_json());
        sql.with(") marked CROSS JOIN alert a ON a.key = marked.value WHERE a.organization = ", organization);
        sql
    }

    /// Keys that are marked, as an array in JSON.
    fn to_json(&self) -> String {
        // One text that grows: there may be a hundred thousand of them.
        let mut marked = "[".to_owned();
        for key in self.0.ones() {
            if marked.len() > 1 {
                marked.push(',');
            }
            marked.push_str(&key.to_string());
        }
        marked.push(']');
        marked
    }

    /// Returns whether this key is marked.
    pub(super) fn has(&self, key: i64) -> bool {
        usize::try_from(key).is_ok_and(|key| self.0.contains(key))
    }

    /// Removes the mark of this key; returns whether it had one.
    pub(super) fn take(&mut self, key: usize) -> bool {
        let was = self.0.contains(key);
        if was {
            self.0.remove(key);
        }
        was
    }
}

/// A page while it is filled: so many are still to be skipped, so many wanted.
#[derive(Debug)]
struct Window {
    skip: u64,
    left: u64,
    keys: Vec<i64>,
}

impl Window {
    /// Fills in what a statement selects and is marked. Ends where the page is full.
    fn fill(&mut self, conn: &Connection, ordered: &Sql, marks: &mut Marks) -> rusqlite::Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        each_key(conn, ordered, |key| {
            if marks.take(key) {
                if self.skip > 0 {
                    self.skip -= 1;
                } else {
                    self.keys.extend(i64::try_from(key));
                    self.left -= 1;
                }
            }
            self.left > 0
        })
    }
}

/// Walks an index past the marks on everything that matches, from the end that is nearer.
pub(super) fn past_marks(
    conn: &Connection,
    organization: i64,
    column: &SortColumn,
    index: &str,
    part: PagePart,
    marks: Marks,
) -> StoreResult<Vec<i64>> {
    let backwards = is_nearer_to_end(conn, organization, column, part, &marks)?;
    Ok(page(conn, organization, column, index, part, backwards, marks)?)
}

/// A part of what is marked, by walking the index that is in its order, from the beginning or backwards from the end.
fn page(
    conn: &Connection,
    organization: i64,
    column: &SortColumn,
    index: &str,
    part: PagePart,
    backwards: bool,
    mut marks: Marks,
) -> rusqlite::Result<Vec<i64>> {
    let (order, back) = (part.sort.order, part.seen_from_end(marks.len()));
    let mut ordered = of_index(index, organization);
    if is_partial(index) {
        ordered.push(&format!(" AND {} IS NOT NULL", column.value));
    }
    push_order(&mut ordered, column, order, backwards);
    let mut by_id = of_index(BY_ID, organization);
    push_direction(&mut by_id, None, if backwards { order.reversed() } else { order });
    let mut window =
        Window { skip: if backwards { back.offset } else { part.offset }, left: part.limit, keys: Vec::new() };
    // Whatever is still marked once everything on a partial index is passed has no value.
    if !is_partial(index) {
        window.fill(conn, &ordered, &mut marks)?;
    } else if column.nulls.come_first(order, backwards) {
        let mut nulls = marks.clone();
        each_key(conn, &ordered, |key| {
            nulls.take(key);
            true
        })?;
        window.fill(conn, &by_id, &mut nulls)?;
        window.fill(conn, &ordered, &mut marks)?;
    } else {
        window.fill(conn, &ordered, &mut marks)?;
        window.fill(conn, &by_id, &mut marks)?;
    }
    Ok(if backwards { reversed(window.keys) } else { window.keys })
}

pub(super) fn reversed(mut keys: Vec<i64>) -> Vec<i64> {
    keys.reverse();
    keys
}

/// Size of the samples of marked rows and of all alerts that tell the place of a page in an index.
const SAMPLE: usize = 64;

/// Returns whether a page is met sooner from the end of an index. Marked rows may lie close together there, so some of
/// them, and some of all alerts, are put in its order. Where that tells nothing, the smaller number of marked rows
/// before or behind the page decides.
fn is_nearer_to_end(
    conn: &Connection,
    organization: i64,
    column: &SortColumn,
    part: PagePart,
    marks: &Marks,
) -> StoreResult<bool> {
    let (before, behind) = (part.offset, part.seen_from_end(marks.len()).offset);
    let step = usize::try_from(newest_key(conn)?).unwrap_or_default() / SAMPLE + 1;
    let all = Marks((1..).step_by(step).take(SAMPLE).collect());
    let step = marks.0.count_ones(..) / SAMPLE + 1;
    let marked = Marks(marks.0.ones().step_by(step).collect());
    let mut ordered = Marks(&all.0 | &marked.0).rows("a.key", organization);
    push_order(&mut ordered, column, part.sort.order, false);
    let place = before.saturating_mul(marked.len()) / (before + behind).max(1);
    let (mut met, mut passed, mut left) = (0, 0_u64, 0_u64);
    for key in keys(conn, &ordered)? {
        if all.has(key) {
            let side = if met > place { &mut left } else { &mut passed };
            *side += 1;
        }
        met += u64::from(marked.has(key));
    }
    Ok(if passed.abs_diff(left) <= 1 { behind < before } else { left < passed })
}

fn of_index(index: &str, organization: i64) -> Sql {
    let mut sql = Sql::new(&format!("SELECT a.key FROM alert a INDEXED BY {index} WHERE a.organization = "));
    sql.value(organization);
    sql
}

/// Goes through the keys that a statement selects for as long as it is wanted.
pub(super) fn each_key(conn: &Connection, sql: &Sql, mut goes_on: impl FnMut(usize) -> bool) -> rusqlite::Result<()> {
    let mut statement = composed(conn, sql)?;
    let mut rows = statement.raw_query();
    while let Some(row) = rows.next()? {
        let key: i64 = row.get(0)?;
        // Keys count up from 1.
        if !usize::try_from(key).is_ok_and(&mut goes_on) {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::domain::time::Timestamp;
    use crate::domain::{
        Alert, AlertId, AlertPatch, AlertType, Currency, Deadline, Provider, Sort, SortField, SortOrder,
    };
    use crate::sqlite::query::sort_column;
    use crate::sqlite::readers::Reader;
    use crate::sqlite::tests::open;
    use crate::{AlertStore as _, OrganizationStore as _, StoreResult};

    /// One alert an hour, of one type and another; some without a time, with a deadline of their own, or expired.
    fn alert(number: i64) -> Alert {
        let at = |hours: i64| Timestamp::UNIX_EPOCH + chrono::TimeDelta::hours(hours);
        Alert {
            provider_id: format!("P-{number}"),
            currency: Currency::new("EUR"),
            alert_time: (number % 7 != 0).then(|| at(number)),
            deadline: Deadline::At(at(1_000 - number % 5)),
            expired_at: (number % 3 == 0).then(|| at(number % 11)),
            ..Alert::new(
                AlertId::generate(),
                Provider::Ethoca,
                if number % 4 < 2 { AlertType::EthocaConfirmedFraud } else { AlertType::VerifiDispute },
            )
        }
    }

    /// Returns the result of a reader of a store with 60 alerts; it is given the organization's key too.
    pub(in crate::sqlite) async fn reading<T: Send + 'static>(
        work: impl FnOnce(&mut Reader, i64) -> StoreResult<T> + Send + 'static,
    ) -> T {
        let (_directory, store) = open();
        let organization = store.organizations().await.unwrap()[0].organization.id;
        store
            .ingest(organization, (1..=60).map(alert).map(AlertPatch::of).collect(), Timestamp::UNIX_EPOCH)
            .await
            .unwrap();
        let read = store.read_list(organization, move |reader| {
            let key = reader.organization(organization)?.unwrap();
            reader.refresh_counts(key)?;
            work(reader, key)
        });
        read.await.unwrap()
    }

    /// Marks these keys.
    pub(in crate::sqlite) fn marked(reader: &Reader, keys: &str) -> StoreResult<Marks> {
        Ok(Marks::of(&reader.conn, &Sql::new(&format!("SELECT key FROM alert WHERE {keys}")))?)
    }

    #[tokio::test]
    async fn a_page_past_the_marks_is_that_of_what_is_marked_from_either_end() {
        let pages = reading(|reader, organization| {
            let mut pages = Vec::new();
            for field in SortField::ALL {
                let column = sort_column(reader, organization, field)?;
                let Some(index) = column.index else { continue };
                for order in [SortOrder::Ascending, SortOrder::Descending] {
                    let mut sql = Sql::new("SELECT a.key FROM alert a WHERE a.key % 2 = 0");
                    push_order(&mut sql, &column, order, false);
                    let mut expected = Vec::new();
                    each_key(&reader.conn, &sql, |key| {
                        expected.push(i64::try_from(key).unwrap());
                        true
                    })?;
                    for (offset, backwards) in (0..27).flat_map(|offset| [(offset, false), (offset, true)]) {
                        let part = PagePart { sort: Sort { field, order }, offset, limit: 4 };
                        let marks = marked(reader, "key % 2 = 0")?;
                        let found = page(&reader.conn, organization, &column, index, part, backwards, marks)?;
                        let wanted: Vec<i64> =
                            expected.iter().copied().skip(usize::try_from(offset).unwrap()).take(4).collect();
                        pages.push((field, order, backwards, offset, found, wanted));
                    }
                }
            }
            Ok(pages)
        })
        .await;

        assert!(pages.len() > 1_000);
        for (field, order, backwards, offset, found, wanted) in pages {
            assert_eq!(found, wanted, "{field:?} {order:?} {backwards} {offset}");
        }
    }

    #[tokio::test]
    async fn a_page_of_what_lies_at_one_end_is_met_from_there() {
        let nearer = reading(|reader, organization| {
            let mut nearer = Vec::new();
            for (field, keys) in
                [(SortField::AlertTimeStamp, "key > 50"), (SortField::AlertTimeStamp, "1"), (SortField::Currency, "1")]
            {
                let (column, marks) = (sort_column(reader, organization, field)?, marked(reader, keys)?);
                for order in [SortOrder::Ascending, SortOrder::Descending] {
                    for offset in [0, marks.len() - 2] {
                        let part = PagePart { sort: Sort { field, order }, offset, limit: 1 };
                        nearer.push(is_nearer_to_end(&reader.conn, organization, &column, part, &marks)?);
                    }
                }
            }
            Ok(nearer)
        })
        .await;

        let (newest, spread, equal) = (&nearer[..4], &nearer[4..8], &nearer[8..]);
        assert_eq!(newest, [true, true, false, false], "the first ones lie at the end of what ascends");
        assert_eq!(spread, [false, true, false, true]);
        assert_eq!(equal, [false, true, false, true], "equal values tell nothing");
    }
}
