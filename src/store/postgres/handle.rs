//! The handle on a PostgreSQL store, and the ways to its units of work: one statement, reading from one snapshot, and
//! writing.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::watch::Sender;

use super::chain;
use super::fault::{Work, WorkFault};
use super::keeper::Keeper;
use super::pool::Pool;
use super::unit::{Shared, Unit};
use crate::domain::Actor;
use crate::store::{StoreError, StoreResult};

/// A store in a PostgreSQL database. Any number of processes may have the same one open.
#[derive(Clone)]
pub struct PostgresStore {
    pub(super) shared: Arc<Shared>,
    pub(super) pool: Pool,
    pub(super) changes: Sender<u64>,
    /// Who the audit log says it was.
    pub(super) by: Arc<Actor>,
    pub(super) keeper: Arc<Keeper>,
}

/// The kind of a write: whether it changes something that readers can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteKind {
    /// A new change number, and everybody who watches is woken.
    Visible,
    /// Leases and claims: nobody's view changes.
    Quiet,
    /// The end of an attempt whose call was made: visible, and with a connection kept for it.
    Answered,
}

/// How long a unit of work may take in all; a server that does not answer is given up after it.
pub(super) const PATIENCE: Duration = Duration::from_secs(7);

/// The same for what a network has answered, which waits for a connection as long as callers do.
pub(super) const ANSWERED_PATIENCE: Duration = Duration::from_secs(15);

/// The same for what works on many rows.
pub(super) const LONG_PATIENCE: Duration = Duration::from_secs(60);

/// How long entries of the audit log gather before they are linked.
const GATHER: Duration = Duration::from_millis(200);

/// How often a unit of work is done again where others were at work on the same rows.
const MOST_REPEATS: u32 = 8;

/// What follows a commit that changed something to be seen.
const NEXT_CHANGE: &str = "SELECT nextval('change_number')";

/// How a unit of work is done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Mode {
    /// Without a transaction: one statement.
    Look,
    /// Reading from one snapshot.
    Read,
    Write(WriteKind),
}

impl PostgresStore {
    /// Lets go of the database: other processes know at once that this one is gone. What is asked afterwards is
    /// refused.
    pub fn close(&self) {
        self.keeper.close();
        self.pool.close();
    }

    /// Does what is one statement.
    pub(super) async fn look<'r, T: Send>(
        &'r self,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        self.repeat(Mode::Look, PATIENCE, work).await
    }

    /// Reads all from one snapshot of the database.
    pub(super) async fn read<'r, T: Send>(
        &'r self,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        self.repeat(Mode::Read, PATIENCE, work).await
    }

    /// The same of many rows.
    pub(super) async fn read_much<'r, T: Send>(
        &'r self,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        self.repeat(Mode::Read, LONG_PATIENCE, work).await
    }

    /// Does a unit of work, and answers once it is durable. It is done again where others were at work on the same
    /// rows.
    pub(super) async fn write<'r, T: Send>(
        &'r self,
        kind: WriteKind,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        self.repeat(Mode::Write(kind), PATIENCE, work).await
    }

    /// The same with many rows.
    pub(super) async fn write_much<'r, T: Send>(
        &'r self,
        kind: WriteKind,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        self.repeat(Mode::Write(kind), LONG_PATIENCE, work).await
    }

    pub(super) async fn repeat<'r, T: Send>(
        &'r self,
        mode: Mode,
        patience: Duration,
        work: impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync,
    ) -> StoreResult<T> {
        let mut repeats = 0;
        loop {
            let done = tokio::time::timeout(patience, self.once(mode, &work)).await;
            match done {
                Ok(Err(fault)) if repeats < most_repeats(mode, &fault) => {
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
    }

    async fn once<'r, T: Send>(
        &'r self,
        mode: Mode,
        work: &(impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync),
    ) -> Work<T> {
        let conn = match mode {
            Mode::Write(WriteKind::Answered) => self.pool.take_kept().await?,
            _ => self.pool.take().await?,
        };
        let unit = Unit::new(conn, &self.shared, &self.by);
        match mode {
            Mode::Look => return work(&unit).await,
            Mode::Read => unit.conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?,
            // What has not begun may be done again. A database that its operator has set read-only stays so.
            Mode::Write(_) => {
                unit.conn.begin("ISOLATION LEVEL READ COMMITTED").await.map_err(WorkFault::before_anything)?;
            }
        }
        match self.end(mode, &unit, work).await {
            Ok(value) => Ok(value),
            Err(fault) => {
                unit.conn.roll_back().await;
                Err(fault)
            }
        }
    }

    async fn end<'r, T: Send>(
        &'r self,
        mode: Mode,
        unit: &Unit<'r>,
        work: &(impl for<'a> Fn(&'a Unit<'r>) -> BoxFuture<'a, Work<T>> + Send + Sync),
    ) -> Work<T> {
        let value = work(unit).await?;
        let noted = chain::put_down(unit).await?;
        let seen = matches!(mode, Mode::Write(WriteKind::Visible | WriteKind::Answered)) && unit.conn.has_changed();
        let number = unit.conn.commit(if seen { NEXT_CHANGE } else { "" }).await?;
        if let Some(number) = number {
            self.changes.send_if_modified(|known| {
                let newer = number > *known;
                *known = number.max(*known);
                newer
            });
        }
        if noted {
            self.link_soon();
        }
        Ok(value)
    }

    /// Links every entry of the audit log that waits to be.
    pub(super) async fn link_entries(&self) -> StoreResult<()> {
        if !self.look(|unit| Box::pin(chain::is_pending(&unit.conn))).await? {
            return Ok(());
        }
        while self.write(WriteKind::Quiet, |unit| Box::pin(chain::link(&unit.conn))).await? {}
        Ok(())
    }

    /// Links what waits in a moment, once for all that is put down until then.
    fn link_soon(&self) {
        if self.shared.links.swap(true, Ordering::AcqRel) {
            return;
        }
        // Not the store itself: when that is dropped, others are told at once that this process is gone.
        let (shared, pool) = (Arc::clone(&self.shared), self.pool.clone());
        tokio::spawn(async move {
            tokio::time::sleep(GATHER).await;
            shared.links.store(false, Ordering::Release);
            // What is not linked now is linked with the next entry, or by whoever reads the log.
            let linked = async { chain::link_waiting(&pool.take().await?).await };
            if let Err(fault) = linked.await {
                let error = StoreError::from(fault);
                tracing::debug!(%error, "entries of the audit log wait to be linked");
            }
        });
    }
}

/// How often a unit of work may be done again: nothing of it was kept, or it only reads and the connection was lost.
const fn most_repeats(mode: Mode, fault: &WorkFault) -> u32 {
    match fault {
        WorkFault::Final(_) => 0,
        WorkFault::Lost(_) if matches!(mode, Mode::Write(_)) => 0,
        WorkFault::Again(_) | WorkFault::Lost(_) => MOST_REPEATS,
        // Connections that others had in hand meanwhile may only read too; where all may, nobody waits long for that
        // answer.
        WorkFault::ReadOnly(_) => 2,
    }
}

impl std::fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PostgresStore").field("instance", &self.shared.own).finish_non_exhaustive()
    }
}
