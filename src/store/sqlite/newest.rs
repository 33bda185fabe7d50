//! The newest change number in a file of its own, beside the database: a log that is missing, or was cut, shows by it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::files::{make_file, with_suffix};
use super::statements::{Statements as _, cell, known_identity};
use crate::domain::DatabaseId;
use crate::store::StoreResult;

/// Suffix of the file's name.
pub(super) const SUFFIX: &str = "-newest";

/// The file, written now and then: what it tells is never ahead of the database.
#[derive(Debug)]
pub(super) struct Newest {
    path: PathBuf,
    database: DatabaseId,
    written: u64,
}

impl Newest {
    pub(super) fn of(database: &Path, id: DatabaseId) -> Self {
        Self { path: with_suffix(database, SUFFIX), database: id, written: 0 }
    }

    /// Writes the number of a commit that is on the disk. Where it cannot be written the next one is.
    pub(super) fn keep(&mut self, number: u64) {
        if number == self.written {
            return;
        }
        let line = format!("{} {number:020}\n", self.database);
        let file = File::options().write(true).open(&self.path).or_else(|_| make_file(&self.path));
        match file.and_then(|file| file.write_all_at(line.as_bytes(), 0)) {
            Ok(()) => self.written = number,
            Err(error) => tracing::debug!(%error, "the newest change number cannot be written"),
        }
    }
}

/// The newest change number.
pub(super) fn newest_change(conn: &Connection) -> StoreResult<u64> {
    Ok(conn.one("SELECT number FROM change_number", [], cell::<i64>)?.unsigned_abs())
}

/// Says, in words, where a database ends before the number that was written beside it. Nobody else may be at work on
/// it.
pub(super) fn check(conn: &Connection, database: &Path) -> StoreResult<Option<String>> {
    let beside = with_suffix(database, SUFFIX);
    let Ok(text) = fs::read_to_string(&beside) else { return Ok(None) };
    let mut words = text.split_whitespace();
    let (id, number) = (words.next(), words.next().and_then(|word| word.parse::<u64>().ok()));
    let kept = known_identity(conn)?;
    let Some(number) = number.filter(|_| kept.is_some_and(|kept| id == Some(&kept.to_string()))) else {
        return Ok(None);
    };
    let found = newest_change(conn)?;
    let lost = || {
        let beside = beside.display();
        format!(
            "ends at change {found}, and change {number} was recorded: its log (-wal) is missing or cut, or the file \
                is an earlier one (to go on \
             with it as it is, remove {beside})"
        )
    };
    Ok((number > found).then(lost))
}
