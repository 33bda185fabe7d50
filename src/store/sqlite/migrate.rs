//! Schema migrations, numbered and with checksums. A newer or altered schema is refused; an existing database is backed
//! up before it changes.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use sha2::{Digest as _, Sha256};

use super::connection::{self, APPLICATION_ID, Purpose};
use super::copy_mark;
use super::find_index;
use super::staging::{self, DATABASE, Destination, Move, OwnStaging, Staging, StepObserver};
use crate::domain::time::{Clock as _, SystemClock};
use crate::store::{StoreError, StoreResult};

/// One step of the schema. Never edited once released: the checksum is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    number: i64,
    pub(super) name: &'static str,
    sql: &'static str,
    /// What is done that SQL alone cannot, behind the last step of all: it knows the newest schema only.
    then: Option<fn(&Connection) -> StoreResult<()>>,
}

impl Migration {
    const fn new(number: i64, name: &'static str, sql: &'static str) -> Self {
        Self { number, name, sql, then: None }
    }

    /// The same, with what is done behind it.
    const fn and(self, then: fn(&Connection) -> StoreResult<()>) -> Self {
        Self { then: Some(then), ..self }
    }

    fn checksum(&self) -> Vec<u8> {
        Sha256::digest(self.sql.as_bytes()).to_vec()
    }
}

/// Every step, in order.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration::new(1, "store", include_str!("../../../assets/migrations/sqlite/0001_store.sql")),
    Migration::new(2, "counted_waits", include_str!("../../../assets/migrations/sqlite/0002_counted_waits.sql")),
    Migration::new(3, "hours_left", include_str!("../../../assets/migrations/sqlite/0003_hours_left.sql")),
    Migration::new(4, "guarded_clock", include_str!("../../../assets/migrations/sqlite/0004_guarded_clock.sql")),
    Migration::new(5, "key_environment", include_str!("../../../assets/migrations/sqlite/0005_key_environment.sql")),
    Migration::new(6, "sealed_addresses", include_str!("../../../assets/migrations/sqlite/0006_sealed_addresses.sql")),
    Migration::new(7, "alike", include_str!("../../../assets/migrations/sqlite/0007_alike.sql")),
    Migration::new(8, "key_scopes", include_str!("../../../assets/migrations/sqlite/0008_key_scopes.sql")),
    Migration::new(9, "last_success", include_str!("../../../assets/migrations/sqlite/0009_last_success.sql")),
    Migration::new(10, "signing_keys", include_str!("../../../assets/migrations/sqlite/0010_signing_keys.sql")),
    Migration::new(11, "sorts", include_str!("../../../assets/migrations/sqlite/0011_sorts.sql")),
    Migration::new(12, "find", include_str!("../../../assets/migrations/sqlite/0012_find.sql")),
    Migration::new(13, "insights", include_str!("../../../assets/migrations/sqlite/0013_insights.sql")),
    Migration::new(14, "persons", include_str!("../../../assets/migrations/sqlite/0014_persons.sql")),
    Migration::new(15, "search_terms", include_str!("../../../assets/migrations/sqlite/0015_search_terms.sql")),
    Migration::new(16, "unindexed", include_str!("../../../assets/migrations/sqlite/0016_unindexed.sql")),
    Migration::new(17, "open_attempts", include_str!("../../../assets/migrations/sqlite/0017_open_attempts.sql")),
    Migration::new(18, "heads", include_str!("../../../assets/migrations/sqlite/0018_heads.sql")),
    Migration::new(19, "head_lengths", include_str!("../../../assets/migrations/sqlite/0019_head_lengths.sql")),
    Migration::new(20, "find_keys", include_str!("../../../assets/migrations/sqlite/0020_find_keys.sql")),
    Migration::new(21, "head_checksums", include_str!("../../../assets/migrations/sqlite/0021_head_checksums.sql"))
        .and(find_index::index_all),
    Migration::new(22, "ca_certificates", include_str!("../../../assets/migrations/sqlite/0022_ca_certificates.sql")),
];

/// What a look at a file found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inspected {
    /// A database of avert's.
    Ours,
    /// A database without anything in it.
    Empty,
}

impl Inspected {
    pub(super) fn is_empty(self) -> bool {
        self == Self::Empty
    }
}

/// Looks, without changing anything, whether the file is a database that avert may use.
pub(super) fn inspect(conn: &Connection, path: &Path) -> StoreResult<Inspected> {
    let found = inspect_any(conn, path)?;
    copy_mark::refuse(conn, path)?;
    Ok(found)
}

/// The same of what may be an unfinished copy.
pub(super) fn inspect_any(conn: &Connection, path: &Path) -> StoreResult<Inspected> {
    let unusable = |what: String| StoreError::Unusable(format!("{}: {what}", path.display()));
    let look = || -> rusqlite::Result<(i32, i64)> {
        let application: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        Ok((application, tables))
    };
    match look() {
        Ok((0, 0)) => Ok(Inspected::Empty),
        Ok((APPLICATION_ID, _)) => Ok(Inspected::Ours),
        Ok(_) => Err(unusable("is a database of another program; name another file or data directory".to_owned())),
        Err(error) => Err(StoreError::from(error).at(path)),
    }
}

