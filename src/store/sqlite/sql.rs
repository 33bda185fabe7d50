//! The statement builder: SQL text with its values.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

pub(super) use crate::store::filter::Range;

/// SQL under construction, with its values.
#[derive(Debug, Default, PartialEq)]
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

    /// Adds the condition that a column is one of these keys.
    pub(super) fn one_of(&mut self, column: &str, keys: &[i64]) {
        match keys {
            [key] => {
                self.push(&format!(" AND {column} = "));
                self.value(*key);
            }
            // With a plus sign, so that the planner tests the rows of the index it was given and does not merge its
            // parts.
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

    /// Adds the end of an expression, and the condition that it is one of these texts.
    pub(super) fn one_text_of(&mut self, expression: &str, texts: &[String]) {
        self.push(&format!("{expression} IN ("));
        for (index, text) in texts.iter().enumerate() {
            if index > 0 {
                self.push(",");
            }
            self.value(text.clone());
        }
        self.push(")");
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

/// Adds the LIMIT and the OFFSET.
pub(super) fn push_window(sql: &mut Sql, offset: u64, limit: u64) {
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    sql.push(" LIMIT ");
    sql.value(number(limit));
    sql.push(" OFFSET ");
    sql.value(number(offset));
}

/// The keys that a statement selects.
pub(super) fn keys(conn: &Connection, sql: &Sql) -> rusqlite::Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(&sql.text)?;
    let keys = statement.query_map(params_from_iter::<&Vec<Value>>(&sql.values), |row| row.get(0))?;
    keys.collect()
}

/// A text as a phrase of a full-text query.
pub(super) fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
