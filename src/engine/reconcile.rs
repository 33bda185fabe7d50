//! Reconciliation of decisions whose fate is unknown, each by what its provider can do.
//!
//! A look-up that says "not known" counts as declined only after the call's deadline and the provider's consistency
//! lag. A provider that can neither look up nor take a repeat leaves the attempt to a person.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use futures::{StreamExt, stream};
use tokio_util::sync::CancellationToken;

use super::{
    handle::{Engine, later, locked, span},
    metrics,
    resolve::{Landed, left_to_a_person},
};
use crate::{
    domain::{MonotonicTime, batch, redact, time::later_by},
    providers::{AlertProvider, Capabilities, Cause, Declined, LookUp, Submission, SubmitResult},
    service::FoundOutBy,
    store::{AttemptEnd, ClaimedAttempt, CommitRequest, StoreResult},
};

/// The result of a reconciliation round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reconciled {
    /// The provider had taken them: their outcomes are stored.
    pub committed: u64,
    /// The provider had not: the alerts can be resolved anew.
    pub released: u64,
    /// A person has to decide.
    pub parked: u64,
    /// Still unknown; looked at again later.
    pub waiting: u64,
}

/// The finding of a check on an attempt.
#[derive(Debug, PartialEq)]
enum Finding {
    /// The provider has applied it.
    Accepted,
    /// The decision was declined, and stays so; with the reason.
    Declined(String),
    /// The decision is still indeterminate; with the reason, and the time from which it can be known, where that is
    /// known.
    Indeterminate(String, Option<MonotonicTime>),
    /// The fate cannot be found out here; with the reason.
    NeedsPerson(String),
}

impl Engine {
    /// Reconciles what can be reconciled now.
    ///
    /// # Errors
    /// When the store cannot do it now; what was done stays done.
    pub async fn reconcile_once(&self) -> StoreResult<Reconciled> {
        let mut reconciled = Reconciled { committed: self.store_late().await?, ..Reconciled::default() };
        loop {
            let now = self.present();
            let lease = later(now.date, self.settings().reconcile_lease());
            let taken = self.store().claim_due_attempts(now, lease, batch::TAKEOVER).await?;
            let full = taken.len() >= batch::TAKEOVER as usize;
            let ends: Vec<_> = stream::iter(taken)
                .map(|attempt| self.clear_up(attempt))
                .buffer_unordered(batch::TAKEOVER_IN_FLIGHT)
                .collect()
                .await;
            for end in ends {
                let end = end?;
                metrics::reconciled(end.as_ref());
                match end {
                    None => reconciled.committed += 1,
                    Some(AttemptEnd::Released) => reconciled.released += 1,
                    Some(AttemptEnd::Parked) => reconciled.parked += 1,
                    Some(AttemptEnd::Unknown { .. }) => reconciled.waiting += 1,
                }
            }
            if !full {
                return Ok(reconciled);
            }
        }
    }

    /// Reconciles in the background what can be reconciled now, unless that is under way: somebody waits for it.
    pub(super) fn reconcile_now(&self) {
        let engine = self.clone();
        self.inner.tasks.spawn(async move {
            let Ok(_alone) = engine.inner.round.try_lock() else { return };
            if let Err(error) = engine.reconcile_once().await {
                tracing::warn!(%error, "decisions that a dead process left behind could not be cleared up; the \
                    reconciler tries again");
            }
        });
    }

    /// Schedules the reconciler's next check, not later than this moment.
    pub(super) fn check_at(&self, moment: MonotonicTime) {
        let mut next = locked(&self.inner.next_check);
        if next.and_then(|known| known.since(moment)).is_none_or(|later| later > TimeDelta::zero()) {
            *next = Some(moment);
            self.inner.reconcile.notify_one();
        }
    }

    /// Stores the acceptances that the store could not take before.
    async fn store_late(&self) -> StoreResult<u64> {
        let mut stored = 0;
        loop {
            let Some(request) = locked(&self.inner.late).first().cloned() else { return Ok(stored) };
            let attempt = request.attempt;
            if let Landed::Ours(_) = self.commit_late(CommitRequest { now: self.now(), ..request }).await? {
                metrics::reconciled(None);
                stored += 1;
            }
            locked(&self.inner.late).retain(|late| late.attempt != attempt);
        }
    }

