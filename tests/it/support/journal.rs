//! The journal of a desk as its files have it.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use avert::desk::{Journal, JournalStep};

/// Writes steps of a decision into a journal.
pub fn write_steps(journal: &Journal, decision: &str, steps: impl IntoIterator<Item = JournalStep>) {
    let entries: Vec<_> = steps.into_iter().map(|step| journal.entry(Some(decision), step)).collect();
    journal.append(&entries).unwrap();
}

/// The lines of every process on a desk, those of the ones that have ended in front.
pub fn journal_text(desk: &Path) -> String {
    let running = std::fs::read_dir(desk.join("journal")).into_iter().flatten();
    let mut files: Vec<_> = running.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.insert(0, desk.join("journal.ndjson"));
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

/// Has a desk's journal be one that nobody can write.
pub fn break_journal(desk: &Path) {
    std::fs::create_dir_all(desk.join("journal.lock")).unwrap();
}

/// A shell's script that runs its arguments where no file can take a byte.
pub const ON_A_FULL_DISK: &str = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";

/// The same command where no file can take a byte.
pub fn on_a_full_disk(command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", ON_A_FULL_DISK, "sh"]).arg(command.get_program());
    shell.args(command.get_args()).stdin(Stdio::null());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    shell
}
