//! The guarded clock: the engine's own, as far as it can be believed beside one that only counts.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::TimeDelta;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{
    clock_guard::{CONFIRMED, ClockChange, ClockGuard},
    domain::{
        ClockEpoch, MonotonicTime, Present, Timestamp,
        clock::ClockMemory,
        time::{Clock, SharedClock},
    },
};

/// A monotonic clock: the time since some moment, by two counts. It is never set.
#[derive(Clone)]
pub struct MonotonicClock {
    epoch: ClockEpoch,
    /// Counts on while the machine sleeps, where the system can: what the date is compared with.
    boot_time: Count,
    /// Stands still while the machine sleeps, as the timers of calls do: what waits are measured by.
    uptime: Count,
}

type Count = Arc<dyn Fn() -> Duration + Send + Sync>;

impl MonotonicClock {
    /// A clock that reads this function, with an epoch of its own.
    pub fn new(count: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        let count: Count = Arc::new(count);
        Self { epoch: ClockEpoch::generate(), boot_time: Arc::clone(&count), uptime: count }
    }

    /// The machine's clocks. Where the system tells one boot from another, all processes count from the same epoch.
    pub fn of_the_machine() -> Self {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(epoch) = this_boot() {
            use rustix::time::ClockId;
            return Self {
                epoch,
                boot_time: Arc::new(|| read(ClockId::Boottime)),
                uptime: Arc::new(|| read(ClockId::Monotonic)),
            };
        }
        let start = std::time::Instant::now();
        Self::new(move || start.elapsed())
    }

    /// The present moment of the count that stands still while the machine sleeps.
    pub(super) fn uptime(&self) -> MonotonicTime {
        let micros = i64::try_from((self.uptime)().as_micros()).unwrap_or(i64::MAX);
        MonotonicTime { epoch: self.epoch, micros }
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn read(clock: rustix::time::ClockId) -> Duration {
    let count = rustix::time::clock_gettime(clock);
    Duration::new(count.tv_sec.unsigned_abs(), u32::try_from(count.tv_nsec).unwrap_or_default())
}

/// Identifies this boot: a digest of the kernel's boot id and of the time namespace, whose count starts elsewhere.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn this_boot() -> Option<ClockEpoch> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = std::fs::read_link("/proc/self/ns/time").unwrap_or_default();
    let digest = Sha256::digest(format!("{} {}", boot.trim(), namespace.display()));
    let id: [u8; 16] = digest.get(..16)?.try_into().ok()?;
    Some(ClockEpoch(Uuid::from_bytes(id)))
}

impl fmt::Debug for MonotonicClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MonotonicClock").field("epoch", &self.epoch).finish_non_exhaustive()
    }
}

/// The guarded clock of an engine: a date that jumps ahead moves it only when it has gone on evenly for a while. Every
/// time that an engine writes, compares with a deadline or schedules by is this clock's.
pub(super) struct GuardedClock {
    date: SharedClock,
    /// Monotonic clock that the date is compared with; nothing where the date is believed whatever it shows.
    counting: Option<MonotonicClock>,
    watch: Mutex<ClockWatch>,
    was_set_back: AtomicBool,
}

/// State of the clock guard.
#[derive(Debug, Default)]
struct ClockWatch {
    guard: ClockGuard,
    /// Memory that was last kept or recalled.
    kept: Option<ClockMemory>,
    /// Lead of the date over the guarded time, as last seen.
    ahead: TimeDelta,
}

impl Clock for GuardedClock {
    fn now(&self) -> Timestamp {
        let Some(counting) = &self.counting else { return self.date.now() };
        let mut watch = self.watch();
        // The count first: a thread that is held up in between must not see the date fall behind.
        let count = (counting.boot_time)();
        let observation = watch.guard.observe(self.date.now(), count);
        watch.ahead = observation.ahead;
        drop(watch);
        match observation.change {
            Some(ClockChange::Jumped) => tracing::warn!(
                seconds = observation.ahead.num_seconds(),
                "the clock has jumped ahead: nothing goes by it until it has gone on evenly for {} minutes",
                CONFIRMED.as_secs() / 60
            ),
            Some(ClockChange::Back) => {
                tracing::warn!("the clock has been set back");
                self.set_back();
            }
            Some(ClockChange::Confirmed(ahead)) => {
                tracing::warn!(
                    seconds = ahead.num_seconds(),
                    "the clock has gone on evenly since it jumped: it is believed"
                );
            }
            None => {}
        }
        metrics::gauge!("avert_clock_ahead_seconds").set(observation.ahead.as_seconds_f64());
        observation.now
    }
}

