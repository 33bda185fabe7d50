//! The history of a desk: what its journal says of each decision, from the first step to the last, what its user was
//! told, and the outcomes that lists which are behind do not show.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use uuid::Uuid;

use super::steps::{
    Fate, JournalAlert, JournalDecision, JournalEntry, JournalRun, JournalStep, Notification, StagedAnswer,
};
use crate::domain::{
    Alert, AlertId, AlertStatus, Amount, OutcomeId, Resolution, Timestamp, decide, resolution::Verdict,
};

/// The most notifications that are held.
const MOST_NOTIFICATIONS: usize = 1_000;

/// The record of a decision: all that the journal says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord {
    /// Idempotency key.
    pub key: String,
    pub said: JournalDecision,
    /// The profile or deployment it was made on.
    pub place: String,
    /// The console it was made at.
    pub session: Uuid,
    /// Name of the person who made it, where it was recorded. Where a rule staged it, it is the person at that console.
    pub user: Option<String>,
    /// The rule that staged it.
    pub rule: Option<String>,
    /// The run that it is part of.
    pub together: Option<JournalRun>,
    pub made_at: Timestamp,
    /// Steps since it was made, in their order.
    pub steps: Vec<(Timestamp, JournalStep)>,
    /// Reason for which duplicates could not be looked for again right before it was sent.
    pub unlooked: Option<String>,
    /// Name of the person who said that it is recorded, where one did; empty where none was written down.
    pub result_set_by: Option<String>,
    /// True where a person has dismissed it after it failed.
    pub dismissed: bool,
}

impl DecisionRecord {
    /// Takes its next step in.
    fn take(&mut self, at: Timestamp, user: Option<String>, step: JournalStep) {
        match step {
            JournalStep::Dismissed { taken_back } => self.dismissed = !taken_back,
            JournalStep::ResultSet => self.result_set_by = Some(user.unwrap_or_default()),
            JournalStep::Unlooked { why } => self.unlooked = Some(why),
            JournalStep::NeverLeft if self.step() == Some(&JournalStep::NeverLeft) => {}
            step => self.steps.push((at, step)),
        }
    }

    /// Returns its latest step; none where it was only made.
    pub fn step(&self) -> Option<&JournalStep> {
        self.steps.last().map(|(_, step)| step)
    }

    /// Returns the name of its latest step.
    pub fn step_name(&self) -> String {
        self.step().map_or("staged".to_owned(), JournalStep::name)
    }

    /// Returns the time of its latest step.
    pub fn changed_at(&self) -> Timestamp {
        self.steps.last().map_or(self.made_at, |(at, _)| *at)
    }

    /// Returns the steps, but for a sending that did not come about: the journal has it before the attempt.
    pub fn happened(&self) -> impl Iterator<Item = &(Timestamp, JournalStep)> {
        let is_not_sent = |at: usize| matches!(self.steps.get(at), Some((_, JournalStep::NotSent { .. })));
        let happened = self.steps.iter().enumerate();
        happened.filter(move |(at, (_, step))| *step != JournalStep::Sent || !is_not_sent(at + 1)).map(|(_, step)| step)
    }

    /// Returns its fate.
    pub fn fate(&self) -> Fate {
        self.step().map_or(Fate::Queued, JournalStep::fate)
    }

    /// Returns true where the alert has its outcome by this decision.
    pub fn is_recorded_by_it(&self) -> bool {
        matches!(self.step(), Some(JournalStep::Recorded { .. }))
    }

    /// Returns true where a person has to see to it: it failed, or it is not known whether it did.
    pub fn needs_attention(&self) -> bool {
        matches!(self.fate(), Fate::NotRecorded | Fate::Unconfirmed)
            || matches!(self.step(), Some(JournalStep::NotSent { .. }))
    }

    /// Returns the status that its alert has as far as it tells, by its own outcome or another's.
    pub fn status(&self) -> Option<&str> {
        self.step().and_then(JournalStep::status)
    }

    /// Returns the time at which it was last sent; `None` where it never was.
    pub fn sent_at(&self) -> Option<Timestamp> {
        self.steps.iter().rev().find(|(_, step)| *step == JournalStep::Sent).map(|(at, _)| *at)
    }
}

