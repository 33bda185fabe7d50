//! Decisions on their way: staged for a few seconds in which they can be taken back, sent once, and what came of each.

mod held;
mod journaled;
mod preflights;
mod together;

use std::collections::HashSet;

use chrono::Duration;

use super::{
    fold::{DecisionRecord, History},
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

/// So long before its deadline a decision has left, whatever its undo time: the call takes its time too.
pub const MARGIN: Duration = Duration::seconds(10);

/// Where one decision could not be sent, the others stay so long: by then it is found out whether they can be.
const PROBED_WITHIN: Duration = Duration::seconds(2);

/// The last moment for a decision on an alert to leave in time; none where the deadline is not known to the moment, or
/// has passed.
fn last_moment(alert: &Alert, now: Timestamp) -> Option<Timestamp> {
    let deadline = alert.deadline.moment().filter(|deadline| *deadline > now && alert.expired_at.is_none())?;
    Some(deadline - MARGIN)
}

/// Returns true where a decision on an alert leaves without its undo time: the window would close meanwhile.
pub fn leaves_at_once(alert: &Alert, undo_window: Duration, now: Timestamp) -> bool {
    !undo_window.is_zero() && last_moment(alert, now).is_some_and(|last| last - now < undo_window)
}

/// A pending decision of this console.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingDecision {
    /// Tells it from every other one of this console.
    pub key: u64,
    /// The alert as it was when the decision was made.
    pub alert: Alert,
    pub resolution: Resolution,
    /// Its latest step in the journal; none where it was only made. One that is recorded is no longer kept, as the
    /// alert says so.
    step: Option<JournalStep>,
    /// The moment at which it leaves, where it is queued and does not wait for its user's word.
    pub due: Option<Timestamp>,
    /// The polls of its alert, while it is unconfirmed.
    pub polling: Option<Polling>,
    /// True where it leaves without its undo time, because the window closes meanwhile.
    at_once: bool,
    /// When it was made.
    staged_at: Timestamp,
    /// When it left.
    pub sent_at: Option<Timestamp>,
    /// True where it was said that its window closed while it waited.
    told_closed: bool,
    /// The number of those it was made together with.
    pub together: Option<u64>,
    /// The decision that has to be recorded before this one leaves.
    after: Option<u64>,
    /// The first decision of others that wait here, which failed and which this one was made instead of.
    instead_of: Option<u64>,
    /// The refunds on its payment that were known when it was made: confirmed, or what it rests on.
    known: KnownRefunds,
    check: PreflightStage,
    /// Since when not everything could be checked.
    unchecked_since: Option<Timestamp>,
    /// True while it waits for a refund that the engine has not finished.
    waits_elsewhere: bool,
    idempotency_key: String,
}

/// An alert as far as the journal knows it: its network and its money.
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
    /// It is checked before it leaves.
    Due,
    /// Its check is running.
    Running,
    /// What could not be checked, and when it was checked.
    Done(Option<String>, Timestamp),
}

/// Reason for which answers wait here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldReason {
    /// The deployment did not answer.
    NoAnswer,
    /// The decision of this key, which they were to follow, was not recorded, or not in time.
    NotRecorded(u64),
    /// They were paused, and the first window closes.
    Paused,
}

/// Time of sending of a queued answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendTiming {
    /// In so many seconds.
    In(i64),
    /// As soon as the networks have answered others that were made together with it.
    InTurn,
    /// When its user lets it go on.
    Paused,
    /// Once nothing is found that speaks against it.
    AfterCheck,
    /// Once the decision that it follows is recorded.
    AfterFirst,
}

/// Result of a send or a poll: its journal step, and the alert where it has an outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct DecisionEvent {
    pub step: JournalStep,
    pub alert: Option<Box<Alert>>,
}

impl DecisionEvent {
    /// Another decision is the alert's outcome.
    pub fn overtaken(alert: Alert) -> Self {
        let status = alert.status.to_string();
        Self { step: JournalStep::Overtaken { status }, alert: Some(Box::new(alert)) }
    }

    /// It is certain that nothing was recorded, and why.
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
    /// One that was made at this moment, by itself, on an alert of whose window nothing is known.
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

    /// Returns true where it has not left and can be taken back.
    pub fn is_here(&self) -> bool {
        self.fate() == Fate::Queued
    }

