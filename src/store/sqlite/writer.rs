//! The writer thread with group commit. Units of work that wait together are committed in one transaction, each in a
//! savepoint of its own. Nobody hears of success before the commit is on the disk. Work that may come behind that, for
//! many at once, is done while nobody waits.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::{
    checkpoint::Checkpointer,
    files::SameFiles,
    find_index,
    instance::{Gate, Instances, Turnstile},
    interned::Dictionary,
    sql::{Statements as _, cell},
    worker::{Worker, hear, locked},
};
use crate::{RefusalCause, StoreError, StoreResult, context::StoreContext, domain::InstanceId};

/// Most units of work in one commit.
const GROUP_UNITS: usize = 256;
/// Time after which a group takes no more units in, so that nobody waits for a crowd.
const GROUP_TIME: Duration = Duration::from_millis(5);
/// Time without work after which the writer is idle: then outcomes are indexed that are not yet.
const IDLE: Duration = Duration::from_millis(100);
/// Number of unindexed outcomes that do not wait until then: each is read by every search over all fields.
pub(super) const MOST_UNINDEXED: u32 = 256;

/// The shared context of units of work.
pub(crate) struct Shared {
    pub(super) context: StoreContext,
    /// The database file.
    pub(super) path: PathBuf,
    pub(crate) instances: Instances,
    pub(super) files: SameFiles,
    /// Keeps the database from being replaced under us.
    pub(super) _gate: Gate,
}

/// One unit of work, inside its transaction.
pub(crate) struct Unit<'a> {
    pub(crate) conn: &'a mut Connection,
    pub(crate) dictionary: &'a mut Dictionary,
    pub(crate) shared: &'a Shared,
    /// The number of the commit under way.
    pub(crate) change: i64,
}

/// SQLite's part of a unit of work that is written once, beside its connection.
pub(crate) struct Memory<'u> {
    pub(crate) shared: &'u Shared,
    /// The number of the commit under way.
    pub(crate) change: i64,
    /// Processes that were asked about, and whether they are dead.
    known: Mutex<HashMap<InstanceId, bool>>,
}

impl<'u> Memory<'u> {
    pub(super) fn new(shared: &'u Shared, change: i64) -> Self {
        Self { shared, change, known: Mutex::default() }
    }

    /// Returns whether a process is provably dead. Each is asked about once.
    pub(crate) fn is_dead(&self, instance: InstanceId) -> bool {
        *locked(&self.known).entry(instance).or_insert_with(|| self.shared.instances.is_dead(instance))
    }
}

/// The kind of a write: whether it changes something that readers can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WriteKind {
    /// A new change number, and everybody who watches is woken.
    Visible,
    /// Leases and claims: nobody's view changes.
    Quiet,
}

