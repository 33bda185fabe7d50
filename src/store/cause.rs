//! Causes of a refusal by the database or the system, and the advice that follows from each.

use std::fmt;

/// Cause of a refusal by the database or the system. The advice follows from it, and only [`Damaged`](Self::Damaged) speaks of a restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// No room on the disk, or a quota is used up.
    DiskFull,
    /// Too many open files.
    OpenFiles,
    /// The file system, directory or database is read-only.
    ReadOnly,
    /// Locked by another process.
    Locked,
    /// The server or the role has no connection left.
    Connections,
    /// A pooler in transaction mode is between.
    Pooler,
    /// The database's encoding is not UTF-8.
    Encoding,
    /// What is stored is damaged.
    Damaged,
}

impl Cause {
    /// The way out, as an imperative.
    pub const fn advice(self) -> &'static str {
        match self {
            Self::DiskFull => "free space; nothing else is needed",
            Self::OpenFiles => "raise the limit of open files (ulimit -n)",
            Self::ReadOnly => "`avert backup` works; make it writable to go on",
            Self::Locked => "wait for the other process, or end it",
            Self::Connections => "raise the limit, or lower [database] connections",
            Self::Pooler => "connect to the server, or use the pooler in session mode",
            Self::Encoding => "create the database with ENCODING UTF8",
            Self::Damaged => "keep a copy of it, then restore a backup",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DiskFull => "the disk is full",
            Self::OpenFiles => "too many files are open",
            Self::ReadOnly => "it is read-only",
            Self::Locked => "another process has locked it",
            Self::Connections => "no connection is left",
            Self::Pooler => "a pooler in transaction mode is between, which is not supported",
            Self::Encoding => "the database's encoding is not UTF8",
            Self::Damaged => "it is damaged",
        })
    }
}
