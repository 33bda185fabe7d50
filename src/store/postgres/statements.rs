//! Texts as PostgreSQL holds them.
//!
//! Records as columns: each field with a column becomes an array over many records, for statements that write them all
//! at once.

use std::borrow::Cow;

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use crate::domain::field::{Field, Kind};
pub(super) use crate::{
    alert_rows::{micros, moment},
    cells::cell,
};

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Text without the one character that PostgreSQL cannot hold.
pub(super) fn storable(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// One column of many rows.
pub(super) enum ManyCells<'a> {
    Ids(Vec<Option<Uuid>>),
    Texts(Vec<Option<Cow<'a, str>>>),
    Numbers(Vec<Option<i64>>),
    Flags(Vec<Option<bool>>),
    Bytes(Vec<Option<&'a [u8]>>),
}

impl ManyCells<'_> {
    fn cast(&self) -> &'static str {
        match self {
            Self::Ids(_) => "uuid[]",
            Self::Texts(_) => "text[]",
            Self::Numbers(_) => "bigint[]",
            Self::Flags(_) => "boolean[]",
            Self::Bytes(_) => "bytea[]",
        }
    }

    fn value(&self) -> &(dyn ToSql + Sync) {
        match self {
            Self::Ids(ids) => ids,
            Self::Texts(texts) => texts,
            Self::Numbers(numbers) => numbers,
            Self::Flags(flags) => flags,
            Self::Bytes(bytes) => bytes,
        }
    }
}

/// Named columns of many rows.
#[derive(Default)]
pub(super) struct Columns<'a> {
    names: Vec<&'a str>,
    columns: Vec<ManyCells<'a>>,
}

impl<'a> Columns<'a> {
    /// Adds a column.
    pub(super) fn add(&mut self, name: &'a str, column: ManyCells<'a>) {
        self.names.push(name);
        self.columns.push(column);
    }

    /// Adds the fields of records that have a column.
    pub(super) fn add_fields<R>(&mut self, fields: &'static [Field<R>], records: &[&'a R]) {
        for field in fields {
            let Some(name) = field.column else { continue };
            self.add(name, column_of(&field.kind, records));
        }
    }

    /// The values, in the order of their places.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.columns.iter().map(ManyCells::value).collect()
    }

    fn unnested(&self) -> String {
        let places = self.columns.iter().zip(1..).map(|(column, place)| format!("${place}::{}", column.cast()));
        format!("unnest({})", places.collect::<Vec<_>>().join(", "))
    }

    /// An INSERT of all rows.
    pub(super) fn insertion(&self, table: &str) -> String {
        format!("INSERT INTO {table} ({}) SELECT * FROM {}", self.names.join(", "), self.unnested())
    }

    /// An UPDATE of all rows, which are known by their first column.
    pub(super) fn update(&self, table: &str) -> String {
        let key = self.names.first().copied().unwrap_or_default();
        let assignments: Vec<String> = self.names.iter().skip(1).map(|name| format!("{name} = new.{name}")).collect();
        let (assignments, names) = (assignments.join(", "), self.names.join(", "));
        format!(
            "UPDATE {table} SET {assignments} FROM {} AS new ({names}) WHERE {table}.{key} = new.{key}",
            self.unnested()
        )
    }
}

fn column_of<'a, R>(kind: &Kind<R>, records: &[&'a R]) -> ManyCells<'a> {
    match kind {
        Kind::Id(access) | Kind::Reference(access) => {
            ManyCells::Ids(records.iter().map(|record| (access.get)(record)).collect())
        }
        Kind::Word(access) | Kind::Text(access) => {
            ManyCells::Texts(records.iter().map(|record| (access.get)(record).map(storable)).collect())
        }
        Kind::Moment(access) => {
            ManyCells::Numbers(records.iter().map(|record| (access.get)(record).map(micros)).collect())
        }
        Kind::Amount(access) => ManyCells::Texts(
            records.iter().map(|record| (access.get)(record).map(|amount| Cow::Owned(amount.to_string()))).collect(),
        ),
        Kind::Flag(access) => ManyCells::Flags(records.iter().map(|record| (access.get)(record)).collect()),
    }
}
