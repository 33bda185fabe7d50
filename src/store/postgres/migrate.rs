//! Schema migrations, numbered and with checksums, applied by one process at a time. A newer or altered schema is
//! refused, and so is a database with the mark of an unfinished copy.

use std::collections::HashSet;

use futures::future::BoxFuture;
use uuid::Uuid;

use super::{connection::Connection, find, pool::connect};
use crate::{
    SchemaState, StoreError, StoreResult,
    alert_rows::micros,
    cells::{StoredRow, cell},
    domain::{
        database::PostgresAddress,
        time::{Clock as _, SystemClock},
    },
    error::{Work, WorkFault},
    portable::{CopyMark, UNFINISHED_COPY},
    schema::{self, Differences, Migration, Objects, migrations},
};

/// Every step, in order.
const MIGRATIONS: &[Migration] = migrations!(
    "postgres":
    "0001_store",
    "0002_signing_keys",
    "0003_sorts",
    "0004_find",
    "0005_insights",
    "0006_persons",
    "0007_lists",
    "0008_audit_pending",
    "0009_find_keys",
    "0010_ca_certificates",
    "0011_traces",
    "0012_subscriptions",
    "0013_sources",
    "0014_truth",
    "0015_rules",
    "0016_source_order",
    "0017_sales",
);

/// Name of the step behind which the alerts are put into the search over all fields, once the newest schema is there.
const INDEXES_ALERTS: &str = "0009_find_keys";

/// Number of steps.
pub(super) const STEPS: usize = MIGRATIONS.len();

/// Inspects the schema without changing anything.
///
/// # Errors
/// [`Newer`](StoreError::Newer) where the schema is a newer one, [`Unusable`](StoreError::Unusable) where it is altered
/// or another program's.
pub fn inspect(server: &PostgresAddress) -> BoxFuture<'_, StoreResult<SchemaState>> {
    Box::pin(async move {
        let (_pool, conn) = connect(server).await?;
        Ok(state(&conn).await?)
    })
}

/// The same of a connection.
pub(super) async fn state(conn: &Connection) -> Work<SchemaState> {
    refuse_copy(conn).await?;
    state_of_any(conn).await
}

/// The same of what may be an unfinished copy.
pub(super) async fn state_of_any(conn: &Connection) -> Work<SchemaState> {
    refuse_strangers(conn).await?;
    Ok(SchemaState::after(applied(conn).await?, MIGRATIONS))
}

/// Brings the schema up to date, and returns the steps that it applied. Another process that does so at the same time
/// waits, and finds nothing left to do.
///
/// # Errors
/// [`Newer`](StoreError::Newer) where the schema is a newer one, [`Unusable`](StoreError::Unusable) where it is altered
/// or another program's.
pub fn migrate(server: &PostgresAddress) -> BoxFuture<'_, StoreResult<Vec<&'static str>>> {
    Box::pin(async move {
        let (_pool, conn) = connect(server).await?;
        refuse_copy(&conn).await?;
        bring_up(&conn).await
    })
}

/// The same on a connection, of what may be an unfinished copy.
pub(super) async fn bring_up(conn: &Connection) -> StoreResult<Vec<&'static str>> {
    refuse_strangers(conn).await?;
    make_lock(conn).await?;
    begin_alone(conn).await?;
    let applied = apply(conn).await?;
    conn.commit("").await?;
    offer_trigrams(conn).await;
    if !applied.is_empty() {
        gather_statistics(conn).await?;
    }
    Ok(applied)
}

/// Refuses a schema that is not the one that this avert knows.
pub(super) async fn check(conn: &Connection) -> Work<()> {
    match state(conn).await? {
        SchemaState::Current => Ok(()),
        _ => Err(unusable("its schema waits for steps of this avert; apply them with `avert migrate`")),
    }
}

fn unusable(what: &str) -> WorkFault {
    WorkFault::Final(StoreError::Unusable(what.to_owned()))
}

async fn has_table(conn: &Connection, name: &str) -> Work<bool> {
    conn.rows().one("SELECT to_regclass($1) IS NOT NULL", &[&name], cell).await
}

