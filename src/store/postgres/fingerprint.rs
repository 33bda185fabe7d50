//! Fingerprint of the schema: what its steps have made, compared with what there is. Missing and foreign objects are
//! named.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::connection::Connection;
use super::fault::Work;
use crate::store::{Finding, RefusalCause, StoreError};

/// Objects by the steps that make them (`FIRST`, or `FIRST-LAST` where a later step takes them away; 0 where the server
/// can have them or not): table, name, definition.
const MADE: &str = include_str!("../../../assets/postgres/objects.txt");

/// Objects in the schema with their table, name and definition, in the words of [`MADE`].
const THERE: &str = include_str!("../../../assets/postgres/objects.sql");

/// Differences between the schema and what its steps made.
#[derive(Debug, Default)]
pub(super) struct Differences {
    /// Missing or altered.
    missing: Vec<String>,
    /// Foreign, and able to change or refuse what is stored.
    meddling: Vec<String>,
    /// Foreign, and harmless.
    added: Vec<String>,
}

/// Compares the schema with what so many steps made.
pub(super) async fn compare(conn: &Connection, applied: usize) -> Work<Differences> {
    let read = |row: &Row| Ok((row.try_get(1)?, (row.try_get(0)?, row.try_get(2)?)));
    let there: BTreeMap<String, (String, String)> = conn.all(THERE, &[], read).await?.into_iter().collect();
    let made: BTreeMap<&str, Made> = MADE.lines().filter_map(|line| made_by(line, applied)).collect();
    let is_made = |table: &str| made.contains_key(&*format!("table {table}"));
    let mut differences = Differences::default();
    for (name, object) in made.iter().filter(|(_, object)| !object.optional) {
        match there.get(*name) {
            Some((_, found)) if found == object.definition => {}
            Some(_) => differences.missing.push(format!("{name} (altered)")),
            // Of a missing table everything is.
            None if name.starts_with("column ") && !there.contains_key(&format!("table {}", object.table)) => {}
            None => differences.missing.push((*name).to_owned()),
        }
    }
    let foreign = there
        .into_iter()
        .filter(|(name, (table, _))| !made.contains_key(&**name) && is_made(table))
        .map(|(name, _)| name);
    (differences.meddling, differences.added) =
        foreign.partition(|name| !name.starts_with("index ") && !name.starts_with("column "));
    Ok(differences)
}

/// An object that a step makes.
struct Made {
    table: &'static str,
    definition: &'static str,
    optional: bool,
}

/// The object of a line, where it is there after so many steps.
fn made_by(line: &'static str, applied: usize) -> Option<(&'static str, Made)> {
    let mut fields = line.split('|').map(str::trim);
    let mut steps = fields.next()?.split('-').filter_map(|step| step.parse::<usize>().ok());
    let (first, last) = (steps.next()?, steps.next().unwrap_or(applied));
    let (table, name, definition) = (fields.next()?, fields.next()?, fields.next()?);
    (first..=last).contains(&applied).then_some((name, Made { table, definition, optional: first == 0 }))
}

impl Differences {
    /// Why nothing works on such a schema, where that is so.
    pub(super) fn refusal(&self) -> Option<StoreError> {
        let (missing, meddling) = (self.missing.join(", "), self.meddling.join(", "));
        match (missing.is_empty(), meddling.is_empty()) {
            (true, true) => None,
            (true, false) => Some(StoreError::Unusable(format!(
                "avert did not make this in its schema: {meddling}; drop it to go on"
            ))),
            (false, _) => Some(StoreError::Refused(RefusalCause::Damaged, format!("missing in its schema: {missing}"))),
        }
    }

    /// What was added that is harmless.
    pub(super) fn finding(&self) -> Finding {
        match self.added.join(", ") {
            added if added.is_empty() => Finding::fine("schema", "as its steps made it"),
            added => Finding::notice("schema", format!("avert did not make: {added}"), "nothing, where it is meant"),
        }
    }
}
