//! The whole store on SQLite: who it is, what changed, and credentials.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch::Receiver;

use super::handle::SqliteStore;
use super::writer::Kind;
use super::{access, audit, clients};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{Actor, ApiClient, ApiKey, InstanceId, OrganizationId};
use crate::store::{ClientRecord, KeyRecord, SharedStore, SigningKeyRecord, Store, StoreResult};

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

    async fn add_key(&self, record: KeyRecord) -> StoreResult<()> {
        self.write(Kind::Visible, move |unit, by| {
            access::add_key(unit, &record)?;
            let key = &record.key;
            audit::record(unit, by, key.organization, AuditNote::key_created(key), key.created_at)
        })
        .await
    }

    async fn keys(&self, organization: OrganizationId) -> StoreResult<Vec<ApiKey>> {
        self.read(move |reader| access::keys(reader, organization)).await
    }

    async fn key(&self, id: &str) -> StoreResult<Option<KeyRecord>> {
        let id = id.to_owned();
        self.read(move |reader| access::key(&reader.conn, &id)).await
    }

    async fn revoke_key(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiKey>> {
        let id = id.to_owned();
        self.write(Kind::Visible, move |unit, by| {
            let before = unit.conn.total_changes();
            let revoked = access::revoke_key(unit, organization, &id, now)?;
            if revoked.is_some() && unit.conn.total_changes() != before {
                audit::record(unit, by, organization, AuditNote::key_revoked(&id), now)?;
            }
            Ok(revoked)
        })
        .await
    }

    async fn touch_key(&self, id: &str, now: Timestamp) -> StoreResult<()> {
        let id = id.to_owned();
        self.write(Kind::Quiet, move |unit, _| access::touch_key(unit, &id, now)).await
    }

    async fn add_client(&self, record: ClientRecord) -> StoreResult<()> {
        self.write(Kind::Visible, move |unit, by| {
            clients::add(unit, &record)?;
            let client = &record.client;
            audit::record(unit, by, client.organization, AuditNote::client_created(&client.id), client.created_at)
        })
        .await
    }

    async fn clients(&self, organization: OrganizationId) -> StoreResult<Vec<ApiClient>> {
        self.read(move |reader| clients::of(reader, organization)).await
    }

    async fn client(&self, id: &str) -> StoreResult<Option<ClientRecord>> {
        let id = id.to_owned();
        self.read(move |reader| clients::by_id(&reader.conn, &id)).await
    }

    async fn revoke_client(&self, organization: OrganizationId, id: &str, now: Timestamp) -> StoreResult<Option<ApiClient>> {
        let id = id.to_owned();
        self.write(Kind::Visible, move |unit, by| {
            let before = unit.conn.total_changes();
            let revoked = clients::revoke(unit, organization, &id, now)?;
            if revoked.is_some() && unit.conn.total_changes() != before {
                audit::record(unit, by, organization, AuditNote::client_revoked(&id), now)?;
            }
            Ok(revoked)
        })
        .await
    }

    async fn touch_client(&self, id: &str, now: Timestamp) -> StoreResult<()> {
        let id = id.to_owned();
        self.write(Kind::Quiet, move |unit, _| clients::touch(unit, &id, now)).await
    }

    async fn signing_key(&self) -> StoreResult<Option<SigningKeyRecord>> {
        let shared = Arc::clone(&self.shared);
        self.read(move |reader| clients::signing_key(&reader.conn, &shared.seal)).await
    }

    async fn keep_signing_key(&self, record: SigningKeyRecord) -> StoreResult<SigningKeyRecord> {
        self.write(Kind::Quiet, move |unit, _| clients::keep_signing_key(unit, &record)).await
    }
}
