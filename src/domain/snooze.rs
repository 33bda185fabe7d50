//! Snoozes: how long an alert may be snoozed, so that it returns well before its deadline.

use chrono::Duration;

use super::{Alert, AlertStatus, Deadline, Timestamp};

/// Lengths of a snooze.
pub const SNOOZE_LENGTHS: [Duration; 3] = [Duration::minutes(15), Duration::hours(1), Duration::hours(4)];

/// Least time between the end of a snooze and the alert's deadline.
pub const BACK_BEFORE: Duration = Duration::hours(1);

/// Shortest snooze.
const SHORTEST: Duration = Duration::minutes(1);

/// Reason that an alert cannot be snoozed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoSnooze {
    /// The alert has an outcome.
    Answered,
    /// The alert has expired.
    Lapsed,
    /// The time to its deadline is no longer than [`BACK_BEFORE`].
    ClosesIn(Duration),
    /// The provider gave whole hours alone, and so few that no more can be relied on.
    FewHours(i64),
}

/// A snooze that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnoozeOffer {
    pub length: Duration,
    pub until: Timestamp,
    /// True where it is shortened by the deadline.
    pub is_cut: bool,
}

/// Returns the last moment to which an alert may be snoozed now.
fn latest(alert: &Alert, now: Timestamp) -> Result<Timestamp, NoSnooze> {
    if alert.outcome.is_some() {
        return Err(NoSnooze::Answered);
    }
    if alert.expired_at.is_some() || alert.status == AlertStatus::Expired {
        return Err(NoSnooze::Lapsed);
    }
    let (latest, why) = match alert.deadline {
        Deadline::At(moment) if moment <= now => return Err(NoSnooze::Lapsed),
        Deadline::At(moment) => (moment - BACK_BEFORE, NoSnooze::ClosesIn(moment - now)),
        // Whole hours rounded down: so many are left at least.
        Deadline::HoursLeft(hours) => {
            let left = Duration::try_hours(hours.clamp(0, 1_000)).unwrap_or_default();
            (now + left - BACK_BEFORE, NoSnooze::FewHours(hours))
        }
        // Without a known deadline, an alert is never long out of sight.
        Deadline::Unknown => (now + SNOOZE_LENGTHS[0], NoSnooze::Lapsed),
    };
    if latest - now < SHORTEST { Err(why) } else { Ok(latest) }
}

/// Returns the end of a snooze of this length, shortened by the alert's deadline.
pub fn snoozed_until(alert: &Alert, length: Duration, now: Timestamp) -> Result<Timestamp, NoSnooze> {
    latest(alert, now).map(|latest| latest.min(now + length))
}

/// Returns the snoozes offered for an alert: every length that its deadline permits, and the first longer one,
/// shortened.
pub fn snooze_offers(alert: &Alert, now: Timestamp) -> Result<Vec<SnoozeOffer>, NoSnooze> {
    let latest = latest(alert, now)?;
    let mut offers = Vec::with_capacity(SNOOZE_LENGTHS.len());
    for length in SNOOZE_LENGTHS {
        let until = now + length;
        if until > latest {
            // An offer that ends with the one before it is not made a second time.
            if offers.last().is_none_or(|last: &SnoozeOffer| latest - last.until >= SHORTEST) {
                offers.push(SnoozeOffer { length, until: latest, is_cut: true });
            }
            break;
        }
        offers.push(SnoozeOffer { length, until, is_cut: false });
    }
    Ok(offers)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::domain::Outcome;
    use crate::domain::time::from_iso;

    fn now() -> Timestamp {
        from_iso("2026-11-20T14:03:00Z").unwrap()
    }

    fn closing_in(minutes: i64) -> Alert {
        Alert { deadline: Deadline::At(now() + Duration::minutes(minutes)), outcome: None, ..Alert::sample() }
    }

    fn minutes(offers: &[SnoozeOffer]) -> Vec<(i64, bool)> {
        offers.iter().map(|offer| ((offer.until - now()).num_minutes(), offer.is_cut)).collect()
    }

    #[rstest]
    #[case(1_000, &[(15, false), (60, false), (240, false)])]
    #[case(300, &[(15, false), (60, false), (240, false)])]
    #[case(299, &[(15, false), (60, false), (239, true)])]
    #[case(121, &[(15, false), (60, false), (61, true)])]
    #[case(120, &[(15, false), (60, false)])]
    #[case(100, &[(15, false), (40, true)])]
    #[case(75, &[(15, false)])]
    #[case(70, &[(10, true)])]
    #[case(61, &[(1, true)])]
    fn what_is_offered_is_cut_to_an_hour_before_the_deadline(#[case] left: i64, #[case] offered: &[(i64, bool)]) {
        assert_eq!(minutes(&snooze_offers(&closing_in(left), now()).unwrap()), offered);
    }

    #[test]
    fn where_nothing_is_left_it_is_said_why() {
        let answered = Alert { outcome: Some(Outcome::sample(closing_in(500).id)), ..closing_in(500) };
        let lapsed = Alert { expired_at: Some(now()), ..closing_in(500) };
        let few = Alert { deadline: Deadline::HoursLeft(1), ..closing_in(0) };

        assert_eq!(snooze_offers(&closing_in(60), now()), Err(NoSnooze::ClosesIn(Duration::hours(1))));
        assert_eq!(snooze_offers(&closing_in(-1), now()), Err(NoSnooze::Lapsed));
        assert_eq!(snooze_offers(&answered, now()), Err(NoSnooze::Answered));
        assert_eq!(snooze_offers(&lapsed, now()), Err(NoSnooze::Lapsed));
        assert_eq!(snooze_offers(&few, now()), Err(NoSnooze::FewHours(1)));
    }

    #[test]
    fn whole_hours_of_a_service_are_taken_as_the_least_they_can_be() {
        let alert = |deadline| Alert { deadline, ..closing_in(0) };

        assert_eq!(minutes(&snooze_offers(&alert(Deadline::HoursLeft(2)), now()).unwrap()), [(15, false), (60, false)]);
        assert_eq!(minutes(&snooze_offers(&alert(Deadline::HoursLeft(i64::MAX)), now()).unwrap()).len(), 3);
        assert_eq!(minutes(&snooze_offers(&alert(Deadline::Unknown), now()).unwrap()), [(15, false)]);
    }

    proptest! {
        #[test]
        fn no_snooze_ends_later_than_an_hour_before_the_deadline(left in -100i64..3_000, length in 0usize..3) {
            let alert = closing_in(left);
            let deadline = alert.deadline.moment().unwrap();
            let chosen = snoozed_until(&alert, SNOOZE_LENGTHS[length], now());
            let offered = snooze_offers(&alert, now());
            prop_assert_eq!(chosen.is_ok(), offered.is_ok());
            let ends = offered.unwrap_or_default().into_iter().map(|offer| offer.until).chain(chosen.ok());
            for until in ends {
                prop_assert!(until > now() && deadline - until >= BACK_BEFORE);
            }
        }
    }
}
