//! The timeline of a case: what happened on one payment, the oldest first.

use chrono::Duration;

use crate::{
    answer_words::{answer_words, by_with_comment, in_words, maker, said_in_words, who_answered},
    desk::{Fate, History, JournalStep},
    domain::{Alert, AuditEntry, Timestamp},
    resolving::UNCHECKED,
    screens::activity::{
        result::{RowTone, step_words},
        rows::action_words,
    },
    unfinished::{Unfinished, attempt_fate, is_parked},
};

/// What follows so soon is told with what it follows.
const AT_ONCE: Duration = Duration::minutes(1);

/// An event of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Happened {
    pub(super) at: Timestamp,
    pub(super) what: String,
    pub(super) tone: RowTone,
}

/// What is known of a case beyond its alerts.
pub(super) struct KnownOfCase<'k> {
    pub(super) unfinished: &'k Unfinished,
    pub(super) history: &'k History,
    /// The place whose decisions the journal is asked for.
    pub(super) place: &'k str,
    /// Entries of the service's audit log about these alerts.
    pub(super) audit: &'k [AuditEntry],
}

/// What happened on the payment of these alerts, as far as it is known.
pub(super) fn timeline(alerts: &[Alert], known: &KnownOfCase<'_>) -> Vec<Happened> {
    let mut events: Vec<Happened> = Vec::new();
    // The payment is one, whatever its alerts say of its time: the earliest stands for it.
    if let Some(paid) = alerts.iter().filter_map(Alert::given_transaction_time).min() {
        let code = alerts.iter().find_map(Alert::known_auth_code);
        let code = code.map_or_else(String::new, |code| format!(", approved {code}"));
        events.push(Happened { at: paid, what: format!("paid{code}"), tone: RowTone::Quiet });
    }
    for alert in alerts {
        let mut told = AlertEvents { alert, called: called(alert, alerts), events: &mut events };
        told.of_alert(known);
        told.of_desk(known);
        told.of_engine(known);
    }
    events.sort_by_key(|event| event.at);
    events
}

/// Name of an alert among these: its network, and its id there where the network has others.
fn called(alert: &Alert, alerts: &[Alert]) -> String {
    let Alert { provider, provider_id, .. } = alert;
    let is_alone = !alerts.iter().any(|other| other.id != alert.id && other.provider == *provider);
    if is_alone { provider.to_string() } else { format!("{provider} {provider_id}") }
}

/// The events of one alert.
struct AlertEvents<'e> {
    alert: &'e Alert,
    called: String,
    events: &'e mut Vec<Happened>,
}

