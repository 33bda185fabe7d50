//! Reads of the list that take several pages: the alerts on one payment, those that are due next, a stretch of a list.

use std::collections::{HashMap, HashSet};

use crate::{
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, MAX_PAGE_SIZE, Page, PageRequest, Sort, SortField, SortOrder,
        count::count, resolution::FieldError,
    },
    service::{Alerts, Duplicates, ServiceError},
};

/// The alerts that may be on the payments of these: by one search for every fact where the service can, else by what
/// the interface can be asked for of each card.
pub async fn same_payments(
    alerts: &dyn Alerts,
    duplicates: Option<&dyn Duplicates>,
    asked: Vec<(AlertId, Option<AlertQuery>)>,
) -> Vec<(AlertId, Result<Vec<Alert>, ServiceError>)> {
    if let Some(duplicates) = duplicates {
        let ids: Vec<AlertId> = asked.into_iter().map(|(id, _)| id).collect();
        let found = duplicates.duplicates(ids.clone()).await.map(|found| found.into_iter().collect::<HashMap<_, _>>());
        let of =
            |id: AlertId| found.as_ref().map(|found| found.get(&id).cloned().unwrap_or_default()).map_err(Clone::clone);
        return ids.into_iter().map(|id| (id, of(id))).collect();
    }
    let mut searched: HashMap<Option<String>, Result<Vec<Alert>, ServiceError>> = HashMap::new();
    let mut found = Vec::with_capacity(asked.len());
    for (id, query) in asked {
        let Some(query) = query else {
            found.push((id, Ok(Vec::new())));
            continue;
        };
        let text = query.filter.q.clone();
        if !searched.contains_key(&text) {
            searched.insert(text.clone(), search(alerts, query).await);
        }
        found.push((id, searched[&text].clone()));
    }
    found
}

/// Most pages of a search that are read.
const SEARCH_PAGES: u64 = 10;

/// Returns all alerts of a query; in the interface's own order where the service does not take the query as it is.
///
/// # Errors
/// When there are more than [`SEARCH_PAGES`]: one of those that were not read may have been refunded.
async fn search(alerts: &dyn Alerts, query: AlertQuery) -> Result<Vec<Alert>, ServiceError> {
    let ListPart { data, is_whole, .. } = ListPart::read(alerts, query, SEARCH_PAGES, |_| false).await?;
    if is_whole {
        return Ok(data);
    }
    let message = format!("matches more than {} alerts: too many to look through", count(data.len() as u64));
    Err(ServiceError::InvalidRequest(vec![FieldError::new("q", message)]))
}

/// The first pages of a list.
pub(super) struct ListPart {
    pub(super) data: Vec<Alert>,
    /// How many the list has, as the service says.
    pub(super) total: u64,
    /// True where it is in the order that was asked for, and not in the interface's own.
    pub(super) in_order: bool,
    /// True where it was read to its end.
    is_whole: bool,
}

impl ListPart {
    /// Reads at most so many pages of a query, each alert once, and no further once what was read is `enough`.
    pub(super) async fn read(
        alerts: &dyn Alerts,
        mut query: AlertQuery,
        pages: u64,
        enough: impl Fn(&[Alert]) -> bool,
    ) -> Result<Self, ServiceError> {
        let (sort, mut part) = (query.sort, Self { data: Vec::new(), total: 0, in_order: true, is_whole: false });
        let mut known = HashSet::new();
        while query.page.page < pages && !part.is_whole && !enough(&part.data) {
            let Page { data, total, counted, .. } = list_in_some_order(alerts, &mut query).await?;
            let is_short = data.len() < usize::try_from(query.page.size).unwrap_or(usize::MAX);
            let before = part.data.len();
            // A list may have shifted since the page before, and who numbers pages from 1 gives the first one twice.
            part.data.extend(data.into_iter().filter(|alert| known.insert(alert.id)));
            (part.total, part.in_order) = (total, query.sort == sort);
            part.is_whole = is_short || counted && total <= part.data.len() as u64;
            if part.data.len() == before {
                break;
            }
            query.page.page += 1;
        }
        Ok(part)
    }

    /// Returns true where the list has more than was read.
    pub(super) fn is_cut(&self) -> bool {
        (self.data.len() as u64) < self.total
    }
}

