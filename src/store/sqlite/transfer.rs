//! A database file as one end of a copy: its rows as they are carried, read from one state and written batch by batch.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::connection::{self, Purpose};
use super::copy_mark;
use super::files::{directory_of, make_directory, make_file, unusable, with_suffix};
use super::find_index;
use super::instance::Gate;
use super::interned::Dictionary;
use super::migrate::{MIGRATIONS, migrate};
use super::schema::{schema_of, schema_of_any};
use super::statements::{Statements as _, cell};
use crate::store::copy_mark::{CopyMark, Occupant, UNFINISHED_COPY};
use crate::store::portable::{
    AUDIT_START, BATCH, COUNTS, PROBED, PortableCell, PortableKind, PortableRow, PortableTable, search_text_of,
};
use crate::store::{SchemaState, StoreError, StoreResult};

/// One end of a copy. Nobody else opens the directory meanwhile.
pub(in crate::store) struct SqliteEnd {
    file: PathBuf,
    conn: Connection,
    dictionary: Dictionary,
    occupant: Occupant,
    _gate: Gate,
}

/// What was copied is moved from the log into the file now and then: the log is as large as what is not.
const CHECKPOINTS: &str = "PRAGMA wal_autocheckpoint = 16384";

impl SqliteEnd {
    /// What is copied from, as it is now.
    pub(in crate::store) fn source(file: &Path) -> StoreResult<Self> {
        match schema_of(file)? {
            SchemaState::Current => {}
            SchemaState::Empty(_) => return Err(unusable(file, "holds nothing to copy; name the right file")),
            SchemaState::Waiting(_) => {
                return Err(unusable(
                    file,
                    "its schema waits for steps of this avert; apply them with `avert migrate`",
                ));
            }
        }
        let gate = shut(file)?;
        let conn = connection::open(file, Purpose::Read)?;
        conn.execute_batch("BEGIN")?;
        let occupant = occupant(&conn)?;
        Ok(Self { file: file.to_owned(), conn, dictionary: Dictionary::new(), occupant, _gate: gate })
    }

    /// What is copied to; an empty file is made where there is none.
    pub(in crate::store) fn target(file: &Path) -> StoreResult<Self> {
        make_directory(directory_of(file))?;
        let gate = shut(file)?;
        let state = schema_of_any(file)?;
        let conn = open_target(file)?;
        let occupant = match (state, copy_mark::read(&conn)?) {
            (SchemaState::Waiting(_), Some(_)) => {
                return Err(unusable(
                    file,
                    "is an unfinished copy that an older avert made; remove it, and copy again",
                ));
            }
            (SchemaState::Waiting(_), None) => {
                return Err(unusable(file, "holds another desk, of an older avert; name a file that is not there yet"));
            }
            (_, Some(mark)) => Occupant::Copy(mark),
            (SchemaState::Empty(_), None) => Occupant::Nobody,
            (SchemaState::Current, None) => occupant(&conn)?,
        };
        Ok(Self { file: file.to_owned(), conn, dictionary: Dictionary::new(), occupant, _gate: gate })
    }

    /// What is in it.
    pub(in crate::store) fn occupant(&self) -> Occupant {
        self.occupant.clone()
    }

    /// What tells that it is as it was: its newest change, and the newest entry of the audit log.
    pub(in crate::store) fn state(&self) -> StoreResult<String> {
        let changes: i64 = self.conn.one("SELECT number FROM change_number", [], cell)?;
        Ok(format!("{changes} {}", self.newest_entry()?))
    }

    /// Marks it as a copy that is not finished, and makes the tables. What is there of the same copy stays, or goes
    /// where it begins anew.
    pub(in crate::store) fn begin(&mut self, mark: &CopyMark, anew: bool) -> StoreResult<()> {
        let is_marked = matches!(self.occupant, Occupant::Copy(_));
        if is_marked && anew {
            self.remove()?;
        }
        if anew || !is_marked {
            copy_mark::put(&self.conn, mark)?;
        }
        let _mode: String = self.conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        migrate(&mut self.conn, &self.file, MIGRATIONS, &|_| ())?;
        Ok(self.conn.execute_batch(CHECKPOINTS)?)
    }

