//! The engine's metrics. Labels take few values: words that others choose are not among them.

use std::time::Duration;

use chrono::TimeDelta;
use futures::try_join;

use crate::{
    domain::{Alert, CurrencySum, IngestReport, Provider, Timestamp, time::later_by},
    handle::{Engine, locked},
    providers::{LookUp, SubmitResult},
    service::ServiceError,
    store::{AttemptEnd, StoreResult},
};

/// Times until the deadline within which due alerts are counted, with their hours, the longest last.
const WITHIN: [(&str, u32); 4] = [("1h", 1), ("4h", 4), ("24h", 24), ("72h", 72)];

impl Engine {
    /// Counts the queues and the due alerts of all organizations, for the next reading of the metrics.
    pub async fn count_queues(&self) {
        let counted = self.try_count_queues().await;
        metrics::gauge!("avert_store_up").set(if counted.is_ok() { 1.0 } else { 0.0 });
        if let Err(error) = counted {
            // The other metrics are worth having just then.
            tracing::warn!(%error, "the queues cannot be counted");
        }
    }

    async fn try_count_queues(&self) -> StoreResult<()> {
        let now = self.now();
        let [.., (_, longest)] = WITHIN;
        let last = later_by(now, TimeDelta::hours(longest.into()));
        let (depths, due) = try_join!(self.store().depths(), self.store().due(None, now, last))?;
        for (state, deliveries) in
            [("pending", depths.pending), ("leased", depths.leased), ("exhausted", depths.exhausted)]
        {
            metrics::gauge!("avert_deliveries_queued", "state" => state).set(as_sample(deliveries));
        }
        for (state, attempts) in [("INFLIGHT", depths.inflight), ("UNKNOWN", depths.unknown), ("PARKED", depths.parked)]
        {
            metrics::gauge!("avert_decisions_unsettled", "state" => state).set(as_sample(attempts));
        }
        let overdue = depths.oldest_due.map_or(0.0, |due| (now - due).as_seconds_f64().max(0.0));
        metrics::gauge!("avert_deliveries_overdue_seconds").set(overdue);
        self.report_due(&due);
        Ok(())
    }

    /// Reports due alerts from their sums by hour and currency. A currency that was reported once stays, at 0.
    fn report_due(&self, due: &[(u32, CurrencySum)]) {
        let mut currencies = locked(&self.inner.currencies);
        currencies.extend(due.iter().map(|(_, sum)| sum.money.currency.clone()));
        for (within, hours) in WITHIN {
            let sums = due.iter().filter(|(hour, _)| *hour <= hours).map(|(_, sum)| sum.clone());
            let sums = CurrencySum::by_currency(sums);
            let alerts = sums.iter().map(|sum| sum.alerts).sum();
            metrics::gauge!("avert_alerts_due", "within" => within).set(as_sample(alerts));
            for currency in &*currencies {
                let sum = sums.iter().find(|sum| sum.money.currency == *currency);
                let amount = sum.map_or(0.0, |sum| f64::try_from(sum.money.amount.decimal()).unwrap_or_default());
                metrics::gauge!("avert_amount_at_risk", "within" => within, "currency" => currency.to_string())
                    .set(amount);
            }
        }
    }
}

/// Counts beyond 2^53 lose their last digits, which nobody will miss.
#[allow(clippy::cast_precision_loss)]
fn as_sample(count: u64) -> f64 {
    count as f64
}

/// A resolution was answered.
pub(super) fn resolved(result: &Result<Alert, ServiceError>) {
    let result = match result {
        Ok(_) => "resolved",
        Err(ServiceError::AlreadyResolved(_)) => "already_resolved",
        Err(ServiceError::ResolutionInProgress | ServiceError::WaitsForPerson(_)) => "in_progress",
        Err(ServiceError::ProviderFailed(_)) => "provider_failed",
        Err(ServiceError::ProviderOutcomeUnknown(_)) => "outcome_unknown",
        Err(
            ServiceError::Unavailable(_)
            | ServiceError::Throttled { .. }
            | ServiceError::NotReached(_)
            | ServiceError::NotSent(_),
        ) => "unavailable",
        Err(_) => "refused",
    };
    metrics::counter!("avert_resolutions_total", "result" => result).increment(1);
}

/// A decision was sent to a network; `None`: no answer in time.
pub(super) fn submitted(provider: &Provider, answer: Option<&SubmitResult>, took: Duration) {
    let result = match answer {
        Some(SubmitResult::Accepted) => "accepted",
        Some(SubmitResult::Declined(_)) => "declined",
        Some(SubmitResult::Indeterminate(_)) => "unknown",
        None => "timed_out",
    };
    called(provider, "submit", result, took);
}

/// A decision was looked up at a network; `None`: no answer in time.
pub(super) fn looked_up(provider: &Provider, answer: Option<&LookUp>, took: Duration) {
    let result = match answer {
        Some(LookUp::Applied) => "applied",
        Some(LookUp::AnsweredOtherwise(_)) => "answered_otherwise",
        Some(LookUp::NotKnown) => "not_known",
        Some(LookUp::Refused(_)) => "refused",
        Some(LookUp::NotTold(_)) => "not_told",
        Some(LookUp::Failed(_)) => "failed",
        None => "timed_out",
    };
    called(provider, "look_up", result, took);
}

/// A decision of unknown fate was looked at; `None`: the network had applied it.
pub(super) fn reconciled(end: Option<&AttemptEnd>) {
    let result = match end {
        None => "committed",
        Some(AttemptEnd::Released) => "released",
        Some(AttemptEnd::Parked) => "parked",
        Some(AttemptEnd::Unknown { .. }) => "waiting",
    };
    metrics::counter!("avert_reconciled_total", "result" => result).increment(1);
}

/// A turn of pulling from a network or a source ended.
pub(super) fn pulled(of: String, done: bool) {
    let result = if done { "done" } else { "failed" };
    metrics::counter!("avert_pulls_total", "provider" => of, "result" => result).increment(1);
}

/// A pulled page was stored.
pub(super) fn page_stored(provider: &Provider, now: Timestamp) {
    // Prometheus keeps times as seconds in a float, by its own rule.
    #[allow(clippy::cast_precision_loss)]
    metrics::gauge!("avert_pull_newest_page", "provider" => label(provider)).set(now.timestamp() as f64);
}

/// Counts the alerts of a pulled page, by what intake did with them.
pub(super) fn pulled_alerts(provider: &Provider, report: &IngestReport) {
    let rejected = u64::try_from(report.rejected.len()).unwrap_or(u64::MAX);
    let counts = [
        ("created", report.created),
        ("updated", report.updated),
        ("unchanged", report.unchanged),
        ("rejected", rejected),
    ];
    for (result, alerts) in counts {
        metrics::counter!("avert_pulled_alerts_total", "provider" => label(provider), "result" => result)
            .increment(alerts);
    }
}

fn label(provider: &Provider) -> &'static str {
    match provider {
        Provider::Ethoca => "ETHOCA",
        Provider::Verifi => "VERIFI",
        Provider::Cdrn => "CDRN",
        Provider::Stripe => "STRIPE",
        Provider::Other(_) => "other",
    }
}

fn called(provider: &Provider, call: &'static str, result: &'static str, took: Duration) {
    let provider = label(provider);
    metrics::counter!("avert_provider_calls_total", "provider" => provider, "call" => call, "result" => result)
        .increment(1);
    metrics::histogram!("avert_provider_call_seconds", "provider" => provider, "call" => call).record(took);
}
