//! The words of a delivery: when its event happened, what it was, what follows.

use chrono::TimeDelta;

use crate::console::text::sanitize;
use crate::console::times;
use crate::domain::{Delivery, Timestamp};

/// An address without its scheme.
pub(super) fn short(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/')
}

/// `created`, `resolved`, `test`.
pub(super) fn event(delivery: &Delivery) -> String {
    if delivery.test { "test".to_owned() } else { sanitize(delivery.kind.as_str().trim_start_matches("alert.")).into_owned() }
}

/// When it is tried next, and what the last attempt came to: `in 2 min, 503`, in few words.
pub(super) fn outlook(delivery: &Delivery, now: Timestamp) -> String {
    let next = delivery.due.map(|due| match due - now {
        left if left <= TimeDelta::zero() => "now".to_owned(),
        left if left < TimeDelta::minutes(1) => "in <1 min".to_owned(),
        left => format!("in {}", times::spell(left)),
    });
    let result = delivery.last_result.as_ref().map(|result| sanitize(result).into_owned());
    next.into_iter().chain(result).collect::<Vec<_>>().join(", ")
}
