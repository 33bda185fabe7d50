//! Health of the store: the write probe, queue depths, and the observations of the clocks.

use std::time::Duration;

use async_trait::async_trait;
use chrono::TimeDelta;
use futures::try_join;

use super::{rekeying, retention};
use crate::domain::clock::{ClockMemory, Jump};
use crate::domain::time::Timestamp;
use crate::domain::{CutOffs, Pruned};
use crate::store::encryption::Seal;
use crate::store::sql::BoundValues;
use crate::store::stored_row::cell;
use crate::store::units::{UnitOfWork, Units, Way};
use crate::store::work::Work;
use crate::store::{Depths, StoreResult, UpkeepStore};

#[async_trait]
impl<S: Units> UpkeepStore for S {
    async fn ping(&self) -> StoreResult<()> {
        self.unit(Way::Look, (), |unit, ()| {
            Box::pin(async move {
                let newest = "SELECT /*-*/number/*+CASE WHEN is_called THEN last_value ELSE 0 END*/ FROM change_number";
                unit.one(newest, &[], cell::<i64>).await.map(drop)
            })
        })
        .await
    }

    async fn probe(&self, now: Timestamp) -> StoreResult<()> {
        self.unit(Way::Quiet, now, |unit, now| Box::pin(probe(unit, *now))).await
    }

    async fn prove_key(&self) -> StoreResult<()> {
        self.unit(Way::Look, (), |unit, ()| Box::pin(rekeying::prove(unit))).await
    }

    async fn seal_anew(&self, new: Seal, now: Timestamp) -> StoreResult<u64> {
        self.unit(Way::VisibleMuch, (new, now), |unit, (new, now)| Box::pin(rekeying::seal_anew(unit, new, *now))).await
    }

    async fn kept_clock(&self) -> StoreResult<Option<ClockMemory>> {
        self.unit(Way::Look, (), |unit, ()| Box::pin(kept_clock(unit))).await
    }

    async fn keep_clock(&self, memory: ClockMemory) -> StoreResult<()> {
        self.unit(Way::Quiet, memory, |unit, memory| Box::pin(keep_clock(unit, memory))).await
    }

    async fn depths(&self) -> StoreResult<Depths> {
        self.unit(Way::List(None), (), |unit, ()| Box::pin(depths(unit))).await
    }

    async fn prune(&self, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
        retention::prune(self, cut_offs, limit, now).await
    }
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
