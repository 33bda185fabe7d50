//! Who may read what avert writes: nobody but the user it runs as, whatever that user's mask allows.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::{binary::avert, operations::alerts};

/// A command of the binary as it is run by somebody whose files anybody may read and write.
fn careless(home: &Path, arguments: &[&str]) -> Command {
    let proper = avert(home, arguments);
    let mut command = Command::new("sh");
    command.args(["-c", "umask 000 && exec \"$0\" \"$@\""]).arg(proper.get_program()).args(proper.get_args());
    for (name, value) in proper.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Everything below a directory, itself included, with its mode.
fn modes(directory: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = vec![(directory.to_owned(), fs::metadata(directory).unwrap().permissions().mode() & 0o777)];
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => found.extend(modes(&path)),
            path => found.push((path, entry.metadata().unwrap().permissions().mode() & 0o777)),
        }
    }
    found
}

#[test]
fn nobody_else_may_look_into_anything_that_avert_writes() {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().join("data");
    let mut import = careless(&home, &["import", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.take().unwrap().write_all(alerts(1..=3).as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());
    let backup = home.join("avert.backup");
    assert!(careless(&home, &["backup", backup.to_str().unwrap()]).status().unwrap().success());
    let mut server = careless(&home, &["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();

    let found = modes(&home);
    server.kill().unwrap();
    server.wait().unwrap();

    assert!(line.starts_with("listening on"), "{line}");
    for name in [
        "avert.db",
        "avert.db-wal",
        "avert.db-shm",
        "secret.key",
        "instances",
        "avert.backup",
        "avert.backup.key",
        "avert.backup.sha256",
    ] {
        assert!(found.iter().any(|(path, _)| path.ends_with(name)), "{name} is there: {found:?}");
    }
    assert!(
        found.iter().any(|(path, _)| path.extension().is_some_and(|extension| extension == "lock")),
        "a running process: {found:?}"
    );
    for (path, mode) in found {
        let allowed = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, allowed, "{} is {mode:o}", path.display());
    }
}
