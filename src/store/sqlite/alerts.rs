//! The units of work on alerts.

use async_trait::async_trait;

use super::counts::NO_DAY;
use super::handle::SqliteStore;
use super::readers::Reader;
use super::rows::organization_key;
use super::statements::{Statements as _, cell};
use super::writer::WriteKind;
use super::{audit, expiry, find, ingest, insights, list, sums};
use crate::domain::audit::AuditNote;
use crate::domain::batch;
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AlertStatus, AlertType, AtRisk, Calendar, Count, CurrencySum,
    FindQuery, IngestReport, Insights, OrganizationId, Page, Provider, SharedAlert,
};
use crate::store::sql::{Units as _, Way};
use crate::store::subjects::alike::alike;
use crate::store::{AlertStore, StoreResult};

#[async_trait]
impl AlertStore for SqliteStore {
    async fn list_alerts(
        &self,
        organization: OrganizationId,
        query: &AlertQuery,
        now: Timestamp,
    ) -> StoreResult<Page<SharedAlert>> {
        let query = query.clone();
        let is_cheap = list::is_told_by_counts(&query.filter);
        let read = move |reader: &mut Reader| list::list(reader, organization, &query, now);
        if is_cheap {
            self.read_list_at_once(organization, read).await
        } else {
            self.read_list(organization, read).await
        }
    }

    async fn find(&self, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>> {
        let query = query.clone();
        self.read_list(organization, move |reader| find::find(reader, organization, &query, size)).await
    }

    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>> {
        self.read_at_once(move |reader| {
            let Some(organization) = reader.organization(organization)? else { return Ok(None) };
            let key = reader.conn.first(
                "SELECT key FROM alert WHERE organization = ?1 AND id = ?2",
                (organization, id.0.as_bytes()),
                cell,
            )?;
            key.map(|key| reader.alert(key)).transpose()
        })
        .await
    }

    async fn alike(&self, organization: OrganizationId, ids: Vec<AlertId>) -> StoreResult<Vec<(Alert, Vec<Alert>)>> {
        let given = (organization, ids);
        self.unit(Way::List(Some(organization)), given, |unit, (of, ids)| Box::pin(alike(unit, *of, ids))).await
    }

    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64> {
        self.read_list(organization, move |reader| list::count_all(reader, organization)).await
    }

    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>> {
        self.read_list(organization, move |reader| counts(reader, organization)).await
    }

    async fn at_risk(
        &self,
        organization: OrganizationId,
        now: Timestamp,
        until: Timestamp,
    ) -> StoreResult<Vec<AtRisk>> {
        self.read_list(organization, move |reader| expiry::at_risk(reader, organization, now, until)).await
    }

    async fn insights(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        calendar: Calendar,
        now: Timestamp,
    ) -> StoreResult<Insights> {
        let filter = filter.clone();
        self.read_list(organization, move |reader| insights::insights(reader, organization, &filter, calendar, now))
            .await
    }

    async fn sums(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Vec<CurrencySum>> {
        let filter = filter.clone();
        self.read_list(organization, move |reader| sums::sums(reader, organization, &filter, now)).await
    }

    async fn ingest(
        &self,
        organization: OrganizationId,
        rows: Vec<AlertPatch>,
        now: Timestamp,
    ) -> StoreResult<IngestReport> {
        // Whoever else writes waits for one commit of ours.
        let at_once = if self.shared.instances.are_others_alive() { batch::BESIDE_OTHERS } else { batch::INTAKE };
        let mut report = IngestReport::default();
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let piece = rows.by_ref().take(at_once).collect();
            let taken_in = self.write(WriteKind::Visible, move |unit, by| {
                let report = ingest::ingest(unit, organization, piece, now)?;
                if let Some(note) = AuditNote::alerts_taken_in(&report) {
                    audit::record(unit, by, organization, note, now)?;
                }
                Ok(report)
            });
            report.add(taken_in.await?);
        }
        Ok(report)
    }

    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        self.write(WriteKind::Visible, move |unit, _| expiry::expire_due(unit, now, limit)).await
    }

    async fn undo_expiry(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        self.write(WriteKind::Visible, move |unit, _| expiry::undo(unit, now, limit)).await
    }

    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>> {
        self.read(expiry::next_deadline).await
    }
}

/// How many alerts there are of each kind on each day, earliest day first.
fn counts(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<Count>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    reader.conn.all(
        "SELECT c.day, p.value, t.value, s.value, o.value, c.expired, c.alerts
         FROM alert_count c JOIN word p ON p.key = c.provider JOIN word t ON t.key = c.type JOIN word s ON s.key = \
         c.status
              LEFT JOIN word o ON o.key = c.outcome
         WHERE c.organization = ?1 AND c.alerts > 0 ORDER BY c.day, p.value, t.value, s.value, o.value, c.expired",
        [organization],
        |row| {
            let word = |column| row.get::<_, String>(column);
            let (day, alerts): (i64, i64) = (row.get(0)?, row.get(6)?);
            Ok(Count {
                day: Some(day).filter(|day| *day != NO_DAY),
                provider: Provider::parse(&word(1)?),
                alert_type: AlertType::parse(&word(2)?),
                status: AlertStatus::parse(&word(3)?),
                outcome: row.get(4)?,
                expired: row.get(5)?,
                alerts: alerts.unsigned_abs(),
            })
        },
    )
}
