//! Alerts as rows, as far as both databases have them alike.

use std::{borrow::Cow, collections::HashMap, hash::Hash};

use rusqlite::Connection;
use uuid::Uuid;

pub(super) use crate::cells::micros;
use crate::{
    StoreError, StoreResult,
    cells::{FromCell as _, SqlCell, SqlValue, StoredRow},
    domain::{
        Alert, AlertStatus, AlertType, Amount, Currency, CurrencySum, Deadline, Money, Outcome,
        field::{Field, Kind},
        time::Timestamp,
    },
    error::Work,
    sqlite::Dictionary,
};

/// An alert with its row's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) key: i64,
    pub(super) alert: Alert,
}

/// An alert before and after a change, with its row's key.
pub(super) struct ChangedAlert {
    pub(super) key: i64,
    pub(super) before: Alert,
    pub(super) after: Alert,
}

/// The columns of the fields that have one.
pub(super) fn columns<R>(fields: &'static [Field<R>]) -> impl Iterator<Item = &'static str> {
    fields.iter().filter_map(|field| field.column)
}

/// A SELECT of an alert's key, deadline, origin and fields, and of its outcome's fields.
pub(super) fn selection(condition: &str) -> String {
    let of_alert = ["key", "deadline", "origin"].into_iter().chain(columns(Alert::FIELDS));
    let of_alert = of_alert.map(|column| format!("a.{column}"));
    let columns: Vec<String> = of_alert.chain(columns(Outcome::FIELDS).map(|column| format!("o.{column}"))).collect();
    format!("SELECT {} FROM alert a LEFT JOIN outcome o ON o.alert = a.key WHERE {condition}", columns.join(", "))
}

/// Words and ids that alerts share, by their keys; none where rows hold the values themselves, as on PostgreSQL.
pub(super) type SharedValues<'s> = Option<(&'s Connection, &'s mut Dictionary)>;

/// Reads the columns of [`selection`].
pub(super) fn alert_of(row: &StoredRow<'_>, shared: &mut SharedValues<'_>) -> Work<Stored> {
    let deadline = row.get::<Option<_>>(1)?.map_or(Deadline::Unknown, Deadline::At);
    let origin = row.get::<Option<&str>>(2)?.map(str::parse).transpose().map_err(StoreError::Corrupt)?;
    let mut alert = Alert { deadline, origin, ..Alert::default() };
    let next = read_fields(row, shared, 3, Alert::FIELDS.iter(), &mut alert)?;
    // The first column of an outcome is its id: null where there is none.
    if row.get::<SqlCell<'_>>(next)? != SqlCell::Null {
        let mut outcome = Outcome { alert_id: alert.id, ..Outcome::default() };
        read_fields(row, shared, next, Outcome::FIELDS.iter(), &mut outcome)?;
        alert.outcome = Some(outcome);
    }
    Ok(Stored { key: row.get(0)?, alert })
}

/// Reads the cells of the fields that have a column, the first of which is at `at`; returns the place after the last.
pub(super) fn read_fields<R: 'static>(
    row: &StoredRow<'_>,
    shared: &mut SharedValues<'_>,
    mut at: usize,
    fields: impl Iterator<Item = &'static Field<R>>,
    into: &mut R,
) -> Work<usize> {
    for field in fields.filter(|field| field.column.is_some()) {
        match (&field.kind, row.get(at)?) {
            (_, SqlCell::Null) => {}
            (Kind::Id(access), cell) => (access.set)(into, Uuid::of(cell)?),
            (Kind::Reference(access), SqlCell::Number(key)) => {
                let (conn, dictionary) = shared.as_mut().ok_or_else(|| not_shared(key))?;
                (access.set)(into, Uuid::of(SqlCell::Bytes(&dictionary.ids.value(conn, key)?))?);
            }
            (Kind::Reference(access), cell) => (access.set)(into, Uuid::of(cell)?),
            (Kind::Word(access), SqlCell::Number(key)) => {
                let (conn, dictionary) = shared.as_mut().ok_or_else(|| not_shared(key))?;
                (access.set)(into, Cow::Borrowed(&dictionary.words.value(conn, key)?));
            }
            (Kind::Word(access) | Kind::Text(access), cell) => (access.set)(into, Cow::Borrowed(<&str>::of(cell)?)),
            (Kind::Moment(access), cell) => (access.set)(into, Timestamp::of(cell)?),
            (Kind::Amount(access), cell) => (access.set)(into, amount(<&str>::of(cell)?)?),
            (Kind::Flag(access), cell) => (access.set)(into, bool::of(cell)?),
        }
        at += 1;
    }
    Ok(at)
}

fn not_shared(key: i64) -> StoreError {
    StoreError::Corrupt(format!("the key {key} of a shared value"))
}

