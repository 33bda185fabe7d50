//! Resolution attempts: claims, fencing, and their ends.
//!
//! Every decision about an alert locks its row first, and then the attempt. So of several at once each sees the changes
//! of the one before.

use chrono::TimeDelta;
use futures::try_join;

use super::{
    deliveries::record_events,
    subscriptions::{recipients, takers},
};
pub use crate::domain::attempt::Claim;
use crate::{
    StoreError,
    alert_rows::ChangedAlert,
    cells::{BoundValues, StoredRow, cell},
    composed::Sql,
    domain::{
        Actor, Alert, AlertId, AttemptId, AttemptState, ClockEpoch, EventKind, EventSubject, Holder, MonotonicTime,
        OrganizationId, Present, Resolution, ResolutionAttempt, ResolutionParts,
        attempt::{
            AttemptCounts, IDEMPOTENCY_KEY_MEMORY, IdempotencyKeyUse, LateAcceptance, OpenAttempt, grant, may_commit,
            record_outcome, word_of,
        },
        audit::AuditNote,
        time::Timestamp,
    },
    error::Work,
    units::{UnitContext, UnitOfWork, Way, either, units},
};

/// A claim on the one running resolution of an alert.
#[derive(Debug, Clone)]
pub struct ClaimRequest {
    /// The new attempt; also the provider's idempotency key.
    pub attempt: AttemptId,
    pub organization: OrganizationId,
    pub alert: AlertId,
    /// The merchant's resolution; stored with the attempt, so that another process can finish it.
    pub resolution: Resolution,
    /// SHA-256 of [`Resolution::canonical`].
    pub body_hash: [u8; 32],
    pub idempotency_key: Option<String>,
    /// Deadline of the provider call, by the guarded clock; after it other processes may take the attempt over.
    pub deadline: Timestamp,
    pub now: Present,
}

/// An acceptance of the provider.
#[derive(Debug, Clone)]
pub struct CommitRequest {
    pub attempt: AttemptId,
    pub generation: i64,
    /// The present; becomes the action time and `updatedAt`.
    pub now: Timestamp,
}

/// The result of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commit {
    /// Outcome, status, event and deliveries are durable.
    Committed(Box<Alert>),
    /// Another process has finished the attempt meanwhile; the alert as it is now.
    Fenced(Box<Alert>),
}

/// The end of an attempt without an outcome, or its suspension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// RELEASED: the provider did not apply the decision (step 4b).
    Released,
    /// UNKNOWN: indeterminate; the reconciler checks again at this time (step 4d).
    Unknown {
        /// Time of the reconciler's next check, by the guarded clock.
        next_check: Timestamp,
        /// Moment from which no call of the attempt is running any more.
        calls_over: MonotonicTime,
    },
    /// PARKED: a person has to decide (step 5).
    Parked,
}

/// An unfinished attempt that the reconciler has claimed.
#[derive(Debug, Clone)]
pub struct ClaimedAttempt {
    pub attempt: AttemptId,
    /// Its new fence.
    pub generation: i64,
    pub organization: OrganizationId,
    pub alert: Alert,
    pub resolution: Resolution,
    /// Time of the first call.
    pub started_at: Timestamp,
    /// Latest moment at which an earlier call of the attempt might still have been running. A call of a dead process
    /// was over when the process was found dead. Always a moment of the present epoch.
    pub calls_over: MonotonicTime,
    /// Number of checks made before.
    pub checks: u32,
    /// Reason of the indeterminate result, in words; empty where the sending process died before it could say.
    pub detail: String,
    /// Trace context of its request.
    pub trace: String,
}

/// The result of deciding a parked attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// The attempt has ended; the alert as it is now.
    Done(Box<Alert>),
    /// The organization has no such attempt.
    NotFound,
    /// It does not wait for a person: its state.
    NotParked(String),
}

