//! Expiry: what becomes of an alert that nobody answered until its deadline, and of one that expired by a clock that was wrong.

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
