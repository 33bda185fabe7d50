//! Writes to the search indexes: that of the texts which `q` looks into, and of `find` that of trigrams and that of
//! beginnings. A new alert is written in its own commit, the text of an outcome behind the outcome's commit.
//!
//! FTS5 writes a segment for each savepoint that changes it. In the commit of an answer that is more than all the rest
//! of it; for many answers at once, in the order of their keys, it is hardly anything. So an answer only lists its
//! alert, and the writer catches up. One index is written after the other, because each gathers in memory as long as no
//! other statement interrupts.

use std::collections::HashSet;

use rusqlite::Connection;

use super::{
    beginnings::{heads, outcome_heads},
    interned::Dictionary,
    rows::{read_by_key, read_outcome},
    sql::{Statements as _, cell},
};
use crate::{
    StoreResult,
    domain::{Alert, Outcome},
    filter::{find_text, outcome_text, search_text},
};

/// Most outcomes, and most bytes of their texts, that are indexed at once, so that another writer waits for a few
/// milliseconds alone.
const BATCH: i64 = 256;
const BATCH_BYTES: usize = 16 << 10;

/// Number of existing alerts that are put into the index at once.
const AT_ONCE: i64 = 10_000;

/// Texts of an alert in the indexes, or those that an outcome adds to its alert's.
#[derive(Debug, PartialEq)]
pub(super) struct SearchTexts {
    q: String,
    trigrams: String,
    heads: String,
}

impl SearchTexts {
    pub(super) fn of(alert: &Alert) -> Self {
        Self { q: search_text(alert), trigrams: find_text(alert), heads: heads(alert) }
    }

    /// Returns the texts that an outcome adds to its alert; `None` where it adds nothing.
    fn of_outcome(outcome: &Outcome) -> Option<Self> {
        Some(Self { q: String::new(), trigrams: outcome_text(outcome)?, heads: outcome_heads(outcome) })
    }
}

/// One of the indexes.
struct TextIndex {
    table: &'static str,
    text: fn(&SearchTexts) -> &str,
}

const Q: TextIndex = TextIndex { table: "alert_trigram", text: |texts| &texts.q };
const TRIGRAMS: TextIndex = TextIndex { table: "alert_find", text: |texts| &texts.trigrams };
const HEADS: TextIndex = TextIndex { table: "alert_head", text: |texts| &texts.heads };

/// The indexes of `find`.
const OF_FIND: [TextIndex; 2] = [TRIGRAMS, HEADS];

impl TextIndex {
    fn put_in(&self, conn: &Connection, key: i64, texts: &SearchTexts) -> StoreResult<()> {
        let table = self.table;
        conn.run(&format!("INSERT INTO {table} (rowid, text) VALUES (?1, ?2)"), &[&key, &(self.text)(texts)]).map(drop)
    }

    /// The text has to be what is in the index.
    fn take_out(&self, conn: &Connection, key: i64, texts: &SearchTexts) -> StoreResult<()> {
        let table = self.table;
        let taken_out = format!("INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?1, ?2)");
        conn.run(&taken_out, &[&key, &(self.text)(texts)]).map(drop)
    }
}

/// Puts the texts of new alerts into every index.
pub(super) fn index(conn: &Connection, texts: &[(i64, SearchTexts)]) -> StoreResult<()> {
    // Of one row, not of a SELECT: SQLite opens a journal for each statement that may write several.
    let kept = "INSERT INTO alert_search (alert, organization, text)
        VALUES (?1, (SELECT organization FROM alert WHERE key = ?1), ?2)";
    for (key, texts) in texts {
        conn.run(kept, &[key, &texts.q])?;
    }
    put_in(conn, &[Q, TRIGRAMS, HEADS], texts)
}

fn put_in(conn: &Connection, indexes: &[TextIndex], texts: &[(i64, SearchTexts)]) -> StoreResult<()> {
    indexes.iter().try_for_each(|index| texts.iter().try_for_each(|(key, texts)| index.put_in(conn, *key, texts)))
}

