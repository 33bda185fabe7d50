//! The home of local alerts: where their database and all that belongs to it is kept.

use std::path::{Path, PathBuf};

use super::failure::NotFound;
use crate::store::sqlite::backup::is_pending;

/// The data directory of local alerts.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Database, key, logs, the desk.
    pub(super) data_dir: PathBuf,
    /// The SQLite file.
    pub(super) database: PathBuf,
}

impl Home {
    /// The home that a data directory is.
    pub(super) fn at(data_dir: PathBuf) -> Self {
        Self { database: data_dir.join("avert.db"), data_dir }
    }

    /// Refuses a place where avert has kept nothing yet: most likely it is mistyped.
    pub(super) fn require_data(&self) -> Result<(), NotFound> {
        // What is there and cannot be looked at is told when it is opened.
        if !matches!(self.database.try_exists(), Ok(false)) || is_pending(&self.database) {
            return Ok(());
        }
        Err(NotFound(format!(
            "there is no avert data in {}; name another place with --data-dir, or make it with `avert serve`, `avert import` or \
             `avert organizations create`",
            self.place().display()
        )))
    }

    /// The directory that the database is in.
    pub(super) fn place(&self) -> &Path {
        self.database.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    /// The same with another database.
    pub(super) fn with_database(self, database: PathBuf) -> Self {
        Self { database, ..self }
    }
}
