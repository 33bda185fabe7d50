//! Private files and directories, and the errors of those that cannot be used.
//!
//! The open files, compared with the ones at their paths: data written into a file that was removed or replaced are
//! lost.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use crate::{RefusalCause, StoreError, StoreResult};
pub(super) use crate::{domain::cause::directory_of, error::with_suffix};

pub(super) fn unusable(path: &Path, what: &str) -> StoreError {
    StoreError::Unusable(format!("{}: {what}", path.display()))
}

/// Makes a private directory, with those above it; an existing one stays as it is.
pub(super) fn make_private(directory: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

pub(super) fn make_directory(directory: &Path) -> StoreResult<()> {
    make_private(directory).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            unusable(directory, "is a file, and a directory is needed; name another data directory")
        }
        _ => {
            let words = "the directory cannot be made; make it, or name another data directory";
            StoreError::of_file(directory, words)(error)
        }
    })
}

/// Makes an empty private file.
pub(super) fn make_file(path: &Path) -> std::io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a private file to write to it, making it where it is missing.
pub(super) fn open_or_make(path: &Path) -> std::io::Result<fs::File> {
    fs::OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Returns whether it is a regular file: opening a pipe would wait for the process at its other end.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| there.is_file())
}

/// Device and inode of a file; nothing where there is none.
type FileId = Option<(u64, u64)>;

/// The database and its log, as they were when they were opened.
#[derive(Debug)]
pub(super) struct SameFiles {
    files: Vec<(PathBuf, FileId)>,
    gone: AtomicBool,
}

impl SameFiles {
    /// Of a database that is open: from then on its log stays the same file.
    pub(super) fn of(database: &Path) -> Self {
        let files = ["", "-wal"].map(|suffix| with_suffix(database, suffix));
        let files = files.into_iter().filter_map(|file| Some((file.clone(), id_of(&file)?))).collect();
        Self { files, gone: AtomicBool::new(false) }
    }

    /// Compares the files at the paths.
    ///
    /// # Errors
    /// [`RefusalCause::Gone`] names the file that is another one now, or gone.
    pub(super) fn check(&self) -> StoreResult<()> {
        let is_other = |(file, opened): &&(PathBuf, FileId)| id_of(file).is_some_and(|now| now != *opened);
        let other = self.files.iter().find(is_other);
        let was_gone = self.gone.swap(other.is_some(), Ordering::Relaxed);
        let Some((file, _)) = other else {
            if was_gone {
                tracing::info!("the database is in its place again");
            }
            return Ok(());
        };
        if !was_gone {
            tracing::error!(file = %file.display(), "the database was moved, removed or replaced while it is open: \
                nothing is answered");
        }
        Err(StoreError::Refused(RefusalCause::Gone, file.display().to_string()))
    }

    /// The result of the last comparison.
    pub(super) fn last_check(&self) -> StoreResult<()> {
        if self.gone.load(Ordering::Relaxed) { self.check() } else { Ok(()) }
    }
}

/// Id of the file at a path; `None` where that cannot be told.
fn id_of(file: &Path) -> Option<FileId> {
    match fs::metadata(file) {
        Ok(there) => Some(Some((there.dev(), there.ino()))),
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::StaleNetworkFileHandle
            ) =>
        {
            Some(None)
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_moved_or_replaced_is_told_until_it_is_back() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("avert.db"), "a").unwrap();
        fs::write(at("avert.db-wal"), "b").unwrap();
        let files = SameFiles::of(&at("avert.db"));

        let before = files.check();
        fs::rename(at("avert.db-wal"), at("aside")).unwrap();
        let moved = files.check();
        fs::copy(at("aside"), at("avert.db-wal")).unwrap();
        let replaced = files.last_check();
        fs::rename(at("aside"), at("avert.db-wal")).unwrap();
        let back = files.last_check();

        assert!(before.is_ok() && back.is_ok() && files.last_check().is_ok());
        assert!(moved.unwrap_err().to_string().contains("avert.db-wal") && replaced.is_err());
    }
}
