//! Connection pool of a process: a bounded number of places, fewer where the server gives fewer. One connection is kept
//! for the commits of answers whose call was made. The first one checks the encoding, and whether a session stays one.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use deadpool_postgres::{Manager, ManagerConfig, PoolError, RecyclingMethod, Runtime, TimeoutType, Timeouts};
use futures::{FutureExt as _, future::select_ok};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};
use tokio_postgres::{Client, Config, Error, SimpleQueryMessage};

use super::{
    connection::Connection,
    fault::{is_full, unreachable},
    session::DatabaseServer,
};
use crate::{
    RefusalCause, StoreError, StoreResult,
    domain::database::PostgresAddress,
    error::{Work, WorkFault},
    worker::locked,
};

/// Longest wait of a unit of work for a connection.
const ACQUIRE: Duration = Duration::from_secs(5);

/// Longest time to open one: short enough that another one may still be waited for.
const OPEN: Duration = Duration::from_secs(3);

/// Time for which a place stays withdrawn that the server had no connection for.
const WITHDRAWN: Duration = Duration::from_secs(10);

/// Longest time in which the server ends a connection that was closed.
const ENDING: Duration = Duration::from_millis(20);

/// Connections of a process beside those of units of work: the keeper's, and the one kept for commits.
const BESIDE: u32 = 2;

/// A pool of connections to a server, none of which is opened yet.
#[derive(Clone)]
pub(super) struct Pool {
    open: deadpool_postgres::Pool,
    /// The connection that nothing but commits of answers gets; opened with the first claim.
    kept: deadpool_postgres::Pool,
    places: Arc<Semaphore>,
    withdrawn: Arc<Mutex<Option<Withdrawn>>>,
}

/// Places that the server had no connection for, and the time of the first withdrawal.
struct Withdrawn {
    since: Instant,
    places: Vec<OwnedSemaphorePermit>,
}

impl Pool {
    /// A pool of at most this many connections, those beside it included.
    pub(super) fn of(server: &DatabaseServer, most: u32) -> StoreResult<Self> {
        let places = most.saturating_sub(BESIDE).max(1) as usize;
        let (open, kept) = (build(server, places)?, build(server, 1)?);
        Ok(Self { open, kept, places: Arc::new(Semaphore::new(places)), withdrawn: Arc::default() })
    }

    /// Closes it; what is asked afterwards is refused.
    pub(super) fn close(&self) {
        self.places.close();
        self.open.close();
        self.kept.close();
    }

    /// Waits for a connection.
    pub(super) async fn take(&self) -> Work<Connection> {
        timeout(ACQUIRE, self.wait()).await.unwrap_or_else(|_| {
            let words = "every connection to it has been at work for too long; try again";
            Err(StoreError::Unavailable(words.to_owned()).into())
        })
    }

    /// Waits for a connection to commit an answer whose call was made: the first that is free, or the one kept for it.
    pub(super) async fn take_kept(&self) -> Work<Connection> {
        let kept = async { Ok(Connection::new(self.kept.get().await.map_err(refused)?, None)) };
        Ok(select_ok([self.wait().boxed(), kept.boxed()]).await?.0)
    }

    /// Opens the connection kept for commits where it is not open: before a call is made whose answer has to be
    /// committed. Where the server has no other one, a unit of work's is given up for it; the last one is not.
    pub(super) async fn keep(&self) -> Work<()> {
        let now = Timeouts { wait: Some(Duration::ZERO), create: Some(OPEN), recycle: Some(OPEN) };
        loop {
            match self.kept.timeout_get(&now).await {
                Ok(_) | Err(PoolError::Timeout(TimeoutType::Wait)) => return Ok(()),
                Err(error) if lacks_one(&error) => {
                    if !self.make_room().await {
                        return Ok(());
                    }
                }
                Err(error) => return Err(refused(error).into()),
            }
        }
    }

    /// Closes a connection of units of work for one that is needed more; not the last one.
    pub(super) async fn make_room(&self) -> bool {
        if self.open.status().size < 2 {
            return false;
        }
        let Ok(connection) = self.take().await else { return false };
        self.withdraw(connection.give_up());
        tokio::time::sleep(ENDING).await;
        true
    }

