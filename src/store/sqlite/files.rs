//! Private files and directories, and the errors of those that cannot be used.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(super) use crate::domain::cause::directory_of;
use crate::store::{StoreError, StoreResult};

pub(super) fn unusable(path: &Path, what: &str) -> StoreError {
    StoreError::Unusable(format!("{}: {what}", path.display()))
}

/// Makes a private directory, with those above it; an existing one stays as it is.
pub(super) fn make_private(directory: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(directory)
}

pub(super) fn make_directory(directory: &Path) -> StoreResult<()> {
    match make_private(directory) {
        Ok(()) => Ok(()),
        Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::NotADirectory) => {
            Err(unusable(directory, "is a file, and a directory is needed; name another data directory"))
        }
        Err(error) => Err(unusable(
            directory,
            &format!("the directory cannot be made: {error}; make it, or name another data directory"),
        )),
    }
}

/// Makes an empty private file.
pub(super) fn make_file(path: &Path) -> std::io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

/// A file's name with this behind it.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns whether it is a regular file: opening a pipe would wait for the process at its other end.
pub(super) fn is_regular(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| there.is_file())
}
