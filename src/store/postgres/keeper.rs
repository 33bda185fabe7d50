//! The keeper thread of a process, on a connection of its own. It sends heartbeats, and polls for other processes'
//! changes four times a second while somebody listens. It merges counts, and checks the clocks and the data key. It
//! ends with the store and says so, whatever the rest of the process does.
//!
//! A process is dead where its heartbeat is too old by the database's clock, or missing. Deadlines go by the clock of
//! this machine, leases by the server's.

use std::{sync::Arc, time::Duration};

use chrono::TimeDelta;
use tokio::{
    sync::{oneshot, watch},
    time::{Instant, sleep, timeout},
};
use tokio_postgres::Client;

use super::{
    connection::{Connection, Shared},
    counts::DRAW_TOGETHER,
    fault::{is_full, unreachable},
    pool::Pool,
    session::{CONNECT, DatabaseServer},
};
use crate::{
    StoreError, StoreResult,
    alert_rows::moment,
    cells::cell,
    change_number::tell_newer,
    domain::{
        InstanceId,
        time::{Clock as _, SystemClock, Timestamp},
    },
    encryption::CHECK,
    error::Work,
    worker::{Worker, hear},
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

/// The keeper thread. At its end it removes this process's row: others learn at once that it is gone.
pub(super) type Keeper = Worker<oneshot::Sender<()>>;

/// Starts the thread, which has announced this process before any lease is taken.
pub(super) async fn start(
    server: DatabaseServer,
    pool: Pool,
    shared: Arc<Shared>,
    changes: watch::Sender<u64>,
) -> StoreResult<Keeper> {
    let unavailable = |error: std::io::Error| StoreError::Unavailable(format!("no thread can be started: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(unavailable)?;
    let (stop, stopped) = oneshot::channel();
    let (tell, announced) = oneshot::channel();
    let work = move || {
        runtime.block_on(async {
            match announce(&server, &shared).await {
                Ok((client, apart)) => {
                    let _ = tell.send(Ok(()));
                    keep(&server, &pool, client, &shared, &changes, apart, stopped).await;
                }
                Err(error) => drop(tell.send(Err(error))),
            }
        });
    };
    let keeper = Worker::start("avert-keeper", stop, work)?;
    hear(announced).await?;
    Ok(keeper)
}

/// Announces this process; returns the connection that sends the heartbeats from then on, and whether the clocks are
/// apart. A connection that was closed a moment ago may still count for the server.
async fn announce(server: &DatabaseServer, shared: &Shared) -> StoreResult<(Client, bool)> {
    let announced = async {
        let client = match server.client().await {
            Err(error) if is_full(&error) => {
                sleep(LOOK).await;
                server.client().await?
            }
            client => client?,
        };
        announce_alive(&client, shared).await?;
        let apart = compare_clocks(&client, false).await?;
        Ok((client, apart))
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
    mut apart: bool,
    mut stopped: oneshot::Receiver<()>,
) {
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
            let connected = open_or_anew(&mut client, server).await?;
            if beats {
                beat(&connected, shared, &mut apart).await?;
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
                tell_newer(changes, newest);
            }
            // Without heartbeats others take this process for dead.
            Ok(Err(error)) if is_full(&error) => drop(pool.make_room().await),
            // Tried again soon.
            Ok(Err(error)) => tracing::debug!(%error, "the database was not reached"),
            Err(_) => tracing::debug!("the database does not answer"),
        }
    }
    // Others learn at once that it is gone.
    let leave = async {
        let connected = open_or_anew(&mut client, server).await?;
        connected.execute("DELETE FROM instance WHERE id = $1", &[&shared.context.own.0]).await
    };
    // A failure here is made good by the missing heartbeats.
    let _ = timeout(LEAVE, leave).await;
}

/// Takes the connection, or opens one where that is closed.
async fn open_or_anew(client: &mut Option<Client>, server: &DatabaseServer) -> Result<Client, tokio_postgres::Error> {
    match client.take().filter(|client| !client.is_closed()) {
        Some(open) => Ok(open),
        None => server.client().await,
    }
}

/// Sends a heartbeat, and does the upkeep that goes with each.
async fn beat(client: &Client, shared: &Shared, apart: &mut bool) -> Result<(), tokio_postgres::Error> {
    announce_alive(client, shared).await?;
    for drawing in &*DRAW_TOGETHER {
        client.execute(drawing, &[]).await?;
    }
    *apart = compare_clocks(client, *apart).await?;
    let check: Vec<u8> = client.query_one(&format!("SELECT {CHECK}"), &[]).await?.try_get(0)?;
    // A key that was rotated is put in its place here even while nothing is sealed or opened. Where it is not here,
    // whoever needs it says so.
    let _ = shared.context.data_key.seal(&check);
    Ok(())
}

/// Time after which a process without a heartbeat is dead, in SQL.
pub(super) const DEAD_AFTER: &str = "interval '15 seconds'";

/// SQL that is true where the process in this column is provably dead; `own` is the place of this process.
pub(crate) fn is_dead(column: &str, own: &str) -> String {
    format!(
        "({column} <> {own} AND NOT EXISTS (
            SELECT 1 FROM instance i WHERE i.id = {column} AND i.beat_at > clock_timestamp() - {DEAD_AFTER}))"
    )
}

