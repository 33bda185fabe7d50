//! Restore: a backup in the place of the database, all of it or nothing, however it ends.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

pub use super::staging::is_pending;
use super::{
    connection::{self, Purpose},
    copy::{self, Contents, copy, key_of, open_ours, same_file},
    files::{directory_of, make_directory, unusable, with_suffix},
    instance::{Gate, instances_of},
    soundness::NEWEST_SUFFIX,
    sql::Statements as _,
    staging::{DATABASE, KEY, Move, OwnStaging, Staging, StagingState, being_restored, name_of},
};
use crate::{
    StoreError, StoreResult, audit_log,
    domain::{
        Actor,
        audit::AuditNote,
        time::{Clock as _, SystemClock},
    },
    encryption::Seal,
    sql::{driven, on_sqlite},
};

/// Options of a restore.
#[derive(Debug, Clone)]
pub struct RestoreOptions {
    /// The database to replace; its directory is made where it is missing.
    pub database: PathBuf,
    pub key_file: PathBuf,
    /// True where the key file may be replaced too. A key that an operator keeps in a place of their own is not ours to
    /// replace.
    pub replace_key: bool,
    pub from: PathBuf,
    /// The backup's key; else `FROM.key` where there is one, else the key that is in place.
    pub key: Option<PathBuf>,
    /// Actor of the restore in the audit log.
    pub by: Actor,
}

/// A backup that is in place now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The SHA-256 that it was compared with. `None` where no `FROM.sha256` was beside it: then it is not known to be
    /// as it was written.
    pub sha256: Option<String>,
    pub contents: Contents,
    /// Path at which the database that was there before is kept.
    pub kept: Option<PathBuf>,
    /// Path at which the key that was there before is kept, if it was another one.
    pub kept_key: Option<PathBuf>,
}

/// Puts a backup in the place of the database. Everything is verified before anything is replaced; the replaced files
/// are kept under another name. Killed before it is committed it has not happened; killed behind that, the next start
/// finishes it. `step` hears of each step on the file system.
///
/// # Errors
/// [`crate::StoreError`] with the file that is at fault and the way out. Nothing was replaced then.
pub fn restore(options: &RestoreOptions, step: &dyn Fn(&str)) -> StoreResult<Restored> {
    restore_in_place(options, step).map_err(|error| error.at(&options.database))
}

/// Fault of a target that cannot be written.
const UNWRITABLE: &str = "cannot be written; nothing was replaced";

fn restore_in_place(options: &RestoreOptions, step: &dyn Fn(&str)) -> StoreResult<Restored> {
    let RestoreOptions { database, key_file, from, .. } = options;
    if same_file(database, from) {
        return Err(unusable(from, "is the database itself; name a backup of it"));
    }
    // Of a backup that was verified and did not get its name, too.
    let _ = Staging::of(from).settle();
    let source = open_ours(from, "name the file that `avert backup` wrote")?;
    let sha256 = copy::check_sum(from, &with_suffix(from, copy::CHECKSUM_SUFFIX))?;
    let directory = directory_of(database);
    make_directory(directory)?;
    let _shut = shut(database)?.ok_or_else(|| {
        let busy =
            "another avert works on it; end it (avert serve, a console), then restore again; nothing was replaced";
        unusable(directory, busy)
    })?;
    let unwritable = StoreError::of_file(database, UNWRITABLE);
    let staging = Staging::observed(database, step);
    let claim = staging.claim().map_err(unwritable)?;
    let claim =
        claim.ok_or_else(|| unusable(directory, "another backup is being restored into it; nothing was replaced"))?;
    let (contents, other_key) = stage(&claim, source, options)?;
    empty_log(database);
    let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
    let aside = |file: &Path, suffix: &str| with_suffix(file, &format!(".before-restore.{stamp}{suffix}"));
    let kept = database.exists().then(|| aside(database, ""));
    let kept_key = (other_key && key_file.exists()).then(|| aside(key_file, ""));
    // The number of the newest change is no longer true.
    let unknown = format!("{DATABASE}{NEWEST_SUFFIX}");
    claim.put(&unknown, b"").map_err(unwritable)?;
    let keeping = |from: Option<&str>, file: &Path, suffix: &str| Move {
        from: from.map(str::to_owned),
        to: name_of(&with_suffix(file, suffix)),
        aside: Some(name_of(&aside(file, suffix))),
        replace: true,
    };
    let mut moves = vec![
        // A log that is still there must not be taken for the new database's.
        keeping(None, database, "-wal"),
        keeping(None, database, "-shm"),
        Move::new(&unknown, &with_suffix(database, NEWEST_SUFFIX), true),
        keeping(Some(DATABASE), database, ""),
    ];
    if other_key {
        moves.push(keeping(Some(KEY), key_file, ""));
    }
    claim.commit(&moves).map_err(unwritable)?;
    let committed = "cannot be written; the backup is verified, and the next start puts it in its place";
    claim.finish().map_err(StoreError::of_file(directory, committed))?;
    Ok(Restored { sha256, contents, kept, kept_key })
}

