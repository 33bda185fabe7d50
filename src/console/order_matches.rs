//! The orders of the shop that an alert is on, as the desk matches them, and what a person changes of it.

use super::message::{Message, Reply};
use crate::{
    desk::{Desk, DeskError, MatchedOrders},
    domain::{Alert, Timestamp},
    service::ServiceError,
};

/// A change of which orders match an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchChange {
    /// This order is taken off.
    Unmatch(String, Timestamp),
    /// Those that were taken off match again.
    MatchAgain,
}

/// Matches an alert, and others on its payment, with the orders of a desk, after a change of what matches.
pub fn match_orders(desk: Option<&Desk>, alert: &Alert, others: &[Alert], change: Option<MatchChange>) -> Message {
    let matched = desk.map_or(Ok(None), |desk| matched_orders(desk, alert, others, change));
    Message::OrdersMatched(alert.id, matched.map_err(|error| error.to_string()).transpose())
}

fn matched_orders(
    desk: &Desk,
    alert: &Alert,
    others: &[Alert],
    change: Option<MatchChange>,
) -> Result<Option<MatchedOrders>, DeskError> {
    let Some(orders) = desk.orders()? else { return Ok(None) };
    match change {
        Some(MatchChange::Unmatch(order, at)) => orders.unmatch(alert.id, &order, at)?,
        Some(MatchChange::MatchAgain) => orders.match_again(alert.id)?,
        None => {}
    }
    orders.matches_among(alert, others).map(Some)
}

/// Matches one alert after the other, each with others on its payment, with the shop's orders; one that cannot be
/// looked up may be one that was refunded.
pub fn matcher(desk: Option<&Desk>) -> impl Fn(&Alert, &[Alert]) -> Reply<MatchedOrders> {
    let failed = |error: DeskError| ServiceError::Unavailable(error.to_string());
    let orders = desk.map_or(Ok(None), Desk::orders).map_err(failed);
    move |alert, others| match &orders {
        Ok(Some(orders)) => orders.matches_among(alert, others).map_err(failed),
        Ok(None) => Ok(MatchedOrders::default()),
        Err(error) => Err(error.clone()),
    }
}
