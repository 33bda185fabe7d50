//! The configured networks: a gateway over HTTP where the settings name one, else the simulator.

use std::{sync::Arc, time::Duration};

use anyhow::anyhow;
use chrono::TimeDelta;

use super::{
    ask::{allows_others, parts, read_credential},
    process::variable,
    secret_variables::{self, SecretVariable},
};
use crate::{
    config::{NetworkAuth, NetworkSettings, Settings, SimulatorFault},
    domain::{Answers, CaCertificates, EndpointAuth, Environment, Provider, Secret, time::SharedClock},
    engine::{
        InboundSource, PullFrom, PullOf,
        doctor::Finding,
        providers::{
            Capabilities, GuardLimits, Guarded, HttpProvider, Providers, Simulator,
            http::{
                HttpOptions,
                native::{NativeSource, PolledList},
            },
            simulator::FaultProfile,
        },
    },
    outbound::{circuit::CircuitLimits, tls::ca_file},
};

/// Longest wait of a call for a place among the calls in flight.
const PATIENCE: Duration = Duration::from_secs(3);

/// Bounds of the calls to a gateway: of those in flight, and of its circuit breaker.
const LIMITS: GuardLimits = GuardLimits {
    circuit: CircuitLimits { failures: 5, first_pause: TimeDelta::seconds(5), longest_pause: TimeDelta::seconds(60) },
    at_once: 8,
    patience: PATIENCE,
};

/// Configured networks: providers and sources.
pub(super) struct Networks {
    /// Providers, which answer decisions.
    pub(super) providers: Providers,
    /// Sources of alerts that are polled.
    pub(super) pulls: Vec<PullFrom>,
}

/// Builds the networks of the settings.
pub(super) fn networks(settings: &Settings, clock: &SharedClock) -> anyhow::Result<Networks> {
    let mut providers = simulators(settings.simulator.fault);
    let mut pulls = Vec::new();
    for (network, set) in settings.gateways() {
        let credential = credential(network, set)?;
        let provider = provider(set, credential).map_err(|error| misused!("{}: {error}", section_of(network)))?;
        let provider = Arc::new(provider);
        if set.pull {
            pulls.push(PullFrom {
                of: PullOf::Network(network.clone()),
                source: provider.clone(),
                place: set.url.clone(),
                organization: Some(set.pull_organization.clone()).filter(|name| !name.is_empty()),
                every: Duration::from_secs(set.pull_seconds.0.into()),
            });
        }
        let guarded = Guarded::new(provider, network.as_str(), LIMITS, Arc::clone(clock));
        providers = providers.with(network.clone(), Arc::new(guarded));
    }
    Ok(Networks { providers, pulls })
}

impl Networks {
    /// Adds the interface of a source: its lists where they are polled, and its provider where it takes answers.
    pub(super) fn add(&mut self, source: &InboundSource, every: Duration, clock: &SharedClock) {
        let Some(native) = &source.native else { return };
        if source.answers == Answers::Native {
            let guarded = Guarded::new(native.clone(), "source", LIMITS, Arc::clone(clock));
            self.providers = self.providers.clone().with_source(&source.name, Arc::new(guarded));
        }
        if every.is_zero() {
            return;
        }
        self.pulls.extend(native.lists().into_iter().map(|PolledList { name, place, rows }| PullFrom {
            of: PullOf::Source { name: source.name.clone(), list: name.to_owned() },
            source: rows,
            place,
            organization: source.organization.clone(),
            every,
        }));
    }
}

/// Returns the longest time until a decision is answered, over all gateways and sources; `None` where there is none.
pub(super) fn longest_call(settings: &Settings) -> Option<Duration> {
    let native = settings.sources.values().any(|set| set.answers == Answers::Native);
    let native = native.then_some(NativeSource::TIMEOUT);
    // The provider cuts a call off itself, and knows better what that means.
    let calls = settings.gateways().map(|(_, set)| timeout(set)).chain(native);
    calls.map(|timeout| timeout + PATIENCE + Duration::from_secs(1)).max()
}

/// Returns the gateways of the settings for the database to remember: the address, or `None` where the gateway was
/// removed.
pub(super) fn said(settings: &Settings) -> impl Iterator<Item = (Provider, Option<String>)> {
    let gateways = settings.gateways().map(|(network, set)| (network.clone(), Some(set.url.clone())));
    gateways.chain(settings.removed_gateways().map(|network| (network.clone(), None)))
}

/// Network and address of a gateway that the database knows of.
pub(super) type Known = (Provider, String);

