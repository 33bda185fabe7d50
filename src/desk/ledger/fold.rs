//! The history of a desk: what its journal says of each decision, from the first step to the last, what its user was
//! told, and the outcomes that lists which are behind do not show.

use std::{
    borrow::Cow,
    collections::{HashMap, VecDeque},
};

use uuid::Uuid;

use super::steps::{AnswerStep, Fate, JournalAlert, JournalDecision, JournalEntry, JournalRun, JournalStep};
use crate::domain::{
    Alert, AlertId, AlertStatus, Amount, OutcomeId, Resolution, Timestamp, decide, resolution::Verdict, time::from_iso,
};

/// The most notifications that are held.
const MOST_NOTIFICATIONS: usize = 1_000;

/// The last hour of work is among so many recorded decisions, however fast somebody works.
const MOST_OF_PACE: usize = 2_000;

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
    /// Steps in their order; the first is the making.
    pub steps: Vec<(Timestamp, AnswerStep)>,
    /// Reason for which duplicates could not be looked for again right before it was sent.
    pub unlooked: Option<String>,
    /// Name of the person who said that it is recorded, where one did; empty where none was written down.
    pub settled_by: Option<String>,
    /// True where a person has dismissed it after it failed.
    pub dismissed: bool,
}

impl DecisionRecord {
    /// Names the person on whose word it is known to be recorded: `on ada's word`.
    pub fn on_whose_word(&self) -> Option<String> {
        let by = self.settled_by.as_deref().filter(|_| matches!(self.step(), AnswerStep::Recorded(_)))?;
        Some(if by.is_empty() { "on a person's word".to_owned() } else { format!("on {by}'s word") })
    }

    /// Returns its latest step, and when that was.
    pub fn last(&self) -> (Timestamp, &AnswerStep) {
        self.steps.last().map_or((self.made_at, &AnswerStep::Staged), |(at, fate)| (*at, fate))
    }

    /// Returns the steps, but for a sending that did not come about: the journal has it before the attempt.
    pub fn happened(&self) -> impl Iterator<Item = &(Timestamp, AnswerStep)> {
        let is_not_sent = |at: usize| matches!(self.steps.get(at), Some((_, AnswerStep::NotSent(_))));
        self.steps
            .iter()
            .enumerate()
            .filter(move |(at, (_, fate))| *fate != AnswerStep::Sent || !is_not_sent(at + 1))
            .map(|(_, step)| step)
    }

    /// Returns its latest step.
    pub fn step(&self) -> &AnswerStep {
        self.last().1
    }

    /// Returns its fate.
    pub fn fate(&self) -> Fate {
        self.step().fate()
    }

    /// Returns true where a person has to see to it: it failed, or it is not known whether it did.
    pub fn needs_attention(&self) -> bool {
        matches!(self.fate(), Fate::NotRecorded)
            || matches!(self.step(), AnswerStep::NotSent(_) | AnswerStep::Unknown(_))
    }

    /// Returns true where its alert has an outcome as far as it tells, its own or another's.
    pub fn was_answered(&self) -> bool {
        self.step().status().is_some()
    }

    /// Returns the time at which it was last sent; `None` where it never was.
    pub fn sent_at(&self) -> Option<Timestamp> {
        self.steps.iter().rev().find(|(_, fate)| *fate == AnswerStep::Sent).map(|(at, _)| *at)
    }
}

/// A decision that a console which is gone did not finish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftDecision {
    /// Idempotency key.
    pub key: String,
    pub said: JournalDecision,
    pub made_at: Timestamp,
    /// Time at which it was sent; `None` where it never was.
    pub sent_at: Option<Timestamp>,
}

/// The record of a notification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotificationRecord {
    pub at: Timestamp,
    pub place: String,
    pub session: Uuid,
    pub user: Option<String>,
    /// `good`, `note`, `bad` or `lost`.
    pub tone: String,
    pub words: String,
    pub alert: Option<JournalAlert>,
    /// The decision whose own steps say the same.
    pub decision: Option<String>,
}

