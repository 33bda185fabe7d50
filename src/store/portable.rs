//! Copies from one database to another: the tables that are carried, each row after those that it refers to, and the
//! two ends, of either kind of database. The columns are those of the schema at either end.
//!
//! The mark of an unfinished copy is in the target before any row comes, and gone with the last commit. Meanwhile
//! every other process that opens the database refuses it.

use async_trait::async_trait;

use crate::{
    SchemaState, StoreError, StoreResult,
    cells::{SqlValue, StoredRow, ToCell, cell, storable},
    composed::insertion,
    error::Work,
    sql::StoreRows,
};

/// Every table, in order. Data that a database derives from them are made anew.
pub(super) const TABLES: [&str; 30] = [
    "fact",
    "organization",
    "company",
    "enrollment",
    "alert",
    "outcome",
    "truth",
    "truth_fact",
    "truth_match",
    "refund_proof",
    "sale_count",
    "resolution_attempt",
    "rule",
    "rule_answer",
    "endpoint",
    "signing_secret",
    "event",
    "delivery",
    "delivery_attempt",
    "source_event",
    "source_count",
    "source_failing",
    "api_key",
    "client",
    "pull",
    "signing_key",
    "retired_signing_key",
    "clock",
    "audit",
    AUDIT_START,
];

/// Name of the table with the start of the audit log: one row, which is there in every database and only changed.
pub(super) const AUDIT_START: &str = "audit_start";

/// Number of rows that are carried at once.
const BATCH: usize = 2_000;

/// A carried row.
pub(super) type PortableRow = Vec<SqlValue<'static>>;

/// A column, with its type in the words of its database.
#[derive(Debug)]
pub(super) struct PortableColumn {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) is_key: bool,
}

/// A table at one end: the columns of its primary key, which order its rows, and then the others by name.
#[derive(Debug)]
pub(super) struct PortableTable {
    pub(super) name: &'static str,
    pub(super) columns: Vec<PortableColumn>,
    pub(super) rows: u64,
}

impl PortableTable {
    /// The cell of a row in this column.
    pub(super) fn cell<'a>(&self, row: &'a mut PortableRow, name: &str) -> Option<&'a mut SqlValue<'static>> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        row.get_mut(place)
    }

    /// An INSERT of a row, with a column that only this database has.
    pub(super) fn insertion(&self, own: Option<&'static str>) -> String {
        insertion(self.name, self.columns.iter().map(|column| column.name.as_str()).chain(own))
    }

    /// Reads the next rows: those behind the row with the key of this one, or the first ones.
    pub(super) async fn next_rows(&self, rows: &StoreRows<'_>, after: Option<&PortableRow>) -> Work<Vec<PortableRow>> {
        let read = |column: &PortableColumn| match (column.kind.as_str(), &column.name) {
            (kind @ ("word" | "reference"), name) => format!("(SELECT value FROM {kind} WHERE key = t.{name})"),
            (_, name) => format!("t.{name}"),
        };
        let columns: Vec<String> = self.columns.iter().map(read).collect();
        let keys = self.columns.iter().filter(|column| column.is_key).map(|column| column.name.as_str());
        let keys: Vec<&str> = keys.collect();
        let places: Vec<String> = (1..=keys.len()).map(|place| format!("?{place}")).collect();
        let behind: Vec<&dyn ToCell> =
            after.into_iter().flatten().take(keys.len()).map(|cell| cell as &dyn ToCell).collect();
        let (columns, keys) = (columns.join(", "), keys.join(", "));
        let is_behind = after.map_or_else(|| "true".to_owned(), |_| format!("({keys}) > ({})", places.join(", ")));
        // This fact is written only by the write probe.
        let counts = if self.name == "fact" { "name <> 'probed_at'" } else { "true" };
        let next = format!(
            "SELECT {columns} FROM {} t WHERE {is_behind} AND {counts} ORDER BY {keys} LIMIT {BATCH}",
            self.name
        );
        // What is text elsewhere and bytes here is carried as text, and no text has what not every database holds.
        let carried = |row: &StoredRow<'_>, place: usize, kind: &str| match row.get(place)? {
            SqlValue::Bytes(bytes) if kind == "octets" => {
                Ok(storable(&String::from_utf8_lossy(&bytes)).to_string().into())
            }
            SqlValue::Text(text) => Ok(storable(&text).into_owned().into()),
            cell => Ok(cell),
        };
        let kinds = || self.columns.iter().map(|column| column.kind.as_str()).enumerate();
        rows.all(&next, &behind, |row| kinds().map(|(place, kind)| carried(row, place, kind)).collect()).await
    }
}

