//! Online backup: a verified copy of the database while others write to it.

use std::{fs, path::PathBuf};

use rusqlite::Connection;

pub use super::{
    copy::Contents,
    restore::{RestoreOptions, Restored, is_pending, restore},
};
use super::{
    copy::{self, copy, key_of, open_ours, same_file},
    files::{directory_of, unusable, with_suffix},
    restore::settle,
    soundness::check_log,
    staging::{CHECKSUM, DATABASE, KEY, Move, OwnStaging, Staging, settle_all},
};
use crate::{StoreError, StoreResult};

/// Options of a backup.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// The database; others may have it open and write to it.
    pub database: PathBuf,
    pub key_file: PathBuf,
    /// True where a copy of the key is kept as `TARGET.key`.
    pub with_key: bool,
    /// The file to write.
    pub target: PathBuf,
    /// True where an existing file may be replaced.
    pub overwrite: bool,
}

/// A backup that was written and verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backup {
    /// Path of the copy of the key, if one was made.
    pub key: Option<PathBuf>,
    /// The SHA-256 of the file, in hexadecimal; it is in `TARGET.sha256` too.
    pub sha256: String,
    pub contents: Contents,
}

/// Writes a backup: one state of the database, however much others write meanwhile. It gets its name only when it has
/// been verified. `step` hears of each step on the file system.
///
/// # Errors
/// [`crate::StoreError`] with the file that is at fault and the way out. Nothing is left behind then.
pub fn back_up(options: &BackupOptions, step: &dyn Fn(&str)) -> StoreResult<Backup> {
    back_up_to_its_place(options, step).map_err(|error| error.at(&options.target))
}

/// Fault of a target that cannot be written.
const UNWRITABLE: &str = "cannot be written; name another place";

fn back_up_to_its_place(options: &BackupOptions, step: &dyn Fn(&str)) -> StoreResult<Backup> {
    let BackupOptions { database, target, .. } = options;
    settle(database)?;
    check_log(database)?;
    let source = open_ours(database, "there is nothing to back up; name the data directory with --data-dir")?;
    if same_file(database, target) {
        return Err(unusable(target, "is the database itself; name another file"));
    }
    settle_all(directory_of(target));
    let unwritable = StoreError::of_file(target, UNWRITABLE);
    let staging = Staging::observed(target, step);
    let claim = staging.claim().map_err(unwritable)?;
    let claim = claim.ok_or_else(|| unusable(target, "another backup is being written there; name another file"))?;
    let parts = [(KEY, ".key"), (CHECKSUM, copy::CHECKSUM_SUFFIX), (DATABASE, "")]
        .map(|(name, suffix)| (name, with_suffix(target, suffix)));
    let parts = &parts[usize::from(!options.with_key)..];
    for (_, file) in parts.iter().rev() {
        match fs::symlink_metadata(file) {
            Ok(there) if there.is_dir() => return Err(unusable(file, "is a directory; name a file in it")),
            Ok(_) if !options.overwrite => {
                return Err(unusable(file, "is there already; name another file, or say --force to replace it"));
            }
            _ => {}
        }
    }
    let (contents, sha256) = stage(&claim, &source, options)?;
    let moves: Vec<Move> = parts.iter().map(|(name, file)| Move::new(name, file, options.overwrite)).collect();
    claim.commit(&moves).and_then(|()| claim.finish()).map_err(unwritable)?;
    Ok(Backup { key: options.with_key.then(|| with_suffix(target, ".key")), sha256, contents })
}

/// Stages all files of a backup beside its place, verified.
fn stage(claim: &OwnStaging<'_>, source: &Connection, options: &BackupOptions) -> StoreResult<(Contents, String)> {
    let BackupOptions { database, key_file, target, .. } = options;
    let unwritable = StoreError::of_file(target, UNWRITABLE);
    let file = claim.empty(DATABASE).map_err(unwritable)?;
    let contents = copy(source, database, &file, target)?;
    claim.step("copied");
    let (seal, _) = key_of(&file, database, key_file)?;
    if options.with_key {
        claim.put(KEY, seal.text().as_bytes()).map_err(unwritable)?;
    }
    let sha256 = copy::sha256_of(&file).map_err(unwritable)?;
    claim.put(CHECKSUM, copy::checksum_line(&sha256, target).as_bytes()).map_err(unwritable)?;
    Ok((contents, sha256))
}
