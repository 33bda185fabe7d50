//! Diagnostics of a database on a server: what is wrong with it and what to do.

use std::path::Path;

use futures::future::BoxFuture;

use super::{
    connection::Connection,
    counts::counted,
    keeper::{self, DEAD_AFTER},
    migrate,
    pool::connect,
};
use crate::{
    Finding, SchemaState, StoreError, audit_log,
    domain::{database::PostgresAddress, time::Timestamp},
    error::Work,
    examine::{self, CHECKS, Check, Examination, checked, numbers, text},
    subjects::networks::gateways,
};

const RESTORE: &str = "keep a dump of it as it is (pg_dump), then restore a backup of the server's";

/// Checks of a server alone.
const ON_SERVERS: [Check; 4] = [
    Check {
        name: "writing",
        sql: |_| "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'".to_owned(),
        look: |check, rows, _| match numbers(rows) {
            [0, 0] => Finding::fine(check, "the server takes writes"),
            [0, _] => Finding::wrong(
                check,
                "nothing can be written: the database, or this user in it, is set read-only",
                "whoever set default_transaction_read_only takes it back when it may be written: nodes go on by \
                    themselves",
            ),
            [_, _] => Finding::wrong(
                check,
                "nothing can be written: the server is a standby, which follows another one",
                "name the server that it follows, or promote this one",
            ),
        },
    },
    Check {
        name: "searches",
        sql: |_| {
            "SELECT to_regclass('alert_by_trigram') IS NOT NULL AND to_regclass('alert_by_find_edges') IS NOT NULL"
                .to_owned()
        },
        look: |check, rows, _| match numbers(rows) {
            [0] => Finding::notice(
                check,
                "have no index: the server has no pg_trgm, or this user may not create it",
                "have CREATE EXTENSION pg_trgm run by who may, then `avert migrate`: until then a search looks at \
                    every alert",
            ),
            [_] => Finding::fine(check, "have an index"),
        },
    },
    Check {
        name: "processes",
        sql: |_| {
            let dead = format!("beat_at <= clock_timestamp() - {DEAD_AFTER}");
            format!("SELECT count(*) FILTER (WHERE NOT {dead}), count(*) FILTER (WHERE {dead}) FROM instance")
        },
        look: |check, rows, _| {
            let [living, dead] = numbers(rows);
            let found = format!("{living} at work on it, {dead} ended without a word (their work is taken up)");
            Finding::fine(check, found)
        },
    },
    Check {
        name: "counts",
        sql: |_| {
            let kept = sums("alert_count", "day, ");
            // The totals are of the same rows as the counts of days.
            let (counted, of_days, whole) = (counted(), sums("alert_count", ""), sums("alert_total", ""));
            let differing = |one: &str, other: &str| {
                format!(
                    "(SELECT count(*) FROM ((({one}) EXCEPT ({other})) UNION ALL (({other}) EXCEPT ({one}))) AS \
                        differing)"
                )
            };
            let (days, totals) = (differing(&counted, &kept), differing(&of_days, &whole));
            format!("SELECT {days} + {totals}, (SELECT count(*) FROM alert)")
        },
        look: examine::counts,
    },
];

/// Examines a database with its key and the processes on it, as of `now`. Changes nothing.
pub fn examine<'a>(
    server: &'a PostgresAddress,
    key_path: Option<&'a Path>,
    now: Timestamp,
) -> BoxFuture<'a, Examination> {
    Box::pin(async move {
        let mut examination = Examination::default();
        let findings = &mut examination.findings;
        let (_pool, conn) = match connect(server).await {
            Ok(connected) => connected,
            Err(error) => {
                let advice = "see whether the server runs, and whether host, port, name, user and password are right \
                (AVERT_DATABASE)";
                findings.push(at(server, &error, advice));
                findings.push(key_of(key_path, false));
                return examination;
            }
        };
        let rows = conn.rows();
        if let Ok(Some(mark)) = migrate::read_mark(&conn).await {
            findings.push(mark.finding(&server.to_string()));
            return examination;
        }
        let state = migrate::state(&conn).await.map_err(StoreError::from);
        let (is_current, is_empty) = (state == Ok(SchemaState::Current), matches!(state, Ok(SchemaState::Empty(_))));
        findings.push(match state {
            Ok(SchemaState::Current) => {
                let sized = "SELECT pg_database_size(current_database()), current_setting('server_version')";
                let sized = examine::answer(&rows, sized).await.map(|rows| {
                    let ([bytes], version) = (numbers(&rows), text(&rows[0][1]));
                    Finding::fine("database", format!("{server}, PostgreSQL {version}, {bytes} bytes"))
                });
                checked("database", sized, RESTORE)
            }
            Ok(SchemaState::Empty(_)) => {
                Finding::notice("database", format!("{server}: nothing is there yet"), "avert migrate")
            }
            Ok(SchemaState::Waiting(steps)) => {
                let found = format!("{server}: its schema waits for {}", steps.join(", "));
                Finding::wrong("database", found, "avert migrate: until then no command runs that opens it")
            }
            Err(error) => {
                at(server, &error, "use the avert that wrote it, grant what is missing, or name another database")
            }
        });
        findings.push(key_of(key_path, !is_empty));
        if !is_current {
            return examination;
        }
        let schema = migrate::compare_schema(&conn, migrate::STEPS).await;
        findings.push(checked("schema", schema.map(|differences| differences.finding()).map_err(Into::into), RESTORE));
        if let Some(file) = key_path {
            let advice = "put the right file there: every process on the database has the same one";
            findings.extend(examine::key(&rows, file, advice, RESTORE).await);
        }
        findings.push(checked("audit log", audit_log(&conn).await.map_err(Into::into), RESTORE));
        for check in ON_SERVERS.iter().chain(&CHECKS) {
            findings.push(check.run(&rows, now, RESTORE).await);
        }
        if let Ok(Some(words)) = keeper::apart(&conn, now).await {
            findings.retain(|finding| finding.check != "clock");
            findings.push(Finding::notice("clock", words, keeper::CLOCK_ADVICE));
        }
        // An unreadable fact was reported above.
        examination.gateways = gateways(&rows).await.unwrap_or_default();
        examination
    })
}

/// Reports the reason for which the database at an address cannot be examined.
fn at(server: &PostgresAddress, error: &StoreError, advice: &str) -> Finding {
    let refused = Finding::refused("database", error, advice);
    Finding { found: format!("{server}: {}", refused.found), ..refused }
}

fn key_of(file: Option<&Path>, needed: bool) -> Finding {
    match file {
        Some(file) => examine::key_file(file, needed, "put it back: every process on the database has the same one"),
        None => Finding::wrong(
            "key file",
            "no file is named",
            "name it with AVERT_SECRET_KEY_FILE: it is not beside the database",
        ),
    }
}

/// The audit log, all of it on one snapshot.
async fn audit_log(conn: &Connection) -> Work<Finding> {
    conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let state = audit_log::verify(&conn.rows()).await;
    conn.roll_back().await;
    Ok(examine::audit_log(state?))
}

/// The SELECT of the sums of a table of counts.
fn sums(table: &str, day: &str) -> String {
    format!(
        "SELECT organization, {day}provider, type, status, outcome, expired, sum(alerts) FROM {table}
        GROUP BY organization, {day}provider, type, status, outcome, expired HAVING sum(alerts) <> 0"
    )
}
