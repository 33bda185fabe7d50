//! Resolution attempts: claims, fencing, and how they end (reliability, A resolution is final).
//!
//! Whoever decides about an alert locks its row first, and then the attempt; so of several at once each sees what the
//! one before has done.

use async_trait::async_trait;
use chrono::TimeDelta;
use futures::try_join;
use tokio_postgres::Row;

use super::connection::Connection;
use super::counts::{CountChanges, CountKey};
use super::events::{self, Recipients};
use super::fault::Work;
use super::handle::{PostgresStore, WriteKind};
use super::liveness::is_dead;
use super::rows::{self, organization_key};
use super::statements::{Values, cell, micros, moment_at, number_at, optional_moment, storable};
use super::unit::Unit;
use crate::domain::attempt::{
    AttemptCounts, KEY_MEMORY, KeyUse, LateAcceptance, OpenAttempt, Settlement, grant, may_commit, record_outcome,
    word_of,
};
use crate::domain::audit::AuditNote;
use crate::domain::fold::fold;
use crate::domain::time::Timestamp;
use crate::domain::{
    Actor, Alert, AlertId, AttemptId, AttemptState, ClockEpoch, Dialect, EventKind, Holder, MonotonicTime,
    OrganizationId, Present, Resolution, ResolutionAttempt, ResolutionParts,
};
use crate::store::searched::find_text;
use crate::store::{
    AttemptEnd, AttemptStore, Claim, ClaimRequest, ClaimedAttempt, Commit, CommitRequest, Settled, StoreError,
    StoreResult,
};

#[async_trait]
impl AttemptStore for PostgresStore {
    async fn claim_resolution(&self, request: ClaimRequest) -> StoreResult<Claim> {
        self.pool.keep().await?;
        self.write(WriteKind::Quiet, |unit| Box::pin(claim(unit, &request))).await
    }

    async fn commit_resolution(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.write_answered(|unit| Box::pin(commit(unit, &request))).await
    }

    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.write_answered(|unit| Box::pin(commit_late(unit, &request))).await
    }

    async fn end_attempt(
        &self,
        attempt: AttemptId,
        generation: i64,
        end: AttemptEnd,
        detail: &str,
        now: Present,
    ) -> StoreResult<bool> {
        self.write_answered(|unit| Box::pin(self::end(unit, attempt, generation, &end, detail, now))).await
    }

    async fn claim_due_attempts(
        &self,
        now: Present,
        lease_until: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ClaimedAttempt>> {
        self.write(WriteKind::Quiet, |unit| Box::pin(claim_due_attempts(unit, now, lease_until, limit))).await
    }

    async fn unfinished(&self, organization: OrganizationId) -> StoreResult<Vec<ResolutionAttempt>> {
        self.look(|unit| Box::pin(unfinished(unit, organization))).await
    }

    async fn settle_parked(
        &self,
        organization: OrganizationId,
        id: AttemptId,
        applied: bool,
        now: Timestamp,
    ) -> StoreResult<Settled> {
        self.write(WriteKind::Visible, |unit| Box::pin(settle(unit, organization, id, applied, now))).await
    }
}

/// Claims the one running resolution of an alert.
async fn claim(unit: &Unit<'_>, request: &ClaimRequest) -> Work<Claim> {
    let conn = &unit.conn;
    let Some(organization) = unit.organization(request.organization).await? else { return Ok(Claim::NotFound) };
    let lock = "SELECT key FROM alert WHERE organization = $1 AND id = $2 FOR NO KEY UPDATE";
    let Some(key) = conn.first(lock, &[&organization, &request.alert.0], cell::<i64>).await? else {
        return Ok(Claim::NotFound);
    };
    let (alert, uses, holder) = try_join!(
        rows::read_by_key(conn, key),
        key_uses(conn, organization, key, request),
        holder(unit, key, request.now)
    )?;
    let alert = match grant(Box::new(alert), &uses, holder) {
        Ok(alert) => alert,
        Err(answer) => return Ok(answer),
    };
    let said = request.resolution.to_parts();
    let generation: i64 = 1;
    let (calls_over, epoch) = (request.now.counted_at(request.deadline).micros, request.now.counted.epoch.0);
    conn.run(
        "INSERT INTO resolution_attempt (id, organization, alert, dialect, resolution, refunded, amount_stopped, \
            comments, body_hash,
                                         idempotency_key, state, generation, instance, started_at, deadline, actor, \
                                         origin,
                                         epoch, calls_over, person)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'INFLIGHT', $11, $12, $13, $14, $15, $16, $17, $18, $19)",
        &[
            &request.attempt.0,
            &organization,
            &key,
            &request.resolution.dialect().as_str(),
            &said.resolution,
            &said.refunded,
            &said.amount_stopped,
            &storable(&said.comments),
            &request.body_hash.as_slice(),
            &request.idempotency_key,
            &generation,
            &unit.shared.own.0,
            &micros(request.now.date),
            &micros(request.deadline),
            &unit.by.name,
            &unit.by.origin,
            &epoch,
            &calls_over,
            &unit.by.person,
        ],
    )
    .await?;
    Ok(Claim::Claimed { alert, generation })
}