units! {
    /// Units of work on resolution attempts.
    AttemptStore:

    /// Claims the one running resolution of an alert.
    async fn claim_resolution([ref] request: ClaimRequest) -> Claim {
        Way::Claim => claim
    }

    /// Stores outcome, status, event and deliveries, and ends the attempt, in one commit, fenced by generation.
    async fn commit_resolution([ref] request: CommitRequest) -> Commit {
        Way::Answered => commit
    }

    /// Stores a late acceptance, whose fence no longer holds or which could not be stored when it came. An acceptance
    /// is never dropped. Without an outcome of the alert it is committed, in whatever state the attempt is. Otherwise
    /// the attempt is PARKED for a person, unless that outcome is its own.
    async fn commit_late([ref] request: CommitRequest) -> Commit {
        Way::Answered => commit_late
    }

    /// Ends an attempt without an outcome, or suspends it; `false` when the fence no longer holds.
    async fn end_attempt(
        attempt: AttemptId,
        generation: i64,
        [ref] end: AttemptEnd,
        [ref] detail: &str as to_owned,
        now: Present,
    ) -> bool {
        Way::Answered => end_attempt
    }

    /// Claims attempts that nobody works on: INFLIGHT ones of a dead process or past their deadline, and UNKNOWN ones
    /// that are due. The lease holds until `lease_until` by the guarded clock. The attempts stay in their state.
    async fn claim_due_attempts(now: Present, lease_until: Timestamp, limit: u32) -> Vec<ClaimedAttempt> {
        Way::Quiet => claim_due
    }

    /// Attempts that are in flight, unknown or parked, oldest first, at most 1,000.
    async fn unfinished(organization: OrganizationId) -> Vec<ResolutionAttempt> {
        Way::InTurn(organization), organization => unfinished
    }

    /// Decides a parked attempt by a person's result. `applied`: the network accepted the decision; its outcome is
    /// stored, unless the alert has one.
    async fn decide_parked(organization: OrganizationId, id: AttemptId, applied: bool, now: Timestamp) -> Decided {
        Way::Visible, organization => settle
    }
}

/// Claims the one running resolution of an alert.
pub(super) async fn claim(unit: &UnitOfWork<'_>, request: &ClaimRequest) -> Work<Claim> {
    let Some(organization) = unit.organization(request.organization).await? else { return Ok(Claim::NotFound) };
    let lock = "SELECT key FROM alert WHERE organization = ?1 AND id = ?2/*+ FOR NO KEY UPDATE*/";
    let Some(key) = unit.first(lock, &[&organization, &request.alert], cell).await? else {
        return Ok(Claim::NotFound);
    };
    // Sent without waiting for each other's answers.
    let (alert, uses, holder) = try_join!(
        unit.alert(key),
        key_uses(unit, organization, key, request),
        holder(unit, organization, key, request.now)
    )?;
    let alert = match grant(Box::new(alert), &uses, holder) {
        Ok(alert) => alert,
        Err(answer) => return Ok(answer),
    };
    let said = request.resolution.to_parts();
    let generation: i64 = 1;
    let claimed = "INSERT INTO resolution_attempt (id, organization, alert, dialect, resolution, refunded, \
            amount_stopped, comments, body_hash, idempotency_key, state, generation, instance, started_at, deadline, \
            actor, origin, epoch, calls_over, person, trace)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'INFLIGHT', ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, \
            ?20)";
    unit.run(
        claimed,
        &[
            &request.attempt,
            &organization,
            &key,
            &request.resolution.dialect(),
            &said.resolution,
            &said.refunded,
            &said.amount_stopped,
            &said.comments,
            &request.body_hash,
            &request.idempotency_key,
            &generation,
            &unit.context.own,
            &request.now.date,
            &request.deadline,
            &unit.by.name,
            &unit.by.origin,
            &request.now.counted.epoch,
            &request.now.counted_at(request.deadline).micros,
            &unit.by.person,
            &unit.by.trace,
        ],
    )
    .await?;
    Ok(Claim::Claimed { alert, generation })
}

