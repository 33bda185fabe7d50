//! Intake: alerts on their way in, as they were read, and the report of what became of a batch.

use super::Alert;
use super::resolution::FieldError;
use super::time::Timestamp;

/// One alert on its way in, as it was read: what was not given is empty, and ingest makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncomingAlert {
    /// The line or position in its source, for reports; 1-based.
    pub line: u64,
    /// What was read. `alert.id` holds a fresh id where none was given; `alert.deadline` is `HoursLeft` where `hoursLeft` was given.
    pub alert: Alert,
    /// Whether the id was given: then it is the identity, else provider and provider id are.
    pub id_given: bool,
    /// Whether a status was given; a row without one is OPEN.
    pub status_given: bool,
    /// `expiresAt`: the alert's own deadline.
    pub expires_at: Option<Timestamp>,
}

/// How ingest treats a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngestOptions {
    /// Whether `alert.created` is sent for new alerts that still wait for an answer.
    pub events: bool,
}

/// What became of a batch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IngestReport {
    /// New alerts.
    pub created: u64,
    /// Alerts whose provider data changed.
    pub updated: u64,
    /// Alerts seen again as they were.
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

/// A row that could not be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RejectedRow {
    /// The line or position in its source; 1-based.
    pub line: u64,
    /// The field at fault and why; the field is empty when the row as a whole is at fault.
    pub error: FieldError,
}
