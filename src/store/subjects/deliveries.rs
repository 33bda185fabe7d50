//! Deliveries as an operator sees them (lists, one with its attempts, redelivery), and attempts as they are stored.

use chrono::Duration;

use crate::{
    StoreError, StoreResult,
    alert_rows::micros,
    cells::{StoredRow, cell},
    composed::Sql,
    domain::{
        Delivery, DeliveryAttempt, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState, EndpointId,
        EventId, EventKind, NextStep, SentRequest, audit::AuditNote, time::Timestamp,
    },
    error::Work,
    units::{UnitOfWork, either},
};

/// The result of a redelivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redelivery {
    /// It is due now.
    Due(Delivery),
    /// The organization has no such delivery.
    NotFound,
    /// Its endpoint is disabled or removed: it could not be sent.
    EndpointDisabled,
}

const COLUMNS: &str =
    "SELECT d.id, v.id, d.kind, a.id, p.id, p.url, d.state, d.attempts, d.due, d.last_result, d.delivered_at, d.key, \
        d.test, d.at
    FROM delivery d JOIN event v ON v.key = d.event JOIN endpoint p ON p.key = d.endpoint LEFT JOIN alert a ON a.key \
    = d.alert";

fn read(row: &StoredRow<'_>) -> Work<Delivery> {
    let state = row.get(6)?;
    Ok(Delivery {
        id: row.get(0)?,
        event: row.get(1)?,
        kind: EventKind::parse(row.get(2)?),
        at: row.get(13)?,
        alert: row.get::<Option<_>>(3)?.unwrap_or_default(),
        test: row.get(12)?,
        endpoint: row.get(4)?,
        url: row.get(5)?,
        state,
        attempts: row.get(7)?,
        due: if state == DeliveryState::Pending { Some(row.get(8)?) } else { None },
        last_result: row.get(9)?,
        delivered_at: row.get(10)?,
    })
}

/// A page of deliveries, newest first.
pub(super) async fn page(unit: &UnitOfWork<'_>, owner: i64, filter: &DeliveryFilter) -> Work<DeliveryPage> {
    let mut sql = Sql::new(COLUMNS);
    sql.with(" WHERE p.organization = ", owner);
    if !filter.states.is_empty() {
        // As they are, so that indexes of some states know them.
        let words: Vec<String> = filter.states.iter().map(|state| format!("'{}'", state.as_str())).collect();
        sql.push(&format!(" AND d.state IN ({})", words.join(", ")));
    }
    if let Some(endpoint) = filter.endpoint {
        sql.with(" AND p.id = ", endpoint.0);
    }
    if let Some(alert) = filter.alert {
        sql.with(" AND d.alert = (SELECT key FROM alert WHERE organization = p.organization AND id = ", alert.0);
        sql.push(")");
    }
    if let Some(event) = filter.event {
        sql.with(" AND v.id = ", event.0);
        // An event's deliveries are among its alert's, or those of no alert, which an index of SQLite finds.
        let place = sql.values.len();
        sql.push(&format!("/*-*/ AND d.alert IS (SELECT e.alert FROM event e WHERE e.id = ?{place})/*+*/"));
    }
    if let Some(kind) = &filter.kind {
        sql.with(" AND d.kind = ", kind.as_str().to_owned());
    }
    sql.range("d.at", (filter.from.map(micros), filter.until.map(micros)));
    if let Some(after) = filter.after {
        sql.with(" AND d.key < coalesce((SELECT key FROM delivery WHERE id = ", after.0);
        sql.push("), 0)");
    }
    let size = filter.size.unwrap_or(10).max(1);
    sql.with(" ORDER BY d.key DESC LIMIT ", i64::from(size) + 1);
    let mut data = unit.composed(&sql, read).await?;
    let more = data.len() > size as usize;
    data.truncate(size as usize);
    let next = data.last().filter(|_| more).map(|delivery| delivery.id);
    Ok(DeliveryPage { data, next })
}

/// One delivery with its attempts.
pub(super) async fn log(unit: &UnitOfWork<'_>, owner: i64, id: DeliveryId) -> Work<Option<DeliveryLog>> {
    let Some((key, delivery)) = find(unit, owner, id).await? else { return Ok(None) };
    let attempts = "SELECT attempt, started_at, duration, status, error, answer, sent FROM delivery_attempt
        WHERE delivery = ?1 ORDER BY attempt";
    let attempts = unit
        .all(attempts, &[&key], |row| {
            Ok(DeliveryAttempt {
                number: row.get(0)?,
                started_at: row.get(1)?,
                duration_ms: row.get::<u64>(2)? / 1_000,
                status: row.get(3)?,
                error: row.get(4)?,
                answer: row.get(5)?,
                sent: row.get::<Option<_>>(6)?.map(sent).transpose()?,
            })
        })
        .await?;
    let body = "SELECT v.body FROM delivery d JOIN event v ON v.key = d.event WHERE d.key = ?1";
    let body = unit.one(body, &[&key], cell).await?;
    Ok(Some(DeliveryLog { delivery, body, attempts }))
}

/// A delivery with its key.
async fn find(unit: &UnitOfWork<'_>, owner: i64, id: DeliveryId) -> Work<Option<(i64, Delivery)>> {
    let one = format!("{COLUMNS} WHERE p.organization = ?1 AND d.id = ?2");
    unit.first(&one, &[&owner, &id], |row| Ok((row.get(11)?, read(row)?))).await
}

