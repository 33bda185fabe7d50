//! SQL under construction, with its values: composed for one use, in one text for two databases.
//!
//! Texts are SQLite's; PostgreSQL's are made of them: `?1` becomes `$1`, what stands in `/*+ ... */` is read by
//! PostgreSQL alone, and what stands between `/*-*/` and `/*+` by SQLite alone. So the lock of a row is
//! `/*+FOR UPDATE*/`.

use crate::cells::{SqlValue, ToCell};

/// The text of a statement for PostgreSQL.
pub(super) fn rewritten(sql: &str) -> String {
    let mut texts = sql.split("/*-*/");
    let first = texts.next().unwrap_or_default().to_owned();
    let of_postgres = texts.fold(first, |text, next| text + next.split_once("/*+").map_or(next, |(_, rest)| rest));
    of_postgres.replace("/*+", "").replace("*/", "").replace('?', "$")
}

/// An INSERT of a row with these columns.
pub(super) fn insertion<'c>(table: &str, columns: impl Iterator<Item = &'c str>) -> String {
    let columns: Vec<&str> = columns.collect();
    let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "))
}

/// A half-open range: from the first on, before the second.
pub(super) type Range = (Option<i64>, Option<i64>);

/// SQL under construction, with its values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Sql {
    pub(super) text: String,
    pub(super) values: Vec<SqlValue<'static>>,
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
    pub(super) fn value(&mut self, value: impl Into<SqlValue<'static>>) {
        self.values.push(value.into());
        self.text.push('?');
        self.text.push_str(&self.values.len().to_string());
    }

    /// Adds text and a value behind it.
    pub(super) fn with(&mut self, text: &str, value: impl Into<SqlValue<'static>>) {
        self.push(text);
        self.value(value);
    }

    /// Adds the end of an expression, and the condition that it is one of these values.
    pub(super) fn one_of<V: Into<SqlValue<'static>>>(&mut self, expression: &str, values: impl IntoIterator<Item = V>) {
        self.push(expression);
        self.push(" IN (");
        for (place, value) in values.into_iter().enumerate() {
            self.with(if place > 0 { "," } else { "" }, value);
        }
        self.push(")");
    }

    /// Adds the condition that a column is within a range.
    pub(super) fn range(&mut self, column: &str, (from, until): Range) {
        if let Some(from) = from {
            self.with(&format!(" AND {column} >= "), from);
        }
        if let Some(until) = until {
            self.with(&format!(" AND {column} < "), until);
        }
    }

    /// Adds the LIMIT and the OFFSET.
    pub(super) fn window(&mut self, offset: u64, limit: u64) {
        self.with(" LIMIT ", limit_of(limit));
        self.with(" OFFSET ", limit_of(offset));
    }

    /// The values as those of a statement.
    pub(super) fn cells(&self) -> Vec<&dyn ToCell> {
        self.values.iter().map(|value| value as &dyn ToCell).collect()
    }
}

/// A number of rows as a LIMIT.
pub(super) fn limit_of(rows: u64) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_made_for_postgres() {
        let locked = "SELECT a FROM b/*-*/ INDEXED BY c/*+*/ WHERE d = ?1 AND e = ?12/*+ FOR UPDATE OF b*/";
        let cast = "SELECT ?1/*+::text*/ WHERE f = /*-*/0/*+false*/";

        assert_eq!(rewritten(locked), "SELECT a FROM b WHERE d = $1 AND e = $12 FOR UPDATE OF b");
        assert_eq!(rewritten(cast), "SELECT $1::text WHERE f = false");
    }
}
