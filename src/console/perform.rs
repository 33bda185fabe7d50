//! Performing an effect on a deployment: which of its interfaces is asked, and the message that comes of it; what takes
//! more than one call is read here, and the shop's orders of an alert are matched as the desk does.

use super::message::{Effect, Keep, MatchChange, Message, Reply, SHOWN_OF_FOUND};
use crate::{
    desk::{
        Desk,
        find::find_everywhere,
        insights::insights,
        ledger::sender::{look_up, send},
        lists::{closing, collect, same_payments},
        snoozes::{page_of, read_all},
    },
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, AuditEntry, Delivery, DeliveryFilter, OrderAdvice, PageRequest, Sort,
        audit::audit_of,
    },
    service::{Audit, Deployment, ServiceError, Webhooks},
};

fn advice_of_order(desk: Option<&Desk>, alert: &Alert, others: &[Alert]) -> Reply<Option<(String, OrderAdvice)>> {
    let advice = desk.map_or(Ok(None), |desk| desk.order_advice(alert, others));
    advice.map_err(|error| ServiceError::Unavailable(error.to_string()))
}

/// Performs an effect on a deployment and returns its message. `None` where the deployment lacks the capability, or the
/// effect is for the desk or the terminal.
pub async fn perform(deployment: &Deployment, desk: Option<&Desk>, effect: Effect) -> Option<Message> {
    let alerts = &deployment.alerts;
    let Deployment { webhooks, credentials, attempts, audit, stats, changes, .. } = deployment;
    Some(match effect {
        Effect::Load(need) => {
            let page = match &need.chosen {
                Some(chosen) => page_of(&**alerts, chosen, &need.query).await,
                None => alerts.list(&need.query).await,
            };
            Message::Page(need.ticket, page)
        }
        Effect::CountAll => Message::CountedAll(match stats {
            Some(stats) => stats.count_all().await,
            None => count(deployment, AlertFilter::default()).await,
        }),
        Effect::Sums(filter) => {
            let sums = stats.as_ref()?.sums(&filter).await;
            Message::Sums(filter, sums)
        }
        Effect::Get(id) => Message::Alert(id, alerts.get(id).await),
        Effect::ReadAlerts(ids, draft) => Message::BegunRead(draft, read_all(&**alerts, &ids).await),
        Effect::Deliveries(id) => Message::Deliveries(id, deliveries_of(webhooks.as_deref()?, id).await),
        Effect::SameCards(asked) => {
            Message::SameCards(same_payments(&**alerts, deployment.duplicates.as_deref(), asked).await)
        }
        Effect::Collect(number, stretch) => Message::Collected(number, collect(&**alerts, stretch).await),
        Effect::ReadClosing(hours) => Message::Closing(closing(&**alerts, hours).await),
        Effect::Find(query) => {
            let found = find_everywhere(desk, &**alerts, deployment.find.as_deref(), &query, SHOWN_OF_FOUND).await;
            Message::Found(query, found)
        }
        Effect::Mark(ids) => {
            let answer = deployment.duplicates.as_ref()?.duplicates(ids.clone()).await;
            Message::Marked(
                ids,
                answer.map(|found| found.into_iter().map(|(id, others)| (id, refunds(&others))).collect()),
            )
        }
        Effect::Watch(after, delay) => {
            let changes = changes.as_ref()?;
            tokio::time::sleep(delay).await;
            Message::Changed(changes.next_change(after).await)
        }
        Effect::Preflight(key, check) => Message::PreflightResult(
            key,
            check.check(deployment, |alert, others| advice_of_order(desk, alert, others)).await,
        ),
        Effect::Resolve(key, id, request, sent_at) => {
            Message::Resolved(key, send(&**alerts, id, request, sent_at).await)
        }
        Effect::LookUp(key, id) => Message::LookedUp(key, look_up(&**alerts, attempts.as_deref(), id).await),
        Effect::Unfinished => Message::Unfinished(attempts.as_ref()?.unfinished().await),
        Effect::Settle(attempt, id, applied) => {
            let answer = match attempts {
                Some(attempts) => attempts.settle_parked(attempt, applied).await,
                None => Err(ServiceError::NotAuthorized("the service's operator sets it".to_owned())),
            };
            Message::Settled(attempt, id, applied, answer)
        }
        Effect::LoadEndpoints => Message::Endpoints(webhooks.as_ref()?.endpoints().await),
        Effect::ListDeliveries(filter) => {
            let page = webhooks.as_ref()?.deliveries(filter.clone()).await;
            Message::DeliveryList(filter, page)
        }
        Effect::LoadDelivery(id) => Message::DeliveryAttempts(id, webhooks.as_ref()?.delivery(id).await),
        Effect::TestEndpoint(id) => Message::EndpointTested(id, webhooks.as_ref()?.test_endpoint(id).await),
        Effect::SendAgain(id) => Message::SentAgain(webhooks.as_ref()?.redeliver(id).await),
        Effect::LoadCredentials => Message::Credentials(credentials.as_ref()?.credentials().await),
        Effect::CreateCredential(kind) => {
            Message::CredentialCreated(credentials.as_ref()?.create_credential(kind).await)
        }
        Effect::RevokeCredential(kind, id) => {
            let answer = credentials.as_ref()?.revoke_credential(kind, &id).await;
            Message::CredentialRevoked(kind, id, answer)
        }
        Effect::AuditOf(alerts) => {
            let entries = audited(audit.as_deref()?, &alerts).await;
            Message::AuditOf(alerts, entries)
        }
        Effect::LoadAudit(size) => Message::AuditLog(audit.as_ref()?.audit(None, size).await),
        Effect::Insights(calendar, now) => {
            let all = AlertFilter::default();
            Message::Insights(insights(&**alerts, stats.as_deref(), &all, calendar, now).await)
        }
        Effect::TryWriting => Message::Written(changes.as_ref()?.try_writing().await),
        _ => return None,
    })
}

