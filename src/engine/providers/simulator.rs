//! A simulated alert network: takes decisions, keeps them, and fails in every way a real one does, by data and by seed.

use std::{
    collections::{HashMap, VecDeque},
    ops::RangeInclusive,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{AlertProvider, Capabilities, Cause, Declined, LookUp, Submission, SubmitResult};
use crate::domain::{AttemptId, Provider};

/// Longer than any caller waits: a call that gets no answer is cut off by its caller.
const NO_ANSWER: Duration = Duration::from_secs(3_600);

/// A simulated fault: one way in which a call goes wrong. Where the answer is lost or indeterminate, `applied` says
/// whether the decision took effect before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The network refuses; nothing is applied.
    Refusal,
    /// The network cannot be reached; nothing was sent.
    Unreachable,
    /// No answer ever comes.
    TimeOut {
        /// True where the decision took effect.
        applied: bool,
    },
    /// The network answers 503.
    ServerError {
        /// True where the decision took effect.
        applied: bool,
    },
    /// The network answers with something that is no answer.
    Unreadable {
        /// True where the decision took effect.
        applied: bool,
    },
    /// The network says that the alert was answered already: by us (`applied`), or by somebody at the network's own
    /// portal.
    AlreadyActioned {
        /// True where our own decision took effect.
        applied: bool,
    },
}

impl Fault {
    /// Every fault there is.
    pub const ALL: [Self; 10] = [
        Self::Refusal,
        Self::Unreachable,
        Self::TimeOut { applied: false },
        Self::TimeOut { applied: true },
        Self::ServerError { applied: false },
        Self::ServerError { applied: true },
        Self::Unreadable { applied: false },
        Self::Unreadable { applied: true },
        Self::AlreadyActioned { applied: false },
        Self::AlreadyActioned { applied: true },
    ];
}

/// Rate of each fault, from 0 to 1; the rest is success. All faults together should not exceed 1.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultRates {
    /// Latency of every answer.
    pub latency: RangeInclusive<Duration>,
    pub refusal: f64,
    pub unreachable: f64,
    pub time_out: f64,
    pub server_error: f64,
    pub unreadable: f64,
    pub already_actioned: f64,
    /// Share of decisions that took effect among those whose answer is lost.
    pub applied: f64,
    /// Share of look-ups that fail.
    pub look_up_failure: f64,
}

impl Default for FaultRates {
    /// Everything works, at once.
    fn default() -> Self {
        Self {
            latency: Duration::ZERO..=Duration::ZERO,
            refusal: 0.0,
            unreachable: 0.0,
            time_out: 0.0,
            server_error: 0.0,
            unreadable: 0.0,
            already_actioned: 0.0,
            applied: 0.5,
            look_up_failure: 0.0,
        }
    }
}

/// A ready-made set of faults: `avert demo --fault`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultProfile {
    /// Everything works.
    None,
    /// One call in four goes wrong, in every way there is.
    Flaky,
    /// The networks cannot be reached.
    Down,
    /// Everything works, after seconds.
    Slow,
}

impl FaultProfile {
    /// The faults of the profile.
    pub fn rates(self) -> FaultRates {
        let millis = Duration::from_millis;
        match self {
            Self::None => FaultRates::default(),
            Self::Flaky => FaultRates {
                latency: millis(80)..=millis(900),
                refusal: 0.05,
                unreachable: 0.05,
                time_out: 0.04,
                server_error: 0.06,
                unreadable: 0.02,
                already_actioned: 0.03,
                applied: 0.5,
                look_up_failure: 0.2,
            },
            Self::Down => FaultRates { unreachable: 1.0, look_up_failure: 1.0, ..FaultRates::default() },
            Self::Slow => FaultRates { latency: millis(2_000)..=millis(6_000), ..FaultRates::default() },
        }
    }
}

/// A decision that the simulated network applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    pub provider: Provider,
    /// The alert's id there.
    pub alert: String,
    /// Attempt that it is of; `None` where somebody else answered at the network's own portal.
    pub attempt: Option<AttemptId>,
    /// The decision, one line; see [`crate::domain::Resolution::canonical`].
    pub decision: String,
}