    /// Waits for a place and a connection in it. A place that the server has no connection for is withdrawn for a
    /// while, and one of the connections that there are is waited for.
    async fn wait(&self) -> Work<Connection> {
        loop {
            self.give_back();
            let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| refused(PoolError::Closed))?;
            match self.open.get().await {
                Ok(client) => return Ok(Connection::new(client, Some(place))),
                Err(error) if lacks_one(&error) && self.open.status().size > 0 => self.withdraw(Some(place)),
                Err(error) => return Err(refused(error).into()),
            }
        }
    }

    fn withdraw(&self, place: Option<OwnedSemaphorePermit>) {
        let first = || Withdrawn { since: Instant::now(), places: Vec::new() };
        locked(&self.withdrawn).get_or_insert_with(first).places.extend(place);
    }

    /// Gives the places back that were withdrawn long enough ago: the server may have connections again.
    fn give_back(&self) {
        drop(locked(&self.withdrawn).take_if(|withdrawn| withdrawn.since.elapsed() > WITHDRAWN));
    }
}

fn build(server: &DatabaseServer, most: usize) -> StoreResult<deadpool_postgres::Pool> {
    let fast = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    // Connecting is up to the server's own configuration; the manager has one of its own all the same.
    let manager = Manager::from_connect(Config::new(), server.clone(), fast);
    let built = deadpool_postgres::Pool::builder(manager)
        .max_size(most)
        .runtime(Runtime::Tokio1)
        .create_timeout(Some(OPEN))
        .recycle_timeout(Some(OPEN))
        .build();
    built.map_err(|error| StoreError::Unavailable(format!("no connections can be made: {error}")))
}

/// Returns whether the server has no further connection, or a pooler before it has none and says nothing.
fn lacks_one(error: &PoolError) -> bool {
    match error {
        PoolError::Backend(error) => is_full(error),
        PoolError::Timeout(kind) => matches!(kind, TimeoutType::Create),
        _ => false,
    }
}

/// Reason that there is no connection.
fn refused(error: PoolError) -> StoreError {
    match error {
        PoolError::Timeout(_) => StoreError::Unavailable("the server does not answer".to_owned()),
        PoolError::Backend(error) => unreachable(&error),
        PoolError::Closed => StoreError::Unavailable("the store is closed".to_owned()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

/// Most connections of a command that inspects a database or moves it.
const FEW: u32 = 4;

/// Opens a pool for a command that inspects a database or moves it, and the first connection.
pub(super) async fn connect(address: &PostgresAddress) -> StoreResult<(Pool, Connection)> {
    connect_to(&DatabaseServer::at(address)?, FEW).await
}

/// Opens a pool of at most so many connections, and the first one, once the database was checked.
pub(super) async fn connect_to(server: &DatabaseServer, most: u32) -> StoreResult<(Pool, Connection)> {
    let pool = Pool::of(server, most)?;
    let first = pool.take().await?;
    let encoding = setting(first.client()?, "server_encoding").await.map_err(WorkFault::from)?;
    if encoding != "UTF8" {
        return Err(StoreError::Refused(RefusalCause::Encoding, format!("server_encoding is {encoding}")));
    }
    let second = timeout(ACQUIRE, server.client()).await.map_err(|_| {
        StoreError::Refused(RefusalCause::Connections, "the server gives no second connection".to_owned())
    })?;
    let second = second.map_err(|error| unreachable(&error))?;
    if !keep_their_own([first.client()?, &second]).await.map_err(WorkFault::from)? {
        return Err(StoreError::Refused(
            RefusalCause::Pooler,
            "what a session sets is gone with its next transaction".to_owned(),
        ));
    }
    Ok((pool, first))
}

/// Returns whether each of two sessions finds what it has set: a pooler in transaction mode gives it to another one.
async fn keep_their_own(sessions: [&Client; 2]) -> Result<bool, Error> {
    const MARK: &str = "avert.session";
    let marked = sessions.map(|session| (session, rand::random::<u64>().to_string()));
    for (session, mark) in &marked {
        session.batch_execute(&format!("SELECT set_config('{MARK}', '{mark}', false)")).await?;
    }
    for (session, mark) in &marked {
        if setting(session, MARK).await? != *mark {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A setting of a session; empty where there is none. Without a statement of its own, which a pooler may not know.
async fn setting(session: &Client, name: &str) -> Result<String, Error> {
    let rows = session.simple_query(&format!("SELECT current_setting('{name}', true)")).await?;
    let value = rows.iter().find_map(|row| if let SimpleQueryMessage::Row(row) = row { row.get(0) } else { None });
    Ok(value.unwrap_or_default().to_owned())
}
