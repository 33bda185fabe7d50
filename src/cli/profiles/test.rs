//! `avert profiles test`: tests a deployment step by step, from resolving its name to the kind of service.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::super::{
    args::RemoteArgs,
    output::{ListColumns, Report},
    process::variable,
    profile_access::{NamedProfile, ProfileAccess, Withheld},
    target::RemoteTarget,
};
use crate::{
    client::{Client, ListProbe, OperatorProbe},
    domain::{Secret, time::SystemClock, url::BaseUrl},
    outbound::proxy::look_up,
    service::{Deployment, ServiceError},
};

/// Largest difference of clocks at which the time left is still good enough.
const CLOCK_TOLERANCE: chrono::TimeDelta = chrono::TimeDelta::seconds(30);

/// Longest wait for a name to be resolved.
const NAME_PATIENCE: Duration = Duration::from_secs(5);

/// Number of alerts that are read for the fields that have values.
const SAMPLE: u32 = 25;

type Listed = Result<ListProbe, ServiceError>;

/// Detail of a step without a reply.
const NOBODY: &str = "no reply";

/// Result of a step.
struct Step {
    step: &'static str,
    /// Result of the check; `None` where it does not apply.
    ok: Option<bool>,
    detail: String,
}

impl Step {
    fn new(step: &'static str, ok: impl Into<Option<bool>>, detail: impl Into<String>) -> Self {
        Self { step, ok: ok.into(), detail: detail.into() }
    }
}

/// Runs the steps of a profile; the second value is false where one fails.
pub(super) async fn run(access: &ProfileAccess, named: &NamedProfile) -> anyhow::Result<(Report, bool)> {
    let access = access.without_asking();
    let args = RemoteArgs { profile: Some(named.name.to_string()), ..RemoteArgs::default() };
    let (target, missing) = match args.target(Some(&access), variable) {
        Ok(target) => (target.ok_or_else(|| anyhow::anyhow!("profile {} names no deployment", named.name))?, None),
        // Steps that need no credential are tested all the same.
        Err(error) => (RemoteTarget::of_profile(named, Secret::new("none"))?, Some(why_missing(error)?)),
    };
    let target = target.with_kept_operator_key(Some(&access))?;
    let target = target.by_one_key().unwrap_or(target);
    let url = target.url.clone();
    let (client, deployment) = target.connect(Arc::new(SystemClock), None)?;
    let steps = steps(&url, &client, &deployment, missing).await;
    let all_well = steps.iter().all(|step| step.ok != Some(false));
    Ok((report(&steps), all_well))
}

/// Returns the reason of a missing credential, where that is the only error.
fn why_missing(error: anyhow::Error) -> anyhow::Result<ServiceError> {
    match error.downcast::<ServiceError>() {
        Ok(error @ ServiceError::NotAuthorized(_)) => Ok(error),
        Ok(other) => Err(other.into()),
        Err(error) => error.downcast::<Withheld>().map(|why| ServiceError::NotAuthorized(why.to_string())),
    }
}

async fn steps(url: &BaseUrl, client: &Client, deployment: &Deployment, missing: Option<ServiceError>) -> Vec<Step> {
    let address = address(url).await;
    let connected = client.probe_operator().await;
    let tls = match (url.is_https(), &connected) {
        (false, _) => Step::new("tls", None, "plain http: nothing is encrypted on the way"),
        (true, Ok(_)) => Step::new("tls", true, "encrypted, and its certificate is trusted"),
        (true, Err(error)) => Step::new("tls", false, told(error)),
    };
    let token = match missing {
        Some(why) => Err(why),
        None => client.probe_token().await,
    };
    let list = match &token {
        Ok(_) => Some(client.probe_list(SAMPLE).await),
        Err(_) => None,
    };
    let address = match (address, &connected) {
        // Behind a proxy it is the proxy that resolves the name.
        (Err(why), Ok(_)) => Step::new("address", None, format!("{why}; it is reached all the same, by a proxy")),
        (Err(why), Err(_)) => Step::new("address", false, why),
        (Ok(addresses), _) => Step::new("address", true, addresses),
    };
    let clock = match &connected {
        Ok(_) => clock_step(deployment.alerts.clock_lead().await.ok().flatten()),
        Err(_) => Step::new("clock", None, NOBODY),
    };
    let avert = avert(connected, matches!(list, Some(Ok(_))));
    vec![
        address,
        tls,
        credential(&token, list.as_ref()),
        listing(&token, list.as_ref()),
        fields(list.as_ref()),
        clock,
        avert,
    ]
}

/// Resolves a host name and returns its addresses.
async fn address(url: &BaseUrl) -> Result<String, String> {
    let (host, port) = url.host_and_port();
    let resolved = tokio::time::timeout(NAME_PATIENCE, look_up(&host, port)).await;
    let addresses = match resolved {
        Ok(Ok(addresses)) => addresses,
        Ok(Err(error)) => return Err(format!("{host} cannot be resolved: {error}")),
        Err(_) => return Err(format!("{host} cannot be resolved within {} s", NAME_PATIENCE.as_secs())),
    };
    let mut all: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    all.dedup();
    if all.is_empty() { Err(format!("{host} has no address")) } else { Ok(all.join(", ")) }
}

