//! Connections to the database file: their opening, copies of their pages, and the meaning of SQLite's errors to a
//! caller.

use std::{fs::File, path::Path, time::Duration};

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags, backup::Backup, config::DbConfig};

use super::files::with_suffix;
use crate::{RefusalCause, StoreError, StoreResult, error::beside};

/// Marks a database file as avert's (`PRAGMA application_id`): the letters `avrt`.
pub(super) const APPLICATION_ID: i64 = 0x6176_7274;

// Earlier libraries can corrupt a database when a write-ahead log is reset.
const _: () = assert!(rusqlite::ffi::SQLITE_VERSION_NUMBER >= 3_051_003);

/// Longest wait of a statement for another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The kind of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The one that writes.
    Write,
    /// Reads only.
    Read,
    /// Moves the write-ahead log into the database.
    Checkpoint,
}

/// Opens a connection; the file is made where it is missing and the connection writes. The files that connections share
/// may be impossible to make. Then it does without: alone on a full disk, and without a look at other processes where
/// nothing can be written.
pub(super) fn open(path: &Path, purpose: Purpose) -> StoreResult<Connection> {
    let access = match purpose {
        Purpose::Write => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        Purpose::Checkpoint => OpenFlags::SQLITE_OPEN_READ_WRITE,
        Purpose::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
    } | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, access).and_then(|conn| set_up(conn, purpose));
    let looked = opened.and_then(|conn| match conn.execute_batch("SELECT 1 FROM sqlite_schema LIMIT 1") {
        Err(error) if is_refused(&error) => Err(error),
        _ => Ok(conn),
    });
    let error = match looked {
        Err(error) if is_refused(&error) && path.exists() => error,
        looked => return Ok(looked?),
    };
    match beside(path) {
        // It writes as soon as there is room. Other processes wait until it has ended.
        Some(RefusalCause::DiskFull) => {
            let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let conn = Connection::open_with_flags_and_vfs(path, access, "unix-excl")?;
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, purpose == Purpose::Read)?;
            Ok(set_up(conn, purpose)?)
        }
        Some(RefusalCause::ReadOnly) if !with_suffix(path, "-wal").exists() => {
            Ok(set_up(open_immutable(path)?, purpose)?)
        }
        Some(RefusalCause::OpenFiles) => Err(StoreError::somewhere(RefusalCause::OpenFiles, &error)),
        _ => Err(error.into()),
    }
}

/// Returns whether the system refuses to open it, or to make what is beside it.
fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(cause_of(error), Some(RefusalCause::Failing | RefusalCause::DiskFull | RefusalCause::ReadOnly))
}

fn set_up(mut conn: Connection, purpose: Purpose) -> rusqlite::Result<Connection> {
    match purpose {
        Purpose::Write => conn.busy_handler(Some(look_again))?,
        Purpose::Checkpoint | Purpose::Read => conn.busy_timeout(BUSY_TIMEOUT)?,
    }
    // Without it, cached statements with bound parameters are prepared again at every run (the library has STAT4).
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    conn.set_prepared_statement_cache_capacity(256);
    match purpose {
        // Checkpoints have a thread of their own; a log that begins anew is cut, so that its length says how much is in
        // it.
        Purpose::Write => conn.execute_batch(
            "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA foreign_keys = ON; PRAGMA cache_size = \
                -24576;
             PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = 8388608;",
        )?,
        Purpose::Checkpoint => conn.execute_batch("PRAGMA synchronous = FULL; PRAGMA cache_size = -256;")?,
        Purpose::Read => conn.execute_batch(
            "PRAGMA query_only = ON; PRAGMA cache_size = -8192; PRAGMA temp_store = \
            MEMORY;",
        )?,
    }
    Ok(conn)
}

/// Waits for the lock of a writer, by short polls: a long wait for it would hold up the next writer too.
fn look_again(looks: i32) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    u128::from(looks.unsigned_abs()) < BUSY_TIMEOUT.as_millis()
}

/// Opens a connection that only inspects, and makes not even the files beside it that readers share.
pub(super) fn open_untouched(path: &Path) -> StoreResult<Connection> {
    if with_suffix(path, "-wal").exists() {
        // Somebody is at work, or was killed: those files are there.
        return open(path, Purpose::Read);
    }
    Ok(open_immutable(path)?)
}

/// Opens a database that nobody writes to.
fn open_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
}

/// Pages copied in one go.
const PAGES: std::ffi::c_int = 16_384;
/// Pause before the next attempt while another process keeps the database locked.
const PAUSE: Duration = Duration::from_millis(5);

/// Copies every page into an empty file, which needs no log beside it then; errors call it `name`.
pub(super) fn copy_pages(source: &Connection, to: &Path, name: &Path) -> StoreResult<()> {
    let failed = |error: rusqlite::Error| StoreError::from(error).at(name);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(failed)?;
    Backup::new(source, &mut target)
        .and_then(|copying| copying.run_to_completion(PAGES, PAUSE, None))
        .map_err(failed)?;
    target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).map_err(failed)?;
    target.close().map_err(|(_, error)| failed(error))?;
    File::open(to).and_then(|file| file.sync_all()).map_err(StoreError::of_file(name, "cannot be written"))
}

fn cause_of(error: &rusqlite::Error) -> Option<RefusalCause> {
    RefusalCause::of_sqlite(error.sqlite_error()?.extended_code)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match (cause_of(&error), error.sqlite_error_code()) {
            (Some(cause), _) => Self::somewhere(cause, &error),
            (None, Some(ErrorCode::ConstraintViolation) | None) => Self::Corrupt(error.to_string()),
            (None, Some(_)) => Self::Unavailable(error.to_string()),
        }
    }
}
