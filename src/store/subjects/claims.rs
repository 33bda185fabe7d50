//! Deliveries that are due, in a fair order, leased to the dispatcher that sends them.

use std::{collections::HashMap, sync::Arc};

use super::endpoints::{self, SendTarget};
use crate::{
    StoreError,
    domain::{
        DeliveryId, EndpointAuth, EndpointId, EventId, OrganizationId, Secret, time::Timestamp, webhook::schedule::fair,
    },
    due::{InHand, Leased, Waiting},
    postgres::due as on_postgres,
    sqlite::due as on_sqlite,
    stored_row::cell,
    units::{UnitContext, UnitOfWork},
    work::Work,
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
    /// Address of the endpoint; its query may carry a secret.
    pub url: Secret,
    pub auth: EndpointAuth,
    /// The secrets to sign with, newest first; none where the endpoint gets no signatures.
    pub signing: Arc<[Secret]>,
    /// The certificates (PEM) that are trusted there; empty for this machine's authorities.
    pub ca_certificate: Arc<str>,
}

/// Leases deliveries that are due. One process at a time, so that no endpoint gets more than it may from several.
pub(super) async fn claim(
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
    let term = lease_until - now;
    let InHand { of_endpoints, of_organizations } = match &unit.database {
        UnitContext::Sqlite(_) => unit.with_sqlite(|unit| on_sqlite::in_hand(unit, now, term))?,
        UnitContext::Postgres(side) => on_postgres::in_hand(side, now, term).await?,
    };
    // A delivery that waits since a moment to come was put off by a clock that has been set back since.
    let set_back = "UPDATE delivery SET due = ?1, since = ?1
        WHERE key IN (SELECT key FROM delivery WHERE state = 'pending' AND since > ?1/*+ FOR UPDATE SKIP LOCKED*/)";
    unit.run(set_back, &[&now]).await?;
    let targets = endpoints::with_due_deliveries(unit, now).await?;
    let targets: Vec<SendTarget> = targets.into_iter().filter(|target| !skip.contains(&target.id)).collect();
    let mut candidates = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        // One endpoint after the other: what waits for a hanging one costs the others nothing.
        let leased = of_endpoints.get(&target.key).copied().unwrap_or_default();
        let mut room = per_endpoint.saturating_sub(leased).min(limit);
        if room == 0 {
            continue;
        }
        each_waiting(unit, target.key, Some(now), |delivery| {
            if delivery.sendable_at <= now {
                candidates.push((delivery.due, delivery.key, index));
                room -= 1;
            }
            room > 0 && delivery.due <= now
        })
        .await?;
    }
    candidates.sort_unstable();
    let candidates = fair(candidates, |(_, _, index)| targets[*index].organization, of_organizations, limit as usize);
    let keys: Vec<i64> = candidates.iter().map(|(_, key, _)| *key).collect();
    let mut leased: HashMap<i64, Leased> = match &unit.database {
        UnitContext::Sqlite(_) => unit.with_sqlite(|unit| on_sqlite::lease_all(unit, &keys, now, lease_until))?,
        UnitContext::Postgres(side) => on_postgres::lease_all(side, &keys, now, lease_until).await?,
    };
    let mut due = Vec::with_capacity(leased.len());
    for (_, key, index) in candidates {
        let Some(Leased { delivery, generation, attempt, event, body }) = leased.remove(&key) else { continue };
        let target = targets.get(index).ok_or_else(|| StoreError::Corrupt("a delivery to nowhere".to_owned()))?;
        due.push(DueDelivery {
            delivery,
            generation,
            event,
            body,
            attempt,
            organization: target.organization,
            endpoint: target.id,
            url: target.url.clone(),
            auth: target.auth.clone(),
            signing: Arc::clone(&target.signing),
            ca_certificate: Arc::clone(&target.ca_certificate),
        });
    }
    Ok(due)
}

/// Time at which the next pending delivery can be sent.
pub(super) async fn next(unit: &UnitOfWork<'_>) -> Work<Option<Timestamp>> {
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

/// Gives the pending deliveries to an endpoint to `take`, by the moment at which they are due, until it wants no more.
async fn each_waiting(
    unit: &UnitOfWork<'_>,
    endpoint: i64,
    now: Option<Timestamp>,
    take: impl FnMut(&Waiting) -> bool + Send,
) -> Work<()> {
    match &unit.database {
        UnitContext::Sqlite(_) => unit.with_sqlite(|unit| on_sqlite::each_waiting(unit.conn, endpoint, now, take)),
        UnitContext::Postgres(side) => on_postgres::each_waiting(&side.conn, endpoint, now, take).await,
    }
}
