//! Access to the profiles of this user and their credentials.

use anyhow::bail;

use super::{
    ask,
    failure::{Misused, NotFound},
    process::variable,
};
use crate::{
    desk::{
        DeskError, Profile, ProfileName, Profiles, SecretError, SecretKind, SecretStorage, Secrets, profiles::LOCAL,
    },
    domain::Secret,
    service::ServiceError,
};

/// Environment variable that names a profile.
pub(super) const PROFILE: &str = "AVERT_PROFILE";

/// Profiles and their credentials.
#[derive(Debug, Clone)]
pub(super) struct ProfileAccess {
    pub(super) profiles: Profiles,
    pub(super) secrets: Secrets,
    /// True where this machine's own desk is the default, in place of the current profile.
    pub(super) sets_current_aside: bool,
    /// True where a missing credential is asked for at the terminal.
    pub(super) asks: bool,
}

/// Error of a credential that the keyring does not give out, in words for a user; exit 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Withheld(String);

/// Profile with its name.
#[derive(Debug, Clone)]
pub(super) struct NamedProfile {
    pub(super) name: ProfileName,
    pub(super) profile: Profile,
}

impl ProfileAccess {
    /// Returns the same access for a command that says what is missing and asks for nothing.
    pub(super) fn without_asking(&self) -> Self {
        Self { asks: false, ..self.clone() }
    }

    /// Returns the profile of a name; `None` where the name means this machine's own desk.
    pub(super) fn named(&self, name: &str) -> anyhow::Result<Option<NamedProfile>> {
        if name == LOCAL {
            return Ok(None);
        }
        let name: ProfileName = name.parse().map_err(|error| misused!("the profile {name:?}: {error}"))?;
        match self.profiles.list().map_err(unusable)?.all.remove(&name) {
            Some(profile) => Ok(Some(NamedProfile { name, profile })),
            None => Err(self.unknown(&name)),
        }
    }

    /// Returns the current profile, which is the default.
    pub(super) fn current(&self) -> anyhow::Result<Option<NamedProfile>> {
        if self.sets_current_aside {
            return Ok(None);
        }
        let mut list = self.profiles.list().map_err(unusable)?;
        let Some(name) = list.current else { return Ok(None) };
        match list.all.remove(&name) {
            Some(profile) => Ok(Some(NamedProfile { name, profile })),
            None => Err(self.unknown(&name)),
        }
    }

    /// Returns the profile of a name, else of the environment, else the current one; an error where there is none.
    pub(super) fn wanted(&self, name: Option<&str>) -> anyhow::Result<NamedProfile> {
        let by_variable = variable(PROFILE);
        let name = name.or(by_variable.as_deref());
        let found = match name {
            Some(name) => self.named(name)?,
            None => self.current()?,
        };
        found.ok_or_else(|| match name {
            Some(_) => misused!("{LOCAL} is this machine's own desk and no profile").into(),
            None => misused!("no profile is the current one: name one, `avert profiles list` shows them").into(),
        })
    }

    /// Returns the error of a name that no profile has.
    pub(super) fn unknown(&self, name: &ProfileName) -> anyhow::Error {
        let known: Vec<String> = self.profiles.list().unwrap_or_default().all.into_keys().map(String::from).collect();
        let there = match known.is_empty() {
            true => "there is none yet, `avert profiles add` makes one".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        NotFound(format!("there is no profile {name}: {there}")).into()
    }

    /// Returns the credential of a profile, and where it is kept. A missing one is asked for at a terminal, and kept
    /// nowhere.
    pub(super) fn credential(
        &self,
        name: &ProfileName,
        profile: &Profile,
    ) -> anyhow::Result<(Secret, Option<SecretStorage>)> {
        let can_ask = self.asks && ask::is_possible();
        let variable = if profile.client_id.is_some() { "AVERT_CLIENT_SECRET" } else { "AVERT_API_KEY" };
        let why = match self.secrets.get(name, SecretKind::Access) {
            Ok(Some((secret, storage))) => return Ok((secret, Some(storage))),
            Ok(None) => "it has none here".to_owned(),
            Err(SecretError::File(error)) => return Err(unusable(error)),
            Err(SecretError::Keyring(why)) if can_ask => why.to_string(),
            Err(SecretError::Keyring(why)) => {
                bail!(Withheld(format!(
                    "the credential of profile {name} cannot be had: {why}; unlock it, or name the credential by \
                        {variable} or a file"
                )))
            }
        };
        if !can_ask {
            let words = format!(
                "profile {name} has no credential here: `avert login {name}` keeps one, {variable} or a file names one"
            );
            return Err(ServiceError::NotAuthorized(words).into());
        }
        say!(
            "The credential of profile {name}: {why}. What is typed now is for this once; `avert login {name}` keeps \
                it."
        );
        Ok((ask::credential(profile.client_id.is_some())?, None))
    }

    /// Removes the credentials of a profile wherever they are, and returns whether there were any.
    pub(super) fn forget(&self, name: &ProfileName) -> anyhow::Result<bool> {
        // Each is tried: one that can be removed is, also where another cannot.
        let removed = SecretKind::ALL.map(|kind| self.secrets.remove(name, kind));
        let mut any = false;
        for removed in removed {
            any |= removed.map_err(|error| match error {
                SecretError::File(error) => unusable(error),
                SecretError::Keyring(why) => {
                    anyhow::anyhow!(
                        "whether the keyring still holds a credential of {name} is not known: {why}; unlock it and do \
                            this again"
                    )
                }
            })?;
        }
        Ok(any)
    }

    /// Returns the operator's key that is kept for a profile. Where the keyring does not say, there is none.
    pub(super) fn operator_key(&self, name: &ProfileName) -> anyhow::Result<Option<Secret>> {
        match self.secrets.get(name, SecretKind::Operator) {
            Ok(found) => Ok(found.map(|(secret, _)| secret)),
            Err(SecretError::File(error)) => Err(unusable(error)),
            Err(SecretError::Keyring(why)) => {
                say!("opened without an operator's key of profile {name}: {why}");
                Ok(None)
            }
        }
    }

    /// Keeps a credential and returns its storage. Without a keyring it asks, or says which ways there are.
    pub(super) fn keep(
        &self,
        name: &ProfileName,
        kind: SecretKind,
        secret: &Secret,
        plain: bool,
    ) -> anyhow::Result<SecretStorage> {
        let why = match self.secrets.put(name, kind, secret, plain) {
            Ok(storage) => return Ok(storage),
            Err(SecretError::File(error)) => return Err(unusable(error)),
            Err(SecretError::Keyring(why)) => why,
        };
        let file = self.secrets.path().display();
        if ask::is_possible() {
            say!("  {why}");
            if ask::yes(&format!("Keep it as plain text in {file}, which only you can read?"), false)? {
                return self.keep(name, kind, secret, true);
            }
        }
        bail!(
            "nothing was saved: {why}. Start or unlock a keyring (a Secret Service such as GNOME Keyring or KWallet), \
                or say --plain-secrets, \
             which keeps it as plain text in {file}; a credential that is kept nowhere is named each time, by \
             AVERT_API_KEY or --api-key-file"
        )
    }
}

/// Maps an error of the profiles' file: a wrong file is a usage error, as a wrong setting is; an unreachable one is a
/// failure.
pub(super) fn unusable(error: DeskError) -> anyhow::Error {
    match error.line {
        Some(_) => Misused(error.to_string()).into(),
        None => error.into(),
    }
}
