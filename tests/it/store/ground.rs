//! What stores stand on: a factory for each kind of store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use avert::domain::event::RenderEvent;
use avert::domain::time::{Timestamp, to_iso};
use avert::domain::{Alert, EventKind};
use avert::store::{SharedStore, SqliteOptions, SqliteStore};

/// Every kind of store, by the module of its tests and what it stands on. A further kind is one more line.
macro_rules! each_kind {
    ($with:ident $($given:tt)*) => {
        $with! { on_sqlite, $crate::store::ground::Sqlite, $($given)* }
    };
}
pub(super) use each_kind;

/// Data of one kind of store, which go when it goes.
#[async_trait]
pub(crate) trait Ground: Send + Sync + 'static {
    /// Fresh data.
    async fn fresh() -> Self
    where
        Self: Sized;

    /// A handle on the data; a further one is that of a further process, which dies with it.
    async fn open(&self) -> SharedStore;
}

/// A directory with a SQLite database.
pub(crate) struct Sqlite {
    directory: PathBuf,
    /// Removes the directory where it is the fixture's own.
    _own: Option<tempfile::TempDir>,
}

impl Sqlite {
    /// In a directory that the test itself looks into.
    pub(crate) fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), _own: None }
    }
}

#[async_trait]
impl Ground for Sqlite {
    async fn fresh() -> Self {
        let own = tempfile::tempdir().unwrap();
        Self { directory: own.path().to_owned(), _own: Some(own) }
    }

    async fn open(&self) -> SharedStore {
        open(&self.directory)
    }
}

/// Opens the store of a directory, once more where it is open already, as another process would.
pub(crate) fn open(directory: &Path) -> Arc<SqliteStore> {
    SqliteStore::open(&SqliteOptions::directory(directory, Arc::new(PlainEvents))).unwrap()
}

/// Writes the few facts of an event that tests look at.
pub(crate) struct PlainEvents;

impl RenderEvent for PlainEvents {
    fn render(&self, kind: &EventKind, alert: &Alert, at: Timestamp) -> String {
        let outcome = alert.outcome.as_ref().map_or("none", |outcome| outcome.outcome.as_str());
        format!("{kind} {} {} {} {outcome} {}", alert.id, alert.provider_id, alert.status, to_iso(at))
    }
}
