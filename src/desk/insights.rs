//! Insights from this desk: by the service itself where it can, else from its lists. These are read within a bound,
//! which is told.

use std::collections::HashSet;

use super::lists::ListPart;
use crate::{
    domain::{
        Alert, AlertFilter, AlertQuery, AlertStatus, Calendar, Deadline, Insights, PageRequest, Sort, SortField,
        SortOrder, Timestamp,
    },
    service::{Alerts, ServiceError, Stats},
};

/// Pages of a hundred that are read of each list.
const PAGES: u64 = 10;

/// Insights that were found, and what could not be known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundInsights {
    pub insights: Insights,
    /// None where everything was counted.
    pub limits: Vec<InsightLimit>,
}

/// A limit of what could be counted, and so of the figures that rest on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InsightLimit {
    /// Open alerts, of which so many were read: those due first, or the first ones of the list.
    Waiting { read: u64, total: u64, in_order: bool },
    /// All alerts, of which so many were read: the newest, or the first ones of the list.
    Past { read: u64, total: u64, in_order: bool },
    /// Deadlines are told in whole hours.
    WholeHours,
}

/// Counts the alerts within a scope. Where the service does not count them, its lists are read as far as that goes.
pub async fn insights(
    alerts: &dyn Alerts,
    stats: Option<&dyn Stats>,
    scope: &AlertFilter,
    calendar: Calendar,
    now: Timestamp,
) -> Result<FoundInsights, ServiceError> {
    if let Some(stats) = stats {
        match stats.insights(scope, calendar).await {
            // An avert from before there was such a thing.
            Err(ServiceError::NotFound(_)) => {}
            answer => return Ok(FoundInsights { insights: answer?, limits: Vec::new() }),
        }
    }
    let mut limits = Vec::new();
    let open = AlertFilter { statuses: vec![AlertStatus::Open], ..scope.clone() };
    let waiting = read(alerts, open, SortField::HoursLeft, SortOrder::Ascending).await?;
    let cut = |part: &ListPart| part.is_cut().then_some((part.data.len() as u64, part.total, part.in_order));
    limits.extend(cut(&waiting).map(|(read, total, in_order)| InsightLimit::Waiting { read, total, in_order }));
    let newest = read(alerts, scope.clone(), SortField::AlertTimeStamp, SortOrder::Descending).await?;
    limits.extend(cut(&newest).map(|(read, total, in_order)| InsightLimit::Past { read, total, in_order }));
    if waiting.data.iter().any(|alert| matches!(alert.deadline, Deadline::HoursLeft(_))) {
        limits.push(InsightLimit::WholeHours);
    }
    let mut seen = HashSet::new();
    let all: Vec<Alert> = waiting.data.into_iter().chain(newest.data).filter(|alert| seen.insert(alert.id)).collect();
    Ok(FoundInsights { insights: Insights::of(&all, now, calendar), limits })
}

/// Reads a list as far as that goes.
async fn read(
    alerts: &dyn Alerts,
    filter: AlertFilter,
    field: SortField,
    order: SortOrder,
) -> Result<ListPart, ServiceError> {
    let page = PageRequest { page: 0, size: 100 };
    ListPart::read(alerts, AlertQuery { filter, sort: Sort { field, order }, page }, PAGES, |_| false).await
}
