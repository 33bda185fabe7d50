//! Collecting a stretch of a list, whatever of it is shown: so many rows from one on, by pages.

use super::same_payment::list_in_some_order;
use crate::{
    domain::{Alert, AlertFilter, AlertId, AlertQuery, MAX_PAGE_SIZE, PageRequest, Sort},
    service::{Alerts, ServiceError},
};

/// A stretch of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Stretch {
    pub filter: AlertFilter,
    pub sort: Sort,
    /// First row, from 0.
    pub first: u64,
    /// Number of its rows.
    pub count: u64,
}

/// Returns the alerts of a stretch, each once, and the total of the list. They come in the interface's own order where
/// the service refuses the one that is asked for.
pub async fn collect(alerts: &dyn Alerts, stretch: Stretch) -> Result<(Vec<Alert>, u64), ServiceError> {
    let Stretch { filter, sort, first, count } = stretch;
    let size = u64::from(MAX_PAGE_SIZE);
    let (mut end, mut known) = (first.saturating_add(count), None);
    let mut query = AlertQuery { filter, sort, page: PageRequest { page: first / size, size: MAX_PAGE_SIZE } };
    let mut collected: Vec<Alert> = Vec::new();
    loop {
        let page = list_in_some_order(alerts, &mut query).await?;
        let start = query.page.page * size;
        let rows = page.data.len() as u64;
        let before = known.replace(page.total).unwrap_or(page.total);
        end = end.saturating_add(page.total.saturating_sub(before));
        for (alert, row) in page.data.into_iter().zip(start..) {
            // Alerts that come in or go meanwhile move rows to another page.
            let is_new = |id: AlertId| collected.iter().all(|known| known.id != id);
            if (first..end).contains(&row) && is_new(alert.id) {
                collected.push(alert);
            }
        }
        if page.total < before && query.page.page > first / size {
            // If some have gone, those behind them have moved up into the page before.
            query.page.page -= 1;
            continue;
        }
        query.page.page += 1;
        if rows == 0 || query.page.page * size >= end.min(page.total) {
            return Ok((collected, page.total));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use rstest::rstest;
    use uuid::Uuid;

    use super::*;
    use crate::domain::{AlertType, Page, Provider};
    use crate::service::listing::Lists;

    fn id(number: usize) -> AlertId {
        AlertId(Uuid::from_u128(number as u128))
    }

    /// A list of alerts that is another one each time a page of it is read.
    fn moving(rows: fn(usize) -> Vec<usize>) -> impl Alerts {
        let reads = AtomicUsize::new(0);
        Lists(move |query: &AlertQuery| {
            let rows = rows(reads.fetch_add(1, Ordering::Relaxed));
            let PageRequest { page, size } = query.page;
            let first = usize::try_from(page * u64::from(size)).unwrap();
            let alert = |number: &usize| Alert::new(id(*number), Provider::Verifi, AlertType::VerifiDispute);
            let data = rows.iter().skip(first).take(size as usize).map(alert).collect();
            Ok(Page { data, total: rows.len() as u64, counted: true, page, size })
        })
    }

    /// One more comes in front of all after each read.
    fn grows(reads: usize) -> Vec<usize> {
        (1_000..1_000 + reads).rev().chain(0..250).collect()
    }

    /// The first one goes after each of the first reads.
    fn shrinks(reads: usize) -> Vec<usize> {
        (reads.min(5)..250).collect()
    }

    #[rstest]
    #[case::that_grows(grows)]
    #[case::that_shrinks(shrinks)]
    #[tokio::test]
    async fn of_a_list_whatever_stays_in_it_is_collected(#[case] rows: fn(usize) -> Vec<usize>) {
        let alerts = moving(rows);
        let stretch = Stretch { filter: AlertFilter::default(), sort: Sort::default(), first: 0, count: 250 };

        let (collected, _) = collect(&alerts, stretch).await.unwrap();

        let missed: Vec<usize> =
            (5..250).filter(|number| !collected.iter().any(|alert| alert.id == id(*number))).collect();
        assert_eq!(missed, Vec::<usize>::new());
    }
}
