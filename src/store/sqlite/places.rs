//! Diagnostics of the files around a database: its key, the processes on it, and the remains of broken-off work.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::backup;
use super::data_key::key_check;
use super::files::{directory_of, is_regular};
use super::instance::census;
use super::restore;
use super::staging::{LeftBehind, Staging, StagingState, StepObserver, named_after, settle_named_after};
use crate::store::encryption::Seal;
use crate::store::{Finding, StoreResult, key_file, sealed};

/// Advice on how to remove it at once.
const CLEAN: &str = "`avert doctor --clean` does it now";

/// Examines the key: it has to be the one that the database was sealed with, else the file beside it that is. Reports
/// the remains of a rotation too.
pub(super) fn key(conn: &Connection, file: &Path) -> Vec<Finding> {
    let Some(check) = key_check(conn).ok().flatten() else { return Vec::new() };
    key_file::examine(file, &check, || {
        let opens = |file: &Path| Seal::from_file(file, false).is_ok_and(|seal| sealed::proves(&seal, &check));
        let entries = fs::read_dir(directory_of(file)).ok();
        let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
        let mut keys: Vec<PathBuf> =
            files.filter(|file| file.to_string_lossy().contains(".key") && is_regular(file) && opens(file)).collect();
        keys.sort();
        match keys.last() {
            Some(right) => format!("{} is: put it there", right.display()),
            None => "put the right file there: it was made with the database, backups keep it as FILE.key".to_owned(),
        }
    })
}

/// Returns whether nobody is at work in a data directory.
pub fn is_idle(directory: &Path) -> bool {
    census(&directory.join("instances")).0 == 0
}

/// The processes at work on a database.
pub(super) fn processes(instances: &Path) -> Finding {
    if instances.exists() && !instances.is_dir() {
        let found = format!("{} is no directory", instances.display());
        return Finding::wrong("processes", found, "move it away: the next start makes a directory there");
    }
    let (living, dead) = census(instances);
    Finding::fine("processes", format!("{living} at work here, {dead} ended without a word (their work is taken up)"))
}

/// Reports the remains of restores, backups and migrations that were broken off.
pub(super) fn unfinished(database: &Path, instances: &Path) -> Vec<Finding> {
    let restoring = Staging::of(database, &StepObserver::default());
    let mut findings = Vec::new();
    let shown = restoring.directory().display();
    match restoring.stage() {
        StagingState::Nothing => {}
        _ if restoring.is_busy() => {
            findings.push(Finding::notice("restore", "a backup is being restored here", "wait until it is done"));
        }
        StagingState::Part => findings.push(Finding::notice(
            "restore",
            format!("{shown} is left of a restore that was broken off; nothing was replaced"),
            format!("nothing: the next start removes it; {CLEAN}"),
        )),
        StagingState::Committed => findings.push(Finding::notice(
            "restore",
            format!("a restore was broken off while it put its files in place; the rest of them is in {shown}"),
            format!("nothing: the next start finishes it; {CLEAN}"),
        )),
    }
    let backups = backup::left(instances).into_iter().map(|(_, staging)| staging);
    for staging in backups.chain(named_after(database)).filter(|staging| !staging.is_busy()) {
        let shown = staging.directory().display();
        match staging.stage() {
            StagingState::Nothing => {}
            StagingState::Part => findings.push(Finding::notice(
                "backups",
                format!("{shown} is left of a backup that was broken off"),
                format!("nothing: the next backup removes it; {CLEAN}"),
            )),
            StagingState::Committed => findings.push(Finding::notice(
                "backups",
                format!("{shown} holds a backup that was verified and did not get its name"),
                format!("nothing: the next backup gives it its name; {CLEAN}"),
            )),
        }
    }
    findings
}

/// Ends the remains of restores, backups and migrations that were broken off; returns a text of each.
///
/// # Errors
/// [`crate::store::StoreError`] where a restore cannot be finished.
pub fn clean(database: &Path) -> StoreResult<Vec<String>> {
    let mut done = match restore::settle(database)? {
        LeftBehind::Nothing | LeftBehind::Busy => Vec::new(),
        LeftBehind::Removed => {
            vec!["removed what was left of a restore that was broken off; nothing had been replaced".to_owned()]
        }
        LeftBehind::Finished => vec!["put the backup in its place whose restore was broken off".to_owned()],
    };
    done.extend(backup::settle_left(&database.with_file_name("instances")));
    done.extend(settle_named_after(database));
    Ok(done)
}
