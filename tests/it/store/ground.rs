//! What stores stand on: a factory for each kind of store.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use avert::{
    domain::{
        EventKind, EventSubject, EventTemplate,
        time::{Timestamp, to_iso},
    },
    store::{PostgresOptions, PostgresStore, SharedStore, SqliteOptions, SqliteStore, StoreResult},
};

use crate::support::postgres::Database;

/// Every kind of store, by the module of its tests and what it stands on. A further kind is one more line.
macro_rules! each_kind {
    ($with:ident $($given:tt)*) => {
        $with! { on_sqlite, $crate::store::ground::Sqlite, $($given)* }
        $with! { on_postgres, $crate::store::ground::Postgres, $($given)* }
    };
}
pub(super) use each_kind;

/// Data of one kind of store, which go when it goes.
#[async_trait]
pub(crate) trait Ground: Send + Sync + 'static {
    /// Fresh data; `None` where this kind of store cannot be had here.
    async fn fresh() -> Option<Self>
    where
        Self: Sized;

    /// A handle on the data; a further one is that of a further process, which dies with it.
    async fn open(&self) -> SharedStore;

    /// The handle of a process that serves.
    async fn open_service(&self) -> SharedStore;

    /// The file with the data key.
    fn key_file(&self) -> PathBuf;

    /// A handle of a process that has the key in a file of its own.
    async fn open_by(&self, key_file: &Path) -> StoreResult<SharedStore>;
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
    async fn fresh() -> Option<Self> {
        let own = tempfile::tempdir().unwrap();
        Some(Self { directory: own.path().to_owned(), _own: Some(own) })
    }

    async fn open(&self) -> SharedStore {
        open(&self.directory)
    }

    async fn open_service(&self) -> SharedStore {
        let options = SqliteOptions::file(self.directory.join("avert.db"), plain_events);
        SqliteStore::open(&SqliteOptions { serves: true, ..options }).unwrap()
    }

    fn key_file(&self) -> PathBuf {
        self.directory.join("secret.key")
    }

    async fn open_by(&self, key_file: &Path) -> StoreResult<SharedStore> {
        let options = SqliteOptions::file(self.directory.join("avert.db"), plain_events);
        let store = SqliteStore::open(&SqliteOptions { secret_key_file: Some(key_file.to_owned()), ..options })?;
        Ok(store)
    }
}

/// A PostgreSQL database, and the directory with its key.
pub(crate) struct Postgres {
    pub(crate) database: Database,
    pub(crate) keys: tempfile::TempDir,
}

impl Postgres {
    /// How its store is opened.
    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresOptions {
            connections: 20,
            server: self.database.server(),
            render: plain_events,
            secret_key_file: self.keys.path().join("secret.key"),
            serves: false,
        }
    }
}

#[async_trait]
impl Ground for Postgres {
    async fn fresh() -> Option<Self> {
        Some(Self { database: Database::fresh().await?, keys: tempfile::tempdir().unwrap() })
    }

    async fn open(&self) -> SharedStore {
        PostgresStore::open(&self.options()).await.unwrap()
    }

    async fn open_service(&self) -> SharedStore {
        PostgresStore::open(&PostgresOptions { serves: true, ..self.options() }).await.unwrap()
    }

    fn key_file(&self) -> PathBuf {
        self.options().secret_key_file
    }

    async fn open_by(&self, key_file: &Path) -> StoreResult<SharedStore> {
        let store =
            PostgresStore::open(&PostgresOptions { secret_key_file: key_file.to_owned(), ..self.options() }).await?;
        Ok(store)
    }
}

/// Takes the newest steps out of a schema, so that it is an older one; the same for both databases.
pub(crate) const WITHOUT_NEWEST: &str = "DROP TABLE sale_count; DROP TABLE source_event; DROP TABLE source_count; \
    DROP TABLE source_failing; ALTER TABLE alert DROP COLUMN origin; ALTER TABLE event DROP COLUMN trace; \
    ALTER TABLE resolution_attempt DROP COLUMN trace; ALTER TABLE endpoint DROP COLUMN events; \
    ALTER TABLE endpoint DROP COLUMN providers; ALTER TABLE endpoint DROP COLUMN template; \
    ALTER TABLE endpoint DROP COLUMN minutes; ALTER TABLE endpoint DROP COLUMN failure_reported; \
    DROP TABLE truth_fact; DROP TABLE truth_match; DROP TABLE refund_proof; DROP TABLE truth; \
    DROP INDEX alert_by_order; DROP INDEX alert_by_transaction; DROP TABLE rule_answer; DROP TABLE rule";

/// Opens the store of a directory, once more where it is open already, as another process would.
pub(crate) fn open(directory: &Path) -> SharedStore {
    SqliteStore::open(&SqliteOptions::file(directory.join("avert.db"), plain_events)).unwrap()
}

/// Writes the few facts of an event that tests look at.
pub(crate) fn plain_events(
    kind: &EventKind,
    subject: EventSubject<'_>,
    template: Option<EventTemplate>,
    at: Timestamp,
) -> String {
    let alert = match subject {
        EventSubject::Alert(alert) => alert,
        EventSubject::Endpoint(endpoint) => return format!("{kind} {} {template:?}", endpoint.url),
        EventSubject::Rule(rule) => return format!("{kind} {} {}", rule.name, rule.stop.reason.as_str()),
        EventSubject::Source(source) => return format!("{kind} {} {} {}", source.name, source.part, source.reason),
    };
    let outcome = alert.outcome.as_ref().map_or("none", |outcome| outcome.outcome.as_str());
    format!("{kind} {} {} {} {outcome} {}", alert.id, alert.provider_id, alert.status, to_iso(at))
}
