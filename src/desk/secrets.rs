//! Credentials of profiles: in the system's keyring, or in `secrets.toml` where plain storage was asked for; never in
//! the profiles.

use std::{collections::BTreeMap, path::Path};

use super::{
    file::{DeskError, DeskFile},
    keyring::{self, KeyringError},
    profiles::ProfileName,
};
use crate::domain::Secret;

/// Kind of a profile's credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretKind {
    /// The API key or client secret that it works with.
    Access,
    /// The key of scope operator beside it.
    Operator,
}

impl SecretKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Access, Self::Operator];

    /// The account that it is kept under, in the keyring and in the file.
    fn account(self, profile: &ProfileName) -> String {
        match self {
            Self::Access => profile.to_string(),
            Self::Operator => format!("{profile}/operator"),
        }
    }
}

/// Place in which a credential is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretStorage {
    /// The system's keyring.
    Keyring,
    /// `secrets.toml`, as plain text.
    PlainFile,
}

/// A secret storage error. The words are fit for a user and hold no secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The keyring cannot be used.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] DeskError),
}

/// The credentials of profiles. Every call reads or writes the keyring or the disk, and may take three seconds.
#[derive(Debug, Clone)]
pub struct Secrets {
    file: DeskFile,
}

impl Secrets {
    /// The credentials of a directory's profiles.
    pub fn of(directory: &Path) -> Self {
        Self { file: DeskFile { path: directory.join("secrets.toml") } }
    }

    /// Path of the file of plain ones.
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// A credential and where it is kept; `None` where there is none. A machine without a keyring has none there.
    pub fn get(&self, profile: &ProfileName, kind: SecretKind) -> Result<Option<(Secret, SecretStorage)>, SecretError> {
        let account = kind.account(profile);
        if let Some(secret) = self.plain()?.remove(&account) {
            return Ok(Some((Secret::new(secret), SecretStorage::PlainFile)));
        }
        match keyring::get(&account) {
            Ok(found) => Ok(found.map(|secret| (secret, SecretStorage::Keyring))),
            Err(KeyringError::Absent(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a credential is in the file.
    pub fn is_plain(&self, profile: &ProfileName, kind: SecretKind) -> Result<bool, DeskError> {
        Ok(self.plain()?.contains_key(&kind.account(profile)))
    }

    /// Keeps a credential: in the keyring, or in the file where that is asked for; it is nowhere else afterwards.
    /// Returns where.
    pub fn put(
        &self,
        profile: &ProfileName,
        kind: SecretKind,
        secret: &Secret,
        plain: bool,
    ) -> Result<SecretStorage, SecretError> {
        let account = kind.account(profile);
        if plain {
            self.set_plain(&account, Some(secret))?;
            // An older one in the keyring would outlive this one.
            if let Err(error) = keyring::remove(&account) {
                tracing::debug!(%error, "whether the keyring holds an older credential is not known");
            }
            return Ok(SecretStorage::PlainFile);
        }
        keyring::put(&account, secret)?;
        self.set_plain(&account, None)?;
        Ok(SecretStorage::Keyring)
    }

    /// Removes a credential wherever it is; whether there was one.
    pub fn remove(&self, profile: &ProfileName, kind: SecretKind) -> Result<bool, SecretError> {
        let account = kind.account(profile);
        let in_file = self.set_plain(&account, None)?;
        match keyring::remove(&account) {
            Ok(in_keyring) => Ok(in_file || in_keyring),
            Err(KeyringError::Absent(_)) => Ok(in_file),
            Err(error) => Err(error.into()),
        }
    }

    fn plain(&self) -> Result<BTreeMap<String, String>, DeskError> {
        // The words of the parser may repeat what stands there.
        let wrong = |error: DeskError| match error.line {
            Some(_) => DeskError {
                message: "a line is NAME = \"SECRET\" with both in double quotes; the file is kept".to_owned(),
                ..error
            },
            None => error,
        };
        Ok(self.file.read().map_err(wrong)?.unwrap_or_default())
    }

    /// Puts an account's secret into the file, or takes it out, in one step and alone; whether there was one.
    fn set_plain(&self, account: &str, secret: Option<&Secret>) -> Result<bool, DeskError> {
        if secret.is_none() && !self.plain()?.contains_key(account) {
            return Ok(false);
        }
        let _turn = self.file.turn()?;
        let mut secrets = self.plain()?;
        let before = match secret {
            Some(secret) => secrets.insert(account.to_owned(), secret.reveal().to_owned()),
            None => secrets.remove(account),
        };
        if secrets.is_empty() {
            self.file.remove()?;
        } else {
            self.file.write("Credentials of profiles as plain text, as --plain-secrets asked for.", &secrets)?;
        }
        Ok(before.is_some())
    }
}
