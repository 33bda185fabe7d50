//! The file with the data key: found where a rotation has left it, put in its place, and read anew by processes that run.
//!
//! A rotation has the new key in `FILE.new` before anything is sealed with it, and whoever reads the key looks there too. So a rotation may
//! be broken off anywhere, and a key that was brought to every machine as `FILE.new` beforehand is there when it is needed.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::seal::{Seal, put_key};
use super::{Finding, StoreError, StoreResult, sealed};
use crate::domain::time::{Clock as _, SystemClock};

/// The data key of a database that is open: the seal that proved its check, and where another one is found when the check is another.
#[derive(Debug)]
pub(super) struct DataKey {
    file: PathBuf,
    known: Mutex<(Vec<u8>, Seal)>,
}

impl DataKey {
    /// Reads the key of a database, made where the database has no check of one yet. What a broken-off rotation has left is put in its
    /// place.
    pub(super) fn unlock(file: &Path, check: Option<Vec<u8>>, database: &str) -> StoreResult<Self> {
        let Some(check) = check else {
            let seal = Seal::from_file(file, true)?;
            return Ok(Self { file: file.to_owned(), known: Mutex::new((sealed::key_check(&seal)?, seal)) });
        };
        let Some((seal, place)) = find(file, &check) else {
            let present = Seal::from_file(file, false);
            let what = "is not the key that";
            let advice = "was sealed with; put the right file there (it was made with the database)";
            let wrong = StoreError::Unusable(format!("{}: {what} {database} {advice}", file.display()));
            return Err(present.err().unwrap_or(wrong));
        };
        if place != file {
            match put_in_place(file, &check, |_| {}) {
                Ok(kept) => {
                    let kept = kept.map(|kept| kept.display().to_string());
                    tracing::info!(file = %file.display(), kept, "the new data key of a rotation that was broken off is in its place now");
                }
                Err(error) => {
                    tracing::warn!(%error, file = %file.display(), "the file with the data key holds an old one; {} is used", place.display());
                }
            }
        }
        Ok(Self { file: file.to_owned(), known: Mutex::new((check, seal)) })
    }

    /// The check of the key, as a database keeps it.
    pub(super) fn check(&self) -> Vec<u8> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// The seal that a database with this check is sealed with; its file is read anew where that is another one than before.
    pub(super) fn seal(&self, check: &[u8]) -> StoreResult<Seal> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != check {
            let file = self.file.display();
            let Some((seal, place)) = find(&self.file, check) else {
                let words = "the data key was rotated, and this file does not hold the new one; put it there, or beside it as";
                return Err(StoreError::Unusable(format!("{file}: {words} {}", next(&self.file).display())));
            };
            tracing::info!(file = %place.display(), "the data key was rotated; the new one is in use");
            *known = (check.to_vec(), seal);
        }
        Ok(known.1.clone())
    }
}

fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Where a new key is before it takes the place of the one in use.
pub(super) fn next(file: &Path) -> PathBuf {
    with_suffix(file, ".new")
}

/// The seal that proves this check, and the file that holds it: this one, or the one beside it.
pub(super) fn find(file: &Path, check: &[u8]) -> Option<(Seal, PathBuf)> {
    let next = next(file);
    // Once more at the end: another process may put it in its place meanwhile.
    [file, &next, file].into_iter().find_map(|place| {
        let seal = Seal::from_file(place, false).ok().filter(|seal| sealed::proves(seal, check))?;
        Some((seal, place.to_owned()))
    })
}

/// Puts the new key that proves this check in the place of the one in use, and says where that is kept.
pub(super) fn put_in_place(file: &Path, check: &[u8], mut step: impl FnMut(&str)) -> io::Result<Option<PathBuf>> {
    let next = next(file);
    if !proves(&next, check) {
        return Ok(None);
    }
    let kept = match fs::read_to_string(file) {
        Ok(old) => {
            let stamp = SystemClock.now().format("%Y%m%dT%H%M%S%.6f");
            let kept = with_suffix(file, &format!(".before-rotation.{stamp}"));
            put_key(&kept, &old)?;
            step("the old key is kept");
            Some(kept)
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    fs::rename(&next, file)?;
    step("the new key is in its place");
    fs::File::open(file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new(".")))?.sync_all()?;
    Ok(kept)
}

/// What a rotation that was prepared or broken off has left beside the key of a database with this check.
pub(super) fn left_of_a_rotation(file: &Path, check: &[u8]) -> Option<Finding> {
    let next = next(file);
    if fs::symlink_metadata(&next).is_err() {
        return None;
    }
    let (in_use, shown) = (proves(file, check), next.display());
    let file = file.display();
    Some(match proves(&next, check) {
        true if in_use => Finding::notice("rotation", format!("{shown} holds the key that {file} has already"), format!("remove {shown}")),
        true => Finding::notice(
            "rotation",
            format!("{shown} holds the data key, and {file} an older one: a rotation was broken off before its last step"),
            "nothing: the next start puts it in its place".to_owned(),
        ),
        false => Finding::notice(
            "rotation",
            format!("{shown} holds nothing that is in use: a rotation was prepared, or broken off before it changed anything"),
            format!("`avert secrets rotate data` goes on with it; or remove {shown}"),
        ),
    })
}

/// Whether a file holds the key that proves this check.
fn proves(file: &Path, check: &[u8]) -> bool {
    Seal::from_file(file, false).is_ok_and(|seal| sealed::proves(&seal, check))
}