    /// Returns true where it is queued and its time has come: it leaves when its user says so again.
    pub fn is_waiting(&self) -> bool {
        self.is_here() && self.due.is_none()
    }

    /// Returns true where it leaves only when another one is recorded.
    pub fn follows(&self) -> bool {
        self.after.is_some()
    }

    /// When it has to leave at the latest, so that its answer is in time.
    fn last_moment(&self) -> Option<Timestamp> {
        last_moment(&self.alert, self.staged_at)
    }

    /// When its window closes where it is so many hours longer open than is told: whole hours left say no more than the
    /// hour.
    fn closes(&self, more: i64) -> Option<Timestamp> {
        match self.alert.deadline {
            Deadline::At(moment) => Some(moment),
            Deadline::HoursLeft(hours) => Some(self.staged_at + Duration::hours(hours.clamp(0, 10_000) + more)),
            Deadline::Unknown => None,
        }
    }

    /// The earliest moment that its window can close, where it was open.
    fn closes_from(&self) -> Option<Timestamp> {
        self.closes(0).filter(|closes| *closes >= self.staged_at && self.alert.expired_at.is_none())
    }

    /// Returns true where it can wait: where its window closes, the last try is worth more than a question.
    fn has_time(&self, now: Timestamp) -> bool {
        !self.at_once && self.last_moment().is_none_or(|last| last > now)
    }

    /// Returns true where it is certain that its alert's window has closed.
    pub fn is_closed(&self, now: Timestamp) -> bool {
        self.alert.expired_at.is_some() || self.closes(1).is_some_and(|closed| closed <= now)
    }

    /// Its name in the journal.
    pub fn journal_key(&self) -> String {
        self.idempotency_key.clone()
    }

    /// Returns the request, the same for every attempt of this decision.
    pub fn request(&self) -> ResolveRequest {
        ResolveRequest { resolution: self.resolution.clone(), idempotency_key: Some(self.idempotency_key.clone()) }
    }

    /// Returns its result where its alert was found with an outcome of which is not known whose it is.
    pub fn answered_as_found(&self, alert: Alert, now: Timestamp) -> DecisionEvent {
        let found = Found { alert, pending: Some(false), clock_lead: None };
        let reply = proven(&self.resolution, self.sent_at.unwrap_or(now), found);
        reply.map_or_else(|alert| DecisionEvent::overtaken(*alert), Into::into)
    }
}

/// The ledger of a console: what its journal tells of every decision, and of each that is pending or was refused here,
/// the oldest first, when it leaves and what was found of it.
#[derive(Debug, Default)]
pub struct Ledger {
    history: History,
    /// This console's own steps: they are known before they are on the disk.
    own: Vec<JournalEntry>,
    /// Those of them that are still to be written.
    unwritten: Vec<JournalEntry>,
    /// This console, the place that it works on, and who sits at it.
    writer: JournalWriter,
    all: Vec<PendingDecision>,
    made: u64,
    held_since: Option<Timestamp>,
    /// The last time that was told.
    told: Option<Timestamp>,
    /// Those made together that are paused.
    paused: HashSet<u64>,
    /// The alerts that were answered here, with their outcomes, each with the key of its decision or of the first one
    /// that it was made instead of. Lists of open alerts no longer have them.
    landed: Vec<(u64, Alert)>,
    /// The first decisions that did not leave because another alert on the payment is refunded: what was to follow them
    /// is true all the same.
    paid: HashSet<u64>,
    /// Questions that are not asked yet, at most one for each case.
    pending_questions: Vec<HoldReason>,
}

impl Ledger {
    /// Stages a decision; it leaves after the undo time, and at once where the window closes meanwhile. One that
    /// rests on a refund of the same payment that is on its way leaves once that is recorded. An earlier one on the
    /// same alert that was refused is forgotten.
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

    /// Notes which refunds on its payment were known when an alert's decision was staged: confirmed, or what it rests
    /// on.
    pub fn confirm(&mut self, alert: AlertId, known: KnownRefunds) {
        let Some(staged) = self.of(alert) else { return };
        // What an earlier console left is known by its alert alone.
        let after = staged.after.or_else(|| self.rests_on(&staged.alert, &staged.resolution, &known.alerts));
        if let Some(staged) = self.all.iter_mut().find(|decision| decision.alert.id == alert) {
            (staged.after, staged.known) = (after, known);
        }
    }

