//! Another avert's own routes, `/operator/v1`, with an operator's key: a typed body out, a typed answer back.

use std::collections::HashSet;

use async_trait::async_trait;
use reqwest::Method;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use url::form_urlencoded::Serializer;
use zeroize::Zeroize;

use super::{
    handle::Client,
    http::{Answer, Call, NoAnswer},
    inner::Inner,
    paging::written,
    reading,
    refusals::{refused, unreadable},
};
use crate::{
    domain::{
        Alert, AlertFilter, AlertId, AlertPatch, AlertQuery, AtRisk, AttemptId, AuditEntry, Calendar, CardScheme,
        Company, ContradictedAnswer, Count, CurrencySum, FindQuery, HeldCount, IngestOptions, IngestReport, Insights,
        MAX_PAGE_SIZE, PageRequest, RefundProof, RejectedRow, ResolutionAttempt, SalesCount, SalesMonth, TruthCounts,
        TruthReport, duplicate, rule::automatic::RuleStatus, source::SourceStatus,
    },
    service::{Attempts, Audit, Duplicates, Find, Intake, Rules, ServiceError, Sources, Stats, Truth},
    wire::{
        operator::{
            AlertRefundJson, AttemptDecisionJson, AttemptJson, AuditEntryJson, CompanyJson, ContradictedAnswerJson,
            CountsJson, CurrencySumJson, HeldCountJson, IngestReportJson, InsightsJson, ListJson, MOST_HOURS,
            MOST_REPORTS, MOST_ROWS, MOST_TOLD, NewRefundJson, NewReportsJson, NewSalesJson, PageJson, RefundProofJson,
            RuleJson, SalesCountJson, SourceJson, Text, TruthCountsJson, lines_of,
        },
        query::COMPANY_PARAMETER,
    },
};

impl Inner {
    /// A call of a route, to be sent by one of the others.
    pub(super) fn call(&self, method: Method, path: &str) -> Result<Call, ServiceError> {
        let key = self
            .operator_key
            .as_ref()
            .ok_or_else(|| ServiceError::NotAuthorized("no operator's key was named".to_owned()))?;
        let call = Call::new(method, &self.base.operator(path)).secret_header("x-api-key", key.reveal().to_owned());
        Ok(self.signed(call))
    }

    /// The same with a body.
    pub(super) fn call_with(&self, method: Method, path: &str, body: &impl Serialize) -> Result<Call, ServiceError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| ServiceError::Unavailable(format!("it cannot be written: {error}")))?;
        Ok(self.call(method, path)?.body("application/json", body))
    }

    /// Reads something.
    pub(super) async fn ask<T: DeserializeOwned>(&self, path: &str) -> Result<T, ServiceError> {
        read(self.read_route(path).await?)
    }

    /// The same, as it came.
    pub(super) async fn read_route(&self, path: &str) -> Result<Answer, ServiceError> {
        good(self.http.send_patiently(self.call(Method::GET, path)?, &self.pauses).await?)
    }

    /// Changes something, and reads the answer.
    pub(super) async fn tell<T: DeserializeOwned>(&self, call: Call, cause: &str) -> Result<T, ServiceError> {
        read(self.send(call, cause).await?)
    }

    /// Changes something: sent once. `cause` is told where the answer does not come.
    pub(super) async fn send(&self, call: Call, cause: &str) -> Result<Answer, ServiceError> {
        match self.http.send(call).await {
            Ok(answer) => good(answer),
            Err(NoAnswer::NotSent(why) | NoAnswer::Untrusted(why) | NoAnswer::TooEarly(why, _)) => {
                Err(ServiceError::Unavailable(format!("{why}; nothing was sent")))
            }
            Err(
                NoAnswer::TimedOut(why) | NoAnswer::Broken(why) | NoAnswer::BrokenOff(why) | NoAnswer::Unusable(why),
            ) => Err(ServiceError::Unavailable(format!("{why}; {cause}"))),
            Err(NoAnswer::Refused(error)) => Err(error),
        }
    }
}

fn good(answer: Answer) -> Result<Answer, ServiceError> {
    if (200..=299).contains(&answer.status) { Ok(answer) } else { Err(refused(&answer)) }
}

fn read<T: DeserializeOwned>(mut answer: Answer) -> Result<T, ServiceError> {
    // By way of a tree, because numbers among flattened members keep their digits only there.
    let tree: Result<Value, _> = serde_json::from_slice(&answer.body);
    answer.body.zeroize();
    let tree = tree
        .map_err(|error| unreadable(&answer.exchange, &format!("line {}, column {}", error.line(), error.column())))?;
    serde_json::from_value(tree).map_err(|_| unreadable(&answer.exchange, "it is not as avert writes it"))
}