/// Decisions that earlier consoles had begun and not finished when they ended, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Those that were made and did not leave.
    pub unsent: Vec<DecisionRecord>,
    /// Those that were sent and whose reply never came.
    pub unanswered: Vec<DecisionRecord>,
}

impl Leftovers {
    /// Returns whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.unsent.is_empty() && self.unanswered.is_empty()
    }
}

/// The record of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationRecord {
    pub at: Timestamp,
    pub place: String,
    pub said: Notification,
}

/// The history of a desk, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct History {
    records: Vec<DecisionRecord>,
    by_key: HashMap<String, usize>,
    /// The decisions on each alert.
    by_alert: HashMap<AlertId, Vec<usize>>,
    notifications: VecDeque<NotificationRecord>,
}

impl History {
    /// The history that these entries tell, in their order.
    pub fn of(entries: impl IntoIterator<Item = JournalEntry>) -> Self {
        let mut history = Self::default();
        entries.into_iter().for_each(|entry| history.take(entry));
        history
    }

    /// Takes the next entry in. A step of a decision whose making is not known, because it was pruned, says nothing.
    pub fn take(&mut self, entry: JournalEntry) {
        let JournalEntry { at, session, place, user, step, decision } = entry;
        match (step, decision) {
            (JournalStep::Staged(made), Some(key)) => {
                let StagedAnswer { said, rule, together } = *made;
                let index = self.records.len();
                self.by_key.insert(key.clone(), index);
                self.by_alert.entry(said.alert.id).or_default().push(index);
                self.records.push(DecisionRecord {
                    key,
                    said,
                    place,
                    session,
                    user,
                    rule,
                    together,
                    made_at: at,
                    steps: Vec::new(),
                    unlooked: None,
                    result_set_by: None,
                    dismissed: false,
                });
            }
            // What a decision's own steps say is not told twice.
            (JournalStep::Notified(_), Some(key)) if self.by_key.contains_key(&key) => {}
            (JournalStep::Notified(said), _) => {
                if self.notifications.len() == MOST_NOTIFICATIONS {
                    self.notifications.pop_front();
                }
                self.notifications.push_back(NotificationRecord { at, place, said: *said });
            }
            (step, Some(key)) => {
                if let Some(index) = self.by_key.get(&key) {
                    self.records[*index].take(at, user, step);
                }
            }
            (_, None) => {}
        }
    }

    /// Every decision, in the order in which the journal has them.
    pub fn records(&self) -> &[DecisionRecord] {
        &self.records
    }

    /// A decision by its idempotency key.
    pub fn record(&self, key: &str) -> Option<&DecisionRecord> {
        self.records.get(*self.by_key.get(key)?)
    }

    /// Returns the latest later answer to the same alert. Undone ones do not count.
    pub fn later_than(&self, record: &DecisionRecord) -> Option<&DecisionRecord> {
        let stands = |other: &&DecisionRecord| other.key == record.key || other.fate() != Fate::Undone;
        let latest = self.on(record.said.alert.id).filter(stands).max_by_key(|other| other.made_at);
        latest.filter(|latest| latest.key != record.key)
    }

    /// Returns whether [`later_than`](Self::later_than) finds one.
    pub fn is_superseded(&self, record: &DecisionRecord) -> bool {
        self.later_than(record).is_some()
    }

    /// The decisions on an alert, in the order in which the journal has them.
    pub fn on(&self, alert: AlertId) -> impl Iterator<Item = &DecisionRecord> {
        self.by_alert.get(&alert).map_or(&[][..], Vec::as_slice).iter().map(|index| &self.records[*index])
    }

    /// The last decision on an alert, by when it was made: the journal may have it before an earlier one.
    pub fn latest_on(&self, alert: AlertId) -> Option<&DecisionRecord> {
        self.on(alert).max_by_key(|record| record.made_at)
    }

