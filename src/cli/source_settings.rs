//! The configured sources: their signatures, secrets and maps.

use std::path::Path;

use super::{ask::read_credential, failure::Misused, process::variable, secret_variables::secret_of};
use crate::{
    config::{Settings, SourceSettings},
    domain::{Secret, SignatureScheme},
    engine::InboundSource,
    inbound::signature::check_secret,
};

/// Builds the sources of the settings. Their secrets are read for a service alone, which checks by them.
///
/// # Errors
/// A secret that is missing, or is none of its kind.
pub(super) fn sources(settings: &Settings, with_secrets: bool) -> anyhow::Result<Vec<InboundSource>> {
    settings.sources.iter().map(|(name, set)| source(&name.0, set, with_secrets)).collect()
}

/// Builds one source as [`sources`] does.
pub(super) fn source(name: &str, set: &SourceSettings, with_secrets: bool) -> anyhow::Result<InboundSource> {
    let (scheme, reader) = set.reader().map_err(|error| misused!("sources.{name}: {error}"))?;
    let (mut secret, mut basic) = (None, None);
    if with_secrets {
        let missing = || {
            misused!(
                "sources.{name}: a secret is needed: name a file with secret_file, or set {}",
                variable_of(name, "SECRET")
            )
        };
        secret = Some(read_secret(name, "SECRET", &set.secret_file, scheme)?.ok_or_else(missing)?);
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
        reader,
    })
}

/// Returns the variable of a secret: `AVERT_SOURCE_STRIPE_EU_SECRET`.
fn variable_of(name: &str, what: &str) -> String {
    format!("AVERT_SOURCE_{}_{what}", name.to_ascii_uppercase().replace('-', "_"))
}

/// Reads a secret from the file of the settings, else from the environment.
fn read_secret(name: &str, what: &str, file: &Path, scheme: SignatureScheme) -> Result<Option<Secret>, Misused> {
    let variable_name = variable_of(name, what);
    let text = match file.as_os_str().is_empty() {
        true => secret_of(&variable_name, &format!("{variable_name}_FILE"), variable)?,
        false => Some(read_credential(file)?),
    };
    let secret = text.map(|text| Secret::new(text.trim()));
    if let Some(secret) = &secret {
        check_secret(scheme, secret).map_err(|error| misused!("sources.{name}: its secret {error}"))?;
    }
    Ok(secret)
}
