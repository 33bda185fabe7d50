//! Pending decisions of a console: each is queued for its undo time, checked, sent once, and polled where no reply
//! comes.

mod held;
mod journaled;
mod preflights;
mod together;

use std::collections::HashSet;

use chrono::Duration;

use super::{
    history::{DecisionRecord, History},
    sender::{Landing, proven, step_of},
    steps::{
        Fate, JournalAlert, JournalDecision, JournalEntry, JournalRun, JournalStep, JournalWriter, is_of_command,
        new_key,
    },
};
use crate::{
    domain::{
        Alert, AlertId, AlertType, Currency, Deadline, Provider, Resolution, Timestamp,
        duplicate::{self, KnownRefunds},
        indeterminate::{Found, Polling},
    },
    service::{ResolveRequest, ServiceError},
};

/// Time that a call is given before the deadline, 10 s: a decision is sent by then, whatever its undo time.
pub const MARGIN: Duration = Duration::seconds(10);

/// Time for which the other decisions stay queued after one could not be sent, 2 s: by then the connection was tried
/// again.
const PROBED_WITHIN: Duration = Duration::seconds(2);

/// Returns the latest time of sending before an alert's deadline. `None` where the deadline has passed, or is known in
/// whole hours only.
fn last_moment(alert: &Alert, now: Timestamp) -> Option<Timestamp> {
    let deadline = alert.deadline.moment().filter(|deadline| *deadline > now && alert.expired_at.is_none())?;
    Some(deadline - MARGIN)
}

/// Returns true where a decision on an alert is sent at once: its deadline comes before the undo time is over.
pub fn leaves_at_once(alert: &Alert, undo_window: Duration, now: Timestamp) -> bool {
    !undo_window.is_zero() && last_moment(alert, now).is_some_and(|last| last - now < undo_window)
}

/// A pending decision of this console.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingDecision {
    /// Number in this console, unique.
    pub key: u64,
    /// The alert as it was when the decision was made.
    pub alert: Alert,
    pub resolution: Resolution,
    /// Latest step in the journal; `None` until it has one besides being queued. A recorded decision is dropped.
    step: Option<JournalStep>,
    /// Time of sending; `None` where it was sent, or waits until its user says what becomes of it.
    pub due: Option<Timestamp>,
    /// Polling of its alert, while it is unconfirmed.
    pub polling: Option<Polling>,
    /// True where it has no undo time, because the deadline is too near.
    at_once: bool,
    /// Time at which it was made.
    staged_at: Timestamp,
    /// Time at which it was sent last.
    pub sent_at: Option<Timestamp>,
    /// True once its user was told that the alert expired while it was queued.
    told_closed: bool,
    /// Number of its run: the key of the run's first decision.
    pub together: Option<u64>,
    /// Key of the decision that has to be recorded before this one is sent.
    after: Option<u64>,
    /// Key of the failed decision that this one replaces, where others wait for it.
    instead_of: Option<u64>,
    /// Refunds on its payment that were known when it was made: those that its user confirmed, or that it rests on.
    known: KnownRefunds,
    check: PreflightStage,
    /// Time of the first check that failed.
    unchecked_since: Option<Timestamp>,
    /// True once it has waited for a refund that the engine had not finished.
    waits_elsewhere: bool,
    idempotency_key: String,
}

/// Rebuilds an alert from the journal: its network and its money.
pub fn alert_of(named: &JournalAlert) -> Alert {
    Alert {
        provider_id: named.provider_id.clone(),
        amount: named.amount.as_deref().and_then(|amount| amount.parse().ok()),
        currency: Currency::new(named.currency.as_str()),
        ..Alert::new(named.id, Provider::parse(&named.provider), AlertType::parse(""))
    }
}

/// Progress of an answer's preflight check.
#[derive(Debug, Clone, PartialEq)]
enum PreflightStage {
    /// Not begun.
    Due,
    Running,
    /// Complete at this time, with the reason for which it could not check everything.
    Done(Option<String>, Timestamp),
}

