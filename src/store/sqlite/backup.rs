//! Online backup and restore: a verified copy of the database while others write to it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup as Copying;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use tempfile::NamedTempFile;

use super::audit;
use super::checksum;
use super::connection::{self, APPLICATION_ID, Purpose, check_library};
use super::files::{make_directory, unusable};
use super::instance::Gate;
use super::migrate::{MIGRATIONS, applied, inspect};
use super::opening::fits;
use super::statements::{Statements as _, cell};
use crate::domain::time::{Clock as _, SystemClock};
use crate::domain::{Actor, AuditState};
use crate::store::seal::Seal;
use crate::store::{StoreError, StoreResult};

/// Pages copied in one go.
const PAGES: std::ffi::c_int = 16_384;
/// How long to wait for another process that keeps the database locked before asking again.
const PAUSE: Duration = Duration::from_millis(5);

/// Options of a backup.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// The database; others may have it open and write to it.
    pub database: PathBuf,
    pub key_file: PathBuf,
    /// Whether a copy of the key is kept as `TARGET.key`.
    pub with_key: bool,
    /// The file to write.
    pub target: PathBuf,
    /// Whether a file that is there already may be replaced.
    pub overwrite: bool,
}

/// A backup that was written and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Where the copy of the key is, if one was made.
    pub key: Option<PathBuf>,
    /// The SHA-256 of the file, in hexadecimal; it is in `TARGET.sha256` too.
    pub sha256: String,
    pub contents: Contents,
}

/// What a database holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The number of the newest schema step.
    pub schema: usize,
    pub rows: BTreeMap<String, u64>,
    pub bytes: u64,
    /// Whether its audit log is whole. A broken one is told and copied: it is evidence, and the alerts beside it are needed.
    pub audit: AuditState,
}

impl Contents {
    /// Rows of a table; none where there is no such table.
    pub fn rows_of(&self, table: &str) -> u64 {
        self.rows.get(table).copied().unwrap_or_default()
    }
}

/// Options of a restore.
#[derive(Debug, Clone)]
pub struct RestoreOptions {
    /// The database to replace; its directory is made where it is missing.
    pub database: PathBuf,
    pub key_file: PathBuf,
    /// Whether the key file may be replaced too. Where an operator keeps it in a place of their own it is not ours to replace.
    pub replace_key: bool,
    pub from: PathBuf,
    /// The backup's key; else `FROM.key` where there is one, else the key that is in place.
    pub key: Option<PathBuf>,
    /// Who restores, as the audit log puts it down.
    pub by: Actor,
}

/// A backup that is in place now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The SHA-256 that it was held to; nothing where no `FROM.sha256` was beside it: then nobody knows whether it is as it was written.
    pub sha256: Option<String>,
    pub contents: Contents,
    /// Where the database that was there before is kept.
    pub kept: Option<PathBuf>,
    /// Where the key that was there before is kept, if it was another one.
    pub kept_key: Option<PathBuf>,
}

/// Writes a backup: one state of the database, however much others write meanwhile. It gets its name only when it has been verified.
///
/// # Errors
/// [`crate::store::StoreError`] with the file that is at fault and what to do. Nothing is left behind then.
pub fn back_up(options: &BackupOptions) -> StoreResult<Backup> {
    check_library()?;
    let BackupOptions { database, key_file, target, .. } = options;
    let source = open_ours(database, "there is nothing to back up; name the data directory with --data-dir")?;
    let key_target = options.with_key.then(|| with_suffix(target, ".key"));
    if same_file(database, target) {
        return Err(unusable(target, "is the database itself; name another file"));
    }
    let sum_target = with_suffix(target, checksum::SUFFIX);
    for file in [target, &sum_target].into_iter().chain(&key_target) {
        match fs::symlink_metadata(file) {
            Ok(there) if there.is_dir() => return Err(unusable(file, "is a directory; name a file in it")),
            Ok(_) if !options.overwrite => return Err(unusable(file, "is there already; name another file, or say --force to replace it")),
            _ => {}
        }
    }
    let key = fs::read_to_string(key_file).map_err(|error| unusable(key_file, &format!("the data key cannot be read: {error}")))?;
    let seal = Seal::from_file(key_file, false)?;
    let unwritable = |error: std::io::Error| unusable(target, &format!("cannot be written: {error}; name another place"));
    let file = NamedTempFile::new_in(directory_of(target)).map_err(unwritable)?;
    let contents = copy(&source, database, file.path(), target)?;
    prove_key(file.path(), &seal, key_file, database)?;
    if let Some(key_target) = &key_target {
        write_file(key_target, &key, options.overwrite, unwritable)?;
    }
    let sha256 = checksum::of(file.path()).map_err(unwritable)?;
    write_file(&sum_target, &checksum::line(&sha256, target), options.overwrite, unwritable)?;
    persist(file, target, options.overwrite)?;
    Ok(Backup { key: key_target, sha256, contents })
}