    /// Returns the decision by which this desk knows that an alert has its outcome, whatever a list says. It is one of
    /// its own that was recorded, else one that another was faster than.
    pub fn answered_on(&self, alert: AlertId) -> Option<&DecisionRecord> {
        let answered = self.on(alert).filter(|record| record.status().is_some());
        answered.max_by_key(|record| (record.is_recorded_by_it(), record.changed_at()))
    }

    /// Returns the decisions that consoles that are gone left.
    pub fn left(&self, lives: impl Fn(Uuid) -> bool) -> Leftovers {
        let goes_on = self.records.iter().filter(|record| record.fate().goes_on() && !self.is_superseded(record));
        let left = goes_on.filter(|record| !lives(record.session)).cloned();
        let (unanswered, unsent) = left.partition(|left| left.fate().may_have_arrived());
        Leftovers { unsent, unanswered }
    }

    /// The notifications that are held, the oldest first.
    pub fn notifications(&self) -> &VecDeque<NotificationRecord> {
        &self.notifications
    }
}

/// The answer to an alert, as far as the journal tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAnswer {
    verdict: Verdict,
    comments: String,
    /// Time of the answer, where it is known.
    at: Option<Timestamp>,
}

impl KnownAnswer {
    /// Builds the answer that a resolution is, which was given from here.
    pub fn own(said: &Resolution, at: Option<Timestamp>) -> Self {
        Self { verdict: decide(said), comments: said.comments().to_owned(), at }
    }

    /// Builds the answer that a decision's latest step tells of, known since that moment. `None` where it tells of
    /// none, or not of the money. Another's answer in the older dialect may be a refund whatever status it led to; in
    /// the current one only a refund resolves.
    pub fn of(said: Option<&Resolution>, step: &JournalStep, at: Timestamp) -> Option<Self> {
        let status = AlertStatus::parse(step.status()?);
        let at = Some(at).filter(|_| matches!(step, JournalStep::Recorded { .. }));
        if let Some(said) = said.filter(|_| step.fate() == Fate::Recorded) {
            return Some(Self::own(said, at));
        }
        let is_refund = matches!(status, AlertStatus::Refunded | AlertStatus::Resolved);
        let is_older = matches!(said, None | Some(Resolution::Older { .. }));
        let verdict = Verdict {
            outcome: status.as_str().to_ascii_lowercase(),
            refunded: if is_refund { "refunded".to_owned() } else { String::new() },
            dispute_reason_code: None,
            amount_stopped: None,
            status,
        };
        let is_known = !is_older || verdict.status == AlertStatus::Refunded;
        is_known.then_some(Self { verdict, comments: String::new(), at })
    }

    /// An alert with this answer, where it shows none.
    pub fn given<'a>(answer: Option<&Self>, alert: &'a Alert) -> Cow<'a, Alert> {
        let (Some(answer), None) = (answer, &alert.outcome) else { return Cow::Borrowed(alert) };
        let mut answered = alert.clone();
        answer.verdict.clone().record(&mut answered, OutcomeId::generate(), &answer.comments, answer.at);
        Cow::Owned(answered)
    }
}

impl From<&DecisionRecord> for Option<KnownAnswer> {
    fn from(record: &DecisionRecord) -> Self {
        KnownAnswer::of(record.said.resolution().as_ref(), record.step()?, record.changed_at())
    }
}

