//! Small C libraries that stand in front of the system's own in a process under test.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles one into a directory and returns its path, for `LD_PRELOAD`. It needs the C compiler that the build needs
/// too.
pub fn compile(directory: &Path, name: &str, text: &str) -> PathBuf {
    let (source, library) = (directory.join(format!("{name}.c")), directory.join(format!("{name}.so")));
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(command.status().expect("a C compiler").success(), "{}", source.display());
    library
}