/// The history of a desk, the oldest first.
#[derive(Debug, Clone, Default)]
pub struct History {
    records: Vec<DecisionRecord>,
    by_key: HashMap<String, usize>,
    /// The decisions on each alert.
    by_alert: HashMap<AlertId, Vec<usize>>,
    /// The decisions of each run, by the key of its first one.
    runs: HashMap<String, Vec<usize>>,
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
        let JournalEntry { at, session, place, user, step } = entry;
        let at = from_iso(&at).unwrap_or_default();
        let (decision, fate) = match step {
            JournalStep::Staged { decision: key, said, rule, together } => {
                let (made_at, steps) = (at, vec![(at, AnswerStep::Staged)]);
                let (unlooked, settled_by, dismissed) = (None, None, false);
                return self.made(DecisionRecord {
                    key,
                    said,
                    place,
                    session,
                    user,
                    rule,
                    together,
                    made_at,
                    steps,
                    unlooked,
                    settled_by,
                    dismissed,
                });
            }
            JournalStep::Notified { tone, words, alert, decision } => {
                return self.told(NotificationRecord { at, place, session, user, tone, words, alert, decision });
            }
            JournalStep::Typing | JournalStep::RunDismissed { .. } => return,
            JournalStep::Dismissed { decision, taken_back } => {
                if let Some(record) = self.record_mut(&decision) {
                    record.dismissed = !taken_back;
                }
                return;
            }
            JournalStep::Settled { decision } => {
                if let Some(record) = self.record_mut(&decision) {
                    record.settled_by = Some(user.unwrap_or_default());
                }
                return;
            }
            JournalStep::Unlooked { decision, why } => {
                if let Some(record) = self.record_mut(&decision) {
                    record.unlooked = Some(why);
                }
                return;
            }
            JournalStep::TakenBack { decision } => (decision, AnswerStep::TakenBack),
            JournalStep::Sent { decision } => (decision, AnswerStep::Sent),
            JournalStep::NotSent { decision, why } => (decision, AnswerStep::NotSent(why)),
            JournalStep::Recorded { decision, status } => (decision, AnswerStep::Recorded(status)),
            JournalStep::AsDecided { decision, status } => (decision, AnswerStep::AsDecided(status)),
            JournalStep::Overtaken { decision, status } => (decision, AnswerStep::Overtaken(status)),
            JournalStep::Refused { decision, why } => (decision, AnswerStep::Refused(why)),
            JournalStep::Answered { decision, status } => (decision, AnswerStep::Answered(status)),
            JournalStep::Unknown { decision, why } => (decision, AnswerStep::Unknown(why)),
            JournalStep::Read { decision } => return self.never_left(&decision, at),
        };
        if let Some(record) = self.record_mut(&decision) {
            record.steps.push((at, fate));
        }
    }

    /// Marks an answer as never sent, before the journal has a line of it.
    pub fn never_left(&mut self, decision: &str, at: Timestamp) {
        if let Some(record) = self.record_mut(decision).filter(|record| *record.step() != AnswerStep::NeverLeft) {
            record.steps.push((at, AnswerStep::NeverLeft));
        }
    }

    fn made(&mut self, record: DecisionRecord) {
        let index = self.records.len();
        self.by_key.insert(record.key.clone(), index);
        self.by_alert.entry(record.said.alert.id).or_default().push(index);
        if let Some(run) = &record.together {
            self.runs.entry(run.first.clone()).or_default().push(index);
        }
        self.records.push(record);
    }

    fn told(&mut self, notice: NotificationRecord) {
        if self.notifications.len() == MOST_NOTIFICATIONS {
            self.notifications.pop_front();
        }
        self.notifications.push_back(notice);
    }

    fn record_mut(&mut self, key: &str) -> Option<&mut DecisionRecord> {
        self.records.get_mut(*self.by_key.get(key)?)
    }

    /// Every decision, in the order in which the journal has them.
    pub fn records(&self) -> &[DecisionRecord] {
        &self.records
    }

    /// The moments at which the newest decisions on a place were recorded: the pace of work follows from them.
    pub fn recorded_at(&self, place: &str) -> Vec<Timestamp> {
        let recorded = |record: &DecisionRecord| {
            record.steps.iter().find(|(_, step)| step.fate() == Fate::Recorded).map(|(at, _)| *at)
        };
        let here = self.records.iter().rev().filter(|record| record.place == place);
        here.filter_map(recorded).take(MOST_OF_PACE).collect()
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

    /// Returns the known decisions of a run, by the key of its first one, in the order of the journal.
    pub fn run(&self, first: &str) -> impl ExactSizeIterator<Item = &DecisionRecord> {
        self.runs.get(first).map_or(&[][..], Vec::as_slice).iter().map(|index| &self.records[*index])
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
        let weight = |record: &&DecisionRecord| (matches!(record.step(), AnswerStep::Recorded(_)), record.last().0);
        self.on(alert).filter(|record| record.was_answered()).max_by_key(weight)
    }

    /// Returns the decisions that consoles that are gone left on a place, or on any where none is named. The first list
    /// was sent and has no answer; the second is never sent.
    pub fn left(
        &self,
        place: Option<&str>,
        mut lives: impl FnMut(Uuid) -> bool,
    ) -> (Vec<LeftDecision>, Vec<LeftDecision>) {
        let here = self.records.iter().filter(|record| place.is_none_or(|place| record.place == place));
        let goes_on = here.filter(|record| record.fate().goes_on() && !self.is_superseded(record));
        let left = goes_on.filter(|record| !lives(record.session)).map(|record| LeftDecision {
            key: record.key.clone(),
            said: record.said.clone(),
            made_at: record.made_at,
            sent_at: record.sent_at().filter(|_| record.fate().may_have_arrived()),
        });
        left.partition(|left| left.sent_at.is_some())
    }

    /// The notifications that are held, the oldest first.
    pub fn notifications(&self) -> &VecDeque<NotificationRecord> {
        &self.notifications
    }
}

