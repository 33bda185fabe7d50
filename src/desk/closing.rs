//! What lapses next: the open alerts whose window closes within so many hours, as far as one page of the list tells.

use super::same_payment::list_in_some_order;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{Alert, AlertFilter, AlertQuery, PageRequest, Sort, SortField, SortOrder};
use crate::service::{Alerts, ServiceError};

/// The alerts that lapse next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosingAlerts {
    /// Those of the first page, the first to lapse first where the service sorts so.
    pub alerts: Vec<Alert>,
    /// How many there are in all.
    pub total: u64,
    /// Whether they are those that lapse first.
    pub first: bool,
    /// Whether there may be more than the total says, because the service does not tell it.
    pub open_end: bool,
}

impl ClosingAlerts {
    /// How many were not read.
    pub fn unread(&self) -> u64 {
        self.total.saturating_sub(self.alerts.len() as u64)
    }
}

/// Reads the alerts that lapse next, in one request where the service sorts as it is asked to.
pub async fn closing(alerts: &dyn Alerts, hours: u32) -> Result<ClosingAlerts, ServiceError> {
    first_to_lapse(alerts, AlertFilter { expires_in: Some(hours), ..AlertFilter::default() }).await
}

/// The same of what a filter lists.
pub async fn first_to_lapse(alerts: &dyn Alerts, filter: AlertFilter) -> Result<ClosingAlerts, ServiceError> {
    let sort = Sort { field: SortField::HoursLeft, order: SortOrder::Ascending };
    let mut query = AlertQuery { filter, sort, page: PageRequest { page: 0, size: MAX_PAGE_SIZE } };
    let page = list_in_some_order(alerts, &mut query).await?;
    let total = page.total.max(page.data.len() as u64);
    let open_end = !page.counted && page.data.len() >= MAX_PAGE_SIZE as usize;
    Ok(ClosingAlerts { open_end, first: query.sort == sort || total <= page.data.len() as u64, alerts: page.data, total })
}
