//! Copies of a desk from one database to another, of either kind: all of it in one transaction, compared at the end.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::key_file;
use super::portable::{PortableCell, PortableKind, PortableRow, PortableTable, TABLES};
use super::postgres::transfer::PostgresEnd;
use super::seal::Seal;
use super::sealed::{self, KEY_CHECK};
use super::sqlite::transfer::SqliteEnd;
use super::{StoreError, StoreResult};
use crate::domain::database::DatabaseLocation;

/// Another data key for a copy.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// The file with the source's.
    pub from: PathBuf,
    /// The file with the target's; made where there is none.
    pub to: PathBuf,
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

enum End {
    Sqlite(Box<SqliteEnd>),
    Postgres(Box<PostgresEnd>),
}

/// Copies everything to a database with nothing in it. A copy that was broken off has left nothing there; one that was finished is found to be.
///
/// # Errors
/// [`Unusable`](StoreError::Unusable) where an end cannot be used, another process is at work on it, or the target holds another desk.
pub async fn transfer(
    from: &DatabaseLocation,
    to: &DatabaseLocation,
    new_key: Option<&NewKey>,
    mut progress: impl FnMut(&'static str, u64),
) -> StoreResult<Transferred> {
    let source = match from {
        DatabaseLocation::Sqlite(file) => End::Sqlite(Box::new(SqliteEnd::source(file)?)),
        DatabaseLocation::Postgres(server) => End::Postgres(Box::new(PostgresEnd::source(server).await?)),
    };
    let keys = new_key.map(|NewKey { from, to }| Ok::<_, StoreError>((Seal::from_file(from, false)?, to)));
    let keys = keys.transpose()?;
    if let Some((old, _)) = &keys {
        source.prove(old, new_key).await?;
    }
    let key_check = source.key_check().await?;
    let mut target = match to {
        DatabaseLocation::Sqlite(file) => End::Sqlite(Box::new(SqliteEnd::target(file)?)),
        DatabaseLocation::Postgres(server) => End::Postgres(Box::new(PostgresEnd::target(server).await?)),
    };
    if let (End::Postgres(source), End::Postgres(target)) = (&source, &target)
        && source.is_in_the_database_of(target).await?
    {
        return Err(StoreError::Unusable(format!("{to}: is the same database as {from}; name an empty one")));
    }
    match target.desk().await? {
        None => {}
        Some(desk) if source.desk().await?.as_ref() == Some(&desk) => {
            let tables = compare(&source, &target).await?;
            let copied = Transferred { tables, before: true, key_check };
            if copied.is_same() {
                source.stood_still().await?;
                return Ok(copied);
            }
            let words = "holds an earlier copy of this desk, and one of the two has changed since; name an empty database";
            return Err(StoreError::Unusable(format!("{to}: {words}")));
        }
        Some(_) => return Err(StoreError::Unusable(format!("{to}: holds another desk; name an empty database"))),
    }
    let keys = match keys {
        Some((old, file)) => Some((old, Seal::from_file(file, true)?)),
        None => None,
    };
    let mut tables = Vec::new();
    for table in TABLES.iter() {
        let (mut sent, mut count, mut last) = (Sha256::new(), 0, None);
        loop {
            let mut rows = source.rows(table, last.as_ref()).await?;
            let Some(newest) = rows.last().cloned() else { break };
            for row in &mut rows {
                carry(table, row, keys.as_ref())?;
                add(&mut sent, row);
            }
            target.write(table, &rows).await?;
            count += rows.len() as u64;
            progress(table.name, count);
            last = Some(newest);
        }
        let (to, stored) = digest(&target, table, false).await?;
        tables.push(TransferredTable { table: table.name, from: count, to, same: sent.finalize().as_slice() == stored });
    }
    let copied = Transferred { tables, before: false, key_check };
    // What did not arrive as it was sent is not kept, nor what is out of date already.
    if copied.is_same() {
        let newest_entry = source.newest_entry().await?;
        source.stood_still().await?;
        target.finish(newest_entry).await?;
    }
    Ok(copied)
}

/// Makes a row what it is at the other end: sealed with that key, and without the one character that not every database holds.
fn carry(table: &PortableTable, row: &mut PortableRow, keys: Option<&(Seal, Seal)>) -> StoreResult<()> {
    for cell in row.iter_mut() {
        if let PortableCell::Text(text) = cell
            && text.contains('\0')
        {
            *text = text.replace('\0', "\u{fffd}");
        }
    }
    let Some((old, new)) = keys else { return Ok(()) };
    if table.name == "fact" && row[0] == PortableCell::Text(KEY_CHECK.to_owned()) {
        row[1] = PortableCell::Bytes(sealed::key_check(new)?);
    }
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
            *bytes = sealed::again(old, new, table.name, column, &id, bytes)?;
        }
    }
    Ok(())
}

