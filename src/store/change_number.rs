//! The change number of a database, announced to all who watch it.

use tokio::sync::watch;

/// Announces a change number to all who watch, where it is newer than the last one.
pub(super) fn tell_newer(changes: &watch::Sender<u64>, number: u64) {
    changes.send_if_modified(|known| {
        let newer = number > *known;
        *known = number.max(*known);
        newer
    });
}
