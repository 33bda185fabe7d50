//! Metrics for Prometheus: what each is called and means, and the recorder that keeps them.

use std::time::Duration;

use metrics::{Unit, counter, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio_util::sync::CancellationToken;

/// Upper bounds of times, in seconds: from a read in memory to a provider that does not answer.
const SECONDS: [f64; 14] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0];

/// Upper bounds of the units of work in one commit.
const UNITS: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

/// Interval at which samples are gathered into their buckets, whether anybody asks for them or not.
const UPKEEP: Duration = Duration::from_secs(5);

/// Installs the metrics recorder of the process; `None` where somebody else keeps them already.
pub fn install_metrics() -> Option<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_units".to_owned()), &UNITS));
    let handle = builder.and_then(PrometheusBuilder::install_recorder);
    let handle = handle.inspect_err(|error| tracing::warn!(%error, "no figures are kept")).ok()?;
    describe();
    begin();
    Some(handle)
}

/// Runs the recorder's upkeep until cancelled.
pub async fn run_metrics_upkeep(handle: PrometheusHandle, cancel: CancellationToken) {
    let mut ticks = tokio::time::interval(UPKEEP);
    loop {
        tokio::select! {
            () = cancel.cancelled() => return,
            _ = ticks.tick() => handle.run_upkeep(),
        }
    }
}

fn describe() {
    describe_counter!("avert_http_requests_total", "Requests answered, by method, route and status.");
    describe_histogram!(
        "avert_http_request_seconds",
        Unit::Seconds,
        "Time from the head of a request to its answer, by method and route."
    );
    describe_counter!("avert_resolutions_total", "Resolutions answered, by result.");
    describe_counter!("avert_provider_calls_total", "Calls to alert networks, by provider, call and result.");
    describe_histogram!(
        "avert_provider_call_seconds",
        Unit::Seconds,
        "How long alert networks took, by provider and call."
    );
    describe_counter!(
        "avert_provider_held_back_total",
        "Calls to alert networks that were not made, by provider and why: open or busy."
    );
    describe_gauge!(
        "avert_provider_held_off",
        "1 where an alert network does not answer and is left alone for a while, else 0."
    );
    describe_counter!("avert_pulls_total", "Turns of pulling alerts, by provider and result.");
    describe_counter!("avert_pulled_alerts_total", "Alerts that were pulled, by provider and what became of them.");
    describe_gauge!(
        "avert_pull_newest_page",
        "When the newest page of pulled alerts was stored, in seconds since 1970, by provider."
    );
    describe_counter!("avert_reconciled_total", "Decisions of unknown fate that were looked at, by what came of it.");
    describe_counter!("avert_expired_total", "Alerts that lapsed.");
    describe_counter!("avert_forgotten_total", "Rows that retention removed, by kind.");
    describe_counter!("avert_delivery_tries_total", "Tries to deliver a webhook, by result.");
    describe_histogram!("avert_delivery_try_seconds", Unit::Seconds, "How long receivers of webhooks took.");
    describe_counter!("avert_store_commits_total", "Commits of the database, by result.");
    describe_histogram!("avert_store_commit_seconds", Unit::Seconds, "Time of a commit, its units of work included.");
    describe_histogram!("avert_store_commit_units", "Units of work in one commit.");
    describe_counter!("avert_store_connections_total", "Connections to a database on a server that were made.");
    describe_counter!(
        "avert_store_repeats_total",
        "Units of work that were done again because others were at work on the same rows."
    );
    describe_counter!(
        "avert_store_heartbeats_total",
        "Signs of life of this process in a PostgreSQL database, by result."
    );
    describe_gauge!("avert_store_up", "1 where the database answered this question, else 0.");
    describe_gauge!("avert_deliveries_queued", "Deliveries that have not arrived, by state.");
    describe_gauge!(
        "avert_deliveries_overdue_seconds",
        Unit::Seconds,
        "For how long the oldest pending delivery has been due."
    );
    describe_gauge!("avert_decisions_unsettled", "Decisions without an end, by state.");
    describe_gauge!(
        "avert_clock_off_seconds",
        Unit::Seconds,
        "How far the machine's clock is ahead of the PostgreSQL server's."
    );
    describe_gauge!(
        "avert_clock_ahead_seconds",
        Unit::Seconds,
        "How far the machine's clock has jumped ahead and is not believed yet."
    );
}

/// Begins at 0 what is alerted on at its first step: from nothing to one Prometheus sees no increase.
fn begin() {
    counter!("avert_expired_total").increment(0);
    for result in ["exhausted", "disabled"] {
        counter!("avert_delivery_tries_total", "result" => result).increment(0);
    }
}
