//! Webhook deliveries: the retry schedule, their order, what an attempt makes of a delivery and its endpoint, and
//! redelivery.

use std::{collections::HashMap, hash::Hash};

use chrono::TimeDelta;
use rand::{Rng, RngExt};

use super::delivery::DeliveryState;
use crate::time::{Timestamp, later_by, to_iso};

/// Seconds to wait after the first, second, ... failed attempt: 5 s, 30 s, 2 min, 10 min, 30 min, 1, 2, 4, 8, 12, 20
/// and 24 h. When the last gap's attempt fails as well, the delivery is exhausted.
pub const GAPS_SECONDS: [i64; 12] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 72_000, 86_400];

/// Jitter of a gap in either direction, in thousandths: 20 %.
const JITTER_MILLE: i64 = 200;

/// The longest wait that a receiver can ask for.
pub const MAX_RETRY_AFTER: TimeDelta = TimeDelta::hours(24);

/// Longest wait of an `alert.resolved` for the `alert.created` of its alert and endpoint.
const ORDER_WAIT: TimeDelta = TimeDelta::minutes(2);

/// Longest part of an answer that is kept, in bytes.
pub const MAX_ANSWER_BYTES: usize = 16 * 1024;

/// An endpoint that fails for so long without one success gets nothing more.
pub const DISABLE_AFTER: TimeDelta = TimeDelta::hours(120);

/// Longest time between two failed attempts that counts as failing; it is longer than any gap of the schedule. Time
/// without an attempt (avert was not running, the machine slept, nothing happened) counts against no endpoint.
const LONGEST_PAUSE: TimeDelta = TimeDelta::hours(30);

/// Time of failures without a success after which other endpoints are told.
const REPORT_AFTER: TimeDelta = TimeDelta::minutes(10);

/// Reason of an endpoint that an operator has disabled.
pub const BY_OPERATOR: &str = "disabled by an operator";

/// Reason of an endpoint that was removed.
pub const REMOVED: &str = "removed";

/// The result of a delivery attempt, as far as what follows depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptResult {
    /// The receiver answered.
    Answered {
        status: u16,
        /// Delay that the receiver asked for.
        retry_after: Option<TimeDelta>,
    },
    /// No answer came.
    Failed,
    /// Nothing was sent: this process may not connect to the endpoint's address. Another one may.
    Refused,
}

/// Next step after an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextStep {
    /// The receiver took it.
    Delivered,
    /// Try again then.
    RetryAt(Timestamp),
    /// No more attempts.
    Exhausted,
    /// No more attempts, and nothing more to this endpoint, for this reason.
    DisableEndpoint(String),
}

/// Returns the next step after attempt number `attempt` (1-based). 2xx is delivered, 410 disables the endpoint.
/// Everything else, redirects too, is retried after the next of these gaps, in seconds, until the schedule ends. The
/// retry is later where the receiver asked for it.
pub fn next_step(
    result: AttemptResult,
    attempt: u32,
    gaps: &[i64],
    now: Timestamp,
    rng: &mut (impl Rng + ?Sized),
) -> NextStep {
    let asked = match result {
        AttemptResult::Answered { status: 200..=299, .. } => return NextStep::Delivered,
        AttemptResult::Answered { status: 410, .. } => {
            return NextStep::DisableEndpoint("the receiver answered 410 Gone: it wants nothing more".to_owned());
        }
        AttemptResult::Answered { retry_after, .. } => retry_after,
        AttemptResult::Refused => return NextStep::RetryAt(now),
        AttemptResult::Failed => None,
    };
    let index = usize::try_from(attempt.max(1) - 1).unwrap_or(usize::MAX);
    let Some(seconds) = gaps.get(index) else {
        return NextStep::Exhausted;
    };
    let gap = TimeDelta::milliseconds(seconds * rng.random_range(1_000 - JITTER_MILLE..=1_000 + JITTER_MILLE));
    let wait = asked.map_or(gap, |asked| gap.max(asked.min(MAX_RETRY_AFTER)));
    // At the end of time there is no later moment.
    now.checked_add_signed(wait).map_or(NextStep::Exhausted, NextStep::RetryAt)
}

