//! A database on a server as one end of a copy: its rows as they are carried, read from one snapshot and written batch
//! by batch.

use std::borrow::Cow;

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::chain;
use super::columns::{Columns, ManyCells};
use super::connection::Connection;
use super::copy_mark;
use super::counts;
use super::fault::Work;
use super::find;
use super::liveness::DEAD_AFTER;
use super::look::connect;
use super::migrate;
use super::pool::Pool;
use super::statements::{cell, storable};
use crate::domain::database::PostgresAddress;
use crate::store::copy_mark::{CopyMark, Occupant, UNFINISHED_COPY};
use crate::store::portable::{
    AUDIT_START, BATCH, COUNTS, PROBED, PortableCell, PortableKind, PortableRow, PortableTable, search_text_of,
};
use crate::store::sealed::KEY_CHECK;
use crate::store::{SchemaState, StoreError, StoreResult};

/// One end of a copy.
pub(in crate::store) struct PostgresEnd {
    conn: Connection,
    pool: Pool,
    server: PostgresAddress,
    /// What told of work on it when it began to be read.
    work: String,
    occupant: Occupant,
    /// This run of `avert copy`.
    run: Uuid,
}

/// What tells of work on a database: the newest sign of life, the newest entry of the audit log, and the change number.
const WORK: &str = "SELECT concat_ws(' ', (SELECT max(beat_at) FROM instance), (SELECT number FROM audit_head), \
    (SELECT count(*) FROM audit_pending), last_value, is_called)
    FROM change_number";

/// The same without signs of life: it tells that what is in the database is as it was.
const STATE: &str = "SELECT concat_ws(' ', (SELECT number FROM audit_head), last_value, is_called) FROM change_number";

/// A batch at the other end may take its time.
const PATIENT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'";

impl PostgresEnd {
    /// What is copied from, as it is now. Nobody may be at work on it.
    pub(in crate::store) async fn source(server: &PostgresAddress) -> StoreResult<Self> {
        match migrate::inspect(server).await.map_err(|error| of_server(server, error))? {
            SchemaState::Current => {}
            SchemaState::Empty(_) => {
                return Err(StoreError::Unusable(format!("{server}: holds nothing to copy; name the right database")));
            }
            SchemaState::Waiting(_) => {
                return Err(StoreError::Unusable(format!(
                    "{server}: its schema waits for steps of this avert; apply them with `avert migrate`"
                )));
            }
        }
        let (pool, conn) = connect(server).await?;
        // What a process that was killed had put down is carried as the log that it belongs to.
        chain::link_waiting(&conn).await?;
        conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        conn.batch(PATIENT).await?;
        let work = conn.one(WORK, &[], cell).await?;
        let alive = format!("SELECT count(*) FROM instance WHERE beat_at > clock_timestamp() - {DEAD_AFTER}");
        if conn.one(&alive, &[], cell::<i64>).await? > 0 {
            let words = "another avert works on it; stop all of them first (one that was killed counts for 15 s)";
            return Err(StoreError::Unusable(format!("{server}: {words}")));
        }
        let occupant = occupant(&conn).await?;
        Ok(Self { conn, pool, server: server.clone(), work, occupant, run: Uuid::new_v4() })
    }

    /// What is copied to. Nothing is changed before it begins.
    pub(in crate::store) async fn target(server: &PostgresAddress) -> StoreResult<Self> {
        let (pool, conn) = connect(server).await?;
        conn.batch("SET statement_timeout = 0").await?;
        let occupant = who_is_there(&conn).await.map_err(|fault| of_server(server, fault.into()))?;
        Ok(Self { conn, pool, server: server.clone(), work: String::new(), occupant, run: Uuid::new_v4() })
    }

    /// What is in it.
    pub(in crate::store) fn occupant(&self) -> Occupant {
        self.occupant.clone()
    }

    /// What tells that it is as it was.
    pub(in crate::store) async fn state(&self) -> StoreResult<String> {
        Ok(self.conn.one(STATE, &[], cell).await?)
    }

    /// Marks it as a copy that is not finished, and makes the tables. What is there of the same copy stays, or goes
    /// where it begins anew.
    pub(in crate::store) async fn begin(
        &self,
        tables: &[PortableTable],
        mark: &CopyMark,
        anew: bool,
    ) -> StoreResult<()> {
        migrate::make_lock(&self.conn).await?;
        self.conn.begin("").await?;
        // Nobody makes a desk of it meanwhile.
        self.conn.one("SELECT single FROM schema_lock FOR UPDATE", &[], cell::<i64>).await?;
        if who_is_there(&self.conn).await? != self.occupant {
            return Err(StoreError::Unusable(format!(
                "{}: another process was at work on it meanwhile; run it again",
                self.server
            )));
        }
        copy_mark::put(&self.conn, mark, &self.run).await?;
        if migrate::state_of_any(&self.conn).await? == SchemaState::Current {
            if anew {
                self.empty(tables).await?;
            }
            // The key that was made with the tables has sealed nothing yet: the copy brings its own.
            let unused = "DELETE FROM fact WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM fact WHERE name = 'database')";
            self.conn.run(unused, &[&KEY_CHECK]).await?;
        }
        self.conn.commit("").await?;
        migrate::bring_up(&self.conn).await.map(drop)
    }

