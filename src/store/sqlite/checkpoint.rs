//! WAL checkpoints on a thread of their own, so that no commit waits for them.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use rusqlite::Connection;

use super::connection::{Purpose, open};
use super::worker::Worker;
use crate::store::StoreResult;

/// A log of this size is worth a checkpoint.
const WORTHWHILE_BYTES: u64 = 16 << 20;
/// A log that has grown to this size in spite of checkpoints is emptied while writers wait.
const TOO_LARGE_BYTES: u64 = 256 << 20;

/// The handle of the checkpointer thread.
#[derive(Debug)]
pub(super) struct Checkpointer(Worker<SyncSender<()>>);

impl Checkpointer {
    /// Starts the thread.
    pub(super) fn start(database: &Path) -> StoreResult<Self> {
        let conn = open(database, Purpose::Checkpoint)?;
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        // One waiting signal says as much as many.
        let (wake, signals) = sync_channel(1);
        Worker::start("avert-checkpoint", wake, move || run(&conn, &log, &signals)).map(Self)
    }

    /// Tells that the log has grown.
    pub(super) fn committed(&self) {
        // Full means that it is awake already.
        let _ = self.0.with_queue(|wake| wake.try_send(()));
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        self.0.close();
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
