//! A filter as SQL conditions, a sort as an ORDER BY: the meaning of `AlertFilter` and `Sort` in the columns of `alert`.

use chrono::{Duration, NaiveDate, NaiveTime};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::counts::{CellFilter, CountCache, DAY_MICROS};
use super::interned::Dictionary;
use super::rows::{micros, searchable};
use crate::domain::filter::fold;
use crate::domain::time::Timestamp;
use crate::domain::{AlertFilter, SortField, SortOrder};
use crate::store::StoreResult;

/// From the first on, before the second.
pub(super) type Range = (Option<i64>, Option<i64>);

/// What `q` asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Search {
    /// Three characters or more: the trigram index answers.
    Indexed(String),
    /// One or two characters: the searched text of every alert is looked through.
    Short(String),
}

/// A filter with words and ids replaced by their keys.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) organization: i64,
    /// What the counts know.
    pub(super) cells: CellFilter,
    pub(super) alert_time: Range,
    pub(super) transaction_time: Range,
    pub(super) descriptor: Option<(String, Option<String>)>,
    pub(super) companies: Option<Vec<i64>>,
    /// Open deadlines up to this moment, or any.
    pub(super) expires: Option<Option<i64>>,
    pub(super) search: Option<Search>,
}

impl Wanted {
    /// Reads a filter. Words and companies that no alert has become keys that no alert has.
    pub(super) fn new(
        conn: &Connection,
        dictionary: &mut Dictionary,
        organization: i64,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Self> {
        let cells = CellFilter {
            providers: words(conn, dictionary, filter.providers.iter().map(|word| word.as_str().to_owned()))?,
            types: words(conn, dictionary, filter.types.iter().map(|word| word.as_str().to_owned()))?,
            statuses: words(conn, dictionary, filter.statuses.iter().map(|word| word.as_str().to_owned()))?,
            outcomes: words(conn, dictionary, filter.outcomes.iter().map(|word| fold(word)))?,
            expired: filter.expired,
        };
        let companies = if filter.companies.is_empty() {
            None
        } else {
            let keys: StoreResult<Vec<_>> = filter.companies.iter().map(|id| dictionary.ids.find(conn, id.0.as_bytes())).collect();
            Some(keys?.into_iter().flatten().collect())
        };
        let limit = |hours: u32| now.checked_add_signed(Duration::hours(hours.into())).map(micros);
        Ok(Self {
            organization,
            cells,
            alert_time: days(filter.start_date, filter.end_date),
            transaction_time: days(filter.transaction_start_date, filter.transaction_end_date),
            descriptor: filter.descriptor.as_deref().map(fold).filter(|prefix| !prefix.is_empty()).map(|prefix| {
                let end = after_prefix(&prefix);
                (prefix, end)
            }),
            companies,
            expires: filter.expires_in.map(limit),
            search: filter
                .q
                .as_deref()
                .map(searchable)
                .filter(|q| !q.is_empty())
                .map(|q| if q.chars().nth(2).is_some() { Search::Indexed(q) } else { Search::Short(q) }),
        })
    }

    /// Whether it asks for words or companies that no alert has.
    pub(super) fn is_impossible(&self) -> bool {
        let cells = &self.cells;
        [&cells.providers, &cells.types, &cells.statuses, &cells.outcomes, &self.companies].into_iter().flatten().any(Vec::is_empty)
    }

    /// Whether the counts alone know the total.
    pub(super) fn is_counted(&self) -> bool {
        self.transaction_time == (None, None)
            && self.descriptor.is_none()
            && self.companies.is_none()
            && self.expires.is_none()
            && self.search.is_none()
    }

    /// Whether a condition has an index of its own, through which everything that matches is found without looking at the rest.
    pub(super) fn has_own_index(&self) -> bool {
        self.expires.is_some()
            || self.descriptor.is_some()
            || self.transaction_time != (None, None)
            || matches!(self.search, Some(Search::Indexed(_)))
    }

    /// Whether the search is all there is.
    pub(super) fn is_search_only(&self) -> bool {
        let cells = &self.cells;
        let any_cell = cells.providers.is_none() && cells.types.is_none() && cells.statuses.is_none() && cells.outcomes.is_none();
        let others = Self { search: None, ..self.clone() };
        any_cell && cells.expired.is_none() && self.alert_time == (None, None) && others.is_counted()
    }

    /// The days of [`Wanted::alert_time`], whole days both.
    pub(super) fn alert_days(&self) -> Range {
        let day = |at: Option<i64>| at.map(|micros| micros.div_euclid(DAY_MICROS));
        (day(self.alert_time.0), day(self.alert_time.1))
    }

    /// Adds every condition but the search.
    pub(super) fn push_conditions(&self, sql: &mut Sql) {
        sql.push(" WHERE a.organization = ");
        sql.value(self.organization);
        sql.range("a.alert_time", self.alert_time);
        let cells = &self.cells;
        for (column, keys) in [
            ("a.provider", &cells.providers),
            ("a.type", &cells.types),
            ("a.status", &cells.statuses),
            ("a.outcome", &cells.outcomes),
            ("a.company", &self.companies),
        ] {
            if let Some(keys) = keys {
                sql.one_of(column, keys);
            }
        }
        match cells.expired {
            Some(true) => sql.push(" AND a.expired_at IS NOT NULL"),
            Some(false) => sql.push(" AND a.expired_at IS NULL"),
            None => {}
        }
        sql.range("a.transaction_time", self.transaction_time);
        if let Some((from, until)) = &self.descriptor {
            sql.push(" AND a.descriptor_folded >= ");
            sql.value(from.clone());
            if let Some(until) = until {
                sql.push(" AND a.descriptor_folded < ");
                sql.value(until.clone());
            }
        }
        match self.expires {
            Some(Some(limit)) => {
                sql.push(" AND a.expired_at IS NULL AND a.open_deadline <= ");
                sql.value(limit);
            }
            Some(None) => sql.push(" AND a.expired_at IS NULL AND a.open_deadline IS NOT NULL"),
            None => {}
        }
    }

    /// Adds the search as a test of each row that comes from elsewhere.
    pub(super) fn push_search_test(&self, sql: &mut Sql) {
        if let Some(Search::Indexed(text) | Search::Short(text)) = &self.search {
            sql.push(" AND instr((SELECT s.text FROM alert_search s WHERE s.alert = a.key), ");
            sql.value(text.clone());
            sql.push(") > 0");
        }
    }
}

fn words(conn: &Connection, dictionary: &mut Dictionary, wanted: impl Iterator<Item = String>) -> StoreResult<Option<Vec<i64>>> {
    let keys: StoreResult<Vec<_>> = wanted.map(|word| dictionary.words.find(conn, &word)).collect();
    let keys = keys?;
    // An empty list means any; a list of words that nobody has means none.
    Ok(if keys.is_empty() { None } else { Some(keys.into_iter().flatten().collect()) })
}

/// Whole UTC days, both ends included.
fn days(start: Option<NaiveDate>, end: Option<NaiveDate>) -> Range {
    let midnight = |day: NaiveDate| micros(day.and_time(NaiveTime::MIN).and_utc());
    // A bound that is given is never dropped, not even after the last day there is: alerts without a time do not match it.
    (start.map(midnight), end.map(|day| day.succ_opt().map_or(i64::MAX, midnight)))
}

/// The first text after every text that begins with this prefix; `None` where there is none.
fn after_prefix(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        if let Some(next) = (last..=char::MAX).nth(1) {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// SQL under construction, with its values.
#[derive(Debug, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<Value>,
}

impl Sql {
    /// Begins with this text.
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), values: Vec::new() }
    }

    /// Adds text.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a value.
    pub(super) fn value(&mut self, value: impl Into<Value>) {
        self.text.push('?');
        self.values.push(value.into());
    }

    fn one_of(&mut self, column: &str, keys: &[i64]) {
        match keys {
            [key] => {
                self.push(&format!(" AND {column} = "));
                self.value(*key);
            }
            // With a plus sign, so that the planner tests the rows of the index it was given and does not merge its parts.
            keys => {
                self.push(&format!(" AND +{column} IN ("));
                for (index, key) in keys.iter().enumerate() {
                    if index > 0 {
                        self.push(",");
                    }
                    self.value(*key);
                }
                self.push(")");
            }
        }
    }

    /// Adds the condition that a column is within a range.
    pub(super) fn range(&mut self, column: &str, (from, until): Range) {
        if let Some(from) = from {
            self.push(&format!(" AND {column} >= "));
            self.value(from);
        }
        if let Some(until) = until {
            self.push(&format!(" AND {column} < "));
            self.value(until);
        }
    }
}

