//! The check of a database before anything is written to it. It has to be one, and not an empty file in the place of a
//! lost one. After an unclean end every page of it has to hold.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::connection::{self, Purpose};
use super::files::{make_file, unusable, with_suffix};
use super::instance::census;
use super::statements::{Statements as _, cell};
use super::{log_walk, newest};
use crate::store::{RefusalCause, StoreError, StoreResult};

/// Refuses a file that cannot be a database, in plain words before SQLite does in its own; makes it where it is
/// missing.
pub(super) fn check_file(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    match fs::metadata(database) {
        // SQLite would take a log without its database for a stranger's, and remove it.
        Err(error) if error.kind() == ErrorKind::NotFound && key.is_some() && has_log(database) => {
            Err(damaged(database, "is missing, and the log beside it (-wal) holds what belongs to it"))
        }
        // Made here, because SQLite would let others read it. Another process may be faster: then it is there as well.
        Err(error) if error.kind() == ErrorKind::NotFound => match make_file(database) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                Err(StoreError::of_file(database, "cannot be made", &error))
            }
            _ => Ok(()),
        },
        Err(error) => Err(unusable(database, &format!("cannot be looked at: {error}"))),
        Ok(there) if there.is_dir() => {
            Err(unusable(database, "is a directory, and a database file is needed; name another one"))
        }
        Ok(there) if !there.is_file() => {
            Err(unusable(database, "is no file (a pipe, a socket or a device); name another one"))
        }
        Ok(there) => match fs::OpenOptions::new().read(true).write(true).open(database) {
            Ok(_) if there.len() == 0 => refuse_empty(database, key),
            Ok(_) => Ok(()),
            // It can be read, and whoever wants to write hears why that cannot be.
            Err(_) if fs::File::open(database).is_ok() => Ok(()),
            Err(error) => {
                Err(StoreError::of_file(database, "cannot be read; give the user who runs avert access", &error))
            }
        },
    }
}

/// Refuses what cannot be worked on without a backup.
fn damaged(database: &Path, what: &str) -> StoreError {
    StoreError::Refused(RefusalCause::Damaged, format!("{}: {what}; nothing was written to it", database.display()))
}

/// Refuses an empty database whose key is there. The key is made only when the database has its tables, so it had some.
/// `key` is the one that was there before the database was checked.
pub(super) fn refuse_empty(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    let Some(key) = key else { return Ok(()) };
    let key = key.display();
    Err(damaged(
        database,
        &format!("is empty, and {key} beside it says that it held alerts (to begin anew, move {key} away)"),
    ))
}

/// Checks the whole database where its last process died at work; refuses a damaged one.
pub(super) fn check_after_unclean_end(database: &Path, before: &dyn Fn(u64)) -> StoreResult<()> {
    let (living, dead) = census(&instances_of(database));
    let is_unclean = living == 0 && (dead > 0 || has_log(database));
    if is_unclean {
        before(fs::metadata(database).map_or(0, |there| there.len()));
        tracing::info!("the last avert here did not end cleanly: the database is looked through");
    }
    check_log(database)?;
    if !is_unclean {
        return Ok(());
    }
    let look = || -> StoreResult<Vec<String>> {
        connection::open(database, Purpose::Read)?.all("PRAGMA quick_check(1)", [], cell)
    };
    let what = match look() {
        Ok(lines) if lines == ["ok"] => return Ok(()),
        Ok(lines) => lines.join("; "),
        Err(StoreError::Refused(RefusalCause::Damaged, what)) => what,
        Err(error) => return Err(error),
    };
    Err(damaged(database, &format!("since an unclean end {what}; `avert doctor` says more")))
}

/// Refuses a database with a damaged or missing log. While others work on it they have checked it, and the log moves.
pub(super) fn check_log(database: &Path) -> StoreResult<()> {
    let is_alone = || census(&instances_of(database)).0 == 0;
    if !is_alone() || !fs::metadata(database).is_ok_and(|there| there.len() > 0) {
        return Ok(());
    }
    if has_log(database) {
        let log = with_suffix(database, "-wal");
        let found = log_walk::damage(&log).map_err(|error| StoreError::of_file(&log, "cannot be read", &error))?;
        if let Some(what) = found.filter(|_| is_alone()) {
            return Err(damaged(database, &what));
        }
    }
    // Other faults of it are reported elsewhere.
    let compared = connection::open(database, Purpose::Read).and_then(|conn| newest::check(&conn, database));
    match compared {
        Ok(Some(what)) if is_alone() => Err(damaged(database, &what)),
        _ => Ok(()),
    }
}

fn instances_of(database: &Path) -> PathBuf {
    database.with_file_name("instances")
}

fn has_log(database: &Path) -> bool {
    fs::metadata(with_suffix(database, "-wal")).is_ok_and(|log| log.is_file() && log.len() > 0)
}
