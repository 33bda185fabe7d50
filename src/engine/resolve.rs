//! The resolve use case: claim, ask the provider, commit.
//!
//! The provider is called outside any transaction, and the whole runs in a task of its own: a caller who hangs up
//! changes nothing.

use std::time::Duration;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use tokio::time::Instant;
use tracing::Instrument;

use super::{
    handle::{Caller, Engine, later, locked, service_error, span},
    metrics,
};
use crate::{
    domain::{
        Alert, AlertId, AttemptId, Holder, MonotonicTime, OrganizationId, Present, Resolution,
        attempt::{check_idempotency_key, outcome_id},
        redact,
        rule::automatic::AutomaticRule,
        time::later_by,
    },
    providers::{Cause, LookUp, Submission, SubmitResult},
    service::{FoundOutBy, OutcomeUnknown, ResolveRequest, ServiceError},
    store::{AttemptEnd, Claim, ClaimRequest, Commit, CommitRequest, SharedStore, StoreError, StoreResult},
};

/// Backoff bounds between claims, after a lost claim.
const FIRST_GAP: Duration = Duration::from_millis(5);
const LONGEST_GAP: Duration = Duration::from_millis(250);

/// Liveness poll interval, 1 s: a holder of the claim that crashed writes nothing to the store.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// Result of recording a provider's acceptance.
pub(super) enum Landed {
    /// Our decision is the alert's outcome.
    Ours(Box<Alert>),
    /// The alert has another outcome; the attempt is parked for a person.
    Anothers(Box<Alert>),
}

/// Error of a decision that was not sent: no network is called until the attempt is known to be claimed.
fn not_sent(error: StoreError) -> ServiceError {
    match error {
        StoreError::Unavailable(text) => ServiceError::NotReached(format!("the database cannot do this now ({text})")),
        refused @ StoreError::Refused(..) => ServiceError::NotReached(refused.to_string()),
        error => service_error(error),
    }
}

