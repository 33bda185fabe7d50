//! Alerts as rows, as far as both databases have them alike.

use super::{StoreError, StoreResult};
use crate::domain::field::{Access, Field};
use crate::domain::time::Timestamp;
use crate::domain::{Alert, Amount, Outcome};

/// An alert with its row's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) key: i64,
    pub(super) alert: Alert,
}

/// The columns of the fields that have one.
pub(super) fn columns<R>(fields: &'static [Field<R>]) -> impl Iterator<Item = &'static str> {
    fields.iter().filter_map(|field| field.column)
}

/// A SELECT of an alert's key, deadline and fields, and of its outcome's fields.
pub(super) fn selection(condition: &str) -> String {
    let of_alert = ["key", "deadline"].into_iter().chain(columns(Alert::FIELDS)).map(|column| format!("a.{column}"));
    let columns: Vec<String> = of_alert.chain(columns(Outcome::FIELDS).map(|column| format!("o.{column}"))).collect();
    format!("SELECT {} FROM alert a LEFT JOIN outcome o ON o.alert = a.key WHERE {condition}", columns.join(", "))
}

/// Sets a field to what its cell holds, where it holds something.
pub(super) fn set<R, T>(into: &mut R, access: &Access<R, T>, value: Option<T>) {
    if let Some(value) = value {
        (access.set)(into, value);
    }
}

/// A stored amount.
pub(super) fn amount(text: &str) -> StoreResult<Amount> {
    text.parse().map_err(|_| StoreError::Corrupt(format!("the amount {text:?}")))
}

/// Moments as they are stored.
pub(super) fn micros(moment: Timestamp) -> i64 {
    moment.timestamp_micros()
}

/// A stored moment.
pub(super) fn moment(micros: i64) -> StoreResult<Timestamp> {
    Timestamp::from_timestamp_micros(micros).ok_or_else(|| StoreError::Corrupt(format!("the moment {micros}")))
}
