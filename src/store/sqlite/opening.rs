//! Opening a store: the files, who may read them, the schema, the data key, and the threads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::watch;

use super::checkpoint::Checkpointer;
use super::connection::{self, Purpose, check_library};
use super::files::{make_directory, make_file, unusable};
use super::handle::{SqliteStore, Threads};
use super::instance::{Gate, Instances};
use super::migrate::{MIGRATIONS, inspect, migrate};
use super::organizations::ensure_organization;
use super::readers::Readers;
use super::statements::{Statements as _, cell};
use super::watch::{Watcher, newest_change};
use super::writer::{Shared, Writer};
use crate::domain::Actor;
use crate::domain::event::RenderEvent;
use crate::domain::time::{Clock as _, SystemClock};
use crate::store::StoreResult;
use crate::store::seal::{AssociatedData, Seal};

/// The location of the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A data directory: the database is `avert.db` in it.
    Directory(PathBuf),
    /// The database file itself; the other files are beside it.
    File(PathBuf),
}

/// Options of a SQLite store.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The location of the database. `secret.key` and `instances/` are in the same directory.
    pub location: Location,
    /// Writes the bodies of events.
    pub render: Arc<dyn RenderEvent>,
    /// The file with the data key, where it is not `secret.key` beside the database.
    pub secret_key_file: Option<PathBuf>,
}

impl SqliteOptions {
    /// A store in a data directory.
    pub fn directory(path: impl Into<PathBuf>, render: Arc<dyn RenderEvent>) -> Self {
        Self { location: Location::Directory(path.into()), render, secret_key_file: None }
    }

    /// A store in a database file.
    pub fn file(path: impl Into<PathBuf>, render: Arc<dyn RenderEvent>) -> Self {
        Self { location: Location::File(path.into()), render, secret_key_file: None }
    }
}

/// The row of `fact` that proves a data key: this text, sealed.
const KEY_CHECK: &str = "key_check";
const KEY_CHECK_TEXT: &[u8] = b"avert";
const KEY_CHECK_PLACE: AssociatedData<'static> = AssociatedData { table: "fact", row: KEY_CHECK.as_bytes(), column: "value" };

impl SqliteStore {
    /// Opens the database, making what is missing: directory, database, data key. Blocks for as long as a migration takes.
    ///
    /// # Errors
    /// [`StoreError::Unusable`] says which file is at fault, what is wrong with it and what to do.
    pub fn open(options: &SqliteOptions) -> StoreResult<Arc<Self>> {
        open(options).map(Arc::new)
    }
}

/// Opens everything.
fn open(options: &SqliteOptions) -> StoreResult<SqliteStore> {
    check_library()?;
    let (directory, database) = match &options.location {
        Location::Directory(path) => (path.clone(), path.join("avert.db")),
        Location::File(path) => {
            let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
            (parent.to_owned(), path.clone())
        }
    };
    make_directory(&directory)?;
    let announced = directory.join("instances");
    let gate = Gate::enter(&announced)
        .map_err(|error| unusable(&announced, &format!("this process cannot announce itself there: {error}")))?
        .ok_or_else(|| unusable(&directory, "a backup is being restored into it; try again when that is done"))?;
    check_file(&database)?;
    let mut conn =
        connection::open(&database, Purpose::Write).map_err(|error| unusable(&database, &format!("cannot be opened: {error}")))?;
    inspect(&conn, &database)?;
    let mode: String = conn
        .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))
        .map_err(|error| unusable(&database, &format!("cannot be written: {error}")))?;
    if !mode.eq_ignore_ascii_case("wal") {
        return Err(unusable(&database, "is in a place where SQLite's write-ahead log does not work; use a local disk"));
    }
    if let Some(backup) = migrate(&mut conn, &database, MIGRATIONS)? {
        tracing::info!(backup = %backup.display(), "the database was migrated; a backup of it as it was is kept");
    }
    let key_file = options.secret_key_file.clone().unwrap_or_else(|| directory.join("secret.key"));
    let seal = unlock(&mut conn, &key_file, &database)?;
    ensure_organization(&mut conn, SystemClock.now())?;
    let instances = Instances::announce(&announced)
        .map_err(|error| unusable(&announced, &format!("this process cannot announce itself there: {error}")))?;
    let shared = Arc::new(Shared { render: Arc::clone(&options.render), seal, instances, _gate: gate });
    let (changes, _) = watch::channel(newest_change(&conn)?);
    let checkpointer = Arc::new(Checkpointer::start(&database)?);
    let readers = Readers::start(&database)?;
    let watcher = Watcher::start(&database, changes.clone())?;
    let writer = Writer::start(conn, Arc::clone(&shared), changes.clone(), Arc::clone(&checkpointer))?;
    let threads = Arc::new(Threads { writer, readers, checkpointer, watcher });
    Ok(SqliteStore { shared, changes, by: Arc::new(Actor::avert()), threads })
}

/// Whether a seal is the one that everything in a database was sealed with; `None` where the database does not tell.
pub(super) fn fits(conn: &Connection, seal: &Seal) -> StoreResult<Option<bool>> {
    Ok(key_check(conn)?.map(|sealed| seal.open(KEY_CHECK_PLACE, &sealed).is_some()))
}

fn key_check(conn: &Connection) -> StoreResult<Option<Vec<u8>>> {
    conn.first("SELECT value FROM fact WHERE name = ?1", [KEY_CHECK], cell)
}

/// Says in plain words why a file cannot be a database, before SQLite does in its own.
fn check_file(database: &Path) -> StoreResult<()> {
    match fs::metadata(database) {
        // Made here, because SQLite would let others read it. Another process may be faster: then it is there as well.
        Err(error) if error.kind() == ErrorKind::NotFound => match make_file(database) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(unusable(database, &format!("cannot be made: {error}"))),
            _ => Ok(()),
        },
        Err(error) => Err(unusable(database, &format!("cannot be looked at: {error}"))),
        Ok(metadata) if metadata.is_dir() => Err(unusable(database, "is a directory, and a database file is needed; name another one")),
        Ok(_) => match fs::OpenOptions::new().read(true).write(true).open(database) {
            Ok(_) => Ok(()),
            Err(error) => {
                Err(unusable(database, &format!("cannot be written: {error}; give the user who runs avert read and write access")))
            }
        },
    }
}

/// Reads the data key, made for a new database, and proves that it is the one that everything in here was sealed with.
fn unlock(conn: &mut Connection, key_file: &Path, database: &Path) -> StoreResult<Seal> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let check = key_check(&tx)?;
    let seal = Seal::from_file(key_file, check.is_none())?;
    match check {
        Some(sealed) if seal.open(KEY_CHECK_PLACE, &sealed).is_none() => Err(unusable(
            key_file,
            &format!(
                "is not the key that {} was sealed with; put the right file there (it was made with the database)",
                database.display()
            ),
        )),
        Some(_) => Ok(seal),
        None => {
            tx.execute("INSERT INTO fact (name, value) VALUES (?1, ?2)", (KEY_CHECK, seal.seal(KEY_CHECK_PLACE, KEY_CHECK_TEXT)?))?;
            tx.commit()?;
            Ok(seal)
        }
    }
}
