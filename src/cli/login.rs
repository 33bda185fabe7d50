//! `avert login` and `avert logout`: tests a profile's credential before keeping it, and removes it everywhere.

use anyhow::Context as _;
use serde_json::json;

use super::{
    args::{LoginArgs, LogoutArgs},
    ask::{self, credential_in},
    context::Context,
    output::Report,
    process::variable,
    profile_access::{NamedProfile, ProfileAccess},
    secret_variables::{API_KEY, CLIENT_SECRET, OPERATOR_KEY, SecretVariable},
    target::{RemoteTarget, check_world, names_credential, told},
};
use crate::{
    desk::{Profile, SecretKind, SecretStorage},
    domain::Secret,
};

/// Context of an error before anything was kept.
const NOT_KEPT: &str = "nothing was saved";

pub(super) async fn login(context: Context, args: LoginArgs) -> anyhow::Result<()> {
    let access = context.require_profiles()?;
    let named = access.wanted(args.profile.as_deref())?;
    let for_operator = args.operator || args.access.operator_key_file.is_some();
    let mut said = Vec::new();
    let mut storage = None;
    if args.access.names_credential() || !for_operator {
        let (client_id, secret) = access_secret(&named.profile, &args)?;
        let told = told([client_id.as_deref(), Some(secret.reveal())]);
        check_world(named.profile.environment, told)?;
        let profile = Profile { client_id, environment: named.profile.environment.or(told), ..named.profile.clone() };
        let tried = NamedProfile { name: named.name.clone(), profile };
        let total = RemoteTarget::of_profile(&tried, secret.clone())?.try_out().await.context(NOT_KEPT)?;
        storage = Some(access.keep(&named.name, SecretKind::Access, &secret, args.plain_secrets)?);
        change(access, &tried)?;
        said.push(format!("it takes the credential, and has {total} alerts"));
    }
    if for_operator {
        let key = match &args.access.operator_key_file {
            Some(file) => credential_in(file)?,
            None => secret_of(OPERATOR_KEY, "--operator-key-file", || ask::secret("Operator's key (not shown): "))?,
        };
        check_world(named.profile.environment, told([Some(key.reveal())]))?;
        let by_key = NamedProfile { profile: Profile { client_id: None, ..named.profile.clone() }, ..named.clone() };
        let target = RemoteTarget::of_profile(&by_key, key.clone())?.with_operator_key(key.clone());
        let organization = target.try_operator_key().await.context(NOT_KEPT)?;
        storage = Some(access.keep(&named.name, SecretKind::Operator, &key, args.plain_secrets)?);
        said.push(format!("it takes the operator's key of organization {organization}"));
    }
    let (word, kept) = match storage {
        Some(SecretStorage::PlainFile) => ("file", format!("as plain text in {}", access.secrets.path().display())),
        _ => ("keyring", "in the system's keyring".to_owned()),
    };
    let words = format!("{} at {}: {}; kept {kept}", named.name, named.profile.url, said.join(", "));
    context.output.print(&Report::one(json!({ "profile": named.name.as_str(), "credential": word }), words))
}

pub(super) fn logout(context: &Context, args: &LogoutArgs) -> anyhow::Result<()> {
    let access = context.require_profiles()?;
    let NamedProfile { name, profile } = access.wanted(args.profile.as_deref())?;
    let removed = access.forget(&name)?;
    if names_credential(&profile) {
        say!("the environment still names a credential ({API_KEY} or {CLIENT_SECRET})");
    }
    let words = match removed {
        true => format!("the credentials of profile {name} are removed from this machine"),
        false => format!("profile {name} had no credential on this machine"),
    };
    context.output.print(&Report::one(json!({ "profile": name.as_str(), "removed": removed }), words))
}

/// Returns the credential to test and its client id. The secret is read from a file, else from the environment, else
/// typed.
fn access_secret(profile: &Profile, args: &LoginArgs) -> anyhow::Result<(Option<String>, Secret)> {
    let LoginArgs { access, .. } = args;
    let id = access.client_id.clone().or_else(|| profile.client_id.clone());
    let id = id.filter(|_| access.api_key_file.is_none());
    if let Some(file) = access.credential_file() {
        if id.is_none() && access.api_key_file.is_none() {
            refuse!("the client id is missing: --client-id");
        }
        return Ok((id, credential_in(file)?));
    }
    let (variable, flag) =
        if id.is_some() { (CLIENT_SECRET, "--client-secret-file") } else { (API_KEY, "--api-key-file") };
    let secret = secret_of(variable, flag, || ask::credential(id.is_some()))?;
    Ok((id, secret))
}

/// Returns the secret of the environment, else asks for it.
fn secret_of(of: SecretVariable, flag: &str, ask: impl FnOnce() -> anyhow::Result<Secret>) -> anyhow::Result<Secret> {
    match of.read(variable)?.map(|text| Secret::new(text.trim())) {
        Some(secret) if !secret.reveal().is_empty() => Ok(secret),
        _ if ask::is_possible() => ask(),
        _ => refuse!("without a terminal nothing is asked: {flag} FILE or the environment names the credential"),
    }
}

/// Stores the client id and the environment of the credential in the profile.
fn change(access: &ProfileAccess, NamedProfile { name, profile }: &NamedProfile) -> anyhow::Result<()> {
    access.profiles.change(|list| {
        let Some(known) = list.all.get_mut(name) else { refuse!("profile {name} was removed meanwhile") };
        known.client_id.clone_from(&profile.client_id);
        known.environment = profile.environment;
        Ok(())
    })
}
