//! Alerts as rows: writing many, reading them, field by field from the tables of the domain.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use uuid::Uuid;

use super::{
    connection::Connection,
    statements::{Columns, ManyCells, cell, micros},
};
use crate::{
    StoreError,
    alert_rows::{AsTheyAre, alert_of, selection},
    domain::{Alert, Amount, OrganizationId, Outcome, fold::fold},
    searched::{find_text, search_text},
    work::Work,
};

static READ_BY_IDS: LazyLock<String> = LazyLock::new(|| selection("a.organization = $1 AND a.id = ANY($2)"));

/// The key of an organization.
pub(super) async fn organization_key(conn: &Connection, id: OrganizationId) -> Work<Option<i64>> {
    conn.first("SELECT key FROM organization WHERE id = $1", &[&id.0], cell).await
}

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
