//! The keeper thread of a process, on a connection of its own. It sends heartbeats, and polls for other processes'
//! changes four times a second while somebody listens. It merges counts, and checks the clocks and the data key. It
//! ends with the store and says so, whatever the rest of the process does.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread::{Builder, JoinHandle},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep, timeout},
};
use tokio_postgres::Client;

use super::{
    clock::{ClockWatch, SERVERS_DATE},
    counts::DRAW_TOGETHER,
    fault::{is_full, unreachable},
    liveness,
    pool::Pool,
    session::{CONNECT, DatabaseServer},
    statements::moment,
    unit::Shared,
};
use crate::{
    StoreError, StoreResult,
    domain::time::{Clock as _, SystemClock},
    sealed::CHECK,
};

/// Interval between polls for changes.
const LOOK: Duration = Duration::from_millis(250);

/// Interval between heartbeats: three of them before others would take this process for dead.
const BEAT: Duration = Duration::from_secs(5);

/// Longest time of any of its steps.
const PATIENCE: Duration = Duration::from_secs(4);

/// Longest time of the end.
const LEAVE: Duration = Duration::from_secs(2);

/// The newest change number.
pub(super) const NEWEST_CHANGE: &str = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM change_number";

/// The keeper thread.
#[derive(Debug)]
pub(super) struct Keeper {
    thread: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Keeper {
    /// Starts the thread, which has announced this process before any lease is taken.
    pub(super) async fn start(
        server: DatabaseServer,
        pool: Pool,
        shared: Arc<Shared>,
        changes: watch::Sender<u64>,
        clocks: ClockWatch,
    ) -> StoreResult<Self> {
        let unavailable = |error: std::io::Error| StoreError::Unavailable(format!("no thread can be started: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)?;
        let (stop, stopped) = oneshot::channel();
        let (tell, announced) = oneshot::channel();
        let work = move || {
            runtime.block_on(async {
                match announce(&server, &shared).await {
                    Ok(client) => {
                        let _ = tell.send(Ok(()));
                        keep(&server, &pool, client, &shared, &changes, clocks, stopped).await;
                    }
                    Err(error) => drop(tell.send(Err(error))),
                }
            });
        };
        let thread = Builder::new().name("avert-keeper".to_owned()).spawn(work).map_err(unavailable)?;
        let keeper = Self { thread: Mutex::new(Some((stop, thread))) };
        announced.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the keeper has ended".to_owned())))?;
        Ok(keeper)
    }

    /// Ends the thread, which removes this process's row: others learn at once that it is gone.
    pub(super) fn close(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = thread {
            let _ = stop.send(());
            // A panic of it was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.close();
    }
}

/// Announces this process; returns the connection that sends the heartbeats from then on. A connection that was closed
/// a moment ago may still count for the server.
async fn announce(server: &DatabaseServer, shared: &Shared) -> StoreResult<Client> {
    let announced = async {
        let client = match server.client().await {
            Err(error) if is_full(&error) => {
                sleep(LOOK).await;
                server.client().await?
            }
            client => client?,
        };
        liveness::beat(&client, &shared.own.0).await?;
        Ok(client)
    };
    match timeout(2 * CONNECT, announced).await {
        Ok(announced) => announced.map_err(|error| unreachable(&error)),
        Err(_) => Err(StoreError::Unavailable("the server does not answer".to_owned())),
    }
}

async fn keep(
    server: &DatabaseServer,
    pool: &Pool,
    client: Client,
    shared: &Shared,
    changes: &watch::Sender<u64>,
    mut clocks: ClockWatch,
    mut stopped: oneshot::Receiver<()>,
) {
    let own = shared.own.0;
    let mut client = Some(client);
    let mut next_beat = Instant::now() + BEAT;
    loop {
        if timeout(LOOK, &mut stopped).await.is_ok() {
            break;
        }
        let beats = Instant::now() >= next_beat;
        if beats {
            next_beat = Instant::now() + BEAT;
        }
        if !beats && changes.receiver_count() == 0 {
            continue;
        }
        let turn = async {
            let connected = match client.take().filter(|client| !client.is_closed()) {
                Some(connected) => connected,
                None => server.client().await?,
            };
            if beats {
                beat(&connected, shared, &mut clocks).await?;
            }
            let newest: i64 = connected.query_one(NEWEST_CHANGE, &[]).await?.try_get(0)?;
            Ok::<_, tokio_postgres::Error>((connected, newest.unsigned_abs()))
        };
        let turn = timeout(PATIENCE, turn).await;
        if beats {
            let result = if matches!(turn, Ok(Ok(_))) { "done" } else { "failed" };
            metrics::counter!("avert_store_heartbeats_total", "result" => result).increment(1);
        }
        match turn {
            Ok(Ok((connected, newest))) => {
                client = Some(connected);
                changes.send_if_modified(|known| {
                    let newer = newest > *known;
                    *known = newest.max(*known);
                    newer
                });
            }
            // Without heartbeats others take this process for dead.
            Ok(Err(error)) if is_full(&error) => drop(pool.make_room().await),
            // Tried again soon.
            Ok(Err(error)) => tracing::debug!(%error, "the database was not reached"),
            Err(_) => tracing::debug!("the database does not answer"),
        }
    }
    let leave = async {
        let connected = match client.take().filter(|client| !client.is_closed()) {
            Some(connected) => connected,
            None => server.client().await?,
        };
        liveness::leave(&connected, &own).await
    };
    // A failure here is made good by the missing heartbeats.
    let _ = timeout(LEAVE, leave).await;
}

/// Sends a heartbeat, and does the upkeep that goes with each.
async fn beat(client: &Client, shared: &Shared, clocks: &mut ClockWatch) -> Result<(), tokio_postgres::Error> {
    liveness::beat(client, &shared.own.0).await?;
    for drawing in &*DRAW_TOGETHER {
        client.execute(drawing, &[]).await?;
    }
    let date: i64 = client.query_one(SERVERS_DATE, &[]).await?.try_get(0)?;
    if let Ok(date) = moment(date) {
        clocks.observe(date, SystemClock.now());
    }
    let check: Vec<u8> = client.query_one(&format!("SELECT {CHECK}"), &[]).await?.try_get(0)?;
    // A key that was rotated is put in its place here even while nothing is sealed or opened. Where it is not here,
    // whoever needs it says so.
    let _ = shared.data_key.seal(&check);
    Ok(())
}
