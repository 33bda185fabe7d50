//! The units of work on alerts.

use async_trait::async_trait;

use super::counts::NO_DAY;
use super::fault::Work;
use super::handle::{PostgresStore, WriteKind};
use super::unit::Unit;
use super::{expiry, find, ingest, insights, list, rows, sums};
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, AtRisk, Calendar, Count, CurrencySum,
    FindQuery, IngestReport, Insights, OrganizationId, Page, Provider, SharedAlert,
};
use crate::store::sql::{Units as _, Way};
use crate::store::subjects::alike::alike;
use crate::store::{AlertStore, StoreResult};

#[async_trait]
impl AlertStore for PostgresStore {
    async fn list_alerts(
        &self,
        organization: OrganizationId,
        query: &AlertQuery,
        now: Timestamp,
    ) -> StoreResult<Page<SharedAlert>> {
        self.read(|unit| Box::pin(list::list(unit, organization, query, now))).await
    }

    async fn find(&self, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>> {
        self.read(|unit| Box::pin(find::find(unit, organization, query, size))).await
    }

    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>> {
        let found = self.look(|unit| Box::pin(rows::read_by_id(&unit.conn, organization, id))).await?;
        Ok(found.map(|stored| stored.alert.into()))
    }

    async fn alike(&self, organization: OrganizationId, ids: Vec<AlertId>) -> StoreResult<Vec<(Alert, Vec<Alert>)>> {
        let given = (organization, ids);
        self.unit(Way::List(Some(organization)), given, |unit, (of, ids)| Box::pin(alike(unit, *of, ids))).await
    }

    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64> {
        self.look(|unit| Box::pin(list::count_all(&unit.conn, organization))).await
    }

    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>> {
        self.look(|unit| Box::pin(counts(unit, organization))).await
    }

    async fn at_risk(
        &self,
        organization: OrganizationId,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreResult<Vec<AtRisk>> {
        self.look(|unit| Box::pin(expiry::at_risk(unit, organization, now, until))).await
    }

    async fn insights(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        calendar: Calendar,
        now: Timestamp,
    ) -> StoreResult<Insights> {
        self.read(|unit| Box::pin(insights::insights(unit, organization, filter, calendar, now))).await
    }

    async fn sums(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Vec<CurrencySum>> {
        self.read(|unit| Box::pin(sums::sums(unit, organization, filter, now))).await
    }

    async fn ingest(
        &self,
        organization: OrganizationId,
        rows: Vec<AlertPatch>,
        now: Timestamp,
    ) -> StoreResult<IngestReport> {
        self.write_much(WriteKind::Visible, |unit| Box::pin(ingest::ingest(unit, organization, &rows, now))).await
    }

    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        self.write_much(WriteKind::Visible, |unit| Box::pin(expiry::expire_due(unit, now, limit))).await
    }

    async fn undo_expiry(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        self.write_much(WriteKind::Visible, |unit| Box::pin(expiry::undo(unit, now, limit))).await
    }

    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>> {
        self.look(|unit| Box::pin(expiry::next_deadline(&unit.conn))).await
    }
}

/// How many alerts there are of each kind on each day, earliest day first.
async fn counts(unit: &Unit<'_>, organization: OrganizationId) -> Work<Vec<Count>> {
    let all = "SELECT day, provider, type, status, outcome, expired, sum(alerts)::bigint FROM alert_count
        WHERE organization = (SELECT key FROM organization WHERE id = $1)
        GROUP BY day, provider, type, status, outcome, expired HAVING sum(alerts) > 0
        ORDER BY day, provider, type, status, outcome NULLS FIRST, expired";
    unit.conn
        .all(all, &[&organization.0], |row| {
            let (day, alerts): (i64, i64) = (row.try_get(0)?, row.try_get(6)?);
            Ok(Count {
                day: Some(day).filter(|day| *day != NO_DAY),
                provider: Provider::parse(row.try_get(1)?),
                alert_type: AlertType::parse(row.try_get(2)?),
                status: AlertStatus::parse(row.try_get(3)?),
                outcome: row.try_get(4)?,
                expired: row.try_get(5)?,
                alerts: alerts.unsigned_abs(),
            })
        })
        .await
}
