//! What is wrong with a settings file or the environment.

use std::path::PathBuf;

/// A configuration error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the settings file {} cannot be read: {reason}", file.display())]
    Unreadable {
        file: PathBuf,
        /// The system's words.
        reason: String,
    },
    /// A line of the file is wrong.
    #[error("{}:{line}: {message}", file.display())]
    Line {
        file: PathBuf,
        /// 1-based.
        line: usize,
        message: String,
    },
    /// An environment variable is wrong.
    #[error("{variable}: {message}")]
    Variable { variable: &'static str, message: String },
}
