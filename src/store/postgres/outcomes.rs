//! Outcomes and expiries of alerts as they are stored on PostgreSQL, with events and counts.
//!
//! Events in the commit of their change, with a delivery to each recipient.

use futures::try_join;

use super::{
    connection::Connection,
    counts::{CountChanges, CountKey},
    rows::{self, new_keys},
    statements::{Values, micros},
    unit::Unit,
};
use crate::{
    alert_rows::ChangedAlert,
    domain::{
        Alert, AttemptId, DeliveryId, EventId, EventKind, Resolution, attempt::record_outcome, fold::fold,
        time::Timestamp,
    },
    searched::find_text,
    sql::StoreRows,
    subjects::outbox::recipients,
    work::Work,
};

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) async fn store_expiries(conn: &Connection, organization: i64, changed: &[ChangedAlert]) -> Work<()> {
    let mut counts = CountChanges::default();
    for ChangedAlert { before, after, .. } in changed {
        counts.shift(CountKey::of(before), CountKey::of(after));
    }
    let changed: Vec<(i64, &Alert)> = changed.iter().map(|changed| (changed.key, &changed.after)).collect();
    rows::update(conn, organization, &changed).await?;
    counts.write(conn, organization).await
}

/// Stores outcome, status, event and deliveries; the keys are of the organization, the alert and the attempt.
pub(crate) async fn store(
    unit: &Unit<'_>,
    (organization, key, attempt): (i64, i64, i64),
    alert: &mut Alert,
    resolution: &Resolution,
    id: AttemptId,
    now: Timestamp,
) -> Work<()> {
    let conn = &unit.conn;
    let before = CountKey::of(alert);
    record_outcome(alert, id, resolution, now);
    let outcome = alert.outcome.as_ref();
    let outcomes: Vec<_> = outcome.map(|outcome| (key, outcome)).into_iter().collect();
    let mut counts = CountChanges::default();
    counts.shift(before, CountKey::of(alert));
    let (status, word, at, text) =
        (alert.status.as_str(), outcome.map(|outcome| fold(&outcome.outcome)), micros(now), find_text(alert));
    let update = "UPDATE alert SET status = $2, outcome = $3, updated_at = $4, open_deadline = NULL, find_text = $5 \
        WHERE key = $1";
    let updated: Values<'_> = &[&key, &status, &word, &at, &text];
    let end = "UPDATE resolution_attempt SET state = 'COMMITTED', ended_at = $2, lease_until = NULL, lease_count = \
        NULL WHERE key = $1";
    let ended: Values<'_> = &[&attempt, &at];
    let rows = StoreRows::Postgres(conn);
    // Sent without waiting for each other's answers.
    let (recipients, ..) = try_join!(
        recipients(&rows, organization),
        rows::insert_outcomes(conn, &outcomes),
        counts.write(conn, organization),
        conn.run(update, updated),
        conn.run(end, ended),
    )?;
    if recipients.is_empty() {
        return Ok(());
    }
    let body = unit.shared.render.render(&EventKind::AlertResolved, alert, now);
    record_events(conn, &recipients, &EventKind::AlertResolved, &[(key, body)], now).await
}

/// Records events of one kind, each of the alert in a row and with its body, with a delivery to each recipient.
pub(super) async fn record_events(
    conn: &Connection,
    recipients: &[i64],
    kind: &EventKind,
    events: &[(i64, String)],
    now: Timestamp,
) -> Work<()> {
    if recipients.is_empty() || events.is_empty() {
        return Ok(());
    }
    let (kind, at) = (kind.as_str(), micros(now));
    let keys = new_keys(conn, "event", events.len()).await?;
    let ids: Vec<_> = keys.iter().map(|_| EventId::generate().0).collect();
    let (alerts, bodies): (Vec<i64>, Vec<&str>) = events.iter().map(|(alert, body)| (*alert, body.as_str())).unzip();
    conn.run(
        "INSERT INTO event (key, id, alert, body, kind, at)
         SELECT n.*, $5::text, $6::bigint FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[]) AS n",
        &[&keys, &ids, &alerts, &bodies, &kind, &at],
    )
    .await?;
    // In the order of the events, and for each in that of the recipients.
    let each = || {
        keys.iter()
            .zip(&alerts)
            .flat_map(|(event, alert)| recipients.iter().map(move |endpoint| (*event, *alert, *endpoint)))
    };
    let deliveries = new_keys(conn, "delivery", each().count()).await?;
    let ids: Vec<_> = deliveries.iter().map(|_| DeliveryId::generate().0).collect();
    let (events, alerts): (Vec<i64>, Vec<i64>) = each().map(|(event, alert, _)| (event, alert)).unzip();
    let endpoints: Vec<i64> = each().map(|(_, _, endpoint)| endpoint).collect();
    conn.run(
        "INSERT INTO delivery (key, id, event, alert, endpoint, kind, at, state, due, since)
         SELECT n.*, $6::text, $7::bigint, 'pending', $7::bigint, $7::bigint FROM unnest($1::bigint[], $2::uuid[], \
         $3::bigint[], $4::bigint[], $5::bigint[]) AS n",
        &[&deliveries, &ids, &events, &alerts, &endpoints, &kind, &at],
    )
    .await?;
    Ok(())
}
