//! Store errors: reasons of a unit of work that did not happen, whether it may be done again, and causes of a refusal,
//! looked for on the disk and in the system.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use crate::domain::cause::{RefusalCause, directory_of};

/// Store error: the reason of a unit of work that did not happen. Nothing of it was kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The database cannot be opened as it is (not a database, an altered schema, a wrong key); says what to do.
    #[error("{0}")]
    Unusable(String),
    /// A newer avert has written the database; says which.
    #[error("{0}")]
    Newer(String),
    /// The database cannot do the work now (busy, full, read-only, I/O error); it may be able later.
    #[error("the database cannot do this now: {0}")]
    Unavailable(String),
    /// Stored data break a rule that always holds.
    #[error("the database holds something that should not be there: {0}")]
    Corrupt(String),
    /// The database or the system refuses for a known cause; the text says what and where.
    #[error("{1}: {0}; {advice}", advice = .0.advice())]
    Refused(RefusalCause, String),
    /// A name or id is taken already.
    #[error("{0} exists already")]
    Conflict(String),
}

/// Subject of a refusal before its place is known.
const SOMEWHERE: &str = "the database";

impl StoreError {
    /// A refusal by SQLite, whose place is not known yet.
    pub(super) fn somewhere(cause: RefusalCause, what: &impl std::fmt::Display) -> Self {
        match cause {
            RefusalCause::Damaged | RefusalCause::Failing => Self::Refused(cause, format!("{SOMEWHERE} ({what})")),
            _ => Self::Refused(cause, SOMEWHERE.to_owned()),
        }
    }

    /// The same error with its place. Where SQLite does not report the cause, it is looked for there.
    pub(super) fn at(self, database: &Path) -> Self {
        let Self::Refused(cause, what) = self else { return self };
        let Some(more) = what.strip_prefix(SOMEWHERE) else { return Self::Refused(cause, what) };
        let found = if cause == RefusalCause::Failing { beside(database).unwrap_or(cause) } else { cause };
        Self::Refused(found, format!("{}{}", place(found, database), if found == cause { more } else { "" }))
    }

    /// The same error with its subject before its words.
    pub(super) fn of(self, subject: &impl std::fmt::Display) -> Self {
        match self {
            Self::Unusable(words) => Self::Unusable(format!("{subject}: {words}")),
            Self::Newer(words) => Self::Newer(format!("{subject}: {words}")),
            other => other,
        }
    }

    /// Names a file that cannot be used: by the cause where that is a known one, else in the system's words.
    pub(super) fn of_file(file: &Path, what: &str) -> impl Fn(io::Error) -> Self + Copy {
        move |error| match RefusalCause::of_io(&error) {
            Some(cause) => Self::Refused(cause, format!("{} {what}", place(cause, file))),
            None => Self::Unusable(format!("{}: {what}: {error}", file.display())),
        }
    }
}

/// Result of a unit of work.
pub type StoreResult<T> = Result<T, StoreError>;

/// A failure of a unit of work.
#[derive(Debug)]
pub(super) enum WorkFault {
    /// It would fail again.
    Final(StoreError),
    /// Others worked on the same rows: nothing of it was kept, and it may be done again.
    Again(StoreError),
    /// The connection was lost: a unit of work that only reads may be done again on another one.
    Lost(StoreError),
    /// The connection may only read: nothing of it was kept, and one that is opened now may be allowed to write.
    ReadOnly(StoreError),
}

/// Result of a part of a unit of work.
pub(super) type Work<T> = Result<T, WorkFault>;

impl WorkFault {
    /// The same where nothing had been done yet.
    pub(super) fn before_anything(self) -> Self {
        match self {
            Self::Lost(error) => Self::Again(error),
            other => other,
        }
    }
}

impl From<StoreError> for WorkFault {
    fn from(error: StoreError) -> Self {
        Self::Final(error)
    }
}

impl From<WorkFault> for StoreError {
    fn from(fault: WorkFault) -> Self {
        match fault {
            WorkFault::Final(error) | WorkFault::Again(error) | WorkFault::Lost(error) | WorkFault::ReadOnly(error) => {
                error
            }
        }
    }
}

impl From<rusqlite::Error> for WorkFault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Final(error.into())
    }
}

/// Room that a database needs to be opened: the files that its readers share.
static LEAST_ROOM: [u8; 64 << 10] = [0; 64 << 10];

/// Number of files that a connection opens: the database, its log, the shared files, and one to spare.
const LEAST_FILES: usize = 4;

/// Returns the cause for which nothing can be written beside a file, found by trying; `None` where it can. The file
/// itself is not opened: closing it would release the locks that this process holds on it.
pub(super) fn beside(file: &Path) -> Option<RefusalCause> {
    let directory = directory_of(file);
    let files: io::Result<Vec<_>> = (0..LEAST_FILES).map(|_| fs::File::open(directory)).collect();
    let tried = files.and_then(|_| tempfile::tempfile_in(directory)).and_then(|mut tried| tried.write_all(&LEAST_ROOM));
    let error = tried.err()?;
    RefusalCause::of_io(&error)
        .or_else(|| (error.kind() == ErrorKind::PermissionDenied).then_some(RefusalCause::ReadOnly))
}

/// Describes the place of a refusal, with the room that is left there where that is too little.
fn place(cause: RefusalCause, file: &Path) -> String {
    let shown = file.display();
    match free_bytes(file).filter(|_| cause == RefusalCause::DiskFull) {
        Some(free) => format!("{shown} ({} KiB free in {})", free >> 10, directory_of(file).display()),
        None => shown.to_string(),
    }
}

/// The room that is left where a file is.
pub(super) fn free_bytes(file: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory_of(file)).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// A file's name with this behind it.
pub(super) fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
