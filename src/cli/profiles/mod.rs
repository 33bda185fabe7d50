//! `avert profiles`: deployments by name, each with its settings and the place of its credential; a new one comes from
//! flags, or step by step at the terminal.

mod report;
mod test;

use std::path::PathBuf;

use anyhow::Context as _;

use super::{
    args::{ProfileAddArgs, ProfilesCommand},
    ask::{self, credential_in},
    context::Context,
    failure::{Misused, SaidAlready, say},
    output::Report,
    profile_access::{NamedProfile, ProfileAccess, unusable},
    target::{RemoteTarget, base_url, check_world, told},
};
use crate::{
    desk::{Profile, ProfileList, ProfileName, SecretKind, SecretStorage, profiles::LOCAL},
    domain::{
        Secret,
        url::{BaseUrl, PlainHttp},
    },
    outbound::tls::TlsFiles,
    service::ServiceError,
};
pub(super) use report::for_console;

pub(super) async fn run(context: Context, command: ProfilesCommand) -> anyhow::Result<()> {
    let access = context.require_profiles()?;
    let answer = match command {
        ProfilesCommand::Add(args) => add(access, *args).await?.1,
        ProfilesCommand::List => report::list(access)?,
        ProfilesCommand::Show { name } => report::one(access, &access.wanted(name.as_deref())?)?,
        ProfilesCommand::Test { name } => {
            let (steps, all_well) = test::run(access, &access.wanted(name.as_deref())?).await?;
            context.output.print(&steps)?;
            return if all_well { Ok(()) } else { Err(SaidAlready.into()) };
        }
        ProfilesCommand::Use { name } => choose(access, &name)?,
        ProfilesCommand::Remove { name } => remove(&context, access, &name)?,
    };
    context.output.print(&answer)
}

/// Asks for a deployment step by step and keeps it as a profile.
pub(super) async fn connect(context: &Context) -> anyhow::Result<ProfileName> {
    let (name, added) = add(context.require_profiles()?, ProfileAddArgs::default()).await?;
    say(added.said());
    Ok(name)
}

fn choose(access: &ProfileAccess, name: &str) -> anyhow::Result<Report> {
    let chosen = access.named(name)?;
    let chosen_name = chosen.as_ref().map(|chosen| chosen.name.clone());
    access.profiles.change(|list| {
        list.current = chosen_name;
        Ok::<_, anyhow::Error>(())
    })?;
    let name = chosen.as_ref().map_or(LOCAL, |chosen| chosen.name.as_str());
    let record = serde_json::json!({ "current": chosen.as_ref().map(|chosen| chosen.name.as_str()) });
    Ok(Report::one(record, format!("where no profile is named, {name} is meant")))
}

fn remove(context: &Context, access: &ProfileAccess, name: &str) -> anyhow::Result<Report> {
    let NamedProfile { name, .. } = access.wanted(Some(name))?;
    // Secrets first: a profile whose credential cannot be removed stays, and can be removed again.
    let kept = access.forget(&name)?;
    access.profiles.change(|list| {
        if list.current.as_ref() == Some(&name) {
            list.current = None;
        }
        list.all.remove(&name);
        Ok::<_, anyhow::Error>(())
    })?;
    let credential = if kept { " and its credential" } else { "" };
    let desk = context.desks_of_profile(&name);
    if desk.exists() {
        say!("its journal, drafts and views stay in {}", desk.display());
    }
    Ok(Report::one(
        serde_json::json!({ "name": name.as_str(), "credential": kept }),
        format!("profile {name}{credential} removed"),
    ))
}

