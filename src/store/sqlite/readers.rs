//! The reader pool: read-only connections, each on a thread of its own, in two lanes. What is read by its key never waits behind lists,
//! and lists take turns by organization.
//!
//! A read whose caller has left is not begun, and one that runs is interrupted.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::alert_cache::AlertCache;
use super::budget::Budget;
use super::connection::{Purpose, open};
use super::counts::CountCache;
use super::interned::Dictionary;
use super::row_reader::RowReader;
use super::turns::{Bounds, FairQueue};
use super::worker::{hear, locked};
use crate::domain::{OrganizationId, SharedAlert};
use crate::store::{StoreError, StoreResult};

/// How many read by key at once. Each such read takes microseconds.
const KEYED_READERS: usize = 2;

/// Everybody has a turn as it comes; far more than there are connections to ask from.
const KEYED_BOUNDS: Bounds = Bounds { at_once: KEYED_READERS, waiting: 8_192, waiting_in_all: 8_192 };

/// How many read lists at once.
const LIST_READERS: usize = 3;

/// One organization leaves a reader to the others.
const LIST_BOUNDS: Bounds = Bounds { at_once: LIST_READERS - 1, waiting: 64, waiting_in_all: 256 };

/// One reader: its connection and what it remembers.
pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) budget: Budget,
    pub(super) dictionary: Dictionary,
    pub(super) counts: CountCache,
    pub(super) alerts: AlertCache,
}

impl Reader {
    fn open(database: &Path, cache_kib: u32, alerts: AlertCache) -> StoreResult<Self> {
        let mut conn = open(database, Purpose::Read)?;
        // A negative size is one in KiB.
        conn.pragma_update(None, "cache_size", -i64::from(cache_kib))?;
        let budget = Budget::of(&mut conn)?;
        Ok(Self { conn, budget, dictionary: Dictionary::new(), counts: CountCache::default(), alerts })
    }

    /// The alert of a row.
    pub(super) fn alert(&mut self, key: i64) -> StoreResult<SharedAlert> {
        self.alerts.alert(&self.conn, &mut self.dictionary, key)
    }
}

/// Whose turn a list takes; none for what avert reads for itself.
pub(super) type ListOwner = Option<OrganizationId>;

/// A read that waits.
struct Job {
    /// Cancelled once nobody waits for it.
    abandoned: CancellationToken,
    work: Box<dyn FnOnce(&mut Reader) + Send>,
}

/// The reader pool.
pub(super) struct Readers {
    rows: RowReader,
    keyed: Lane,
    lists: Lane,
}

impl Readers {
    /// Opens the connections and starts the threads.
    pub(super) fn start(database: &Path, cache_kib: u32) -> StoreResult<Self> {
        let alerts = AlertCache::new();
        let keyed = Lane::start("avert-reader", database, cache_kib, &alerts, KEYED_READERS, KEYED_BOUNDS)?;
        let lists = Lane::start("avert-lists", database, cache_kib, &alerts, LIST_READERS, LIST_BOUNDS)?;
        Ok(Self { rows: RowReader::open(database)?, keyed, lists })
    }

    /// Reads one row by one statement, at once where that can be.
    pub(super) async fn read_row<T: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        match self.rows.read(&work) {
            Some(value) => Ok(value),
            None => self.keyed.read(None, move |reader| work(&reader.conn)).await,
        }
    }

    /// Reads what is found by its key, all from one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.keyed.read(None, work).await
    }

    /// Reads what may have to look at much, in its owner's turn, all from one state of the database.
    pub(super) async fn read_list<T: Send + 'static>(
        &self,
        owner: ListOwner,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.lists.read(owner, work).await
    }

    /// Finishes what was asked for and ends the threads.
    pub(super) fn close(&self) {
        self.keyed.close();
        self.lists.close();
        self.rows.close();
    }
}

/// Threads that share one queue.
struct Lane {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Lane {
    fn start(name: &str, database: &Path, cache_kib: u32, alerts: &AlertCache, readers: usize, bounds: Bounds) -> StoreResult<Self> {
        let state = QueueState { jobs: FairQueue::new(bounds), closed: false };
        let queue = Arc::new(Queue { state: Mutex::new(state), changed: Condvar::new() });
        let mut threads = Vec::with_capacity(readers);
        for number in 0..readers {
            let (reader, queue) = (Reader::open(database, cache_kib, alerts.clone())?, Arc::clone(&queue));
            let thread = std::thread::Builder::new().name(format!("{name}-{number}")).spawn(move || run(reader, &queue));
            threads.push(thread.map_err(|error| StoreError::Unavailable(format!("no thread for reading: {error}")))?);
        }
        Ok(Self { queue, threads: Mutex::new(threads) })
    }

    async fn read<T: Send + 'static>(
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

    fn close(&self) {
        self.queue.state().closed = true;
        self.queue.changed.notify_all();
        for thread in locked(&self.threads).drain(..) {
            let _ = thread.join();
        }
    }
}

struct Queue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

struct QueueState {
    jobs: FairQueue<ListOwner, Job>,
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

    /// Waits for the next read; nothing once the lane is closed and all is read.
    fn next(&self) -> Option<(ListOwner, Job)> {
        let mut state = self.state();
        loop {
            if let Some(next) = state.jobs.pop() {
                return Some(next);
            }
            if state.closed && state.jobs.is_empty() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn done(&self, owner: ListOwner) {
        let mut state = self.state();
        state.jobs.done(owner);
        let idle = state.jobs.is_empty() && !state.closed;
        drop(state);
        // The owner may have its next turn now, and at the end everybody has to see that nothing is left.
        if !idle {
            self.changed.notify_all();
        }
    }
}

fn run(mut reader: Reader, queue: &Queue) {
    while let Some((owner, Job { abandoned, work })) = queue.next() {
        if !abandoned.is_cancelled() {
            reader.budget.watch(Some(abandoned));
            let done = catch_unwind(AssertUnwindSafe(|| work(&mut reader)));
            reader.budget.watch(None);
            reader.counts.forget_excess();
            if done.is_err()
                && !reader.conn.is_autocommit()
                // The panic hook has reported it; dropping the job has told the caller.
                && let Err(error) = reader.conn.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "a read could not be ended");
            }
        }
        queue.done(owner);
    }
}

fn in_snapshot<T>(reader: &mut Reader, work: impl FnOnce(&mut Reader) -> StoreResult<T>) -> StoreResult<T> {
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
