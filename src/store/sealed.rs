//! Sealed values and their form: credentials, addresses and secrets of endpoints, the key of access tokens, and the
//! proof of a data key. The form is the same in every store, so that values copied from one to another open there.

use super::{
    StoreError, StoreResult,
    encryption::{AssociatedData, Seal},
};
use crate::domain::{EndpointAuth, EndpointId, Secret, url::EndpointUrl};

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
