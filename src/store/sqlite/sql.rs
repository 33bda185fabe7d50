//! The statement builder: SQL text with its values.
//!
//! Statements in one call: prepared once for each connection, run with their values, their rows read. Ids are stored as
//! their 16 bytes.

use rusqlite::{
    Connection, Params, Row, params_from_iter,
    types::{FromSql, Value},
};
use uuid::Uuid;

use crate::{StoreResult, domain::DatabaseId};
pub(super) use crate::{alert_rows::micros, filter::Range};

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

/// Prepared statements of a connection, kept by their text.
pub(super) trait Statements {
    /// Runs a statement that has no answer; returns the number of changed rows.
    fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize>;

    /// Reads every row of the answer.
    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>>;

    /// Reads the first row of the answer, where there is one.
    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>>;

    /// Reads the row that is always there.
    fn one<T>(&self, sql: &str, values: impl Params, read: impl FnOnce(&Row<'_>) -> StoreResult<T>) -> StoreResult<T> {
        self.first(sql, values, read)?.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }
}

impl Statements for Connection {
    fn run(&self, sql: &str, values: impl Params) -> StoreResult<usize> {
        Ok(self.prepare_cached(sql)?.execute(values)?)
    }

    fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        mut read: impl FnMut(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(row)?);
        }
        Ok(all)
    }

    fn first<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> StoreResult<T>,
    ) -> StoreResult<Option<T>> {
        let mut statement = self.prepare_cached(sql)?;
        let mut rows = statement.query(values)?;
        rows.next()?.map(read).transpose()
    }
}

/// The first column of a row, which mostly is the only one.
pub(super) fn cell<T: FromSql>(row: &Row<'_>) -> StoreResult<T> {
    Ok(row.get(0)?)
}

/// The id in a column, which is stored as its bytes.
pub(super) fn id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    row.get(column).map(Uuid::from_bytes)
}

/// The database's own id, where it has one yet.
pub(super) fn known_identity(conn: &Connection) -> StoreResult<Option<DatabaseId>> {
    conn.first("SELECT value FROM fact WHERE name = 'database'", [], |row| Ok(DatabaseId(id(row, 0)?)))
}
