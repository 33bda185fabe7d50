//! The reader pool: read-only connections in two lanes, each with threads of its own. A read by key never waits behind
//! lists, and lists take turns by organization.
//!
//! A read of microseconds runs on the caller's own thread, where nobody waits for his turn and a reader is free.
//! Handing it to another thread and back would take longer than reading it. A read that takes longer is broken off
//! there, and done again by a thread of the lane.
//!
//! A read of a caller that has left is not begun, and one that runs is interrupted.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::{
    budget::{Budget, Until},
    caches::{AlertCache, MarksCache},
    columns::Columns,
    connection::{BUSY_TIMEOUT, Purpose, open},
    counts::{CellFilter, CountCache},
    interned::Dictionary,
    marks::Marks,
    rows::organization_key,
    sql::{Statements as _, cell},
    turns::{Bounds, FairQueue},
    worker::{hear, locked},
};
use crate::{
    StoreError, StoreResult,
    domain::{OrganizationId, SharedAlert},
};

/// Number of reads by key at once. Each such read takes microseconds.
const KEYED_READERS: usize = 2;

/// Everybody has a turn as it comes; far more than there are connections to ask from.
const KEYED_BOUNDS: Bounds = Bounds { at_once: KEYED_READERS, waiting: 8_192, waiting_in_all: 8_192 };

/// Number of list reads at once.
const LIST_READERS: usize = 3;

/// One organization leaves a reader to the others.
const LIST_BOUNDS: Bounds = Bounds { at_once: LIST_READERS - 1, waiting: 64, waiting_in_all: 256 };

/// Longest time of a read on its caller's thread, which others wait for as well.
const AT_ONCE: Duration = Duration::from_micros(500);

/// Caches that all readers share.
#[derive(Clone)]
struct Shared {
    alerts: AlertCache,
    columns: Arc<Mutex<Columns>>,
    marks: MarksCache,
}

/// One reader: its connection and what it remembers.
pub(crate) struct Reader {
    pub(crate) conn: Connection,
    pub(super) budget: Budget,
    pub(crate) dictionary: Dictionary,
    pub(super) counts: CountCache,
    shared: Shared,
    /// The keys of organizations, which never change.
    organizations: HashMap<OrganizationId, i64>,
    /// The newest commit of the snapshot that is read from, once it was asked for.
    newest: Option<i64>,
}

impl Reader {
    fn open(database: &Path, cache_kib: u32, shared: Shared) -> StoreResult<Self> {
        let mut conn = open(database, Purpose::Read)?;
        // A negative size is one in KiB.
        conn.pragma_update(None, "cache_size", -i64::from(cache_kib))?;
        let budget = Budget::of(&mut conn)?;
        let (dictionary, counts) = (Dictionary::new(), CountCache::new());
        Ok(Self { conn, budget, dictionary, counts, shared, organizations: HashMap::new(), newest: None })
    }

    /// The alert of a row.
    pub(super) fn alert(&mut self, key: i64) -> StoreResult<SharedAlert> {
        let newest = self.newest()?;
        self.shared.alerts.alert(&self.conn, &mut self.dictionary, key, newest)
    }

    /// The key of an organization.
    pub(super) fn organization(&mut self, id: OrganizationId) -> StoreResult<Option<i64>> {
        if let Some(key) = self.organizations.get(&id) {
            return Ok(Some(*key));
        }
        let key = organization_key(&self.conn, id)?;
        self.organizations.extend(key.map(|key| (id, key)));
        Ok(key)
    }

    /// Brings the cached counts of an organization up to the snapshot.
    pub(super) fn refresh_counts(&mut self, organization: i64) -> StoreResult<()> {
        let newest = self.newest()?;
        self.counts.refresh(&self.conn, organization, newest)
    }

    /// Marks an organization's alerts with the wanted words, and of these companies where they are given. `None`
    /// where the columns do not tell. The counts have to be of the snapshot. The columns are gone through as a whole:
    /// not on a caller's thread.
    pub(super) fn having(
        &mut self,
        organization: i64,
        cells: &CellFilter,
        companies: Option<&Vec<i64>>,
    ) -> StoreResult<Option<Marks>> {
        self.budget.refuse_hurried()?;
        let of = (organization, self.counts.of(organization).all(), self.newest()?);
        // Another reader may have them just now.
        let Ok(mut columns) = self.shared.columns.try_lock() else { return Ok(None) };
        Ok(columns.bring_to(&self.conn, of)?.then(|| columns.matching(organization, cells, companies)))
    }

