//! Facts of a database file, looked at from outside, and of the files around it.

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
    SchemaState, StoreResult, audit_log,
    domain::time::Timestamp,
    examine::{DatabaseFacts, Fact},
    sql::on_sqlite,
};

/// Examines a database with its key and the processes on it, as of `now`.
pub async fn examine(database: &Path, key_file: &Path, now: Timestamp) -> DatabaseFacts {
    let mut found = DatabaseFacts::default();
    found.add("processes", Ok(processes(&database.with_file_name("instances"))));
    let restoring = Staging::of(database);
    let (stage, is_busy) = (restoring.stage(), restoring.is_busy());
    if stage != StagingState::Nothing {
        let (directory, is_committed) = (restoring.directory().to_owned(), stage == StagingState::Committed);
        found.add("restore", Ok(Fact::Restore { directory, is_busy, is_committed }));
    }
    if is_pending(database) {
        // Some of the files are the old ones and some the new ones: what is wrong with them is that.
        return found;
    }
    let there = fs::metadata(database);
    let fault = match &there {
        Err(error) if error.kind() == ErrorKind::NotFound => Some(Fact::Absent),
        Ok(there) if !there.is_file() => Some(Fact::NoFile),
        _ => None,
    };
    if let Some(fault) = fault {
        // Opening a pipe would wait for its writer.
        found.add_key_file(key_file, there.is_ok());
        found.add("database", Ok(fault));
        return found;
    }
    let (bytes, log) = (there.map_or(0, |there| there.len()), check_log(database));
    let opened = connection::open(database, Purpose::Read);
    if let Ok(Some(mark)) = opened.as_ref().map_or(Ok(None), migrate::read_mark) {
        found.add_mark(mark);
        return found;
    }
    found.add_key_file(key_file, true);
    if let Err(error) = log {
        found.add("log", Err(error));
    }
    let looked = opened.and_then(|conn| Ok((inspect(&conn, database)?, applied(&conn, database, MIGRATIONS)?, conn)));
    let (is_empty, steps, mut conn) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            found.add("database", Err(error.at(database)));
            return found;
        }
    };
    let schema = SchemaState::after(steps, MIGRATIONS);
    let is_whole = schema == SchemaState::Current;
    let fact = match is_empty && key_file.exists() {
        true => Fact::Emptied,
        false => Fact::Database { schema, steps, bytes, version: None },
    };
    found.add("database", Ok(fact));
    if !is_whole {
        return found;
    }
    found.add_schema(schema::compare(&conn, MIGRATIONS.len()));
    found.add("integrity", integrity(&conn));
    found.add("audit log", audit_log(&mut conn).await);
    found.add_contents(&on_sqlite(&mut conn), &counts(), now).await;
    found.add_key(&on_sqlite(&mut conn), key_file).await;
    found
}

/// The kept counts that differ from counting, and the alerts.
fn counts() -> String {
    let kept = "SELECT organization, day, provider, type, status, outcome, expired, alerts FROM alert_count \
        WHERE alerts > 0";
    let counted = counted();
    format!(
        "SELECT (SELECT count(*) FROM (SELECT * FROM ({counted} EXCEPT {kept})
            UNION ALL SELECT * FROM ({kept} EXCEPT {counted}))), (SELECT count(*) FROM alert)"
    )
}

/// The audit log, all of it in one state.
async fn audit_log(conn: &mut Connection) -> StoreResult<Fact> {
    conn.execute_batch("BEGIN")?;
    let state = audit_log::verify(&on_sqlite(conn)).await?;
    conn.execute_batch("ROLLBACK")?;
    Ok(Fact::AuditLog(state))
}

fn integrity(conn: &Connection) -> StoreResult<Fact> {
    let mut faults: Vec<String> = conn.all("PRAGMA quick_check(5)", &[], cell)?;
    faults.retain(|line| line != "ok");
    let orphans = conn.one("SELECT count(*) FROM pragma_foreign_key_check", &[], cell)?;
    Ok(Fact::Integrity { faults, orphans })
}

/// Returns whether nobody is at work in a data directory.
pub fn is_idle(directory: &Path) -> bool {
    census(&directory.join("instances")).0 == 0
}

/// The processes at work on a database.
fn processes(instances: &Path) -> Fact {
    if instances.exists() && !instances.is_dir() {
        return Fact::NoDirectory(instances.to_owned());
    }
    let (living, dead) = census(instances);
    Fact::Processes { living: living as u64, dead: dead as u64 }
}
