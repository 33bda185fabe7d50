//! The audit log of a page's alerts: what the service's log says of them, asked once for each way that they stand.

use crate::console::{Effect, Reply};
use crate::domain::{Alert, AlertId, AuditEntry};

/// What the log says of the alerts of a page.
#[derive(Debug, Default)]
pub(super) struct KnownAudit {
    entries: Vec<AuditEntry>,
    /// Of which alerts it was asked last, each with whether it was answered.
    asked: Vec<(AlertId, bool)>,
}

impl KnownAudit {
    /// The entries, the newest first.
    pub(super) fn entries(&self) -> &[AuditEntry] {
        &self.entries
    }

    /// Asks of these alerts; nothing where that would be the same question again: the log says no more of them than it
    /// did.
    pub(super) fn ask<'a>(&mut self, alerts: impl IntoIterator<Item = &'a Alert>) -> Option<Effect> {
        let mut asked: Vec<(AlertId, bool)> =
            alerts.into_iter().map(|alert| (alert.id, alert.outcome.is_some())).collect();
        asked.sort_unstable();
        if asked == self.asked {
            return None;
        }
        self.asked.clone_from(&asked);
        Some(Effect::AuditOf(asked))
    }

    /// The next time it is asked whatever was asked before.
    pub(super) fn ask_anew(&mut self) {
        self.asked.clear();
    }

    /// Takes an answer in, of which alerts it is, and of it what is about these. Entries never change: answers may
    /// cross.
    pub(super) fn take<'a>(
        &mut self,
        asked: &[(AlertId, bool)],
        answer: &Reply<Vec<AuditEntry>>,
        alerts: impl IntoIterator<Item = &'a Alert>,
    ) {
        let Ok(entries) = answer else {
            // The page says what else is known, until they are read again.
            if self.asked == asked {
                self.ask_anew();
            }
            return;
        };
        // What was asked last is about these alone.
        let is_own_question = self.asked == asked;
        let shown: Vec<AlertId> = alerts.into_iter().map(|alert| alert.id).collect();
        let is_ours = |entry: &&AuditEntry| is_own_question || shown.iter().any(|alert| entry.is_of(*alert));
        for entry in entries.iter().filter(is_ours) {
            if self.entries.iter().all(|known| known.number != entry.number) {
                self.entries.push(entry.clone());
            }
        }
        self.entries.sort_by_key(|entry| std::cmp::Reverse(entry.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{Outcome, Provider};
    use crate::service::ServiceError;

    fn alert() -> Alert {
        Alert { id: AlertId::generate(), provider: Provider::Verifi, ..Alert::sample() }
    }

    fn answered(alert: &Alert) -> Alert {
        Alert { outcome: Some(Outcome::sample(alert.id)), ..alert.clone() }
    }

    fn entry(number: u64, alert: &Alert) -> AuditEntry {
        AuditEntry {
            number,
            at: from_iso("2026-03-02T12:30:00Z").unwrap(),
            actor: "key 7Qd2".to_owned(),
            origin: String::new(),
            person: String::new(),
            action: "alert.resolved".to_owned(),
            subject: alert.id.to_string(),
            detail: String::new(),
            previous: [0; 32],
            hash: [0; 32],
        }
    }

    /// The question that an effect asks.
    fn question(effect: Option<Effect>) -> Option<Vec<(AlertId, bool)>> {
        match effect {
            Some(Effect::AuditOf(asked)) => Some(asked),
            _ => None,
        }
    }

    #[test]
    fn the_same_question_is_asked_once_until_an_alert_is_answered_or_it_is_wanted_anew() {
        let (one, other) = (alert(), alert());
        let mut audit = KnownAudit::default();
        let mut asks = |alerts: &[Alert]| audit.ask(alerts).is_some();

        let first = asks(&[one.clone(), other.clone()]);
        let turned = asks(&[other.clone(), one.clone()]);
        let resolved = asks(&[one.clone(), answered(&other)]);
        audit.ask_anew();
        let anew = audit.ask(&[one, answered(&other)]).is_some();

        assert_eq!([first, turned, resolved, anew], [true, false, true, true]);
    }

    #[test]
    fn what_could_not_be_read_is_asked_again() {
        let one = alert();
        let mut audit = KnownAudit::default();
        let asked = question(audit.ask(std::slice::from_ref(&one))).unwrap();

        audit.take(&asked, &Err(ServiceError::Unavailable("busy".to_owned())), std::slice::from_ref(&one));

        assert_eq!(question(audit.ask(&[one])), Some(asked));
    }

    #[test]
    fn an_answer_of_other_alerts_changes_nothing_and_answers_that_cross_add_up() {
        let (one, other, foreign) = (alert(), alert(), alert());
        let ours = [one.clone(), other.clone()];
        let mut audit = KnownAudit::default();

        audit.take(&[(one.id, true), (other.id, true)], &Ok(vec![entry(9, &one), entry(4, &other)]), &ours);
        audit.take(&[(one.id, false)], &Ok(Vec::new()), &ours);
        audit.take(&[(foreign.id, true)], &Ok(vec![entry(7, &foreign)]), &ours);
        audit.take(&[(other.id, true)], &Ok(vec![entry(4, &other)]), &ours);

        assert_eq!(audit.entries().iter().map(|entry| entry.number).collect::<Vec<_>>(), [9, 4]);
    }
}
