//! Which of the shop's orders the cursor's alert is on, as far as a person says it.

use super::facts::Facts;
use super::state::Queue;
use crate::console::order_matches::MatchChange;
use crate::console::{AppContext, Effect, Tone};
use crate::domain::Alert;

/// What is told of an alert's orders: the later word replaces the earlier one.
const MATCH: &str = "orders of";

impl Queue {
    /// [`change_match`] of the cursor's alert.
    pub fn change_match(&self, cx: &mut AppContext) -> Vec<Effect> {
        self.current().map_or_else(Vec::new, |alert| change_match(alert, &self.facts, cx))
    }
}

/// Takes the order that is shown off an alert; where none is left, those that were taken off match again.
pub fn change_match(alert: &Alert, facts: &Facts, cx: &mut AppContext) -> Vec<Effect> {
    if facts.alert != Some(alert.id) {
        return Vec::new();
    }
    let matched = facts.orders.as_ref().and_then(|matched| matched.as_ref().ok());
    let change = match matched.map(|matched| (matched.matches.first(), matched.unmatched.is_empty())) {
        Some((Some(found), _)) => {
            let order = found.order.order_id.clone();
            cx.notify_anew(MATCH, alert, Tone::Note, format!("Order {order} unlinked."));
            MatchChange::Unmatch(order, cx.now)
        }
        Some((None, false)) => {
            cx.notify_anew(MATCH, alert, Tone::Note, "Order linked again.");
            MatchChange::MatchAgain
        }
        Some((None, true)) | None => {
            cx.hint("This alert has no order.");
            return Vec::new();
        }
    };
    let others = facts.duplicates.loaded().cloned().unwrap_or_default();
    vec![Effect::MatchOrders(Box::new(alert.clone()), others, Some(change))]
}
