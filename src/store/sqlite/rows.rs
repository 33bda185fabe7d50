//! Alerts as rows: writing one, reading one, field by field from the tables of the domain.

use std::sync::LazyLock;

use rusqlite::{CachedStatement, Connection};

use super::{
    counts::{Cell, CountKey, NO_OUTCOME, day_of},
    interned::Dictionary,
    sql::{Statements as _, cell, micros},
};
use crate::{
    StoreError, StoreResult,
    alert_rows::{Stored, alert_of, columns, read_fields, selection, value_of},
    cells::{SqlValue, ToCell},
    composed::insertion,
    domain::{
        Alert, Amount, OrganizationId, Outcome,
        field::{Field, Kind},
        fold::fold,
    },
};

/// Columns of `alert` beside those of the table of fields, in the order in which [`bind`] binds them, before the
/// others.
const BESIDE: [&str; 7] =
    ["organization", "outcome", "deadline", "open_deadline", "amount_micros", "changed", "origin"];

fn alert_columns() -> impl Iterator<Item = &'static str> {
    BESIDE.into_iter().chain(columns(Alert::FIELDS))
}

static INSERT: LazyLock<String> = LazyLock::new(|| insertion("alert", alert_columns()));

static INSERT_OUTCOME: LazyLock<String> =
    LazyLock::new(|| insertion("outcome", ["alert"].into_iter().chain(columns(Outcome::FIELDS))));

static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let assignments: Vec<String> =
        alert_columns().zip(1..).map(|(column, place)| format!("{column} = ?{place}")).collect();
    format!("UPDATE alert SET {} WHERE key = ?{}", assignments.join(", "), assignments.len() + 1)
});

static READ_BY_KEY: LazyLock<String> = LazyLock::new(|| selection("a.key = ?1"));

/// The key of an organization.
pub(super) fn organization_key(conn: &Connection, id: OrganizationId) -> StoreResult<Option<i64>> {
    conn.first("SELECT key FROM organization WHERE id = ?1", &[&id], cell)
}

/// Reads the alerts that a [`selection`] finds.
pub(crate) fn read_alerts(
    conn: &Connection,
    dictionary: &mut Dictionary,
    sql: &str,
    values: &[&dyn ToCell],
) -> StoreResult<Vec<Stored>> {
    let mut shared = Some((conn, dictionary));
    conn.all(sql, values, |row| alert_of(row, &mut shared))
}

/// Reads one alert by its row's key.
pub(super) fn read_by_key(conn: &Connection, dictionary: &mut Dictionary, key: i64) -> StoreResult<Alert> {
    let found = read_alerts(conn, dictionary, &READ_BY_KEY, &[&key])?.pop();
    Ok(found.ok_or_else(|| StoreError::Corrupt(format!("no alert in row {key}")))?.alert)
}

