//! Attempts that the engine has not ended: their alerts, what is known of each, and which wait for a person's word. The
//! console's own lost replies are polled by [`crate::desk::ledger::decisions`].

use chrono::Duration;

use crate::{
    desk::Fate,
    domain::{AlertId, ResolutionAttempt, Timestamp},
};

/// Changes are gathered so long before it is asked again.
const REST: Duration = Duration::milliseconds(250);

/// Returns the fate of an answer that the engine has not finished. A state that this version does not know counts as
/// unconfirmed.
pub fn attempt_fate(attempt: &ResolutionAttempt) -> Fate {
    if attempt.state == "INFLIGHT" { Fate::Sending } else { Fate::Unconfirmed }
}

/// Returns true where the engine cannot find out what became of it: a person sets the result.
pub fn is_parked(attempt: &ResolutionAttempt) -> bool {
    attempt.state == "PARKED"
}

/// How soon it is asked again where that failed, and at least while the engine finds out what became of one: nothing
/// tells of every end.
const AGAIN: Duration = Duration::seconds(5);

/// The unfinished decisions of the organization, as the engine told of them last.
#[derive(Debug, Default)]
pub struct Unfinished {
    /// The oldest first.
    all: Vec<ResolutionAttempt>,
    due: Option<Timestamp>,
}

impl Unfinished {
    /// Asks for them soon: something changed.
    pub fn changed(&mut self, now: Timestamp) {
        self.due.get_or_insert(now + REST);
    }

    /// They could not be had: they are asked for again after a while.
    pub fn failed(&mut self, now: Timestamp) {
        self.due.get_or_insert(now + AGAIN);
    }

    /// Returns true where they are to be asked for now.
    pub fn take_due(&mut self, now: Timestamp) -> bool {
        self.due.take_if(|due| *due <= now).is_some()
    }

    /// When they are to be asked for.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.due
    }

    /// Takes in what the engine tells; returns those that wait for a person and did not before.
    pub fn take(&mut self, all: Vec<ResolutionAttempt>, now: Timestamp) -> Vec<ResolutionAttempt> {
        let was_parked = |id| self.all.iter().any(|known| known.id == id && is_parked(known));
        let parked = all.iter().filter(|unfinished| is_parked(unfinished) && !was_parked(unfinished.id));
        let newly_parked = parked.cloned().collect();
        self.all = all;
        let goes_on = self.all.iter().filter(|unfinished| !is_parked(unfinished));
        if let Some(next) = goes_on.map(|unfinished| unfinished.next_check.unwrap_or(now)).min() {
            self.due.get_or_insert((next + REST).max(now + AGAIN));
        }
        newly_parked
    }

    /// A person's word on the one on an alert is on its way: nobody is asked for it any more, until the engine tells
    /// otherwise.
    pub fn said(&mut self, alert: AlertId) {
        self.all.retain(|unfinished| unfinished.alert != alert);
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = &ResolutionAttempt> {
        self.all.iter()
    }

    /// The one on an alert.
    pub fn of(&self, alert: AlertId) -> Option<&ResolutionAttempt> {
        self.all.iter().rfind(|unfinished| unfinished.alert == alert)
    }

    /// The one on an alert that waits for a person.
    pub fn parked_on(&self, alert: AlertId) -> Option<&ResolutionAttempt> {
        self.of(alert).filter(|unfinished| is_parked(unfinished))
    }

    /// Those that wait for a person, the oldest first.
    pub fn parked(&self) -> impl Iterator<Item = &ResolutionAttempt> {
        self.all.iter().filter(|unfinished| is_parked(unfinished))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::AttemptId;
    use crate::domain::time::from_iso;
    use crate::domain::{Resolution, resolution::Decision};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn unfinished(alert: AlertId, state: &str) -> ResolutionAttempt {
        ResolutionAttempt {
            id: AttemptId::generate(),
            alert,
            state: state.to_owned(),
            resolution: Resolution::Current { decision: Decision::Refunded, comments: String::new() },
            started_at: now(),
            next_check: None,
            checks: 0,
            detail: String::new(),
            actor: "key abc".to_owned(),
        }
    }

    #[test]
    fn one_that_is_parked_is_news_once() {
        let alert = AlertId::generate();
        let unknown = unfinished(alert, "UNKNOWN");
        let parked = ResolutionAttempt { state: "PARKED".to_owned(), ..unknown.clone() };
        let mut all = Unfinished::default();

        let told =
            [vec![unknown], vec![parked.clone()], vec![parked.clone()], vec![]].map(|told| all.take(told, now()).len());

        assert_eq!(told, [0, 1, 0, 0]);
        assert_eq!(all.of(alert), None);
    }

    #[test]
    fn each_is_found_by_its_alert_and_only_the_parked_ones_wait_for_a_person() {
        let alerts = [AlertId::generate(), AlertId::generate(), AlertId::generate()];
        let mut all = Unfinished::default();

        all.take(
            vec![unfinished(alerts[0], "INFLIGHT"), unfinished(alerts[1], "PARKED"), unfinished(alerts[2], "UNKNOWN")],
            now(),
        );

        assert_eq!(
            alerts.map(|alert| all.of(alert).map(|attempt| (attempt_fate(attempt), is_parked(attempt)))),
            [Some((Fate::Sending, false)), Some((Fate::Unconfirmed, true)), Some((Fate::Unconfirmed, false))]
        );
        assert_eq!(all.parked().map(|parked| parked.alert).collect::<Vec<_>>(), [alerts[1]]);
    }

    #[test]
    fn changes_are_gathered_before_it_is_asked_again() {
        let now = now();
        let mut all = Unfinished::default();
        all.changed(now);
        all.changed(now + Duration::milliseconds(200));

        let asked = [100, 250, 600].map(|millis| all.take_due(now + Duration::milliseconds(millis)));

        assert_eq!(asked, [false, true, false]);
    }
    #[test]
    fn while_the_engine_finds_one_out_it_is_asked_again_after_its_own_next_look() {
        let (now, alert) = (now(), AlertId::generate());
        let next_check = |seconds| ResolutionAttempt {
            next_check: Some(now + Duration::seconds(seconds)),
            ..unfinished(alert, "UNKNOWN")
        };
        let wake = |told: Vec<ResolutionAttempt>| {
            let mut all = Unfinished::default();
            all.take(told, now);
            all.next_wake().map(|due| (due - now).num_milliseconds())
        };

        let wakes = [
            wake(vec![next_check(30)]),
            wake(vec![next_check(1)]),
            wake(vec![unfinished(alert, "PARKED")]),
            wake(vec![]),
        ];

        assert_eq!(wakes, [Some(30_250), Some(5_000), None, None]);
    }
}
