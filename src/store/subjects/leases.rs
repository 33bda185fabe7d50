//! Deliveries that are due, in a fair order, leased to the dispatcher that sends them.

use std::{collections::HashMap, sync::Arc};

use chrono::TimeDelta;

use super::endpoints::{self, EndpointTarget, SendTarget};
use crate::{
    StoreError,
    alert_rows::micros,
    cells::{StoredRow, cell},
    domain::{
        DeliveryId, EndpointId, EventId, InstanceId, OrganizationId, clock,
        time::Timestamp,
        webhook::schedule::{DeliveryEnd, fair, sendable_at},
    },
    error::Work,
    sql::{KEYS, listed},
    units::UnitOfWork,
};

/// A leased delivery.
#[derive(Debug, Clone)]
pub struct DueDelivery {
    pub delivery: DeliveryId,
    /// Its fence, to be given back with the record.
    pub generation: i64,
    /// The event: `webhook-id`.
    pub event: EventId,
    /// The body, byte for byte.
    pub body: Arc<str>,
    /// Number of this attempt; 1-based.
    pub attempt: u32,
    /// Organization of the endpoint.
    pub organization: OrganizationId,
    pub endpoint: EndpointId,
    pub target: EndpointTarget,
    /// Trace context of the request that the event is of.
    pub trace: String,
}

/// Leases deliveries that are due. One process at a time, so that no endpoint gets more than it may from several.
pub(super) async fn claim_due(
    unit: &UnitOfWork<'_>,
    now: Timestamp,
    lease_until: Timestamp,
    limit: u32,
    per_endpoint: u32,
    skip: &[EndpointId],
) -> Work<Vec<DueDelivery>> {
    if unit.is_beside_service().await? {
        return Ok(Vec::new());
    }
    unit.lock("SELECT name FROM turnstile WHERE name = 'deliveries'/*+ FOR UPDATE*/", &[]).await?;
    let InHand { of_endpoints, of_organizations } = in_hand(unit, now, lease_until - now).await?;
    // A delivery that waits since a moment to come was put off by a clock that has been set back since.
    let set_back = "UPDATE delivery SET due = ?1, since = ?1
        WHERE key IN (SELECT key FROM delivery WHERE state = 'pending' AND since > ?1/*+ FOR UPDATE SKIP LOCKED*/)";
    unit.run(set_back, &[&now]).await?;
    let targets = endpoints::with_due_deliveries(unit, now).await?;
    let targets: Vec<SendTarget> = targets.into_iter().filter(|target| !skip.contains(&target.id)).collect();
    let mut candidates = Vec::new();
    for target in &targets {
        // One endpoint after the other: what waits for a hanging one costs the others nothing.
        let leased = of_endpoints.get(&target.key).copied().unwrap_or_default();
        let mut room = per_endpoint.saturating_sub(leased).min(limit);
        if room == 0 {
            continue;
        }
        each_waiting(unit, target.key, Some(now), |delivery| {
            if delivery.sendable_at <= now {
                candidates.push((delivery.due, delivery.key, target));
                room -= 1;
            }
            room > 0 && delivery.due <= now
        })
        .await?;
    }
    candidates.sort_unstable_by_key(|(due, key, _)| (*due, *key));
    let candidates = fair(candidates, |(.., target)| target.organization, of_organizations, limit as usize);
    let targets: Vec<(i64, &SendTarget)> = candidates.into_iter().map(|(_, key, target)| (key, target)).collect();
    lease_all(unit, &targets, now, lease_until).await
}

/// Number of leased deliveries, by endpoint and by organization.
#[derive(Default)]
struct InHand {
    of_endpoints: HashMap<i64, u32>,
    of_organizations: HashMap<OrganizationId, u32>,
}

/// Deliveries to one endpoint that were leased together: a claim happens often, and while much is in flight.
struct LeasedTogether {
    endpoint: i64,
    organization: OrganizationId,
    until: Option<Timestamp>,
    instance: Option<InstanceId>,
    count: u32,
    is_disabled: bool,
    owner_dead: bool,
}

/// Number of leased deliveries, after those of a dead process or past their lease have become pending again; leases are
/// given for so long.
async fn in_hand(unit: &UnitOfWork<'_>, now: Timestamp, term: TimeDelta) -> Work<InHand> {
    let leased = format!(
        "SELECT e.key, o.id, l.lease_until, l.instance, l.deliveries, e.disabled_at IS NOT NULL, {}
        FROM (SELECT endpoint, lease_until, instance, count(*) AS deliveries
            FROM delivery/*-*/ INDEXED BY delivery_leased/*+*/
            WHERE state = 'leased' GROUP BY endpoint, lease_until, instance) l
        JOIN endpoint e ON e.key = l.endpoint JOIN organization o ON o.key = e.organization",
        unit.dead("l.instance")
    );
    let read = |row: &StoredRow<'_>| {
        Ok(LeasedTogether {
            endpoint: row.get(0)?,
            organization: row.get(1)?,
            until: row.get(2)?,
            instance: row.get(3)?,
            count: row.get(4)?,
            is_disabled: row.get(5)?,
            owner_dead: unit.is_dead(row, 6)?,
        })
    };
    let mut in_hand = InHand::default();
    for leased in unit.all(&leased, &[], read).await? {
        if clock::is_held(leased.until, term, leased.owner_dead, now) {
            *in_hand.of_endpoints.entry(leased.endpoint).or_default() += leased.count;
            *in_hand.of_organizations.entry(leased.organization).or_default() += leased.count;
            continue;
        }
        let end = DeliveryEnd::waiting(leased.is_disabled, now);
        let pending = "UPDATE delivery SET lease_until = NULL, instance = NULL, generation = generation + 1, \
                state = ?4, given_up_at = ?5
            WHERE key IN (SELECT key FROM delivery WHERE state = 'leased' AND endpoint = ?1
                AND lease_until IS NOT DISTINCT FROM ?2 AND instance IS NOT DISTINCT FROM ?3
                /*+ORDER BY key FOR UPDATE SKIP LOCKED*/)";
        let LeasedTogether { endpoint, until, instance, .. } = leased;
        unit.run(pending, &[&endpoint, &until, &instance, &end.state, &end.given_up_at]).await?;
    }
    Ok(in_hand)
}