/// The value of a field, as rows hold it that share no words and ids.
pub(super) fn value_of<'r, R>(kind: &Kind<R>, record: &'r R) -> SqlValue<'r> {
    match kind {
        Kind::Id(access) | Kind::Reference(access) => (access.get)(record).into(),
        Kind::Word(access) | Kind::Text(access) => (access.get)(record).into(),
        Kind::Moment(access) => (access.get)(record).map(micros).into(),
        Kind::Amount(access) => (access.get)(record).map(|amount| amount.to_string()).into(),
        Kind::Flag(access) => (access.get)(record).into(),
    }
}

/// A stored amount.
fn amount(text: &str) -> StoreResult<Amount> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("the amount {text:?}")))
}

/// Reads a stored time.
pub(super) fn moment(micros: i64) -> StoreResult<Timestamp> {
    Timestamp::from_timestamp_micros(micros).ok_or_else(|| StoreError::Corrupt(format!("the moment {micros}")))
}

pub(super) const DAY_MICROS: i64 = 86_400_000_000;

/// The day of alerts without a time: after every other.
pub(super) const NO_DAY: i64 = i64::MAX;

/// Whole days since 1970.
pub(super) fn day_of(time: Option<Timestamp>) -> i64 {
    time.map_or(NO_DAY, |time| time.timestamp_micros().div_euclid(DAY_MICROS))
}

/// Changes of counts by their keys, gathered in a unit of work and written at its end.
#[derive(Debug)]
pub(super) struct CountChanges<K>(pub(super) HashMap<K, i64>);

impl<K: Eq + Hash> CountChanges<K> {
    pub(super) fn new() -> Self {
        Self(HashMap::new())
    }

    /// One alert more.
    pub(super) fn add(&mut self, key: K) {
        *self.0.entry(key).or_default() += 1;
    }

    /// An alert was changed, and moved from one cell to another or stayed where it was.
    pub(super) fn shift(&mut self, from: K, to: K) {
        *self.0.entry(from).or_default() -= 1;
        self.add(to);
    }
}

/// The columns of sums by currency. Amounts are summed in two parts, because the sum of many large ones does not fit
/// into a database's integers.
pub(super) const SUMS: &str = "a.currency, count(*), coalesce(sum(a.amount_micros / 1000000), 0)/*+::bigint*/, \
    coalesce(sum(a.amount_micros % 1000000), 0)/*+::bigint*/, count(a.amount_micros)";

/// Reads the columns of [`SUMS`], which begin at this one.
pub(super) fn currency_sum(row: &StoredRow<'_>, first: usize) -> Work<CurrencySum> {
    let number = |column| row.get::<i64>(first + column);
    let (alerts, whole, fraction, priced) = (number(1)?, number(2)?, number(3)?, number(4)?);
    let amount = Amount::from_micros(i128::from(whole) * 1_000_000 + i128::from(fraction));
    Ok(CurrencySum {
        alerts: alerts.unsigned_abs(),
        money: Money { amount, currency: Currency::new(row.get::<&str>(first)?) },
        unpriced: (alerts - priced).unsigned_abs(),
    })
}

/// A word as rows hold it: by its key on SQLite.
pub(super) fn word_key(word: &str) -> String {
    format!("/*-*/coalesce((SELECT key FROM word WHERE value = /*+*/'{word}'/*-*/), -1)/*+*/")
}

/// The same of several words, as a list.
pub(super) fn word_keys<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.map(|word| format!("'{word}'")).collect();
    format!("/*-*/SELECT key FROM word WHERE value IN (/*+*/{}/*-*/)/*+*/", words.join(", "))
}

/// OPEN alerts without outcome and without an open attempt `of` some states, as a FROM and the beginning of a WHERE.
/// SQLite finds them by organization.
pub(super) fn lapsing(of: &str) -> String {
    format!(
        "alert a/*-*/ INDEXED BY alert_by_open_deadline/*+*/
        WHERE a.status = {} AND a.open_deadline IS NOT NULL/*-*/ AND a.organization = g.key/*+*/
        AND NOT EXISTS (SELECT 1 FROM resolution_attempt r WHERE r.organization = a.organization AND r.alert = a.key
            AND r.state IN ('INFLIGHT', 'UNKNOWN', 'PARKED'){of})",
        word_key(AlertStatus::Open.as_str())
    )
}

/// The types that ask for no answer, as a list of words as rows hold them.
pub(super) fn notices() -> String {
    word_keys(AlertType::NOTICES.iter().map(AlertType::as_str))
}

/// The word in a column.
pub(super) fn word(column: &str) -> String {
    format!("/*-*/(SELECT value FROM word WHERE key = /*+*/{column}/*-*/)/*+*/")
}
