//! Alerts as rows: writing one, reading one.

use std::sync::{Arc, LazyLock};

use rusqlite::types::FromSql;
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Row, ToSql, params};
use uuid::Uuid;

use super::counts::{Cell, CountKey, day_of};
use super::interned::Dictionary;
use crate::domain::filter::{fold, search_fields};
use crate::domain::time::Timestamp;
use crate::domain::{
    Alert, AlertId, AlertStatus, AlertType, Amount, CompanyId, Currency, Deadline, EnrollmentId, OrganizationId, Outcome, OutcomeId,
    Provider,
};
use crate::store::{StoreError, StoreResult};

/// Every column of `alert` but its key, in the order in which [`bind`] binds them.
const COLUMNS: [&str; 53] = [
    "organization",
    "id",
    "alert_time",
    "provider",
    "type",
    "status",
    "outcome",
    "company",
    "expired_at",
    "deadline",
    "waiting_deadline",
    "open_deadline",
    "transaction_time",
    "created_at",
    "updated_at",
    "amount_micros",
    "currency",
    "provider_id",
    "merchant_descriptor",
    "card_bin",
    "card_last_four",
    "issuer",
    "merchant_name",
    "changed",
    "amount",
    "enrollment",
    "card_expiration_date",
    "acquirer_bin",
    "status_code",
    "rule_type",
    "rule_name",
    "installment_number",
    "pricing_tier",
    "descriptor_contact",
    "ethoca_merchant_id",
    "merchant_id",
    "merchant_order_id",
    "partner_id",
    "partner_name",
    "client_name",
    "caid",
    "mcc",
    "transaction_type",
    "initiated_by",
    "liability",
    "auth_code",
    "source",
    "reason_code",
    "acquirer_reference_number",
    "transaction_id",
    "chargeback_amount",
    "chargeback_currency",
    "payment_type",
];

/// The last column; apart from the others only because of its length.
const LAST_COLUMN: &str = "has_external_transaction";

static INSERT: LazyLock<String> = LazyLock::new(|| {
    let places: Vec<String> = (1..=COLUMNS.len() + 1).map(|place| format!("?{place}")).collect();
    format!("INSERT INTO alert ({}, {LAST_COLUMN}) VALUES ({})", COLUMNS.join(", "), places.join(", "))
});

static UPDATE: LazyLock<String> = LazyLock::new(|| {
    let assignments: Vec<String> =
        COLUMNS.iter().chain([&LAST_COLUMN]).enumerate().map(|(index, column)| format!("{column} = ?{}", index + 1)).collect();
    format!("UPDATE alert SET {} WHERE key = ?{}", assignments.join(", "), COLUMNS.len() + 2)
});

/// What [`alert_of`] reads, in its order.
const READ_COLUMNS: &str = "a.key, a.id, a.provider_id, a.provider, a.type, a.alert_time, a.enrollment, a.company, a.issuer, a.card_bin, \
    a.card_last_four, a.card_expiration_date, a.acquirer_bin, a.status, a.status_code, a.rule_type, a.rule_name, a.installment_number, \
    a.pricing_tier, a.transaction_time, a.merchant_descriptor, a.descriptor_contact, a.ethoca_merchant_id, a.merchant_id, \
    a.merchant_order_id, a.merchant_name, a.partner_id, a.partner_name, a.client_name, a.caid, a.mcc, a.amount, a.currency, \
    a.transaction_type, a.initiated_by, a.liability, a.auth_code, a.source, a.reason_code, a.acquirer_reference_number, a.transaction_id, \
    a.chargeback_amount, a.chargeback_currency, a.payment_type, a.created_at, a.updated_at, a.expired_at, a.has_external_transaction, \
    a.deadline, o.id, o.provider_alert_id, o.status, o.outcome, o.refunded, o.comments, o.dispute_reason_code, o.action_time, \
    o.amount_stopped";

static READ_BY_KEY: LazyLock<String> =
    LazyLock::new(|| format!("SELECT {READ_COLUMNS} FROM alert a LEFT JOIN outcome o ON o.alert = a.key WHERE a.key = ?1"));
static READ_BY_ID: LazyLock<String> = LazyLock::new(|| {
    format!("SELECT {READ_COLUMNS} FROM alert a LEFT JOIN outcome o ON o.alert = a.key WHERE a.organization = ?1 AND a.id = ?2")
});

/// An alert with its row's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) key: i64,
    pub(super) alert: Alert,
}

