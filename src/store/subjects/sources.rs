//! Sources: their events, each sealed and with what became of it, and the counts of each source.
//!
//! An event is stored with its alert, and that one's own events, in one commit.

use uuid::Uuid;

use super::ingest::{ingest, key_of};
use crate::{
    cells::StoredRow,
    domain::{
        AlertPatch, EventState, FieldError, OrganizationId,
        source::{SourceEvent, SourceStatus},
        time::Timestamp,
    },
    encryption::{CHECK, SOURCE_BODY},
    error::Work,
    units::{UnitOfWork, Way, units},
};

/// Result of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventResult {
    /// An alert, complete and validated.
    Alert(Box<AlertPatch>),
    Ignored,
    /// Reasons, by field.
    Unmapped(Vec<FieldError>),
}

impl EventResult {
    fn state(&self) -> EventState {
        match self {
            Self::Alert(_) => EventState::Mapped,
            Self::Ignored => EventState::Ignored,
            Self::Unmapped(_) => EventState::Unmapped,
        }
    }

    fn reasons(&self) -> String {
        let Self::Unmapped(reasons) = self else { return String::new() };
        reasons.iter().map(FieldError::to_string).collect::<Vec<_>>().join("\n")
    }

    /// The kind of a unit of work that stores it.
    fn way(&self) -> Way {
        if self.state() == EventState::Mapped { Way::Visible } else { Way::Quiet }
    }
}

/// An event of a source on its way into the store.
#[derive(Debug, Clone)]
pub struct IncomingEvent {
    /// Name of the source.
    pub source: String,
    /// The sender's id of it.
    pub event: String,
    pub body: Vec<u8>,
    pub result: EventResult,
}

/// Selection of a source's events.
#[derive(Debug, Clone, Copy)]
pub enum EventsOf {
    /// The newest ones, newest first.
    Newest,
    /// Those that are no alert and stand behind this number, oldest first.
    OpenAfter(i64),
}

units! {
    /// Units of work on sources.
    SourceStore:

    /// Stores an event of a source with its alert. One that is there already is only counted; `false` then.
    async fn receive_event(organization: OrganizationId, event: IncomingEvent, now: Timestamp) -> bool {
        |store| async {
            let (way, given) = (event.result.way(), (organization, event, now));
            store.unit(way, given, |unit, (of, event, now)| Box::pin(receive(unit, *of, event, *now))).await
        }
    }

    /// Counts a request whose signature was wrong.
    async fn count_rejected(organization: OrganizationId, source: &str as source.to_owned()) -> () {
        Way::Quiet => |unit| async {
            let organization = unit.known_organization(*organization).await?;
            count(unit, organization, source, Counted { rejected: 1, ..Counted::default() }, None).await
        }
    }

    /// Counts of every source that ever sent something, by name.
    async fn source_counts(organization: OrganizationId) -> Vec<SourceStatus> {
        Way::AtOnce => |unit| counts(unit, *organization)
    }

    /// Events of a source, at most `size`.
    async fn source_events(
        organization: OrganizationId,
        source: &str as source.to_owned(),
        wanted: EventsOf,
        size: u32,
    ) -> Vec<SourceEvent> {
        Way::List(Some(organization)) => |unit| events(unit, *organization, source, *wanted, *size)
    }

    /// Replaces what an event became that is no alert yet. `false` where it is one by now, or is gone.
    async fn remap_event(organization: OrganizationId, id: Uuid, result: EventResult, now: Timestamp) -> bool {
        |store| async {
            let (way, given) = (result.way(), (organization, id, result, now));
            store.unit(way, given, |unit, (of, id, result, now)| Box::pin(remap(unit, *of, *id, result, *now))).await
        }
    }
}

async fn receive(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    incoming: &IncomingEvent,
    now: Timestamp,
) -> Work<bool> {
    let IncomingEvent { source, event, body, result } = incoming;
    let (owner, id) = (unit.known_organization(organization).await?, Uuid::new_v4());
    let sealed = SOURCE_BODY.seal(&unit.sealing().await?, id.as_bytes(), body)?;
    let added = "INSERT INTO source_event (id, organization, source, event, received_at, body, state, reasons)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (organization, source, event) DO NOTHING";
    let state = result.state();
    let is_new =
        unit.run(added, &[&id, &owner, source, event, &now, &sealed, &state.as_str(), &result.reasons()]).await? == 1;
    let mut counted = Counted { received: 1, ..Counted::default() };
    if is_new {
        counted.add(state, 1);
        store_result(unit, organization, id, result, now).await?;
    }
    count(unit, owner, source, counted, Some(now)).await?;
    Ok(is_new)
}

/// Stores what an event became, beside the event.
async fn store_result(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    id: Uuid,
    result: &EventResult,
    now: Timestamp,
) -> Work<()> {
    let EventResult::Alert(row) = result else { return Ok(()) };
    ingest(unit, &(organization, vec![AlertPatch::clone(row)], now)).await?;
    let alert = key_of(unit, organization, row).await?;
    unit.run("UPDATE source_event SET alert = ?2 WHERE id = ?1", &[&id, &alert]).await.map(drop)
}