/// Puts texts of alerts in the place of what they were before, one change after the other.
pub(super) fn index_anew(
    conn: &Connection,
    dictionary: &mut Dictionary,
    changes: &[(i64, SearchTexts, SearchTexts)],
) -> StoreResult<()> {
    let mut lacking = Vec::new();
    for (key, _, new) in changes {
        conn.run("UPDATE alert_search SET text = ?2 WHERE alert = ?1 AND text <> ?2", &[key, &new.q])?;
        if conn.run("DELETE FROM alert_unindexed WHERE alert = ?1", &[key])? > 0 {
            lacking.extend(texts_of_outcome(conn, dictionary, *key)?.map(|texts| (*key, texts)));
        }
    }
    put_in(conn, &OF_FIND, &lacking)?;
    for index in [Q, TRIGRAMS, HEADS] {
        for (key, old, new) in changes.iter().filter(|(_, old, new)| (index.text)(old) != (index.text)(new)) {
            index.take_out(conn, *key, old)?;
            index.put_in(conn, *key, new)?;
        }
    }
    Ok(())
}

/// Puts every alert into the index of beginnings, which is empty, and into that of trigrams where it is.
pub(super) fn index_all(conn: &Connection) -> StoreResult<()> {
    let is_whole: bool = conn.one("SELECT EXISTS (SELECT 1 FROM alert_find_term)", &[], cell)?;
    let indexes = if is_whole { &[HEADS][..] } else { &OF_FIND };
    let mut last = Some(0);
    while let Some(indexed) = last {
        let texts = texts_behind(conn, indexed)?;
        put_in(conn, indexes, &texts)?;
        last = texts.last().map(|(key, _)| *key);
    }
    Ok(())
}

/// Puts the next alerts into every index, those behind this one, which have none of them. Returns the last one's key.
pub(super) fn index_behind(conn: &Connection, last: i64) -> StoreResult<Option<i64>> {
    let texts = texts_behind(conn, last)?;
    index(conn, &texts)?;
    Ok(texts.last().map(|(key, _)| *key))
}

/// The texts of the next alerts, those behind this one.
fn texts_behind(conn: &Connection, last: i64) -> StoreResult<Vec<(i64, SearchTexts)>> {
    let mut dictionary = Dictionary::new();
    let keys: Vec<i64> =
        conn.all("SELECT key FROM alert WHERE key > ?1 ORDER BY key LIMIT ?2", &[&last, &AT_ONCE], cell)?;
    let behind = "SELECT alert FROM alert_unindexed WHERE alert > ?1 AND alert <= ?2";
    let lacking: HashSet<i64> = conn.all(behind, &[&last, keys.last().unwrap_or(&last)], cell)?.into_iter().collect();
    let text = |key: i64| -> StoreResult<(i64, SearchTexts)> {
        let mut alert = read_by_key(conn, &mut dictionary, key)?;
        // Its outcome is put in later.
        if lacking.contains(&key) {
            alert.outcome = None;
        }
        Ok((key, SearchTexts::of(&alert)))
    };
    keys.into_iter().map(text).collect()
}

/// Lists an alert, which is in the index without this outcome.
pub(super) fn index_later(conn: &Connection, key: i64, outcome: &Outcome) -> StoreResult<()> {
    if outcome_text(outcome).is_some() {
        conn.run("INSERT OR IGNORE INTO alert_unindexed (alert) VALUES (?1)", &[&key])?;
    }
    Ok(())
}

/// The alerts whose outcomes are not in the index yet, of all organizations.
pub(super) fn unindexed(conn: &Connection) -> StoreResult<Vec<i64>> {
    conn.all("SELECT alert FROM alert_unindexed ORDER BY alert", &[], cell)
}

/// Number of the alerts that are not indexed yet.
pub(super) fn count_unindexed(conn: &Connection) -> StoreResult<u32> {
    conn.one("SELECT count(*) FROM alert_unindexed", &[], cell)
}

/// Puts outcomes into the index that are listed, a batch of them.
pub(super) fn catch_up(conn: &Connection, dictionary: &mut Dictionary) -> StoreResult<()> {
    let keys: Vec<i64> = conn.all("SELECT alert FROM alert_unindexed ORDER BY alert LIMIT ?1", &[&BATCH], cell)?;
    let (mut caught_up, mut texts, mut bytes) = (Vec::new(), Vec::new(), 0);
    for key in keys {
        if bytes >= BATCH_BYTES {
            break;
        }
        let of_outcome = texts_of_outcome(conn, dictionary, key)?;
        bytes += of_outcome.as_ref().map_or(0, |texts| texts.trigrams.len());
        caught_up.push(key);
        texts.extend(of_outcome.map(|texts| (key, texts)));
    }
    put_in(conn, &OF_FIND, &texts)?;
    for key in caught_up {
        conn.run("DELETE FROM alert_unindexed WHERE alert = ?1", &[&key])?;
    }
    Ok(())
}

