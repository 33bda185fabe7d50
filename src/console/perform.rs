//! Performing an effect on a deployment: which of its interfaces is asked, and the message that comes of it; and the
//! shop's orders that an alert is on, as the desk matches them.

use super::{
    message::{AdvisedAlert, Effect, Keep, MatchChange, Message, Reply, SHOWN_OF_FOUND},
    reads::{audited, count, count_given_up, deliveries_of, refunds},
};
use crate::{
    desk::{
        Desk, DeskError, MatchedOrders,
        closing::closing,
        collect::collect,
        find::find_everywhere,
        insights::insights,
        ledger::sender::{look_up, send},
        same_payment::{same_payment, same_payments},
        snoozed_page::{page_of, read_all},
        write_new,
    },
    domain::{Alert, AlertFilter, OrderAdvice},
    service::{Deployment, ServiceError},
};

fn advice_of_order(desk: Option<&Desk>, alert: &Alert, others: &[Alert]) -> Reply<Option<(String, OrderAdvice)>> {
    let matched = matcher(desk)(alert, others)?;
    Ok(matched.advice(alert).map(|(id, advice)| (id.to_owned(), advice)))
}

/// Performs an effect on a deployment; the message that it comes back as. `None` where the deployment has not what it
/// takes, or the effect is for the desk or the terminal.
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
        Effect::Count(list, filter) => Message::Counted(list, count(deployment, filter).await),
        Effect::CountAll => Message::CountedAll(match stats {
            Some(stats) => stats.count_all().await,
            None => count(deployment, AlertFilter::default()).await,
        }),
        Effect::Sums(filter) => {
            let sums = stats.as_ref()?.sums(&filter).await;
            Message::Sums(filter, sums)
        }
        Effect::AtRisk(hours) => Message::AtRisk(stats.as_ref()?.at_risk(hours).await),
        Effect::Get(id) => Message::Alert(id, alerts.get(id).await),
        Effect::ReadAlerts(ids, draft) => Message::BegunRead(draft, read_all(&**alerts, &ids).await),
        Effect::Deliveries(id) => Message::Deliveries(id, deliveries_of(webhooks.as_deref()?, id).await),
        Effect::SameCard(id, query) => {
            Message::SameCard(id, same_payment(&**alerts, deployment.duplicates.as_deref(), id, query).await)
        }
        Effect::AdviseByOrders(asked) => {
            let matched = matcher(desk);
            let advised = |(alert, others): &(Alert, Vec<Alert>)| {
                let matched = matched(alert, others);
                AdvisedAlert {
                    alert: alert.id,
                    others: others.iter().map(|other| other.id).collect(),
                    exact: matched.as_ref().ok().and_then(|matched| matched.exact().map(str::to_owned)),
                    advice: matched.map(|matched| matched.advice(alert).map(|(_, advice)| advice)),
                }
            };
            Message::AdvisedByOrders(asked.iter().map(advised).collect())
        }
        Effect::SameCards(asked) => {
            Message::SameCards(same_payments(&**alerts, deployment.duplicates.as_deref(), asked).await)
        }
        Effect::Collect(number, stretch) => Message::Collected(number, collect(&**alerts, stretch).await),
        Effect::ReadClosing(hours) => Message::Closing(closing(&**alerts, hours).await),
        Effect::WriteFile(path, text) => {
            let written = write_new(&path, |file| file.write_all(text.as_bytes()));
            Message::FileWritten(path, written.map_err(|error| error.to_string()))
        }
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
        Effect::Preflight(key, look) => Message::PreflightResult(
            key,
            look.look(deployment, |alert, others| advice_of_order(desk, alert, others)).await,
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
        Effect::ListDeliveries(asked, filter) => {
            Message::DeliveryList(asked, webhooks.as_ref()?.deliveries(filter).await)
        }
        Effect::LoadDelivery(id) => Message::DeliveryAttempts(id, webhooks.as_ref()?.delivery(id).await),
        Effect::TestEndpoint(id) => Message::EndpointTested(id, webhooks.as_ref()?.test_endpoint(id).await),
        Effect::SendAgain(id) => Message::SentAgain(webhooks.as_ref()?.redeliver(id).await),
        Effect::CountGivenUp(id) => Message::GivenUp(id, count_given_up(webhooks.as_deref()?, id).await),
        Effect::SendAllAgain(id) => Message::AllSentAgain(id, webhooks.as_ref()?.redeliver_exhausted(id).await),
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
        Effect::Insights(scope, calendar, now) => {
            let found = insights(&**alerts, stats.as_deref(), &scope, calendar, now).await;
            Message::Insights(scope, found)
        }
        Effect::TryWriting => Message::Written(changes.as_ref()?.try_writing().await),
        // The runner's own, and those on the terminal.
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

/// Matches an alert, and others on its payment, with the orders of a desk, after a change of what matches.
pub fn match_orders(desk: Option<&Desk>, alert: &Alert, others: &[Alert], change: Option<MatchChange>) -> Message {
    let matched = desk.map_or(Ok(None), |desk| matched_orders(desk, alert, others, change));
    Message::OrdersMatched(alert.id, matched.map_err(|error| error.to_string()).transpose())
}

fn matched_orders(
    desk: &Desk,
    alert: &Alert,
    others: &[Alert],
    change: Option<MatchChange>,
) -> Result<Option<MatchedOrders>, DeskError> {
    let Some(orders) = desk.orders()? else { return Ok(None) };
    match change {
        Some(MatchChange::Unmatch(order, at)) => orders.unmatch(alert.id, &order, at)?,
        Some(MatchChange::MatchAgain) => orders.match_again(alert.id)?,
        None => {}
    }
    orders.matches_among(alert, others).map(Some)
}

/// Matches one alert after the other, each with others on its payment, with the shop's orders; one that cannot be
/// looked up may be one that was refunded.
pub fn matcher(desk: Option<&Desk>) -> impl Fn(&Alert, &[Alert]) -> Reply<MatchedOrders> {
    let failed = |error: DeskError| ServiceError::Unavailable(error.to_string());
    let orders = desk.map_or(Ok(None), Desk::orders).map_err(failed);
    move |alert, others| match &orders {
        Ok(Some(orders)) => orders.matches_among(alert, others).map_err(failed),
        Ok(None) => Ok(MatchedOrders::default()),
        Err(error) => Err(error.clone()),
    }
}
