//! Diagnostics of a database from outside: what is wrong with it and what to do.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use rusqlite::Connection;

use super::connection::{self, Purpose};
use super::copy_mark;
use super::counts::{DAY_MICROS, NO_DAY};
use super::files::is_regular;
use super::fingerprint;
use super::migrate::{Inspected, MIGRATIONS, applied, inspect};
use super::networks;
use super::places;
pub use super::places::{clean, is_idle};
use super::restore::is_pending;
use super::soundness::check_log;
use super::statements::{Statements as _, cell, micros, moment, optional_moment};
use super::{access, audit};
use crate::domain::time::Timestamp;
use crate::domain::{EndpointId, PlacedCredential, Provider};
use crate::store::{Finding, RefusalCause, StoreResult, verdicts};

const RESTORE: &str = RefusalCause::Damaged.advice();

/// One look at a database that could be opened, as of a moment.
type Check = fn(&Connection, Timestamp) -> StoreResult<Finding>;

/// The networks that have a gateway, as the database remembers; none where it cannot be read, which [`examine`] tells.
pub fn known_gateways(database: &Path) -> Vec<(Provider, String)> {
    peek(database, networks::gateways)
}

/// Every credential that is not revoked; none where the database cannot be read, which [`examine`] tells.
pub fn known_credentials(database: &Path) -> Vec<PlacedCredential> {
    peek(database, access::placed)
}

/// The endpoints that get deliveries, by id and address; none where the database cannot be read, which [`examine`]
/// tells.
pub fn known_endpoints(database: &Path) -> Vec<(EndpointId, String)> {
    let enabled = "SELECT id, url FROM endpoint WHERE disabled_at IS NULL ORDER BY key";
    peek(database, |conn| conn.all(enabled, [], |row| Ok((row.get(0)?, row.get(1)?))))
}

/// Reads from a database that may be none; nothing where it cannot be read.
fn peek<T: Default>(database: &Path, read: impl FnOnce(&Connection) -> StoreResult<T>) -> T {
    // Opening a pipe would wait for whoever writes to it.
    if is_pending(database) || !is_regular(database) {
        return T::default();
    }
    connection::open(database, Purpose::Read).and_then(|conn| read(&conn)).unwrap_or_default()
}

/// Examines a database with its key and the processes on it, as of `now`.
pub fn examine(database: &Path, key_file: &Path, now: Timestamp) -> Vec<Finding> {
    let instances = database.with_file_name("instances");
    let mut findings = vec![places::processes(&instances)];
    findings.extend(places::unfinished(database, &instances));
    if is_pending(database) {
        // Some of the files are the old ones and some the new ones: what is wrong with them is that.
        return findings;
    }
    if let Some(mark) = peek(database, copy_mark::read) {
        findings.push(mark.finding(&database.display().to_string()));
        return findings;
    }
    findings.push(verdicts::key_file(
        key_file,
        database.exists(),
        "put it back: it was made with the database, backups keep it as FILE.key",
    ));
    let size = match fs::metadata(database) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let advice =
                "name the right --data-dir; where this is a new place, `avert serve` or `avert import` makes it";
            findings.push(Finding::wrong("database", format!("{} does not exist", database.display()), advice));
            return findings;
        }
        Ok(there) if !there.is_file() => {
            let found = format!("{} is no file", database.display());
            findings.push(Finding::wrong("database", found, "move it away, and put the database there"));
            return findings;
        }
        there => there.map_or(0, |there| there.len()),
    };
    if let Err(error) = check_log(database) {
        findings.push(Finding::refused("log", &error, "let this user read the data directory"));
    }
    let look = || -> StoreResult<(Inspected, Connection)> {
        let conn = connection::open(database, Purpose::Read)?;
        Ok((inspect(&conn, database)?, conn))
    };
    let conn = match look() {
        Ok((Inspected::Empty, _)) if key_file.exists() => {
            let found = format!("{} is empty, and its key is there: it held alerts", database.display());
            findings.push(Finding::wrong("database", found, RESTORE));
            return findings;
        }
        Ok((_, conn)) => conn,
        Err(error) => {
            findings.push(Finding::refused(
                "database",
                &error.at(database),
                "let this user read and write the data directory, and look again",
            ));
            return findings;
        }
    };
    match applied(&conn, database, MIGRATIONS) {
        Ok(0) => {
            findings.push(Finding::notice("database", "is empty", "nothing: the first command fills it"));
            return findings;
        }
        Ok(schema) if schema < MIGRATIONS.len() => {
            let advice = "nothing: the next start brings it up to date, with a backup before";
            findings.push(Finding::notice(
                "database",
                format!("schema {schema}, this avert has {}", MIGRATIONS.len()),
                advice,
            ));
            return findings;
        }
        Ok(schema) => {
            findings.push(Finding::fine("database", format!("{}, schema {schema}, {size} bytes", database.display())));
        }
        Err(error) => {
            findings.push(Finding::wrong("database", error.to_string(), "use the avert that wrote it"));
            return findings;
        }
    }
    findings.push(verdicts::checked("schema", schema(&conn, database), RESTORE));
    let checks: [(&'static str, Check); 9] = [
        ("integrity", |conn, _| integrity(conn)),
        ("outcomes", |conn, _| outcomes(conn)),
        ("counts", |conn, _| counts(conn)),
        ("audit log", |conn, _| audit::verify(conn).map(verdicts::audit_log)),
        ("decisions", decisions),
        ("deliveries", deliveries),
        ("endpoints", |conn, _| endpoints(conn)),
        ("pulled alerts", networks::examine),
        ("clock", clock),
    ];
    for (name, check) in checks {
        findings.push(verdicts::checked(name, check(&conn, now), RESTORE));
    }
    findings.extend(places::key(&conn, key_file));
    findings
}

