//! Resolution attempts: claims, fencing, and how they end (reliability, A resolution is final).

use async_trait::async_trait;
use chrono::TimeDelta;
use rusqlite::{Connection, Row, params};
use uuid::Uuid;

use super::audit;
use super::counts::CountChanges;
use super::events::{self, Recipients};
use super::find_index;
use super::handle::SqliteStore;
use super::readers::Reader;
use super::rows::{self, WordKeys, organization_key};
use super::statements::{micros, moment};
use super::writer::{Unit, WriteKind};
use crate::domain::attempt::{
    AttemptCounts, KEY_MEMORY, KeyUse, LateAcceptance, OpenAttempt, Settlement, grant, may_commit, record_outcome,
    word_of,
};
use crate::domain::audit::AuditNote;
use crate::domain::time::Timestamp;
use crate::domain::{
    Actor, Alert, AlertId, AttemptId, AttemptState, ClockEpoch, Dialect, EventKind, Holder, InstanceId, MonotonicTime,
    OrganizationId, Present, Resolution, ResolutionAttempt, ResolutionParts,
};
use crate::store::{
    AttemptEnd, AttemptStore, Claim, ClaimRequest, ClaimedAttempt, Commit, CommitRequest, Settled, StoreError,
    StoreResult,
};

#[async_trait]
impl AttemptStore for SqliteStore {
    async fn claim_resolution(&self, request: ClaimRequest) -> StoreResult<Claim> {
        self.write(WriteKind::Quiet, move |unit, by| claim(unit, &request, by)).await
    }

    async fn commit_resolution(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.write(WriteKind::Visible, move |unit, _| commit(unit, &request)).await
    }

    async fn commit_late(&self, request: CommitRequest) -> StoreResult<Commit> {
        self.write(WriteKind::Visible, move |unit, _| commit_late(unit, &request)).await
    }

    async fn end_attempt(
        &self,
        attempt: AttemptId,
        generation: i64,
        end: AttemptEnd,
        detail: &str,
        now: Present,
    ) -> StoreResult<bool> {
        let detail = detail.to_owned();
        self.write(WriteKind::Visible, move |unit, _| self::end(unit, attempt, generation, &end, &detail, now)).await
    }

    async fn claim_due_attempts(
        &self,
        now: Present,
        lease_until: Timestamp,
        limit: u32,
    ) -> StoreResult<Vec<ClaimedAttempt>> {
        self.write(WriteKind::Quiet, move |unit, _| claim_due_attempts(unit, now, lease_until, limit)).await
    }

    async fn unfinished(&self, organization: OrganizationId) -> StoreResult<Vec<ResolutionAttempt>> {
        self.read_list(organization, move |reader| unfinished(reader, organization)).await
    }

    async fn settle_parked(
        &self,
        organization: OrganizationId,
        id: AttemptId,
        applied: bool,
        now: Timestamp,
    ) -> StoreResult<Settled> {
        self.write(WriteKind::Visible, move |unit, by| settle(unit, by, organization, id, applied, now)).await
    }
}

/// Claims the one running resolution of an alert.
fn claim(unit: &mut Unit<'_>, request: &ClaimRequest, by: &Actor) -> StoreResult<Claim> {
    let conn = &*unit.conn;
    let Some(organization) = organization_key(conn, request.organization)? else { return Ok(Claim::NotFound) };
    let Some(stored) = rows::read_by_id(conn, unit.dictionary, organization, request.alert)? else {
        return Ok(Claim::NotFound);
    };
    let uses = key_uses(conn, organization, stored.key, request)?;
    let alert = match grant(Box::new(stored.alert), &uses, holder(unit, organization, stored.key, request.now)?) {
        Ok(alert) => alert,
        Err(answer) => return Ok(answer),
    };
    let said = request.resolution.to_parts();
    let generation = 1;
    conn.prepare_cached(
        "INSERT INTO resolution_attempt (id, organization, alert, dialect, resolution, refunded, amount_stopped, \
            comments, body_hash,
                                         idempotency_key, state, generation, instance, started_at, deadline, actor, \
                                         origin,
                                         epoch, calls_over, person)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'INFLIGHT', ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)",
    )?
    .execute(params![
        request.attempt.0.as_bytes(),
        organization,
        stored.key,
        request.resolution.dialect().as_str(),
        said.resolution,
        said.refunded,
        said.amount_stopped,
        said.comments,
        request.body_hash,
        request.idempotency_key,
        generation,
        unit.own().0.as_bytes(),
        micros(request.now.date),
        micros(request.deadline),
        by.name,
        by.origin,
        request.now.counted.epoch,
        request.now.counted_at(request.deadline).micros,
        by.person,
    ])?;
    Ok(Claim::Claimed { alert, generation })
}