/// The simulated network. One stands for any number of networks.
#[derive(Debug)]
pub struct Simulator {
    capabilities: Capabilities,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rates: FaultRates,
    random: StdRng,
    /// Faults of the next calls, before chance decides again.
    script: VecDeque<Option<Fault>>,
    /// Accepted decisions in the order of application.
    accepted: Vec<Accepted>,
    /// Alert (network and its id) to positions in `accepted`.
    by_alert: HashMap<(Provider, String), Vec<usize>>,
    submissions: u64,
    look_ups: u64,
}

impl Simulator {
    /// A network with these capabilities and faults; the same seed gives the same faults in the order of the calls.
    pub fn new(capabilities: Capabilities, rates: FaultRates, seed: u64) -> Self {
        let state = State {
            rates,
            random: StdRng::seed_from_u64(seed),
            script: VecDeque::new(),
            accepted: Vec::new(),
            by_alert: HashMap::new(),
            submissions: 0,
            look_ups: 0,
        };
        Self { capabilities, state: Mutex::new(state) }
    }

    /// The network of the demo: can look up and honours idempotency, with a profile's faults.
    pub fn with_profile(profile: FaultProfile, seed: u64) -> Self {
        Self::new(
            Capabilities {
                lookup: true,
                idempotent: true,
                consistency_lag: Duration::from_secs(2),
                ..Capabilities::default()
            },
            profile.rates(),
            seed,
        )
    }

    /// Decides what the next submissions come to: a fault, or `None` for success. After them chance decides again.
    pub fn script(&self, faults: impl IntoIterator<Item = Option<Fault>>) {
        self.state().script.extend(faults);
    }

    /// Changes how often faults strike from now on.
    pub fn set_rates(&self, rates: FaultRates) {
        self.state().rates = rates;
    }

    /// Every decision that was applied, in order. A decision that was applied twice is in it twice.
    pub fn accepted(&self) -> Vec<Accepted> {
        self.state().accepted.clone()
    }

    /// Returns the number of submissions that came in.
    pub fn submissions(&self) -> u64 {
        self.state().submissions
    }

