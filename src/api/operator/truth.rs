//! Disputes, fraud reports and refunds, the proof of a refund, held answers, and sales.

use axum::{extract::State, http::StatusCode, response::Response};

use super::{
    alerts::read_ids,
    extract::{JsonBody, Operator, Parameters, answer, whole},
};
use crate::{
    access::PathId,
    domain::{AlertId, FieldError, truth::HELD_DAYS},
    list_budget::{AGAIN, within},
    problem::{Code, Problem},
    service::{Alerts, Truth},
    state::Api,
    wire::operator::{
        AlertRefundJson, ContradictedAnswerJson, HeldCountJson, ListJson, NewRefundJson, NewReportsJson, NewSalesJson,
        RefundProofJson, SalesCountJson, Text, TruthCountsJson,
    },
};

/// Default number of days of held answers.
const DAYS: u32 = 30;

/// POST /operator/v1/reports
pub(crate) async fn record(
    operator: Operator,
    JsonBody(NewReportsJson { data }): JsonBody<NewReportsJson>,
) -> Result<Response, Problem> {
    let reports = data.into_iter().map(Into::into).collect();
    Ok(answer(&TruthCountsJson::from(operator.acting.record_truth(reports).await?)))
}

/// PUT /operator/v1/alerts/:id/refund
pub(crate) async fn keep_refund(
    operator: Operator,
    PathId(id): PathId<AlertId>,
    JsonBody(proof): JsonBody<NewRefundJson>,
) -> Result<Response, Problem> {
    Ok(answer(&RefundProofJson::from(operator.acting.keep_refund(id, proof.into()).await?)))
}

/// GET /operator/v1/alerts/:id/refund
pub(crate) async fn refund(operator: Operator, PathId(id): PathId<AlertId>) -> Result<Response, Problem> {
    let Some((_, proof)) = operator.acting.refunds(vec![id]).await?.pop() else {
        operator.acting.get(id).await?;
        return Err(Problem::new(Code::NotFound, "this alert has no proof of a refund"));
    };
    Ok(answer(&RefundProofJson::from(proof)))
}

/// GET /operator/v1/refunds
pub(crate) async fn refunds(operator: Operator, parameters: Parameters) -> Result<Response, Problem> {
    let mut ids = Vec::new();
    parameters.read(&["ids"], |_, text| {
        ids = read_ids(text)?;
        Ok(())
    })?;
    if ids.is_empty() {
        let missing = FieldError::new("ids", "is missing: the ids of alerts, with commas between them");
        return Err(Problem::of_fields(Code::InvalidQuery, vec![missing]));
    }
    let found = operator.acting.refunds(ids).await?.into_iter();
    let data = found.map(|(id, proof)| AlertRefundJson { alert_id: Text(id), refund: proof.into() }).collect();
    Ok(answer(&ListJson { data }))
}

/// GET /operator/v1/held
pub(crate) async fn held(
    State(api): State<Api>,
    operator: Operator,
    parameters: Parameters,
) -> Result<Response, Problem> {
    let mut days = DAYS;
    parameters.read(&["days"], |_, text| {
        days = whole(text).filter(|days| (1..=HELD_DAYS).contains(days)).ok_or_else(|| format!("1 to {HELD_DAYS}"))?;
        Ok(())
    })?;
    let held = within(api.list_timeout, "ask for fewer days", operator.acting.held(days)).await?;
    Ok(answer(&ListJson::<HeldCountJson>::of(held)))
}

/// GET /operator/v1/contradictions
pub(crate) async fn contradictions(State(api): State<Api>, operator: Operator) -> Result<Response, Problem> {
    let found = within(api.list_timeout, AGAIN, operator.acting.contradictions()).await?;
    Ok(answer(&ListJson::<ContradictedAnswerJson>::of(found)))
}

/// DELETE /operator/v1/contradictions/:id
pub(crate) async fn dismiss(operator: Operator, PathId(id): PathId<AlertId>) -> Result<StatusCode, Problem> {
    operator.acting.dismiss_contradictions(id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// GET /operator/v1/sales
pub(crate) async fn sales(operator: Operator) -> Result<Response, Problem> {
    Ok(answer(&ListJson::<SalesCountJson>::of(operator.acting.sales().await?)))
}

/// PUT /operator/v1/sales
pub(crate) async fn enter_sales(
    operator: Operator,
    JsonBody(NewSalesJson { month, network, count }): JsonBody<NewSalesJson>,
) -> Result<Response, Problem> {
    Ok(answer(&SalesCountJson::from(operator.acting.enter_sales(month.0, network.0, count).await?)))
}