/// The answer to an alert, as far as the journal tells it.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownAnswer {
    /// Resolution that was given; `None` where another answered, and only the status that it led to is known.
    said: Option<Resolution>,
    status: AlertStatus,
    /// Time of the answer, where it is known.
    at: Option<Timestamp>,
}

impl KnownAnswer {
    /// Builds the answer that a decision's latest step tells of, known since that moment. `None` where it tells of
    /// none, or not of the money. Another's answer in the older dialect may be a refund whatever status it led to.
    pub fn of(said: Option<&Resolution>, step: &AnswerStep, at: Timestamp) -> Option<Self> {
        let status = AlertStatus::parse(step.status()?);
        let is_older = matches!(said, None | Some(Resolution::Older { .. }));
        let said = said.filter(|_| step.fate() == Fate::Recorded).cloned();
        if said.is_none() && is_older && status != AlertStatus::Refunded {
            return None;
        }
        Some(Self { said, status, at: matches!(step, AnswerStep::Recorded(_)).then_some(at) })
    }

    /// An alert with this answer, where it shows none.
    pub fn given<'a>(answer: Option<&Self>, alert: &'a Alert) -> Cow<'a, Alert> {
        let (Some(answer), None) = (answer, &alert.outcome) else { return Cow::Borrowed(alert) };
        let mut answered = alert.clone();
        let comments = answer.said.as_ref().map_or("", Resolution::comments);
        answer.verdict().record(&mut answered, OutcomeId::generate(), comments, answer.at);
        Cow::Owned(answered)
    }

    /// Returns its effect on the alert. The status tells it for another's answer: in the current dialect only a refund
    /// resolves.
    fn verdict(&self) -> Verdict {
        let is_refund = matches!(self.status, AlertStatus::Refunded | AlertStatus::Resolved);
        self.said.as_ref().map_or_else(
            || Verdict {
                status: self.status.clone(),
                outcome: self.status.as_str().to_ascii_lowercase(),
                refunded: if is_refund { "refunded".to_owned() } else { String::new() },
                dispute_reason_code: None,
                amount_stopped: None,
            },
            decide,
        )
    }
}