/// Reason for which answers wait here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    /// The service did not reply.
    NoAnswer,
    /// The decision of this key, on which they depend, was not recorded, or not in time.
    NotRecorded(u64),
    /// Their run is paused, and the first deadline is near.
    Paused,
}

/// Time of sending of a queued answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendTiming {
    /// In so many seconds.
    In(i64),
    /// Once others of its run have their reply: few are sent at a time.
    InTurn,
    /// When its user resumes the run.
    Paused,
    /// Once its preflight check is complete.
    AfterCheck,
    /// Once the decision that it depends on is recorded.
    AfterFirst,
}

/// Result of a send or a poll: its journal step, and the alert where it has an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionEvent {
    pub step: JournalStep,
    pub alert: Option<Box<Alert>>,
}

impl DecisionEvent {
    /// The event of an alert that another decision answered.
    pub fn overtaken(alert: Alert) -> Self {
        let status = alert.status.to_string();
        Self { step: JournalStep::Overtaken { status }, alert: Some(Box::new(alert)) }
    }

    /// The event of a decision that was certainly not recorded, with the reason.
    pub fn refused(why: impl Into<String>) -> Self {
        JournalStep::Refused { why: why.into() }.into()
    }
}

impl From<Result<Landing, ServiceError>> for DecisionEvent {
    fn from(reply: Result<Landing, ServiceError>) -> Self {
        let step = step_of(&reply);
        let alert = match reply {
            Ok(landing) => Some(Box::new(landing.alert)),
            Err(ServiceError::AlreadyResolved(alert)) => Some(alert),
            Err(_) => None,
        };
        Self { step, alert }
    }
}

impl From<JournalStep> for DecisionEvent {
    fn from(step: JournalStep) -> Self {
        Self { step, alert: None }
    }
}

impl PendingDecision {
    /// Makes a decision that is neither queued nor part of a run.
    fn made(key: u64, alert: Alert, resolution: Resolution, idempotency_key: String, now: Timestamp) -> Self {
        Self {
            key,
            alert,
            resolution,
            step: None,
            due: None,
            polling: None,
            at_once: false,
            staged_at: now,
            sent_at: None,
            told_closed: false,
            together: None,
            after: None,
            instead_of: None,
            known: KnownRefunds::default(),
            check: PreflightStage::Due,
            unchecked_since: None,
            waits_elsewhere: false,
            idempotency_key,
        }
    }

    /// Returns its fate: queued, sending, unconfirmed or not recorded.
    pub fn fate(&self) -> Fate {
        self.step.as_ref().map_or(Fate::Queued, JournalStep::fate)
    }

    /// Returns the reason for which it is certain that nothing was recorded, once it is.
    pub fn why(&self) -> Option<&str> {
        self.step.as_ref().filter(|step| step.fate() == Fate::NotRecorded)?.reason()
    }

    /// Returns true where it was not sent and can be undone.
    pub fn is_here(&self) -> bool {
        self.fate() == Fate::Queued
    }

    /// Returns true where it is queued without a time of sending, until its user decides.
    pub fn is_waiting(&self) -> bool {
        self.is_here() && self.due.is_none()
    }

    /// Returns true where it depends on another decision.
    pub fn follows(&self) -> bool {
        self.after.is_some()
    }

    /// Returns the latest time of sending before its deadline.
    fn last_moment(&self) -> Option<Timestamp> {
        last_moment(&self.alert, self.staged_at)
    }

    /// Returns the deadline. Hours left are rounded down, so the deadline may be up to one hour later: `more` is added
    /// to them.
    fn closes(&self, more: i64) -> Option<Timestamp> {
        match self.alert.deadline {
            Deadline::At(moment) => Some(moment),
            Deadline::HoursLeft(hours) => Some(self.staged_at + Duration::hours(hours.clamp(0, 10_000) + more)),
            Deadline::Unknown => None,
        }
    }

    /// Returns the earliest possible deadline, where it had not passed when the decision was made.
    fn closes_from(&self) -> Option<Timestamp> {
        self.closes(0).filter(|closes| *closes >= self.staged_at && self.alert.expired_at.is_none())
    }