#[async_trait]
impl Find for Client {
    async fn find(&self, query: &FindQuery, size: u32) -> Result<Vec<Alert>, ServiceError> {
        let parameters = Serializer::new(String::new())
            .append_pair("q", query.text())
            .append_pair("size", &size.to_string())
            .finish();
        let answer = self.inner.read_route(&format!("/find?{parameters}")).await?;
        Ok(reading::page(&answer, PageRequest { page: 0, size })?.page.data)
    }
}

#[async_trait]
impl Duplicates for Client {
    async fn duplicates(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, Vec<Alert>)>, ServiceError> {
        let mut found: Vec<(AlertId, Vec<Alert>)> = Vec::with_capacity(ids.len());
        for ids in ids.chunks(MAX_PAGE_SIZE as usize) {
            let asked: HashSet<AlertId> = ids.iter().copied().collect();
            let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let answer = self.inner.read_route(&format!("/duplicates?ids={}", names.join(","))).await?;
            let all = reading::page(&answer, PageRequest { page: 0, size: MAX_PAGE_SIZE })?.page.data;
            // All on one list: which are on whose payment is told by their facts, as it is everywhere.
            let of = |alert: &Alert| (alert.id, duplicate::of(alert, &all));
            found.extend(all.iter().filter(|alert| asked.contains(&alert.id)).map(of));
        }
        Ok(found)
    }
}

#[async_trait]
impl Audit for Client {
    /// Page by page, until there are as many as were asked for.
    async fn audit(&self, mut before: Option<u64>, size: u32) -> Result<Vec<AuditEntry>, ServiceError> {
        let (mut entries, mut left) = (Vec::new(), size);
        while left > 0 {
            let from = before.map(|before| format!("&before={before}")).unwrap_or_default();
            let path = format!("/audit?size={}{from}", left.min(MOST_ROWS));
            let page = self.inner.ask::<PageJson<AuditEntryJson, u64>>(&path).await?;
            left = left.saturating_sub(MOST_ROWS);
            entries.extend(page.data.into_iter().map(AuditEntry::from));
            let Some(next) = page.next else { break };
            before = Some(next);
        }
        Ok(entries)
    }
}

#[async_trait]
impl Attempts for Client {
    async fn unfinished(&self) -> Result<Vec<ResolutionAttempt>, ServiceError> {
        Ok(self.inner.ask::<ListJson<AttemptJson>>("/attempts").await?.items())
    }

    async fn decide_parked(&self, id: AttemptId, applied: bool) -> Result<Alert, ServiceError> {
        let call = self.inner.call_with(
            Method::POST,
            &format!("/attempts/{id}/decision"),
            &AttemptDecisionJson { applied },
        )?;
        let answer = self.inner.send(call, "it is not known whether your word was taken: look at the attempts").await?;
        reading::any_alert(&answer)
    }
}

#[async_trait]
impl Intake for Client {
    /// Sends rows in requests so small that each can report every row that it rejects.
    async fn ingest(&self, rows: Vec<AlertPatch>, options: IngestOptions) -> Result<IngestReport, ServiceError> {
        let (inner, mut total) = (&self.inner, IngestReport::default());
        for rows in rows.chunks(MOST_TOLD) {
            let call = inner.call(Method::POST, &format!("/alerts?events={}", options.events))?;
            let call =
                call.body("application/x-ndjson", lines_of(rows, inner.http.now())).within(inner.http.write_timeout);
            let report = inner
                .tell::<IngestReportJson>(call, "it is not known what was taken in: bring the same alerts in again")
                .await?;
            let mut report = IngestReport::from(report.counts);
            report.rejected.iter_mut().for_each(|rejected| rejected.line = line_of(rows, rejected));
            total.add(report);
        }
        Ok(total)
    }

    async fn companies(&self) -> Result<Vec<Company>, ServiceError> {
        Ok(self.inner.ask::<ListJson<CompanyJson>>("/companies").await?.items())
    }
}

/// The line in its own source of a row that was rejected by its line in a request.
fn line_of(rows: &[AlertPatch], rejected: &RejectedRow) -> u64 {
    let index = usize::try_from(rejected.line.saturating_sub(1)).ok();
    index.and_then(|index| rows.get(index)).map_or(rejected.line, |row| row.line)
}

#[async_trait]
impl Stats for Client {
    async fn count_all(&self) -> Result<u64, ServiceError> {
        Ok(self.inner.ask::<CountsJson>("/counts").await?.total)
    }

    async fn counts(&self) -> Result<Vec<Count>, ServiceError> {
        let counts = self.inner.ask::<CountsJson>("/counts").await?;
        Ok(counts.days.into_iter().map(Into::into).collect())
    }

    async fn at_risk(&self, within_hours: u32) -> Result<Vec<AtRisk>, ServiceError> {
        let counts =
            self.inner.ask::<CountsJson>(&format!("/counts?withinHours={}", within_hours.min(MOST_HOURS))).await?;
        Ok(counts.at_risk.into_iter().map(Into::into).collect())
    }