/// Returns the networks whose decisions are refused here: the database knows a gateway, and the settings have no
/// section for the network.
pub(super) fn closed<'a>(settings: &Settings, known: &'a [Known]) -> Vec<&'a Known> {
    let silent = |network: &Provider| !settings.providers.given().any(|(given, _)| given == network);
    known.iter().filter(|(network, _)| silent(network)).collect()
}

/// Describes why decisions to a network are refused here.
pub(super) fn closed_words((network, url): &Known) -> String {
    format!("answers to {network} are refused: they go through a gateway here ({url}), and these settings name none")
}

/// Returns the names of the networks that the simulator answers for. Networks beyond the three are always simulated,
/// and not named.
fn simulated(settings: &Settings, known: &[Known]) -> Vec<&'static str> {
    let has_gateway = |network: &Provider| {
        settings.gateways().any(|(set, _)| set == network)
            || closed(settings, known).iter().any(|(closed, _)| closed == network)
    };
    Provider::NETWORKS.iter().filter(|network| !has_gateway(network)).map(Provider::as_str).collect()
}

/// Describes the networks that the simulator answers for, and what reaches a network all the same; `None` where each
/// has a gateway.
pub(super) fn simulated_words(settings: &Settings, known: &[Known]) -> Option<String> {
    let simulated = simulated(settings, known).join(", ");
    let native = native(settings).map(|native| format!(", except through source {native}")).unwrap_or_default();
    (!simulated.is_empty())
        .then(|| format!("{simulated}: played by the built-in simulator; answers reach nobody{native}"))
}

/// Names the sources that answers are sent through.
fn native(settings: &Settings) -> Option<String> {
    let native = settings.sources.iter().filter(|(_, set)| set.answers == Answers::Native);
    native.map(|(name, _)| name.0.clone()).reduce(|names, name| format!("{names} and {name}"))
}

/// Returns the name of an organization's alerts on this machine, for the console's head and the journal. It names the
/// sources that answers are sent through, and the networks that hear nothing of a decision.
pub(super) fn place_of(organization: &str, settings: &Settings, known: &[Known]) -> String {
    let (closed, simulated) = (closed(settings, known), simulated(settings, known));
    let mut words = vec![organization.to_owned()];
    words.extend(native(settings).map(|native| format!("sends to {native}")));
    if !closed.is_empty() {
        let closed: Vec<&str> = closed.into_iter().map(|(network, _)| network.as_str()).collect();
        words.push(format!("no gateway set for {}", closed.join(" and ")));
    }
    match simulated.len() {
        0 => {}
        all if all == Provider::NETWORKS.len() => words.push("simulated networks".to_owned()),
        _ => words.push(format!("simulated {}", simulated.join(" and "))),
    }
    words.join(", ")
}

fn provider(set: &NetworkSettings, auth: Option<EndpointAuth>) -> anyhow::Result<HttpProvider> {
    let trusted =
        if set.ca_file.as_os_str().is_empty() { Ok(CaCertificates::default()) } else { ca_file(&set.ca_file) };
    let options = HttpOptions {
        url: set.base().map_err(|error| anyhow!(error))?,
        auth,
        trusted: trusted.map_err(|error| anyhow!("ca_file {error}"))?,
        capabilities: capabilities(set),
        timeout: timeout(set),
    };
    HttpProvider::new(options).map_err(|error| anyhow!(error))
}

fn capabilities(set: &NetworkSettings) -> Capabilities {
    let NetworkSettings { lookup, idempotent, final_error_only, settle_seconds, .. } = *set;
    Capabilities { lookup, idempotent, final_error_only, consistency_lag: Duration::from_secs(settle_seconds.0.into()) }
}

fn timeout(set: &NetworkSettings) -> Duration {
    Duration::from_secs(set.timeout_seconds.0.into())
}

/// Returns the section of a network in the settings: `providers.cdrn`.
fn section_of(network: &Provider) -> String {
    format!("providers.{}", network.as_str().to_lowercase())
}

/// Returns the variables of a network's credential.
fn variable_of(network: &Provider) -> SecretVariable {
    match network {
        Provider::Ethoca => secret_variables::ETHOCA,
        Provider::Verifi => secret_variables::VERIFI,
        _ => secret_variables::CDRN,
    }
}