/// Where a sort's value comes from.
#[derive(Debug, Clone)]
pub(super) struct SortColumn {
    /// The column or expression.
    pub(super) value: String,
    /// The index that is in its order, where there is one.
    pub(super) index: Option<&'static str>,
    /// Whether it can be null.
    pub(super) nullable: bool,
}

/// The column of a sort field. `counts` tells which words there are.
pub(super) fn sort_column(
    conn: &Connection,
    dictionary: &mut Dictionary,
    counts: &CountCache,
    field: SortField,
) -> StoreResult<SortColumn> {
    let nullable = |value: &str, index| SortColumn { value: value.to_owned(), index, nullable: true };
    let text = |value: &str, index| SortColumn { value: value.to_owned(), index, nullable: false };
    let word = |dictionary: &mut Dictionary, column: &str, keys: Vec<i64>| -> StoreResult<SortColumn> {
        let words: StoreResult<Vec<_>> = keys.into_iter().map(|key| Ok((dictionary.words.value(conn, key)?, key))).collect();
        let mut words = words?;
        words.sort();
        let ranks: String = words.iter().enumerate().map(|(rank, (_, key))| format!(" WHEN {key} THEN {rank}")).collect();
        // A CASE without branches is no SQL; without words there are no alerts.
        let value = if ranks.is_empty() { "0".to_owned() } else { format!("CASE {column}{ranks} END") };
        Ok(SortColumn { value, index: None, nullable: false })
    };
    Ok(match field {
        SortField::AlertTimeStamp => nullable("a.alert_time", Some("alert_by_time")),
        SortField::TransactionTimeStamp => nullable("a.transaction_time", Some("alert_by_transaction_time")),
        SortField::CreatedAt => nullable("a.created_at", None),
        SortField::UpdatedAt => nullable("a.updated_at", Some("alert_by_updated_at")),
        SortField::ExpiredAt => nullable("a.expired_at", None),
        SortField::Amount => nullable("a.amount_micros", Some("alert_by_amount")),
        SortField::Currency => text("a.currency", None),
        SortField::Provider => word(dictionary, "a.provider", counts.occurring(|cell| cell.provider))?,
        SortField::ProviderId => text("a.provider_id", Some("alert_by_identity")),
        SortField::Type => word(dictionary, "a.type", counts.occurring(|cell| cell.alert_type))?,
        SortField::Status => word(dictionary, "a.status", counts.occurring(|cell| cell.status))?,
        SortField::Issuer => text("a.issuer", None),
        SortField::MerchantDescriptor => text("a.merchant_descriptor", None),
        SortField::MerchantName => text("a.merchant_name", None),
        SortField::CardBin => text("a.card_bin", None),
        SortField::CardLastFour => text("a.card_last_four", None),
        SortField::HoursLeft => nullable("a.waiting_deadline", Some("alert_by_waiting_deadline")),
    })
}

