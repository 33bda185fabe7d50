//! The home of this machine's desk: its data directory, and the location of its database.

use std::path::{Path, PathBuf};

use super::failure::{Misused, NotFound};
use crate::{desk::directory_of, domain::database::DatabaseLocation, store::sqlite::backup::is_pending};

/// Home of this machine's desk.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Directory of logs, consoles' files, and a SQLite database with its key.
    pub(super) data_dir: PathBuf,
    /// Location of the alerts.
    pub(super) database: DatabaseLocation,
    /// File with the password of a database on a server.
    pub(super) password_file: Option<PathBuf>,
}

impl Home {
    /// Returns the home of a data directory.
    pub(super) fn at(data_dir: PathBuf) -> Self {
        Self { database: DatabaseLocation::Sqlite(data_dir.join("avert.db")), data_dir, password_file: None }
    }

    /// Returns the same home with another database.
    pub(super) fn with_database(self, database: DatabaseLocation) -> Self {
        Self { database, ..self }
    }

    /// Refuses a location without data: most likely it is mistyped. A database on a server is checked when it is
    /// opened.
    pub(super) fn require_data(&self) -> Result<(), NotFound> {
        match &self.database {
            // A file that exists and cannot be read is reported when it is opened.
            DatabaseLocation::Sqlite(file) if is_absent(file) => Err(NotFound(format!(
                "there is no avert data in {}; name another place with --data-dir, or make it with `avert serve`, \
                    `avert import` or \
                 `avert organizations create`",
                directory_of(file).display()
            ))),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => Ok(()),
        }
    }

    /// Returns the directory in which the next command would create a SQLite file, where there is none yet.
    pub(super) fn missing_directory(&self) -> Option<&Path> {
        match &self.database {
            DatabaseLocation::Sqlite(file) if is_absent(file) => Some(directory_of(file)),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => None,
        }
    }

    /// Returns the SQLite file, for commands that work on files alone; else refuses with this message.
    pub(super) fn require_file(&self, otherwise: &str) -> Result<&Path, Misused> {
        match &self.database {
            DatabaseLocation::Sqlite(file) => Ok(file),
            DatabaseLocation::Postgres(address) => Err(misused!("{address}: {otherwise}")),
        }
    }

    /// Returns the directory that has to be writable: the one of the database file, else the data directory.
    pub(super) fn directory(&self) -> &Path {
        match &self.database {
            DatabaseLocation::Sqlite(file) => directory_of(file),
            DatabaseLocation::Postgres(_) => &self.data_dir,
        }
    }

    /// Describes the location of the alerts.
    pub(super) fn place(&self) -> String {
        match &self.database {
            DatabaseLocation::Sqlite(_) => self.data_dir.display().to_string(),
            DatabaseLocation::Postgres(address) => address.to_string(),
        }
    }

    /// Returns the database as a field of the log.
    pub(super) fn log_name(&self) -> String {
        match &self.database {
            DatabaseLocation::Sqlite(file) => file.display().to_string(),
            DatabaseLocation::Postgres(address) => format!("{} on {}:{}", address.name, address.host, address.port),
        }
    }

    /// Returns the directory for views, drafts and journal of consoles on these alerts. Each database has its own.
    pub(super) fn desk(&self) -> PathBuf {
        let desk = self.data_dir.join("desk");
        match &self.database {
            DatabaseLocation::Sqlite(_) => desk,
            DatabaseLocation::Postgres(address) => desk
                .join("databases")
                .join(file_name_of(&format!("{}:{}/{}", address.host, address.port, address.name))),
        }
    }
}

pub(super) fn is_absent(file: &Path) -> bool {
    matches!(file.try_exists(), Ok(false)) && !is_pending(file)
}

/// Encodes an address as the name of a directory: `shop.example:8443/alerts` as `shop.example_8443%2falerts`.
pub(super) fn file_name_of(address: &str) -> String {
    let mut name = String::with_capacity(address.len());
    for byte in address.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' => name.push(byte.into()),
            b':' => name.push('_'),
            other => name.push_str(&format!("%{other:02x}")),
        }
    }
    name
}
