//! The journal files of a desk: one line of JSON for each step of an answer, on the disk before the next step is taken.
//! Each process that runs writes a file of its own and holds it locked. Files of processes that have ended are merged
//! into one.

use std::{
    collections::HashSet,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use chrono::Duration;
use serde::Deserialize;
use uuid::Uuid;

use super::{
    history::{History, Leftovers},
    steps::{JournalEntry, JournalStep, JournalWriter},
};
use crate::{
    domain::{Timestamp, time::SharedClock},
    file::{DeskError, LinesRead, make_directory, open_lines, private, read_lines, replace, set_torn_line_aside, turn},
};

/// Retention of the journal's lines.
const KEPT: Duration = Duration::days(90);

/// The file of all processes that have ended, in the directory of a desk.
pub const FILE: &str = "journal.ndjson";

/// The directory of the files of those that run.
const RUNNING: &str = "journal";

/// A journal as it was read: the entries of the process that began first in front, and the numbers of the lines in the
/// merged file that cannot be read.
pub type WholeJournal = LinesRead<JournalEntry>;

/// The journal of a desk, open for one process. Clones write the same file.
#[derive(Clone)]
pub struct Journal {
    directory: PathBuf,
    writer: JournalWriter,
    clock: SharedClock,
    /// None where nothing can be written.
    own: Option<Arc<Mutex<OwnFile>>>,
}

/// The file of this process, locked for as long as it lives.
struct OwnFile {
    file: File,
    /// Beside it half a line is set aside.
    merged: PathBuf,
    /// Whole lines that could not be written yet: they come before the next ones.
    unwritten: String,
}

impl Journal {
    /// Opens the journal for a process on this place. What those that have ended wrote is merged, and lines beyond the
    /// retention are pruned.
    pub fn open(directory: &Path, place: &str, user: Option<&str>, clock: SharedClock) -> Result<Self, DeskError> {
        let mut journal = Self::only_read(directory, place, user, clock);
        let path = running_path(directory, journal.session());
        let begun = journal.begin(&path);
        if begun.is_err() {
            // It is tried again, maybe for long: no try leaves a file behind.
            let _ = fs::remove_file(path);
        }
        begun.map(|()| journal)
    }

    /// The journal of a desk on which nothing can be written: what others decided there is known all the same.
    pub(crate) fn only_read(directory: &Path, place: &str, user: Option<&str>, clock: SharedClock) -> Self {
        let (directory, place, user) = (directory.to_owned(), place.to_owned(), user.map(str::to_owned));
        Self { directory, writer: JournalWriter { session: Uuid::now_v7(), place, user }, clock, own: None }
    }

    /// Begins the file of this process.
    fn begin(&mut self, path: &Path) -> Result<(), DeskError> {
        make_directory(&self.directory.join(RUNNING))?;
        let begin = || -> io::Result<File> {
            let file = private(OpenOptions::new().create_new(true).read(true).append(true)).open(path)?;
            file.lock()?;
            merge_ended(&self.directory, self.clock.now())?;
            Ok(file)
        };
        let file = begin().map_err(|error| failed(&self.directory, "written", &error))?;
        let (merged, unwritten) = (self.directory.join(FILE), String::new());
        self.own = Some(Arc::new(Mutex::new(OwnFile { file, merged, unwritten })));
        Ok(())
    }

    /// Reads what processes that have ended left unfinished on this place.
    pub fn leftovers(&self) -> Result<Leftovers, DeskError> {
        let (whole, live) = read_with_live(&self.directory)?;
        let here = whole.entries.into_iter().filter(|entry| entry.place == self.writer.place);
        Ok(History::of(here).left(|session| live.contains(&session)))
    }

    /// Tells the lines of this process from those of others.
    pub fn session(&self) -> Uuid {
        self.writer.session
    }

    /// Reads the entries of every process.
    pub fn read(&self) -> Result<WholeJournal, DeskError> {
        read_whole(&self.directory)
    }

    /// The line of a step that is taken now.
    pub fn entry(&self, decision: Option<&str>, step: JournalStep) -> JournalEntry {
        self.writer.entry(self.clock.now(), decision.map(str::to_owned), step)
    }

    /// Writes lines, all at once. Where a later step rests on one of them they are on the disk before this returns.
    /// Lines that cannot be written are held, and written before the next ones.
    pub fn append(&self, entries: &[JournalEntry]) -> Result<(), DeskError> {
        let append = || {
            let own = self.own.as_ref().ok_or(io::ErrorKind::ReadOnlyFilesystem)?;
            own.lock().unwrap_or_else(PoisonError::into_inner).append(entries)
        };
        append().map_err(|error| failed(&self.directory, "written", &error))
    }
}

impl OwnFile {
    fn append(&mut self, entries: &[JournalEntry]) -> io::Result<()> {
        for entry in entries {
            self.unwritten.push_str(&serde_json::to_string(entry)?);
            self.unwritten.push('\n');
        }
        if self.unwritten.is_empty() {
            return Ok(());
        }
        set_torn_line_aside(&mut self.file, &self.merged)?;
        self.file.write_all(self.unwritten.as_bytes())?;
        self.unwritten.clear();
        // Notifications may be lost with the machine.
        let is_binding = entries.iter().any(|entry| !matches!(entry.step, JournalStep::Notified(_)));
        if is_binding { self.file.sync_data() } else { Ok(()) }
    }
}

/// Merges the files of processes that have ended into one: their lines are on the disk there before a file is removed.
/// Lines beyond the retention are pruned.
fn merge_ended(directory: &Path, now: Timestamp) -> io::Result<()> {
    let merged_path = directory.join(FILE);
    let _turn = turn(&directory.join("journal.lock"))?;
    let mut merged = open_lines(&merged_path)?;
    set_torn_line_aside(&mut merged, &merged_path)?;
    let stamped = read_lines::<StampedLine>(&merged_path)?.entries;
    let mut has_old = stamped.iter().any(|line| line.is_old(now));
    for (session, path) in files_of_running(directory) {
        let mut ended = OpenOptions::new().read(true).append(true).open(&path)?;
        if ended.try_lock().is_err() {
            continue;
        }
        set_torn_line_aside(&mut ended, &merged_path)?;
        let bytes = fs::read(&path)?;
        // A merge that was broken off has the first of them already.
        let merged_before = stamped.iter().filter(|line| line.session == session).count();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').skip(merged_before).collect();
        if !lines.is_empty() {
            has_old |= lines.iter().any(|line| is_old(line, now));
            merged.write_all(&lines.concat())?;
            merged.sync_data()?;
        }
        fs::remove_file(&path)?;
    }
    if has_old { prune(directory, now) } else { Ok(()) }
}

/// Drops the lines beyond the retention, in one step; what cannot be read stays.
fn prune(directory: &Path, now: Timestamp) -> io::Result<()> {
    let path = directory.join(FILE);
    let bytes = fs::read(&path)?;
    let kept: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_old(line, now)).collect();
    replace(directory, &path, kept.concat())
}

