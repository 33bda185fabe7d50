//! Causes of a refusal, looked for on the disk and in the system, and the facts known there.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use crate::domain::cause::{RefusalCause, directory_of};

/// Room that a database needs to be opened: the files that its readers share.
static LEAST_ROOM: [u8; 64 << 10] = [0; 64 << 10];

/// Number of files that a connection opens: the database, its log, the shared files, and one to spare.
const LEAST_FILES: usize = 4;

/// Returns the cause for which nothing can be written beside a file, found by trying; `None` where it can. The file
/// itself is not opened: closing it would release the locks that this process holds on it.
pub(super) fn beside(file: &Path) -> Option<RefusalCause> {
    let directory = directory_of(file);
    let files: io::Result<Vec<_>> = (0..LEAST_FILES).map(|_| fs::File::open(directory)).collect();
    let tried = files.and_then(|_| tempfile::tempfile_in(directory)).and_then(|mut tried| tried.write_all(&LEAST_ROOM));
    let error = tried.err()?;
    RefusalCause::of_io(&error)
        .or_else(|| (error.kind() == ErrorKind::PermissionDenied).then_some(RefusalCause::ReadOnly))
}

/// Describes the place of a refusal, with the room that is left or the process that holds the lock.
pub(super) fn place(cause: RefusalCause, file: &Path) -> String {
    let shown = file.display();
    let more = match cause {
        RefusalCause::DiskFull => {
            free_bytes(file).map(|free| format!("{} KiB free in {}", free >> 10, directory_of(file).display()))
        }
        RefusalCause::Locked => holder(file),
        _ => None,
    };
    more.map_or_else(|| shown.to_string(), |more| format!("{shown} ({more})"))
}

/// The room that is left where a file is.
pub(super) fn free_bytes(file: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(directory_of(file)).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// The other process that holds a lock on a database, where the system reports it.
fn holder(database: &Path) -> Option<String> {
    let inodes = ["", "-shm"].map(|suffix| {
        let mut file = database.as_os_str().to_owned();
        file.push(suffix);
        fs::metadata(PathBuf::from(file)).ok().map(|there| there.ino().to_string())
    });
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: POSIX  ADVISORY  WRITE 4711 08:01:123456 120 120`
    let mut holders = locks.lines().filter_map(|line| {
        let mut words = line.split_whitespace().skip_while(|word| *word != "WRITE");
        let (pid, inode) = (words.nth(1)?, words.next()?.rsplit(':').next()?);
        (pid != std::process::id().to_string() && inodes.iter().flatten().any(|known| known == inode)).then_some(pid)
    });
    let pid = holders.next()?;
    let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some(format!("process {pid} {}", name.trim()))
}