    /// Takes over a decision of an earlier console that left and whose answer never came: it is looked up, and never
    /// sent again.
    pub fn adopt(&mut self, left: &DecisionRecord, now: Timestamp) {
        let Some(resolution) = left.said.resolution() else { return };
        self.made += 1;
        let who = if is_of_command(&left.key) { "a command" } else { "an earlier console" };
        let why = format!("{who} sent it, no reply");
        let made = PendingDecision::made(self.made, alert_of(&left.said.alert), resolution, left.key.clone(), now);
        let (polling, step) = (Some(Polling::new(why.clone(), now)), Some(JournalStep::Unknown { why }));
        self.all.push(PendingDecision { step, polling, sent_at: left.sent_at(), ..made });
    }

    /// All of them, the oldest first.
    pub fn all(&self) -> &[PendingDecision] {
        &self.all
    }

    /// The decision on an alert.
    pub fn of(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.all.iter().find(|decision| decision.alert.id == alert)
    }

    /// The decision of this key.
    pub fn get(&self, key: u64) -> Option<&PendingDecision> {
        // Each new one has the next key, at the end.
        self.all.binary_search_by_key(&key, |decision| decision.key).ok().map(|at| &self.all[at])
    }

    /// Returns true where an alert's decision is on its way, so that another one must wait.
    pub fn is_underway(&self, alert: AlertId) -> bool {
        self.of(alert).is_some_and(|decision| matches!(decision.fate(), Fate::Queued | Fate::Sending))
    }

    /// Takes back the decision that was made last and has not left, and with it what was made together with it.
    pub fn take_back(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let Some(last) = self.all.iter().rfind(|decision| decision.is_here()) else { return Vec::new() };
        let (key, together) = (last.key, last.together);
        let taken = |decision: &mut PendingDecision| {
            decision.is_here() && (decision.key == key || together.is_some() && decision.together == together)
        };
        self.take_out(taken, now)
    }

    /// Takes back every decision that has not left; returns them.
    pub fn take_back_all(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        self.take_out(|decision| decision.is_here(), now)
    }

    /// Gives up what has not left, and writes nothing of it down: the next console tells it.
    pub fn forget_unsent(&mut self) {
        self.all.retain(|decision| !decision.is_here());
    }

    /// Sends every staged decision now.
    pub fn send_now(&mut self, now: Timestamp) {
        self.paused.clear();
        for due in self.all.iter_mut().filter_map(|decision| decision.due.as_mut()) {
            *due = now.min(*due);
        }
    }

