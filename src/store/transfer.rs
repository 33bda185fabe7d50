//! Copies of a desk from one database to another, of either kind: batch by batch into a target that is marked as
//! unfinished meanwhile, gone on with where they were broken off, and compared at the end.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::copy_end::CopyEnd;
use super::copy_mark::Occupant;
use super::key_file;
use super::portable::{PortableCell, PortableKind, PortableRow, PortableTable, TABLES};
use super::seal::Seal;
use super::sealed::{self, KEY_CHECK};
use super::{StoreError, StoreResult};
use crate::domain::database::DatabaseLocation;

/// The data keys of a copy.
#[derive(Debug, Clone, Default)]
pub struct CopyKeys {
    /// The file with the source's, where it is known: another one is refused.
    pub from: Option<PathBuf>,
    /// The file with the target's, where that is to be another one; made where there is none.
    pub to: Option<PathBuf>,
}

/// What a copy is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStep {
    /// What was broken off is gone on with.
    GoesOn,
    /// What was broken off is not what the source is now: it is taken away, and the copy begins anew.
    BeginsAnew,
    /// So many of so many rows of a table have arrived.
    Copied { table: &'static str, rows: u64, of: u64 },
    /// A table is compared.
    Compares { table: &'static str, rows: u64 },
    /// The search over all fields knows so many of so many alerts.
    Indexed { alerts: u64, of: u64 },
}

/// How many rows of a table are at either end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferredTable {
    pub table: &'static str,
    pub from: u64,
    pub to: u64,
    /// Whether they are the same, cell by cell.
    pub same: bool,
}

/// What became of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    pub tables: Vec<TransferredTable>,
    /// Whether it had been made before, and nothing was changed.
    pub before: bool,
    /// What proves the data key of the source, where it has one.
    key_check: Option<Vec<u8>>,
}

impl Transferred {
    /// Whether both ends hold the same.
    pub fn is_same(&self) -> bool {
        self.tables.iter().all(|table| table.same)
    }

    /// Whether the source is sealed with a data key.
    pub fn is_sealed(&self) -> bool {
        self.key_check.is_some()
    }

    /// The file that holds the data key of the source: this one, or the one that a rotation has left beside it.
    pub fn key_at(&self, file: &Path) -> Option<PathBuf> {
        key_file::find(file, self.key_check.as_deref()?).map(|(_, place)| place)
    }
}