    /// Returns true where it can still wait for its user. With the deadline near it is sent unasked.
    fn has_time(&self, now: Timestamp) -> bool {
        !self.at_once && self.last_moment().is_none_or(|last| last > now)
    }

    /// Returns true where its alert has certainly expired.
    pub fn is_closed(&self, now: Timestamp) -> bool {
        self.alert.expired_at.is_some() || self.closes(1).is_some_and(|closed| closed <= now)
    }

    /// Returns its key in the journal.
    pub fn journal_key(&self) -> String {
        self.idempotency_key.clone()
    }

    /// Returns the request, the same for every attempt of this decision.
    pub fn request(&self) -> ResolveRequest {
        ResolveRequest { resolution: self.resolution.clone(), idempotency_key: Some(self.idempotency_key.clone()) }
    }

    /// Returns its result, given the alert with an outcome of unknown origin.
    pub fn answered_as_found(&self, alert: Alert, now: Timestamp) -> DecisionEvent {
        let found = Found { alert, pending: Some(false), clock_lead: None };
        let reply = proven(&self.resolution, self.sent_at.unwrap_or(now), found);
        reply.map_or_else(|alert| DecisionEvent::overtaken(*alert), Into::into)
    }
}

/// Ledger of a console: the history of the journal, and the pending and refused decisions of this console, oldest
/// first.
#[derive(Debug, Default)]
pub struct Ledger {
    history: History,
    /// Steps of this console, on the disk or not.
    own: Vec<JournalEntry>,
    /// Steps that are not yet written.
    unwritten: Vec<JournalEntry>,
    /// Session, place and user of this console.
    writer: JournalWriter,
    all: Vec<PendingDecision>,
    made: u64,
    held_since: Option<Timestamp>,
    /// Time of the latest tick.
    told: Option<Timestamp>,
    /// Numbers of the paused runs.
    paused: HashSet<u64>,
    /// Alerts that got their outcome here, each with the key of its decision, or of the first one that it replaced.
    /// Lists of open alerts no longer have them.
    landed: Vec<(u64, Alert)>,
    /// Keys of decisions that were not sent because another alert on the payment is refunded. Those that depend on
    /// them are true all the same.
    paid: HashSet<u64>,
    /// Questions that its user was not yet asked, at most one for each case.
    pending_questions: Vec<HoldReason>,
}

impl Ledger {
    /// Queues a decision and returns its key. It is sent after the undo time, or at once where the deadline is near.
    /// One that rests on a pending refund of the same payment is sent once that is recorded. It replaces an earlier
    /// refused decision on the alert.
    pub fn stage(&mut self, alert: Alert, resolution: Resolution, undo_window: Duration, now: Timestamp) -> u64 {
        self.make(new_key(), None, alert, resolution, undo_window, now)
    }

    fn make(
        &mut self,
        journal_key: String,
        run: Option<JournalRun>,
        alert: Alert,
        resolution: Resolution,
        undo_window: Duration,
        now: Timestamp,
    ) -> u64 {
        let before = self.of(alert.id).map(|earlier| earlier.instead_of.unwrap_or(earlier.key));
        let instead_of = before.filter(|first| resolution.gives_money_back() && self.holds_others(*first));
        self.all.retain(|decision| decision.alert.id != alert.id);
        let after = self.rests_on(&alert, &resolution, &[]);
        self.made += 1;
        let at_once = leaves_at_once(&alert, undo_window, now);
        let due = Some(if at_once { now } else { now + undo_window });
        let said = JournalDecision::of(&alert, &resolution);
        self.record(journal_key.clone(), JournalStep::staged(said, run), now);
        let made = PendingDecision::made(self.made, alert, resolution, journal_key, now);
        self.all.push(PendingDecision { due, at_once, after, instead_of, ..made });
        self.made
    }

    /// Notes the refunds on an alert's payment that were known when its decision was queued.
    pub fn confirm(&mut self, alert: AlertId, known: KnownRefunds) {
        let Some(staged) = self.of(alert) else { return };
        // A decision of an earlier console may be known by its alert alone.
        let after = staged.after.or_else(|| self.rests_on(&staged.alert, &staged.resolution, &known.alerts));
        if let Some(staged) = self.all.iter_mut().find(|decision| decision.alert.id == alert) {
            (staged.after, staged.known) = (after, known);
        }
    }

