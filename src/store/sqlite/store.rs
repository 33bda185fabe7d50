//! The handle on a SQLite store: its threads, and the two ways to them, reading and writing.
//!
//! Opening a store: the files, who may read them, the schema, the data key, and the threads.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::watch::{self, Receiver, Sender};

use super::{
    checkpoint::Checkpointer,
    connection::{self, Purpose},
    files::{SameFiles, directory_of, make_directory, unusable},
    instance::{Gate, Instances, Turnstile, instances_of},
    migrate::{MIGRATIONS, applied, inspect, migrate},
    readers::{Reader, Readers},
    restore, schema,
    soundness::{check_after_unclean_end, check_file, newest_change, refuse_empty},
    sql::{Statements as _, cell},
    staging::being_restored,
    watch as watcher,
    writer::{Memory, Shared, Unit, WriteKind, Writer},
};
use crate::{
    SchemaState, SharedStore, Store, StoreError, StoreResult,
    cells::StoredRow,
    context::StoreContext,
    domain::{
        Actor, DatabaseId, EndpointId, InstanceId, RenderEvent, batch,
        url::{EndpointUrl, PlainHttp},
    },
    encryption::{self, CHECK},
    key_file::DataKey,
    sql::{SqliteRows, StoreRows, driven, on_sqlite},
    subjects::opening,
    units::{AnyUnit, UnitContext, UnitOfWork, Units, Way},
};

/// A store in one SQLite database. Several processes may have the same one open.
#[derive(Clone)]
pub struct SqliteStore {
    pub(super) shared: Arc<Shared>,
    pub(super) changes: Sender<u64>,
    /// Actor in the audit log.
    pub(super) by: Arc<Actor>,
    pub(super) threads: Arc<Threads>,
}

/// Threads that have to end with the last handle.
pub(super) struct Threads {
    pub(super) writer: Writer,
    pub(super) readers: Readers,
    pub(super) checkpointer: Arc<Checkpointer>,
    pub(super) watcher: watcher::Watcher,
}

impl Threads {
    fn close(&self) {
        self.writer.close();
        self.watcher.close();
        self.readers.close();
        self.checkpointer.close();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.close();
    }
}

impl SqliteStore {
    /// The readers, while the database is in its place.
    pub(super) fn readers(&self) -> StoreResult<&Readers> {
        self.shared.files.last_check().map(|()| &self.threads.readers)
    }

    async fn run_placed(&self, way: Way, work: Arc<dyn AnyUnit>) -> StoreResult<()> {
        let by = Arc::clone(&self.by);
        let kind = match way {
            Way::Visible | Way::VisibleMany | Way::Answered => WriteKind::Visible,
            Way::Quiet | Way::QuietMany | Way::Claim => WriteKind::Quiet,
            _ => {
                let shared = Arc::clone(&self.shared);
                let read = move |reader: &mut Reader| {
                    driven(work.run(&unit_of(SqliteRows::Read(reader), Memory::new(&shared, 0), &by)))
                };
                let Readers { keyed, lists } = self.readers()?;
                return match way {
                    Way::AtOnce => keyed.read_at_once(None, read).await,
                    Way::ListAtOnce(owner) => lists.read_at_once(Some(owner), read).await,
                    Way::List(owner) => lists.read(owner, read).await,
                    Way::InTurn(owner) => lists.read(Some(owner), read).await,
                    Way::Many => lists.read(None, read).await,
                    _ => keyed.read(None, read).await,
                };
            }
        };
        let write = move |unit: &mut Unit<'_>| {
            let rows = SqliteRows::Written(unit.conn, unit.dictionary);
            driven(work.run(&unit_of(rows, Memory::new(unit.shared, unit.change), &by)))
        };
        self.threads.writer.write(kind, write).await
    }
}

impl Units for SqliteStore {
    fn run(&self, way: Way, unit: Arc<dyn AnyUnit>) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move { self.run_placed(way, unit).await.map_err(|error| error.at(&self.shared.path)) })
    }

    fn most_taken_in(&self) -> usize {
        if self.shared.instances.are_others_alive() { batch::BESIDE_OTHERS } else { batch::INTAKE }
    }
}

fn unit_of<'u>(rows: SqliteRows<'u>, memory: Memory<'u>, by: &'u Actor) -> UnitOfWork<'u> {
    let context = &memory.shared.context;
    UnitOfWork { rows: StoreRows::Sqlite(Mutex::new(rows)), by, context, database: UnitContext::Sqlite(memory) }
}

