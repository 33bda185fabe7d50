//! The journal files of a desk: one line of JSON for each step of an answer, on the disk before the next step is taken.
//! Each process that runs writes a file of its own and holds it locked. Files of processes that have ended are merged
//! into one.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File, OpenOptions},
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use chrono::Duration;
use serde::Deserialize;
use uuid::Uuid;

use super::{
    fold::{History, LeftDecision},
    steps::{JournalEntry, JournalStep},
};
use crate::{
    domain::{
        Timestamp,
        time::{SharedClock, from_iso, to_iso},
    },
    file::{DeskError, make_directory, private, replace, set_torn_line_aside, turn},
};

/// Retention of the journal's lines.
const KEPT: Duration = Duration::days(90);

/// The file of all processes that have ended, in the directory of a desk.
pub const FILE: &str = "journal.ndjson";

/// The directory of the files of those that run.
const RUNNING: &str = "journal";

/// Work that earlier consoles had begun and not finished when they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Decisions that were made and did not leave, the oldest first.
    pub unsent: Vec<LeftDecision>,
    /// Decisions that were sent and whose reply never came.
    pub unanswered: Vec<LeftDecision>,
    /// Texts and choices that were lost with the last of them, in words.
    pub lost: Vec<String>,
}

impl Leftovers {
    /// Returns whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.unsent.is_empty() && self.unanswered.is_empty() && self.lost.is_empty()
    }
}

/// The journal of a desk, open for one process. Clones write the same file.
#[derive(Clone)]
pub struct Journal {
    directory: PathBuf,
    session: Uuid,
    place: String,
    user: Option<String>,
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

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("path", &self.path()).field("session", &self.session).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens the journal for a process on this place. What those that have ended wrote is merged, and lines beyond the
    /// retention are pruned. Returns what they left unfinished on this place.
    pub(crate) fn open(
        directory: &Path,
        place: &str,
        user: Option<&str>,
        clock: SharedClock,
    ) -> Result<(Self, Leftovers), DeskError> {
        let session = Uuid::now_v7();
        let path = running_path(directory, session);
        let opened = Self::open_as(session, &path, directory, place, user, clock);
        if opened.is_err() {
            // It is tried again, maybe for long: no try leaves a file behind.
            let _ = fs::remove_file(path);
        }
        opened
    }

    fn open_as(
        session: Uuid,
        path: &Path,
        directory: &Path,
        place: &str,
        user: Option<&str>,
        clock: SharedClock,
    ) -> Result<(Self, Leftovers), DeskError> {
        make_directory(&directory.join(RUNNING))?;
        let unwritten = |error: io::Error| failed(directory, "written", &error);
        let file = private(OpenOptions::new().create_new(true).read(true).append(true)).open(path);
        let file = file.and_then(|file| file.lock().map(|()| file)).map_err(unwritten)?;
        let now = clock.now();
        merge_ended(directory, now).map_err(unwritten)?;
        let own = Some(Arc::new(Mutex::new(OwnFile { file, merged: directory.join(FILE), unwritten: String::new() })));
        let (place, user) = (place.to_owned(), user.map(str::to_owned));
        let journal = Self { directory: directory.to_owned(), session, place, user, clock, own };
        let leftovers = journal.leftovers(journal.read()?.entries);
        Ok((journal, leftovers))
    }

    /// The journal of a desk on which nothing can be written: what others decided there is known all the same.
    pub(crate) fn only_read(directory: &Path, place: &str, user: Option<&str>, clock: SharedClock) -> Self {
        let (directory, place, user) = (directory.to_owned(), place.to_owned(), user.map(str::to_owned));
        Self { directory, session: Uuid::now_v7(), place, user, clock, own: None }
    }

    /// Path of the file of all processes that have ended.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join(FILE)
    }

    /// Tells the lines of this process from those of others.
    pub fn session(&self) -> Uuid {
        self.session
    }

    /// Reads the entries of every process.
    pub fn read(&self) -> Result<WholeJournal, DeskError> {
        read_whole(&self.directory)
    }

    /// Writes a step. One that a later step rests on is on the disk before this returns.
    pub fn append(&self, step: JournalStep) -> Result<(), DeskError> {
        self.append_all(vec![step])
    }

    /// Writes steps, all at once, and has them on the disk before it returns. Steps that cannot be written are held,
    /// and written before the next ones.
    pub fn append_all(&self, steps: Vec<JournalStep>) -> Result<(), DeskError> {
        self.append_at(steps, self.clock.now())
    }

    fn append_at(&self, steps: Vec<JournalStep>, now: Timestamp) -> Result<(), DeskError> {
        let entry = |step| JournalEntry {
            at: to_iso(now),
            session: self.session,
            place: self.place.clone(),
            user: self.user.clone(),
            step,
        };
        self.append_entries(&steps.into_iter().map(entry).collect::<Vec<_>>())
    }

    /// Writes steps that were taken before there was anywhere to write them, each at its time.
    pub fn append_entries(&self, entries: &[JournalEntry]) -> Result<(), DeskError> {
        let append = || {
            let own = self.own.as_ref().ok_or(io::ErrorKind::ReadOnlyFilesystem)?;
            own.lock().unwrap_or_else(PoisonError::into_inner).append(entries)
        };
        append().map_err(|error| failed(&self.directory, "written", &error))
    }

    /// Finds the unfinished work of processes on this place that have ended.
    fn leftovers(&self, entries: Vec<JournalEntry>) -> Leftovers {
        let live = running(&self.directory);
        let lives = |session| live.contains(&session);
        let mut history = History::default();
        // Once another console has written, what was lost was read.
        let (mut lost, mut last) = (Vec::new(), None);
        for entry in entries.into_iter().filter(|entry| entry.place == self.place) {
            let lives = lives(entry.session);
            if last.replace(entry.session) != Some(entry.session) {
                lost.clear();
            }
            lost.extend(entry.step.lost_words().filter(|_| !lives).map(str::to_owned));
            history.take(entry);
        }
        let (unanswered, unsent) = history.left(Some(&self.place), lives);
        Leftovers { unsent, unanswered, lost }
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
        if entries.iter().any(|entry| entry.step.is_binding()) { self.file.sync_data() } else { Ok(()) }
    }
}