/// Returns the time from which a pending delivery can be sent that is due at `due` and whose event was recorded at
/// `recorded`. The event of a resolution lets the creation of the same alert go first, while that is pending for the
/// same endpoint. It does not wait for ever, nor where it was recorded by a clock that has been set back since.
pub fn sendable_at(due: Timestamp, recorded: Timestamp, creation_waits: bool, now: Timestamp) -> Timestamp {
    if creation_waits && recorded - now <= ORDER_WAIT { due.max(later_by(recorded, ORDER_WAIT)) } else { due }
}

/// State of a delivery after an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeliveryEnd {
    pub state: DeliveryState,
    /// Time of the next attempt; `None` leaves it as it is.
    pub due: Option<Timestamp>,
    pub delivered_at: Option<Timestamp>,
    pub given_up_at: Option<Timestamp>,
}

impl DeliveryEnd {
    /// Makes one in this state from this moment on.
    fn new(state: DeliveryState, now: Timestamp) -> Self {
        let given_up = matches!(state, DeliveryState::Exhausted | DeliveryState::Cancelled);
        let delivered = state == DeliveryState::Delivered;
        Self { state, due: None, delivered_at: delivered.then_some(now), given_up_at: given_up.then_some(now) }
    }

    /// Returns its state after an attempt with this next step.
    pub fn after(next: &NextStep, endpoint_disabled: bool, now: Timestamp) -> Self {
        match next {
            NextStep::Delivered => Self::new(DeliveryState::Delivered, now),
            NextStep::RetryAt(due) => Self { due: Some(*due), ..Self::waiting(endpoint_disabled, now) },
            NextStep::Exhausted => Self::new(DeliveryState::Exhausted, now),
            NextStep::DisableEndpoint(_) => Self::new(DeliveryState::Cancelled, now),
        }
    }

    /// Returns the state of a delivery that is to wait: none waits for a disabled endpoint.
    pub fn waiting(endpoint_disabled: bool, now: Timestamp) -> Self {
        Self::new(if endpoint_disabled { DeliveryState::Cancelled } else { DeliveryState::Pending }, now)
    }
}

/// Time from which an endpoint has been failing, and that of its last failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failing {
    pub since: Timestamp,
    pub last: Timestamp,
}

impl Failing {
    /// Returns the failing of an endpoint that has failed now, and before as given.
    pub fn again(before: Option<Self>, now: Timestamp) -> Self {
        let since = match before {
            Some(Self { since, last }) if now - last <= LONGEST_PAUSE => since.min(now),
            _ => now,
        };
        Self { since, last: now }
    }

    /// Returns true where it has failed for so long that people are called.
    pub fn is_lasting(&self) -> bool {
        self.last - self.since >= REPORT_AFTER
    }

    /// Returns the reason to disable the endpoint, where it has failed for too long.
    pub fn disables(&self) -> Option<String> {
        let too_long = self.last - self.since >= DISABLE_AFTER;
        too_long.then(|| {
            format!("no success for {} h: every try since {} failed", DISABLE_AFTER.num_hours(), to_iso(self.since))
        })
    }
}

