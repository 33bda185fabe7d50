//! The program's log as the console sees it: the newest events, which whoever logs hands out.

use crate::domain::Timestamp;

/// How grave a log event is; the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogSeverity {
    /// Something failed.
    Error,
    /// Something may be wrong.
    Warning,
    /// What happened.
    Note,
    /// How it happened.
    Detail,
}

impl LogSeverity {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Detail => "detail",
        }
    }
}

/// A log event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Which one it is, from 1 on.
    pub number: u64,
    pub at: Timestamp,
    pub severity: LogSeverity,
    /// Which part of the program it is of.
    pub part: String,
    /// One line that is safe to show.
    pub text: String,
}

/// The log of this process, as far as it is kept in memory.
pub trait ProgramLog: Send + Sync {
    /// The events after this number, the oldest first.
    fn after(&self, number: u64) -> Vec<LogLine>;

    /// Why it is in no file, where it is not.
    fn unkept(&self) -> Option<&str>;
}