/// Time for which a service without a heartbeat keeps its work, in SQL: two heartbeats. So another process goes on with
/// the work within 15 s of its last moment.
const SERVES_FOR: &str = "interval '10 seconds'";

/// Returns whether another process serves on this database, and this one does not.
pub(crate) async fn is_beside_service(conn: &Connection, own: InstanceId) -> Work<bool> {
    if own.is_serving() {
        return Ok(false);
    }
    let living = format!("SELECT id FROM instance WHERE beat_at > clock_timestamp() - {SERVES_FOR}");
    let living = conn.all(&living, &[], |row| cell(row).map(InstanceId)).await?;
    Ok(living.into_iter().any(InstanceId::is_serving))
}

/// Sends a heartbeat, and removes rows of dead processes: a missing row says the same.
async fn announce_alive(client: &Client, shared: &Shared) -> Result<(), tokio_postgres::Error> {
    let alive = "INSERT INTO instance (id, beat_at) VALUES ($1, clock_timestamp())
        ON CONFLICT (id) DO UPDATE SET beat_at = excluded.beat_at";
    client.execute(alive, &[&shared.context.own.0]).await?;
    client.execute(&format!("DELETE FROM instance WHERE beat_at < clock_timestamp() - 4 * {DEAD_AFTER}"), &[]).await?;
    Ok(())
}

/// Tolerated difference of the clocks.
const APART: TimeDelta = TimeDelta::seconds(5);

/// Advice where the clocks differ.
pub const CLOCK_ADVICE: &str =
    "set the clocks of the machines by NTP: deadlines go by this one, leases by the server's";

/// The server's date, in microseconds.
pub(super) const SERVERS_DATE: &str = "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

/// Describes the difference of this machine's clock from the server's, where it is too large.
pub(super) async fn apart(conn: &Connection, now: Timestamp) -> Work<Option<String>> {
    Ok(in_words(conn.rows().one(SERVERS_DATE, &[], cell::<Timestamp>).await? - now))
}

/// Describes the lead of the server's clock over this machine's, where it is too large.
fn in_words(ahead: TimeDelta) -> Option<String> {
    (ahead.abs() > APART).then(|| {
        let (by, way) = (ahead.abs().num_seconds(), if ahead > TimeDelta::zero() { "behind" } else { "ahead of" });
        format!("this machine's clock is {by} s {way} the server's")
    })
}

/// Compares the clocks, and logs it where they have come apart or together since. Returns whether they are apart.
async fn compare_clocks(client: &Client, were_apart: bool) -> Result<bool, tokio_postgres::Error> {
    let date: i64 = client.query_one(SERVERS_DATE, &[]).await?.try_get(0)?;
    let Ok(date) = moment(date) else { return Ok(were_apart) };
    let ahead = date - SystemClock.now();
    metrics::gauge!("avert_clock_off_seconds").set(-ahead.as_seconds_f64());
    let words = in_words(ahead);
    match (&words, were_apart) {
        (Some(words), false) => tracing::warn!("{words}: {CLOCK_ADVICE}"),
        (None, true) => tracing::info!("this machine's clock is the server's again"),
        _ => {}
    }
    Ok(words.is_some())
}
