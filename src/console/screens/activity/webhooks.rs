//! The webhooks that tell of an alert's outcome, in the words of the journal: to how many endpoints they were
//! delivered, and what follows.

use crate::console::times::Moments;
use crate::domain::{Delivery, DeliveryState, EventKind, Timestamp};

use super::proof::RowTone;

/// What is known of the deliveries of `alert.resolved`, and since when: `webhook delivered to 1 of 2, next try at
/// 14:05:11`. Nothing where there are none: nobody asked to be told, or they are beyond the retention.
pub(super) fn outcome_told(
    deliveries: &[Delivery],
    times: Moments,
    now: Timestamp,
) -> Option<(Option<Timestamp>, String, RowTone)> {
    let told: Vec<&Delivery> =
        deliveries.iter().filter(|delivery| delivery.kind == EventKind::AlertResolved && !delivery.test).collect();
    if told.is_empty() {
        return None;
    }
    let number = |state| told.iter().filter(|delivery| delivery.state == state).count();
    let delivered = number(DeliveryState::Delivered);
    let mut words = vec![format!("webhook delivered to {delivered} of {}", told.len())];
    let waiting = told.iter().filter(|delivery| delivery.state == DeliveryState::Pending);
    if let Some((due, attempts)) = waiting.filter_map(|delivery| Some((delivery.due?, delivery.attempts))).min() {
        let which = if attempts == 0 { "first" } else { "next" };
        let when = if due > now { format!("at {}", times.moment(due, now)) } else { "due".to_owned() };
        words.push(format!("{which} try {when}"));
    }
    let rest = [
        (DeliveryState::Leased, "being sent"),
        (DeliveryState::Exhausted, "given up"),
        (DeliveryState::Cancelled, "cancelled"),
    ];
    words.extend(
        rest.into_iter()
            .map(|(state, word)| (number(state), word))
            .filter(|(of, _)| *of > 0)
            .map(|(of, word)| format!("{of} {word}")),
    );
    let tone = match () {
        () if number(DeliveryState::Exhausted) > 0 => RowTone::Wrong,
        () if told.iter().any(|delivery| delivery.state == DeliveryState::Pending && delivery.attempts > 0) => {
            RowTone::Unsure
        }
        () => RowTone::Quiet,
    };
    let at = told.iter().filter_map(|delivery| delivery.delivered_at).max();
    Some((at, words.join(", "), tone))
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;
    use crate::console::times::ShownClocks;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, DeliveryId, EndpointId, EventId};

    fn delivery(state: DeliveryState, attempts: u32, due: Option<Timestamp>) -> Delivery {
        Delivery {
            id: DeliveryId::generate(),
            event: EventId::generate(),
            kind: EventKind::AlertResolved,
            at: Timestamp::default(),
            alert: AlertId::generate(),
            test: false,
            endpoint: EndpointId::generate(),
            url: "https://shop.example/hooks".to_owned(),
            state,
            attempts,
            due,
            last_result: None,
            delivered_at: (state == DeliveryState::Delivered).then(now),
        }
    }

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    /// What is said of these, and in which tone.
    fn told(deliveries: &[Delivery]) -> Option<(String, RowTone)> {
        let times = Moments { clocks: ShownClocks::Utc, ..Moments::default() };
        outcome_told(deliveries, times, now()).map(|(_, words, tone)| (words, tone))
    }

    #[test]
    fn deliveries_are_told_by_how_many_were_taken_and_what_follows_for_the_rest() {
        use DeliveryState::{Cancelled, Delivered, Exhausted, Leased, Pending};
        let soon = Some(now() + Duration::seconds(40));
        let taken = || delivery(Delivered, 1, None);

        let all = told(&[taken(), taken()]);
        let tried = told(&[taken(), delivery(Pending, 2, soon)]);
        let new = told(&[delivery(Pending, 0, Some(now()))]);
        let over =
            told(&[taken(), delivery(Exhausted, 13, None), delivery(Cancelled, 1, None), delivery(Leased, 1, None)]);

        let said = |words: &str, tone| Some((words.to_owned(), tone));
        assert_eq!(all, said("webhook delivered to 2 of 2", RowTone::Quiet));
        assert_eq!(tried, said("webhook delivered to 1 of 2, next try at 12:00:40", RowTone::Unsure));
        assert_eq!(new, said("webhook delivered to 0 of 1, first try due", RowTone::Quiet));
        assert_eq!(over, said("webhook delivered to 1 of 4, 1 being sent, 1 given up, 1 cancelled", RowTone::Wrong));
    }

    #[test]
    fn nothing_is_told_of_other_events_of_tests_and_of_none() {
        let created = Delivery { kind: EventKind::AlertCreated, ..delivery(DeliveryState::Delivered, 1, None) };
        let test = Delivery { test: true, ..delivery(DeliveryState::Delivered, 1, None) };

        assert_eq!([told(&[created, test]), told(&[])], [None, None]);
    }
}