    /// Reconciles one attempt: ends it, or schedules its next check. `None` when it led to its outcome.
    async fn clear_up(&self, unfinished: ClaimedAttempt) -> StoreResult<Option<AttemptEnd>> {
        let finding = self.find_out(&unfinished).await;
        let (attempt, alert) = (unfinished.attempt, &unfinished.alert);
        tracing::info!(%attempt, alert = %alert.id, checks = unfinished.checks, ?finding, "looked at an attempt whose \
            fate was unknown");
        let (end, detail) = match finding {
            Finding::Accepted => {
                return Ok(match self.commit_accepted(attempt, unfinished.generation).await? {
                    Landed::Ours(_) => None,
                    Landed::Anothers(_) => Some(AttemptEnd::Parked),
                });
            }
            Finding::Declined(why) => (AttemptEnd::Released, why),
            Finding::NeedsPerson(why) => (AttemptEnd::Parked, why),
            Finding::Indeterminate(why, known_from) => match (self.gap(unfinished.checks), known_from) {
                (None, None) => (AttemptEnd::Parked, why),
                (gap, known_from) => {
                    let now = self.present();
                    // At the moment from which the answer counts, it is asked again; until then at the usual gaps.
                    let left = known_from
                        .and_then(|known_from| known_from.since(now.counted))
                        .map(|left| left.max(TimeDelta::zero()));
                    let wait = [gap.map(span), left].into_iter().flatten().min().unwrap_or_default();
                    // A repeat whose answer got lost is a call whose consistency lag has to pass too, before a refusal
                    // counts.
                    let provider = self.inner.providers.answering_for(&alert.provider, alert.origin.as_ref());
                    let repeated = known_from.is_none() && !provider.capabilities().lookup;
                    let calls_over = if repeated { now.counted } else { unfinished.calls_over };
                    self.check_at(now.counted.after(wait));
                    (AttemptEnd::Unknown { next_check: later_by(now.date, wait), calls_over }, why)
                }
            },
        };
        self.store().end_attempt(attempt, unfinished.generation, end.clone(), &detail, self.present()).await?;
        Ok(Some(end))
    }

    /// The gap after so many checks.
    fn gap(&self, checks: u32) -> Option<Duration> {
        self.settings().checks.get(usize::try_from(checks).ok()?).copied()
    }

    /// The provider of a decision.
    pub(super) fn answering(&self, submission: &Submission) -> &dyn AlertProvider {
        self.inner.providers.answering_for(&submission.provider, submission.origin.as_ref())
    }

    /// Returns the way in which the fate of a decision is found out. It never names work that is not under way.
    pub(super) fn found_out_by(&self, submission: &Submission) -> FoundOutBy {
        let stays = self.inner.loops.get().is_some_and(|cancel| !cancel.is_cancelled());
        match self.answering(submission).capabilities() {
            Capabilities { lookup: false, idempotent: false, final_error_only: false, .. } => FoundOutBy::Person,
            Capabilities { .. } if !stays => FoundOutBy::RunningProcess,
            Capabilities { lookup: true, .. } => FoundOutBy::LookUp,
            Capabilities { idempotent: true, .. } => FoundOutBy::Repeat,
            Capabilities { .. } => FoundOutBy::UnrecognizedRepeat,
        }
    }

    async fn find_out(&self, unfinished: &ClaimedAttempt) -> Finding {
        let submission = Submission {
            trace: unfinished.trace.clone(),
            ..Submission::of(unfinished.attempt, &unfinished.alert, unfinished.resolution.clone())
        };
        if let Some(why) = self.closed(&submission).await {
            tracing::warn!(attempt = %submission.attempt, why, "not looked at: it is another process that can ask the \
                network");
            // The attempt stays as it is, and is never given up for this.
            return Finding::Indeterminate(
                unfinished.detail.clone(),
                Some(self.counted().after(span(self.settings().reconcile_poll))),
            );
        }
        // The answer is true of the moment at which it was asked; it may be long on its way.
        let asked = self.counted();
        let Capabilities { lookup, idempotent, final_error_only, consistency_lag } =
            self.answering(&submission).capabilities();
        let counts_from = unfinished.calls_over.after(span(consistency_lag));
        if lookup {
            after_look_up(self.look_up(&submission).await, counts_from, asked)
        } else if idempotent || final_error_only {
            after_repeat(self.submit(&submission).await, idempotent.then_some(counts_from), asked)
        } else {
            Finding::NeedsPerson(left_to_a_person(&unfinished.detail))
        }
    }