async fn remap(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    id: Uuid,
    result: &EventResult,
    now: Timestamp,
) -> Work<bool> {
    let known =
        "SELECT e.organization, e.source, e.state FROM source_event e JOIN organization o ON o.key = e.organization
        WHERE o.id = ?1 AND e.id = ?2 AND e.state <> 'mapped'/*+ FOR UPDATE OF e*/";
    let read = |row: &StoredRow<'_>| Ok((row.get::<i64>(0)?, row.get::<String>(1)?, state_of(row, 2)?));
    let Some((owner, source, before)) = unit.first(known, &[&organization, &id], read).await? else {
        return Ok(false);
    };
    let state = result.state();
    let changed = "UPDATE source_event SET state = ?2, reasons = ?3 WHERE id = ?1";
    unit.run(changed, &[&id, &state.as_str(), &result.reasons()]).await?;
    store_result(unit, organization, id, result, now).await?;
    let mut counted = Counted::default();
    counted.add(before, -1);
    counted.add(state, 1);
    count(unit, owner, &source, counted, None).await?;
    Ok(true)
}

/// Changes of a source's counts.
#[derive(Default)]
struct Counted {
    received: i64,
    mapped: i64,
    ignored: i64,
    unmapped: i64,
    rejected: i64,
}

impl Counted {
    fn add(&mut self, state: EventState, number: i64) {
        *match state {
            EventState::Mapped => &mut self.mapped,
            EventState::Ignored => &mut self.ignored,
            EventState::Unmapped => &mut self.unmapped,
        } += number;
    }
}

async fn count(
    unit: &UnitOfWork<'_>,
    organization: i64,
    source: &str,
    counted: Counted,
    received_at: Option<Timestamp>,
) -> Work<()> {
    let added = "INSERT INTO source_count (organization, source, received, mapped, ignored, unmapped, rejected, \
            last_received)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
        ON CONFLICT (organization, source) DO UPDATE SET received = source_count.received + excluded.received,
            mapped = source_count.mapped + excluded.mapped, ignored = source_count.ignored + excluded.ignored,
            unmapped = source_count.unmapped + excluded.unmapped,
            rejected = source_count.rejected + excluded.rejected,
            last_received = coalesce(excluded.last_received, source_count.last_received)";
    let Counted { received, mapped, ignored, unmapped, rejected } = counted;
    unit.run(added, &[&organization, &source, &received, &mapped, &ignored, &unmapped, &rejected, &received_at])
        .await
        .map(drop)
}

async fn counts(unit: &UnitOfWork<'_>, organization: OrganizationId) -> Work<Vec<SourceStatus>> {
    let counts = "SELECT c.source, c.received, c.mapped, c.ignored, c.unmapped, c.rejected, c.last_received
        FROM source_count c JOIN organization o ON o.key = c.organization WHERE o.id = ?1 ORDER BY c.source";
    unit.all(counts, &[&organization], |row| {
        let number = |column| Ok::<_, crate::error::WorkFault>(row.get::<i64>(column)?.unsigned_abs());
        Ok(SourceStatus {
            name: row.get(0)?,
            preset: None,
            answers: None,
            received: number(1)?,
            mapped: number(2)?,
            ignored: number(3)?,
            unmapped: number(4)?,
            rejected: number(5)?,
            last_received: row.get(6)?,
        })
    })
    .await
}

async fn events(
    unit: &UnitOfWork<'_>,
    organization: OrganizationId,
    source: &str,
    wanted: EventsOf,
    size: u32,
) -> Work<Vec<SourceEvent>> {
    let (after, order) = match wanted {
        EventsOf::Newest => (0, "ORDER BY e.key DESC"),
        EventsOf::OpenAfter(number) => (number, "AND e.state <> 'mapped' ORDER BY e.key"),
    };
    let events = format!(
        "SELECT e.key, e.id, e.event, e.received_at, e.body, e.state, e.reasons, a.id, {CHECK}
         FROM source_event e JOIN organization o ON o.key = e.organization LEFT JOIN alert a ON a.key = e.alert
         WHERE o.id = ?1 AND e.source = ?2 AND e.key > ?3 {order} LIMIT ?4"
    );
    unit.all(&events, &[&organization, &source, &after, &size], |row| {
        let id: Uuid = row.get(1)?;
        Ok(SourceEvent {
            number: row.get(0)?,
            id,
            event: row.get(2)?,
            received_at: row.get(3)?,
            body: SOURCE_BODY.open(&unit.seal_of(row, 8)?, id.as_bytes(), row.get(4)?)?,
            state: state_of(row, 5)?,
            reasons: row.get::<&str>(6)?.lines().map(str::to_owned).collect(),
            alert: row.get(7)?,
        })
    })
    .await
}

fn state_of(row: &StoredRow<'_>, column: usize) -> Work<EventState> {
    let text: &str = row.get(column)?;
    let unknown = || crate::StoreError::Corrupt(format!("the state {text:?} of an event of a source"));
    Ok(EventState::parse(text).ok_or_else(unknown)?)
}
