//! WAL checkpoints on a thread of their own, so that no commit waits for them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::connection::{Purpose, open};

/// A log of this size is worth a checkpoint.
const WORTHWHILE_BYTES: u64 = 16 << 20;
/// A log that has grown to this size in spite of checkpoints is emptied while writers wait.
const TOO_LARGE_BYTES: u64 = 256 << 20;

/// The handle of the checkpointer thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    wake: Mutex<Option<SyncSender<()>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Checkpointer {
    /// Starts the thread.
    pub(super) fn start(database: &Path) -> rusqlite::Result<Self> {
        let conn = open(database, Purpose::Checkpoint)?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        // One waiting signal says as much as many.
        let (wake, signals) = sync_channel(1);
        let thread = std::thread::Builder::new().name("avert-checkpoint".to_owned()).spawn(move || run(&conn, &log, &signals));
        let thread = thread.map_err(|error| {
            tracing::error!(%error, "the checkpoint thread cannot be started");
            rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOMEM), Some(error.to_string()))
        })?;
        Ok(Self { wake: Mutex::new(Some(wake)), thread: Mutex::new(Some(thread)) })
    }

    /// Tells that the log has grown.
    pub(super) fn committed(&self) {
        if let Some(wake) = &*self.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            // Full means that it is awake already.
            let _ = wake.try_send(());
        }
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        drop(self.wake.lock().unwrap_or_else(PoisonError::into_inner).take());
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

fn run(conn: &Connection, log: &Path, signals: &Receiver<()>) {
    while signals.recv().is_ok() {
        let size = std::fs::metadata(log).map_or(0, |metadata| metadata.len());
        if size < WORTHWHILE_BYTES {
            continue;
        }
        let mode = if size < TOO_LARGE_BYTES { "PASSIVE" } else { "TRUNCATE" };
        if let Err(error) = conn.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())) {
            // The log only grows until a later one succeeds.
            tracing::warn!(%error, mode, "a checkpoint failed");
        }
    }
}
