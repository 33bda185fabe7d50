//! Copies of a desk from one database to another, of either kind: batch by batch into an empty target. The target is
//! marked as unfinished until both ends are found to be the same.

use std::path::{Path, PathBuf};

use futures::future::LocalBoxFuture;
use sha2::{Digest as _, Sha256};

use crate::{
    StoreError, StoreResult, audit_log,
    cells::SqlValue,
    domain::database::DatabaseLocation,
    encryption::{KEY_CHECK, KEY_PROOF, SEALED, Seal, SealedColumn},
    key_file,
    portable::{self, CopyEnd, CopyMark, DESK, Occupant, PortableRow, PortableTable},
    postgres::transfer::PostgresEnd,
    sqlite::transfer::SqliteEnd,
};

/// The data keys of a copy.
#[derive(Debug, Clone, Default)]
pub struct CopyKeys {
    /// The file with the source's, where it is known: another one is refused.
    pub from: Option<PathBuf>,
    /// The file with the target's, where that is to be another one; made where there is none.
    pub to: Option<PathBuf>,
}

/// Step of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStep {
    /// An unfinished copy is taken away, and the copy begins anew.
    BeginsAnew,
    /// So many of so many rows of a table have arrived.
    Copied { table: &'static str, rows: u64, of: u64 },
    /// A table is compared.
    Compares { table: &'static str },
    /// The search over all fields is made.
    Indexes,
}

/// Number of rows of a table at either end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransferredTable {
    pub table: &'static str,
    pub from: u64,
    pub to: u64,
    /// True where they are the same, cell by cell.
    pub same: bool,
}

/// Result of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    pub tables: Vec<TransferredTable>,
    /// True where it had been made before, and nothing was changed.
    pub before: bool,
    /// Proof of the data key of the source, where it has one.
    key_check: Option<Vec<u8>>,
}

impl Transferred {
    /// Returns whether both ends hold the same.
    pub fn is_same(&self) -> bool {
        self.tables.iter().all(|table| table.same)
    }

    /// Returns whether the source is sealed with a data key.
    pub fn is_sealed(&self) -> bool {
        self.key_check.is_some()
    }

    /// The file that holds the data key of the source: this one, or the one that a rotation has left beside it.
    pub fn key_at(&self, file: &Path) -> Option<PathBuf> {
        key_file::find(file, self.key_check.as_deref()?).map(|(_, place)| place)
    }
}

/// Copies everything to a database with nothing in it. What a copy that was broken off has left there is taken away
/// before; one that was finished is found to be.
///
/// # Errors
/// [`Unusable`](StoreError::Unusable) where an end or a key cannot be used, another process is at work on it, or the
/// target holds another desk.
pub fn transfer<'a>(
    from: &'a DatabaseLocation,
    to: &'a DatabaseLocation,
    keys: &'a CopyKeys,
    mut progress: impl FnMut(CopyStep) + 'a,
) -> LocalBoxFuture<'a, StoreResult<Transferred>> {
    Box::pin(async move {
        let mut source: Box<dyn CopyEnd> = match from {
            DatabaseLocation::Sqlite(file) => Box::new(SqliteEnd::source(file)?),
            DatabaseLocation::Postgres(server) => Box::new(PostgresEnd::source(server).await?),
        };
        let key_check = source.store_rows().fact(KEY_CHECK).await?;
        let old = match (&keys.from, &key_check) {
            (Some(file), Some(check)) => {
                Some(key_file::proven(file, check, "the source", "name the file with the right one")?.0)
            }
            _ => None,
        };
        let mut target: Box<dyn CopyEnd> = match to {
            DatabaseLocation::Sqlite(file) => Box::new(SqliteEnd::target(file)?),
            DatabaseLocation::Postgres(server) => Box::new(PostgresEnd::target(server).await?),
        };
        let refused = |words: &str| StoreError::Unusable(format!("{to}: {words}"));
        let mark =
            CopyMark { source: from.to_string(), desk: source.store_rows().fact(DESK).await?.unwrap_or_default() };
        let found = target.occupant().await?;
        match &found {
            Occupant::Nobody => {}
            Occupant::Copy(begun) if begun.desk == mark.desk => progress(CopyStep::BeginsAnew),
            Occupant::Copy(CopyMark { source, .. }) => {
                return Err(refused(&format!(
                    "holds an unfinished copy of another desk, {source}; name an empty database"
                )));
            }
            Occupant::Desk(desk) if *desk == mark.desk => {
                let tables = compare(&mut *source, &mut *target, &mut progress).await?;
                let copied = Transferred { tables, before: true, key_check };
                if !copied.is_same() {
                    let words = "holds an earlier copy of this desk, and one of the two has changed \
                        since; name an empty database";
                    return Err(refused(words));
                }
                source.stood_still().await?;
                return Ok(copied);
            }
            Occupant::Desk(_) => return Err(refused("holds another desk; name an empty database")),
        }
        let new = keys.to.as_ref().map(|file| Seal::from_file(file, true)).transpose()?;
        target.begin(&mark, &found).await?;
        let tables = copy_rows(&mut *source, &mut *target, old.zip(new), &mut progress).await?;
        let copied = Transferred { tables, before: false, key_check };
        // A copy that differs from its source is no desk, nor is one that is out of date already.
        if copied.is_same() {
            progress(CopyStep::Indexes);
            let mut last = Some(0);
            while let Some(indexed) = last {
                last = target.index_behind(indexed).await?;
            }
            source.stood_still().await?;
            let (tables, newest) =
                (portable::tables(&target.store_rows()).await?, audit_log::last_number(&source.store_rows()).await?);
            target.finish(&tables, newest).await?;
        }
        Ok(copied)
    })
}

