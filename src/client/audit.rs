//! The audit log of another avert.

use async_trait::async_trait;

use super::handle::Client;
use crate::domain::AuditEntry;
use crate::service::{Audit, ServiceError};
use crate::wire::operator::{AuditEntryJson, MOST_ROWS, PageJson};

#[async_trait]
impl Audit for Client {
    /// Page by page, until there are as many as were asked for.
    async fn audit(&self, mut before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError> {
        let (mut entries, mut left) = (Vec::new(), size);
        while left > 0 {
            let from = before.map(|before| format!("&before={before}")).unwrap_or_default();
            let path = format!("/audit?size={}{from}", left.min(MOST_ROWS));
            let page = self.inner.ask::<PageJson<AuditEntryJson, u64>>(&path).await?;
            left = left.saturating_sub(MOST_ROWS);
            entries.extend(page.data.into_iter().map(AuditEntry::from));
            let Some(next) = page.next else { break };
            before = Some(next);
        }
        Ok(entries)
    }
}
