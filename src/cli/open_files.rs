//! Open files: as many as the system lets this process have, and how many connections that leaves room for.

use anyhow::bail;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::store::{RefusalCause, StoreError};

/// What the database, webhooks, gateways and the log have open.
const OTHERS: u64 = 384;

/// Below this nothing is answered: the connections to a database, its log and locks, the threads' own, and some
/// callers.
const LEAST: u64 = 64;

/// Raises the limit of open files as far as is needed and the system allows; returns for how many connections there is
/// room.
///
/// # Errors
/// [`StoreError::Refused`] where the limit is below what the service needs for itself.
pub(super) fn room_for_connections(wanted: usize) -> anyhow::Result<usize> {
    let needed = (wanted as u64).saturating_add(OTHERS);
    let limit = getrlimit(Resource::Nofile);
    let raised = limit.maximum.map_or(needed, |maximum| needed.min(maximum));
    let allowed = match limit.current {
        Some(current) if current < raised => {
            match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
                Ok(()) => raised,
                Err(error) => {
                    tracing::debug!(%error, "the limit of open files cannot be raised");
                    current
                }
            }
        }
        Some(current) => current,
        None => needed,
    };
    if allowed < LEAST {
        bail!(StoreError::Refused(
            RefusalCause::OpenFiles,
            format!("the limit of open files is {allowed}, and {LEAST} are needed at least")
        ));
    }
    let room = connections(allowed).min(wanted);
    if room < wanted {
        tracing::warn!(
            allowed,
            connections = room,
            "the system allows few open files (ulimit -n): there is room for fewer connections"
        );
    }
    Ok(room)
}

/// For how many connections so many open files are room.
fn connections(files: u64) -> usize {
    usize::try_from(files.saturating_sub(OTHERS).max(files / 2)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_everything_else() {
        assert_eq!([64, 1_024, 4_480].map(connections), [32, 640, 4_096]);
    }
}
