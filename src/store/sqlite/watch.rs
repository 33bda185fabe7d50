//! The change watcher: polls `PRAGMA data_version` for commits of other processes four times a second, while somebody listens.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::watch;

use super::connection::{Purpose, open};
use super::statements::{Statements as _, cell};
use super::worker::Worker;
use crate::store::StoreResult;

const INTERVAL: Duration = Duration::from_millis(250);

/// The watcher thread.
#[derive(Debug)]
pub(super) struct Watcher(Worker<Sender<()>>);

impl Watcher {
    /// Starts the thread.
    pub(super) fn start(database: &Path, changes: watch::Sender<u64>) -> StoreResult<Self> {
        let conn = open(database, Purpose::Read)?;
        let (stop, stopped) = channel();
        Worker::start("avert-watch", stop, move || run(&conn, &changes, &stopped)).map(Self)
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

/// The newest change number.
pub(super) fn newest_change(conn: &Connection) -> StoreResult<u64> {
    Ok(conn.one("SELECT number FROM change_number", [], cell::<i64>)?.unsigned_abs())
}

fn run(conn: &Connection, changes: &watch::Sender<u64>, stopped: &Receiver<()>) {
    let mut seen = None;
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        if changes.receiver_count() == 0 {
            continue;
        }
        let version = conn.one("PRAGMA data_version", [], cell::<i64>);
        let newer = match version {
            Ok(version) if seen == Some(version) => continue,
            Ok(version) => newest_change(conn).map(|number| (version, number)),
            Err(error) => Err(error),
        };
        match newer {
            Ok((version, number)) => {
                seen = Some(version);
                changes.send_if_modified(|known| {
                    let newer = number > *known;
                    *known = number.max(*known);
                    newer
                });
            }
            // Asked again in a moment.
            Err(error) => tracing::debug!(%error, "the database did not tell whether it changed"),
        }
    }
}
