//! The orders of the merchant's shop as this desk keeps them: a small SQLite database beside its other files, never in
//! the engine.
//!
//! An order is found by what an alert tells: its transaction, its reference, its number, its card. Which order a person
//! has taken off an alert is kept too, and the headers that the columns of the shop's file have.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use chrono::TimeDelta;
use rusqlite::{
    Connection, OpenFlags, OptionalExtension as _, Params, Row, Transaction, TransactionBehavior, config::DbConfig,
    params, types::Type,
};
use sha2::{Digest as _, Sha256};

use super::file::{DeskError, directory_of, make_directory, private, sqlite_cause};
use crate::domain::{
    Alert, AlertId, Currency, MatchConfidence, MerchantOrder, OrderAdvice, OrderMatch, OrderState, Timestamp,
    cause::RefusalCause,
    order::{matches, transaction_key},
    resolution::{Decision, InvalidReason},
};

/// Marks the file as avert's orders (`PRAGMA application_id`): the letters `avro`.
const APPLICATION_ID: i32 = 0x6176_726f;

/// The number of the newest schema.
const NEWEST: u16 = 3;

/// The newest schema. A file of an earlier one, which names columns otherwise and may know no owner, is brought up to
/// date by it too. The owner is at most one row, the id of the organization whose orders these are; the names of
/// columns are those of files with one and the same first row.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS merchant_order (
        order_id TEXT PRIMARY KEY,
        transaction_id TEXT, transaction_key TEXT, arn TEXT, auth_code TEXT,
        card_bin TEXT, card_last_four TEXT,
        amount TEXT, currency TEXT, paid_at INTEGER, descriptor TEXT,
        state TEXT, state_at INTEGER, refunded_amount TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS order_by_transaction ON merchant_order (transaction_key)
        WHERE transaction_key IS NOT NULL;
    CREATE INDEX IF NOT EXISTS order_by_arn ON merchant_order (arn COLLATE NOCASE) WHERE arn IS NOT NULL;
    CREATE INDEX IF NOT EXISTS order_by_card ON merchant_order (card_last_four, paid_at)
        WHERE card_last_four IS NOT NULL;
    CREATE INDEX IF NOT EXISTS order_by_folded_id ON merchant_order (order_id COLLATE NOCASE);
    CREATE TABLE IF NOT EXISTS unmatched (
        alert TEXT NOT NULL, order_id TEXT NOT NULL, at INTEGER NOT NULL,
        PRIMARY KEY (alert, order_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS owner (organization TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    DROP TABLE IF EXISTS header;
    CREATE TABLE header (
        first_row TEXT NOT NULL, field TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (first_row, field)
    ) STRICT, WITHOUT ROWID;
";

/// Longest wait of a statement for another process: an import keeps the file for moments.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Orders of one card, or of four digits, that are compared with an alert, the newest first.
const MOST_CANDIDATES: u32 = 500;

/// No payment is compared with an alert whose transaction is further away than this.
const WINDOW: TimeDelta = TimeDelta::days(3);

const COLUMNS: &str = "order_id, transaction_id, arn, auth_code, card_bin, card_last_four, amount, currency, paid_at, \
    descriptor, state, state_at, refunded_amount";

/// Counts of an import of orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OrderCounts {
    pub created: u64,
    pub updated: u64,
    pub unchanged: u64,
    /// Number of known orders that came with an older state than the known one, which stays.
    pub older_states: u64,
}

/// The orders that an alert may be on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MatchedOrders {
    /// The surest first.
    pub matches: Vec<OrderMatch>,
    /// Orders that would match and that a person has unlinked, the last one last.
    pub unmatched: Vec<String>,
    /// The order of another alert on the payment, by its id, and what it tells of this one.
    pub by_others: Option<(String, OrderAdvice)>,
    /// Number of other alerts on the payment that were asked about.
    pub others: usize,
}

impl MatchedOrders {
    /// Returns the id of the order that matches exactly, with nothing that speaks against it.
    pub fn exact(&self) -> Option<&str> {
        let best = self.matches.first()?;
        let is_exact = best.confidence == MatchConfidence::Certain && best.doubts.is_empty();
        is_exact.then_some(best.order.order_id.as_str())
    }

    /// Returns the best matching order, by its id, and its advice. Where only another one tells of a refund, it is that
    /// one: of another alert on the payment, or one that only warns.
    pub fn advice(&self, alert: &Alert) -> Option<(&str, OrderAdvice)> {
        let mut told = self.matches.iter().map(|found| Some((found.order.order_id.as_str(), found.advice(alert)?)));
        let own = told.next().flatten();
        let warning = || told.flatten().find(|(_, advice)| advice.only_warns && advice.was_refunded_before());
        let by_others = self.by_others.as_ref().map(|(id, advice)| (id.as_str(), *advice)).or_else(warning);
        own.filter(|(_, advice)| advice.was_refunded_before() || by_others.is_none()).or(by_others)
    }

    /// Returns the findings on an alert.
    pub fn findings(&self, alert: &Alert) -> OrderFindings {
        OrderFindings { advice: self.advice(alert).map(|(_, advice)| advice), is_exact: self.exact().is_some() }
    }
}

/// Findings of matched orders on an alert.
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderFindings {
    pub advice: Option<OrderAdvice>,
    /// True where an order matches exactly.
    is_exact: bool,
}

impl OrderFindings {
    /// Returns true where a check warns against this decision.
    pub fn warn_against(&self, decision: Decision) -> bool {
        match decision {
            Decision::Refunded => self.advice.is_some_and(|advice| advice.leaves_refund_open),
            Decision::Invalid(reason) => self.is_exact && reason == InvalidReason::NotFound,
            Decision::NotRefunded => false,
        }
    }

    /// Returns true where a check warns against some answer, whatever else is known.
    pub fn warn(&self) -> bool {
        self.advice.is_some_and(|advice| advice.was_refunded_before() || advice.leaves_refund_open)
    }
}

/// The database of orders.
#[derive(Debug)]
pub struct OrderDatabase {
    path: PathBuf,
    conn: Connection,
}

impl OrderDatabase {
    /// Opens the database of a desk directory, making it (for its owner only) where there is none.
    pub(super) fn making(path: PathBuf) -> Result<Self, DeskError> {
        make_directory(directory_of(&path))?;
        match private(fs::OpenOptions::new().write(true).create_new(true)).open(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(DeskError::failed(&path, "cannot be made", &error))
            }
            _ => Self::open(path),
        }
    }

    /// Opens the database in a file; `None` where nothing was ever imported.
    pub(super) fn at(path: PathBuf) -> Result<Option<Self>, DeskError> {
        match path.try_exists() {
            Ok(true) => Self::open(path).map(Some),
            Ok(false) => Ok(None),
            Err(error) => Err(DeskError::failed(&path, "cannot be looked at", &error)),
        }
    }

    fn open(path: PathBuf) -> Result<Self, DeskError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = Connection::open_with_flags(&path, flags).and_then(|mut conn| {
            conn.busy_timeout(BUSY_TIMEOUT)?;
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            Ok(prepare(&mut conn)?.map(|()| conn))
        });
        match opened.map_err(|error| in_words(&path, &error))? {
            Ok(conn) => Ok(Self { path, conn }),
            Err(why) => Err(DeskError::new(&path, why)),
        }
    }

    /// Asks the database; its error in words.
    fn ask<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, DeskError> {
        work(&self.conn).map_err(|error| in_words(&self.path, &error))
    }

    /// The id of the organization whose orders these are, where it is known.
    fn owner(&self) -> Result<Option<String>, DeskError> {
        self.ask(|conn| conn.query_row("SELECT organization FROM owner LIMIT 1", [], |row| row.get(0)).optional())
    }

    /// Keeps whose orders these are, where it is not known yet: orders of nobody belong to whoever opens them, and the
    /// next organization that comes does not inherit them.
    pub(super) fn claimed_by(self, owner: Option<&OrderOwner>) -> Result<Self, DeskError> {
        if let Some(OrderOwner { organization, .. }) = owner
            && self.owner()?.is_none()
        {
            let sql = "INSERT INTO owner (organization) SELECT ?1 WHERE NOT EXISTS (SELECT 1 FROM owner)";
            self.ask(|conn| conn.execute(sql, [organization]))?;
        }
        Ok(self)
    }

    /// Takes orders in, all or none of them; what is there already is brought up to date.
    pub fn import(&mut self, orders: Vec<MerchantOrder>) -> Result<OrderCounts, DeskError> {
        take_in(&mut self.conn, orders).map_err(|error| in_words(&self.path, &error))
    }

    /// The orders that an alert may be on, but those that were taken off it.
    pub fn matches(&self, alert: &Alert) -> Result<MatchedOrders, DeskError> {
        self.ask(|conn| {
            let mut read =
                conn.prepare_cached("SELECT order_id FROM unmatched WHERE alert = ?1 ORDER BY at, order_id")?;
            let unmatched = read.query_map([alert.id.to_string()], |row| row.get(0))?;
            let mut unmatched: Vec<String> = unmatched.collect::<Result<_, _>>()?;
            let all = matches(alert, candidates(conn, alert)?);
            unmatched.retain(|id| all.iter().any(|found| found.order.order_id == *id));
            let left = all.into_iter().map(|found| found.order).filter(|order| !unmatched.contains(&order.order_id));
            // Compared anew: what was taken off no longer makes the others less sure.
            Ok(MatchedOrders { matches: matches(alert, left), unmatched, ..MatchedOrders::default() })
        })
    }

    /// The same, and what the orders of others on its payment tell of it: that money has gone back is told of the
    /// payment.
    pub fn matches_among(&self, alert: &Alert, others: &[Alert]) -> Result<MatchedOrders, DeskError> {
        let mut matched = MatchedOrders { others: others.len(), ..self.matches(alert)? };
        for other in others {
            let found = self.matches(other)?;
            let told =
                found.advice(other).and_then(|(id, advice)| Some((id.to_owned(), advice.for_another(other, alert)?)));
            if told.is_some() {
                matched.by_others = told;
                break;
            }
        }
        Ok(matched)
    }

    /// The order of this id, letter case ignored.
    pub fn named(&self, order_id: &str) -> Result<Option<MerchantOrder>, DeskError> {
        let orders = self.ask(|conn| orders_where(conn, "order_id = ?1 COLLATE NOCASE ORDER BY order_id", [order_id]));
        Ok(orders?.into_iter().next())
    }

    /// Takes an order off an alert.
    pub fn unmatch(&self, alert: AlertId, order_id: &str, at: Timestamp) -> Result<(), DeskError> {
        let sql = "INSERT INTO unmatched (alert, order_id, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
        let values = params![alert.to_string(), order_id, at.timestamp_micros()];
        self.ask(|conn| conn.execute(sql, values)).map(drop)
    }

    /// Gives an alert every order back that was taken off it.
    pub fn match_again(&self, alert: AlertId) -> Result<(), DeskError> {
        self.ask(|conn| conn.execute("DELETE FROM unmatched WHERE alert = ?1", [alert.to_string()])).map(drop)
    }

    /// Counts the orders.
    pub fn count(&self) -> Result<u64, DeskError> {
        let count = |conn: &Connection| conn.query_row("SELECT count(*) FROM merchant_order", [], |row| row.get(0));
        self.ask(count).map(i64::unsigned_abs)
    }

    /// The headers that were named for the columns of files with this first row.
    pub fn headers(&self, first_row: &[String]) -> Result<BTreeMap<String, String>, DeskError> {
        self.ask(|conn| {
            let mut read = conn.prepare("SELECT field, name FROM header WHERE first_row = ?1")?;
            read.query_map([key_of(first_row)], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    /// Keeps the headers of columns for files with this first row; none takes one back.
    pub fn keep_headers(
        &mut self,
        first_row: &[String],
        headers: &[(String, Option<String>)],
    ) -> Result<(), DeskError> {
        let row = key_of(first_row);
        let write = |conn: &mut Connection| -> rusqlite::Result<()> {
            let change = conn.transaction()?;
            for (field, name) in headers {
                let sql = match name {
                    Some(_) => "INSERT OR REPLACE INTO header (first_row, field, name) VALUES (?1, ?2, ?3)",
                    None => "DELETE FROM header WHERE first_row = ?1 AND field = ?2 AND ?3 IS NULL",
                };
                change.execute(sql, params![row, field, name])?;
            }
            change.commit()
        };
        write(&mut self.conn).map_err(|error| in_words(&self.path, &error))
    }
}

/// A first row as it is known again: a digest of its names.
fn key_of(first_row: &[String]) -> String {
    let names = first_row.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>().join("\n");
    Sha256::digest(names).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Brings the schema up to date; why it cannot be, where the file is another's or a newer avert's.
fn prepare(conn: &mut Connection) -> rusqlite::Result<Result<(), String>> {
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    if schema_of(conn)? == Ok(NEWEST) {
        return Ok(Ok(()));
    }
    // An import and a console on the same desk do not wait for each other.
    conn.pragma_update(None, "journal_mode", "WAL")?;
    let change = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match schema_of(&change)? {
        Ok(NEWEST) => return Ok(Ok(())),
        Ok(_) => change.execute_batch(SCHEMA)?,
        Err(why) => return Ok(Err(why)),
    }
    change.pragma_update(None, "user_version", NEWEST)?;
    change.pragma_update(None, "application_id", APPLICATION_ID)?;
    change.commit()?;
    Ok(Ok(()))
}

/// Returns the number of the file's schema, 0 for none yet, or the reason for which the file is none of this avert's.
fn schema_of(conn: &Connection) -> rusqlite::Result<Result<u16, String>> {
    let version: u16 = conn.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let id: i32 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = conn.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(match id {
        APPLICATION_ID if version <= NEWEST => Ok(version),
        APPLICATION_ID => {
            Err("was written by a newer avert; use that one, or move the file away and bring the orders in again"
                .to_owned())
        }
        0 if version == 0 && tables == 0 => Ok(0),
        _ => Err("is a database, but not one of orders; move it away, the orders can be brought in again".to_owned()),
    })
}

fn take_in(conn: &mut Connection, orders: Vec<MerchantOrder>) -> rusqlite::Result<OrderCounts> {
    let change = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut counts = OrderCounts::default();
    for order in orders {
        let there = by_id(&change, &order.order_id)?;
        let (order, count) = match there {
            None => (order, &mut counts.created),
            Some(mut there) => {
                counts.older_states += u64::from(there.has_newer_state_than(&order));
                match there.update(order) {
                    true => (there, &mut counts.updated),
                    false => {
                        counts.unchanged += 1;
                        continue;
                    }
                }
            }
        };
        write(&change, &order)?;
        *count += 1;
    }
    change.commit()?;
    Ok(counts)
}

/// The orders of a condition, as many as are compared with an alert.
fn orders_where(conn: &Connection, condition: &str, values: impl Params) -> rusqlite::Result<Vec<MerchantOrder>> {
    let sql = format!("SELECT {COLUMNS} FROM merchant_order WHERE {condition} LIMIT {MOST_CANDIDATES}");
    conn.prepare_cached(&sql)?.query_map(values, order_of)?.collect()
}

fn by_id(conn: &Connection, order_id: &str) -> rusqlite::Result<Option<MerchantOrder>> {
    orders_where(conn, "order_id = ?1", [order_id]).map(|mut orders| orders.pop())
}

fn write(change: &Transaction<'_>, order: &MerchantOrder) -> rusqlite::Result<()> {
    let mut insert = change.prepare_cached(&format!(
        "INSERT OR REPLACE INTO merchant_order ({COLUMNS}, transaction_key) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, \
            ?9, ?10, ?11, ?12, ?13, ?14)"
    ))?;
    insert.execute(params![
        order.order_id,
        order.transaction_id,
        order.arn,
        order.auth_code,
        order.card_bin,
        order.card_last_four,
        order.amount.map(|amount| amount.to_string()),
        order.currency.as_ref().map(Currency::as_str),
        order.paid_at.map(|at| at.timestamp_micros()),
        order.descriptor,
        order.state.map(OrderState::as_str),
        order.state_at.map(|at| at.timestamp_micros()),
        order.refunded_amount.map(|amount| amount.to_string()),
        transaction_key(order.transaction_id.as_deref()),
    ])?;
    Ok(())
}

/// The orders that share a transaction, a reference, a number or a card with an alert, as far as its dates let them.
fn candidates(conn: &Connection, alert: &Alert) -> rusqlite::Result<Vec<MerchantOrder>> {
    let keyed = [
        ("transaction_key = ?1", transaction_key(alert.transaction_id.as_deref())),
        ("order_id = ?1 COLLATE NOCASE", alert.known_order_id().map(str::to_owned)),
        ("arn = ?1 COLLATE NOCASE", alert.known_arn().map(str::to_owned)),
    ];
    let mut found: Vec<MerchantOrder> = Vec::new();
    for (condition, key) in keyed {
        if let Some(key) = key {
            found.extend(orders_where(conn, condition, [key])?);
        }
    }
    let last_four = alert.card_last_four.trim();
    if !last_four.is_empty() {
        let micros = |at: Timestamp| at.timestamp_micros();
        let near = alert.given_transaction_time().map(|at| (micros(at - WINDOW), micros(at + WINDOW)));
        let (from, to) =
            near.unwrap_or((i64::MIN, alert.alert_time.map_or(i64::MAX, |at| micros(at + TimeDelta::days(1)))));
        let dated = "card_last_four = ?1 AND paid_at BETWEEN ?2 AND ?3 ORDER BY paid_at DESC";
        found.extend(orders_where(conn, dated, params![last_four, from, to])?);
        found.extend(orders_where(conn, "card_last_four = ?1 AND paid_at IS NULL", [last_four])?);
    }
    let by_id: BTreeMap<String, MerchantOrder> =
        found.into_iter().map(|order| (order.order_id.clone(), order)).collect();
    Ok(by_id.into_values().collect())
}

fn order_of(row: &Row<'_>) -> rusqlite::Result<MerchantOrder> {
    let moment = |index: usize| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row.get::<_, Option<i64>>(index)?.and_then(Timestamp::from_timestamp_micros))
    };
    let amount = |index: usize| -> rusqlite::Result<_> {
        let text: Option<String> = row.get(index)?;
        text.map(|text| {
            text.parse()
                .map_err(|error: String| rusqlite::Error::FromSqlConversionFailure(index, Type::Text, error.into()))
        })
        .transpose()
    };
    Ok(MerchantOrder {
        order_id: row.get(0)?,
        transaction_id: row.get(1)?,
        arn: row.get(2)?,
        auth_code: row.get(3)?,
        card_bin: row.get(4)?,
        card_last_four: row.get(5)?,
        amount: amount(6)?,
        currency: row.get::<_, Option<String>>(7)?.map(Currency::new),
        paid_at: moment(8)?,
        descriptor: row.get(9)?,
        state: row.get::<_, Option<String>>(10)?.as_deref().and_then(OrderState::parse),
        state_at: moment(11)?,
        refunded_amount: amount(12)?,
    })
}

fn in_words(path: &Path, error: &rusqlite::Error) -> DeskError {
    if sqlite_cause(error) != Some(RefusalCause::Damaged) {
        return DeskError::failed(path, "the orders cannot be used", error);
    }
    let words = format!(
        "is no database of orders that can be read ({error}); move it away, the orders can be brought in again"
    );
    DeskError::new(path, words)
}

/// The organization whose orders are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderOwner {
    /// Id of the organization.
    pub organization: String,
    /// True where orders that name no organization are its own. It is the only organization there, or the one that
    /// every data directory begins with.
    pub inherits: bool,
}

/// The file of an owner's orders in a desk directory, which need not be there; without an owner all of the desk's are
/// meant.
pub(super) fn order_file(directory: &Path, owner: Option<&OrderOwner>) -> Result<PathBuf, DeskError> {
    let first = directory.join("orders.db");
    let Some(owner) = owner else { return Ok(first) };
    let own = directory.join(format!("orders-{}.db", owner.organization));
    if own.exists() {
        return Ok(own);
    }
    let known = OrderDatabase::at(first.clone())?.map_or(Ok(None), |orders| orders.owner())?;
    let is_own = known.map_or(owner.inherits, |organization| organization == owner.organization);
    Ok(if is_own { first } else { own })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Desk;
    use crate::domain::OrderEvidence;

    fn desk() -> (tempfile::TempDir, Desk) {
        let directory = tempfile::tempdir().unwrap();
        let desk = Desk::open(directory.path().join("desk")).unwrap();
        (directory, desk)
    }

    fn order(order_id: &str, change: impl FnOnce(&mut MerchantOrder)) -> MerchantOrder {
        let mut order = MerchantOrder { order_id: order_id.to_owned(), ..MerchantOrder::default() };
        change(&mut order);
        order
    }

    /// An order on the card of the sample alert, for its amount, paid when it was transacted.
    fn on_card(order_id: &str) -> MerchantOrder {
        let alert = Alert::sample();
        order(order_id, |order| {
            order.card_bin = Some(alert.card_bin.clone());
            order.card_last_four = Some(alert.card_last_four.clone());
            order.amount = alert.amount;
            order.currency = Some(alert.currency.clone());
            order.paid_at = alert.transaction_time;
        })
    }

    fn ids(matched: &MatchedOrders) -> Vec<&str> {
        matched.matches.iter().map(|found| found.order.order_id.as_str()).collect()
    }

    #[test]
    fn nothing_is_there_before_orders_were_brought_in() {
        let (_directory, desk) = desk();

        assert!(desk.orders().unwrap().is_none());
    }

    #[test]
    fn orders_are_created_updated_and_left_alone() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let first = orders.import(vec![on_card("A-1"), on_card("A-2")]).unwrap();

        let shipped = order("A-1", |order| order.state = Some(OrderState::Shipped));
        let second = orders.import(vec![shipped.clone(), on_card("A-2"), shipped]).unwrap();

        assert_eq!(first, OrderCounts { created: 2, ..OrderCounts::default() });
        assert_eq!(second, OrderCounts { updated: 1, unchanged: 2, ..OrderCounts::default() });
        let again = desk.orders().unwrap().unwrap();
        assert_eq!(again.count(), Ok(2));
        let kept = by_id(&again.conn, "A-1").unwrap().unwrap();
        assert_eq!(kept, MerchantOrder { state: Some(OrderState::Shipped), ..on_card("A-1") });
    }

    #[test]
    fn an_older_file_does_not_take_back_a_newer_state() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let on = |day: i64, state| {
            order("A-1", |order| {
                (order.state, order.state_at) = (Some(state), Some(Timestamp::UNIX_EPOCH + TimeDelta::days(day)));
            })
        };
        orders.import(vec![on(2, OrderState::Refunded)]).unwrap();

        let counts = orders
            .import(vec![MerchantOrder { auth_code: Some("A17".to_owned()), ..on(1, OrderState::Paid) }])
            .unwrap();

        assert_eq!(counts, OrderCounts { updated: 1, older_states: 1, ..OrderCounts::default() });
        let kept = by_id(&orders.conn, "A-1").unwrap().unwrap();
        assert_eq!(kept, MerchantOrder { auth_code: Some("A17".to_owned()), ..on(2, OrderState::Refunded) });
    }

    #[test]
    fn an_order_is_found_by_every_key_that_an_alert_tells() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let by_transaction = order("T", |order| order.transaction_id = Some("20260301-TX77".to_owned()));
        let by_arn = order("R", |order| {
            order.arn = Some("7432045611820031994521A".to_owned());
            order.card_last_four = Some("1234".to_owned());
        });
        orders
            .import(vec![by_transaction, by_arn, on_card("C"), order("Named", |_| {}), order("Stranger", |_| {})])
            .unwrap();
        let alert = Alert {
            transaction_id: Some("tx77".to_owned()),
            acquirer_reference_number: Some("7432045611820031994521a".to_owned()),
            merchant_order_id: Some("NAMED".to_owned()),
            ..Alert::sample()
        };

        let found = orders.matches(&alert).unwrap();

        assert_eq!(ids(&found), ["T", "Named", "R", "C"]);
        assert_eq!(found.matches[0].evidence, OrderEvidence::TransactionId);
    }

    #[test]
    fn what_an_order_was_kept_under_before_and_identifies_nothing_finds_none() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let filler = || Some("N/A".to_owned());
        orders.import(vec![order("N/A", |order| (order.transaction_id, order.arn) = (filler(), filler()))]).unwrap();
        // As it was written before there was a rule.
        orders.conn.execute("UPDATE merchant_order SET transaction_key = 'n/a'", []).unwrap();
        let alert = Alert {
            transaction_id: filler(),
            merchant_order_id: filler(),
            acquirer_reference_number: filler(),
            ..Alert::sample()
        };

        assert_eq!(candidates(&orders.conn, &alert).unwrap(), []);
        assert!(orders.matches(&alert).unwrap().matches.is_empty());
    }

    #[test]
    fn a_refunded_order_that_a_fact_contradicts_warns_beside_a_surer_one() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let refunded = order("Named", |order| {
            order.card_last_four = Some("9999".to_owned());
            order.state = Some(OrderState::Refunded);
        });
        let shipped = MerchantOrder { state: Some(OrderState::Shipped), ..on_card("Likely") };
        orders.import(vec![refunded, shipped]).unwrap();
        let alert = Alert { merchant_order_id: Some("Named".to_owned()), ..Alert::sample() };

        let found = orders.matches(&alert).unwrap();

        assert_eq!(ids(&found), ["Likely", "Named"]);
        assert_eq!(found.advice(&alert).map(|(id, advice)| (id, advice.only_warns)), Some(("Named", true)));
    }

    #[test]
    fn orders_of_another_month_are_not_compared() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let mut old = on_card("old");
        old.paid_at = old.paid_at.map(|at| at - TimeDelta::days(30));
        let undated = MerchantOrder { paid_at: None, ..on_card("undated") };
        orders.import(vec![old, undated]).unwrap();

        assert_eq!(ids(&orders.matches(&Alert::sample()).unwrap()), ["undated"]);
    }

    #[test]
    fn what_a_person_took_off_stays_off_and_leaves_the_other_surer() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        orders.import(vec![on_card("A-1"), on_card("A-2")]).unwrap();
        let alert = Alert::sample();
        let before = orders.matches(&alert).unwrap();

        orders.unmatch(alert.id, "A-1", Timestamp::UNIX_EPOCH).unwrap();
        let after = desk.orders().unwrap().unwrap().matches(&alert).unwrap();
        let other = orders.matches(&Alert::sample()).unwrap();
        orders.match_again(alert.id).unwrap();

        assert_eq!((ids(&before), ids(&after)), (vec!["A-1", "A-2"], vec!["A-2"]));
        let sure = |matched: &MatchedOrders| matched.matches[0].confidence;
        assert_eq!((sure(&before), sure(&after)), (MatchConfidence::Possible, MatchConfidence::Likely));
        assert_eq!((after.unmatched, other.matches.len()), (vec!["A-1".to_owned()], 2));
        assert_eq!(orders.matches(&alert).unwrap(), before);
    }

    #[test]
    fn the_headers_of_a_file_are_kept_for_its_first_row_and_can_be_taken_back() {
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        let named = |name: Option<&str>| [("order_id".to_owned(), name.map(str::to_owned))];
        let [row, other] = [["Name", "Order"], ["Name", "Total"]].map(|row| row.map(str::to_owned));

        orders.keep_headers(&row, &named(Some("Name"))).unwrap();
        orders.keep_headers(&row, &named(Some("Order"))).unwrap();
        let kept = desk.orders().unwrap().unwrap().headers(&row).unwrap();
        let of_other = orders.headers(&other).unwrap();
        orders.keep_headers(&row, &named(None)).unwrap();

        assert_eq!(kept, BTreeMap::from([("order_id".to_owned(), "Order".to_owned())]));
        assert!(of_other.is_empty() && orders.headers(&row).unwrap().is_empty());
    }

    #[test]
    fn a_file_that_is_no_database_of_orders_is_told_and_kept() {
        let (_directory, desk) = desk();
        let path = desk.directory.join("orders.db");
        fs::write(&path, "order_id\nA-1\n".repeat(200)).unwrap();

        let error = desk.orders().unwrap_err();

        assert!(error.message.contains("no database of orders"), "{error}");
        assert!(fs::read_to_string(&path).unwrap().starts_with("order_id"));
    }

    #[test]
    fn a_database_of_a_newer_version_or_another_program_is_left_alone() {
        let (_directory, desk) = desk();
        let orders = desk.make_orders().unwrap();
        orders.conn.pragma_update(None, "user_version", 99).unwrap();
        let newer = desk.orders().unwrap_err();
        orders.conn.pragma_update(None, "application_id", 7).unwrap();
        let foreign = desk.orders().unwrap_err();

        assert!(
            newer.message.contains("newer avert") && foreign.message.contains("not one of orders"),
            "{newer} {foreign}"
        );
    }

    #[test]
    fn the_orders_are_their_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_directory, desk) = desk();
        let mut orders = desk.make_orders().unwrap();
        orders.import(vec![on_card("A-1")]).unwrap();

        let modes = fs::read_dir(&desk.directory)
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().permissions().mode() & 0o777);

        assert!(modes.into_iter().all(|mode| mode == 0o600));
    }
}

