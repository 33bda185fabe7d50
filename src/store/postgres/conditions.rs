//! The query builder: a filter as SQL conditions; the meaning of `AlertFilter` in the columns of `alert`.

use super::{
    connection::Connection,
    counts::{DAY_MICROS, NO_DAY},
};
use crate::{
    alert_rows::notices,
    cells::cell,
    composed::{Range, Sql},
    domain::{AlertFilter, fold::fold, time::Timestamp},
    error::Work,
    filter::{Condition, FilterRanges, distinct, is_indexed, push_times},
};

/// A compiled filter.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    pub(super) organization: i64,
    /// Words by column; none where any will do.
    words: Vec<(&'static str, Vec<String>)>,
    expired: Option<bool>,
    /// True for notices alone, false for all but them.
    notices: Option<bool>,
    pub(super) alert_time: Range,
    transaction_time: Range,
    companies: Vec<uuid::Uuid>,
    /// Open deadlines up to this moment, or any.
    expires: Option<Option<i64>>,
    /// Texts that the searched text has to contain: `q`, and the beginning of the descriptor.
    texts: Vec<String>,
    conditions: Vec<Condition>,
    /// True where all that matches waits for an answer, each with an open deadline: the indexes of waiting alerts hold
    /// it.
    pub(super) waits: bool,
}

impl Wanted {
    /// Reads a filter.
    pub(super) async fn new(conn: &Connection, organization: i64, filter: &AlertFilter, now: Timestamp) -> Work<Self> {
        let FilterRanges { alert_time, transaction_time, expires, texts } = FilterRanges::of(filter, now);
        let AlertFilter { providers, types, statuses, outcomes, companies, conditions, .. } = filter;
        let words = [
            ("provider", providers.iter().map(|word| word.as_str().to_owned()).collect::<Vec<_>>()),
            ("type", types.iter().map(|word| word.as_str().to_owned()).collect()),
            ("status", statuses.iter().map(|word| word.as_str().to_owned()).collect()),
            ("outcome", outcomes.iter().map(|word| fold(word)).collect()),
        ];
        let names = if conditions.issuers.is_empty() {
            None
        } else {
            Some(conn.rows().all(&distinct("issuer"), &[&organization], cell).await?)
        };
        let asked = words.into_iter().filter(|(_, words)| !words.is_empty());
        Ok(Self {
            organization,
            words: asked.collect(),
            expired: filter.expired,
            notices: conditions.notices,
            alert_time,
            transaction_time,
            companies: companies.iter().map(|company| company.0).collect(),
            expires,
            texts,
            conditions: Condition::all_of(conditions, names),
            // They are of open deadlines, which only what waits has.
            waits: expires.is_some(),
        })
    }

    /// Returns whether the counts alone know the total.
    pub(super) fn is_counted(&self) -> bool {
        self.transaction_time == (None, None)
            && self.companies.is_empty()
            && self.expires.is_none()
            && self.texts.is_empty()
            && self.conditions.is_empty()
    }

    /// The same, where it is known that all that matches waits.
    pub(super) fn waiting(self, waits: bool) -> Self {
        Self { waits: self.waits || waits, ..self }
    }

    /// Returns whether a text is looked for that an index of trigrams knows.
    pub(super) fn has_indexed_text(&self) -> bool {
        self.texts.iter().any(|text| is_indexed(text))
    }

    /// Only alerts with this word in a column of words.
    pub(super) fn with_word(&self, column: &'static str, word: String) -> Self {
        let mut only = self.clone();
        only.words.retain(|(known, _)| *known != column);
        only.words.push((column, vec![word]));
        only
    }

    /// Only alerts with a time within this range.
    pub(super) fn within(&self, alert_time: Range) -> Self {
        Self { alert_time, ..self.clone() }
    }

    fn push_words(&self, sql: &mut Sql) {
        for (column, words) in &self.words {
            sql.one_of(&format!(" AND a.{column}"), words.iter().cloned());
        }
        match self.notices {
            Some(true) => sql.push(&format!(" AND a.type IN ({})", notices())),
            Some(false) => sql.push(&format!(" AND a.type NOT IN ({})", notices())),
            None => {}
        }
    }

    /// FROM and WHERE over the alerts.
    pub(super) fn push_alerts(&self, sql: &mut Sql) {
        sql.with(" FROM alert a WHERE a.organization = ", self.organization);
        self.push_words(sql);
        sql.range("a.alert_time", self.alert_time);
        push_times(sql, self.expired, self.transaction_time, self.expires);
        if !self.companies.is_empty() {
            sql.one_of(" AND a.company", self.companies.iter().copied());
        }
        if self.waits {
            sql.push(" AND a.open_deadline IS NOT NULL");
        }
        for text in &self.texts {
            sql.with(" AND a.searched LIKE ", format!("%{}%", literal(text)));
        }
        self.conditions.iter().for_each(|condition| condition.push_test(sql));
    }

    /// FROM and WHERE over the fewest counts of what is wanted: those of days only where days are asked for.
    pub(super) fn push_totals(&self, sql: &mut Sql) {
        self.push_counts_in(if self.alert_time == (None, None) { "alert_total" } else { "alert_count" }, sql);
    }

    /// FROM and WHERE over the counts of days of what is wanted, where they know it.
    pub(super) fn push_counts(&self, sql: &mut Sql) {
        self.push_counts_in("alert_count", sql);
    }

    fn push_counts_in(&self, table: &str, sql: &mut Sql) {
        sql.with(&format!(" FROM {table} a WHERE a.organization = "), self.organization);
        self.push_words(sql);
        match self.expired {
            Some(true) => sql.push(" AND a.expired"),
            Some(false) => sql.push(" AND NOT a.expired"),
            None => {}
        }
        let (from, until) = self.alert_time;
        if from.is_some() || until.is_some() {
            // Alerts without a time are on no day that can be asked for.
            let day = |at: i64| at.div_euclid(DAY_MICROS);
            sql.range("a.day", (from.map(day), Some(until.map_or(NO_DAY, day))));
        }
    }
}

/// Escapes a text for LIKE, so that it stands for itself.
pub(super) fn literal(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_in_a_pattern_is_made_to_mean_itself() {
        assert_eq!(literal(r"100%_\"), r"100\%\_\\");
        assert_eq!(literal("ACME*"), "ACME*");
    }
}
