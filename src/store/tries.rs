//! Delivery attempts as they are stored: the sent request and its result.

use serde::{Deserialize, Serialize};

use super::{AttemptRecord, StoreError, StoreResult};
use crate::domain::SentRequest;

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
