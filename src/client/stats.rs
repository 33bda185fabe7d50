//! Statistics of another avert's alerts.

use async_trait::async_trait;

use super::handle::Client;
use super::paging::written;
use crate::domain::{AlertFilter, AlertQuery, AtRisk, Calendar, Count, CurrencySum, Insights};
use crate::service::{ServiceError, Stats};
use crate::wire::operator::{CountsJson, CurrencySumJson, InsightsJson, ListJson, MOST_HOURS};
use crate::wire::query::COMPANY_PARAMETER;

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
        let counts =
            self.inner.ask::<CountsJson>(&format!("/counts?withinHours={}", within_hours.min(MOST_HOURS))).await?;
        Ok(counts.at_risk.into_iter().map(Into::into).collect())
    }

    async fn sums(&self, filter: &AlertFilter) -> Result<Vec<CurrencySum>, ServiceError> {
        let query = AlertQuery { filter: filter.clone(), ..AlertQuery::default() };
        let asked = written(&query, COMPANY_PARAMETER)?;
        let sums: ListJson<CurrencySumJson> = self.inner.ask(&format!("/sums?{asked}")).await?;
        Ok(sums.data.into_iter().map(Into::into).collect())
    }

    async fn insights(&self, filter: &AlertFilter, calendar: Calendar) -> Result<Insights, ServiceError> {
        let query = AlertQuery { filter: filter.clone(), ..AlertQuery::default() };
        let asked = written(&query, COMPANY_PARAMETER)?;
        let insights: InsightsJson =
            self.inner.ask(&format!("/insights?{asked}&utcOffset={}", calendar.minutes())).await?;
        Ok(insights.into())
    }
}
