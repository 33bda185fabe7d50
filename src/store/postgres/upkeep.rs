//! Health of the store: the write probe, queue depths, and what was observed of the clocks.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;

use super::fault::Work;
use super::handle::{PostgresStore, WriteKind};
use super::keeper::NEWEST_CHANGE;
use super::statements::{cell, micros, moment_at, number_at, optional_moment};
use super::unit::Unit;
use super::{rekeying, retention};
use crate::domain::clock::{ClockMemory, Jump};
use crate::domain::time::Timestamp;
use crate::domain::{ClockEpoch, CutOffs, Pruned};
use crate::store::seal::Seal;
use crate::store::{Depths, StoreResult, UpkeepStore};

#[async_trait]
impl UpkeepStore for PostgresStore {
    async fn ping(&self) -> StoreResult<()> {
        self.look(|unit| Box::pin(ping(unit))).await
    }

    async fn probe(&self, now: Timestamp) -> StoreResult<()> {
        self.write(WriteKind::Quiet, |unit| Box::pin(probe(unit, now))).await
    }

    async fn prove_key(&self) -> StoreResult<()> {
        self.look(|unit| Box::pin(rekeying::prove(unit))).await
    }

    async fn seal_anew(&self, new: Seal, now: Timestamp) -> StoreResult<u64> {
        self.write_much(WriteKind::Visible, |unit| Box::pin(rekeying::seal_anew(unit, &new, now))).await
    }

    async fn kept_clock(&self) -> StoreResult<Option<ClockMemory>> {
        self.look(|unit| Box::pin(kept_clock(unit))).await
    }

    async fn keep_clock(&self, memory: ClockMemory) -> StoreResult<()> {
        self.write(WriteKind::Quiet, |unit| Box::pin(keep_clock(unit, memory))).await
    }

    async fn depths(&self) -> StoreResult<Depths> {
        self.read(|unit| Box::pin(depths(unit))).await
    }

    async fn prune(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        self.write_much(WriteKind::Quiet, |unit| Box::pin(retention::prune(unit, cut_offs, limit, now))).await
    }
}

async fn ping(unit: &Unit<'_>) -> Work<()> {
    unit.conn.one(NEWEST_CHANGE, &[], cell::<i64>).await.map(drop)
}

/// The present moment where nobody looks: the commit of it proves that the disk takes what it is given.
async fn probe(unit: &Unit<'_>, now: Timestamp) -> Work<()> {
    let probed = "INSERT INTO fact (name, value) VALUES ('probed_at', $1) ON CONFLICT (name) DO UPDATE SET value = \
        excluded.value";
    unit.conn.run(probed, &[&micros(now).to_be_bytes().as_slice()]).await.map(drop)
}

/// Queue depths.
async fn depths(unit: &Unit<'_>) -> Work<Depths> {
    let deliveries = "SELECT count(*) FILTER (WHERE state = 'pending'), min(due) FILTER (WHERE state = 'pending'),
            count(*) FILTER (WHERE state = 'leased'), count(*) FILTER (WHERE state = 'exhausted' AND NOT test)
        FROM delivery WHERE state IN ('pending', 'leased') OR (state = 'exhausted' AND NOT test)";
    let attempts = "SELECT count(*) FILTER (WHERE state = 'INFLIGHT'), count(*) FILTER (WHERE state = 'UNKNOWN'),
            count(*) FILTER (WHERE state = 'PARKED')
        FROM resolution_attempt WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')";
    let known = unit
        .conn
        .one(deliveries, &[], |row| {
            Ok(Depths {
                pending: number_at(row, 0)?,
                oldest_due: optional_moment(row, 1)?,
                leased: number_at(row, 2)?,
                exhausted: number_at(row, 3)?,
                ..Depths::default()
            })
        })
        .await?;
    unit.conn
        .one(attempts, &[], |row| {
            Ok(Depths {
                inflight: number_at(row, 0)?,
                unknown: number_at(row, 1)?,
                parked: number_at(row, 2)?,
                ..known
            })
        })
        .await
}

/// What was observed of the clocks: one row, which the next process goes on from.
async fn kept_clock(unit: &Unit<'_>) -> Work<Option<ClockMemory>> {
    let kept = "SELECT epoch, date, count, jump_ahead, jump_since, jump_observed, jump_observations FROM clock";
    unit.conn
        .first(kept, &[], |row| {
            let count = |micros: i64| Duration::from_micros(micros.unsigned_abs());
            let jump: (Option<i64>, Option<i64>, Option<i64>) = (row.try_get(3)?, row.try_get(4)?, row.try_get(5)?);
            let jump = match (jump, row.try_get::<_, Option<i64>>(6)?.map(u32::try_from)) {
                ((Some(ahead), Some(since), Some(observed)), Some(Ok(observations))) => Some(Jump {
                    ahead: TimeDelta::microseconds(ahead),
                    since: count(since),
                    last_observed: count(observed),
                    observations,
                }),
                _ => None,
            };
            Ok(ClockMemory {
                epoch: ClockEpoch(row.try_get(0)?),
                date: moment_at(row, 1)?,
                count: count(row.try_get(2)?),
                jump,
            })
        })
        .await
}

async fn keep_clock(unit: &Unit<'_>, memory: ClockMemory) -> Work<()> {
    let count = |passed: Duration| i64::try_from(passed.as_micros()).unwrap_or(i64::MAX);
    let jump = memory.jump.as_ref();
    let kept =
        "INSERT INTO clock (single, epoch, date, count, jump_ahead, jump_since, jump_observed, jump_observations)
        VALUES (1, $1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (single) DO UPDATE SET epoch = excluded.epoch, date = excluded.date, count = excluded.count,
            jump_ahead = excluded.jump_ahead, jump_since = excluded.jump_since, jump_observed = excluded.jump_observed,
            jump_observations = excluded.jump_observations";
    unit.conn
        .run(
            kept,
            &[
                &memory.epoch.0,
                &micros(memory.date),
                &count(memory.count),
                &jump.map(|jump| jump.ahead.num_microseconds().unwrap_or(i64::MAX)),
                &jump.map(|jump| count(jump.since)),
                &jump.map(|jump| count(jump.last_observed)),
                &jump.map(|jump| i64::from(jump.observations)),
            ],
        )
        .await
        .map(drop)
}
