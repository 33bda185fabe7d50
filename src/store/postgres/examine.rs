//! Diagnostics of a database on a server: what is wrong with it and what to do.

use std::future::Future;
use std::path::Path;

use chrono::TimeDelta;

use super::access;
use super::audit;
use super::clock;
use super::connection::Connection;
use super::copy_mark;
use super::counts::{DAY_MICROS, NO_DAY};
use super::fault::Work;
use super::fingerprint;
use super::liveness::DEAD_AFTER;
use super::look::connect;
use super::migrate;
use super::networks;
use super::statements::{cell, micros, moment_at, optional_moment};
use crate::domain::database::PostgresAddress;
use crate::domain::time::Timestamp;
use crate::domain::{EndpointId, PlacedCredential, Provider};
use crate::store::key_file;
use crate::store::sealed::KEY_CHECK;
use crate::store::verdicts::{self, PulledSource};
use crate::store::{Finding, SchemaState, StoreError};

/// What is found, and what the database remembers that other checks ask for; none of it where it cannot be read, which
/// the findings tell.
#[derive(Debug, Default)]
pub struct Examination {
    pub findings: Vec<Finding>,
    /// The networks that have a gateway.
    pub gateways: Vec<(Provider, String)>,
    /// Every credential that is not revoked.
    pub credentials: Vec<PlacedCredential>,
    /// The endpoints that get deliveries, by id and address.
    pub endpoints: Vec<(EndpointId, String)>,
}

const RESTORE: &str = "keep a dump of it as it is (pg_dump), then restore a backup of the server's";

/// Sources that nobody has pulled from for so long are not set up any more.
const ABANDONED: TimeDelta = TimeDelta::days(2);

/// Examines a database with its key and the processes on it, as of `now`. Changes nothing.
pub async fn examine(server: &PostgresAddress, key_path: Option<&Path>, now: Timestamp) -> Examination {
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
    if let Ok(Some(mark)) = copy_mark::read(&conn).await {
        findings.push(mark.finding(&server.to_string()));
        return examination;
    }
    match migrate::state(&conn).await.map_err(StoreError::from) {
        Ok(SchemaState::Current) => {
            let sized = conn.one(
                "SELECT pg_database_size(current_database()), current_setting('server_version')",
                &[],
                |row| {
                    let (bytes, version): (i64, &str) = (row.try_get(0)?, row.try_get(1)?);
                    Ok(Finding::fine("database", format!("{server}, PostgreSQL {version}, {bytes} bytes")))
                },
            );
            findings.push(verdicts::checked("database", sized.await.map_err(Into::into), RESTORE));
        }
        Ok(SchemaState::Empty(_)) => {
            findings.push(Finding::notice("database", format!("{server}: nothing is there yet"), "avert migrate"));
            findings.push(key_of(key_path, false));
            return examination;
        }
        Ok(SchemaState::Waiting(steps)) => {
            let found = format!("{server}: its schema waits for {}", steps.join(", "));
            findings.push(Finding::wrong("database", found, "avert migrate: until then no command runs that opens it"));
            findings.push(key_of(key_path, true));
            return examination;
        }
        Err(error) => {
            findings.push(at(server, &error, "use the avert that wrote it, or name another database"));
            return examination;
        }
    }
    let schema = fingerprint::compare(&conn, migrate::STEPS).await;
    findings.push(verdicts::checked(
        "schema",
        schema.map(|differences| differences.finding()).map_err(Into::into),
        RESTORE,
    ));
    findings.push(verdicts::checked("writing", writing(&conn).await.map_err(Into::into), RESTORE));
    findings.push(checked(&conn, "searches", trigrams(&conn)).await);
    findings.push(checked(&conn, "processes", processes(&conn)).await);
    findings.push(key_of(key_path, true));
    if let Some(file) = key_path {
        findings.extend(key(&conn, file).await);
    }
    findings.push(checked(&conn, "outcomes", outcomes(&conn)).await);
    findings.push(checked(&conn, "counts", counts(&conn)).await);
    findings.push(checked(&conn, "audit log", async { Ok(verdicts::audit_log(audit::verify(&conn).await?)) }).await);
    findings.push(checked(&conn, "decisions", decisions(&conn, now)).await);
    findings.push(checked(&conn, "deliveries", deliveries(&conn, now)).await);
    findings.push(checked(&conn, "endpoints", endpoints(&conn)).await);
    findings.push(checked(&conn, "pulled alerts", pulled(&conn, now)).await);
    findings.push(checked(&conn, "clock", clocks(&conn, now)).await);
    // What cannot be read was told above.
    examination.gateways = networks::gateways(&conn).await.unwrap_or_default();
    examination.credentials = access::placed(&conn).await.unwrap_or_default();
    let enabled = "SELECT id, url FROM endpoint WHERE disabled_at IS NULL ORDER BY key";
    let enabled = conn.all(enabled, &[], |row| Ok((EndpointId(row.try_get(0)?), row.try_get(1)?))).await;
    examination.endpoints = enabled.unwrap_or_default();
    examination
}

