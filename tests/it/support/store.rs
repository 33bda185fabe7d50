//! The real store of a directory.

use std::path::{Path, PathBuf};

use avert::{
    store::{SharedStore, SqliteOptions, SqliteStore},
    wire::event_body,
};

/// Opens the store of a directory, making it if need be; a second time as another process would.
pub fn open(directory: &Path) -> SharedStore {
    SqliteStore::open(&SqliteOptions::file(directory.join("avert.db"), event_body)).expect("the store opens")
}

/// The database file of a directory's store.
pub fn file(directory: &Path) -> PathBuf {
    directory.join("avert.db")
}
