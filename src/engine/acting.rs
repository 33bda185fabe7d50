//! The services, bound to a caller.

use async_trait::async_trait;
use chrono::TimeDelta;

use super::access::{id_of_key, named};
use super::{Caller, Engine, later_by, unavailable};
use crate::domain::{
    Alert, AlertId, AlertQuery, ApiClient, ApiKey, AtRisk, Company, CreatedClient, CreatedKey, Delivery, Endpoint, IncomingAlert,
    IngestOptions, IngestReport, KeyScope, NewEndpoint, Page,
};
use crate::service::{AlertService, Operations, OperatorService, ResolveRequest, ServiceError};
use crate::store::SharedStore;

/// An engine that acts for one caller. Everything it sees and does belongs to the caller's organization.
#[derive(Debug, Clone)]
pub struct ActingEngine {
    pub(super) engine: Engine,
    pub(super) caller: Caller,
}

impl ActingEngine {
    pub(super) fn new(engine: Engine, caller: Caller) -> Self {
        Self { engine, caller }
    }

    /// For whom it acts.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The store, whose changes the audit log puts down to the caller.
    pub(super) fn store(&self) -> SharedStore {
        self.engine.signed(&self.caller)
    }

    pub(super) fn organization(&self) -> crate::domain::OrganizationId {
        self.caller.organization.organization.id
    }
}

#[async_trait]
impl AlertService for ActingEngine {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        self.engine.store().list_alerts(self.organization(), query, self.engine.now()).await.map_err(unavailable)
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.engine.store().get_alert(self.organization(), id).await.map_err(unavailable)?.ok_or(ServiceError::AlertNotFound(id))
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.engine.resolve(&self.caller, id, request).await
    }
}

#[async_trait]
impl OperatorService for ActingEngine {
    fn operations(&self) -> Option<&dyn Operations> {
        Some(self)
    }

    async fn ingest(&self, rows: Vec<IncomingAlert>, options: IngestOptions) -> Result<IngestReport, ServiceError> {
        self.engine.ingest(&self.caller, rows, options).await
    }

    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        let now = self.engine.now();
        let until = later_by(now, TimeDelta::hours(within_hours.into()));
        self.engine.store().at_risk(self.organization(), now, until).await.map_err(unavailable)
    }

    async fn count_all(&self) -> Result<u64, ServiceError> {
        self.engine.store().count_alerts(self.organization()).await.map_err(unavailable)
    }

    async fn endpoints(&self) -> Result<Vec<Endpoint>, ServiceError> {
        self.engine.store().endpoints(self.organization()).await.map_err(unavailable)
    }

    async fn add_endpoint(&self, endpoint: NewEndpoint) -> Result<Endpoint, ServiceError> {
        let endpoint = endpoint.validate().map_err(ServiceError::InvalidRequest)?;
        let added = self.store().add_endpoint(self.organization(), endpoint, self.engine.now()).await.map_err(unavailable)?;
        tracing::info!(actor = %self.caller.actor, endpoint = %added.id, "endpoint added");
        Ok(added)
    }

    async fn deliveries_of(&self, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
        self.engine.store().deliveries_of(self.organization(), alert).await.map_err(unavailable)
    }

    async fn create_key(&self, scope: KeyScope) -> Result<CreatedKey, ServiceError> {
        self.engine.create_key(&self.caller, scope).await
    }

    async fn keys(&self) -> Result<Vec<ApiKey>, ServiceError> {
        self.engine.store().keys(self.organization()).await.map_err(unavailable)
    }

    async fn revoke_key(&self, id: &str) -> Result<ApiKey, ServiceError> {
        let id = id_of_key(id);
        let revoked = self.store().revoke_key(self.organization(), id, self.engine.now()).await.map_err(unavailable)?;
        let key = revoked.ok_or_else(|| ServiceError::NotFound(named("key", id)))?;
        tracing::info!(actor = %self.caller.actor, key = %key.id, "key revoked");
        Ok(key)
    }

    async fn create_client(&self) -> Result<CreatedClient, ServiceError> {
        self.engine.create_client(&self.caller).await
    }

    async fn clients(&self) -> Result<Vec<ApiClient>, ServiceError> {
        self.engine.store().clients(self.organization()).await.map_err(unavailable)
    }

    async fn revoke_client(&self, id: &str) -> Result<ApiClient, ServiceError> {
        self.engine.revoke_client(&self.caller, id).await
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        self.engine.store().companies(self.organization()).await.map_err(unavailable)
    }

    async fn try_writing(&self) -> Result<(), ServiceError> {
        self.engine.store().probe(self.engine.now()).await.map_err(unavailable)
    }

    async fn next_change(&self, after: u64) -> Result<u64, ServiceError> {
        let mut changes = self.engine.store().changes();
        let newest = changes.wait_for(|&number| number > after).await.map(|number| *number);
        newest.map_err(|_| ServiceError::Unavailable("the database was closed".to_owned()))
    }
}