/// Brings the schema up to date. Returns where the backup went, if one was needed; before it is made, tells how many
/// bytes the database has.
pub(super) fn migrate(
    conn: &mut Connection,
    path: &Path,
    migrations: &[Migration],
    before: &dyn Fn(u64),
) -> StoreResult<Option<PathBuf>> {
    let applied = applied(conn, path, migrations)?;
    let pending = &migrations[applied.min(migrations.len())..];
    if pending.is_empty() {
        return Ok(None);
    }
    // What a killed migration had begun to write before is of no use.
    staging::settle_named_after(path);
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have been faster.
    let mut backup = None;
    if self::applied(&tx, path, migrations)? == applied {
        if applied > 0 {
            before(std::fs::metadata(path).map_or(0, |there| there.len()));
            backup = Some(Backup::make(path, applied)?);
        }
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        make_schema(&tx, pending.iter())?;
        for migration in pending {
            tx.execute(
                "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (?1, ?2, ?3, ?4)",
                params![migration.number, migration.name, migration.checksum(), SystemClock.now().timestamp_micros()],
            )?;
        }
        for then in pending.iter().filter_map(|migration| migration.then) {
            then(&tx)?;
        }
    }
    // It has its name before what it is a backup of is changed for good; of a migration that was broken off none is
    // left.
    let backup = backup.map(Backup::give_name).transpose()?;
    tx.commit()?;
    Ok(backup)
}

/// Makes the schema of these steps.
pub(super) fn make_schema<'a>(conn: &Connection, mut steps: impl Iterator<Item = &'a Migration>) -> StoreResult<()> {
    conn.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migration (
            number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum BLOB NOT NULL, applied_at INTEGER NOT NULL
        ) STRICT;",
    )?;
    Ok(steps.try_for_each(|step| conn.execute_batch(step.sql))?)
}

/// Whether migrations wait that change what is there.
pub(super) fn is_waiting(conn: &Connection, path: &Path, migrations: &[Migration]) -> StoreResult<bool> {
    let applied = applied(conn, path, migrations)?;
    Ok(applied > 0 && applied < migrations.len())
}

/// How many migrations have been applied; refuses a database that has others than these.
pub(super) fn applied(conn: &Connection, path: &Path, migrations: &[Migration]) -> StoreResult<usize> {
    let unusable = |what: String| StoreError::Unusable(format!("{}: {what}", path.display()));
    let table: Option<i64> = conn
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'", [], |row| {
            row.get(0)
        })
        .optional()?;
    if table.is_none() {
        return Ok(0);
    }
    let mut statement = conn.prepare("SELECT number, checksum FROM schema_migration ORDER BY number")?;
    let rows: Vec<(i64, Vec<u8>)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (index, (number, checksum)) in rows.iter().enumerate() {
        let Some(known) = migrations.get(index) else {
            let newest = migrations.last().map_or(0, |migration| migration.number);
            return Err(StoreError::Newer(format!(
                "{}: was written by a newer avert (schema {number}, this one knows {newest}); use that version, or a \
                    backup made before",
                path.display()
            )));
        };
        if known.number != *number || known.checksum() != *checksum {
            return Err(unusable(format!(
                "its schema step {number} is not the one that this avert knows as {:04}_{}; use the version that \
                    wrote it",
                known.number, known.name
            )));
        }
    }
    Ok(rows.len())
}

/// A copy of the database as it was, which is removed where it is not given its name.
struct Backup {
    path: PathBuf,
    claim: OwnStaging,
}

impl Backup {
    fn make(path: &Path, schema: usize) -> StoreResult<Self> {
        let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
        let mut name = path.file_name().unwrap_or_default().to_os_string();
        name.push(format!(".schema-{schema}.{stamp}.backup"));
        let backup = path.with_file_name(name);
        let unwritable = |error: &std::io::Error| unwritable(&backup, error);
        let staging = Staging::of(&backup, &StepObserver::default());
        let claim = staging.claim().map_err(|error| unwritable(&error))?;
        let claim = claim.ok_or_else(|| {
            StoreError::Unavailable(format!("{}: another process writes it; try again", backup.display()))
        })?;
        let file = claim.empty(DATABASE).map_err(|error| unwritable(&error))?;
        let target = file.to_str().ok_or_else(|| {
            StoreError::Unusable(format!(
                "{}: the backup before the migration needs a path in Unicode; rename the directory",
                path.display()
            ))
        })?;
        // It takes an empty file as well as none; of its own it would make one that others can read. It cannot be done
        // within a transaction.
        let conn = connection::open(path, Purpose::Read)?;
        conn.execute_batch("PRAGMA query_only = OFF")?;
        conn.execute("VACUUM INTO ?1", [target]).map_err(|error| StoreError::from(error).at(&backup))?;
        std::fs::File::open(&file).and_then(|file| file.sync_all()).map_err(|error| unwritable(&error))?;
        Ok(Self { path: backup, claim })
    }

    fn give_name(mut self) -> StoreResult<PathBuf> {
        let named = Move {
            from: Some(DATABASE.to_owned()),
            to: Destination::Target(String::new()),
            aside: None,
            replace: false,
        };
        self.claim
            .commit(&[named])
            .and_then(|()| self.claim.finish())
            .map_err(|error| unwritable(&self.path, &error))?;
        Ok(self.path)
    }
}

fn unwritable(backup: &Path, error: &std::io::Error) -> StoreError {
    StoreError::of_file(backup, "cannot be written, the backup before the migration", error)
}

#[cfg(test)]
mod tests {
    use super::super::connection::open;
    use super::*;

    const FIRST: Migration =
        Migration::new(1, "first", "CREATE TABLE thing (name TEXT) STRICT; INSERT INTO thing VALUES ('kept');");
    const UNTOLD: &dyn Fn(u64) = &|_| ();
    const SECOND: Migration = Migration::new(2, "second", "ALTER TABLE thing ADD COLUMN size INTEGER;");

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
