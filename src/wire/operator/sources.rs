//! Sources with their counts in JSON.

use serde::{Deserialize, Serialize};

use super::text::{Member, Text, json_type, stands_for};
use crate::domain::{Answers, source::SourceStatus, time::Timestamp};

json_type! {
    /// A source that is set up, or was, with its counts.
    pub struct SourceJson for SourceStatus {
        name: String,
        /// Name of its preset; null with a map of one's own.
        preset: Option<String>,
        /// Way in which its alerts are answered; null where it is not set up any more.
        answers: Option<Text<Answers>>,
        /// Requests with a right signature, repeats too.
        received: u64,
        mapped: u64,
        ignored: u64,
        unmapped: u64,
        /// Requests with a wrong signature.
        rejected: u64,
        last_received: Option<Text<Timestamp>>,
    }
}