    /// The decisions that have not left, the oldest first.
    pub fn not_left(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_here())
    }

    /// Stops the countdowns, or lets them go on from where they stopped. None is stopped beyond the last moment for its
    /// answer.
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

    /// The decisions whose time has come; they count as sent from now on. What is to be looked at before stays until it
    /// was.
    pub fn leave(&mut self, now: Timestamp) -> Vec<PendingDecision> {
        let leaving = self.in_turn(now, |decision| decision.was_checked(now));
        let keys: Vec<u64> = self.all.iter().map(|decision| decision.key).filter(|key| leaving.contains(key)).collect();
        keys.iter().for_each(|key| self.step(*key, JournalStep::Sent, now));
        keys.into_iter().filter_map(|key| self.get(key).cloned()).collect()
    }

    /// The staged decisions, the next to leave first.
    pub fn staged(&self) -> Vec<&PendingDecision> {
        let mut staged: Vec<_> = self.all.iter().filter(|decision| decision.due.is_some()).collect();
        staged.sort_by_key(|decision| decision.due);
        staged
    }

    /// The decisions of this fate, the oldest first.
    pub fn with_fate(&self, fate: Fate) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(move |decision| decision.fate() == fate)
    }

    /// Returns true where none is with the service, nor checked before it leaves.
    pub fn is_at_rest(&self) -> bool {
        !self.all.iter().any(|decision| decision.fate() == Fate::Sending || decision.is_being_checked())
    }

    /// Returns true where the fate of an alert's decision is indeterminate.
    pub fn is_checking(&self, alert: AlertId) -> bool {
        self.of(alert).is_some_and(|decision| decision.fate() == Fate::Unconfirmed)
    }

    /// Polls every decision of unknown fate now: something changed at the service.
    pub fn poll_now(&mut self, now: Timestamp) {
        self.all.iter_mut().filter_map(|decision| decision.polling.as_mut()).for_each(|polling| polling.poll_now(now));
    }

    /// The decisions of unknown fate whose alert is to be looked at now.
    pub fn polls(&mut self, now: Timestamp) -> Vec<(u64, AlertId)> {
        let take = |decision: &mut PendingDecision| {
            decision.polling.as_mut()?.take_due(now).then_some((decision.key, decision.alert.id))
        };
        self.all.iter_mut().filter_map(take).collect()
    }

    /// Takes in the last step of an unconfirmed answer whose result is known from elsewhere, and is through with it.
    pub fn settle(&mut self, key: u64, step: JournalStep, recorded: bool, now: Timestamp) {
        self.step(key, step, now);
        self.let_follow(self.root_of(key), recorded, now);
        self.all.retain(|decision| decision.key != key);
    }

    /// Forgets that an alert's decision was refused.
    pub fn dismiss(&mut self, alert: AlertId) {
        self.all.retain(|decision| decision.alert.id != alert || decision.fate() != Fate::NotRecorded);
    }

    /// Takes the service's answer in.
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
                // Whether the others can be sent is found out first.
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

    /// Takes in what a poll found of a decision whose fate was not known. What proves nothing is told once, by how many
    /// polls there were, when so many were in vain.
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

    /// Takes the next step of a decision in.
    fn step(&mut self, key: u64, step: JournalStep, now: Timestamp) {
        let Some(decision) = self.all.iter_mut().find(|decision| decision.key == key) else { return };
        if step == JournalStep::Sent {
            decision.sent_at = Some(now);
        }
        (decision.step, decision.due) = (Some(step.clone()), None);
        let journal_key = decision.journal_key();
        self.record(journal_key, step, now);
    }

    /// Where a decision is after an answer.
    fn note(&mut self, key: u64, event: &DecisionEvent, now: Timestamp) {
        self.step(key, event.step.clone(), now);
        let fate = event.step.fate();
        if let Some(alert) = &event.alert {
            let first = self.root_of(key);
            self.landed.push((first, (**alert).clone()));
            // Whoever gave the answer: what was to follow it is true.
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

    /// When something is due, or changes on the screen: the next look, the next whole second of the countdown.
    pub fn next_wake(&self, now: Timestamp) -> Option<Timestamp> {
        let polls = self.all.iter().filter_map(|decision| decision.polling.as_ref()?.next_wake());
        let closing = self.waiting().filter(|decision| !decision.told_closed).filter_map(|decision| decision.closes(1));
        polls.chain(self.next_second(now)).chain(closing).chain(self.next_question()).min()
    }

    fn next_second(&self, now: Timestamp) -> Option<Timestamp> {
        if self.held_since.is_some() {
            return self.all.iter().filter_map(|decision| Some(decision.last_moment()?.max(decision.due?))).min();
        }
        // What is due and still here waits for its turn, which no time brings.
        let due = self.all.iter().filter_map(|decision| decision.due).filter(|due| *due > now).min()?;
        let left = (due - now).num_milliseconds();
        // The countdown shows whole seconds, rounded up.
        let into_next = if left % 1000 == 0 && left > 0 { 1000 } else { left % 1000 };
        Some(now + Duration::milliseconds(into_next))
    }
}

/// Returns true where a staged decision's time has come, while the countdowns are held or not.
fn is_due(decision: &PendingDecision, held: bool, now: Timestamp) -> bool {
    let Some(due) = decision.due else { return false };
    if held { decision.last_moment().is_some_and(|last| last.max(due) <= now) } else { due <= now }
}

impl PendingDecision {
    /// Returns true where it may still land.
    fn is_coming(&self) -> bool {
        self.fate() != Fate::NotRecorded
    }
}

impl Ledger {
    /// The decision on an alert that is on its way: it may still land.
    pub fn coming(&self, alert: AlertId) -> Option<&PendingDecision> {
        self.of(alert).filter(|decision| decision.is_coming())
    }

    /// All that may still land.
    pub fn all_coming(&self) -> impl Iterator<Item = &PendingDecision> {
        self.all.iter().filter(|decision| decision.is_coming())
    }

    /// The alerts whose decisions came to an outcome here, with it: the last one first.
    pub fn landed(&self) -> impl Iterator<Item = &Alert> {
        self.landed.iter().rev().map(|(_, alert)| alert)
    }

    /// The refund on its way that a decision on another alert of the payment rests on. `known` are alerts on the
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
