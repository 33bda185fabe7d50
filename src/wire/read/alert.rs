//! One alert: as a service answers with it, or on its way into the engine.

use super::record::{EXPIRES_AT, Record};
use super::unknown::UnknownNames;
use crate::domain::{Alert, AlertPatch, AlertStatus, Deadline, FieldError};
use crate::wire::json::Place;

/// Reads an alert as a service answers with it: only the id is needed. Everything else may be missing, and what cannot be read counts as
/// missing and is remembered among the unknown fields.
pub fn answer(json: &str, unknown: &mut UnknownNames) -> Result<Alert, FieldError> {
    let mut record = Record::from_json(json, Place::START, unknown)?;
    record.forgive(unknown);
    match record.alert()? {
        (alert, true) if alert.status == AlertStatus::default() => Ok(Alert { status: AlertStatus::Open, ..alert }),
        (alert, true) => Ok(alert),
        (_, false) => Err(FieldError::new("id", "is missing: a UUID is required")),
    }
}

/// Reads an alert on its way into the engine (decisions, Bringing alerts in), which begins at `line` of its source.
pub fn incoming(json: &str, line: u64, unknown: &mut UnknownNames) -> Result<AlertPatch, FieldError> {
    patch(Record::from_json(json, Place { line, column: 1 }, unknown)?, line)
}

/// Makes a patch of what was given.
pub(in crate::wire) fn patch(mut record: Record<'_>, line: u64) -> Result<AlertPatch, FieldError> {
    let (mut alert, id_given) = record.alert()?;
    // A deadline of its own goes before the hours left.
    if let Some(moment) = record.moment(EXPIRES_AT)? {
        alert.deadline = Deadline::At(moment);
    }
    Ok(AlertPatch::read(line, alert, id_given))
}
