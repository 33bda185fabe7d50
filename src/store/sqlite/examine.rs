//! Diagnostics of a database from outside: what is wrong with it and what to do.
//!
//! Diagnostics of the files around a database: its key, the processes on it, and the remains of broken-off work.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::{
    backup,
    connection::{self, Purpose},
    copy::key_check,
    counts::counted,
    files::{directory_of, is_regular},
    fingerprint,
    instance::census,
    migrate::{self, Inspected, MIGRATIONS, applied, inspect},
    restore::{self, is_pending},
    soundness::check_log,
    sql::{Statements as _, cell},
    staging::{LeftBehind, Staging, StagingState, StepObserver, named_after, settle_named_after},
};
use crate::{
    Finding, Grade, RefusalCause, StoreResult, audit_log,
    domain::time::Timestamp,
    encryption::{self, Seal},
    examine::{self, CHECKS, Check, Examination, checked},
    key_file,
    sql::on_sqlite,
    subjects::networks::gateways,
};

const RESTORE: &str = RefusalCause::Damaged.advice();

/// Check of a file alone.
const COUNTS: Check = Check {
    name: "counts",
    sql: |_| {
        let kept = "SELECT organization, day, provider, type, status, outcome, expired, alerts FROM alert_count \
            WHERE alerts > 0";
        let counted = counted();
        format!(
            "SELECT (SELECT count(*) FROM (SELECT * FROM ({counted} EXCEPT {kept})
                UNION ALL SELECT * FROM ({kept} EXCEPT {counted}))), (SELECT count(*) FROM alert)"
        )
    },
    look: examine::counts,
};

/// Examines a database with its key and the processes on it, as of `now`.
pub async fn examine(database: &Path, key_file: &Path, now: Timestamp) -> Examination {
    let instances = database.with_file_name("instances");
    let mut examination = Examination::default();
    let findings = &mut examination.findings;
    findings.push(processes(&instances));
    findings.extend(unfinished(database, &instances));
    if is_pending(database) {
        // Some of the files are the old ones and some the new ones: what is wrong with them is that.
        return examination;
    }
    let key = examine::key_file(
        key_file,
        database.exists(),
        "put it back: it was made with the database, backups keep it as FILE.key",
    );
    let size = match size_of(database) {
        Ok(size) => size,
        Err(finding) => {
            findings.extend([key, finding]);
            return examination;
        }
    };
    let log = check_log(database);
    let opened = connection::open(database, Purpose::Read);
    if let Ok(Some(mark)) = opened.as_ref().map_or(Ok(None), migrate::read_mark) {
        findings.push(mark.finding(&database.display().to_string()));
        return examination;
    }
    findings.push(key);
    if let Err(error) = log {
        findings.push(Finding::refused("log", &error, "let this user read the data directory"));
    }
    let looked = opened.and_then(|conn| Ok((inspect(&conn, database)?, conn)));
    let (inspected, mut conn) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let advice = "let this user read and write the data directory, and look again";
            findings.push(Finding::refused("database", &error.at(database), advice));
            return examination;
        }
    };
    // An unreadable row is reported below.
    let rows = on_sqlite(&mut conn);
    examination.gateways = gateways(&rows).await.unwrap_or_default();
    examination.endpoints = examine::enabled_endpoints(&rows).await;
    let found = match inspected {
        Inspected::Empty if key_file.exists() => {
            let found = format!("{} is empty, and its key is there: it held alerts", database.display());
            Finding::wrong("database", found, RESTORE)
        }
        _ => steps(&conn, database, size),
    };
    let is_whole = found.grade == Grade::Fine;
    findings.push(found);
    if !is_whole {
        return examination;
    }
    findings.push(checked("schema", schema(&conn), RESTORE));
    findings.push(checked("integrity", integrity(&conn), RESTORE));
    findings.push(checked("audit log", audit_log(&mut conn).await, RESTORE));
    for check in [COUNTS].iter().chain(&CHECKS) {
        findings.push(check.run(&on_sqlite(&mut conn), now, RESTORE).await);
    }
    findings.extend(examine_key(&conn, key_file));
    examination
}

