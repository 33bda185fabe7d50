//! The timeline of a case: what happened on one payment, the oldest first.

use std::collections::{BTreeMap, HashMap};

use crate::console::notes::NoteList;
use crate::console::screens::queue::columns::answer_words;
use crate::console::screens::queue::facts::Facts;
use crate::console::unfinished::{Unfinished, in_words};
use crate::domain::{Alert, AlertId, Delivery, DeliveryState, Timestamp};

/// How an event weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Plain,
    Good,
    Bad,
    Quiet,
}

/// An event of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) at: Timestamp,
    pub(super) what: String,
    pub(super) weight: Weight,
}

/// What happened on the payment of these alerts, as far as it is known.
pub(super) fn timeline(alerts: &[Alert], facts: &HashMap<AlertId, Facts>, unfinished: &Unfinished, notes: &NoteList) -> Vec<Happened> {
    let mut events: Vec<Happened> = Vec::new();
    // The payment is one, whatever its alerts say of its time: the earliest stands for it.
    if let Some(paid) = alerts.iter().filter_map(Alert::given_transaction_time).min() {
        let code = alerts.iter().find_map(|alert| alert.auth_code.clone()).map_or_else(String::new, |code| format!(", approved {code}"));
        events.push(Happened { at: paid, what: format!("paid{code}"), weight: Weight::Quiet });
    }
    for alert in alerts {
        of_alert(alert, &mut events);
        for note in notes.on(alert.id) {
            let by = note.user.as_deref().map_or_else(String::new, |user| format!(" by {user}"));
            let what = format!("{}: noted here{by}: {}", alert.provider, note.text.replace('\n', " / "));
            events.push(Happened { at: note.at, what, weight: Weight::Plain });
        }
        if let Some(attempt) = unfinished.of(alert.id) {
            let what = format!("{}: {} sent by {}, not finished", alert.provider, in_words(&attempt.resolution), attempt.actor);
            events.push(Happened { at: attempt.started_at, what, weight: Weight::Bad });
        }
        let deliveries = facts.get(&alert.id).and_then(|facts| facts.deliveries.loaded());
        of_webhooks(alert, deliveries.map_or(&[][..], Vec::as_slice), &mut events);
    }
    events.sort_by_key(|event| event.at);
    events
}

/// What became of an alert's webhooks: those that fared alike within a minute are told once.
fn of_webhooks(alert: &Alert, deliveries: &[Delivery], events: &mut Vec<Happened>) {
    let mut alike: BTreeMap<(i64, String), (usize, Happened)> = BTreeMap::new();
    for delivery in deliveries {
        let (at, fate, weight) = match (delivery.delivered_at, delivery.state) {
            (Some(at), _) => (at, "delivered", Weight::Quiet),
            (None, DeliveryState::Exhausted) => (delivery.at, "given up", Weight::Bad),
            (None, _) => (delivery.at, "waits", Weight::Quiet),
        };
        let what = format!("{}: webhook {} {fate}", alert.provider, delivery.kind.as_str().trim_start_matches("alert."));
        let event = || (0, Happened { at, what: what.clone(), weight });
        alike.entry((at.timestamp() / 60, what.clone())).or_insert_with(event).0 += 1;
    }
    events.extend(alike.into_values().map(|(count, event)| match count {
        1 => event,
        _ => Happened { what: format!("{}, {count} receivers", event.what), ..event },
    }));
}

