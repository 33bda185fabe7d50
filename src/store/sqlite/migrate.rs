//! Schema migrations, numbered and with checksums. A newer or altered schema is refused, and so is a file with the mark
//! of an unfinished copy; an existing database is backed up before it changes.

use std::{
    io,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, TransactionBehavior};
use tempfile::NamedTempFile;

use super::{
    connection::{self, APPLICATION_ID, Purpose},
    files::{directory_of, unusable, with_suffix},
    find_index,
    sql::{Statements as _, cell},
};
use crate::{
    StoreError, StoreResult,
    domain::time::{Clock as _, SystemClock},
    encryption::give_name,
    portable::{CopyMark, UNFINISHED_COPY},
    schema::{self, Migration, migrations},
};

/// Every step, in order.
pub(super) const MIGRATIONS: &[Migration] = migrations!(
    "sqlite":
    "0001_store",
    "0002_counted_waits",
    "0003_hours_left",
    "0004_guarded_clock",
    "0005_key_environment",
    "0006_sealed_addresses",
    "0007_alike",
    "0008_key_scopes",
    "0009_last_success",
    "0010_signing_keys",
    "0011_sorts",
    "0012_find",
    "0013_insights",
    "0014_persons",
    "0015_search_terms",
    "0016_unindexed",
    "0017_open_attempts",
    "0018_heads",
    "0019_head_lengths",
    "0020_find_keys",
    "0021_head_checksums",
    "0022_ca_certificates",
    "0023_traces",
    "0024_subscriptions",
    "0025_sources",
    "0026_truth",
    "0027_rules",
    "0028_source_order",
    "0029_sales",
);

/// Behind this step the alerts are put into the search over all fields, once the newest schema is there.
const INDEXES_ALERTS: &str = "0021_head_checksums";

/// Inspects the file, without changing anything: a database that avert may use. Returns whether it is empty.
pub(super) fn inspect(conn: &Connection, path: &Path) -> StoreResult<bool> {
    let is_empty = inspect_any(conn, path)?;
    refuse_copy(conn, path)?;
    Ok(is_empty)
}

/// The same of what may be an unfinished copy.
pub(super) fn inspect_any(conn: &Connection, path: &Path) -> StoreResult<bool> {
    let found = "SELECT application_id, (SELECT count(*) FROM sqlite_schema) FROM pragma_application_id";
    match conn.one(found, &[], |row| Ok((row.get(0)?, row.get(1)?))).map_err(|error| error.at(path))? {
        (0, 0_i64) => Ok(true),
        (APPLICATION_ID, _) => Ok(false),
        _ => Err(unusable(path, "is a database of another program; name another file or data directory")),
    }
}

/// Brings the schema up to date. Returns the path of the backup, if one was needed. Before it is made, `before` gets
/// the size of the database in bytes.
pub(super) fn migrate(
    conn: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    before: &dyn Fn(u64),
) -> StoreResult<Option<PathBuf>> {
    let applied = applied(conn, path, migrations)?;
    let pending = &migrations[applied..];
    if pending.is_empty() {
        return Ok(None);
    }
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let mut backup = None;
    if self::applied(&tx, path, migrations)? == applied {
        if applied > 0 {
            before(std::fs::metadata(path).map_or(0, |there| there.len()));
            backup = Some(copy_of(path)?);
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        make_schema(&tx, pending)?;
        for (number, name, checksum) in pending.iter().map(Migration::row) {
            tx.run(
                "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                &[&number, &name, &checksum, &SystemClock.now()],
            )?;
        }
        if pending.iter().any(|step| step.file == INDEXES_ALERTS) {
            find_index::index_all(&tx)?;
        }
    }
    // It has its name before what it is a backup of is changed for good; of a migration that was broken off none is
    // left.
    let backup = backup.map(|copy| name_backup(copy, path, applied)).transpose()?;
    tx.commit()?;
    Ok(backup)
}

/// Makes the schema of these steps.
pub(super) fn make_schema(conn: &Connection, steps: &[Migration]) -> StoreResult<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migration (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL, applied_at INTEGER NOT NULL
        ) STRICT;",
    )?;
    Ok(steps.iter().try_for_each(|step| conn.execute_batch(step.sql))?)
}

fn has_table(conn: &Connection, name: &str) -> StoreResult<bool> {
    conn.one("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1", &[&name], cell)
}