    /// Takes over a decision that an earlier console or command sent without a reply: its alert is polled, and it is
    /// never sent again.
    pub fn adopt(&mut self, left: &DecisionRecord, now: Timestamp) {
        let Some(resolution) = left.said.resolution() else { return };
        self.made += 1;
        let who = if is_of_command(&left.key) { "a command" } else { "an earlier console" };
        let why = format!("{who} sent it, no reply");
        let made = PendingDecision::made(self.made, alert_of(&left.said.alert), resolution, left.key.clone(), now);
        let (polling, step) = (Some(Polling::new(why.clone(), now)), Some(JournalStep::Unknown { why }));
        self.all.push(PendingDecision { step, polling, sent_at: left.sent_at(), ..made });
    }

    /// Returns all decisions, oldest first.
    pub fn all(&self) -> &[PendingDecision] {
        &self.all
    }

    /// Returns the decision on an alert.
    pub fn of(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.all.iter().find(|decision| decision.alert.id == alert)
    }

    /// Returns the decision of this key.
    pub fn get(&self, key: u64) -> Option<&PendingDecision> {
        // Keys ascend.
        self.all.binary_search_by_key(&key, |decision| decision.key).ok().map(|at| &self.all[at])
    }

    /// Returns true where an alert's decision is queued or sending, so that it takes no other one.
    pub fn is_underway(&self, alert: AlertId) -> bool {
        self.of(alert).is_some_and(|decision| matches!(decision.fate(), Fate::Queued | Fate::Sending))
    }

    /// Undoes the latest queued decision, and the queued ones of its run.
    pub fn take_back(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let Some(last) = self.all.iter().rfind(|decision| decision.is_here()) else { return Vec::new() };
        let (key, together) = (last.key, last.together);
        let taken = |decision: &mut PendingDecision| {
            decision.is_here() && (decision.key == key || together.is_some() && decision.together == together)
        };
        self.take_out(taken, now)
    }

    /// Undoes every queued decision and returns them.
    pub fn take_back_all(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        self.take_out(|decision| decision.is_here(), now)
    }

    /// Drops queued decisions without a journal step: the next console reports them.
    pub fn forget_unsent(&mut self) {
        self.all.retain(|decision| !decision.is_here());
    }

    /// Brings the sending of every queued decision forward to now.
    pub fn send_now(&mut self, now: Timestamp) {
        self.paused.clear();
        for due in self.all.iter_mut().filter_map(|decision| decision.due.as_mut()) {
            *due = now.min(*due);
        }
    }

