//! The query builder: a filter as SQL conditions, a sort as an ORDER BY; the meaning of `AlertFilter` and `Sort` in the
//! columns of `alert`.

use rusqlite::Connection;

use super::{
    counts::{Cell, CellFilter, DAY_MICROS},
    interned::Dictionary,
    readers::Reader,
    sql::{Range, Sql, Statements as _, cell, phrase},
};
pub(super) use crate::order::SortColumn;
use crate::{
    StoreResult,
    domain::{AlertFilter, AlertType, SortField, fold::fold, time::Timestamp},
    filter::{Condition, FilterRanges, distinct, is_indexed, push_times},
    order::{self, BY_ID, Nulls, OrderColumn},
};

/// A compiled filter, with words and ids replaced by their keys.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) organization: i64,
    /// Words that the counts know.
    pub(super) cells: CellFilter,
    pub(super) alert_time: Range,
    pub(super) transaction_time: Range,
    pub(super) companies: Option<Vec<i64>>,
    /// Open deadlines up to this moment, or any.
    pub(super) expires: Option<Option<i64>>,
    /// Texts that the searched text has to contain: `q`, and the beginning of the descriptor.
    pub(super) texts: Vec<String>,
    pub(super) conditions: Vec<Condition>,
    /// Range of the matches by the counts, within [`Wanted::alert_time`]; a help for walks by the alert time.
    pub(super) span: Range,
    /// True where the counts say that everything that matches waits for an answer.
    pub(super) waits: bool,
}

