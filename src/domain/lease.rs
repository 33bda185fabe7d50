//! Leases and turns: work that one process holds until a moment, or until it dies, and work that waits for a moment.
//! Both moments are dates. A date recorded by a clock that has been set back since delays nothing for longer than
//! intended.

use chrono::TimeDelta;

use super::time::Timestamp;

/// Returns true for a lease of this term that still keeps others out: it has not run out, and its owner is not provably
/// dead. One that would last more than twice the term is from a clock that has been set back.
pub fn is_held(until: Option<Timestamp>, term: TimeDelta, owner_dead: bool, now: Timestamp) -> bool {
    !owner_dead && until.is_some_and(|until| until > now && until - now <= term * 2)
}

/// Returns true for a wait that began at `since` and is not over yet. One that would begin later than now is over: the
/// clock was set back.
pub fn waits(since: Timestamp, until: Timestamp, now: Timestamp) -> bool {
    since <= now && now < until
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_keeps_others_out_until_its_end_and_as_long_as_its_owner_lives() {
        let (now, second) = (Timestamp::UNIX_EPOCH, TimeDelta::seconds(1));

        for (until, owner_dead, held) in [
            (None, false, false),
            (Some(now), false, false),
            (Some(now + second), false, true),
            (Some(now + second), true, false),
            (Some(now + second * 90), false, true),
            (Some(now + second * 91), false, false),
        ] {
            assert_eq!(is_held(until, second * 45, owner_dead, now), held, "{until:?} {owner_dead}");
        }
    }

    #[test]
    fn a_turn_waits_for_its_moment_unless_the_clock_was_set_back_since() {
        let (since, pause) = (Timestamp::UNIX_EPOCH, TimeDelta::minutes(15));

        assert!(waits(since, since + pause, since));
        assert!(!waits(since, since + pause, since + pause));
        assert!(
            !waits(since, since + pause, since - TimeDelta::microseconds(1)),
            "a clock that was set back holds nothing up"
        );
    }
}
