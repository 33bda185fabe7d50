//! Statistics of another avert's alerts.

use async_trait::async_trait;

use super::handle::Client;
use crate::domain::{AtRisk, Count};
use crate::service::{ServiceError, Stats};
use crate::wire::operator::{CountsJson, MOST_HOURS};

#[async_trait]
impl Stats for Client {
    async fn count_all(&self) -> Result<u64, ServiceError> {
        Ok(self.inner.ask::<CountsJson>("/counts").await?.total)
    }

    async fn counts(&self) -> Result<Vec<Count>, ServiceError> {
        let counts = self.inner.ask::<CountsJson>("/counts").await?;
        Ok(counts.days.into_iter().map(Into::into).collect())
    }

    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        let counts = self.inner.ask::<CountsJson>(&format!("/counts?withinHours={}", within_hours.min(MOST_HOURS))).await?;
        Ok(counts.at_risk.into_iter().map(Into::into).collect())
    }
}