    /// Sends a decision, the first time or again.
    pub(super) async fn submit(&self, submission: &Submission) -> SubmitResult {
        let (provider, limit) = (self.answering(submission), self.settings().provider_timeout);
        let began = Instant::now();
        let answer = tokio::time::timeout(limit, provider.submit(submission)).await;
        metrics::submitted(&submission.provider, answer.as_ref().ok(), began.elapsed());
        answer.unwrap_or(SubmitResult::Indeterminate(Cause::TimedOut(limit)))
    }

    /// Looks a decision up.
    pub(super) async fn look_up(&self, submission: &Submission) -> LookUp {
        let (provider, limit) = (self.answering(submission), self.settings().look_up_timeout);
        let began = Instant::now();
        let found = tokio::time::timeout(limit, provider.look_up(submission)).await;
        metrics::looked_up(&submission.provider, found.as_ref().ok(), began.elapsed());
        found.unwrap_or_else(|_| LookUp::Failed(Cause::TimedOut(limit).to_string()))
    }
}

/// The finding that a look-up proves that was asked for at this moment.
fn after_look_up(found: LookUp, counts_from: MonotonicTime, asked: MonotonicTime) -> Finding {
    match found {
        LookUp::Applied => Finding::Accepted,
        LookUp::AnsweredOtherwise(what) => {
            Finding::Declined(redact::words(&format!("the network holds another answer to this alert: {what}")))
        }
        LookUp::NotKnown if counts_from.has_come(asked) => {
            Finding::Declined("the network does not know of the answer".to_owned())
        }
        LookUp::NotKnown => {
            Finding::Indeterminate("the network does not know of the answer yet".to_owned(), Some(counts_from))
        }
        LookUp::Refused(why) => Finding::Declined(redact::words(&format!("it refused: {why}"))),
        LookUp::NotTold(why) => Finding::Indeterminate(redact::words(&why), None),
        LookUp::Failed(why) => Finding::Indeterminate(redact::words(&format!("the look-up failed: {why}")), None),
    }
}

/// The finding that a repeat proves that was sent at this moment. Its refusal counts from a moment on where the
/// provider is idempotent. One that counts a repeat once without recognizing it (final-error-only) has no such moment.
/// There an acceptance is ours, whichever of the two calls took effect; "answered already" and a refusal may be the
/// first call's doing, and are left to a person.
fn after_repeat(answer: SubmitResult, counts_from: Option<MonotonicTime>, asked: MonotonicTime) -> Finding {
    match (answer, counts_from) {
        (SubmitResult::Accepted, _) => Finding::Accepted,
        (SubmitResult::Declined(Declined::Refused(why)), None) => {
            let why = format!("it refused the repeat: {why}; that may be because it took the first call");
            Finding::NeedsPerson(redact::words(&why))
        }
        (SubmitResult::Declined(Declined::Refused(why)), Some(counts_from)) => {
            let why = redact::words(&format!("it refused: {why}"));
            // While the first call may still be on its way, a refusal of the second proves nothing about it.
            if counts_from.has_come(asked) {
                Finding::Declined(why)
            } else {
                Finding::Indeterminate(why, Some(counts_from))
            }
        }
        // That this call did not arrive, or was not looked at, says nothing about the first one.
        (SubmitResult::Declined(why), _) => Finding::Indeterminate(redact::words(&why.to_string()), None),
        (SubmitResult::Indeterminate(Cause::AlreadyActioned), None) => Finding::NeedsPerson(
            "the alert was answered at the network: by the first call, or by somebody else".to_owned(),
        ),
        // Ours would have been answered as accepted; whose it is, a person has to find out.
        (SubmitResult::Indeterminate(cause @ Cause::AlreadyActioned), Some(_)) => {
            Finding::NeedsPerson(cause.to_string())
        }
        (SubmitResult::Indeterminate(cause), _) => Finding::Indeterminate(redact::words(&cause.to_string()), None),
    }
}

