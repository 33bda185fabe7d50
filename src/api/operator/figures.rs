//! Counts, money at risk, and the audit log.

use axum::response::Response;
use serde_json::json;

use super::{Operator, Parameters, answer, page_size, shapes};
use crate::api::problem::Problem;
use crate::service::{Audit, Stats};

/// How far ahead money counts as at risk, in hours, where nothing else is asked: the shortest window of a network.
const AT_RISK_HOURS: u32 = 24;
const MAX_HOURS: u32 = 87_600;

/// GET /operator/v1/counts
pub(in crate::api) async fn counts(operator: Operator, parameters: Parameters) -> Result<Response, Problem> {
    let mut hours = AT_RISK_HOURS;
    parameters.read(&["withinHours"], |_, text| {
        let given = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        hours = given.filter(|hours| (1..=MAX_HOURS).contains(hours)).ok_or_else(|| format!("1 to {MAX_HOURS}"))?;
        Ok(())
    })?;
    let counts = operator.acting.counts().await?;
    let at_risk = operator.acting.at_risk(hours).await?;
    Ok(answer(&json!({
        "total": counts.iter().map(|count| count.alerts).sum::<u64>(),
        "byStatus": shapes::sums(&counts, |count| count.status.as_str()),
        "byProvider": shapes::sums(&counts, |count| count.provider.as_str()),
        "days": counts.iter().map(shapes::count).collect::<Vec<_>>(),
        "atRisk": at_risk.iter().map(shapes::at_risk).collect::<Vec<_>>(),
    })))
}

/// GET /operator/v1/audit
pub(in crate::api) async fn audit(operator: Operator, parameters: Parameters) -> Result<Response, Problem> {
    let (mut before, mut size) = (None, 10);
    parameters.read(&["before", "size"], |name, text| {
        match name {
            "before" => {
                let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u64>().ok()).flatten();
                before = Some(number.ok_or_else(|| "the number of an entry".to_owned())?);
            }
            _ => size = page_size(text)?,
        }
        Ok(())
    })?;
    let entries = operator.acting.audit(before, size).await?;
    let more = entries.len() == size as usize;
    Ok(answer(&json!({
        "data": entries.iter().map(shapes::audit).collect::<Vec<_>>(),
        "next": entries.last().filter(|last| more && last.number > 1).map(|last| last.number),
    })))
}
