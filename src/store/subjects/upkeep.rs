//! Health of the store: the write probe, queue depths, and the observations of the clocks.
//!
//! The data key: the proof that it is at hand, and everything sealed anew with another.
//!
//! Pruning by age. It takes deliveries that were delivered or given up, with their events and the log of their
//! attempts. It takes attempts that have ended, the events of sources, the oldest entries of the audit log, and signing
//! secrets past their time. Deliveries that can still be tried, and attempts that have not ended, are never touched.

use std::time::Duration;

use chrono::TimeDelta;

use super::audit;
use crate::{
    StoreError, StoreResult,
    cells::{SqlValue, StoredRow, cell},
    domain::{
        audit::AuditNote,
        clock::{ClockMemory, Jump},
        retention::{AUDIT_AT_ONCE, CutOffs, Pruned},
        time::Timestamp,
    },
    encryption::{self, CHECK, KEY_CHECK, SEALED, Seal, SealedColumn},
    error::Work,
    postgres::counts::DRAW_TOGETHER,
    sql::{KEYS, StoreRows, listed},
    units::{UnitContext, UnitOfWork, Units, Way, units},
};

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
    /// Deadline of the oldest of them: once it has passed, no process works on it.
    pub oldest_deadline: Option<Timestamp>,
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
        Way::ByKey => ping
    }

    /// Checks that the data key that the database is sealed with is at hand.
    ///
    /// # Errors
    /// [`Unusable`](crate::StoreError::Unusable) names the file that has to hold it.
    async fn prove_key() -> () {
        Way::ByKey => prove_key
    }

    /// Seals every sealed value with this key, in one unit of work; returns their number. The key has to be in its file
    /// before: other processes go on with the key that they find there.
    async fn seal_anew([ref] new: Seal, now: Timestamp) -> u64 {
        Way::VisibleMany => seal_anew
    }

    /// A write probe: proves that the database can be written.
    async fn probe(now: Timestamp) -> () {
        Way::Quiet => probe
    }

    /// Stored observations of this machine's clocks, or of those of the machine that had the database before.
    async fn kept_clock() -> Option<ClockMemory> {
        Way::ByKey => kept_clock
    }

    /// Stores the observations of this machine's clocks.
    async fn keep_clock([ref] memory: ClockMemory) -> () {
        Way::Quiet => keep_clock
    }

    /// Lengths of the queues, of all organizations.
    async fn depths() -> Depths {
        Way::List(None) => depths
    }

    /// Prunes what is before the cut-offs, at most `limit` of each kind, oldest first. Kinds are deliveries that
    /// arrived or were given up, with their events and the log of their attempts, and attempts that have ended. Of the
    /// audit log [`AUDIT_AT_ONCE`] times as many go, which an entry in it then tells of. Deliveries that can still be
    /// tried, and attempts that have not ended, are never touched. Signing secrets whose time is over are erased.
    ///
    /// [`AUDIT_AT_ONCE`]: crate::domain::retention::AUDIT_AT_ONCE
    async fn prune(cut_offs: CutOffs, limit: u32, now: Timestamp) -> Pruned {
        |store| prune(store, cut_offs, limit, now)
    }
}

/// Reads the newest change number.
async fn ping(unit: &UnitOfWork<'_>) -> Work<()> {
    let newest = "SELECT /*-*/number/*+CASE WHEN is_called THEN last_value ELSE 0 END*/ FROM change_number";
    unit.one(newest, &[], cell::<i64>).await.map(drop)
}

/// Writes the present moment to a fact that nobody reads: its commit proves that the disk can be written.
async fn probe(unit: &UnitOfWork<'_>, now: Timestamp) -> Work<()> {
    unit.keep_fact("probed_at", &now.timestamp_micros().to_be_bytes()).await
}

