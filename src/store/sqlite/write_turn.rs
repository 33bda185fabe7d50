//! A turnstile between processes that write: a lock file that each goes through before it begins. So a process that
//! writes without a pause (an import) keeps nobody out. SQLite itself has no queue: a process that asks again at once
//! is first.

use std::{
    fs::{File, TryLockError},
    io,
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use super::instance::lock_file;

/// Longest wait for a turn, after which a process writes without one: a process that was stopped in the turnstile must
/// not stop everybody.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Interval between two attempts at the lock.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// The turnstile, as this process sees it.
#[derive(Debug)]
pub(super) struct Turnstile(File);

/// A place in the turnstile: its holder is the next to write.
#[derive(Debug)]
pub(super) struct WriteTurn<'a>(Option<&'a File>);

impl Turnstile {
    /// Opens it, making its file in the directory of the instances where it is missing.
    pub(super) fn open(instances: &Path) -> io::Result<Self> {
        lock_file(&instances.join("turn")).map(Self)
    }

    /// Returns whether no process is in it now.
    #[cfg(test)]
    pub(super) fn is_free(&self) -> bool {
        self.0.try_lock().is_ok_and(|()| self.0.unlock().is_ok())
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
