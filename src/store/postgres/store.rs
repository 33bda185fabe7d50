//! The whole store on PostgreSQL: who it is, and what changed.

use std::sync::Arc;

use tokio::sync::watch::Receiver;

use super::handle::PostgresStore;
use crate::domain::{Actor, DatabaseId, InstanceId};
use crate::store::{SharedStore, Store};

impl Store for PostgresStore {
    fn instance(&self) -> InstanceId {
        self.shared.own
    }

    fn database(&self) -> DatabaseId {
        self.shared.database
    }

    fn changes(&self) -> Receiver<u64> {
        self.changes.subscribe()
    }

    fn close(&self) {
        PostgresStore::close(self);
    }

    fn signed(&self, by: Actor) -> SharedStore {
        Arc::new(Self { by: Arc::new(by), ..self.clone() })
    }
}
