//! Tests of the inside: the writer's own connection, groups, and faults in the middle of work.

use std::{
    path::Path,
    pin::Pin,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use rusqlite::{Connection, config::DbConfig};
use tokio::runtime::Handle;

use super::{
    SqliteOptions, SqliteStore,
    instance::Turnstile,
    readers::{ListOwner, Reader},
    store,
    writer::{Unit, WriteKind},
};
use crate::{
    AccessStore as _, AlertStore as _, AttemptStore as _, Claim, ClaimRequest, OrganizationStore as _, RefusalCause,
    Store as _, StoreError, StoreResult, UpkeepStore as _,
    domain::{
        Alert, AlertId, AlertPatch, AlertQuery, AlertType, AttemptId, Deadline, EventKind, EventSubject, EventTemplate,
        OrganizationId, Provider, Resolution,
        resolution::Decision,
        time::{Timestamp, from_iso},
    },
};

pub(super) fn no_events(_: &EventKind, _: EventSubject<'_>, _: Option<EventTemplate>, _: Timestamp) -> String {
    String::new()
}

impl SqliteStore {
    /// Reads little, by its key, at once where that can be.
    async fn read_at_once<T: Send + 'static>(
        &self,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.keyed.read_at_once(None, work).await
    }

    /// Reads by key, all from one state of the database.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.keyed.read(None, work).await
    }

    /// Reads a list, in its owner's turn, all from one state of the database.
    pub(super) async fn read_list<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl FnOnce(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.lists.read(owner.into(), work).await
    }

    /// The same, at once where that can be.
    async fn read_list_at_once<T: Send + 'static>(
        &self,
        owner: impl Into<ListOwner>,
        work: impl Fn(&mut Reader) -> StoreResult<T> + Send + 'static,
    ) -> StoreResult<T> {
        self.readers()?.lists.read_at_once(owner.into(), work).await
    }
}

/// A new store in a directory of its own.
pub(super) fn open() -> (tempfile::TempDir, Arc<SqliteStore>) {
    let directory = tempfile::tempdir().unwrap();
    let store = open_in(directory.path());
    (directory, store)
}

/// The store of a further process in a directory.
pub(super) fn open_in(directory: &Path) -> Arc<SqliteStore> {
    Arc::new(store::open(&SqliteOptions::file(directory.join("avert.db"), no_events)).unwrap())
}

fn noon() -> Timestamp {
    from_iso("2026-03-10T12:00:00Z").unwrap()
}

fn rows(count: usize) -> Vec<AlertPatch> {
    let alert = || Alert {
        provider_id: AlertId::generate().to_string(),
        alert_time: Some(noon()),
        merchant_descriptor: "A descriptor of some length".repeat(8),
        deadline: Deadline::At(noon()),
        ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
    };
    let row = |line| AlertPatch::of(alert()).at(line).without("id");
    (1..=count as u64).map(row).collect()
}

async fn organization(store: &SqliteStore) -> OrganizationId {
    store.organizations().await.unwrap()[0].organization.id
}

fn pragma(conn: &Connection, name: &str) -> i64 {
    conn.pragma_query_value(None, name, |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_reply_of_the_writer_means_that_the_disk_has_it() {
    let (_directory, store) = open();

    let settings = store
        .threads
        .writer
        .write(WriteKind::Quiet, |unit| {
            let mode: String = unit.conn.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
            Ok((mode, pragma(unit.conn, "synchronous"), pragma(unit.conn, "wal_autocheckpoint")))
        })
        .await
        .unwrap();

    let full = 2;
    assert_eq!(settings, ("wal".to_owned(), full, 0));
}

#[tokio::test]
async fn plans_are_stable_and_readers_cannot_write() {
    let (_directory, store) = open();

    let stable = store
        .threads
        .writer
        .write(WriteKind::Quiet, |unit| Ok(unit.conn.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)?))
        .await
        .unwrap();
    let reader = store
        .threads
        .readers
        .keyed
        .read(None, |reader| {
            let stable = reader.conn.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG)?;
            Ok((stable, reader.conn.execute("UPDATE change_number SET number = 9", []).is_err()))
        })
        .await
        .unwrap();

    assert!(stable);
    assert_eq!(reader, (true, true));
}

