//! Causes of a refusal by the database or the system, and the advice that follows from each.

use std::{
    fmt,
    io::{self, ErrorKind},
    path::Path,
};

use crate::closed_enum;

closed_enum! {
    /// Cause of a refusal by the database or the system. The advice follows from it, and only
    /// [`Damaged`](Self::Damaged) speaks of a restore.
    pub enum RefusalCause {
        /// No room on the disk, or a quota is used up.
        DiskFull = "the disk is full",
        /// Too many open files.
        OpenFiles = "too many files are open",
        /// The file system, directory or database is read-only.
        ReadOnly = "it is read-only",
        /// Locked by another process.
        Locked = "another process has locked it",
        /// The server or the role has no connection left.
        Connections = "no connection is left",
        /// A pooler in transaction mode is between.
        Pooler = "a pooler in transaction mode is between, which is not supported",
        /// The database's encoding is not UTF-8.
        Encoding = "the database's encoding is not UTF8",
        /// The stored data is damaged.
        Damaged = "it is damaged",
        /// The database was moved, removed or replaced while it is open.
        Gone = "it was moved, removed or replaced while it is open",
        /// The disk or the system fails in another way.
        Failing = "the disk or the system failed",
    }
}

/// Returns the directory that a file is in: the one of this process where its path is a bare name.
pub fn directory_of(file: &Path) -> &Path {
    file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

impl RefusalCause {
    /// Returns the advice for the cause.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::DiskFull => "free space, and it goes on by itself",
            Self::OpenFiles => "raise the limit of open files (ulimit -n)",
            Self::ReadOnly => "make it writable to go on; on SQLite `avert backup` works",
            Self::Locked => "wait for the other process, or end it",
            Self::Connections => "raise the limit, or lower [database] connections",
            Self::Pooler => "set pool_mode = session in the pooler, or connect to the server",
            Self::Encoding => "create the database with ENCODING UTF8",
            Self::Damaged => "keep a copy of it, then restore a backup (on SQLite `avert restore FILE`)",
            Self::Gone => "put it back, or end avert and start it on the right one",
            Self::Failing => "look after the disk, and at the system's log",
        }
    }

    /// Returns the cause of an error of the system, where it is one of these.
    pub fn of_io(error: &io::Error) -> Option<Self> {
        match (error.kind(), error.raw_os_error()) {
            (ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge, _) => Some(Self::DiskFull),
            (ErrorKind::ReadOnlyFilesystem, _) => Some(Self::ReadOnly),
            // ENFILE and EMFILE.
            (_, Some(23 | 24)) => Some(Self::OpenFiles),
            _ => None,
        }
    }

    /// Returns the cause of an error of SQLite by its result code, extended or not, where it is one of these. Behind
    /// [`Failing`](Self::Failing) may be another one: SQLite does not report the system's error.
    pub const fn of_sqlite(code: i32) -> Option<Self> {
        // SQLITE_BUSY, LOCKED, READONLY, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB.
        match code & 0xff {
            5 | 6 | 15 => Some(Self::Locked),
            8 => Some(Self::ReadOnly),
            10 | 14 => Some(Self::Failing),
            11 | 26 => Some(Self::Damaged),
            13 => Some(Self::DiskFull),
            _ => None,
        }
    }
}

impl fmt::Display for RefusalCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
