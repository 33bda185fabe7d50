//! Diagnostics of a database: what its facts say, and what to do.

use std::path::Path;

use chrono::Duration;

use crate::{
    domain::{
        AuditState, Provider,
        audit::hex,
        closed_enum,
        database::DatabaseLocation,
        time::{Timestamp, to_iso},
    },
    store::{
        Depths, RefusalCause, SchemaState, StoreError, UNFINISHED_COPY_ADVICE,
        examine::{EndpointHealth, Fact, PullHealth},
        postgres::{self, CLOCK_ADVICE},
        sqlite,
    },
};

closed_enum! {
    /// The severity of a finding.
    #[derive(PartialOrd, Ord)]
    pub enum Grade {
        /// As it should be.
        Fine = "ok",
        /// Works, but needs attention.
        Notice = "notice",
        /// Does not work, or soon will not.
        Wrong = "wrong",
    }
}

/// A finding of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub check: &'static str,
    pub grade: Grade,
    /// Description of the finding.
    pub found: String,
    /// Advice; empty where nothing is to be done.
    pub advice: String,
}

impl Finding {
    /// A finding that all is well.
    pub fn fine(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, grade: Grade::Fine, found: found.into(), advice: String::new() }
    }

    /// A finding that needs attention.
    pub fn notice(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, grade: Grade::Notice, found: found.into(), advice: advice.into() }
    }

    /// Something does not work.
    pub fn wrong(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, grade: Grade::Wrong, found: found.into(), advice: advice.into() }
    }
}

/// Findings of an examination, and the networks that the database says have a gateway.
#[derive(Debug, Default)]
pub struct Examination {
    pub findings: Vec<Finding>,
    pub gateways: Vec<(Provider, String)>,
}

/// Examines a database with its key and the processes on it, as of `now`. Changes nothing.
pub async fn examine(location: &DatabaseLocation, key_file: Option<&Path>, now: Timestamp) -> Examination {
    let examined = match location {
        DatabaseLocation::Sqlite(file) => sqlite::examine(file, key_file.unwrap_or(Path::new("")), now).await,
        DatabaseLocation::Postgres(server) => postgres::examine(server, key_file, now).await,
    };
    let place = Place { location, key_file, now };
    let findings = examined.facts.into_iter().map(|(check, fact)| match fact {
        Ok(fact) => place.finding(check, fact),
        Err(error) => place.refused(check, &error, place.way_out(check, &error)),
    });
    Examination { findings: findings.collect(), gateways: examined.gateways }
}

/// Overdue time after which nobody seems to send deliveries.
const OVERDUE: Duration = Duration::minutes(15);
/// Tolerated difference between the clock and the newest moment in the database.
const AHEAD: Duration = Duration::minutes(5);
/// Most endpoints that are named.
const MOST_NAMED: usize = 10;

/// Advice for a database that is not the right one, or not for this user.
const OTHER_DATABASE: &str = "use the avert that wrote it, grant what is missing, or name another database";

/// An examined database.
struct Place<'p> {
    location: &'p DatabaseLocation,
    key_file: Option<&'p Path>,
    now: Timestamp,
}

