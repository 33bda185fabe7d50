//! Liveness of processes by lock files: each holds a lock on a file of its own. A file that is gone, or with a lock
//! that can be taken, belongs to a dead one.
//!
//! A turnstile between processes that write: a lock file that each goes through before it begins. So a process that
//! writes without a pause (an import) keeps nobody out. SQLite itself has no queue: a process that asks again at once
//! is first.

use std::{
    fs::{self, File, TryLockError},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::OnceLock,
    thread::sleep,
    time::{Duration, Instant},
};

use super::files::{directory_of, is_regular, make_file, make_private, open_or_make};
use crate::{RefusalCause, domain::InstanceId};

/// This process's own lock, and the directory with everybody's.
#[derive(Debug)]
pub(crate) struct Instances {
    directory: PathBuf,
    own: InstanceId,
    /// Locked until it is dropped; nothing where it could not be made yet.
    lock: OnceLock<File>,
}

impl Instances {
    /// Announces this process as alive, and removes what dead ones left. Where nothing can be written it is done before
    /// the first write.
    pub(super) fn announce(directory: &Path, own: InstanceId) -> io::Result<Self> {
        let instances = Self { directory: directory.to_owned(), own, lock: OnceLock::new() };
        match instances.announce_once() {
            Err(error) if RefusalCause::of_io(&error).is_none() && error.kind() != ErrorKind::PermissionDenied => {
                Err(error)
            }
            _ => Ok(instances),
        }
    }

    /// Announces this process, unless it has been: others would take the work of one that is not for a dead one's.
    pub(super) fn announce_once(&self) -> io::Result<()> {
        if self.lock.get().is_none() {
            // Only the writer comes here once the store is open.
            let _ = self.lock.set(make_locked(&lock_path(&self.directory, self.own))?);
            self.remove_dead();
        }
        Ok(())
    }

    /// Returns whether that process is provably gone.
    pub(crate) fn is_dead(&self, instance: InstanceId) -> bool {
        instance != self.own && is_free(&lock_path(&self.directory, instance))
    }

    /// Returns whether another process lives on this data directory.
    pub(super) fn are_others_alive(&self) -> bool {
        census(&self.directory).0 > 1
    }

    /// Returns whether another process serves on this data directory, and this one does not.
    pub(crate) fn is_beside_service(&self) -> bool {
        !self.own.is_serving() && self.locks().any(|(instance, path)| instance.is_serving() && !is_free(&path))
    }

    /// A missing file says the same as one that nobody holds, so the latter need not stay.
    fn remove_dead(&self) {
        for (_, path) in self.locks().filter(|(instance, _)| self.is_dead(*instance)) {
            // Left for the next start where it cannot be removed.
            let _ = fs::remove_file(&path);
        }
    }

    /// The lock files of all processes, those of dead ones among them.
    fn locks(&self) -> impl Iterator<Item = (InstanceId, PathBuf)> {
        lock_files(&self.directory)
            .into_iter()
            .filter_map(|path| Some((path.file_stem()?.to_str()?.parse().ok()?, path)))
    }
}

impl Drop for Instances {
    fn drop(&mut self) {
        if self.lock.get().is_some() {
            let _ = fs::remove_file(lock_path(&self.directory, self.own));
        }
    }
}

/// Directory of the locks of a database's processes.
pub(super) fn instances_of(database: &Path) -> PathBuf {
    database.with_file_name("instances")
}

/// A shared or exclusive lock on a data directory: shared by who has the database open, exclusive for who replaces it.
#[derive(Debug)]
pub(super) struct Gate {
    /// Locked until it is dropped: shared by those inside, alone by who shuts it.
    lock: File,
}

impl Gate {
    /// Goes in; `None` while it is shut.
    pub(super) fn enter(instances: &Path) -> io::Result<Option<Self>> {
        Self::take(instances, File::try_lock_shared)
    }

