//! Encryption at rest of secrets that must be readable again: XChaCha20-Poly1305, bound to table, row and column.
//!
//! The data key lives in a file of its own, 0600, beside the database or where the operator says. It is made when the
//! database is new and never again. A database without its key is refused, and never gets another one silently.
//!
//! Sealed are credentials, addresses and secrets of endpoints, the key of access tokens, and the proof of a data key.
//! Their form is the same in every store, so that values copied from one to another open there.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::Path,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    Key, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Generate as _, KeyInit as _, Payload},
};

use crate::{
    StoreError, StoreResult,
    domain::{EndpointAuth, EndpointId, Secret, cause::directory_of, url::EndpointUrl, without_mark},
};

/// First byte of every sealed value, so that another method can follow one day.
const VERSION: u8 = 1;
const NONCE_LEN: usize = 24;

/// Associated data of a sealed value: its place. A value moved to another place does not open.
#[derive(Debug, Clone, Copy)]
pub struct AssociatedData<'a> {
    pub table: &'a str,
    pub row: &'a [u8],
    pub column: &'a str,
}

impl AssociatedData<'_> {
    fn bytes(&self) -> Vec<u8> {
        [self.table.as_bytes(), &[0], self.column.as_bytes(), &[0], self.row].concat()
    }
}

/// The cipher with the data key. Its `Debug` shows nothing.
#[derive(Clone)]
pub struct Seal(XChaCha20Poly1305);

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal(****)")
    }
}

impl Seal {
    /// A seal of this data key.
    pub fn new(key: [u8; 32]) -> Self {
        Self(XChaCha20Poly1305::new(&Key::from(key)))
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
                make_key_file(path).map_err(|error| unusable(format!("cannot be made: {error}")))?;
                Self::from_file(path, false)
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                Err(unusable("is missing, and the database holds values sealed with it; put it there".to_owned()))
            }
            Err(error) => {
                Err(unusable(format!("cannot be read: {error}; make it readable for the user who runs avert")))
            }
        }
    }

    /// Seals a value for its place.
    pub fn seal(&self, place: AssociatedData<'_>, plain: &[u8]) -> StoreResult<Vec<u8>> {
        let nonce = XNonce::generate();
        let sealed = self
            .0
            .encrypt(&nonce, Payload { msg: plain, aad: &place.bytes() })
            .map_err(|_| StoreError::Unavailable("a value is too long to be sealed".to_owned()))?;
        Ok([&[VERSION][..], &nonce[..], &sealed].concat())
    }

    /// Opens a sealed value; `None` when it was sealed with another key, for another place, or was changed.
    pub fn open(&self, place: AssociatedData<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (version, rest) = sealed.split_first()?;
        let (nonce, sealed) = rest.split_at_checked(NONCE_LEN)?;
        let nonce = XNonce::try_from(nonce).ok()?;
        (*version == VERSION).then(|| self.0.decrypt(&nonce, Payload { msg: sealed, aad: &place.bytes() }).ok())?
    }
}

/// Generates a key, as a file has it.
pub(super) fn made_key() -> String {
    let key: [u8; 32] = rand::random();
    STANDARD.encode(key)
}

/// Writes a key into a file that is not there yet, all of it or nothing, for its owner alone.
pub(super) fn put_key(path: &Path, key: &str) -> std::io::Result<()> {
    let directory = directory_of(path);
    // A temporary file is 0600 from its first moment.
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    writeln!(file, "{}", key.trim())?;
    file.as_file().sync_all()?;
    file.persist_noclobber(path).map_err(|error| error.error)?;
    fs::File::open(directory)?.sync_all()
}

fn make_key_file(path: &Path) -> std::io::Result<()> {
    match put_key(path, &made_key()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
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
const KEY_CHECK_PLACE: AssociatedData<'static> =
    AssociatedData { table: "fact", row: KEY_CHECK.as_bytes(), column: "value" };

/// Every column that is sealed, by its table.
pub(super) const SEALED: [(&str, &str); 4] = [
    ("endpoint", "sealed_url"),
    ("endpoint", "credential"),
    ("signing_secret", "secret"),
    ("signing_key", "private_key"),
];

/// The value that proves this data key.
pub(super) fn key_check(seal: &Seal) -> StoreResult<Vec<u8>> {
    seal.seal(KEY_CHECK_PLACE, KEY_CHECK_TEXT)
}

/// Returns whether the value was made with this data key.
pub(super) fn proves(seal: &Seal, check: &[u8]) -> bool {
    seal.open(KEY_CHECK_PLACE, check).is_some()
}

/// The refusal of a new key that is the one in use.
pub(super) fn in_use_already() -> StoreError {
    StoreError::Unusable(
        "the new data key is the one that is in use already; name a file that is not there yet".to_owned(),
    )
}

/// The place of a sealed value in a row's column.
fn place_of<'a>(table: &'a str, column: &'a str, row: &'a [u8]) -> AssociatedData<'a> {
    // The whole address is sealed in the place of the one that is shown.
    AssociatedData { table, row, column: if column == "sealed_url" { "url" } else { column } }
}

/// Opens the sealed value of a row's column.
pub(super) fn opened(seal: &Seal, table: &str, column: &str, row: &[u8], sealed: &[u8]) -> StoreResult<Vec<u8>> {
    let opened = seal.open(place_of(table, column, row), sealed);
    opened.ok_or_else(|| StoreError::Corrupt(format!("a secret in {table}.{column} that cannot be opened")))
}

/// Seals the value of a row's column with another key.
pub(super) fn again(
    old: &Seal,
    new: &Seal,
    table: &str,
    column: &str,
    row: &[u8],
    sealed: &[u8],
) -> StoreResult<Vec<u8>> {
    new.seal(place_of(table, column, row), &opened(old, table, column, row, sealed)?)
}