/// Merges the files of processes that have ended into one: their lines are on the disk there before a file is removed.
/// Lines beyond the retention are pruned.
fn merge_ended(directory: &Path, now: Timestamp) -> io::Result<()> {
    let merged_path = directory.join(FILE);
    let _turn = turn(&directory.join("journal.lock"))?;
    let mut merged = private(OpenOptions::new().create(true).read(true).append(true)).open(&merged_path)?;
    set_torn_line_aside(&mut merged, &merged_path)?;
    let (counts, mut has_old) = count_lines(&merged_path, now)?;
    for (session, path) in files_of_running(directory) {
        let mut ended = OpenOptions::new().read(true).append(true).open(&path)?;
        if ended.try_lock().is_err() {
            continue;
        }
        set_torn_line_aside(&mut ended, &merged_path)?;
        let bytes = fs::read(&path)?;
        // A merge that was broken off has the first of them already.
        let lines = bytes.split_inclusive(|byte| *byte == b'\n').skip(counts.get(&session).copied().unwrap_or(0));
        let lines: Vec<&[u8]> = lines.collect();
        if !lines.is_empty() {
            has_old |= lines.iter().any(|line| is_old(line, now));
            merged.write_all(&lines.concat())?;
            merged.sync_data()?;
        }
        fs::remove_file(&path)?;
    }
    if has_old { prune(directory, now) } else { Ok(()) }
}

/// Counts the lines of each session, and tells whether some are beyond the retention.
fn count_lines(path: &Path, now: Timestamp) -> io::Result<(HashMap<Uuid, usize>, bool)> {
    let (mut counts, mut has_old) = (HashMap::new(), false);
    for line in BufReader::new(File::open(path)?).split(b'\n') {
        if let Ok(line) = serde_json::from_slice::<StampedLine>(&line?) {
            *counts.entry(line.session).or_default() += 1;
            has_old |= line.is_old(now);
        }
    }
    Ok((counts, has_old))
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
    at: String,
    session: Uuid,
}

impl StampedLine {
    fn is_old(&self, now: Timestamp) -> bool {
        from_iso(&self.at).is_some_and(|at| now - at > KEPT)
    }
}

/// A journal as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WholeJournal {
    /// The entries, those of the process that began first in front.
    pub entries: Vec<JournalEntry>,
    /// The lines that cannot be read, by their numbers in the merged file, from 1: what they tell is not known.
    pub unreadable: Vec<usize>,
}

/// Reads the journal of a desk. Lines that cannot be read are told by their numbers; an incomplete last line is left
/// out.
pub fn read_whole(directory: &Path) -> Result<WholeJournal, DeskError> {
    let read = || -> io::Result<WholeJournal> {
        // One that ends and is merged meanwhile is read twice, and never not at all.
        let mut running = Vec::new();
        for (session, path) in files_of_running(directory) {
            running.push((session, read_lines(&path)?.entries));
        }
        let mut whole = read_lines(&directory.join(FILE))?;
        let mut merged: HashMap<Uuid, usize> = HashMap::new();
        whole.entries.iter().for_each(|entry| *merged.entry(entry.session).or_default() += 1);
        for (session, entries) in running {
            whole.entries.extend(entries.into_iter().skip(merged.get(&session).copied().unwrap_or(0)));
        }
        // A session's number tells when it began.
        whole.entries.sort_by_key(|entry| entry.session);
        Ok(whole)
    };
    read().map_err(|error| failed(directory, "read", &error))
}

fn read_lines(path: &Path) -> io::Result<WholeJournal> {
    let mut read = WholeJournal::default();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(read),
        Err(error) => return Err(error),
    };
    // Line by line: the text of months is not held beside its entries.
    let (mut file, mut line, mut number) = (BufReader::new(file), Vec::new(), 0);
    while file.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        number += 1;
        let whole = &line[..line.len() - 1];
        match serde_json::from_slice(whole) {
            Ok(entry) => read.entries.push(entry),
            Err(_) if whole.is_empty() => {}
            Err(_) => read.unreadable.push(number),
        }
        line.clear();
    }
    Ok(read)
}

/// Reads the history of a desk, and the numbers of the lines that cannot be read. A decision that never leaves, because
/// its console has ended, is told as such from now on: the journal may not hold its end yet.
pub fn read_history(directory: &Path, now: Timestamp) -> Result<(History, Vec<usize>), DeskError> {
    // Before the journal is read: whatever one that is gone wrote is in it. And after: whatever is in it of one that
    // began meanwhile is of one that runs.
    let mut live = running(directory);
    let WholeJournal { entries, unreadable } = read_whole(directory)?;
    live.extend(running(directory));
    let mut history = History::of(entries);
    let (_, unsent) = history.left(None, |session| live.contains(&session));
    unsent.iter().for_each(|left| history.never_left(&left.key, now));
    Ok((history, unreadable))
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
