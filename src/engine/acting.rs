//! The engine's handle for one caller: every capability of the seam stands behind it.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::handle::{Caller, Engine, service_error};
use crate::{
    domain::{
        Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AtRisk, AttemptId, AuditEntry, AuditState, Calendar,
        CardScheme, Company, ContradictedAnswer, Count, CurrencySum, FieldError, FindQuery, HeldCount, IngestOptions,
        IngestReport, Insights, OrganizationId, Page, RefundProof, ResolutionAttempt, SalesCount, SalesMonth,
        SharedAlert, TruthCounts, TruthReport, duplicate, query::Vocabulary, time::later_by,
    },
    service::{
        Alerts, Attempts, Audit, Changes, Deployment, Duplicates, Find, Intake, ResolveRequest, ServiceError, Stats,
        Truth,
    },
    store::{Decided, SharedStore},
};

/// A service handle: an engine bound to one caller. Everything it sees and does belongs to the caller's organization.
#[derive(Debug, Clone)]
pub struct ActingEngine {
    pub(super) engine: Engine,
    pub(super) caller: Caller,
}

impl Engine {
    /// The service traits, implemented for a caller.
    pub fn acting_for(&self, caller: Caller) -> ActingEngine {
        ActingEngine { engine: self.clone(), caller }
    }

    /// The services, bound to a caller, as a console takes them.
    pub fn deployment(&self, caller: Caller) -> Deployment {
        let handle = Arc::new(self.acting_for(caller));
        Deployment::whole(handle).asked_in(Vocabulary::Desk)
    }
}

impl ActingEngine {
    /// Returns those of these alerts that are there, each with the others on its payment, refunded ones first.
    pub async fn on_payments(&self, ids: Vec<AlertId>) -> Result<Vec<(Alert, Vec<Alert>)>, ServiceError> {
        let candidates = self.engine.store().alike(self.organization(), ids).await.map_err(service_error)?;
        let told = |(alert, others): (Alert, Vec<Alert>)| {
            let others = duplicate::of(&alert, &others);
            (alert, others)
        };
        Ok(candidates.into_iter().map(told).collect())
    }

    /// Caller for whom it acts.
    pub fn caller(&self) -> &Caller {
        &self.caller
    }

    /// The store, whose changes the audit log puts down to the caller.
    pub(super) fn store(&self) -> SharedStore {
        self.engine.signed(&self.caller)
    }

    pub(super) fn organization(&self) -> OrganizationId {
        self.caller.organization.organization.id
    }

    /// Lists as [`Alerts::list`] does, without a copy of what was read.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn list_shared(&self, query: &AlertQuery) -> Result<Page<SharedAlert>, ServiceError> {
        self.engine.store().list_alerts(self.organization(), query, self.engine.now()).await.map_err(service_error)
    }

    /// Reads as [`Alerts::get`] does, without a copy of what was read.
    ///
    /// # Errors
    /// [`ServiceError::AlertNotFound`], or when the store cannot answer.
    pub async fn get_shared(&self, id: AlertId) -> Result<SharedAlert, ServiceError> {
        self.engine
            .store()
            .get_alert(self.organization(), id)
            .await
            .map_err(service_error)?
            .ok_or(ServiceError::AlertNotFound(id))
    }

    /// Checks every hash of the whole audit log, of all organizations.
    pub async fn verify_audit(&self) -> Result<AuditState, ServiceError> {
        self.store().verify_audit().await.map_err(service_error)
    }
}

#[async_trait]
impl Alerts for ActingEngine {
    async fn list(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
        Ok(self.list_shared(query).await?.map(SharedAlert::into_alert))
    }

    async fn get(&self, id: AlertId) -> Result<Alert, ServiceError> {
        self.get_shared(id).await.map(SharedAlert::into_alert)
    }

    /// Returns zero: the clock is this machine's own.
    async fn clock_lead(&self) -> Result<Option<TimeDelta>, ServiceError> {
        Ok(Some(TimeDelta::zero()))
    }

    async fn resolve(&self, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        self.engine.resolve(&self.caller, id, request).await
    }
}

#[async_trait]
impl Intake for ActingEngine {
    async fn ingest(&self, rows: Vec<AlertPatch>, options: IngestOptions) -> Result<IngestReport, ServiceError> {
        self.engine.ingest(&self.caller, rows, options).await
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        self.engine.store().companies(self.organization()).await.map_err(service_error)
    }
}

#[async_trait]
impl Attempts for ActingEngine {
    async fn unfinished(&self) -> Result<Vec<ResolutionAttempt>, ServiceError> {
        self.store().unfinished(self.organization()).await.map_err(service_error)
    }

    async fn decide_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError> {
        match self
            .store()
            .decide_parked(self.organization(), id, applied, self.engine.now())
            .await
            .map_err(service_error)?
        {
            Decided::Done(alert) => {
                tracing::info!(actor = %self.caller.actor.name, attempt = %id, applied, "a parked decision was \
                    settled by a person");
                Ok(*alert)
            }
            Decided::NotFound => Err(ServiceError::NotFound(format!("attempt {id}"))),
            Decided::NotParked(state) => {
                Err(ServiceError::Conflict(format!("the attempt is {state}: it does not wait for a person")))
            }
        }
    }
}