    /// Returns the number of look-ups that came in.
    pub fn look_ups(&self) -> u64 {
        self.state().look_ups
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn latency(&mut self) -> Duration {
        if self.rates.latency.end().is_zero() {
            Duration::ZERO
        } else {
            self.random.random_range(self.rates.latency.clone())
        }
    }

    fn chance(&mut self, rate: f64) -> bool {
        self.random.random_bool(rate.clamp(0.0, 1.0))
    }

    fn fault(&mut self) -> Option<Fault> {
        if let Some(scripted) = self.script.pop_front() {
            return scripted;
        }
        let applied = self.chance(self.rates.applied);
        let mut left = self.random.random_range(0.0..1.0_f64);
        let rates = &self.rates;
        [
            (rates.refusal, Fault::Refusal),
            (rates.unreachable, Fault::Unreachable),
            (rates.time_out, Fault::TimeOut { applied }),
            (rates.server_error, Fault::ServerError { applied }),
            (rates.unreadable, Fault::Unreadable { applied }),
            (rates.already_actioned, Fault::AlreadyActioned { applied }),
        ]
        .into_iter()
        .find(|(rate, _)| {
            left -= rate;
            left < 0.0
        })
        .map(|(_, fault)| fault)
    }

    fn key(submission: &Submission) -> (Provider, String) {
        let id = if submission.provider_id.is_empty() {
            submission.alert.to_string()
        } else {
            submission.provider_id.clone()
        };
        (submission.provider.clone(), id)
    }

    fn answers_of(&self, submission: &Submission) -> impl Iterator<Item = &Accepted> {
        self.by_alert.get(&Self::key(submission)).into_iter().flatten().map(|&index| &self.accepted[index])
    }

    fn apply(&mut self, submission: &Submission, attempt: Option<AttemptId>, decision: String) {
        let (provider, alert) = Self::key(submission);
        self.by_alert.entry((provider.clone(), alert.clone())).or_default().push(self.accepted.len());
        self.accepted.push(Accepted { provider, alert, attempt, decision });
    }

    /// Applies a submission at the network; the answer may still get lost.
    fn submit(&mut self, submission: &Submission, capabilities: Capabilities) -> Answer {
        self.submissions += 1;
        let fault = self.fault();
        if fault == Some(Fault::Unreachable) {
            return Answer::Now(SubmitResult::Declined(Declined::NotSent("connection refused (simulated)".to_owned())));
        }
        let ours = self.answers_of(submission).any(|accepted| accepted.attempt == Some(submission.attempt));
        let others = self.answers_of(submission).any(|accepted| accepted.attempt != Some(submission.attempt));
        let lost = |cause| Answer::Now(SubmitResult::Indeterminate(cause));
        let (applied, answer) = match fault {
            None => (true, Answer::Now(SubmitResult::Accepted)),
            Some(Fault::TimeOut { applied }) => (applied, Answer::Never),
            Some(Fault::ServerError { applied }) => (applied, lost(Cause::ServerError(503))),
            Some(Fault::Unreadable { applied }) => {
                (applied, lost(Cause::Unreadable("not JSON (simulated)".to_owned())))
            }
            Some(Fault::AlreadyActioned { applied }) => (applied, lost(Cause::AlreadyActioned)),
            Some(Fault::Refusal | Fault::Unreachable) => (
                false,
                Answer::Now(SubmitResult::Declined(Declined::Refused("the alert is closed (simulated)".to_owned()))),
            ),
        };
        // A network that honours idempotency knows its first answer, whatever would happen to a new submission.
        if ours && capabilities.idempotent {
            return if answer == Answer::Never { Answer::Never } else { Answer::Now(SubmitResult::Accepted) };
        }
        // One that counts a repeat once without knowing it again takes it for somebody else's.
        if others || ours && capabilities.final_error_only {
            return if answer == Answer::Never { Answer::Never } else { lost(Cause::AlreadyActioned) };
        }
        if applied {
            self.apply(submission, Some(submission.attempt), submission.resolution.canonical());
        } else if matches!(fault, Some(Fault::AlreadyActioned { .. })) {
            self.apply(submission, None, "answered at the network's own portal (simulated)".to_owned());
        }
        answer
    }
}

#[derive(Debug, PartialEq)]
enum Answer {
    Now(SubmitResult),
    Never,
}

#[async_trait]
impl AlertProvider for Simulator {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    async fn submit(&self, submission: &Submission) -> SubmitResult {
        let latency = self.state().latency();
        wait(latency).await;
        let answer = self.state().submit(submission, self.capabilities);
        match answer {
            Answer::Now(result) => result,
            Answer::Never => {
                wait(NO_ANSWER).await;
                SubmitResult::Indeterminate(Cause::TimedOut(NO_ANSWER))
            }
        }
    }