/// Moments as they are stored.
pub(super) fn micros(moment: Timestamp) -> i64 {
    moment.timestamp_micros()
}

/// A stored moment.
pub(super) fn moment(micros: i64) -> StoreResult<Timestamp> {
    Timestamp::from_timestamp_micros(micros).ok_or_else(|| StoreError::Corrupt(format!("the moment {micros}")))
}

/// The key of an organization.
pub(super) fn organization_key(conn: &Connection, id: OrganizationId) -> StoreResult<Option<i64>> {
    Ok(conn.prepare_cached("SELECT key FROM organization WHERE id = ?1")?.query_row([id.0.as_bytes()], |row| row.get(0)).optional()?)
}

/// The key of an organization that has to be there.
pub(super) fn known_organization(conn: &Connection, id: OrganizationId) -> StoreResult<i64> {
    organization_key(conn, id)?.ok_or_else(|| StoreError::Corrupt(format!("no organization {id}")))
}

/// Reads one alert by its row's key.
pub(super) fn read_by_key(conn: &Connection, dictionary: &mut Dictionary, key: i64) -> StoreResult<Alert> {
    let mut statement = conn.prepare_cached(&READ_BY_KEY)?;
    let mut rows = statement.query([key])?;
    match rows.next()? {
        Some(row) => Ok(alert_of(conn, dictionary, row)?.alert),
        None => Err(StoreError::Corrupt(format!("no alert in row {key}"))),
    }
}

/// Reads one alert of an organization by its id.
pub(super) fn read_by_id(conn: &Connection, dictionary: &mut Dictionary, organization: i64, id: AlertId) -> StoreResult<Option<Stored>> {
    let mut statement = conn.prepare_cached(&READ_BY_ID)?;
    let mut rows = statement.query(params![organization, id.0.as_bytes()])?;
    match rows.next()? {
        Some(row) => Ok(Some(alert_of(conn, dictionary, row)?)),
        None => Ok(None),
    }
}

/// The cells of a row, one after the other.
struct Cells<'r, 's> {
    row: &'r Row<'s>,
    at: usize,
}

impl Cells<'_, '_> {
    fn next<T: FromSql>(&mut self) -> rusqlite::Result<T> {
        let value = self.row.get(self.at);
        self.at += 1;
        value
    }

    fn moment(&mut self) -> StoreResult<Option<Timestamp>> {
        self.next::<Option<i64>>()?.map(moment).transpose()
    }

    fn amount(&mut self) -> StoreResult<Option<Amount>> {
        let text: Option<String> = self.next()?;
        text.map(|text| text.parse().map_err(|_| StoreError::Corrupt(format!("the amount {text:?}")))).transpose()
    }

    fn word(&mut self, conn: &Connection, dictionary: &mut Dictionary) -> StoreResult<Arc<str>> {
        dictionary.words.value(conn, self.next()?)
    }

    fn id(&mut self, conn: &Connection, dictionary: &mut Dictionary) -> StoreResult<Option<Uuid>> {
        let Some(key) = self.next::<Option<i64>>()? else { return Ok(None) };
        let bytes = dictionary.ids.value(conn, key)?;
        Uuid::from_slice(&bytes).map(Some).map_err(|_| StoreError::Corrupt(format!("the reference {key}")))
    }
}

