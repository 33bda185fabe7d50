//! Alerts that are due next: open alerts that ask for an answer and are due within so many hours. They are read from a
//! few pages of the list.

use std::collections::{BTreeMap, HashSet};

use super::same_payment::list_in_some_order;
use crate::domain::MAX_PAGE_SIZE;
use crate::domain::insights::due_soon;
use crate::domain::{
    Alert, AlertFilter, AlertId, AlertQuery, AlertType, Calendar, Insights, PageRequest, Sort, SortField, SortOrder,
    Timestamp,
};
use crate::service::{Alerts, ServiceError, Stats};

/// Most pages that are read where notices, which ask for no answer, take up the rows.
const PAGES: u64 = 5;

/// Order in which alerts are due.
const BY_DEADLINE: Sort = Sort { field: SortField::HoursLeft, order: SortOrder::Ascending };

/// The alerts that are due next.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClosingAlerts {
    /// Alerts of the first page, those due first in front where the service sorts so.
    pub alerts: Vec<Alert>,
    /// Number of alerts in all.
    pub total: u64,
    /// True where they are those that are due first.
    pub first: bool,
    /// True where there may be more than the total says, because the service does not tell it.
    pub open_end: bool,
    /// Number of alerts due by the quarter hour, of those that were not read, where the service counts them.
    pub rest: Option<BTreeMap<Timestamp, u64>>,
}

impl ClosingAlerts {
    /// Number of alerts that were not read.
    pub fn unread(&self) -> u64 {
        self.total.saturating_sub(self.alerts.len() as u64)
    }

    /// Returns whether more may be due soon than is known.
    pub fn is_open(&self) -> bool {
        self.rest.is_none() && (self.open_end || self.unread() > 0)
    }
}

/// Reads the alerts that are due next and ask for an answer. It takes one request where the service sorts as asked and
/// a page holds them. Alerts that were not read are counted where the service can.
pub async fn closing(
    alerts: &dyn Alerts,
    stats: Option<&dyn Stats>,
    hours: u32,
    now: Timestamp,
) -> Result<ClosingAlerts, ServiceError> {
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
        found.total = page.total.max(read);
        let is_last = rows < u64::from(MAX_PAGE_SIZE) || page.counted && read >= page.total;
        query.page.page += 1;
        if is_last || brings_none || found.alerts.len() >= MAX_PAGE_SIZE as usize || query.page.page == PAGES {
            found.open_end = !is_last && !page.counted;
            break;
        }
    }
    let unread = found.total - read;
    found.first = query.sort == BY_DEADLINE || unread == 0;
    // Of what was not read some may be notices: how many there are in all is asked.
    let notices = if unread == 0 { Some(0) } else { notices(alerts, hours).await? };
    let passed_over = read - found.alerts.len() as u64;
    match notices {
        Some(notices) => {
            found.total = found.alerts.len() as u64 + unread.saturating_sub(notices.saturating_sub(passed_over));
        }
        // Unknown alerts are not counted.
        None => (found.total, found.open_end) = (found.alerts.len() as u64, true),
    }
    if let Some(stats) = stats.filter(|_| found.is_open()) {
        // A service that cannot count is as one that was not asked: a reminder comes for the alerts that were read.
        let all = stats.insights(&query.filter, Calendar::UTC).await.ok();
        found.rest = all.map(|all| without(due_soon(&all.lapsing), &found.alerts, now));
    }
    Ok(found)
}

/// Subtracts the known alerts from the number due by the quarter hour.
fn without(mut due: BTreeMap<Timestamp, u64>, known: &[Alert], now: Timestamp) -> BTreeMap<Timestamp, u64> {
    for (quarter, alerts) in due_soon(&Insights::of(known, now, Calendar::UTC).lapsing) {
        // Between the two one may have come or gone.
        due.entry(quarter).and_modify(|all| *all = all.saturating_sub(alerts));
    }
    due
}

