//! Interned words and ids: stored once, referred to by a small key, cached per connection. They are never deleted or
//! renamed.

use std::{borrow::Borrow, collections::HashMap, hash::Hash, sync::Arc};

use rusqlite::Connection;

use super::sql::{Statements as _, cell};
use crate::{
    StoreResult,
    cells::{FromCell, ToCell},
};

/// Most values that a connection remembers of a table: they come from outside, and there may be any number.
const MOST: usize = 4_096;

/// One table of values with their keys.
#[derive(Debug)]
pub(crate) struct Interned<T: ?Sized> {
    insert: String,
    find: String,
    read: String,
    keys: HashMap<Arc<T>, i64>,
    values: HashMap<i64, Arc<T>>,
}

/// The words and ids that alerts share.
#[derive(Debug)]
pub(crate) struct Dictionary {
    /// Providers, types, statuses, outcomes.
    pub(crate) words: Interned<str>,
    /// Companies, enrollments.
    pub(crate) ids: Interned<[u8]>,
}

impl Dictionary {
    /// An empty cache.
    pub(super) fn new() -> Self {
        Self { words: Interned::of("word"), ids: Interned::of("reference") }
    }

    /// Drops everything: keys handed out in a transaction that was rolled back are not keys.
    pub(super) fn clear(&mut self) {
        self.words.clear();
        self.ids.clear();
    }
}

impl<T> Interned<T>
where
    T: ?Sized + Hash + Eq + ToCell,
    Arc<T>: for<'a> From<&'a T> + Borrow<T> + for<'c> FromCell<'c>,
{
    fn of(table: &str) -> Self {
        Self {
            insert: format!("INSERT INTO {table} (value) VALUES (?1) RETURNING key"),
            find: format!("SELECT key FROM {table} WHERE value = ?1"),
            read: format!("SELECT value FROM {table} WHERE key = ?1"),
            keys: HashMap::new(),
            values: HashMap::new(),
        }
    }

    fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    fn remember(&mut self, key: i64, value: Arc<T>) {
        // Those in use come back at once.
        if self.keys.len() >= MOST {
            self.clear();
        }
        self.keys.insert(Arc::clone(&value), key);
        self.values.insert(key, value);
    }

    /// The key of a value, where there is one.
    pub(super) fn find(&mut self, conn: &Connection, value: &T) -> StoreResult<Option<i64>> {
        if let Some(&key) = self.keys.get(value) {
            return Ok(Some(key));
        }
        let key = conn.first(&self.find, &[&value], cell)?;
        if let Some(key) = key {
            self.remember(key, Arc::from(value));
        }
        Ok(key)
    }

    /// The key of a value, made where there is none.
    pub(super) fn intern(&mut self, conn: &Connection, value: &T) -> StoreResult<i64> {
        if let Some(key) = self.find(conn, value)? {
            return Ok(key);
        }
        let key = conn.one(&self.insert, &[&value], cell)?;
        self.remember(key, Arc::from(value));
        Ok(key)
    }

    /// The value of a key.
    pub(crate) fn value(&mut self, conn: &Connection, key: i64) -> StoreResult<Arc<T>> {
        if let Some(value) = self.values.get(&key) {
            return Ok(Arc::clone(value));
        }
        let value: Arc<T> = conn.one(&self.read, &[&key], cell)?;
        self.remember(key, Arc::clone(&value));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_without_number_keep_their_keys_and_are_remembered_within_bounds() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE word (key INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE)").unwrap();
        let mut words = Dictionary::new().words;
        let word = |number: usize| format!("WORD-{number}");

        let keys: Vec<i64> = (0..3 * MOST).map(|number| words.intern(&conn, &word(number)).unwrap()).collect();

        assert!(
            words.keys.len() <= MOST && words.values.len() <= MOST,
            "{} and {}",
            words.keys.len(),
            words.values.len()
        );
        for number in [0, MOST, 3 * MOST - 1] {
            assert_eq!(words.find(&conn, &word(number)).unwrap(), Some(keys[number]));
            assert_eq!(&*words.value(&conn, keys[number]).unwrap(), word(number));
        }
    }
}