fn count(conn: &Connection, sql: &str) -> StoreResult<i64> {
    conn.one(sql, [], cell)
}

fn integrity(conn: &Connection) -> StoreResult<Finding> {
    let lines: Vec<String> = conn.all("PRAGMA quick_check(5)", [], cell)?;
    if lines != ["ok"] {
        return Ok(Finding::wrong("integrity", lines.join("; "), RESTORE));
    }
    let orphans = count(conn, "SELECT count(*) FROM pragma_foreign_key_check")?;
    Ok(match orphans {
        0 => Finding::fine("integrity", "every page and every reference holds"),
        _ => Finding::wrong("integrity", format!("{orphans} rows refer to rows that are not there"), RESTORE),
    })
}

/// Returns whether the schema is the one that the steps make.
fn schema(conn: &Connection, database: &Path) -> StoreResult<Finding> {
    fingerprint::check(conn, database, MIGRATIONS.len())?;
    let foreign = fingerprint::deviations(conn, MIGRATIONS.len())?.foreign;
    Ok(match foreign.is_empty() {
        true => Finding::fine("schema", "is what the steps make"),
        false => Finding::notice(
            "schema",
            format!("not avert's: {}", foreign.join(", ")),
            "nothing goes through them; drop what is not needed",
        ),
    })
}

/// Whether each outcome is told where it is.
fn outcomes(conn: &Connection) -> StoreResult<Finding> {
    let alone = count(
        conn,
        "SELECT (SELECT count(*) FROM alert a WHERE a.outcome IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outcome o \
            WHERE o.alert = a.key))
              + (SELECT count(*) FROM outcome o JOIN alert a ON a.key = o.alert WHERE a.outcome IS NULL)",
    )?;
    Ok(verdicts::outcomes(alone, count(conn, "SELECT count(*) FROM outcome")?, RESTORE))
}

/// The SELECT of the counts, from the alerts.
pub(super) fn counted() -> String {
    format!(
        "SELECT organization, CASE WHEN alert_time IS NULL THEN {NO_DAY}
                ELSE (alert_time - ((alert_time % {DAY_MICROS}) + {DAY_MICROS}) % {DAY_MICROS}) / {DAY_MICROS} END,
            provider, type, status, coalesce(outcome, 0), expired_at IS NOT NULL, count(*) FROM alert
        GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )
}

/// Whether the kept counts are what counting says.
fn counts(conn: &Connection) -> StoreResult<Finding> {
    const KEPT: &str =
        "SELECT organization, day, provider, type, status, outcome, expired, alerts FROM alert_count WHERE alerts > 0";
    let counted = counted();
    let differing = format!(
        "SELECT count(*) FROM (SELECT * FROM ({counted} EXCEPT {KEPT}) UNION ALL SELECT * FROM ({KEPT} EXCEPT \
            {counted}))"
    );
    Ok(verdicts::counts(count(conn, &differing)?, count(conn, "SELECT count(*) FROM alert")?, RESTORE))
}

fn decisions(conn: &Connection, now: Timestamp) -> StoreResult<Finding> {
    let parked = count(conn, "SELECT count(*) FROM resolution_attempt WHERE state = 'PARKED'")?;
    let unknown = count(conn, "SELECT count(*) FROM resolution_attempt WHERE state = 'UNKNOWN'")?;
    let left = "SELECT count(*) FROM resolution_attempt WHERE state = 'INFLIGHT' AND deadline < ?1";
    Ok(verdicts::decisions(parked, unknown, conn.one(left, [micros(now)], cell)?))
}

fn deliveries(conn: &Connection, now: Timestamp) -> StoreResult<Finding> {
    let waiting = count(conn, "SELECT count(*) FROM delivery WHERE state IN ('pending', 'leased')")?;
    let exhausted = count(conn, "SELECT count(*) FROM delivery WHERE state = 'exhausted' AND test = 0")?;
    let overdue: i64 = conn.one(
        "SELECT count(*) FROM delivery d JOIN endpoint e ON e.key = d.endpoint
         WHERE d.state = 'pending' AND d.due < ?1 AND e.disabled_at IS NULL",
        [micros(now - verdicts::OVERDUE)],
        cell,
    )?;
    Ok(verdicts::deliveries(waiting, overdue, exhausted))
}

fn endpoints(conn: &Connection) -> StoreResult<Finding> {
    let all = count(conn, "SELECT count(*) FROM endpoint WHERE removed_at IS NULL")?;
    let disabled = conn.all(
        "SELECT url, coalesce(disabled_reason, '') FROM endpoint WHERE disabled_at IS NOT NULL AND removed_at IS NULL \
            LIMIT 5",
        [],
        |row| Ok(format!("{} ({})", row.get::<_, String>(0)?, row.get::<_, String>(1)?)),
    )?;
    let failing = conn.all(
        "SELECT url, failing_since FROM endpoint WHERE failing_since IS NOT NULL AND disabled_at IS NULL AND \
            removed_at IS NULL
         ORDER BY failing_since LIMIT 5",
        [],
        |row| Ok((row.get(0)?, moment(row.get(1)?)?)),
    )?;
    Ok(verdicts::endpoints(all, &disabled, &failing))
}

/// Whether the clock is behind what it wrote itself.
fn clock(conn: &Connection, now: Timestamp) -> StoreResult<Finding> {
    let newest = conn.one(
        "SELECT max(t) FROM (SELECT max(started_at) t FROM resolution_attempt UNION ALL SELECT max(at) FROM event
            UNION ALL SELECT max(applied_at) FROM schema_migration UNION ALL SELECT max(created_at) FROM api_key)",
        [],
        |row| optional_moment(row, 0),
    )?;
    Ok(verdicts::clock(newest, now))
}
