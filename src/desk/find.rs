//! Full-text search over all fields from this desk: by the service itself where it can, else as far as the interface can be asked.

use crate::domain::find::among;
use crate::domain::sanitize::line;
use crate::domain::{Alert, AlertFilter, AlertId, AlertQuery, FindQuery, PageRequest, Sort, SortField, SortOrder};
use crate::service::{Alerts, Find, ServiceError};

/// Pages of a hundred that are read for a word, the newest alerts first.
const PAGES: u64 = 3;

/// What was found, best first, and what could not be searched.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundAlerts {
    pub alerts: Vec<Alert>,
    /// In words, a sentence each; none where everything was searched.
    pub limits: Vec<String>,
}

/// Searches. Where there is no search over all fields, `q` of the list operation is asked for each word, and what it gives is narrowed here.
pub async fn find(alerts: &dyn Alerts, find: Option<&dyn Find>, query: &FindQuery, size: u32) -> Result<FoundAlerts, ServiceError> {
    if let Some(find) = find {
        return Ok(FoundAlerts { alerts: find.find(query, size).await?, limits: Vec::new() });
    }
    let mut candidates: Vec<Alert> = Vec::new();
    let mut limits = vec![
        "this deployment searches network ids, descriptors, BINs and last four digits only: orders, references, codes, amounts, names and \
         comments were compared in what that found"
            .to_owned(),
    ];
    for word in query.words() {
        if let Ok(id) = word.parse::<AlertId>() {
            match alerts.get(id).await {
                Err(ServiceError::AlertNotFound(_)) => {}
                answer => add(&mut candidates, [answer?]),
            }
        }
        let mut wanted = AlertQuery {
            filter: AlertFilter { q: Some(word.clone()), ..AlertFilter::default() },
            sort: Sort { field: SortField::AlertTimeStamp, order: SortOrder::Descending },
            page: PageRequest { page: 0, size: 100 },
        };
        let (mut seen, mut total) = (0, 0);
        while wanted.page.page < PAGES {
            let page = alerts.list(&wanted).await?;
            (seen, total) = (seen + page.data.len() as u64, page.total);
            let is_last = page.data.is_empty() || seen >= page.total;
            add(&mut candidates, page.data);
            if is_last {
                break;
            }
            wanted.page.page += 1;
        }
        if seen < total {
            limits.push(format!("of {total} alerts with {:?} only the newest {seen} were looked at", line(word)));
        }
    }
    let found = among(query, &candidates, size as usize).into_iter().cloned().collect();
    Ok(FoundAlerts { alerts: found, limits })
}

fn add(candidates: &mut Vec<Alert>, more: impl IntoIterator<Item = Alert>) {
    for alert in more {
        if !candidates.iter().any(|known| known.id == alert.id) {
            candidates.push(alert);
        }
    }
}
