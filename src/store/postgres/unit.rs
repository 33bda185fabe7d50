//! One unit of work: its connection, who does it for whom, and what the audit log will say of it.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row;

use super::connection::Connection;
use super::fault::Work;
use super::rows::organization_key;
use super::statements::cell;
use crate::domain::audit::{AuditNote, UnlinkedEntry};
use crate::domain::event::RenderEvent;
use crate::domain::time::Timestamp;
use crate::domain::{Actor, DatabaseId, InstanceId, OrganizationId};
use crate::store::key_file::DataKey;
use crate::store::seal::Seal;
use crate::store::sealed::KEY_CHECK;

/// The shared context of units of work.
pub(super) struct Shared {
    pub(super) render: Arc<dyn RenderEvent>,
    pub(super) data_key: DataKey,
    pub(super) database: DatabaseId,
    /// This process.
    pub(super) own: InstanceId,
    /// The keys of organizations that were read: they stay, and so do organizations.
    pub(super) organizations: Mutex<HashMap<OrganizationId, i64>>,
    /// Whether entries of the audit log will be linked in a moment.
    pub(super) links: AtomicBool,
}

/// The last column of what reads sealed values: the proof of the key that they are sealed with, in the same snapshot.
pub(super) const CHECK: &str = "(SELECT value FROM fact WHERE name = 'key_check')";

impl Shared {
    /// The seal that a row was sealed with, by the proof in this column of it.
    pub(super) fn seal_of(&self, row: &Row, column: usize) -> Work<Seal> {
        Ok(self.data_key.seal(row.try_get(column)?)?)
    }
}

/// One unit of work.
pub(super) struct Unit<'r> {
    pub(super) conn: Connection,
    pub(super) shared: &'r Shared,
    /// Whom the audit log puts it down to.
    pub(super) by: &'r Actor,
    entries: Mutex<Vec<UnlinkedEntry>>,
}

impl<'r> Unit<'r> {
    pub(super) fn new(conn: Connection, shared: &'r Shared, by: &'r Actor) -> Self {
        Self { conn, shared, by, entries: Mutex::new(Vec::new()) }
    }

    /// The seal to seal with: until the end of this unit of work no other one comes in its place.
    pub(super) async fn sealing(&self) -> Work<Seal> {
        let check = "SELECT value FROM fact WHERE name = $1 FOR UPDATE";
        self.conn.one(check, &[&KEY_CHECK], |row| self.shared.seal_of(row, 0)).await
    }

    /// The key of an organization, where it is there. Not for units of work that may have made it themselves.
    pub(super) async fn organization(&self, id: OrganizationId) -> Work<Option<i64>> {
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

    /// Has the audit log say this of an organization, which is known by its key.
    pub(super) fn note(&self, organization: i64, note: AuditNote, at: Timestamp) {
        self.note_of(self.by, organization, note, at);
    }

    /// The same of every organization: what was done concerns all of them.
    pub(super) async fn note_for_all(&self, note: &AuditNote, at: Timestamp) -> Work<()> {
        let organizations = self.conn.all("SELECT key FROM organization ORDER BY key", &[], cell).await?;
        organizations.into_iter().for_each(|organization| self.note(organization, note.clone(), at));
        Ok(())
    }

    /// The same of somebody else.
    pub(super) fn note_of(&self, by: &Actor, organization: i64, note: AuditNote, at: Timestamp) {
        self.entries().push(UnlinkedEntry::of(organization, by, note, at));
    }

    /// What the audit log is to say, which is forgotten here.
    pub(super) fn take_entries(&self) -> Vec<UnlinkedEntry> {
        std::mem::take(&mut *self.entries())
    }
}
