//! A date that a test sets for real processes, while the clocks that only count go on: a small library in front of the
//! system's own.

use std::{
    fs::{File, OpenOptions},
    os::unix::fs::FileExt as _,
    path::PathBuf,
    process::Command,
};

use tempfile::TempDir;

use super::preload;

/// The date of the processes that are started with it.
pub struct ProcessDate {
    directory: TempDir,
    offset: File,
}

impl ProcessDate {
    /// The machine's own date, until it is set. It needs the C compiler that the build needs too.
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        preload::compile(directory.path(), "set_date", include_str!("set_date.c"));
        let offset = OpenOptions::new().create_new(true).write(true).open(directory.path().join("offset")).unwrap();
        let date = Self { directory, offset };
        date.set(0);
        date
    }

    /// Sets the date so many seconds ahead of the machine's.
    pub fn set(&self, seconds: i64) {
        self.offset.write_all_at(&seconds.to_ne_bytes(), 0).unwrap();
    }

    /// Shows it to a command.
    pub fn show<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let path = |name: &str| -> PathBuf { self.directory.path().join(name) };
        command.env("LD_PRELOAD", path("set_date.so")).env("SET_DATE_FILE", path("offset"))
    }
}
