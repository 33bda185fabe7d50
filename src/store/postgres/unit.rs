//! One unit of work: its connection, who does it for whom, and what the audit log will say of it.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::connection::Connection;
use super::rows::organization_key;
use crate::domain::audit::UnlinkedEntry;
use crate::domain::event::RenderEvent;
use crate::domain::{Actor, DatabaseId, InstanceId, OrganizationId};
use crate::store::key_file::DataKey;
use crate::store::work::Work;

/// The shared context of units of work.
pub(in crate::store) struct Shared {
    pub(super) render: Arc<dyn RenderEvent>,
    pub(in crate::store) data_key: DataKey,
    pub(super) database: DatabaseId,
    /// This process.
    pub(in crate::store) own: InstanceId,
    /// The keys of organizations that were read: they stay, and so do organizations.
    pub(super) organizations: Mutex<HashMap<OrganizationId, i64>>,
    /// Whether entries of the audit log will be linked in a moment.
    pub(super) links: AtomicBool,
}

/// One unit of work.
pub(in crate::store) struct Unit<'r> {
    pub(in crate::store) conn: Connection,
    pub(in crate::store) shared: &'r Shared,
    /// Whom the audit log puts it down to.
    pub(super) by: &'r Actor,
    entries: Mutex<Vec<UnlinkedEntry>>,
}

impl<'r> Unit<'r> {
    pub(super) fn new(conn: Connection, shared: &'r Shared, by: &'r Actor) -> Self {
        Self { conn, shared, by, entries: Mutex::new(Vec::new()) }
    }

    /// The key of an organization, where it is there. Not for units of work that may have made it themselves.
    pub(in crate::store) async fn organization(&self, id: OrganizationId) -> Work<Option<i64>> {
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

    /// Has the audit log say this.
    pub(in crate::store) fn put_down(&self, entry: UnlinkedEntry) {
        self.entries().push(entry);
    }

    /// What the audit log is to say, which is forgotten here.
    pub(super) fn take_entries(&self) -> Vec<UnlinkedEntry> {
        std::mem::take(&mut *self.entries())
    }
}
