//! Delivery attempts as they are stored: the sent request and its result.

use chrono::Duration;
use serde::{Deserialize, Serialize};

use super::{StoreError, StoreResult};
use crate::domain::{DeliveryId, NextStep, SentRequest, time::Timestamp};

/// The record of a delivery attempt, and the step that follows it.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    pub delivery: DeliveryId,
    pub generation: i64,
    /// Start of the attempt.
    pub started_at: Timestamp,
    pub duration: Duration,
    /// HTTP status of the answer, if one came.
    pub status: Option<u16>,
    /// Reason of the missing answer, in words.
    pub error: Option<String>,
    /// True where nothing was sent, because this process may not connect there: it was no attempt, and the delivery
    /// stays due.
    pub refused: bool,
    /// The first 16 KiB of the answer.
    pub answer: String,
    /// The sent request, its credential masked; `None` where no request could be made.
    pub sent: Option<SentRequest>,
    /// End of the attempt, by a clock that does not jump: the time for which an endpoint has failed is reckoned by it.
    pub ended_at: Timestamp,
    pub next: NextStep,
}

/// Result of an attempt, in a word.
pub(super) fn result(record: &AttemptRecord) -> Option<String> {
    match (record.status, &record.error) {
        (_, Some(error)) => Some(error.clone()),
        (Some(status), None) => Some(status.to_string()),
        (None, None) => None,
    }
}

/// Returns the stored form of a sent request: `{"url", "headers": [[name, value]]}`.
pub(super) fn written(sent: &SentRequest) -> String {
    #[derive(Serialize)]
    struct Stored<'a> {
        url: &'a str,
        headers: &'a [(String, String)],
    }
    // Text has no value that JSON lacks.
    serde_json::to_string(&Stored { url: &sent.url, headers: &sent.headers }).unwrap_or_default()
}

/// Reads a sent request from its stored form.
pub(super) fn sent(text: &str) -> StoreResult<SentRequest> {
    #[derive(Deserialize)]
    struct Stored {
        url: String,
        headers: Vec<(String, String)>,
    }
    let corrupt = |error| StoreError::Corrupt(format!("what a try sent: {error}"));
    let Stored { url, headers } = serde_json::from_str(text).map_err(corrupt)?;
    Ok(SentRequest { url, headers })
}