    /// Shuts it; `None` while another process is inside.
    pub(super) fn shut(instances: &Path) -> io::Result<Option<Self>> {
        Self::take(instances, File::try_lock)
    }

    /// Shuts it from inside; false where another process is inside too, and then this one is not any more.
    pub(super) fn shut_behind(&self) -> io::Result<bool> {
        is_locked(self.lock.try_lock())
    }

    /// Opens it again for others.
    pub(super) fn open_behind(&self) -> io::Result<()> {
        self.lock.try_lock_shared().map_err(io::Error::other)
    }

    fn take(instances: &Path, lock: impl Fn(&File) -> Result<(), TryLockError>) -> io::Result<Option<Self>> {
        make_private(instances)?;
        let file = lock_file(&instances.join("gate"))?;
        Ok(is_locked(lock(&file))?.then_some(Self { lock: file }))
    }
}

/// Returns whether a file was locked: not where another process has it.
fn is_locked(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a file that is there to be locked, making it where it is missing.
fn lock_file(path: &Path) -> io::Result<File> {
    if path.exists() && !is_regular(path) {
        return Err(io::Error::new(ErrorKind::InvalidInput, format!("{} is no file", path.display())));
    }
    // A directory that cannot be written still allows a lock to be taken.
    open_or_make(path).or_else(|error| File::open(path).map_err(|_| error))
}

/// Counts the processes that live on a data directory, and those that left their file behind. Changes nothing.
pub(super) fn census(instances: &Path) -> (usize, usize) {
    let locks = lock_files(instances);
    let dead = locks.iter().filter(|path| is_free(path)).count();
    (locks.len() - dead, dead)
}

fn lock_files(directory: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.extension().is_some_and(|found| found == "lock") && is_regular(path)).collect()
}

/// Makes a file that is locked until it is dropped. Others look at extensions: the name appears when the lock is held.
fn make_locked(path: &Path) -> io::Result<File> {
    make_private(directory_of(path))?;
    let name = path.file_stem().unwrap_or_default().display();
    let preparing = path.with_file_name(format!(".{name}.new"));
    let file = make_file(&preparing)?;
    file.try_lock()?;
    fs::rename(&preparing, path)?;
    Ok(file)
}

fn lock_path(directory: &Path, instance: InstanceId) -> PathBuf {
    directory.join(format!("{instance}.lock"))
}

/// A shared lock, so that two who look at once do not take each other for the owner.
fn is_free(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock_shared().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// Longest wait for a turn, after which a process writes without one: a process that was stopped in the turnstile must
/// not stop everybody.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Interval between two attempts at the lock.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The turnstile, as this process sees it.
#[derive(Debug)]
pub(super) struct Turnstile(pub(super) File);

/// A place in the turnstile: its holder is the next to write.
#[derive(Debug)]
pub(super) struct WriteTurn<'a>(Option<&'a File>);

impl Turnstile {
    /// Opens it, making its file in the directory of the instances where it is missing.
    pub(super) fn open(instances: &Path) -> io::Result<Self> {
        lock_file(&instances.join("turn")).map(Self)
    }

    /// Waits until nobody else is in it.
    pub(super) fn enter(&self) -> WriteTurn<'_> {
        let begin = Instant::now();
        loop {
            match self.0.try_lock() {
                Ok(()) => return WriteTurn(Some(&self.0)),
                Err(TryLockError::WouldBlock) if begin.elapsed() < LONGEST_WAIT => sleep(LOOK_EVERY),
                // Without a turn the database's own lock still keeps writers apart.
                Err(_) => return WriteTurn(None),
            }
        }
    }
}

