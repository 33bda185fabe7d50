//! Health of the store: the write probe, queue depths, and the observations of the clocks.

use std::time::Duration;

use chrono::TimeDelta;
use futures::try_join;

use super::{rekeying, retention};
use crate::domain::clock::{ClockMemory, Jump};
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};
use crate::store::encryption::Seal;
use crate::store::sql::BoundValues;
use crate::store::stored_row::cell;
use crate::store::units::{UnitOfWork, Way, units};
use crate::store::work::Work;

/// Queue depths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Depths {
    /// Deliveries that wait for their (next) attempt.
    pub pending: u64,
    /// Due time of the oldest of them.
    pub oldest_due: Option<Timestamp>,
    /// Deliveries that are being sent.
    pub leased: u64,
    /// Deliveries that failed for good.
    pub exhausted: u64,
    /// Decisions that are being sent to a provider.
    pub inflight: u64,
    /// Decisions without a known result.
    pub unknown: u64,
    /// Decisions that wait for a person.
    pub parked: u64,
}

units! {
    /// Units of work of upkeep, for all organizations.
    UpkeepStore:

    /// A health check: a cheap read that proves the database answers.
    async fn ping() -> () {
        Way::Look => |unit| ping(unit)
    }

    /// Checks that the data key that the database is sealed with is at hand.
    ///
    /// # Errors
    /// [`Unusable`](crate::store::StoreError::Unusable) names the file that has to hold it.
    async fn prove_key() -> () {
        Way::Look => |unit| rekeying::prove(unit)
    }

    /// Seals every sealed value with this key, in one unit of work; returns their number. The key has to be in its file
    /// before: other processes go on with the key that they find there.
    async fn seal_anew(new: Seal, now: Timestamp) -> u64 {
        Way::VisibleMuch => |unit| rekeying::seal_anew(unit, new, *now)
    }

    /// A write probe: proves that the database can be written.
    async fn probe(now: Timestamp) -> () {
        Way::Quiet => |unit| probe(unit, *now)
    }

    /// Stored observations of this machine's clocks, or of those of the machine that had the database before.
    async fn kept_clock() -> Option<ClockMemory> {
        Way::Look => |unit| kept_clock(unit)
    }

    /// Stores the observations of this machine's clocks.
    async fn keep_clock(memory: ClockMemory) -> () {
        Way::Quiet => |unit| keep_clock(unit, memory)
    }

    /// Lengths of the queues, of all organizations.
    async fn depths() -> Depths {
        Way::List(None) => |unit| depths(unit)
    }

    /// Prunes what is before the cut-offs, at most `limit` of each kind, oldest first. Kinds are deliveries that
    /// arrived or were given up, with their events and the log of their attempts, and attempts that have ended. Of the
    /// audit log [`AUDIT_AT_ONCE`] times as many go, which an entry in it then tells of. Deliveries that can still be
    /// tried, and attempts that have not ended, are never touched. Signing secrets whose time is over are erased.
    ///
    /// [`AUDIT_AT_ONCE`]: crate::domain::retention::AUDIT_AT_ONCE
    async fn prune(cut_offs: CutOffs, limit: u32, now: Timestamp) -> Pruned {
        |store| retention::prune(store, cut_offs, limit, now)
    }
}

/// Reads the newest change number.
async fn ping(unit: &UnitOfWork<'_>) -> Work<()> {
    let newest = "SELECT /*-*/number/*+CASE WHEN is_called THEN last_value ELSE 0 END*/ FROM change_number";
    unit.one(newest, &[], cell::<i64>).await.map(drop)
}

/// Writes the present moment to a fact that nobody reads: its commit proves that the disk can be written.
async fn probe(unit: &UnitOfWork<'_>, now: Timestamp) -> Work<()> {
    let probed = "INSERT INTO fact (name, value) VALUES ('probed_at', ?1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    unit.run(probed, &[&now.timestamp_micros().to_be_bytes()]).await.map(drop)
}

/// Queue depths, asked for without waiting for each other's answers.
async fn depths(unit: &UnitOfWork<'_>) -> Work<Depths> {
    let pending = "SELECT count(*), min(d.due)
        FROM /*-*/endpoint e JOIN delivery d INDEXED BY delivery_pending ON d.endpoint = e.key/*+delivery d*/
        WHERE d.state = 'pending'";
    let leased = "SELECT count(*) FROM delivery WHERE state = 'leased'";
    let exhausted = "SELECT count(*) FROM delivery WHERE state = 'exhausted' AND test = /*-*/0/*+false*/";
    let running = "SELECT count(*) FROM resolution_attempt/*-*/ INDEXED BY resolution_attempt_open/*+*/
        WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED') AND state = ?1";
    let states: [BoundValues<'_>; 3] = [&[&"INFLIGHT"], &[&"UNKNOWN"], &[&"PARKED"]];
    let ((pending, oldest_due), leased, exhausted, inflight, unknown, parked) = try_join!(
        unit.one(pending, &[], |row| Ok((row.get(0)?, row.get(1)?))),
        unit.one(leased, &[], cell),
        unit.one(exhausted, &[], cell),
        unit.one(running, states[0], cell),
        unit.one(running, states[1], cell),
        unit.one(running, states[2], cell),
    )?;
    Ok(Depths { pending, oldest_due, leased, exhausted, inflight, unknown, parked })
}

/// Reads the stored observations of the clocks: one row, which the next process goes on from.
async fn kept_clock(unit: &UnitOfWork<'_>) -> Work<Option<ClockMemory>> {
    let kept = "SELECT epoch, date, count, jump_ahead, jump_since, jump_observed, jump_observations FROM clock";
    unit.first(kept, &[], |row| {
        let count = |micros: i64| Duration::from_micros(micros.unsigned_abs());
        let jump = match (row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?) {
            (Some(ahead), Some(since), Some(observed), Some(observations)) => Some(Jump {
                ahead: TimeDelta::microseconds(ahead),
                since: count(since),
                last_observed: count(observed),
                observations,
            }),
            _ => None,
        };
        Ok(ClockMemory { epoch: row.get(0)?, date: row.get(1)?, count: count(row.get(2)?), jump })
    })
    .await
}

async fn keep_clock(unit: &UnitOfWork<'_>, memory: &ClockMemory) -> Work<()> {
    let count = |passed: Duration| i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
    let jump = memory.jump.as_ref();
    let kept = "INSERT INTO clock (/*-*/only/*+single*/, epoch, date, count, jump_ahead, jump_since, jump_observed, \
            jump_observations)
        VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)
        ON CONFLICT (/*-*/only/*+single*/) DO UPDATE SET epoch = excluded.epoch, date = excluded.date,
            count = excluded.count, jump_ahead = excluded.jump_ahead, jump_since = excluded.jump_since,
            jump_observed = excluded.jump_observed, jump_observations = excluded.jump_observations";
    unit.run(
        kept,
        &[
            &memory.epoch,
            &memory.date,
            &count(memory.count),
            &jump.map(|jump| jump.ahead.num_microseconds().unwrap_or(i64::MAX)),
            &jump.map(|jump| count(jump.since)),
            &jump.map(|jump| count(jump.last_observed)),
            &jump.map(|jump| jump.observations),
        ],
    )
    .await
    .map(drop)
}