impl From<&DecisionRecord> for Option<KnownAnswer> {
    fn from(record: &DecisionRecord) -> Self {
        let (at, step) = record.last();
        KnownAnswer::of(record.said.resolution().as_ref(), step, at)
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
    use crate::domain::time::to_iso;
    use crate::domain::{Alert, AlertType, Provider, Resolution};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn alert() -> Alert {
        Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    }

    fn staged(key: &str, alert: &Alert) -> JournalStep {
        let refunded = Resolution::Current { decision: Decision::Refunded, comments: "by hand".to_owned() };
        JournalStep::Staged {
            decision: key.to_owned(),
            said: JournalDecision::of(alert, &refunded),
            rule: None,
            together: None,
        }
    }

    fn together(key: &str, first: &str) -> JournalStep {
        let mut step = staged(key, &alert());
        if let JournalStep::Staged { together, .. } = &mut step {
            *together = Some(JournalRun { first: first.to_owned(), from: None });
        }
        step
    }

    /// The history of these steps, a second apart.
    fn history(steps: Vec<JournalStep>) -> History {
        let entry = |(second, step)| JournalEntry {
            at: to_iso(now() + Duration::seconds(second)),
            session: Uuid::nil(),
            place: "acme-eu".to_owned(),
            user: Some("maria".to_owned()),
            step,
        };
        History::of((0..).zip(steps).map(entry))
    }

    #[test]
    fn a_decision_has_all_its_steps_and_its_last_one_is_its_fate() {
        let decision = || "a".to_owned();
        let history = history(vec![
            staged("a", &alert()),
            JournalStep::Sent { decision: decision() },
            JournalStep::NotSent { decision: decision(), why: "no connection".to_owned() },
            JournalStep::Sent { decision: decision() },
            JournalStep::Recorded { decision: decision(), status: "RESOLVED".to_owned() },
        ]);

        let record = history.record("a").unwrap();

        let fates: Vec<_> = record.steps.iter().map(|(_, fate)| fate.as_str()).collect();
        assert_eq!(fates, ["staged", "sent", "notSent", "sent", "recorded"]);
        let happened: Vec<_> = record.happened().map(|(_, fate)| fate.as_str()).collect();
        assert_eq!(happened, ["staged", "notSent", "sent", "recorded"], "what was not sent is not told as sent");
        assert_eq!(record.last(), (now() + Duration::seconds(4), &AnswerStep::Recorded("RESOLVED".to_owned())));
        assert_eq!(record.sent_at(), Some(now() + Duration::seconds(3)));
        assert_eq!((record.user.as_deref(), record.said.comments.as_str()), (Some("maria"), "by hand"));
    }

    #[test]
    fn a_later_decision_on_the_same_alert_takes_the_place_of_an_earlier_one() {
        let (one, other) = (alert(), alert());

        let history = history(vec![staged("a", &one), staged("b", &other), staged("c", &one)]);

        let superseded = ["a", "b", "c"].map(|key| history.is_superseded(history.record(key).unwrap()));
        assert_eq!(superseded, [true, false, false]);
    }

    #[test]
    fn a_later_decision_that_was_taken_back_takes_no_place() {
        let alert = alert();

        let history = history(vec![
            staged("a", &alert),
            staged("b", &alert),
            JournalStep::TakenBack { decision: "b".to_owned() },
        ]);

        let superseded = ["a", "b"].map(|key| history.is_superseded(history.record(key).unwrap()));
        assert_eq!(superseded, [false, false], "nothing was decided after the first one");
    }

    #[test]
    fn the_decisions_on_an_alert_are_found_and_the_last_one_is_the_one_that_was_made_last() {
        let (one, other) = (alert(), alert());
        let mut history = history(vec![staged("a", &one), staged("b", &other), staged("c", &one)]);
        let earlier = to_iso(now() - Duration::seconds(9));
        let entry = JournalEntry {
            at: earlier,
            session: Uuid::nil(),
            place: "acme-eu".to_owned(),
            user: None,
            step: staged("d", &one),
        };

        history.take(entry);

        let keys = |id| history.on(id).map(|record| record.key.as_str()).collect::<Vec<_>>();
        assert_eq!((keys(one.id), keys(other.id), keys(alert().id)), (vec!["a", "c", "d"], vec!["b"], vec![]));
        assert_eq!(history.latest_on(one.id).map(|record| record.key.as_str()), Some("c"));
    }

    #[test]
    fn that_an_alert_has_its_outcome_is_known_by_what_was_recorded_first_of_all() {
        let (one, other) = (alert(), alert());
        let status = || "RESOLVED".to_owned();
        let history = history(vec![
            staged("a", &one),
            JournalStep::Recorded { decision: "a".to_owned(), status: status() },
            staged("b", &one),
            JournalStep::Overtaken { decision: "b".to_owned(), status: status() },
            staged("c", &other),
            JournalStep::Refused { decision: "c".to_owned(), why: "closed".to_owned() },
        ]);

        let known = |id| history.answered_on(id).map(|record| record.key.as_str());
        assert_eq!((known(one.id), known(other.id), known(alert().id)), (Some("a"), None, None));
    }

    #[test]
    fn decisions_that_were_made_together_are_found_by_the_first_of_them() {
        let history =
            history(vec![together("a", "a"), staged("alone", &alert()), together("b", "a"), together("torn", "gone")]);

        let runs = ["a", "alone", "gone"]
            .map(|first| history.run(first).map(|record| record.key.as_str()).collect::<Vec<_>>());

        assert_eq!(runs, [vec!["a", "b"], vec![], vec!["torn"]]);
    }

    #[test]
    fn what_failed_stays_open_until_somebody_has_seen_to_it() {
        let refused = JournalStep::Refused { decision: "a".to_owned(), why: "closed".to_owned() };
        let dismissed = |taken_back| JournalStep::Dismissed { decision: "a".to_owned(), taken_back };

        let failed = history(vec![staged("a", &alert()), refused.clone()]);
        let seen_to = history(vec![staged("a", &alert()), refused.clone(), dismissed(false)]);
        let taken_back = history(vec![staged("a", &alert()), refused, dismissed(false), dismissed(true)]);

        let open = [&failed, &seen_to, &taken_back];
        let open = open.map(|history| history.record("a").map(|record| (record.needs_attention(), record.dismissed)));
        assert_eq!(open, [Some((true, false)), Some((true, true)), Some((true, false))]);
    }

    #[test]
    fn a_step_of_a_decision_whose_making_was_pruned_says_nothing() {
        let history = history(vec![JournalStep::Sent { decision: "gone".to_owned() }]);

        assert!(history.records().is_empty() && history.record("gone").is_none());
    }

    #[test]
    fn the_newest_notifications_are_held() {
        let told = |number: usize| JournalStep::Notified {
            tone: "note".to_owned(),
            words: number.to_string(),
            alert: None,
            decision: None,
        };

        let history = history((0..=MOST_NOTIFICATIONS).map(told).collect());

        assert_eq!(history.notifications().len(), MOST_NOTIFICATIONS);
        assert_eq!(history.notifications().front().map(|notice| notice.words.as_str()), Some("1"));
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

    #[rstest]
    #[case::ones_own(current(), AnswerStep::Recorded("RESOLVED".to_owned()), Some(false))]
    #[case::anothers_that_resolved(current(), AnswerStep::Overtaken("RESOLVED".to_owned()), Some(true))]
    #[case::anothers_that_did_not(current(), AnswerStep::Answered("INVALID".to_owned()), Some(false))]
    #[case::anothers_in_older_words(older(), AnswerStep::Overtaken("RESOLVED".to_owned()), None)]
    #[case::anothers_refund_in_older_words(older(), AnswerStep::Overtaken("REFUNDED".to_owned()), Some(true))]
    #[case::ones_own_in_older_words(older(), AnswerStep::Recorded("RESOLVED".to_owned()), Some(false))]
    #[case::on_its_way(current(), AnswerStep::Sent, None)]
    fn an_answer_is_known_where_it_tells_of_the_money(
        #[case] said: Resolution,
        #[case] step: AnswerStep,
        #[case] refunded: Option<bool>,
    ) {
        let alert = Alert::new(AlertId::generate(), Provider::Ethoca, crate::domain::AlertType::EthocaConfirmedFraud);

        let answer = KnownAnswer::of(Some(&said), &step, Timestamp::UNIX_EPOCH);

        let answered = KnownAnswer::given(answer.as_ref(), &alert);
        assert_eq!(answered.outcome.is_some().then(|| answered.was_refunded()), refunded);
    }
}
