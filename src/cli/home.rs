//! The home of this machine's desk: its data directory, and which database its alerts are in.

use std::path::{Path, PathBuf};

use super::failure::{Misused, NotFound};
use crate::desk::directory_of;
use crate::domain::database::DatabaseLocation;
use crate::store::sqlite::backup::is_pending;

/// The home of this machine's desk.
#[derive(Debug, Clone)]
pub(super) struct Home {
    /// Logs, what consoles keep, and a SQLite database with its key.
    pub(super) data_dir: PathBuf,
    /// Place where the alerts are.
    pub(super) database: DatabaseLocation,
    /// The file with the password of a database on a server.
    pub(super) password_file: Option<PathBuf>,
}

impl Home {
    /// The home that a data directory is.
    pub(super) fn at(data_dir: PathBuf) -> Self {
        Self { database: DatabaseLocation::Sqlite(data_dir.join("avert.db")), data_dir, password_file: None }
    }

    /// The same with another database.
    pub(super) fn with_database(self, database: DatabaseLocation) -> Self {
        Self { database, ..self }
    }

    /// Refuses a place where avert has kept nothing yet: most likely it is mistyped. What is on a server is found out
    /// by who opens it.
    pub(super) fn require_data(&self) -> Result<(), NotFound> {
        match &self.database {
            // What is there and cannot be looked at is told when it is opened.
            DatabaseLocation::Sqlite(file) if is_absent(file) => Err(NotFound(format!(
                "there is no avert data in {}; name another place with --data-dir, or make it with `avert serve`, \
                    `avert import` or \
                 `avert organizations create`",
                directory_of(file).display()
            ))),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => Ok(()),
        }
    }

    /// The data directory that the next command would make, where it would make one.
    pub(super) fn missing_directory(&self) -> Option<&Path> {
        match &self.database {
            DatabaseLocation::Sqlite(file) if is_absent(file) => Some(directory_of(file)),
            DatabaseLocation::Sqlite(_) | DatabaseLocation::Postgres(_) => None,
        }
    }

    /// The SQLite file, for what can be done with files alone; else a refusal with these words.
    pub(super) fn require_file(&self, otherwise: &str) -> Result<&Path, Misused> {
        match &self.database {
            DatabaseLocation::Sqlite(file) => Ok(file),
            DatabaseLocation::Postgres(address) => Err(misused!("{address}: {otherwise}")),
        }
    }

    /// The directory that has to be written to: the one of the database file, or else the data directory.
    pub(super) fn directory(&self) -> &Path {
        match &self.database {
            DatabaseLocation::Sqlite(file) => directory_of(file),
            DatabaseLocation::Postgres(_) => &self.data_dir,
        }
    }

    /// Whose alerts these are, in words.
    pub(super) fn place(&self) -> String {
        match &self.database {
            DatabaseLocation::Sqlite(_) => self.data_dir.display().to_string(),
            DatabaseLocation::Postgres(address) => address.to_string(),
        }
    }

    /// The database as a field of the log.
    pub(super) fn log_name(&self) -> String {
        match &self.database {
            DatabaseLocation::Sqlite(file) => file.display().to_string(),
            DatabaseLocation::Postgres(address) => format!("{} on {}:{}", address.name, address.host, address.port),
        }
    }

    /// Returns where a console on these alerts keeps its views, drafts and journal: what is decided in one database is
    /// no business of another one's consoles.
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

/// The address of a place as the name of a directory: `shop.example:8443/alerts` as `shop.example_8443%2falerts`.
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
