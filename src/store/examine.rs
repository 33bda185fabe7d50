//! Diagnostics of a database of either kind: a list of checks, each a statement and what its answer says.

use std::path::Path;

use chrono::Duration;

use crate::{
    StoreResult,
    cells::SqlValue,
    domain::{
        AuditState, Provider,
        audit::hex,
        time::{Timestamp, to_iso},
    },
    encryption::{KEY_CHECK, Seal, open_to_others},
    finding::{Finding, Grade},
    key_file,
    portable::PortableRow,
    sql::StoreRows,
};

/// Findings of an examination, and the stored facts that other checks ask for. The facts are empty where they cannot be
/// read, which the findings tell.
#[derive(Debug, Default)]
pub struct Examination {
    pub findings: Vec<Finding>,
    /// The networks that have a gateway.
    pub gateways: Vec<(Provider, String)>,
}

/// Returns the rows of an answer.
pub(super) async fn answer(rows: &StoreRows<'_>, sql: &str) -> StoreResult<Vec<PortableRow>> {
    Ok(rows.all(sql, &[], |row| (0..row.len()).map(|place| row.get(place)).collect()).await?)
}

/// A check of a database.
pub(super) struct Check {
    pub(super) name: &'static str,
    /// The statement, as of a moment in microseconds.
    pub(super) sql: fn(i64) -> String,
    /// Judges the answer, under the name of the check, as of a moment.
    pub(super) look: fn(&'static str, &[PortableRow], Timestamp) -> Finding,
}

impl Check {
    /// Runs the check. A wrong finding without advice of its own gets the advice to restore.
    pub(super) async fn run(&self, rows: &StoreRows<'_>, now: Timestamp, restore: &'static str) -> Finding {
        let answer = answer(rows, &(self.sql)(now.timestamp_micros())).await;
        checked(self.name, answer.map(|rows| (self.look)(self.name, &rows, now)), restore)
    }
}

/// A finding, or why there is none. What is wrong and has no advice of its own is restored.
pub(super) fn checked(check: &'static str, found: StoreResult<Finding>, restore: &str) -> Finding {
    match found {
        Ok(found) if found.grade == Grade::Wrong && found.advice.is_empty() => {
            Finding { advice: restore.to_owned(), ..found }
        }
        found => found.unwrap_or_else(|error| Finding::refused(check, &error, restore)),
    }
}

/// Overdue time after which nobody seems to send deliveries.
const OVERDUE: Duration = Duration::minutes(15);
/// Tolerated difference between the clock and the newest moment in the database.
const AHEAD: Duration = Duration::minutes(5);
/// Time without a pull after which a source counts as no longer set up.
const ABANDONED: Duration = Duration::days(2);

fn micros(duration: Duration) -> i64 {
    duration.num_microseconds().unwrap_or_default()
}

/// Checks that are alike in every database.
pub(super) const CHECKS: [Check; 6] = [
    // The word of an outcome stands with the alert exactly where the outcome itself is.
    Check {
        name: "outcomes",
        sql: |_| {
            "SELECT (SELECT count(*) FROM alert a WHERE a.outcome IS NOT NULL
                    AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key))
                + (SELECT count(*) FROM outcome o JOIN alert a ON a.key = o.alert WHERE a.outcome IS NULL),
                (SELECT count(*) FROM outcome)"
                .to_owned()
        },
        look: |check, rows, _| match numbers(rows) {
            [0, recorded] => Finding::fine(check, format!("{recorded} recorded")),
            [alone, _] => Finding::wrong(check, format!("{alone} alerts disagree with their outcome"), ""),
        },
    },
    Check {
        name: "decisions",
        sql: |now| {
            format!(
                "SELECT count(*) FILTER (WHERE state = 'PARKED'), count(*) FILTER (WHERE state = 'UNKNOWN'),
                    count(*) FILTER (WHERE state = 'INFLIGHT' AND deadline < {now})
                FROM resolution_attempt WHERE state IN ('INFLIGHT', 'UNKNOWN', 'PARKED')"
            )
        },
        look: decisions,
    },
    Check {
        name: "deliveries",
        sql: |now| {
            format!(
                "SELECT count(*) FILTER (WHERE d.state IN ('pending', 'leased')),
                    count(*) FILTER (WHERE d.state = 'pending' AND d.due < {} AND e.disabled_at IS NULL),
                    count(*) FILTER (WHERE d.state = 'exhausted' AND NOT d.test)
                FROM delivery d JOIN endpoint e ON e.key = d.endpoint
                WHERE d.state IN ('pending', 'leased', 'exhausted')",
                now - micros(OVERDUE)
            )
        },
        look: deliveries,
    },
    Check {
        name: "endpoints",
        sql: |_| {
            "SELECT url, disabled_at IS NOT NULL, coalesce(disabled_reason, ''), failing_since FROM endpoint
                WHERE removed_at IS NULL ORDER BY failing_since, key"
                .to_owned()
        },
        look: endpoints,
    },
    Check {
        name: "pulled alerts",
        sql: |now| {
            let since = now - micros(ABANDONED);
            format!("SELECT source, pulled_at, failures, failure FROM pull WHERE next_at > {since} ORDER BY source")
        },
        look: pulled,
    },
    // A clock that is behind what it wrote itself is wrong now, or was wrong then.
    Check {
        name: "clock",
        sql: |_| {
            "SELECT max(t) FROM (SELECT max(started_at) t FROM resolution_attempt UNION ALL SELECT max(at) FROM event
                UNION ALL SELECT max(applied_at) FROM schema_migration
                UNION ALL SELECT max(created_at) FROM api_key) AS written"
                .to_owned()
        },
        look: |check, rows, now| match moment(&rows[0][0]) {
            Some(newest) if newest > now + AHEAD => Finding::wrong(
                check,
                format!("it shows {}, and the database was written at {}", to_iso(now), to_iso(newest)),
                "set the clock of this machine (NTP): deadlines and signatures go by it",
            ),
            _ => Finding::fine(check, to_iso(now)),
        },
    },
];

