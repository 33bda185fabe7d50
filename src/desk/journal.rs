//! The desk journal: what was decided on this workstation, one line of JSON for each step, on the disk before the next
//! step is taken. What a console had begun when it ended without finishing is found in it at the next start.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::Duration;
use uuid::Uuid;

use super::file::{DeskError, make_directory, private, replace, set_torn_line_aside, turn};
use super::history::{History, LeftDecision};
use super::journal_steps::{JournalAlert, JournalEntry, JournalStep};
use crate::domain::Timestamp;
use crate::domain::time::{SharedClock, from_iso, to_iso};

/// Retention of the journal's lines.
const KEPT: Duration = Duration::days(90);

/// Work that earlier consoles had begun and not finished when they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leftovers {
    /// Decisions that were made and did not leave, the oldest first.
    pub unsent: Vec<LeftDecision>,
    /// Decisions that left and whose answer never came.
    pub unanswered: Vec<LeftDecision>,
    /// Alerts with text in a form that was open.
    pub texts: Vec<JournalAlert>,
    /// Texts and choices that were lost with the last of them, in words.
    pub lost: Vec<String>,
}

impl Leftovers {
    /// Returns whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.unsent.is_empty() && self.unanswered.is_empty() && self.texts.is_empty() && self.lost.is_empty()
    }
}

/// The journal of a desk, open for one console.
#[derive(Clone)]
pub struct Journal {
    directory: PathBuf,
    session: Uuid,
    place: String,
    user: Option<String>,
    clock: SharedClock,
    /// Locked for as long as this console lives; none where nothing can be written.
    _alive: Option<Arc<File>>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").field("path", &self.path()).field("session", &self.session).finish_non_exhaustive()
    }
}

impl Journal {
    /// Opens the journal for a console on this place. A torn last line is set aside, and lines beyond the retention are
    /// pruned. Returns what earlier consoles on this place left unfinished.
    pub(super) fn open(
        directory: &Path,
        place: &str,
        user: Option<&str>,
        clock: SharedClock,
    ) -> Result<(Self, Leftovers), DeskError> {
        let session = Uuid::now_v7();
        let opened = Self::open_as(session, directory, place, user, clock);
        if opened.is_err() {
            // It is tried again, maybe for long: no try leaves a file behind.
            let _ = fs::remove_file(session_path(directory, session));
        }
        opened
    }

    fn open_as(
        session: Uuid,
        directory: &Path,
        place: &str,
        user: Option<&str>,
        clock: SharedClock,
    ) -> Result<(Self, Leftovers), DeskError> {
        let now = clock.now();
        let unread = |error: &io::Error| failed(directory, "read", error);
        let open = move || -> io::Result<(Self, File)> {
            let alive =
                private(OpenOptions::new().create_new(true).write(true)).open(session_path(directory, session))?;
            alive.lock()?;
            let (place, user) = (place.to_owned(), user.map(str::to_owned));
            let (directory, alive) = (directory.to_owned(), Some(Arc::new(alive)));
            let journal = Self { directory, session, place, user, clock, _alive: alive };
            let turn = journal.turn()?;
            Ok((journal, turn))
        };
        make_directory(&directory.join("sessions"))?;
        let unwritten = |error: &io::Error| failed(directory, "written", error);
        let (journal, _turn) = open().map_err(|error| unwritten(&error))?;
        let mut file = private(OpenOptions::new().create(true).read(true).append(true))
            .open(journal.path())
            .and_then(|mut file| set_torn_line_aside(&mut file, &journal.path()).map(|()| file))
            .map_err(|error| unwritten(&error))?;
        file.seek(SeekFrom::Start(0)).map_err(|error| unread(&error))?;
        // Line by line: the text of months is not held.
        let (mut has_old, mut broken) = (false, None);
        let lines = BufReader::new(file).split(b'\n').map_while(|line| line.map_err(|error| broken = Some(error)).ok());
        let entries = lines.filter_map(|line| serde_json::from_slice(&line).ok());
        let leftovers = journal.leftovers(entries.filter(|entry| {
            let is_old = is_old(entry, now);
            has_old |= is_old;
            !is_old
        }));
        if let Some(error) = broken {
            return Err(unread(&error));
        }
        if has_old {
            journal.prune(now).map_err(|error| unwritten(&error))?;
        }
        journal.sweep_sessions();
        Ok((journal, leftovers))
    }