impl Place<'_> {
    fn is_server(&self) -> bool {
        matches!(self.location, DatabaseLocation::Postgres(_))
    }

    /// Advice for what cannot be mended.
    fn restore(&self) -> &'static str {
        match self.is_server() {
            true => "keep a dump of it as it is (pg_dump), then restore a backup of the server's",
            false => RefusalCause::Damaged.advice(),
        }
    }

    /// Advice for a key that is not the right one.
    fn right_key(&self) -> &'static str {
        match self.is_server() {
            true => "put the right file there: every process on the database has the same one",
            false => "put the right file there: it was made with the database, backups keep it as FILE.key",
        }
    }

    /// Advice for a fact that cannot be read.
    fn way_out(&self, check: &str, error: &StoreError) -> &'static str {
        match (check, error) {
            ("database", StoreError::Newer(_) | StoreError::Unusable(_)) => OTHER_DATABASE,
            ("database", _) if self.is_server() => OTHER_DATABASE,
            ("database" | "log", _) => "let this user read and write the data directory, and look again",
            ("key file", _) => self.right_key(),
            _ => self.restore(),
        }
    }

    /// A refusal: its cause, and the way out of it, or else this advice.
    fn refused(&self, check: &'static str, error: &StoreError, advice: &str) -> Finding {
        let (found, advice) = match error {
            StoreError::Refused(cause, what) => (format!("{what}: {cause}"), cause.advice()),
            other => (other.to_string(), advice),
        };
        match check {
            "database" if self.is_server() => Finding::wrong(check, format!("{}: {found}", self.location), advice),
            _ => Finding::wrong(check, found, advice),
        }
    }

    fn finding(&self, check: &'static str, fact: Fact) -> Finding {
        let fine = |found: String| Finding::fine(check, found);
        let notice = |found: String, advice: &str| Finding::notice(check, found, advice);
        let wrong = |found: String, advice: &str| Finding::wrong(check, found, advice);
        let place = self.location;
        match fact {
            Fact::Processes { living, dead } => {
                fine(format!("{living} at work here, {dead} ended without a word (their work is taken up)"))
            }
            Fact::NoDirectory(path) => wrong(
                format!("{} is no directory", path.display()),
                "move it away: the next start makes a directory there",
            ),
            Fact::Restore { is_busy: true, .. } => {
                notice("a backup is being restored here".to_owned(), "wait until it is done")
            }
            Fact::Restore { directory, is_committed: true, .. } => notice(
                format!(
                    "a restore was broken off while it put its files in place; the rest of them is in {}",
                    directory.display()
                ),
                "nothing: the next start finishes it",
            ),
            Fact::Restore { directory, .. } => notice(
                format!("{} is left of a restore that was broken off; nothing was replaced", directory.display()),
                "nothing: the next start removes it",
            ),
            Fact::Unreachable(error) => self.refused(
                check,
                &error,
                "see whether the server runs, and whether host, port, name, user and password are right \
                    (AVERT_DATABASE)",
            ),
            Fact::Absent => wrong(
                format!("{place} does not exist"),
                "name the right --data-dir; where this is a new place, `avert serve` or `avert import` makes it",
            ),
            Fact::NoFile => wrong(format!("{place} is no file"), "move it away, and put the database there"),
            Fact::UnfinishedCopy(source) => {
                wrong(format!("{place}: is an unfinished copy of {source}"), UNFINISHED_COPY_ADVICE)
            }
            Fact::Emptied => wrong(format!("{place} is empty, and its key is there: it held alerts"), self.restore()),
            Fact::Database { schema: SchemaState::Current, steps, bytes, version } => {
                let server = version.map_or_else(String::new, |version| format!("PostgreSQL {version}, "));
                fine(format!("{place}, {server}schema {steps}, {bytes} bytes"))
            }
            Fact::Database { schema: SchemaState::Empty(_), .. } if self.is_server() => {
                notice(format!("{place}: nothing is there yet"), "avert migrate")
            }
            Fact::Database { schema: SchemaState::Empty(_), .. } => {
                notice("is empty".to_owned(), "nothing: the first command fills it")
            }
            Fact::Database { schema: SchemaState::Waiting(steps), .. } => {
                let found = format!("{place}: its schema waits for {}", steps.join(", "));
                match self.is_server() {
                    true => wrong(found, "avert migrate: until then no command runs that opens it"),
                    false => notice(found, "nothing: the next start brings it up to date, with a backup before"),
                }
            }
            Fact::Schema { added } if added.is_empty() => fine("as its steps made it".to_owned()),
            Fact::Schema { added } => {
                notice(format!("avert did not make: {}", added.join(", ")), "nothing, where it is meant")
            }
            Fact::Integrity { faults, .. } if !faults.is_empty() => wrong(faults.join("; "), self.restore()),
            Fact::Integrity { orphans: 0, .. } => fine("every page and every reference holds".to_owned()),
            Fact::Integrity { orphans, .. } => {
                wrong(format!("{orphans} rows refer to rows that are not there"), self.restore())
            }
            Fact::AuditLog(AuditState::Whole { newest: 0, .. }) => fine("no entry yet".to_owned()),
            Fact::AuditLog(AuditState::Whole { entries, newest, hash }) => {
                fine(format!("whole, {entries} entries; the newest is number {newest}, SHA-256 {}", hex(&hash)))
            }
            Fact::AuditLog(AuditState::Broken { number, what }) => wrong(
                format!("broken at entry {number}, which {what}"),
                "somebody changed the database by other means than avert: keep a copy of it as it is, and compare \
                    with a backup",
            ),
            Fact::Counts { differing: 0, alerts } => fine(format!("{alerts} alerts, as counted")),
            Fact::Counts { differing, .. } => wrong(
                format!("{differing} kept counts differ from what is there: lists tell wrong totals"),
                self.restore(),
            ),
            Fact::Outcomes { apart: 0, recorded } => fine(format!("{recorded} recorded")),
            Fact::Outcomes { apart, .. } => {
                wrong(format!("{apart} alerts disagree with their outcome"), self.restore())
            }
            Fact::Decisions(depths) => decisions(check, depths, self.now),
            Fact::Deliveries(depths) => deliveries(check, depths, self.now),
            Fact::Endpoints(endpoints) => endpoint_health(check, &endpoints),
            Fact::Pulls(pulls) => pull_health(check, &pulls),
            Fact::Newest(Some(newest)) if newest > self.now + AHEAD => wrong(
                format!("it shows {}, and the database was written at {}", to_iso(self.now), to_iso(newest)),
                "set the clock of this machine (NTP): deadlines and signatures go by it",
            ),
            Fact::Newest(_) => fine(to_iso(self.now)),
            Fact::ClocksApart(words) => notice(words, CLOCK_ADVICE),
            Fact::NoKeyFile => wrong(
                "no file is named".to_owned(),
                "name it with AVERT_SECRET_KEY_FILE: it is not beside the database",
            ),
            Fact::KeyFileToCome => fine("none yet; it is made with the database".to_owned()),
            Fact::KeyFile { open_to_others: true } => {
                let shown = self.key_shown();
                wrong(format!("{shown} can be read by other users"), &format!("chmod 600 {shown}"))
            }
            Fact::KeyFile { .. } => fine(format!("{}, for its owner only", self.key_shown())),
            Fact::NothingSealed => fine("nothing is sealed yet".to_owned()),
            Fact::Key(Some(file)) if Some(&*file) == self.key_file => {
                fine("is the one that the database was sealed with".to_owned())
            }
            Fact::Key(Some(file)) => {
                fine(format!("the one that the database was sealed with is in {}", file.display()))
            }
            Fact::Key(None) => wrong(
                format!("wrong key: {} does not hold the key that the database was sealed with", self.key_shown()),
                self.right_key(),
            ),
            Fact::Rotation { beside, is_in_use: true } => notice(
                format!("{} holds the data key: a rotation was broken off before its last step", beside.display()),
                "nothing: the next start puts it in its place; if it cannot, put it there",
            ),
            Fact::Rotation { beside, .. } => {
                let beside = beside.display();
                notice(
                    format!("{beside} holds nothing that is in use: a rotation was prepared, or broken off"),
                    &format!("`avert secrets rotate data --new-key-file {beside}` goes on with it; or remove {beside}"),
                )
            }
            Fact::Server { is_standby: true, .. } => wrong(
                "nothing can be written: the server is a standby, which follows another one".to_owned(),
                "name the server that it follows, or promote this one",
            ),
            Fact::Server { is_read_only: true, .. } => wrong(
                "nothing can be written: the database, or this user in it, is set read-only".to_owned(),
                "whoever set default_transaction_read_only takes it back when it may be written: nodes go on by \
                    themselves",
            ),
            Fact::Server { .. } => fine("the server takes writes".to_owned()),
            Fact::Searches(true) => fine("have an index".to_owned()),
            Fact::Searches(false) => notice(
                "have no index: the server has no pg_trgm, or this user may not create it".to_owned(),
                "have CREATE EXTENSION pg_trgm run by who may, then `avert migrate`: until then a search looks at \
                    every alert",
            ),
        }
    }

    fn key_shown(&self) -> String {
        self.key_file.unwrap_or(Path::new("")).display().to_string()
    }
}

