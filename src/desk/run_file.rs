//! File of lines that a run writes as it goes, held by one process at a time. A later run resumes from it.

use std::{
    fs::{File, TryLockError},
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use crate::file::{begins_with, open_own};

/// Error of a run's file.
#[derive(Debug, thiserror::Error)]
pub enum RunFileError {
    /// It is of another run, or held by one; the text says what is allowed.
    #[error("{0}")]
    Unusable(String),
    /// It cannot be read or written.
    #[error("{}: {error}", path.display())]
    Failed { path: PathBuf, error: io::Error },
}

/// Returns the error of a file that cannot be read or written.
pub(crate) fn failed(path: &Path) -> impl FnOnce(io::Error) -> RunFileError {
    |error| RunFileError::Failed { path: path.to_owned(), error }
}

/// Returns the path of a run's file beside another one: `FILE.part`.
pub fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(extension);
    path.into()
}

/// Opens the file of a run of this kind, which begins with `first`.
pub(crate) fn open(path: &Path, first: &str, run: &str) -> Result<File, RunFileError> {
    let unusable = |what: String| RunFileError::Unusable(format!("{}: {what}", path.display()));
    let file = open_own(path, true, |bytes| begins_with(bytes, first))
        .map_err(|error| unusable(format!("cannot be written: {error}")))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(unusable(format!("another {run} is at it"))),
        Err(TryLockError::Error(error)) => Err(unusable(format!("cannot be locked: {error}"))),
    }
}

/// Reads its lines, and truncates one that was cut short.
pub(crate) fn read(
    file: &File,
    path: &Path,
    mut take: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), RunFileError> {
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    let (mut number, mut whole) = (0, 0);
    while reader.read_until(b'\n', &mut line).map_err(failed(path))? > 0 && line.ends_with(b"\n") {
        number += 1;
        take(&line).map_err(|what| RunFileError::Unusable(format!("{}: line {number}: {what}", path.display())))?;
        whole += line.len() as u64;
        line.clear();
    }
    file.set_len(whole).map_err(failed(path))
}

/// Returns the error of beginning where an earlier run has left its file.
pub(crate) fn left_behind(path: &Path, run: &str) -> RunFileError {
    let shown = path.display();
    RunFileError::Unusable(format!(
        "{shown}: is there from an earlier {run}: --resume goes on with it; to begin anew, remove it"
    ))
}