/// Everything of the new state beside its place, verified; tells whether it has another key.
fn stage(claim: &OwnStaging<'_>, source: Connection, options: &RestoreOptions) -> StoreResult<(Contents, bool)> {
    let RestoreOptions { database, key_file, from, .. } = options;
    let unwritable = StoreError::of_file(database, UNWRITABLE);
    let file = claim.empty(DATABASE).map_err(unwritable)?;
    let contents = copy(&source, from, &file, from)?;
    drop(source);
    claim.step("copied");
    note_restore(&file, &options.by, from, &contents)?;
    claim.step("noted");
    let own_key = with_suffix(from, ".key");
    let key_from = options.key.clone().unwrap_or_else(|| if own_key.exists() { own_key } else { key_file.clone() });
    if !key_from.exists() {
        let advice = "does not exist, and the backup is worth nothing without the key that its secrets are encrypted \
            with: name it with --key \
                      (avert backup writes it to FILE.key, unless it is told --no-key); nothing was replaced";
        return Err(unusable(&key_from, advice));
    }
    let (seal, place) = key_of(&file, from, &key_from)?;
    let other_key = Seal::from_file(key_file, false).map_or(true, |present| present != seal);
    if other_key && !options.replace_key {
        let advice = format!(
            "is not the key of this backup; put {} there, then restore again; nothing was replaced",
            place.display()
        );
        return Err(unusable(key_file, &advice));
    }
    if other_key {
        claim.put(KEY, seal.text().as_bytes()).map_err(unwritable)?;
    }
    Ok((contents, other_key))
}

/// Writes into the audit log of a copy that it was brought back, by whom and when.
fn note_restore(copy: &Path, by: &Actor, from: &Path, contents: &Contents) -> StoreResult<()> {
    let name = from.file_name().unwrap_or_default().to_string_lossy();
    let what = format!("{name}: {} alerts, {} outcomes", contents.rows_of("alert"), contents.rows_of("outcome"));
    let mut conn = connection::open(copy, Purpose::Write)?;
    conn.execute_batch("BEGIN")?;
    let note = AuditNote::new("backup.restored", "", what);
    driven(audit_log::link_for_all(&on_sqlite(&mut conn), by, &note, SystemClock.now()))?;
    Ok(conn.execute_batch("COMMIT")?)
}

/// Moves the log of a database into it, so that it is kept whole.
fn empty_log(database: &Path) {
    if !database.exists() {
        return;
    }
    let emptied = connection::open(database, Purpose::Checkpoint)
        .and_then(|conn| conn.one("PRAGMA wal_checkpoint(TRUNCATE)", &[], |_| Ok(())));
    if let Err(error) = emptied {
        tracing::warn!(%error, "the database that is replaced is damaged; it is kept with its log as it is");
    }
}

/// Keeps all others out of a database's directory; `None` while another process works there.
pub(super) fn shut(database: &Path) -> StoreResult<Option<Gate>> {
    let instances = instances_of(database);
    Gate::shut(&instances).map_err(StoreError::of_file(&instances, "cannot be locked; nothing was replaced"))
}

/// Ends a restore that was broken off: a committed one is put in place, of another one nothing stays.
pub(super) fn settle(database: &Path) -> StoreResult<()> {
    let (staging, directory) = (Staging::of(database), directory_of(database));
    if staging.stage() == StagingState::Nothing {
        return Ok(());
    }
    match (shut(database)?, staging.stage()) {
        (Some(_shut), _) => {
            let broken_off = "a restore that was broken off cannot be finished";
            staging.settle().map(drop).map_err(StoreError::of_file(directory, broken_off))
        }
        (None, StagingState::Committed) => Err(being_restored(directory)),
        // Nothing has happened: it waits until nobody is at work here.
        (None, _) => Ok(()),
    }
}