/// Changes a delivery that is sent again. ?1 is now.
const DUE_AGAIN: &str = "UPDATE delivery SET state = 'pending', due = ?1, since = ?1, earlier_attempts = attempts, \
    delivered_at = NULL, given_up_at = NULL";

/// Makes a delivery due now.
pub(super) async fn redeliver(unit: &UnitOfWork<'_>, owner: i64, id: DeliveryId, now: Timestamp) -> Work<Redelivery> {
    // The endpoint first, as in disabling it.
    let disabled = "SELECT p.disabled_at IS NOT NULL FROM endpoint p
        WHERE p.key = (SELECT endpoint FROM delivery WHERE id = ?1)/*+ FOR KEY SHARE*/";
    let disabled = unit.first(disabled, &[&id], cell).await?;
    unit.lock("SELECT key FROM delivery WHERE id = ?1/*+ FOR UPDATE*/", &[&id]).await?;
    let Some((disabled, (key, delivery))) = disabled.zip(find(unit, owner, id).await?) else {
        return Ok(Redelivery::NotFound);
    };
    if disabled {
        return Ok(Redelivery::EndpointDisabled);
    }
    // What is with a sender is sent anyway.
    if delivery.state == DeliveryState::Leased {
        return Ok(Redelivery::Due(delivery));
    }
    unit.run(&format!("{DUE_AGAIN} WHERE key = ?2"), &[&now, &key]).await?;
    unit.note(owner, AuditNote::new("delivery.sent_again", &id, delivery.state.as_str()), now).await?;
    Ok(Redelivery::Due(Delivery { state: DeliveryState::Pending, due: Some(now), delivered_at: None, ..delivery }))
}

/// Makes every exhausted or cancelled delivery to an endpoint due now; `None` where there is no such endpoint, or it is
/// disabled.
pub(super) async fn redeliver_exhausted(
    unit: &UnitOfWork<'_>,
    owner: i64,
    endpoint: EndpointId,
    now: Timestamp,
) -> Work<Option<u64>> {
    let enabled =
        "SELECT key FROM endpoint WHERE id = ?1 AND organization = ?2 AND disabled_at IS NULL/*+ FOR KEY SHARE*/";
    let Some(key) = unit.first(enabled, &[&endpoint, &owner], cell::<i64>).await? else { return Ok(None) };
    let again =
        format!("{DUE_AGAIN} WHERE endpoint = ?2 AND state IN ('exhausted', 'cancelled') AND test = /*-*/0/*+false*/");
    let again = unit.run(&again, &[&now, &key]).await?;
    if again > 0 {
        let note = AuditNote::new("deliveries.sent_again", &endpoint, format!("{again} given up"));
        unit.note(owner, note, now).await?;
    }
    Ok(Some(again))
}

/// The record of a delivery attempt, and the step that follows it.
#[derive(Debug, Clone)]
pub struct AttemptRecord {
    pub delivery: DeliveryId,
    pub generation: i64,
    /// Start of the attempt.
    pub started_at: Timestamp,
    pub duration: Duration,
    /// HTTP status of the answer, if one came.
    pub status: Option<u16>,
    /// Reason of the missing answer, in words.
    pub error: Option<String>,
    /// True where nothing was sent, because this process may not connect there: it was no attempt, and the delivery
    /// stays due.
    pub refused: bool,
    /// The first 16 KiB of the answer.
    pub answer: String,
    /// The sent request, its credential masked; `None` where no request could be made.
    pub sent: Option<SentRequest>,
    /// End of the attempt, by a clock that does not jump: the time for which an endpoint has failed is reckoned by it.
    pub ended_at: Timestamp,
    pub next: NextStep,
}

/// Inserts an event that is about no alert; returns its key.
pub(super) async fn insert_event(
    unit: &UnitOfWork<'_>,
    id: EventId,
    kind: &str,
    at: Timestamp,
    body: &str,
) -> Work<i64> {
    let event = "INSERT INTO event (id, alert, kind, at, body/*-*/, changed/*+*/)
        VALUES (?1, NULL, ?2, ?3, ?4/*-*/, (SELECT number + 1 FROM change_number)/*+*/) RETURNING key";
    unit.one(event, &[&id, &kind, &at, &body], cell).await
}

/// Records events of one kind and one trace, each of the alert in a row or of none, and with its body, with a
/// delivery to each recipient. An event that nobody gets is not recorded.
pub(super) async fn record_events(
    unit: &UnitOfWork<'_>,
    recipients: &[i64],
    kind: &EventKind,
    events: &[(Option<i64>, String)],
    trace: &str,
    now: Timestamp,
) -> Work<()> {
    if recipients.is_empty() || events.is_empty() {
        return Ok(());
    }
    either!(unit, record_events(recipients, kind, events, trace, now))
}

/// Result of an attempt, in a word.
pub(super) fn result(record: &AttemptRecord) -> Option<String> {
    record.error.clone().or_else(|| record.status.map(|status| status.to_string()))
}

/// Returns the stored form of a sent request: `{"url", "headers": [[name, value]]}`.
pub(super) fn written(sent: &SentRequest) -> String {
    // Text has no value that JSON lacks.
    serde_json::to_string(sent).unwrap_or_default()
}

/// Reads a sent request from its stored form.
fn sent(text: &str) -> StoreResult<SentRequest> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt(format!("what a try sent: {error}")))
}
