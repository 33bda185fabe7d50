//! Alerts that are due next: open alerts that ask for an answer and are due within so many hours. They are read from a
//! few pages of the list.

use std::collections::HashSet;

use super::same_payment::list_in_some_order;
use crate::{
    domain::{Alert, AlertFilter, AlertId, AlertQuery, MAX_PAGE_SIZE, PageRequest, Sort, SortField, SortOrder},
    service::{Alerts, ServiceError},
};

/// Most pages that are read where notices, which ask for no answer, take up the rows.
const PAGES: u64 = 5;

/// Order in which alerts are due.
const BY_DEADLINE: Sort = Sort { field: SortField::HoursLeft, order: SortOrder::Ascending };

/// The alerts that are due next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosingAlerts {
    /// Alerts that were read, those due first in front where the service sorts so.
    pub alerts: Vec<Alert>,
    /// True where they are those that are due first.
    pub first: bool,
    /// True where there may be more than were read.
    pub more: bool,
}

/// Reads the alerts that are due next and ask for an answer. It takes one request where the service sorts as asked and
/// a page holds them.
pub async fn closing(alerts: &dyn Alerts, hours: u32) -> Result<ClosingAlerts, ServiceError> {
    let filter = AlertFilter { expires_in: Some(hours), ..AlertFilter::default() };
    let page = PageRequest { page: 0, size: MAX_PAGE_SIZE };
    let mut query = AlertQuery { filter, sort: BY_DEADLINE, page };
    let (mut found, mut known, mut read) = (ClosingAlerts::default(), HashSet::<AlertId>::new(), 0);
    loop {
        let page = list_in_some_order(alerts, &mut query).await?;
        let rows = page.data.len() as u64;
        // A list may have shifted since the page before, and who numbers pages from 1 gives the first one twice.
        let new = page.data.into_iter().filter(|alert| known.insert(alert.id));
        found.alerts.extend(new.filter(|alert| !alert.alert_type.is_notice()));
        let brings_none = known.len() as u64 == read;
        read = known.len() as u64;
        query.page.page += 1;
        let is_last = rows < u64::from(MAX_PAGE_SIZE) || page.counted && read >= page.total;
        if is_last || brings_none || found.alerts.len() >= MAX_PAGE_SIZE as usize || query.page.page == PAGES {
            found.more = !is_last;
            break;
        }
    }
    found.first = query.sort == BY_DEADLINE || !found.more;
    Ok(found)
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

    async fn told(listed: Listed) -> (usize, bool) {
        let found = closing(&Lists(move |query: &AlertQuery| listed.page(query)), 4).await.unwrap();
        assert!(found.first && found.alerts.iter().all(|alert| !alert.alert_type.is_notice()));
        (found.alerts.len(), found.more)
    }

    #[tokio::test]
    async fn notices_are_passed_over_however_many_stand_before_what_asks_for_an_answer() {
        let (notice, asking) = (AlertType::VerifiFraudNotice, AlertType::parse("CDRN_QUERY"));

        assert_eq!(told(listed(&[(notice.clone(), 3), (asking.clone(), 2)])).await, (2, false));
        assert_eq!(told(listed(&[(notice.clone(), 250), (asking.clone(), 7), (notice, 50)])).await, (7, false));
    }

    #[tokio::test]
    async fn reading_ends_with_a_page_of_what_asks_for_an_answer() {
        assert_eq!(told(listed(&[(AlertType::VerifiDispute, 250)])).await, (100, true));
    }

    #[tokio::test]
    async fn what_a_list_that_shifted_gives_again_is_read_once() {
        let one_came_in: fn(PageRequest) -> u64 = |page| (page.page * u64::from(page.size)).saturating_sub(1);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 95)]);

        assert_eq!(told(Listed { first_row: one_came_in, ..listed }).await, (95, false));
    }

    #[tokio::test]
    async fn where_a_page_brings_nothing_new_reading_ends_and_there_is_more() {
        let from_one: fn(PageRequest) -> u64 = |page| page.page.saturating_sub(1) * u64::from(page.size);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 150)]);

        assert_eq!(told(Listed { first_row: from_one, ..listed }).await, (40, true));
    }
}
