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

    /// Takes the answer to what was asked last; what could not be read is asked again.
    pub(super) fn take(&mut self, asked: &[(AlertId, bool)], answer: &Reply<Vec<AuditEntry>>) {
        match answer {
            _ if self.asked != asked => {}
            Ok(entries) => self.entries.clone_from(entries),
            Err(_) => self.ask_anew(),
        }
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

        audit.take(&asked, &Err(ServiceError::Unavailable("busy".to_owned())));

        assert_eq!(question(audit.ask(&[one])), Some(asked));
    }

    #[test]
    fn an_answer_to_an_earlier_question_changes_nothing() {
        let (one, foreign) = (alert(), alert());
        let mut audit = KnownAudit::default();
        let asked = question(audit.ask(std::slice::from_ref(&one))).unwrap();

        audit.take(&asked, &Ok(vec![entry(9, &one)]));
        audit.take(&[(foreign.id, true)], &Ok(vec![entry(7, &foreign)]));

        assert_eq!(audit.entries().iter().map(|entry| entry.number).collect::<Vec<_>>(), [9]);
    }
}
