//! The list of snoozed alerts: read one by one, because no service knows which they are; filtered and sorted here.

use futures::{StreamExt as _, stream};

use crate::{
    domain::{Alert, AlertId, AlertQuery, Page, Timestamp},
    service::{Alerts, ServiceError},
};

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
