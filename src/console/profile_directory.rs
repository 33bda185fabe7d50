//! The profiles of this user, as a console lists them.

use std::path::PathBuf;

use crate::{desk::SecretStorage, domain::Environment};

/// A profile as it is listed: what a console can be opened on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProfile {
    pub name: String,
    /// Where it is, in words.
    pub address: String,
    /// Its environment; none where nobody has said it.
    pub environment: Option<Environment>,
    pub read_only: bool,
    /// True where it is meant where none is named.
    pub current: bool,
    /// True where this console is on it.
    pub here: bool,
    pub credential: CredentialPlace,
    /// The variable of the environment whose credential would go to it: it cannot be opened from here.
    pub barred_by: Option<&'static str>,
}

/// Where the credential of a profile is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialPlace {
    /// In the system's keyring.
    Keyring,
    /// In `secrets.toml`, as plain text.
    PlainFile,
    /// A variable of the environment names it.
    Environment,
    /// Nowhere.
    Nowhere,
    /// The keyring does not say.
    Unknown,
    /// None is needed.
    NotNeeded,
}

impl From<SecretStorage> for CredentialPlace {
    fn from(storage: SecretStorage) -> Self {
        match storage {
            SecretStorage::Keyring => Self::Keyring,
            SecretStorage::PlainFile => Self::PlainFile,
        }
    }
}

/// Where the profiles of a user are.
pub trait ProfileDirectory: Send + Sync {
    /// Lists them. A keyring may take its time.
    ///
    /// # Errors
    /// The trouble, in words.
    fn list(&self) -> Result<Vec<ListedProfile>, String>;

    /// The files that it reads.
    fn files(&self) -> Vec<PathBuf>;
}