#[cfg(test)]
mod order_owner_tests {
    use super::*;
    use crate::Desk;
    use crate::domain::MerchantOrder;

    fn desk(directory: &Path, owner: Option<(&str, bool)>) -> Desk {
        let owner =
            owner.map(|(organization, inherits)| OrderOwner { organization: organization.to_owned(), inherits });
        Desk::open(directory).unwrap().with_orders_of(owner)
    }

    fn import(desk: &Desk, order_id: &str) {
        desk.make_orders()
            .unwrap()
            .import(vec![MerchantOrder { order_id: order_id.to_owned(), ..MerchantOrder::default() }])
            .unwrap();
    }

    fn has(desk: &Desk, order_id: &str) -> bool {
        desk.orders().unwrap().is_some_and(|orders| orders.named(order_id).unwrap().is_some())
    }

    #[test]
    fn each_organization_has_orders_of_its_own() {
        let directory = tempfile::tempdir().unwrap();
        let [first, second] = [("1", true), ("2", false)].map(|owner| desk(directory.path(), Some(owner)));

        import(&second, "B");
        import(&first, "A");

        assert_eq!(
            [has(&first, "A"), has(&first, "B"), has(&second, "A"), has(&second, "B")],
            [true, false, false, true]
        );
    }

    #[test]
    fn orders_of_nobody_are_those_of_the_one_that_inherits_them() {
        let directory = tempfile::tempdir().unwrap();
        import(&desk(directory.path(), None), "old");
        let [first, second] = [("1", true), ("2", false)].map(|owner| desk(directory.path(), Some(owner)));

        assert_eq!([has(&second, "old"), has(&first, "old")], [false, true]);
    }

    #[test]
    fn what_was_an_only_organizations_stays_its_own_beside_others() {
        let directory = tempfile::tempdir().unwrap();
        import(&desk(directory.path(), None), "old");
        assert!(has(&desk(directory.path(), Some(("1", true))), "old"));

        let [first, second] = [("1", false), ("2", true)].map(|owner| desk(directory.path(), Some(owner)));

        assert_eq!([has(&first, "old"), has(&second, "old")], [true, false]);
    }
}