/// The time and the session of a line, whatever its step.
#[derive(Deserialize)]
struct StampedLine {
    at: Timestamp,
    session: Uuid,
}

impl StampedLine {
    fn is_old(&self, now: Timestamp) -> bool {
        now - self.at > KEPT
    }
}

/// Reads the journal of a desk. Lines that cannot be read are told by their numbers; an incomplete last line is left
/// out.
pub fn read_whole(directory: &Path) -> Result<WholeJournal, DeskError> {
    let read = || -> io::Result<WholeJournal> {
        // One that ends and is merged meanwhile is read twice, and never not at all.
        let mut running = Vec::new();
        for (session, path) in files_of_running(directory) {
            running.push((session, read_lines::<JournalEntry>(&path)?.entries));
        }
        let mut whole = read_lines::<JournalEntry>(&directory.join(FILE))?;
        for (session, entries) in running {
            let merged = whole.entries.iter().filter(|entry| entry.session == session).count();
            whole.entries.extend(entries.into_iter().skip(merged));
        }
        // A session's number tells when it began.
        whole.entries.sort_by_key(|entry| entry.session);
        Ok(whole)
    };
    read().map_err(|error| failed(directory, "read", &error))
}

/// Reads the journal of a desk, and which processes run.
fn read_with_live(directory: &Path) -> Result<(WholeJournal, HashSet<Uuid>), DeskError> {
    // Before the journal is read: whatever one that is gone wrote is in it. And after: whatever is in it of one that
    // began meanwhile is of one that runs.
    let mut live = running(directory);
    let whole = read_whole(directory)?;
    live.extend(running(directory));
    Ok((whole, live))
}

/// Reads the history of a desk, and the numbers of the lines that cannot be read. A decision that never leaves, because
/// its console has ended, is told as such from now on: the journal may not hold its end yet.
pub fn read_history(directory: &Path, now: Timestamp) -> Result<(History, Vec<usize>), DeskError> {
    let (whole, live) = read_with_live(directory)?;
    let mut history = History::of(whole.entries);
    for left in history.left(|session| live.contains(&session)).unsent {
        history.take(JournalWriter::default().entry(now, Some(left.key), JournalStep::NeverLeft));
    }
    Ok((history, whole.unreadable))
}

/// The processes of a desk that run: each holds the lock on its own file.
fn running(directory: &Path) -> HashSet<Uuid> {
    files_of_running(directory).into_iter().filter(|(_, path)| is_locked(path)).map(|(session, _)| session).collect()
}

/// The files of those that run or have ended since the last merge, the first that began in front.
fn files_of_running(directory: &Path) -> Vec<(Uuid, PathBuf)> {
    let files = fs::read_dir(directory.join(RUNNING)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<(Uuid, PathBuf)> =
        files.filter_map(|path| Some((path.file_stem()?.to_str()?.parse().ok()?, path))).collect();
    files.sort();
    files
}

/// Returns true where a line is beyond the retention.
fn is_old(line: &[u8], now: Timestamp) -> bool {
    serde_json::from_slice(line).is_ok_and(|line: StampedLine| line.is_old(now))
}

fn running_path(directory: &Path, session: Uuid) -> PathBuf {
    directory.join(RUNNING).join(format!("{session}.ndjson"))
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

/// Error of a journal that cannot be `read` or `written`.
fn failed(directory: &Path, done: &str, error: &io::Error) -> DeskError {
    DeskError::failed(&directory.join(FILE), &format!("cannot be {done}"), error)
}

#[cfg(test)]
mod tests;