/// Holder of the open attempt of an alert, where there is one.
async fn holder(unit: &UnitOfWork<'_>, organization: i64, alert: i64, now: Present) -> Work<Option<Holder>> {
    let dead = unit.dead("r.instance");
    let open = format!("SELECT {OPEN}, {dead}, r.id FROM {OPEN_ATTEMPTS} AND r.organization = ?1 AND r.alert = ?2");
    unit.first(&open, &[&organization, &alert], |row| Ok(read_open(unit, row)?.holder(row.get(10)?, now))).await
}

/// Earlier uses of a request's Idempotency-Key, as far back as keys are remembered.
async fn key_uses(
    unit: &UnitOfWork<'_>,
    organization: i64,
    alert: i64,
    request: &ClaimRequest,
) -> Work<Vec<IdempotencyKeyUse>> {
    let Some(key) = &request.idempotency_key else { return Ok(Vec::new()) };
    let uses = "SELECT alert = ?4 AND body_hash = ?5, state = 'COMMITTED'
        FROM resolution_attempt/*-*/ INDEXED BY resolution_attempt_by_key/*+*/
        WHERE organization = ?1 AND idempotency_key = ?2 AND started_at > ?3";
    let since = request.now.date - IDEMPOTENCY_KEY_MEMORY;
    unit.all(uses, &[&organization, key, &since, &alert, &request.body_hash], |row| {
        Ok(IdempotencyKeyUse { same: row.get(0)?, committed: row.get(1)? })
    })
    .await
}

/// An attempt, open or not.
struct Attempt {
    key: i64,
    organization: i64,
    alert: i64,
    generation: i64,
    state: AttemptState,
    resolution: Resolution,
    by: Actor,
}

/// Reads an attempt and its alert, which nobody else changes from here on.
async fn read_attempt(unit: &UnitOfWork<'_>, id: AttemptId) -> Work<Option<(Attempt, Box<Alert>)>> {
    let lock = "SELECT key FROM alert
        WHERE key = (SELECT alert FROM resolution_attempt WHERE id = ?1)/*+ FOR NO KEY UPDATE*/";
    let Some(alert) = unit.first(lock, &[&id], cell).await? else { return Ok(None) };
    let attempt = format!(
        "SELECT {RESOLUTION}, key, organization, alert, generation, state, actor, origin, person, trace
        FROM resolution_attempt WHERE id = ?1/*+ FOR UPDATE*/"
    );
    let read = |row: &StoredRow<'_>| {
        Ok(Attempt {
            key: row.get(5)?,
            organization: row.get(6)?,
            alert: row.get(7)?,
            generation: row.get(8)?,
            state: row.get(9)?,
            by: Actor { name: row.get(10)?, origin: row.get(11)?, person: row.get(12)?, trace: row.get(13)? },
            resolution: read_resolution(row)?,
        })
    };
    let by_id: BoundValues<'_> = &[&id];
    let (attempt, alert) = try_join!(unit.first(&attempt, by_id, read), unit.alert(alert))?;
    Ok(attempt.map(|attempt| (attempt, Box::new(alert))))
}

/// Stores outcome, status, event and deliveries, where the fence holds.
async fn commit(unit: &UnitOfWork<'_>, request: &CommitRequest) -> Work<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request).await?;
    if may_commit(attempt.state, attempt.generation == request.generation, alert.outcome.is_some()) {
        return store_outcome(unit, &attempt, alert, request).await;
    }
    Ok(Commit::Fenced(alert))
}

/// Stores a late acceptance.
async fn commit_late(unit: &UnitOfWork<'_>, request: &CommitRequest) -> Work<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request).await?;
    let another_open = format!(
        "SELECT EXISTS (SELECT 1 FROM {OPEN_ATTEMPTS} AND r.organization = ?1 AND r.alert = ?2 AND r.key <> ?3)"
    );
    let another_open = unit.one(&another_open, &[&attempt.organization, &attempt.alert, &attempt.key], cell).await?;
    let (state, ended_at) = match LateAcceptance::of(attempt.state, alert.outcome.is_some(), another_open) {
        LateAcceptance::Commit => return store_outcome(unit, &attempt, alert, request).await,
        LateAcceptance::Nothing => return Ok(Commit::Fenced(alert)),
        LateAcceptance::Park => (AttemptState::Parked, None),
        LateAcceptance::Release => (AttemptState::Released, Some(request.now)),
    };
    let ended = "UPDATE resolution_attempt SET generation = generation + 1, lease_until = NULL, lease_count = NULL, \
            next_check = NULL, check_count = NULL, detail = ?4, state = ?2, ended_at = ?3
        WHERE key = ?1";
    unit.run(ended, &[&attempt.key, &state, &ended_at, &LateAcceptance::DETAIL]).await?;
    Ok(Commit::Fenced(alert))
}

