//! The check of a database before anything is written to it: that it is one, that it is not an empty file in the place of a lost one, and,
//! where the last one at work on it did not end cleanly, that every page of it holds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::Connection;

use super::connection::{self, Purpose};
use super::files::{make_file, unusable, with_suffix};
use super::instance::census;
use super::statements::{Statements as _, cell};
use crate::store::StoreResult;

/// Says in plain words why a file cannot be a database, before SQLite does in its own; makes it where it is missing.
pub(super) fn check_file(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    match fs::metadata(database) {
        // SQLite would take a log without its database for a stranger's, and remove it.
        Err(error) if error.kind() == ErrorKind::NotFound && key.is_some() && has_log(database) => {
            Err(unusable(database, &format!("is missing, and the log beside it (-wal) holds what belongs to it; {WAY_OUT}")))
        }
        // Made here, because SQLite would let others read it. Another process may be faster: then it is there as well.
        Err(error) if error.kind() == ErrorKind::NotFound => match make_file(database) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(unusable(database, &format!("cannot be made: {error}"))),
            _ => Ok(()),
        },
        Err(error) => Err(unusable(database, &format!("cannot be looked at: {error}"))),
        Ok(there) if there.is_dir() => Err(unusable(database, "is a directory, and a database file is needed; name another one")),
        Ok(there) if !there.is_file() => Err(unusable(database, "is no file (a pipe, a socket or a device); name another one")),
        Ok(there) => match fs::OpenOptions::new().read(true).write(true).open(database) {
            Ok(_) if there.len() == 0 => refuse_empty(database, key),
            Ok(_) => Ok(()),
            Err(error) => {
                Err(unusable(database, &format!("cannot be written: {error}; give the user who runs avert read and write access")))
            }
        },
    }
}

/// What to do about a database that cannot be worked on.
pub(super) const WAY_OUT: &str =
    "nothing was written to it. Keep a copy of the data directory, then bring a backup back with `avert restore FILE`";

/// Refuses an empty database whose key is there. The key is made only when the database has its tables, so it had some; `key` is the one
/// that was there before the database was looked at.
pub(super) fn refuse_empty(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    let Some(key) = key else { return Ok(()) };
    let key = key.display();
    Err(unusable(database, &format!("is empty, and {key} beside it says that it held alerts; {WAY_OUT}; to begin anew, move {key} away")))
}

/// Looks through the whole database where its last process died at work; refuses a damaged one.
pub(super) fn check_after_unclean_end(database: &Path, instances: &Path, before: &dyn Fn(u64)) -> StoreResult<()> {
    let (living, dead) = census(instances);
    if living > 0 || (dead == 0 && !has_log(database)) {
        return Ok(());
    }
    before(fs::metadata(database).map_or(0, |there| there.len()));
    tracing::info!("the last avert here did not end cleanly: the database is looked through");
    let found = connection::open(database, Purpose::Read).map_err(Into::into).and_then(|conn| damage(&conn));
    let damage = found.unwrap_or_else(|error| Some(error.to_string()));
    match damage {
        None => Ok(()),
        Some(what) => Err(unusable(database, &format!("is damaged since an unclean end ({what}); {WAY_OUT}; `avert doctor` says more"))),
    }
}

/// The first fault of a database's pages.
fn damage(conn: &Connection) -> StoreResult<Option<String>> {
    let lines: Vec<String> = conn.all("PRAGMA quick_check(1)", [], cell)?;
    Ok((lines != ["ok"]).then(|| lines.join("; ")))
}

fn has_log(database: &Path) -> bool {
    fs::metadata(with_suffix(database, "-wal")).is_ok_and(|log| log.len() > 0)
}
