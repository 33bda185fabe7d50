//! The watcher: polls `PRAGMA data_version` for commits of other processes four times a second, while somebody listens.
//! It checks that the open files are still at their paths, and keeps the newest change number beside them.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::Duration,
};

use rusqlite::Connection;
use tokio::sync::watch;

use super::{
    connection::{Purpose, open},
    soundness::{Newest, newest_change},
    sql::{Statements as _, cell},
    worker::Worker,
    writer::Shared,
};
use crate::{StoreResult, change_number::tell_newer};

const INTERVAL: Duration = Duration::from_millis(250);

/// The watcher thread.
pub(super) type Watcher = Worker<Sender<()>>;

/// Starts the thread.
pub(super) fn start(shared: Arc<Shared>, changes: watch::Sender<u64>) -> StoreResult<Watcher> {
    let conn = open(&shared.path, Purpose::Read)?;
    let (stop, stopped) = channel();
    Worker::start("avert-watch", stop, move || run(&conn, &shared, &changes, &stopped))
}

fn run(conn: &Connection, shared: &Shared, changes: &watch::Sender<u64>, stopped: &Receiver<()>) {
    let mut seen = None;
    let mut newest = Newest::of(&shared.path, shared.context.database);
    let mut keep = || {
        if shared.files.check().is_ok() {
            newest.keep(*changes.borrow());
        }
    };
    while stopped.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        keep();
        if changes.receiver_count() == 0 {
            continue;
        }
        let mut look = || -> StoreResult<()> {
            let version = Some(conn.one("PRAGMA data_version", &[], cell::<i64>)?);
            if seen != version {
                tell_newer(changes, newest_change(conn)?);
                seen = version;
            }
            Ok(())
        };
        if let Err(error) = look() {
            // Asked again in a moment.
            tracing::debug!(%error, "the database did not tell whether it changed");
        }
    }
    keep();
}