impl Wanted {
    /// Reads a filter. Words and companies that no alert has become keys that no alert has. The counts tell which types
    /// there are.
    pub(super) fn new(
        reader: &mut Reader,
        organization: i64,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Self> {
        let Reader { conn, dictionary, counts, .. } = reader;
        let FilterRanges { alert_time, transaction_time, expires, texts } = FilterRanges::of(filter, now);
        let AlertFilter { providers, types, statuses, outcomes, companies, conditions, .. } = filter;
        let mut types = words(conn, dictionary, types.iter().map(|word| word.as_str().to_owned()))?;
        if let Some(wanted) = conditions.notices {
            let notices = notice_keys(conn, dictionary)?;
            let mut keys = types.unwrap_or_else(|| counts.of(organization).occurring(|cell| cell.alert_type));
            keys.retain(|key| notices.contains(key) == wanted);
            types = Some(keys);
        }
        let cells = CellFilter {
            providers: words(conn, dictionary, providers.iter().map(|word| word.as_str().to_owned()))?,
            types,
            statuses: words(conn, dictionary, statuses.iter().map(|word| word.as_str().to_owned()))?,
            outcomes: words(conn, dictionary, outcomes.iter().map(|word| fold(word)))?,
            expired: filter.expired,
        };
        let companies = if companies.is_empty() {
            None
        } else {
            let keys: StoreResult<Vec<_>> =
                companies.iter().map(|id| dictionary.ids.find(conn, id.0.as_bytes())).collect();
            Some(keys?.into_iter().flatten().collect())
        };
        let names = (!conditions.issuers.is_empty())
            .then(|| conn.all(&distinct("issuer"), &[&organization], cell))
            .transpose()?;
        Ok(Self {
            organization,
            cells,
            alert_time,
            transaction_time,
            companies,
            expires,
            texts,
            conditions: Condition::all_of(conditions, names),
            span: alert_time,
            waits: false,
        })
    }

    /// Returns whether it asks for words or companies that no alert has, or for conditions that none can fulfil.
    pub(super) fn is_impossible(&self) -> bool {
        let cells = &self.cells;
        [&cells.providers, &cells.types, &cells.statuses, &cells.outcomes, &self.companies]
            .into_iter()
            .flatten()
            .any(Vec::is_empty)
            || self.conditions.iter().any(Condition::is_impossible)
    }

    /// Returns whether the counts alone know the total.
    pub(super) fn is_counted(&self) -> bool {
        !self.is_timed()
            && self.companies.is_none()
            && self.expires.is_none()
            && self.texts.is_empty()
            && self.conditions.is_empty()
    }

    /// Returns whether a time of the transaction is asked for.
    pub(super) fn is_timed(&self) -> bool {
        self.transaction_time != (None, None)
    }

    /// Returns whether nothing is asked for but words and companies.
    pub(super) fn is_of_words(&self) -> bool {
        Self { cells: CellFilter::default(), companies: None, ..self.clone() }.is_everything()
    }

    /// Returns whether an index on any order knows all that is asked for: the network, the type and the company.
    pub(super) fn is_in_every_index(&self) -> bool {
        let cells = CellFilter { providers: None, types: None, ..self.cells.clone() };
        cells.is_any() && self.alert_time == (None, None) && Self { companies: None, ..self.clone() }.is_counted()
    }

    /// Returns whether the index of transaction times knows all that is asked for.
    pub(super) fn is_in_transaction_time(&self) -> bool {
        self.is_timed() && Self { transaction_time: (None, None), ..self.clone() }.is_in_every_index()
    }

    /// Returns whether every alert is wanted.
    pub(super) fn is_everything(&self) -> bool {
        self.cells.is_any() && self.alert_time == (None, None) && self.is_counted()
    }

    /// Expression for the trigram index: every text of three characters or more, each as a phrase, which is a substring
    /// exactly.
    pub(super) fn indexed_texts(&self) -> Option<String> {
        let phrases: Vec<String> = self.texts.iter().filter(|text| is_indexed(text)).map(|text| phrase(text)).collect();
        if phrases.is_empty() { None } else { Some(phrases.join(" AND ")) }
    }

    /// The texts that the trigram index is too coarse for.
    pub(super) fn short_texts(&self) -> impl Iterator<Item = &String> {
        self.texts.iter().filter(|text| !is_indexed(text))
    }

    /// The days of [`Wanted::alert_time`], whole days both.
    pub(super) fn alert_days(&self) -> Range {
        days_of(self.alert_time)
    }

    /// The days of [`Wanted::span`], whole days both.
    pub(super) fn span_days(&self) -> Range {
        days_of(self.span)
    }

    /// Adds every condition.
    pub(super) fn push_conditions(&self, sql: &mut Sql, alert_time: Range) {
        sql.push(" WHERE a.organization = ");
        sql.value(self.organization);
        sql.range("a.alert_time", alert_time);
        let cells = &self.cells;
        for (column, keys) in [
            ("a.provider", &cells.providers),
            ("a.type", &cells.types),
            ("a.status", &cells.statuses),
            ("a.outcome", &cells.outcomes),
            ("a.company", &self.companies),
        ] {
            match keys.as_deref() {
                Some([key]) => sql.with(&format!(" AND {column} = "), *key),
                // With a plus sign, so that the planner tests the rows of the index it was given and does not merge
                // its parts.
                Some(keys) => sql.one_of(&format!(" AND +{column}"), keys.iter().copied()),
                None => {}
            }
        }
        push_times(sql, cells.expired, self.transaction_time, self.expires);
        self.conditions.iter().for_each(|condition| condition.push_test(sql));
        for text in &self.texts {
            sql.push(" AND instr((SELECT s.text FROM alert_search s WHERE s.alert = a.key), ");
            sql.value(text.clone());
            sql.push(") > 0");
        }
    }
}

fn days_of((from, until): Range) -> Range {
    let day = |at: Option<i64>| at.map(|micros| micros.div_euclid(DAY_MICROS));
    (day(from), day(until))
}

fn words(
    conn: &Connection,
    dictionary: &mut Dictionary,
    wanted: impl Iterator<Item = String>,
) -> StoreResult<Option<Vec<i64>>> {
    let keys: StoreResult<Vec<_>> = wanted.map(|word| dictionary.words.find(conn, &word)).collect();
    let keys = keys?;
    // An empty list means any; a list of words that nobody has means none.
    Ok(if keys.is_empty() { None } else { Some(keys.into_iter().flatten().collect()) })
}

/// The types that ask for no answer, as far as any alert is of them.
pub(super) fn notice_keys(conn: &Connection, dictionary: &mut Dictionary) -> StoreResult<Vec<i64>> {
    Ok(words(conn, dictionary, AlertType::NOTICES.iter().map(|word| word.as_str().to_owned()))?.unwrap_or_default())
}

/// Most words that are put in order before the query; of more of them the database itself reads each.
const MOST_RANKED: usize = 1_000;

/// The column of a sort field. The counts of the organization tell which words there are.
pub(super) fn sort_column(reader: &mut Reader, organization: i64, field: SortField) -> StoreResult<SortColumn> {
    let Reader { conn, dictionary, counts, .. } = reader;
    let OrderColumn { value: column, nulls, index } = order::column_of(field);
    let as_it_is = |value: String| SortColumn { value, index, nulls, words: None };
    let pick: fn(&Cell) -> i64 = match field {
        SortField::Provider => |cell| cell.provider,
        SortField::Type => |cell| cell.alert_type,
        SortField::Status => |cell| cell.status,
        _ => return Ok(as_it_is(column.to_owned())),
    };
    let keys = counts.of(organization).occurring(pick);
    if keys.len() > MOST_RANKED {
        return Ok(as_it_is(format!("(SELECT w.value FROM word w WHERE w.key = {column})")));
    }
    let words: StoreResult<Vec<_>> =
        keys.into_iter().map(|key| Ok((dictionary.words.value(conn, key)?, key))).collect();
    let mut words = words?;
    words.sort();
    let ranks: String = words.iter().enumerate().map(|(rank, (_, key))| format!(" WHEN {key} THEN {rank}")).collect();
    // A CASE without branches is no SQL; without words there are no alerts.
    let value = if ranks.is_empty() { "0".to_owned() } else { format!("CASE {column}{ranks} END") };
    Ok(SortColumn { words: Some(words.into_iter().map(|(_, key)| key).collect()), ..as_it_is(value) })
}

/// The column of the id, which decides between alerts that are equal otherwise.
pub(super) fn id_column() -> SortColumn {
    SortColumn { value: "a.id".to_owned(), index: Some(BY_ID), nulls: Nulls::Never, words: None }
}