/// Counts the applied migrations; refuses a database that has others than these.
pub(super) fn applied(conn: &Connection, path: &Path, migrations: &[Migration]) -> StoreResult<usize> {
    if !has_table(conn, "schema_migration")? {
        return Ok(0);
    }
    let rows = "SELECT number, checksum FROM schema_migration ORDER BY number";
    let rows = conn.all(rows, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
    schema::applied(&rows, migrations).map_err(|error| error.of(&path.display()))
}

/// Copies the database as it is to a private file beside it, which is removed where it is not given a name.
fn copy_of(path: &Path) -> StoreResult<NamedTempFile> {
    let copy = NamedTempFile::new_in(directory_of(path)).map_err(unwritable(path))?;
    // The connection that migrates is within a transaction.
    connection::copy_pages(&connection::open(path, Purpose::Read)?, copy.path(), copy.path())?;
    Ok(copy)
}

/// Names a copy of the database by its schema and the time.
fn name_backup(copy: NamedTempFile, path: &Path, schema: usize) -> StoreResult<PathBuf> {
    let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
    let backup = with_suffix(path, &format!(".schema-{schema}.{stamp}.backup"));
    give_name(copy, &backup).map_err(unwritable(&backup))?;
    Ok(backup)
}

/// Names a backup that cannot be written.
fn unwritable(file: &Path) -> impl Fn(io::Error) -> StoreError {
    StoreError::of_file(file, "cannot be written, the backup before the migration")
}

/// The mark, where there is one.
pub(super) fn read_mark(conn: &Connection) -> StoreResult<Option<CopyMark>> {
    if !has_table(conn, UNFINISHED_COPY)? {
        return Ok(None);
    }
    conn.first(&format!("SELECT source, desk FROM {UNFINISHED_COPY}"), &[], |row| {
        Ok(CopyMark { source: row.get(0)?, desk: row.get(1)? })
    })
}

/// Refuses a file with a mark.
pub(super) fn refuse_copy(conn: &Connection, path: &Path) -> StoreResult<()> {
    read_mark(conn)?.map_or(Ok(()), |mark| Err(unusable(path, &mark.refusal())))
}

/// Marks a file that has no tables of its own yet, or not more than those of the schema.
pub(super) fn put_mark(conn: &Connection, mark: &CopyMark) -> StoreResult<()> {
    conn.execute_batch(&format!(
        "BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION_ID};
         CREATE TABLE {UNFINISHED_COPY} (source TEXT NOT NULL, desk BLOB NOT NULL) STRICT"
    ))?;
    conn.run(&format!("INSERT INTO {UNFINISHED_COPY} VALUES (?1, ?2)"), &[&mark.source, &mark.desk])?;
    Ok(conn.execute_batch("COMMIT")?)
}

#[cfg(test)]
mod tests {
    use super::super::connection::open;
    use super::*;

    const FIRST: Migration = Migration {
        file: "0001_first",
        sql: "CREATE TABLE thing (name TEXT) STRICT; INSERT INTO thing VALUES ('kept');",
    };
    const UNTOLD: &dyn Fn(u64) = &|_| ();
    const SECOND: Migration = Migration { file: "0002_second", sql: "ALTER TABLE thing ADD COLUMN size INTEGER;" };

    fn database() -> (tempfile::TempDir, PathBuf, Connection) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("avert.db");
        let conn = open(&path, Purpose::Write).unwrap();
        (directory, path, conn)
    }

    #[test]
    fn an_existing_database_is_backed_up_before_it_is_migrated() {
        let (_directory, path, mut conn) = database();
        let fresh = migrate(&mut conn, &path, &[FIRST], UNTOLD).unwrap();

        let backup = migrate(&mut conn, &path, &[FIRST, SECOND], UNTOLD).unwrap().expect("a backup");

        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&backup).unwrap().permissions());
        let old = Connection::open(backup).unwrap();
        assert_eq!(fresh, None);
        assert_eq!(old.query_row("SELECT name FROM thing", [], |row| row.get::<_, String>(0)).unwrap(), "kept");
        assert!(old.prepare("SELECT size FROM thing").is_err());
        assert_eq!(mode & 0o777, 0o600, "nobody else can read it");
        assert!(conn.prepare("SELECT size FROM thing").is_ok());
        assert_eq!(migrate(&mut conn, &path, &[FIRST, SECOND], UNTOLD).unwrap(), None);
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let (_directory, path, mut conn) = database();
        migrate(&mut conn, &path, &[FIRST, SECOND], UNTOLD).unwrap();

        let error = migrate(&mut conn, &path, &[FIRST], UNTOLD).unwrap_err();

        assert!(
            matches!(&error, StoreError::Newer(text) if text.contains("newer avert") && text.contains("avert.db")),
            "{error}"
        );
    }

    #[test]
    fn a_step_with_another_checksum_is_refused() {
        let (_directory, path, mut conn) = database();
        migrate(&mut conn, &path, &[FIRST], UNTOLD).unwrap();

        let error = migrate(&mut conn, &path, &[Migration { sql: "CREATE TABLE other (name TEXT)", ..FIRST }], UNTOLD)
            .unwrap_err();

        assert!(matches!(&error, StoreError::Unusable(text) if text.contains("0001_first")), "{error}");
    }

    #[test]
    fn a_failing_step_leaves_the_database_as_it_was() {
        let (_directory, path, mut conn) = database();
        migrate(&mut conn, &path, &[FIRST], UNTOLD).unwrap();

        migrate(
            &mut conn,
            &path,
            &[FIRST, Migration { sql: "CREATE TABLE half (name TEXT); NONSENSE;", ..SECOND }],
            UNTOLD,
        )
        .unwrap_err();

        let left: Vec<_> =
            std::fs::read_dir(path.parent().unwrap()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert!(
            !left.iter().any(|name| name.to_string_lossy().contains("schema-")),
            "no backup of what was not changed: {left:?}"
        );
        assert!(conn.prepare("SELECT * FROM half").is_err());
        assert_eq!(applied(&conn, &path, &[FIRST]).unwrap(), 1);
    }
}
