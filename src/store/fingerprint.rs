//! Fingerprint of a schema: what is in a database, compared with what its steps make. Missing and foreign objects are
//! named.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, RefusalCause, StoreError, StoreResult};

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

    /// Finding on the harmless additions.
    pub(super) fn finding(&self) -> Finding {
        match self.added.join(", ") {
            added if added.is_empty() => Finding::fine("schema", "as its steps made it"),
            added => Finding::notice("schema", format!("avert did not make: {added}"), "nothing, where it is meant"),
        }
    }
}