    /// Takes away what an unfinished copy has left.
    fn remove(&mut self) -> StoreResult<()> {
        // The file is closed first.
        self.conn = Connection::open_in_memory()?;
        for suffix in ["", "-wal", "-shm"] {
            match fs::remove_file(with_suffix(&self.file, suffix)) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(unusable(&self.file, &format!("the unfinished copy cannot be removed: {error}")));
                }
                _ => {}
            }
        }
        self.conn = open_target(&self.file)?;
        Ok(())
    }

    /// How many rows a table has, those included that are not carried.
    pub(in crate::store) fn count(&self, table: &PortableTable) -> StoreResult<u64> {
        Ok(self.conn.one(&format!("SELECT count(*) FROM {}", table.name), [], cell::<i64>)?.unsigned_abs())
    }

    /// The last row of a table; of the counts, which come all at once, any.
    pub(in crate::store) fn last(&self, table: &PortableTable) -> StoreResult<Option<PortableRow>> {
        let columns: Vec<String> = table.columns.iter().map(|column| read(*column)).collect();
        let keys: Vec<String> = table.key_columns().map(|key| format!("{} DESC", column_name(key))).collect();
        let sql = format!("SELECT {} FROM {} t ORDER BY {} LIMIT 1", columns.join(", "), table.name, keys.join(", "));
        self.conn.first(&sql, [], |row| cells(table, row))
    }

    /// The next rows of a table, those behind this one.
    pub(in crate::store) fn rows(
        &self,
        table: &PortableTable,
        after: Option<&PortableRow>,
    ) -> StoreResult<Vec<PortableRow>> {
        let columns: Vec<String> = table.columns.iter().map(|column| read(*column)).collect();
        let columns = columns.join(", ");
        let name = table.name;
        if name == COUNTS {
            // All at once: they are few, and told apart by words.
            let all = format!("SELECT {columns} FROM {name} t WHERE alerts > 0 ORDER BY 1, 2, 3, 4, 5, 6, 7");
            return if after.is_some() { Ok(Vec::new()) } else { self.conn.all(&all, [], |row| cells(table, row)) };
        }
        let keys: Vec<&str> = table.key_columns().map(column_name).collect();
        let keys = keys.join(", ");
        let (behind, values) = match after {
            Some(last) => {
                let places: Vec<String> = (1..=table.key).map(|place| format!("?{place}")).collect();
                (format!("({keys}) > ({})", places.join(", ")), last[..table.key].iter().map(plain).collect())
            }
            None => ("1".to_owned(), Vec::new()),
        };
        let condition = if name == "fact" { format!("{behind} AND name <> '{PROBED}'") } else { behind };
        let sql = format!("SELECT {columns} FROM {name} t WHERE {condition} ORDER BY {keys} LIMIT {BATCH}");
        self.conn.all(&sql, params_from_iter::<Vec<Value>>(values), |row| cells(table, row))
    }

    /// Stores rows, and commits them.
    pub(in crate::store) fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        if table.name == AUDIT_START {
            rows.iter().try_for_each(|row| self.begin_audit(row))?;
        } else {
            self.insert(table, rows)?;
        }
        Ok(self.conn.execute_batch("COMMIT")?)
    }

    fn insert(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        let name = table.name;
        let marked = ["alert", "event", COUNTS].contains(&name);
        let mut columns: Vec<&str> = table.columns.iter().map(|(column, _)| column_name(column)).collect();
        columns.extend(marked.then_some("changed"));
        let places: Vec<String> = (1..=columns.len()).map(|place| format!("?{place}")).collect();
        let insert = format!("INSERT INTO {name} ({}) VALUES ({})", columns.join(", "), places.join(", "));
        for row in rows {
            let mut values = Vec::with_capacity(columns.len());
            for ((column, kind), cell) in table.columns.iter().zip(row) {
                values.push(match (kind, cell) {
                    (PortableKind::Word, PortableCell::Text(word)) => {
                        Value::Integer(self.dictionary.words.intern(&self.conn, word)?)
                    }
                    // Where there is none, the counts have a number in its place.
                    (PortableKind::Word, PortableCell::Null) if name == COUNTS && *column == "outcome" => {
                        Value::Integer(0)
                    }
                    (PortableKind::Reference, PortableCell::Bytes(id)) => {
                        Value::Integer(self.dictionary.ids.intern(&self.conn, id)?)
                    }
                    (_, cell) => plain(cell),
                });
            }
            values.extend(marked.then_some(Value::Integer(1)));
            self.conn.run(&insert, params_from_iter(values))?;
            if name == "alert" {
                self.index_text(table, row)?;
            }
        }
        Ok(())
    }

    /// Has searches find an alert.
    fn index_text(&self, table: &PortableTable, row: &PortableRow) -> StoreResult<()> {
        let text = search_text_of(table, row);
        let (key, organization) = (plain(&row[0]), plain(&row[1]));
        self.conn.run(
            "INSERT INTO alert_search (alert, organization, text) VALUES (?1, ?2, ?3)",
            (&key, organization, &text),
        )?;
        self.conn.run("INSERT INTO alert_trigram (rowid, text) VALUES (?1, ?2)", (key, text))?;
        Ok(())
    }

    /// Has the audit log begin where it does at the source: the entry before it is not there any more.
    fn begin_audit(&self, row: &PortableRow) -> StoreResult<()> {
        const TRIGGER: &str = "audit_start_goes_on";
        let sql: Option<String> = self
            .conn
            .query_row("SELECT sql FROM sqlite_schema WHERE name = ?1", [TRIGGER], |row| row.get(0))
            .optional()?;
        let sql = sql.ok_or_else(|| StoreError::Corrupt(format!("the trigger {TRIGGER} is missing")))?;
        self.conn.execute_batch(&format!("DROP TRIGGER {TRIGGER}"))?;
        self.conn.run("UPDATE audit_start SET number = ?1, hash = ?2", (plain(&row[1]), plain(&row[2])))?;
        Ok(self.conn.execute_batch(&sql)?)
    }

    /// The newest number that an entry of the audit log was ever given.
    pub(in crate::store) fn newest_entry(&self) -> StoreResult<i64> {
        Ok(self.conn.first("SELECT seq FROM sqlite_sequence WHERE name = 'audit'", [], cell)?.unwrap_or(0))
    }

    /// How many alerts the search over all fields knows, and how many there are.
    pub(in crate::store) fn indexed(&self) -> StoreResult<(u64, u64)> {
        let counted = format!(
            "SELECT count(*) FILTER (WHERE key <= (SELECT indexed FROM {UNFINISHED_COPY})), count(*) FROM alert"
        );
        self.conn
            .one(&counted, [], |row| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get::<_, i64>(1)?.unsigned_abs())))
    }

    /// Has the search over all fields know the next alerts, and commits that; how many there were.
    pub(in crate::store) fn index(&self) -> StoreResult<u64> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        let last = self.conn.one(&format!("SELECT indexed FROM {UNFINISHED_COPY}"), [], cell)?;
        let keys = find_index::index_behind(&self.conn, last)?;
        self.conn.run(&format!("UPDATE {UNFINISHED_COPY} SET indexed = ?1"), [keys.last().copied().unwrap_or(last)])?;
        self.conn.execute_batch("COMMIT")?;
        Ok(keys.len() as u64)
    }

    /// Has the next copy begin anew: this one is not what the source is.
    pub(in crate::store) fn give_up(&self) -> StoreResult<()> {
        self.conn.run(&format!("UPDATE {UNFINISHED_COPY} SET state = ''"), [])?;
        Ok(())
    }

    /// Ends the copy: it is a desk.
    pub(in crate::store) fn finish(&self, newest_entry: i64) -> StoreResult<()> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        self.conn.run("UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'audit'", [newest_entry])?;
        self.conn.run("UPDATE change_number SET number = number + 1", [])?;
        Ok(self
            .conn
            .execute_batch(&format!("DROP TABLE {UNFINISHED_COPY}; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"))?)
    }
}