/// Copies every row, and holds what has arrived to what was sent.
async fn copy_rows(
    source: &mut dyn CopyEnd,
    target: &mut dyn CopyEnd,
    keys: Option<(Seal, Seal)>,
    progress: &mut impl FnMut(CopyStep),
) -> StoreResult<Vec<TransferredTable>> {
    let ends: Vec<_> = portable::tables(&source.store_rows())
        .await?
        .into_iter()
        .zip(portable::tables(&target.store_rows()).await?)
        .collect();
    let mut all_sent = Vec::new();
    for (table, there) in &ends {
        let mut sent = Checksum::default();
        let seal_again = |row: &mut PortableRow| match &keys {
            Some((old, new)) => change_sealed(table, row, |column, id, bytes| {
                *bytes = column.seal_again(old, new, id, bytes)?;
                Ok(())
            }),
            None => Ok(()),
        };
        loop {
            let rows = sent.next(source, table, seal_again).await?;
            if rows.is_empty() {
                break;
            }
            target.write(there, &rows).await?;
            progress(CopyStep::Copied { table: table.name, rows: sent.rows, of: table.rows.max(sent.rows) });
        }
        all_sent.push(sent);
    }
    let mut tables = Vec::new();
    for ((_, table), sent) in ends.iter().zip(all_sent) {
        progress(CopyStep::Compares { table: table.name });
        tables.push(sent.compared(table.name, checksum(target, table, |_| Ok(())).await?));
    }
    Ok(tables)
}

/// Compares two ends without a change. With which keys they are sealed is not known: what is sealed is left out.
async fn compare(
    source: &mut dyn CopyEnd,
    target: &mut dyn CopyEnd,
    progress: &mut impl FnMut(CopyStep),
) -> StoreResult<Vec<TransferredTable>> {
    let mut tables = Vec::new();
    for (table, there) in
        portable::tables(&source.store_rows()).await?.iter().zip(portable::tables(&target.store_rows()).await?)
    {
        // The columns of both ends are in the same order.
        let leave_out_sealed = |row: &mut PortableRow| {
            change_sealed(table, row, |_, _, bytes| {
                bytes.clear();
                Ok(())
            })
        };
        let from = checksum(source, table, leave_out_sealed).await?;
        progress(CopyStep::Compares { table: table.name });
        let to = checksum(target, &there, leave_out_sealed).await?;
        tables.push(from.compared(table.name, to));
    }
    Ok(tables)
}

/// The number of the rows that were read of a table, a SHA-256 over their cells, and the last one as it was read.
#[derive(Default)]
struct Checksum {
    rows: u64,
    digest: Sha256,
    last: Option<PortableRow>,
}

impl Checksum {
    /// Reads the next rows, each as `prepare` leaves it; none at the end.
    async fn next(
        &mut self,
        end: &mut dyn CopyEnd,
        table: &PortableTable,
        prepare: impl Fn(&mut PortableRow) -> StoreResult<()>,
    ) -> StoreResult<Vec<PortableRow>> {
        let mut rows = table.next_rows(&end.store_rows(), self.last.as_ref()).await?;
        self.last = rows.last().cloned();
        self.rows += rows.len() as u64;
        for row in &mut rows {
            prepare(row)?;
            // What ends a text is escaped in it: rows that differ are written differently.
            self.digest.update(format!("{row:?}"));
        }
        Ok(rows)
    }

    fn compared(self, table: &'static str, there: Self) -> TransferredTable {
        let same = self.digest.finalize() == there.digest.finalize();
        TransferredTable { table, from: self.rows, to: there.rows, same }
    }
}

/// The checksum of a table, each row as `prepare` leaves it.
async fn checksum(
    end: &mut dyn CopyEnd,
    table: &PortableTable,
    prepare: impl Fn(&mut PortableRow) -> StoreResult<()> + Copy,
) -> StoreResult<Checksum> {
    let mut sum = Checksum::default();
    while !sum.next(end, table, prepare).await?.is_empty() {}
    Ok(sum)
}

/// Changes every sealed value of a row, the proof of the data key among them. `change` gets its column and its row's
/// id.
fn change_sealed(
    table: &PortableTable,
    row: &mut PortableRow,
    change: impl Fn(SealedColumn, &[u8], &mut Vec<u8>) -> StoreResult<()>,
) -> StoreResult<()> {
    for column in SEALED.into_iter().chain([KEY_PROOF]).filter(|column| column.table == table.name) {
        let id = table.cell(row, if column == KEY_PROOF { "name" } else { "id" }).cloned();
        // The credential of an endpoint that was removed is gone.
        if let (Some(id), Some(SqlValue::Bytes(bytes))) = (id, table.cell(row, column.name))
            && !bytes.is_empty()
            && (column != KEY_PROOF || id == KEY_CHECK.into())
        {
            change(column, id.bytes(), bytes)?;
        }
    }
    Ok(())
}
