//! Good answers, read as tolerantly as the wire can.

use super::http::Answer;
use crate::{
    domain::{Alert, AlertId, FieldError, Outcome, Page, PageRequest},
    service::ServiceError,
    wire::read::{self, UnknownNames},
};

/// One alert, which has to be the one that was asked for.
pub(super) fn alert(answer: &Answer, id: AlertId) -> Result<Alert, ServiceError> {
    let alert = any_alert(answer)?;
    if alert.id == id {
        return Ok(alert);
    }
    Err(ServiceError::Unavailable(answer.exchange.about(&format!("it answered with another alert, {}", alert.id))))
}

/// One alert, whichever it is.
pub(super) fn any_alert(answer: &Answer) -> Result<Alert, ServiceError> {
    let mut unknown = UnknownNames::default();
    let alert = read::answer(&text(answer), &mut unknown).map_err(|error| unreadable(answer, "alert", &error))?;
    log_unknown_fields(&unknown);
    Ok(alert)
}

/// A page of alerts, and how many rows it has, with those that are none.
pub(super) struct PageAnswer {
    pub page: Page<Alert>,
    pub rows: u32,
}

/// A page of alerts. A first one with rows of which none can be read is no answer.
pub(super) fn page(answer: &Answer, asked: PageRequest) -> Result<PageAnswer, ServiceError> {
    let mut unknown = UnknownNames::default();
    let list =
        read::page(&text(answer), asked, &mut unknown).map_err(|error| unreadable(answer, "list of alerts", &error))?;
    log_unknown_fields(&unknown);
    let rows = list.page.data.len() + list.unreadable.len();
    if let Some(error) = list.unreadable.first() {
        if list.page.data.is_empty() && asked.page == 0 {
            return Err(unreadable(answer, "list of alerts", error));
        }
        tracing::warn!(
            rows = list.unreadable.len(),
            field = error.field,
            "rows of the list are no alerts and were left out"
        );
    }
    Ok(PageAnswer { page: list.page, rows: u32::try_from(rows).unwrap_or(u32::MAX) })
}

/// The outcome of an alert, from the older dialect's own route.
pub(super) fn outcome(answer: &Answer, of: &Alert) -> Option<Outcome> {
    let mut unknown = UnknownNames::default();
    read::outcome(&text(answer), of, &mut unknown).unwrap_or_default()
}

fn text(answer: &Answer) -> String {
    let text = String::from_utf8_lossy(&answer.body);
    text.trim_start_matches('\u{FEFF}').to_owned()
}

fn unreadable(answer: &Answer, what: &str, error: &FieldError) -> ServiceError {
    let words = format!("{} {}", error.field, error.message);
    let words = crate::domain::redact::words(&words);
    ServiceError::Unavailable(
        answer.exchange.about(&format!("its answer is no {what}: {words}; is this the right base URL?")),
    )
}

fn log_unknown_fields(unknown: &UnknownNames) {
    if !unknown.names().is_empty() {
        tracing::debug!(fields = ?unknown.names(), "fields of the answer that are not known or not readable");
    }
}
