//! Credentials from files: never from a flag, which others on the machine could see.

use std::fs;
use std::path::Path;

use anyhow::anyhow;

use crate::domain::{Secret, without_mark};

/// A credential file larger than this holds something else.
pub(super) const LARGEST_FILE: u64 = 64 * 1024;

/// The text of a credential file, without the line break at its end.
pub(super) fn read_credential(file: &Path) -> anyhow::Result<String> {
    let unusable = |what: String| anyhow!(misused!("{}: {what}", file.display()));
    let metadata = fs::metadata(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if metadata.is_dir() {
        return Err(unusable("is a directory: a file with the credential is needed".to_owned()));
    }
    if metadata.len() > LARGEST_FILE {
        return Err(unusable(format!(
            "is larger than {} KiB: a file with the credential alone is needed",
            LARGEST_FILE / 1024
        )));
    }
    let text = fs::read_to_string(file).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    Ok(without_mark(&text).trim_end_matches(['\n', '\r']).to_owned())
}

/// The one credential that a file holds, without blanks around it.
pub(super) fn credential_in(file: &Path) -> anyhow::Result<Secret> {
    let secret = Secret::new(read_credential(file)?.trim());
    if secret.reveal().is_empty() {
        return Err(anyhow!(misused!("{}: is empty: a file with the credential is needed", file.display())));
    }
    Ok(secret)
}

/// Whether a file's mode allows other users any of these: 0o022 to write, 0o077 anything.
#[cfg(unix)]
pub(super) fn allows_others(file: &fs::Metadata, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & bits != 0
}

#[cfg(not(unix))]
pub(super) fn allows_others(_file: &fs::Metadata, _bits: u32) -> bool {
    false
}