    async fn look_up(&self, submission: &Submission) -> LookUp {
        let latency = self.state().latency();
        wait(latency).await;
        let mut state = self.state();
        state.look_ups += 1;
        let rate = state.rates.look_up_failure;
        if !self.capabilities.lookup {
            return LookUp::Failed("this network has no look-up (simulated)".to_owned());
        }
        if state.chance(rate) {
            return LookUp::Failed("503 (simulated)".to_owned());
        }
        let ours = state.answers_of(submission).any(|accepted| accepted.attempt == Some(submission.attempt));
        match state.answers_of(submission).next() {
            _ if ours => LookUp::Applied,
            // It may be another organization's answer: nothing of it is told.
            Some(_) => LookUp::AnsweredOtherwise("it was answered before (simulated)".to_owned()),
            None => LookUp::NotKnown,
        }
    }
}

async fn wait(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::resolution::Decision;
    use crate::domain::{Alert, AlertId, AlertType, Resolution};

    fn network(lookup: bool, idempotent: bool) -> Simulator {
        Simulator::new(Capabilities { lookup, idempotent, ..Capabilities::default() }, FaultRates::default(), 7)
    }

    fn refunded() -> Submission {
        let alert = Alert {
            provider_id: "P-1".to_owned(),
            ..Alert::new(AlertId::generate(), Provider::Cdrn, AlertType::VerifiDispute)
        };
        let resolution = Resolution::Current { decision: Decision::Refunded, comments: String::new() };
        Submission::of(AttemptId::generate(), &alert, resolution)
    }

    #[tokio::test]
    async fn an_accepted_decision_is_kept_and_found() {
        let network = network(true, true);
        let submission = refunded();

        let answer = network.submit(&submission).await;

        assert_eq!(answer, SubmitResult::Accepted);
        assert_eq!(network.look_up(&submission).await, LookUp::Applied);
        assert_eq!(network.accepted()[0].decision, "current|REFUNDED||");
    }

    #[tokio::test]
    async fn a_repeat_counts_once_where_idempotency_is_honoured_and_twice_where_it_is_not() {
        for (idempotent, times) in [(true, 1), (false, 2)] {
            let network = network(false, idempotent);
            let submission = refunded();

            network.submit(&submission).await;
            network.submit(&submission).await;

            assert_eq!(network.accepted().len(), times);
        }
    }

    #[tokio::test]
    async fn a_network_that_only_knows_final_errors_counts_a_repeat_once_and_does_not_know_it_again() {
        let capabilities = Capabilities { final_error_only: true, ..Capabilities::default() };
        let network = Simulator::new(capabilities, FaultRates::default(), 7);
        let submission = refunded();

        let answers = [network.submit(&submission).await, network.submit(&submission).await];

        assert_eq!(answers, [SubmitResult::Accepted, SubmitResult::Indeterminate(Cause::AlreadyActioned)]);
        assert_eq!(network.accepted().len(), 1);
    }

    #[tokio::test]
    async fn a_second_decision_on_an_answered_alert_is_not_applied() {
        let network = network(true, true);
        let first = refunded();
        let second = Submission { attempt: AttemptId::generate(), ..first.clone() };
        network.submit(&first).await;

        let answer = network.submit(&second).await;

        assert_eq!(answer, SubmitResult::Indeterminate(Cause::AlreadyActioned));
        assert_eq!(
            network.look_up(&second).await,
            LookUp::AnsweredOtherwise("it was answered before (simulated)".to_owned())
        );
        assert_eq!(network.accepted().len(), 1);
    }

    #[rstest]
    #[case(Fault::Refusal, false)]
    #[case(Fault::Unreachable, false)]
    #[case(Fault::ServerError { applied: true }, true)]
    #[case(Fault::ServerError { applied: false }, false)]
    #[case(Fault::Unreadable { applied: true }, true)]
    #[case(Fault::AlreadyActioned { applied: true }, true)]
    #[tokio::test]
    async fn a_fault_takes_effect_as_it_says_and_is_never_a_yes(#[case] fault: Fault, #[case] applied: bool) {
        let network = network(true, true);
        let submission = refunded();
        network.script([Some(fault)]);

        let answer = network.submit(&submission).await;

        assert_ne!(answer, SubmitResult::Accepted);
        assert_eq!(network.look_up(&submission).await == LookUp::Applied, applied);
    }

    #[tokio::test]
    async fn a_time_out_never_answers() {
        let network = network(true, true);
        network.script([Some(Fault::TimeOut { applied: true })]);

        let answer = tokio::time::timeout(Duration::ZERO, network.submit(&refunded())).await;

        assert!(answer.is_err());
        assert_eq!(network.accepted().len(), 1);
    }

    #[tokio::test]
    async fn the_same_seed_gives_the_same_faults() {
        let rates = FaultRates { refusal: 0.3, unreachable: 0.2, server_error: 0.2, ..FaultRates::default() };
        let run = async |seed| {
            let network = Simulator::new(
                Capabilities { lookup: true, idempotent: true, ..Capabilities::default() },
                rates.clone(),
                seed,
            );
            let mut answers = Vec::new();
            for index in 0..200 {
                let submission = Submission { provider_id: format!("P-{index}"), ..refunded() };
                answers.push(network.submit(&submission).await);
            }
            answers
        };

        let (first, again, other) = (run(1).await, run(1).await, run(2).await);

        assert_eq!(first, again);
        assert_ne!(first, other);
        let accepted = first.iter().filter(|answer| **answer == SubmitResult::Accepted).count();
        assert!((30..=90).contains(&accepted), "about three in ten succeed, not {accepted} of 200");
    }
}
