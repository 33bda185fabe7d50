//! Credentials from files: never from a flag, which others on the machine could see.

use std::{fs, io::Read as _, path::Path};

use super::failure::Misused;
use crate::domain::{Secret, without_mark};

/// Largest credential file in bytes.
pub(super) const LARGEST_FILE: u64 = 64 * 1024;

/// Reads a credential file, without the line break at its end.
pub(super) fn read_credential(file: &Path) -> Result<String, Misused> {
    let shown = file.display();
    let mut text = String::new();
    match fs::File::open(file).and_then(|opened| opened.take(LARGEST_FILE + 1).read_to_string(&mut text)) {
        Err(error) => Err(misused!("{shown}: cannot be read: {error}")),
        Ok(length) if length as u64 > LARGEST_FILE => {
            Err(misused!("{shown}: is larger than {} KiB: a file with the credential is needed", LARGEST_FILE / 1024))
        }
        Ok(_) => Ok(without_mark(&text).trim_end_matches(['\n', '\r']).to_owned()),
    }
}

/// Reads the one credential of a file, without blanks around it.
pub(super) fn credential_in(file: &Path) -> Result<Secret, Misused> {
    let secret = Secret::new(read_credential(file)?.trim());
    match secret.reveal() {
        "" => Err(misused!("{}: is empty: a file with the credential is needed", file.display())),
        _ => Ok(secret),
    }
}

/// Splits a credential of this form, such as `USER:PASSWORD`. No error repeats it.
pub(super) fn parts<'c>(credential: &'c str, place: &str, form: &str) -> Result<(&'c str, &'c str), Misused> {
    credential.split_once(':').ok_or_else(|| misused!("{place}: {form} is needed, there is no colon"))
}

/// Returns whether a file's mode allows other users any of these bits: 0o022 to write, 0o077 anything.
pub(super) fn allows_others(file: &fs::Metadata, bits: u32) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & bits != 0
}