/// Reports unconfirmed decisions: parked ones, unknown ones, and those that no process works on.
fn decisions(check: &'static str, depths: Depths, now: Timestamp) -> Finding {
    let Depths { parked, unknown, inflight, .. } = depths;
    let is_left = depths.oldest_deadline.is_some_and(|deadline| deadline < now);
    let found = format!("{parked} wait for a person, {unknown} unknown, {inflight} being sent");
    if parked > 0 {
        let advice = "ask the network what it recorded: avert could not find it out, and these alerts take no other \
            decision until then";
        Finding::wrong(check, found, advice)
    } else if unknown > 0 || is_left {
        let found = if is_left { format!("{found}, not all of them by a process that lives") } else { found };
        Finding::notice(check, found, "keep `avert serve` or a console running: it asks the network and clears them up")
    } else {
        Finding::fine(check, "none in doubt")
    }
}

/// Reports deliveries that are pending, overdue or exhausted.
fn deliveries(check: &'static str, depths: Depths, now: Timestamp) -> Finding {
    let (waiting, exhausted) = (depths.pending + depths.leased, depths.exhausted);
    let found = format!("{waiting} on their way, {exhausted} given up");
    match depths.oldest_due {
        Some(due) if due < now - OVERDUE => Finding::notice(
            check,
            format!("{found}; the oldest is due since {}", to_iso(due)),
            "keep `avert serve` or a console running: nobody has sent them for a quarter of an hour",
        ),
        _ if exhausted > 0 => {
            Finding::notice(check, found, "look at what the receivers answered, then send them again")
        }
        _ => Finding::fine(check, found),
    }
}

