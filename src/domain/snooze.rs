//! Snoozes of an alert on the analyst's own machine, which end well before its deadline; and notes.

use chrono::Duration;

use crate::{Alert, AlertStatus, Deadline, Timestamp, card::mask_card_numbers, sanitize::stored_lines};

/// Lengths of a snooze.
pub const SNOOZE_LENGTHS: [Duration; 3] = [Duration::minutes(15), Duration::hours(1), Duration::hours(4)];

/// Least time between the end of a snooze and the alert's deadline.
pub const BACK_BEFORE: Duration = Duration::hours(1);

/// Shortest snooze.
const SHORTEST: Duration = Duration::minutes(1);

/// Returns the end of a snooze of this length, shortened by the alert's deadline; or why there is none, in words.
pub fn snoozed_until(alert: &Alert, length: Duration, now: Timestamp) -> Result<Timestamp, &'static str> {
    let expired = Err("it has expired");
    if alert.outcome.is_some() {
        return Err("it is answered");
    }
    if alert.expired_at.is_some() || alert.status == AlertStatus::Expired {
        return expired;
    }
    let latest = match alert.deadline {
        Deadline::At(moment) if moment <= now => return expired,
        Deadline::At(moment) => moment - BACK_BEFORE,
        // Whole hours rounded down: so many are left at least.
        Deadline::HoursLeft(hours) => {
            now + Duration::try_hours(hours.clamp(0, 1_000)).unwrap_or_default() - BACK_BEFORE
        }
        // Without a known deadline, an alert is never long out of sight.
        Deadline::Unknown => now + SNOOZE_LENGTHS[0],
    };
    if latest - now < SHORTEST { Err("it is due within an hour") } else { Ok(latest.min(now + length)) }
}

/// The most characters of a note (Unicode scalar values).
pub const MAX_NOTE_CHARS: usize = 500;

/// Returns the text of a note as it is stored: trimmed, card numbers masked but for BIN and last four. It has no
/// control characters but line breaks. One that is too long is refused and never truncated.
pub fn note_text(typed: &str) -> Result<String, String> {
    let over = typed.chars().count().saturating_sub(MAX_NOTE_CHARS);
    if over > 0 {
        return Err(format!("{over} too many: at most {MAX_NOTE_CHARS}"));
    }
    let text = mask_card_numbers(&stored_lines(typed)).into_owned();
    if text.is_empty() { Err("nothing is written yet".to_owned()) } else { Ok(text) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{Outcome, time::from_iso};

    #[test]
    fn a_note_holds_no_card_number_and_no_control_character() {
        let kept = note_text("  called 4111111111111111\u{1b}[2J,\tpaid\nagain  ");

        assert_eq!(kept.as_deref(), Ok("called 411111******1111[2J, paid\nagain"));
    }

    #[test]
    fn a_note_of_the_most_characters_is_kept_whole_and_one_more_is_refused() {
        let most = "é".repeat(MAX_NOTE_CHARS);

        assert_eq!(note_text(&most), Ok(most.clone()));
        assert_eq!(note_text(&format!("{most}!")), Err("1 too many: at most 500".to_owned()));
        assert_eq!(note_text(" \n\u{7} "), Err("nothing is written yet".to_owned()));
    }

    proptest! {
        #[test]
        fn what_is_kept_is_within_the_bound_and_stays_as_it_is(typed in "[0-9a-z \n\u{7}\u{1b}é-]{0,600}") {
            if let Ok(kept) = note_text(&typed) {
                prop_assert!(kept.chars().count() <= MAX_NOTE_CHARS);
                prop_assert!(!kept.chars().any(|c| c.is_control() && c != '\n'));
                prop_assert!(mask_card_numbers(&kept) == kept);
                prop_assert_eq!(note_text(&kept), Ok(kept.clone()));
            }
        }
    }

    fn now() -> Timestamp {
        from_iso("2026-11-20T14:03:00Z").unwrap()
    }

    fn closing_in(minutes: i64) -> Alert {
        Alert { deadline: Deadline::At(now() + Duration::minutes(minutes)), outcome: None, ..Alert::sample() }
    }

    /// Minutes of the snooze of each length.
    fn minutes(alert: &Alert) -> [i64; 3] {
        SNOOZE_LENGTHS.map(|length| (snoozed_until(alert, length, now()).unwrap() - now()).num_minutes())
    }

    fn why_not(alert: &Alert) -> Option<&'static str> {
        snoozed_until(alert, SNOOZE_LENGTHS[0], now()).err()
    }

    #[rstest]
    #[case(300, [15, 60, 240])]
    #[case(299, [15, 60, 239])]
    #[case(100, [15, 40, 40])]
    #[case(61, [1, 1, 1])]
    fn a_snooze_is_cut_to_an_hour_before_the_deadline(#[case] left: i64, #[case] snoozed: [i64; 3]) {
        assert_eq!(minutes(&closing_in(left)), snoozed);
    }

    #[test]
    fn where_nothing_is_left_it_is_said_why() {
        let answered = Alert { outcome: Some(Outcome::sample(closing_in(500).id)), ..closing_in(500) };
        let lapsed = Alert { expired_at: Some(now()), ..closing_in(500) };
        let few = Alert { deadline: Deadline::HoursLeft(1), ..closing_in(0) };

        assert_eq!(why_not(&closing_in(60)), Some("it is due within an hour"));
        assert_eq!(why_not(&closing_in(-1)), Some("it has expired"));
        assert_eq!(why_not(&answered), Some("it is answered"));
        assert_eq!(why_not(&lapsed), Some("it has expired"));
        assert_eq!(why_not(&few), Some("it is due within an hour"));
    }

    #[test]
    fn whole_hours_of_a_service_are_taken_as_the_least_they_can_be() {
        let alert = |deadline| Alert { deadline, ..closing_in(0) };

        assert_eq!(minutes(&alert(Deadline::HoursLeft(2))), [15, 60, 60]);
        assert_eq!(minutes(&alert(Deadline::HoursLeft(i64::MAX))), [15, 60, 240]);
        assert_eq!(minutes(&alert(Deadline::Unknown)), [15; 3]);
    }

    proptest! {
        #[test]
        fn no_snooze_ends_later_than_an_hour_before_the_deadline(left in -100i64..3_000, length in 0usize..3) {
            let alert = closing_in(left);
            let deadline = alert.deadline.moment().unwrap();
            if let Ok(until) = snoozed_until(&alert, SNOOZE_LENGTHS[length], now()) {
                prop_assert!(until > now() && deadline - until >= BACK_BEFORE);
            }
        }
    }
}
