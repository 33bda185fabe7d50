//! The check of a database before anything is written to it: its pages, its write-ahead log, its newest change number.
//!
//! It has to be a database, and not an empty file in the place of a lost one. After an unclean end every page of it
//! has to hold.
//!
//! A walk of the write-ahead log tells damage from a torn end. SQLite ends a log at the first frame with a wrong
//! checksum. That is right behind an unclean end. The transaction that was being written then is there in part, in any
//! order behind a power cut, and nobody was told of it.
//!
//! But a transaction begins only when the one before is on the disk. So behind the first bad frame there is at most one
//! commit of this log, the one of the transaction that was under way. A second one says that a frame went bad which had
//! been whole.
//!
//! Frames with another salt are of an earlier round of the log, and frames without a commit of a transaction that was
//! rolled back. Damage to the last commit shows by the newest change number.
//!
//! The newest change number stands in a file of its own beside the database: it shows a log that is missing or was cut.

use std::{
    fs::{self, File},
    io::{self, BufReader, ErrorKind, Read},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use rusqlite::Connection;
use uuid::Uuid;

use super::{
    connection::{self, Purpose},
    files::{open_or_make, unusable, with_suffix},
    instance::{census, instances_of},
    sql::{Statements as _, cell, fact},
};
use crate::{RefusalCause, StoreError, StoreResult, domain::DatabaseId, portable::DESK};

/// Refuses a file that cannot be a database, in plain words before SQLite does in its own; makes it where it is
/// missing.
pub(super) fn check_file(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    match fs::metadata(database) {
        // SQLite would take a log without its database for a stranger's, and remove it.
        Err(error) if error.kind() == ErrorKind::NotFound && key.is_some() && has_log(database) => {
            Err(damaged(database, "is missing, and the log beside it (-wal) holds what belongs to it"))
        }
        // Made here, because SQLite would let others read it. Another process may be faster: then it is there as well.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            open_or_make(database).map(drop).map_err(StoreError::of_file(database, "cannot be made"))
        }
        Err(error) => Err(StoreError::of_file(database, "cannot be looked at")(error)),
        Ok(there) if !there.is_file() => Err(unusable(database, "is no file; name the database file")),
        // Whoever wants to write hears why that cannot be.
        Ok(there) => match File::open(database) {
            Ok(_) if there.len() == 0 => refuse_empty(database, key),
            Ok(_) => Ok(()),
            Err(error) => {
                Err(StoreError::of_file(database, "cannot be read; give the user who runs avert access")(error))
            }
        },
    }
}

/// Refuses what cannot be worked on without a backup.
fn damaged(database: &Path, what: &str) -> StoreError {
    StoreError::Refused(RefusalCause::Damaged, format!("{}: {what}; nothing was written to it", database.display()))
}

/// Refuses an empty database whose key is there. The key is made only when the database has its tables, so it had some.
/// `key` is the one that was there before the database was checked.
pub(super) fn refuse_empty(database: &Path, key: Option<&Path>) -> StoreResult<()> {
    let Some(key) = key else { return Ok(()) };
    let key = key.display();
    Err(damaged(
        database,
        &format!("is empty, and {key} beside it says that it held alerts (to begin anew, move {key} away)"),
    ))
}

/// Checks the whole database where its last process died at work; refuses a damaged one.
pub(super) fn check_after_unclean_end(database: &Path, before: &dyn Fn(u64)) -> StoreResult<()> {
    let (living, dead) = census(&instances_of(database));
    let is_unclean = living == 0 && (dead > 0 || has_log(database));
    if is_unclean {
        before(fs::metadata(database).map_or(0, |there| there.len()));
        tracing::info!("the last avert here did not end cleanly: the database is looked through");
    }
    check_log(database)?;
    if !is_unclean {
        return Ok(());
    }
    let looked = connection::open(database, Purpose::Read)
        .and_then(|conn| conn.all("PRAGMA quick_check(1)", &[], cell::<String>));
    let what = match looked {
        Ok(lines) if lines == ["ok"] => return Ok(()),
        Ok(lines) => lines.join("; "),
        Err(StoreError::Refused(RefusalCause::Damaged, what)) => what,
        Err(error) => return Err(error),
    };
    Err(damaged(database, &format!("since an unclean end {what}; `avert doctor` says more")))
}