    /// The journal of a desk on which nothing can be written: what consoles that can write there decided is known all
    /// the same.
    pub(super) fn only_read(directory: &Path, place: &str, user: Option<&str>, clock: SharedClock) -> Self {
        let (directory, place, user) = (directory.to_owned(), place.to_owned(), user.map(str::to_owned));
        Self { directory, session: Uuid::now_v7(), place, user, clock, _alive: None }
    }

    /// Path of the file.
    pub(super) fn path(&self) -> PathBuf {
        path(&self.directory)
    }

    /// Tells the lines of this console from those of others.
    pub fn session(&self) -> Uuid {
        self.session
    }

    /// The profile or deployment that it is open for.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Reads the entries of every console.
    pub fn read(&self) -> Result<WholeJournal, DeskError> {
        read_whole(&self.directory)
    }

    /// Writes a step. One that a later step rests on is on the disk before this returns.
    pub fn append(&self, step: JournalStep) -> Result<(), DeskError> {
        self.append_all(vec![step])
    }

    /// Writes steps, all at once, and has them on the disk before it returns.
    pub fn append_all(&self, steps: Vec<JournalStep>) -> Result<(), DeskError> {
        self.append_at(steps, self.clock.now())
    }

    /// Writes steps that were taken before there was anywhere to write them, each at its time.
    pub fn append_entries(&self, entries: &[JournalEntry]) -> Result<(), DeskError> {
        let append = || self.write_entries(entries, &self.turn()?);
        append().map_err(|error| failed(&self.directory, "written", &error))
    }

    fn append_at(&self, steps: Vec<JournalStep>, now: Timestamp) -> Result<(), DeskError> {
        let append = || self.write(steps, now, &self.turn()?);
        append().map_err(|error| failed(&self.directory, "written", &error))
    }

    /// Writes steps in this console's turn.
    fn write(&self, steps: Vec<JournalStep>, now: Timestamp, turn: &File) -> io::Result<()> {
        let entry = |step| JournalEntry {
            at: to_iso(now),
            session: self.session,
            place: self.place.clone(),
            user: self.user.clone(),
            step,
        };
        self.write_entries(&steps.into_iter().map(entry).collect::<Vec<_>>(), turn)
    }