    /// Takes away what an unfinished copy has left.
    async fn empty(&self, tables: &[PortableTable]) -> Work<()> {
        let all: Vec<&str> = tables.iter().map(|table| table.name).filter(|name| *name != AUDIT_START).collect();
        let emptied = format!(
            "ALTER TABLE audit DISABLE TRIGGER audit_is_not_emptied; ALTER TABLE audit_start DISABLE TRIGGER \
                audit_start_goes_on;
             TRUNCATE {}, audit_pending;
             UPDATE audit_start SET number = 0, hash = decode(repeat('00', 32), 'hex');
             UPDATE {UNFINISHED_COPY} SET indexed = 0;
             ALTER TABLE audit ENABLE TRIGGER audit_is_not_emptied; ALTER TABLE audit_start ENABLE TRIGGER \
             audit_start_goes_on",
            all.join(", ")
        );
        self.conn.batch(&emptied).await
    }

    async fn begin_batch(&self) -> Work<()> {
        self.conn.begin("ISOLATION LEVEL READ COMMITTED READ WRITE").await?;
        copy_mark::hold(&self.conn, &self.run).await
    }

    /// Refuses a source that was worked on since it is read: what was done there is not in the copy, and would be lost
    /// with it.
    pub(in crate::store) async fn stood_still(&self) -> StoreResult<()> {
        let now = self.pool.take().await?.one(WORK, &[], cell::<String>).await?;
        if now == self.work {
            return Ok(());
        }
        let words = "was worked on while it was copied: stop what serves it, and copy again";
        Err(StoreError::Unusable(format!("{}: {words}", self.server)))
    }

    /// Whether another end is in the same database, however its address is spelt: what one of them has locked the other
    /// cannot lock.
    pub(in crate::store) async fn is_in_the_database_of(&self, other: &Self) -> StoreResult<bool> {
        let (lock, number) = ("SELECT pg_try_advisory_xact_lock($1)", rand::random::<i64>());
        self.conn.one(lock, &[&number], cell::<bool>).await?;
        Ok(!other.conn.one(lock, &[&number], cell::<bool>).await?)
    }

    /// How many rows a table has, those included that are not carried.
    pub(in crate::store) async fn count(&self, table: &PortableTable) -> StoreResult<u64> {
        Ok(self.conn.one(&format!("SELECT count(*) FROM {}", table.name), &[], cell::<i64>).await?.unsigned_abs())
    }

    /// The last row of a table; of the counts, which come all at once, any.
    pub(in crate::store) async fn last(&self, table: &PortableTable) -> StoreResult<Option<PortableRow>> {
        let columns: Vec<&str> = table.columns.iter().map(|(column, _)| *column).collect();
        let keys: Vec<String> = table.key_columns().map(|key| format!("{key} DESC")).collect();
        let sql = format!("SELECT {} FROM {} ORDER BY {} LIMIT 1", columns.join(", "), table.name, keys.join(", "));
        Ok(self.conn.first(&sql, &[], |row| cells(table, row)).await?)
    }

    /// The next rows of a table, those behind this one.
    pub(in crate::store) async fn rows(
        &self,
        table: &PortableTable,
        after: Option<&PortableRow>,
    ) -> StoreResult<Vec<PortableRow>> {
        let name = table.name;
        if name == COUNTS {
            if after.is_some() {
                return Ok(Vec::new());
            }
            let all = format!(
                "SELECT organization, day, provider, type, status, outcome, expired, sum(alerts)::bigint FROM {name}
                 GROUP BY 1, 2, 3, 4, 5, 6, 7 HAVING sum(alerts) <> 0
                 ORDER BY organization, day, provider, type, status, outcome NULLS FIRST, expired"
            );
            return Ok(self.conn.all(&all, &[], |row| cells(table, row)).await?);
        }
        let columns: Vec<&str> = table.columns.iter().map(|(column, _)| *column).collect();
        let keys: Vec<&str> = table.key_columns().collect();
        let keys = keys.join(", ");
        let (behind, values) = match after {
            Some(last) => {
                let places: Vec<String> = (1..=table.key).map(|place| format!("${place}")).collect();
                (
                    format!("({keys}) > ({})", places.join(", ")),
                    table.columns.iter().zip(&last[..table.key]).map(bound).collect(),
                )
            }
            None => ("true".to_owned(), Vec::new()),
        };
        let condition = if name == "fact" { format!("{behind} AND name <> '{PROBED}'") } else { behind };
        let sql = format!("SELECT {} FROM {name} WHERE {condition} ORDER BY {keys} LIMIT {BATCH}", columns.join(", "));
        let values: Vec<Box<dyn ToSql + Sync + Send>> = values;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        Ok(self.conn.all(&sql, &values, |row| cells(table, row)).await?)
    }