/// Reports endpoints that are disabled, with the reason, and those that fail, with the moment since when.
fn endpoint_health(check: &'static str, endpoints: &[EndpointHealth]) -> Finding {
    let told = endpoints.iter().filter_map(|EndpointHealth { url, disabled, failing_since }| {
        match (disabled, failing_since) {
            (Some(reason), _) => Some(format!("{url} is disabled ({reason})")),
            (None, Some(since)) => Some(format!("{url} fails since {}", to_iso(*since))),
            (None, None) => None,
        }
    });
    let told: Vec<String> = told.take(MOST_NAMED).collect();
    if told.is_empty() {
        return Finding::fine(check, format!("{}, none disabled, none failing", endpoints.len()));
    }
    let advice = "`avert webhooks deliveries` says how, `avert webhooks test ID` tries once, `avert webhooks update ID \
        --enable` sends again";
    Finding::notice(check, told.join("; "), advice)
}

/// Reports the pulling of alerts: for each source the time of its newest page, failures in a row, and their reason.
fn pull_health(check: &'static str, pulls: &[PullHealth]) -> Finding {
    let told = pulls.iter().map(|PullHealth { source, pulled_at, failures, failure }| {
        let newest = pulled_at.map_or_else(|| "no page yet".to_owned(), |at| format!("newest page {}", to_iso(at)));
        match failures {
            0 => format!("{source}: {newest}"),
            _ => format!("{source}: {newest}, failed {failures} times in a row: {failure}"),
        }
    });
    let told = told.collect::<Vec<_>>().join("; ");
    if pulls.is_empty() {
        Finding::fine(check, "none: no process has pulled lately")
    } else if pulls.iter().any(|pull| pull.failures > 0) {
        Finding::notice(check, told, "see whether gateway or source answer; it tries again")
    } else {
        Finding::fine(check, told)
    }
}
