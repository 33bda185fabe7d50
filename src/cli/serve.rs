//! `avert serve`: the engine and its HTTP interface without a console.

use std::{num::NonZeroU32, time::Duration};

use anyhow::Context as _;
use tokio::net::TcpListener;

use super::{
    args::ServeArgs,
    context::Context,
    database::{self, OpenedBy},
    failure::Signalled,
    local::Local,
    networks::{self, Known},
    output::print_line,
    process::{self, Signals},
};
use crate::{
    api::{self, ApiOptions},
    domain::Environment,
    engine::EngineSettings,
    telemetry,
};

/// Longest time of the last answers, commits and deliveries, beside the longest decision.
const LAST_WORK: Duration = Duration::from_secs(5);

/// Longest wait for deliveries that are under way.
const DRAIN: Duration = Duration::from_secs(5);

pub(super) async fn run(mut context: Context, args: ServeArgs) -> anyhow::Result<()> {
    let listen = args.listen.unwrap_or(context.settings.serve.listen).0;
    let loopback = listen.ip().is_loopback();
    if !loopback && !args.insecure_http {
        refuse!(
            "{listen} can be reached from other machines, and over plain HTTP others can read keys and alerts on the \
                way: \
             answer at a loopback address behind a TLS proxy, or say --insecure-http"
        );
    }
    if let Some(database) = &args.database {
        context.home = context.home.with_database(database::of_flag("--database", database)?);
    }
    process::forbid_core_dumps();
    let max_connections = process::room_for_connections(ApiOptions::default().max_connections)?;
    let mut signals = Signals::listen()?;
    let local = Local::making_for(&context, OpenedBy::Service).await?;
    let listener = TcpListener::bind(listen).await.with_context(|| format!("cannot answer at {listen}"))?;
    let address = listener.local_addr().context("the listener has no address")?;
    let allowed_hosts = [context.settings.serve.allow_hosts.clone(), args.allow_host].concat();
    let metrics = telemetry::install_metrics();
    let defaults = ApiOptions::default();
    let serve = &context.settings.serve;
    let tokens_per_minute = NonZeroU32::new(serve.tokens_per_minute.0).unwrap_or(defaults.tokens_per_minute);
    let list_timeout = Duration::from_secs(serve.list_seconds.0.into());
    let decision_drain = local.engine.settings().longest_decision();
    let longest_end = longest_end(local.engine.settings());
    let options = ApiOptions {
        allowed_hosts,
        trusted_proxies: serve.trusted_proxies.iter().map(|proxy| proxy.0).collect(),
        max_connections,
        connections_per_address: usize::try_from(serve.connections_per_address.0)
            .unwrap_or(defaults.connections_per_address),
        tokens_per_minute,
        list_timeout,
        drain: DRAIN,
        decision_drain,
        metrics: metrics.clone(),
        ..defaults
    };
    // Checked before anything is promised: the routes are made once to check the names of hosts.
    let _checked =
        api::router(local.engine.clone(), address, &options).map_err(|error| misused!("--allow-host: {error}"))?;
    local.engine.check_sources().await.map_err(|error| misused!("{error}"))?;
    let running = local.start(DRAIN)?;
    let options = ApiOptions { dispatcher: Some(running.dispatcher()), ..options };
    if let Some(metrics) = metrics {
        tokio::spawn(telemetry::run_metrics_upkeep(metrics, running.cancel.clone()));
    }

    let mut serving = tokio::spawn(api::serve(listener, local.engine.clone(), options, running.cancel.clone()));
    say_who_answers(&context, &local.engine.store().gateways().await.unwrap_or_default());
    if let Err(error) = print_line(&format!("listening on http://{address}")) {
        tracing::warn!(%error, "nobody reads stdout; still answering at http://{address}");
    }

    let ended = tokio::select! {
        signal = signals.next() => {
            tracing::info!(signal, "ending: what is on its way is finished first");
            None
        }
        ended = &mut serving => Some(ended),
    };
    let stopping = async {
        running.cancel.cancel();
        let ended = match ended {
            Some(ended) => ended,
            None => serving.await,
        };
        running.stop(decision_drain).await;
        local.close();
        ended.context("the HTTP side ended in a fault")?.context("the HTTP side failed")
    };
    tokio::select! {
        ended = tokio::time::timeout(longest_end, stopping) => ended.unwrap_or(Ok(())),
        signal = signals.next() => {
            tracing::warn!(signal, "ended at once: what was on its way is taken up by the next process");
            Err(Signalled(signal).into())
        }
    }
}

/// Returns the longest time of an orderly end.
fn longest_end(engine: &EngineSettings) -> Duration {
    engine.longest_decision() + LAST_WORK
}

/// Logs which networks get decisions, and warns where those of production reach nobody.
fn say_who_answers(context: &Context, known: &[Known]) {
    let database = context.home.place();
    for (network, set) in context.settings.gateways() {
        tracing::info!(%database, network = network.as_str(), gateway = set.url, "answers go to a gateway");
    }
    for closed in networks::closed(&context.settings, known) {
        tracing::warn!(%database, "{}: give --config FILE", networks::closed_words(closed));
    }
    if let Some(words) = networks::simulated_words(&context.settings, known) {
        match context.settings.environment {
            Environment::Production => tracing::warn!(%database, "{words}"),
            Environment::Sandbox => tracing::info!(%database, "{words}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;
    use crate::cli::LAST_WAIT;
    use crate::cli::local::engine_settings;
    use crate::config::Settings;

    const COMPOSE: &str = include_str!("../../assets/deploy/compose.yaml");
    const UNIT: &str = include_str!("../../assets/deploy/avert.service");

    /// Returns the times after a word.
    fn times(text: &str, word: &str) -> Vec<Duration> {
        let values = text.lines().filter_map(|line| line.trim().strip_prefix(word));
        values.map(|value| Duration::from_secs(value.trim_end_matches('s').parse().expect("seconds"))).collect()
    }

    #[rstest]
    #[case(1, 30)]
    #[case(10, 30)]
    #[case(30, 50)]
    #[case(60, 80)]
    fn whoever_stops_it_waits_for_the_answer_to_a_decision(#[case] timeout: u64, #[case] said_in_the_readme: u64) {
        let section = format!("[providers.cdrn]\nurl = \"https://gateway.example\"\ntimeout_seconds = {timeout}");
        let settings = Settings::parse(&section, Path::new("config.toml")).unwrap();

        let end = longest_end(&engine_settings(&settings)) + LAST_WAIT;

        assert!(end <= Duration::from_secs(said_in_the_readme), "{end:?}");
        let waits = [times(UNIT, "TimeoutStopSec="), times(COMPOSE, "stop_grace_period: ")].concat();
        assert!(waits.len() == 3 && waits.iter().all(|wait| *wait > end), "{waits:?}");
    }

    #[test]
    fn no_network_may_take_longer_than_a_minute() {
        let section = "[providers.cdrn]\nurl = \"https://gateway.example\"\ntimeout_seconds = 61";

        assert!(Settings::parse(section, Path::new("config.toml")).is_err());
    }
}
