//! The words of the journal's rows: who made a decision, what it was, and which alert it is on.

use crate::console::AppContext;
use crate::console::decisions::alert_of;
use crate::console::text::sanitize;
use crate::console::unfinished::in_words;
use crate::desk::{DecisionRecord, JournalAlert, JournalDecision};

/// Who made a decision: a person, or a desk rule.
pub fn maker(record: &DecisionRecord, cx: &AppContext) -> String {
    match &record.rule {
        Some(rule) => sanitize(&format!("desk rule {rule}")).into_owned(),
        None => who(cx.journal.is_own(record.session, record.user.as_deref()), record.user.as_deref()),
    }
}

/// The name of whoever did something, as the audit log and the notes have it; `you` where this console knows no name of
/// its own.
pub fn who(own: bool, user: Option<&str>) -> String {
    match user {
        Some(user) => sanitize(user).into_owned(),
        None if own => "you".to_owned(),
        None => "–".to_owned(),
    }
}

/// `REFUNDED`, `INVALID (duplicate alert)`
pub fn decided(said: &JournalDecision) -> String {
    let word = said.resolution().map_or_else(|| said.refunded.clone(), |resolution| in_words(&resolution));
    sanitize(&word).into_owned()
}

/// `REFUNDED 129.90 EUR`, `INVALID (duplicate alert) 19.99 USD`
pub fn what(said: &JournalDecision) -> String {
    let money = alert_of(&said.alert).money().map(|money| format!(" {money}")).unwrap_or_default();
    format!("{}{}", decided(said), sanitize(&money))
}

/// `ETHOCA ··1234 A-10293`
pub fn name_of(alert: &JournalAlert) -> String {
    let card = if alert.card_last_four.is_empty() { String::new() } else { format!(" ··{}", alert.card_last_four) };
    let id = alert.order.as_deref().filter(|order| !order.is_empty()).unwrap_or(&alert.provider_id);
    sanitize(&format!("{}{card} {id}", alert.provider)).into_owned()
}
