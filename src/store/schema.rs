//! The schema of a database: its steps, numbered and with checksums, how far they have been applied, and its
//! fingerprint. The fingerprint is what is there, compared with what the steps make; missing and foreign objects are
//! named.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use crate::{RefusalCause, StoreError, StoreResult};

/// One step of the schema. Never edited once released: the checksum is compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Migration {
    /// Its number and name, as its file is called.
    pub(super) file: &'static str,
    pub(super) sql: &'static str,
}

/// The steps of a kind of database, by their files in order.
macro_rules! migrations {
    ($kind:literal: $($file:literal),* $(,)?) => {
        &[$($crate::schema::Migration {
            file: $file,
            sql: include_str!(concat!("../../../assets/migrations/", $kind, "/", $file, ".sql")),
        }),*]
    };
}

pub(super) use migrations;

impl Migration {
    /// The name without the number.
    pub(super) fn name(&self) -> &'static str {
        self.file.split_once('_').map_or(self.file, |(_, name)| name)
    }

    /// The row that tells that it was applied: number, name and checksum.
    pub(super) fn row(&self) -> (i64, &'static str, Vec<u8>) {
        let number = self.file.split('_').next().and_then(|number| number.parse().ok());
        (number.unwrap_or_default(), self.name(), Sha256::digest(self.sql.as_bytes()).to_vec())
    }
}

/// Counts the applied steps, by their numbers and checksums; refuses others than these.
pub(super) fn applied(rows: &[(i64, Vec<u8>)], steps: &[Migration]) -> StoreResult<usize> {
    for (index, (number, checksum)) in rows.iter().enumerate() {
        let Some(known) = steps.get(index) else {
            return Err(StoreError::Newer(format!(
                "was written by a newer avert (schema {number}, this one knows {}); use that version, or a backup \
                    made before",
                steps.len()
            )));
        };
        let (known_number, _, known_checksum) = known.row();
        if (known_number, &known_checksum) != (*number, checksum) {
            return Err(StoreError::Unusable(format!(
                "its schema step {number} is not the one that this avert knows as {}; use the version that wrote it",
                known.file
            )));
        }
    }
    Ok(rows.len())
}

/// Schema version of a database. A newer one is an error ([`StoreError::Newer`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    /// Nothing is there yet: all these steps wait.
    Empty(Vec<&'static str>),
    /// These steps wait to be applied.
    Waiting(Vec<&'static str>),
    /// All have been applied.
    Current,
}

impl SchemaState {
    /// The state of a database to which so many of these steps have been applied.
    pub(super) fn after(applied: usize, steps: &[Migration]) -> Self {
        let waiting: Vec<_> = steps.iter().skip(applied).map(Migration::name).collect();
        match applied {
            0 => Self::Empty(waiting),
            _ if waiting.is_empty() => Self::Current,
            _ => Self::Waiting(waiting),
        }
    }

    /// The steps that wait to be applied.
    pub fn waiting(&self) -> &[&'static str] {
        match self {
            Self::Empty(steps) | Self::Waiting(steps) => steps,
            Self::Current => &[],
        }
    }
}

/// Objects of a schema by kind and name, each with its table and its definition.
pub(super) type Objects = BTreeMap<String, (String, String)>;

/// Differences between a schema and what its steps make.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Differences {
    /// Missing or altered.
    pub(super) missing: Vec<String>,
    /// Foreign, and able to change or refuse stored data.
    pub(super) meddling: Vec<String>,
    /// Foreign, and harmless.
    pub(super) added: Vec<String>,
}

impl Differences {
    /// Compares the objects with those that the steps make. A foreign one meddles where it is on a table of avert's,
    /// except those that `is_harmless` knows by name.
    pub(super) fn between(made: &Objects, there: Objects, is_harmless: fn(&str) -> bool) -> Self {
        let mut differences = Self::default();
        for (name, object) in made {
            match there.get(name) {
                Some(found) if found == object => {}
                Some(_) => differences.missing.push(format!("{name} (altered)")),
                // Of a missing table everything is.
                None if name.starts_with("column ") && !there.contains_key(&format!("table {}", object.0)) => {}
                None => differences.missing.push(format!("{name} is missing")),
            }
        }
        let own: BTreeSet<&String> = made.values().map(|(table, _)| table).collect();
        let foreign = there.into_iter().filter(|(name, _)| !made.contains_key(name));
        let (meddling, added): (Vec<_>, Vec<_>) =
            foreign.partition(|(name, (table, _))| own.contains(table) && !is_harmless(name));
        differences.meddling =
            meddling.into_iter().map(|(name, _)| format!("{name} is not avert's (drop it)")).collect();
        differences.added = added.into_iter().map(|(name, _)| name).collect();
        differences
    }

    /// Refuses a schema that nothing works on; `place` stands before the words.
    pub(super) fn check(&self, place: &str) -> StoreResult<()> {
        let faults = [&self.missing[..], &self.meddling].concat().join(", ");
        let words = format!("{place}its schema was changed: {faults}");
        match (self.missing.is_empty(), faults.is_empty()) {
            (_, true) => Ok(()),
            (true, false) => Err(StoreError::Unusable(words)),
            (false, false) => Err(StoreError::Refused(RefusalCause::Damaged, words)),
        }
    }
}