/// Copies everything to a database with nothing in it, or goes on with the same copy that was broken off. One that was
/// finished is found to be.
///
/// # Errors
/// [`Unusable`](StoreError::Unusable) where an end or a key cannot be used, another process is at work on it, or the
/// target holds another desk.
pub async fn transfer(
    from: &DatabaseLocation,
    to: &DatabaseLocation,
    keys: &CopyKeys,
    mut progress: impl FnMut(CopyStep),
) -> StoreResult<Transferred> {
    let source = CopyEnd::source(from).await?;
    let key_check = source.key_check().await?;
    let old = match (&keys.from, &key_check) {
        (Some(file), Some(check)) => Some(proven(file, check)?),
        _ => None,
    };
    let mut target = CopyEnd::target(to).await?;
    if source.is_in_the_database_of(&target).await? {
        return Err(StoreError::Unusable(format!("{to}: is the same database as {from}; name an empty one")));
    }
    let mark = source.mark(from).await?;
    let another = |what: &str| StoreError::Unusable(format!("{to}: {what}"));
    let anew = match target.occupant() {
        Occupant::Nobody => false,
        Occupant::Desk(desk) if desk == mark.desk => {
            let tables = compare([(&source, &Sealing::LeftOut), (&target, &Sealing::LeftOut)], &mut progress).await?;
            let copied = Transferred { tables, before: true, key_check };
            if copied.is_same() {
                source.stood_still().await?;
                return Ok(copied);
            }
            return Err(another(
                "holds an earlier copy of this desk, and one of the two has changed since; name an empty database",
            ));
        }
        Occupant::Desk(_) => return Err(another("holds another desk; name an empty database")),
        Occupant::Copy(begun) if begun.desk != mark.desk => {
            return Err(another(&format!(
                "holds an unfinished copy of another desk, {}; name an empty database",
                begun.source
            )));
        }
        Occupant::Copy(begun) => {
            let is_same = begun.state == mark.state;
            progress(if is_same { CopyStep::GoesOn } else { CopyStep::BeginsAnew });
            !is_same
        }
    };
    let new = keys.to.as_ref().map(|file| Seal::from_file(file, true)).transpose()?;
    let keys = old.zip(new);
    target.begin(&mark, anew).await?;
    target.require_key(to, key_check.as_deref(), keys.as_ref()).await?;
    copy_rows(&source, &mut target, keys.as_ref(), &mut progress).await?;
    let (sent, stored) = match &keys {
        Some((old, new)) => (Sealing::Opened(old), Sealing::Opened(new)),
        None => (Sealing::AsItIs, Sealing::AsItIs),
    };
    let tables = compare([(&source, &sent), (&target, &stored)], &mut progress).await?;
    let copied = Transferred { tables, before: false, key_check };
    // What did not arrive as it was sent is no desk, nor what is out of date already.
    if copied.is_same() {
        let newest_entry = source.newest_entry().await?;
        index(&mut target, &mut progress).await?;
        source.stood_still().await?;
        target.finish(newest_entry).await?;
    } else {
        target.give_up().await?;
    }
    Ok(copied)
}

/// The key in a file, which has to be the one that a database with this check was sealed with.
fn proven(file: &Path, check: &[u8]) -> StoreResult<Seal> {
    if let Some((seal, _)) = key_file::find(file, check) {
        return Ok(seal);
    }
    Seal::from_file(file, false)?;
    let words = "is not the key that the source was sealed with; name the file with the right one";
    Err(StoreError::Unusable(format!("{}: {words}", file.display())))
}

/// Copies the rows that are missing: those behind the last one of each table, in the order of their keys.
async fn copy_rows(
    source: &CopyEnd,
    target: &mut CopyEnd,
    keys: Option<&(Seal, Seal)>,
    progress: &mut impl FnMut(CopyStep),
) -> StoreResult<()> {
    for table in TABLES.iter() {
        let of = source.count(table).await?;
        let mut last = target.last(table).await?;
        let mut count = if last.is_some() { target.count(table).await? } else { 0 };
        loop {
            let mut rows = source.rows(table, last.as_ref()).await?;
            let Some(newest) = rows.last().cloned() else { break };
            for row in &mut rows {
                carry(table, row, keys)?;
            }
            target.write(table, &rows).await?;
            count += rows.len() as u64;
            progress(CopyStep::Copied { table: table.name, rows: count, of: of.max(count) });
            last = Some(newest);
        }
    }
    Ok(())
}

/// Has the search over all fields know the alerts that it does not know yet.
async fn index(target: &mut CopyEnd, progress: &mut impl FnMut(CopyStep)) -> StoreResult<()> {
    let (mut alerts, of) = target.indexed().await?;
    loop {
        match target.index().await? {
            0 => return Ok(()),
            more => alerts += more,
        }
        progress(CopyStep::Indexed { alerts, of });
    }
}

/// Makes a row what it is at the other end: sealed with that key, and without the one character that not every database
/// holds.
fn carry(table: &PortableTable, row: &mut PortableRow, keys: Option<&(Seal, Seal)>) -> StoreResult<()> {
    for cell in row.iter_mut() {
        if let PortableCell::Text(text) = cell
            && text.contains('\0')
        {
            *text = text.replace('\0', "\u{fffd}");
        }
    }
    let Some((old, new)) = keys else { return Ok(()) };
    if is_key_check(table, row) {
        row[1] = PortableCell::Bytes(sealed::key_check(new)?);
    }
    each_sealed(table, row, |column, id, bytes| {
        *bytes = sealed::again(old, new, table.name, column, id, bytes)?;
        Ok(())
    })
}