impl Store for SqliteStore {
    fn instance(&self) -> InstanceId {
        self.shared.context.own
    }

    fn database(&self) -> DatabaseId {
        self.shared.context.database
    }

    fn changes(&self) -> Receiver<u64> {
        self.changes.subscribe()
    }

    fn close(&self) {
        self.threads.close();
    }

    fn signed(&self, by: Actor) -> SharedStore {
        Arc::new(Self { by: Arc::new(by), ..self.clone() })
    }
}

/// A step of opening that takes long where the database is large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LongStep {
    /// Every page is looked at, which takes seconds for each gigabyte.
    Check,
    /// A backup is made and the schema migrated, which may take minutes for each gigabyte.
    Migration,
}

/// Options of a SQLite store.
#[derive(Clone)]
pub struct SqliteOptions {
    /// The database file. `secret.key` and `instances/` are in the same directory.
    pub database: PathBuf,
    /// Writes the bodies of events.
    pub render: RenderEvent,
    /// The file with the data key, where it is not `secret.key` beside the database.
    pub secret_key_file: Option<PathBuf>,
    /// Called before a step that takes long where the database is large, with its size in bytes.
    pub before: Arc<dyn Fn(LongStep, u64) + Send + Sync>,
    pub caches: PageCaches,
    /// True where this process serves: others on the same data leave webhooks and networks to it.
    pub serves: bool,
}

/// Page caches: the most of the database file that the connections keep in memory, in KiB.
#[derive(Debug, Clone, Copy)]
pub struct PageCaches {
    /// Of each reader.
    reader_kib: u32,
    writer_kib: u32,
}

impl PageCaches {
    /// For a service with many callers. The writer holds the inner pages of every index during an import.
    pub const SERVICE: Self = Self { reader_kib: 8_192, writer_kib: 24_576 };
    /// For a console alone: its rows are read once, and little is written.
    pub const CONSOLE: Self = Self { reader_kib: 1_024, writer_kib: 2_048 };
}

impl SqliteOptions {
    /// A store in a database file.
    pub fn file(path: impl Into<PathBuf>, render: RenderEvent) -> Self {
        Self {
            database: path.into(),
            render,
            secret_key_file: None,
            before: Arc::new(|_, _| ()),
            caches: PageCaches::SERVICE,
            serves: false,
        }
    }
}

impl SqliteStore {
    /// Opens the database, making the directory, the database and the data key where they are missing. Blocks for as
    /// long as a migration takes.
    ///
    /// # Errors
    /// [`Unusable`](crate::StoreError::Unusable) with the file that is at fault, its fault and the way out.
    pub fn open(options: &SqliteOptions) -> StoreResult<SharedStore> {
        Ok(Arc::new(open(options)?))
    }
}

pub(super) fn open(options: &SqliteOptions) -> StoreResult<SqliteStore> {
    let database = &options.database;
    open_at(options, directory_of(database), database).map_err(|error| error.at(database))
}

