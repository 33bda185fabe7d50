//! The resolution table: claims, their fences, and how they end (reliability, A resolution is final).

use chrono::Duration;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use uuid::Uuid;

use super::audit::{self, Action};
use super::counts::CountChanges;
use super::outbox::{self, Recipients};
use super::rows::{self, WordKeys, micros, moment};
use super::writer::Unit;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AttemptId, Dialect, EventKind, InstanceId, OrganizationId, Outcome, Resolution, ResolutionParts};
use crate::store::{Actor, AttemptEnd, Claim, ClaimRequest, Commit, CommitRequest, Holder, StoreError, StoreResult, UnsettledAttempt};

/// How long an Idempotency-Key is remembered (decisions, Repeats).
const KEY_LIFE: Duration = Duration::hours(24);

/// Claims the one running resolution of an alert.
pub(super) fn claim(unit: &mut Unit<'_>, request: &ClaimRequest, by: &Actor) -> StoreResult<Claim> {
    let conn = unit.conn;
    let Some(organization) = rows::organization_key(conn, request.organization)? else { return Ok(Claim::NotFound) };
    let Some(stored) = rows::read_by_id(conn, unit.dictionary, organization, request.alert)? else { return Ok(Claim::NotFound) };
    let alert = Box::new(stored.alert);
    if let Some(key) = &request.idempotency_key {
        match used(conn, organization, key, stored.key, request)? {
            Some(Use::Otherwise) => return Ok(Claim::KeyReused),
            Some(Use::Committed) => return Ok(Claim::Replay(alert)),
            None => {}
        }
    }
    if alert.outcome.is_some() {
        return Ok(Claim::AlreadyResolved(alert));
    }
    if let Some(holder) = holder(unit, stored.key, request.now)? {
        return Ok(Claim::InProgress(holder));
    }
    let said = request.resolution.to_parts();
    let generation = 1;
    conn.prepare_cached(
        "INSERT INTO resolution_attempt (id, organization, alert, dialect, resolution, refunded, amount_stopped, comments, body_hash,
                                         idempotency_key, state, generation, instance, started_at, deadline, actor, origin)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'INFLIGHT', ?11, ?12, ?13, ?14, ?15, ?16)",
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
        micros(request.now),
        micros(request.deadline),
        by.name,
        by.origin,
    ])?;
    Ok(Claim::Claimed { alert, generation })
}

/// Who has the running attempt of an alert, where there is one.
fn holder(unit: &Unit<'_>, alert: i64, now: Timestamp) -> StoreResult<Option<Holder>> {
    let sql = format!("SELECT {UNENDED}, id FROM resolution_attempt WHERE alert = ?2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')");
    let running =
        unit.conn.prepare_cached(&sql)?.query_row(params![micros(now), alert], |row| Ok((Unended::read(row)?, row.get(7)?))).optional()?;
    Ok(running.map(|(running, id)| match running.is_due(unit.shared.instances.is_dead(running.instance)) {
        _ if running.parked => Holder::Person(AttemptId(Uuid::from_bytes(id))),
        true => Holder::Nobody,
        false => Holder::Somebody,
    }))
}

/// How an Idempotency-Key was used before.
enum Use {
    /// For another alert or another decision.
    Otherwise,
    /// For this one, with success.
    Committed,
}

