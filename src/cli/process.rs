//! The process and its system: its variables, signals that end it, its limit of open files, core dumps.

use anyhow::{Context as _, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::store::{RefusalCause, StoreError};

/// Returns an environment variable. An empty one is not set.
pub(super) fn variable(name: &str) -> Option<String> {
    without_empty(|name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))(name)
}

/// Leaves empty variables out.
pub(super) fn without_empty(lookup: impl Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name| lookup(name).filter(|text| !text.is_empty())
}

/// Signals that ask this process to end. Once they are listened to they no longer end it by themselves.
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// SIGXFSZ: a file that may not grow is an error of the write, as a full disk is, and does not end the process.
    _too_large: tokio::signal::unix::Signal,
}

impl Signals {
    /// Starts listening.
    pub(super) fn listen() -> anyhow::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let begin = |kind: SignalKind| signal(kind).context("signals cannot be listened to");
        Ok(Self {
            interrupt: begin(SignalKind::interrupt())?,
            terminate: begin(SignalKind::terminate())?,
            hangup: begin(SignalKind::hangup())?,
            _too_large: begin(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw()))?,
        })
    }

    /// Waits for the next signal and returns its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

/// Number of files that the database, webhooks, gateways and the log have open.
const OTHERS: u64 = 384;

/// Least limit of open files: a database's connections, its log and locks, the threads' own, and some callers.
const LEAST: u64 = 64;

/// Raises the limit of open files as far as is needed and the system allows. Returns the number of connections that it
/// leaves room for.
///
/// # Errors
/// [`StoreError::Refused`] when the limit is below what the service needs for itself.
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

/// Returns the number of connections that so many open files leave room for.
fn connections(files: u64) -> usize {
    usize::try_from(files.saturating_sub(OTHERS).max(files / 2)).unwrap_or(usize::MAX)
}

/// Forbids core dumps, which would hold keys and credentials in clear.
#[cfg(target_os = "linux")]
pub(super) fn forbid_core_dumps() {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "core dumps of the service cannot be turned off");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn forbid_core_dumps() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_to_everything_else() {
        assert_eq!([64, 1_024, 4_480].map(connections), [32, 640, 4_096]);
    }
}
