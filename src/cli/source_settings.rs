//! The configured sources: their signatures, secrets, maps and interfaces.

use std::{path::Path, sync::Arc, time::Duration};

use super::{
    ask::read_credential, failure::Misused, networks::Networks, process::variable, secret_variables::secret_of,
};
use crate::{
    config::{Settings, SourceName, SourceSettings},
    domain::{Answers, Secret, SignatureScheme, VerifiAnswers, time::SharedClock},
    engine::{
        InboundSource,
        providers::http::native::{NativeInterface, NativeSource},
    },
    inbound::signature::check_secret,
};

/// Builds the sources of the settings, and adds their interfaces to the networks. Secrets are needed for a service
/// alone, which checks by them.
///
/// # Errors
/// A secret that is missing, or is none of its kind.
pub(super) fn sources(
    settings: &Settings,
    with_secrets: bool,
    clock: &SharedClock,
    networks: &mut Networks,
) -> anyhow::Result<Vec<InboundSource>> {
    let mut sources = Vec::new();
    for (SourceName(name), set) in &settings.sources {
        let native = native(name, set, with_secrets, clock)?;
        let source = source(name, set, with_secrets, native)?;
        networks.add(&source, Duration::from_secs(set.poll_seconds.0.into()), clock);
        sources.push(source);
    }
    Ok(sources)
}

/// Builds the interface of a source that has one, where its key is given.
fn native(
    name: &str,
    set: &SourceSettings,
    is_needed: bool,
    clock: &SharedClock,
) -> anyhow::Result<Option<Arc<NativeSource>>> {
    let account = Some(set.account.clone()).filter(|account| !account.is_empty());
    let interface = match set.preset.as_str() {
        "justt" => {
            let takes_codes = set.verifi == VerifiAnswers::Codes;
            NativeInterface::Justt { account, codes: takes_codes.then(|| set.codes.clone()) }
        }
        "stripe" => NativeInterface::Stripe,
        _ => return Ok(None),
    };
    let key = match text_of(name, "API_KEY", &set.api_key_file) {
        Ok(None) if is_needed && set.answers == Answers::Native => {
            refuse!(
                "sources.{name}: answers = \"native\" needs a key: name a file with api_key_file, or set {}",
                variable_of(name, "API_KEY")
            );
        }
        Err(error) if is_needed => return Err(error.into()),
        key => key.ok().flatten(),
    };
    let Some(key) = key else { return Ok(None) };
    let native = NativeSource::new(interface, &set.url, &Secret::new(key.trim()), Arc::clone(clock));
    let native = native.map_err(|error| misused!("sources.{name}: {error}"))?;
    Ok(Some(Arc::new(native)))
}

/// Builds one source as [`sources`] does. One that is polled may do without webhooks, and then without their secret.
pub(super) fn source(
    name: &str,
    set: &SourceSettings,
    with_secrets: bool,
    native: Option<Arc<NativeSource>>,
) -> anyhow::Result<InboundSource> {
    let (scheme, reader) = set.reader().map_err(|error| misused!("sources.{name}: {error}"))?;
    let (mut secret, mut basic) = (None, None);
    if with_secrets {
        secret = read_secret(name, "SECRET", &set.secret_file, scheme)?;
        if secret.is_none() && native.is_none() {
            refuse!(
                "sources.{name}: a secret is needed: name a file with secret_file, or set {}",
                variable_of(name, "SECRET")
            );
        }
        basic = read_secret(name, "BASIC", &set.basic_file, SignatureScheme::Basic)?;
        if scheme == SignatureScheme::Adyen && basic.is_none() {
            refuse!(
                "sources.{name}: HTTP Basic is needed: Adyen's signature covers neither card, ARN nor reason; name a \
                    file with basic_file, or set {}",
                variable_of(name, "BASIC")
            );
        }
    }
    let given = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    Ok(InboundSource {
        name: name.to_owned(),
        preset: given(&set.preset),
        scheme,
        secret,
        basic,
        organization: given(&set.organization),
        answers: set.answers,
        takes_codes: set.verifi == VerifiAnswers::Codes,
        native,
        reader,
    })
}

/// Returns the variable of a secret: `AVERT_SOURCE_STRIPE_EU_SECRET`.
fn variable_of(name: &str, what: &str) -> String {
    format!("AVERT_SOURCE_{}_{what}", name.to_ascii_uppercase().replace('-', "_"))
}

/// Reads a credential from the file of the settings, else from the environment.
fn text_of(name: &str, what: &str, file: &Path) -> Result<Option<String>, Misused> {
    let variable_name = variable_of(name, what);
    match file.as_os_str().is_empty() {
        true => secret_of(&variable_name, &format!("{variable_name}_FILE"), variable),
        false => read_credential(file).map(Some),
    }
}

/// Reads a secret, and checks its form.
fn read_secret(name: &str, what: &str, file: &Path, scheme: SignatureScheme) -> Result<Option<Secret>, Misused> {
    let secret = text_of(name, what, file)?.map(|text| Secret::new(text.trim()));
    if let Some(secret) = &secret {
        check_secret(scheme, secret).map_err(|error| misused!("sources.{name}: its secret {error}"))?;
    }
    Ok(secret)
}
