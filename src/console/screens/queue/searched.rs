//! A cache of searches for duplicates at a deployment that is searched by the interface: bounded, and each good for a
//! while.

use std::collections::HashMap;

use chrono::Duration;

use crate::domain::{Alert, AlertQuery, Timestamp};

/// Most searches that are kept: each may hold a page of alerts.
const MOST: usize = 50;

/// The searches that were answered, by what was searched for.
#[derive(Debug, Default)]
pub struct Searched {
    answers: HashMap<String, (Timestamp, Vec<Alert>)>,
}

impl Searched {
    /// When a search was answered and what it found, where that is no older than it may be.
    pub fn fresh(&self, query: &AlertQuery, lasts: Duration, now: Timestamp) -> Option<&(Timestamp, Vec<Alert>)> {
        let answer = self.answers.get(query.filter.q.as_deref()?)?;
        (answer.0 <= now && now - answer.0 < lasts).then_some(answer)
    }

    /// Keeps what a search found; the oldest gives way.
    pub fn keep(&mut self, query: &AlertQuery, found: Vec<Alert>, now: Timestamp) {
        let Some(searched) = query.filter.q.clone() else { return };
        if self.answers.len() >= MOST && !self.answers.contains_key(&searched) {
            let oldest = self.answers.iter().min_by_key(|(_, (at, _))| *at).map(|(searched, _)| searched.clone());
            oldest.and_then(|oldest| self.answers.remove(&oldest));
        }
        self.answers.insert(searched, (now, found));
    }

    /// Takes in what an alert looks like now.
    pub fn replace(&mut self, alert: &Alert) {
        let all = self.answers.values_mut().flat_map(|(_, found)| found);
        for known in all.filter(|known| known.id == alert.id) {
            known.clone_from(alert);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertId, Outcome, duplicate};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn on_card(digits: usize) -> (Alert, AlertQuery) {
        let alert = Alert { id: AlertId::generate(), card_last_four: format!("{digits:04}"), ..Alert::sample() };
        let query = duplicate::query(&alert).unwrap();
        (alert, query)
    }

    #[test]
    fn a_search_is_good_for_every_alert_on_the_card_and_for_so_long() {
        let mut searched = Searched::default();
        let ((alert, query), (_, other)) = (on_card(4242), on_card(1111));
        searched.keep(&query, vec![alert.clone()], now());

        assert_eq!(
            searched.fresh(&query, Duration::seconds(30), now() + Duration::seconds(29)),
            Some(&(now(), vec![alert]))
        );
        assert_eq!(searched.fresh(&query, Duration::seconds(30), now() + Duration::seconds(30)), None);
        assert_eq!(
            searched.fresh(&query, Duration::seconds(30), now() - Duration::seconds(1)),
            None,
            "the clock was set back"
        );
        assert_eq!(searched.fresh(&other, Duration::seconds(30), now()), None);
    }

    #[test]
    fn the_oldest_search_gives_way_to_the_fifty_first() {
        let mut searched = Searched::default();
        for number in 0..=MOST {
            searched.keep(&on_card(number).1, Vec::new(), now() + Duration::seconds(number as i64));
        }

        let kept = (0..=MOST).filter(|number| {
            searched.fresh(&on_card(*number).1, Duration::hours(1), now() + Duration::minutes(2)).is_some()
        });

        assert_eq!(kept.collect::<Vec<_>>(), (1..=MOST).collect::<Vec<_>>());
    }

    #[test]
    fn an_alert_that_was_answered_meanwhile_is_kept_as_it_is_now() {
        let mut searched = Searched::default();
        let (alert, query) = on_card(4242);
        searched.keep(&query, vec![alert.clone()], now());
        let answered = Alert { outcome: Some(Outcome::sample(alert.id)), ..alert };

        searched.replace(&answered);

        assert_eq!(searched.fresh(&query, Duration::seconds(1), now()), Some(&(now(), vec![answered])));
    }
}