impl Engine {
    /// Records a resolution: claims the alert, calls its network, and commits the outcome.
    pub(super) async fn resolve(
        &self,
        caller: &Caller,
        id: AlertId,
        request: ResolveRequest,
    ) -> Result<Alert, ServiceError> {
        request
            .idempotency_key
            .as_deref()
            .map_or(Ok(()), check_idempotency_key)
            .map_err(|error| ServiceError::InvalidRequest(vec![error]))?;
        let (engine, caller) = (self.clone(), caller.clone());
        let counted = Deciding::begin(self);
        let span = tracing::info_span!("resolve", alert = %id, actor = %caller.actor.name);
        let work = async move {
            let _counted = counted;
            engine.resolve_here(&caller, id, request).await
        };
        let result = match self.inner.tasks.spawn(work.instrument(span)).await {
            Ok(result) => result,
            Err(error) => {
                tracing::error!(%error, alert = %id, "a resolution broke off; its attempt is left to the reconciler");
                let why = "the service broke off while the answer was being sent";
                Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new(why, FoundOutBy::RunningProcess)))
            }
        };
        metrics::resolved(&result);
        result
    }

    /// Returns whether decisions are with a network, or wait for their turn.
    pub fn is_deciding(&self) -> bool {
        *self.inner.deciding.borrow() > 0
    }

    /// Waits until no decision is with a network and none waits for its turn.
    pub async fn decisions_ended(&self) {
        // It ends only with the engine itself.
        let _ = self.inner.deciding.subscribe().wait_for(|deciding| *deciding == 0).await;
    }

    async fn resolve_here(&self, caller: &Caller, id: AlertId, request: ResolveRequest) -> Result<Alert, ServiceError> {
        let (store, organization) = (self.signed(caller), caller.organization.organization.id);
        let read = store.get_alert(organization, id).await.map_err(not_sent)?;
        let alert = read.ok_or(ServiceError::AlertNotFound(id))?;
        let resolution = request.resolution.checked(alert.money().as_ref()).map_err(ServiceError::InvalidResolution)?;
        if alert.outcome.is_some() && request.idempotency_key.is_none() {
            return Err(ServiceError::AlreadyResolved(Box::new(alert.into_alert())));
        }
        // The key is anybody's text, a card number perhaps; only whether it is the same one matters.
        let key = request.idempotency_key.map(|key| BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(key)));
        match self.claim(&store, organization, id, resolution, key).await? {
            Turn::Ours(mut sending) => {
                sending.submission.trace.clone_from(&caller.actor.trace);
                sending.send().await
            }
            Turn::Replay(alert) => Ok(*alert),
        }
    }

    /// Claims the one running resolution of the alert, or waits for whoever has it.
    async fn claim(
        &self,
        store: &SharedStore,
        organization: OrganizationId,
        id: AlertId,
        resolution: Resolution,
        idempotency_key: Option<String>,
    ) -> Result<Turn, ServiceError> {
        let patience = Instant::now() + self.settings().wait_for_winner;
        let attempt = AttemptId::generate();
        let mut changes = store.changes();
        let mut gap = FIRST_GAP;
        loop {
            changes.mark_unchanged();
            let request = ClaimRequest {
                idempotency_key: idempotency_key.clone(),
                ..self.claim_request(attempt, organization, id, resolution.clone())
            };
            let now = request.now;
            match store.claim_resolution(request).await.map_err(not_sent)? {
                Claim::Claimed { alert, generation } => {
                    let submission = Submission::of(attempt, &alert, resolution);
                    return Ok(Turn::Ours(Box::new(self.sending(submission, generation, now))));
                }
                Claim::NotFound => return Err(ServiceError::AlertNotFound(id)),
                Claim::AlreadyResolved(alert) => return Err(ServiceError::AlreadyResolved(alert)),
                Claim::Replay(alert) => return Ok(Turn::Replay(alert)),
                Claim::IdempotencyKeyReused => return Err(ServiceError::IdempotencyKeyReused),
                // Nobody but a person ends it, and that takes longer than any caller waits.
                Claim::InProgress(Holder::Person(parked)) => return Err(ServiceError::WaitsForPerson(parked)),
                // Whoever had it is gone: what became of it is found out now, not when the reconciler comes by.
                Claim::InProgress(Holder::Nobody) => self.reconcile_now(),
                Claim::InProgress(Holder::Somebody) => {}
            }
            // The winner's end is a change of the store. Others' changes wake us too, so the attempts are spread out.
            let woken = tokio::time::timeout_at(patience, async {
                let closed = matches!(tokio::time::timeout(CHECK_INTERVAL, changes.changed()).await, Ok(Err(_)));
                tokio::time::sleep(gap).await;
                closed
            });
            match woken.await {
                Ok(false) => {}
                Ok(true) => return Err(ServiceError::Unavailable("the database was closed".to_owned())),
                Err(_) => return Err(ServiceError::ResolutionInProgress),
            }
            gap = (gap * 2).min(LONGEST_GAP);
        }
    }

    /// A claim from now on.
    fn claim_request(
        &self,
        attempt: AttemptId,
        organization: OrganizationId,
        alert: AlertId,
        resolution: Resolution,
    ) -> ClaimRequest {
        let now = self.present();
        let body_hash = Sha256::digest(resolution.canonical()).into();
        let deadline = later(now.date, self.settings().longest_decision());
        ClaimRequest { attempt, organization, alert, resolution, body_hash, idempotency_key: None, deadline, now }
    }

    /// A submission that was claimed at this moment.
    fn sending(&self, submission: Submission, generation: i64, claimed: Present) -> Sending {
        let settings = self.settings();
        let spare = settings.longest_decision().saturating_sub(settings.provider_timeout);
        Sending { engine: self.clone(), generation, submission, begin_by: claimed.counted.after(span(spare)) }
    }

    /// Records the answer of a rule in the same way; `None` where the rule does not answer by now, or somebody else
    /// does.
    pub(super) async fn resolve_by_rule(
        &self,
        organization: OrganizationId,
        id: AlertId,
        rule: &AutomaticRule,
    ) -> Option<Result<Alert, ServiceError>> {
        let _counted = Deciding::begin(self);
        let resolution = rule.resolution();
        let request = self.claim_request(AttemptId::generate(), organization, id, resolution.clone());
        let (attempt, now) = (request.attempt, request.now);
        let result = match self.store().signed(rule.actor()).claim_by_rule(request, rule.clone()).await {
            Ok(Some(Claim::Claimed { alert, generation })) => {
                self.sending(Submission::of(attempt, &alert, resolution), generation, now).send().await
            }
            Ok(_) => return None,
            Err(error) => Err(not_sent(error)),
        };
        metrics::resolved(&result);
        Some(result)
    }

    /// Stores a provider's acceptance. Fenced first; where the fence has moved, the acceptance still counts as long as
    /// the alert has no outcome.
    pub(super) async fn commit_accepted(&self, attempt: AttemptId, generation: i64) -> StoreResult<Landed> {
        let request = CommitRequest { attempt, generation, now: self.now() };
        let landed = match self.store().commit_resolution(request.clone()).await {
            Ok(Commit::Committed(alert)) => Ok(Landed::Ours(alert)),
            Ok(Commit::Fenced(alert)) if is_outcome_of(attempt, &alert) => Ok(Landed::Ours(alert)),
            Ok(Commit::Fenced(_)) => self.commit_late(request.clone()).await,
            Err(error) => Err(error),
        };
        if landed.is_err() {
            locked(&self.inner.late).push(request);
            self.check_at(self.counted());
        }
        landed
    }

    /// Stores an acceptance that lost its fence, or that the store could not take before.
    pub(super) async fn commit_late(&self, request: CommitRequest) -> StoreResult<Landed> {
        let attempt = request.attempt;
        match self.store().commit_late(request).await? {
            Commit::Committed(alert) => Ok(Landed::Ours(alert)),
            Commit::Fenced(alert) if is_outcome_of(attempt, &alert) => Ok(Landed::Ours(alert)),
            Commit::Fenced(alert) => {
                tracing::error!(%attempt, alert = %alert.id, "the network took a decision on an alert that has \
                    another outcome: parked");
                Ok(Landed::Anothers(alert))
            }
        }
    }
}