/// A page of a query; in the interface's own order, which the query has then, where the service does not take it as it
/// is.
async fn list_in_some_order(alerts: &dyn Alerts, query: &mut AlertQuery) -> Result<Page<Alert>, ServiceError> {
    match alerts.list(query).await {
        Err(ServiceError::InvalidRequest(_)) if query.sort != Sort::default() => {
            query.sort = Sort::default();
            alerts.list(query).await
        }
        answer => answer,
    }
}

/// Most pages that are read where notices, which ask for no answer, take up the rows.
const CLOSING_PAGES: u64 = 5;

/// Reads the alerts that are due next and ask for an answer, those due first in front where the service sorts so. It
/// takes one request where the service sorts as asked and a page holds them.
pub async fn closing(alerts: &dyn Alerts, hours: u32) -> Result<Vec<Alert>, ServiceError> {
    let query = AlertQuery {
        filter: AlertFilter { expires_in: Some(hours), ..AlertFilter::default() },
        sort: Sort { field: SortField::HoursLeft, order: SortOrder::Ascending },
        page: PageRequest { page: 0, size: MAX_PAGE_SIZE },
    };
    let asks = |alert: &Alert| !alert.alert_type.is_notice();
    let fill_a_page = |read: &[Alert]| read.iter().filter(|alert| asks(alert)).count() >= MAX_PAGE_SIZE as usize;
    let mut read = ListPart::read(alerts, query, CLOSING_PAGES, fill_a_page).await?.data;
    read.retain(asks);
    Ok(read)
}

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
    use chrono::Duration;
    use uuid::Uuid;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{AlertType, Deadline, Page, Provider, Timestamp};
    use crate::service::listing::Lists;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    /// A list of alerts that are due one minute after the other.
    struct Listed {
        types: Vec<AlertType>,
        /// The row that a page begins with.
        first_row: fn(PageRequest) -> u64,
    }

    impl Listed {
        fn page(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
            let due = |minutes: usize| Deadline::At(now() + Duration::seconds(i64::try_from(minutes).unwrap()));
            let all = self.types.iter().zip(1..);
            let id = |number: usize| AlertId(Uuid::from_u128(number as u128));
            let all = all.map(|(kind, minutes)| Alert {
                deadline: due(minutes),
                ..Alert::new(id(minutes), Provider::Verifi, kind.clone())
            });
            let all: Vec<Alert> = all.filter(|alert| query.filter.matches(alert, now())).collect();
            let PageRequest { page, size } = query.page;
            let rows = |count: u64| usize::try_from(count).unwrap();
            let data = all.iter().skip(rows((self.first_row)(query.page))).take(rows(size.into())).cloned().collect();
            Ok(Page { data, total: all.len() as u64, counted: true, page, size })
        }
    }

    fn listed(types: &[(AlertType, usize)]) -> Listed {
        let types = types.iter().flat_map(|(kind, count)| vec![kind.clone(); *count]).collect();
        Listed { types, first_row: |page| page.page * u64::from(page.size) }
    }

    async fn told(listed: Listed) -> usize {
        let found = closing(&Lists(move |query: &AlertQuery| listed.page(query)), 4).await.unwrap();
        assert!(found.iter().all(|alert| !alert.alert_type.is_notice()));
        found.len()
    }

    #[tokio::test]
    async fn notices_are_passed_over_however_many_stand_before_what_asks_for_an_answer() {
        let (notice, asking) = (AlertType::VerifiFraudNotice, AlertType::parse("CDRN_QUERY"));

        assert_eq!(told(listed(&[(notice.clone(), 3), (asking.clone(), 2)])).await, 2);
        assert_eq!(told(listed(&[(notice.clone(), 250), (asking.clone(), 7), (notice, 50)])).await, 7);
    }

    #[tokio::test]
    async fn reading_ends_with_a_page_of_what_asks_for_an_answer() {
        assert_eq!(told(listed(&[(AlertType::VerifiDispute, 250)])).await, 100);
    }

    #[tokio::test]
    async fn what_a_list_that_shifted_gives_again_is_read_once() {
        let one_came_in: fn(PageRequest) -> u64 = |page| (page.page * u64::from(page.size)).saturating_sub(1);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 95)]);

        assert_eq!(told(Listed { first_row: one_came_in, ..listed }).await, 95);
    }

    #[tokio::test]
    async fn where_a_page_brings_nothing_new_reading_ends() {
        let from_one: fn(PageRequest) -> u64 = |page| page.page.saturating_sub(1) * u64::from(page.size);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 150)]);

        assert_eq!(told(Listed { first_row: from_one, ..listed }).await, 40);
    }
}

#[cfg(test)]
mod collect_tests {
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