/// The reconciling loop: at start, when a check is due, and every so often for what another process left behind.
pub(super) async fn run(engine: Engine, cancel: CancellationToken) {
    let mut failed = false;
    loop {
        // Taken before the round: what the round itself lays down counts for the next one.
        *locked(&engine.inner.next_check) = None;
        let round = tokio::select! {
            () = cancel.cancelled() => return,
            round = engine.reconcile_once() => round,
        };
        let poll = engine.settings().reconcile_poll;
        let failed_before = std::mem::replace(&mut failed, round.is_err());
        if let Err(error) = round
            && !failed_before
        {
            tracing::warn!(%error, "unconfirmed answers could not be checked, trying again");
        }
        loop {
            let due = locked(&engine.inner.next_check).filter(|_| !failed);
            let left = due.and_then(|due| due.since(engine.counted()));
            let pause = left.map_or(poll, |left| left.to_std().unwrap_or_default().min(poll));
            tokio::select! {
                () = cancel.cancelled() => return,
                () = tokio::time::sleep(pause) => break,
                // An earlier look has been asked for: reckon anew.
                () = engine.inner.reconcile.notified() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::ClockEpoch;

    fn counts_from() -> MonotonicTime {
        MonotonicTime { epoch: ClockEpoch::generate(), micros: 12_000_000 }
    }

    #[rstest]
    #[case(-1, false)]
    #[case(0, true)]
    #[case(1, true)]
    fn not_known_is_a_no_only_once_it_counts(#[case] seconds: i64, #[case] no: bool) {
        let counts_from = counts_from();
        let now = counts_from.after(TimeDelta::seconds(seconds));

        let found = after_look_up(LookUp::NotKnown, counts_from, now);
        let refused =
            after_repeat(SubmitResult::Declined(Declined::Refused("closed".to_owned())), Some(counts_from), now);

        assert_eq!([matches!(found, Finding::Declined(_)), matches!(refused, Finding::Declined(_))], [no; 2]);
        if !no {
            assert!(matches!(found, Finding::Indeterminate(_, Some(moment)) if moment == counts_from));
        }
    }

    #[test]
    fn a_look_up_that_fails_proves_nothing_ever() {
        let counts_from = counts_from();
        let long_after = counts_from.after(TimeDelta::days(9));

        assert!(matches!(
            after_look_up(LookUp::Failed("503".to_owned()), counts_from, long_after),
            Finding::Indeterminate(_, None)
        ));
    }

    #[test]
    fn another_answer_at_the_network_is_a_no() {
        let found = after_look_up(LookUp::AnsweredOtherwise("MISSED".to_owned()), counts_from(), counts_from());

        assert!(matches!(found, Finding::Declined(why) if why.contains("MISSED")));
    }

    #[rstest]
    #[case(SubmitResult::Accepted, true, false)]
    #[case(SubmitResult::Declined(Declined::NotSent("down".to_owned())), false, false)]
    #[case(SubmitResult::Declined(Declined::TurnedAway("401".to_owned())), false, false)]
    #[case(SubmitResult::Indeterminate(Cause::TimedOut(Duration::from_secs(1))), false, false)]
    #[case(SubmitResult::Indeterminate(Cause::Undecided), false, false)]
    #[case(SubmitResult::Indeterminate(Cause::ServerError(503)), false, false)]
    #[case(SubmitResult::Indeterminate(Cause::AlreadyActioned), false, true)]
    fn a_repeat_proves_a_yes_or_nothing(#[case] answer: SubmitResult, #[case] yes: bool, #[case] never: bool) {
        let finding = after_repeat(answer, Some(counts_from()), counts_from());

        assert_eq!((finding == Finding::Accepted, matches!(finding, Finding::NeedsPerson(_))), (yes, never));
        assert!(!matches!(finding, Finding::Declined(_)));
    }

    #[rstest]
    #[case(SubmitResult::Accepted, true, false)]
    #[case(SubmitResult::Declined(Declined::NotSent("down".to_owned())), false, false)]
    #[case(SubmitResult::Declined(Declined::TurnedAway("401".to_owned())), false, false)]
    #[case(SubmitResult::Declined(Declined::Refused("closed".to_owned())), false, true)]
    #[case(SubmitResult::Indeterminate(Cause::TimedOut(Duration::from_secs(1))), false, false)]
    #[case(SubmitResult::Indeterminate(Cause::AlreadyActioned), false, true)]
    fn a_repeat_that_is_not_recognized_proves_a_yes_or_is_left_to_a_person(
        #[case] answer: SubmitResult,
        #[case] yes: bool,
        #[case] never: bool,
    ) {
        let finding = after_repeat(answer, None, counts_from());

        assert_eq!((finding == Finding::Accepted, matches!(finding, Finding::NeedsPerson(_))), (yes, never));
        assert!(!matches!(finding, Finding::Declined(_)));
    }

    #[test]
    fn a_look_up_tells_a_refusal_and_a_network_that_does_not_say_is_asked_again() {
        assert!(matches!(
            after_look_up(LookUp::Refused("closed".to_owned()), counts_from(), counts_from()),
            Finding::Declined(_)
        ));
        assert!(matches!(
            after_look_up(LookUp::NotTold("401".to_owned()), counts_from(), counts_from()),
            Finding::Indeterminate(_, None)
        ));
    }
}
