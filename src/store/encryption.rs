//! Encryption at rest of secrets that must be readable again: XChaCha20-Poly1305, bound to table, row and column.
//!
//! The data key lives in a file of its own, 0600, beside the database or where the operator says. It is made when the
//! database is new and never again. A database without its key is refused, and never gets another one silently.
//!
//! Sealed are credentials, addresses and secrets of endpoints, the key of access tokens, the bodies that sources sent,
//! and the proof of a data key.
//! Their form is the same in every store, so that values copied from one to another open there.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Generate as _, KeyInit as _, Payload},
};
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::{
    StoreError, StoreResult,
    domain::{EndpointAuth, EndpointId, Secret, cause::directory_of, url::EndpointUrl, without_mark},
};

/// First byte of every sealed value, so that another method can follow one day.
const VERSION: u8 = 1;
const NONCE_LEN: usize = 24;

/// The data key. Its `Debug` shows nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Seal(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(****)")
    }
}

impl Seal {
    /// A seal of this data key.
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(key.into())
    }

    /// Generates a data key.
    pub(super) fn generate() -> Self {
        Self::new(rand::random())
    }

    /// The data key as a file has it.
    pub(super) fn text(&self) -> String {
        STANDARD.encode(*self.0) + "\n"
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.0).into())
    }

    /// Reads the data key from its file; makes the file first where `make` allows it and there is none.
    ///
    /// Several processes may do so at once: exactly one file wins, and all read it.
    pub fn from_file(path: &Path, make: bool) -> StoreResult<Self> {
        let unusable = |what: String| StoreError::Unusable(format!("secret key file {}: {what}", path.display()));
        if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(unusable("is no file; put the right file there".to_owned()));
        }
        match fs::read_to_string(path) {
            Ok(text) => {
                if open_to_others(path) {
                    let file = path.display();
                    tracing::warn!(%file, "the secret key file can be read by other users: chmod 600 it");
                }
                let key =
                    STANDARD.decode(without_mark(&text).trim()).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
                key.map(Self::new)
                    .ok_or_else(|| unusable("it does not hold 32 bytes in base64; put the right file there".to_owned()))
            }
            Err(error) if error.kind() == ErrorKind::NotFound && make => {
                match put_key(path, &Self::generate().text()) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                        Err(unusable(format!("cannot be written: {error}")))
                    }
                    _ => Self::from_file(path, false),
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(unusable("is missing, and the database holds values sealed with it; put it there".to_owned()))
            }
            Err(error) => {
                Err(unusable(format!("cannot be read: {error}; make it readable for the user who runs avert")))
            }
        }
    }
}

/// Writes a key into a file that is not there yet, all of it or nothing, for its owner alone.
pub(super) fn put_key(path: &Path, text: &str) -> std::io::Result<()> {
    // A temporary file is 0600 from its first moment.
    let mut file = NamedTempFile::new_in(directory_of(path))?;
    file.write_all(text.as_bytes())?;
    give_name(file, path)
}

/// Gives a file the name of one that is not there yet, when all of it is on the disk.
pub(super) fn give_name(file: NamedTempFile, path: &Path) -> std::io::Result<()> {
    file.as_file().sync_all()?;
    file.persist_noclobber(path)?;
    fs::File::open(directory_of(path))?.sync_all()
}

/// Returns whether other users can read a file.
pub(super) fn open_to_others(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// The row of facts that proves a data key: its name; this text, sealed, is its value.
pub(super) const KEY_CHECK: &str = "key_check";
/// The last column of queries for sealed values: the proof of the key that they are sealed with, in the same snapshot.
pub(super) const CHECK: &str = "(SELECT value FROM fact WHERE name = 'key_check')";
const KEY_CHECK_TEXT: &[u8] = b"avert";
/// The column of that proof.
pub(super) const KEY_PROOF: SealedColumn = SealedColumn { table: "fact", name: "value" };

/// A column of sealed values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SealedColumn {
    pub(super) table: &'static str,
    pub(super) name: &'static str,
}

