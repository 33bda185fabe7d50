//! An atomic replacement of several files: staged in a directory beside their places, committed by a plan, put in place
//! by renames.
//!
//! Until the plan is there nothing has happened, and the staged files can go. From then on it has happened: a process
//! that finds a plan of a dead owner makes the renames that are missing. So a process may be killed at any point.

use std::{
    cell::Cell,
    ffi::OsString,
    fs::{self, File, TryLockError},
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::files::{directory_of, is_regular, make_file, make_private, open_or_make, unusable, with_suffix};
use crate::StoreError;

/// Suffix of the name of a staging directory.
const SUFFIX: &str = ".unfinished";
const LOCK: &str = "lock";
const PLAN: &str = "plan";
const NEW_PLAN: &str = "plan.new";

/// A step of a plan. Its names are of files in the directory that the target is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Move {
    /// The staged file that goes there, if one does.
    pub(super) from: Option<String>,
    pub(super) to: OsString,
    /// Name under which the replaced file is kept.
    pub(super) aside: Option<OsString>,
    /// True where existing files may be replaced.
    pub(super) replace: bool,
}

impl Move {
    /// A staged file that goes to a place beside the target, or to that of the target itself.
    pub(super) fn new(from: &str, to: &Path, replace: bool) -> Self {
        Self { from: Some(from.to_owned()), to: name_of(to), aside: None, replace }
    }
}

/// The name of a file in its directory.
pub(super) fn name_of(file: &Path) -> OsString {
    file.file_name().unwrap_or_default().to_owned()
}

/// Progress of a staging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StagingState {
    /// Nothing is there.
    Nothing,
    /// Files without a plan: nothing has happened.
    Part,
    /// A plan that is not carried out.
    Committed,
}

/// A staging directory of a target.
#[derive(Clone)]
pub(super) struct Staging<'s> {
    target: PathBuf,
    directory: PathBuf,
    /// Hears of each step on the file system behind it: it sees the state that a kill there leaves.
    step: &'s dyn Fn(&str),
}

impl<'s> Staging<'s> {
    pub(super) fn of(target: &Path) -> Self {
        Self::observed(target, &|_| ())
    }

    /// The same with an observer of its steps.
    pub(super) fn observed(target: &Path, step: &'s dyn Fn(&str)) -> Self {
        Self { target: target.to_owned(), directory: with_suffix(target, SUFFIX), step }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn stage(&self) -> StagingState {
        match (is_there(&self.file(PLAN)), is_there(&self.directory)) {
            (true, _) => StagingState::Committed,
            (false, true) => StagingState::Part,
            (false, false) => StagingState::Nothing,
        }
    }

    /// Returns whether another process is at it.
    pub(super) fn is_busy(&self) -> bool {
        let path = self.file(LOCK);
        is_regular(&path)
            && File::open(path).is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Ends what others left behind, whichever way it was going; false where another process is at it.
    pub(super) fn settle(&self) -> io::Result<bool> {
        if self.stage() == StagingState::Nothing {
            return Ok(true);
        }
        let Some(claim) = self.take()? else { return Ok(false) };
        if self.stage() == StagingState::Committed {
            match claim.finish() {
                // Something else has taken the place since, and nobody was told that this is there.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    fs::remove_file(self.file(PLAN))?;
                    claim.is_committed.set(false);
                }
                done => done?,
            }
        }
        Ok(true)
    }

    /// Begins; `None` where another process is at it. Remains of others are ended before.
    pub(super) fn claim(&self) -> io::Result<Option<OwnStaging<'s>>> {
        if self.settle()? { self.take() } else { Ok(None) }
    }

    fn take(&self) -> io::Result<Option<OwnStaging<'s>>> {
        make_private(&self.directory)?;
        self.check_owner()?;
        (self.step)("staging directory");
        let path = self.file(LOCK);
        let lock = open_or_make(&path)?;
        match lock.try_lock() {
            // The process that had it may have ended the whole meanwhile.
            Ok(()) if !is_there(&path) => return Ok(None),
            Err(TryLockError::WouldBlock) => return Ok(None),
            // Some file systems have no locks, and backups go anywhere.
            Ok(()) | Err(TryLockError::Error(_)) => (self.step)("lock"),
        }
        let is_committed = Cell::new(self.stage() == StagingState::Committed);
        Ok(Some(OwnStaging { staging: self.clone(), is_committed, _lock: lock }))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn parent(&self) -> &Path {
        directory_of(&self.target)
    }

    fn place(&self, name: &OsString) -> io::Result<PathBuf> {
        let place = self.parent().join(name);
        if place.file_name() != Some(name) {
            return Err(io::Error::new(ErrorKind::InvalidData, "the plan names a place that is not beside it"));
        }
        Ok(place)
    }

    /// In a directory that others can write, a stranger's plan is not carried out.
    fn check_owner(&self) -> io::Result<()> {
        let (own, parent) = (fs::symlink_metadata(&self.directory)?, fs::metadata(self.parent())?);
        if own.is_dir() && (own.uid() == rustix::process::geteuid().as_raw() || own.uid() == parent.uid()) {
            return Ok(());
        }
        Err(io::Error::new(ErrorKind::PermissionDenied, format!("{} is another user's", self.directory.display())))
    }
}

/// A staging that is one's own. Dropped before it is committed, it is gone.
pub(super) struct OwnStaging<'s> {
    staging: Staging<'s>,
    is_committed: Cell<bool>,
    _lock: File,
}

