//! A verified copy of a database: one state of it, held to the original page by page and row by row; and the checksum
//! beside a backup, `FILE.sha256`, a line as `sha256sum` writes and checks it.
//!
//! The checksum tells a backup that was altered or went bad on its way from one that is as it was written. It is no
//! signature: an attacker who can replace one file can replace both.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, ErrorKind, Read as _},
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

use super::{
    connection::{self, Purpose},
    files::unusable,
    migrate::{MIGRATIONS, applied, inspect},
    schema::schema_of,
    sql::{Statements as _, cell, fact},
};
use crate::{
    RefusalCause, SchemaState, StoreError, StoreResult, audit_log,
    domain::{AuditState, audit::hex},
    encryption::{KEY_CHECK, Seal},
    key_file::proven,
    sql::{driven, on_sqlite},
};

/// Contents of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The number of the newest schema step.
    pub schema: usize,
    pub rows: BTreeMap<String, u64>,
    pub bytes: u64,
    /// State of its audit log. A broken one is told and copied: it is evidence, and the alerts beside it are needed.
    pub audit: AuditState,
}

impl Contents {
    /// Rows of a table; none where there is no such table.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.rows.get(table).copied().unwrap_or_default()
    }
}

/// Opens a database of avert's for reading, refusing every other file in words, and one with an altered schema.
pub(super) fn open_ours(path: &Path, advice: &str) -> StoreResult<Connection> {
    match schema_of(path)? {
        SchemaState::Empty(_) if !path.exists() => Err(unusable(path, &format!("does not exist; {advice}"))),
        SchemaState::Empty(_) => Err(unusable(path, &format!("is no database of avert; {advice}"))),
        _ => connection::open(path, Purpose::Read).map_err(|error| error.at(path)),
    }
}

/// Copies one state of a database into a file and compares the copy with it.
pub(super) fn copy(source: &Connection, source_path: &Path, to: &Path, name: &Path) -> StoreResult<Contents> {
    source.execute_batch("BEGIN")?;
    // Counting can come upon damage before the copy is looked through.
    let told = contents(source, source_path).map_err(|error| error.at(source_path))?;
    connection::copy_pages(source, to, name)?;
    source.execute_batch("ROLLBACK")?;
    let mut target = connection::open(to, Purpose::Read)?;
    let lines: Vec<String> = target.all("PRAGMA integrity_check(3)", &[], cell)?;
    if lines != ["ok"] {
        let what = format!("{} ({})", source_path.display(), lines.join("; "));
        return Err(StoreError::Refused(RefusalCause::Damaged, what));
    }
    inspect(&target, name)?;
    let found = contents(&target, to)?;
    if found != told {
        return Err(unusable(
            name,
            "the copy does not hold what the original holds; try again, and look after the disk",
        ));
    }
    let (schema, rows) = found;
    let audit = driven(audit_log::verify(&on_sqlite(&mut target)))?;
    Ok(Contents { schema, rows, bytes: fs::metadata(to).map_or(0, |file| file.len()), audit })
}

/// The number of the newest schema step, and the rows of each table.
fn contents(conn: &Connection, path: &Path) -> StoreResult<(usize, BTreeMap<String, u64>)> {
    let schema = applied(conn, path, MIGRATIONS)?;
    let mut rows = BTreeMap::new();
    for name in conn.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", &[], cell::<String>)? {
        let count: i64 = conn.one(&format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\"")), &[], cell)?;
        rows.insert(name, count.unsigned_abs());
    }
    Ok((schema, rows))
}

/// The data key of a copy of a database, with its place: this file, or the one that a broken-off rotation has left
/// beside it.
pub(super) fn key_of(copy: &Path, database: &Path, key_file: &Path) -> StoreResult<(Seal, PathBuf)> {
    let Some(check) = fact::<Vec<u8>>(&connection::open(copy, Purpose::Read)?, KEY_CHECK)? else {
        return Err(unusable(database, "does not say which key belongs to it; it was never opened to its end"));
    };
    let advice = "name the right one with --key; nothing was replaced";
    proven(key_file, &check, &database.display().to_string(), advice)
}

pub(super) fn same_file(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}

/// Suffix of the file name of a backup's checksum.
pub(super) const CHECKSUM_SUFFIX: &str = ".sha256";

/// The SHA-256 of a file's content, in lower-case hexadecimal.
pub(super) fn sha256_of(file: &Path) -> io::Result<String> {
    let (mut file, mut hasher, mut buffer) = (File::open(file)?, Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(buffer.get(..read).unwrap_or_default()),
        }
    }
}

/// The line for a file of this name.
pub(super) fn checksum_line(sum: &str, file: &Path) -> String {
    format!("{sum}  {}\n", file.file_name().unwrap_or_default().to_string_lossy())
}

/// Compares a backup with the checksum in `beside`, and returns it; `None` where there is no such file.
///
/// # Errors
/// [`StoreError`] where the backup is another than the one that was written, or the checksum cannot be read.
pub(super) fn check_sum(backup: &Path, beside: &Path) -> StoreResult<Option<String>> {
    let unreadable = "cannot be read; nothing was replaced";
    let text = match fs::read(beside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::of_file(beside, unreadable)(error)),
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    let told = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if told.len() != 64 || !told.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        let words =
            "holds no SHA-256 checksum, as `avert backup` writes it (64 hexadecimal digits); nothing was replaced";
        return Err(unusable(beside, words));
    }
    let found = sha256_of(backup).map_err(StoreError::of_file(backup, unreadable))?;
    if found == told {
        return Ok(Some(found));
    }
    let altered = format!(
        "is not what was written: its SHA-256 is {found}, and {} says {told}; it was altered or is damaged: take \
            another backup; nothing was \
         replaced",
        beside.display()
    );
    Err(unusable(backup, &altered))
}
