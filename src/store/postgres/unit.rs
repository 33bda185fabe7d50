//! One unit of work: its connection, its actor, and its entries of the audit log.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use super::{connection::Connection, rows::organization_key};
use crate::{
    domain::{Actor, DatabaseId, InstanceId, OrganizationId, audit::UnlinkedEntry, event::RenderEvent},
    key_file::DataKey,
    work::Work,
};

/// The shared context of units of work.
pub(crate) struct Shared {
    pub(super) render: Arc<dyn RenderEvent>,
    pub(crate) data_key: DataKey,
    pub(super) database: DatabaseId,
    /// This process.
    pub(crate) own: InstanceId,
    /// Cache of the keys of organizations, which never change.
    pub(super) organizations: Mutex<HashMap<OrganizationId, i64>>,
    /// True where entries of the audit log will be linked in a moment.
    pub(super) links: AtomicBool,
}

/// One unit of work.
pub(crate) struct Unit<'r> {
    pub(crate) conn: Connection,
    pub(crate) shared: &'r Shared,
    /// Actor in the audit log.
    pub(super) by: &'r Actor,
    entries: Mutex<Vec<UnlinkedEntry>>,
}

impl<'r> Unit<'r> {
    pub(super) fn new(conn: Connection, shared: &'r Shared, by: &'r Actor) -> Self {
        Self { conn, shared, by, entries: Mutex::new(Vec::new()) }
    }

    /// The key of an organization, where it is there. Not for units of work that may have made it themselves.
    pub(crate) async fn organization(&self, id: OrganizationId) -> Work<Option<i64>> {
        let known = || self.shared.organizations.lock().unwrap_or_else(PoisonError::into_inner);
        let remembered = known().get(&id).copied();
        if remembered.is_some() {
            return Ok(remembered);
        }
        let read = organization_key(&self.conn, id).await?;
        if let Some(key) = read {
            known().insert(id, key);
        }
        Ok(read)
    }

    fn entries(&self) -> MutexGuard<'_, Vec<UnlinkedEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an entry to the audit log.
    pub(crate) fn put_down(&self, entry: UnlinkedEntry) {
        self.entries().push(entry);
    }

    /// Takes the entries for the audit log out of the unit of work.
    pub(super) fn take_entries(&self) -> Vec<UnlinkedEntry> {
        std::mem::take(&mut *self.entries())
    }
}
