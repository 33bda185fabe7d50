//! The provider guard: a circuit breaker and a bulkhead, which bounds the calls at the same time.
//!
//! A network that does not answer would hold every analyst for a time-out each. After some failures in a row the
//! breaker refuses at once, says until when, and then lets one call through to see. Failures are those that say that
//! the provider is ill: it cannot be reached, does not answer, or answers with nonsense. A refusal is an answer of a
//! healthy provider.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::{AlertProvider, Capabilities, Cause, Declined, LookUp, Submission, SubmitResult};
use crate::{
    domain::time::SharedClock,
    outbound::circuit::{Circuit, CircuitLimits},
};

/// Limits of a [`Guarded`] provider.
#[derive(Debug, Clone, Copy)]
pub struct GuardLimits {
    /// Limits from which calls are refused without being made.
    pub circuit: CircuitLimits,
    /// Most calls at the same time, look-ups among them; 1 or more.
    pub at_once: usize,
    /// Longest wait of a call for a place; over it the call counts as not sent.
    pub patience: Duration,
}

/// A provider behind a circuit breaker and a bulkhead.
pub struct Guarded {
    inner: Arc<dyn AlertProvider>,
    /// The network's name in metrics.
    name: &'static str,
    limits: GuardLimits,
    places: Semaphore,
    state: Mutex<State>,
    clock: SharedClock,
}

struct State {
    circuit: Circuit,
    /// True where a call is under way that probes an unproven provider.
    probing: bool,
}

/// A permit to make a call. Dropped without a record, the call was cut off: no answer in time.
struct Permit<'a> {
    guarded: &'a Guarded,
    _place: SemaphorePermit<'a>,
    probe: bool,
    recorded: bool,
}

impl Permit<'_> {
    /// Gives the place back, knowing how the provider did.
    fn record(mut self, ill: bool) {
        self.recorded = true;
        self.guarded.learn(ill, self.probe);
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        if !self.recorded {
            self.guarded.learn(true, self.probe);
        }
    }
}

impl Guarded {
    /// Puts a guard before a provider; `name` is the network's in metrics.
    pub fn new(inner: Arc<dyn AlertProvider>, name: &'static str, limits: GuardLimits, clock: SharedClock) -> Self {
        let state = State { circuit: Circuit::new(limits.circuit), probing: false };
        Self { inner, name, limits, places: Semaphore::new(limits.at_once.max(1)), state: Mutex::new(state), clock }
    }

    /// Waits for a permit to make a call; why there is none, in words.
    async fn acquire(&self) -> Result<Permit<'_>, String> {
        self.check_circuit(&self.state())?;
        let Ok(Ok(place)) = tokio::time::timeout(self.limits.patience, self.places.acquire()).await else {
            self.held_back("busy");
            let (places, seconds) = (self.limits.at_once, self.limits.patience.as_secs_f64());
            return Err(format!("all its {places} places were taken for {seconds} s; try again in a moment"));
        };
        // Things may have changed in the meantime.
        let mut state = self.state();
        self.check_circuit(&state)?;
        let probe = state.circuit.is_unproven();
        state.probing |= probe;
        drop(state);
        Ok(Permit { guarded: self, _place: place, probe, recorded: false })
    }

    /// Checks that the circuit permits calls.
    fn check_circuit(&self, state: &State) -> Result<(), String> {
        let failures = state.circuit.failures();
        if let Some(until) = state.circuit.reopens_at(self.clock.now()) {
            self.held_back("open");
            return Err(format!(
                "it failed {failures} times in a row and is left alone until {} UTC",
                until.format("%H:%M:%S")
            ));
        }
        if state.circuit.is_unproven() && state.probing {
            self.held_back("open");
            return Err(format!(
                "it failed {failures} times in a row, and one call is on its way to see whether it answers again"
            ));
        }
        Ok(())
    }

    fn learn(&self, ill: bool, probe: bool) {
        let now = self.clock.now();
        let mut state = self.state();
        if probe {
            state.probing = false;
        }
        let was_unproven = state.circuit.is_unproven();
        match ill {
            false => state.circuit.succeeded(),
            // Calls that were on their way when the circuit opened tell nothing new: only the one that was let through
            // counts.
            true if was_unproven && !probe => {}
            true => state.circuit.failed(now),
        }
        let (is_unproven, failures) = (state.circuit.is_unproven(), state.circuit.failures());
        drop(state);
        metrics::gauge!("avert_provider_held_off", "provider" => self.name).set(if is_unproven { 1.0 } else { 0.0 });
        match (was_unproven, is_unproven) {
            (false, true) => tracing::warn!(
                provider = self.name,
                failures,
                "the network does not answer and is left alone for a while"
            ),
            (true, false) => tracing::info!(provider = self.name, "the network answers again"),
            _ => {}
        }
    }

    fn held_back(&self, why: &'static str) {
        metrics::counter!("avert_provider_held_back_total", "provider" => self.name, "why" => why).increment(1);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl AlertProvider for Guarded {
    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let permit = match self.acquire().await {
            Ok(permit) => permit,
            Err(why) => return SubmitResult::Declined(Declined::NotSent(why)),
        };
        let result = self.inner.submit(submission).await;
        permit.record(match &result {
            SubmitResult::Accepted => false,
            SubmitResult::Declined(declined) => matches!(declined, Declined::NotSent(_)),
            SubmitResult::Indeterminate(cause) => !matches!(cause, Cause::AlreadyActioned | Cause::Undecided),
        });
        result
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        let permit = match self.acquire().await {
            Ok(permit) => permit,
            Err(why) => return LookUp::Failed(why),
        };
        let found = self.inner.look_up(submission).await;
        permit.record(matches!(found, LookUp::Failed(_)));
        found
    }
}

impl std::fmt::Debug for Guarded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guarded").field("name", &self.name).field("limits", &self.limits).finish_non_exhaustive()
    }
}