/// Reads the credential of a network: from the file of its settings, else from its environment variable.
fn credential(network: &Provider, set: &NetworkSettings) -> anyhow::Result<Option<EndpointAuth>> {
    if set.auth == NetworkAuth::None {
        return Ok(None);
    }
    let (of_network, section) = (variable_of(network), section_of(network));
    let file = set.credential_file.as_path();
    let text = if file.as_os_str().is_empty() {
        of_network.read(variable)?.ok_or_else(|| {
            misused!(
                "{section}: a credential is needed: name a file with credential_file, set {of_network}, or say auth = \
                \"none\""
            )
        })?
    } else {
        read_credential(file)?
    };
    Ok(match set.auth {
        NetworkAuth::Bearer => Some(EndpointAuth::bearer(&text)),
        NetworkAuth::Header => Some(EndpointAuth::Header { name: set.header.clone(), value: Secret::new(text) }),
        NetworkAuth::Basic => {
            let (username, password) = parts(&text, &section, "auth = \"basic\": USER:PASSWORD as its credential")?;
            Some(EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) })
        }
        NetworkAuth::None => None,
    })
}

/// Checks the networks for the doctor; `known` is what the database remembers.
pub(super) fn examine(settings: &Settings, known: &[Known]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = settings.gateways().map(|(network, set)| examine_gateway(network, set)).collect();
    findings.extend(closed(settings, known).into_iter().map(|closed| {
        let section = section_of(&closed.0);
        let advice = format!("give --config FILE; where it has no gateway any more: [{section}] simulated = true");
        Finding::wrong("networks", closed_words(closed), advice)
    }));
    if let Some(found) = simulated_words(settings, known) {
        findings.push(if settings.environment == Environment::Production {
            let advice =
                "the environment is production: set up a gateway where answers reach nobody (avert help networks)";
            Finding::notice("networks", found, advice)
        } else {
            Finding::fine("networks", found)
        });
    }
    findings
}

fn examine_gateway(network: &Provider, set: &NetworkSettings) -> Finding {
    let check = match network {
        Provider::Ethoca => "network ETHOCA",
        Provider::Verifi => "network VERIFI",
        _ => "network CDRN",
    };
    if let Err(error) = credential(network, set).and_then(|credential| provider(set, credential)) {
        return Finding::wrong(check, error.to_string(), "mend it: until then no command runs that opens the database");
    }
    if std::fs::metadata(&set.credential_file).is_ok_and(|there| allows_others(&there, 0o077)) {
        let file = set.credential_file.display();
        let found = format!("the credential in {file} can be read by other users");
        return Finding::notice(check, found, format!("chmod 600 {file}"));
    }
    Finding::fine(check, format!("answered by {}", set.url))
}

/// Returns the simulators that play the networks.
fn simulators(fault: SimulatorFault) -> Providers {
    let playing = |profile| Arc::new(Simulator::with_profile(profile, rand::random()));
    match fault {
        SimulatorFault::None => Providers::all(playing(FaultProfile::None)),
        SimulatorFault::Flaky => Providers::all(playing(FaultProfile::Flaky)),
        SimulatorFault::Down => Providers::all(playing(FaultProfile::Down)),
        SimulatorFault::Slow => Providers::all(playing(FaultProfile::Slow)),
        SimulatorFault::SlowCdrn => {
            Providers::all(playing(FaultProfile::None)).with(Provider::Cdrn, playing(FaultProfile::Slow))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rstest::rstest;

    use super::*;

    const NATIVE: &str = "[sources.justt]\npreset = \"justt\"\nanswers = \"native\"\n";
    const GATEWAY: &str = "[providers.ethoca]\nurl = \"https://gateway.example\"\n";

    #[rstest]
    #[case("", false, "simulated networks")]
    #[case(GATEWAY, false, "simulated VERIFI and CDRN")]
    #[case(GATEWAY, true, "simulated VERIFI and CDRN")]
    #[case("", true, "no gateway set for ETHOCA, simulated VERIFI and CDRN")]
    #[case(NATIVE, false, "sends to justt, simulated networks")]
    #[case("[providers.ethoca]\nsimulated = true\n", true, "simulated networks")]
    fn the_head_of_the_console_says_where_decisions_do_not_go(
        #[case] text: &str,
        #[case] had_gateway: bool,
        #[case] words: &str,
    ) {
        let settings = Settings::parse(text, Path::new("avert.toml")).unwrap();
        let known: Vec<Known> =
            had_gateway.then(|| (Provider::Ethoca, "https://gateway.example".to_owned())).into_iter().collect();

        assert_eq!(place_of("acme", &settings, &known), format!("acme, {words}"));
    }
}