/// Returns at most `limit` candidates in fair order: each step goes to the owner with the fewest in hand. `held` is the
/// number that each owner has in hand at first. Each owner's candidates keep their order, which also decides between
/// owners with equal numbers.
pub fn fair<T, O: Eq + Hash>(
    candidates: Vec<T>,
    owner: impl Fn(&T) -> O,
    mut held: HashMap<O, u32>,
    limit: usize,
) -> Vec<T> {
    let ranked = candidates.into_iter().map(|candidate| {
        let in_hand = held.entry(owner(&candidate)).or_default();
        *in_hand = in_hand.saturating_add(1);
        (*in_hand, candidate)
    });
    let mut ranked: Vec<(u32, T)> = ranked.collect();
    // Stable: what is equal stays in the order in which it came.
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn step(result: AttemptResult, attempt: u32) -> NextStep {
        next_step(result, attempt, &GAPS_SECONDS, noon(), &mut StdRng::seed_from_u64(1))
    }

    fn answered(status: u16) -> AttemptResult {
        AttemptResult::Answered { status, retry_after: None }
    }

    #[test]
    fn only_a_2xx_is_a_delivery() {
        for status in 100..=999 {
            assert_eq!(step(answered(status), 1) == NextStep::Delivered, (200..300).contains(&status), "{status}");
        }
    }

    #[test]
    fn gone_disables_the_endpoint_even_at_the_last_try() {
        assert!(matches!(step(answered(410), 1), NextStep::DisableEndpoint(_)));
        assert!(matches!(step(answered(410), 13), NextStep::DisableEndpoint(_)));
    }

    #[test]
    fn after_thirteen_tries_the_delivery_is_exhausted() {
        for attempt in 1..=12 {
            assert!(matches!(step(AttemptResult::Failed, attempt), NextStep::RetryAt(_)), "{attempt}");
        }
        assert_eq!(step(AttemptResult::Failed, 13), NextStep::Exhausted);
        assert_eq!(step(answered(500), u32::MAX), NextStep::Exhausted);
        assert_eq!(step(answered(204), 14), NextStep::Delivered);
    }

    #[test]
    fn retry_after_makes_the_wait_longer_but_never_shorter_and_never_more_than_a_day() {
        let asking = |wait| AttemptResult::Answered { status: 503, retry_after: Some(wait) };
        assert_eq!(step(asking(TimeDelta::minutes(7)), 1), NextStep::RetryAt(noon() + TimeDelta::minutes(7)));
        assert_eq!(step(asking(TimeDelta::days(30)), 1), NextStep::RetryAt(noon() + TimeDelta::hours(24)));
        let NextStep::RetryAt(at) = step(asking(TimeDelta::seconds(1)), 6) else { panic!("a retry") };
        assert!(at >= noon() + TimeDelta::minutes(48));
    }

    /// Fails at these hours; since which of them it is failing.
    fn failing(hours: &[i64]) -> i64 {
        let mut state = None;
        for hour in hours {
            state = Some(Failing::again(state, noon() + TimeDelta::hours(*hour)));
        }
        state.map_or(0, |failing| (failing.since - noon()).num_hours())
    }

    #[test]
    fn an_endpoint_fails_since_its_first_failure_unless_nobody_tried_it_for_long() {
        assert_eq!(failing(&[1, 2, 30, 58, 88]), 1);
        assert_eq!(failing(&[1, 2, 33, 34]), 33);
        assert_eq!(failing(&[5, 3]), 3, "a clock that was set back");
    }

    #[test]
    fn an_endpoint_is_disabled_after_five_days_of_failures_and_not_before() {
        let failing = |last| Failing { since: noon(), last: noon() + last };

        assert_eq!(failing(DISABLE_AFTER - TimeDelta::microseconds(1)).disables(), None);
        assert_eq!(
            failing(DISABLE_AFTER).disables().as_deref(),
            Some("no success for 120 h: every try since 2026-03-10T12:00:00.000Z failed")
        );
    }

    #[test]
    fn a_resolution_lets_the_creation_go_first_for_two_minutes_at_most() {
        let (early, late) = (noon() + TimeDelta::seconds(5), noon() + TimeDelta::minutes(10));

        assert_eq!(sendable_at(early, noon(), false, noon()), early);
        assert_eq!(sendable_at(early, noon(), true, noon()), noon() + TimeDelta::minutes(2));
        assert_eq!(sendable_at(late, noon(), true, noon()), late);
        assert_eq!(sendable_at(early, noon(), true, noon() - TimeDelta::days(1)), early, "a clock that was set back");
    }

    #[test]
    fn what_a_try_makes_of_a_delivery_says_when_it_ended() {
        let end = |state, due, delivered_at, given_up_at| DeliveryEnd { state, due, delivered_at, given_up_at };
        let (now, later) = (Some(noon()), noon() + TimeDelta::minutes(1));
        let gone = NextStep::DisableEndpoint("gone".to_owned());

        for (next, disabled, expected) in [
            (NextStep::Delivered, true, end(DeliveryState::Delivered, None, now, None)),
            (NextStep::RetryAt(later), false, end(DeliveryState::Pending, Some(later), None, None)),
            (NextStep::RetryAt(later), true, end(DeliveryState::Cancelled, Some(later), None, now)),
            (NextStep::Exhausted, false, end(DeliveryState::Exhausted, None, None, now)),
            (gone, false, end(DeliveryState::Cancelled, None, None, now)),
        ] {
            assert_eq!(DeliveryEnd::after(&next, disabled, noon()), expected, "{next:?}");
        }
    }

    proptest! {
        #[test]
        fn each_gap_is_within_a_fifth_of_its_length(seed in any::<u64>(), attempt in 1u32..=12) {
            let seconds = GAPS_SECONDS[attempt as usize - 1];
            let NextStep::RetryAt(at) = next_step(AttemptResult::Failed, attempt, &GAPS_SECONDS, noon(),
                &mut StdRng::seed_from_u64(seed)) else {
                return Err(TestCaseError::fail("not a retry"));
            };
            let wait = (at - noon()).num_milliseconds();
            prop_assert!((seconds * 800..=seconds * 1_200).contains(&wait), "{} ms", wait);
        }
    }

    #[test]
    fn gaps_are_a_fifth_shorter_or_longer_by_chance() {
        let mut random = StdRng::seed_from_u64(7);
        let gap = |_| match next_step(AttemptResult::Failed, 3, &GAPS_SECONDS, noon(), &mut random) {
            NextStep::RetryAt(at) => (at - noon()).num_seconds(),
            other => panic!("{other:?}"),
        };

        let gaps: Vec<i64> = (0..200).map(gap).collect();

        assert!(gaps.iter().all(|gap| (96..=144).contains(gap)), "{gaps:?}");
        assert!(gaps.iter().any(|gap| *gap < 105) && gaps.iter().any(|gap| *gap > 135), "{gaps:?}");
    }

    #[test]
    fn sixteen_kibibytes_of_an_answer_are_kept() {
        assert_eq!(MAX_ANSWER_BYTES, 16_384);
    }

    fn owner(text: &&str) -> char {
        text.chars().next().unwrap_or_default()
    }

    fn order(candidates: &[&'static str], held: &[(char, u32)], limit: usize) -> Vec<&'static str> {
        fair(candidates.to_vec(), owner, held.iter().copied().collect(), limit)
    }

    #[test]
    fn owners_take_turns_whatever_their_number_of_candidates() {
        assert_eq!(order(&["a1", "a2", "a3", "b1", "a4", "c1"], &[], 10), ["a1", "b1", "c1", "a2", "a3", "a4"]);
        assert_eq!(order(&["a1", "a2", "a3", "b1", "b2"], &[], 4), ["a1", "b1", "a2", "b2"]);
    }

    #[test]
    fn who_has_much_in_hand_already_comes_after_those_who_have_little() {
        assert_eq!(order(&["a1", "a2", "b1", "b2"], &[('a', 1)], 3), ["b1", "a1", "b2"]);
        assert_eq!(order(&["a1", "b1"], &[('a', 200)], 1), ["b1"], "one place at a time starves nobody");
    }

    #[test]
    fn a_single_owner_keeps_its_order() {
        assert_eq!(order(&["a1", "a2", "a3"], &[('a', 7)], 2), ["a1", "a2"]);
    }
}
