//! The query builder: a filter as SQL conditions, a sort as an ORDER BY; the meaning of `AlertFilter` and `Sort` in the
//! columns of `alert`.

use super::{
    connection::Connection,
    counts::{DAY_MICROS, NO_DAY},
    statements::{Sql, Value, cell},
};
use crate::{
    domain::{AlertFilter, AlertType, SortField, SortOrder, fold::fold, time::Timestamp},
    error::Work,
    filter::{BLANKS, Conditions, FilterRanges, ISSUERS, Range, is_indexed},
    sql::StoreRows,
};

/// A compiled filter.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    organization: i64,
    /// Words by column; none where any will do.
    words: Vec<(&'static str, Vec<String>)>,
    expired: Option<bool>,
    /// True for notices alone, false for all but them.
    notices: Option<bool>,
    alert_time: Range,
    transaction_time: Range,
    companies: Vec<uuid::Uuid>,
    /// Open deadlines up to this moment, or any.
    expires: Option<Option<i64>>,
    /// Texts that the searched text has to contain: `q`, and the beginning of the descriptor.
    texts: Vec<String>,
    conditions: Conditions,
    /// True where all that matches waits for an answer, so that the indexes of waiting alerts hold it.
    waits: bool,
}

impl Conditions {
    fn push(&self, sql: &mut Sql) {
        if let Some(amounts) = &self.amounts {
            sql.with(" AND a.amount_micros BETWEEN ", Value::Number(*amounts.start()));
            sql.with(" AND ", Value::Number(*amounts.end()));
        }
        for (column, texts) in [("a.currency", &self.currencies), ("a.issuer", &self.issuers)] {
            if let Some(texts) = texts {
                sql.with(&format!(" AND {column} = ANY("), Value::Texts(storable_ones(texts.clone())));
                sql.push(")");
            }
        }
        if let Some(mccs) = &self.mccs {
            sql.with(" AND btrim(a.mcc, ", Value::Text(BLANKS.clone()));
            sql.with(") = ANY(", Value::Texts(storable_ones(mccs.clone())));
            sql.push(")");
        }
        if let Some((from, until)) = self.answered {
            let answered = " AND EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key AND o.action_time >= ";
            sql.with(answered, Value::Number(from));
            sql.with(" AND o.action_time < ", Value::Number(until));
            sql.push(")");
        }
    }
}

/// Keeps the texts that can be stored, without those that have the character NUL.
fn storable_ones(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().filter(|text| !text.contains('\0')).collect()
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
            Some(StoreRows::Postgres(conn).all(ISSUERS, &[&organization], cell).await?)
        };
        let asked = words.into_iter().filter(|(_, words)| !words.is_empty());
        Ok(Self {
            organization,
            words: asked.map(|(column, words)| (column, storable_ones(words))).collect(),
            expired: filter.expired,
            notices: conditions.notices,
            alert_time,
            transaction_time,
            companies: companies.iter().map(|company| company.0).collect(),
            expires,
            texts,
            conditions: Conditions::of(conditions, names),
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
            && self.conditions.is_any()
    }

    /// The organization.
    pub(super) fn organization(&self) -> i64 {
        self.organization
    }

    /// Returns whether all that matches waits for an answer: each has an open deadline.
    pub(super) fn waits(&self) -> bool {
        self.waits
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

    /// The range of alert times that is asked for.
    pub(super) fn alert_time(&self) -> Range {
        self.alert_time
    }

    fn push_words(&self, sql: &mut Sql) {
        for (column, words) in &self.words {
            sql.with(&format!(" AND a.{column} = ANY("), Value::Texts(words.clone()));
            sql.push(")");
        }
        match self.notices {
            Some(true) => sql.with(" AND a.type = ANY(", Value::Texts(notices())),
            Some(false) => sql.with(" AND a.type <> ALL(", Value::Texts(notices())),
            None => return,
        }
        sql.push(")");
    }

    /// FROM and WHERE over the alerts.
    pub(super) fn push_alerts(&self, sql: &mut Sql) {
        sql.with(" FROM alert a WHERE a.organization = ", Value::Number(self.organization));
        self.push_words(sql);
        sql.range("a.alert_time", self.alert_time);
        sql.range("a.transaction_time", self.transaction_time);
        match self.expired {
            Some(true) => sql.push(" AND a.expired_at IS NOT NULL"),
            Some(false) => sql.push(" AND a.expired_at IS NULL"),
            None => {}
        }
        if !self.companies.is_empty() {
            sql.with(" AND a.company = ANY(", Value::Ids(self.companies.clone()));
            sql.push(")");
        }
        match self.expires {
            Some(Some(limit)) => sql.with(" AND a.expired_at IS NULL AND a.open_deadline <= ", Value::Number(limit)),
            Some(None) => sql.push(" AND a.expired_at IS NULL AND a.open_deadline IS NOT NULL"),
            None => {}
        }
        if self.waits {
            sql.push(" AND a.open_deadline IS NOT NULL");
        }
        for text in &self.texts {
            sql.with(" AND a.searched LIKE ", Value::Text(format!("%{}%", literal(text))));
        }
        self.conditions.push(sql);
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
        sql.with(&format!(" FROM {table} a WHERE a.organization = "), Value::Number(self.organization));
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

/// The types that ask for no answer.
pub(super) fn notices() -> Vec<String> {
    AlertType::NOTICES.iter().map(|word| word.as_str().to_owned()).collect()
}

/// Escapes a text for LIKE, so that it stands for itself.
pub(super) fn literal(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// Position of rows without a value in a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// No row is without a value.
    Never,
    /// Last in either direction.
    Last,
    /// With the least value.
    Least,
}

/// The column of a sort field.
pub(super) const fn sort_column(field: SortField) -> (&'static str, Nulls) {
    match field {
        SortField::AlertTimeStamp => ("a.alert_time", Nulls::Last),
        SortField::TransactionTimeStamp => ("a.transaction_time", Nulls::Last),
        SortField::CreatedAt => ("a.created_at", Nulls::Last),
        SortField::UpdatedAt => ("a.updated_at", Nulls::Last),
        SortField::ExpiredAt => ("a.expired_at", Nulls::Last),
        SortField::Amount => ("a.amount_micros", Nulls::Last),
        SortField::Currency => ("a.currency", Nulls::Never),
        SortField::Provider => ("a.provider", Nulls::Never),
        SortField::ProviderId => ("a.provider_id", Nulls::Never),
        SortField::Type => ("a.type", Nulls::Never),
        SortField::Status => ("a.status", Nulls::Never),
        SortField::Issuer => ("a.issuer", Nulls::Never),
        SortField::MerchantDescriptor => ("a.merchant_descriptor", Nulls::Never),
        SortField::MerchantName => ("a.merchant_name", Nulls::Never),
        SortField::CardBin => ("a.card_bin", Nulls::Never),
        SortField::CardLastFour => ("a.card_last_four", Nulls::Never),
        SortField::HoursLeft => ("a.open_deadline", Nulls::Least),
    }
}

/// An order as SQL has it.
pub(super) const fn direction(order: SortOrder) -> &'static str {
    match order {
        SortOrder::Ascending => "ASC",
        SortOrder::Descending => "DESC",
    }
}

/// The ORDER BY of rows that all have a value in this column, or none. It has no word on nulls, so that an index serves
/// both directions.
pub(super) fn push_order(sql: &mut Sql, column: Option<&str>, order: SortOrder) {
    let direction = direction(order);
    sql.push(" ORDER BY ");
    if let Some(column) = column {
        sql.push(&format!("{column} {direction}, "));
    }
    sql.push(&format!("a.id {direction}"));
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
