//! The checksum beside a backup: `FILE.sha256`, a line as `sha256sum` writes and checks it.
//!
//! It tells a backup that was altered or went bad on its way from one that is as it was written. It is no signature: an
//! attacker who can replace one file can replace both.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use sha2::{Digest as _, Sha256};

use super::files::unusable;
use crate::{StoreError, StoreResult, domain::audit::hex};

/// Suffix of the file name of a backup's checksum.
pub(super) const SUFFIX: &str = ".sha256";

/// More than a line with a checksum and a name.
const LARGEST: u64 = 16 * 1024;

/// The SHA-256 of a file's content, in lower-case hexadecimal.
pub(super) fn of(file: &Path) -> io::Result<String> {
    let (mut file, mut hasher, mut buffer) = (File::open(file)?, Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => hasher.update(buffer.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(hex(&hasher.finalize()))
}

/// The line for a file of this name.
pub(super) fn line(sum: &str, file: &Path) -> String {
    format!("{sum}  {}\n", file.file_name().unwrap_or_default().to_string_lossy())
}

/// Compares a backup with the checksum in `beside`, and returns it; `None` where there is no such file.
///
/// # Errors
/// [`StoreError`] where the backup is another than the one that was written, or the checksum cannot be read.
pub(super) fn check(backup: &Path, beside: &Path) -> StoreResult<Option<String>> {
    let unreadable =
        |path: &Path, error: &io::Error| unusable(path, &format!("cannot be read: {error}; nothing was replaced"));
    match fs::metadata(beside) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(beside, &error)),
        Ok(there) if !there.is_file() || there.len() > LARGEST => return Err(no_checksum(beside)),
        Ok(_) => {}
    }
    let text = fs::read_to_string(beside).map_err(|error| unreadable(beside, &error))?;
    let told = text.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    if told.len() != 64 || !told.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(no_checksum(beside));
    }
    let found = of(backup).map_err(|error| unreadable(backup, &error))?;
    if found == told {
        return Ok(Some(found));
    }
    let altered = format!(
        "is not what was written: its SHA-256 is {found}, and {} says {told}; it was altered or is damaged: take \
            another backup; nothing was \
         replaced",
        beside.display()
    );
    Err(unusable(backup, &altered))
}

fn no_checksum(beside: &Path) -> StoreError {
    unusable(
        beside,
        "holds no SHA-256 checksum, as `avert backup` writes it (64 hexadecimal digits); nothing was replaced",
    )
}
