//! Diagnostics of a database from outside: what is wrong with it and what to do.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::Connection;

use super::connection::{self, Purpose};
use super::copy_mark;
use super::counts::counted;
use super::fingerprint;
use super::migrate::{Inspected, MIGRATIONS, applied, inspect};
use super::places;
pub use super::places::{clean, is_idle};
use super::restore::is_pending;
use super::soundness::check_log;
use super::statements::{Statements as _, cell};
use crate::domain::time::Timestamp;
use crate::store::audit_log;
use crate::store::examine::{self, CHECKS, Check, Examination, checked};
use crate::store::sql::on_sqlite;
use crate::store::subjects::access::placed;
use crate::store::subjects::networks::gateways;
use crate::store::{Finding, Grade, RefusalCause, StoreResult};

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
    findings.push(places::processes(&instances));
    findings.extend(places::unfinished(database, &instances));
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
    if let Ok(Some(mark)) = opened.as_ref().map_or(Ok(None), copy_mark::read) {
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
    examination.credentials = placed(&rows).await.unwrap_or_default();
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
    findings.extend(places::key(&conn, key_file));
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
