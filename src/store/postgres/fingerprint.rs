//! Objects in the schema of a database on a server, compared with those that its steps made.

use std::collections::HashSet;

use super::connection::Connection;
use crate::{
    schema::{Differences, Objects},
    stored_row::StoredRow,
    work::Work,
};

/// Objects by the steps that make them, each with table, name and definition. Steps are `FIRST`, or `FIRST-LAST` where
/// a later step drops the object; 0 marks an optional one.
const MADE: &str = include_str!("../../../assets/postgres/objects.txt");

/// Objects in the schema with their table, name and definition, in the words of [`MADE`].
const THERE: &str = include_str!("../../../assets/postgres/objects.sql");

/// Compares the schema with the objects that so many steps made. Other tables are left alone.
pub(super) async fn compare(conn: &Connection, applied: usize) -> Work<Differences> {
    let read = |row: &StoredRow<'_>| Ok((row.get(1)?, (row.get(0)?, row.get(2)?)));
    let mut there: Objects = conn.all(THERE, &[], read).await?.into_iter().collect();
    let made: Vec<_> = MADE.lines().filter_map(|line| made_by(line, applied)).collect();
    let tables: HashSet<&str> = made.iter().map(|(_, table, ..)| *table).collect();
    there.retain(|_, (table, _)| tables.contains(&**table));
    let (optional, made): (Vec<_>, Vec<_>) = made.into_iter().partition(|(first, ..)| *first == 0);
    optional.iter().for_each(|(_, _, name, _)| drop(there.remove(*name)));
    let made = made
        .into_iter()
        .map(|(_, table, name, definition)| (name.to_owned(), (table.to_owned(), definition.to_owned())));
    let is_harmless = |name: &str| name.starts_with("index ") || name.starts_with("column ");
    Ok(Differences::between(&made.collect(), there, is_harmless))
}

/// The object of a line, where it is there after so many steps: its first step, table, name and definition.
fn made_by(line: &'static str, applied: usize) -> Option<(usize, &'static str, &'static str, &'static str)> {
    let mut fields = line.split('|').map(str::trim);
    let mut steps = fields.next()?.split('-').filter_map(|step| step.parse::<usize>().ok());
    let (first, last) = (steps.next()?, steps.next().unwrap_or(applied));
    let object = (first, fields.next()?, fields.next()?, fields.next()?);
    (first..=last).contains(&applied).then_some(object)
}
