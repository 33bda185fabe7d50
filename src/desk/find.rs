//! Full-text search from this desk: by the service itself where it can, else as far as the interface can be asked.
//! Orders of the shop, which no text names, are searched too.

use std::cmp::Reverse;

use super::{Desk, DeskError, OrderDatabase, lists::ListPart};
use crate::{
    domain::{
        Alert, AlertFilter, AlertId, AlertQuery, FindQuery, MatchConfidence, MatchGrade, MerchantOrder, PageRequest,
        Sort, SortField, SortOrder,
        count::count,
        find::{MOST_FOUND, among},
        identity::Identifier,
        order::transaction_key,
        sanitize::line,
    },
    service::{Alerts, Find, ServiceError},
};

/// Pages of a hundred that are read for a word.
const PAGES: u64 = 3;

/// Words that are asked for, the longest ones: what has all words has these.
const WORDS: usize = 4;

/// Alerts found, best first, and the limits of the search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundAlerts {
    pub alerts: Vec<Alert>,
    /// Limits in words, a sentence each; none where everything was searched.
    pub limits: Vec<String>,
    /// The order of the shop that was asked for by its id, and what matches it.
    pub on_order: Option<FoundOnOrder>,
}

impl FoundAlerts {
    /// Returns the order by which an alert was found that no field of its own matches: its id, and the confidence of
    /// the match.
    pub fn order_of(&self, id: AlertId) -> Option<(&str, MatchConfidence)> {
        let on_order = self.on_order.as_ref()?;
        Some((&on_order.order_id, on_order.confidence(id)?))
    }
}

/// The alerts that an order of the shop matches.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundOnOrder {
    pub order_id: String,
    pub alerts: Vec<(AlertId, MatchConfidence)>,
}

impl FoundOnOrder {
    fn confidence(&self, id: AlertId) -> Option<MatchConfidence> {
        self.alerts.iter().find(|(alert, _)| *alert == id).map(|(_, confidence)| *confidence)
    }
}

/// Searches as [`find`] does, and by an order of the shop where the query is one word that names it. Of open alerts,
/// and then of the rest, those that the order matches come behind those that are that word itself, and before others.
pub async fn find_everywhere(
    desk: Option<&Desk>,
    alerts: &dyn Alerts,
    search: Option<&dyn Find>,
    query: &FindQuery,
    size: u32,
) -> Result<FoundAlerts, ServiceError> {
    let mut found = find(alerts, search, query, size).await?;
    let (Some(desk), [word]) = (desk, query.words()) else { return Ok(found) };
    // An order may have a sign in its name that is none of the word.
    let named = |orders: &OrderDatabase| {
        orders.named(query.text())?.map_or_else(|| orders.named(word), |order| Ok(Some(order)))
    };
    let order = match desk.orders().and_then(|orders| orders.as_ref().map_or(Ok(None), named)) {
        Ok(Some(order)) => order,
        Ok(None) => return Ok(found),
        Err(error) => return Ok(without_orders(found, &error)),
    };
    let mut candidates = Vec::new();
    for facts in facts_of(&order) {
        add(&mut candidates, find(alerts, search, &facts, MOST_FOUND).await?.alerts);
    }
    let mut matched = match matching(desk, &order, candidates) {
        Ok(matched) => matched,
        Err(error) => return Ok(without_orders(found, &error)),
    };
    matched.sort_by_key(|(confidence, _)| Reverse(*confidence));
    let on_order = FoundOnOrder {
        alerts: matched.iter().map(|(confidence, alert)| (alert.id, *confidence)).collect(),
        order_id: order.order_id,
    };
    add(&mut found.alerts, matched.into_iter().map(|(_, alert)| alert));
    found.alerts.sort_by_cached_key(|alert| {
        let is_named = query.grade(alert) == Some(MatchGrade::Whole);
        (alert.is_over(), !is_named, Reverse(on_order.confidence(alert.id)))
    });
    found.alerts.truncate(size as usize);
    Ok(FoundAlerts { on_order: Some(on_order), ..found })
}

