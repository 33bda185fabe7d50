//! Options of an ingested batch, and the report of its result.

use crate::resolution::FieldError;

/// Options of ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOptions {
    /// True where `alert.created` is sent for new alerts that are still open.
    pub events: bool,
}

/// The report of an ingested batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Rows that could not be taken, in the order of the batch.
    pub rejected: Vec<RejectedRow>,
}

impl IngestReport {
    /// Adds another batch's report.
    pub fn add(&mut self, other: Self) {
        self.created += other.created;
        self.updated += other.updated;
        self.unchanged += other.unchanged;
        self.rejected.extend(other.rejected);
    }
}

/// Unknown words of a source, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownWords {
    /// Names of fields; they are ignored.
    pub fields: Vec<String>,
    /// Networks; their alerts are ingested.
    pub providers: Vec<String>,
    /// Alert types; their alerts are ingested.
    pub types: Vec<String>,
}

impl UnknownWords {
    /// Adds what another part of the source had.
    pub fn add(&mut self, other: Self) {
        self.fields.extend(other.fields);
        self.providers.extend(other.providers);
        self.types.extend(other.types);
    }
}

/// A rejected row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line or position in its source; 1-based.
    pub line: u64,
    /// The field at fault and why; the field is empty when the row as a whole is at fault.
    pub error: FieldError,
}

impl RejectedRow {
    /// Returns true where the row as a whole could not be read.
    pub fn is_unreadable(&self) -> bool {
        self.error.field.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(field: &str) -> RejectedRow {
        RejectedRow { line: 3, error: FieldError::new(field, "is wrong") }
    }

    #[test]
    fn reports_of_batches_are_summed_up() {
        let mut all = IngestReport { created: 1, updated: 2, unchanged: 3, rejected: vec![rejected("amount")] };

        all.add(IngestReport { created: 10, updated: 20, unchanged: 30, rejected: vec![rejected("")] });

        let rejected = vec![rejected("amount"), rejected("")];
        assert_eq!(all, IngestReport { created: 11, updated: 22, unchanged: 33, rejected });
    }

    #[test]
    fn unknown_words_of_all_parts_are_told() {
        let words = |text: &str| vec![text.to_owned()];
        let mut all = UnknownWords { fields: words("a"), providers: words("b"), types: words("c") };

        all.add(UnknownWords { fields: words("d"), providers: Vec::new(), types: words("e") });

        assert_eq!(all.fields, ["a", "d"]);
        assert_eq!((all.providers, all.types), (words("b"), vec!["c".to_owned(), "e".to_owned()]));
    }

    #[test]
    fn a_row_without_a_field_at_fault_is_unreadable() {
        assert_eq!([rejected(""), rejected("amount")].map(|row| row.is_unreadable()), [true, false]);
    }
}