    fn write_entries(&self, entries: &[JournalEntry], _turn: &File) -> io::Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let is_binding = entries.iter().any(|entry| entry.step.is_binding());
        let mut lines = String::new();
        for entry in entries {
            lines.push_str(&serde_json::to_string(entry)?);
            lines.push('\n');
        }
        let mut file = private(OpenOptions::new().create(true).read(true).append(true)).open(self.path())?;
        set_torn_line_aside(&mut file, &self.path())?;
        file.write_all(lines.as_bytes())?;
        if is_binding { file.sync_data() } else { Ok(()) }
    }

    /// The turn to write: consoles on one desk take it one after the other.
    fn turn(&self) -> io::Result<File> {
        turn(&self.directory.join("journal.lock"))
    }

    /// Drops the lines beyond the retention, in one step; what cannot be read stays.
    fn prune(&self, now: Timestamp) -> io::Result<()> {
        let bytes = fs::read(self.path())?;
        let is_kept = |line: &&[u8]| !serde_json::from_slice(line).is_ok_and(|entry| is_old(&entry, now));
        let kept: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').filter(is_kept).collect();
        replace(&self.directory, &self.path(), kept.concat())
    }

    /// Finds the unfinished work of consoles on this place that are gone.
    fn leftovers(&self, entries: impl Iterator<Item = JournalEntry>) -> Leftovers {
        let mut alive: HashMap<Uuid, bool> = HashMap::new();
        let mut lives = |session| *alive.entry(session).or_insert_with(|| self.is_alive(session));
        let mut history = History::default();
        let mut texts: Vec<JournalAlert> = Vec::new();
        // Once another console has written, what was lost was read.
        let (mut lost, mut last) = (Vec::new(), None);
        for entry in entries.filter(|entry| entry.place == self.place) {
            let lives = lives(entry.session);
            if last.replace(entry.session) != Some(entry.session) {
                lost.clear();
            }
            lost.extend(entry.step.lost_words().filter(|_| !lives).map(str::to_owned));
            match &entry.step {
                JournalStep::Typing { alert } => {
                    texts.retain(|other| other.id != alert.id);
                    if !lives {
                        texts.push(alert.clone());
                    }
                }
                JournalStep::Closed { alert } => texts.retain(|other| other.id != *alert),
                _ => {}
            }
            history.take(entry);
        }
        let (unanswered, unsent) = history.left(Some(&self.place), lives);
        Leftovers { unsent, unanswered, texts, lost }
    }

    /// Returns whether the console that wrote under this number still runs: it holds the lock on its own file.
    fn is_alive(&self, session: Uuid) -> bool {
        session == self.session || is_locked(&session_path(&self.directory, session))
    }

    /// Removes the files of consoles that are gone.
    fn sweep_sessions(&self) {
        let own = session_path(&self.directory, self.session);
        let files =
            fs::read_dir(self.directory.join("sessions")).into_iter().flatten().flatten().map(|entry| entry.path());
        for gone in files.filter(|path| *path != own && !is_locked(path)) {
            // One that stays is swept the next time.
            let _ = fs::remove_file(gone);
        }
    }
}

/// A journal as it was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WholeJournal {
    pub entries: Vec<JournalEntry>,
    /// The lines that cannot be read, by their numbers in the file, from 1: what they tell is not known.
    pub unreadable: Vec<usize>,
}

/// Reads the journal of a desk. Lines that cannot be read are told by their numbers; an incomplete last line is left
/// out.
pub fn read_whole(directory: &Path) -> Result<WholeJournal, DeskError> {
    let read = || -> io::Result<WholeJournal> {
        let mut read = WholeJournal::default();
        let file = match File::open(path(directory)) {
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
    };
    read().map_err(|error| failed(directory, "read", &error))
}

/// Reads the history of a desk, and the numbers of the lines that cannot be read. A decision that never leaves, because
/// its console is gone, is told as such from now on: the journal may not hold its end yet.
pub fn read_history(directory: &Path, now: Timestamp) -> Result<(History, Vec<usize>), DeskError> {
    // Before the journal is read: whatever one that is gone wrote is in it. And after: whatever is in it of one that
    // began meanwhile is of one that runs.
    let mut live = live_sessions(directory);
    let WholeJournal { entries, unreadable } = read_whole(directory)?;
    live.extend(live_sessions(directory));
    let mut history = History::of(entries);
    let (_, unsent) = history.left(None, |session| live.contains(&session));
    unsent.iter().for_each(|left| history.never_left(&left.key, now));
    Ok((history, unreadable))
}

/// The consoles of a desk that run: each holds the lock on its own file.
fn live_sessions(directory: &Path) -> Vec<Uuid> {
    let files = fs::read_dir(directory.join("sessions")).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|path| is_locked(path)).filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

/// The journal's file in the directory of a desk.
pub const FILE: &str = "journal.ndjson";

/// Returns whether an entry is beyond the retention.
fn is_old(entry: &JournalEntry, now: Timestamp) -> bool {
    from_iso(&entry.at).is_some_and(|at| now - at > KEPT)
}

fn path(directory: &Path) -> PathBuf {
    directory.join(FILE)
}

fn session_path(directory: &Path, session: Uuid) -> PathBuf {
    directory.join("sessions").join(session.to_string())
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
}

/// Error of a journal that cannot be `read` or `written`.
fn failed(directory: &Path, done: &str, error: &io::Error) -> DeskError {
    DeskError::failed(&path(directory), &format!("cannot be {done}"), error)
}

#[cfg(test)]
mod tests;
