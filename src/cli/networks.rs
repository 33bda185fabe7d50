//! The networks as they are set: a gateway over HTTP where the settings name one, else the simulator.

use std::sync::Arc;
use std::time::Duration;

use super::failure::Misused;
use super::webhooks::read_credential;
use crate::config::{Fault, Network, NetworkAuth, NetworkSettings, Settings};
use crate::domain::Provider;
use crate::providers::http::{Credential, HttpOptions};
use crate::providers::simulator::FaultProfile;
use crate::providers::{Capabilities, HttpProvider, Providers, Simulator};
use crate::service::Secret;

/// The networks that the interface names.
const NAMED: [Network; 3] = [Network::Ethoca, Network::Verifi, Network::Cdrn];

/// Who answers decisions. `variable` reads the environment.
pub(super) fn providers(settings: &Settings, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Providers> {
    let simulator = Simulator::with_profile(profile(settings.simulator.fault), rand::random());
    let mut providers = Providers::all(Arc::new(simulator));
    for (network, set) in &settings.providers {
        let wrong = |what: String| Misused(format!("providers.{}: {what}", network.as_str()));
        let credential = credential(*network, set, &variable)?;
        let options = HttpOptions {
            url: set.url.clone(),
            insecure_http: set.insecure_http,
            credential,
            capabilities: capabilities(set),
            timeout: timeout(set),
        };
        let provider = HttpProvider::new(options).map_err(wrong)?;
        providers = providers.with(Provider::from(*network), Arc::new(provider));
    }
    Ok(providers)
}

/// How long an answer to a decision may take at most, by the networks as they are set; nothing where none has a gateway.
pub(super) fn longest_call(settings: &Settings) -> Option<Duration> {
    // The provider cuts a call off itself, and knows better what that means.
    settings.providers.values().map(|set| timeout(set) + Duration::from_secs(1)).max()
}

/// The names of the networks that the simulator answers for; others than those named are among them always.
pub(super) fn simulated(settings: &Settings) -> Vec<&'static str> {
    let names = [("ETHOCA", Network::Ethoca), ("VERIFI", Network::Verifi), ("CDRN", Network::Cdrn)];
    names.into_iter().filter(|(_, network)| !settings.providers.contains_key(network)).map(|(name, _)| name).collect()
}

/// Where decisions go, in a few words for the head of the console: nothing where every network has its gateway.
pub(super) fn place(settings: &Settings) -> Option<String> {
    let simulated = simulated(settings);
    match simulated.len() {
        0 => None,
        all if all == NAMED.len() => Some("simulated networks".to_owned()),
        _ => Some(format!("simulated {}", simulated.join(" and "))),
    }
}

fn capabilities(set: &NetworkSettings) -> Capabilities {
    let NetworkSettings { lookup, idempotent, final_error_only, settle_seconds, .. } = *set;
    Capabilities { lookup, idempotent, final_error_only, settle: Duration::from_secs(settle_seconds.0.into()) }
}

fn timeout(set: &NetworkSettings) -> Duration {
    Duration::from_secs(set.timeout_seconds.0.into())
}

/// The credential of a network: from its file, else from its environment variable.
pub(super) fn credential(network: Network, set: &NetworkSettings, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Credential> {
    if set.auth == NetworkAuth::None {
        return Ok(Credential::None);
    }
    let name = network.credential_variable();
    let text = if set.credential_file.as_os_str().is_empty() {
        variable(name).filter(|text| !text.is_empty()).ok_or_else(|| {
            let key = network.as_str();
            Misused(format!(
                "providers.{key}: a credential is needed: name a file with credential_file, set {name}, or say auth = \"none\""
            ))
        })?
    } else {
        read_credential(&set.credential_file)?
    };
    Ok(match set.auth {
        NetworkAuth::Bearer => Credential::Bearer(Secret::new(text)),
        NetworkAuth::Header => Credential::Header { name: set.header.clone(), value: Secret::new(text) },
        NetworkAuth::Basic => {
            let (username, password) = text.split_once(':').ok_or_else(|| {
                let key = network.as_str();
                Misused(format!("providers.{key}: auth = \"basic\" needs USER:PASSWORD as its credential, there is no colon"))
            })?;
            Credential::Basic { username: username.to_owned(), password: Secret::new(password) }
        }
        NetworkAuth::None => Credential::None,
    })
}

fn profile(fault: Fault) -> FaultProfile {
    match fault {
        Fault::None => FaultProfile::None,
        Fault::Flaky => FaultProfile::Flaky,
        Fault::Down => FaultProfile::Down,
        Fault::Slow => FaultProfile::Slow,
    }
}
