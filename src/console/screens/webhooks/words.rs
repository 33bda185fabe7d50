//! The words of a delivery: what its event was and of which alert, to which endpoint it goes, what follows.

use std::collections::HashSet;

use chrono::TimeDelta;

use crate::console::known_alerts::KnownAlerts;
use crate::console::text::{columns, sanitize};
use crate::console::times;
use crate::domain::{Delivery, DeliveryState, Timestamp};

/// An address without its scheme.
pub(super) fn short(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/')
}

/// `created`, `resolved`, `test`.
pub(super) fn event(delivery: &Delivery) -> String {
    if delivery.test {
        "test".to_owned()
    } else {
        sanitize(delivery.kind.as_str().trim_start_matches("alert.")).into_owned()
    }
}

/// Returns true where it was tried in vain, and will be again.
pub(super) fn is_tried_again(delivery: &Delivery) -> bool {
    delivery.state == DeliveryState::Pending && delivery.last_result.is_some()
}

/// What the last attempt came to, and when it is tried next: `503, next try in 2 min`; in fewer words where those have
/// no room.
pub(super) fn outlook(delivery: &Delivery, room: u16, now: Timestamp) -> String {
    let next = delivery.due.map(|due| match due - now {
        left if left <= TimeDelta::zero() => "now".to_owned(),
        left if left < TimeDelta::minutes(1) => "in <1 min".to_owned(),
        left => format!("in {}", times::short(left)),
    });
    let result = delivery.last_result.as_ref().map(|result| sanitize(result).into_owned());
    let (Some(next), Some(result)) = (&next, &result) else { return next.or(result).unwrap_or_default() };
    let whole = format!("{result}, next attempt {next}");
    if columns(&whole) <= room { whole } else { format!("{result}, {next}") }
}

/// The name of a delivery's alert: its network and card, else the end of an id. A test is about no alert.
pub(super) fn alert_name(delivery: &Delivery, known: &KnownAlerts) -> String {
    if delivery.test {
        return "–".to_owned();
    }
    let end = |id: &str| {
        let start = id.char_indices().rev().nth(4).map_or(0, |(at, _)| at);
        format!("…{}", &id[start..])
    };
    let name = known.get(delivery.alert).map(|alert| match alert.card_last_four.as_str() {
        "" => end(&alert.provider_id),
        card => format!("{} ··{card}", alert.provider),
    });
    sanitize(&name.unwrap_or_else(|| end(&delivery.alert.to_string()))).into_owned()
}

/// What endpoints are called in a list, in the part of their addresses that tells them apart.
pub(super) enum EndpointNames {
    /// By host and path.
    Address,
    /// By host: each has one of its own.
    Host,
    /// By path: all are on one host.
    Path,
}

impl EndpointNames {
    /// The names of these addresses.
    pub(super) fn of<'a>(urls: impl Iterator<Item = &'a str>) -> Self {
        let urls: HashSet<&str> = urls.map(short).collect();
        let hosts: HashSet<&str> = urls.iter().map(|url| host(url)).collect();
        match (hosts.len(), urls.len()) {
            (hosts, urls) if hosts == urls => Self::Host,
            (1, _) => Self::Path,
            _ => Self::Address,
        }
    }

    /// The name of one.
    pub(super) fn name<'a>(&self, url: &'a str) -> &'a str {
        let address = short(url);
        match self {
            Self::Address => address,
            Self::Host => host(address),
            Self::Path => &address[host(address).len()..],
        }
    }
}

/// The host of an address without its scheme.
fn host(address: &str) -> &str {
    address.split_once('/').map_or(address, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(&["https://shop.example/hooks", "https://erp.example/in"], &["shop.example", "erp.example"])]
    #[case(&["https://shop.example/hooks/a", "https://shop.example/hooks/b"], &["/hooks/a", "/hooks/b"])]
    #[case(
        &["https://shop.example/a", "https://shop.example/b", "https://erp.example/in"],
        &["shop.example/a", "shop.example/b", "erp.example/in"]
    )]
    #[case(&["https://shop.example/hooks"], &["shop.example"])]
    fn endpoints_are_called_by_what_tells_them_apart(#[case] urls: &[&str], #[case] names: &[&str]) {
        let kind = EndpointNames::of(urls.iter().copied());

        let called: Vec<&str> = urls.iter().map(|url| kind.name(url)).collect();

        assert_eq!(called, names);
    }
}
