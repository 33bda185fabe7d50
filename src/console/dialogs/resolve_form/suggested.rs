//! Opens the resolve form with the answer that is suggested: by the first rule that matches, else by the shop's order.

use super::dialog::open_preset;
use super::{Choice, older_word};
use crate::console::screens::queue::state::Queue;
use crate::console::{AppContext, Orders, Tone};
use crate::desk::Draft;
use crate::domain::resolution::Decision;
use crate::domain::rule::suggestion;
use crate::domain::{Alert, Dialect};

/// Opens the form as it is suggested for the alert under the cursor, or says that nothing is.
pub fn open(queue: &mut Queue, cx: &mut AppContext) -> Orders {
    let Some(alert) = queue.current() else { return Vec::new() };
    let Some((decision, comments)) = suggested(alert, queue, cx) else {
        cx.notify(Tone::Note, "No rule and no order suggests an answer to this alert.");
        return Vec::new();
    };
    let choice = match decision {
        Decision::Refunded => Choice::Refunded,
        Decision::NotRefunded => Choice::NotRefunded,
        Decision::Invalid(_) => Choice::Invalid,
    };
    let resolution = decision.reason().map(|reason| match cx.place.dialect {
        Dialect::Current => reason.as_str().to_owned(),
        Dialect::Older => older_word(reason).to_string(),
    });
    let preset = Draft { refunded: Some(choice.wire().to_owned()), resolution, amount_stopped: None, comments };
    open_preset(choice, Some(preset), queue, cx)
}

fn suggested(alert: &Alert, queue: &Queue, cx: &AppContext) -> Option<(Decision, String)> {
    if let Some(rule) = suggestion(&cx.settings.rules, alert, cx.now) {
        return Some((rule.decision, rule.comments.clone()));
    }
    let orders = queue.facts.orders.as_ref().filter(|_| queue.facts.alert == Some(alert.id))?;
    let advice = orders.as_ref().ok()?.matches.first()?.advice(alert)?;
    Some((advice.decision, String::new()))
}