/// The fields that searches look into.
fn searched<R>(fields: &'static [Field<R>]) -> impl Iterator<Item = &'static Field<R>> {
    fields.iter().filter(|field| field.found_as.is_some())
}

static READ_SEARCHED: LazyLock<String> = LazyLock::new(|| {
    let of_alert = searched(Alert::FIELDS).filter_map(|field| field.column).map(|column| format!("a.{column}"));
    let of_outcome = searched(Outcome::FIELDS).filter_map(|field| field.column).map(|column| format!("o.{column}"));
    let columns: Vec<String> = of_alert.chain(of_outcome).collect();
    format!(
        "SELECT {} FROM alert a LEFT JOIN outcome o ON o.alert = a.key WHERE a.key = ?1 AND a.organization = ?2 \
         AND (a.open_deadline IS NOT NULL) = ?3",
        columns.join(", ")
    )
});

/// Reads the searched fields of an organization's alert, and nothing else. It reads only an alert that waits for an
/// answer, or only another one.
pub(super) fn read_searched(
    conn: &Connection,
    dictionary: &mut Dictionary,
    organization: i64,
    is_waiting: bool,
    key: i64,
) -> StoreResult<Option<Alert>> {
    conn.first(&READ_SEARCHED, &[&key, &organization, &is_waiting], |row| {
        let (mut alert, mut outcome, mut shared) = (Alert::default(), Outcome::default(), Some((conn, dictionary)));
        let next = read_fields(row, &mut shared, 0, searched(Alert::FIELDS), &mut alert)?;
        read_fields(row, &mut shared, next, searched(Outcome::FIELDS), &mut outcome)?;
        Ok(Alert { outcome: Some(outcome), ..alert })
    })
}

static READ_OUTCOME: LazyLock<String> = LazyLock::new(|| {
    let columns: Vec<&str> = columns(Outcome::FIELDS).collect();
    format!("SELECT {} FROM outcome WHERE alert = ?1", columns.join(", "))
});

/// Reads the outcome of an alert, but for the alert's id.
pub(super) fn read_outcome(conn: &Connection, dictionary: &mut Dictionary, alert: i64) -> StoreResult<Option<Outcome>> {
    conn.first(&READ_OUTCOME, &[&alert], |row| {
        let mut outcome = Outcome::default();
        read_fields(row, &mut Some((conn, dictionary)), 0, Outcome::FIELDS.iter(), &mut outcome)?;
        Ok(outcome)
    })
}

/// Finds or makes the count that an alert belongs to, by the keys of its words.
pub(super) fn count_key(
    conn: &Connection,
    dictionary: &mut Dictionary,
    organization: i64,
    alert: &Alert,
) -> StoreResult<CountKey> {
    let words = &mut dictionary.words;
    let outcome = alert.outcome.as_ref().map(|outcome| words.intern(conn, &fold(&outcome.outcome))).transpose()?;
    let cell = Cell {
        provider: words.intern(conn, alert.provider.as_str())?,
        alert_type: words.intern(conn, alert.alert_type.as_str())?,
        status: words.intern(conn, alert.status.as_str())?,
        outcome: outcome.unwrap_or(NO_OUTCOME),
        expired: alert.expired_at.is_some(),
    };
    Ok(CountKey { organization, day: day_of(alert.alert_time), cell })
}

/// Stores a new alert with its outcome; returns its row's key.
pub(super) fn insert(
    conn: &Connection,
    dictionary: &mut Dictionary,
    alert: &Alert,
    count: CountKey,
    change: i64,
) -> StoreResult<i64> {
    let mut statement = conn.prepare_cached(&INSERT)?;
    bind(conn, dictionary, &mut statement, alert, count, change)?;
    statement.raw_execute()?;
    let key = conn.last_insert_rowid();
    if let Some(outcome) = &alert.outcome {
        insert_outcome(conn, dictionary, key, outcome)?;
    }
    Ok(key)
}

/// Stores a known alert as it is now; its outcome is not touched.
pub(super) fn update(
    conn: &Connection,
    dictionary: &mut Dictionary,
    key: i64,
    alert: &Alert,
    count: CountKey,
    change: i64,
) -> StoreResult<()> {
    let mut statement = conn.prepare_cached(&UPDATE)?;
    let next = bind(conn, dictionary, &mut statement, alert, count, change)?;
    statement.raw_bind_parameter(next, key)?;
    statement.raw_execute()?;
    Ok(())
}

/// Stores an alert's outcome.
pub(super) fn insert_outcome(
    conn: &Connection,
    dictionary: &mut Dictionary,
    alert: i64,
    outcome: &Outcome,
) -> StoreResult<()> {
    let mut statement = conn.prepare_cached(&INSERT_OUTCOME)?;
    statement.raw_bind_parameter(1, alert)?;
    bind_fields(conn, dictionary, &mut statement, 2, Outcome::FIELDS, outcome)?;
    statement.raw_execute()?;
    Ok(())
}

/// Binds the columns; returns the place after the last.
fn bind(
    conn: &Connection,
    dictionary: &mut Dictionary,
    statement: &mut CachedStatement<'_>,
    alert: &Alert,
    CountKey { organization, cell, .. }: CountKey,
    change: i64,
) -> StoreResult<usize> {
    let open = alert.waits_until().map(micros);
    let deadline = alert.deadline.moment().map(micros);
    let amount = alert.amount.and_then(Amount::micros);
    let outcome = Some(cell.outcome).filter(|outcome| *outcome != NO_OUTCOME);
    let beside = [Some(organization), outcome, deadline, open, amount, Some(change)];
    for (value, place) in beside.into_iter().zip(1..) {
        statement.raw_bind_parameter(place, value)?;
    }
    statement.raw_bind_parameter(BESIDE.len(), alert.origin.as_ref().map(ToString::to_string))?;
    bind_fields(conn, dictionary, statement, BESIDE.len() + 1, Alert::FIELDS, alert)
}

/// Binds the fields that have a column from a place on; returns the place after the last.
fn bind_fields<R>(
    conn: &Connection,
    dictionary: &mut Dictionary,
    statement: &mut CachedStatement<'_>,
    mut place: usize,
    fields: &[Field<R>],
    record: &R,
) -> StoreResult<usize> {
    for field in fields.iter().filter(|field| field.column.is_some()) {
        let value = match (&field.kind, value_of(&field.kind, record)) {
            (Kind::Reference(_), SqlValue::Id(id)) => dictionary.ids.intern(conn, id.as_bytes())?.into(),
            (Kind::Word(_), SqlValue::Text(word)) => dictionary.words.intern(conn, &word)?.into(),
            (_, value) => value,
        };
        statement.raw_bind_parameter(place, value.cell())?;
        place += 1;
    }
    Ok(place)
}