/// Reads the columns of [`READ_COLUMNS`].
fn alert_of(conn: &Connection, dictionary: &mut Dictionary, row: &Row<'_>) -> StoreResult<Stored> {
    let mut cells = Cells { row, at: 0 };
    let key = cells.next()?;
    let id = AlertId(Uuid::from_bytes(cells.next()?));
    let alert = Alert {
        id,
        provider_id: cells.next()?,
        provider: Provider::parse(&cells.word(conn, dictionary)?),
        alert_type: AlertType::parse(&cells.word(conn, dictionary)?),
        alert_time: cells.moment()?,
        enrollment_id: cells.id(conn, dictionary)?.map(EnrollmentId),
        company_id: cells.id(conn, dictionary)?.map(CompanyId),
        issuer: cells.next()?,
        card_bin: cells.next()?,
        card_last_four: cells.next()?,
        card_expiration_date: cells.next()?,
        acquirer_bin: cells.next()?,
        status: AlertStatus::parse(&cells.word(conn, dictionary)?),
        status_code: cells.next()?,
        rule_type: cells.next()?,
        rule_name: cells.next()?,
        installment_number: cells.next()?,
        pricing_tier: cells.next()?,
        transaction_time: cells.moment()?,
        merchant_descriptor: cells.next()?,
        descriptor_contact: cells.next()?,
        ethoca_merchant_id: cells.next()?,
        merchant_id: cells.next()?,
        merchant_order_id: cells.next()?,
        merchant_name: cells.next()?,
        partner_id: cells.next()?,
        partner_name: cells.next()?,
        client_name: cells.next()?,
        caid: cells.next()?,
        mcc: cells.next()?,
        amount: cells.amount()?,
        currency: Currency::new(cells.next::<String>()?),
        transaction_type: cells.next()?,
        initiated_by: cells.next()?,
        liability: cells.next()?,
        auth_code: cells.next()?,
        source: cells.next()?,
        reason_code: cells.next()?,
        acquirer_reference_number: cells.next()?,
        transaction_id: cells.next()?,
        chargeback_amount: cells.amount()?,
        chargeback_currency: cells.next::<Option<String>>()?.map(Currency::new),
        payment_type: cells.next()?,
        created_at: cells.moment()?,
        updated_at: cells.moment()?,
        expired_at: cells.moment()?,
        has_external_transaction: cells.next()?,
        deadline: cells.moment()?.map_or(Deadline::Unknown, Deadline::At),
        outcome: outcome_of(&mut cells, id)?,
    };
    Ok(Stored { key, alert })
}

fn outcome_of(cells: &mut Cells<'_, '_>, alert_id: AlertId) -> StoreResult<Option<Outcome>> {
    let Some(id) = cells.next::<Option<[u8; 16]>>()? else { return Ok(None) };
    Ok(Some(Outcome {
        id: OutcomeId(Uuid::from_bytes(id)),
        alert_id,
        provider_alert_id: cells.next()?,
        status: cells.next()?,
        outcome: cells.next()?,
        refunded: cells.next()?,
        comments: cells.next()?,
        dispute_reason_code: cells.next()?,
        action_time: cells.moment()?,
        amount_stopped: cells.amount()?,
    }))
}

/// The keys of an alert's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordKeys {
    pub(super) provider: i64,
    pub(super) alert_type: i64,
    pub(super) status: i64,
    pub(super) outcome: Option<i64>,
}

impl WordKeys {
    /// Finds or makes the keys.
    pub(super) fn intern(conn: &Connection, dictionary: &mut Dictionary, alert: &Alert) -> StoreResult<Self> {
        let words = &mut dictionary.words;
        Ok(Self {
            provider: words.intern(conn, alert.provider.as_str())?,
            alert_type: words.intern(conn, alert.alert_type.as_str())?,
            status: words.intern(conn, alert.status.as_str())?,
            outcome: alert.outcome.as_ref().map(|outcome| words.intern(conn, &fold(&outcome.outcome))).transpose()?,
        })
    }

    /// Where the alert is counted.
    pub(super) fn count_key(self, organization: i64, alert: &Alert) -> CountKey {
        let cell = Cell {
            provider: self.provider,
            alert_type: self.alert_type,
            status: self.status,
            outcome: self.outcome.unwrap_or(0),
            expired: alert.expired_at.is_some(),
        };
        CountKey { organization, day: day_of(alert.alert_time), cell }
    }
}

/// Stores a new alert with its outcome; returns its row's key.
pub(super) fn insert(
    conn: &Connection,
    dictionary: &mut Dictionary,
    organization: i64,
    alert: &Alert,
    words: WordKeys,
    change: i64,
) -> StoreResult<i64> {
    let mut statement = conn.prepare_cached(&INSERT)?;
    bind(conn, dictionary, &mut statement, organization, alert, words, change)?;
    statement.raw_execute()?;
    let key = conn.last_insert_rowid();
    if let Some(outcome) = &alert.outcome {
        insert_outcome(conn, key, outcome)?;
    }
    Ok(key)
}

/// Stores a known alert as it is now; its outcome is not touched.
pub(super) fn update(
    conn: &Connection,
    dictionary: &mut Dictionary,
    organization: i64,
    stored: &Stored,
    words: WordKeys,
    change: i64,
) -> StoreResult<()> {
    let mut statement = conn.prepare_cached(&UPDATE)?;
    let next = bind(conn, dictionary, &mut statement, organization, &stored.alert, words, change)?;
    statement.raw_bind_parameter(next, stored.key)?;
    statement.raw_execute()?;
    Ok(())
}