/// Refuses a database with tables that are not avert's.
async fn refuse_strangers(conn: &Connection) -> Work<()> {
    if has_table(conn, "schema_migration").await? {
        return Ok(());
    }
    // Once more: another process may have made them meanwhile.
    let tables = "SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace = \
        current_schema()::regnamespace
        AND c.relname NOT IN ('schema_lock', $1) AND to_regclass('schema_migration') IS NULL";
    if conn.rows().one(tables, &[&UNFINISHED_COPY], cell::<i64>).await? > 0 {
        return Err(unusable("holds the tables of another program; name an empty one"));
    }
    Ok(())
}

/// Counts the applied steps; refuses others than these, and a schema that is not what they made.
async fn applied(conn: &Connection) -> Work<usize> {
    if !has_table(conn, "schema_migration").await? {
        return Ok(0);
    }
    let rows = conn
        .all("SELECT number, checksum FROM schema_migration ORDER BY number", &[], |row| {
            Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?))
        })
        .await?;
    schema::applied(&rows, MIGRATIONS)?;
    if !rows.is_empty() {
        compare_schema(conn, rows.len()).await?.check("")?;
    }
    Ok(rows.len())
}

/// Makes the row that a migration locks: a row, because not every database of this kind has other locks.
pub(super) async fn make_lock(conn: &Connection) -> Work<()> {
    let made = "CREATE TABLE IF NOT EXISTS schema_lock (single bigint PRIMARY KEY CHECK (single = 1))";
    if let Err(fault) = conn.batch(made).await
        && !has_table(conn, "schema_lock").await?
    {
        // Of two who make it at once one is told that it is there already.
        return Err(fault);
    }
    conn.batch("INSERT INTO schema_lock (single) VALUES (1) ON CONFLICT DO NOTHING").await
}

/// Waits until no other process works on the schema, and keeps others off until the end of the transaction.
pub(super) async fn lock(conn: &Connection) -> Work<()> {
    conn.rows().one("SELECT single FROM schema_lock FOR UPDATE", &[], cell::<i64>).await.map(drop)
}

/// A step over many rows takes its time.
const PATIENT: &str = "SET LOCAL statement_timeout = 0";

/// Begins a transaction that takes its time, with no other process at work on the schema.
async fn begin_alone(conn: &Connection) -> Work<()> {
    conn.begin("").await?;
    conn.batch(PATIENT).await?;
    lock(conn).await
}

async fn apply(conn: &Connection) -> Work<Vec<&'static str>> {
    refuse_strangers(conn).await?;
    let pending = &MIGRATIONS[applied(conn).await?..];
    if pending.is_empty() {
        return Ok(Vec::new());
    }
    conn.batch(
        "CREATE TABLE IF NOT EXISTS schema_migration (
            number bigint PRIMARY KEY, name text NOT NULL, checksum bytea NOT NULL, applied_at bigint NOT NULL
        )",
    )
    .await?;
    for step in pending {
        conn.batch(step.sql).await?;
        let (number, name, checksum) = step.row();
        conn.run(
            "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES ($1, $2, $3, $4)",
            &[&number, &name, &checksum, &micros(SystemClock.now())],
        )
        .await?;
    }
    if pending.iter().any(|step| step.file == INDEXES_ALERTS) {
        find::index_all(conn).await?;
    }
    Ok(pending.iter().map(Migration::name).collect())
}

/// Gives searches an index of trigrams where the server has the extension; without it every row is read.
async fn offer_trigrams(conn: &Connection) {
    if let Err(fault) = index_trigrams(conn).await {
        conn.roll_back().await;
        let reason = StoreError::from(fault);
        tracing::warn!("searches have no index, and look at every alert: {reason}");
    }
}

/// Has the server gather statistics on the tables and their new indexes: until then it plans with wrong numbers.
pub(super) async fn gather_statistics(conn: &Connection) -> Work<()> {
    let tables = ["alert", "outcome", "alert_count", "alert_total"].map(|table| format!("ANALYZE {table};"));
    conn.begin("").await?;
    conn.batch(&format!("{PATIENT}; {}", tables.concat())).await?;
    conn.commit("").await.map(drop)
}

async fn index_trigrams(conn: &Connection) -> Work<()> {
    begin_alone(conn).await?;
    conn.batch("CREATE EXTENSION IF NOT EXISTS pg_trgm").await?;
    // It may be in a schema that no name is looked up in.
    let operators = "SELECT extnamespace::regnamespace || '.gin_trgm_ops' FROM pg_extension WHERE extname = 'pg_trgm'";
    let operators: String = conn.rows().one(operators, &[], cell).await?;
    for (index, text) in [
        ("alert_by_trigram", "searched".to_owned()),
        ("alert_by_find_edges", format!("({})", find::edged("find_text"))),
    ] {
        conn.batch(&format!("CREATE INDEX IF NOT EXISTS {index} ON alert USING gin ({text} {operators})")).await?;
    }
    conn.commit("").await?;
    Ok(())
}