/// Puts a backup in the place of the database. Everything is verified before anything is replaced; what was there is kept under another name.
///
/// # Errors
/// [`crate::store::StoreError`] with the file that is at fault and what to do. Nothing was replaced then.
pub fn restore(options: &RestoreOptions) -> StoreResult<Restored> {
    check_library()?;
    let RestoreOptions { database, key_file, from, .. } = options;
    if same_file(database, from) {
        return Err(unusable(from, "is the database itself; name a backup of it"));
    }
    let source = open_ours(from, "name the file that `avert backup` wrote")?;
    let sha256 = checksum::check(from, &with_suffix(from, checksum::SUFFIX))?;
    let directory = directory_of(database);
    make_directory(&directory)?;
    let instances = directory.join("instances");
    let _shut = Gate::shut(&instances)
        .map_err(|error| unusable(&instances, &format!("cannot be locked: {error}; nothing was replaced")))?
        .ok_or_else(|| {
            let busy = "another avert works on it; end it (avert serve, a console), then restore again; nothing was replaced";
            unusable(&directory, busy)
        })?;
    let unwritable = |error: std::io::Error| unusable(&directory, &format!("cannot be written: {error}; nothing was replaced"));
    let file = NamedTempFile::new_in(&directory).map_err(unwritable)?;
    let contents = copy(&source, from, file.path(), from)?;
    drop(source);
    note_restore(file.path(), &options.by, from, &contents)?;
    let own_key = with_suffix(from, ".key");
    let key_from = options.key.clone().unwrap_or_else(|| if own_key.exists() { own_key } else { key_file.clone() });
    if !key_from.exists() {
        let advice = "does not exist, and the backup is worth nothing without the key that its secrets are encrypted with: name it with --key \
                      (avert backup writes it to FILE.key, unless it is told --no-key); nothing was replaced";
        return Err(unusable(&key_from, advice));
    }
    prove_key(file.path(), &Seal::from_file(&key_from, false)?, &key_from, from)?;
    let key = fs::read_to_string(&key_from).map_err(|error| unusable(&key_from, &format!("cannot be read: {error}")))?;
    let other_key = fs::read_to_string(key_file).map_or(true, |present| present.trim() != key.trim());
    if other_key && !options.replace_key {
        let advice = format!("is not the key of this backup; put {} there, then restore again; nothing was replaced", key_from.display());
        return Err(unusable(key_file, &advice));
    }
    let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
    let aside = |path: &Path| with_suffix(path, &format!(".before-restore.{stamp}"));
    let kept = database.exists().then(|| aside(database));
    if let Some(kept) = &kept {
        keep_database(database, kept).map_err(unwritable)?;
    }
    // The key goes first. Whoever is interrupted here finds a key that does not fit, is told so, and restores once more.
    let kept_key = (other_key && key_file.exists()).then(|| aside(key_file));
    if other_key {
        if let Some(kept) = &kept_key {
            keep(key_file, kept).map_err(unwritable)?;
        }
        write_file(key_file, &key, true, unwritable)?;
    }
    persist(file, database, true)?;
    Ok(Restored { sha256, contents, kept, kept_key })
}

/// Opens a database of avert's for reading, refusing every other file in words.
fn open_ours(path: &Path, advice: &str) -> StoreResult<Connection> {
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(unusable(path, &format!("does not exist; {advice}"))),
        Err(error) => return Err(unusable(path, &format!("cannot be looked at: {error}"))),
        Ok(there) if !there.is_file() => return Err(unusable(path, &format!("is no file; {advice}"))),
        Ok(_) => {}
    }
    let conn = connection::open(path, Purpose::Read).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => damaged(path, &error.to_string()),
        _ => unusable(path, &format!("is not a database that can be read ({error}); {advice}")),
    })?;
    inspect(&conn, path)?;
    let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    if application != APPLICATION_ID || applied(&conn, path, MIGRATIONS)? == 0 {
        return Err(unusable(path, &format!("is no database of avert; {advice}")));
    }
    Ok(conn)
}

/// Copies one state of a database into a file and holds the copy to it.
fn copy(source: &Connection, source_path: &Path, to: &Path, name: &Path) -> StoreResult<Contents> {
    source.execute_batch("BEGIN")?;
    // Counting can come upon damage before the copy is looked through.
    let told = contents(source, source_path).map_err(|error| match error {
        StoreError::Corrupt(what) => damaged(source_path, &what),
        other => other,
    })?;
    let failed = |error: rusqlite::Error| unusable(name, &format!("the copy cannot be written ({error}); make room there"));
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut target = Connection::open_with_flags(to, flags).map_err(failed)?;
    Copying::new(source, &mut target).and_then(|copying| copying.run_to_completion(PAGES, PAUSE, None)).map_err(failed)?;
    source.execute_batch("ROLLBACK")?;
    // One file that needs no log beside it.
    target.pragma_update_and_check(None, "journal_mode", "DELETE", |_| Ok(())).map_err(failed)?;
    target.close().map_err(|(_, error)| failed(error))?;
    File::open(to).and_then(|file| file.sync_all()).map_err(|error| unusable(name, &format!("cannot be written: {error}")))?;
    let target = connection::open(to, Purpose::Read)?;
    check_integrity(&target, source_path)?;
    inspect(&target, name)?;
    let found = contents(&target, to)?;
    if found != told {
        return Err(unusable(name, "the copy does not hold what the original holds; try again, and look after the disk"));
    }
    let (schema, rows) = found;
    Ok(Contents { schema, rows, bytes: fs::metadata(to).map_or(0, |file| file.len()), audit: audit::verify(&target)? })
}

