//! The profiles of this user with their credentials: which one is meant, and what is known of it.

use anyhow::bail;

use super::ask;
use super::failure::{Misused, NotFound};
use super::process::variable;
use crate::desk::profiles::LOCAL;
use crate::desk::{DeskError, Profile, ProfileName, Profiles, SecretError, SecretKind, SecretStorage, Secrets};
use crate::domain::{Environment, Secret};
use crate::service::ServiceError;

/// The environment variable that names a profile.
pub(super) const PROFILE: &str = "AVERT_PROFILE";

/// The profiles and their credentials.
#[derive(Debug, Clone)]
pub(super) struct ProfileAccess {
    pub(super) profiles: Profiles,
    pub(super) secrets: Secrets,
    /// Whether this machine's own desk is meant where no profile is named, whatever the current one is.
    pub(super) sets_current_aside: bool,
    /// Whether somebody at a terminal is asked for a credential that cannot be had.
    pub(super) asks: bool,
}

/// A credential that the keyring does not give out, in words for a user; exit 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(super) struct Withheld(String);

/// A profile with its name.
#[derive(Debug, Clone)]
pub(super) struct NamedProfile {
    pub(super) name: ProfileName,
    pub(super) profile: Profile,
}

impl ProfileAccess {
    /// The same for a command that says what is missing and asks for nothing.
    pub(super) fn without_asking(&self) -> Self {
        Self { asks: false, ..self.clone() }
    }

    /// The profile of a name; none where the name means this machine's own desk.
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

    /// The profile that is meant where none is named.
    pub(super) fn current(&self) -> anyhow::Result<Option<NamedProfile>> {
        if self.sets_current_aside {
            return Ok(None);
        }
        let mut list = self.profiles.list().map_err(unusable)?;
        let Some(name) = list.current else { return Ok(None) };
        match list.all.remove(&name) {
            Some(profile) => Ok(Some(NamedProfile { name, profile })),
            None => refuse!(
                "the current profile in {} is {name}, and there is none of that name: `avert profiles use NAME` names \
                    another, `avert \
                 profiles use local` none",
                self.profiles.path().display()
            ),
        }
    }

    /// The profile of a name, else of the environment, else the current one; a command about a profile needs one.
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

    /// The error about a name that no profile has.
    pub(super) fn unknown(&self, name: &ProfileName) -> anyhow::Error {
        let known: Vec<String> = self.profiles.list().unwrap_or_default().all.into_keys().map(String::from).collect();
        let there = match known.is_empty() {
            true => "there is none yet, `avert profiles add` makes one".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        NotFound(format!("there is no profile {name}: {there}")).into()
    }

    /// The credential that a profile works with, and where it is kept: one that is not is asked for, and kept nowhere.
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

    /// Removes the credentials of a profile wherever they are; whether there were any.
    pub(super) fn forget(&self, name: &ProfileName) -> anyhow::Result<bool> {
        // Each is tried: what can be removed is, whatever becomes of the other.
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

    /// Removes a credential that an earlier profile of this name left behind: it would go to this one's address.
    pub(super) fn forget_earlier(&self, name: &ProfileName, kind: SecretKind) -> anyhow::Result<()> {
        match self.secrets.remove(name, kind) {
            Ok(true) => say!("a credential that an earlier profile {name} had left behind was removed"),
            Ok(false) => {}
            Err(SecretError::Keyring(why)) => {
                say!(
                    "warning: whether the keyring holds a credential of an earlier profile {name} is not known: {why}"
                );
            }
            Err(SecretError::File(error)) => return Err(unusable(error)),
        }
        Ok(())
    }

    /// The operator's key that is kept beside it; [`Withheld`] where the keyring does not say whether there is one.
    pub(super) fn operator_key(&self, name: &ProfileName) -> anyhow::Result<Option<Secret>> {
        match self.secrets.get(name, SecretKind::Operator) {
            Ok(found) => Ok(found.map(|(secret, _)| secret)),
            Err(SecretError::File(error)) => Err(unusable(error)),
            Err(SecretError::Keyring(why)) => bail!(Withheld(why.to_string())),
        }
    }

    /// Asks which of the two worlds a profile's deployment is, and remembers it.
    pub(super) fn ask_environment(&self, name: &ProfileName) -> anyhow::Result<Environment> {
        let said = ask::environment()?;
        self.profiles.change(|list| {
            if let Some(profile) = list.all.get_mut(name) {
                profile.environment = Some(said);
            }
            Ok::<_, anyhow::Error>(())
        })?;
        Ok(said)
    }

    /// Keeps a credential, or says which ways there are; whoever can be asked is. Returns where it is: nowhere where
    /// that was the answer.
    pub(super) fn keep(
        &self,
        name: &ProfileName,
        kind: SecretKind,
        secret: &Secret,
        plain: bool,
        asks: bool,
    ) -> anyhow::Result<Option<SecretStorage>> {
        let why = match self.secrets.put(name, kind, secret, plain) {
            Ok(storage) => return Ok(Some(storage)),
            Err(SecretError::File(error)) => return Err(unusable(error)),
            Err(SecretError::Keyring(why)) => why,
        };
        let file = self.secrets.path().display();
        if asks {
            say!("  {why}");
            if ask::yes(&format!("Keep it as plain text in {file}, which only you can read?"), false)? {
                return self.keep(name, kind, secret, true, false);
            }
            return Ok(None);
        }
        bail!(
            "nothing was kept: {why}. Start or unlock a keyring (a Secret Service such as GNOME Keyring or KWallet), \
                or say --plain-secrets, \
             which keeps it as plain text in {file}; a credential that is kept nowhere is named each time, by \
             AVERT_API_KEY or --api-key-file"
        )
    }
}

/// A file of profiles that is wrong is a misuse, as a wrong setting is; one that cannot be reached is a failure.
pub(super) fn unusable(error: DeskError) -> anyhow::Error {
    match error.line {
        Some(_) => Misused(error.to_string()).into(),
        None => error.into(),
    }
}