/// Lists that are asked for and do not end before they are let go.
struct Held {
    reads: Vec<Pin<Box<dyn Future<Output = StoreResult<()>> + Send>>>,
    go: Vec<mpsc::Sender<()>>,
    began: tokio::sync::mpsc::UnboundedReceiver<()>,
}

/// Asks for so many lists of an owner.
async fn hold_lists(store: &Arc<SqliteStore>, owner: Option<OrganizationId>, lists: usize) -> Held {
    let (begin, began) = tokio::sync::mpsc::unbounded_channel();
    let mut held = Held { reads: Vec::new(), go: Vec::new(), began };
    for _ in 0..lists {
        let (go, wait) = mpsc::channel::<()>();
        let (store, begin) = (Arc::clone(store), begin.clone());
        let work = move |_: &mut Reader| {
            let _ = begin.send(());
            let _ = wait.recv();
            Ok(())
        };
        let mut read: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(async move { store.read_list(owner, work).await });
        assert!(futures::poll!(&mut read).is_pending(), "it is asked for once it was polled");
        held.reads.push(read);
        held.go.push(go);
    }
    held
}

/// Limits the wait: work that takes longer is kept waiting by a lock.
async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it is kept waiting")
}

#[tokio::test]
async fn keys_single_alerts_and_decisions_wait_behind_no_list() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    store.ingest(organization, rows(1), noon()).await.unwrap();
    let alert = store.list_alerts(organization, &AlertQuery::default(), noon()).await.unwrap().data.remove(0);
    let _held = [hold_lists(&store, Some(organization), 32).await, hold_lists(&store, None, 32).await];

    in_time(async {
        assert_eq!(store.credential("nobody").await, Ok(None));
        assert_eq!(store.organizations().await.unwrap().len(), 1);
        assert_eq!(store.get_alert(organization, alert.id).await, Ok(Some(alert.clone())));
        store.ping().await.unwrap();
        let claim = ClaimRequest {
            attempt: AttemptId::generate(),
            organization,
            alert: alert.id,
            resolution: Resolution::Current { decision: Decision::Refunded, comments: String::new() },
            body_hash: [0; 32],
            idempotency_key: None,
            deadline: noon(),
            now: noon().into(),
        };
        assert!(matches!(store.claim_resolution(claim).await, Ok(Claim::Claimed { .. })));
    })
    .await;
}

#[tokio::test]
async fn an_organizations_list_comes_while_another_one_holds_all_that_it_may() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    let _held = hold_lists(&store, Some(OrganizationId::generate()), 32).await;

    let page = in_time(store.list_alerts(organization, &AlertQuery::default(), noon())).await;

    assert_eq!(page.unwrap().total, 0);
}

#[tokio::test]
async fn more_lists_than_may_wait_are_refused_to_their_organization_alone() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    let greedy = OrganizationId::generate();
    let mut first = hold_lists(&store, Some(greedy), 2).await;
    in_time(async { (first.began.recv().await, first.began.recv().await) }).await;
    let rest = hold_lists(&store, Some(greedy), 64).await;

    let one_more = in_time(store.list_alerts(greedy, &AlertQuery::default(), noon())).await;
    let anothers = in_time(store.list_alerts(organization, &AlertQuery::default(), noon())).await;

    assert!(matches!(one_more, Err(StoreError::Unavailable(_))), "{one_more:?}");
    assert!(anothers.is_ok());
    drop((first.go, rest.go));
    let ended = in_time(futures::future::join_all(first.reads.into_iter().chain(rest.reads))).await;
    assert!(ended.iter().all(Result::is_ok));
    assert!(in_time(store.list_alerts(greedy, &AlertQuery::default(), noon())).await.is_ok());
}

#[tokio::test]
async fn a_read_that_nobody_waits_for_is_interrupted_and_one_that_waits_is_never_begun() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
    let (begin, mut began) = tokio::sync::mpsc::unbounded_channel();
    let mut reads = Vec::new();
    for _ in 0..8 {
        let begin = begin.clone();
        let mut read = Box::pin(store.read_list(organization, move |reader| {
            let _ = begin.send(());
            Ok(reader.conn.query_row(endless, [], |row| row.get::<_, i64>(0))?)
        }));
        assert!(futures::poll!(&mut read).is_pending());
        reads.push(read);
    }
    in_time(async { (began.recv().await, began.recv().await) }).await;

    // The last one first, so that none of those that wait gets a turn.
    while let Some(read) = reads.pop() {
        drop(read);
    }
    let page = in_time(store.list_alerts(organization, &AlertQuery::default(), noon())).await;

    assert_eq!(page.unwrap().total, 0);
    assert!(began.try_recv().is_err(), "what nobody waited for was read");
}

