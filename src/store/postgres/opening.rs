//! Opening a store: the schema, the data key, the first organization, and the announcement of this process.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use tokio::sync::watch;

use super::{
    clock::{self, ClockWatch},
    connection::Connection,
    copy_mark,
    handle::PostgresStore,
    keeper::{Keeper, NEWEST_CHANGE},
    look::{connect, connect_to},
    migrate,
    session::DatabaseServer,
    statements::cell,
    unit::Shared,
};
use crate::{
    StoreError, StoreResult,
    domain::{
        Actor, DatabaseId, InstanceId,
        database::PostgresAddress,
        event::RenderEvent,
        time::{Clock as _, SystemClock},
    },
    key_file::DataKey,
    sealed::KEY_CHECK,
    sql::StoreRows,
    subjects::organizations::ensure_organization,
    work::Work,
};

/// Options of a PostgreSQL store.
#[derive(Clone)]
pub struct PostgresOptions {
    /// Address of the server, with the database and the user.
    pub server: PostgresAddress,
    /// Most connections of this process to it.
    pub connections: u32,
    /// Writes the bodies of events.
    pub render: Arc<dyn RenderEvent>,
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
    pub async fn open(options: &PostgresOptions) -> StoreResult<Arc<Self>> {
        let server = DatabaseServer::at(&options.server)?;
        let (pool, conn) = connect_to(&server, options.connections).await?;
        migrate::check(&conn).await?;
        conn.begin("").await?;
        let (data_key, database) = match unlock(&conn, options).await {
            Ok(unlocked) => unlocked,
            Err(fault) => {
                conn.roll_back().await;
                return Err(fault.into());
            }
        };
        conn.commit("").await?;
        let apart = clock::apart(&conn, SystemClock.now()).await?;
        if let Some(words) = &apart {
            tracing::warn!("{words}: {}", clock::ADVICE);
        }
        let own = if options.serves { InstanceId::serving() } else { InstanceId::generate() };
        let newest: i64 = conn.one(NEWEST_CHANGE, &[], cell).await?;
        let (changes, _) = watch::channel(newest.unsigned_abs());
        let render = Arc::clone(&options.render);
        let shared = Arc::new(Shared {
            render,
            data_key,
            database,
            own,
            organizations: Mutex::default(),
            links: AtomicBool::new(false),
        });
        let watch = ClockWatch::new(apart.is_some());
        let keeper = Keeper::start(server, pool.clone(), Arc::clone(&shared), changes.clone(), watch).await?;
        Ok(Arc::new(Self { shared, pool, changes, by: Arc::new(Actor::avert()), keeper: Arc::new(keeper) }))
    }

    /// Makes the data key of a database that has tables and nothing in them, and proves that of another one.
    ///
    /// # Errors
    /// [`Unusable`](StoreError::Unusable) with the fault of the key; [`Unavailable`](StoreError::Unavailable) when the
    /// server cannot be reached.
    pub async fn make_data_key(server: &PostgresAddress, file: &Path) -> StoreResult<()> {
        let (_pool, conn) = connect(server).await?;
        conn.begin("").await?;
        if let Err(fault) = data_key(&conn, file).await {
            conn.roll_back().await;
            return Err(fault.into());
        }
        conn.commit("").await?;
        Ok(())
    }
}

/// Proves the data key, and gives fresh data its id and its organization. One process at a time.
async fn unlock(conn: &Connection, options: &PostgresOptions) -> Work<(DataKey, DatabaseId)> {
    let data_key = data_key(conn, &options.secret_key_file).await?;
    let id = DatabaseId::generate();
    let made = "INSERT INTO fact (name, value) VALUES ('database', $1) ON CONFLICT DO NOTHING";
    conn.run(made, &[&id.0.as_bytes().as_slice()]).await?;
    let id: Vec<u8> = conn.one("SELECT value FROM fact WHERE name = 'database'", &[], cell).await?;
    let id = uuid::Uuid::from_slice(&id).map_err(|_| StoreError::Corrupt("the id of the database".to_owned()))?;
    ensure_organization(&StoreRows::Postgres(conn), SystemClock.now()).await?;
    Ok((data_key, DatabaseId(id)))
}

/// Proves the data key, which is made for a database that has none. From here to the end of the transaction no other
/// process does so.
async fn data_key(conn: &Connection, file: &Path) -> Work<DataKey> {
    migrate::lock(conn).await?;
    // A copy may have begun since the schema was looked at.
    copy_mark::refuse(conn).await?;
    let check = StoreRows::Postgres(conn).fact(KEY_CHECK).await?;
    let is_new = check.is_none();
    let whence = "it was made by the first command on the database, or by `avert secrets rotate data`: every machine \
        has a copy of that file";
    let data_key = DataKey::unlock(file, check, "the database", whence)?;
    if is_new {
        conn.run("INSERT INTO fact (name, value) VALUES ($1, $2)", &[&KEY_CHECK, &data_key.check()]).await?;
    }
    Ok(data_key)
}