impl AlertEvents<'_> {
    fn add(&mut self, at: Timestamp, tone: RowTone, what: &str) {
        self.events.push(Happened { at, what: format!("{}: {what}", self.called), tone });
    }

    /// Adds the events of the alert.
    fn of_alert(&mut self, known: &KnownOfCase<'_>) {
        let alert = self.alert;
        let raised = alert.alert_time;
        if let Some(at) = raised {
            let what = format!("{} alerts {}", alert.provider, alert.provider_id);
            self.events.push(Happened { at, what, tone: RowTone::Plain });
        }
        let is_later = |at: &Timestamp| raised.is_none_or(|raised| *at < raised || *at - raised >= AT_ONCE);
        if let Some(at) = alert.created_at.filter(is_later) {
            self.add(at, RowTone::Quiet, "received");
        }
        if let Some(at) = alert.expired_at {
            self.add(at, RowTone::Unsure, "expired");
        }
        let answered = alert.outcome.as_ref().and_then(|outcome| Some((outcome.action_time?, outcome)));
        if let Some((at, outcome)) = answered {
            let by = who_answered(alert.id, known.audit, known.history, known.place);
            let by_with_comment = by_with_comment(alert, by.as_deref());
            self.add(at, RowTone::Plain, &format!("{}{by_with_comment}", answer_words(alert, outcome)));
        }
    }

    /// The decisions of this desk on the alert, step by step. That one was recorded is told by the alert's outcome, and
    /// that one left by what came of it at once.
    fn of_desk(&mut self, known: &KnownOfCase<'_>) {
        for record in known.history.on(self.alert.id).filter(|record| record.place == known.place) {
            let maker = maker(record).unwrap_or_else(|| "here".to_owned());
            self.add(record.made_at, RowTone::Quiet, &format!("queued {maker}: {}", said_in_words(&record.said)));
            let mut steps = record.happened().peekable();
            while let Some((at, step)) = steps.next() {
                let at_once = steps.peek().is_some_and(|(next, _)| *next - *at < AT_ONCE);
                match step {
                    JournalStep::Recorded { .. } | JournalStep::AsDecided { .. } if self.alert.outcome.is_some() => {}
                    JournalStep::Sent if at_once => {}
                    step => {
                        let (words, tone) = step_words(step);
                        self.add(*at, if tone == RowTone::Plain { RowTone::Quiet } else { tone }, &words);
                    }
                }
            }
            if let (Some(why), Some(at)) = (&record.unlooked, record.sent_at()) {
                self.add(at, RowTone::Plain, &format!("{UNCHECKED}: {why}"));
            }
        }
    }

    /// The attempt that the engine has not finished, and what persons said of those before.
    fn of_engine(&mut self, known: &KnownOfCase<'_>) {
        if let Some(attempt) = known.unfinished.of(self.alert.id) {
            let stands = match attempt_fate(attempt) {
                Fate::Sending => "sending",
                _ if is_parked(attempt) => "unconfirmed: ask the network",
                _ => "unconfirmed, checking",
            };
            let what = format!("{} sent by {}: {stands}", in_words(&attempt.resolution), attempt.actor);
            self.add(attempt.started_at, RowTone::Unsure, &what);
        }
        for entry in
            known.audit.iter().filter(|entry| entry.alert() == Some(self.alert.id) && !entry.tells_of_resolution())
        {
            let said = entry.detail.rsplit(": ").next().unwrap_or_default();
            self.add(entry.at, RowTone::Plain, &format!("{} by {}: {said}", action_words(entry), entry.by_whom()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::desk::{JournalDecision, JournalWriter};
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::domain::{AttemptId, Outcome, Provider, Resolution, ResolutionAttempt};

    /// What is known, for one test.
    #[derive(Default)]
    struct Around {
        unfinished: Unfinished,
        history: History,
        audit: Vec<AuditEntry>,
    }

    fn told(alerts: &[Alert], around: &Around) -> Vec<Happened> {
        let Around { unfinished, history, audit } = around;
        timeline(alerts, &KnownOfCase { unfinished, history, place: "acme", audit })
    }

    fn at(text: &str) -> Timestamp {
        from_iso(text).unwrap()
    }

    fn words(events: &[Happened]) -> Vec<&str> {
        events.iter().map(|event| event.what.as_str()).collect()
    }

    /// A journal of these steps, each with its moment.
    fn journal(steps: Vec<(&str, &str, JournalStep)>) -> History {
        let writer =
            JournalWriter { place: "acme".to_owned(), user: Some("maria".to_owned()), ..JournalWriter::default() };
        let entry = |(moment, decision, step): (&str, &str, JournalStep)| {
            writer.entry(at(moment), Some(decision.to_owned()), step)
        };
        History::of(steps.into_iter().map(entry))
    }

    fn staged(alert: &Alert) -> JournalStep {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        JournalStep::staged(JournalDecision::of(alert, &refunded), None)
    }

    fn plain() -> Alert {
        Alert { transaction_time: None, alert_time: None, provider_id: "A".to_owned(), ..Alert::sample() }
    }

    fn audited(action: &str, subject: String, detail: String) -> AuditEntry {
        AuditEntry {
            number: 1,
            at: at("2026-03-02T12:30:00Z"),
            actor: "key 7Qd2".to_owned(),
            origin: String::new(),
            person: "omar".to_owned(),
            action: action.to_owned(),
            subject,
            detail,
            previous: [0; 32],
            hash: [0; 32],
        }
    }

    #[test]
    fn when_an_alert_was_taken_in_is_a_line_of_its_own_where_that_was_later() {
        let raised = Some(at("2026-03-02T12:00:00Z"));
        let seen = |text: &str| Alert { alert_time: raised, created_at: Some(at(text)), ..plain() };

        let later = told(&[seen("2026-03-02T14:00:00Z")], &Around::default());
        let at_once = told(&[seen("2026-03-02T12:00:20Z")], &Around::default());

        assert_eq!(words(&later), ["ETHOCA alerts A", "ETHOCA: received"]);
        assert_eq!(words(&at_once), ["ETHOCA alerts A"]);
    }

    #[test]
    fn what_failed_or_is_not_known_of_this_desks_decisions_is_told_with_who_made_them() {
        let alert = plain();
        let history = journal(vec![
            ("2026-03-02T12:00:00Z", "a", staged(&alert)),
            ("2026-03-02T12:00:05Z", "a", JournalStep::Sent),
            ("2026-03-02T12:00:06Z", "a", JournalStep::Refused { why: "closed by the issuer".to_owned() }),
            ("2026-03-02T13:00:00Z", "b", staged(&alert)),
            ("2026-03-02T13:00:05Z", "b", JournalStep::Sent),
            ("2026-03-02T13:02:00Z", "b", JournalStep::Unknown { why: "time-out".to_owned() }),
        ]);

        let events = told(&[alert], &Around { history, ..Around::default() });

        assert_eq!(
            words(&events),
            [
                "ETHOCA: queued by maria: Refunded",
                "ETHOCA: not recorded: closed by the issuer",
                "ETHOCA: queued by maria: Refunded",
                "ETHOCA: sent",
                "ETHOCA: unconfirmed: time-out",
            ]
        );
        assert_eq!([events[1].tone, events[4].tone], [RowTone::Wrong, RowTone::Unsure]);
    }

    #[test]
    fn alerts_of_one_network_are_told_apart_by_their_ids_there() {
        let lapsed = |provider: Provider, id: &str| Alert {
            provider,
            provider_id: id.to_owned(),
            expired_at: Some(at("2026-03-02T12:00:00Z")),
            created_at: None,
            ..plain()
        };
        let alerts = [
            lapsed(Provider::Verifi, "V-1000000001"),
            lapsed(Provider::Ethoca, "A-100000417"),
            lapsed(Provider::Ethoca, "A-200000417"),
            lapsed(Provider::Cdrn, "V-1000000001"),
            lapsed(Provider::Cdrn, "V-1000000002"),
        ];

        let events = told(&alerts, &Around::default());

        assert_eq!(
            words(&events),
            ["VERIFI", "ETHOCA A-100000417", "ETHOCA A-200000417", "CDRN V-1000000001", "CDRN V-1000000002"]
                .map(|called| format!("{called}: expired"))
        );
    }

    #[test]
    fn an_outcome_says_who_gave_it_where_that_is_known() {
        let alert = plain();
        let outcome = Outcome {
            action_time: Some(at("2026-03-02T12:00:06Z")),
            comments: String::new(),
            ..Outcome::sample(alert.id)
        };
        let alert = Alert { outcome: Some(outcome), ..alert };
        let recorded = JournalStep::Recorded { status: "RESOLVED".to_owned() };
        let history =
            journal(vec![("2026-03-02T12:00:00Z", "a", staged(&alert)), ("2026-03-02T12:00:06Z", "a", recorded)]);
        let audit = vec![audited("alert.resolved", alert.id.to_string(), "RESOLVED: REFUNDED".to_owned())];

        let by_nobody = told(std::slice::from_ref(&alert), &Around::default());
        let by_desk = told(std::slice::from_ref(&alert), &Around { history: history.clone(), ..Around::default() });
        let by_audit = told(&[alert], &Around { history, audit, ..Around::default() });

        assert_eq!(words(&by_nobody), ["ETHOCA: Refunded"]);
        assert_eq!(words(&by_desk), ["ETHOCA: queued by maria: Refunded", "ETHOCA: Refunded by maria"]);
        assert_eq!(words(&by_audit)[1], "ETHOCA: Refunded by key 7Qd2 “omar”");
    }

    #[test]
    fn an_outcome_that_a_rule_staged_is_the_rules_and_not_that_of_whoever_sat_there() {
        let alert = plain();
        let outcome = Outcome {
            action_time: Some(at("2026-03-02T12:00:06Z")),
            comments: String::new(),
            ..Outcome::sample(alert.id)
        };
        let alert = Alert { outcome: Some(outcome), ..alert };
        let mut step = staged(&alert);
        if let JournalStep::Staged(made) = &mut step {
            made.rule = Some("small".to_owned());
        }
        let recorded = JournalStep::Recorded { status: "RESOLVED".to_owned() };
        let history = journal(vec![("2026-03-02T12:00:00Z", "a", step), ("2026-03-02T12:00:06Z", "a", recorded)]);

        let events = told(&[alert], &Around { history, ..Around::default() });

        assert_eq!(words(&events)[1], "ETHOCA: Refunded by the desk rule small");
    }

    #[test]
    fn what_the_engine_has_parked_and_what_a_person_said_of_it_is_told() {
        let alert = plain();
        let mut unfinished = Unfinished::default();
        let attempt = ResolutionAttempt {
            id: AttemptId::generate(),
            alert: alert.id,
            state: "PARKED".to_owned(),
            resolution: Resolution::Current { decision: Decision::Refunded, comments: String::new() },
            started_at: at("2026-03-02T12:00:00Z"),
            next_check: None,
            checks: 3,
            detail: String::new(),
            actor: "local".to_owned(),
        };
        unfinished.take(vec![attempt], at("2026-03-02T12:10:00Z"));
        let audit = vec![audited("attempt.settled", "x".to_owned(), format!("alert {}: not applied", alert.id))];

        let events = told(&[alert], &Around { unfinished, audit, ..Around::default() });

        assert_eq!(
            words(&events),
            [
                "ETHOCA: Refunded sent by local: unconfirmed: ask the network",
                "ETHOCA: result set by key 7Qd2 “omar”: not applied",
            ]
        );
    }

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
        let refunded = Outcome {
            action_time: at("2026-03-02T12:00:00Z"),
            comments: "88213".to_owned(),
            ..Outcome::sample(second.id)
        };
        second.outcome = Some(refunded);

        let events = told(&[first, second], &Around::default());

        let told: Vec<&str> = events.iter().map(|event| event.what.as_str()).collect();
        assert_eq!(told, ["paid, approved 141832", "VERIFI alerts B", "VERIFI: Refunded \"88213\"", "ETHOCA alerts A"]);
    }

    #[test]
    fn a_time_that_was_not_given_is_not_told() {
        let alert = Alert { transaction_time: None, alert_time: None, ..Alert::sample() };

        assert_eq!(told(&[alert], &Around::default()), []);
    }
}
