//! What the fake service has for operators beside its counts: intake, decisions that are not settled, the audit log,
//! keys and clients.

use async_trait::async_trait;
use avert::{
    domain::{
        Alert, AlertId, AlertPatch, AttemptId, AuditEntry, CardScheme, Company, ContradictedAnswer, CreatedCredential,
        Credential, CredentialKind, CredentialList, Environment, HeldCount, IngestOptions, IngestReport, RefundProof,
        ResolutionAttempt, Revoked, SalesCount, SalesMonth, Secret, TruthCounts, TruthReport, attempt::outcome_id,
        rule::automatic::RuleStatus, source::SourceStatus,
    },
    service::{Attempts, Audit, Credentials, Intake, ResolveRequest, Rules, ServiceError, Sources, Truth},
};

use super::fake::{Fake, SECRET, not_asked};

#[async_trait]
impl Intake for Fake {
    async fn ingest(&self, _rows: Vec<AlertPatch>, _options: IngestOptions) -> Result<IngestReport, ServiceError> {
        not_asked()
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        not_asked()
    }
}

#[async_trait]
impl Truth for Fake {
    async fn record_truth(&self, _reports: Vec<TruthReport>) -> Result<TruthCounts, ServiceError> {
        not_asked()
    }

    async fn keep_refund(&self, _id: AlertId, _proof: RefundProof) -> Result<RefundProof, ServiceError> {
        not_asked()
    }

    async fn refunds(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, RefundProof)>, ServiceError> {
        let refunds = self.refunds.lock().unwrap();
        Ok(refunds.iter().filter(|(id, _)| ids.contains(id)).cloned().collect())
    }

    async fn held(&self, _days: u32) -> Result<Vec<HeldCount>, ServiceError> {
        Ok(self.held.lock().unwrap().clone())
    }

    async fn sales(&self) -> Result<Vec<SalesCount>, ServiceError> {
        Ok(self.sales.lock().unwrap().clone())
    }

    async fn enter_sales(&self, _: SalesMonth, _: CardScheme, _: u64) -> Result<SalesCount, ServiceError> {
        not_asked()
    }

    async fn dismiss_contradictions(&self, id: AlertId) -> Result<(), ServiceError> {
        self.contradictions.lock().unwrap().retain(|item| item.alert != id);
        Ok(())
    }

    async fn contradictions(&self) -> Result<Vec<ContradictedAnswer>, ServiceError> {
        Ok(self.contradictions.lock().unwrap().clone())
    }
}

#[async_trait]
impl Rules for Fake {
    async fn rules(&self) -> Result<Vec<RuleStatus>, ServiceError> {
        not_asked()
    }

    async fn stop_rules(&self) -> Result<(), ServiceError> {
        *self.rules_stopped.lock().unwrap() += 1;
        Ok(())
    }

    async fn start_rules(&self) -> Result<(), ServiceError> {
        not_asked()
    }
}

#[async_trait]
impl Sources for Fake {
    async fn sources(&self) -> Result<Vec<SourceStatus>, ServiceError> {
        Ok(self.sources.lock().unwrap().clone())
    }
}

#[async_trait]
impl Attempts for Fake {
    async fn unfinished(&self) -> Result<Vec<ResolutionAttempt>, ServiceError> {
        self.up()?;
        Ok(self.unfinished.lock().unwrap().clone())
    }

    async fn decide_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError> {
        self.settled.lock().unwrap().push((id, applied));
        let place = self
            .unfinished
            .lock()
            .unwrap()
            .iter()
            .position(|unfinished| unfinished.id == id && unfinished.state == "PARKED");
        let Some(place) = place else { return Err(ServiceError::Conflict("it does not wait for a person".to_owned())) };
        let ResolutionAttempt { alert, resolution, .. } = self.unfinished.lock().unwrap().remove(place);
        let is_answered = self.alert(alert).is_some_and(|alert| alert.outcome.is_some());
        if applied && !is_answered {
            self.record(alert, &ResolveRequest { resolution, idempotency_key: None })?;
            let mut recorded = None;
            self.change(|alerts| {
                if let Some(alert) = alerts.iter_mut().find(|one| one.id == alert) {
                    alert.outcome.iter_mut().for_each(|outcome| outcome.id = outcome_id(id));
                    recorded = Some(alert.clone());
                }
            });
            return recorded.ok_or(ServiceError::AlertNotFound(alert));
        }
        self.alert(alert).ok_or(ServiceError::AlertNotFound(alert))
    }
}

#[async_trait]
impl Audit for Fake {
    async fn audit(&self, before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError> {
        *self.audit_asked.lock().unwrap() += 1;
        self.up()?;
        let entries = self.audit.lock().unwrap();
        let older = entries.iter().filter(|entry| before.is_none_or(|before| entry.number < before));
        Ok(older.take(size as usize).cloned().collect())
    }
}

#[async_trait]
impl Credentials for Fake {
    async fn credentials(&self) -> Result<CredentialList, ServiceError> {
        self.up()?;
        let credentials = self.credentials.lock().unwrap().clone();
        let in_use = self.own.lock().unwrap().clone();
        Ok(CredentialList {
            organization: "acme-eu".to_owned(),
            environment: Environment::Production,
            credentials,
            in_use,
        })
    }

    async fn create_credential(&self, kind: CredentialKind) -> Result<CreatedCredential, ServiceError> {
        self.up()?;
        let id = format!(
            "{}{}",
            if kind == CredentialKind::Client { "avc_live_NewClient0" } else { "NewKey0000" },
            self.credentials.lock().unwrap().len()
        );
        let credential = Credential {
            kind,
            id,
            environment: Some(Environment::Sandbox),
            created_at: self.now(),
            last_used_at: None,
            revoked_at: None,
        };
        self.credentials.lock().unwrap().push(credential.clone());
        Ok(CreatedCredential { credential, secret: Secret::new(SECRET) })
    }

    async fn revoke_credential(&self, _kind: CredentialKind, id: &str) -> Result<Revoked, ServiceError> {
        self.up()?;
        let now = self.now();
        let mut credentials = self.credentials.lock().unwrap();
        let found = credentials.iter_mut().find(|credential| credential.id == id);
        let credential = found.ok_or_else(|| ServiceError::NotFound(format!("key {id}")))?;
        let already = credential.revoked_at.is_some();
        credential.revoked_at.get_or_insert(now);
        Ok(Revoked { credential: credential.clone(), already })
    }
}