/// What happened to one alert.
fn of_alert(alert: &Alert, events: &mut Vec<Happened>) {
    let provider = &alert.provider;
    if let Some(at) = alert.alert_time {
        events.push(Happened { at, what: format!("{provider} alerts {}", alert.provider_id), weight: Weight::Plain });
    }
    if let Some(at) = alert.expired_at {
        events.push(Happened { at, what: format!("{provider}: the window closed"), weight: Weight::Bad });
    }
    if let Some((at, outcome)) = alert.outcome.as_ref().and_then(|outcome| outcome.action_time.map(|at| (at, outcome))) {
        let comment = if outcome.comments.is_empty() { String::new() } else { format!(" \"{}\"", outcome.comments.replace('\n', " / ")) };
        let word = answer_words(alert, outcome);
        let weight = if word == "refunded" { Weight::Good } else { Weight::Plain };
        events.push(Happened { at, what: format!("{provider}: {word}{comment}"), weight });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Loadable;
    use crate::domain::time::from_iso;
    use crate::domain::{DeliveryId, EndpointId, EventId, EventKind, Outcome, Provider};

    #[test]
    fn what_happened_stands_in_its_order_and_the_payment_is_told_once() {
        let at = |text: &str| from_iso(text);
        let first = Alert {
            transaction_time: at("2026-03-01T10:00:00Z"),
            alert_time: at("2026-03-03T10:00:00Z"),
            auth_code: Some("141832".to_owned()),
            provider_id: "A".to_owned(),
            ..Alert::sample()
        };
        let mut second = Alert {
            provider: Provider::Verifi,
            transaction_time: at("2026-03-01T11:00:00Z"),
            alert_time: at("2026-03-02T10:00:00Z"),
            provider_id: "B".to_owned(),
            ..Alert::sample()
        };
        let refunded = Outcome { action_time: at("2026-03-02T12:00:00Z"), comments: "88213".to_owned(), ..Outcome::sample(second.id) };
        second.outcome = Some(refunded);

        let events = timeline(&[first, second], &HashMap::new(), &Unfinished::default(), &NoteList::default());

        let told: Vec<&str> = events.iter().map(|event| event.what.as_str()).collect();
        assert_eq!(told, ["paid, approved 141832", "VERIFI alerts B", "VERIFI: refunded \"88213\"", "ETHOCA alerts A"]);
        assert_eq!(events[2].weight, Weight::Good);
    }

    #[test]
    fn webhooks_that_fared_alike_within_a_minute_are_told_once() {
        let at = |text: &str| from_iso(text).unwrap();
        let alert = Alert { transaction_time: None, alert_time: None, ..Alert::sample() };
        let sent = Delivery {
            id: DeliveryId::generate(),
            event: EventId::generate(),
            kind: EventKind::AlertCreated,
            at: at("2026-03-02T12:00:00Z"),
            alert: alert.id,
            test: false,
            endpoint: EndpointId::generate(),
            url: "https://shop.example/hooks".to_owned(),
            state: DeliveryState::Delivered,
            attempts: 1,
            due: None,
            last_result: None,
            delivered_at: None,
        };
        let delivered = |moment: &str| Delivery { delivered_at: Some(at(moment)), ..sent.clone() };
        let deliveries = vec![
            delivered("2026-03-02T12:00:01Z"),
            delivered("2026-03-02T12:00:59Z"),
            delivered("2026-03-02T12:01:00Z"),
            Delivery { delivered_at: None, state: DeliveryState::Exhausted, at: at("2026-03-02T12:00:01Z"), ..sent.clone() },
        ];
        let facts = HashMap::from([(alert.id, Facts { deliveries: Loadable::Loaded(deliveries), ..Facts::default() })]);

        let events = timeline(&[alert], &facts, &Unfinished::default(), &NoteList::default());

        let told: Vec<&str> = events.iter().map(|event| event.what.as_str()).collect();
        let delivered = "ETHOCA: webhook created delivered";
        assert_eq!(told, [&format!("{delivered}, 2 receivers"), "ETHOCA: webhook created given up", delivered]);
    }

    #[test]
    fn a_time_that_was_not_given_is_not_told() {
        let alert = Alert { transaction_time: None, alert_time: None, ..Alert::sample() };

        assert_eq!(timeline(&[alert], &HashMap::new(), &Unfinished::default(), &NoteList::default()), []);
    }
}