/// Who holds the open attempt of an alert, where there is one.
fn holder(unit: &Unit<'_>, organization: i64, alert: i64, now: Present) -> StoreResult<Option<Holder>> {
    let sql = format!("SELECT {OPEN}, id FROM {OPEN_ATTEMPTS} AND organization = ?1 AND alert = ?2");
    let mut statement = unit.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([organization, alert])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let open = read_open(row, |owner| unit.shared.instances.is_dead(owner))?;
    Ok(Some(open.holder(AttemptId(Uuid::from_bytes(row.get(10)?)), now)))
}

/// How the Idempotency-Key of a request was used, as far back as keys are remembered.
fn key_uses(conn: &Connection, organization: i64, alert: i64, request: &ClaimRequest) -> StoreResult<Vec<KeyUse>> {
    let Some(key) = &request.idempotency_key else { return Ok(Vec::new()) };
    let mut statement = conn.prepare_cached(
        "SELECT alert = ?4 AND body_hash = ?5, state = 'COMMITTED' FROM resolution_attempt INDEXED BY \
            resolution_attempt_by_key
         WHERE organization = ?1 AND idempotency_key = ?2 AND started_at > ?3",
    )?;
    let uses = statement.query_map(
        params![organization, key, micros(request.now.date - KEY_MEMORY), alert, request.body_hash],
        |row| Ok(KeyUse { same: row.get(0)?, committed: row.get(1)? }),
    )?;
    Ok(uses.collect::<Result<_, _>>()?)
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

fn read_attempt(conn: &Connection, id: AttemptId) -> StoreResult<Option<Attempt>> {
    let mut statement = conn.prepare_cached(
        "SELECT dialect, resolution, refunded, amount_stopped, comments, key, organization, alert, generation, state, \
            actor, origin, person
         FROM resolution_attempt WHERE id = ?1",
    )?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    Ok(Some(Attempt {
        key: row.get(5)?,
        organization: row.get(6)?,
        alert: row.get(7)?,
        generation: row.get(8)?,
        state: read_state(&row.get::<_, String>(9)?)?,
        by: Actor { name: row.get(10)?, origin: row.get(11)?, person: row.get(12)? },
        resolution: read_resolution(row)?,
    }))
}

fn read_state(word: &str) -> StoreResult<AttemptState> {
    AttemptState::parse(word).ok_or_else(|| StoreError::Corrupt(format!("the attempt state {word:?}")))
}

/// Stores outcome, status, event and deliveries, where the fence holds.
fn commit(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request)?;
    if may_commit(attempt.state, attempt.generation == request.generation, alert.outcome.is_some()) {
        return store_outcome(unit, &attempt, alert, request);
    }
    Ok(Commit::Fenced(alert))
}

/// Stores a late acceptance.
fn commit_late(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request)?;
    let another_open = unit
        .conn
        .prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM {OPEN_ATTEMPTS} AND organization = ?1 AND alert = ?2 AND key <> ?3)"
        ))?
        .query_row([attempt.organization, attempt.alert, attempt.key], |row| row.get(0))?;
    let (state, ended_at) = match LateAcceptance::of(attempt.state, alert.outcome.is_some(), another_open) {
        LateAcceptance::Commit => return store_outcome(unit, &attempt, alert, request),
        LateAcceptance::Nothing => return Ok(Commit::Fenced(alert)),
        LateAcceptance::Park => (AttemptState::Parked, None),
        LateAcceptance::Release => (AttemptState::Released, Some(micros(request.now))),
    };
    unit.conn
        .prepare_cached(
            "UPDATE resolution_attempt SET generation = generation + 1, lease_until = NULL, lease_count = NULL, \
                next_check = NULL, check_count = NULL,
                detail = ?4, state = ?2, ended_at = ?3
             WHERE key = ?1",
        )?
        .execute(params![attempt.key, state.as_str(), ended_at, LateAcceptance::DETAIL])?;
    Ok(Commit::Fenced(alert))
}