    /// Returns the queued decisions, oldest first.
    pub fn not_left(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_here())
    }

    /// Stops or resumes the countdowns. None is stopped beyond the latest time of sending.
    pub fn hold(&mut self, hold: bool, now: Timestamp) {
        match (hold, self.held_since) {
            (true, None) => self.held_since = Some(now),
            (false, Some(since)) => {
                self.held_since = None;
                for decision in &mut self.all {
                    decision.due = decision.due.map(|due| decision.in_time(due + (now - since), due));
                }
            }
            _ => {}
        }
    }

    /// Returns the checked decisions whose time of sending has come, and marks them as sent.
    pub fn leave(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let leaving = self.in_turn(now, |decision| decision.was_checked(now));
        let keys: Vec<u64> = self.all.iter().map(|decision| decision.key).filter(|key| leaving.contains(key)).collect();
        keys.iter().for_each(|key| self.step(*key, JournalStep::Sent, now));
        keys.into_iter().filter_map(|key| self.get(key).cloned()).collect()
    }

    /// Returns the queued decisions, the next to be sent first.
    pub fn staged(&self) -> Vec<&PendingDecision> {
        let mut staged: Vec<_> = self.all.iter().filter(|decision| decision.due.is_some()).collect();
        staged.sort_by_key(|decision| decision.due);
        staged
    }

    /// Returns the decisions of this fate, oldest first.
    pub fn with_fate(&self, fate: Fate) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(move |decision| decision.fate() == fate)
    }

    /// Returns true where none is checked or sending.
    pub fn is_at_rest(&self) -> bool {
        !self.all.iter().any(|decision| decision.fate() == Fate::Sending || decision.is_being_checked())
    }

    /// Returns true where an alert's decision is unconfirmed.
    pub fn is_checking(&self, alert: AlertId) -> bool {
        self.of(alert).is_some_and(|decision| decision.fate() == Fate::Unconfirmed)
    }

    /// Polls every unconfirmed decision now: something changed at the service.
    pub fn poll_now(&mut self, now: Timestamp) {
        self.all.iter_mut().filter_map(|decision| decision.polling.as_mut()).for_each(|polling| polling.poll_now(now));
    }

    /// Returns the unconfirmed decisions whose poll is due.
    pub fn polls(&mut self, now: Timestamp) -> Vec<(u64, AlertId)> {
        let take = |decision: &mut PendingDecision| {
            decision.polling.as_mut()?.take_due(now).then_some((decision.key, decision.alert.id))
        };
        self.all.iter_mut().filter_map(take).collect()
    }

    /// Ends an unconfirmed decision whose result is known from elsewhere.
    pub fn conclude(&mut self, key: u64, step: JournalStep, recorded: bool, now: Timestamp) {
        self.step(key, step, now);
        self.let_follow(self.root_of(key), recorded, now);
        self.all.retain(|decision| decision.key != key);
    }

    /// Drops the refused decision on an alert.
    pub fn dismiss(&mut self, alert: AlertId) {
        self.all.retain(|decision| decision.alert.id != alert || decision.fate() != Fate::NotRecorded);
    }

    /// Takes in the reply to a decision.
    pub fn answered(
        &mut self,
        key: u64,
        answer: Result<Landing, ServiceError>,
        now: Timestamp,
    ) -> Option<DecisionEvent> {
        let decision = self.get(key)?;
        let (journal_key, unlooked) = (decision.journal_key(), decision.unchecked().map(str::to_owned));
        let event: DecisionEvent = match answer {
            Err(ServiceError::NotReached(why)) if decision.has_time(now) => {
                // The connection is tried once more before the others are sent.
                self.put_off(now + PROBED_WITHIN);
                JournalStep::NotSent { why }.into()
            }
            answer => {
                if let Err(ServiceError::Throttled { wait, .. }) = &answer {
                    self.put_off(now + Duration::from_std(*wait).unwrap_or_default());
                }
                let is_looked_up = matches!(answer, Err(ServiceError::ProviderOutcomeUnknown(_)));
                match answer.into() {
                    DecisionEvent { step: JournalStep::Unknown { why }, .. } if !is_looked_up => {
                        let why = format!("{} (sent, checking)", why.trim_end_matches('.'));
                        JournalStep::Unknown { why }.into()
                    }
                    event => event,
                }
            }
        };
        if let Some(why) = unlooked.filter(|_| event.step.fate() != Fate::Queued) {
            self.record(journal_key, JournalStep::Unlooked { why }, now);
        }
        self.note(key, &event, now);
        Some(event)
    }

    /// Takes in a poll of an unconfirmed decision. Returns its event where the poll proves one, and once the number of
    /// polls where too many proved nothing.
    pub fn looked_up(
        &mut self,
        key: u64,
        found: Result<Found, ServiceError>,
        now: Timestamp,
    ) -> Option<Result<DecisionEvent, usize>> {
        let decision = self.all.iter_mut().find(|decision| decision.key == key)?;
        let sent_at = decision.sent_at.unwrap_or(now);
        let proven = found.map(|found| proven(&decision.resolution, sent_at, found));
        let polling = decision.polling.as_mut()?;
        let gave_up = polling.polled(matches!(proven, Ok(Err(_))), now);
        let Ok(reply) = proven.ok()? else { return gave_up.then_some(Err(polling.polls)) };
        let event = DecisionEvent::from(reply);
        self.note(key, &event, now);
        Some(Ok(event))
    }

    /// Takes in the next step of a decision.
    fn step(&mut self, key: u64, step: JournalStep, now: Timestamp) {
        let Some(decision) = self.all.iter_mut().find(|decision| decision.key == key) else { return };
        if step == JournalStep::Sent {
            decision.sent_at = Some(now);
        }
        (decision.step, decision.due) = (Some(step.clone()), None);
        let journal_key = decision.journal_key();
        self.record(journal_key, step, now);
    }

    /// Takes in an event of a decision, and what follows for those that depend on it.
    fn note(&mut self, key: u64, event: &DecisionEvent, now: Timestamp) {
        self.step(key, event.step.clone(), now);
        let fate = event.step.fate();
        if let Some(alert) = &event.alert {
            let first = self.root_of(key);
            self.landed.push((first, (**alert).clone()));
            // What depends on it is true, whoever gave the answer.
            self.let_follow(first, fate == Fate::Recorded, now);
            return self.all.retain(|decision| decision.key != key);
        }
        match fate {
            Fate::Queued => self.ask_about(HoldReason::NoAnswer),
            _ => self.let_follow(self.root_of(key), false, now),
        }
        if let Some(decision) = self.all.iter_mut().find(|decision| decision.key == key) {
            let why = event.step.reason().unwrap_or_default().to_owned();
            decision.polling = (fate == Fate::Unconfirmed).then(|| Polling::new(why, now));
        }
    }

    /// Returns the next time at which something is due: a poll, a question, the next whole second of a countdown.
    pub fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        let polls = self.all.iter().filter_map(|decision| decision.polling.as_ref()?.next_wake());
        let closing = self.waiting().filter(|decision| !decision.told_closed).filter_map(|decision| decision.closes(1));
        polls.chain(self.next_second(now)).chain(closing).chain(self.next_question()).min()
    }

    fn next_second(&self, now: Timestamp) -> Option<Timestamp> {
        if self.held_since.is_some() {
            return self.all.iter().filter_map(|decision| Some(decision.last_moment()?.max(decision.due?))).min();
        }
        // What is due and still queued waits for a reply to others.
        let due = self.all.iter().filter_map(|decision| decision.due).filter(|due| *due > now).min()?;
        let left = (due - now).num_milliseconds();
        // The countdown shows whole seconds, rounded up.
        let into_next = if left % 1000 == 0 && left > 0 { 1000 } else { left % 1000 };
        Some(now + Duration::milliseconds(into_next))
    }
}

