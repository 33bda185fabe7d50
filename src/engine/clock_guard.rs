//! Clock guard, which decides if the machine's date can be believed. A jump ahead must not make open alerts expire
//! early.
//!
//! Two clocks are compared: the one that shows the date, which can be set, and one that only ever counts. The date may
//! run ahead of the count by at most 5 minutes between two observations. Beyond that, time goes on by the count, until
//! the date has gone on evenly for 10 minutes. Then it was the truth: the machine slept, or its clock had been slow. A
//! clock that is set back again within that time has done no harm. The observations outlive a process, so that a jump
//! between two processes is noticed, until the machine is booted.

use std::time::Duration;

use chrono::TimeDelta;

use crate::domain::{
    ClockEpoch, Timestamp,
    clock::{ClockMemory, Jump, STEP},
};

/// Tolerance: how far the date may run ahead between two observations. The expiry loop looks twice a minute.
const TOLERANCE: TimeDelta = TimeDelta::minutes(5);

/// Confirmation time: how long a date that has jumped has to go on evenly before it is believed.
pub(super) const CONFIRMED: Duration = Duration::from_secs(600);

/// Number of observations in that time, and their least interval, before it is believed.
const OBSERVATIONS: u32 = 5;
const APART: Duration = Duration::from_secs(20);

/// Result of observing the clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Observation {
    /// Observes both clocks and returns the guarded time.
    pub(super) now: Timestamp,
    /// Lead of the date over that; zero while it is believed.
    pub(super) ahead: TimeDelta,
    pub(super) change: Option<ClockChange>,
}

/// Change of the date since the look before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClockChange {
    /// The date has jumped ahead, and is not believed.
    Jumped,
    /// The date has been set back: to its right value, or behind the believed one.
    Back,
    /// The date has gone on evenly since it jumped this far: it is believed.
    Confirmed(TimeDelta),
}

/// The clock guard's state: what was observed of the two clocks.
#[derive(Debug, Default)]
pub(super) struct ClockGuard {
    /// The last moment at which both were believed.
    believed: Option<(Timestamp, Duration)>,
    jump: Option<Jump>,
}

impl ClockGuard {
    /// Observes the date and the count.
    pub(super) fn observe(&mut self, date: Timestamp, count: Duration) -> Observation {
        let Some((believed, at)) = self.believed else { return self.believe(date, count, None) };
        let passed = TimeDelta::from_std(count.saturating_sub(at)).unwrap_or(TimeDelta::MAX);
        let now = believed.checked_add_signed(passed).unwrap_or(Timestamp::MAX_UTC);
        let ahead = date - now;
        if ahead <= TOLERANCE {
            let change = (self.jump.is_some() || ahead < -STEP).then_some(ClockChange::Back);
            return self.believe(date, count, change);
        }
        let even = |jump: &Jump| (ahead - jump.ahead).abs() <= TOLERANCE;
        match &mut self.jump {
            Some(jump) if even(jump) => {
                if count.saturating_sub(jump.last_observed) >= APART {
                    jump.observations += 1;
                    jump.last_observed = count;
                }
                if jump.observations >= OBSERVATIONS && count.saturating_sub(jump.since) >= CONFIRMED {
                    return self.believe(date, count, Some(ClockChange::Confirmed(ahead)));
                }
                Observation { now, ahead, change: None }
            }
            _ => {
                self.jump = Some(Jump { ahead, since: count, last_observed: count, observations: 1 });
                Observation { now, ahead, change: Some(ClockChange::Jumped) }
            }
        }
    }

    /// Goes on from what was observed before on this machine. Of another boot only one thing is known: the date has
    /// been set back where it is behind what it was then.
    pub(super) fn recall(&mut self, memory: &ClockMemory, epoch: ClockEpoch, date: Timestamp) -> Option<ClockChange> {
        if memory.epoch == epoch {
            self.believed = Some((memory.date, memory.count));
            self.jump = memory.jump;
        }
        (memory.epoch != epoch && date < memory.date - STEP).then_some(ClockChange::Back)
    }

