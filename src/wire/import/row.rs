//! One row of a file, read or refused.

use crate::domain::{AlertPatch, FieldError, RejectedRow};

/// Largest single row, in bytes: an alert has about two thousand.
pub const MAX_ROW: usize = 1 << 20;

/// An imported row: an alert, or why there is none.
pub type Row = Result<AlertPatch, RejectedRow>;

pub(super) fn rejected(line: u64, error: FieldError) -> RejectedRow {
    RejectedRow { line, error }
}

/// A row as a whole is at fault.
pub(super) fn refuse(line: u64, message: impl Into<String>) -> Row {
    Err(rejected(line, FieldError::new("", message)))
}

pub(super) fn too_large() -> String {
    format!("is larger than {} KiB", MAX_ROW / 1024)
}