/// Counts the notices within so many hours; `None` where the service cannot be asked for types.
async fn notices(alerts: &dyn Alerts, hours: u32) -> Result<Option<u64>, ServiceError> {
    let filter = AlertFilter { expires_in: Some(hours), types: AlertType::NOTICES.to_vec(), ..AlertFilter::default() };
    let query = AlertQuery { filter, sort: Sort::default(), page: PageRequest { page: 0, size: 1 } };
    match alerts.list(&query).await {
        Ok(page) => Ok(Some(page.total).filter(|_| page.counted)),
        Err(ServiceError::InvalidRequest(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use chrono::Duration;
    use uuid::Uuid;

    use super::*;
    use crate::domain::time::from_iso;
    use crate::domain::{Deadline, Page, Provider, Timestamp};
    use crate::service::listing::Lists;

    fn now() -> Timestamp {
        from_iso("2026-03-10T12:00:00Z").unwrap()
    }

    /// A list of alerts that are due one minute after the other.
    struct Listed {
        types: Vec<AlertType>,
        knows_types: bool,
        /// The row that a page begins with.
        first_row: fn(PageRequest) -> u64,
    }

    impl Listed {
        fn page(&self, query: &AlertQuery) -> Result<Page<Alert>, ServiceError> {
            if !self.knows_types && !query.filter.types.is_empty() {
                return Err(ServiceError::InvalidRequest(Vec::new()));
            }
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
        Listed { types, knows_types: true, first_row: |page| page.page * u64::from(page.size) }
    }

    async fn told(listed: Listed) -> (usize, u64, bool) {
        let found = closing(&Lists(move |query: &AlertQuery| listed.page(query)), None, 4, now()).await.unwrap();
        assert!(found.first && found.alerts.iter().all(|alert| !alert.alert_type.is_notice()));
        (found.alerts.len(), found.unread(), found.open_end)
    }

    #[tokio::test]
    async fn notices_are_passed_over_however_many_stand_before_what_asks_for_an_answer() {
        let (notice, asking) = (AlertType::VerifiFraudNotice, AlertType::parse("CDRN_QUERY"));

        assert_eq!(told(listed(&[(notice.clone(), 3), (asking.clone(), 2)])).await, (2, 0, false));
        assert_eq!(told(listed(&[(notice.clone(), 250), (asking.clone(), 7), (notice, 50)])).await, (7, 0, false));
    }

    #[tokio::test]
    async fn of_what_was_not_read_notices_are_not_counted() {
        let all = [
            (AlertType::VerifiDispute, 90),
            (AlertType::VerifiDisputeNotice, 30),
            (AlertType::VerifiCancel, 60),
            (AlertType::VerifiCancelNotice, 40),
        ];

        assert_eq!(told(listed(&all)).await, (150, 0, false));
        assert_eq!(
            told(listed(&[all[0].clone(), all[1].clone(), all[3].clone(), (AlertType::VerifiCancel, 160)])).await,
            (130, 120, false)
        );
    }

    #[tokio::test]
    async fn where_notices_cannot_be_told_apart_what_was_not_read_is_not_claimed() {
        let listed = Listed { knows_types: false, ..listed(&[(AlertType::VerifiDispute, 150)]) };

        assert_eq!(told(listed).await, (100, 0, true));
    }

    #[tokio::test]
    async fn what_a_list_that_shifted_gives_again_is_counted_once() {
        let one_came_in: fn(PageRequest) -> u64 = |page| (page.page * u64::from(page.size)).saturating_sub(1);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 95)]);

        assert_eq!(told(Listed { first_row: one_came_in, ..listed }).await, (95, 0, false));
    }

    #[tokio::test]
    async fn where_a_page_brings_nothing_new_reading_ends_and_the_rest_is_unread() {
        let from_one: fn(PageRequest) -> u64 = |page| page.page.saturating_sub(1) * u64::from(page.size);
        let listed = listed(&[(AlertType::VerifiDisputeNotice, 60), (AlertType::VerifiDispute, 150)]);

        assert_eq!(told(Listed { first_row: from_one, ..listed }).await, (40, 110, false));
    }
}
