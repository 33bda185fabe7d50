//! Full-text search from this desk: by the service itself where it can, else as far as the interface can be asked.

use super::same_payment::list_in_some_order;
use crate::domain::find::among;
use crate::domain::sanitize::line;
use crate::domain::{Alert, AlertFilter, AlertId, AlertQuery, FindQuery, PageRequest, Sort, SortField, SortOrder};
use crate::service::{Alerts, Find, ServiceError};

/// Pages of a hundred that are read for a word.
const PAGES: u64 = 3;

/// Words that are asked for, the longest ones: what has all words has these.
const WORDS: usize = 4;

/// What was found, best first, and what could not be searched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundAlerts {
    pub alerts: Vec<Alert>,
    /// In words, a sentence each; none where everything was searched.
    pub limits: Vec<String>,
}

/// Searches. Where the service has no such search, `q` of the list operation is asked for each word, and what it gives is narrowed here.
pub async fn find(alerts: &dyn Alerts, find: Option<&dyn Find>, query: &FindQuery, size: u32) -> Result<FoundAlerts, ServiceError> {
    if let Some(find) = find {
        match find.find(query, size).await {
            // An avert from before there was such a search.
            Err(ServiceError::NotFound(_)) => {}
            answer => return Ok(FoundAlerts { alerts: answer?, limits: Vec::new() }),
        }
    }
    let mut candidates: Vec<Alert> = Vec::new();
    let mut limits = Vec::new();
    let mut words: Vec<&String> = query.words().iter().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    for word in words.into_iter().take(WORDS) {
        if let Ok(id) = word.parse::<AlertId>() {
            match alerts.get(id).await {
                Err(ServiceError::AlertNotFound(_)) => {}
                answer => add(&mut candidates, [answer?]),
            }
        }
        limits.extend(search(alerts, word, &mut candidates).await?);
    }
    limits.push(
        "this deployment searches network ids, descriptors, BINs and last four only; all else was compared in what that found".to_owned(),
    );
    let found = among(query, &candidates, size as usize).into_iter().cloned().collect();
    Ok(FoundAlerts { alerts: found, limits })
}

/// Adds what the list operation finds for a word. What was not looked at, in words.
async fn search(alerts: &dyn Alerts, word: &str, candidates: &mut Vec<Alert>) -> Result<Option<String>, ServiceError> {
    let mut wanted = AlertQuery {
        filter: AlertFilter { q: Some(word.to_owned()), ..AlertFilter::default() },
        sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
        page: PageRequest { page: 0, size: 100 },
    };
    let (mut seen, mut total) = (0, 0);
    while wanted.page.page < PAGES {
        let page = match list_in_some_order(alerts, &mut wanted).await {
            Err(ServiceError::InvalidRequest(_)) => return Ok(Some(format!("this deployment does not search for {:?}", line(word)))),
            page => page?,
        };
        (seen, total) = (seen + page.data.len() as u64, page.total);
        let is_last = page.data.is_empty() || seen >= page.total;
        add(candidates, page.data);
        if is_last {
            break;
        }
        wanted.page.page += 1;
    }
    let first = if wanted.sort == Sort::default() { "first" } else { "newest" };
    Ok((seen < total).then(|| format!("of {total} alerts with {:?} only the {first} {seen} were looked at", line(word))))
}

fn add(candidates: &mut Vec<Alert>, more: impl IntoIterator<Item = Alert>) {
    for alert in more {
        if !candidates.iter().any(|known| known.id == alert.id) {
            candidates.push(alert);
        }
    }
}
