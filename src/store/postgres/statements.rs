//! Texts as PostgreSQL holds them, and SQL under construction with its values.

use std::borrow::Cow;

use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

pub(super) use crate::store::alert_rows::{micros, moment};
pub(super) use crate::store::stored_row::cell;

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Text without the one character that PostgreSQL cannot hold.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A number of rows as a LIMIT.
pub(super) fn limit_of(rows: impl Into<u64>) -> i64 {
    i64::try_from(rows.into()).unwrap_or(i64::MAX)
}

/// A value of SQL under construction.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Number(i64),
    Text(String),
    Texts(Vec<String>),
    Ids(Vec<Uuid>),
}

impl Value {
    fn bound(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Number(number) => (number, Type::INT8),
            Self::Text(text) => (text, Type::TEXT),
            Self::Texts(texts) => (texts, Type::TEXT_ARRAY),
            Self::Ids(ids) => (ids, Type::UUID_ARRAY),
        }
    }
}

/// SQL under construction, with its values.
#[derive(Debug, Clone, Default)]
pub(super) struct Sql {
    pub(super) text: String,
    values: Vec<Value>,
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
    pub(super) fn value(&mut self, value: Value) {
        self.values.push(value);
        self.text.push_str(&format!("${}", self.values.len()));
    }

    /// Adds text and a value behind it.
    pub(super) fn with(&mut self, text: &str, value: Value) {
        self.push(text);
        self.value(value);
    }

    /// Adds the condition that a column is within a range: from the first on, before the second.
    pub(super) fn range(&mut self, column: &str, (from, until): (Option<i64>, Option<i64>)) {
        if let Some(from) = from {
            self.with(&format!(" AND {column} >= "), Value::Number(from));
        }
        if let Some(until) = until {
            self.with(&format!(" AND {column} < "), Value::Number(until));
        }
    }

    /// The values with their types.
    pub(super) fn bound(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.values.iter().map(Value::bound).collect()
    }
}
