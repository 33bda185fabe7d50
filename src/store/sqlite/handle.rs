//! The handle on a SQLite store: its threads, and the two ways to them, reading and writing.

use std::sync::Arc;

use tokio::sync::watch::Sender;

use super::checkpoint::Checkpointer;
use super::readers::{ListOwner, Reader, Readers};
use super::watch::Watcher;
use super::writer::{Shared, Unit, WriteKind, Writer};
use crate::domain::Actor;
use crate::store::{StoreError, StoreResult};

/// A store in one SQLite database. Several processes may have the same one open.
#[derive(Clone)]
pub struct SqliteStore {
    pub(super) shared: Arc<Shared>,
    pub(super) changes: Sender<u64>,
    /// Who the audit log says it was.
    pub(super) by: Arc<Actor>,
    pub(super) threads: Arc<Threads>,
}

/// What has to end with the last handle.
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
    /// Finishes all work that was asked for, ends the threads and lets go of the database. What is asked afterwards is
    /// refused.
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

    /// Reads what is found by its key and is little, at once where that can be.
    pub(super) async fn read_at_once<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.read_at_once(work).await.map_err(|error| self.placed(error))
    }

    /// Reads what is found by its key, all from one state of the database. It waits behind no list.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.read(work).await.map_err(|error| self.placed(error))
    }

    /// Reads what may have to look at much, in its owner's turn, all from one state of the database.
    pub(super) async fn read_list<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.read_list(owner.into(), work).await.map_err(|error| self.placed(error))
    }

    /// Reads a list that mostly has little to look at, at once where that can be, else as [`SqliteStore::read_list`].
    pub(super) async fn read_list_at_once<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.read_list_at_once(owner.into(), work).await.map_err(|error| self.placed(error))
    }

    /// Does a unit of work, which is told whom the audit log puts it down to, and answers once it is durable.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        kind: WriteKind,
        work: impl FnOnce(&mut Unit<'_>, &Actor) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        let by = Arc::clone(&self.by);
        self.threads.writer.write(kind, move |unit| work(unit, &by)).await.map_err(|error| self.placed(error))
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("instance", &self.shared.instances.own()).finish_non_exhaustive()
    }
}