/// Returns true where a queued decision's time of sending has come. Stopped countdowns end at its latest time.
fn is_due(decision: &PendingDecision, held: bool, now: Timestamp) -> bool {
    let Some(due) = decision.due else { return false };
    if held { decision.last_moment().is_some_and(|last| last.max(due) <= now) } else { due <= now }
}

impl PendingDecision {
    /// Returns true where it may still become the alert's outcome.
    fn is_coming(&self) -> bool {
        self.fate() != Fate::NotRecorded
    }
}

impl Ledger {
    /// Returns the decision on an alert that may still become its outcome.
    pub fn coming(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.of(alert).filter(|decision| decision.is_coming())
    }

    /// Returns all decisions that may still become an outcome.
    pub fn all_coming(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_coming())
    }

    /// Returns the alerts that got their outcome here, the latest first.
    pub fn landed(&self) -> impl Iterator<Item = &Alert> {
        self.landed.iter().rev().map(|(_, alert)| alert)
    }

    /// Returns the pending refund that a decision on another alert of the payment rests on. `known` are alerts on the
    /// payment.
    fn rests_on(&self, alert: &Alert, resolution: &Resolution, known: &[AlertId]) -> Option<u64> {
        if !resolution.rests_on_another() {
            return None;
        }
        let is_of_payment = |decision: &PendingDecision| {
            known.contains(&decision.alert.id) || duplicate::sure_evidence(&decision.alert, alert).is_some()
        };
        let refund = |decision: &&PendingDecision| decision.resolution.gives_money_back() && is_of_payment(decision);
        self.all_coming().find(refund).map(|decision| decision.key)
    }
}

#[cfg(test)]
mod tests;