/// Keeps everybody else out.
fn shut(file: &Path) -> StoreResult<Gate> {
    let instances = file.with_file_name("instances");
    let gate = Gate::shut(&instances).map_err(|error| unusable(&instances, &error.to_string()))?;
    gate.ok_or_else(|| unusable(file, "another avert works on it; stop it first"))
}

fn open_target(file: &Path) -> StoreResult<Connection> {
    match make_file(file) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            Err(unusable(file, &format!("cannot be made: {error}")))
        }
        _ => connection::open(file, Purpose::Write),
    }
}

/// The desk in a file with all tables, where there is one.
fn occupant(conn: &Connection) -> StoreResult<Occupant> {
    let desk = conn.first("SELECT value FROM fact WHERE name = 'database'", [], cell)?;
    Ok(desk.map_or(Occupant::Nobody, Occupant::Desk))
}

/// A column as it is called here.
fn column_name(name: &'static str) -> &'static str {
    if name == "single" { "only" } else { name }
}

fn read((name, kind): (&'static str, PortableKind)) -> String {
    let name = column_name(name);
    match kind {
        PortableKind::Word => format!("(SELECT value FROM word WHERE key = t.{name})"),
        PortableKind::Reference => format!("(SELECT value FROM reference WHERE key = t.{name})"),
        _ => format!("t.{name}"),
    }
}

fn plain(cell: &PortableCell) -> Value {
    match cell {
        PortableCell::Null => Value::Null,
        PortableCell::Number(number) => Value::Integer(*number),
        PortableCell::Text(text) => Value::Text(text.clone()),
        PortableCell::Bytes(bytes) => Value::Blob(bytes.clone()),
    }
}

fn cells(table: &PortableTable, row: &rusqlite::Row<'_>) -> StoreResult<PortableRow> {
    let cell = |place: usize| {
        Ok(match row.get_ref(place)? {
            ValueRef::Null => PortableCell::Null,
            ValueRef::Integer(number) => PortableCell::Number(number),
            ValueRef::Text(text) => PortableCell::Text(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Blob(bytes) => PortableCell::Bytes(bytes.to_vec()),
            ValueRef::Real(_) => {
                let (column, _) = table.columns[place];
                return Err(StoreError::Corrupt(format!("a fraction in {}.{}", table.name, column)));
            }
        })
    };
    (0..table.columns.len()).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::portable::TABLES;

    #[test]
    fn every_column_of_the_tables_is_carried() {
        let directory = tempfile::tempdir().unwrap();
        let mut end = SqliteEnd::target(&directory.path().join("avert.db")).unwrap();
        end.begin(&CopyMark { source: "another".to_owned(), desk: Vec::new(), state: String::new() }, false).unwrap();

        for table in TABLES.iter() {
            let sql = "SELECT name FROM pragma_table_info(?1) WHERE name <> 'changed'";
            let there: BTreeSet<String> = end.conn.all(sql, [table.name], cell).unwrap().into_iter().collect();
            let carried: BTreeSet<String> =
                table.columns.iter().map(|(name, _)| column_name(name).to_owned()).collect();
            assert_eq!(carried, there, "{}", table.name);
        }
    }
}