/// Opens everything of a database in its directory.
fn open_at(options: &SqliteOptions, directory: &Path, database: &Path) -> StoreResult<SqliteStore> {
    make_directory(directory)?;
    let announced = instances_of(database);
    let unannounced = StoreError::of_file(&announced, "this process cannot announce itself there");
    restore::settle(database)?;
    let gate = Gate::enter(&announced)
        .map_err(unannounced)?
        .filter(|_| !restore::is_pending(database))
        .ok_or_else(|| being_restored(directory))?;
    let key_file = options.secret_key_file.clone().unwrap_or_else(|| directory.join("secret.key"));
    // A key in a place of the operator's own says nothing: it may be there before the database is.
    let key_beside = (options.secret_key_file.is_none() && key_file.exists()).then_some(key_file.as_path());
    check_file(database, key_beside)?;
    check_after_unclean_end(database, &|bytes| (options.before)(LongStep::Check, bytes))?;
    let mut conn = connection::open(database, Purpose::Write)?;
    if inspect(&conn, database)? {
        refuse_empty(database, key_beside)?;
    }
    if !conn.is_readonly("main")? {
        let mode: String = conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if !mode.eq_ignore_ascii_case("wal") {
            return Err(unusable(
                database,
                "is in a place where SQLite's write-ahead log does not work; use a local disk",
            ));
        }
    }
    let state = SchemaState::after(applied(&conn, database, MIGRATIONS)?, MIGRATIONS);
    let is_waiting = matches!(state, SchemaState::Waiting(_));
    if is_waiting && !gate.shut_behind().map_err(StoreError::of_file(&announced, "cannot be locked"))? {
        let others = "its schema waits to be brought up to date, and another avert works with it; end that one \
            (console, service or command) first, \
             or try again later where it has just been started to do so itself";
        return Err(unusable(database, others));
    }
    if let Some(backup) =
        migrate(&mut conn, database, MIGRATIONS, &|bytes| (options.before)(LongStep::Migration, bytes))?
    {
        tracing::info!(backup = %backup.display(), "the database was migrated; a backup of it as it was is kept");
    }
    schema::check(&conn, database, MIGRATIONS.len())?;
    if is_waiting {
        gate.open_behind().map_err(|_| being_restored(directory))?;
    }
    let whence = "it was made with the database; a backup of the data directory has it";
    conn.execute_batch("BEGIN IMMEDIATE")?;
    let name = database.display().to_string();
    let (data_key, identity) = driven(opening::open(&on_sqlite(&mut conn), &key_file, &name, whence))?;
    conn.execute_batch("COMMIT")?;
    seal_open_ones(&mut conn, &data_key)?;
    let own = if options.serves { InstanceId::serving() } else { InstanceId::generate() };
    let instances = Instances::announce(&announced, own).map_err(unannounced)?;
    let files = SameFiles::of(database);
    let (render, path) = (options.render, database.to_owned());
    let context = StoreContext { render, data_key, database: identity, own };
    let shared = Arc::new(Shared { context, path, instances, files, _gate: gate });
    let (changes, _) = watch::channel(newest_change(&conn)?);
    let turnstile = || Turnstile::open(&announced).map_err(StoreError::of_file(&announced, "has no turns to write"));
    let checkpointer = Arc::new(Checkpointer::start(database, turnstile()?)?);
    let readers = Readers::start(database, options.caches.reader_kib)?;
    let watcher = watcher::start(Arc::clone(&shared), changes.clone())?;
    // A negative size is one in KiB.
    conn.pragma_update(None, "cache_size", -i64::from(options.caches.writer_kib))?;
    let writer = Writer::start(conn, Arc::clone(&shared), changes.clone(), Arc::clone(&checkpointer), turnstile()?)?;
    let threads = Arc::new(Threads { writer, readers, checkpointer, watcher });
    Ok(SqliteStore { shared, changes, by: Arc::new(Actor::avert()), threads })
}

/// Seals addresses that were stored openly before addresses were sealed.
fn seal_open_ones(conn: &mut Connection, key: &DataKey) -> StoreResult<()> {
    const OPEN: &str = "SELECT key, id, url, removed_at IS NOT NULL FROM endpoint
        WHERE sealed_url IS NULL AND url LIKE '%?_%' AND url NOT LIKE '%?****'";
    let read = |row: &StoredRow<'_>| {
        Ok((row.get::<i64>(0)?, row.get::<EndpointId>(1)?, row.get::<String>(2)?, row.get::<bool>(3)?))
    };
    let open = |conn: &Connection| conn.all(OPEN, &[], read);
    if open(conn)?.is_empty() {
        return Ok(());
    }
    // Overwritten data leave nothing behind in the file.
    conn.pragma_update(None, "secure_delete", true)?;
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let seal = key.seal(&tx.one(&format!("SELECT {CHECK}"), &[], cell::<Vec<u8>>)?)?;
    for (key, id, text, removed) in open(&tx)? {
        let url = EndpointUrl::parse(&text, PlainHttp::Allowed);
        let url = url.map_err(|error| StoreError::Corrupt(format!("the address of endpoint {id}, which {error}")))?;
        let (shown, sealed) = encryption::address(&seal, &id, &url)?;
        tx.run(
            "UPDATE endpoint SET url = ?2, sealed_url = ?3 WHERE key = ?1",
            &[&key, &shown, &sealed.filter(|_| !removed)],
        )?;
    }
    tx.commit()?;
    conn.pragma_update(None, "secure_delete", false)?;
    // The write-ahead log held them too.
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}