/// Makes the writer wait, so that what is asked for meanwhile comes into one group. Dropping what it returns lets it go
/// on.
fn hold(store: &Arc<SqliteStore>) -> mpsc::Sender<()> {
    let (go, wait) = mpsc::channel::<()>();
    let holding = Arc::clone(store);
    let held = async move {
        holding
            .threads
            .writer
            .write(WriteKind::Quiet, move |_| {
                let _ = wait.recv();
                Ok(())
            })
            .await
    };
    tokio::spawn(held);
    go
}

fn count_up(unit: &mut Unit<'_>) -> StoreResult<i64> {
    unit.conn.execute("INSERT INTO fact (name, value) VALUES (hex(randomblob(8)), x'')", [])?;
    Ok(unit.change)
}

#[tokio::test]
async fn units_that_wait_together_are_committed_together() {
    let (_directory, store) = open();
    let go = hold(&store);
    tokio::task::yield_now().await;

    let units: Vec<_> = (0..20)
        .map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.threads.writer.write(WriteKind::Visible, count_up).await.unwrap() })
        })
        .collect();
    tokio::task::yield_now().await;
    drop(go);
    let mut changes = Vec::new();
    for unit in units {
        changes.push(unit.await.unwrap());
    }

    changes.dedup();
    assert!(changes.len() <= 2, "{changes:?}");
    assert_eq!(*store.changes().borrow(), changes.len() as u64);
}

#[tokio::test]
async fn a_unit_that_fails_or_breaks_takes_nobody_with_it() {
    let (_directory, store) = open();
    let go = hold(&store);
    tokio::task::yield_now().await;
    let failing = |unit: &mut Unit<'_>| -> StoreResult<i64> {
        count_up(unit)?;
        Err(StoreError::Conflict("it".to_owned()))
    };
    let breaking = |unit: &mut Unit<'_>| -> StoreResult<i64> {
        count_up(unit)?;
        panic!("a fault in the work, which this test is about")
    };

    let (first, failed, broken, last, ()) = tokio::join!(
        store.threads.writer.write(WriteKind::Visible, count_up),
        store.threads.writer.write(WriteKind::Visible, failing),
        store.threads.writer.write(WriteKind::Visible, breaking),
        store.threads.writer.write(WriteKind::Visible, count_up),
        async { drop(go) },
    );
    let facts = store.threads.readers.keyed.read(None, |reader| {
        Ok(reader.conn.query_row("SELECT count(*) FROM fact WHERE value = x''", [], |row| row.get(0))?)
    });

    assert!(first.is_ok() && last.is_ok());
    assert_eq!(failed, Err(StoreError::Conflict("it".to_owned())));
    assert!(matches!(broken, Err(StoreError::Unavailable(_))), "{broken:?}");
    assert_eq!(facts.await, Ok(2_i64));
}

#[tokio::test]
async fn a_full_disk_is_told_keeps_nothing_and_passes() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    let limit = |pages: i64| {
        store.threads.writer.write(WriteKind::Quiet, move |unit| {
            let pages = if pages == 0 { pragma(unit.conn, "page_count") } else { pages };
            unit.conn.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
            Ok(())
        })
    };
    limit(0).await.unwrap();

    let refused = store.ingest(organization, rows(200), noon()).await;
    let after = store.count_alerts(organization).await.unwrap();
    limit(1_000_000).await.unwrap();
    let stored = store.ingest(organization, rows(200), noon()).await.unwrap();

    assert!(
        matches!(&refused, Err(StoreError::Refused(RefusalCause::DiskFull, place)) if place.contains("KiB free in")),
        "{refused:?}"
    );
    assert_eq!((after, stored.created, store.count_alerts(organization).await.unwrap()), (0, 200, 200));
}