fn without_orders(mut found: FoundAlerts, error: &DeskError) -> FoundAlerts {
    found.limits.push(format!("the shop's orders were not looked at: {error}"));
    found
}

/// Returns the queries for alerts of an order's payment: its transaction, its reference, its card and amount.
fn facts_of(order: &MerchantOrder) -> Vec<FindQuery> {
    let amount = order.money().map(|money| money.plain_number()).or_else(|| Some(order.amount?.to_string()));
    let card = order.card_last_four.as_ref().zip(amount).map(|(digits, amount)| format!("{digits} {amount}"));
    let arn = Identifier::Code.read(order.arn.as_deref()).map(str::to_owned);
    let facts = [transaction_key(order.transaction_id.as_deref()), arn, card];
    facts.into_iter().flatten().filter_map(|facts| FindQuery::parse(&facts).ok()).collect()
}

/// Returns those of these alerts that the order matches and was not unlinked from.
fn matching(
    desk: &Desk,
    order: &MerchantOrder,
    alerts: Vec<Alert>,
) -> Result<Vec<(MatchConfidence, Alert)>, DeskError> {
    let Some(orders) = desk.orders()? else { return Ok(Vec::new()) };
    let mut matched = Vec::new();
    for alert in alerts {
        let found = orders.matches(&alert)?.matches.into_iter().find(|found| found.order.order_id == order.order_id);
        matched.extend(found.map(|found| (found.confidence, alert)));
    }
    Ok(matched)
}

/// Searches. Where the service has no such search, `q` of the list operation is asked for each word, and what it gives
/// is narrowed here.
pub async fn find(
    alerts: &dyn Alerts,
    find: Option<&dyn Find>,
    query: &FindQuery,
    size: u32,
) -> Result<FoundAlerts, ServiceError> {
    if let Some(find) = find {
        match find.find(query, size).await {
            // An avert from before there was such a search.
            Err(ServiceError::NotFound(_)) => {}
            answer => return Ok(FoundAlerts { alerts: answer?, ..FoundAlerts::default() }),
        }
    }
    let mut candidates: Vec<Alert> = Vec::new();
    let mut limits = Vec::new();
    let mut words = query.spellings();
    words.sort_by_key(|word| Reverse(word.chars().count()));
    for word in words.into_iter().take(WORDS) {
        if let Ok(id) = word.parse::<AlertId>() {
            match alerts.get(id).await {
                Err(ServiceError::AlertNotFound(_)) => {}
                answer => add(&mut candidates, [answer?]),
            }
        }
        limits.extend(search(alerts, &word, &mut candidates).await?);
    }
    limits.push(
        "this deployment searches network ids, descriptors, BINs and last four only; all else was compared in what \
            that found"
            .to_owned(),
    );
    let found = among(query, &candidates, size as usize).into_iter().cloned().collect();
    Ok(FoundAlerts { alerts: found, limits, ..FoundAlerts::default() })
}

/// Adds what the list operation finds for a word. What was not looked at, in words.
async fn search(alerts: &dyn Alerts, word: &str, candidates: &mut Vec<Alert>) -> Result<Option<String>, ServiceError> {
    let wanted = AlertQuery {
        filter: AlertFilter { q: Some(word.to_owned()), ..AlertFilter::default() },
        sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
        page: PageRequest { page: 0, size: 100 },
    };
    let part = match ListPart::read(alerts, wanted, PAGES, |_| false).await {
        Err(ServiceError::InvalidRequest(_)) => {
            return Ok(Some(format!("this deployment does not search for {:?}", line(word))));
        }
        part => part?,
    };
    let (total, seen) = (count(part.total), count(part.data.len() as u64));
    let first = if part.in_order { "newest" } else { "first" };
    let limit = || format!("of {total} alerts with {:?} only the {first} {seen} were looked at", line(word));
    let limit = part.is_cut().then(limit);
    add(candidates, part.data);
    Ok(limit)
}

fn add(candidates: &mut Vec<Alert>, more: impl IntoIterator<Item = Alert>) {
    for alert in more {
        if !candidates.iter().any(|known| known.id == alert.id) {
            candidates.push(alert);
        }
    }
}