/// Stores an alert's outcome.
pub(super) fn insert_outcome(conn: &Connection, alert: i64, outcome: &Outcome) -> StoreResult<()> {
    conn.prepare_cached("INSERT INTO outcome VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?.execute(params![
        alert,
        outcome.id.0.as_bytes(),
        outcome.provider_alert_id,
        outcome.status,
        outcome.outcome,
        outcome.refunded,
        outcome.comments,
        outcome.dispute_reason_code,
        outcome.action_time.map(micros),
        outcome.amount_stopped.map(|amount| amount.to_string()),
    ])?;
    Ok(())
}

/// The deadline while there is no outcome, and while the alert is not EXPIRED either.
pub(super) fn running_deadlines(alert: &Alert) -> (Option<i64>, Option<i64>) {
    let waiting = alert.deadline.moment().filter(|_| alert.outcome.is_none()).map(micros);
    (waiting, waiting.filter(|_| alert.status != AlertStatus::Expired))
}

/// Binds the columns; returns the place after the last.
fn bind(
    conn: &Connection,
    dictionary: &mut Dictionary,
    statement: &mut CachedStatement<'_>,
    organization: i64,
    alert: &Alert,
    words: WordKeys,
    change: i64,
) -> StoreResult<usize> {
    let company = alert.company_id.map(|id| dictionary.ids.intern(conn, id.0.as_bytes())).transpose()?;
    let enrollment = alert.enrollment_id.map(|id| dictionary.ids.intern(conn, id.0.as_bytes())).transpose()?;
    let (waiting, open) = running_deadlines(alert);
    let values: [&dyn ToSql; COLUMNS.len() + 1] = [
        &organization,
        alert.id.0.as_bytes(),
        &alert.alert_time.map(micros),
        &words.provider,
        &words.alert_type,
        &words.status,
        &words.outcome,
        &company,
        &alert.expired_at.map(micros),
        &alert.deadline.moment().map(micros),
        &waiting,
        &open,
        &alert.transaction_time.map(micros),
        &alert.created_at.map(micros),
        &alert.updated_at.map(micros),
        &alert.amount.and_then(Amount::micros),
        &alert.currency.as_str(),
        &alert.provider_id,
        &alert.merchant_descriptor,
        &alert.card_bin,
        &alert.card_last_four,
        &alert.issuer,
        &alert.merchant_name,
        &change,
        &alert.amount.map(|amount| amount.to_string()),
        &enrollment,
        &alert.card_expiration_date,
        &alert.acquirer_bin,
        &alert.status_code,
        &alert.rule_type,
        &alert.rule_name,
        &alert.installment_number,
        &alert.pricing_tier,
        &alert.descriptor_contact,
        &alert.ethoca_merchant_id,
        &alert.merchant_id,
        &alert.merchant_order_id,
        &alert.partner_id,
        &alert.partner_name,
        &alert.client_name,
        &alert.caid,
        &alert.mcc,
        &alert.transaction_type,
        &alert.initiated_by,
        &alert.liability,
        &alert.auth_code,
        &alert.source,
        &alert.reason_code,
        &alert.acquirer_reference_number,
        &alert.transaction_id,
        &alert.chargeback_amount.map(|amount| amount.to_string()),
        &alert.chargeback_currency.as_ref().map(Currency::as_str),
        &alert.payment_type,
        &alert.has_external_transaction,
    ];
    for (index, value) in values.iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    Ok(values.len() + 1)
}

/// Stands between the fields of [`search_text`]. No field has it: see [`searchable`].
const SEPARATOR: char = '\u{1f}';

/// Stands before the descriptor in [`search_text`], so that its beginning can be searched for.
pub(super) const DESCRIPTOR_MARK: char = '\u{1d}';

/// Text as it is searched: lower case, and without what has a meaning of its own or what the index cannot hold.
pub(super) fn searchable(text: &str) -> String {
    let replace = |c: char| match c {
        '\0' | SEPARATOR | DESCRIPTOR_MARK => '\u{1e}',
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    fold(text).chars().map(replace).collect()
}

/// What searches look into: the four fields, so that nothing matches across two of them.
pub(super) fn search_text(alert: &Alert) -> String {
    let [provider_id, descriptor, card_bin, card_last_four] = search_fields(alert).map(searchable);
    format!("{provider_id}{SEPARATOR}{DESCRIPTOR_MARK}{descriptor}{SEPARATOR}{card_bin}{SEPARATOR}{card_last_four}")
}
