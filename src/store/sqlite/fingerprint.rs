//! Fingerprint of the schema: what is in a database beside what its steps make. The steps themselves are the measure:
//! they are applied to an empty database in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::Connection;

use super::migrate::{MIGRATIONS, make_schema};
use super::statements::Statements as _;
use crate::store::{RefusalCause, StoreError, StoreResult};

/// Objects of a schema by kind and name: the table that each belongs to, and the statement that made it.
type Objects = BTreeMap<(String, String), (String, String)>;

/// Deviations of a schema, in words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Deviations {
    /// What is missing, altered, or hangs on a table of avert's and is not its own.
    pub(super) faults: Vec<String>,
    /// Tables and views that are not avert's, and what hangs on those: nothing goes through them.
    pub(super) foreign: Vec<String>,
}

/// Compares a database with its first steps.
pub(super) fn deviations(conn: &Connection, steps: usize) -> StoreResult<Deviations> {
    let model = Connection::open_in_memory()?;
    make_schema(&model, MIGRATIONS.iter().take(steps))?;
    let (wanted, found) = (objects(&model)?, objects(conn)?);
    let own: BTreeSet<&String> = wanted.values().map(|(table, _)| table).collect();
    let mut told = Deviations::default();
    for ((kind, name), object) in &wanted {
        match found.get(&(kind.clone(), name.clone())) {
            None => told.faults.push(format!("{kind} {name} is missing")),
            Some(other) if other != object => told.faults.push(format!("{kind} {name} is not as avert makes it")),
            Some(_) => {}
        }
    }
    for ((kind, name), (table, _)) in found.iter().filter(|(object, _)| !wanted.contains_key(object)) {
        match own.contains(table) {
            true => told.faults.push(format!("{kind} {name} on {table} is not avert's (drop it)")),
            false => told.foreign.push(format!("{kind} {name}")),
        }
    }
    Ok(told)
}

/// Refuses a database whose schema is not the one that its first steps make.
pub(super) fn check(conn: &Connection, path: &Path, steps: usize) -> StoreResult<()> {
    let Deviations { faults, foreign } = deviations(conn, steps)?;
    if !foreign.is_empty() {
        tracing::warn!(foreign = foreign.join(", "), "the database has tables or views that are not avert's");
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(StoreError::Refused(
            RefusalCause::Damaged,
            format!("{}: its schema was changed: {}", path.display(), faults.join(", ")),
        )),
    }
}

/// Everything but what SQLite makes for itself. Blanks and quotation marks are as its version writes them.
fn objects(conn: &Connection) -> StoreResult<Objects> {
    let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' \
        ESCAPE '\\'";
    let plain = |sql: String| sql.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
    let all = conn.all(sql, [], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, plain(row.get(3)?)))))?;
    Ok(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn told(change: &str) -> Deviations {
        let conn = Connection::open_in_memory().unwrap();
        make_schema(&conn, MIGRATIONS.iter()).unwrap();
        conn.execute_batch(change).unwrap();
        deviations(&conn, MIGRATIONS.len()).unwrap()
    }

    #[rstest]
    #[case("DROP INDEX delivery_pending", "index delivery_pending is missing")]
    #[case("DROP TABLE alert_count", "table alert_count is missing")]
    #[case(
        "CREATE TRIGGER evil AFTER INSERT ON outcome BEGIN DELETE FROM delivery; END",
        "trigger evil on outcome is not avert's (drop it)"
    )]
    #[case("CREATE UNIQUE INDEX own ON alert (provider)", "index own on alert is not avert's (drop it)")]
    #[case(
        "DROP INDEX delivery_pending; CREATE INDEX delivery_pending ON delivery (due)",
        "index delivery_pending is not as avert makes it"
    )]
    #[case("ALTER TABLE alert ADD COLUMN mine TEXT", "table alert is not as avert makes it")]
    fn what_is_missing_altered_or_foreign_is_named(#[case] change: &str, #[case] fault: &str) {
        let Deviations { faults, foreign } = told(change);

        assert!(faults.iter().any(|told| told == fault) && foreign.is_empty(), "{faults:?} {foreign:?}");
    }

    #[test]
    fn tables_and_views_of_others_are_told_and_are_no_fault() {
        let told = told(
            "ANALYZE; CREATE TABLE notes (n INTEGER); CREATE INDEX by_n ON notes (n); CREATE VIEW report AS SELECT * \
                FROM alert",
        );

        assert_eq!(
            told,
            Deviations {
                faults: vec![],
                foreign: ["index by_n", "table notes", "view report"].map(str::to_owned).into()
            }
        );
    }

    #[test]
    fn each_step_is_measured_by_itself() {
        let conn = Connection::open_in_memory().unwrap();
        make_schema(&conn, MIGRATIONS.iter().take(7)).unwrap();

        assert_eq!(deviations(&conn, 7).unwrap(), Deviations::default());
        assert!(!deviations(&conn, 8).unwrap().faults.is_empty());
    }
}
