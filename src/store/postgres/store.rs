//! The handle on a PostgreSQL store, and its ways of units of work: one statement, reading from one snapshot, and
//! writing.
//!
//! Opening a store: the schema, the data key, the first organization, and the announcement of this process.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::sync::watch::{self, Receiver, Sender};

use super::{
    chain,
    connection::{Connection, Shared, Unit},
    keeper::{self, Keeper, NEWEST_CHANGE},
    migrate,
    pool::{Pool, connect, connect_to},
    session::DatabaseServer,
};
use crate::{
    SharedStore, Store, StoreError, StoreResult,
    cells::cell,
    change_number::tell_newer,
    context::StoreContext,
    domain::{Actor, DatabaseId, InstanceId, RenderEvent, database::PostgresAddress},
    error::{Work, WorkFault},
    subjects::opening,
    units::{AnyUnit, UnitContext, UnitOfWork, Units, Way},
};

/// A store in a PostgreSQL database. Any number of processes may have the same one open.
#[derive(Clone)]
pub struct PostgresStore {
    pub(super) shared: Arc<Shared>,
    pub(super) pool: Pool,
    pub(super) changes: Sender<u64>,
    /// Actor in the audit log.
    pub(super) by: Arc<Actor>,
    pub(super) keeper: Arc<Keeper>,
}

/// Longest time of a unit of work in all; a server that does not answer is given up after it.
const PATIENCE: Duration = Duration::from_secs(7);

/// The same for the commit of a network's answer, which waits for a connection as long as callers do.
const ANSWERED_PATIENCE: Duration = Duration::from_secs(15);

/// The same for work on many rows.
const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// Time for which entries of the audit log gather before they are linked.
const GATHER: Duration = Duration::from_millis(200);

/// Most repeats of a unit of work where others were at work on the same rows.
const MOST_REPEATS: u32 = 8;

/// Statement after a commit that changed something, which makes the change seen.
const NEXT_CHANGE: &str = "SELECT nextval('change_number')";

impl PostgresStore {
    async fn once(&self, way: Way, work: &dyn AnyUnit) -> Work<()> {
        let conn = match way {
            Way::Answered => self.pool.take_kept().await?,
            _ => self.pool.take().await?,
        };
        let unit = Unit::new(conn, &self.shared, &self.by);
        match way {
            Way::ByKey | Way::AtOnce | Way::InTurn(_) => return done(&unit, work).await,
            _ if is_write(way) => {
                // A transaction that has not begun may be tried again. A database that its operator has set read-only
                // stays so.
                unit.conn.begin("ISOLATION LEVEL READ COMMITTED").await.map_err(WorkFault::before_anything)?;
            }
            _ => unit.conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?,
        }
        let ended = self.end(way, &unit, work).await;
        if ended.is_err() {
            unit.conn.roll_back().await;
        }
        ended
    }

    async fn end(&self, way: Way, unit: &Unit<'_>, work: &dyn AnyUnit) -> Work<()> {
        done(unit, work).await?;
        let noted = chain::put_down(unit).await?;
        let seen = matches!(way, Way::Visible | Way::VisibleMany | Way::Answered) && unit.conn.has_changed();
        let number = unit.conn.commit(if seen { NEXT_CHANGE } else { "" }).await?;
        if let Some(number) = number {
            tell_newer(&self.changes, number);
        }
        if noted {
            self.link_soon();
        }
        Ok(())
    }

    /// Links the entries in a moment, once for all that are stored until then.
    fn link_soon(&self) {
        if self.shared.links.swap(true, Ordering::AcqRel) {
            return;
        }
        // Not the store itself: when that is dropped, others learn at once that this process is gone.
        let (shared, pool) = (Arc::clone(&self.shared), self.pool.clone());
        tokio::spawn(async move {
            tokio::time::sleep(GATHER).await;
            shared.links.store(false, Ordering::Release);
            // An entry that is not linked now is linked with the next one, or by the next reader of the log.
            let linked = async { chain::link_waiting(&pool.take().await?).await };
            if let Err(fault) = linked.await {
                let error = StoreError::from(fault);
                tracing::debug!(%error, "entries of the audit log wait to be linked");
            }
        });
    }
}

impl Units for PostgresStore {
    /// Repeats the unit of work where others were at work on the same rows.
    fn run(&self, way: Way, work: Arc<dyn AnyUnit>) -> BoxFuture<'_, StoreResult<()>> {
        Box::pin(async move {
            if let Way::Claim = way {
                self.pool.keep().await?;
            }
            let patience = match way {
                Way::Many | Way::VisibleMany | Way::QuietMany => LONG_PATIENCE,
                Way::Answered => ANSWERED_PATIENCE,
                _ => PATIENCE,
            };
            let mut repeats = 0;
            loop {
                match tokio::time::timeout(patience, self.once(way, &*work)).await {
                    Ok(Err(fault)) if repeats < most_repeats(way, &fault) => {
                        repeats += 1;
                        metrics::counter!("avert_store_repeats_total").increment(1);
                        // Not all at the same moment again.
                        let pause = Duration::from_millis(rand::random_range(1..10 << repeats.min(6)));
                        tokio::time::sleep(pause).await;
                    }
                    Ok(done) => return done.map_err(StoreError::from),
                    Err(_) => return Err(StoreError::Unavailable("the server does not answer".to_owned())),
                }
            }
        })
    }

    /// No other writer waits for it.
    fn most_taken_in(&self) -> usize {
        usize::MAX
    }
}