/// What keeps the database at an address from being looked at.
fn at(server: &PostgresAddress, error: &StoreError, advice: &str) -> Finding {
    let refused = Finding::refused("database", error, advice);
    Finding { found: format!("{server}: {}", refused.found), ..refused }
}

fn key_of(file: Option<&Path>, needed: bool) -> Finding {
    match file {
        Some(file) => verdicts::key_file(file, needed, "put it back: every process on the database has the same one"),
        None => Finding::wrong(
            "key file",
            "no file is named",
            "name it with AVERT_SECRET_KEY_FILE: it is not beside the database",
        ),
    }
}

/// One check, all of it on one snapshot.
async fn checked(conn: &Connection, name: &'static str, check: impl Future<Output = Work<Finding>>) -> Finding {
    let found = async {
        conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        check.await
    };
    let found = found.await;
    conn.roll_back().await;
    verdicts::checked(name, found.map_err(Into::into), RESTORE)
}

async fn count(conn: &Connection, sql: &str) -> Work<i64> {
    conn.one(sql, &[], cell).await
}

/// Whether the server takes writes, as it says outside of any transaction.
async fn writing(conn: &Connection) -> Work<Finding> {
    const CHECK: &str = "writing";
    let state = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";
    conn.one(state, &[], |row| {
        let (follows, read_only): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
        Ok(match (follows, read_only) {
            (true, _) => Finding::wrong(
                CHECK,
                "nothing can be written: the server is a standby, which follows another one",
                "name the server that it follows, or promote this one",
            ),
            (false, true) => Finding::wrong(
                CHECK,
                "nothing can be written: the database, or this user in it, is set read-only",
                "whoever set default_transaction_read_only takes it back when it may be written: nodes go on by \
                    themselves",
            ),
            (false, false) => Finding::fine(CHECK, "the server takes writes"),
        })
    })
    .await
}

async fn trigrams(conn: &Connection) -> Work<Finding> {
    let indexed = conn
        .one(
            "SELECT to_regclass('alert_by_trigram') IS NOT NULL AND to_regclass('alert_by_find_edges') IS NOT NULL",
            &[],
            cell,
        )
        .await?;
    Ok(if indexed {
        Finding::fine("searches", "have an index")
    } else {
        let advice = "have CREATE EXTENSION pg_trgm run by who may, then `avert migrate`: until then a search looks \
            at every alert";
        Finding::notice("searches", "have no index: the server has no pg_trgm, or this user may not create it", advice)
    })
}

async fn processes(conn: &Connection) -> Work<Finding> {
    let alive =
        format!("SELECT count(*) FILTER (WHERE beat_at > clock_timestamp() - {DEAD_AFTER}), count(*) FROM instance");
    conn.one(&alive, &[], |row| {
        let (living, all): (i64, i64) = (row.try_get(0)?, row.try_get(1)?);
        let dead = all - living;
        Ok(Finding::fine(
            "processes",
            format!("{living} at work on it, {dead} ended without a word (their work is taken up)"),
        ))
    })
    .await
}

async fn key(conn: &Connection, file: &Path) -> Vec<Finding> {
    const ADVICE: &str = "put the right file there: it was made with the database or with `avert secrets rotate \
        data`, and every process on it \
        has the same one";
    match conn.first("SELECT value FROM fact WHERE name = $1", &[&KEY_CHECK], cell::<Vec<u8>>).await {
        Ok(Some(check)) => key_file::examine(file, &check, || ADVICE.to_owned()),
        Ok(None) => vec![Finding::fine("key", "nothing is sealed yet")],
        Err(fault) => vec![verdicts::checked("key", Err(fault.into()), RESTORE)],
    }
}

async fn outcomes(conn: &Connection) -> Work<Finding> {
    let alone =
        "SELECT (SELECT count(*) FROM alert a WHERE a.outcome IS NOT NULL AND NOT EXISTS (SELECT 1 FROM outcome o \
            WHERE o.alert = a.key))
        + (SELECT count(*) FROM outcome o JOIN alert a ON a.key = o.alert WHERE a.outcome IS NULL)";
    Ok(verdicts::outcomes(count(conn, alone).await?, count(conn, "SELECT count(*) FROM outcome").await?, RESTORE))
}

/// The SELECT of the counts, from the alerts.
pub(super) fn counted() -> String {
    format!(
        "SELECT organization, coalesce(floor(alert_time::numeric / {DAY_MICROS})::bigint, {NO_DAY}), provider, type, \
            status, outcome, expired_at IS NOT NULL, count(*)::numeric FROM alert GROUP BY 1, 2, 3, 4, 5, 6, 7"
    )
}

