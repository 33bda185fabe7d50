//! A reader of single rows on the caller's own thread: shorter than handing microseconds of work to another one.

use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::Connection;

use super::connection::{Purpose, open};
use super::worker::locked;
use crate::store::StoreResult;

/// One connection, for whoever finds it free.
pub(super) struct RowReader(Mutex<Option<Connection>>);

impl RowReader {
    /// Opens the connection.
    pub(super) fn open(database: &Path) -> StoreResult<Self> {
        let conn = open(database, Purpose::Read)?;
        // No caller's thread waits for another process.
        conn.busy_timeout(Duration::ZERO)?;
        Ok(Self(Mutex::new(Some(conn))))
    }

    /// What was read; `None` where it could not be read at once, so that a thread that may wait has to.
    pub(super) fn read<T>(&self, work: impl FnOnce(&Connection) -> StoreResult<T>) -> Option<T> {
        let conn = self.0.try_lock().ok()?;
        work(conn.as_ref()?).ok()
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        locked(&self.0).take();
    }
}
