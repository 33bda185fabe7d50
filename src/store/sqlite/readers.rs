//! A pool of read-only connections, each on a thread of its own, that share one queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::budget::Budget;
use super::connection::{Purpose, open};
use super::counts::CountCache;
use super::interned::Dictionary;
use super::writer::{hand_over, hear};
use crate::store::{StoreError, StoreResult};

/// How many read at once.
const READERS: usize = 3;

/// One reader: its connection and what it remembers.
pub(super) struct Reader {
    pub(super) conn: Connection,
    pub(super) budget: Budget,
    pub(super) dictionary: Dictionary,
    pub(super) counts: CountCache,
}

type Job = Box<dyn FnOnce(&mut Reader) + Send>;

/// The reader pool.
#[derive(Debug)]
pub(super) struct Readers {
    jobs: Mutex<Option<Sender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Readers {
    /// Opens the connections and starts the threads.
    pub(super) fn start(database: &Path) -> StoreResult<Self> {
        let (jobs, queue) = channel::<Job>();
        let queue = Arc::new(Mutex::new(queue));
        let mut threads = Vec::with_capacity(READERS);
        for number in 0..READERS {
            let mut conn = open(database, Purpose::Read)?;
            let budget = Budget::of(&mut conn)?;
            let reader = Reader { conn, budget, dictionary: Dictionary::new(), counts: CountCache::default() };
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(format!("avert-reader-{number}")).spawn(move || run(reader, &queue));
            threads.push(thread.map_err(|error| StoreError::Unavailable(format!("no thread for reading: {error}")))?);
        }
        Ok(Self { jobs: Mutex::new(Some(jobs)), threads: Mutex::new(threads) })
    }

    /// Reads, all from one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |reader| drop(tell.send(in_snapshot(reader, work))));
        hand_over(&self.jobs, job)?;
        hear(told).await
    }

    /// Finishes what was asked for and ends the threads.
    pub(super) fn close(&self) {
        drop(self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take());
        for thread in self.threads.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            let _ = thread.join();
        }
    }
}

fn in_snapshot<T>(reader: &mut Reader, work: impl FnOnce(&mut Reader) -> StoreResult<T>) -> StoreResult<T> {
    reader.conn.prepare_cached("BEGIN")?.execute([])?;
    let result = work(reader);
    let ended = reader.conn.prepare_cached("ROLLBACK").and_then(|mut statement| statement.execute([]));
    match (result, ended) {
        (Ok(value), Ok(_)) => Ok(value),
        (Err(error), _) => Err(error),
        (Ok(_), Err(error)) => Err(error.into()),
    }
}

fn run(mut reader: Reader, queue: &Mutex<Receiver<Job>>) {
    loop {
        // Whoever holds the lock waits for work, the others wait for the lock: work goes to exactly one.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if catch_unwind(AssertUnwindSafe(|| job(&mut reader))).is_err() && !reader.conn.is_autocommit() {
            // The panic hook has reported it; dropping the job has told the caller.
            if let Err(error) = reader.conn.execute_batch("ROLLBACK") {
                tracing::error!(%error, "a read could not be ended");
            }
        }
    }
}
