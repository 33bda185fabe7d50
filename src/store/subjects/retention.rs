//! Pruning by age. It takes deliveries that were delivered or given up, with their events and the log of their
//! attempts. It takes attempts that have ended, the oldest entries of the audit log, and signing secrets past their
//! time. Deliveries that can still be tried, and attempts that have not ended, are never touched.

use std::fmt::Debug;

use super::audit;
use crate::domain::retention::{AUDIT_AT_ONCE, CutOffs, Pruned};
use crate::domain::time::Timestamp;
use crate::store::StoreResult;
use crate::store::postgres::counts;
use crate::store::stored_row::cell;
use crate::store::units::{UnitContext, UnitOfWork, Units, Way};
use crate::store::work::Work;

/// Prunes at most `limit` of each kind, oldest first.
pub(super) async fn prune(store: &impl Units, cut_offs: CutOffs, limit: u32, now: Timestamp) -> StoreResult<Pruned> {
    let given = (cut_offs, limit, now);
    // Found by itself, so that a long search holds up nobody's write.
    let found =
        store.unit(Way::Much, given, |unit, (cut_offs, limit, now)| Box::pin(find(unit, *cut_offs, *limit, *now)));
    let given = (found.await?, now);
    store.unit(Way::QuietMuch, given, |unit, (found, now)| Box::pin(prune_rows(unit, found, *now))).await
}

/// Rows to prune, by their keys.
#[derive(Default)]
struct Prunable {
    /// Attempts to deliver, with their deliveries, which are kept.
    delivery_attempts: Vec<[i64; 2]>,
    deliveries: Vec<i64>,
    attempts: Vec<i64>,
    /// The newest entry of the audit log to go.
    audit: Option<i64>,
    /// True where a signing secret has ended.
    secrets: bool,
}

async fn find(unit: &UnitOfWork<'_>, cut_offs: CutOffs, limit: u32, now: Timestamp) -> Work<Prunable> {
    let mut found = Prunable::default();
    if let Some(before) = cut_offs.deliveries {
        let arrived = "SELECT key FROM delivery/*-*/ INDEXED BY delivery_by_arrival/*+*/
            WHERE state = 'delivered' AND delivered_at < ?1 ORDER BY delivered_at LIMIT ?2";
        found.deliveries = unit.all(arrived, &[&before, &limit], cell).await?;
    }
    if let Some(before) = cut_offs.given_up {
        let given_up = "SELECT key FROM delivery/*-*/ INDEXED BY delivery_given_up/*+*/
            WHERE state IN ('exhausted', 'cancelled') AND given_up_at < ?1 ORDER BY given_up_at LIMIT ?2";
        found.deliveries.extend(unit.all(given_up, &[&before, &limit], cell::<i64>).await?);
    }
    if let Some(before) = cut_offs.delivery_attempts {
        let old = "SELECT a.delivery, a.attempt FROM delivery_attempt a/*-*/ INDEXED BY delivery_attempt_by_start \
                CROSS/*+*/ JOIN delivery d ON d.key = a.delivery
            WHERE a.started_at < ?1 AND d.state = 'delivered' ORDER BY a.started_at LIMIT ?2";
        found.delivery_attempts = unit.all(old, &[&before, &limit], |row| Ok([row.get(0)?, row.get(1)?])).await?;
    }
    if let Some(before) = cut_offs.attempts {
        let ended = "SELECT key FROM resolution_attempt/*-*/ INDEXED BY resolution_attempt_by_end/*+*/
            WHERE state IN ('COMMITTED', 'RELEASED') AND ended_at < ?1 AND started_at < ?1 ORDER BY ended_at LIMIT ?2";
        found.attempts = unit.all(ended, &[&before, &limit], cell).await?;
    }
    if let Some(before) = cut_offs.audit {
        found.audit = audit::prunable(unit, before, limit.saturating_mul(AUDIT_AT_ONCE)).await?;
    }
    found.secrets = unit.one("SELECT EXISTS (SELECT 1 FROM signing_secret WHERE ends_at <= ?1)", &[&now], cell).await?;
    Ok(found)
}

/// The keys in a list, which is the first value of a statement.
const KEYS: &str =
    "(SELECT /*-*/value FROM json_each(?1)/*+value::bigint FROM json_array_elements_text(?1::text::json)*/)";

/// A list of keys as a value of a statement.
fn listed(keys: &impl Debug) -> String {
    format!("{keys:?}")
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
    if found.secrets {
        unit.run("DELETE FROM signing_secret WHERE ends_at <= ?1", &[&now]).await?;
    }
    let ended = format!(
        "DELETE FROM resolution_attempt WHERE key IN (SELECT key FROM resolution_attempt
            WHERE key IN {KEYS} AND state IN ('COMMITTED', 'RELEASED')/*+ FOR UPDATE SKIP LOCKED*/)"
    );
    pruned.attempts = unit.run(&ended, &[&listed(&found.attempts)]).await?;
    if let Some(through) = found.audit {
        pruned.audit = audit::prune(unit, through, now).await?;
    }
    if let UnitContext::Postgres(side) = &unit.database {
        counts::draw_together(side).await?;
    }
    Ok(pruned)
}
