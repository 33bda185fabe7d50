//! Alerts as rows: writing many, reading them, field by field from the tables of the domain; their outcomes and
//! expiries with counts, and events in the commit of their change, with a delivery to each recipient.

use std::{borrow::Cow, collections::HashMap, sync::LazyLock};

use futures::try_join;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::{
    connection::{Connection, Values},
    counts::{CountChanges, CountKey},
};
use crate::{
    StoreError,
    alert_rows::{ChangedAlert, alert_of, micros, selection, value_of},
    cells::{SqlValue, cell, storable},
    domain::{
        Alert, AlertPatch, Amount, DeliveryId, EventId, EventKind, Outcome,
        field::{Field, Kind},
        fold::fold,
        time::Timestamp,
    },
    error::Work,
    filter::{find_text, search_text},
};

static READ_BY_IDS: LazyLock<String> = LazyLock::new(|| selection("a.organization = $1 AND a.id = ANY($2)"));

/// Keys of the alerts that rows may be about, which are locked until the end, always in the same order: by id where it
/// was given, else by provider and provider id.
pub(crate) async fn known(conn: &Connection, organization: i64, incoming: &[AlertPatch]) -> Work<Vec<i64>> {
    let (by_id, others): (Vec<&AlertPatch>, Vec<&AlertPatch>) = incoming.iter().partition(|row| row.is_by_id());
    let ids: Vec<Uuid> = by_id.iter().map(|row| row.alert.id.0).collect();
    let named = others.iter().map(|row| &row.alert).filter(|alert| !alert.provider_id.is_empty());
    let (providers, provider_ids): (Vec<_>, Vec<_>) =
        named.map(|alert| (storable(alert.provider.as_str()), storable(&alert.provider_id))).unzip();
    let mut keys: Vec<i64> = Vec::new();
    if !ids.is_empty() {
        let known = "SELECT key FROM alert WHERE organization = $1 AND id = ANY($2)";
        keys.extend(conn.all(known, &[&organization, &ids], cell::<i64>).await?);
    }
    if !providers.is_empty() {
        let known = "SELECT a.key FROM unnest($2::text[], $3::text[]) AS n (provider, provider_id)
            JOIN alert a ON a.organization = $1 AND a.provider_id = n.provider_id COLLATE \"C\" AND a.provider = \
            n.provider COLLATE \"C\"";
        keys.extend(conn.all(known, &[&organization, &providers, &provider_ids], cell::<i64>).await?);
    }
    let locked = "SELECT key FROM alert WHERE key = ANY($1) ORDER BY key FOR NO KEY UPDATE";
    conn.all(locked, &[&keys], cell).await
}

/// Reads alerts of an organization by their ids, in that order.
pub(super) async fn read_by_ids(conn: &Connection, organization: i64, ids: &[Uuid]) -> Work<Vec<Alert>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let found = conn.all(&READ_BY_IDS, &[&organization, &ids], |row| alert_of(row, &mut None)).await?;
    let mut found: HashMap<Uuid, Alert> = found.into_iter().map(|stored| (stored.alert.id.0, stored.alert)).collect();
    let missing = |id: &Uuid| StoreError::Corrupt(format!("no alert {id}"));
    ids.iter().map(|id| Ok(found.remove(id).ok_or_else(|| missing(id))?)).collect()
}

/// Columns of `alert`: its key, those beside the table of fields, and those of the fields.
fn columns_of<'a>(organization: i64, stored: &[(i64, &'a Alert)]) -> Columns<'a> {
    let alerts: Vec<&'a Alert> = stored.iter().map(|(_, alert)| *alert).collect();
    let each = || alerts.iter().copied();
    let mut columns = Columns::default();
    columns.add("key", "bigint", stored.iter().map(|(key, _)| *key));
    columns.add("organization", "bigint", each().map(|_| organization));
    columns.add("outcome", "text", each().map(|alert| alert.outcome.as_ref().map(|outcome| fold(&outcome.outcome))));
    columns.add("deadline", "bigint", each().map(|alert| alert.deadline.moment().map(micros)));
    columns.add("open_deadline", "bigint", each().map(|alert| alert.waits_until().map(micros)));
    columns.add("amount_micros", "bigint", each().map(|alert| alert.amount.and_then(Amount::micros)));
    columns.add("origin", "text", each().map(|alert| alert.origin.as_ref().map(ToString::to_string)));
    columns.add("searched", "text", each().map(search_text));
    columns.add("find_text", "text", each().map(find_text));
    columns.add_fields(Alert::FIELDS, &alerts);
    columns
}

