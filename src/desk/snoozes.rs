//! Snoozed alerts of this workstation, and when each snooze ends. One that is over is dropped when the file is next
//! written. Their list is read one by one, because no service knows which they are.

use chrono::Duration;
use futures::{StreamExt as _, stream};
use serde::{Deserialize, Serialize};

use super::{file::DeskError, kept_list::KeptList, ledger::steps::JournalAlert};
use crate::{
    domain::{Alert, AlertId, AlertQuery, AlertStatus, Deadline, Page, Timestamp},
    service::{Alerts, ServiceError},
};

/// A snoozed alert.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnoozedAlert {
    pub until: Timestamp,
    pub alert: JournalAlert,
}

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

/// Returns whether a snooze may hide an alert. It may not once the alert is answered, expired or in its last hour by
/// the service's word: whole hours may have been told late.
pub fn can_be_aside(alert: &Alert) -> bool {
    let is_near = matches!(alert.deadline, Deadline::HoursLeft(hours) if hours < 1);
    alert.outcome.is_none() && alert.expired_at.is_none() && !is_near
}

impl KeptList<SnoozedAlert> {
    /// Returns the alerts that are snoozed at a moment.
    pub fn at(&self, now: Timestamp) -> Result<Vec<SnoozedAlert>, DeskError> {
        let mut snoozed = self.list()?;
        snoozed.retain(|snoozed| snoozed.until > now);
        Ok(snoozed)
    }

    /// Puts alerts aside; an earlier snooze of one of them gives way.
    pub fn put(&self, new: &[SnoozedAlert], now: Timestamp) -> Result<(), DeskError> {
        self.change(|snoozed| {
            snoozed.retain(|known| known.until > now && new.iter().all(|new| new.alert.id != known.alert.id));
            snoozed.extend_from_slice(new);
        })
    }

    /// Ends the snoozes of these alerts.
    pub fn end(&self, ended: &[AlertId], now: Timestamp) -> Result<(), DeskError> {
        self.change(|snoozed| snoozed.retain(|known| known.until > now && !ended.contains(&known.alert.id)))
    }
}

/// Most alerts that are read at the same time.
const AT_ONCE: usize = 4;

/// Alerts to list, whatever else a service has, and the time of that choice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ChosenAlerts {
    pub ids: Vec<AlertId>,
    pub at: Timestamp,
}

/// Reads these alerts as they are now, in this order. One that is no longer there is left out.
pub async fn read_all(alerts: &dyn Alerts, ids: &[AlertId]) -> Result<Vec<Alert>, ServiceError> {
    let mut read = stream::iter(ids.iter().copied()).map(|id| alerts.get(id)).buffered(AT_ONCE);
    let mut all: Vec<Alert> = Vec::with_capacity(ids.len());
    while let Some(answer) = read.next().await {
        match answer {
            Ok(alert) => all.push(alert),
            Err(ServiceError::AlertNotFound(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(all)
}

/// A page of the chosen alerts as they are now, as far as they are within the query's filter. One that is no longer
/// there is left out.
pub async fn page_of(
    alerts: &dyn Alerts,
    chosen: &ChosenAlerts,
    query: &AlertQuery,
) -> Result<Page<Alert>, ServiceError> {
    let mut all = read_all(alerts, &chosen.ids).await?;
    all.retain(|alert| query.filter.matches(alert, chosen.at));
    all.sort_by(|left, right| query.sort.compare(left, right));
    let size = usize::try_from(query.page.size).unwrap_or(usize::MAX);
    let first = usize::try_from(query.page.page).unwrap_or(usize::MAX).saturating_mul(size);
    let total = all.len() as u64;
    let data = all.into_iter().skip(first).take(size).collect();
    Ok(Page { data, total, counted: true, page: query.page.page, size: query.page.size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::{
        Desk,
        domain::{Outcome, time::from_iso},
    };

    fn snoozes() -> (tempfile::TempDir, KeptList<SnoozedAlert>) {
        let directory = tempfile::tempdir().unwrap();
        let snoozes = Desk::open(directory.path()).unwrap().snoozes();
        (directory, snoozes)
    }

    fn now() -> Timestamp {
        from_iso("2026-11-20T14:03:00Z").unwrap()
    }

    fn snoozed(minutes: i64) -> SnoozedAlert {
        SnoozedAlert { alert: (&Alert::sample()).into(), until: now() + Duration::minutes(minutes) }
    }

    #[test]
    fn snoozes_survive_a_restart_and_end_by_themselves() {
        let (_directory, snoozes) = snoozes();
        let [short, long] = [snoozed(15), snoozed(60)];

        snoozes.put(&[short.clone(), long.clone()], now()).unwrap();

        assert_eq!(snoozes.at(now()), Ok(vec![short, long.clone()]));
        assert_eq!(snoozes.at(now() + Duration::minutes(15)), Ok(vec![long]));
        assert_eq!(snoozes.at(now() + Duration::hours(2)), Ok(Vec::new()));
    }

    #[test]
    fn a_new_snooze_of_an_alert_takes_the_place_of_the_one_before() {
        let (_directory, snoozes) = snoozes();
        let first = snoozed(15);
        let second = SnoozedAlert { until: now() + Duration::hours(1), ..first.clone() };

        snoozes.put(std::slice::from_ref(&first), now()).unwrap();
        snoozes.put(std::slice::from_ref(&second), now()).unwrap();

        assert_eq!(snoozes.at(now()), Ok(vec![second]));
    }

    #[test]
    fn what_is_over_is_pruned_and_an_empty_file_goes() {
        let (directory, snoozes) = snoozes();
        let [over, other] = [snoozed(15), snoozed(60)];
        snoozes.put(&[over.clone(), other.clone()], now()).unwrap();

        snoozes.end(&[AlertId::generate()], now() + Duration::minutes(20)).unwrap();
        let pruned = std::fs::read_to_string(directory.path().join("snoozed.toml")).unwrap();
        snoozes.end(&[other.alert.id], now()).unwrap();

        assert!(!pruned.contains(&over.alert.id.to_string()), "{pruned}");
        assert!(!directory.path().join("snoozed.toml").exists());
    }

    #[test]
    fn a_broken_file_is_reported_and_kept() {
        let (directory, snoozes) = snoozes();
        let path = directory.path().join("snoozed.toml");
        std::fs::write(&path, "[[snoozed]]\nuntil = 7 8\n").unwrap();

        assert_eq!(snoozes.at(now()).unwrap_err().line, Some(2));
        assert!(snoozes.put(&[snoozed(15)], now()).is_err());
        assert!(std::fs::read_to_string(&path).unwrap().contains("7 8"));
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