/// Returns the message on whether something is on the desk: of texts and snoozes both, of anything else that
/// it is not.
pub fn kept(what: &Keep, answer: Result<(), String>) -> Option<Message> {
    if let Some(text) = what.begun_text() {
        return Some(Message::TextKept(text, answer));
    }
    match what {
        Keep::Note(note) => Some(Message::NoteKept(Box::new(note.clone()), answer)),
        Keep::Snooze(snoozed, _) => Some(Message::SnoozeKept(snoozed.clone(), answer)),
        _ => answer.err().map(Message::DeskFailed),
    }
}

/// Every delivery of an alert's events, oldest first.
pub(super) async fn deliveries_of(webhooks: &dyn Webhooks, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
    let mut filter = DeliveryFilter { alert: Some(alert), size: Some(100), ..DeliveryFilter::default() };
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

/// Returns true where there are duplicates at all, and whether one of them was refunded.
pub(super) fn refunds(others: &[Alert]) -> Option<bool> {
    (!others.is_empty()).then(|| others.iter().any(Alert::refund_is_likely))
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

/// Matches alerts, each with others on its payment, with the orders of a desk, after a change of what matches the first
/// of them.
pub fn match_orders(desk: Option<&Desk>, asked: Vec<(Alert, Vec<Alert>)>, change: Option<MatchChange>) -> Message {
    let orders = desk.map_or(Ok(None), Desk::orders).and_then(|orders| {
        if let (Some(orders), Some((alert, _))) = (&orders, asked.first()) {
            match change {
                Some(MatchChange::Unmatch(order, at)) => orders.unmatch(alert.id, &order, at)?,
                Some(MatchChange::MatchAgain) => orders.match_again(alert.id)?,
                None => {}
            }
        }
        Ok(orders)
    });
    let matched = |(alert, others): (Alert, Vec<Alert>)| {
        let found = match &orders {
            Ok(orders) => orders.as_ref().map(|orders| orders.matches_among(&alert, &others)),
            Err(error) => Some(Err(error.clone())),
        };
        (alert.id, found.map(|found| found.map_err(|error| error.to_string())))
    };
    Message::OrdersMatched(asked.into_iter().map(matched).collect())
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