const ADDRESS: SealedColumn = SealedColumn { table: "endpoint", name: "sealed_url" };
const CREDENTIAL: SealedColumn = SealedColumn { table: "endpoint", name: "credential" };
/// The secrets of endpoints that sign deliveries.
pub(super) const SIGNING_SECRET: SealedColumn = SealedColumn { table: "signing_secret", name: "secret" };
/// The key of access tokens.
pub(super) const SIGNING_KEY: SealedColumn = SealedColumn { table: "signing_key", name: "private_key" };

/// The bodies that sources sent.
pub(super) const SOURCE_BODY: SealedColumn = SealedColumn { table: "source_event", name: "body" };

/// Every column that is sealed.
pub(super) const SEALED: [SealedColumn; 5] = [ADDRESS, CREDENTIAL, SIGNING_SECRET, SIGNING_KEY, SOURCE_BODY];

impl SealedColumn {
    /// Associated data of a sealed value: its place. A value moved to another place does not open.
    fn place(self, row: &[u8]) -> Vec<u8> {
        // The whole address is sealed in the place of the one that is shown.
        let name = if self == ADDRESS { "url" } else { self.name };
        [self.table.as_bytes(), &[0], name.as_bytes(), &[0], row].concat()
    }

    /// Seals the value of a row, which is known by its id.
    pub(super) fn seal(self, seal: &Seal, row: &[u8], plain: &[u8]) -> StoreResult<Vec<u8>> {
        let nonce = XNonce::generate();
        let sealed = seal.cipher().encrypt(&nonce, Payload { msg: plain, aad: &self.place(row) });
        let sealed = sealed.map_err(|_| StoreError::Unavailable("a value is too long to be sealed".to_owned()))?;
        Ok([&[VERSION][..], &nonce[..], &sealed].concat())
    }

    /// Opens the sealed value of a row. It fails where that was sealed with another key, for another place, or was
    /// changed.
    pub(super) fn open(self, seal: &Seal, row: &[u8], sealed: &[u8]) -> StoreResult<Vec<u8>> {
        let opened = || {
            let (nonce, sealed) = sealed.strip_prefix(&[VERSION])?.split_at_checked(NONCE_LEN)?;
            let nonce = XNonce::try_from(nonce).ok()?;
            seal.cipher().decrypt(&nonce, Payload { msg: sealed, aad: &self.place(row) }).ok()
        };
        opened().ok_or_else(|| self.unreadable())
    }

    /// Opens a sealed text.
    pub(super) fn open_text(self, seal: &Seal, row: &[u8], sealed: &[u8]) -> StoreResult<String> {
        String::from_utf8(self.open(seal, row, sealed)?).map_err(|_| self.unreadable())
    }

    /// Seals the value of a row with another key.
    pub(super) fn seal_again(self, old: &Seal, new: &Seal, row: &[u8], sealed: &[u8]) -> StoreResult<Vec<u8>> {
        self.seal(new, row, &self.open(old, row, sealed)?)
    }

    fn unreadable(self) -> StoreError {
        let Self { table, name } = self;
        StoreError::Corrupt(format!("a secret in {table}.{name} that cannot be opened"))
    }
}

/// The value that proves this data key.
pub(super) fn key_check(seal: &Seal) -> StoreResult<Vec<u8>> {
    KEY_PROOF.seal(seal, KEY_CHECK.as_bytes(), KEY_CHECK_TEXT)
}

/// Returns whether the value was made with this data key.
pub(super) fn proves(seal: &Seal, check: &[u8]) -> bool {
    KEY_PROOF.open(seal, KEY_CHECK.as_bytes(), check).is_ok()
}

/// Returns an address as columns: as it is shown, and the whole of it sealed where it has a secret.
pub(super) fn address(seal: &Seal, id: &EndpointId, url: &EndpointUrl) -> StoreResult<(String, Option<Vec<u8>>)> {
    let sealed = url.has_secret().then(|| ADDRESS.seal(seal, id.0.as_bytes(), url.reveal().as_bytes())).transpose()?;
    Ok((url.to_string(), sealed))
}

