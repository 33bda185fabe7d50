//! `avert profiles`: deployments by name, each with its settings and the place of its credential.

mod add;
mod report;
mod test;

use super::{
    args::{ProfileAddArgs, ProfilesCommand},
    context::Context,
    failure::{SaidAlready, say},
    output::Report,
    profile_access::{NamedProfile, ProfileAccess},
};
use crate::desk::ProfileName;

pub(super) use report::for_console;

pub(super) async fn run(context: Context, command: ProfilesCommand) -> anyhow::Result<()> {
    let access = context.require_profiles()?;
    let answer = match command {
        ProfilesCommand::Add(args) => add::run(access, *args).await?,
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
    let (name, added) = add::step_by_step(context.require_profiles()?, &ProfileAddArgs::default()).await?;
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