    /// Returns the observations for the next process.
    pub(super) fn memory(&self, epoch: ClockEpoch) -> Option<ClockMemory> {
        self.believed.map(|(date, count)| ClockMemory { epoch, date, count, jump: self.jump })
    }

    fn believe(&mut self, date: Timestamp, count: Duration, change: Option<ClockChange>) -> Observation {
        self.jump = None;
        self.believed = Some((date, count));
        Observation { now: date, ahead: TimeDelta::zero(), change }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::from_iso;

    /// Both clocks, and what is believed.
    struct Clocks {
        date: Timestamp,
        count: Duration,
        guard: ClockGuard,
    }

    impl Clocks {
        fn new() -> Self {
            let date = from_iso("2026-03-10T12:00:00Z").unwrap();
            let mut clocks = Self { date, count: Duration::from_secs(1_000), guard: ClockGuard::default() };
            clocks.observe();
            clocks
        }

        fn observe(&mut self) -> Timestamp {
            self.guard.observe(self.date, self.count).now
        }

        /// Time goes by, for both; one look at its end.
        fn pass(&mut self, seconds: u32) -> Timestamp {
            self.date += TimeDelta::seconds(seconds.into());
            self.count += Duration::from_secs(seconds.into());
            self.observe()
        }

        /// The date is set.
        fn jump(&mut self, minutes: i64) -> Timestamp {
            self.date += TimeDelta::minutes(minutes);
            self.observe()
        }
    }

    #[test]
    fn a_clock_that_goes_evenly_is_believed_however_rarely_it_is_looked_at() {
        let mut clocks = Clocks::new();

        assert_eq!(clocks.pass(30), clocks.date);
        assert_eq!(clocks.pass(86_400 * 3), clocks.date);
        assert_eq!(clocks.jump(5), clocks.date, "small steps are");
    }

    #[test]
    fn a_jump_ahead_holds_time_to_the_count_until_it_is_undone() {
        let mut clocks = Clocks::new();
        let before = clocks.date;

        assert_eq!(clocks.jump(60), before);
        assert_eq!(clocks.pass(120), before + TimeDelta::seconds(120));

        assert_eq!(clocks.jump(-60), clocks.date);
        assert_eq!(clocks.pass(3_600), clocks.date);
    }

    #[test]
    fn a_jump_is_believed_after_ten_even_minutes_and_several_looks() {
        let mut clocks = Clocks::new();
        clocks.jump(60);

        for _ in 0..19 {
            assert_ne!(clocks.pass(30), clocks.date);
        }

        assert_eq!(clocks.pass(30), clocks.date);
        assert_eq!(clocks.pass(30), clocks.date, "and from then on");
    }

    #[test]
    fn ten_minutes_without_looks_confirm_nothing() {
        let mut clocks = Clocks::new();
        clocks.jump(60);

        assert_ne!(clocks.pass(601), clocks.date);
    }

    #[test]
    fn a_second_jump_begins_the_wait_anew() {
        let mut clocks = Clocks::new();
        clocks.jump(60);
        for _ in 0..15 {
            clocks.pass(30);
        }

        clocks.jump(60);

        for _ in 0..19 {
            assert_ne!(clocks.pass(30), clocks.date);
        }
        assert_eq!(clocks.pass(30), clocks.date);
    }

    /// Another process on the machine, which goes on from what this one knows.
    fn restarted(clocks: &Clocks) -> Clocks {
        let epoch = ClockEpoch::generate();
        let mut guard = ClockGuard::default();
        guard.recall(&clocks.guard.memory(epoch).unwrap(), epoch, clocks.date);
        Clocks { guard, ..*clocks }
    }

    #[test]
    fn a_restart_inside_a_jump_believes_it_no_sooner() {
        let mut clocks = Clocks::new();
        clocks.jump(60);
        for _ in 0..10 {
            clocks.pass(30);
        }

        let mut clocks = restarted(&clocks);

        for _ in 0..9 {
            assert_ne!(clocks.pass(30), clocks.date);
        }
        assert_eq!(clocks.pass(30), clocks.date, "and no later: what was observed before counts");
    }

    #[test]
    fn a_jump_while_nobody_looked_is_noticed() {
        let clocks = Clocks::new();
        let believed = clocks.date;

        let mut clocks = restarted(&clocks);
        clocks.count += Duration::from_secs(7);

        assert_eq!(clocks.jump(60 * 24), believed + TimeDelta::seconds(7));
    }

    #[test]
    fn of_another_boot_it_is_known_that_the_date_was_set_back_and_nothing_else() {
        let clocks = Clocks::new();
        let memory = clocks.guard.memory(ClockEpoch::generate()).unwrap();
        let recalled = |date| {
            let mut guard = ClockGuard::default();
            let change = guard.recall(&memory, ClockEpoch::generate(), date);
            (change, guard.observe(date, Duration::ZERO).now == date)
        };

        assert_eq!(recalled(clocks.date + TimeDelta::days(2)), (None, true), "the machine was off");
        assert_eq!(recalled(clocks.date - TimeDelta::days(2)), (Some(ClockChange::Back), true));
    }

    #[test]
    fn small_steps_need_not_be_remembered() {
        let mut clocks = Clocks::new();
        let epoch = ClockEpoch::generate();
        let before = clocks.guard.memory(epoch).unwrap();

        clocks.pass(86_400);
        let later = clocks.guard.memory(epoch).unwrap();
        clocks.date += TimeDelta::seconds(2);
        clocks.observe();

        assert!(later.agrees_with(&before));
        assert!(!clocks.guard.memory(epoch).unwrap().agrees_with(&before));
    }

    #[test]
    fn a_clock_that_is_set_back_is_believed_at_once() {
        let mut clocks = Clocks::new();

        assert_eq!(clocks.jump(-600), clocks.date);
    }

    #[test]
    fn a_step_back_is_told_and_a_small_one_is_none() {
        let changed = |millis: i64| {
            let mut clocks = Clocks::new();
            let date = clocks.date + TimeDelta::milliseconds(millis);
            clocks.guard.observe(date, clocks.count).change
        };

        assert_eq!([-1_001, -1_000, 0, 60_000].map(changed), [Some(ClockChange::Back), None, None, None]);
    }

    #[test]
    fn a_jump_that_is_undone_is_told() {
        let mut clocks = Clocks::new();
        clocks.jump(60);

        let change = clocks.guard.observe(clocks.date - TimeDelta::minutes(58), clocks.count).change;

        assert_eq!(change, Some(ClockChange::Back));
    }

    #[test]
    fn a_date_of_another_boot_may_be_behind_by_a_small_step() {
        let clocks = Clocks::new();
        let memory = clocks.guard.memory(ClockEpoch::generate()).unwrap();
        let recalled = |millis: i64| {
            ClockGuard::default().recall(&memory, ClockEpoch::generate(), clocks.date + TimeDelta::milliseconds(millis))
        };

        assert_eq!([-1_001, -1_000, 0, 500].map(recalled), [Some(ClockChange::Back), None, None, None]);
    }

    #[test]
    fn memories_agree_in_boot_and_jump_and_but_for_a_small_step_in_the_date() {
        let (clocks, epoch) = (Clocks::new(), ClockEpoch::generate());
        let memory = clocks.guard.memory(epoch).unwrap();
        let jump =
            Jump { ahead: TimeDelta::hours(1), since: clocks.count, last_observed: clocks.count, observations: 1 };
        let later = |seconds: u64, millis: i64| ClockMemory {
            date: memory.date + TimeDelta::seconds(i64::try_from(seconds).unwrap()) + TimeDelta::milliseconds(millis),
            count: memory.count + Duration::from_secs(seconds),
            ..memory
        };

        assert!(
            [later(0, 0), later(90, 0), later(90, 1_000), later(90, -1_000)]
                .iter()
                .all(|other| memory.agrees_with(other))
        );
        let others = [
            later(90, 1_001),
            later(90, -1_001),
            ClockMemory { epoch: ClockEpoch::generate(), ..memory },
            ClockMemory { jump: Some(jump), ..memory },
            ClockMemory { epoch: ClockEpoch::generate(), jump: Some(jump), ..memory },
        ];
        assert!(!others.iter().any(|other| memory.agrees_with(other)));
    }
}
