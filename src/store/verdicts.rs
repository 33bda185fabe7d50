//! What the figures of a database say about it, in the words of the doctor: the same for every store.

use std::path::Path;

use chrono::Duration;

use super::seal::Seal;
use super::{Finding, StoreResult};
use crate::domain::AuditState;
use crate::domain::audit::hex;
use crate::domain::time::{Timestamp, to_iso};

/// Deliveries that have been due for so long mean that nobody sends them.
pub(super) const OVERDUE: Duration = Duration::minutes(15);
/// The clock may differ by so much from the newest moment in the database.
const AHEAD: Duration = Duration::minutes(5);

/// A check of a database; where it cannot be made, why and what to do.
pub(super) fn checked(check: &'static str, found: StoreResult<Finding>, advice: &str) -> Finding {
    found.unwrap_or_else(|error| Finding::refused(check, &error, advice))
}

/// The file with the data key: whether it can be read, and by whom.
pub(super) fn key_file(file: &Path, needed: bool, advice: &str) -> Finding {
    let shown = file.display();
    match Seal::from_file(file, false) {
        Err(_) if !needed && !file.exists() => Finding::fine("key file", "none yet; it is made with the database"),
        Err(error) => Finding::wrong("key file", error.to_string(), advice),
        Ok(_) if open_to_others(file) => {
            Finding::wrong("key file", format!("{shown} can be read by other users"), format!("chmod 600 {shown}"))
        }
        Ok(_) => Finding::fine("key file", format!("{shown}, for its owner only")),
    }
}

#[cfg(unix)]
fn open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn open_to_others(_path: &Path) -> bool {
    false
}

/// The word of an outcome stands with the alert exactly where the outcome itself is: `alone` do not.
pub(super) fn outcomes(alone: i64, recorded: i64, advice: &str) -> Finding {
    match alone {
        0 => Finding::fine("outcomes", format!("{recorded} recorded")),
        _ => Finding::wrong("outcomes", format!("{alone} alerts disagree with their outcome"), advice),
    }
}

/// Lists tell totals from a table of counts: it has to say what counting says.
pub(super) fn counts(differing: i64, alerts: i64, advice: &str) -> Finding {
    match differing {
        0 => Finding::fine("counts", format!("{alerts} alerts, as counted")),
        _ => Finding::wrong(
            "counts",
            format!("{differing} kept counts differ from what is there: lists tell wrong totals"),
            advice,
        ),
    }
}

/// Every entry follows from the one before, and none is missing.
pub(super) fn audit_log(state: AuditState) -> Finding {
    const CHECK: &str = "audit log";
    match state {
        AuditState::Whole { newest: 0, .. } => Finding::fine(CHECK, "no entry yet"),
        AuditState::Whole { entries, newest, hash } => Finding::fine(
            CHECK,
            format!("whole, {entries} entries; the newest is number {newest}, SHA-256 {}", hex(&hash)),
        ),
        AuditState::Broken { number, what } => {
            let advice = "somebody changed the database by other means than avert: keep a copy of it as it is, and \
                compare with a backup";
            Finding::wrong(CHECK, format!("broken at entry {number}, which {what}"), advice)
        }
    }
}

/// Decisions that are not settled; `left` are on their way and nobody is at them.
pub(super) fn decisions(parked: i64, unknown: i64, left: i64) -> Finding {
    if parked > 0 {
        let advice = "ask the network what it recorded: avert could not find it out, and these alerts take no other \
            decision until then";
        Finding::wrong(
            "decisions",
            format!("{parked} wait for a person, {unknown} unknown, {left} left behind"),
            advice,
        )
    } else if unknown + left > 0 {
        let advice = "keep `avert serve` or a console running: it asks the network and clears them up";
        Finding::notice("decisions", format!("{unknown} whose fate is unknown, {left} left behind"), advice)
    } else {
        Finding::fine("decisions", "none in doubt")
    }
}

/// Deliveries that are not done with.
pub(super) fn deliveries(waiting: i64, overdue: i64, exhausted: i64) -> Finding {
    let found = format!("{waiting} on their way, {overdue} of them overdue, {exhausted} given up");
    if overdue > 0 {
        Finding::notice(
            "deliveries",
            found,
            "keep `avert serve` or a console running: nobody has sent them for a quarter of an hour",
        )
    } else if exhausted > 0 {
        Finding::notice("deliveries", found, "look at what the receivers answered, then send them again")
    } else {
        Finding::fine("deliveries", found)
    }
}

/// Endpoints by their addresses: those that are disabled with the reason, those that fail with the moment since when.
pub(super) fn endpoints(all: i64, disabled: &[String], failing: &[(String, Timestamp)]) -> Finding {
    if failing.is_empty() && disabled.is_empty() {
        return Finding::fine("endpoints", format!("{all}, none disabled, none failing"));
    }
    if failing.is_empty() {
        return Finding::notice(
            "endpoints",
            format!("disabled: {}", disabled.join(", ")),
            "nothing is sent there; enable it once it answers",
        );
    }
    let failing: Vec<String> = failing.iter().map(|(url, since)| format!("{url} (since {})", to_iso(*since))).collect();
    let disabled = if disabled.is_empty() { String::new() } else { format!("; disabled: {}", disabled.join(", ")) };
    Finding::notice(
        "endpoints",
        format!("failing: {}{disabled}", failing.join(", ")),
        "every try since then has failed: `avert webhooks deliveries` says how, `avert webhooks test ID` tries once",
    )
}

/// A source that was pulled lately: when its newest page came, how often it failed in a row, and why.
pub(super) struct PulledSource {
    pub(super) source: String,
    pub(super) newest: Option<Timestamp>,
    pub(super) failures: i64,
    pub(super) failure: String,
}

/// How pulling alerts goes.
pub(super) fn pulled(sources: &[PulledSource]) -> Finding {
    const CHECK: &str = "pulled alerts";
    let told = sources.iter().map(|PulledSource { source, newest, failures, failure }| {
        let newest = newest.map_or_else(|| "no page yet".to_owned(), |at| format!("newest page {}", to_iso(at)));
        match failures {
            0 => format!("{source}: {newest}"),
            _ => format!("{source}: {newest}, failed {failures} times in a row: {failure}"),
        }
    });
    let told = told.collect::<Vec<_>>().join("; ");
    if sources.is_empty() {
        Finding::fine(CHECK, "none: no process has pulled lately")
    } else if sources.iter().any(|source| source.failures > 0) {
        Finding::notice(CHECK, told, "see whether the gateway answers GET /alerts; it is tried again by itself")
    } else {
        Finding::fine(CHECK, told)
    }
}

/// A clock that is behind what it wrote itself is wrong now, or was wrong then.
pub(super) fn clock(newest: Option<Timestamp>, now: Timestamp) -> Finding {
    match newest {
        Some(newest) if newest > now + AHEAD => Finding::wrong(
            "clock",
            format!("it shows {}, and the database was written at {}", to_iso(now), to_iso(newest)),
            "set the clock of this machine (NTP): deadlines and signatures go by it",
        ),
        _ => Finding::fine("clock", to_iso(now)),
    }
}
