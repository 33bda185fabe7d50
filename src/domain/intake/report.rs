//! How a batch is taken in, and the report of what became of it.

use crate::domain::resolution::FieldError;

/// Options of ingest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOptions {
    /// Whether `alert.created` is sent for new alerts that still wait for an answer.
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

/// Words of a source that nobody knows, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnknownWords {
    /// Names of fields; they are ignored.
    pub fields: Vec<String>,
    /// Networks; their alerts are taken in.
    pub providers: Vec<String>,
    /// Alert types; their alerts are taken in.
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
    /// Whether the row as a whole could not be read.
    pub fn is_unreadable(&self) -> bool {
        self.error.field.is_empty()
    }
}
