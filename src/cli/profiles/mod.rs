//! `avert profiles`: deployments by name, each with its settings and the place of its credential; a new one comes from
//! flags, or step by step at the terminal.

mod report;
mod test;

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
    desk::{Profile, ProfileList, ProfileName, SecretKind, SecretStorage},
    domain::{
        Dialect, Secret,
        url::{BaseUrl, PlainHttp},
    },
    outbound::tls::TlsFiles,
    service::ServiceError,
};
pub(super) use report::for_console;

pub(super) async fn run(context: Context, command: ProfilesCommand) -> anyhow::Result<()> {
    let access = context.require_profiles()?;
    let answer = match command {
        ProfilesCommand::Add(args) => add(access, *args).await?,
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
    let (name, added) = step_by_step(context.require_profiles()?, &ProfileAddArgs::default()).await?;
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
    let Some(chosen) = chosen else {
        let said = "where no profile is named, this machine's own desk is meant".to_owned();
        return Ok(Report::one(serde_json::json!({ "current": null }), said));
    };
    let said = format!("where no profile is named, {} is meant: {}", chosen.name, report::in_words(&chosen.profile));
    Ok(Report::one(serde_json::json!({ "current": chosen.name.as_str() }), said))
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

/// Profile before it is kept.
struct Draft {
    named: NamedProfile,
    credential: Option<Secret>,
    operator_key: Option<Secret>,
    plain: bool,
    /// True where it becomes the current one.
    current: bool,
    /// True where questions can be asked at the terminal.
    asks: bool,
}

async fn add(access: &ProfileAccess, args: ProfileAddArgs) -> anyhow::Result<Report> {
    match given(access, &args)? {
        Some(draft) => keep(access, draft),
        None if ask::is_possible() => Ok(step_by_step(access, &args).await?.1),
        None => refuse!("NAME --url URL is needed: without a terminal nothing is asked"),
    }
}

/// Asks for a profile and keeps it; returns its name and the report.
async fn step_by_step(access: &ProfileAccess, args: &ProfileAddArgs) -> anyhow::Result<(ProfileName, Report)> {
    let draft = asked(access, args).await?;
    Ok((draft.named.name.clone(), keep(access, draft)?))
}

/// Reads the profile of the flags; `None` where they do not name a deployment.
fn given(access: &ProfileAccess, args: &ProfileAddArgs) -> anyhow::Result<Option<Draft>> {
    let name = args.name.as_deref().map(|name| free(access, name)).transpose()?;
    let (Some(name), Some(url)) = (name, &args.url) else { return Ok(None) };
    let url = address(url, args)?;
    let credential = args.access.credential_file().map(credential_in).transpose()?;
    let operator_key = args.access.operator_key_file.as_deref().map(credential_in).transpose()?;
    let environment = args.environment;
    let told = told([
        args.access.client_id.as_deref(),
        credential.as_ref().map(Secret::reveal),
        operator_key.as_ref().map(Secret::reveal),
    ]);
    check_world(environment, told)?;
    let profile = Profile {
        environment: environment.or(told),
        client_id: args.access.client_id.clone(),
        url: url.to_string(),
        ..flags(args)?
    };
    Ok(Some(Draft {
        named: NamedProfile { name, profile },
        credential,
        operator_key,
        plain: args.plain_secrets,
        current: false,
        asks: false,
    }))
}

/// Returns the settings of the flags that are taken as they are.
fn flags(args: &ProfileAddArgs) -> anyhow::Result<Profile> {
    let files = args.tls.files_from_anywhere();
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

/// Asks for the settings that the flags leave open, and tests the credential before it is kept.
async fn asked(access: &ProfileAccess, args: &ProfileAddArgs) -> anyhow::Result<Draft> {
    let name = match &args.name {
        Some(name) => free(access, name)?,
        None => ask::until("Name of the profile: ", |text| free(access, text).map_err(|error| format!("{error:#}")))?,
    };
    let url = match &args.url {
        Some(url) => address(url, args)?,
        None => ask::until("Base URL, without /api/v1: ", |text| address(text, args).map_err(|error| error.0))?,
    };
    let client_id = match (&args.access.client_id, &args.access.api_key_file) {
        (Some(id), _) => Some(id.clone()),
        (None, Some(_)) => None,
        (None, None) => Some(ask::line("Client id (empty for an API key): ")?).filter(|id| !id.is_empty()),
    };
    let mut credential = match args.access.credential_file() {
        Some(file) => credential_in(file)?,
        None => ask::credential(client_id.is_some())?,
    };
    let operator_key = args.access.operator_key_file.as_deref().map(credential_in).transpose()?;
    let told = told([client_id.as_deref(), Some(credential.reveal()), operator_key.as_ref().map(Secret::reveal)]);
    let environment = match (args.environment, told) {
        (Some(said), _) => said,
        (None, Some(told)) => {
            say!("  its prefix says: {}", told.as_str());
            told
        }
        (None, None) => ask::environment()?,
    };
    let dialect = match args.dialect {
        Some(named) => Some(named),
        None => {
            let usual = if client_id.is_some() { Dialect::Older } else { Dialect::Current };
            ask::until(&format!("Dialect, current or older [{}]: ", usual.as_str()), |text| match text {
                "" => Ok(None),
                text => Dialect::known(text).map(Some).ok_or_else(|| "one of current, older is needed".to_owned()),
            })?
        }
    };
    let read_only = args.read_only || ask::yes("Read only: nothing can be sent from here?", false)?;
    let profile =
        Profile { environment: Some(environment), client_id, url: url.to_string(), dialect, read_only, ..flags(args)? };
    let named = NamedProfile { name, profile };
    say!("  trying it at {}", url.host());
    loop {
        let error = match RemoteTarget::of_profile(&named, credential.clone())?.try_out().await {
            Ok(total) => {
                say!("  it works: {total} alerts");
                break;
            }
            Err(error) => error,
        };
        say!("  {error}");
        let refused = matches!(error.downcast_ref(), Some(ServiceError::NotAuthorized(_)));
        if refused && ask::yes("Type it again?", true)? {
            credential = ask::credential(named.profile.client_id.is_some())?;
            check_world(named.profile.environment, self::told([Some(credential.reveal())]))?;
            continue;
        }
        if !ask::yes("Keep the profile all the same?", false)? {
            say!("nothing was saved");
            return Err(SaidAlready.into());
        }
        break;
    }
    let current = ask::yes("Open it where no profile is named?", true)?;
    Ok(Draft { named, credential: Some(credential), operator_key, plain: args.plain_secrets, current, asks: true })
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

/// Keeps the credential and then the profile. There is no profile without its credential, unless its user wants that
/// kept nowhere.
fn keep(access: &ProfileAccess, draft: Draft) -> anyhow::Result<Report> {
    let Draft { named, credential, operator_key, plain, current, asks } = draft;
    let name = &named.name;
    check_free(&access.profiles.list().map_err(unusable)?, name)?;
    let secrets = [(SecretKind::Access, credential), (SecretKind::Operator, operator_key)];
    let mut storage = None;
    let kept = || -> anyhow::Result<()> {
        for (kind, secret) in secrets {
            let Some(secret) = secret else {
                access.forget_earlier(name, kind)?;
                continue;
            };
            let plainly = plain || storage == Some(SecretStorage::PlainFile);
            let kept = access.keep(name, kind, &secret, plainly, asks)?;
            if kind == SecretKind::Access {
                storage = kept;
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
    Ok(report::added(&named, current, asks, storage))
}