impl Drop for WriteTurn<'_> {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.0.map(File::unlock) {
            tracing::warn!(%error, "the turn to write could not be given back");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn an_instance_lives_as_long_as_it_holds_its_lock() {
        let directory = tempfile::tempdir().unwrap();
        let first = Instances::announce(directory.path(), InstanceId::generate()).unwrap();
        let second = Instances::announce(directory.path(), InstanceId::generate()).unwrap();
        let id = first.own;

        let alive = second.is_dead(id);
        drop(first);
        let gone = second.is_dead(id);

        assert!(!alive);
        assert!(gone);
        assert!(!second.is_dead(second.own));
    }

    #[test]
    fn a_service_is_seen_by_the_others_for_as_long_as_it_lives() {
        let directory = tempfile::tempdir().unwrap();
        let announce = |own| Instances::announce(directory.path(), own).unwrap();
        let (console, command) = (announce(InstanceId::generate()), announce(InstanceId::generate()));
        let alone = console.is_beside_service();

        let [service, second] = [InstanceId::serving(), InstanceId::serving()].map(announce);
        let beside = [&console, &command, &service, &second].map(Instances::is_beside_service);
        drop(service);
        let one_left = console.is_beside_service();
        drop(second);

        assert!(!alone);
        assert_eq!(beside, [true, true, false, false]);
        assert!(one_left && !console.is_beside_service());
    }

    #[test]
    fn the_gate_lets_many_in_and_is_shut_only_when_nobody_is_inside() {
        let directory = tempfile::tempdir().unwrap();
        let first = Gate::enter(directory.path()).unwrap().expect("open");
        let second = Gate::enter(directory.path()).unwrap().expect("open for a second one");

        assert!(Gate::shut(directory.path()).unwrap().is_none());
        drop(first);
        assert!(Gate::shut(directory.path()).unwrap().is_none());
        drop(second);
        let shut = Gate::shut(directory.path()).unwrap().expect("nobody is inside");
        assert!(Gate::enter(directory.path()).unwrap().is_none());
        drop(shut);
        assert!(Gate::enter(directory.path()).unwrap().is_some());
    }

    #[test]
    fn whoever_is_inside_alone_can_shut_the_gate_behind_itself_and_open_it_again() {
        let directory = tempfile::tempdir().unwrap();
        let inside = Gate::enter(directory.path()).unwrap().expect("open");

        assert!(inside.shut_behind().unwrap());
        assert!(Gate::enter(directory.path()).unwrap().is_none());
        inside.open_behind().unwrap();
        let other = Gate::enter(directory.path()).unwrap().expect("open again");
        assert!(!inside.shut_behind().unwrap());
        drop(other);
        assert!(inside.shut_behind().unwrap());
    }

    #[test]
    fn the_file_of_a_process_that_was_killed_is_recognised_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let killed = InstanceId::generate();
        let left = lock_path(directory.path(), killed);
        fs::write(&left, "").unwrap();
        let living = Instances::announce(directory.path(), InstanceId::generate()).unwrap();

        assert!(living.is_dead(killed));
        assert!(!left.exists());
        assert!(lock_path(directory.path(), living.own).exists());
    }

    #[test]
    fn nobody_goes_in_before_who_is_in_the_turnstile_has_left() {
        let directory = tempfile::tempdir().unwrap();
        let (first, second) = (Turnstile::open(directory.path()).unwrap(), Turnstile::open(directory.path()).unwrap());
        let (tell, told) = channel();
        let turn = first.enter();

        let waiting = std::thread::spawn(move || {
            let turn = second.enter();
            tell.send(()).unwrap();
            drop(turn);
        });
        let before = told.try_recv();
        drop(turn);

        assert!(before.is_err());
        waiting.join().unwrap();
        assert_eq!(told.try_recv(), Ok(()));
        assert!(first.0.try_lock().is_ok());
    }

    #[test]
    fn a_turn_that_never_comes_is_not_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let (stopped, other) = (Turnstile::open(directory.path()).unwrap(), Turnstile::open(directory.path()).unwrap());
        let _never_given_back = stopped.enter();

        let turn = other.enter();

        assert!(turn.0.is_none());
    }
}
