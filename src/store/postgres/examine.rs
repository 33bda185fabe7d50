//! Facts of a database on a server.

use std::{path::Path, sync::LazyLock};

use futures::future::BoxFuture;

use super::{
    connection::Connection,
    counts::counted,
    keeper::{self, DEAD_AFTER},
    migrate,
    pool::connect,
};
use crate::{
    SchemaState, StoreResult, audit_log,
    cells::StoredRow,
    domain::{database::PostgresAddress, time::Timestamp},
    error::Work,
    examine::{DatabaseFacts, Fact},
};

/// Examines a database with its key and the processes on it, as of `now`.
pub fn examine<'a>(
    server: &'a PostgresAddress,
    key_file: Option<&'a Path>,
    now: Timestamp,
) -> BoxFuture<'a, DatabaseFacts> {
    Box::pin(async move {
        let mut found = DatabaseFacts::default();
        let (_pool, conn) = match connect(server).await {
            Ok(connected) => connected,
            Err(error) => {
                found.add("database", Ok(Fact::Unreachable(error)));
                add_key_file(&mut found, key_file, false);
                return found;
            }
        };
        let rows = conn.rows();
        if let Ok(Some(mark)) = migrate::read_mark(&conn).await {
            found.add_mark(mark);
            return found;
        }
        let database = database(&conn).await;
        let schema = database.as_ref().ok().map(|(schema, _)| schema.clone());
        found.add("database", database.map(|(_, fact)| fact).map_err(Into::into));
        add_key_file(&mut found, key_file, !matches!(schema, Some(SchemaState::Empty(_))));
        if schema != Some(SchemaState::Current) {
            return found;
        }
        found.add_schema(migrate::compare_schema(&conn, migrate::STEPS).await.map_err(Into::into));
        if let Some(file) = key_file {
            found.add_key(&rows, file).await;
        }
        found.add("audit log", audit_log(&conn).await.map_err(Into::into));
        let server = |row: &StoredRow<'_>| Ok(Fact::Server { is_standby: row.get(0)?, is_read_only: row.get(1)? });
        found.add("writing", one(&conn, WRITING, server).await);
        found.add("searches", one(&conn, SEARCHES, |row| Ok(Fact::Searches(row.get(0)?))).await);
        let processes = |row: &StoredRow<'_>| Ok(Fact::Processes { living: row.get(0)?, dead: row.get(1)? });
        found.add("processes", one(&conn, &PROCESSES, processes).await);
        found.add_contents(&rows, &counts(), now).await;
        if let Ok(Some(apart)) = keeper::apart(&conn, now).await {
            found.facts.retain(|(check, _)| *check != "clock");
            found.add("clock", Ok(Fact::ClocksApart(apart)));
        }
        found
    })
}

fn add_key_file(found: &mut DatabaseFacts, file: Option<&Path>, is_needed: bool) {
    match file {
        Some(file) => found.add_key_file(file, is_needed),
        None => found.add("key file", Ok(Fact::NoKeyFile)),
    }
}

/// The state of its schema, and that with size and version.
async fn database(conn: &Connection) -> Work<(SchemaState, Fact)> {
    let schema = migrate::state(conn).await?;
    let sized = "SELECT pg_database_size(current_database()), current_setting('server_version')";
    let read = |row: &StoredRow<'_>| {
        let (bytes, version, steps) = (row.get(0)?, Some(row.get(1)?), migrate::STEPS);
        Ok(Fact::Database { schema: schema.clone(), steps, bytes, version })
    };
    let fact = conn.rows().one(sized, &[], read).await?;
    Ok((schema, fact))
}

const WRITING: &str = "SELECT pg_is_in_recovery(), current_setting('transaction_read_only') = 'on'";

const SEARCHES: &str =
    "SELECT to_regclass('alert_by_trigram') IS NOT NULL AND to_regclass('alert_by_find_edges') IS NOT NULL";

static PROCESSES: LazyLock<String> = LazyLock::new(|| {
    let dead = format!("beat_at <= clock_timestamp() - {DEAD_AFTER}");
    format!("SELECT count(*) FILTER (WHERE NOT {dead}), count(*) FILTER (WHERE {dead}) FROM instance")
});

/// The kept counts and totals that differ from counting, and the alerts. Totals are of the same rows as the counts of
/// days.
fn counts() -> String {
    let (kept, counted) = (sums("alert_count", "day, "), counted());
    let (of_days, whole) = (sums("alert_count", ""), sums("alert_total", ""));
    let differing = |one: &str, other: &str| {
        format!("(SELECT count(*) FROM ((({one}) EXCEPT ({other})) UNION ALL (({other}) EXCEPT ({one}))) AS differing)")
    };
    let (days, totals) = (differing(&counted, &kept), differing(&of_days, &whole));
    format!("SELECT {days} + {totals}, (SELECT count(*) FROM alert)")
}

/// The fact in the one row of an answer.
async fn one(conn: &Connection, sql: &str, read: fn(&StoredRow<'_>) -> Work<Fact>) -> StoreResult<Fact> {
    Ok(conn.rows().one(sql, &[], read).await?)
}

/// The audit log, all of it on one snapshot.
async fn audit_log(conn: &Connection) -> Work<Fact> {
    conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let state = audit_log::verify(&conn.rows()).await;
    conn.roll_back().await;
    Ok(Fact::AuditLog(state?))
}

/// The SELECT of the sums of a table of counts.
fn sums(table: &str, day: &str) -> String {
    format!(
        "SELECT organization, {day}provider, type, status, outcome, expired, sum(alerts) FROM {table}
        GROUP BY organization, {day}provider, type, status, outcome, expired HAVING sum(alerts) <> 0"
    )
}
