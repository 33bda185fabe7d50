//! Reads of a deployment that take more than one call, or less than its answer.

use crate::{
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AuditEntry, Delivery, DeliveryFilter, DeliveryState, EndpointId,
        PageRequest, Sort, audit::audit_of,
    },
    service::{Audit, Deployment, ServiceError, Webhooks},
};

/// Most deliveries that are counted before it is enough to say "or more", and how many at a time.
const MOST_COUNTED: u64 = 10_000;
const COUNTED_AT_A_TIME: u32 = 1_000;

/// Every delivery of an alert's events, oldest first.
pub(super) async fn deliveries_of(webhooks: &dyn Webhooks, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
    let mut filter = DeliveryFilter { alert: Some(alert), size: 100, ..DeliveryFilter::default() };
    let mut all = Vec::new();
    loop {
        let page = webhooks.deliveries(filter.clone()).await?;
        all.extend(page.data);
        filter.after = page.next;
        if filter.after.is_none() {
            all.reverse();
            return Ok(all);
        }
    }
}

/// Counts the deliveries to an endpoint that were given up; also whether there are even more.
pub(super) async fn count_given_up(webhooks: &dyn Webhooks, endpoint: EndpointId) -> Result<(u64, bool), ServiceError> {
    let states = vec![DeliveryState::Exhausted, DeliveryState::Cancelled];
    let mut filter =
        DeliveryFilter { states, endpoint: Some(endpoint), size: COUNTED_AT_A_TIME, ..DeliveryFilter::default() };
    let mut count = 0;
    loop {
        let page = webhooks.deliveries(filter.clone()).await?;
        // A test is not sent again.
        count += page.data.iter().filter(|delivery| !delivery.test).count() as u64;
        filter.after = page.next;
        if filter.after.is_none() || count >= MOST_COUNTED {
            return Ok((count, filter.after.is_some()));
        }
    }
}

/// Returns true where there are duplicates at all, and whether one of them was refunded.
pub(super) fn refunds(others: &[Alert]) -> Option<bool> {
    (!others.is_empty()).then(|| crate::domain::duplicate::may_be_paid_twice(others.iter()))
}

/// Counts the alerts of a filter.
pub(super) async fn count(deployment: &Deployment, filter: AlertFilter) -> Result<u64, ServiceError> {
    let query = AlertQuery { filter, sort: Sort::default(), page: PageRequest { page: 0, size: 1 } };
    deployment.alerts.list(&query).await.map(|page| page.total)
}

/// So many of the newest entries of an audit log are looked through at most for what they say of alerts, and so many at
/// a time.
const AUDITED: u32 = 1_000;
const AUDITED_AT_A_TIME: u32 = 100;

/// Reads the newest entries of an audit log about these alerts, each with whether it is answered: until every answer is
/// found, at most so far back as is looked.
pub(super) async fn audited(audit: &dyn Audit, alerts: &[(AlertId, bool)]) -> Result<Vec<AuditEntry>, ServiceError> {
    let ids: Vec<AlertId> = alerts.iter().map(|(id, _)| *id).collect();
    let mut missing: Vec<AlertId> = alerts.iter().filter(|(_, answered)| *answered).map(|(id, _)| *id).collect();
    let (mut found, mut before) = (Vec::new(), None);
    for _ in 0..AUDITED / AUDITED_AT_A_TIME {
        let page = audit.audit(before, AUDITED_AT_A_TIME).await?;
        before = page.last().map(|entry| entry.number).filter(|_| page.len() == AUDITED_AT_A_TIME as usize);
        let told = audit_of(page, &ids);
        missing.retain(|id| !told.iter().any(|entry| entry.tells_of_resolution() && entry.is_of(*id)));
        found.extend(told);
        if missing.is_empty() || before.is_none() {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;
    use futures::executor::block_on;
    use rstest::rstest;

    use super::*;
    use crate::domain::time::from_iso;

    /// An audit log of so many entries, of which one tells of an alert, and how many requests it got.
    struct Log {
        length: u64,
        told: (u64, AlertId),
        requests: Mutex<usize>,
    }

    #[async_trait]
    impl Audit for Log {
        async fn audit(&self, before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError> {
            *self.requests.lock().unwrap() += 1;
            let entry = |number| AuditEntry {
                number,
                at: from_iso("2026-03-02T12:30:00Z").unwrap(),
                actor: "key 7Qd2".to_owned(),
                origin: String::new(),
                person: String::new(),
                action: "alert.resolved".to_owned(),
                subject: if number == self.told.0 { self.told.1.to_string() } else { "another".to_owned() },
                detail: String::new(),
                previous: [0; 32],
                hash: [0; 32],
            };
            let numbers = (1..before.unwrap_or(self.length + 1)).rev();
            Ok(numbers.take(size as usize).map(entry).collect())
        }
    }

    #[rstest]
    #[case::it_is_among_the_newest(5_000, 4_950, true, (1, 1))]
    #[case::it_is_further_back(5_000, 4_850, true, (2, 1))]
    #[case::it_is_too_far_back(5_000, 9, true, (10, 0))]
    #[case::the_log_is_short(120, 0, true, (2, 0))]
    #[case::there_is_no_answer_to_look_for(5_000, 4_850, false, (1, 0))]
    fn an_audit_log_is_read_until_every_answered_alert_has_its_entry(
        #[case] length: u64,
        #[case] at: u64,
        #[case] answered: bool,
        #[case] requests_and_found: (usize, usize),
    ) {
        let alert = AlertId::generate();
        let log = Log { length, told: (at, alert), requests: Mutex::default() };

        let found = block_on(audited(&log, &[(alert, answered)])).unwrap();

        let requests = *log.requests.lock().unwrap();
        assert_eq!((requests, found.len()), requests_and_found);
    }
}
