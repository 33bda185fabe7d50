//! The pace of work of a desk, and the alerts that will expire at it.

use std::collections::BTreeMap;

use chrono::Duration;

use crate::domain::{Timestamp, stats::QUARTER};

/// Length of the work that is counted.
const LOOKED_BACK: Duration = Duration::minutes(60);

/// A longer gap between two decisions is no work.
const LONGEST_GAP: Duration = Duration::minutes(10);

/// Least work for a pace.
const LEAST_WORK: Duration = Duration::minutes(10);

/// The pace of work of a desk: its decisions in the last hour of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkPace {
    /// Decisions recorded at the end of the gaps that count.
    pub decisions: u64,
    /// Total length of those gaps, at most an hour.
    pub worked: Duration,
}

impl WorkPace {
    /// Returns the pace of decisions that were recorded at these moments, in any order; `None` where there is too
    /// little work.
    pub fn of(moments: &[Timestamp], now: Timestamp) -> Option<Self> {
        let mut moments: Vec<Timestamp> = moments.iter().copied().filter(|at| *at <= now).collect();
        moments.sort_unstable_by(|left, right| right.cmp(left));
        // From the last decision to now one works on the next, until the gap has become too long.
        let since = now - *moments.first()?;
        let mut pace = Self { decisions: 0, worked: if since > LONGEST_GAP { Duration::zero() } else { since } };
        for pair in moments.windows(2) {
            let gap = pair[0] - pair[1];
            if gap > LONGEST_GAP {
                continue;
            }
            if pace.worked >= LOOKED_BACK {
                break;
            }
            pace.decisions += 1;
            pace.worked = (pace.worked + gap).min(LOOKED_BACK);
        }
        (pace.worked >= LEAST_WORK && pace.decisions > 0).then_some(pace)
    }

    /// Decisions an hour, rounded.
    pub fn per_hour(&self) -> u64 {
        let seconds = self.worked.num_seconds().max(1).unsigned_abs();
        (self.decisions * 3_600 + seconds / 2) / seconds
    }

    /// Returns the number of decisions that are made in this time.
    fn within(&self, time: Duration) -> u64 {
        self.decisions * time.num_seconds().max(0).unsigned_abs() / self.worked.num_seconds().max(1).unsigned_abs()
    }

    /// Returns the time that this number of decisions takes.
    pub fn time_for(&self, alerts: u64) -> Duration {
        let seconds = u128::from(alerts) * u128::from(self.worked.num_seconds().unsigned_abs())
            / u128::from(self.decisions.max(1));
        Duration::try_seconds(i64::try_from(seconds).unwrap_or(i64::MAX / 1_000)).unwrap_or(Duration::MAX)
    }
}