#[tokio::test]
async fn a_database_that_another_process_keeps_locked_is_told() {
    let (directory, store) = open();
    let organization = organization(&store).await;
    store.threads.writer.write(WriteKind::Quiet, |unit| Ok(unit.conn.busy_timeout(Duration::ZERO)?)).await.unwrap();
    let other = Connection::open(directory.path().join("avert.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let (first, second) = tokio::join!(
        store.ingest(organization, rows(1), noon()),
        store.touch_credential("any", crate::domain::Environment::Sandbox, noon())
    );
    let readable = store.count_alerts(organization).await;
    other.execute_batch("ROLLBACK").unwrap();
    let after = store.ingest(organization, rows(1), noon()).await;

    assert!(
        matches!(&first, Err(StoreError::Refused(RefusalCause::Locked, place)) if place.contains("avert.db")),
        "{first:?}"
    );
    assert!(matches!(second, Err(StoreError::Refused(RefusalCause::Locked, _))));
    assert_eq!((readable, after.unwrap().created), (Ok(0), 1));
}

#[tokio::test]
async fn a_writer_waits_for_a_checkpoint_of_its_own_process_longer_than_for_another_process() {
    let (directory, store) = open();
    let organization = organization(&store).await;
    store.threads.writer.write(WriteKind::Quiet, |unit| Ok(unit.conn.busy_timeout(Duration::ZERO)?)).await.unwrap();
    let (other, turnstile) = (
        Connection::open(directory.path().join("avert.db")).unwrap(),
        Turnstile::open(&directory.path().join("instances")).unwrap(),
    );
    let checkpoint = store.threads.checkpointer.wait();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();

    let runtime = Handle::current();
    let writer = store.clone();
    let writing = tokio::task::spawn_blocking(move || runtime.block_on(writer.ingest(organization, rows(1), noon())));
    // A process that is about to write is in the turnstile.
    let begun = Instant::now();
    while turnstile.0.try_lock().is_ok_and(|()| turnstile.0.unlock().is_ok()) {
        assert!(begun.elapsed() < Duration::from_secs(30), "nobody wants to write");
        std::thread::yield_now();
    }
    other.execute_batch("ROLLBACK").unwrap();
    drop(checkpoint);
    let written = writing.await.unwrap();

    assert_eq!(written.map(|report| report.created), Ok(1));
}

#[tokio::test]
async fn the_log_is_emptied_beside_the_writer() {
    let (directory, store) = open();
    let organization = organization(&store).await;
    let size = || std::fs::metadata(directory.path().join("avert.db")).unwrap().len();
    let before = size();

    for _ in 0..12 {
        store.ingest(organization, rows(2_000), noon()).await.unwrap();
    }
    // Waits for the checkpoint under way: its thread ends when it is done.
    store.threads.checkpointer.close();

    assert!(size() > before + (4 << 20), "{} bytes moved", size() - before);
}

#[tokio::test]
async fn the_counts_are_what_counting_says() {
    let (_directory, store) = open();
    let organization = organization(&store).await;
    store.ingest(organization, rows(50), noon()).await.unwrap();
    store.expire_due(noon(), 20).await.unwrap();

    let sums = store.threads.readers.keyed.read(None, |reader| {
        let counted = "SELECT status, count(*) FROM alert GROUP BY status ORDER BY status";
        let kept = "SELECT status, sum(alerts) FROM alert_count GROUP BY status ORDER BY status";
        let read = |sql: &str| -> rusqlite::Result<Vec<(i64, i64)>> {
            reader.conn.prepare(sql)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        Ok((read(counted)?, read(kept)?))
    });

    let (counted, kept) = sums.await.unwrap();
    assert_eq!(counted, kept);
    assert_eq!(counted.len(), 2);
}

#[tokio::test]
async fn an_alert_that_was_read_is_read_again_once_another_process_has_changed_it() {
    let (directory, store) = open();
    let other = open_in(directory.path());
    let organization = organization(&store).await;
    let before = AlertPatch::of(Alert { merchant_name: "before".to_owned(), ..rows(1).remove(0).alert });
    let id = before.alert.id;
    store.ingest(organization, vec![before.clone()], noon()).await.unwrap();
    let read = async |store: &SqliteStore| {
        let listed = store.list_alerts(organization, &AlertQuery::default(), noon()).await.unwrap().data.remove(0);
        let one = store.get_alert(organization, id).await.unwrap().unwrap();
        assert_eq!(listed, one);
        one.merchant_name.clone()
    };
    let first = read(&store).await;

    let after = AlertPatch { alert: Alert { merchant_name: "after".to_owned(), ..before.alert.clone() }, ..before };
    other.ingest(organization, vec![after], noon()).await.unwrap();

    assert_eq!(
        (first.as_str(), read(&store).await.as_str(), read(&other).await.as_str()),
        ("before", "after", "after")
    );
}

#[tokio::test]
async fn a_credential_is_found_while_another_thread_reads_one_and_not_once_the_store_is_closed() {
    let (_directory, store) = open();
    let (begin, began) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let held = Arc::clone(&store);
    let holder = std::thread::spawn(move || {
        futures::executor::block_on(held.read_at_once(move |_| {
            begin.send(()).unwrap();
            wait.recv().unwrap();
            Ok(())
        }))
    });
    began.recv().unwrap();

    let beside = in_time(store.credential("avk_unknown")).await;
    go.send(()).unwrap();
    holder.join().unwrap().unwrap();
    store.close();
    let closed = store.credential("avk_unknown").await;

    assert_eq!(beside, Ok(None));
    assert!(closed.is_err(), "{closed:?}");
}

/// Returns the thread that a read is done on.
fn thread(_: &mut Reader) -> StoreResult<std::thread::ThreadId> {
    Ok(std::thread::current().id())
}

#[tokio::test]
async fn a_short_read_is_done_on_its_callers_thread_where_a_reader_is_free() {
    let (_directory, store) = open();
    let (own, organization) = (std::thread::current().id(), organization(&store).await);

    let keyed = store.read_at_once(thread).await;
    let listed = store.read_list_at_once(organization, thread).await;
    let _held = hold_lists(&store, Some(organization), 2).await;
    let mut waiting = Box::pin(store.read_list_at_once(organization, thread));

    assert_eq!((keyed, listed), (Ok(own), Ok(own)));
    assert!(futures::poll!(&mut waiting).is_pending(), "its organization has all readers that it may");
}

#[tokio::test]
async fn a_read_that_turns_out_to_be_long_is_done_again_on_another_thread() {
    let (_directory, store) = open();
    let (own, organization) = (std::thread::current().id(), organization(&store).await);
    let long =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) SELECT count(*) FROM n";
    let (begin, began) = mpsc::channel();
    let work = move |reader: &mut Reader| {
        begin.send(std::thread::current().id()).unwrap();
        Ok(reader.conn.query_row(long, [], |row| row.get::<_, i64>(0))?)
    };

    let read = in_time(store.read_list_at_once(organization, work)).await;

    let threads: Vec<_> = began.iter().collect();
    assert_eq!((read, threads.len(), threads[0]), (Ok(2_000_000), 2, own));
    assert_ne!(threads[1], own);
}

#[tokio::test]
async fn a_read_that_panics_on_its_callers_thread_is_told_and_leaves_the_reader_to_others() {
    let (_directory, store) = open();
    let organization = organization(&store).await;

    let panicked = in_time(store.read_list_at_once::<()>(organization, |_| panic!("boom"))).await;

    assert!(matches!(panicked, Err(StoreError::Unavailable(_))), "{panicked:?}");
    assert_eq!(in_time(store.list_alerts(organization, &AlertQuery::default(), noon())).await.unwrap().total, 0);
}

#[tokio::test]
async fn alerts_are_taken_in_by_small_commits_while_another_process_may_wait_to_write() {
    let (directory, store) = open();
    let organization = organization(&store).await;
    let commits = || *store.changes.borrow();

    let before = commits();
    let alone = store.ingest(organization, rows(450), noon()).await.unwrap();
    let by_itself = commits() - before;
    let other = open_in(directory.path());
    let before = commits();
    let beside = store.ingest(organization, rows(450), noon()).await.unwrap();
    let beside_another = commits() - before;
    drop(other);

    assert_eq!((alone.created, by_itself), (450, 1));
    assert_eq!((beside.created + beside.unchanged + beside.updated, beside_another), (450, 8));
}
