//! Alerts as rows: writing many, reading them, field by field from the tables of the domain; their outcomes and
//! expiries with counts, and events in the commit of their change, with a delivery to each recipient.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use futures::try_join;
use uuid::Uuid;

use super::{
    connection::{Connection, Unit},
    counts::{CountChanges, CountKey},
    statements::{Columns, ManyCells, Values, cell, micros},
};
use crate::{
    StoreError,
    alert_rows::{AsTheyAre, ChangedAlert, alert_of, selection},
    domain::{
        Alert, Amount, AttemptId, DeliveryId, EventId, EventKind, Outcome, Resolution, attempt::record_outcome,
        fold::fold, time::Timestamp,
    },
    error::Work,
    filter::{find_text, search_text},
    sql::StoreRows,
    subjects::outbox::recipients,
};

static READ_BY_IDS: LazyLock<String> = LazyLock::new(|| selection("a.organization = $1 AND a.id = ANY($2)"));

/// Locks the rows of alerts until the end, always in the same order.
pub(super) async fn lock(conn: &Connection, keys: &[i64]) -> Work<()> {
    conn.all("SELECT key FROM alert WHERE key = ANY($1) ORDER BY key FOR NO KEY UPDATE", &[&keys], cell::<i64>)
        .await
        .map(drop)
}

/// Reads alerts of an organization by their ids, in that order.
pub(super) async fn read_by_ids(conn: &Connection, organization: i64, ids: &[Uuid]) -> Work<Vec<Alert>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = conn.all(&READ_BY_IDS, &[&organization, &ids], |row| alert_of(row, &mut AsTheyAre)).await?;
    let mut found: HashMap<Uuid, Alert> = found.into_iter().map(|stored| (stored.alert.id.0, stored.alert)).collect();
    let missing = |id: &Uuid| StoreError::Corrupt(format!("no alert {id}"));
    ids.iter().map(|id| Ok(found.remove(id).ok_or_else(|| missing(id))?)).collect()
}

/// Columns of `alert`: its key, those beside the table of fields, and those of the fields.
fn columns_of<'a>(organization: i64, stored: &[(i64, &'a Alert)]) -> Columns<'a> {
    let alerts: Vec<&'a Alert> = stored.iter().map(|(_, alert)| *alert).collect();
    let numbers = |of: fn(&Alert) -> Option<i64>| ManyCells::Numbers(alerts.iter().map(|alert| of(alert)).collect());
    let outcome = |alert: &Alert| alert.outcome.as_ref().map(|outcome| Cow::Owned(fold(&outcome.outcome)));
    let mut columns = Columns::default();
    columns.add("key", ManyCells::Numbers(stored.iter().map(|(key, _)| Some(*key)).collect()));
    columns.add("organization", ManyCells::Numbers(vec![Some(organization); stored.len()]));
    columns.add("outcome", ManyCells::Texts(alerts.iter().map(|alert| outcome(alert)).collect()));
    columns.add("deadline", numbers(|alert| alert.deadline.moment().map(micros)));
    columns.add("open_deadline", numbers(|alert| alert.waits_until().map(micros)));
    columns.add("amount_micros", numbers(|alert| alert.amount.and_then(Amount::micros)));
    columns
        .add("searched", ManyCells::Texts(alerts.iter().map(|alert| Some(Cow::Owned(search_text(alert)))).collect()));
    columns.add("find_text", ManyCells::Texts(alerts.iter().map(|alert| Some(Cow::Owned(find_text(alert)))).collect()));
    columns.add_fields(Alert::FIELDS, &alerts);
    columns
}

/// Returns so many keys for new rows of a table, smallest first.
pub(super) async fn new_keys(conn: &Connection, table: &str, count: usize) -> Work<Vec<i64>> {
    let sql = format!(
        "SELECT nextval(pg_get_serial_sequence('{table}', 'key')) FROM generate_series(1, $1::bigint) ORDER BY 1"
    );
    conn.all(&sql, &[&i64::try_from(count).unwrap_or(i64::MAX)], cell).await
}

/// Stores new alerts under these keys, with their outcomes.
pub(super) async fn insert(conn: &Connection, organization: i64, alerts: &[(i64, &Alert)]) -> Work<()> {
    if alerts.is_empty() {
        return Ok(());
    }
    let columns = columns_of(organization, alerts);
    conn.run(&columns.insertion("alert"), &columns.values()).await?;
    let outcomes: Vec<(i64, &Outcome)> =
        alerts.iter().filter_map(|(key, alert)| Some((*key, alert.outcome.as_ref()?))).collect();
    insert_outcomes(conn, &outcomes).await
}

/// Stores known alerts as they are now; their outcomes are not touched.
pub(super) async fn update(conn: &Connection, organization: i64, alerts: &[(i64, &Alert)]) -> Work<()> {
    if alerts.is_empty() {
        return Ok(());
    }
    let columns = columns_of(organization, alerts);
    conn.run(&columns.update("alert"), &columns.values()).await?;
    Ok(())
}

/// Stores alerts' outcomes.
pub(super) async fn insert_outcomes(conn: &Connection, outcomes: &[(i64, &Outcome)]) -> Work<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let records: Vec<&Outcome> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
    let mut columns = Columns::default();
    columns.add("alert", ManyCells::Numbers(outcomes.iter().map(|(key, _)| Some(*key)).collect()));
    columns.add_fields(Outcome::FIELDS, &records);
    conn.run(&columns.insertion("outcome"), &columns.values()).await?;
    Ok(())
}

/// Stores alerts of an organization that have expired, or that wait again, with their counts.
pub(crate) async fn store_expiries(conn: &Connection, organization: i64, changed: &[ChangedAlert]) -> Work<()> {
    let mut counts = CountChanges::new();
    for ChangedAlert { before, after, .. } in changed {
        counts.shift(CountKey::of(before), CountKey::of(after));
    }
    let changed: Vec<(i64, &Alert)> = changed.iter().map(|changed| (changed.key, &changed.after)).collect();
    update(conn, organization, &changed).await?;
    counts.write(conn, organization).await
}

/// Stores outcome, status, event and deliveries; the keys are of the organization, the alert and the attempt.
pub(crate) async fn store_outcome(
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
    let mut counts = CountChanges::new();
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
        insert_outcomes(conn, &outcomes),
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
