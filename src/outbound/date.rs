//! The headers Date and Retry-After: what the other side's clock showed, and how long it asks to wait.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::domain::Timestamp;

/// Returns the time at which an answer says that it was made (`Date`).
pub fn of(headers: &HeaderMap) -> Option<Timestamp> {
    parse(headers.get(DATE)?.to_str().ok()?)
}

/// Reads any of the three forms of an HTTP date (RFC 9110, 5.6.7).
fn parse(text: &str) -> Option<Timestamp> {
    httpdate::parse_http_date(text.trim()).ok().map(Timestamp::from)
}

/// Returns the wait that an answer asks for (`Retry-After`).
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    parse_wait(headers.get(RETRY_AFTER)?.to_str().ok()?, now)
}

/// Reads seconds, or one of the three forms of an HTTP date (RFC 9110, 10.2.3). A date in the past is no wait.
fn parse_wait(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are a very long wait.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    Some((parse(text)? - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::HeaderValue;

    use super::*;
    use crate::domain::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date_in_every_form() {
        let minutes = |count: u64| Some(Duration::from_secs(count * 60));
        assert_eq!(parse_wait("120", noon()), minutes(2));
        assert_eq!(parse_wait(" 0 ", noon()), minutes(0));
        assert_eq!(parse_wait("99999999999999999999999", noon()), Some(Duration::from_secs(u64::MAX)));
        assert_eq!(parse_wait("Tue, 10 Mar 2026 12:05:00 GMT", noon()), minutes(5));
        assert_eq!(parse_wait("Tuesday, 10-Mar-26 12:05:00 GMT", noon()), minutes(5));
        assert_eq!(parse_wait("Tue Mar 10 12:05:00 2026", noon()), minutes(5));
        assert_eq!(parse_wait("Tue, 10 Mar 2026 11:00:00 GMT", noon()), minutes(0));
        for nonsense in ["", "soon", "-5", "1.5", "Tue, 99 Mar 2026 12:05:00 GMT", "5 minutes"] {
            assert_eq!(parse_wait(nonsense, noon()), None, "{nonsense}");
        }
    }

    proptest! {
        #[test]
        fn nothing_that_is_answered_breaks_the_reading(text in any::<String>(), date in "[A-Za-z]{3,9}, ?[0-9]{1,3}[ \
            -][A-Za-z]{3}[ -][0-9]{1,6} [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2} GMT") {
            for text in [text, date] {
                let headers = HeaderValue::try_from(&text).map(|value| HeaderMap::from_iter([(RETRY_AFTER, value)]));
                let _ = headers.is_ok_and(|headers| retry_after(&headers, noon()).is_some());
                let _ = parse_wait(&text, noon());
            }
        }
    }
}