fn used(conn: &Connection, organization: i64, key: &str, alert: i64, request: &ClaimRequest) -> StoreResult<Option<Use>> {
    let mut statement = conn.prepare_cached(
        "SELECT alert = ?4 AND body_hash = ?5, state = 'COMMITTED' FROM resolution_attempt INDEXED BY resolution_attempt_by_key
         WHERE organization = ?1 AND idempotency_key = ?2 AND started_at > ?3",
    )?;
    let since = micros(request.now - KEY_LIFE);
    let uses = statement.query_map(params![organization, key, since, alert, request.body_hash], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let uses: Vec<(bool, bool)> = uses.collect::<Result<_, _>>()?;
    Ok(match uses.iter().find(|(same, _)| !same) {
        Some(_) => Some(Use::Otherwise),
        None => uses.iter().any(|(_, committed)| *committed).then_some(Use::Committed),
    })
}

/// A running or finished attempt.
pub(super) struct Attempt {
    pub(super) key: i64,
    pub(super) organization: i64,
    pub(super) alert: i64,
    generation: i64,
    running: bool,
    committed: bool,
    pub(super) resolution: Resolution,
    by: Actor,
}

pub(super) fn read_attempt(conn: &Connection, id: AttemptId) -> StoreResult<Option<Attempt>> {
    let mut statement = conn.prepare_cached(
        "SELECT dialect, resolution, refunded, amount_stopped, comments, key, organization, alert, generation,
                state IN ('INFLIGHT', 'UNKNOWN', 'PARKED'), state = 'COMMITTED', actor, origin
         FROM resolution_attempt WHERE id = ?1",
    )?;
    let mut rows = statement.query([id.0.as_bytes()])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let (key, organization, alert) = (row.get(5)?, row.get(6)?, row.get(7)?);
    Ok(Some(Attempt {
        key,
        organization,
        alert,
        generation: row.get(8)?,
        running: row.get(9)?,
        committed: row.get(10)?,
        by: Actor { name: row.get(11)?, origin: row.get(12)? },
        resolution: read_resolution(row)?,
    }))
}

/// Stores outcome, status, event and deliveries, where the fence holds.
pub(super) fn commit(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request)?;
    if !attempt.running || attempt.generation != request.generation || alert.outcome.is_some() {
        return Ok(Commit::Fenced(alert));
    }
    store_outcome(unit, &attempt, alert, request)
}

/// Stores a yes whatever became of its attempt, unless the alert has an outcome: then a person has to look at it.
pub(super) fn commit_late(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<Commit> {
    let (attempt, alert) = attempt_to_commit(unit, request)?;
    if alert.outcome.is_none() {
        return store_outcome(unit, &attempt, alert, request);
    }
    if !attempt.committed {
        // One attempt of an alert at most can be parked; a second one is at least said to have been a yes.
        let another_waits: bool = unit
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM resolution_attempt
                                WHERE alert = ?1 AND key <> ?2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED'))",
            )?
            .query_row([attempt.alert, attempt.key], |row| row.get(0))?;
        let (state, ended_at) = if another_waits { ("RELEASED", Some(micros(request.now))) } else { ("PARKED", None) };
        unit.conn
            .prepare_cached(
                "UPDATE resolution_attempt SET generation = generation + 1, lease_until = NULL, next_check = NULL,
                    detail = 'the provider took this decision too, after another one was recorded', state = ?2, ended_at = ?3
                 WHERE key = ?1",
            )?
            .execute(params![attempt.key, state, ended_at])?;
    }
    Ok(Commit::Fenced(alert))
}

fn attempt_to_commit(unit: &mut Unit<'_>, request: &CommitRequest) -> StoreResult<(Attempt, Box<Alert>)> {
    let attempt = read_attempt(unit.conn, request.attempt)?
        .ok_or_else(|| StoreError::Corrupt(format!("no resolution attempt {} to be committed", request.attempt)))?;
    let alert = Box::new(rows::read_by_key(unit.conn, unit.dictionary, attempt.alert)?);
    Ok((attempt, alert))
}

