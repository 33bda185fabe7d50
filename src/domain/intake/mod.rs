//! Intake of alerts. A source's row is a patch: validated once, completed where the alert is new, merged where it is
//! known (decisions, Bringing alerts in).

mod complete;
mod merge;
mod patch;
mod report;
mod source_rows;
#[cfg(test)]
mod tests;
mod validate;
mod windows;

pub use complete::IntakeTerms;
pub use merge::merge;
pub use patch::{AlertPatch, FieldSet};
pub use report::{IngestOptions, IngestReport, RejectedRow, UnknownWords};
pub use source_rows::SourceRows;
pub use validate::MAX_HOURS_LEFT;
pub use windows::ResponseWindows;