    /// Stores rows, and commits them.
    pub(in crate::store) async fn write(&self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        self.begin_batch().await?;
        if table.name == AUDIT_START {
            self.begin_audit(rows).await?;
        } else {
            self.insert(table, rows).await?;
        }
        self.conn.commit("").await?;
        Ok(())
    }

    async fn insert(&self, table: &PortableTable, rows: &[PortableRow]) -> Work<()> {
        let mut columns = Columns::default();
        for (place, (name, kind)) in table.columns.iter().enumerate() {
            columns.add(name, column_of(*kind, rows.iter().map(|row| &row[place])));
        }
        if table.name == "alert" {
            let texts = rows.iter().map(|row| Some(Cow::Owned(search_text_of(table, row)))).collect();
            columns.add("searched", ManyCells::Texts(texts));
        }
        self.conn.run(&columns.insertion(table.name), &columns.values()).await?;
        Ok(())
    }

    /// Has the audit log begin where it does at the source: the entry before it is not there any more.
    async fn begin_audit(&self, rows: &[PortableRow]) -> Work<()> {
        for row in rows {
            let (PortableCell::Number(number), PortableCell::Bytes(hash)) = (&row[1], &row[2]) else {
                return Err(StoreError::Corrupt("the beginning of the audit log".to_owned()).into());
            };
            self.conn.batch("ALTER TABLE audit_start DISABLE TRIGGER audit_start_goes_on").await?;
            self.conn.run("UPDATE audit_start SET number = $1, hash = $2", &[number, hash]).await?;
            self.conn.batch("ALTER TABLE audit_start ENABLE TRIGGER audit_start_goes_on").await?;
        }
        Ok(())
    }

    /// The newest number that an entry of the audit log was ever given.
    pub(in crate::store) async fn newest_entry(&self) -> StoreResult<i64> {
        Ok(self.conn.one("SELECT number FROM audit_head", &[], cell).await?)
    }

    /// How many alerts the search over all fields knows, and how many there are.
    pub(in crate::store) async fn indexed(&self) -> StoreResult<(u64, u64)> {
        let counted = format!(
            "SELECT count(*) FILTER (WHERE key <= (SELECT indexed FROM {UNFINISHED_COPY})), count(*) FROM alert"
        );
        let read = |row: &Row| Ok((row.try_get::<_, i64>(0)?.unsigned_abs(), row.try_get::<_, i64>(1)?.unsigned_abs()));
        Ok(self.conn.one(&counted, &[], read).await?)
    }

    /// Has the search over all fields know the next alerts, and commits that; how many there were.
    pub(in crate::store) async fn index(&self) -> StoreResult<u64> {
        self.begin_batch().await?;
        let last = self.conn.one(&format!("SELECT indexed FROM {UNFINISHED_COPY}"), &[], cell).await?;
        let keys = find::index_behind(&self.conn, last).await?;
        let newest = keys.last().copied().unwrap_or(last);
        self.conn.run(&format!("UPDATE {UNFINISHED_COPY} SET indexed = $1"), &[&newest]).await?;
        self.conn.commit("").await?;
        Ok(keys.len() as u64)
    }

    /// Has the next copy begin anew: this one is not what the source is.
    pub(in crate::store) async fn give_up(&self) -> StoreResult<()> {
        self.conn.run(&format!("UPDATE {UNFINISHED_COPY} SET state = ''"), &[]).await?;
        Ok(())
    }

    /// Ends the copy: it is a desk, and new rows get keys behind those that came.
    pub(in crate::store) async fn finish(&self, tables: &[PortableTable], newest_entry: i64) -> StoreResult<()> {
        self.begin_batch().await?;
        self.conn.batch(counts::TOTALS).await?;
        self.conn.run("UPDATE audit_head SET number = $1", &[&newest_entry]).await?;
        for name in tables.iter().filter(|table| table.counts_keys()).map(|table| table.name) {
            let next = format!(
                "SELECT setval(pg_get_serial_sequence('{name}', 'key'), coalesce(max(key), 0) + 1, false) FROM {name}"
            );
            self.conn.one(&next, &[], cell::<i64>).await?;
        }
        self.conn.batch(&format!("DROP TABLE {UNFINISHED_COPY}")).await?;
        self.conn.commit("SELECT nextval('change_number')").await?;
        Ok(migrate::gather_statistics(&self.conn).await?)
    }
}