impl GuardedClock {
    pub(super) fn new(date: SharedClock, counting: Option<MonotonicClock>) -> Self {
        Self { date, counting, watch: Mutex::default(), was_set_back: AtomicBool::new(false) }
    }

    /// The present moment by both clocks.
    pub(super) fn present(&self) -> Present {
        Present { date: self.now(), counted: self.counted() }
    }

    /// The present moment by the monotonic clock.
    pub(super) fn counted(&self) -> MonotonicTime {
        self.counting.as_ref().map_or_else(|| MonotonicTime::by_date(self.date.now()), MonotonicClock::uptime)
    }

    /// Goes on from what another process, or this one, has kept.
    pub(super) fn recall(&self, memory: ClockMemory) {
        let Some(counting) = &self.counting else { return };
        let mut watch = self.watch();
        let is_new = watch.kept.replace(memory) != Some(memory);
        if is_new && watch.guard.recall(&memory, counting.epoch, self.date.now()) == Some(ClockChange::Back) {
            self.set_back();
        }
    }

    /// Returns the memory of the clock to keep; `None` where it is kept already.
    pub(super) fn to_keep(&self) -> Option<ClockMemory> {
        let counting = self.counting.as_ref()?;
        let mut watch = self.watch();
        let memory = watch.guard.memory(counting.epoch)?;
        if watch.kept.is_some_and(|kept| memory.agrees_with(&kept)) {
            return None;
        }
        watch.kept = Some(memory);
        Some(memory)
    }

    fn watch(&self) -> MutexGuard<'_, ClockWatch> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it has been set back.
    pub(super) fn set_back(&self) {
        self.was_set_back.store(true, Ordering::Relaxed);
    }

    /// Returns whether the clock was set back since the last call, and resets that.
    pub(super) fn take_set_back(&self) -> bool {
        self.was_set_back.swap(false, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::SystemClock;

    /// A date whose reader is held up once it has read it, longer each time.
    struct HeldUp(Arc<Mutex<Duration>>);

    impl Clock for HeldUp {
        fn now(&self) -> Timestamp {
            let mut passed = self.0.lock().unwrap();
            let date = Timestamp::UNIX_EPOCH + TimeDelta::from_std(*passed).unwrap();
            *passed = *passed * 2 + Duration::from_secs(100);
            date
        }
    }

    #[test]
    fn a_thread_that_is_held_up_sees_no_clock_that_is_set_back() {
        let passed = Arc::<Mutex<Duration>>::default();
        let counted = Arc::clone(&passed);
        let counting = MonotonicClock::new(move || *counted.lock().unwrap());
        let clock = GuardedClock::new(Arc::new(HeldUp(passed)), Some(counting));

        let moments = [clock.now(), clock.now(), clock.now()];

        assert!(moments.is_sorted() && !clock.take_set_back(), "{moments:?}");
    }

    /// A date that is set by hand.
    #[derive(Clone)]
    struct SetByHand(Arc<Mutex<Timestamp>>);

    impl Clock for SetByHand {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }
    }

    #[test]
    fn a_date_that_jumps_ahead_and_back_is_never_believed() {
        let date = SetByHand(Arc::new(Mutex::new(Timestamp::UNIX_EPOCH)));
        let clock = GuardedClock::new(Arc::new(date.clone()), Some(MonotonicClock::new(|| Duration::from_secs(7))));

        let told = [0, 7_200, 0].map(|seconds| {
            *date.0.lock().unwrap() = Timestamp::UNIX_EPOCH + TimeDelta::seconds(seconds);
            clock.now()
        });

        assert_eq!(told, [Timestamp::UNIX_EPOCH; 3]);
    }

    #[test]
    fn processes_of_a_machine_count_from_one_epoch_where_the_system_tells_its_boot() {
        let clocks = [(); 2]
            .map(|()| GuardedClock::new(Arc::new(SystemClock), Some(MonotonicClock::of_the_machine())).counted());

        let known = std::path::Path::new("/proc/sys/kernel/random/boot_id").exists();
        assert_eq!(clocks[1].since(clocks[0]).is_some_and(|passed| passed >= TimeDelta::zero()), known);
    }
}