/// One decision that a caller waits for, as long as this lives.
struct Deciding(Engine);

impl Deciding {
    fn begin(engine: &Engine) -> Self {
        engine.inner.deciding.send_modify(|deciding| *deciding += 1);
        Self(engine.clone())
    }
}

impl Drop for Deciding {
    fn drop(&mut self) {
        self.0.inner.deciding.send_modify(|deciding| *deciding = deciding.saturating_sub(1));
    }
}

fn is_outcome_of(attempt: AttemptId, alert: &Alert) -> bool {
    alert.outcome.as_ref().is_some_and(|outcome| outcome.id == outcome_id(attempt))
}

enum Turn {
    Ours(Box<Sending>),
    Replay(Box<Alert>),
}

/// A claimed resolution on its way to the provider.
struct Sending {
    engine: Engine,
    generation: i64,
    submission: Submission,
    /// Latest start of the call: it then ends before another process may take the attempt over.
    begin_by: MonotonicTime,
}

impl Sending {
    async fn send(self) -> Result<Alert, ServiceError> {
        if self.begin_by.has_come(self.engine.counted()) {
            // The database, or the whole process, stood still since the claim.
            return self.release_saying("not sent: its turn came too late; try again".to_owned()).await;
        }
        if let Some(why) = self.engine.closed(&self.submission).await {
            return self.release_saying(why).await;
        }
        match self.engine.submit(&self.submission).await {
            SubmitResult::Accepted => self.commit().await,
            SubmitResult::Declined(why) => self.release(&why.to_string()).await,
            SubmitResult::Indeterminate(cause) => self.clear_up(&cause).await,
        }
    }