/// The whole address from those columns.
pub(super) fn open_address(seal: &Seal, id: &EndpointId, url: String, sealed: Option<&[u8]>) -> StoreResult<Secret> {
    let opened = sealed.map(|sealed| ADDRESS.open_text(seal, id.0.as_bytes(), sealed));
    Ok(Secret::new(opened.transpose()?.unwrap_or(url)))
}

/// A credential as columns: its kind, its header's name, and the sealed text.
pub(super) fn credential<'a>(
    seal: &Seal,
    id: &EndpointId,
    auth: &'a EndpointAuth,
) -> StoreResult<(&'static str, Option<&'a String>, Vec<u8>)> {
    let (kind, header, text) = match auth {
        // A user name has no colon, as in the header that is made of it.
        EndpointAuth::Basic { username, password } => ("basic", None, format!("{username}:{}", password.reveal())),
        EndpointAuth::Header { name, value } => ("header", Some(name), value.reveal().to_owned()),
    };
    Ok((kind, header, CREDENTIAL.seal(seal, id.0.as_bytes(), text.as_bytes())?))
}

/// The credential from those columns.
pub(super) fn open_credential(
    seal: &Seal,
    id: &EndpointId,
    header: Option<String>,
    sealed: &[u8],
) -> StoreResult<EndpointAuth> {
    let credential = CREDENTIAL.open_text(seal, id.0.as_bytes(), sealed)?;
    Ok(match header {
        Some(name) => EndpointAuth::Header { name, value: Secret::new(credential) },
        None => {
            let (username, password) = credential.split_once(':').ok_or_else(|| CREDENTIAL.unreadable())?;
            EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &[u8] = b"0123456789abcdef";

    #[test]
    fn a_sealed_value_opens_in_its_place_and_holds_no_plain_text() {
        let seal = Seal::new([7; 32]);

        let sealed = CREDENTIAL.seal(&seal, ROW, b"user:password").unwrap();

        assert!(!sealed.windows(8).any(|window| window == b"password"));
        assert_eq!(CREDENTIAL.open(&seal, ROW, &sealed).unwrap(), b"user:password");
    }

    #[test]
    fn a_sealed_value_opens_nowhere_else_and_with_no_other_key() {
        let seal = Seal::new([7; 32]);
        let sealed = CREDENTIAL.seal(&seal, ROW, b"user:password").unwrap();
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;

        assert!(CREDENTIAL.open(&seal, b"another row 1234", &sealed).is_err());
        assert!(SealedColumn { name: "secret", ..CREDENTIAL }.open(&seal, ROW, &sealed).is_err());
        assert!(SealedColumn { table: "provider", ..CREDENTIAL }.open(&seal, ROW, &sealed).is_err());
        assert!(CREDENTIAL.open(&seal, ROW, &changed).is_err());
        assert!(CREDENTIAL.open(&seal, ROW, &sealed[..10]).is_err());
        assert!(CREDENTIAL.open(&seal, ROW, &[]).is_err());
        assert!(CREDENTIAL.open(&Seal::new([8; 32]), ROW, &sealed).is_err());
    }

    #[test]
    fn a_key_file_is_made_once_and_only_where_that_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");

        let refused = Seal::from_file(&path, false).unwrap_err();
        let first = Seal::from_file(&path, true).unwrap();
        let again = Seal::from_file(&path, true).unwrap();

        assert!(refused.to_string().contains("secret.key"), "{refused}");
        assert!(CREDENTIAL.open(&again, ROW, &CREDENTIAL.seal(&first, ROW, b"x").unwrap()).is_ok());
    }

    #[test]
    fn a_file_that_is_no_key_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");
        fs::write(&path, "not a key").unwrap();

        let error = Seal::from_file(&path, true).unwrap_err();

        assert!(error.to_string().contains("32 bytes"), "{error}");
    }
}