async fn attempt_to_commit(unit: &UnitOfWork<'_>, request: &CommitRequest) -> Work<(Attempt, Box<Alert>)> {
    let read = read_attempt(unit, request.attempt).await?;
    Ok(read.ok_or_else(|| StoreError::Corrupt(format!("no resolution attempt {} to be committed", request.attempt)))?)
}

async fn store_outcome(
    unit: &UnitOfWork<'_>,
    attempt: &Attempt,
    mut alert: Box<Alert>,
    request: &CommitRequest,
) -> Work<Commit> {
    let (Attempt { key, organization, alert: row, resolution: said, .. }, now) = (attempt, request.now);
    let before = (*alert).clone();
    record_outcome(&mut alert, request.attempt, said, now);
    let changed = ChangedAlert { key: *row, before, after: *alert };
    let answer = async { either!(unit, store_answer(*organization, &changed)) };
    let ended = "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = ?2, lease_until = NULL, \
        lease_count = NULL WHERE key = ?1";
    let values: BoundValues<'_> = &[key, &now];
    // Sent without waiting for each other's answers.
    let (to, ..) = try_join!(recipients(unit, *organization), answer, unit.run(ended, values))?;
    let (kind, alert) = (EventKind::AlertResolved, Box::new(changed.after));
    let to = takers(&to, &kind, &alert.provider);
    if !to.is_empty() {
        let body = (unit.context.render)(&kind, EventSubject::Alert(&alert), None, now);
        record_events(unit, &to, &kind, &[(Some(*row), body)], &attempt.by.trace, now).await?;
    }
    unit.note_of(&attempt.by, attempt.organization, AuditNote::alert_resolved(&alert, said), request.now).await?;
    Ok(Commit::Committed(alert))
}

