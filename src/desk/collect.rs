//! Collecting a stretch of a list, whatever of it is shown: so many rows from one on, by pages.

use super::same_payment::list_in_some_order;
use crate::domain::filter::MAX_PAGE_SIZE;
use crate::domain::{Alert, AlertFilter, AlertId, AlertQuery, PageRequest, Sort};
use crate::service::{Alerts, ServiceError};

/// A stretch of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    pub filter: AlertFilter,
    pub sort: Sort,
    /// Its first row, from 0.
    pub first: u64,
    /// How many rows it has.
    pub count: u64,
}

/// The alerts of a stretch, each once, and how many the list has; in the interface's own order where the service refuses the one that is
/// asked for.
pub async fn collect(alerts: &dyn Alerts, stretch: Stretch) -> Result<(Vec<Alert>, u64), ServiceError> {
    let Stretch { filter, sort, first, count } = stretch;
    let size = u64::from(MAX_PAGE_SIZE);
    let end = first.saturating_add(count);
    let mut query = AlertQuery { filter, sort, page: PageRequest { page: first / size, size: MAX_PAGE_SIZE } };
    let mut collected: Vec<Alert> = Vec::new();
    loop {
        let page = list_in_some_order(alerts, &mut query).await?;
        let start = query.page.page * size;
        let rows = page.data.len() as u64;
        for (alert, row) in page.data.into_iter().zip(start..) {
            // What comes in meanwhile moves rows on to the next page.
            let is_new = |id: AlertId| collected.iter().all(|known| known.id != id);
            if (first..end).contains(&row) && is_new(alert.id) {
                collected.push(alert);
            }
        }
        query.page.page += 1;
        if rows == 0 || query.page.page * size >= end.min(page.total) {
            return Ok((collected, page.total));
        }
    }
}