fn texts_of_outcome(conn: &Connection, dictionary: &mut Dictionary, alert: i64) -> StoreResult<Option<SearchTexts>> {
    Ok(read_outcome(conn, dictionary, alert)?.as_ref().and_then(SearchTexts::of_outcome))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use super::super::SqliteStore;
    use super::super::readers::Reader;
    use super::super::tests::{open, open_in};
    use super::super::writer::{MOST_UNINDEXED, Unit, WriteKind};
    use super::*;
    use crate::domain::resolution::Decision;
    use crate::domain::time::Timestamp;
    use crate::domain::{AlertId, AlertPatch, AlertType, AttemptId, FindQuery, OrganizationId, Provider, Resolution};
    use crate::{
        AlertStore as _, AttemptStore as _, ClaimRequest, Commit, CommitRequest, OrganizationStore as _, Store as _,
    };

    const NOW: Timestamp = Timestamp::UNIX_EPOCH;

    /// Takes the outcome of an answered alert out of the index again, and lists the alert.
    pub(in crate::sqlite) fn as_if_just_answered(
        conn: &Connection,
        dictionary: &mut Dictionary,
        key: i64,
    ) -> StoreResult<()> {
        let alert = read_by_key(conn, dictionary, key)?;
        let before = SearchTexts::of(&Alert { outcome: None, ..alert.clone() });
        OF_FIND.iter().try_for_each(|index| index.take_out(conn, key, &SearchTexts::of(&alert)))?;
        put_in(conn, &OF_FIND, &[(key, before)])?;
        alert.outcome.iter().try_for_each(|outcome| index_later(conn, key, outcome))
    }

    async fn organization(store: &SqliteStore) -> OrganizationId {
        store.organizations().await.unwrap()[0].organization.id
    }

    async fn bring(store: &SqliteStore, alert: &Alert) {
        store.ingest(organization(store).await, vec![AlertPatch::of(alert.clone())], NOW).await.unwrap();
    }

    fn alert() -> Alert {
        let order = Some("order of old".to_owned());
        Alert {
            merchant_order_id: order,
            ..Alert::new(AlertId::generate(), Provider::Ethoca, AlertType::EthocaConfirmedFraud)
        }
    }

    async fn answer(store: &SqliteStore, alert: AlertId, comments: &str) {
        let (attempt, organization) = (AttemptId::generate(), organization(store).await);
        let resolution = Resolution::Current { decision: Decision::Refunded, comments: comments.to_owned() };
        let (body_hash, idempotency_key) = ([0; 32], None);
        let claim = ClaimRequest {
            attempt,
            organization,
            alert,
            resolution,
            body_hash,
            idempotency_key,
            deadline: NOW,
            now: NOW.into(),
        };
        store.claim_resolution(claim).await.unwrap();
        let committed = store.commit_resolution(CommitRequest { attempt, generation: 1, now: NOW }).await.unwrap();
        assert!(matches!(committed, Commit::Committed(_)));
    }

    async fn found(store: &SqliteStore, text: &str) -> usize {
        store.find(organization(store).await, &FindQuery::parse(text).unwrap(), 100).await.unwrap().len()
    }

    /// Number of alerts with a trigram, as the index has it.
    async fn indexed(store: &SqliteStore, trigram: &'static str) -> u32 {
        let sql = "SELECT count(*) FROM alert_find WHERE alert_find MATCH ?1";
        store.read(move |reader: &mut Reader| reader.conn.one(sql, &[&trigram], cell)).await.unwrap()
    }

    async fn listed(store: &SqliteStore) -> u32 {
        store.read(|reader| count_unindexed(&reader.conn)).await.unwrap()
    }

    /// Waits until the writer has caught up.
    async fn caught_up(store: &SqliteStore) {
        let begun = Instant::now();
        while listed(store).await > 0 {
            assert!(begun.elapsed() < Duration::from_secs(30), "it is never indexed");
        }
    }

    /// Leaves every answer as it is right behind its commit, and the writer without a reason to catch up.
    async fn leave_unindexed(store: &SqliteStore) {
        caught_up(store).await;
        let work = |unit: &mut Unit<'_>| {
            let keys: Vec<i64> = unit.conn.all("SELECT alert FROM outcome", &[], cell)?;
            keys.into_iter().try_for_each(|key| as_if_just_answered(unit.conn, unit.dictionary, key))
        };
        store.threads.writer.write(WriteKind::Quiet, work).await.unwrap();
    }

    async fn catch_up_now(store: &SqliteStore) {
        store.threads.writer.write(WriteKind::Quiet, |unit| catch_up(unit.conn, unit.dictionary)).await.unwrap();
    }

    /// The beginnings that the index has, each with its alert, and those that it should have.
    async fn beginnings(store: &SqliteStore) -> [BTreeSet<(String, i64)>; 2] {
        let work = |unit: &mut Unit<'_>| {
            let conn = &*unit.conn;
            conn.execute_batch(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.head_instance USING fts5vocab(main, alert_head, instance)",
            )?;
            let kept: Vec<(String, i64)> =
                conn.all("SELECT term, doc FROM temp.head_instance", &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut expected = BTreeSet::new();
            for key in conn.all("SELECT key FROM alert", &[], cell::<i64>)? {
                let heads = heads(&read_by_key(conn, unit.dictionary, key)?);
                expected.extend(heads.split(' ').map(|head| (head.to_owned(), key)));
            }
            Ok([kept.into_iter().collect(), expected])
        };
        store.threads.writer.write(WriteKind::Quiet, work).await.unwrap()
    }

    async fn check(store: &SqliteStore) {
        let [kept, expected] = beginnings(store).await;
        assert_eq!(kept, expected);
        for index in ["alert_find", "alert_head"] {
            let check = format!("INSERT INTO {index} ({index}) VALUES ('integrity-check')");
            store.threads.writer.write(WriteKind::Quiet, move |unit| unit.conn.run(&check, &[])).await.unwrap();
        }
    }

    #[tokio::test]
    async fn an_answer_is_found_by_its_comment_before_it_is_indexed_and_behind() {
        let (_directory, store) = open();
        let alert = alert();
        bring(&store, &alert).await;
        answer(&store, alert.id, "sent by till nine").await;
        leave_unindexed(&store).await;
        let before = (
            indexed(&store, "til").await,
            found(&store, "till").await,
            found(&store, "old till").await,
            found(&store, "ill n").await,
        );

        catch_up_now(&store).await;

        assert_eq!(before, (0, 1, 1, 1));
        assert_eq!((indexed(&store, "til").await, listed(&store).await), (1, 0));
        assert_eq!(
            (found(&store, "till").await, found(&store, "old till").await, found(&store, "nobody").await),
            (1, 1, 0)
        );
        check(&store).await;
    }

    #[tokio::test]
    async fn an_alert_that_changes_before_its_answer_is_indexed_leaves_nothing_behind() {
        let (_directory, store) = open();
        let alert = alert();
        bring(&store, &alert).await;
        answer(&store, alert.id, "sent by till nine").await;
        leave_unindexed(&store).await;

        bring(&store, &Alert { merchant_order_id: Some("order anew".to_owned()), ..alert.clone() }).await;

        let now = (found(&store, "anew till").await, found(&store, "old").await, listed(&store).await);
        assert_eq!((now, indexed(&store, "til").await, indexed(&store, "old").await), ((1, 0, 0), 1, 0));
        check(&store).await;
    }

    #[tokio::test]
    async fn an_alert_that_changes_twice_at_once_is_indexed_as_it_is_at_last() {
        let (_directory, store) = open();
        let alert = alert();
        let called = |order: &str| AlertPatch::of(Alert { merchant_order_id: Some(order.to_owned()), ..alert.clone() });
        bring(&store, &alert).await;

        store.ingest(organization(&store).await, vec![called("mid"), called("last")], NOW).await.unwrap();

        assert_eq!((found(&store, "mid").await, found(&store, "last").await), (0, 1));
        assert_eq!((indexed(&store, "mid").await, indexed(&store, "las").await), (0, 1));
        check(&store).await;
    }

    #[tokio::test]
    async fn indexes_that_are_made_anew_are_what_they_were() {
        let (_directory, store) = open();
        let (answered, pending) = (alert(), Alert { merchant_order_id: Some("soon".to_owned()), ..alert() });
        for alert in [&answered, &pending] {
            bring(&store, alert).await;
        }
        answer(&store, answered.id, "sent by till nine").await;
        caught_up(&store).await;
        let next: fn(&Connection) -> StoreResult<()> = |conn| {
            conn.execute_batch("DELETE FROM alert_search")?;
            index_behind(conn, 0).map(drop)
        };
        let anew = [
            (&["alert_trigram", "alert_find", "alert_head"][..], next),
            (&["alert_find", "alert_head"], index_all),
            (&["alert_head"], index_all),
        ];

        for (emptied, make) in anew {
            let work = move |unit: &mut Unit<'_>| {
                for index in emptied {
                    unit.conn.run(&format!("INSERT INTO {index} ({index}) VALUES ('delete-all')"), &[])?;
                }
                make(unit.conn)
            };
            store.threads.writer.write(WriteKind::Quiet, work).await.unwrap();

            assert_eq!((indexed(&store, "til").await, indexed(&store, "soo").await), (1, 1));
            check(&store).await;
        }
    }

    #[tokio::test]
    async fn a_beginning_is_indexed_without_an_outcome_that_is_put_in_later() {
        let (_directory, store) = open();
        let alert = alert();
        bring(&store, &alert).await;
        answer(&store, alert.id, "sent by till nine").await;
        leave_unindexed(&store).await;
        let anew = |unit: &mut Unit<'_>| {
            for index in ["alert_find", "alert_head"] {
                unit.conn.run(&format!("INSERT INTO {index} ({index}) VALUES ('delete-all')"), &[])?;
            }
            index_all(unit.conn)
        };
        store.threads.writer.write(WriteKind::Quiet, anew).await.unwrap();
        let comment = outcome_heads(&Outcome { comments: "sent by till nine".to_owned(), ..Outcome::default() });
        let [before, _] = beginnings(&store).await;

        catch_up_now(&store).await;

        let has_comment = |heads: &BTreeSet<(String, i64)>| heads.iter().any(|(head, _)| comment == *head);
        assert_eq!([has_comment(&before), has_comment(&beginnings(&store).await[0])], [false, true]);
        check(&store).await;
    }

    #[tokio::test]
    async fn an_answer_without_a_comment_has_nothing_to_index() {
        let (_directory, store) = open();
        let alert = alert();
        bring(&store, &alert).await;

        answer(&store, alert.id, "").await;

        assert_eq!(listed(&store).await, 0);
    }

    #[tokio::test]
    async fn what_is_not_indexed_is_never_much() {
        let (_directory, store) = open();
        let alerts: Vec<Alert> = (0..MOST_UNINDEXED).map(|_| alert()).collect();
        store
            .ingest(organization(&store).await, alerts.iter().cloned().map(AlertPatch::of).collect(), NOW)
            .await
            .unwrap();

        for alert in &alerts {
            answer(&store, alert.id, "sent by till nine").await;
        }
        // It stands behind the writer's own work.
        store.threads.writer.write(WriteKind::Quiet, |_| Ok(())).await.unwrap();

        assert!(listed(&store).await < MOST_UNINDEXED);
        caught_up(&store).await;
        assert_eq!(indexed(&store, "til").await, MOST_UNINDEXED);
    }

    #[tokio::test]
    async fn what_a_process_leaves_unindexed_the_next_one_indexes() {
        let (directory, store) = open();
        let alert = alert();
        bring(&store, &alert).await;
        answer(&store, alert.id, "sent by till nine").await;
        leave_unindexed(&store).await;
        store.close();

        let again = open_in(directory.path());

        assert_eq!(found(&again, "till").await, 1);
        caught_up(&again).await;
        assert_eq!((indexed(&again, "til").await, found(&again, "till").await), (1, 1));
    }
}
