//! The engine's metrics. Labels take few values: words that others choose are not among them.

use std::time::Duration;

use crate::{
    domain::{Alert, IngestReport, Provider, Timestamp},
    providers::{LookUp, SubmitResult},
    service::ServiceError,
    store::AttemptEnd,
};

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

/// A turn of pulling ended.
pub(super) fn pulled(provider: &Provider, done: bool) {
    let result = if done { "done" } else { "failed" };
    metrics::counter!("avert_pulls_total", "provider" => label(provider), "result" => result).increment(1);
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
        Provider::Other(_) => "other",
    }
}

fn called(provider: &Provider, call: &'static str, result: &'static str, took: Duration) {
    let provider = label(provider);
    metrics::counter!("avert_provider_calls_total", "provider" => provider, "call" => call, "result" => result)
        .increment(1);
    metrics::histogram!("avert_provider_call_seconds", "provider" => provider, "call" => call).record(took);
}
