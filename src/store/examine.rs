//! Facts of a database for its diagnostics, each read by itself: one that cannot be read hides no other.

use std::{
    fs,
    path::{Path, PathBuf},
};

use chrono::Duration;

use crate::{
    SchemaState, StoreError, StoreResult,
    cells::{StoredRow, cell},
    domain::{AuditState, Provider, time::Timestamp},
    encryption::{KEY_CHECK, Seal, open_to_others},
    error::Work,
    key_file,
    portable::CopyMark,
    schema::Differences,
    sql::StoreRows,
    subjects::{
        networks::gateways,
        upkeep::{Depths, depths},
    },
};

/// Fact of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Processes at work on it, and those that ended without a word.
    Processes {
        living: u64,
        dead: u64,
    },
    /// A file is in the place of this directory.
    NoDirectory(PathBuf),
    /// A restore that is under way, or was broken off before or while its files were put in place.
    Restore {
        directory: PathBuf,
        is_busy: bool,
        is_committed: bool,
    },
    /// There is no connection to its server.
    Unreachable(StoreError),
    /// There is no database.
    Absent,
    /// Something else than a file is in its place.
    NoFile,
    /// An unfinished copy of this source.
    UnfinishedCopy(String),
    /// An empty file whose key is there: it held alerts.
    Emptied,
    /// Its schema, of so many steps, its size, and the version of its server.
    Database {
        schema: SchemaState,
        steps: usize,
        bytes: u64,
        version: Option<String>,
    },
    /// Harmless additions to its schema that are not avert's.
    Schema {
        added: Vec<String>,
    },
    /// The first faults of its pages, and the number of rows that refer to none.
    Integrity {
        faults: Vec<String>,
        orphans: u64,
    },
    AuditLog(AuditState),
    /// The number of kept counts that differ from counting, and of alerts.
    Counts {
        differing: u64,
        alerts: u64,
    },
    /// The number of alerts whose word of an outcome disagrees with the outcome, and of outcomes.
    Outcomes {
        apart: u64,
        recorded: u64,
    },
    Decisions(Depths),
    Deliveries(Depths),
    Endpoints(Vec<EndpointHealth>),
    Pulls(Vec<PullHealth>),
    /// The newest moment that was written.
    Newest(Option<Timestamp>),
    /// The difference of this machine's clock from the server's, in words.
    ClocksApart(String),
    /// No file of a data key is named.
    NoKeyFile,
    /// There is no key file yet, and nothing that needs it.
    KeyFileToCome,
    KeyFile {
        open_to_others: bool,
    },
    /// Nothing is sealed yet.
    NothingSealed,
    /// The file that holds the key which the database was sealed with; `None` where neither does.
    Key(Option<PathBuf>),
    /// The new key that a rotation has left beside the key file, and whether the database is sealed with it.
    Rotation {
        beside: PathBuf,
        is_in_use: bool,
    },
    /// A server that follows another one, or was set read-only, takes no writes.
    Server {
        is_standby: bool,
        is_read_only: bool,
    },
    /// True where searches have an index.
    Searches(bool),
}

/// Health of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointHealth {
    pub url: String,
    /// Reason for which it is disabled.
    pub disabled: Option<String>,
    pub failing_since: Option<Timestamp>,
}

/// Health of pulling from a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullHealth {
    pub source: String,
    /// Time of the newest page.
    pub pulled_at: Option<Timestamp>,
    /// Failures in a row, and the reason of the last one.
    pub failures: u32,
    pub failure: String,
}

/// Facts by the checks that found them, and the networks that have a gateway: none where that cannot be read, which the
/// facts tell.
#[derive(Debug, Default)]
pub struct DatabaseFacts {
    pub facts: Vec<(&'static str, StoreResult<Fact>)>,
    pub gateways: Vec<(Provider, String)>,
}

impl DatabaseFacts {
    /// Adds what a check found.
    pub(super) fn add(&mut self, check: &'static str, fact: StoreResult<Fact>) {
        self.facts.push((check, fact));
    }

    /// Adds what the mark of an unfinished copy tells.
    pub(super) fn add_mark(&mut self, mark: CopyMark) {
        self.add("database", Ok(Fact::UnfinishedCopy(mark.source)));
    }

    /// Adds what is foreign in a schema, or its fault.
    pub(super) fn add_schema(&mut self, found: StoreResult<Differences>) {
        let added = found.and_then(|found| found.check("").map(|()| Fact::Schema { added: found.added }));
        self.add("schema", added);
    }