/// Adds the profile of the flags. Where they do not name a deployment the rest is asked for, and the credential is
/// tested before it is kept.
async fn add(access: &ProfileAccess, args: ProfileAddArgs) -> anyhow::Result<(ProfileName, Report)> {
    let asks = args.name.is_none() || args.url.is_none();
    if asks && !ask::is_possible() {
        refuse!("NAME --url URL is needed: without a terminal nothing is asked");
    }
    let name = match &args.name {
        Some(name) => free(access, name)?,
        None => ask::until("Name of the profile: ", |text| free(access, text).map_err(|error| format!("{error:#}")))?,
    };
    let url = match &args.url {
        Some(url) => address(url, &args)?,
        None => ask::until("Base URL, without /api/v1: ", |text| address(text, &args).map_err(|error| error.0))?,
    };
    let client_id = match (&args.access.client_id, &args.access.api_key_file) {
        (None, None) if asks => Some(ask::line("Client id (empty for an API key): ")?).filter(|id| !id.is_empty()),
        (id, _) => id.clone(),
    };
    let credential = match args.access.credential_file() {
        Some(file) => Some(credential_in(file)?),
        None if asks => Some(ask::credential(client_id.is_some())?),
        None => None,
    };
    let operator_key = args.access.operator_key_file.as_deref().map(credential_in).transpose()?;
    let told = told([
        client_id.as_deref(),
        credential.as_ref().map(Secret::reveal),
        operator_key.as_ref().map(Secret::reveal),
    ]);
    check_world(args.environment, told)?;
    let environment = match args.environment.or(told) {
        None if asks => Some(ask::environment()?),
        known => known,
    };
    let profile = Profile { environment, client_id, url: url.to_string(), ..flags(&args)? };
    let named = NamedProfile { name: name.clone(), profile };
    if let (true, Some(credential)) = (asks, &credential) {
        say!("  trying it at {}", url.host());
        let target = RemoteTarget::of_profile(&named, credential.clone())?;
        let total = target.try_out().await.context("nothing was saved")?;
        say!("  it works: {total} alerts");
    }
    let secrets = [(SecretKind::Access, credential), (SecretKind::Operator, operator_key)];
    Ok((name, keep(access, &named, secrets, args.plain_secrets, asks)?))
}

/// Returns the settings of the flags that are taken as they are.
fn flags(args: &ProfileAddArgs) -> anyhow::Result<Profile> {
    let TlsFiles { ca_file, client_certificate, client_key } = args.tls.files();
    // They are found from every directory.
    let absolute = |file: Option<PathBuf>| file.map(std::path::absolute).transpose();
    let files = TlsFiles {
        ca_file: absolute(ca_file)?,
        client_certificate: absolute(client_certificate)?,
        client_key: absolute(client_key)?,
    };
    files.read().map_err(Misused)?;
    let TlsFiles { ca_file, client_certificate, client_key } = files;
    Ok(Profile {
        dialect: args.dialect,
        read_only: args.read_only,
        company_parameter: args.company_parameter.clone(),
        page_size: args.page_size,
        refresh_seconds: args.refresh_seconds,
        ca_file,
        client_certificate,
        client_key,
        insecure_http: args.insecure_http,
        ..Profile::default()
    })
}

/// Reads a name that is free, in any letter case: directories are named after it.
fn free(access: &ProfileAccess, text: &str) -> anyhow::Result<ProfileName> {
    let name: ProfileName = text.parse().map_err(Misused)?;
    let list = access.profiles.list().map_err(unusable)?;
    check_free(&list, &name)?;
    Ok(name)
}

fn check_free(list: &ProfileList, name: &ProfileName) -> Result<(), ServiceError> {
    match list.all.keys().find(|known| known.as_str().eq_ignore_ascii_case(name.as_str())) {
        None => Ok(()),
        Some(known) => Err(ServiceError::Conflict(format!(
            "there is a profile {known} already: `avert profiles remove {known}` removes it"
        ))),
    }
}

fn address(url: &str, args: &ProfileAddArgs) -> Result<BaseUrl, Misused> {
    base_url(url, PlainHttp::when(args.insecure_http, "say --insecure-http"))
}

/// Keeps the credentials and then the profile.
fn keep(
    access: &ProfileAccess,
    named: &NamedProfile,
    secrets: [(SecretKind, Option<Secret>); 2],
    plain: bool,
    current: bool,
) -> anyhow::Result<Report> {
    let name = &named.name;
    let mut storage = None;
    let kept = || -> anyhow::Result<()> {
        for (kind, secret) in secrets {
            let plainly = plain || storage == Some(SecretStorage::PlainFile);
            match secret {
                Some(secret) if kind == SecretKind::Access => {
                    storage = Some(access.keep(name, kind, &secret, plainly)?);
                }
                Some(secret) => drop(access.keep(name, kind, &secret, plainly)?),
                // One that an earlier profile of this name left behind would go to this one's address.
                None => drop(access.secrets.remove(name, kind)),
            }
        }
        access.profiles.change(|list| {
            check_free(list, name)?;
            list.all.insert(name.clone(), named.profile.clone());
            if current {
                list.current = Some(name.clone());
            }
            Ok(())
        })
    };
    if let Err(error) = { kept }() {
        let _ = access.forget(name);
        return Err(error);
    }
    Ok(report::added(named, current, storage))
}
