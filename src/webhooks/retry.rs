//! The retry schedule as data, and the one rule that says what follows a try.

use chrono::Duration;
use rand::{Rng, RngExt};

use crate::domain::time::Timestamp;
use crate::store::NextStep;

/// Seconds to wait after the first, second, ... failed try: 5 s, 30 s, 2 min, 10 min, 30 min, 1, 2, 4, 8, 12, 20 and 24 h.
/// When the last gap's try fails as well, the delivery is exhausted.
pub const GAPS_SECONDS: [i64; 12] = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 43_200, 72_000, 86_400];

/// How much a gap may be shorter or longer, in thousandths: 20 %.
const JITTER_MILLE: i64 = 200;

/// The longest wait that a receiver can ask for.
pub const MAX_RETRY_AFTER: Duration = Duration::hours(24);

/// What a try came to, as far as what follows depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryResult {
    /// The receiver answered.
    Answered {
        /// Its status.
        status: u16,
        /// How long it asked us to wait.
        retry_after: Option<Duration>,
    },
    /// No answer came.
    Failed,
}

/// What follows try number `attempt` (1-based): 2xx is delivered, 410 disables the endpoint, everything else (redirects too) is tried
/// again after the next gap, or later where the receiver asked for it, until the schedule is through.
pub fn next_step(result: TryResult, attempt: u32, now: Timestamp, rng: &mut (impl Rng + ?Sized)) -> NextStep {
    let asked = match result {
        TryResult::Answered { status: 200..=299, .. } => return NextStep::Delivered,
        TryResult::Answered { status: 410, .. } => {
            return NextStep::DisableEndpoint("the receiver answered 410 Gone: it wants nothing more".to_owned());
        }
        TryResult::Answered { retry_after, .. } => retry_after,
        TryResult::Failed => None,
    };
    let index = usize::try_from(attempt.max(1) - 1).unwrap_or(usize::MAX);
    let Some(seconds) = GAPS_SECONDS.get(index) else {
        return NextStep::Exhausted;
    };
    let gap = Duration::milliseconds(seconds * rng.random_range(1_000 - JITTER_MILLE..=1_000 + JITTER_MILLE));
    let wait = asked.map_or(gap, |asked| gap.max(asked.min(MAX_RETRY_AFTER)));
    // At the end of time there is no later moment.
    now.checked_add_signed(wait).map_or(NextStep::Exhausted, NextStep::RetryAt)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;
    use rand::rngs::StdRng;

    use super::*;
    use crate::domain::time::from_iso;

    fn noon() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn step(result: TryResult, attempt: u32) -> NextStep {
        next_step(result, attempt, noon(), &mut StdRng::seed_from_u64(1))
    }

    fn answered(status: u16) -> TryResult {
        TryResult::Answered { status, retry_after: None }
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
            assert!(matches!(step(TryResult::Failed, attempt), NextStep::RetryAt(_)), "{attempt}");
        }
        assert_eq!(step(TryResult::Failed, 13), NextStep::Exhausted);
        assert_eq!(step(answered(500), u32::MAX), NextStep::Exhausted);
        assert_eq!(step(answered(204), 14), NextStep::Delivered);
    }

    #[test]
    fn retry_after_makes_the_wait_longer_but_never_shorter_and_never_more_than_a_day() {
        let asking = |wait| TryResult::Answered { status: 503, retry_after: Some(wait) };
        assert_eq!(step(asking(Duration::minutes(7)), 1), NextStep::RetryAt(noon() + Duration::minutes(7)));
        assert_eq!(step(asking(Duration::days(30)), 1), NextStep::RetryAt(noon() + Duration::hours(24)));
        let NextStep::RetryAt(at) = step(asking(Duration::seconds(1)), 6) else { panic!("a retry") };
        assert!(at >= noon() + Duration::minutes(48));
    }

    proptest! {
        #[test]
        fn each_gap_is_within_a_fifth_of_its_length(seed in any::<u64>(), attempt in 1u32..=12) {
            let seconds = GAPS_SECONDS[attempt as usize - 1];
            let NextStep::RetryAt(at) = next_step(TryResult::Failed, attempt, noon(), &mut StdRng::seed_from_u64(seed)) else {
                return Err(TestCaseError::fail("not a retry"));
            };
            let wait = (at - noon()).num_milliseconds();
            prop_assert!((seconds * 800..=seconds * 1_200).contains(&wait), "{} ms", wait);
        }
    }
}