async fn counts(conn: &Connection) -> Work<Finding> {
    const KEPT: &str =
        "SELECT organization, day, provider, type, status, outcome, expired, sum(alerts) FROM alert_count
        GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(alerts) <> 0";
    let counted = counted();
    // The totals are of the same rows as the counts of days.
    let totals = |table: &str| {
        format!(
            "SELECT organization, provider, type, status, outcome, expired, sum(alerts) FROM {table}
            GROUP BY 1, 2, 3, 4, 5, 6 HAVING sum(alerts) <> 0"
        )
    };
    let (of_days, whole) = (totals("alert_count"), totals("alert_total"));
    let differing = format!(
        "SELECT (SELECT count(*) FROM ((({counted}) EXCEPT ({KEPT})) UNION ALL (({KEPT}) EXCEPT ({counted}))) AS \
            differing)
              + (SELECT count(*) FROM ((({of_days}) EXCEPT ({whole})) UNION ALL (({whole}) EXCEPT ({of_days}))) AS \
              differing)"
    );
    Ok(verdicts::counts(count(conn, &differing).await?, count(conn, "SELECT count(*) FROM alert").await?, RESTORE))
}

async fn decisions(conn: &Connection, now: Timestamp) -> Work<Finding> {
    let unsettled = "SELECT count(*) FILTER (WHERE state = 'PARKED'), count(*) FILTER (WHERE state = 'UNKNOWN'),
            count(*) FILTER (WHERE state = 'INFLIGHT' AND deadline < $1)
        FROM resolution_attempt WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";
    conn.one(unsettled, &[&micros(now)], |row| {
        Ok(verdicts::decisions(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    })
    .await
}

async fn deliveries(conn: &Connection, now: Timestamp) -> Work<Finding> {
    let undone = "SELECT count(*) FILTER (WHERE d.state IN ('pending', 'leased')),
            count(*) FILTER (WHERE d.state = 'pending' AND d.due < $1 AND e.disabled_at IS NULL),
            count(*) FILTER (WHERE d.state = 'exhausted' AND NOT d.test)
        FROM delivery d JOIN endpoint e ON e.key = d.endpoint WHERE d.state IN ('pending', 'leased', 'exhausted')";
    let overdue = micros(now - verdicts::OVERDUE);
    conn.one(undone, &[&overdue], |row| Ok(verdicts::deliveries(row.try_get(0)?, row.try_get(1)?, row.try_get(2)?)))
        .await
}

async fn endpoints(conn: &Connection) -> Work<Finding> {
    let all = count(conn, "SELECT count(*) FROM endpoint WHERE removed_at IS NULL").await?;
    let disabled = "SELECT url || ' (' || coalesce(disabled_reason, '') || ')' FROM endpoint
        WHERE disabled_at IS NOT NULL AND removed_at IS NULL ORDER BY key LIMIT 5";
    let disabled: Vec<String> = conn.all(disabled, &[], cell).await?;
    let failing = "SELECT url, failing_since FROM endpoint WHERE failing_since IS NOT NULL AND disabled_at IS NULL \
        AND removed_at IS NULL
        ORDER BY failing_since LIMIT 5";
    let failing = conn.all(failing, &[], |row| Ok((row.try_get(0)?, moment_at(row, 1)?))).await?;
    Ok(verdicts::endpoints(all, &disabled, &failing))
}

async fn pulled(conn: &Connection, now: Timestamp) -> Work<Finding> {
    let pulled = "SELECT source, pulled_at, failures, failure FROM pull WHERE next_at > $1 ORDER BY source";
    let since = micros(now - ABANDONED);
    let sources = conn
        .all(pulled, &[&since], |row| {
            Ok(PulledSource {
                source: row.try_get(0)?,
                newest: optional_moment(row, 1)?,
                failures: row.try_get(2)?,
                failure: row.try_get(3)?,
            })
        })
        .await?;
    Ok(verdicts::pulled(&sources))
}

/// The clock of this machine beside the server's, and beside what was written.
async fn clocks(conn: &Connection, now: Timestamp) -> Work<Finding> {
    let newest = "SELECT max(t) FROM (SELECT max(started_at) t FROM resolution_attempt UNION ALL SELECT max(at) FROM \
        event
        UNION ALL SELECT max(applied_at) FROM schema_migration UNION ALL SELECT max(created_at) FROM api_key) AS \
        written";
    let newest = conn.one(newest, &[], |row| optional_moment(row, 0)).await?;
    if let Some(words) = clock::apart(conn, now).await? {
        return Ok(Finding::notice("clock", words, clock::ADVICE));
    }
    Ok(verdicts::clock(newest, now))
}
