//! A cache of marks: everything that matched the filters asked for last, of one commit. The next page, the other end of
//! a list and its sums look for nothing again. The statement that selects a filter's matches is its key.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
};

use fixedbitset::FixedBitSet;

use super::{budget::too_long_for_a_caller, sql::Sql, worker::locked};
use crate::StoreResult;

/// Most filters in the cache: of a million alerts each takes 125 KB.
const MOST: usize = 4;

/// Matches of one filter, once they are known. Other readers that ask for the same meanwhile wait for them instead of
/// looking as well.
type Slot = Arc<Mutex<Option<FixedBitSet>>>;

/// The marks for all readers of a database, those asked for last in front.
#[derive(Debug, Clone, Default)]
pub(super) struct MarksCache(Arc<Mutex<VecDeque<(i64, Sql, Slot)>>>);

impl MarksCache {
    /// Matches of a filter in the snapshot of this newest commit: from the cache, else as they are read. Nothing is
    /// cached where there are no marks. A hurried reader does not wait for another one.
    pub(super) fn kept_or(
        &self,
        (newest, wanted, hurried): (i64, Sql, bool),
        read: impl FnOnce() -> StoreResult<Option<FixedBitSet>>,
    ) -> StoreResult<Option<FixedBitSet>> {
        let slot = self.slot(newest, wanted);
        let mut kept =
            if hurried { taken_at_once(&slot)? } else { slot.lock().unwrap_or_else(PoisonError::into_inner) };
        if kept.is_none() {
            *kept = read()?;
        }
        Ok(kept.clone())
    }

    fn slot(&self, newest: i64, wanted: Sql) -> Slot {
        let mut slots = locked(&self.0);
        let known = slots
            .iter()
            .position(|(of, filter, _)| *of == newest && *filter == wanted)
            .and_then(|place| slots.remove(place));
        let slot = known.map_or_else(Slot::default, |(.., slot)| slot);
        slots.push_front((newest, wanted, Arc::clone(&slot)));
        slots.truncate(MOST);
        slot
    }
}

fn taken_at_once(slot: &Slot) -> StoreResult<MutexGuard<'_, Option<FixedBitSet>>> {
    match slot.try_lock() {
        Ok(kept) => Ok(kept),
        Err(TryLockError::Poisoned(kept)) => Ok(kept.into_inner()),
        Err(TryLockError::WouldBlock) => Err(too_long_for_a_caller()),
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

    fn marks(key: usize) -> StoreResult<Option<FixedBitSet>> {
        let mut keys = FixedBitSet::new();
        keys.grow_and_insert(key);
        Ok(Some(keys))
    }

    fn key(read: StoreResult<Option<FixedBitSet>>) -> usize {
        read.unwrap().unwrap().minimum().unwrap()
    }

    #[test]
    fn what_matched_is_looked_for_once_a_commit_and_filter() {
        let cache = MarksCache::default();

        key(cache.kept_or((7, wanted("visa"), false), || marks(1)));

        assert_eq!(key(cache.kept_or((7, wanted("visa"), false), || marks(2))), 1);
        assert_eq!(key(cache.kept_or((7, wanted("other"), false), || marks(3))), 3, "of another filter");
        assert_eq!(key(cache.kept_or((8, wanted("visa"), false), || marks(4))), 4, "of a later commit");
    }

    #[test]
    fn a_read_that_failed_leaves_nothing_behind() {
        let cache = MarksCache::default();

        cache.kept_or((7, wanted("visa"), false), || Err(StoreError::Unavailable("given up".to_owned()))).unwrap_err();

        assert_eq!(key(cache.kept_or((7, wanted("visa"), false), || marks(2))), 2);
    }

    #[test]
    fn who_is_hurried_does_not_wait_for_who_looks_just_now() {
        let cache = MarksCache::default();

        let within = cache.kept_or((7, wanted("visa"), false), || {
            assert!(cache.kept_or((7, wanted("visa"), true), || marks(2)).is_err());
            marks(1)
        });

        assert_eq!(key(within), 1);
    }
}
