//! The audit log. Every change is written to it in the change's own commit; here it is read and checked.

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::{AuditEntry, AuditState, OrganizationId};

/// Reading the audit log.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Entries of the audit log, newest first, before this number where one is given.
    async fn audit(&self, organization: OrganizationId, before: Option<u64>, size: u32)
    -> StoreResult<Vec<AuditEntry>>;

    /// Checks every hash of the whole audit log.
    async fn verify_audit(&self) -> StoreResult<AuditState>;
}