fn credential(token: &Result<bool, ServiceError>, list: Option<&Listed>) -> Step {
    let (ok, detail) = match (token, list) {
        (Err(error @ ServiceError::NotAuthorized(_)), _) => (Some(false), told(error)),
        (Err(error), _) => (None, format!("no token; could not verify the credential: {}", told(error))),
        (Ok(_), Some(Err(error @ ServiceError::NotAuthorized(_)))) => (Some(false), told(error)),
        (Ok(true), _) => (Some(true), "it gave a token for the client credentials".to_owned()),
        (Ok(false), Some(Ok(_))) => (Some(true), "the API key is accepted".to_owned()),
        (Ok(false), _) => (None, "could not verify the API key: no list came".to_owned()),
    };
    Step::new("credential", ok, detail)
}

fn listing(token: &Result<bool, ServiceError>, list: Option<&Listed>) -> Step {
    match (token, list) {
        (_, Some(Ok(list))) if list.total == 1 => Step::new("list", true, "1 alert"),
        (_, Some(Ok(list))) => Step::new("list", true, format!("{} alerts", list.total)),
        (Ok(_) | Err(ServiceError::NotAuthorized(_)), None) => {
            Step::new("list", None, "not asked for without a credential")
        }
        // A service that gave no token gives no list either.
        (_, Some(Err(error))) | (Err(error), None) => Step::new("list", false, told(error)),
    }
}

/// Checks which of the interface's fields have a value in any alert.
fn fields(list: Option<&Listed>) -> Step {
    match list {
        Some(Ok(list)) if list.seen == 0 => Step::new("fields", None, "there is no alert to look at"),
        Some(Ok(list)) => {
            let alerts = if list.seen == 1 { "1 alert" } else { &format!("{} alerts", list.seen) };
            let of = format!("in {alerts}, {} of {} fields come", list.come, list.come + list.missing.len());
            Step::new(
                "fields",
                true,
                if list.missing.is_empty() { of } else { format!("{of}; none of these: {}", list.missing.join(", ")) },
            )
        }
        _ => Step::new("fields", None, "no list to look at"),
    }
}

fn clock_step(lead: Option<chrono::TimeDelta>) -> Step {
    let Some(lead) = lead else { return Step::new("clock", None, "it does not tell the time (no Date header)") };
    let (seconds, which) =
        (lead.num_seconds().abs(), if lead < chrono::TimeDelta::zero() { "behind" } else { "ahead of" });
    match (seconds, lead.abs() <= CLOCK_TOLERANCE) {
        (0 | 1, _) => Step::new("clock", true, "the same as here"),
        (_, true) => Step::new("clock", true, format!("its clock is {seconds} s {which} this machine's")),
        (_, false) => Step::new(
            "clock",
            false,
            format!(
                "its clock is {seconds} s {which} this machine's: the time that is left is shown wrong by that much"
            ),
        ),
    }
}

fn avert(connected: Result<OperatorProbe, ServiceError>, has_list: bool) -> Step {
    match connected {
        Ok(OperatorProbe::Operator { organization, environment }) => {
            let found = format!("an avert ({}), with an operator's key of {organization}", environment.as_str());
            Step::new("avert", true, found)
        }
        Ok(OperatorProbe::Refused(why)) => {
            let why = if why.is_empty() { String::new() } else { format!(": {why}") };
            Step::new("avert", true, format!("it may be an avert: an operator's key is wanted at /operator/v1{why}"))
        }
        Ok(OperatorProbe::Absent) if has_list => {
            Step::new("avert", true, "not an avert: it has the interface and nothing beyond it")
        }
        Ok(OperatorProbe::Absent) => Step::new("avert", None, "nothing of an avert was found, and no list either"),
        Err(_) => Step::new("avert", None, NOBODY),
    }
}

/// Returns the message of an error without its prefix, as the step is about the service anyway.
fn told(error: &ServiceError) -> String {
    match error {
        ServiceError::Unavailable(why)
        | ServiceError::Unreachable(why)
        | ServiceError::Throttled { why, .. }
        | ServiceError::NotAuthorized(why) => why.clone(),
        other => other.to_string(),
    }
}

fn report(steps: &[Step]) -> Report {
    let sign = |ok| match ok {
        Some(true) => "✓",
        Some(false) => "✗",
        None => "·",
    };
    ListColumns::new()
        .shown("", |step: &Step| sign(step.ok).to_owned())
        .both("step", "", |step| json!(step.step))
        .member("ok", |step| json!(step.ok))
        .both("detail", "", |step| json!(step.detail))
        .report(steps, None)
}
