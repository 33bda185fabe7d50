//! A cache of marks: everything that matched the filters asked for last, of one commit. The next page, the other end of
//! a list and its sums look for nothing again. The statement that selects a filter's matches is its key.
//!
//! A cache of the alerts that were read last, by the key of their row. An entry holds while its row carries the number
//! of the same commit. Without a newer commit the row is not read for that.

use std::{
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, TryLockError},
};

use lru::LruCache;
use rusqlite::Connection;

use super::{
    budget::too_long_for_a_caller,
    interned::Dictionary,
    marks::Marks,
    rows::read_by_key,
    sql::{Sql, Statements as _, cell},
    worker::locked,
};
use crate::{StoreError, StoreResult, domain::SharedAlert};

/// Most filters in the cache: of a million alerts each takes 125 KB.
const MOST: NonZeroUsize = NonZeroUsize::new(4).unwrap();

/// Matches of one filter, once they are known. Other readers that ask for the same meanwhile wait for them instead of
/// looking as well.
type Slot = Arc<Mutex<Option<Marks>>>;

/// The marks for all readers of a database, by commit and filter.
#[derive(Debug, Clone)]
pub(super) struct MarksCache(Arc<Mutex<LruCache<(i64, Sql), Slot>>>);

impl MarksCache {
    /// An empty cache.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(MOST))))
    }

    /// Matches of a filter in the snapshot of this newest commit: from the cache, else as they are read. Nothing is
    /// cached where there are no marks. A hurried reader does not wait for another one.
    pub(super) fn kept_or(
        &self,
        (newest, wanted, hurried): (i64, Sql, bool),
        read: impl FnOnce() -> StoreResult<Option<Marks>>,
    ) -> StoreResult<Option<Marks>> {
        let slot = Arc::clone(locked(&self.0).get_or_insert((newest, wanted), Slot::default));
        let mut kept = if hurried { taken_at_once(&slot)? } else { locked(&slot) };
        if kept.is_none() {
            *kept = read()?;
        }
        Ok(kept.clone())
    }
}

fn taken_at_once(slot: &Slot) -> StoreResult<MutexGuard<'_, Option<Marks>>> {
    match slot.try_lock() {
        Ok(kept) => Ok(kept),
        Err(TryLockError::Poisoned(kept)) => Ok(kept.into_inner()),
        Err(TryLockError::WouldBlock) => Err(too_long_for_a_caller()),
    }
}

/// Most alerts in the cache: those that a desk reads over and over, in some 1 MB. More of them, kept for long, keep the
/// memory around them too.
const MOST_ALERTS: NonZeroUsize = NonZeroUsize::new(256).unwrap();

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
        Self(Arc::new(Mutex::new(LruCache::new(MOST_ALERTS))))
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
        let changed = conn.first("SELECT changed FROM alert WHERE key = ?1", &[&key], cell)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreError;

    /// A filter for a text.
    fn wanted(text: &str) -> Sql {
        let mut sql = Sql::new("SELECT key FROM alert WHERE text = ");
        sql.value(text.to_owned());
        sql
    }

    fn marks(key: usize) -> StoreResult<Option<Marks>> {
        Ok(Some(Marks::of_blocks(64, std::iter::once(1 << key))))
    }

    fn key(read: StoreResult<Option<Marks>>) -> i64 {
        let marks = read.unwrap().unwrap();
        (0..64).find(|key| marks.has(*key)).unwrap()
    }

    #[test]
    fn what_matched_is_looked_for_once_a_commit_and_filter() {
        let cache = MarksCache::new();

        key(cache.kept_or((7, wanted("visa"), false), || marks(1)));

        assert_eq!(key(cache.kept_or((7, wanted("visa"), false), || marks(2))), 1);
        assert_eq!(key(cache.kept_or((7, wanted("other"), false), || marks(3))), 3, "of another filter");
        assert_eq!(key(cache.kept_or((8, wanted("visa"), false), || marks(4))), 4, "of a later commit");
    }

    #[test]
    fn a_read_that_failed_leaves_nothing_behind() {
        let cache = MarksCache::new();

        cache.kept_or((7, wanted("visa"), false), || Err(StoreError::Unavailable("given up".to_owned()))).unwrap_err();

        assert_eq!(key(cache.kept_or((7, wanted("visa"), false), || marks(2))), 2);
    }

    #[test]
    fn who_is_hurried_does_not_wait_for_who_looks_just_now() {
        let cache = MarksCache::new();

        let within = cache.kept_or((7, wanted("visa"), false), || {
            assert!(cache.kept_or((7, wanted("visa"), true), || marks(2)).is_err());
            marks(1)
        });

        assert_eq!(key(within), 1);
    }
}