    /// Matches of the last filters, as all readers of the lane remember them.
    pub(super) fn marks(&self) -> MarksCache {
        self.shared.marks.clone()
    }

    /// The newest commit of the snapshot.
    pub(super) fn newest(&mut self) -> StoreResult<i64> {
        if let Some(newest) = self.newest {
            return Ok(newest);
        }
        let newest = self.conn.one("SELECT number FROM change_number", &[], cell)?;
        self.newest = Some(newest);
        Ok(newest)
    }
}

/// Owner of a list's turn; `None` for avert's own reads.
pub(super) type ListOwner = Option<OrganizationId>;

/// A read that waits.
struct Job {
    /// Cancelled once nobody waits for it.
    abandoned: CancellationToken,
    work: Box<dyn FnOnce(&mut Reader) + Send>,
}

/// The reader pool.
pub(super) struct Readers {
    /// For reads by key: they wait behind no list.
    pub(super) keyed: Lane,
    /// For reads that may have to go through many rows.
    pub(super) lists: Lane,
}

impl Readers {
    /// Opens the connections and starts the threads.
    pub(super) fn start(database: &Path, cache_kib: u32) -> StoreResult<Self> {
        let shared = Shared { alerts: AlertCache::new(), columns: Arc::default(), marks: MarksCache::new() };
        let keyed = Lane::start("avert-reader", database, cache_kib, &shared, KEYED_READERS, KEYED_BOUNDS)?;
        let lists = Lane::start("avert-lists", database, cache_kib, &shared, LIST_READERS, LIST_BOUNDS)?;
        Ok(Self { keyed, lists })
    }

    /// Finishes the work that was asked for and ends the threads.
    pub(super) fn close(&self) {
        self.keyed.close();
        self.lists.close();
    }
}

/// Readers, and threads that read with them, in the order of one queue.
pub(super) struct Lane {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Lane {
    fn start(
        name: &str,
        database: &Path,
        cache_kib: u32,
        shared: &Shared,
        readers: usize,
        bounds: Bounds,
    ) -> StoreResult<Self> {
        let open = |_| Reader::open(database, cache_kib, shared.clone());
        let free: StoreResult<Vec<_>> = (0..readers).map(open).collect();
        let state = QueueState { jobs: FairQueue::new(bounds), readers, free: free?, closed: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
        let mut threads = Vec::with_capacity(readers);
        for number in 0..readers {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(format!("{name}-{number}")).spawn(move || run(&queue));
            threads.push(thread.map_err(|error| StoreError::Unavailable(format!("no thread for reading: {error}")))?);
        }
        Ok(Self { queue, threads: Mutex::new(threads) })
    }

    /// Reads in its owner's turn, all from one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        owner: ListOwner,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let (tell, told) = oneshot::channel();
        let abandoned = CancellationToken::new();
        let work = Box::new(move |reader: &mut Reader| drop(tell.send(in_snapshot(reader, work))));
        self.queue.push(owner, Job { abandoned: abandoned.clone(), work })?;
        // Whoever stops waiting drops this.
        let _waiting = abandoned.drop_guard();
        hear(told).await
    }

    /// Reads on the caller's own thread, where a reader is free and nobody waits for his turn. A read that does not end
    /// there is done on a thread of the lane.
    pub(super) async fn read_at_once<T: Send + 'static>(
        &self,
        owner: ListOwner,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        match self.queue.begin(owner).and_then(|reader| self.try_to_read(owner, reader, &work)) {
            Some(value) => Ok(value),
            None => self.read(owner, work).await,
        }
    }

    fn try_to_read<T>(
        &self,
        owner: ListOwner,
        mut reader: Reader,
        work: impl Fn(&mut Reader) -> StoreResult<T>,
    ) -> Option<T> {
        reader.budget.watch(Some(Until::At(Instant::now() + AT_ONCE)));
        // No caller's thread waits for another process.
        let read =
            reader.conn.busy_timeout(Duration::ZERO).map(|()| attempt(&mut reader, |reader| in_snapshot(reader, work)));
        let patient = reader.conn.busy_timeout(BUSY_TIMEOUT);
        self.queue.done(owner, reader);
        read.and_then(|read| patient.map(|()| read)).ok()??.ok()
    }

    fn close(&self) {
        self.queue.state().closed = true;
        self.queue.changed.notify_all();
        for thread in locked(&self.threads).drain(..) {
            let _ = thread.join();
        }
        self.queue.close();
    }
}

struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    jobs: FairQueue<ListOwner, Job>,
    /// Number of readers.
    readers: usize,
    /// Those that nobody reads with. The one that read last is taken first: it remembers most.
    free: Vec<Reader>,
    closed: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        locked(&self.state)
    }

    fn push(&self, owner: ListOwner, job: Job) -> StoreResult<()> {
        let mut state = self.state();
        if state.closed {
            return Err(StoreError::Unavailable("the store is closed".to_owned()));
        }
        let full = || StoreError::Unavailable("too much waits to be read already".to_owned());
        state.jobs.push(owner, job).map_err(|_| full())?;
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    /// A reader for a read that waits for nobody; `None` where it has to wait.
    fn begin(&self, owner: ListOwner) -> Option<Reader> {
        let mut state = self.state();
        if state.closed || state.free.is_empty() || !state.jobs.begin(owner) {
            return None;
        }
        state.free.pop()
    }

    /// Waits for the next read and a reader for it; `None` once the lane is closed and all is read.
    fn next(&self) -> Option<(ListOwner, Job, Reader)> {
        let mut state = self.state();
        loop {
            if !state.free.is_empty()
                && let Some((owner, job)) = state.jobs.pop()
                && let Some(reader) = state.free.pop()
            {
                return Some((owner, job, reader));
            }
            if state.closed && state.jobs.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the reader back from a read that is over.
    fn done(&self, owner: ListOwner, reader: Reader) {
        let mut state = self.state();
        state.jobs.done(owner);
        state.free.push(reader);
        let idle = state.jobs.is_empty() && !state.closed;
        drop(state);
        // The owner may have its next turn now, and at the end everybody has to see that nothing is left.
        if !idle {
            self.changed.notify_all();
        }
    }

    /// Closes the connections, once none of them is read with.
    fn close(&self) {
        let mut state = self.state();
        while state.free.len() < state.readers {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.readers = 0;
        state.free.clear();
    }
}

fn run(queue: &Queue) {
    while let Some((owner, Job { abandoned, work }, mut reader)) = queue.next() {
        if !abandoned.is_cancelled() {
            reader.budget.watch(Some(Until::Abandoned(abandoned)));
            // The panic hook reports a panic; dropping the job tells the caller.
            attempt(&mut reader, work);
        }
        queue.done(owner, reader);
    }
}

/// Reads, and leaves the reader as the next one needs it; `None` where the work panics.
fn attempt<T>(reader: &mut Reader, work: impl FnOnce(&mut Reader) -> T) -> Option<T> {
    let done = catch_unwind(AssertUnwindSafe(|| work(reader))).ok();
    reader.budget.watch(None);
    // A panic leaves the transaction open, and so does a beginning that is given up once it is done. Without its end no
    // later read could begin with this reader.
    if !reader.conn.is_autocommit()
        && let Err(error) = reader.conn.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a read could not be ended");
    }
    done
}

fn in_snapshot<T>(reader: &mut Reader, work: impl FnOnce(&mut Reader) -> StoreResult<T>) -> StoreResult<T> {
    reader.newest = None;
    reader.conn.prepare_cached("BEGIN")?.execute([])?;
    let result = work(reader);
    // The end of a read is never interrupted.
    reader.budget.watch(None);
    let ended = reader.conn.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
    match (result, ended) {
        (Ok(value), Ok(_)) => Ok(value),
        (Err(error), _) => Err(error),
        (Ok(_), Err(error)) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::open as open_store;
    use super::*;

    #[test]
    fn a_read_that_is_given_up_as_it_begins_leaves_no_transaction_open() {
        let (directory, _store) = open_store();
        let path = directory.path().join("avert.db");
        let mut reader = Reader::open(
            &path,
            64,
            Shared { alerts: AlertCache::new(), columns: Arc::default(), marks: MarksCache::new() },
        )
        .unwrap();

        // The moment is checked once in hundreds of steps: sooner or later behind the beginning.
        for round in 0..3_000 {
            reader.budget.watch((round % 3 == 0).then(|| Until::At(Instant::now())));
            attempt(&mut reader, |reader| in_snapshot(reader, |_| Ok(())));
            assert!(reader.conn.is_autocommit());
        }

        assert_eq!(attempt(&mut reader, |reader| in_snapshot(reader, |_| Ok(7))).unwrap().unwrap(), 7);
    }
}