/// Refuses a database with a damaged or missing log. While others work on it they have checked it, and the log moves.
pub(super) fn check_log(database: &Path) -> StoreResult<()> {
    let is_alone = || census(&instances_of(database)).0 == 0;
    if !is_alone() || !fs::metadata(database).is_ok_and(|there| there.len() > 0) {
        return Ok(());
    }
    if has_log(database) {
        let log = with_suffix(database, "-wal");
        let found = log_damage(&log).map_err(StoreError::of_file(&log, "cannot be read"))?;
        if let Some(what) = found.filter(|_| is_alone()) {
            return Err(damaged(database, &what));
        }
    }
    // Other faults of it are reported elsewhere.
    let compared = connection::open(database, Purpose::Read).and_then(|conn| check_newest(&conn, database));
    match compared {
        Ok(Some(what)) if is_alone() => Err(damaged(database, &what)),
        _ => Ok(()),
    }
}

fn has_log(database: &Path) -> bool {
    fs::metadata(with_suffix(database, "-wal")).is_ok_and(|log| log.is_file() && log.len() > 0)
}

const HEADER_BYTES: usize = 32;
const FRAME_BYTES: usize = 24;
/// A file without this at its beginning is no log; its last bit is the order of bytes that checksums are reckoned in.
const MAGIC: u32 = 0x377f_0682;
/// Page size where the header does not tell: SQLite's default, which avert keeps.
const PAGE_BYTES: usize = 4_096;

/// The running checksum of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Checksum(u32, u32);

impl Checksum {
    fn and(self, bytes: &[u8], word: fn([u8; 4]) -> u32) -> Self {
        let words: Vec<u32> = bytes.chunks_exact(4).map(|chunk| word(chunk.try_into().unwrap_or_default())).collect();
        words.chunks_exact(2).fold(self, |Self(first, second), pair| {
            let first = first.wrapping_add(pair[0]).wrapping_add(second);
            Self(first, second.wrapping_add(pair[1]).wrapping_add(first))
        })
    }

    fn at(bytes: &[u8], at: usize) -> Self {
        Self(big_endian(bytes, at), big_endian(bytes, at + 4))
    }
}

/// The first damage of a log, in words; nothing where it is whole up to its end, torn or not.
fn log_damage(log: &Path) -> io::Result<Option<String>> {
    let mut log = BufReader::new(File::open(log)?);
    let mut header = [0; HEADER_BYTES];
    if !fill(&mut log, &mut header)? {
        return Ok(None);
    }
    let word = if header[3] & 1 == 1 { u32::from_be_bytes } else { u32::from_le_bytes };
    let mut sum = Checksum(0, 0).and(&header[..24], word);
    let is_whole = big_endian(&header, 0) & !1 == MAGIC && sum == Checksum::at(&header, 24);
    let page = Some(big_endian(&header, 8) as usize).filter(|_| is_whole).unwrap_or(PAGE_BYTES);
    let mut frame = vec![0; FRAME_BYTES + page];
    let (mut number, mut bad, mut commits) = (0_u64, (!is_whole).then_some(0), 0);
    while fill(&mut log, &mut frame)? {
        number += 1;
        let is_of_this_round = !is_whole || frame[8..16] == header[16..24];
        if bad.is_none() {
            sum = sum.and(&frame[..8], word).and(&frame[FRAME_BYTES..], word);
            if !is_of_this_round || sum != Checksum::at(&frame, 16) {
                bad = Some(number);
            }
        }
        let (is_page, is_commit) = (big_endian(&frame, 0) > 0, big_endian(&frame, 4) > 0);
        commits += u32::from(bad.is_some() && is_of_this_round && is_page && is_commit);
    }
    // The header is on the disk before the first frame is written.
    Ok(match bad {
        Some(0) if commits > 0 => Some("the header of its log (-wal) is damaged".to_owned()),
        Some(bad) if commits > 1 => {
            Some(format!("frame {bad} of its log (-wal) is damaged, and {commits} commits stand behind it"))
        }
        _ => None,
    })
}

fn big_endian(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..at + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// Returns whether there was as much.
fn fill(from: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        done => done.map(|()| true),
    }
}

/// Suffix of the file's name.
pub(super) const NEWEST_SUFFIX: &str = "-newest";

/// The file, written now and then: what it tells is never ahead of the database.
#[derive(Debug)]
pub(super) struct Newest {
    path: PathBuf,
    database: DatabaseId,
    written: u64,
}

impl Newest {
    pub(super) fn of(database: &Path, id: DatabaseId) -> Self {
        Self { path: with_suffix(database, NEWEST_SUFFIX), database: id, written: 0 }
    }

    /// Writes the number of a commit that is on the disk. Where it cannot be written the next one is.
    pub(super) fn keep(&mut self, number: u64) {
        if number == self.written {
            return;
        }
        let line = format!("{} {number:020}\n", self.database);
        match open_or_make(&self.path).and_then(|file| file.write_all_at(line.as_bytes(), 0)) {
            Ok(()) => self.written = number,
            Err(error) => tracing::debug!(%error, "the newest change number cannot be written"),
        }
    }
}