async fn done(unit: &Unit<'_>, work: &dyn AnyUnit) -> Work<()> {
    let (rows, context) = (unit.conn.rows(), &unit.shared.context);
    work.run(&UnitOfWork { rows, by: unit.by, context, database: UnitContext::Postgres(unit) }).await
}

const fn is_write(way: Way) -> bool {
    matches!(way, Way::Visible | Way::VisibleMany | Way::Quiet | Way::QuietMany | Way::Claim | Way::Answered)
}

/// Most repeats of a unit of work: nothing of it was kept, or it only reads and the connection was lost.
const fn most_repeats(way: Way, fault: &WorkFault) -> u32 {
    match fault {
        WorkFault::Final(_) => 0,
        WorkFault::Lost(_) if is_write(way) => 0,
        WorkFault::Again(_) | WorkFault::Lost(_) => MOST_REPEATS,
        // Connections that others had in use meanwhile may only read too; where all may, nobody waits long for that
        // answer.
        WorkFault::ReadOnly(_) => 2,
    }
}

impl Store for PostgresStore {
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
        // Other processes know at once that this one is gone.
        self.keeper.close();
        self.pool.close();
    }

    fn signed(&self, by: Actor) -> SharedStore {
        Arc::new(Self { by: Arc::new(by), ..self.clone() })
    }
}

/// Options of a PostgreSQL store.
#[derive(Clone)]
pub struct PostgresOptions {
    /// Address of the server, with the database and the user.
    pub server: PostgresAddress,
    /// Most connections of this process to it.
    pub connections: u32,
    /// Writes the bodies of events.
    pub render: RenderEvent,
    /// The file with the data key, which every process on the database has. It is made where the database has none yet.
    pub secret_key_file: PathBuf,
    /// True where this process serves: others on the same data leave webhooks and networks to it.
    pub serves: bool,
}

impl PostgresStore {
    /// Opens a database with the schema of this avert.
    ///
    /// # Errors
    /// [`Unusable`](StoreError::Unusable) with the fault of the schema or the key and the way out;
    /// [`Unavailable`](StoreError::Unavailable) when the server cannot be reached.
    pub fn open(options: &PostgresOptions) -> BoxFuture<'_, StoreResult<SharedStore>> {
        Box::pin(async move {
            let server = DatabaseServer::at(&options.server)?;
            let (pool, conn) = connect_to(&server, options.connections).await?;
            migrate::check(&conn).await?;
            conn.begin("").await?;
            make_facts_alone(&conn).await?;
            let rows = conn.rows();
            let (data_key, database) = opening::open(&rows, &options.secret_key_file, "the database", WHENCE).await?;
            conn.commit("").await?;
            let own = if options.serves { InstanceId::serving() } else { InstanceId::generate() };
            let newest: i64 = conn.rows().one(NEWEST_CHANGE, &[], cell).await?;
            let (changes, _) = watch::channel(newest.unsigned_abs());
            let render = options.render;
            let context = StoreContext { render, data_key, database, own };
            let shared = Arc::new(Shared { context, organizations: Mutex::default(), links: AtomicBool::new(false) });
            let keeper = keeper::start(server, pool.clone(), Arc::clone(&shared), changes.clone()).await?;
            let store = Self { shared, pool, changes, by: Arc::new(Actor::avert()), keeper: Arc::new(keeper) };
            Ok(Arc::new(store) as SharedStore)
        })
    }

    /// Makes the data key of a database that has tables and nothing in them, and proves that of another one.
    ///
    /// # Errors
    /// [`Unusable`](StoreError::Unusable) with the fault of the key; [`Unavailable`](StoreError::Unavailable) when the
    /// server cannot be reached.
    pub async fn make_data_key(server: &PostgresAddress, file: &Path) -> StoreResult<()> {
        let (_pool, conn) = connect(server).await?;
        conn.begin("").await?;
        make_facts_alone(&conn).await?;
        opening::data_key(&conn.rows(), file, "the database", WHENCE).await?;
        conn.commit("").await?;
        Ok(())
    }
}

/// Sources of a missing key.
const WHENCE: &str = "it was made by the first command on the database, or by `avert secrets rotate data`: every \
    machine has a copy of that file";

/// Keeps other processes from making the facts of fresh data until the transaction ends.
async fn make_facts_alone(conn: &Connection) -> Work<()> {
    migrate::lock(conn).await?;
    // A copy may have begun since the schema was looked at.
    migrate::refuse_copy(conn).await
}
