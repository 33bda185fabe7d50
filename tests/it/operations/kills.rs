//! Backups and restores that are killed at any point: what is there afterwards is one usable state, and nothing
//! unfinished stays.
//!
//! An observer copies everything behind each step on the file system: that is what a kill there leaves. The real binary
//! is killed too, whenever something new has come into the directory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex},
};

use avert::{
    domain::Actor,
    store::sqlite::backup::{BackupOptions, RestoreOptions, back_up, restore},
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{
    binary::{Server, avert, run, run_ok},
    operations::{alerts, import},
};

fn total(home: &Path) -> u64 {
    let page: Value = serde_json::from_str(&run_ok(home, &["alerts", "list", "--output", "json"])).unwrap();
    page["total"].as_u64().unwrap()
}

/// What the doctor says that is not as it should be, by check.
fn complaints(home: &Path) -> Vec<String> {
    let report: Value = serde_json::from_slice(&run(home, &["doctor", "--output", "json"]).stdout).unwrap();
    let bad =
        report["checks"].as_array().unwrap().iter().filter(|check| check["state"] != "ok" && check["check"] != "disk");
    bad.map(|check| format!("{}: {}", check["check"].as_str().unwrap(), check["found"].as_str().unwrap())).collect()
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy_all(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
}

/// Copies of a directory, one for each step that an observer heard of.
struct States {
    place: TempDir,
    steps: Arc<Mutex<Vec<String>>>,
}

impl States {
    fn of(directory: &Path) -> (Self, impl Fn(&str) + use<>) {
        let (place, steps) = (tempfile::tempdir().unwrap(), Arc::<Mutex<Vec<String>>>::default());
        let (to, heard, from) = (place.path().to_owned(), Arc::clone(&steps), directory.to_owned());
        let observer = move |step: &str| {
            let mut heard = heard.lock().unwrap();
            let copy = to.join(heard.len().to_string());
            copy_all(&from, &copy);
            heard.push(step.to_owned());
        };
        (Self { place, steps }, observer)
    }

    /// Each step with the state that a kill behind it leaves.
    fn each(&self) -> Vec<(String, PathBuf)> {
        let steps = self.steps.lock().unwrap();
        steps
            .iter()
            .enumerate()
            .map(|(at, step)| (format!("{at} ({step})"), self.place.path().join(at.to_string())))
            .collect()
    }
}

fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A desk with two alerts whose engine died at work, so that its log is not empty, and a backup of another desk with
/// three.
fn two_desks() -> (TempDir, TempDir) {
    let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = root.path().join("home");
    fs::create_dir(&home).unwrap();
    fs::create_dir(root.path().join("place")).unwrap();
    let server = Server::start(&home, &[]);
    import(&home, &alerts(1..=2));
    server.kill_9();
    import(other.path(), &alerts(1..=3));
    run_ok(other.path(), &["backup", other.path().join("file").to_str().unwrap()]);
    (root, other)
}

fn restoring(home: &Path, from: &Path) -> RestoreOptions {
    RestoreOptions {
        database: home.join("avert.db"),
        key_file: home.join("secret.key"),
        replace_key: true,
        from: from.to_owned(),
        key: None,
        by: Actor::avert(),
    }
}

#[test]
fn a_restore_killed_behind_any_step_leaves_one_usable_state_and_the_next_start_finishes_it() {
    let (root, other) = two_desks();
    let home = root.path().join("home");
    let (states, observer) = States::of(&home);

    restore(&restoring(&home, &other.path().join("file")), &observer).unwrap();

    let mut totals = Vec::new();
    for (step, home) in states.each() {
        let before: Vec<String> =
            complaints(&home).into_iter().filter(|found| !found.starts_with("restore: ")).collect();
        assert!(
            before.is_empty(),
            "the doctor says nothing but that a restore is unfinished, behind step {step}: {before:?}"
        );
        totals.push(total(&home));
        assert!(complaints(&home).is_empty(), "{step}: {:?}", complaints(&home));
        let left: Vec<String> = names(&home).into_iter().filter(|name| name.contains("unfinished")).collect();
        assert!(left.is_empty(), "{step}: {left:?}");
        let kept = names(&home).iter().filter(|name| name.contains(".before-restore.")).count();
        assert_eq!(
            kept,
            if totals.ends_with(&[3]) { 2 } else { 0 },
            "{step}: the old database and its key are kept: {:?}",
            names(&home)
        );
    }
    assert!(totals.is_sorted() && totals.starts_with(&[2]) && totals.ends_with(&[3]), "{totals:?}");
    assert!(totals.len() > 12, "{totals:?}");
}

#[test]
fn what_a_killed_restore_had_put_aside_is_whole() {
    let (root, other) = two_desks();
    let home = root.path().join("home");
    let (states, observer) = States::of(&home);
    restore(&restoring(&home, &other.path().join("file")), &observer).unwrap();
    let (_, home) = states.each().into_iter().rfind(|(step, _)| step.contains("aside")).unwrap();
    assert_eq!(total(&home), 3);

    let kept = names(&home).into_iter().find(|name| name.starts_with("avert.db.before-restore.")).unwrap();
    let key = names(&home).into_iter().find(|name| name.starts_with("secret.key.before-restore.")).unwrap();
    run_ok(&home, &["restore", home.join(kept).to_str().unwrap(), "--key", home.join(key).to_str().unwrap()]);

    assert_eq!(total(&home), 2);
}

fn backing_up(root: &Path, overwrite: bool) -> BackupOptions {
    BackupOptions {
        database: root.join("home/avert.db"),
        key_file: root.join("home/secret.key"),
        with_key: true,
        target: root.join("place/file"),
        overwrite,
    }
}

/// The files in a directory but those of the next backup, which has removed what an earlier one left.
fn behind_the_next(home: &Path, place: &Path) -> Vec<String> {
    run_ok(home, &["backup", place.join("next").to_str().unwrap()]);
    names(place).into_iter().filter(|name| !name.starts_with("next")).collect()
}

#[test]
fn a_backup_killed_behind_any_step_is_there_as_a_whole_or_not_at_all_behind_the_next() {
    let (root, _other) = two_desks();
    let (states, observer) = States::of(root.path());

    back_up(&backing_up(root.path(), false), &observer).unwrap();

    let mut made = Vec::new();
    for (step, root) in states.each() {
        let found = behind_the_next(&root.join("home"), &root.join("place"));
        assert!(found.is_empty() || found == ["file", "file.key", "file.sha256"], "{step}: {found:?}");
        made.push(!found.is_empty());
    }
    assert!(made.is_sorted() && made.starts_with(&[false]) && made.ends_with(&[true]), "{made:?}");
}

#[test]
fn the_backup_that_a_killed_one_was_to_replace_comes_back_or_the_new_one_does() {
    let (root, _other) = two_desks();
    back_up(&backing_up(root.path(), false), &|_| ()).unwrap();
    import(&root.path().join("home"), &alerts(3..=5));
    let (states, observer) = States::of(root.path());

    back_up(&backing_up(root.path(), true), &observer).unwrap();

    let mut totals = Vec::new();
    for (step, root) in states.each() {
        let elsewhere = tempfile::tempdir().unwrap();
        let told =
            run_ok(elsewhere.path(), &["restore", root.join("place/file").to_str().unwrap(), "--output", "json"]);
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap()["verified"], true, "{step}");
        totals.push(total(elsewhere.path()));
    }
    assert!(totals.is_sorted() && totals.starts_with(&[2]) && totals.ends_with(&[5]), "{totals:?}");
}

/// Everything in a directory and below, with sizes: what a kill can fall between.
fn listing(directory: &Path) -> Vec<(PathBuf, u64)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        all.push((entry.path(), entry.metadata().map_or(0, |there| there.len())));
        all.extend(listing(&entry.path()));
    }
    all.sort();
    all
}

