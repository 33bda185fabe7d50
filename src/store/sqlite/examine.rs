//! Diagnostics of a database from outside, and of the files around it: what is wrong and what to do.

use std::{fs, io::ErrorKind, path::Path};

use rusqlite::Connection;

use super::{
    connection::{self, Purpose},
    counts::counted,
    instance::census,
    migrate::{self, MIGRATIONS, applied, inspect},
    restore::is_pending,
    schema,
    soundness::check_log,
    sql::{Statements as _, cell},
    staging::{Staging, StagingState},
};
use crate::{
    Finding, Grade, RefusalCause, StoreResult, audit_log,
    domain::time::Timestamp,
    examine::{self, CHECKS, Check, Examination, checked},
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
    findings.extend(unfinished_restore(database));
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
    let (is_empty, mut conn) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            let advice = "let this user read and write the data directory, and look again";
            findings.push(Finding::refused("database", &error.at(database), advice));
            return examination;
        }
    };
    // An unreadable row is reported below.
    examination.gateways = gateways(&on_sqlite(&mut conn)).await.unwrap_or_default();
    let findings = &mut examination.findings;
    let found = if is_empty && key_file.exists() {
        let found = format!("{} is empty, and its key is there: it held alerts", database.display());
        Finding::wrong("database", found, RESTORE)
    } else {
        steps(&conn, database, size)
    };
    let is_whole = found.grade == Grade::Fine;
    findings.push(found);
    if !is_whole {
        return examination;
    }
    findings.push(checked("schema", altered(&conn), RESTORE));
    findings.push(checked("integrity", integrity(&conn), RESTORE));
    findings.push(checked("audit log", audit_log(&mut conn).await, RESTORE));
    for check in [COUNTS].iter().chain(&CHECKS) {
        findings.push(check.run(&on_sqlite(&mut conn), now, RESTORE).await);
    }
    let advice = "put the right file there: it was made with the database, backups keep it as FILE.key";
    findings.extend(examine::key(&on_sqlite(&mut conn), key_file, advice, RESTORE).await);
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
    let lines: Vec<String> = conn.all("PRAGMA quick_check(5)", &[], cell)?;
    if lines != ["ok"] {
        return Ok(Finding::wrong("integrity", lines.join("; "), ""));
    }
    Ok(match conn.one("SELECT count(*) FROM pragma_foreign_key_check", &[], cell::<i64>)? {
        0 => Finding::fine("integrity", "every page and every reference holds"),
        orphans => Finding::wrong("integrity", format!("{orphans} rows refer to rows that are not there"), ""),
    })
}

/// Returns whether the schema is the one that the steps make.
fn altered(conn: &Connection) -> StoreResult<Finding> {
    let differences = schema::compare(conn, MIGRATIONS.len())?;
    differences.check("")?;
    Ok(differences.finding())
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

/// Reports the remains of a restore that was broken off.
fn unfinished_restore(database: &Path) -> Option<Finding> {
    let restoring = Staging::of(database);
    let shown = restoring.directory().display();
    let notice = |found: String, advice: &str| Some(Finding::notice("restore", found, advice));
    match restoring.stage() {
        StagingState::Nothing => None,
        _ if restoring.is_busy() => notice("a backup is being restored here".to_owned(), "wait until it is done"),
        StagingState::Part => notice(
            format!("{shown} is left of a restore that was broken off; nothing was replaced"),
            "nothing: the next start removes it",
        ),
        StagingState::Committed => notice(
            format!("a restore was broken off while it put its files in place; the rest of them is in {shown}"),
            "nothing: the next start finishes it",
        ),
    }
}
