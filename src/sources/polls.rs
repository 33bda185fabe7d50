//! Polls of a source's lists: where a poll got to, and how far it goes back behind the one before, so that nothing is
//! missed.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::domain::Timestamp;

/// Time that the first poll goes back.
const FIRST: TimeDelta = TimeDelta::days(7);

/// Time that every other poll goes back behind the beginning of the one before: clocks differ, and a list may be late.
const OVERLAP: TimeDelta = TimeDelta::days(1);

/// Place in a poll. It is kept as `BEGUN` between two polls, and as `FROM BEGUN PAGE` within one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PollPlace {
    /// Time of creation from which things are asked for.
    pub from: Timestamp,
    /// Time at which it began.
    pub begun: Timestamp,
    /// Page to ask for, in the words of the list; empty for the first.
    pub page: String,
}

impl PollPlace {
    /// Reads the place that was kept; a poll begins where none was under way.
    pub fn read(kept: Option<&str>, now: Timestamp) -> Self {
        let mut parts = kept.unwrap_or_default().splitn(3, ' ');
        let mut moment = || parts.next()?.parse().ok().and_then(DateTime::<Utc>::from_timestamp_secs);
        match (moment(), moment(), parts.next()) {
            (Some(from), Some(begun), Some(page)) => Self { from, begun, page: page.to_owned() },
            (Some(before), ..) => Self { from: before.min(now) - OVERLAP, begun: now, page: String::new() },
            _ => Self { from: now - FIRST, begun: now, page: String::new() },
        }
    }

    /// Returns what is to be kept where this page is next, or the poll has ended.
    pub fn next(&self, page: Option<&str>) -> String {
        match page {
            Some(page) => format!("{} {} {page}", self.from.timestamp(), self.begun.timestamp()),
            None => self.begun.timestamp().to_string(),
        }
    }
}

/// A page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListPage {
    /// Events, as the webhook of the same thing has them.
    pub events: Vec<Value>,
    /// The page behind it; `None` at the end of the list.
    pub next: Option<String>,
}

/// Returns the id of a row as an event: it is another event where anything in it has changed.
pub(crate) fn event_id(id: &str, row: &Value) -> String {
    format!("{id} {}", short_hash(row.to_string().as_bytes()))
}

/// Returns a hash that can stand in the id of an event.
pub fn short_hash(bytes: &[u8]) -> String {
    Uuid::from_slice(&Sha256::digest(bytes)[..16]).unwrap_or_default().to_string()
}

/// Returns the rows of a page, and the text of a failure where it has none.
pub(crate) fn rows(page: &Value) -> Result<&Vec<Value>, String> {
    page.get("data").and_then(Value::as_array).ok_or_else(|| "its page has no list \"data\"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::{from_iso, to_iso};

    fn at(text: &str) -> Timestamp {
        from_iso(text).unwrap()
    }

    #[test]
    fn a_poll_goes_back_a_day_behind_the_beginning_of_the_one_before() {
        let (noon, later) = (at("2026-03-10T12:00:00Z"), at("2026-03-10T18:00:00Z"));

        let first = PollPlace::read(None, noon);
        let second = PollPlace::read(Some(&first.next(None)), later);

        assert_eq!((to_iso(first.from).as_str(), first.page.as_str()), ("2026-03-03T12:00:00.000Z", ""));
        assert_eq!((to_iso(second.from).as_str(), second.page.as_str()), ("2026-03-09T12:00:00.000Z", ""));
        let before = PollPlace::read(Some(&second.next(None)), noon);
        assert_eq!(before.from, at("2026-03-09T12:00:00Z"), "a clock that was set back");
    }

    #[test]
    fn a_poll_that_was_broken_off_goes_on_at_its_page() {
        let (noon, later) = (at("2026-03-10T12:00:00Z"), at("2026-03-10T18:00:00Z"));
        let first = PollPlace::read(None, noon);

        let resumed = PollPlace::read(Some(&first.next(Some("issfr 1"))), later);

        assert_eq!(resumed, PollPlace { page: "issfr 1".to_owned(), ..first.clone() });
        assert_eq!(resumed.next(None), first.next(None));
    }

    #[test]
    fn a_place_that_cannot_be_read_is_none() {
        let noon = at("2026-03-10T12:00:00Z");

        for kept in ["", "x", "99999999999999999999"] {
            assert_eq!(PollPlace::read(Some(kept), noon), PollPlace::read(None, noon));
        }
    }
}
