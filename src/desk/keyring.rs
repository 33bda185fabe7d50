//! The system's keyring, asked on a thread of its own: one that is locked may never answer.

use std::{sync::mpsc, time::Duration};

#[cfg(target_os = "macos")]
use apple_native_keyring_store::keychain::Store;
#[cfg(not(target_os = "macos"))]
use dbus_secret_service_keyring_store::Store;
use keyring_core::{Entry, Error, api::CredentialStoreApi};

use crate::domain::Secret;

/// The service that avert's entries are kept under.
const SERVICE: &str = "avert";

/// Longest wait for a keyring. One that is locked waits for a person, who may not be there.
const PATIENCE: Duration = Duration::from_secs(3);

/// Reason of a keyring that cannot be used. The words are fit for a user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// No keyring on this machine, or none in this session.
    #[error("there is no system keyring here ({0})")]
    Absent(String),
    /// A keyring that gives nothing out.
    #[error("the system keyring is locked or refuses: {0}")]
    Locked(String),
    /// A keyring that did not answer.
    #[error("the system keyring does not answer within {} s: it is probably locked", PATIENCE.as_secs())]
    Silent,
}

/// The secret of an account; `None` where there is none.
pub(super) fn get(account: &str) -> Result<Option<Secret>, KeyringError> {
    ask(account, |entry| entry.get_password().map(Secret::new))
}

/// Keeps the secret of an account, in the place of an earlier one.
pub(super) fn put(account: &str, secret: &Secret) -> Result<(), KeyringError> {
    let secret = secret.clone();
    ask(account, move |entry| entry.set_password(secret.reveal())).map(|_| ())
}

/// Removes the secret of an account; whether there was one.
pub(super) fn remove(account: &str) -> Result<bool, KeyringError> {
    ask(account, Entry::delete_credential).map(|removed| removed.is_some())
}

/// Does something with an account's entry; `None` where there is no such entry. Each asks by a connection of its own,
/// so that one which is never answered holds up none that comes later.
fn ask<T: Send + 'static>(
    account: &str,
    work: impl FnOnce(&Entry) -> keyring_core::Result<T> + Send + 'static,
) -> Result<Option<T>, KeyringError> {
    let account = account.to_owned();
    let (answer, answered) = mpsc::channel();
    std::thread::spawn(move || {
        let entry = Store::new().and_then(|store| store.build(SERVICE, &account, None));
        let done = entry.map_err(|error| KeyringError::Absent(reason(&error))).and_then(|entry| match work(&entry) {
            Ok(value) => Ok(Some(value)),
            Err(Error::NoEntry) => Ok(None),
            Err(error) => Err(KeyringError::Locked(reason(&error))),
        });
        // Nobody waits any longer where it took too long.
        let _ = answer.send(done);
    });
    answered.recv_timeout(PATIENCE).unwrap_or(Err(KeyringError::Silent))
}

/// Returns the keyring's own words, without the secret that it holds.
fn reason(error: &Error) -> String {
    match error {
        Error::PlatformFailure(cause) | Error::NoStorageAccess(cause) => cause.to_string(),
        Error::BadEncoding(_) => "what it holds is not text".to_owned(),
        Error::Ambiguous(entries) => format!("it holds {} entries for one account", entries.len()),
        other => other.to_string(),
    }
}
