//! Performing an effect on a deployment: which of its interfaces is asked, and the message that comes of it; what takes
//! more than one call is read here, and the shop's orders of an alert are matched as the desk does.

use super::message::{Effect, Keep, MatchChange, Message, SHOWN_OF_FOUND};
use crate::{
    desk::{
        Desk,
        find::find_everywhere,
        insights::insights,
        ledger::sender::AnswerSender,
        lists::{closing, collect, same_payments},
        sales::entered_sales,
        snoozes::{page_of, read_all},
    },
    domain::{Alert, AlertFilter, AlertId, AlertQuery, Delivery, DeliveryFilter, PageRequest, Sort, audit::audit_of},
    service::{Deployment, ServiceError, Webhooks},
};

/// Performs an effect on a deployment and returns its message. `None` where the deployment lacks the capability, or the
/// effect is for the desk or the terminal.
pub async fn perform(deployment: &Deployment, desk: Option<&Desk>, effect: Effect) -> Option<Message> {
    let sender = || AnswerSender { deployment: deployment.clone(), desk: Ok(desk.cloned()) };
    let alerts = &deployment.alerts;
    let Deployment { webhooks, credentials, attempts, audit, stats, truth, sources, changes, .. } = deployment;
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
        Effect::Preflight(key, check) => Message::PreflightResult(key, sender().check(&check).await),
        Effect::Resolve(key, id, request, sent_at) => Message::Resolved(key, sender().send(id, request, sent_at).await),
        Effect::LookUp(key, id) => Message::LookedUp(key, sender().look_up(id, attempts.as_deref()).await),
        Effect::Unfinished => Message::Unfinished(attempts.as_ref()?.unfinished().await),
        Effect::Contradictions => Message::Contradictions(truth.as_ref()?.contradictions().await),
        Effect::DismissContradictions(id) => {
            Message::ContradictionsDismissed(id, truth.as_ref()?.dismiss_contradictions(id).await)
        }
        Effect::SetResult(attempt, id, applied) => {
            let answer = match attempts {
                Some(attempts) => attempts.decide_parked(attempt, applied).await,
                None => Err(ServiceError::NotAuthorized("the service's operator sets it".to_owned())),
            };
            Message::ResultSet(attempt, id, applied, answer)
        }
        Effect::LoadEndpoints => Message::Endpoints(webhooks.as_ref()?.endpoints().await),
        Effect::LoadSources => Message::Sources(sources.as_ref()?.sources().await),
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
        Effect::StopRules => Message::RulesStopped(deployment.rules.as_ref()?.stop_rules().await),
        Effect::AuditOf(alerts) => {
            let ids: Vec<AlertId> = alerts.iter().map(|(id, _)| *id).collect();
            let newest = audit.as_ref()?.audit(None, AUDITED).await;
            let entries = newest.map(|entries| audit_of(entries, &ids));
            Message::AuditOf(alerts, entries)
        }
        Effect::LoadAudit(size) => Message::AuditLog(audit.as_ref()?.audit(None, size).await),
        Effect::Insights(calendar, now) => {
            let all = AlertFilter::default();
            Message::Insights(insights(&**alerts, stats.as_deref(), &all, calendar, now).await)
        }
        Effect::LoadSales => Message::Sales(entered_sales(truth.as_deref()?, desk.map(Desk::sales)).await),
        Effect::LoadHeld => Message::Held(truth.as_ref()?.held(HELD_FOR).await),
        Effect::TryWriting => Message::Written(changes.as_ref()?.try_writing().await),
        _ => return None,
    })
}

/// Days over which it is counted which answers held: disputes come weeks later.
pub const HELD_FOR: u32 = 90;

/// Returns the message on whether something is on the desk: of texts both, of anything else that it is not.
pub fn kept(what: &Keep, answer: Result<(), String>) -> Option<Message> {
    match (what, what.begun_text()) {
        (Keep::Note(note), _) => Some(Message::NoteKept(Box::new(note.clone()), answer)),
        (_, Some(text)) => Some(Message::TextKept(text, answer)),
        _ => answer.err().map(Message::DeskFailed),
    }
}

/// So many of the newest entries of an audit log are looked through for what they say of alerts.
const AUDITED: u32 = 500;

/// The newest deliveries of an alert's events, oldest first.
async fn deliveries_of(webhooks: &dyn Webhooks, alert: AlertId) -> Result<Vec<Delivery>, ServiceError> {
    let filter = DeliveryFilter { alert: Some(alert), size: Some(100), ..DeliveryFilter::default() };
    let mut all = webhooks.deliveries(filter).await?.data;
    all.reverse();
    Ok(all)
}

/// Returns true where there are duplicates at all, and whether one of them was refunded.
fn refunds(others: &[Alert]) -> Option<bool> {
    (!others.is_empty()).then(|| others.iter().any(Alert::refund_is_likely))
}

/// Counts the alerts of a filter.
async fn count(deployment: &Deployment, filter: AlertFilter) -> Result<u64, ServiceError> {
    let query = AlertQuery { filter, sort: Sort::default(), page: PageRequest { page: 0, size: 1 } };
    deployment.alerts.list(&query).await.map(|page| page.total)
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
