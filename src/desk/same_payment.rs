//! Alerts on one payment: looked for wherever a decision is made, because of two on one payment only one may be
//! refunded.

use std::collections::HashMap;

use crate::{
    domain::{Alert, AlertId, AlertQuery, Page, Sort, count::count, resolution::FieldError},
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
        let answer = match query {
            None => Ok(Vec::new()),
            Some(query) => match searched.get(&query.filter.q) {
                Some(known) => known.clone(),
                None => {
                    let text = query.filter.q.clone();
                    let answer = search(alerts, query).await;
                    searched.insert(text, answer.clone());
                    answer
                }
            },
        };
        found.push((id, answer));
    }
    found
}

/// The same for one alert.
pub async fn same_payment(
    alerts: &dyn Alerts,
    duplicates: Option<&dyn Duplicates>,
    id: AlertId,
    query: Option<AlertQuery>,
) -> Result<Vec<Alert>, ServiceError> {
    let found = same_payments(alerts, duplicates, vec![(id, query)]).await;
    found.into_iter().next().map_or(Ok(Vec::new()), |(_, found)| found)
}

/// Most pages of a search that are read.
const PAGES: u64 = 10;

/// Returns all alerts of a query; in the interface's own order where the service does not take the query as it is.
///
/// # Errors
/// When there are more than [`PAGES`]: one of those that were not read may have been refunded.
async fn search(alerts: &dyn Alerts, mut query: AlertQuery) -> Result<Vec<Alert>, ServiceError> {
    let mut found = Vec::new();
    for page in 0..PAGES {
        query.page.page = page;
        let Page { data, total, counted, .. } = list_in_some_order(alerts, &mut query).await?;
        let is_short = data.len() < usize::try_from(query.page.size).unwrap_or(usize::MAX);
        found.extend(data);
        if is_short || counted && total <= found.len() as u64 {
            return Ok(found);
        }
    }
    Err(ServiceError::InvalidRequest(vec![FieldError::new(
        "q",
        format!("matches more than {} alerts: too many to look through", count(found.len() as u64)),
    )]))
}

/// A page of a query; in the interface's own order, which the query has then, where the service does not take it as it
/// is.
pub(super) async fn list_in_some_order(
    alerts: &dyn Alerts,
    query: &mut AlertQuery,
) -> Result<Page<Alert>, ServiceError> {
    match alerts.list(query).await {
        Err(ServiceError::InvalidRequest(_)) if query.sort != Sort::default() => {
            query.sort = Sort::default();
            alerts.list(query).await
        }
        answer => answer,
    }
}
