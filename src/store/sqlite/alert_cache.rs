//! A cache of the alerts that were read last, by the key of their row: an entry holds while its row carries the number of the same commit.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use lru::LruCache;
use rusqlite::Connection;

use super::interned::Dictionary;
use super::rows::read_by_key;
use super::statements::{Statements as _, cell};
use super::worker::locked;
use crate::domain::SharedAlert;
use crate::store::{StoreError, StoreResult};

/// How many alerts are kept: what a desk looks at over and over, in some 1 MB. More of them, kept for long, keep the memory around them too.
const MOST: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// Alerts read lately, for all readers of a database.
#[derive(Clone)]
pub(super) struct AlertCache(Arc<Mutex<LruCache<i64, Entry>>>);

#[derive(Clone)]
struct Entry {
    /// The commit that changed the row last. Every commit that changes an alert or its outcome writes its own number there.
    changed: i64,
    alert: SharedAlert,
}

impl AlertCache {
    /// An empty memory.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MOST))))
    }

    /// The alert of a row as it is in the snapshot that the connection reads from.
    pub(super) fn alert(&self, conn: &Connection, dictionary: &mut Dictionary, key: i64) -> StoreResult<SharedAlert> {
        let changed = conn.first("SELECT changed FROM alert WHERE key = ?1", [key], cell)?;
        let changed = changed.ok_or_else(|| StoreError::Corrupt(format!("no alert in row {key}")))?;
        let kept = locked(&self.0).get(&key).filter(|entry| entry.changed == changed).cloned();
        if let Some(entry) = kept {
            debug_assert_eq!(*entry.alert, read_by_key(conn, dictionary, key)?, "changed without the number of its commit");
            return Ok(entry.alert);
        }
        let alert = SharedAlert::from(read_by_key(conn, dictionary, key)?);
        locked(&self.0).put(key, Entry { changed, alert: alert.clone() });
        Ok(alert)
    }
}
