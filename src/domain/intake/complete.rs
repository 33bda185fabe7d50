//! Completion of a patch: the values that a new alert gets beside its source's, its deadline, and its event.

use chrono::TimeDelta;

use super::{patch::AlertPatch, windows::ResponseWindows};
use crate::{
    alert::{Alert, AlertStatus, Deadline},
    ids::{AlertId, CompanyId, EnrollmentId},
    outcome::Outcome,
    time::{Timestamp, later_by},
};

/// Intake terms: what alerts get that do not say it themselves.
#[derive(Debug, Clone, Copy)]
pub struct IntakeTerms<'a> {
    /// Company of alerts that name none.
    pub company: CompanyId,
    /// Enrollment of alerts that name none.
    pub enrollment: EnrollmentId,
    /// The time to answer.
    pub windows: &'a ResponseWindows,
    /// True where events of new alerts are recorded at all.
    pub events: bool,
    /// Time of the intake.
    pub now: Timestamp,
}

impl AlertPatch {
    /// Fills in what is missing, and derives deadline, status and event. What was given stays known.
    #[must_use]
    pub fn complete(mut self, terms: &IntakeTerms<'_>) -> Self {
        let now = terms.now;
        let is_by_id = self.is_by_id();
        let alert = &mut self.alert;
        if !is_by_id && alert.id == AlertId::default() {
            alert.id = AlertId::generate();
        }
        let raised = *alert.alert_time.get_or_insert(now);
        alert.transaction_time.get_or_insert(raised);
        alert.created_at.get_or_insert(now);
        alert.updated_at.get_or_insert(now);
        alert.company_id.get_or_insert(terms.company);
        alert.enrollment_id.get_or_insert(terms.enrollment);
        let waiting = alert.status == AlertStatus::Open && alert.outcome.is_none();
        let deadline = deadline(alert, raised, waiting, terms.windows, now);
        alert.deadline = Deadline::At(deadline);
        if waiting {
            let lapsed = deadline <= now;
            alert.expired_at = lapsed.then_some(deadline);
            if lapsed {
                alert.status = AlertStatus::Expired;
            }
        } else if alert.status == AlertStatus::Expired {
            alert.expired_at.get_or_insert(deadline);
        }
        complete_outcome(alert, now);
        self.event = terms.events && alert.outcome.is_none() && alert.status != AlertStatus::Expired && deadline > now;
        self
    }
}

/// Derives the deadline (decisions, Alerts and time).
fn deadline(alert: &Alert, raised: Timestamp, waiting: bool, windows: &ResponseWindows, now: Timestamp) -> Timestamp {
    let by_window = later_by(raised, windows.of(&alert.provider, &alert.alert_type));
    match alert.deadline {
        Deadline::At(own) => own,
        Deadline::HoursLeft(hours) if waiting => later_by(now, TimeDelta::hours(hours.max(1))),
        // It has expired, so its deadline has passed, whatever the response window says.
        _ if alert.status == AlertStatus::Expired => alert.expired_at.unwrap_or(by_window.min(now)),
        _ => by_window,
    }
}

/// Fills in what an outcome that was brought along does not say.
fn complete_outcome(alert: &mut Alert, now: Timestamp) {
    let Some(outcome) = &mut alert.outcome else { return };
    let Outcome { alert_id, provider_alert_id, status, action_time, .. } = outcome;
    *alert_id = alert.id;
    if provider_alert_id.is_empty() {
        provider_alert_id.clone_from(&alert.provider_id);
    }
    if status.is_empty() {
        "success".clone_into(status);
    }
    action_time.get_or_insert(alert.updated_at.unwrap_or(now));
}