/// Returns so many keys for new rows of a table, smallest first.
async fn new_keys(conn: &Connection, table: &str, count: usize) -> Work<Vec<i64>> {
    let sql = format!(
        "SELECT nextval(pg_get_serial_sequence('{table}', 'key')) FROM generate_series(1, $1::bigint) ORDER BY 1"
    );
    conn.all(&sql, &[&i64::try_from(count).unwrap_or(i64::MAX)], cell).await
}

/// Stores new alerts with their outcomes and counts; returns their rows' keys.
pub(crate) async fn store_new(conn: &Connection, organization: i64, alerts: &[Cow<'_, Alert>]) -> Work<Vec<i64>> {
    if alerts.is_empty() {
        return Ok(Vec::new());
    }
    let keys = new_keys(conn, "alert", alerts.len()).await?;
    let new: Vec<(i64, &Alert)> = keys.iter().copied().zip(alerts.iter().map(|alert| &**alert)).collect();
    let columns = columns_of(organization, &new);
    conn.run(&columns.insertion("alert"), &columns.values()).await?;
    let outcomes: Vec<(i64, &Outcome)> =
        new.iter().filter_map(|(key, alert)| Some((*key, alert.outcome.as_ref()?))).collect();
    insert_outcomes(conn, &outcomes).await?;
    let mut counts = CountChanges::new();
    new.iter().for_each(|(_, alert)| counts.add(CountKey::of(alert)));
    counts.write(conn, organization).await?;
    Ok(keys)
}

/// Stores alerts' outcomes.
async fn insert_outcomes(conn: &Connection, outcomes: &[(i64, &Outcome)]) -> Work<()> {
    if outcomes.is_empty() {
        return Ok(());
    }
    let records: Vec<&Outcome> = outcomes.iter().map(|(_, outcome)| *outcome).collect();
    let mut columns = Columns::default();
    columns.add("alert", "bigint", outcomes.iter().map(|(key, _)| *key));
    columns.add_fields(Outcome::FIELDS, &records);
    conn.run(&columns.insertion("outcome"), &columns.values()).await?;
    Ok(())
}

/// Stores known alerts as they are now, with their counts; their outcomes are not touched.
pub(crate) async fn store_changes(conn: &Connection, organization: i64, changed: &[ChangedAlert]) -> Work<()> {
    if changed.is_empty() {
        return Ok(());
    }
    let after: Vec<(i64, &Alert)> = changed.iter().map(|changed| (changed.key, &changed.after)).collect();
    let columns = columns_of(organization, &after);
    conn.run(&columns.update("alert"), &columns.values()).await?;
    let mut counts = CountChanges::new();
    changed.iter().for_each(|changed| counts.shift(CountKey::of(&changed.before), CountKey::of(&changed.after)));
    counts.write(conn, organization).await
}

/// Stores the outcome of an alert, with its status and counts.
pub(crate) async fn store_answer(conn: &Connection, organization: i64, changed: &ChangedAlert) -> Work<()> {
    let ChangedAlert { key, before, after } = changed;
    let outcomes: Vec<_> = after.outcome.iter().map(|outcome| (*key, outcome)).collect();
    let mut counts = CountChanges::new();
    counts.shift(CountKey::of(before), CountKey::of(after));
    let word = after.outcome.as_ref().map(|outcome| fold(&outcome.outcome));
    let update = "UPDATE alert SET status = $2, outcome = $3, updated_at = $4, open_deadline = NULL, find_text = $5 \
        WHERE key = $1";
    let updated: Values<'_> = &[key, &after.status.as_str(), &word, &after.updated_at.map(micros), &find_text(after)];
    // Sent without waiting for each other's answers.
    try_join!(insert_outcomes(conn, &outcomes), counts.write(conn, organization), conn.run(update, updated)).map(drop)
}

/// Records events of one kind, each of the alert in a row or of none, and with its body, with a delivery to each
/// recipient.
pub(crate) async fn record_events(
    conn: &Connection,
    recipients: &[i64],
    kind: &EventKind,
    events: &[(Option<i64>, String)],
    trace: &str,
    now: Timestamp,
) -> Work<()> {
    let (kind, at) = (kind.as_str(), micros(now));
    let keys = new_keys(conn, "event", events.len()).await?;
    let ids: Vec<_> = keys.iter().map(|_| EventId::generate().0).collect();
    let (alerts, bodies): (Vec<Option<i64>>, Vec<&str>) =
        events.iter().map(|(alert, body)| (*alert, body.as_str())).unzip();
    conn.run(
        "INSERT INTO event (key, id, alert, body, kind, at, trace)
         SELECT n.*, $5::text, $6::bigint, $7::text
         FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::text[]) AS n",
        &[&keys, &ids, &alerts, &bodies, &kind, &at, &trace],
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
    let (events, alerts): (Vec<i64>, Vec<Option<i64>>) = each().map(|(event, alert, _)| (event, alert)).unzip();
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

/// Named columns of many rows, each with the type of its cells.
#[derive(Default)]
pub(super) struct Columns<'a> {
    names: Vec<&'a str>,
    kinds: Vec<&'static str>,
    cells: Vec<Vec<SqlValue<'a>>>,
}

impl<'a> Columns<'a> {
    /// Adds a column.
    pub(super) fn add<V: Into<SqlValue<'a>>>(
        &mut self,
        name: &'a str,
        kind: &'static str,
        cells: impl Iterator<Item = V>,
    ) {
        self.names.push(name);
        self.kinds.push(kind);
        self.cells.push(cells.map(V::into).collect());
    }

    /// Adds the fields of records that have a column.
    pub(super) fn add_fields<R>(&mut self, fields: &'static [Field<R>], records: &[&'a R]) {
        for field in fields {
            let Some(name) = field.column else { continue };
            let kind = match field.kind {
                Kind::Id(_) | Kind::Reference(_) => "uuid",
                Kind::Word(_) | Kind::Text(_) | Kind::Amount(_) => "text",
                Kind::Moment(_) => "bigint",
                Kind::Flag(_) => "boolean",
            };
            self.add(name, kind, records.iter().map(|record| value_of(&field.kind, record)));
        }
    }

    /// The values, in the order of their places.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.cells.iter().map(|cells| cells as &(dyn ToSql + Sync)).collect()
    }

    fn unnested(&self) -> String {
        let places = self.kinds.iter().zip(1..).map(|(kind, place)| format!("${place}::{kind}[]"));
        format!("unnest({})", places.collect::<Vec<_>>().join(", "))
    }

    /// An INSERT of all rows.
    pub(super) fn insertion(&self, table: &str) -> String {
        format!("INSERT INTO {table} ({}) SELECT * FROM {}", self.names.join(", "), self.unnested())
    }

    /// An UPDATE of all rows, which are known by their first column.
    pub(super) fn update(&self, table: &str) -> String {
        let key = self.names.first().copied().unwrap_or_default();
        let assignments: Vec<String> = self.names.iter().skip(1).map(|name| format!("{name} = new.{name}")).collect();
        let (assignments, names) = (assignments.join(", "), self.names.join(", "));
        format!(
            "UPDATE {table} SET {assignments} FROM {} AS new ({names}) WHERE {table}.{key} = new.{key}",
            self.unnested()
        )
    }
}