/// Returns the number of due alerts that will expire at this pace, where the earliest deadline is answered first and no
/// work is wasted. They are counted by the quarter hour of their deadline.
///
/// Each alert takes equally long. The result is the largest excess of alerts due by a moment over those that can be
/// answered by then. Alerts count as due in the middle of their quarter hour.
pub fn will_lapse(by_quarter: &BTreeMap<Timestamp, u64>, pace: &WorkPace, now: Timestamp) -> u64 {
    let mut due = 0;
    let mut worst = 0;
    for (quarter, alerts) in by_quarter {
        due += alerts;
        let begins = (*quarter).max(now);
        let middle = begins + (*quarter + QUARTER - begins) / 2;
        worst = worst.max(due.saturating_sub(pace.within(middle - now)));
    }
    worst
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::{Amount, Currency, CurrencySum, Lapsing, Money, insights::due_soon, time::from_iso};

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    fn ago(minutes: i64) -> Timestamp {
        now() - Duration::minutes(minutes)
    }

    fn every(minutes: i64, count: i64) -> Vec<Timestamp> {
        (0..count).map(|number| ago(number * minutes)).collect()
    }

    #[rstest]
    #[case::one_each_five_minutes(every(5, 40), Some(12))]
    #[case::one_each_five_minutes_since_half_an_hour(every(5, 7), Some(12))]
    #[case::one_each_two_minutes(every(2, 100), Some(30))]
    #[case::gaps_of_ten_minutes_are_work(every(10, 10), Some(6))]
    #[case::longer_gaps_are_none(every(11, 10), None)]
    #[case::nine_minutes_tell_nothing(every(3, 4), None)]
    #[case::ten_minutes_do(every(5, 3), Some(12))]
    #[case::one_decision_is_no_pace(vec![ago(5)], None)]
    #[case::nothing_was_decided(vec![], None)]
    fn the_pace_is_of_the_last_hour_of_work(#[case] moments: Vec<Timestamp>, #[case] per_hour: Option<u64>) {
        assert_eq!(WorkPace::of(&moments, now()).map(|pace| pace.per_hour()), per_hour);
    }

    #[test]
    fn an_hours_decisions_are_rounded_to_the_nearest() {
        let of = |decisions| WorkPace { decisions, worked: Duration::minutes(40) };

        assert_eq!([of(5), of(3)].map(|pace| pace.per_hour()), [8, 5]);
    }

    #[test]
    fn a_clock_that_was_ahead_tells_no_pace() {
        let ahead: Vec<Timestamp> = every(5, 5).into_iter().chain([now() + Duration::minutes(3)]).collect();

        assert_eq!(WorkPace::of(&ahead, now()), WorkPace::of(&every(5, 5), now()));
    }

    #[test]
    fn a_break_does_not_count_and_work_before_it_does() {
        let moments: Vec<Timestamp> =
            every(5, 5).into_iter().chain((0..5).map(|number| ago(200 + number * 5))).collect();

        let pace = WorkPace::of(&moments, now()).unwrap();

        assert_eq!((pace.decisions, pace.worked, pace.per_hour()), (8, Duration::minutes(40), 12));
    }

    #[test]
    fn what_was_decided_before_the_last_hour_of_work_does_not_count() {
        let slow_before: Vec<Timestamp> = (0..20).map(|number| ago(62 + number * 9)).collect();
        let moments: Vec<Timestamp> = every(2, 31).into_iter().chain(slow_before).collect();

        let pace = WorkPace::of(&moments, now()).unwrap();

        assert_eq!((pace.decisions, pace.worked), (30, Duration::minutes(60)));
    }

    #[test]
    fn the_time_since_the_last_decision_slows_the_pace_until_it_is_a_break() {
        let moments: Vec<Timestamp> = (0..10).map(|number| ago(number * 2)).collect();
        let at = |minutes| WorkPace::of(&moments, now() + Duration::minutes(minutes)).unwrap().per_hour();

        assert_eq!([at(0), at(9), at(11)], [30, 20, 30]);
    }

    fn lapses(rows: &[(i64, u64)]) -> BTreeMap<Timestamp, u64> {
        let money = || Money { amount: Amount::from_micros(0), currency: Currency::new("EUR") };
        let row = |(minutes, alerts): &(i64, u64)| Lapsing {
            quarter: Some(now() + Duration::minutes(*minutes)),
            soon: *minutes < 240,
            sum: CurrencySum { alerts: *alerts, money: money(), unpriced: 0 },
        };
        due_soon(&rows.iter().map(row).collect::<Vec<_>>())
    }

    fn pace(per_hour: u64) -> WorkPace {
        WorkPace { decisions: per_hour, worked: Duration::hours(1) }
    }

    #[rstest]
    #[case::all_can_be_done(&[(60, 5), (180, 10)], 12, 0)]
    #[case::too_many_at_once(&[(60, 20)], 8, 11)]
    #[case::later_time_does_not_help_those_before(&[(60, 20), (225, 1)], 8, 11)]
    #[case::two_currencies_of_one_quarter_are_one_sum(&[(60, 10), (60, 10)], 8, 11)]
    #[case::what_lapses_beyond_does_not_count(&[(240, 100)], 1, 0)]
    #[case::nothing_waits(&[], 5, 0)]
    fn what_lapses_follows_from_the_worst_moment(
        #[case] rows: &[(i64, u64)],
        #[case] per_hour: u64,
        #[case] lost: u64,
    ) {
        assert_eq!(will_lapse(&lapses(rows), &pace(per_hour), now()), lost);
    }

    /// Answers one after the other, the earliest deadline first, and leaves out alerts that would be late.
    fn simulated(rows: &[(i64, u64)], per_hour: u64) -> u64 {
        let (mut done, mut lost) = (0, 0);
        for (quarter, alerts) in rows {
            for _ in 0..*alerts {
                let seconds = u64::try_from((*quarter * 60) + 450).unwrap();
                if (done + 1) * 3_600 <= seconds * per_hour { done += 1 } else { lost += 1 }
            }
        }
        lost
    }

    proptest! {
        #[test]
        fn what_lapses_is_what_is_left_when_each_is_answered_in_its_turn(
            rows in proptest::collection::btree_map(0i64..16, 0u64..30, 0..12),
            per_hour in 1u64..60,
        ) {
            let rows: Vec<(i64, u64)> = rows.into_iter().map(|(quarter, alerts)| (quarter * 15, alerts)).collect();

            let lost = will_lapse(&lapses(&rows), &pace(per_hour), now());

            prop_assert_eq!(lost, simulated(&rows, per_hour));
        }

        #[test]
        fn a_pace_is_never_of_more_than_an_hour_nor_of_gaps_that_are_too_long(
            minutes in proptest::collection::vec(0i64..600, 0..80),
        ) {
            let moments: Vec<Timestamp> = minutes.into_iter().map(ago).collect();

            if let Some(pace) = WorkPace::of(&moments, now()) {
                prop_assert!(pace.worked >= LEAST_WORK && pace.worked <= LOOKED_BACK);
                prop_assert!(pace.decisions < moments.len() as u64);
            }
        }
    }
}