    /// Adds what every database holds alike. `counts` counts the kept counts that differ from counting, and the alerts.
    pub(super) async fn add_contents(&mut self, rows: &StoreRows<'_>, counts: &str, now: Timestamp) {
        // An unreadable row is a fact already.
        self.gateways = gateways(rows).await.unwrap_or_default();
        let counted = |row: &StoredRow<'_>| Ok(Fact::Counts { differing: row.get(0)?, alerts: row.get(1)? });
        let recorded = |row: &StoredRow<'_>| Ok(Fact::Outcomes { apart: row.get(0)?, recorded: row.get(1)? });
        let queues = depths(rows).await.map_err(StoreError::from);
        self.add("decisions", queues.clone().map(Fact::Decisions));
        self.add("deliveries", queues.map(Fact::Deliveries));
        let found = [
            ("counts", rows.one(counts, &[], counted).await),
            ("outcomes", rows.one(OUTCOMES, &[], recorded).await),
            ("endpoints", endpoints(rows).await.map(Fact::Endpoints)),
            ("pulled alerts", pulls(rows, now).await.map(Fact::Pulls)),
            ("clock", rows.one(NEWEST, &[], cell).await.map(Fact::Newest)),
        ];
        self.facts.extend(found.map(|(check, fact)| (check, fact.map_err(Into::into))));
    }

    /// Adds whether the key file can be read, and whether by others too. Nothing needs it before there is a database.
    pub(super) fn add_key_file(&mut self, file: &Path, is_needed: bool) {
        let fact = match Seal::from_file(file, false) {
            Err(_) if !is_needed && !file.exists() => Ok(Fact::KeyFileToCome),
            found => found.map(|_| Fact::KeyFile { open_to_others: open_to_others(file) }),
        };
        self.add("key file", fact);
    }

    /// Adds whether a file holds the key that the database was sealed with, and what a rotation has left beside it.
    pub(super) async fn add_key(&mut self, rows: &StoreRows<'_>, file: &Path) {
        match rows.fact(KEY_CHECK).await {
            Ok(Some(check)) => self.add_sealing_key(file, &check),
            Ok(None) => self.add("key", Ok(Fact::NothingSealed)),
            Err(fault) => self.add("key", Err(fault.into())),
        }
    }

    fn add_sealing_key(&mut self, file: &Path, check: &[u8]) {
        let (place, beside) = (key_file::find(file, check).map(|(_, place)| place), key_file::next(file));
        // Another check covers a file that cannot be read.
        if place.is_some() || Seal::from_file(file, false).is_ok() {
            self.add("key", Ok(Fact::Key(place)));
        }
        if fs::symlink_metadata(&beside).is_ok() {
            let is_in_use = key_file::seal_in(&beside, check).is_some();
            self.add("rotation", Ok(Fact::Rotation { beside, is_in_use }));
        }
    }
}

/// The word of an outcome is with the alert exactly where the outcome itself is.
const OUTCOMES: &str = "SELECT (SELECT count(*) FROM alert a WHERE a.outcome IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM outcome o WHERE o.alert = a.key))
    + (SELECT count(*) FROM outcome o JOIN alert a ON a.key = o.alert WHERE a.outcome IS NULL),
    (SELECT count(*) FROM outcome)";

const NEWEST: &str = "SELECT max(t) FROM (SELECT max(started_at) t FROM resolution_attempt UNION ALL
    SELECT max(at) FROM event UNION ALL SELECT max(applied_at) FROM schema_migration UNION ALL
    SELECT max(created_at) FROM api_key) AS written";

async fn endpoints(rows: &StoreRows<'_>) -> Work<Vec<EndpointHealth>> {
    let all = "SELECT url, CASE WHEN disabled_at IS NOT NULL THEN coalesce(disabled_reason, '') END, failing_since
        FROM endpoint WHERE removed_at IS NULL ORDER BY failing_since, key";
    let read = |row: &StoredRow<'_>| {
        Ok(EndpointHealth { url: row.get(0)?, disabled: row.get(1)?, failing_since: row.get(2)? })
    };
    rows.all(all, &[], read).await
}

/// Time without a poll after which a source counts as no longer set up.
const ABANDONED: Duration = Duration::days(2);

async fn pulls(rows: &StoreRows<'_>, now: Timestamp) -> Work<Vec<PullHealth>> {
    let all = "SELECT source, pulled_at, failures, failure FROM pull WHERE next_at > ?1 ORDER BY source";
    let read = |row: &StoredRow<'_>| {
        Ok(PullHealth { source: row.get(0)?, pulled_at: row.get(1)?, failures: row.get(2)?, failure: row.get(3)? })
    };
    rows.all(all, &[&(now - ABANDONED)], read).await
}