/// What is in a database that is copied to.
async fn who_is_there(conn: &Connection) -> Work<Occupant> {
    let unusable = |words: &str| Err(StoreError::Unusable(words.to_owned()).into());
    match (migrate::state_of_any(conn).await?, copy_mark::read(conn).await?) {
        (SchemaState::Waiting(_), Some(_)) => {
            unusable("is an unfinished copy that an older avert made; empty it, and copy again")
        }
        (SchemaState::Waiting(_), None) => unusable("holds another desk, of an older avert; name an empty database"),
        (_, Some(mark)) => Ok(Occupant::Copy(mark)),
        (SchemaState::Empty(_), None) => Ok(Occupant::Nobody),
        (SchemaState::Current, None) => occupant(conn).await,
    }
}

/// The desk in a database with all tables, where there is one.
async fn occupant(conn: &Connection) -> Work<Occupant> {
    let desk = conn.first("SELECT value FROM fact WHERE name = 'database'", &[], cell).await?;
    Ok(desk.map_or(Occupant::Nobody, Occupant::Desk))
}

/// What is wrong with the database at an address.
fn of_server(server: &PostgresAddress, error: StoreError) -> StoreError {
    match error {
        StoreError::Unusable(words) => StoreError::Unusable(format!("{server}: {words}")),
        other => other,
    }
}

fn bound(((_, kind), cell): (&(&'static str, PortableKind), &PortableCell)) -> Box<dyn ToSql + Sync + Send> {
    match cell {
        PortableCell::Null => Box::new(None::<i64>),
        PortableCell::Number(number) => Box::new(*number),
        PortableCell::Text(text) => Box::new(text.clone()),
        PortableCell::Bytes(bytes) => match (kind, Uuid::from_slice(bytes)) {
            (PortableKind::Id | PortableKind::Reference, Ok(id)) => Box::new(id),
            _ => Box::new(bytes.clone()),
        },
    }
}

fn column_of<'a>(kind: PortableKind, cells: impl Iterator<Item = &'a PortableCell>) -> ManyCells<'a> {
    let number = |cell: &PortableCell| if let PortableCell::Number(number) = cell { Some(*number) } else { None };
    let bytes = |cell: &'a PortableCell| match cell {
        PortableCell::Bytes(bytes) => Some(bytes.as_slice()),
        PortableCell::Text(text) => Some(text.as_bytes()),
        _ => None,
    };
    let text = |cell: &'a PortableCell| if let PortableCell::Text(text) = cell { Some(storable(text)) } else { None };
    match kind {
        PortableKind::Number => ManyCells::Numbers(cells.map(number).collect()),
        PortableKind::Flag => ManyCells::Flags(cells.map(|cell| number(cell).map(|number| number != 0)).collect()),
        PortableKind::Text | PortableKind::Word => ManyCells::Texts(cells.map(text).collect()),
        PortableKind::Octets | PortableKind::Bytes | PortableKind::Sealed => {
            ManyCells::Bytes(cells.map(bytes).collect())
        }
        PortableKind::Id | PortableKind::Reference => {
            ManyCells::Ids(cells.map(|cell| bytes(cell).and_then(|bytes| Uuid::from_slice(bytes).ok())).collect())
        }
    }
}

fn cells(table: &PortableTable, row: &Row) -> Work<PortableRow> {
    let read = |(place, (_, kind)): (usize, &(&'static str, PortableKind))| {
        Ok(match kind {
            PortableKind::Number => row.try_get::<_, Option<i64>>(place)?.map(PortableCell::Number),
            PortableKind::Flag => row.try_get::<_, Option<bool>>(place)?.map(|flag| PortableCell::Number(flag.into())),
            PortableKind::Text | PortableKind::Word => row.try_get::<_, Option<String>>(place)?.map(PortableCell::Text),
            PortableKind::Octets => {
                let bytes = row.try_get::<_, Option<&[u8]>>(place)?;
                bytes.map(|bytes| PortableCell::Text(String::from_utf8_lossy(bytes).into_owned()))
            }
            PortableKind::Bytes | PortableKind::Sealed => {
                row.try_get::<_, Option<Vec<u8>>>(place)?.map(PortableCell::Bytes)
            }
            PortableKind::Id | PortableKind::Reference => {
                row.try_get::<_, Option<Uuid>>(place)?.map(|id| PortableCell::Bytes(id.as_bytes().to_vec()))
            }
        }
        .unwrap_or(PortableCell::Null))
    };
    table.columns.iter().enumerate().map(read).collect()
}