/// Whether this row proves a data key.
fn is_key_check(table: &PortableTable, row: &PortableRow) -> bool {
    table.name == "fact" && row[0] == PortableCell::Text(KEY_CHECK.to_owned())
}

/// Does this with what is sealed in a row, its column and the row's id.
fn each_sealed(
    table: &PortableTable,
    row: &mut PortableRow,
    mut work: impl FnMut(&'static str, &[u8], &mut Vec<u8>) -> StoreResult<()>,
) -> StoreResult<()> {
    let id = match table.place("id").map(|place| row[place].clone()) {
        Some(PortableCell::Bytes(id)) => id,
        Some(PortableCell::Text(id)) => id.into_bytes(),
        _ => return Ok(()),
    };
    for ((column, kind), cell) in table.columns.iter().zip(row) {
        // The credential of an endpoint that was removed is gone.
        if let (PortableKind::Sealed, PortableCell::Bytes(bytes)) = (kind, cell)
            && !bytes.is_empty()
        {
            work(column, &id, bytes)?;
        }
    }
    Ok(())
}

/// How what is sealed is compared.
enum Sealing<'a> {
    /// As it was written.
    AsItIs,
    /// Opened with this key: each sealing is another.
    Opened(&'a Seal),
    /// Not at all: with which keys it was sealed is not known.
    LeftOut,
}

impl Sealing<'_> {
    fn prepare(&self, table: &PortableTable, row: &mut PortableRow) -> StoreResult<()> {
        if let Self::AsItIs = self {
            return Ok(());
        }
        let is_proven = match (&row[..], self) {
            ([_, PortableCell::Bytes(check), ..], Self::Opened(seal)) => sealed::proves(seal, check),
            _ => true,
        };
        if is_key_check(table, row) && is_proven {
            row[1] = PortableCell::Null;
        }
        each_sealed(table, row, |column, id, bytes| {
            *bytes = match self {
                Self::Opened(seal) => sealed::opened(seal, table.name, column, id, bytes)?,
                Self::AsItIs | Self::LeftOut => Vec::new(),
            };
            Ok(())
        })
    }
}

fn add(digest: &mut Sha256, row: &PortableRow) {
    for cell in row {
        let (kind, bytes) = cell.canonical();
        digest.update([kind]);
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    }
}

/// How many rows a table has, and the checksum of them.
async fn digest(end: &CopyEnd, table: &PortableTable, sealing: &Sealing<'_>) -> StoreResult<(u64, Vec<u8>)> {
    let (mut digest, mut count, mut last) = (Sha256::new(), 0, None);
    loop {
        let mut rows = end.rows(table, last.as_ref()).await?;
        let Some(newest) = rows.last().cloned() else { break };
        count += rows.len() as u64;
        for row in &mut rows {
            sealing.prepare(table, row)?;
            carry(table, row, None)?;
            add(&mut digest, row);
        }
        last = Some(newest);
    }
    Ok((count, digest.finalize().to_vec()))
}

/// Compares two ends without a change.
async fn compare(
    ends: [(&CopyEnd, &Sealing<'_>); 2],
    progress: &mut impl FnMut(CopyStep),
) -> StoreResult<Vec<TransferredTable>> {
    let mut tables = Vec::new();
    let [(source, sent), (target, stored)] = ends;
    for table in TABLES.iter() {
        let (from, sent) = digest(source, table, sent).await?;
        progress(CopyStep::Compares { table: table.name, rows: from });
        let (to, stored) = digest(target, table, stored).await?;
        tables.push(TransferredTable { table: table.name, from, to, same: sent == stored });
    }
    Ok(tables)
}
