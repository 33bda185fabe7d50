//! The orders of the shop that an alert is on, as the desk matches them, and what a person changes of it.

use super::Message;
use crate::{
    desk::Desk,
    domain::{Alert, Timestamp},
};

/// A change of which orders match an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchChange {
    /// This order is taken off.
    Unmatch(String, Timestamp),
    /// Those that were taken off match again.
    MatchAgain,
}

/// Matches alerts, each with others on its payment, with the orders of a desk, after a change of what matches the first
/// of them.
pub fn match_orders(desk: Option<&Desk>, asked: Vec<(Alert, Vec<Alert>)>, change: Option<MatchChange>) -> Message {
    let orders = desk.map_or(Ok(None), Desk::orders).and_then(|orders| {
        if let (Some(orders), Some((alert, _))) = (&orders, asked.first()) {
            match change {
                Some(MatchChange::Unmatch(order, at)) => orders.unmatch(alert.id, &order, at)?,
                Some(MatchChange::MatchAgain) => orders.match_again(alert.id)?,
                None => {}
            }
        }
        Ok(orders)
    });
    let matched = |(alert, others): (Alert, Vec<Alert>)| {
        let found = match &orders {
            Ok(orders) => orders.as_ref().map(|orders| orders.matches_among(&alert, &others)),
            Err(error) => Some(Err(error.clone())),
        };
        (alert.id, found.map(|found| found.map_err(|error| error.to_string())))
    };
    Message::OrdersMatched(asked.into_iter().map(matched).collect())
}