/// Queue depths.
pub(crate) async fn depths(rows: &StoreRows<'_>) -> Work<Depths> {
    let depths = "SELECT waiting.*, open.*, (SELECT count(*) FROM delivery WHERE state = 'leased'),
            (SELECT count(*) FROM delivery WHERE state = 'exhausted' AND test = /*-*/0/*+false*/)
        FROM (SELECT count(*), min(d.due)
                FROM /*-*/endpoint e JOIN delivery d INDEXED BY delivery_pending ON d.endpoint = e.key/*+delivery d*/
                WHERE d.state = 'pending') waiting,
            (SELECT count(*) FILTER (WHERE state = 'INFLIGHT'), count(*) FILTER (WHERE state = 'UNKNOWN'),
                count(*) FILTER (WHERE state = 'PARKED'), min(deadline) FILTER (WHERE state = 'INFLIGHT')
                FROM resolution_attempt/*-*/ INDEXED BY resolution_attempt_open/*+*/
                WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')) open";
    rows.one(depths, &[], |row| {
        Ok(Depths {
            pending: row.get(0)?,
            oldest_due: row.get(1)?,
            inflight: row.get(2)?,
            unknown: row.get(3)?,
            parked: row.get(4)?,
            oldest_deadline: row.get(5)?,
            leased: row.get(6)?,
            exhausted: row.get(7)?,
        })
    })
    .await
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

/// Proves that the key that the database is sealed with is at hand.
async fn prove_key(unit: &UnitOfWork<'_>) -> Work<()> {
    unit.one(&format!("SELECT {CHECK}"), &[], |row| unit.seal_of(row, 0)).await.map(drop)
}

/// Seals everything with another key; returns the number of values.
async fn seal_anew(unit: &UnitOfWork<'_>, new: &Seal, now: Timestamp) -> Work<u64> {
    let old = unit.sealing().await?;
    let check: Vec<u8> = unit.one(&format!("SELECT {CHECK}"), &[], cell).await?;
    if encryption::proves(new, &check) {
        let words = "the new data key is the one that is in use already; name a file that is not there yet";
        return Err(StoreError::Unusable(words.to_owned()).into());
    }
    let mut values = 0;
    for column in SEALED {
        let SealedColumn { table, name } = column;
        // The credential of an endpoint that was removed is gone.
        let all = format!("SELECT id, {name} FROM {table} WHERE length({name}) > 0");
        // One that is removed meanwhile stays so.
        let update = format!("UPDATE {table} SET {name} = ?3 WHERE id = ?1 AND {name} = ?2");
        let rows = unit.all(&all, &[], |row| Ok((row.get::<SqlValue<'static>>(0)?, row.get::<Vec<u8>>(1)?)));
        for (id, bytes) in rows.await? {
            let again = column.seal_again(&old, new, id.bytes(), &bytes)?;
            unit.run(&update, &[&id, &bytes, &again]).await?;
            values += 1;
        }
    }
    unit.keep_fact(KEY_CHECK, &encryption::key_check(new)?).await?;
    let note = AuditNote::new("data_key.rotated", "", format!("{values} secrets sealed anew"));
    unit.note_for_all(&note, now).await?;
    Ok(values)
}

/// Prunes at most `limit` of each kind, oldest first.
async fn prune(store: &impl Units, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
    // Found by itself, so that a long search holds up nobody's write.
    let found = units!(@do store (cut_offs, limit) { Way::Many => find })?;
    units!(@do store ([ref] found, now) { Way::QuietMany => prune_rows })
}

/// Rows to prune, by their keys.
struct Prunable {
    /// Attempts to deliver, with their deliveries, which are kept.
    delivery_attempts: Vec<[i64; 2]>,
    deliveries: Vec<i64>,
    attempts: Vec<i64>,
    source_events: Vec<i64>,
    /// The newest entry of the audit log to go.
    audit: Option<i64>,
}

/// Finds what is before the cut-offs. Nothing is before one that is not given.
async fn find(unit: &UnitOfWork<'_>, cut_offs: CutOffs, limit: u32) -> Work<Prunable> {
    let arrived = "SELECT key FROM delivery/*-*/ INDEXED BY delivery_by_arrival/*+*/
        WHERE state = 'delivered' AND delivered_at < ?1 ORDER BY delivered_at LIMIT ?2";
    let given_up = "SELECT key FROM delivery/*-*/ INDEXED BY delivery_given_up/*+*/
        WHERE state IN ('exhausted', 'cancelled') AND given_up_at < ?1 ORDER BY given_up_at LIMIT ?2";
    let tried = "SELECT a.delivery, a.attempt FROM delivery_attempt a/*-*/ INDEXED BY delivery_attempt_by_start \
            CROSS/*+*/ JOIN delivery d ON d.key = a.delivery
        WHERE a.started_at < ?1 AND d.state = 'delivered' ORDER BY a.started_at LIMIT ?2";
    let ended = "SELECT key FROM resolution_attempt/*-*/ INDEXED BY resolution_attempt_by_end/*+*/
        WHERE state IN ('COMMITTED', 'RELEASED') AND ended_at < ?1 AND started_at < ?1 ORDER BY ended_at LIMIT ?2";
    let received = "SELECT key FROM source_event WHERE received_at < ?1 ORDER BY received_at LIMIT ?2";
    let mut deliveries = unit.all(arrived, &[&cut_offs.deliveries, &limit], cell).await?;
    deliveries.extend(unit.all(given_up, &[&cut_offs.given_up, &limit], cell::<i64>).await?);
    let pair = |row: &StoredRow<'_>| Ok([row.get(0)?, row.get(1)?]);
    let audit = match cut_offs.audit {
        Some(before) => audit::prunable(unit, before, limit.saturating_mul(AUDIT_AT_ONCE)).await?,
        None => None,
    };
    Ok(Prunable {
        delivery_attempts: unit.all(tried, &[&cut_offs.delivery_attempts, &limit], pair).await?,
        deliveries,
        attempts: unit.all(ended, &[&cut_offs.attempts, &limit], cell).await?,
        source_events: unit.all(received, &[&cut_offs.source_events, &limit], cell).await?,
        audit,
    })
}

/// Prunes them, except those that have been asked for again meanwhile. Rows that another process has locked are left
/// for the next time.
async fn prune_rows(unit: &UnitOfWork<'_>, found: &Prunable, now: Timestamp) -> Work<Pruned> {
    let mut pruned = Pruned::default();
    let of_kept = "DELETE FROM delivery_attempt WHERE (delivery, attempt) IN (
            SELECT /*-*/value ->> 0, value ->> 1 FROM json_each(?1)/*+(value ->> 0)::bigint, (value ->> 1)::bigint
            FROM json_array_elements(?1::text::json)*/)
        AND EXISTS (SELECT 1 FROM delivery d WHERE d.key = delivery_attempt.delivery AND d.state = 'delivered')";
    pruned.delivery_attempts = unit.run(of_kept, &[&listed(&found.delivery_attempts)]).await?;
    let free = format!(
        "SELECT key FROM delivery WHERE key IN {KEYS} AND state IN ('delivered', 'exhausted', 'cancelled')\
         /*+ FOR UPDATE SKIP LOCKED*/"
    );
    let deliveries = listed(&unit.all(&free, &[&listed(&found.deliveries)], cell::<i64>).await?);
    let attempts = format!("DELETE FROM delivery_attempt WHERE delivery IN {KEYS}");
    pruned.delivery_attempts += unit.run(&attempts, &[&deliveries]).await?;
    let gone = format!("DELETE FROM delivery WHERE key IN {KEYS} RETURNING event");
    let events = unit.all(&gone, &[&deliveries], cell::<i64>).await?;
    pruned.deliveries = events.len() as u64;
    let alone = format!(
        "DELETE FROM event WHERE key IN {KEYS} AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event = event.key)"
    );
    pruned.events = unit.run(&alone, &[&listed(&events)]).await?;
    unit.run("DELETE FROM signing_secret WHERE ends_at <= ?1", &[&now]).await?;
    let ended = format!(
        "DELETE FROM resolution_attempt WHERE key IN (SELECT key FROM resolution_attempt
            WHERE key IN {KEYS} AND state IN ('COMMITTED', 'RELEASED')/*+ FOR UPDATE SKIP LOCKED*/)"
    );
    pruned.attempts = unit.run(&ended, &[&listed(&found.attempts)]).await?;
    let sent = format!("DELETE FROM source_event WHERE key IN {KEYS}");
    pruned.source_events = unit.run(&sent, &[&listed(&found.source_events)]).await?;
    if let Some(through) = found.audit {
        pruned.audit = audit::prune(unit, through, now).await?;
    }
    if let UnitContext::Postgres(side) = &unit.database {
        for drawing in &*DRAW_TOGETHER {
            side.conn.run(drawing, &[]).await?;
        }
    }
    Ok(pruned)
}
