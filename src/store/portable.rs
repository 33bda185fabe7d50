//! The tables of a desk that are carried from one database to another. Each row comes after those that it refers to.
//! Their columns are those of the schema at either end.

use super::{
    StoreResult,
    cells::{FromCell, SqlCell},
    searched,
};
use crate::domain::{Alert, field::Kind};

/// Every table, in order. Data that a database derives from them are made anew.
pub(super) const TABLES: [&str; 20] = [
    "fact",
    "organization",
    "company",
    "enrollment",
    "alert",
    "outcome",
    "resolution_attempt",
    "endpoint",
    "signing_secret",
    "event",
    "delivery",
    "delivery_attempt",
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

/// One cell of a carried row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PortableCell {
    Null,
    Number(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl FromCell<'_> for PortableCell {
    fn of(cell: SqlCell<'_>) -> StoreResult<Self> {
        Ok(match cell {
            SqlCell::Null => Self::Null,
            SqlCell::Number(number) => Self::Number(number),
            SqlCell::Flag(flag) => Self::Number(flag.into()),
            SqlCell::Text(text) => Self::Text(text.to_owned()),
            SqlCell::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
            SqlCell::Id(id) => Self::Bytes(id.as_bytes().to_vec()),
        })
    }
}

/// A carried row.
pub(super) type PortableRow = Vec<PortableCell>;

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
    /// The columns of the primary key.
    pub(super) fn key(&self) -> impl Iterator<Item = &PortableColumn> {
        self.columns.iter().filter(|column| column.is_key)
    }

    /// The cell of a row in this column.
    pub(super) fn cell<'a>(&self, row: &'a mut PortableRow, name: &str) -> Option<&'a mut PortableCell> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        row.get_mut(place)
    }

    /// The names of the columns.
    pub(super) fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// Returns the SELECT of the next rows, each column as `read` has it. They are those behind the row with the key at
    /// these places, or the first ones.
    pub(super) fn next_rows(&self, read: impl Fn(&PortableColumn) -> String, behind: Option<&[String]>) -> String {
        let columns: Vec<String> = self.columns.iter().map(read).collect();
        let keys: Vec<&str> = self.key().map(|column| column.name.as_str()).collect();
        let (columns, keys) = (columns.join(", "), keys.join(", "));
        let behind = behind.map_or_else(|| "true".to_owned(), |places| format!("({keys}) > ({})", places.join(", ")));
        // This fact is written only by the write probe.
        let counts = if self.name == "fact" { "name <> 'probed_at'" } else { "true" };
        format!("SELECT {columns} FROM {} t WHERE {behind} AND {counts} ORDER BY {keys} LIMIT {BATCH}", self.name)
    }

    /// The text that searches look into, of an alert's row.
    pub(super) fn search_text(&self, row: &[PortableCell]) -> String {
        let mut alert = Alert::default();
        for (column, cell) in self.columns.iter().zip(row) {
            let field = Alert::FIELDS.iter().find(|field| field.column == Some(column.name.as_str()));
            if let (Some(Kind::Text(access)), PortableCell::Text(text)) = (field.map(|field| &field.kind), cell) {
                (access.set)(&mut alert, text.into());
            }
        }
        searched::search_text(&alert)
    }
}
