//! Puts the commit behind the version of a release build: the one that `AVERT_COMMIT` names, else that of the git
//! repository whose top directory this is. Without either, and in a debug build, the version stands alone.

// Here, because on Windows this is compiled before all that cannot be.
#[cfg(windows)]
compile_error!("avert does not build on Windows: use WSL (Windows Subsystem for Linux), where it builds as on Linux");

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo:rerun-if-env-changed=AVERT_COMMIT");
    let named = env::var("AVERT_COMMIT").ok().filter(|commit| !commit.is_empty());
    // A debug build would be made anew for each commit.
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = named.or_else(|| if is_release { commit_of_git() } else { None });
    let behind = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo:rustc-env=AVERT_VERSION={}{behind}", env!("CARGO_PKG_VERSION"));
}

/// Returns the commit; `None` where this is no repository, or only a directory inside of one.
fn commit_of_git() -> Option<String> {
    if !git(&["rev-parse", "--show-prefix"])?.is_empty() {
        return None;
    }
    for file in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
