//! One alert: as a service answers with it, or on its way into the engine.

use super::record::{EXPIRES_AT, Record};
use super::unknown::UnknownNames;
use crate::domain::{Alert, AlertPatch, AlertStatus, Deadline, FieldError};
use crate::wire::json::Place;

/// Reads an alert as a service answers with it: only the id is needed. Everything else may be missing, and what cannot
/// be read counts as missing and is remembered among the unknown fields. An outcome that tells nothing is one where the
/// status says that there is an answer.
pub fn answer(json: &str, unknown: &mut UnknownNames) -> Result<Alert, FieldError> {
    let mut record = Record::from_json(json, Place::START, unknown)?;
    record.forgive(unknown);
    let (mut alert, true) = record.alert()? else {
        return Err(FieldError::new("id", "is missing: a UUID is required"));
    };
    if alert.status == AlertStatus::default() {
        alert.status = AlertStatus::Open;
    }
    let unanswered = [AlertStatus::Open, AlertStatus::New, AlertStatus::Expired].contains(&alert.status);
    alert.outcome = alert.outcome.filter(|outcome| !unanswered || outcome.tells_an_answer());
    Ok(alert)
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