/// The ORDER BY of a whole sort, nulls last in either direction.
pub(super) fn push_order(sql: &mut Sql, column: &SortColumn, order: SortOrder) {
    sql.push(" ORDER BY ");
    if column.nullable {
        sql.push(&format!("{} IS NULL, ", column.value));
    }
    push_terms(sql, Some(&column.value), order);
}

/// The ORDER BY of rows that all have a value to sort by, or none.
pub(super) fn push_direction(sql: &mut Sql, value: Option<&str>, order: SortOrder) {
    sql.push(" ORDER BY ");
    push_terms(sql, value, order);
}

fn push_terms(sql: &mut Sql, value: Option<&str>, order: SortOrder) {
    let direction = match order {
        SortOrder::Ascending => "ASC",
        SortOrder::Descending => "DESC",
    };
    if let Some(value) = value {
        sql.push(&format!("{value} {direction}, "));
    }
    sql.push(&format!("a.id {direction}"));
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("acme", Some("acmf"))]
    #[case("a\u{10ffff}", Some("b"))]
    #[case("\u{d7ff}", Some("\u{e000}"))]
    #[case("\u{10ffff}", None)]
    fn a_prefix_ends_before_the_next_text(#[case] prefix: &str, #[case] end: Option<&str>) {
        assert_eq!(after_prefix(prefix).as_deref(), end);
    }
}