fn attempt_to_commit(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<(Attempt, Box<Alert>)> {
    let attempt = read_attempt(unit.conn, request.attempt)?
        .ok_or_else(|| StoreError::Corrupt(format!("no resolution attempt {} to be committed", request.attempt)))?;
    let alert = Box::new(rows::read_by_key(unit.conn, unit.dictionary, attempt.alert)?);
    Ok((attempt, alert))
}

fn store_outcome(
    unit: &mut Unit<'_>,
    attempt: &Attempt,
    mut alert: Box<Alert>,
    request: &CommitRequest,
) -> StoreResult<Commit> {
    let (conn, now) = (&*unit.conn, request.now);
    let before = WordKeys::intern(conn, unit.dictionary, &alert)?.count_key(attempt.organization, &alert);
    record_outcome(&mut alert, request.attempt, &attempt.resolution, now);
    if let Some(outcome) = &alert.outcome {
        rows::insert_outcome(conn, unit.dictionary, attempt.alert, outcome)?;
        find_index::index_later(conn, attempt.alert, outcome)?;
    }
    let after = WordKeys::intern(conn, unit.dictionary, &alert)?;
    let mut counts = CountChanges::default();
    counts.shift(before, after.count_key(attempt.organization, &alert));
    counts.write(conn, unit.change)?;
    conn.prepare_cached(
        "UPDATE alert SET status = ?2, outcome = ?3, updated_at = ?4, open_deadline = NULL, changed = ?5
         WHERE key = ?1",
    )?
    .execute(params![attempt.alert, after.status, after.outcome, micros(now), unit.change])?;
    conn.prepare_cached(
        "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = ?2, lease_until = NULL, lease_count = NULL \
            WHERE key = ?1",
    )?
    .execute(params![attempt.key, micros(now)])?;
    audit::record_of(
        conn,
        &attempt.by,
        attempt.organization,
        AuditNote::alert_resolved(&alert, &attempt.resolution),
        now,
    )?;
    let recipients = Recipients::of(conn, attempt.organization)?;
    events::record_event(unit, &recipients, &EventKind::AlertResolved, attempt.alert, &alert, now)?;
    Ok(Commit::Committed(alert))
}

/// Ends an attempt without an outcome, or lays it down.
fn end(
    unit: &Unit<'_>,
    attempt: AttemptId,
    generation: i64,
    end: &AttemptEnd,
    detail: &str,
    now: Present,
) -> StoreResult<bool> {
    let (state, next_check, calls_over, ended_at) = match end {
        AttemptEnd::Released => (AttemptState::Released, None, None, Some(micros(now.date))),
        AttemptEnd::Unknown { next_check, calls_over } => {
            (AttemptState::Unknown, Some(*next_check), Some(*calls_over), None)
        }
        AttemptEnd::Parked => (AttemptState::Parked, None, None, None),
    };
    let changed = unit
        .conn
        .prepare_cached(
            "UPDATE resolution_attempt SET state = ?3, next_check = ?4, ended_at = ?5, detail = ?6, lease_until = \
                NULL, lease_count = NULL,
                check_count = ?7, calls_over = coalesce(?8, calls_over), epoch = coalesce(?9, epoch)
             WHERE id = ?1 AND generation = ?2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')",
        )?
        .execute(params![
            attempt.0.as_bytes(),
            generation,
            state.as_str(),
            next_check.map(micros),
            ended_at,
            detail,
            next_check.map(|check| now.counted_at(check).micros),
            calls_over.map(|over| over.micros),
            calls_over.map(|over| over.epoch),
        ])?;
    Ok(changed == 1)
}

/// Takes over attempts that nobody works on.
fn claim_due_attempts(
    unit: &mut Unit<'_>,
    now: Present,
    lease_until: Timestamp,
    limit: u32,
) -> StoreResult<Vec<ClaimedAttempt>> {
    let conn = &*unit.conn;
    let mut take = conn.prepare_cached(
        "UPDATE resolution_attempt SET generation = generation + 1, checks = checks + 1, instance = ?2, lease_until = \
            ?3, lease_count = ?4,
            epoch = ?5, calls_over = ?6,
            -- The check that is due now is the last one that is known.
            check_count = CASE WHEN epoch = ?5 THEN check_count END
         WHERE key = ?1
         RETURNING dialect, resolution, refunded, amount_stopped, comments, id, generation, alert, started_at, checks \
         - 1,
                   (SELECT id FROM organization o WHERE o.key = organization), coalesce(detail, '')",
    )?;
    let epoch = now.counted.epoch;
    let due = unattended(unit, now, lease_until - now.date, limit)?;
    let mut taken = Vec::with_capacity(due.len());
    for (key, calls_over) in due {
        let mut rows = take.query(params![
            key,
            unit.own().0.as_bytes(),
            micros(lease_until),
            now.counted_at(lease_until).micros,
            epoch,
            calls_over.micros
        ])?;
        let Some(row) = rows.next()? else { continue };
        taken.push(ClaimedAttempt {
            attempt: AttemptId(Uuid::from_bytes(row.get(5)?)),
            generation: row.get(6)?,
            organization: OrganizationId(Uuid::from_bytes(row.get(10)?)),
            alert: rows::read_by_key(conn, unit.dictionary, row.get(7)?)?,
            resolution: read_resolution(row)?,
            started_at: moment(row.get(8)?)?,
            calls_over,
            checks: row.get(9)?,
            detail: row.get(11)?,
        });
        // A statement that returns rows has changed everything only at its end.
        while rows.next()?.is_some() {}
    }
    Ok(taken)
}

/// The attempts to take over for so long, oldest first, with the end of the calls that were made for each.
fn unattended(unit: &Unit<'_>, now: Present, lease: TimeDelta, limit: u32) -> StoreResult<Vec<(i64, MonotonicTime)>> {
    let sql = format!("SELECT {OPEN} FROM {OPEN_ATTEMPTS} AND state <> 'PARKED' ORDER BY key");
    let mut statement = unit.conn.prepare_cached(&sql)?;
    let mut rows = statement.query([])?;
    // Each process is asked about once.
    let mut known: Vec<(InstanceId, bool)> = Vec::new();
    let mut is_dead = |owner| match known.iter().find(|(id, _)| *id == owner) {
        Some((_, dead)) => *dead,
        None => {
            let dead = unit.shared.instances.is_dead(owner);
            known.push((owner, dead));
            dead
        }
    };
    let mut due = Vec::new();
    while let Some(row) = rows.next()?.filter(|_| due.len() < limit as usize) {
        let open = read_open(row, &mut is_dead)?;
        if open.is_due(now) {
            due.push((row.get(0)?, open.calls_over_after_takeover(now, lease)));
        }
    }
    Ok(due)
}

/// The attempts that have not ended, as a FROM and the beginning of a WHERE.
const OPEN_ATTEMPTS: &str =
    "resolution_attempt INDEXED BY resolution_attempt_open WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";

/// The columns that [`read_open`] reads.
const OPEN: &str =
    "key, instance, state, deadline, next_check, lease_until, epoch, calls_over, check_count, lease_count";

fn read_open(row: &Row<'_>, mut is_dead: impl FnMut(InstanceId) -> bool) -> StoreResult<OpenAttempt> {
    let optional = |at: Option<i64>| at.map(moment).transpose();
    let state = read_state(&row.get::<_, String>(2)?)?;
    let (deadline, next_check, lease_until) = (moment(row.get(3)?)?, optional(row.get(4)?)?, optional(row.get(5)?)?);
    let turn = next_check.filter(|_| state == AttemptState::Unknown).unwrap_or(deadline);
    let (check_count, lease_count): (Option<i64>, Option<i64>) = (row.get(8)?, row.get(9)?);
    // What was written before anything was counted has no epoch.
    let counted = row.get::<_, Option<ClockEpoch>>(6)?.zip(row.get::<_, Option<i64>>(7)?).map(|(epoch, calls_over)| {
        let counted = |micros| MonotonicTime { epoch, micros };
        AttemptCounts {
            calls_over: counted(calls_over),
            next_check: check_count.map(counted),
            lease_until: lease_count.map(counted),
        }
    });
    let owner_dead = is_dead(InstanceId(Uuid::from_bytes(row.get(1)?)));
    Ok(OpenAttempt { state, counted, turn: lease_until.map_or(turn, |lease| turn.max(lease)), owner_dead })
}

/// Attempts that have not ended, oldest first.
fn unfinished(reader: &Reader, organization: OrganizationId) -> StoreResult<Vec<ResolutionAttempt>> {
    let Some(organization) = organization_key(&reader.conn, organization)? else { return Ok(Vec::new()) };
    let mut statement = reader.conn.prepare_cached(
        "SELECT r.dialect, r.resolution, r.refunded, r.amount_stopped, r.comments,
                r.id, a.id, r.state, r.started_at, r.next_check, r.checks, r.detail, r.actor
         FROM resolution_attempt r INDEXED BY resolution_attempt_open JOIN alert a ON a.key = r.alert
         WHERE r.organization = ?1 AND r.state IN ('INFLIGHT', 'UNKNOWN', 'PARKED') ORDER BY r.key LIMIT 1000",
    )?;
    let mut rows = statement.query([organization])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(ResolutionAttempt {
            id: AttemptId(Uuid::from_bytes(row.get(5)?)),
            alert: AlertId(Uuid::from_bytes(row.get(6)?)),
            state: row.get(7)?,
            resolution: read_resolution(row)?,
            started_at: moment(row.get(8)?)?,
            next_check: row.get::<_, Option<i64>>(9)?.map(moment).transpose()?,
            checks: row.get(10)?,
            detail: row.get(11)?,
            actor: row.get(12)?,
        });
    }
    Ok(found)
}