fn endpoint_place<'a>(id: &'a EndpointId, column: &'a str) -> AssociatedData<'a> {
    AssociatedData { table: "endpoint", row: id.0.as_bytes(), column }
}

fn open_text(seal: &Seal, place: AssociatedData<'_>, sealed: &[u8]) -> Option<String> {
    seal.open(place, sealed).and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Returns an address as columns: as it is shown, and the whole of it sealed where it has a secret.
pub(super) fn address(seal: &Seal, id: &EndpointId, url: &EndpointUrl) -> StoreResult<(String, Option<Vec<u8>>)> {
    let sealed = url.has_secret().then(|| seal.seal(endpoint_place(id, "url"), url.reveal().as_bytes())).transpose()?;
    Ok((url.to_string(), sealed))
}

/// The whole address from those columns.
pub(super) fn open_address(seal: &Seal, id: &EndpointId, url: String, sealed: Option<&[u8]>) -> StoreResult<Secret> {
    let Some(sealed) = sealed else { return Ok(Secret::new(url)) };
    let opened = open_text(seal, endpoint_place(id, "url"), sealed);
    let corrupt =
        || StoreError::Corrupt(format!("the address of endpoint {id}, which cannot be opened; give it another"));
    opened.map(Secret::new).ok_or_else(corrupt)
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
    Ok((kind, header, seal.seal(endpoint_place(id, "credential"), text.as_bytes())?))
}

/// The credential from those columns.
pub(super) fn open_credential(
    seal: &Seal,
    id: &EndpointId,
    header: Option<String>,
    sealed: &[u8],
) -> StoreResult<EndpointAuth> {
    let corrupt = || {
        StoreError::Corrupt(format!("the credential of endpoint {id}, which cannot be opened; add the endpoint anew"))
    };
    let credential = open_text(seal, endpoint_place(id, "credential"), sealed).ok_or_else(corrupt)?;
    Ok(match header {
        Some(name) => EndpointAuth::Header { name, value: Secret::new(credential) },
        None => {
            let (username, password) = credential.split_once(':').ok_or_else(corrupt)?;
            EndpointAuth::Basic { username: username.to_owned(), password: Secret::new(password) }
        }
    })
}

fn signing_secret_place(id: &[u8; 16]) -> AssociatedData<'_> {
    AssociatedData { table: "signing_secret", row: id, column: "secret" }
}

/// A signing secret of an endpoint, sealed.
pub(super) fn signing_secret(seal: &Seal, id: &[u8; 16], secret: &Secret) -> StoreResult<Vec<u8>> {
    seal.seal(signing_secret_place(id), secret.reveal().as_bytes())
}

/// The signing secret again.
pub(super) fn open_signing_secret(seal: &Seal, id: &[u8; 16], sealed: &[u8]) -> StoreResult<Secret> {
    let secret = open_text(seal, signing_secret_place(id), sealed);
    let corrupt =
        || StoreError::Corrupt("a signing secret that cannot be opened; give the endpoint another".to_owned());
    secret.map(Secret::new).ok_or_else(corrupt)
}

fn signing_key_place(id: &str) -> AssociatedData<'_> {
    AssociatedData { table: "signing_key", row: id.as_bytes(), column: "private_key" }
}

/// The key of access tokens, sealed.
pub(super) fn signing_key(seal: &Seal, id: &str, private_key: &[u8]) -> StoreResult<Vec<u8>> {
    seal.seal(signing_key_place(id), private_key)
}

/// The key of access tokens again.
pub(super) fn open_signing_key(seal: &Seal, id: &str, sealed: &[u8]) -> StoreResult<Vec<u8>> {
    let opened = seal.open(signing_key_place(id), sealed);
    opened.ok_or_else(|| StoreError::Corrupt("a signing key that cannot be opened".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: AssociatedData<'static> =
        AssociatedData { table: "endpoint", row: b"0123456789abcdef", column: "credential" };

    #[test]
    fn a_sealed_value_opens_in_its_place_and_holds_no_plain_text() {
        let seal = Seal::new([7; 32]);

        let sealed = seal.seal(PLACE, b"user:password").unwrap();

        assert!(!sealed.windows(8).any(|window| window == b"password"));
        assert_eq!(seal.open(PLACE, &sealed).unwrap(), b"user:password");
    }

    #[test]
    fn a_sealed_value_opens_nowhere_else_and_with_no_other_key() {
        let seal = Seal::new([7; 32]);
        let sealed = seal.seal(PLACE, b"user:password").unwrap();
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;

        assert_eq!(seal.open(AssociatedData { row: b"another row 1234", ..PLACE }, &sealed), None);
        assert_eq!(seal.open(AssociatedData { column: "secret", ..PLACE }, &sealed), None);
        assert_eq!(seal.open(AssociatedData { table: "provider", ..PLACE }, &sealed), None);
        assert_eq!(seal.open(PLACE, &changed), None);
        assert_eq!(seal.open(PLACE, &sealed[..10]), None);
        assert_eq!(seal.open(PLACE, &[]), None);
        assert_eq!(Seal::new([8; 32]).open(PLACE, &sealed), None);
    }

    #[test]
    fn a_key_file_is_made_once_and_only_where_that_is_allowed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret.key");

        let refused = Seal::from_file(&path, false).unwrap_err();
        let first = Seal::from_file(&path, true).unwrap();
        let again = Seal::from_file(&path, true).unwrap();

        assert!(refused.to_string().contains("secret.key"), "{refused}");
        assert!(again.open(PLACE, &first.seal(PLACE, b"x").unwrap()).is_some());
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
