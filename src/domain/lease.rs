//! Leases: work that one process holds until a moment, or until it dies.

use super::time::Timestamp;

/// Whether a lease still keeps others out: it has not run out, and its owner is not provably dead.
pub fn is_held(until: Option<Timestamp>, owner_dead: bool, now: Timestamp) -> bool {
    !owner_dead && until.is_some_and(|until| until > now)
}

/// Whether what is due at `next_at` still waits. One that is further away than `longest` is due: then the clock was set back.
pub fn waits(next_at: Timestamp, longest: chrono::TimeDelta, now: Timestamp) -> bool {
    next_at > now && next_at - now <= longest
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    #[test]
    fn a_lease_keeps_others_out_until_its_end_and_as_long_as_its_owner_lives() {
        let (now, second) = (Timestamp::UNIX_EPOCH, TimeDelta::seconds(1));

        for (until, owner_dead, held) in
            [(None, false, false), (Some(now), false, false), (Some(now + second), false, true), (Some(now + second), true, false)]
        {
            assert_eq!(is_held(until, owner_dead, now), held, "{until:?} {owner_dead}");
        }
    }

    #[test]
    fn a_turn_waits_for_its_moment_and_never_longer_than_the_longest_pause() {
        let (now, pause) = (Timestamp::UNIX_EPOCH, TimeDelta::minutes(15));

        assert!(!waits(now, pause, now));
        assert!(waits(now + pause, pause, now));
        assert!(!waits(now + pause + TimeDelta::microseconds(1), pause, now), "a clock that was set back holds nothing up");
    }
}