impl OwnStaging<'_> {
    /// Tells the observer of a step.
    pub(super) fn step(&self, what: &str) {
        (self.staging.step)(what);
    }

    /// A new empty file that nobody else can read.
    pub(super) fn empty(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.staging.file(name);
        make_file(&path)?;
        self.step(name);
        Ok(path)
    }

    /// A new file with this in it, on the disk.
    pub(super) fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        let mut file = File::options().write(true).open(self.empty(name)?)?;
        file.write_all(content)?;
        file.sync_all()?;
        self.step(name);
        Ok(())
    }

    /// Commits the plan: from here on the replacement has happened.
    pub(super) fn commit(&self, moves: &[Move]) -> io::Result<()> {
        self.put(NEW_PLAN, &serde_json::to_vec(moves)?)?;
        sync(&self.staging.directory)?;
        fs::rename(self.staging.file(NEW_PLAN), self.staging.file(PLAN))?;
        self.is_committed.set(true);
        self.step("plan");
        sync(&self.staging.directory)?;
        sync(self.staging.parent())
    }

    /// Makes the renames that are missing.
    pub(super) fn finish(&self) -> io::Result<()> {
        let moves: Vec<Move> = serde_json::from_slice(&fs::read(self.staging.file(PLAN))?)?;
        let missing = |one: &&Move| one.from.as_ref().is_none_or(|name| is_there(&self.staging.file(name)));
        let moves: Vec<&Move> = moves.iter().filter(missing).collect();
        for Move { to, aside, replace, .. } in &moves {
            let to = self.staging.place(to)?;
            if !replace && aside.is_none() && is_there(&to) {
                return Err(io::Error::new(ErrorKind::AlreadyExists, format!("{} is there already", to.display())));
            }
        }
        for Move { from, to, aside, .. } in moves {
            let to = self.staging.place(to)?;
            if let Some(aside) = aside
                && is_there(&to)
            {
                fs::rename(&to, self.staging.place(aside)?)?;
                self.step("aside");
                // The kept files have their names on the disk before anything takes their place.
                sync(self.staging.parent())?;
            }
            if let Some(name) = from {
                fs::rename(self.staging.file(name), to)?;
                self.step("in place");
            }
        }
        sync(self.staging.parent())?;
        fs::remove_file(self.staging.file(PLAN))?;
        self.step("plan removed");
        self.remove()
    }

    /// Removes what is left. A directory that bears the name by chance may hold anything: only what is staged goes.
    fn remove(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.staging.directory)?.flatten() {
            let name = entry.file_name();
            let staged = |name: &str| name == NEW_PLAN || STAGED.iter().any(|staged| name.starts_with(staged));
            if name.to_str().is_some_and(staged) {
                fs::remove_file(entry.path())?;
                self.step("removed");
            }
        }
        fs::remove_file(self.staging.file(LOCK))?;
        self.step("lock removed");
        fs::remove_dir(&self.staging.directory)?;
        self.step("staging directory removed");
        Ok(())
    }
}

impl Drop for OwnStaging<'_> {
    fn drop(&mut self) {
        if !self.is_committed.get()
            && let Err(error) = self.remove()
        {
            warn_of_leftovers(&self.staging.directory, &error);
        }
    }
}

/// Names of staged files, which SQLite lengthens for files of its own.
pub(super) const DATABASE: &str = "database";
pub(super) const KEY: &str = "key";
pub(super) const CHECKSUM: &str = "checksum";
const STAGED: [&str; 3] = [DATABASE, KEY, CHECKSUM];

/// Ends what killed processes have left in a directory.
pub(super) fn settle_all(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    for target in names.filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned)) {
        let staging = Staging::of(&directory.join(target));
        // A directory that bears the name by chance has no lock.
        let is_empty = fs::read_dir(&staging.directory).is_ok_and(|mut entries| entries.next().is_none());
        if (is_empty || is_there(&staging.file(LOCK)))
            && let Err(error) = staging.settle()
        {
            warn_of_leftovers(&staging.directory, &error);
        }
    }
}

fn warn_of_leftovers(directory: &Path, error: &io::Error) {
    tracing::warn!(%error, directory = %directory.display(), "what is unfinished cannot be removed");
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

fn sync(directory: &Path) -> io::Result<()> {
    File::open(directory).and_then(|directory| directory.sync_all())
}

/// Returns whether a restore into the place of this database was broken off, and only the next start puts it there.
pub fn is_pending(database: &Path) -> bool {
    Staging::of(database).stage() == StagingState::Committed
}

/// The refusal while a backup is being restored, or a newer avert brings the schema up to date.
pub(super) fn being_restored(directory: &Path) -> StoreError {
    unusable(
        directory,
        "a backup is being restored into it, or its schema brought up to date; try again when that is done",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_staging_that_has_ended_takes_nothing_of_the_next_one() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("desk.backup");
        let first = Staging::of(&target).claim().unwrap().unwrap();
        first.put(DATABASE, b"first").unwrap();
        first
            .commit(&[Move { from: Some(DATABASE.into()), to: "desk.backup".into(), aside: None, replace: false }])
            .unwrap();
        first.finish().unwrap();
        let next = Staging::of(&target).claim().unwrap().unwrap();
        next.put(DATABASE, b"next").unwrap();

        drop(first);

        assert_eq!(fs::read(next.staging.file(DATABASE)).unwrap(), b"next");
        assert!(is_there(&next.staging.file(LOCK)));
    }
}