/// Writes into the audit log of a copy that it was brought back, by whom and when.
fn note_restore(copy: &Path, by: &Actor, from: &Path, contents: &Contents) -> StoreResult<()> {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let what = format!("{name}: {} alerts, {} outcomes", contents.rows_of("alert"), contents.rows_of("outcome"));
    let mut conn = connection::open(copy, Purpose::Write)?;
    let tx = conn.transaction()?;
    audit::restored(&tx, by, &what, SystemClock.now())?;
    tx.commit()?;
    Ok(())
}

fn damaged(path: &Path, what: &str) -> StoreError {
    unusable(path, &format!("is damaged ({what}); take another backup"))
}

fn check_integrity(conn: &Connection, path: &Path) -> StoreResult<()> {
    let damaged = |what: &str| damaged(path, what);
    let mut statement = conn.prepare("PRAGMA integrity_check(3)").map_err(|error| damaged(&error.to_string()))?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let lines = lines.map_err(|error| damaged(&error.to_string()))?;
    if lines != ["ok"] { Err(damaged(&lines.join("; "))) } else { Ok(()) }
}

/// The number of the newest schema step, and the rows of each table.
fn contents(conn: &Connection, path: &Path) -> StoreResult<(usize, BTreeMap<String, u64>)> {
    let schema = applied(conn, path, MIGRATIONS)?;
    let mut rows = BTreeMap::new();
    for name in conn.all("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0", [], cell::<String>)? {
        let count: i64 = conn.one(&format!("SELECT count(*) FROM \"{}\"", name.replace('"', "\"\"")), [], cell)?;
        rows.insert(name, count.unsigned_abs());
    }
    Ok((schema, rows))
}

fn prove_key(copy: &Path, seal: &Seal, key_file: &Path, database: &Path) -> StoreResult<()> {
    match fits(&connection::open(copy, Purpose::Read)?, seal)? {
        Some(true) => Ok(()),
        Some(false) => Err(unusable(
            key_file,
            &format!("is not the key that {} was sealed with; name the right one with --key; nothing was replaced", database.display()),
        )),
        None => Err(unusable(database, "does not say which key belongs to it; it was never opened to its end")),
    }
}

/// Keeps a database under another name, whole: what is in its log is moved into it first.
fn keep_database(database: &Path, kept: &Path) -> std::io::Result<()> {
    let emptied =
        connection::open(database, Purpose::Checkpoint).and_then(|conn| conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
    if let Err(error) = emptied {
        tracing::warn!(%error, "the database that is replaced is damaged; it is kept with its log as it is");
    }
    keep(database, kept)?;
    // A log that is still there must not be taken for the new database's.
    for suffix in ["-wal", "-shm"] {
        match fs::rename(with_suffix(database, suffix), with_suffix(kept, suffix)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Gives a file a second name, so that the first is never without one.
fn keep(file: &Path, kept: &Path) -> std::io::Result<()> {
    // Some file systems have no second names; there it is copied.
    fs::hard_link(file, kept).or_else(|_| fs::copy(file, kept).map(drop))
}

/// Writes a small file, which nobody sees before it is whole.
fn write_file(target: &Path, text: &str, overwrite: bool, unwritable: impl Fn(std::io::Error) -> StoreError) -> StoreResult<()> {
    let mut file = NamedTempFile::new_in(directory_of(target)).map_err(&unwritable)?;
    file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(&unwritable)?;
    persist(file, target, overwrite)
}

fn persist(file: NamedTempFile, target: &Path, overwrite: bool) -> StoreResult<()> {
    let done = if overwrite { file.persist(target) } else { file.persist_noclobber(target) };
    done.map_err(|error| unusable(target, &format!("cannot be written: {}", error.error)))?;
    let synced = File::open(directory_of(target)).and_then(|directory| directory.sync_all());
    synced.map_err(|error| unusable(target, &format!("its directory cannot be written to the disk: {error}")))
}

fn directory_of(file: &Path) -> PathBuf {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new(".")).to_owned()
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn same_file(one: &Path, other: &Path) -> bool {
    fs::canonicalize(one).is_ok_and(|one| fs::canonicalize(other).is_ok_and(|other| one == other))
}