/// Columns of a table, the name of which is the value: those of its key first. Words and ids that alerts share stand
/// for themselves, and so do bytes that are text in the other database. What is made anew is left out.
const COLUMNS: &str = "SELECT /*-*/name, pk > 0, CASE
        WHEN ?1 = 'alert' AND name IN ('provider', 'type', 'status', 'outcome') THEN 'word'
        WHEN ?1 = 'alert' AND name IN ('company', 'enrollment') THEN 'reference' ELSE type END
    FROM pragma_table_info(?1) WHERE name <> 'changed' ORDER BY pk = 0, pk, name
    /*+attname::text, attnum = ANY(indkey::int2[]),
        CASE WHEN attname IN ('answer', 'cursor') THEN 'octets' ELSE typname::text END
    FROM pg_attribute JOIN pg_index ON indrelid = attrelid AND indisprimary JOIN pg_type t ON t.oid = atttypid
    WHERE attrelid = to_regclass(?1) AND attnum > 0 AND NOT attisdropped AND attname NOT IN ('searched', 'find_text')
    ORDER BY array_position(indkey::int2[], attnum), attname COLLATE \"C\"*/";

/// The tables as a database has them.
pub(super) async fn tables(rows: &StoreRows<'_>) -> Work<Vec<PortableTable>> {
    let mut tables = Vec::new();
    for name in TABLES {
        let read =
            |row: &StoredRow<'_>| Ok(PortableColumn { name: row.get(0)?, is_key: row.get(1)?, kind: row.get(2)? });
        let columns = rows.all(COLUMNS, &[&name], read).await?;
        let rows = rows.one(&format!("SELECT count(*) FROM {name}"), &[], cell).await?;
        tables.push(PortableTable { name, columns, rows });
    }
    Ok(tables)
}

/// The table with the mark: it is there as long as the copy is not finished.
pub(super) const UNFINISHED_COPY: &str = "unfinished_copy";

/// A copy that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyMark {
    /// The source's address, without a password.
    pub(super) source: String,
    /// The id of the desk; empty where the source has none yet.
    pub(super) desk: Vec<u8>,
}

/// Name of the fact that tells one desk from another.
pub(super) const DESK: &str = "database";

/// Advice for a copy that is not finished.
pub const UNFINISHED_COPY_ADVICE: &str = "run the same `avert copy` again, or remove it";

impl CopyMark {
    /// Reason of the refusal, with the way out.
    pub(super) fn refusal(&self) -> String {
        format!("is an unfinished copy of {}; {UNFINISHED_COPY_ADVICE}", self.source)
    }
}

/// Content of the database that is copied to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Occupant {
    Nobody,
    /// An unfinished copy of an earlier run.
    Copy(CopyMark),
    /// A desk, by its id.
    Desk(Vec<u8>),
}

impl Occupant {
    /// Determines the content of a database with this mark and schema.
    pub(super) async fn of(rows: &StoreRows<'_>, mark: Option<CopyMark>, schema: SchemaState) -> Work<Self> {
        match (mark, schema) {
            (Some(mark), _) => Ok(Self::Copy(mark)),
            (None, SchemaState::Empty(_)) => Ok(Self::Nobody),
            (None, SchemaState::Current) => Ok(rows.fact(DESK).await?.map_or(Self::Nobody, Self::Desk)),
            (None, SchemaState::Waiting(_)) => {
                let words = "holds another desk, of an older avert; name an empty database";
                Err(StoreError::Unusable(words.to_owned()).into())
            }
        }
    }
}

/// A database that is copied from or to.
#[async_trait(?Send)]
pub(super) trait CopyEnd {
    /// Determines the content of the database.
    async fn occupant(&mut self) -> StoreResult<Occupant>;

    /// The rows of the database.
    fn store_rows(&mut self) -> StoreRows<'_>;

    /// Refuses a source that was changed since it is read.
    async fn stood_still(&self) -> StoreResult<()>;

    /// Marks it as an unfinished copy, and makes all tables there, with nothing in them. What was `found` there has to
    /// be there still.
    async fn begin(&mut self, mark: &CopyMark, found: &Occupant) -> StoreResult<()>;

    /// Stores rows, and commits them.
    async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()>;

    /// Adds the next alerts behind this key to the searches; returns the last one's key, `None` at the end.
    async fn index_behind(&self, key: i64) -> StoreResult<Option<i64>>;

    /// Ends the copy: makes the counts from the alerts, and removes the mark.
    async fn finish(&self, tables: &[PortableTable], newest_entry: i64) -> StoreResult<()>;
}

/// Refuses a source whose schema is not this avert's.
pub(super) fn require_current(state: &SchemaState) -> StoreResult<()> {
    let words = match state {
        SchemaState::Current => return Ok(()),
        SchemaState::Empty(_) => "holds nothing to copy; name the right database",
        SchemaState::Waiting(_) => "its schema waits for steps of this avert; apply them with `avert migrate`",
    };
    Err(StoreError::Unusable(words.to_owned()))
}