/// The one row of an answer, of numbers and flags.
pub(super) fn numbers<const N: usize>(rows: &[PortableRow]) -> [i64; N] {
    std::array::from_fn(|place| rows.first().and_then(|row| row.get(place)).map_or(0, number))
}

fn number(cell: &SqlValue<'_>) -> i64 {
    if let SqlValue::Number(number) = cell { *number } else { 0 }
}

/// The text of a cell.
pub(super) fn text<'c>(cell: &'c SqlValue<'_>) -> &'c str {
    if let SqlValue::Text(text) = cell { text } else { "" }
}

fn moment(cell: &SqlValue<'_>) -> Option<Timestamp> {
    if let SqlValue::Number(micros) = cell { Timestamp::from_timestamp_micros(*micros) } else { None }
}

/// Checks the file with the data key: that it can be read, and who else can read it.
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

/// Checks that a file holds the key that the database was sealed with.
pub(super) async fn key(rows: &StoreRows<'_>, file: &Path, advice: &str, restore: &str) -> Vec<Finding> {
    match rows.fact(KEY_CHECK).await {
        Ok(Some(check)) => key_file::examine(file, &check, advice),
        Ok(None) => vec![Finding::fine("key", "nothing is sealed yet")],
        Err(fault) => vec![checked("key", Err(fault.into()), restore)],
    }
}

/// Checks the table of counts, which lists take totals from, against counting.
pub(super) fn counts(check: &'static str, rows: &[PortableRow], _now: Timestamp) -> Finding {
    match numbers(rows) {
        [0, alerts] => Finding::fine(check, format!("{alerts} alerts, as counted")),
        [differing, _] => {
            let found = format!("{differing} kept counts differ from what is there: lists tell wrong totals");
            Finding::wrong(check, found, "")
        }
    }
}

/// Reports a break in the audit log: each entry has to follow from the one before, and none may be missing.
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

/// Reports unconfirmed decisions: parked ones, unknown ones, and those that no process works on.
fn decisions(check: &'static str, rows: &[PortableRow], _now: Timestamp) -> Finding {
    let [parked, unknown, left] = numbers(rows);
    if parked > 0 {
        let advice = "ask the network what it recorded: avert could not find it out, and these alerts take no other \
            decision until then";
        Finding::wrong(check, format!("{parked} wait for a person, {unknown} unknown, {left} left behind"), advice)
    } else if unknown + left > 0 {
        let advice = "keep `avert serve` or a console running: it asks the network and clears them up";
        Finding::notice(check, format!("{unknown} whose fate is unknown, {left} left behind"), advice)
    } else {
        Finding::fine(check, "none in doubt")
    }
}

/// Reports deliveries that are pending, overdue or exhausted.
fn deliveries(check: &'static str, rows: &[PortableRow], _now: Timestamp) -> Finding {
    let [waiting, overdue, exhausted] = numbers(rows);
    let found = format!("{waiting} on their way, {overdue} of them overdue, {exhausted} given up");
    if overdue > 0 {
        let advice = "keep `avert serve` or a console running: nobody has sent them for a quarter of an hour";
        Finding::notice(check, found, advice)
    } else if exhausted > 0 {
        Finding::notice(check, found, "look at what the receivers answered, then send them again")
    } else {
        Finding::fine(check, found)
    }
}

/// Reports endpoints that are disabled, with the reason, and those that fail, with the moment since when.
fn endpoints(check: &'static str, rows: &[PortableRow], _now: Timestamp) -> Finding {
    let told = rows.iter().filter_map(|row| match (number(&row[1]) != 0, moment(&row[3])) {
        (true, _) => Some(format!("{} is disabled ({})", text(&row[0]), text(&row[2]))),
        (false, Some(since)) => Some(format!("{} fails since {}", text(&row[0]), to_iso(since))),
        (false, None) => None,
    });
    let told: Vec<String> = told.take(10).collect();
    if told.is_empty() {
        return Finding::fine(check, format!("{}, none disabled, none failing", rows.len()));
    }
    let advice = "`avert webhooks deliveries` says how, `avert webhooks test ID` tries once, `avert webhooks update ID \
        --enable` sends again";
    Finding::notice(check, told.join("; "), advice)
}

/// Reports the pulling of alerts: for each source the time of its newest page, failures in a row, and their reason.
fn pulled(check: &'static str, rows: &[PortableRow], _now: Timestamp) -> Finding {
    let told = rows.iter().map(|row| {
        let (source, failures, failure) = (text(&row[0]), number(&row[2]), text(&row[3]));
        let newest =
            moment(&row[1]).map_or_else(|| "no page yet".to_owned(), |at| format!("newest page {}", to_iso(at)));
        match failures {
            0 => format!("{source}: {newest}"),
            _ => format!("{source}: {newest}, failed {failures} times in a row: {failure}"),
        }
    });
    let told = told.collect::<Vec<_>>().join("; ");
    if rows.is_empty() {
        Finding::fine(check, "none: no process has pulled lately")
    } else if rows.iter().any(|row| number(&row[2]) > 0) {
        Finding::notice(check, told, "see whether the gateway answers GET /alerts; it is tried again by itself")
    } else {
        Finding::fine(check, told)
    }
}
