//! Calls of alerts that are about to expire, to the endpoints that are marked for them.

use chrono::TimeDelta;

use super::{
    deliveries::record_events,
    subscriptions::{Recipient, enabled},
};
use crate::{
    alert_rows::{Stored, lapsing, notices, word_keys},
    cells::cell,
    domain::{EventKind, EventSubject, Provider, time::Timestamp},
    error::Work,
    units::UnitOfWork,
};

/// The enabled endpoints of all organizations that are marked for `alert.expiring`.
async fn marked(unit: &UnitOfWork<'_>, lock: &str) -> Work<Vec<Recipient>> {
    enabled(unit, "',' || e.events || ',' LIKE '%,alert.expiring,%'", &[], lock).await
}

/// The alerts that an endpoint is to be told of now, the earliest deadline first.
async fn expiring(unit: &UnitOfWork<'_>, recipient: &Recipient, now: Timestamp, limit: u32) -> Work<Vec<i64>> {
    let providers = &recipient.subscription.providers;
    let of_providers = match providers.is_empty() {
        true => String::new(),
        false => format!(" AND a.provider IN ({})", word_keys(providers.iter().map(Provider::as_str))),
    };
    let expiring = format!(
        "SELECT a.key FROM /*-*/organization g CROSS JOIN /*+*/{} AND /*-*/g.key/*+a.organization*/ = ?1
            AND a.open_deadline > ?2 AND a.open_deadline <= ?3 AND a.type NOT IN ({}){of_providers}
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.alert = a.key AND d.endpoint = ?4
                AND d.kind = 'alert.expiring')
        ORDER BY a.open_deadline LIMIT ?5",
        lapsing(" AND r.state <> 'PARKED'"),
        notices()
    );
    let until = now + TimeDelta::minutes(recipient.subscription.minutes.into());
    unit.all(&expiring, &[&recipient.organization, &now, &until, &recipient.key, &limit], cell).await
}

/// Checks for an alert that an endpoint is to be told of now.
pub(super) async fn has_expiring(unit: &UnitOfWork<'_>, now: Timestamp) -> Work<bool> {
    for marked in marked(unit, "").await? {
        if !expiring(unit, &marked, now, 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records an event of each alert that an endpoint is to be told of now. Two processes that do so at once wait for each
/// other at the endpoint.
pub(super) async fn record_expiring(unit: &UnitOfWork<'_>, now: Timestamp, limit: u32) -> Work<u64> {
    let (kind, mut recorded) = (EventKind::AlertExpiring, 0);
    for marked in marked(unit, "/*+ FOR NO KEY UPDATE*/").await? {
        let keys = expiring(unit, &marked, now, limit).await?;
        let template = marked.subscription.template;
        let events = unit.alerts_by_keys(&keys).await?.into_iter().map(|Stored { key, alert }| {
            (Some(key), (unit.context.render)(&kind, EventSubject::Alert(&alert), template, now))
        });
        let events: Vec<_> = events.collect();
        record_events(unit, &[marked.key], &kind, &events, "", now).await?;
        recorded += events.len() as u64;
    }
    Ok(recorded)
}