#[async_trait]
impl Audit for ActingEngine {
    async fn audit(&self, before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError> {
        self.store().audit(self.organization(), before, size).await.map_err(service_error)
    }
}

#[async_trait]
impl Find for ActingEngine {
    async fn find(&self, query: &FindQuery, size: u32) -> Result<Vec<Alert>, ServiceError> {
        self.engine.store().find(self.organization(), query, size).await.map_err(service_error)
    }
}

#[async_trait]
impl Duplicates for ActingEngine {
    async fn duplicates(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, Vec<Alert>)>, ServiceError> {
        Ok(self.on_payments(ids).await?.into_iter().map(|(alert, others)| (alert.id, others)).collect())
    }
}

#[async_trait]
impl Stats for ActingEngine {
    async fn count_all(&self) -> Result<u64, ServiceError> {
        self.engine.store().count_alerts(self.organization()).await.map_err(service_error)
    }

    async fn counts(&self) -> Result<Vec<Count>, ServiceError> {
        self.store().counts(self.organization()).await.map_err(service_error)
    }

    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        let now = self.engine.now();
        let until = later_by(now, TimeDelta::hours(within_hours.into()));
        let due = self.engine.store().due(Some(self.organization()), now, until).await.map_err(service_error)?;
        let sums = CurrencySum::by_currency(due.into_iter().map(|(_, sum)| sum));
        Ok(sums.into_iter().map(|CurrencySum { alerts, money, .. }| AtRisk { alerts, money }).collect())
    }

    async fn sums(&self, filter: &AlertFilter) -> Result<Vec<CurrencySum>, ServiceError> {
        self.engine.store().sums(self.organization(), filter, self.engine.now()).await.map_err(service_error)
    }

    async fn insights(&self, filter: &AlertFilter, calendar: Calendar) -> Result<Insights, ServiceError> {
        self.engine
            .store()
            .insights(self.organization(), filter, calendar, self.engine.now())
            .await
            .map_err(service_error)
    }
}

/// Days over which contradicted answers are listed.
const CONTRADICTION_DAYS: i64 = 90;

/// Most contradicted answers that are listed.
const MOST_CONTRADICTIONS: u32 = 100;

#[async_trait]
impl Truth for ActingEngine {
    async fn record_truth(&self, reports: Vec<TruthReport>) -> Result<TruthCounts, ServiceError> {
        let reports = reports.into_iter().map(TruthReport::validate).collect::<Result<_, _>>().map_err(refused)?;
        self.store().record_truth(self.organization(), reports, self.engine.now()).await.map_err(service_error)
    }

    async fn keep_refund(&self, id: AlertId, proof: RefundProof) -> Result<RefundProof, ServiceError> {
        let proof = proof.validate().map_err(refused)?;
        let (store, now) = (self.store(), self.engine.now());
        let kept = store.keep_refund(self.organization(), id, proof, now).await.map_err(service_error)?;
        kept.ok_or(ServiceError::AlertNotFound(id))
    }

    async fn refunds(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, RefundProof)>, ServiceError> {
        self.engine.store().refunds(self.organization(), ids).await.map_err(service_error)
    }

    async fn held(&self, days: u32) -> Result<Vec<HeldCount>, ServiceError> {
        let since = self.engine.now() - TimeDelta::days(days.into());
        self.engine.store().held(self.organization(), since).await.map_err(service_error)
    }

    async fn dismiss_contradictions(&self, id: AlertId) -> Result<(), ServiceError> {
        let is_there = self.store().dismiss_contradictions(self.organization(), id, self.engine.now()).await;
        if is_there.map_err(service_error)? { Ok(()) } else { Err(ServiceError::AlertNotFound(id)) }
    }

    async fn contradictions(&self) -> Result<Vec<ContradictedAnswer>, ServiceError> {
        let since = self.engine.now() - TimeDelta::days(CONTRADICTION_DAYS);
        let found = self.engine.store().contradictions(self.organization(), since, MOST_CONTRADICTIONS);
        found.await.map_err(service_error)
    }

    async fn sales(&self) -> Result<Vec<SalesCount>, ServiceError> {
        self.engine.store().sales(self.organization()).await.map_err(service_error)
    }

    async fn enter_sales(&self, month: SalesMonth, scheme: CardScheme, count: u64) -> Result<SalesCount, ServiceError> {
        let sales = SalesCount { month, scheme, count, entered_at: self.engine.now() }.validate().map_err(refused)?;
        self.store().enter_sales(self.organization(), sales).await.map_err(service_error)?;
        Ok(sales)
    }
}

fn refused(error: FieldError) -> ServiceError {
    ServiceError::InvalidRequest(vec![error])
}

#[async_trait]
impl Changes for ActingEngine {
    async fn next_change(&self, after: u64) -> Result<u64, ServiceError> {
        let mut changes = self.engine.store().changes();
        let newest = changes.wait_for(|&number| number > after).await.map(|number| *number);
        newest.map_err(|_| ServiceError::Unavailable("the database was closed".to_owned()))
    }

    async fn try_writing(&self) -> Result<(), ServiceError> {
        self.engine.store().probe(self.engine.now()).await.map_err(service_error)
    }
}