/// The size of the file in bytes. Opening a pipe would wait for its writer.
fn size_of(database: &Path) -> Result<u64, Finding> {
    let shown = database.display();
    match fs::metadata(database) {
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Finding::wrong(
            "database",
            format!("{shown} does not exist"),
            "name the right --data-dir; where this is a new place, `avert serve` or `avert import` makes it",
        )),
        Ok(there) if !there.is_file() => {
            Err(Finding::wrong("database", format!("{shown} is no file"), "move it away, and put the database there"))
        }
        there => Ok(there.map_or(0, |there| there.len())),
    }
}

/// Reports the steps of the schema that have been applied.
fn steps(conn: &Connection, database: &Path, size: u64) -> Finding {
    match applied(conn, database, MIGRATIONS) {
        Ok(0) => Finding::notice("database", "is empty", "nothing: the first command fills it"),
        Ok(schema) if schema < MIGRATIONS.len() => Finding::notice(
            "database",
            format!("schema {schema}, this avert has {}", MIGRATIONS.len()),
            "nothing: the next start brings it up to date, with a backup before",
        ),
        Ok(schema) => Finding::fine("database", format!("{}, schema {schema}, {size} bytes", database.display())),
        Err(error) => Finding::wrong("database", error.to_string(), "use the avert that wrote it"),
    }
}

/// The audit log, all of it in one state.
async fn audit_log(conn: &mut Connection) -> StoreResult<Finding> {
    conn.execute_batch("BEGIN")?;
    let state = audit_log::verify(&on_sqlite(conn)).await?;
    conn.execute_batch("ROLLBACK")?;
    Ok(examine::audit_log(state))
}

fn integrity(conn: &Connection) -> StoreResult<Finding> {
    let lines: Vec<String> = conn.all("PRAGMA quick_check(5)", [], cell)?;
    if lines != ["ok"] {
        return Ok(Finding::wrong("integrity", lines.join("; "), ""));
    }
    Ok(match conn.one("SELECT count(*) FROM pragma_foreign_key_check", [], cell::<i64>)? {
        0 => Finding::fine("integrity", "every page and every reference holds"),
        orphans => Finding::wrong("integrity", format!("{orphans} rows refer to rows that are not there"), ""),
    })
}

/// Returns whether the schema is the one that the steps make.
fn schema(conn: &Connection) -> StoreResult<Finding> {
    let differences = fingerprint::compare(conn, MIGRATIONS.len())?;
    differences.check("")?;
    Ok(differences.finding())
}

/// Advice on how to remove it at once.
const CLEAN: &str = "`avert doctor --clean` does it now";

/// Examines the key: it has to be the one that the database was sealed with, else the file beside it that is. Reports
/// the remains of a rotation too.
fn examine_key(conn: &Connection, file: &Path) -> Vec<Finding> {
    let Some(check) = key_check(conn).ok().flatten() else { return Vec::new() };
    key_file::examine(file, &check, || {
        let opens = |file: &Path| Seal::from_file(file, false).is_ok_and(|seal| encryption::proves(&seal, &check));
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
fn processes(instances: &Path) -> Finding {
    if instances.exists() && !instances.is_dir() {
        let found = format!("{} is no directory", instances.display());
        return Finding::wrong("processes", found, "move it away: the next start makes a directory there");
    }
    let (living, dead) = census(instances);
    Finding::fine("processes", format!("{living} at work here, {dead} ended without a word (their work is taken up)"))
}

/// Reports the remains of restores, backups and migrations that were broken off.
fn unfinished(database: &Path, instances: &Path) -> Vec<Finding> {
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
/// [`crate::StoreError`] where a restore cannot be finished.
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