impl History {
    /// An alert as this desk knows it: with the outcome that its journal tells of, where the alert shows none.
    pub fn as_answered<'a>(&self, alert: &'a Alert) -> Cow<'a, Alert> {
        let record = self.answered_on(alert.id).filter(|_| alert.outcome.is_none());
        KnownAnswer::given(record.and_then(Into::into).as_ref(), alert)
    }

    /// The answers to other alerts that may be on an alert's payment as far as their records name it, and to those
    /// `also` names.
    pub fn answers_near(&self, alert: &Alert, also: &[AlertId]) -> HashMap<AlertId, KnownAnswer> {
        let amount = |named: &JournalAlert| named.amount.as_ref()?.parse().ok().map(|amount: Amount| amount.decimal());
        let is_near = |named: &JournalAlert| {
            let is_as_much = || alert.amount.is_some_and(|own| amount(named) == Some(own.decimal()));
            named.card_last_four == alert.card_last_four || also.contains(&named.id) || is_as_much()
        };
        let near = self
            .records()
            .iter()
            .map(|record| &record.said.alert)
            .filter(|named| named.id != alert.id && is_near(named));
        near.filter_map(|named| Some((named.id, self.answered_on(named.id).and_then(Into::into)?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;

    use super::*;
    use crate::domain::resolution::Decision;
    use crate::domain::time::from_iso;
    use crate::domain::{Alert, AlertType, Provider, Resolution};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn alert() -> Alert {
        Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }

    fn staged(alert: &Alert) -> JournalStep {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
        JournalStep::staged(JournalDecision::of(alert, &refunded), None)
    }

    fn recorded() -> JournalStep {
        JournalStep::Recorded { status: "RESOLVED".to_owned() }
    }

    fn refused() -> JournalStep {
        JournalStep::Refused { why: "closed".to_owned() }
    }

    fn entry(second: i64, decision: &str, step: JournalStep) -> JournalEntry {
        JournalEntry {
            at: now() + Duration::seconds(second),
            session: Uuid::nil(),
            place: "acme-eu".to_owned(),
            user: Some("maria".to_owned()),
            step,
            decision: Some(decision.to_owned()),
        }
    }

    /// The history of these steps, each of a decision, a second apart.
    fn history(steps: Vec<(&str, JournalStep)>) -> History {
        History::of((0..).zip(steps).map(|(second, (decision, step))| entry(second, decision, step)))
    }

    #[test]
    fn a_decision_has_all_its_steps_and_its_last_one_is_its_fate() {
        let history = history(vec![
            ("a", staged(&alert())),
            ("a", JournalStep::Sent),
            ("a", JournalStep::NotSent { why: "no connection".to_owned() }),
            ("a", JournalStep::Sent),
            ("a", recorded()),
        ]);

        let record = history.record("a").unwrap();

        let steps: Vec<_> = record.steps.iter().map(|(_, step)| step.name()).collect();
        assert_eq!(steps, ["sent", "notSent", "sent", "recorded"]);
        let happened: Vec<_> = record.happened().map(|(_, step)| step.name()).collect();
        assert_eq!(happened, ["notSent", "sent", "recorded"], "what was not sent is not told as sent");
        assert_eq!((record.changed_at(), record.step()), (now() + Duration::seconds(4), Some(&recorded())));
        assert_eq!(record.sent_at(), Some(now() + Duration::seconds(3)));
        assert_eq!((record.user.as_deref(), record.said.comments.as_str()), (Some("maria"), "by hand"));
        assert_eq!((record.made_at, record.fate()), (now(), Fate::Recorded));
    }

    #[test]
    fn a_later_decision_on_the_same_alert_takes_the_place_of_an_earlier_one() {
        let (one, other) = (alert(), alert());

        let history = history(vec![("a", staged(&one)), ("b", staged(&other)), ("c", staged(&one))]);

        let superseded = ["a", "b", "c"].map(|key| history.is_superseded(history.record(key).unwrap()));
        assert_eq!(superseded, [true, false, false]);
    }

    #[test]
    fn a_later_decision_that_was_taken_back_takes_no_place() {
        let alert = alert();

        let history = history(vec![("a", staged(&alert)), ("b", staged(&alert)), ("b", JournalStep::TakenBack)]);

        let superseded = ["a", "b"].map(|key| history.is_superseded(history.record(key).unwrap()));
        assert_eq!(superseded, [false, false], "nothing was decided after the first one");
    }

    #[test]
    fn the_decisions_on_an_alert_are_found_and_the_last_one_is_the_one_that_was_made_last() {
        let (one, other) = (alert(), alert());
        let mut history = history(vec![("a", staged(&one)), ("b", staged(&other)), ("c", staged(&one))]);

        history.take(entry(-9, "d", staged(&one)));

        let keys = |id| history.on(id).map(|record| record.key.as_str()).collect::<Vec<_>>();
        assert_eq!((keys(one.id), keys(other.id), keys(alert().id)), (vec!["a", "c", "d"], vec!["b"], vec![]));
        assert_eq!(history.latest_on(one.id).map(|record| record.key.as_str()), Some("c"));
    }

    #[test]
    fn that_an_alert_has_its_outcome_is_known_by_what_was_recorded_first_of_all() {
        let (one, other) = (alert(), alert());
        let history = history(vec![
            ("a", staged(&one)),
            ("a", recorded()),
            ("b", staged(&one)),
            ("b", JournalStep::Overtaken { status: "RESOLVED".to_owned() }),
            ("c", staged(&other)),
            ("c", refused()),
        ]);

        let known = |id| history.answered_on(id).map(|record| record.key.as_str());
        assert_eq!((known(one.id), known(other.id), known(alert().id)), (Some("a"), None, None));
    }

    #[test]
    fn what_failed_stays_open_until_somebody_has_seen_to_it() {
        let dismissed = |taken_back| ("a", JournalStep::Dismissed { taken_back });
        let failed = [("a", staged(&alert())), ("a", refused())];
        let then = |more: &[(&'static str, JournalStep)]| history([&failed[..], more].concat());

        let open = [then(&[]), then(&[dismissed(false)]), then(&[dismissed(false), dismissed(true)])];

        let open = open.each_ref().map(|history| history.record("a").unwrap());
        let open = open.map(|record| (record.needs_attention(), record.dismissed));
        assert_eq!(open, [(true, false), (true, true), (true, false)]);
    }

    #[test]
    fn a_step_of_a_decision_whose_making_was_pruned_says_nothing() {
        let history = history(vec![("gone", JournalStep::Sent)]);

        assert!(history.records().is_empty() && history.record("gone").is_none());
    }

    #[test]
    fn the_newest_notifications_are_held() {
        let told = |number: usize| {
            let words = number.to_string();
            ("", JournalStep::Notified(Box::new(Notification { tone: "note".to_owned(), words, alert: None })))
        };

        let history = history((0..=MOST_NOTIFICATIONS).map(told).collect());

        assert_eq!(history.notifications().len(), MOST_NOTIFICATIONS);
        assert_eq!(history.notifications().front().map(|notice| notice.said.words.as_str()), Some("1"));
    }
}

#[cfg(test)]
mod known_answers_tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::Provider;
    use crate::domain::resolution::{Decision, OlderRefunded, OlderWord};

    fn older() -> Resolution {
        Resolution::Older {
            word: OlderWord::Missed,
            refunded: OlderRefunded::NotRefunded,
            amount_stopped: None,
            comments: String::new(),
        }
    }

    fn current() -> Resolution {
        Resolution::Current { decision: Decision::NotRefunded, comments: String::new() }
    }

    fn resolved() -> String {
        "RESOLVED".to_owned()
    }

    #[rstest]
    #[case::ones_own(current(), JournalStep::Recorded { status: resolved() }, Some(false))]
    #[case::anothers_that_resolved(current(), JournalStep::Overtaken { status: resolved() }, Some(true))]
    #[case::anothers_that_did_not(current(), JournalStep::Answered { status: "INVALID".to_owned() }, Some(false))]
    #[case::anothers_in_older_words(older(), JournalStep::Overtaken { status: resolved() }, None)]
    #[case::anothers_refund_in_older_words(
        older(),
        JournalStep::Overtaken { status: "REFUNDED".to_owned() },
        Some(true)
    )]
    #[case::ones_own_in_older_words(older(), JournalStep::Recorded { status: resolved() }, Some(false))]
    #[case::on_its_way(current(), JournalStep::Sent, None)]
    fn an_answer_is_known_where_it_tells_of_the_money(
        #[case] said: Resolution,
        #[case] step: JournalStep,
        #[case] refunded: Option<bool>,
    ) {
        let alert = Alert::new(AlertId::generate(), Provider::Ethoca, crate::domain::AlertType::EthocaConfirmedFraud);

        let answer = KnownAnswer::of(Some(&said), &step, Timestamp::UNIX_EPOCH);

        let answered = KnownAnswer::given(answer.as_ref(), &alert);
        assert_eq!(answered.outcome.is_some().then(|| answered.was_refunded()), refunded);
    }
}
