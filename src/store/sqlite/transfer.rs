//! A database file as one end of a copy: its rows as they are carried, read from one state and written batch by batch.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use async_trait::async_trait;
use rusqlite::{Connection, config::DbConfig};

use super::{
    connection::{self, Purpose},
    counts::counted,
    files::{directory_of, make_directory, open_or_make, unusable},
    find_index,
    instance::Gate,
    interned::Dictionary,
    migrate::{self, MIGRATIONS, applied, inspect_any, migrate},
    restore,
    schema::schema_of,
    sql::Statements as _,
    staging::{being_restored, is_pending},
};

use crate::{
    SchemaState, StoreError, StoreResult,
    cells::{SqlValue, ToCell},
    portable::{
        AUDIT_START, CopyEnd, CopyMark, Occupant, PortableColumn, PortableRow, PortableTable, UNFINISHED_COPY,
        require_current,
    },
    sql::{StoreRows, on_sqlite},
};

/// One end of a copy. Nobody else opens the directory meanwhile.
pub(crate) struct SqliteEnd {
    file: PathBuf,
    conn: Connection,
    dictionary: Dictionary,
    _gate: Gate,
}

impl SqliteEnd {
    /// Opens the source of a copy as it is now.
    pub(crate) fn source(file: &Path) -> StoreResult<Self> {
        require_current(&schema_of(file)?).map_err(|error| error.of(&file.display()))?;
        let gate = shut(file)?;
        let conn = connection::open(file, Purpose::Read)?;
        conn.execute_batch("BEGIN")?;
        Ok(Self::of(file, conn, gate))
    }

    /// Opens the target of a copy; an empty file is made where there is none.
    pub(crate) fn target(file: &Path) -> StoreResult<Self> {
        make_directory(directory_of(file))?;
        let gate = shut(file)?;
        if is_pending(file) {
            return Err(being_restored(directory_of(file)));
        }
        open_or_make(file).map_err(StoreError::of_file(file, "cannot be written"))?;
        Ok(Self::of(file, connection::open(file, Purpose::Write)?, gate))
    }

    fn of(file: &Path, conn: Connection, gate: Gate) -> Self {
        Self { file: file.to_owned(), conn, dictionary: Dictionary::new(), _gate: gate }
    }

    /// A cell as it is stored: words and ids that alerts share stand for themselves once.
    fn stored<'c>(
        &mut self,
        column: &PortableColumn,
        cell: &'c SqlValue<'static>,
    ) -> StoreResult<Cow<'c, SqlValue<'static>>> {
        Ok(match (column.kind.as_str(), cell) {
            ("word", SqlValue::Text(word)) => Cow::Owned(self.dictionary.words.intern(&self.conn, word)?.into()),
            ("reference", SqlValue::Bytes(id)) => Cow::Owned(self.dictionary.ids.intern(&self.conn, id)?.into()),
            (_, cell) => Cow::Borrowed(cell),
        })
    }
}

#[async_trait(?Send)]
impl CopyEnd for SqliteEnd {
    async fn occupant(&mut self) -> StoreResult<Occupant> {
        let Self { file, conn, .. } = self;
        inspect_any(conn, file)?;
        let (schema, mark) =
            (SchemaState::after(applied(conn, file, MIGRATIONS)?, MIGRATIONS), migrate::read_mark(conn)?);
        let occupant = Occupant::of(&on_sqlite(conn), mark, schema).await;
        occupant.map_err(|fault| StoreError::from(fault).of(&file.display()))
    }

    fn store_rows(&mut self) -> StoreRows<'_> {
        on_sqlite(&mut self.conn)
    }

    /// Its directory is shut.
    async fn stood_still(&self) -> StoreResult<()> {
        Ok(())
    }

    async fn begin(&mut self, mark: &CopyMark, found: &Occupant) -> StoreResult<()> {
        if matches!(found, Occupant::Copy(_)) {
            // The rows of the unfinished copy go.
            self.conn.flush_prepared_statement_cache();
            self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, true)?;
            self.conn.execute_batch("VACUUM")?;
            self.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_RESET_DATABASE, false)?;
        }
        migrate::put_mark(&self.conn, mark)?;
        let _mode: String = self.conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        migrate(&mut self.conn, &self.file, MIGRATIONS, &|_| ())?;
        // The log is as large as the pages that are not moved from it into the file.
        Ok(self.conn.execute_batch("PRAGMA wal_autocheckpoint = 16384")?)
    }

    async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        let changed = ["alert", "event"].contains(&table.name).then_some("changed");
        let mut insert = table.insertion(changed);
        if table.name == AUDIT_START {
            // The beginning of the audit log is there already.
            insert = insert.replacen("INSERT", "INSERT OR REPLACE", 1);
        }
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        for row in rows {
            let cells = table.columns.iter().zip(row).map(|(column, cell)| self.stored(column, cell));
            let cells: Vec<Cow<'_, SqlValue<'static>>> = cells.collect::<StoreResult<_>>()?;
            let number = changed.map(|_| &1_i64 as &dyn ToCell);
            let values: Vec<&dyn ToCell> = cells.iter().map(|cell| &**cell as &dyn ToCell).chain(number).collect();
            self.conn.run(&insert, &values)?;
        }
        Ok(self.conn.execute_batch("COMMIT")?)
    }

    async fn index_behind(&self, key: i64) -> StoreResult<Option<i64>> {
        self.conn.execute_batch("BEGIN IMMEDIATE")?;
        let last = find_index::index_behind(&self.conn, key)?;
        self.conn.execute_batch("COMMIT")?;
        Ok(last)
    }

    async fn finish(&self, _tables: &[PortableTable], newest_entry: i64) -> StoreResult<()> {
        Ok(self.conn.execute_batch(&format!(
            "BEGIN IMMEDIATE; INSERT INTO alert_count SELECT *, 1 FROM ({});
             UPDATE sqlite_sequence SET seq = {newest_entry} WHERE name = 'audit';
             UPDATE change_number SET number = number + 1; DROP TABLE {UNFINISHED_COPY}; COMMIT;
             PRAGMA wal_checkpoint(TRUNCATE)",
            counted()
        ))?)
    }
}

/// Keeps all others out of the directory.
fn shut(file: &Path) -> StoreResult<Gate> {
    restore::shut(file)?.ok_or_else(|| unusable(file, "another avert works on it; stop it first"))
}
