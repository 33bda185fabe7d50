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

    /// What a search over all fields finds, best first, at most `size`
    /// ([`find::compare`](crate::domain::find::compare)).
    async fn find(&self, organization: OrganizationId, query: &FindQuery, size: u32) -> StoreResult<Vec<Alert>>;

    /// One alert.
    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<SharedAlert>>;

    /// For each of these alerts that is there: the alert, and others that agree with it in card digits and amount, in
    /// acquirer's reference or in authorization code, the newest of each. Whether they are duplicates is not judged
    /// here.
    async fn alike(&self, organization: OrganizationId, ids: Vec<AlertId>) -> StoreResult<Vec<(Alert, Vec<Alert>)>>;

    /// How many alerts the organization has.
    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64>;

    /// How many alerts there are of each kind on each day, earliest day first.
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

    /// Takes alerts in, all in one transaction: new ones stored, known ones updated where provider data differ, events
    /// and deliveries with them (decisions, Bringing alerts in). A field that the row leaves empty keeps its stored
    /// value.
    async fn ingest(
        &self,
        organization: OrganizationId,
        rows: Vec<AlertPatch>,
        now: Timestamp,
    ) -> StoreResult<IngestReport>;

    /// Moves OPEN alerts past their deadline, without outcome and without a running resolution, to EXPIRED, at most
    /// `limit`. Returns how many.
    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64>;

    /// Moves alerts back to OPEN, at most `limit`, that have expired by a clock that has been set back since: their
    /// time is still to come. Returns how many.
    async fn undo_expiry(&self, now: Timestamp, limit: u32) -> StoreResult<u64>;

    /// The earliest deadline that [`AlertStore::expire_due`] waits for.
    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>>;
}