/// Settles a parked attempt by a person's word.
fn settle(
    unit: &mut Unit<'_>,
    by: &Actor,
    organization: OrganizationId,
    id: AttemptId,
    applied: bool,
    now: Timestamp,
) -> StoreResult<Settled> {
    let owner = organization_key(unit.conn, organization)?;
    let Some(attempt) = read_attempt(unit.conn, id)?.filter(|attempt| owner == Some(attempt.organization)) else {
        return Ok(Settled::NotFound);
    };
    let alert = rows::read_by_key(unit.conn, unit.dictionary, attempt.alert)?;
    let Some(settlement) = Settlement::of(attempt.state, applied, alert.outcome.is_some()) else {
        return Ok(Settled::NotParked(attempt.state.as_str().to_owned()));
    };
    audit::record(unit, by, organization, AuditNote::attempt_settled(id, alert.id, applied), now)?;
    match settlement {
        Settlement::Commit => {
            let request = CommitRequest { attempt: id, generation: attempt.generation, now };
            store_outcome(unit, &attempt, Box::new(alert), &request)?;
        }
        Settlement::Release => {
            let detail = format!("a person said: {}", word_of(applied));
            end(unit, id, attempt.generation, &AttemptEnd::Released, &detail, now.into())?;
        }
    }
    Ok(Settled::Done(Box::new(rows::read_by_key(unit.conn, unit.dictionary, attempt.alert)?)))
}

/// Reads dialect, resolution, refunded, amount and comments, which have to be the first columns.
fn read_resolution(row: &Row<'_>) -> StoreResult<Resolution> {
    let (dialect, comments): (String, Option<String>) = (row.get(0)?, row.get(4)?);
    let dialect = if dialect == Dialect::Current.as_str() { Dialect::Current } else { Dialect::Older };
    let parts = ResolutionParts {
        resolution: row.get(1)?,
        refunded: row.get(2)?,
        amount_stopped: row.get(3)?,
        comments: comments.unwrap_or_default(),
    };
    // The alert's amount was the limit when the decision was made; it may have changed since.
    Resolution::from_parts(parts, dialect, None)
        .map_err(|errors| StoreError::Corrupt(format!("a stored resolution that breaks the rules: {errors:?}")))
}