/// The newest change number.
pub(super) fn newest_change(conn: &Connection) -> StoreResult<u64> {
    Ok(conn.one("SELECT number FROM change_number", &[], cell::<i64>)?.unsigned_abs())
}

/// Says, in words, where a database ends before the number that was written beside it. Nobody else may be at work on
/// it.
fn check_newest(conn: &Connection, database: &Path) -> StoreResult<Option<String>> {
    let beside = with_suffix(database, NEWEST_SUFFIX);
    let Ok(text) = fs::read_to_string(&beside) else { return Ok(None) };
    let mut words = text.split_whitespace();
    let (id, number) = (words.next(), words.next().and_then(|word| word.parse::<u64>().ok()));
    let kept: Option<Uuid> = fact(conn, DESK)?;
    let Some(number) = number.filter(|_| kept.is_some_and(|kept| id == Some(&DatabaseId(kept).to_string()))) else {
        return Ok(None);
    };
    let found = newest_change(conn)?;
    Ok((number > found).then(|| {
        let beside = beside.display();
        format!(
            "ends at change {found}, and change {number} was recorded: its log (-wal) is missing or cut, or the file \
                is an earlier one (to go on \
             with it as it is, remove {beside})"
        )
    }))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::*;

    const FRAME: usize = FRAME_BYTES + PAGE_BYTES;

    /// The log of so many commits of one page each, behind as many of an earlier round.
    fn log(earlier: u32, commits: u32) -> Vec<u8> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE thing (n INTEGER)")
            .unwrap();
        let commit = |n: u32| assert_eq!(conn.execute("INSERT INTO thing VALUES (?1)", [n]), Ok(1));
        (0..earlier).for_each(commit);
        conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
        (0..commits).for_each(commit);
        fs::read(directory.path().join("it.db-wal")).unwrap()
    }

    fn found(log: &[u8]) -> Option<String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), log).unwrap();
        log_damage(file.path()).unwrap()
    }

    fn flipped(mut log: Vec<u8>, at: usize) -> Vec<u8> {
        log[at] ^= 1;
        log
    }

    #[test]
    fn a_bit_anywhere_before_the_last_commits_is_damage() {
        let whole = log(0, 20);
        let frames = (whole.len() - HEADER_BYTES) / FRAME;

        assert_eq!(found(&whole), None);
        for frame in 0..frames - 2 {
            for at in [0, 5, 9, 13, 17, 22, 24, 2_000, FRAME - 1] {
                let said = found(&flipped(whole.clone(), HEADER_BYTES + frame * FRAME + at));
                assert!(
                    said.is_some_and(|said| said.contains(&format!("frame {}", frame + 1))),
                    "frame {frame}, byte {at}"
                );
            }
        }
        for at in 0..HEADER_BYTES {
            assert!(
                found(&flipped(whole.clone(), at)).is_some_and(|said| said.contains("header")),
                "byte {at} of the header"
            );
        }
    }

    #[test]
    fn a_torn_end_is_no_damage_wherever_it_is() {
        let whole = log(0, 6);

        for end in (0..whole.len()).step_by(97) {
            assert_eq!(found(&whole[..end]), None, "cut at {end}");
        }
        // The last transaction, written in any order and in part.
        let last = whole.len() - FRAME;
        for at in [last, last + 4, last + 17, last + FRAME_BYTES + 7] {
            assert_eq!(found(&flipped(whole.clone(), at)), None);
        }
    }

    #[test]
    fn frames_of_an_earlier_round_behind_the_end_are_no_damage() {
        let both = log(30, 5);
        let behind = HEADER_BYTES + 10 * FRAME;

        assert!(both.len() > behind, "the earlier round is longer");
        assert_eq!(found(&both), None);
        assert_eq!(found(&flipped(both.clone(), behind + 100)), None);
        assert!(found(&flipped(both, HEADER_BYTES + FRAME + 100)).is_some());
    }

    #[test]
    fn frames_of_a_transaction_that_was_rolled_back_are_no_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("it.db");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5; CREATE \
            TABLE thing (it BLOB)",
        )
        .unwrap();
        let fill = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO thing \
            SELECT randomblob(3000) FROM n";
        conn.execute_batch(&format!("BEGIN; {fill}; ROLLBACK; INSERT INTO thing VALUES (1); BEGIN; {fill}; ROLLBACK;"))
            .unwrap();

        let log = fs::read(directory.path().join("it.db-wal")).unwrap();

        assert!(log.len() > 100 * FRAME, "it was written before it was rolled back");
        assert_eq!(found(&log), None);
    }
}
