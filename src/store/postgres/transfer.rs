//! A database on a server as one end of a copy. Its rows are read from one snapshot and written batch by batch.

use async_trait::async_trait;
use futures::future::try_join_all;
use uuid::Uuid;

use super::{
    chain,
    connection::Connection,
    counts::{TOTALS, counted},
    find,
    keeper::DEAD_AFTER,
    migrate,
    pool::{Pool, connect},
};
use crate::{
    StoreError, StoreResult,
    cells::{ToCell, cell},
    domain::database::PostgresAddress,
    error::{Work, WorkFault},
    portable::{CopyEnd, CopyMark, Occupant, PortableRow, PortableTable, TABLES, UNFINISHED_COPY, require_current},
    sql::StoreRows,
};

/// One end of a copy.
pub(crate) struct PostgresEnd {
    conn: Connection,
    pool: Pool,
    server: PostgresAddress,
    /// Signs of work on it when it began to be read.
    work: String,
    /// This run of `avert copy`.
    run: Uuid,
}

/// Reads the signs of work on a database: the newest heartbeat, the newest entry of the audit log, and the change
/// number.
const WORK: &str = "SELECT concat_ws(' ', (SELECT max(beat_at) FROM instance), (SELECT number FROM audit_head), \
    (SELECT count(*) FROM audit_pending), last_value, is_called)
    FROM change_number";

/// A batch at the other end may take its time.
const PATIENT: &str = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = '10min'";

impl PostgresEnd {
    /// Opens the source of a copy as it is now. Nobody may be at work on it.
    pub(crate) async fn source(server: &PostgresAddress) -> StoreResult<Self> {
        let state = migrate::inspect(server).await.map_err(|error| error.of(server))?;
        require_current(&state).map_err(|error| error.of(server))?;
        let (pool, conn) = connect(server).await?;
        // Entries that a killed process had stored are carried as the log that they belong to.
        chain::link_waiting(&conn).await?;
        conn.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
        conn.batch(PATIENT).await?;
        let work = conn.rows().one(WORK, &[], cell).await?;
        let alive = format!("SELECT count(*) FROM instance WHERE beat_at > clock_timestamp() - {DEAD_AFTER}");
        if conn.rows().one(&alive, &[], cell::<i64>).await? > 0 {
            let words = "another avert works on it; stop all of them first (one that was killed counts for 15 s)";
            return Err(StoreError::Unusable(format!("{server}: {words}")));
        }
        Ok(Self { conn, pool, server: server.clone(), work, run: Uuid::new_v4() })
    }

    /// Opens the target of a copy. Nothing is changed before it begins.
    pub(crate) async fn target(server: &PostgresAddress) -> StoreResult<Self> {
        let (pool, conn) = connect(server).await?;
        conn.batch("SET statement_timeout = 0").await?;
        Ok(Self { conn, pool, server: server.clone(), work: String::new(), run: Uuid::new_v4() })
    }

    async fn begin_batch(&self) -> Work<()> {
        self.conn.begin("ISOLATION LEVEL READ COMMITTED READ WRITE").await?;
        migrate::hold_mark(&self.conn, &self.run).await
    }

    /// Removes the rows of an unfinished copy, and the key that was made with the tables: the copy brings its own.
    async fn empty(&self) -> Work<()> {
        self.begin_batch().await?;
        let emptied = format!(
            "ALTER TABLE audit DISABLE TRIGGER audit_is_not_emptied;
             TRUNCATE {}, alert_count, audit_pending;
             ALTER TABLE audit ENABLE TRIGGER audit_is_not_emptied",
            TABLES.join(", ")
        );
        self.conn.batch(&emptied).await?;
        self.conn.commit("").await.map(drop)
    }
}

#[async_trait(?Send)]
impl CopyEnd for PostgresEnd {
    async fn occupant(&mut self) -> StoreResult<Occupant> {
        let found = async {
            let schema = migrate::state_of_any(&self.conn).await?;
            Occupant::of(&self.conn.rows(), migrate::read_mark(&self.conn).await?, schema).await
        };
        found.await.map_err(|fault: WorkFault| StoreError::from(fault).of(&self.server))
    }

    fn store_rows(&mut self) -> StoreRows<'_> {
        self.conn.rows()
    }

    /// Changes made meanwhile are not in the copy, and would be lost with it.
    async fn stood_still(&self) -> StoreResult<()> {
        let now = self.pool.take().await?.rows().one(WORK, &[], cell::<String>).await?;
        if now == self.work {
            return Ok(());
        }
        let words = "was worked on while it was copied: stop what serves it, and copy again";
        Err(StoreError::Unusable(format!("{}: {words}", self.server)))
    }

    async fn begin(&mut self, mark: &CopyMark, found: &Occupant) -> StoreResult<()> {
        migrate::make_lock(&self.conn).await?;
        self.conn.begin("").await?;
        // Nobody makes a desk of it meanwhile.
        migrate::lock(&self.conn).await?;
        if self.occupant().await? != *found {
            return Err(StoreError::Unusable(format!(
                "{}: another process was at work on it meanwhile; run it again",
                self.server
            )));
        }
        migrate::put_mark(&self.conn, mark, &self.run).await?;
        self.conn.commit("").await?;
        migrate::bring_up(&self.conn).await?;
        Ok(self.empty().await?)
    }

    async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        let searched = (table.name == "alert").then_some("searched");
        let insert = table.insertion(searched);
        self.begin_batch().await?;
        let stored = self.conn.rows();
        let store = async |row: &PortableRow| {
            // It is made with the index.
            let text = searched.map(|_| &"" as &dyn ToCell);
            let values: Vec<_> = row.iter().map(|cell| cell as &dyn ToCell).chain(text).collect();
            stored.run(&insert, &values).await
        };
        if let Some((first, others)) = rows.split_first() {
            // With the first one the statement is prepared; the others are sent without waiting for each other.
            store(first).await?;
            try_join_all(others.iter().map(store)).await?;
        }
        self.conn.commit("").await?;
        Ok(())
    }

    async fn index_behind(&self, key: i64) -> StoreResult<Option<i64>> {
        self.begin_batch().await?;
        let last = find::index_behind(&self.conn, key).await?;
        self.conn.commit("").await?;
        Ok(last)
    }

    async fn finish(&self, tables: &[PortableTable], newest_entry: i64) -> StoreResult<()> {
        // New rows get keys behind those that came.
        let next_key = |name: &str| {
            format!(
                "SELECT setval(pg_get_serial_sequence('{name}', 'key'), coalesce(max(key), 0) + 1, false) FROM {name};"
            )
        };
        let keyed = tables.iter().filter(|table| table.columns[0].name == "key");
        let ended = format!(
            "INSERT INTO alert_count (organization, day, provider, type, status, outcome, expired, alerts) {};
             {TOTALS}; {} UPDATE audit_head SET number = {newest_entry}; DROP TABLE {UNFINISHED_COPY}",
            counted(),
            keyed.map(|table| next_key(table.name)).collect::<String>()
        );
        self.begin_batch().await?;
        self.conn.batch(&ended).await?;
        self.conn.commit("SELECT nextval('change_number')").await?;
        Ok(migrate::gather_statistics(&self.conn).await?)
    }
}
