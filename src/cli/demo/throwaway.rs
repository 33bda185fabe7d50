//! The demo's temporary directory: removed on every exit, and when a demo was killed, by the next one.
//!
//! A demo holds a lock on a file in its directory for as long as it lives. A directory without a held lock was left by
//! a killed demo.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Prefix of the directories of demos.
const PREFIX: &str = "avert-demo-";

/// Prefix of a directory until its lock is held: the sweep skips these.
const NEW_PREFIX: &str = ".avert-demo-new-";

/// Attempts to remove a directory.
const REMOVALS: usize = 5;

const LOCK: &str = "alive.lock";

/// Temporary directory, removed on drop.
#[derive(Debug)]
pub(super) struct Throwaway {
    path: PathBuf,
    /// Lock that is held until the directory is gone.
    _alive: File,
}

impl Throwaway {
    /// Makes a directory of mode 0700 in `parent`, after removing those that killed demos of the same user left there.
    pub(super) fn new_in(parent: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(NEW_PREFIX);
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let made = builder.tempdir_in(parent)?;
        let alive = File::create(made.path().join(LOCK))?;
        alive.lock()?;
        sweep(parent, made.path())?;
        let name = made.path().file_name().map(|name| name.to_string_lossy().replace(NEW_PREFIX, PREFIX));
        let path = parent.join(name.unwrap_or_default());
        // Only now can a sweep see the directory, and by now its lock is held.
        fs::rename(made.path(), &path)?;
        let _gone = made.keep();
        Ok(Self { path, _alive: alive })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Throwaway {
    fn drop(&mut self) {
        // A demo that ends in the middle of its work may still write a file while its directory is removed.
        let gone = (0..REMOVALS).any(|_| fs::remove_dir_all(&self.path).is_ok() || !self.path.exists());
        if !gone {
            tracing::warn!(path = %self.path.display(), "the demo's directory could not be removed; the next demo \
                will try");
        }
    }
}

/// Removes the directories of killed demos. Directories of other users, links and those in use stay.
fn sweep(parent: &Path, own: &Path) -> io::Result<()> {
    let user = owner(own)?;
    for entry in fs::read_dir(parent)?.filter_map(Result::ok) {
        let path = entry.path();
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
            && owner(&path).is_ok_and(|owner| owner == user);
        if !ours {
            continue;
        }
        let dead = match File::options().write(true).open(path.join(LOCK)).map(|lock| lock.try_lock()) {
            Ok(Ok(())) => true,
            Ok(Err(TryLockError::WouldBlock | TryLockError::Error(_))) => false,
            // Without its lock file a directory is one that a removal did not finish.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        if dead && let Err(error) = fs::remove_dir_all(&path) {
            tracing::warn!(path = %path.display(), %error, "a killed demo's directory could not be removed");
        }
    }
    Ok(())
}

fn owner(path: &Path) -> io::Result<u32> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(path).map(|metadata| metadata.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(parent: &Path) -> Vec<PathBuf> {
        fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn the_directory_goes_with_its_value() {
        let parent = tempfile::tempdir().unwrap();
        let demo = Throwaway::new_in(parent.path()).unwrap();
        fs::write(demo.path().join("avert.db"), "data").unwrap();
        assert_eq!(entries(parent.path()), [demo.path()]);

        drop(demo);

        assert!(entries(parent.path()).is_empty());
    }

    #[test]
    fn what_a_killed_demo_left_is_removed_by_the_next_one_and_a_living_one_is_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join("avert-demo-dead");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join(LOCK), "").unwrap();
        let living = Throwaway::new_in(parent.path()).unwrap();
        assert!(!dead.exists());

        let next = Throwaway::new_in(parent.path()).unwrap();

        assert!(living.path().exists() && next.path().exists());
    }

    #[test]
    fn nobody_else_can_look_into_it_and_a_link_is_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let parent = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::write(elsewhere.path().join(LOCK), "").unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join("avert-demo-link")).unwrap();

        let demo = Throwaway::new_in(parent.path()).unwrap();

        assert!(elsewhere.path().join(LOCK).exists());
        assert_eq!(fs::metadata(demo.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