/// Runs a command of the real binary and kills it when the directory has changed so many times; whether it was killed
/// before its end.
pub fn kill_behind(home: &Path, watched: &Path, changes: usize, arguments: &[&str]) -> bool {
    let mut seen = listing(watched);
    let mut child = avert(home, arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut left = changes;
    while child.try_wait().unwrap().is_none() {
        let now = listing(watched);
        if now != seen {
            seen = now;
            left -= 1;
        }
        if left == 0 {
            child.kill().unwrap();
            break;
        }
    }
    !child.wait().unwrap().success()
}

#[test]
fn the_binary_killed_while_it_restores_leaves_the_old_state_or_the_new_one() {
    let (original, other) = two_desks();
    import(other.path(), &alerts(4..=300));
    let file = other.path().join("file");
    run_ok(other.path(), &["backup", "--force", file.to_str().unwrap()]);
    let mut killed = 0;

    for changes in 1..=10 {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        copy_all(&original.path().join("home"), &home);

        killed += usize::from(kill_behind(&home, &home, changes, &["restore", file.to_str().unwrap()]));

        let total = total(&home);
        assert!(total == 2 || total == 300, "killed behind change {changes}: {total}");
        assert!(complaints(&home).is_empty(), "killed behind change {changes}: {:?}", complaints(&home));
    }
    assert!(killed > 0, "some were killed before their end");
}

#[test]
fn the_binary_killed_while_it_backs_up_leaves_nothing_behind_the_next() {
    let (original, _other) = two_desks();
    let mut killed = 0;

    for changes in 1..=8 {
        let root = tempfile::tempdir().unwrap();
        copy_all(original.path(), root.path());
        let (home, place) = (root.path().join("home"), root.path().join("place"));

        killed += usize::from(kill_behind(&home, &place, changes, &["backup", place.join("file").to_str().unwrap()]));

        let found = behind_the_next(&home, &place);
        assert!(
            found.is_empty() || found == ["file", "file.key", "file.sha256"],
            "killed behind change {changes}: {found:?}"
        );
        assert!(complaints(&home).is_empty(), "killed behind change {changes}: {:?}", complaints(&home));
    }
    assert!(killed > 0, "some were killed before their end");
}
