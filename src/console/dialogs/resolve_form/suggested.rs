//! Opens the resolve form with the answer that is suggested: by the first rule that matches, else by the shop's order.

use super::dialog::open_preset;
use crate::console::screens::queue::facts::Facts;
use crate::console::screens::queue::state::Queue;
use crate::console::{AppContext, Orders, Tone};
use crate::desk::Draft;
use crate::domain::Alert;
use crate::domain::resolution::Decision;
use crate::domain::rule::suggestion;

/// Opens the form as it is suggested for the alert under the cursor, or says that nothing is.
pub fn open(queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = queue.current() else { return Vec::new() };
    let Some((decision, comments)) = suggested(alert, &queue.facts, cx) else {
        cx.notify(Tone::Note, "No rule and no order suggests an answer to this alert.");
        return Vec::new();
    };
    let resolution = decision.reason().map(|reason| reason.resolution(cx.place.dialect));
    // Whether money went back is left to the choice: in the older dialect the form asks for it.
    let preset = Draft { resolution, comments, ..Draft::default() };
    open_preset(decision.into(), Some(preset), queue, cx)
}

/// What is suggested for an alert, with its comment: by the first rule that matches, else by the shop's order that is known of it.
pub fn suggested(alert: &Alert, facts: &Facts, cx: &AppContext) -> Option<(Decision, String)> {
    if let Some(rule) = suggestion(&cx.settings.rules, alert, cx.now) {
        return Some((rule.decision, rule.comments.clone()));
    }
    let orders = facts.orders.as_ref().filter(|_| facts.alert == Some(alert.id))?;
    let advice = orders.as_ref().ok()?.matches.first()?.advice(alert)?;
    Some((advice.decision, String::new()))
}
