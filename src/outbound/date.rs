//! The Date header: what the other side's clock showed when it answered.

use reqwest::header::{DATE, HeaderMap};

use crate::domain::Timestamp;

/// Returns the time at which an answer says that it was made (`Date`).
pub fn of(headers: &HeaderMap) -> Option<Timestamp> {
    parse(headers.get(DATE)?.to_str().ok()?)
}

/// Reads any of the three forms of an HTTP date (RFC 9110, 5.6.7).
pub(super) fn parse(text: &str) -> Option<Timestamp> {
    httpdate::parse_http_date(text.trim()).ok().map(Timestamp::from)
}
