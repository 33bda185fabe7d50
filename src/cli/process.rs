//! The process and its system: its variables, signals that end it, how many files it may open, core dumps.

use anyhow::{Context as _, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::store::{RefusalCause, StoreError};

/// An environment variable. An empty one is one that is not set.
pub(super) fn variable(name: &str) -> Option<String> {
    without_empty(|name: &str| Some(std::env::var_os(name)?.to_string_lossy().into_owned()))(name)
}

/// Variables without the empty ones.
pub(super) fn without_empty(lookup: impl Fn(&str) -> Option<String>) -> impl Fn(&str) -> Option<String> {
    move |name| lookup(name).filter(|text| !text.is_empty())
}

/// Signals that ask this process to end. From the first one on they no longer end it by themselves.
#[cfg(unix)]
pub(super) struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
    /// A file that may not grow any more is an error of the write, as a full disk is, and not the end of the process.
    _too_large: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    /// Begins to listen.
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

    /// Waits for the next one and gives its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.interrupt.recv() => "SIGINT",
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.hangup.recv() => "SIGHUP",
        }
    }
}

/// Elsewhere there is ctrl-c.
#[cfg(not(unix))]
pub(super) struct Signals;

#[cfg(not(unix))]
impl Signals {
    /// Begins to listen.
    pub(super) fn listen() -> anyhow::Result<Self> {
        Ok(Self)
    }

    /// Waits for the next one and gives its name.
    pub(super) async fn next(&mut self) -> &'static str {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "ctrl-c"
    }
}

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

/// A core dump would hold keys and credentials in clear.
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