    async fn sums(&self, filter: &AlertFilter) -> Result<Vec<CurrencySum>, ServiceError> {
        let query = AlertQuery { filter: filter.clone(), ..AlertQuery::default() };
        let asked = written(&query, COMPANY_PARAMETER)?;
        let sums: ListJson<CurrencySumJson> = self.inner.ask(&format!("/sums?{asked}")).await?;
        Ok(sums.data.into_iter().map(Into::into).collect())
    }

    async fn insights(&self, filter: &AlertFilter, calendar: Calendar) -> Result<Insights, ServiceError> {
        let query = AlertQuery { filter: filter.clone(), ..AlertQuery::default() };
        let asked = written(&query, COMPANY_PARAMETER)?;
        let insights: InsightsJson =
            self.inner.ask(&format!("/insights?{asked}&utcOffset={}", calendar.minutes())).await?;
        Ok(insights.into())
    }
}

#[async_trait]
impl Rules for Client {
    async fn rules(&self) -> Result<Vec<RuleStatus>, ServiceError> {
        Ok(self.inner.ask::<ListJson<RuleJson>>("/rules").await?.items())
    }

    async fn stop_rules(&self) -> Result<(), ServiceError> {
        let call = self.inner.call(Method::POST, "/rules/stop")?;
        self.inner.send(call, "it is not known whether the rules are stopped: stop them again").await.map(drop)
    }

    async fn start_rules(&self) -> Result<(), ServiceError> {
        let call = self.inner.call(Method::POST, "/rules/start")?;
        self.inner.send(call, "it is not known whether the rules are started: start them again").await.map(drop)
    }
}

const RECORDED: &str = "it is not known what was recorded: send the same again";

#[async_trait]
impl Truth for Client {
    async fn record_truth(&self, reports: Vec<TruthReport>) -> Result<TruthCounts, ServiceError> {
        let mut counts = TruthCounts::default();
        let mut reports = reports.into_iter().map(Into::into).peekable();
        while reports.peek().is_some() {
            let body = NewReportsJson { data: reports.by_ref().take(MOST_REPORTS).collect() };
            let call = self.inner.call_with(Method::POST, "/reports", &body)?.within(self.inner.http.write_timeout);
            counts.add(self.inner.tell::<TruthCountsJson>(call, RECORDED).await?.into());
        }
        Ok(counts)
    }

    async fn keep_refund(&self, id: AlertId, proof: RefundProof) -> Result<RefundProof, ServiceError> {
        let body = NewRefundJson::from(proof);
        let call = self.inner.call_with(Method::PUT, &format!("/alerts/{id}/refund"), &body)?;
        match self.inner.tell::<RefundProofJson>(call, RECORDED).await {
            Err(ServiceError::NotFound(_)) => Err(ServiceError::AlertNotFound(id)),
            kept => Ok(kept?.into()),
        }
    }

    async fn refunds(&self, ids: Vec<AlertId>) -> Result<Vec<(AlertId, RefundProof)>, ServiceError> {
        let mut found = Vec::new();
        for ids in ids.chunks(MAX_PAGE_SIZE as usize) {
            let names: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let refunds: ListJson<AlertRefundJson> =
                self.inner.ask(&format!("/refunds?ids={}", names.join(","))).await?;
            found.extend(refunds.data.into_iter().map(|of| (of.alert_id.0, of.refund.into())));
        }
        Ok(found)
    }

    async fn held(&self, days: u32) -> Result<Vec<HeldCount>, ServiceError> {
        Ok(self.inner.ask::<ListJson<HeldCountJson>>(&format!("/held?days={days}")).await?.items())
    }

    async fn dismiss_contradictions(&self, id: AlertId) -> Result<(), ServiceError> {
        let call = self.inner.call(Method::DELETE, &format!("/contradictions/{id}"))?;
        match self.inner.send(call, RECORDED).await {
            Err(ServiceError::NotFound(_)) => Err(ServiceError::AlertNotFound(id)),
            dismissed => dismissed.map(drop),
        }
    }

    async fn contradictions(&self) -> Result<Vec<ContradictedAnswer>, ServiceError> {
        Ok(self.inner.ask::<ListJson<ContradictedAnswerJson>>("/contradictions").await?.items())
    }

    async fn sales(&self) -> Result<Vec<SalesCount>, ServiceError> {
        Ok(self.inner.ask::<ListJson<SalesCountJson>>("/sales").await?.items())
    }

    async fn enter_sales(&self, month: SalesMonth, scheme: CardScheme, count: u64) -> Result<SalesCount, ServiceError> {
        let body = NewSalesJson { month: Text(month), network: Text(scheme), count };
        let call = self.inner.call_with(Method::PUT, "/sales", &body)?;
        Ok(self.inner.tell::<SalesCountJson>(call, RECORDED).await?.into())
    }
}

#[async_trait]
impl Sources for Client {
    async fn sources(&self) -> Result<Vec<SourceStatus>, ServiceError> {
        Ok(self.inner.ask::<ListJson<SourceJson>>("/sources").await?.items())
    }
}
