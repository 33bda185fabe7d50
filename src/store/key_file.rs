//! The file with the data key: found, put in its place after a rotation, and read anew by running processes.
//!
//! A rotation stores the new key in `FILE.new` before anything is sealed with it, and readers of the key look there
//! too. So a rotation may be broken off anywhere. A key that was brought to every machine as `FILE.new` beforehand is
//! there when it is needed.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::Mutex,
};

use crate::{
    StoreError, StoreResult,
    domain::{
        cause::directory_of,
        time::{Clock as _, SystemClock},
    },
    encryption::{self, Seal, put_key},
    error::with_suffix,
    worker::locked,
};

/// Data key of an open database: the seal that proved its check. When the check changes, another seal is looked for in
/// the file.
#[derive(Debug)]
pub(super) struct DataKey {
    file: PathBuf,
    known: Mutex<(Vec<u8>, Seal)>,
}

impl DataKey {
    /// Reads the key of a database, made where the database has no check of one yet. A key that a broken-off rotation
    /// has left is put in its place. `whence` tells the sources of a missing one.
    pub(super) fn unlock(file: &Path, check: Option<Vec<u8>>, database: &str, whence: &str) -> StoreResult<Self> {
        let known = if let Some(check) = check {
            let (seal, place) = proven(file, &check, database, "put the right file there")
                .map_err(|error| StoreError::Unusable(format!("{error} ({whence})")))?;
            if place != file {
                take_over(file, &check);
            }
            (check, seal)
        } else {
            let seal = Seal::from_file(file, true)?;
            (encryption::key_check(&seal)?, seal)
        };
        Ok(Self { file: file.to_owned(), known: Mutex::new(known) })
    }

    /// The check of the key, as a database keeps it.
    pub(super) fn check(&self) -> Vec<u8> {
        locked(&self.known).0.clone()
    }

    /// Returns the seal of a database with this check. A changed check has the file read anew, and a key beside it is
    /// put in its place: the next rotation needs the room.
    pub(super) fn seal(&self, check: &[u8]) -> StoreResult<Seal> {
        let mut known = locked(&self.known);
        if known.0 != check {
            let file = self.file.display();
            let Some((seal, place)) = find(&self.file, check) else {
                let words =
                    "the data key was rotated, and this file does not hold the new one; put it there, or beside it as";
                return Err(StoreError::Unusable(format!("{file}: {words} {}", next(&self.file).display())));
            };
            tracing::info!(file = %place.display(), "the data key was rotated; the new one is in use");
            if place != self.file {
                take_over(&self.file, check);
            }
            *known = (check.to_vec(), seal);
        }
        Ok(known.1.clone())
    }
}

/// Infix of the file name of a key that was in use before.
const KEPT: &str = ".before-rotation.";

/// Path of a new key before it takes the place of the one in use.
pub(super) fn next(file: &Path) -> PathBuf {
    with_suffix(file, ".new")
}

/// The seal that proves this check, and the file that holds it: this one, or the one beside it.
pub(super) fn find(file: &Path, check: &[u8]) -> Option<(Seal, PathBuf)> {
    let next = next(file);
    // Once more at the end: another process may put it in its place meanwhile.
    [file, &next, file].into_iter().find_map(|place| Some((seal_in(place, check)?, place.to_owned())))
}

/// The same of a key that has to be the one of a database; `advice` tells the way out where it is another one.
pub(super) fn proven(file: &Path, check: &[u8], database: &str, advice: &str) -> StoreResult<(Seal, PathBuf)> {
    if let Some(found) = find(file, check) {
        return Ok(found);
    }
    Seal::from_file(file, false)?;
    let shown = file.display();
    Err(StoreError::Unusable(format!("{shown}: is not the key that {database} was sealed with; {advice}")))
}

/// Puts the new key that proves this check in its place, and logs it. Where that fails the key is used from where it
/// is.
fn take_over(file: &Path, check: &[u8]) {
    match put_in_place(file, check, |_| {}) {
        Ok(kept) => {
            tracing::info!(file = %file.display(), ?kept, "the new data key of a rotation is in its place now");
        }
        Err(error) => {
            let next = next(file);
            tracing::warn!(%error, file = %file.display(), "the file with the data key holds an old one; {} is \
                used", next.display());
        }
    }
}

/// Puts the new key that proves this check in the place of the one in use. Returns the path at which the old one is
/// kept; `None` where there was none, or another process has done so. A lock lets one process at a time do it: none
/// puts there a key from before another's rotation.
pub(super) fn put_in_place(file: &Path, check: &[u8], mut step: impl FnMut(&str)) -> io::Result<Option<PathBuf>> {
    let next = next(file);
    let directory = fs::File::open(directory_of(file))?;
    directory.lock()?;
    if seal_in(&next, check).is_none() {
        return Ok(None);
    }
    let kept = match fs::read_to_string(file) {
        Ok(old) => {
            let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
            let kept = with_suffix(file, &format!("{KEPT}{stamp}"));
            put_key(&kept, &old)?;
            step("the old key is kept");
            Some(kept)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    fs::rename(&next, file)?;
    step("the new key is in its place");
    directory.sync_all()?;
    Ok(kept)
}

/// Path at which this key, which was in use before, is kept.
pub(super) fn kept(file: &Path, key: &Seal) -> Option<PathBuf> {
    let begins = with_suffix(file.file_name()?.as_ref(), KEPT).into_os_string().into_encoded_bytes();
    let files = fs::read_dir(directory_of(file)).ok()?.flatten();
    let mut files =
        files.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(&begins)).map(|entry| entry.path());
    files.find(|file| Seal::from_file(file, false).is_ok_and(|kept| kept == *key))
}

/// The seal in a file, where it proves this check.
pub(super) fn seal_in(file: &Path, check: &[u8]) -> Option<Seal> {
    Seal::from_file(file, false).ok().filter(|seal| encryption::proves(seal, check))
}
