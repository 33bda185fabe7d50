//! Alerts: lists, single ones, statistics, intake and expiry.

use async_trait::async_trait;

use super::error::StoreResult;
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AtRisk, Calendar, Count, CurrencySum, FindQuery, IngestReport,
    Insights, OrganizationId, Page, SharedAlert,
};

/// Units of work on alerts.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// One page of alerts with the exact total (decisions, List).
    async fn list_alerts(
        &self,
        organization: OrganizationId,
        query: &AlertQuery,
        now: Timestamp,
    ) -> StoreResult<Page<SharedAlert>>;

    /// Matches of a search over all fields, best first, at most `size`
    /// ([`find::compare`](crate::domain::find::compare)).
    async fn find(&self, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>>;

    /// One alert.
    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>>;

    /// Returns each of these alerts that exists, with the newest others that agree with it. They agree in card digits
    /// and amount, in acquirer's reference or in authorization code. The caller judges which are duplicates.
    async fn alike(&self, organization: OrganizationId, ids: Vec<AlertId>) -> StoreResult<Vec<(Alert, Vec<Alert>)>>;

    /// Number of alerts of the organization.
    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64>;

    /// Number of alerts of each kind on each day, earliest day first.
    async fn counts(&self, organization: OrganizationId) -> StoreResult<Vec<Count>>;

    /// Open alerts without an outcome whose deadline is at or before `until` and after `now`, by currency, most alerts
    /// first.
    async fn at_risk(&self, organization: OrganizationId, now: Timestamp, until: Timestamp)
    -> StoreResult<Vec<AtRisk>>;

    /// Statistics of the alerts within a filter ([`Insights::of`]), and what monitoring programmes may count of all.
    async fn insights(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        calendar: Calendar,
        now: Timestamp,
    ) -> StoreResult<Insights>;

    /// Count and sum of the alerts within a filter for each currency ([`CurrencySum::of`]).
    async fn sums(
        &self,
        organization: OrganizationId,
        filter: &AlertFilter,
        now: Timestamp,
    ) -> StoreResult<Vec<CurrencySum>>;

    /// Ingests alerts in one transaction: stores new ones and updates known ones where provider data differ. Their
    /// events and deliveries are part of it (decisions, Bringing alerts in). A field that the row leaves empty keeps
    /// its stored value.
    async fn ingest(
        &self,
        organization: OrganizationId,
        rows: Vec<AlertPatch>,
        now: Timestamp,
    ) -> StoreResult<IngestReport>;

    /// Moves OPEN alerts past their deadline, without outcome and without a running resolution, to EXPIRED, at most
    /// `limit`. Returns their number.
    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64>;

    /// Moves at most `limit` alerts back to OPEN that expired by a clock that has been set back since. Their deadline
    /// is still to come. Returns their number.
    async fn undo_expiry(&self, now: Timestamp, limit: u32) -> StoreResult<u64>;

    /// The earliest deadline that [`AlertStore::expire_due`] waits for.
    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>>;
}
