//! The handle on a SQLite store: its threads, and the two ways to them, reading and writing.

use std::sync::{Arc, Mutex};

use tokio::sync::watch::{Receiver, Sender};

use super::{
    checkpoint::Checkpointer,
    readers::{ListOwner, Reader, Readers},
    watch::Watcher,
    writer::{Memory, Shared, Unit, WriteKind, Writer},
};
use crate::{
    SharedStore, Store, StoreError, StoreResult,
    domain::{Actor, DatabaseId, InstanceId, batch},
    sql::{SqliteRows, StoreRows, driven},
    units::{Job, UnitContext, UnitOfWork, Units, Way},
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
    pub(super) watcher: Watcher,
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
    /// Finishes all work that was asked for, ends the threads and closes the database. Later requests are refused.
    pub fn close(&self) {
        self.threads.close();
    }

    /// The readers, while the database is in its place.
    fn readers(&self) -> StoreResult<&Readers> {
        self.shared.files.last_check().map(|()| &self.threads.readers)
    }

    fn placed(&self, error: StoreError) -> StoreError {
        error.at(&self.shared.path)
    }

    /// Reads little, by its key, at once where that can be.
    pub(super) async fn read_at_once<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.keyed.read_at_once(None, work).await.map_err(|error| self.placed(error))
    }

    /// Reads by key, all from one state of the database. It waits behind no list.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.keyed.read(None, work).await.map_err(|error| self.placed(error))
    }

    /// Reads a list, which may have to read many rows, in its owner's turn, all from one state of the database.
    pub(super) async fn read_list<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.lists.read(owner.into(), work).await.map_err(|error| self.placed(error))
    }

    /// Reads a list that mostly reads few rows, at once where that can be, else as [`SqliteStore::read_list`].
    pub(super) async fn read_list_at_once<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.lists.read_at_once(owner.into(), work).await.map_err(|error| self.placed(error))
    }

    /// Does a unit of work for the actor that the audit log attributes it to, and answers once it is durable.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        kind: WriteKind,
        work: impl FnOnce(&mut Unit<'_>, &Actor) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let by = Arc::clone(&self.by);
        self.threads.writer.write(kind, move |unit| work(unit, &by)).await.map_err(|error| self.placed(error))
    }
}

impl Units for SqliteStore {
    async fn unit<A: Send + Sync + 'static, T: Send + 'static>(
        &self,
        way: Way,
        given: A,
        job: Job<A, T>,
    ) -> StoreResult<T> {
        let kind = match way {
            Way::Visible | Way::VisibleMuch | Way::Answered => WriteKind::Visible,
            Way::Quiet | Way::QuietMuch | Way::Claim => WriteKind::Quiet,
            _ => {
                let (shared, by) = (Arc::clone(&self.shared), Arc::clone(&self.by));
                let read = move |reader: &mut Reader| {
                    driven(job(&unit_of(SqliteRows::Read(reader), Memory::new(&shared, 0), &by), &given))
                };
                return match way {
                    Way::AtOnce => self.read_at_once(read).await,
                    Way::ListAtOnce(owner) => self.read_list_at_once(owner, read).await,
                    Way::List(owner) => self.read_list(owner, read).await,
                    Way::Turn(owner) => self.read_list(owner, read).await,
                    Way::Much => self.read_list(None, read).await,
                    _ => self.read(read).await,
                };
            }
        };
        self.write(kind, move |unit, by| {
            let rows = SqliteRows::Written(unit.conn, unit.dictionary);
            driven(job(&unit_of(rows, Memory::new(unit.shared, unit.change), by), &given))
        })
        .await
    }

    fn most_taken_in(&self) -> usize {
        if self.shared.instances.are_others_alive() { batch::BESIDE_OTHERS } else { batch::INTAKE }
    }
}

fn unit_of<'u>(rows: SqliteRows<'u>, memory: Memory<'u>, by: &'u Actor) -> UnitOfWork<'u> {
    UnitOfWork { rows: StoreRows::Sqlite(Mutex::new(rows)), by, database: UnitContext::Sqlite(memory) }
}

impl Store for SqliteStore {
    fn instance(&self) -> InstanceId {
        self.shared.instances.own()
    }

    fn database(&self) -> DatabaseId {
        self.shared.database
    }

    fn changes(&self) -> Receiver<u64> {
        self.changes.subscribe()
    }

    fn close(&self) {
        Self::close(self);
    }

    fn signed(&self, by: Actor) -> SharedStore {
        Arc::new(Self { by: Arc::new(by), ..self.clone() })
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("instance", &self.shared.instances.own()).finish_non_exhaustive()
    }
}