/// Ends an attempt without an outcome, or suspends it.
async fn end_attempt(
    unit: &UnitOfWork<'_>,
    attempt: AttemptId,
    generation: i64,
    end: &AttemptEnd,
    detail: &str,
    now: Present,
) -> Work<bool> {
    let (state, next_check, calls_over, ended_at) = match end {
        AttemptEnd::Released => (AttemptState::Released, None, None, Some(now.date)),
        AttemptEnd::Unknown { next_check, calls_over } => {
            (AttemptState::Unknown, Some(*next_check), Some(*calls_over), None)
        }
        AttemptEnd::Parked => (AttemptState::Parked, None, None, None),
    };
    let ended = "UPDATE resolution_attempt SET state = ?3, next_check = ?4, ended_at = ?5, detail = ?6, \
            lease_until = NULL, lease_count = NULL, check_count = ?7, calls_over = coalesce(?8, calls_over),
            epoch = coalesce(?9, epoch)
        WHERE id = ?1 AND generation = ?2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";
    let changed = unit
        .run(
            ended,
            &[
                &attempt,
                &generation,
                &state,
                &next_check,
                &ended_at,
                &detail,
                &next_check.map(|check| now.counted_at(check).micros),
                &calls_over.map(|over| over.micros),
                &calls_over.map(|over| over.epoch),
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Claims attempts that nobody works on.
async fn claim_due(
    unit: &UnitOfWork<'_>,
    now: Present,
    lease_until: Timestamp,
    limit: u32,
) -> Work<Vec<ClaimedAttempt>> {
    let take = format!(
        "UPDATE resolution_attempt SET generation = generation + 1, checks = checks + 1, instance = ?2, \
            lease_until = ?3, lease_count = ?4, epoch = ?5, calls_over = ?6,
            -- The check that is due now is the last one that is known.
            check_count = CASE WHEN epoch = ?5 THEN check_count END
        WHERE key = ?1
        RETURNING {RESOLUTION}, id, generation, alert, started_at, checks - 1,
            (SELECT o.id FROM organization o WHERE o.key = organization), coalesce(detail, ''), trace"
    );
    let lease_count = now.counted_at(lease_until).micros;
    let mut taken = Vec::new();
    for (key, calls_over) in unattended(unit, now, lease_until - now.date, limit).await? {
        let (own, epoch) = (unit.context.own, now.counted.epoch);
        let values: BoundValues<'_> = &[&key, &own, &lease_until, &lease_count, &epoch, &calls_over.micros];
        let claimed = unit.all(&take, values, |row| {
            let claimed = ClaimedAttempt {
                attempt: row.get(5)?,
                generation: row.get(6)?,
                organization: row.get(10)?,
                alert: Alert::default(),
                resolution: read_resolution(row)?,
                started_at: row.get(8)?,
                calls_over,
                checks: row.get(9)?,
                detail: row.get(11)?,
                trace: row.get(12)?,
            };
            Ok((row.get(7)?, claimed))
        });
        for (alert, claimed) in claimed.await? {
            taken.push(ClaimedAttempt { alert: unit.alert(alert).await?, ..claimed });
        }
    }
    Ok(taken)
}

/// The attempts to claim for so long, oldest first, with the end of the calls that were made for each. They are locked;
/// those that another process has locked are left to it.
async fn unattended(
    unit: &UnitOfWork<'_>,
    now: Present,
    lease: TimeDelta,
    limit: u32,
) -> Work<Vec<(i64, MonotonicTime)>> {
    let unsettled = format!("SELECT {OPEN}, {} FROM {OPEN_ATTEMPTS} AND r.state <> 'PARKED'", unit.dead("r.instance"));
    let read = |row: &StoredRow<'_>| Ok((row.get::<i64>(0)?, read_open(unit, row)?));
    let mut due = unit.all(&format!("{unsettled} ORDER BY r.key"), &[], read).await?;
    due.retain(|(_, open)| open.is_due(now));
    due.truncate(limit as usize);
    if let (UnitContext::Postgres(_), false) = (&unit.database, due.is_empty()) {
        let mut locked = Sql::new(&unsettled);
        locked.one_of(" AND r.key", due.iter().map(|(key, _)| *key));
        locked.push(" ORDER BY r.key FOR UPDATE OF r SKIP LOCKED");
        due = unit.composed(&locked, read).await?;
        due.retain(|(_, open)| open.is_due(now));
    }
    Ok(due.into_iter().map(|(key, open)| (key, open.calls_over_after_takeover(now, lease))).collect())
}

/// The attempts that have not ended, as a FROM and the beginning of a WHERE.
const OPEN_ATTEMPTS: &str = "resolution_attempt r/*-*/ INDEXED BY resolution_attempt_open/*+*/
    WHERE r.state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";

/// The columns that [`read_open`] reads; whether the process that has it is dead follows them.
const OPEN: &str =
    "r.key, r.state, r.deadline, r.next_check, r.lease_until, r.epoch, r.calls_over, r.check_count, r.lease_count";

fn read_open(unit: &UnitOfWork<'_>, row: &StoredRow<'_>) -> Work<OpenAttempt> {
    let state = row.get(1)?;
    let (deadline, next_check): (Timestamp, Option<Timestamp>) = (row.get(2)?, row.get(3)?);
    let lease_until: Option<Timestamp> = row.get(4)?;
    let turn = next_check.filter(|_| state == AttemptState::Unknown).unwrap_or(deadline);
    let (check_count, lease_count): (Option<i64>, Option<i64>) = (row.get(7)?, row.get(8)?);
    // Rows that were written before anything was counted have no epoch.
    let epoch = row.get::<Option<ClockEpoch>>(5)?;
    let counted = epoch.zip(row.get::<Option<i64>>(6)?).map(|(epoch, calls_over)| {
        let counted = |micros| MonotonicTime { epoch, micros };
        AttemptCounts {
            calls_over: counted(calls_over),
            next_check: check_count.map(counted),
            lease_until: lease_count.map(counted),
        }
    });
    let turn = lease_until.map_or(turn, |lease| turn.max(lease));
    Ok(OpenAttempt { state, counted, turn, owner_dead: unit.is_dead(row, 9)? })
}

/// The resolution of an alert that has not ended; `None` where there is none.
pub(super) async fn open_resolution(
    unit: &UnitOfWork<'_>,
    organization: i64,
    alert: AlertId,
) -> Work<Option<Resolution>> {
    let open = format!(
        "SELECT {RESOLUTION} FROM {OPEN_ATTEMPTS}
            AND r.organization = ?1 AND r.alert = (SELECT key FROM alert WHERE organization = ?1 AND id = ?2)"
    );
    unit.first(&open, &[&organization, &alert], read_resolution).await
}

/// Attempts that have not ended, oldest first.
async fn unfinished(unit: &UnitOfWork<'_>, organization: i64) -> Work<Vec<ResolutionAttempt>> {
    let open = format!(
        "SELECT {RESOLUTION}, id, (SELECT a.id FROM alert a WHERE a.key = r.alert), state, started_at, next_check, \
            checks, coalesce(detail, ''), actor
        FROM {OPEN_ATTEMPTS} AND organization = ?1 ORDER BY key LIMIT 1000"
    );
    unit.all(&open, &[&organization], |row| {
        Ok(ResolutionAttempt {
            id: row.get(5)?,
            alert: row.get(6)?,
            state: row.get(7)?,
            resolution: read_resolution(row)?,
            started_at: row.get(8)?,
            next_check: row.get(9)?,
            checks: row.get(10)?,
            detail: row.get(11)?,
            actor: row.get(12)?,
        })
    })
    .await
}

/// Decides a parked attempt by a person's result.
async fn settle(unit: &UnitOfWork<'_>, owner: i64, id: AttemptId, applied: bool, now: Timestamp) -> Work<Decided> {
    let read = read_attempt(unit, id).await?;
    let Some((attempt, alert)) = read.filter(|(attempt, _)| attempt.organization == owner) else {
        return Ok(Decided::NotFound);
    };
    if attempt.state != AttemptState::Parked {
        return Ok(Decided::NotParked(attempt.state.as_str().to_owned()));
    }
    unit.note(attempt.organization, AuditNote::attempt_settled(id, alert.id, applied), now).await?;
    // The alert may have another outcome by now: this attempt cannot change it.
    if applied && alert.outcome.is_none() {
        let request = CommitRequest { attempt: id, generation: attempt.generation, now };
        store_outcome(unit, &attempt, alert, &request).await?;
    } else {
        let detail = format!("a person said: {}", word_of(applied));
        end_attempt(unit, id, attempt.generation, &AttemptEnd::Released, &detail, now.into()).await?;
    }
    Ok(Decided::Done(Box::new(unit.alert(attempt.alert).await?)))
}

/// The columns that [`read_resolution`] reads; they have to be the first ones.
const RESOLUTION: &str = "dialect, resolution, refunded, amount_stopped, coalesce(comments, '')";

fn read_resolution(row: &StoredRow<'_>) -> Work<Resolution> {
    let parts = ResolutionParts {
        resolution: row.get(1)?,
        refunded: row.get(2)?,
        amount_stopped: row.get(3)?,
        comments: row.get(4)?,
    };
    // The alert's amount was the limit when the decision was made; it may have changed since.
    let read = Resolution::from_parts(parts, row.get(0)?, None);
    Ok(read.map_err(|errors| StoreError::Corrupt(format!("a stored resolution that breaks the rules: {errors:?}")))?)
}
