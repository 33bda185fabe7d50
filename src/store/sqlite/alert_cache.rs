//! A cache of the alerts that were read last, by the key of their row. An entry holds while its row carries the number
//! of the same commit. Without a newer commit the row is not read for that.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex},
};

use lru::LruCache;
use rusqlite::Connection;

use super::{
    interned::Dictionary,
    rows::read_by_key,
    sql::{Statements as _, cell},
    worker::locked,
};
use crate::{StoreError, StoreResult, domain::SharedAlert};

/// Most alerts in the cache: those that a desk reads over and over, in some 1 MB. More of them, kept for long, keep the
/// memory around them too.
const MOST: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Alerts read lately, for all readers of a database.
#[derive(Clone)]
pub(super) struct AlertCache(Arc<Mutex<LruCache<i64, Entry>>>);

#[derive(Clone)]
struct Entry {
    /// The commit that changed the row last. Every commit that changes an alert or its outcome writes its own number
    /// there.
    changed: i64,
    /// The newest commit of a snapshot in which the row carried that number.
    seen: i64,
    alert: SharedAlert,
}

impl AlertCache {
    /// An empty cache.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MOST))))
    }

    /// The alert of a row as it is in the snapshot that the connection reads from, in which `newest` is the newest
    /// commit.
    pub(super) fn alert(
        &self,
        conn: &Connection,
        dictionary: &mut Dictionary,
        key: i64,
        newest: i64,
    ) -> StoreResult<SharedAlert> {
        if let Some(alert) = self.kept(key, |entry| entry.seen == newest, newest) {
            debug_assert_eq!(*alert, read_by_key(conn, dictionary, key)?, "changed without a newer commit");
            return Ok(alert);
        }
        let changed = conn.first("SELECT changed FROM alert WHERE key = ?1", [key], cell)?;
        let changed = changed.ok_or_else(|| StoreError::Corrupt(format!("no alert in row {key}")))?;
        if let Some(alert) = self.kept(key, |entry| entry.changed == changed, newest) {
            debug_assert_eq!(*alert, read_by_key(conn, dictionary, key)?, "changed without the number of its commit");
            return Ok(alert);
        }
        let alert = SharedAlert::from(read_by_key(conn, dictionary, key)?);
        locked(&self.0).put(key, Entry { changed, seen: newest, alert: alert.clone() });
        Ok(alert)
    }

    /// Returns the cached alert of a row, where it holds in the snapshot of this newest commit.
    fn kept(&self, key: i64, holds: impl FnOnce(&Entry) -> bool, newest: i64) -> Option<SharedAlert> {
        let mut kept = locked(&self.0);
        let entry = kept.get_mut(&key).filter(|entry| holds(entry))?;
        entry.seen = newest;
        Some(entry.alert.clone())
    }
}
