//! Statistics, sums, money at risk, sources, and the audit log.

use std::num::NonZeroU64;

use axum::{
    extract::{RawQuery, State},
    response::Response,
};

use super::extract::{Operator, Parameters, answer, page_size, whole};
use crate::{
    domain::{AlertFilter, Calendar, calendar::MOST_MINUTES},
    list_budget::{AGAIN, add, missing_filter, within},
    problem::{Code, Problem},
    service::{Audit, Sources, Stats},
    state::Api,
    wire::{
        Dialect,
        operator::{
            AuditEntryJson, CountsJson, CurrencySumJson, InsightsJson, ListJson, MOST_HOURS, PageJson, SourceJson,
        },
        query,
    },
};

/// Default hours ahead within which money counts as at risk: the shortest window of a network.
const AT_RISK_HOURS: u32 = 24;

/// GET /operator/v1/counts
pub(crate) async fn counts(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let mut hours = AT_RISK_HOURS;
    parameters.read(&["withinHours"], |_, text| {
        hours =
            whole(text).filter(|hours| (1..=MOST_HOURS).contains(hours)).ok_or_else(|| format!("1 to {MOST_HOURS}"))?;
        Ok(())
    })?;
    let both = async { Ok((operator.acting.counts().await?, operator.acting.at_risk(hours).await?)) };
    let (counts, at_risk) = within(api.list_timeout, AGAIN, both).await?;
    Ok(answer(&CountsJson::of(counts, at_risk)))
}

/// GET /operator/v1/sources
pub(crate) async fn sources(State(api): State<Api>, operator: Operator) -> Result<Response, Problem> {
    let sources = within(api.list_timeout, AGAIN, operator.acting.sources()).await?;
    Ok(answer(&ListJson::<SourceJson>::of(sources)))
}

/// GET /operator/v1/sums
pub(crate) async fn sums(
    State(api): State<Api>,
    operator: Operator,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let filter = filter(raw.as_deref())?;
    let sums = within(api.list_timeout, &add(missing_filter(&filter)), operator.acting.sums(&filter)).await?;
    Ok(answer(&ListJson { data: sums.into_iter().map(CurrencySumJson::from).collect() }))
}

fn filter(raw: Option<&str>) -> Result<AlertFilter, Problem> {
    let wanted = query::read(raw.unwrap_or_default(), Dialect::Current);
    Ok(wanted.map_err(|errors| Problem::of_fields(Code::InvalidQuery, errors))?.filter)
}

/// GET /operator/v1/insights
pub(crate) async fn insights(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
    RawQuery(raw): RawQuery,
) -> Result<Response, Problem> {
    let mut calendar = Calendar::UTC;
    parameters.read(&["utcOffset"], |_, text| {
        let asked = text.parse().ok().and_then(Calendar::of_minutes);
        calendar = asked.ok_or_else(|| format!("minutes east of UTC, -{MOST_MINUTES} to {MOST_MINUTES}"))?;
        Ok(())
    })?;
    let filter = filter(raw.as_deref())?;
    let insights =
        within(api.list_timeout, &add(missing_filter(&filter)), operator.acting.insights(&filter, calendar)).await?;
    Ok(answer(&InsightsJson::from(insights)))
}

/// GET /operator/v1/audit
pub(crate) async fn audit(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let (mut before, mut size) = (None, 10);
    parameters.read(&["before", "size"], |name, text| {
        match name {
            "before" => before = Some(whole(text).ok_or_else(|| "the number of an entry".to_owned())?),
            _ => size = page_size(text)?,
        }
        Ok(())
    })?;
    let entries =
        within(api.list_timeout, "ask for fewer entries by size", operator.acting.audit(before, size)).await?;
    let more = entries.len() == size as usize;
    let next = entries.last().filter(|last| more && last.number > 1).and_then(|last| NonZeroU64::new(last.number));
    Ok(answer(&PageJson { data: entries.into_iter().map(AuditEntryJson::from).collect(), next }))
}
