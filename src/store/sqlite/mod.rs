//! SQLite behind [`Store`]: one thread that writes, a few that read, one that empties the log, one that watches.

mod access;
mod attempts;
mod audit;
pub mod backup;
mod budget;
mod checkpoint;
mod checksum;
mod clients;
mod connection;
mod counts;
mod deliveries;
mod endpoints;
pub mod examine;
mod expiry;
mod gateways;
mod ingest;
mod instance;
mod interned;
mod list;
mod migrate;
mod opening;
mod operations;
mod organizations;
mod outbox;
mod pulls;
mod query;
mod readers;
mod retention;
mod rows;
mod signing;
#[cfg(test)]
mod tests;
mod upkeep;
mod watch;
mod writer;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch::{Receiver, Sender};

pub use opening::{Location, SqliteOptions};

use self::audit::Action;
use self::checkpoint::Checkpointer;
use self::readers::Readers;
use self::watch::Watcher;
use self::writer::{Kind, Shared, Writer};
use super::{
    Actor, AttemptEnd, AttemptRecord, Claim, ClaimRequest, ClientRecord, Commit, CommitRequest, Depths, DueDelivery, Forgotten, Horizon,
    IngestRow, KeyRecord, OperatorStore, OrganizationRecord, PullEnd, PullLease, PullState, SharedStore, SigningKeyRecord, Store,
    StoreResult, UnsettledAttempt,
};
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertId, AlertQuery, ApiClient, ApiKey, AtRisk, AttemptId, Company, Delivery, Endpoint, EndpointId, IngestReport, InstanceId,
    NewEndpoint, OrganizationId, Page, Provider,
};

/// A store in one SQLite database. Several processes may have the same one open.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
    changes: Sender<u64>,
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    /// Who the audit log says it was.
    by: Arc<Actor>,
    threads: Arc<Threads>,
}

/// What has to end with the last handle.
struct Threads {
    writer: Arc<Writer>,
    readers: Arc<Readers>,
    checkpointer: Arc<Checkpointer>,
    watcher: Watcher,
}

impl Threads {
    fn close(&self) {
        self.writer.close();
        self.watcher.close();
        self.readers.close();
        self.checkpointer.close();
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.close();
    }
}

impl SqliteStore {
    /// Opens the database, making what is missing: directory, database, data key. Blocks for as long as a migration takes.
    ///
    /// # Errors
    /// [`super::StoreError::Unusable`] says which file is at fault, what is wrong with it and what to do.
    pub fn open(options: &SqliteOptions) -> StoreResult<Arc<Self>> {
        opening::open(options).map(Arc::new)
    }

    /// Finishes all work that was asked for, ends the threads and lets go of the database. What is asked afterwards is refused.
    pub fn close(&self) {
        self.threads.close();
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").field("instance", &self.shared.instances.own()).finish_non_exhaustive()
    }
}

#[async_trait]
impl Store for SqliteStore {
    fn instance(&self) -> InstanceId {
        self.shared.instances.own()
    }

    fn changes(&self) -> Receiver<u64> {
        self.changes.subscribe()
    }

    fn signed(&self, by: Actor) -> SharedStore {
        Arc::new(Self { by: Arc::new(by), ..self.clone() })
    }

    fn operations(&self) -> &dyn OperatorStore {
        self
    }

    async fn ping(&self) -> StoreResult<()> {
        self.readers.read(|reader| Ok(watch::newest_change(&reader.conn).map(drop)?)).await
    }

    async fn organizations(&self) -> StoreResult<Vec<OrganizationRecord>> {
        self.readers.read(|reader| organizations::all(reader)).await
    }