/// Objects by the steps that make them, each with table, name and definition. Steps are `FIRST`, or `FIRST-LAST` where
/// a later step drops the object; 0 marks an optional one.
const MADE: &str = include_str!("../../../assets/postgres/objects.txt");

/// Objects in the schema with their table, name and definition, in the words of [`MADE`].
const THERE: &str = include_str!("../../../assets/postgres/objects.sql");

/// Compares the schema with the objects that so many steps made. Other tables are left alone.
pub(super) async fn compare_schema(conn: &Connection, applied: usize) -> Work<Differences> {
    let read = |row: &StoredRow<'_>| Ok((row.get(1)?, (row.get(0)?, row.get(2)?)));
    let mut there: Objects = conn.all(THERE, &[], read).await?.into_iter().collect();
    let made: Vec<_> = MADE.lines().filter_map(|line| made_by(line, applied)).collect();
    let tables: HashSet<&str> = made.iter().map(|(_, table, ..)| *table).collect();
    there.retain(|_, (table, _)| tables.contains(&**table));
    let (optional, made): (Vec<_>, Vec<_>) = made.into_iter().partition(|(first, ..)| *first == 0);
    optional.iter().for_each(|(_, _, name, _)| drop(there.remove(*name)));
    let made = made
        .into_iter()
        .map(|(_, table, name, definition)| (name.to_owned(), (table.to_owned(), definition.to_owned())));
    let is_harmless = |name: &str| name.starts_with("index ") || name.starts_with("column ");
    Ok(Differences::between(&made.collect(), there, is_harmless))
}

/// The object of a line, where it is there after so many steps: its first step, table, name and definition.
fn made_by(line: &'static str, applied: usize) -> Option<(usize, &'static str, &'static str, &'static str)> {
    let mut fields = line.split('|').map(str::trim);
    let mut steps = fields.next()?.split('-').filter_map(|step| step.parse::<usize>().ok());
    let (first, last) = (steps.next()?, steps.next().unwrap_or(applied));
    let object = (first, fields.next()?, fields.next()?, fields.next()?);
    (first..=last).contains(&applied).then_some(object)
}

/// Reads the mark, where there is one.
pub(super) async fn read_mark(conn: &Connection) -> Work<Option<CopyMark>> {
    if !has_table(conn, UNFINISHED_COPY).await? {
        return Ok(None);
    }
    conn.rows()
        .first(&format!("SELECT source, desk FROM {UNFINISHED_COPY}"), &[], |row| {
            Ok(CopyMark { source: row.get(0)?, desk: row.get(1)? })
        })
        .await
}

/// Refuses a database with a mark.
pub(super) async fn refuse_copy(conn: &Connection) -> Work<()> {
    read_mark(conn).await?.map_or(Ok(()), |mark| Err(unusable(&mark.refusal())))
}

/// Marks the database, or takes the mark over: from now on this run works on it.
pub(super) async fn put_mark(conn: &Connection, mark: &CopyMark, run: &Uuid) -> Work<()> {
    conn.batch(&format!(
        "DROP TABLE IF EXISTS {UNFINISHED_COPY};
         CREATE TABLE {UNFINISHED_COPY} (source text NOT NULL, desk bytea NOT NULL, run uuid NOT NULL)"
    ))
    .await?;
    let put_mark = format!("INSERT INTO {UNFINISHED_COPY} VALUES ($1, $2, $3)");
    conn.run(&put_mark, &[&mark.source, &mark.desk, run]).await?;
    Ok(())
}

/// Locks the mark until the transaction ends; refuses where another run has taken it over.
pub(super) async fn hold_mark(conn: &Connection, run: &Uuid) -> Work<()> {
    let held = format!("SELECT run FROM {UNFINISHED_COPY} FOR UPDATE");
    if conn.rows().first(&held, &[], cell::<Uuid>).await?.as_ref() == Some(run) {
        return Ok(());
    }
    Err(unusable("another `avert copy` has begun anew meanwhile"))
}
