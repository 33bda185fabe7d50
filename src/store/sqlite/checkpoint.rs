//! WAL checkpoints on a thread of their own, so that hardly a commit waits for them.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use rusqlite::Connection;

use super::{
    connection::{BUSY_TIMEOUT, Purpose, open},
    files::with_suffix,
    instance::Turnstile,
    worker::{Worker, locked},
};
use crate::{StoreResult, error::free_bytes};

/// Size from which a log is worth a checkpoint.
const WORTHWHILE_BYTES: u64 = 16 << 20;
/// Size at which writers wait for the rest of a checkpoint, so that the log begins anew. Under constant writes it never
/// does so by itself.
const ANEW_BYTES: u64 = 48 << 20;
/// Lower bound of both sizes. With little room left both shrink, so that the log still has room in the database; below
/// this they are worth nothing.
const LEAST_BYTES: u64 = 256 << 10;
/// Growth of the log before that is tried again, where readers were in the way.
const TRY_AGAIN_BYTES: u64 = 16 << 20;
/// Longest wait of writers for such readers.
const PATIENCE: Duration = Duration::from_millis(50);
/// Size from which a log is emptied in spite of readers, however long they take.
const TOO_LARGE_BYTES: u64 = 256 << 20;

/// The handle of the checkpointer thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    worker: Worker<SyncSender<()>>,
    shared: Arc<Shared>,
}

/// State that the thread shares with writers.
#[derive(Debug, Default)]
struct Shared {
    /// Held while a checkpoint keeps writers out.
    exclusive: Mutex<()>,
    /// True where the disk was found to be full.
    full: AtomicBool,
}

impl Checkpointer {
    /// Starts the thread.
    pub(super) fn start(database: &Path, turnstile: Turnstile) -> StoreResult<Self> {
        let conn = open(database, Purpose::Checkpoint)?;
        let shared = Arc::<Shared>::default();
        let path = with_suffix(database, "-wal");
        let log = Log { conn, path, turnstile, shared: Arc::clone(&shared), anew_at: ANEW_BYTES };
        // One waiting signal says as much as many.
        let (wake, signals) = sync_channel(1);
        let worker = Worker::start("avert-checkpoint", wake, move || log.run(&signals))?;
        Ok(Self { worker, shared })
    }

    /// Wakes the thread: the log has grown.
    pub(super) fn committed(&self) {
        // Full means that it is awake already.
        let _ = self.worker.with_queue(|wake| wake.try_send(()));
    }

    /// Wakes the thread: the disk is full, and a log that begins anew needs no more room.
    pub(super) fn found_full(&self) {
        self.shared.full.store(true, Ordering::Relaxed);
        self.committed();
    }

    /// Waits until no checkpoint keeps writers out. On a slow disk that takes longer than another process is waited
    /// for.
    pub(super) fn wait(&self) -> MutexGuard<'_, ()> {
        locked(&self.shared.exclusive)
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        self.worker.close();
    }
}

/// The write-ahead log.
struct Log {
    conn: Connection,
    path: PathBuf,
    turnstile: Turnstile,
    shared: Arc<Shared>,
    anew_at: u64,
}

impl Log {
    fn run(mut self, signals: &Receiver<()>) {
        while signals.recv().is_ok() {
            let size = self.bytes();
            let room = free_bytes(&self.path).map_or(u64::MAX, |free| (free / 2).max(LEAST_BYTES));
            if self.shared.full.swap(false, Ordering::Relaxed) {
                self.anew_at = 0;
            } else if size < WORTHWHILE_BYTES.min(room) {
                self.anew_at = ANEW_BYTES;
                continue;
            } else {
                self.anew_at = self.anew_at.min(room);
            }
            if let Err(error) = self.shorten(size) {
                // The log only grows until a later one succeeds.
                tracing::warn!(%error, size, "a checkpoint failed");
            }
        }
    }

    fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    fn shorten(&mut self, size: u64) -> rusqlite::Result<()> {
        // Most of the log is moved while others write, so that what they wait for is short.
        self.checkpoint("PASSIVE")?;
        if size >= TOO_LARGE_BYTES {
            let _turn = self.turnstile.enter();
            let _exclusive = locked(&self.shared.exclusive);
            self.checkpoint("TRUNCATE")?;
        } else if size >= self.anew_at {
            self.checkpoint("PASSIVE")?;
            let _turn = self.turnstile.enter();
            let _exclusive = locked(&self.shared.exclusive);
            self.conn.busy_timeout(PATIENCE)?;
            let is_anew = self.checkpoint("RESTART");
            self.conn.busy_timeout(BUSY_TIMEOUT)?;
            self.anew_at = if is_anew? { ANEW_BYTES } else { self.bytes() + TRY_AGAIN_BYTES };
        }
        Ok(())
    }

    /// Runs a checkpoint in this mode; returns whether nobody was in the way.
    fn checkpoint(&self, mode: &str) -> rusqlite::Result<bool> {
        self.conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| Ok(row.get::<_, i64>(0)? == 0))
    }
}
