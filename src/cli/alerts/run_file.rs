//! File of lines that a run writes as it goes, held by one process at a time. A later run resumes from it.

use std::{
    fs::{File, TryLockError},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
};

use crate::{
    cli::failure::Misused,
    desk::{begins_with, open_own},
};

/// Returns the path of a run's file beside another one: `FILE.part`.
pub(super) fn beside(file: &Path, extension: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(extension);
    path.into()
}

/// Opens the file of a run of this kind, which begins with `first`.
pub(super) fn open(path: &Path, first: &str, run: &str) -> Result<File, Misused> {
    let shown = path.display();
    let file = open_own(path, true, |bytes| begins_with(bytes, first))
        .map_err(|error| misused!("{shown}: cannot be written: {error}"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(misused!("{shown}: another {run} is at it")),
        Err(TryLockError::Error(error)) => Err(misused!("{shown}: cannot be locked: {error}")),
    }
}

/// Reads its lines, and truncates one that was cut short.
pub(super) fn read(file: &File, path: &Path, mut take: impl FnMut(&[u8]) -> Result<(), String>) -> anyhow::Result<()> {
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    let (mut number, mut whole) = (0, 0);
    while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        number += 1;
        take(&line).map_err(|what| misused!("{}: line {number}: {what}", path.display()))?;
        whole += line.len() as u64;
        line.clear();
    }
    Ok(file.set_len(whole)?)
}

/// Refuses to begin where an earlier run has left its file.
pub(super) fn left_behind(path: &Path, run: &str) -> Misused {
    let shown = path.display();
    misused!("{shown}: is there from an earlier {run}: --resume goes on with it; to begin anew, remove it")
}