/// Leases deliveries, each with its endpoint, in that order; not those that have been cancelled meanwhile or that
/// another process has locked.
async fn lease_all(
    unit: &UnitOfWork<'_>,
    deliveries: &[(i64, &SendTarget)],
    now: Timestamp,
    until: Timestamp,
) -> Work<Vec<DueDelivery>> {
    if deliveries.is_empty() {
        return Ok(Vec::new());
    }
    let lease = format!(
        "UPDATE delivery SET state = 'leased', generation = generation + 1, lease_until = ?2, instance = ?3, since = ?4
        WHERE key IN (SELECT key FROM delivery WHERE key IN {KEYS} AND state = 'pending'
            /*+ORDER BY key FOR UPDATE SKIP LOCKED*/)
        RETURNING key, id, generation, attempts - earlier_attempts + 1,
            (SELECT e.id FROM event e WHERE e.key = event), (SELECT e.body FROM event e WHERE e.key = event),
            (SELECT e.trace FROM event e WHERE e.key = event)"
    );
    let keys: Vec<i64> = deliveries.iter().map(|(key, _)| *key).collect();
    let read = |row: &StoredRow<'_>| {
        let key: i64 = row.get(0)?;
        let place = keys.iter().position(|known| *known == key);
        let place = place.ok_or_else(|| StoreError::Corrupt("a delivery to nowhere".to_owned()))?;
        let (_, target) = deliveries[place];
        let due = DueDelivery {
            delivery: row.get(1)?,
            generation: row.get(2)?,
            attempt: row.get(3)?,
            event: row.get(4)?,
            body: row.get(5)?,
            trace: row.get(6)?,
            organization: target.organization,
            endpoint: target.id,
            target: target.target.clone(),
        };
        Ok((place, due))
    };
    let mut leased = unit.all(&lease, &[&listed(&keys), &until, &unit.context.own, &now], read).await?;
    leased.sort_unstable_by_key(|(place, _)| *place);
    Ok(leased.into_iter().map(|(_, due)| due).collect())
}

/// Time at which the next pending delivery can be sent.
pub(super) async fn next_due(unit: &UnitOfWork<'_>) -> Work<Option<Timestamp>> {
    let waited_for = "SELECT e.key FROM endpoint e WHERE e.disabled_at IS NULL
        AND EXISTS (SELECT 1 FROM delivery d WHERE d.endpoint = e.key AND d.state = 'pending')";
    let mut earliest: Option<Timestamp> = None;
    for endpoint in unit.all(waited_for, &[], cell).await? {
        // No later one can be due before the earliest so far, and mostly the first one is not held back.
        each_waiting(unit, endpoint, None, |delivery| {
            let may_be_earlier = earliest.is_none_or(|earliest| delivery.due < earliest);
            if may_be_earlier {
                earliest = Some(earliest.map_or(delivery.sendable_at, |earliest| earliest.min(delivery.sendable_at)));
            }
            may_be_earlier
        })
        .await?;
    }
    Ok(earliest)
}

/// A pending delivery, and the time from which it can be sent.
struct Waiting {
    due: Timestamp,
    key: i64,
    sendable_at: Timestamp,
}

/// Most pending deliveries that are read at once.
const MOST_AT_ONCE: u32 = 1_024;

/// Gives the pending deliveries to an endpoint to `take`, by the moment at which they are due, until it wants no more.
/// Few are read at first: mostly that is enough.
async fn each_waiting(
    unit: &UnitOfWork<'_>,
    endpoint: i64,
    now: Option<Timestamp>,
    mut take: impl FnMut(&Waiting) -> bool + Send,
) -> Work<()> {
    let pending = "SELECT d.due, d.key, d.at, d.kind = 'alert.resolved' AND EXISTS (
            SELECT 1 FROM delivery c WHERE c.alert = d.alert AND c.endpoint = d.endpoint AND c.kind = 'alert.created'
            AND c.state IN ('pending', 'leased'))
        FROM delivery d/*-*/ INDEXED BY delivery_pending/*+*/
        WHERE d.endpoint = ?1 AND d.state = 'pending' AND (d.due, d.key) > (?2, ?3)
        ORDER BY d.due, d.key LIMIT ?4";
    let (mut due, mut key, mut at_once) = (i64::MIN, i64::MIN, 16);
    loop {
        let found = unit
            .all(pending, &[&endpoint, &due, &key, &at_once], |row| {
                let (due, recorded) = (row.get(0)?, row.get(2)?);
                let sendable_at = sendable_at(due, recorded, row.get(3)?, now.unwrap_or(recorded));
                Ok(Waiting { due, key: row.get(1)?, sendable_at })
            })
            .await?;
        if !found.iter().all(&mut take) || found.len() < at_once as usize {
            return Ok(());
        }
        if let Some(last) = found.last() {
            (due, key) = (micros(last.due), last.key);
        }
        at_once = (4 * at_once).min(MOST_AT_ONCE);
    }
}