    async fn add_organization(&self, record: OrganizationRecord, now: Timestamp) -> StoreResult<()> {
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                organizations::add(unit, &record, now)?;
                let organization = &record.organization;
                let id = organization.id.to_string();
                audit::record(unit, &by, organization.id, Action::OrganizationCreated, &id, &organization.name, now)
            })
            .await
    }

    async fn companies(&self, organization: OrganizationId) -> StoreResult<Vec<Company>> {
        self.readers.read(move |reader| organizations::companies(reader, organization)).await
    }

    async fn list_alerts(&self, organization: OrganizationId, query: &AlertQuery, now: Timestamp) -> StoreResult<Page<Alert>> {
        let query = query.clone();
        self.readers.read(move |reader| list::list(reader, organization, &query, now)).await
    }

    async fn get_alert(&self, organization: OrganizationId, id: AlertId) -> StoreResult<Option<Alert>> {
        self.readers
            .read(move |reader| {
                let Some(organization) = rows::organization_key(&reader.conn, organization)? else { return Ok(None) };
                Ok(rows::read_by_id(&reader.conn, &mut reader.dictionary, organization, id)?.map(|stored| stored.alert))
            })
            .await
    }

    async fn at_risk(&self, organization: OrganizationId, now: Timestamp, until: Timestamp) -> StoreResult<Vec<AtRisk>> {
        self.readers.read(move |reader| expiry::at_risk(reader, organization, now, until)).await
    }

    async fn count_alerts(&self, organization: OrganizationId) -> StoreResult<u64> {
        self.readers.read(move |reader| list::count_all(reader, organization)).await
    }

    async fn ingest(&self, organization: OrganizationId, rows: Vec<IngestRow>, now: Timestamp) -> StoreResult<IngestReport> {
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                let report = ingest::ingest(unit, organization, rows, now)?;
                audit::taken_in(unit, &by, organization, &report, now)?;
                Ok(report)
            })
            .await
    }

    async fn expire_due(&self, now: Timestamp, limit: u32) -> StoreResult<u64> {
        self.writer.write(Kind::Visible, move |unit| expiry::expire_due(unit, now, limit)).await
    }

    async fn next_deadline(&self) -> StoreResult<Option<Timestamp>> {
        self.readers.read(expiry::next_deadline).await
    }

    async fn claim_resolution(&self, request: ClaimRequest) -> StoreResult<Claim> {
        let by = Arc::clone(&self.by);
        self.writer.write(Kind::Quiet, move |unit| attempts::claim(unit, &request, &by)).await
    }

    async fn commit_resolution(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.writer.write(Kind::Visible, move |unit| attempts::commit(unit, &request)).await
    }

    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.writer.write(Kind::Visible, move |unit| attempts::commit_late(unit, &request)).await
    }

    async fn end_attempt(&self, attempt: AttemptId, generation: i64, end: AttemptEnd, detail: &str, now: Timestamp) -> StoreResult<bool> {
        let detail = detail.to_owned();
        self.writer.write(Kind::Visible, move |unit| attempts::end(unit, attempt, generation, &end, &detail, now)).await
    }

    async fn claim_unsettled(&self, now: Timestamp, lease_until: Timestamp, limit: u32) -> StoreResult<Vec<UnsettledAttempt>> {
        self.writer.write(Kind::Quiet, move |unit| attempts::claim_unsettled(unit, now, lease_until, limit)).await
    }

    async fn claim_due_deliveries(
        &self,
        now: Timestamp,
        lease_until: Timestamp,
        limit: u32,
        per_endpoint: u32,
        skip: &[EndpointId],
    ) -> StoreResult<Vec<DueDelivery>> {
        let skip = skip.to_vec();
        self.writer.write(Kind::Quiet, move |unit| outbox::claim_due(unit, now, lease_until, limit, per_endpoint, &skip)).await
    }

    async fn record_attempts(&self, records: Vec<AttemptRecord>, now: Timestamp) -> StoreResult<()> {
        self.writer.write(Kind::Visible, move |unit| outbox::record(unit, &records, now)).await
    }

    async fn next_due_delivery(&self) -> StoreResult<Option<Timestamp>> {
        self.readers.read(|reader| outbox::next_due(reader)).await
    }

    async fn deliveries_of(&self, organization: OrganizationId, alert: AlertId) -> StoreResult<Vec<Delivery>> {
        self.readers.read(move |reader| deliveries::of_alert(reader, organization, alert)).await
    }

    async fn add_endpoint(&self, organization: OrganizationId, endpoint: NewEndpoint, now: Timestamp) -> StoreResult<Endpoint> {
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                let added = endpoints::add(unit, organization, &endpoint, now)?;
                audit::record(unit, &by, organization, Action::EndpointAdded, &added.id.to_string(), &added.url, now)?;
                Ok(added)
            })
            .await
    }

    async fn endpoints(&self, organization: OrganizationId) -> StoreResult<Vec<Endpoint>> {
        self.readers.read(move |reader| endpoints::of(reader, organization)).await
    }

    async fn add_key(&self, record: KeyRecord) -> StoreResult<()> {
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                access::add_key(unit, &record)?;
                let key = &record.key;
                audit::record(unit, &by, key.organization, Action::KeyCreated, &key.id, key.scope.as_str(), key.created_at)
            })
            .await
    }

    async fn keys(&self, organization: OrganizationId) -> StoreResult<Vec<ApiKey>> {
        self.readers.read(move |reader| access::keys(reader, organization)).await
    }

    async fn key(&self, id: &str) -> StoreResult<Option<KeyRecord>> {
        let id = id.to_owned();
        self.readers.read(move |reader| access::key(&reader.conn, &id)).await
    }

    async fn revoke_key(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiKey>> {
        let id = id.to_owned();
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                let before = unit.conn.total_changes();
                let revoked = access::revoke_key(unit, organization, &id, now)?;
                if revoked.is_some() && unit.conn.total_changes() != before {
                    audit::record(unit, &by, organization, Action::KeyRevoked, &id, "", now)?;
                }
                Ok(revoked)
            })
            .await
    }

    async fn forget(&self, horizon: Horizon, limit: u32, now: Timestamp) -> StoreResult<Forgotten> {
        // Found by a reader, so that a long search holds up nobody's write.
        let found = self.readers.read(move |reader| retention::find(reader, horizon, limit, now)).await?;
        if found.is_empty() {
            return Ok(Forgotten::default());
        }
        self.writer.write(Kind::Quiet, move |unit| retention::forget(unit, &found, now)).await
    }

    async fn probe(&self, now: Timestamp) -> StoreResult<()> {
        self.writer.write(Kind::Quiet, move |unit| upkeep::probe(unit, now)).await
    }

    async fn depths(&self) -> StoreResult<Depths> {
        self.readers.read(|reader| upkeep::depths(reader)).await
    }

    async fn gateways(&self) -> StoreResult<Vec<(Provider, String)>> {
        self.readers.read(|reader| gateways::read(&reader.conn)).await
    }

    async fn keep_gateways(&self, known: Vec<(Provider, Option<String>)>) -> StoreResult<()> {
        self.writer.write(Kind::Quiet, move |unit| gateways::keep(unit, &known)).await
    }

    async fn claim_pull(
        &self,
        source: &str,
        now: Timestamp,
        lease_until: Timestamp,
        longest: std::time::Duration,
    ) -> StoreResult<Option<PullLease>> {
        let source = source.to_owned();
        let longest = i64::try_from(longest.as_micros()).unwrap_or(i64::MAX);
        self.writer.write(Kind::Quiet, move |unit| pulls::claim(unit, &source, now, lease_until, longest)).await
    }

    async fn advance_pull(
        &self,
        source: &str,
        generation: i64,
        cursor: Option<String>,
        now: Timestamp,
        lease_until: Timestamp,
    ) -> StoreResult<bool> {
        let source = source.to_owned();
        self.writer.write(Kind::Quiet, move |unit| pulls::advance(unit, &source, generation, cursor.as_deref(), now, lease_until)).await
    }

    async fn end_pull(&self, source: &str, generation: i64, end: PullEnd) -> StoreResult<bool> {
        let source = source.to_owned();
        self.writer.write(Kind::Quiet, move |unit| pulls::end(unit, &source, generation, &end)).await
    }

    async fn pull_state(&self, source: &str) -> StoreResult<Option<PullState>> {
        let source = source.to_owned();
        self.readers.read(move |reader| pulls::state(reader, &source)).await
    }

    async fn touch_key(&self, id: &str, now: Timestamp) -> StoreResult<()> {
        let id = id.to_owned();
        self.writer.write(Kind::Quiet, move |unit| access::touch_key(unit, &id, now)).await
    }

    async fn add_client(&self, record: ClientRecord) -> StoreResult<()> {
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                clients::add(unit, &record)?;
                let client = &record.client;
                audit::record(unit, &by, client.organization, Action::ClientCreated, &client.id, "", client.created_at)
            })
            .await
    }

    async fn clients(&self, organization: OrganizationId) -> StoreResult<Vec<ApiClient>> {
        self.readers.read(move |reader| clients::of(reader, organization)).await
    }

    async fn client(&self, id: &str) -> StoreResult<Option<ClientRecord>> {
        let id = id.to_owned();
        self.readers.read(move |reader| clients::by_id(&reader.conn, &id)).await
    }

    async fn revoke_client(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiClient>> {
        let id = id.to_owned();
        let by = Arc::clone(&self.by);
        self.writer
            .write(Kind::Visible, move |unit| {
                let before = unit.conn.total_changes();
                let revoked = clients::revoke(unit, organization, &id, now)?;
                if revoked.is_some() && unit.conn.total_changes() != before {
                    audit::record(unit, &by, organization, Action::ClientRevoked, &id, "", now)?;
                }
                Ok(revoked)
            })
            .await
    }

    async fn touch_client(&self, id: &str, now: Timestamp) -> StoreResult<()> {
        let id = id.to_owned();
        self.writer.write(Kind::Quiet, move |unit| clients::touch(unit, &id, now)).await
    }

    async fn signing_key(&self) -> StoreResult<Option<SigningKeyRecord>> {
        let shared = Arc::clone(&self.shared);
        self.readers.read(move |reader| clients::signing_key(&reader.conn, &shared.seal)).await
    }

    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
        self.writer.write(Kind::Quiet, move |unit| clients::keep_signing_key(unit, &record)).await
    }
}
