//! Good answers, read as tolerantly as the wire can.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{
    domain::{Alert, AlertId, Answers, FieldError, Origin, Outcome, Page, PageRequest},
    http::Answer,
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
    let mut alert = read::answer(&text(answer), &mut unknown).map_err(|error| unreadable(answer, "alert", &error))?;
    log_unknown_fields(&unknown);
    mark_recorded_here(answer, std::slice::from_mut(&mut alert));
    Ok(alert)
}

/// Notes of the alerts of an answer which of them are recorded there and reported to nobody. Their source's name is not
/// told.
fn mark_recorded_here(answer: &Answer, alerts: &mut [Alert]) {
    for place in &answer.recorded_here {
        if let Some(alert) = alerts.get_mut(*place) {
            alert.origin = Some(Origin { source: String::new(), answers: Answers::Here, reference: String::new() });
        }
    }
}

/// A page of alerts, and how many rows it has, with those that are none.
pub(super) struct PageAnswer {
    pub page: Page<Alert>,
    pub rows: u32,
}

/// A page of alerts. A first one with rows of which none can be read is no answer.
pub(super) fn page(answer: &Answer, asked: PageRequest) -> Result<PageAnswer, ServiceError> {
    let mut unknown = UnknownNames::default();
    let mut list =
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
    // An avert writes no row that cannot be read, and places count every row.
    if list.unreadable.is_empty() {
        mark_recorded_here(answer, &mut list.page.data);
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

/// The most rows that a deployment gives at once, once it was seen to give fewer than it was asked for.
#[derive(Debug, Default)]
pub(super) struct PageCap(AtomicU32);

impl PageCap {
    pub(super) fn get(&self) -> Option<u32> {
        Some(self.0.load(Ordering::Relaxed)).filter(|cap| *cap > 0)
    }

    /// Learns the service's page cap from an answer, and returns it where the answer tells of one. That is a smaller
    /// page than was asked for, though more rows follow. The answer's own size tells it or, on the first page, its
    /// number of rows.
    pub(super) fn learn(&self, asked: PageRequest, PageAnswer { page, rows }: &PageAnswer) -> Option<u32> {
        let seen = asked.page.saturating_mul(asked.size.into()).saturating_add(u64::from(*rows));
        let more_follow = if page.counted { seen < page.total } else { page.size == *rows };
        let is_told = page.size < asked.size || asked.page == 0 && page.counted;
        let cap = (0 < *rows && *rows < asked.size && more_follow && is_told).then_some(*rows)?;
        tracing::info!(asked = asked.size, rows, "the deployment gives fewer rows a page than it is asked for");
        self.0.store(cap, Ordering::Relaxed);
        Some(cap)
    }
}
