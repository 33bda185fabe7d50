//! Records as columns: each field with a column becomes an array over many records, for statements that write them all
//! at once.

use tokio_postgres::types::ToSql;

use crate::{
    alert_rows::value_of,
    cells::SqlValue,
    domain::field::{Field, Kind},
};
pub(super) use crate::{
    alert_rows::{micros, moment},
    cells::cell,
};

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Named columns of many rows, each with the type of its cells.
#[derive(Default)]
pub(super) struct Columns<'a> {
    names: Vec<&'a str>,
    kinds: Vec<&'static str>,
    cells: Vec<Vec<SqlValue<'a>>>,
}

impl<'a> Columns<'a> {
    /// Adds a column.
    pub(super) fn add<V: Into<SqlValue<'a>>>(
        &mut self,
        name: &'a str,
        kind: &'static str,
        cells: impl Iterator<Item = V>,
    ) {
        self.names.push(name);
        self.kinds.push(kind);
        self.cells.push(cells.map(V::into).collect());
    }

    /// Adds the fields of records that have a column.
    pub(super) fn add_fields<R>(&mut self, fields: &'static [Field<R>], records: &[&'a R]) {
        for field in fields {
            let Some(name) = field.column else { continue };
            let kind = match field.kind {
                Kind::Id(_) | Kind::Reference(_) => "uuid",
                Kind::Word(_) | Kind::Text(_) | Kind::Amount(_) => "text",
                Kind::Moment(_) => "bigint",
                Kind::Flag(_) => "boolean",
            };
            self.add(name, kind, records.iter().map(|record| value_of(&field.kind, record)));
        }
    }

    /// The values, in the order of their places.
    pub(super) fn values(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.cells.iter().map(|cells| cells as &(dyn ToSql + Sync)).collect()
    }

    fn unnested(&self) -> String {
        let places = self.kinds.iter().zip(1..).map(|(kind, place)| format!("${place}::{kind}[]"));
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