fn add(digest: &mut Sha256, row: &PortableRow) {
    for cell in row {
        let (kind, bytes) = cell.canonical();
        digest.update([kind]);
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    }
}

/// How many rows a table has, and the checksum of them; what is sealed may be left out, because each sealing is another.
async fn digest(end: &End, table: &PortableTable, without_sealed: bool) -> StoreResult<(u64, Vec<u8>)> {
    let (mut digest, mut count, mut last) = (Sha256::new(), 0, None);
    loop {
        let mut rows = end.rows(table, last.as_ref()).await?;
        let Some(newest) = rows.last().cloned() else { break };
        count += rows.len() as u64;
        for row in &mut rows {
            if without_sealed {
                let is_check = table.name == "fact" && row[0] == PortableCell::Text(KEY_CHECK.to_owned());
                for ((_, kind), cell) in table.columns.iter().zip(row.iter_mut()) {
                    if *kind == PortableKind::Sealed || (is_check && *kind == PortableKind::Bytes) {
                        *cell = PortableCell::Null;
                    }
                }
            }
            carry(table, row, None)?;
            add(&mut digest, row);
        }
        last = Some(newest);
    }
    Ok((count, digest.finalize().to_vec()))
}

/// Compares two ends without a change.
async fn compare(source: &End, target: &End) -> StoreResult<Vec<TransferredTable>> {
    let mut tables = Vec::new();
    for table in TABLES.iter() {
        let ((from, sent), (to, stored)) = (digest(source, table, true).await?, digest(target, table, true).await?);
        tables.push(TransferredTable { table: table.name, from, to, same: sent == stored });
    }
    Ok(tables)
}

impl End {
    async fn desk(&self) -> StoreResult<Option<Vec<u8>>> {
        match self {
            Self::Sqlite(end) => end.desk(),
            Self::Postgres(end) => end.desk().await,
        }
    }

    async fn rows(&self, table: &PortableTable, after: Option<&PortableRow>) -> StoreResult<Vec<PortableRow>> {
        match self {
            Self::Sqlite(end) => end.rows(table, after),
            Self::Postgres(end) => end.rows(table, after).await,
        }
    }

    async fn write(&mut self, table: &PortableTable, rows: &[PortableRow]) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.write(table, rows),
            Self::Postgres(end) => end.write(table, rows).await,
        }
    }

    async fn newest_entry(&self) -> StoreResult<i64> {
        match self {
            Self::Sqlite(end) => end.newest_entry(),
            Self::Postgres(end) => end.newest_entry().await,
        }
    }

    async fn finish(&self, newest_entry: i64) -> StoreResult<()> {
        match self {
            Self::Sqlite(end) => end.finish(newest_entry),
            Self::Postgres(end) => end.finish(&TABLES, newest_entry).await,
        }
    }

    /// Refuses a source that was worked on since it is read. A file cannot be: its directory is shut.
    async fn stood_still(&self) -> StoreResult<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(end) => end.stood_still().await,
        }
    }

    /// What proves the data key of this end, where it has one.
    async fn key_check(&self) -> StoreResult<Option<Vec<u8>>> {
        let facts = TABLES.iter().find(|table| table.name == "fact");
        let facts = match facts {
            Some(facts) => self.rows(facts, None).await?,
            None => Vec::new(),
        };
        let check = facts.into_iter().find(|row| row[0] == PortableCell::Text(KEY_CHECK.to_owned()));
        Ok(match check.as_deref() {
            Some([_, PortableCell::Bytes(check)]) => Some(check.clone()),
            _ => None,
        })
    }

    /// Refuses a key that is not the one of this end.
    async fn prove(&self, seal: &Seal, named: Option<&NewKey>) -> StoreResult<()> {
        let file = named.map_or(Path::new(""), |named| &named.from);
        match self.key_check().await? {
            Some(check) if !sealed::proves(seal, &check) => {
                Err(StoreError::Unusable(format!("{}: is not the key that the source was sealed with", file.display())))
            }
            _ => Ok(()),
        }
    }
}