pub(super) fn store_outcome(unit: &mut Unit<'_>, attempt: &Attempt, mut alert: Box<Alert>, request: &CommitRequest) -> StoreResult<Commit> {
    let conn = unit.conn;
    let before = WordKeys::intern(conn, unit.dictionary, &alert)?;
    let CommitRequest { verdict, now, .. } = request;
    let outcome = Outcome {
        id: request.outcome,
        alert_id: alert.id,
        provider_alert_id: alert.provider_id.clone(),
        status: "success".to_owned(),
        outcome: verdict.outcome.clone(),
        refunded: verdict.refunded.to_owned(),
        comments: attempt.resolution.comments().to_owned(),
        dispute_reason_code: verdict.dispute_reason_code.map(str::to_owned),
        action_time: Some(*now),
        amount_stopped: verdict.amount_stopped,
    };
    let mut counts = CountChanges::default();
    let from = before.count_key(attempt.organization, &alert);
    rows::insert_outcome(conn, attempt.alert, &outcome)?;
    alert.outcome = Some(outcome);
    alert.status = verdict.status.clone();
    alert.updated_at = Some(*now);
    let after = WordKeys::intern(conn, unit.dictionary, &alert)?;
    counts.shift(from, after.count_key(attempt.organization, &alert));
    counts.write(conn, unit.change)?;
    conn.prepare_cached(
        "UPDATE alert SET status = ?2, outcome = ?3, updated_at = ?4, waiting_deadline = NULL, open_deadline = NULL, changed = ?5
         WHERE key = ?1",
    )?
    .execute(params![attempt.alert, after.status, after.outcome, micros(*now), unit.change])?;
    conn.prepare_cached("UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = ?2, lease_until = NULL WHERE key = ?1")?
        .execute(params![attempt.key, micros(*now)])?;
    let said = attempt.resolution.to_parts();
    let what = format!("{}: {}", alert.status, [said.refunded, said.resolution].into_iter().flatten().collect::<Vec<_>>().join(", "));
    audit::record_of(unit.conn, &attempt.by, attempt.organization, Action::AlertResolved, &alert.id.to_string(), &what, *now)?;
    let recipients = Recipients::of(conn, attempt.organization)?;
    outbox::record_event(unit, &recipients, &EventKind::AlertResolved, attempt.alert, &alert, *now)?;
    Ok(Commit::Committed(alert))
}

/// Ends an attempt without an outcome, or lays it down.
pub(super) fn end(
    unit: &Unit<'_>,
    attempt: AttemptId,
    generation: i64,
    end: &AttemptEnd,
    detail: &str,
    now: Timestamp,
) -> StoreResult<bool> {
    let (state, next_check, calls_over, ended_at) = match end {
        AttemptEnd::Released => ("RELEASED", None, None, Some(micros(now))),
        AttemptEnd::Unknown { next_check, calls_over } => ("UNKNOWN", Some(micros(*next_check)), Some(micros(*calls_over)), None),
        AttemptEnd::Parked => ("PARKED", None, None, None),
    };
    let changed = unit
        .conn
        .prepare_cached(
            "UPDATE resolution_attempt SET state = ?3, next_check = ?4, ended_at = ?5, detail = ?6, deadline = coalesce(?7, deadline),
                lease_until = NULL
             WHERE id = ?1 AND generation = ?2 AND state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')",
        )?
        .execute(params![attempt.0.as_bytes(), generation, state, next_check, ended_at, detail, calls_over])?;
    Ok(changed == 1)
}

