//! Alerts as the shared units of work read them, and their outcomes with events, on PostgreSQL.

use futures::try_join;

use super::counts::{CountChanges, CountKey};
use super::events;
use super::rows;
use super::statements::{Values, micros};
use super::unit::Unit;
use crate::domain::attempt::record_outcome;
use crate::domain::fold::fold;
use crate::domain::time::Timestamp;
use crate::domain::{Alert, AlertId, AttemptId, EventKind, OrganizationId, Resolution};
use crate::store::alert_rows::Stored;
use crate::store::searched::find_text;
use crate::store::sql::StoreRows;
use crate::store::subjects::outbox::recipients;
use crate::store::work::Work;

/// Reads an alert by its row's key.
pub(crate) async fn read(unit: &Unit<'_>, key: i64) -> Work<Alert> {
    rows::read_by_key(&unit.conn, key).await
}

/// Reads alerts by their rows' keys, in that order.
pub(crate) async fn read_all(unit: &Unit<'_>, keys: &[i64]) -> Work<Vec<Alert>> {
    let stored = rows::read_by_keys(&unit.conn, keys).await?;
    Ok(stored.into_iter().map(|stored| stored.alert).collect())
}

/// Reads one alert of an organization by its id.
pub(crate) async fn find(unit: &Unit<'_>, of: OrganizationId, id: AlertId) -> Work<Option<Stored>> {
    rows::read_by_id(&unit.conn, of, id).await
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
    events::record(conn, &recipients, &EventKind::AlertResolved, &[(key, body)], now).await
}
