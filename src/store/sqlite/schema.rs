//! The schema of a database file, seen from outside; and its objects, compared with those that its steps make. The
//! steps are applied to an empty database in memory.

use std::path::Path;

use rusqlite::Connection;

use super::{
    connection,
    files::{directory_of, is_regular, unusable},
    migrate::{MIGRATIONS, applied, inspect, make_schema},
    sql::Statements as _,
    staging::{being_restored, is_pending},
};
use crate::{
    SchemaState, StoreResult,
    schema::{Differences, Objects},
};

/// Inspects the schema of a database file without changing anything; a missing file is empty.
///
/// # Errors
/// [`Newer`](crate::StoreError::Newer) where the schema is a newer one,
/// [`Unusable`](crate::StoreError::Unusable) where it is altered or another program's.
pub fn schema_of(path: &Path) -> StoreResult<SchemaState> {
    if is_pending(path) {
        return Err(being_restored(directory_of(path)));
    }
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(SchemaState::after(0, MIGRATIONS));
    }
    if !is_regular(path) {
        return Err(unusable(path, "is no file"));
    }
    let applied = || -> StoreResult<usize> {
        let conn = connection::open_untouched(path)?;
        inspect(&conn, path)?;
        let applied = applied(&conn, path, MIGRATIONS)?;
        if applied > 0 {
            check(&conn, path, applied)?;
        }
        Ok(applied)
    };
    Ok(SchemaState::after(applied().map_err(|error| error.at(path))?, MIGRATIONS))
}

/// Compares a database with its first steps.
pub(super) fn compare(conn: &Connection, steps: usize) -> StoreResult<Differences> {
    let model = Connection::open_in_memory()?;
    make_schema(&model, &MIGRATIONS[..steps])?;
    Ok(Differences::between(&objects(&model)?, objects(conn)?, |_| false))
}

/// Refuses a database whose schema is not the one that its first steps make.
pub(super) fn check(conn: &Connection, path: &Path, steps: usize) -> StoreResult<()> {
    let differences = compare(conn, steps)?;
    if !differences.added.is_empty() {
        let foreign = differences.added.join(", ");
        tracing::warn!(foreign, "the database has tables or views that are not avert's");
    }
    differences.check(&format!("{}: ", path.display()))
}

/// Everything but what SQLite makes for itself. Blanks and quotation marks are as its version writes them.
fn objects(conn: &Connection) -> StoreResult<Objects> {
    let sql = "SELECT type || ' ' || name || iif(type = 'trigger', ' on ' || tbl_name, ''), tbl_name, coalesce(sql, '')
        FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let plain = |sql: String| sql.chars().filter(|letter| !letter.is_whitespace() && *letter != '"').collect();
    let all = conn.all(sql, &[], |row| Ok((row.get(0)?, (row.get(1)?, plain(row.get(2)?)))))?;
    Ok(all.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn told(change: &str) -> Differences {
        let conn = Connection::open_in_memory().unwrap();
        make_schema(&conn, MIGRATIONS).unwrap();
        conn.execute_batch(change).unwrap();
        compare(&conn, MIGRATIONS.len()).unwrap()
    }

    #[rstest]
    #[case("DROP INDEX delivery_pending", "index delivery_pending is missing")]
    #[case("DROP TABLE alert_count", "table alert_count is missing")]
    #[case(
        "CREATE TRIGGER evil AFTER INSERT ON outcome BEGIN DELETE FROM delivery; END",
        "trigger evil on outcome is not avert's (drop it)"
    )]
    #[case("CREATE UNIQUE INDEX own ON alert (provider)", "index own is not avert's (drop it)")]
    #[case(
        "DROP INDEX delivery_pending; CREATE INDEX delivery_pending ON delivery (due)",
        "index delivery_pending (altered)"
    )]
    #[case("ALTER TABLE alert ADD COLUMN mine TEXT", "table alert (altered)")]
    fn what_is_missing_altered_or_foreign_is_named(#[case] change: &str, #[case] fault: &str) {
        let Differences { missing, meddling, added } = told(change);

        let faults = [missing, meddling].concat();
        assert!(faults.iter().any(|told| told == fault) && added.is_empty(), "{faults:?} {added:?}");
    }

    #[test]
    fn tables_and_views_of_others_are_told_and_are_no_fault() {
        let told = told(
            "ANALYZE; CREATE TABLE notes (n INTEGER); CREATE INDEX by_n ON notes (n); CREATE VIEW report AS SELECT * \
                FROM alert",
        );

        assert_eq!(
            told,
            Differences {
                added: ["index by_n", "table notes", "view report"].map(str::to_owned).into(),
                ..Differences::default()
            }
        );
    }

    #[test]
    fn each_step_is_measured_by_itself() {
        let conn = Connection::open_in_memory().unwrap();
        make_schema(&conn, &MIGRATIONS[..7]).unwrap();

        assert_eq!(compare(&conn, 7).unwrap(), Differences::default());
        assert!(!compare(&conn, 8).unwrap().missing.is_empty());
    }
}