    /// Commits an accepted resolution.
    async fn commit(self) -> Result<Alert, ServiceError> {
        match self.engine.commit_accepted(self.submission.attempt, self.generation).await {
            Ok(Landed::Ours(alert)) => Ok(*alert),
            Ok(Landed::Anothers(alert)) => Err(ServiceError::AlreadyResolved(alert)),
            Err(error) => {
                tracing::error!(%error, attempt = %self.submission.attempt, "the network took the decision, the store \
                    did not");
                let why = "the network has the answer, but it could not be stored yet";
                Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new(why, FoundOutBy::Storing)))
            }
        }
    }

    /// Releases the attempt after the network declined it.
    async fn release(self, why: &str) -> Result<Alert, ServiceError> {
        self.release_saying(redact::words(why)).await
    }

    /// Releases the attempt for this reason, in words of our own.
    async fn release_saying(self, why: String) -> Result<Alert, ServiceError> {
        match self.end(AttemptEnd::Released, &why).await {
            // If the store cannot record it, the reconciler finds it declined again.
            Ok(true) | Err(()) => Err(ServiceError::ProviderFailed(why)),
            Ok(false) => {
                let why = format!("another process has taken the answer over meanwhile ({why})");
                Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new(why, FoundOutBy::RunningProcess)))
            }
        }
    }

    /// Finds out what became of an indeterminate attempt: by one look-up where the provider can, else by the
    /// reconciler, or by a person where that can do nothing.
    async fn clear_up(self, cause: &Cause) -> Result<Alert, ServiceError> {
        let (engine, settings) = (&self.engine, self.engine.settings());
        let capabilities = engine.answering(&self.submission).capabilities();
        // The call has been answered or cut off; what it left behind at the provider becomes visible from here on.
        let calls_over = engine.counted();
        tracing::warn!(attempt = %self.submission.attempt, %cause, "the provider's answer is in doubt");
        if capabilities.lookup {
            match engine.look_up(&self.submission).await {
                LookUp::Applied => return self.commit().await,
                LookUp::AnsweredOtherwise(what) => {
                    return self.release(&format!("the network holds another answer to this alert: {what}")).await;
                }
                LookUp::NotKnown if calls_over.after(span(capabilities.consistency_lag)).has_come(calls_over) => {
                    return self.release(&format!("{cause}; it does not know of the answer")).await;
                }
                LookUp::Refused(why) => return self.release(&format!("it refused: {why}")).await,
                LookUp::NotKnown | LookUp::NotTold(_) | LookUp::Failed(_) => {}
            }
        }
        let why = redact::words(&cause.to_string());
        let found_out_by = engine.found_out_by(&self.submission);
        if found_out_by == FoundOutBy::Person {
            // No check of ours would find anything out. What the store cannot take is left to the reconciler.
            self.end(AttemptEnd::Parked, &left_to_a_person(&why)).await.ok();
            return Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new(why, found_out_by)));
        }
        let (now, gap) = (engine.present(), span(settings.checks.first().copied().unwrap_or_default()));
        if self.end(AttemptEnd::Unknown { next_check: later_by(now.date, gap), calls_over }, &why).await == Ok(true) {
            engine.check_at(now.counted.after(gap));
        }
        Err(ServiceError::ProviderOutcomeUnknown(OutcomeUnknown::new(why, found_out_by)))
    }

    /// Ends the attempt without an outcome; whether the fence held.
    async fn end(&self, end: AttemptEnd, detail: &str) -> Result<bool, ()> {
        let attempt = self.submission.attempt;
        let ended = self.engine.store().end_attempt(attempt, self.generation, end, detail, self.engine.present()).await;
        ended.map_err(|error| {
            tracing::error!(%error, %attempt, "the end of an attempt was not stored; it is left to \
            the reconciler");
        })
    }
}

/// Reason for which a person has to find out, behind the cause of the indeterminate result.
pub(super) fn left_to_a_person(cause: &str) -> String {
    let who = if cause.is_empty() {
        "the process that sent it ended before an answer came; the network"
    } else {
        &format!("{cause}; it")
    };
    format!("{who} can neither look the answer up nor recognize a repeat")
}
