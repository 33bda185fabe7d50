//! Expiry: what becomes of an alert that nobody answered until its deadline, and of one that expired by a clock that
//! was wrong.

use super::time::Timestamp;
use super::{Alert, AlertStatus};

/// Expires an alert: its status is EXPIRED since its deadline, whenever that was noticed.
pub fn expire(alert: &mut Alert, now: Timestamp) {
    alert.status = AlertStatus::Expired;
    alert.expired_at = alert.deadline.moment();
    alert.updated_at = Some(now);
}

/// Undoes an expiry that came before its time.
pub fn undo(alert: &mut Alert, now: Timestamp) {
    alert.status = AlertStatus::Open;
    alert.expired_at = None;
    alert.updated_at = Some(now);
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;
    use crate::domain::Deadline;

    #[test]
    fn an_alert_expires_at_its_deadline_whenever_that_is_noticed_and_is_open_again_once_that_is_undone() {
        let deadline = Timestamp::UNIX_EPOCH + TimeDelta::hours(5);
        let (noticed, undone) = (deadline + TimeDelta::hours(2), deadline + TimeDelta::hours(3));
        let mut alert = Alert { deadline: Deadline::At(deadline), ..Alert::sample() };

        expire(&mut alert, noticed);
        assert_eq!(
            (alert.status.clone(), alert.expired_at, alert.updated_at),
            (AlertStatus::Expired, Some(deadline), Some(noticed))
        );

        undo(&mut alert, undone);
        assert_eq!((alert.status, alert.expired_at, alert.updated_at), (AlertStatus::Open, None, Some(undone)));
    }
}