/// Who holds the open attempt of an alert, where there is one.
async fn holder(unit: &Unit<'_>, alert: i64, now: Present) -> Work<Option<Holder>> {
    let dead = is_dead("r.instance", "$2");
    let open = format!(
        "SELECT {OPEN}, {dead}, r.id FROM resolution_attempt r WHERE r.alert = $1 AND r.state IN ('INFLIGHT', \
            'UNKNOWN', 'PARKED')"
    );
    unit.conn
        .first(&open, &[&alert, &unit.shared.own.0], |row| Ok(read_open(row)?.holder(AttemptId(row.try_get(10)?), now)))
        .await
}

/// How the Idempotency-Key of a request was used, as far back as keys are remembered.
async fn key_uses(conn: &Connection, organization: i64, alert: i64, request: &ClaimRequest) -> Work<Vec<KeyUse>> {
    let Some(key) = &request.idempotency_key else { return Ok(Vec::new()) };
    let uses = "SELECT alert = $4 AND body_hash = $5, state = 'COMMITTED' FROM resolution_attempt
        WHERE organization = $1 AND idempotency_key = $2 AND started_at > $3";
    let since = micros(request.now.date - KEY_MEMORY);
    conn.all(uses, &[&organization, key, &since, &alert, &request.body_hash.as_slice()], |row| {
        Ok(KeyUse { same: row.try_get(0)?, committed: row.try_get(1)? })
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
async fn read_attempt(conn: &Connection, id: AttemptId) -> Work<Option<(Attempt, Box<Alert>)>> {
    let lock =
        "SELECT key FROM alert WHERE key = (SELECT alert FROM resolution_attempt WHERE id = $1) FOR NO KEY UPDATE";
    let Some(alert) = conn.first(lock, &[&id.0], cell).await? else { return Ok(None) };
    let attempt =
        "SELECT dialect, resolution, refunded, amount_stopped, comments, key, organization, alert, generation, state, \
            actor, origin,
               person
        FROM resolution_attempt WHERE id = $1 FOR UPDATE";
    let read = |row: &Row| {
        Ok(Attempt {
            key: row.try_get(5)?,
            organization: row.try_get(6)?,
            alert: row.try_get(7)?,
            generation: row.try_get(8)?,
            state: read_state(row.try_get(9)?)?,
            by: Actor { name: row.try_get(10)?, origin: row.try_get(11)?, person: row.try_get(12)? },
            resolution: read_resolution(row)?,
        })
    };
    let by_id: Values<'_> = &[&id.0];
    let (attempt, alert) = try_join!(conn.first(attempt, by_id, read), rows::read_by_key(conn, alert))?;
    Ok(attempt.map(|attempt| (attempt, Box::new(alert))))
}

fn read_state(word: &str) -> StoreResult<AttemptState> {
    AttemptState::parse(word).ok_or_else(|| StoreError::Corrupt(format!("the attempt state {word:?}")))
}

/// Stores outcome, status, event and deliveries, where the fence holds.
async fn commit(unit: &Unit<'_>, request: &CommitRequest) -> Work<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request).await?;
    if may_commit(attempt.state, attempt.generation == request.generation, alert.outcome.is_some()) {
        return store_outcome(unit, &attempt, alert, request).await;
    }
    Ok(Commit::Fenced(alert))
}

/// Stores a late acceptance.
async fn commit_late(unit: &Unit<'_>, request: &CommitRequest) -> Work<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request).await?;
    let another_open = "SELECT EXISTS (SELECT 1 FROM resolution_attempt
        WHERE alert = $1 AND key <> $2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED'))";
    let another_open = unit.conn.one(another_open, &[&attempt.alert, &attempt.key], cell).await?;
    let (state, ended_at) = match LateAcceptance::of(attempt.state, alert.outcome.is_some(), another_open) {
        LateAcceptance::Commit => return store_outcome(unit, &attempt, alert, request).await,
        LateAcceptance::Nothing => return Ok(Commit::Fenced(alert)),
        LateAcceptance::Park => (AttemptState::Parked, None),
        LateAcceptance::Release => (AttemptState::Released, Some(micros(request.now))),
    };
    unit.conn
        .run(
            "UPDATE resolution_attempt SET generation = generation + 1, lease_until = NULL, lease_count = NULL, \
                next_check = NULL,
                check_count = NULL, detail = $4, state = $2, ended_at = $3
             WHERE key = $1",
            &[&attempt.key, &state.as_str(), &ended_at, &LateAcceptance::DETAIL],
        )
        .await?;
    Ok(Commit::Fenced(alert))
}

async fn attempt_to_commit(unit: &Unit<'_>, request: &CommitRequest) -> Work<(Attempt, Box<Alert>)> {
    let read = read_attempt(&unit.conn, request.attempt).await?;
    Ok(read.ok_or_else(|| StoreError::Corrupt(format!("no resolution attempt {} to be committed", request.attempt)))?)
}

async fn store_outcome(
    unit: &Unit<'_>,
    attempt: &Attempt,
    mut alert: Box<Alert>,
    request: &CommitRequest,
) -> Work<Commit> {
    let (conn, now) = (&unit.conn, request.now);
    let before = CountKey::of(&alert);
    record_outcome(&mut alert, request.attempt, &attempt.resolution, now);
    let outcome = alert.outcome.as_ref();
    let outcomes: Vec<_> = outcome.map(|outcome| (attempt.alert, outcome)).into_iter().collect();
    let mut counts = CountChanges::default();
    counts.shift(before, CountKey::of(&alert));
    let (status, word, at, text) =
        (alert.status.as_str(), outcome.map(|outcome| fold(&outcome.outcome)), micros(now), find_text(&alert));
    let update = "UPDATE alert SET status = $2, outcome = $3, updated_at = $4, open_deadline = NULL, find_text = $5 \
        WHERE key = $1";
    let updated: Values<'_> = &[&attempt.alert, &status, &word, &at, &text];
    let end = "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = $2, lease_until = NULL, lease_count = \
        NULL WHERE key = $1";
    let ended: Values<'_> = &[&attempt.key, &at];
    // Sent without waiting for each other's answers.
    let (recipients, ..) = try_join!(
        Recipients::of(conn, attempt.organization),
        rows::insert_outcomes(conn, &outcomes),
        counts.write(conn, attempt.organization),
        conn.run(update, updated),
        conn.run(end, ended),
    )?;
    unit.note_of(&attempt.by, attempt.organization, AuditNote::alert_resolved(&alert, &attempt.resolution), now);
    if !recipients.is_empty() {
        let body = unit.shared.render.render(&EventKind::AlertResolved, &alert, now);
        events::record(conn, &recipients, &EventKind::AlertResolved, &[(attempt.alert, body)], now).await?;
    }
    Ok(Commit::Committed(alert))
}

/// Ends an attempt without an outcome, or lays it down.
async fn end(
    unit: &Unit<'_>,
    attempt: AttemptId,
    generation: i64,
    end: &AttemptEnd,
    detail: &str,
    now: Present,
) -> Work<bool> {
    let (state, next_check, calls_over, ended_at) = match end {
        AttemptEnd::Released => (AttemptState::Released, None, None, Some(micros(now.date))),
        AttemptEnd::Unknown { next_check, calls_over } => {
            (AttemptState::Unknown, Some(*next_check), Some(*calls_over), None)
        }
        AttemptEnd::Parked => (AttemptState::Parked, None, None, None),
    };
    let changed = unit
        .conn
        .run(
            "UPDATE resolution_attempt SET state = $3, next_check = $4, ended_at = $5, detail = $6, lease_until = \
                NULL, lease_count = NULL,
                check_count = $7, calls_over = coalesce($8, calls_over), epoch = coalesce($9, epoch)
             WHERE id = $1 AND generation = $2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')",
            &[
                &attempt.0,
                &generation,
                &state.as_str(),
                &next_check.map(micros),
                &ended_at,
                &storable(detail),
                &next_check.map(|check| now.counted_at(check).micros),
                &calls_over.map(|over| over.micros),
                &calls_over.map(|over| over.epoch.0),
            ],
        )
        .await?;
    Ok(changed == 1)
}

/// Takes over attempts that nobody works on.
async fn claim_due_attempts(
    unit: &Unit<'_>,
    now: Present,
    lease_until: Timestamp,
    limit: u32,
) -> Work<Vec<ClaimedAttempt>> {
    let conn = &unit.conn;
    let take = "UPDATE resolution_attempt SET generation = generation + 1, checks = checks + 1, instance = $2, \
        lease_until = $3,
            lease_count = $4, epoch = $5, calls_over = $6,
            -- The check that is due now is the last one that is known.
            check_count = CASE WHEN epoch = $5 THEN check_count END
         WHERE key = $1
         RETURNING dialect, resolution, refunded, amount_stopped, comments, id, generation, alert, started_at, checks \
         - 1,
                   (SELECT o.id FROM organization o WHERE o.key = organization), detail";
    let lease_count = now.counted_at(lease_until).micros;
    let mut taken = Vec::new();
    for (key, calls_over) in unattended(unit, now, lease_until - now.date, limit).await? {
        let values = (unit.shared.own.0, micros(lease_until), now.counted.epoch.0);
        let (alert, claimed) = conn
            .one(take, &[&key, &values.0, &values.1, &lease_count, &values.2, &calls_over.micros], |row| {
                let claimed = ClaimedAttempt {
                    attempt: AttemptId(row.try_get(5)?),
                    generation: row.try_get(6)?,
                    organization: OrganizationId(row.try_get(10)?),
                    alert: Alert::default(),
                    resolution: read_resolution(row)?,
                    started_at: moment_at(row, 8)?,
                    calls_over,
                    checks: number_at(row, 9)?,
                    detail: row.try_get(11)?,
                };
                Ok((row.try_get::<_, i64>(7)?, claimed))
            })
            .await?;
        taken.push(ClaimedAttempt { alert: rows::read_by_key(conn, alert).await?, ..claimed });
    }
    Ok(taken)
}

/// The attempts to take over for so long, oldest first, with the end of the calls that were made for each. They are
/// locked; what somebody else is at is left to him.
async fn unattended(unit: &Unit<'_>, now: Present, lease: TimeDelta, limit: u32) -> Work<Vec<(i64, MonotonicTime)>> {
    let dead = is_dead("r.instance", "$1");
    let unsettled = format!("SELECT {OPEN}, {dead} FROM resolution_attempt r WHERE r.state IN ('INFLIGHT', 'UNKNOWN')");
    let all = format!("{unsettled} ORDER BY r.key");
    let open =
        unit.conn.all(&all, &[&unit.shared.own.0], |row| Ok((row.try_get::<_, i64>(0)?, read_open(row)?))).await?;
    let mut due: Vec<i64> = open.iter().filter(|(_, open)| open.is_due(now)).map(|(key, _)| *key).collect();
    due.truncate(limit as usize);
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let locked = format!("{unsettled} AND r.key = ANY($2) ORDER BY r.key FOR UPDATE OF r SKIP LOCKED");
    let locked = unit
        .conn
        .all(&locked, &[&unit.shared.own.0, &due], |row| Ok((row.try_get::<_, i64>(0)?, read_open(row)?)))
        .await?;
    let still_due = locked.into_iter().filter(|(_, open)| open.is_due(now));
    Ok(still_due.map(|(key, open)| (key, open.calls_over_after_takeover(now, lease))).collect())
}

/// The columns that [`read_open`] reads; whether the process that has it is dead follows them.
const OPEN: &str =
    "r.key, r.state, r.deadline, r.next_check, r.lease_until, r.epoch, r.calls_over, r.check_count, r.lease_count";

fn read_open(row: &Row) -> Work<OpenAttempt> {
    let state = read_state(row.try_get(1)?)?;
    let (deadline, next_check, lease_until) = (moment_at(row, 2)?, optional_moment(row, 3)?, optional_moment(row, 4)?);
    let turn = next_check.filter(|_| state == AttemptState::Unknown).unwrap_or(deadline);
    let (check_count, lease_count): (Option<i64>, Option<i64>) = (row.try_get(7)?, row.try_get(8)?);
    let epoch = row.try_get::<_, Option<_>>(5)?.map(ClockEpoch);
    let counted = epoch.zip(row.try_get::<_, Option<i64>>(6)?).map(|(epoch, calls_over)| {
        let counted = |micros| MonotonicTime { epoch, micros };
        AttemptCounts {
            calls_over: counted(calls_over),
            next_check: check_count.map(counted),
            lease_until: lease_count.map(counted),
        }
    });
    Ok(OpenAttempt {
        state,
        counted,
        turn: lease_until.map_or(turn, |lease| turn.max(lease)),
        owner_dead: row.try_get(9)?,
    })
}

/// Attempts that have not ended, oldest first.
async fn unfinished(unit: &Unit<'_>, organization: OrganizationId) -> Work<Vec<ResolutionAttempt>> {
    let open = "SELECT r.dialect, r.resolution, r.refunded, r.amount_stopped, r.comments,
                r.id, a.id, r.state, r.started_at, r.next_check, r.checks, r.detail, r.actor
         FROM resolution_attempt r JOIN alert a ON a.key = r.alert
         WHERE r.organization = (SELECT key FROM organization WHERE id = $1) AND r.state IN ('INFLIGHT', 'UNKNOWN', \
         'PARKED')
         ORDER BY r.key LIMIT 1000";
    unit.conn
        .all(open, &[&organization.0], |row| {
            Ok(ResolutionAttempt {
                id: AttemptId(row.try_get(5)?),
                alert: AlertId(row.try_get(6)?),
                state: row.try_get(7)?,
                resolution: read_resolution(row)?,
                started_at: moment_at(row, 8)?,
                next_check: optional_moment(row, 9)?,
                checks: number_at(row, 10)?,
                detail: row.try_get(11)?,
                actor: row.try_get(12)?,
            })
        })
        .await
}

/// Settles a parked attempt by a person's word.
async fn settle(
    unit: &Unit<'_>,
    organization: OrganizationId,
    id: AttemptId,
    applied: bool,
    now: Timestamp,
) -> Work<Settled> {
    let conn = &unit.conn;
    let owner = organization_key(conn, organization).await?;
    let Some((attempt, alert)) =
        read_attempt(conn, id).await?.filter(|(attempt, _)| owner == Some(attempt.organization))
    else {
        return Ok(Settled::NotFound);
    };
    let Some(settlement) = Settlement::of(attempt.state, applied, alert.outcome.is_some()) else {
        return Ok(Settled::NotParked(attempt.state.as_str().to_owned()));
    };
    unit.note(attempt.organization, AuditNote::attempt_settled(id, alert.id, applied), now);
    match settlement {
        Settlement::Commit => {
            let request = CommitRequest { attempt: id, generation: attempt.generation, now };
            store_outcome(unit, &attempt, alert, &request).await?;
        }
        Settlement::Release => {
            let detail = format!("a person said: {}", word_of(applied));
            end(unit, id, attempt.generation, &AttemptEnd::Released, &detail, now.into()).await?;
        }
    }
    Ok(Settled::Done(Box::new(rows::read_by_key(conn, attempt.alert).await?)))
}

/// Reads dialect, resolution, refunded, amount and comments, which have to be the first columns.
fn read_resolution(row: &Row) -> Work<Resolution> {
    let dialect: &str = row.try_get(0)?;
    let dialect = if dialect == Dialect::Current.as_str() { Dialect::Current } else { Dialect::Older };
    let parts = ResolutionParts {
        resolution: row.try_get(1)?,
        refunded: row.try_get(2)?,
        amount_stopped: row.try_get(3)?,
        comments: row.try_get(4)?,
    };
    // The alert's amount was the limit when the decision was made; it may have changed since.
    let read = Resolution::from_parts(parts, dialect, None);
    Ok(read.map_err(|errors| StoreError::Corrupt(format!("a stored resolution that breaks the rules: {errors:?}")))?)
}
