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

/// Rows that are refused, a line of words each.
pub fn rows_in_words(rows: &[RejectedRow]) -> String {
    rows.iter().map(row_in_words).collect::<Vec<_>>().join("\n")
}

/// A rejected row in words: its line, the field at fault, and why.
pub fn row_in_words(row: &RejectedRow) -> String {
    let RejectedRow { line, error } = row;
    match error.field.as_str() {
        "" => format!("line {line}: {}", error.message),
        field => format!("line {line}: {field} {}", error.message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejected_row_is_told_with_its_line_and_field() {
        let row = |field: &str| RejectedRow { line: 17, error: FieldError::new(field, "is required") };

        assert_eq!(row_in_words(&row("amount")), "line 17: amount is required");
        assert_eq!(row_in_words(&row("")), "line 17: is required");
    }
}
