//! The schema of a database file, seen from outside.

use std::path::Path;

use rusqlite::Connection;

use super::{
    connection,
    files::{directory_of, is_regular, unusable},
    fingerprint,
    migrate::{MIGRATIONS, applied, inspect, inspect_any},
    restore,
};
use crate::{SchemaState, StoreResult};

/// Inspects the schema of a database file without changing anything; a missing file is empty.
///
/// # Errors
/// [`Newer`](crate::StoreError::Newer) where the schema is a newer one,
/// [`Unusable`](crate::StoreError::Unusable) where it is altered or another program's.
pub fn schema_of(path: &Path) -> StoreResult<SchemaState> {
    look(path, inspect, true)
}

/// The same of what may be an unfinished copy.
pub(super) fn schema_of_any(path: &Path) -> StoreResult<SchemaState> {
    look(path, inspect_any, false)
}

fn look(path: &Path, inspect: fn(&Connection, &Path) -> StoreResult<bool>, is_whole: bool) -> StoreResult<SchemaState> {
    if restore::is_pending(path) {
        return Err(restore::being_restored(directory_of(path)));
    }
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(SchemaState::after(0, MIGRATIONS));
    }
    if !is_regular(path) {
        return Err(unusable(path, "is no file"));
    }
    let applied = || -> StoreResult<usize> {
        let conn = connection::open_untouched(path)?;
        inspect(&conn, path)?;
        let applied = applied(&conn, path, MIGRATIONS)?;
        if is_whole && applied > 0 {
            fingerprint::check(&conn, path, applied)?;
        }
        Ok(applied)
    };
    Ok(SchemaState::after(applied().map_err(|error| error.at(path))?, MIGRATIONS))
}
