//! The words of a delivery: when its event happened, what it was, what follows.

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

/// When it is tried next, and what the last attempt came to: `in 2 min, 503`.
pub(super) fn outlook(delivery: &Delivery, now: Timestamp) -> String {
    let next = delivery.due.map(|due| if due <= now { "now".to_owned() } else { format!("in {}", times::spell(due - now)) });
    let result = delivery.last_result.as_ref().map(|result| sanitize(result).into_owned());
    next.into_iter().chain(result).collect::<Vec<_>>().join(", ")
}