/// Takes over attempts that nobody works on.
pub(super) fn claim_unsettled(
    unit: &mut Unit<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
) -> StoreResult<Vec<UnsettledAttempt>> {
    let conn = unit.conn;
    let due = unattended(unit, now, limit)?;
    // A call of a dead process is over by now, its first one and any that it made when it had taken the attempt over; one of a process
    // that let its lease run out is over since then.
    let mut take = conn.prepare_cached(
        "UPDATE resolution_attempt SET generation = generation + 1, checks = checks + 1, instance = ?2, lease_until = ?3,
            deadline = CASE WHEN ?4 AND (deadline > ?5 OR lease_until IS NOT NULL) THEN ?5
                            WHEN lease_until IS NOT NULL THEN max(deadline, lease_until) ELSE deadline END
         WHERE key = ?1
         RETURNING dialect, resolution, refunded, amount_stopped, comments, id, generation, alert, started_at, deadline, checks - 1,
                   (SELECT id FROM organization o WHERE o.key = organization), coalesce(detail, '')",
    )?;
    let mut taken = Vec::with_capacity(due.len());
    for (key, dead) in due {
        let mut rows = take.query(params![key, unit.own().0.as_bytes(), micros(lease_until), dead, micros(now)])?;
        let Some(row) = rows.next()? else { continue };
        taken.push(UnsettledAttempt {
            attempt: AttemptId(Uuid::from_bytes(row.get(5)?)),
            generation: row.get(6)?,
            organization: OrganizationId(Uuid::from_bytes(row.get(11)?)),
            alert: rows::read_by_key(conn, unit.dictionary, row.get(7)?)?,
            resolution: read_resolution(row)?,
            started_at: moment(row.get(8)?)?,
            deadline: moment(row.get(9)?)?,
            checks: row.get(10)?,
            detail: row.get(12)?,
        });
        // A statement that returns rows has changed everything only at its end.
        while rows.next()?.is_some() {}
    }
    Ok(taken)
}

/// The attempts to take, and whether the process is dead that had them.
fn unattended(unit: &Unit<'_>, now: Timestamp, limit: u32) -> StoreResult<Vec<(i64, bool)>> {
    let mut statement = unit.conn.prepare_cached(&format!(
        "SELECT {UNENDED} FROM resolution_attempt INDEXED BY resolution_attempt_unsettled
         WHERE state IN ('INFLIGHT', 'UNKNOWN') ORDER BY key"
    ))?;
    let mut rows = statement.query([micros(now)])?;
    let mut known = Vec::new();
    let mut keys = Vec::new();
    while let Some(row) = rows.next()?.filter(|_| keys.len() < limit as usize) {
        let unended = Unended::read(row)?;
        let dead = is_dead(unit, unended.instance, &mut known);
        if unended.is_due(dead) {
            keys.push((unended.key, dead));
        }
    }
    Ok(keys)
}

/// The columns of [`Unended`]; ?1 is the present.
const UNENDED: &str =
    "key, instance, state = 'INFLIGHT', state = 'PARKED', deadline <= ?1, coalesce(next_check, 0) <= ?1, coalesce(lease_until > ?1, 0)";

/// An attempt that has not ended, as far as it matters for who may take it over.
#[allow(clippy::struct_excessive_bools, reason = "each is a comparison made by the database")]
struct Unended {
    key: i64,
    instance: InstanceId,
    inflight: bool,
    parked: bool,
    overdue: bool,
    check_due: bool,
    leased: bool,
}

impl Unended {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            key: row.get(0)?,
            instance: InstanceId(Uuid::from_bytes(row.get(1)?)),
            inflight: row.get(2)?,
            parked: row.get(3)?,
            overdue: row.get(4)?,
            check_due: row.get(5)?,
            leased: row.get(6)?,
        })
    }

    /// INFLIGHT of a dead process, or past their deadline and not leased; UNKNOWN that are due and not leased by a living one.
    fn is_due(&self, dead: bool) -> bool {
        let due = if self.inflight { self.overdue || dead } else { !self.parked && self.check_due };
        due && (dead || !self.leased)
    }
}

/// Asks once for each instance.
fn is_dead(unit: &Unit<'_>, instance: InstanceId, known: &mut Vec<(InstanceId, bool)>) -> bool {
    if let Some((_, dead)) = known.iter().find(|(id, _)| *id == instance) {
        return *dead;
    }
    let dead = unit.shared.instances.is_dead(instance);
    known.push((instance, dead));
    dead
}

/// Reads dialect, resolution, refunded, amount and comments, which have to be the first columns.
pub(super) fn read_resolution(row: &Row<'_>) -> StoreResult<Resolution> {
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