/// Tells the caller; `Some` when the commit failed after all.
type Reply = Box<dyn FnOnce(Option<StoreError>) + Send>;
/// Does the work, or hears why it cannot be done. `Err` holds the reply of work that failed, to be told at once.
type Job = Box<dyn FnOnce(StoreResult<&mut Unit<'_>>) -> Result<Reply, Reply> + Send>;

/// The handle of the writer thread.
#[derive(Debug)]
pub(super) struct Writer(Worker<Sender<(WriteKind, Job)>>);

impl Writer {
    /// Starts the thread.
    pub(super) fn start(
        conn: Connection,
        shared: Arc<Shared>,
        changes: watch::Sender<u64>,
        checkpointer: Arc<Checkpointer>,
        turnstile: Turnstile,
    ) -> StoreResult<Self> {
        let (jobs, queue) = channel();
        // Those that a process before has left.
        let unindexed = find_index::count_unindexed(&conn)?;
        let state = State { conn, shared, changes, checkpointer, turnstile, dictionary: Dictionary::new(), unindexed };
        Worker::start("avert-writer", jobs, move || state.run(&queue)).map(Self)
    }

    /// Does a unit of work and answers once it is durable.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        kind: WriteKind,
        work: impl FnOnce(&mut Unit<'_>) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let (tell, told) = oneshot::channel::<StoreResult<T>>();
        let job: Job = Box::new(move |unit| match unit.and_then(work) {
            Ok(value) => Ok(Box::new(move |failure| drop(tell.send(failure.map_or(Ok(value), Err))))),
            Err(error) => Err(Box::new(move |_| drop(tell.send(Err(error))))),
        });
        self.0.hand_over((kind, job))?;
        hear(told).await
    }

    /// Finishes the work that was asked for and ends the thread.
    pub(super) fn close(&self) {
        self.0.close();
    }
}

struct State {
    conn: Connection,
    shared: Arc<Shared>,
    changes: watch::Sender<u64>,
    checkpointer: Arc<Checkpointer>,
    turnstile: Turnstile,
    dictionary: Dictionary,
    /// Outcomes that are not in the index of `find`, as far as is known here.
    unindexed: u32,
}

impl State {
    fn run(mut self, queue: &Receiver<(WriteKind, Job)>) {
        loop {
            let next = if self.unindexed == 0 {
                queue.recv().map_err(RecvTimeoutError::from)
            } else {
                queue.recv_timeout(IDLE)
            };
            match next {
                Ok(first) => self.group(first, queue),
                Err(RecvTimeoutError::Timeout) => self.catch_up(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while self.unindexed >= MOST_UNINDEXED {
                self.catch_up();
            }
        }
    }

    /// Indexes outcomes that are not yet, a batch of them in a transaction of its own. A failure costs nothing but
    /// time.
    fn catch_up(&mut self) {
        let done = self.begin().and_then(|_| {
            find_index::catch_up(&self.conn, &mut self.dictionary)?;
            self.unindexed = find_index::count_unindexed(&self.conn)?;
            self.commit(false)
        });
        match done {
            Ok(()) => self.checkpointer.committed(),
            Err(error) => {
                tracing::warn!(%error, "the index of searches over all fields is behind; it catches up later");
                self.abandon();
                // Behind the next commit.
                self.unindexed = 0;
            }
        }
    }

    /// Commits one transaction: `first` and the work that waits behind it.
    fn group(&mut self, first: (WriteKind, Job), queue: &Receiver<(WriteKind, Job)>) {
        let number = match self.begin() {
            Ok(number) => number,
            Err(error) => {
                // Whoever waits would wait as long again for the same answer; who comes when the first hear it may find
                // it otherwise.
                let waiting: Vec<_> = std::iter::once(first).chain(queue.try_iter()).collect();
                waiting.into_iter().for_each(|(_, job)| refuse(job, &error));
                return;
            }
        };
        let started = Instant::now();
        let mut replies = Vec::new();
        let mut visible = false;
        let mut next = Some(first);
        while let Some((kind, job)) = next {
            let before = self.conn.total_changes();
            match self.unit(number + 1, job) {
                Ok(reply) => {
                    visible |= kind == WriteKind::Visible && self.conn.total_changes() != before;
                    replies.push(reply);
                }
                Err(reply) => {
                    if let Some(reply) = reply {
                        reply(None);
                    }
                    if self.conn.is_autocommit() {
                        // The error (a full disk, say) took the whole transaction with it.
                        self.checkpointer.found_full();
                        let lost =
                            StoreError::Unavailable("the transaction was broken off, see the error before".to_owned());
                        replies.into_iter().for_each(|reply| reply(Some(lost.clone())));
                        return;
                    }
                }
            }
            next = if replies.len() < GROUP_UNITS && started.elapsed() < GROUP_TIME {
                queue.try_recv().ok()
            } else {
                None
            };
        }
        let units = u32::try_from(replies.len()).unwrap_or(u32::MAX);
        // A commit into a file that is not at its path any more is announced to nobody.
        match self.commit(visible).and_then(|()| self.shared.files.check()) {
            Ok(()) => {
                metrics::counter!("avert_store_commits_total", "result" => "done").increment(1);
                metrics::histogram!("avert_store_commit_seconds").record(started.elapsed());
                metrics::histogram!("avert_store_commit_units").record(f64::from(units));
                if visible {
                    self.changes.send_replace(number.unsigned_abs() + 1);
                }
                replies.into_iter().for_each(|reply| reply(None));
                self.checkpointer.committed();
            }
            Err(error) => {
                let error = error.at(&self.shared.path);
                if matches!(error, StoreError::Refused(RefusalCause::DiskFull, _)) {
                    self.checkpointer.found_full();
                }
                metrics::counter!("avert_store_commits_total", "result" => "failed").increment(1);
                tracing::warn!(%error, "a commit failed; nothing of it is kept");
                self.abandon();
                replies.into_iter().for_each(|reply| reply(Some(error.clone())));
            }
        }
    }

    /// Begins a transaction; returns the newest change number.
    fn begin(&mut self) -> StoreResult<i64> {
        self.shared.files.check()?;
        self.shared.instances.announce_once().map_err(StoreError::of_file(&self.shared.path, "cannot be written"))?;
        let turn = self.turnstile.enter();
        let no_checkpoint = self.checkpointer.wait();
        self.conn.run("BEGIN IMMEDIATE", &[])?;
        drop((no_checkpoint, turn));
        let number = self.conn.one("SELECT number FROM change_number", &[], cell);
        number.inspect_err(|_| self.abandon())
    }

    fn unit(&mut self, change: i64, job: Job) -> Result<Reply, Option<Reply>> {
        if let Err(error) = self.conn.run("SAVEPOINT unit", &[]) {
            refuse(job, &error);
            return Err(None);
        }
        let mut unit = Unit { conn: &mut self.conn, dictionary: &mut self.dictionary, shared: &self.shared, change };
        let done = catch_unwind(AssertUnwindSafe(|| job(Ok(&mut unit))));
        let failure = match done {
            Ok(Ok(reply)) => match self.conn.run("RELEASE unit", &[]) {
                Ok(_) => return Ok(reply),
                Err(error) => Some(Box::new(move |_| reply(Some(error))) as Reply),
            },
            Ok(Err(reply)) => Some(reply),
            // The panic hook has reported it; dropping the job has told the caller.
            Err(_) => None,
        };
        self.dictionary.clear();
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK TO unit; RELEASE unit")
        {
            tracing::error!(%error, "a unit of work could not be rolled back; its whole group is");
            self.abandon();
        }
        Err(failure)
    }

    fn commit(&mut self, visible: bool) -> StoreResult<()> {
        if visible {
            self.conn.run("UPDATE change_number SET number = number + 1", &[])?;
            self.unindexed = find_index::count_unindexed(&self.conn)?;
        }
        self.conn.run("COMMIT", &[]).map(drop)
    }

    /// Rolls back whatever is open.
    fn abandon(&mut self) {
        self.dictionary.clear();
        if !self.conn.is_autocommit()
            && let Err(error) = self.conn.execute_batch("ROLLBACK")
        {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }
}

/// Tells a job's caller that it cannot be done, without doing it.
fn refuse(job: Job, error: &StoreError) {
    match job(Err(error.clone())) {
        Ok(reply) | Err(reply) => reply(None),
    }
}
