//! Sources: their events, each sealed and with what became of it, and the counts of each source.
//!
//! An event is stored with its alert, and that one's own events, or with its report in one commit. Of two events about
//! one thing the later one counts, by the sender's own time, whatever order they come in.

use uuid::Uuid;

use super::{
    failing::source_ended,
    ingest::{ingest, key_of},
    truth::{TEXTS, record_told, take_turn},
};
use crate::{
    cells::{BoundValues, StoredRow, cell},
    domain::{
        AlertPatch, EventState, FieldError, OrganizationId, TruthReport,
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
    /// A dispute, a fraud report or a refund.
    Report(Box<TruthReport>),
    Ignored,
    /// Reasons, by field.
    Unmapped(Vec<FieldError>),
}

impl EventResult {
    /// Returns the state of an event that became this.
    pub fn state(&self) -> EventState {
        match self {
            Self::Alert(_) | Self::Report(_) => EventState::Mapped,
            Self::Ignored => EventState::Ignored,
            Self::Unmapped(_) => EventState::Unmapped,
        }
    }

    /// Returns the reasons of an unmapped one, without values: they are not sealed.
    pub fn reasons(&self) -> Vec<String> {
        let Self::Unmapped(reasons) = self else { return Vec::new() };
        reasons.iter().map(|reason| reason.without_value().to_string()).collect()
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
    /// Time of it by the sender.
    pub sent_at: Option<Timestamp>,
    pub body: Vec<u8>,
    pub result: EventResult,
}

/// Selection of a source's events.
#[derive(Debug, Clone, Copy)]
pub enum EventsOf {
    /// Those that wait for a map, then the others; newest first within each.
    Shown,
    /// Those that are no alert and stand behind this number, oldest first.
    OpenAfter(i64),
}

/// The part of a source that are its events.
const EVENTS: &str = "events";

units! {
    /// Units of work on sources.
    SourceStore:

    /// Stores an event of a source with its alert. One that is there already is only counted; `false` then.
    async fn receive_event(organization: OrganizationId, [ref] event: IncomingEvent, now: Timestamp) -> bool {
        event.result.way(), organization => receive
    }

    /// Those of these ids that are of events of a source which are stored.
    async fn known_events(
        organization: OrganizationId,
        [ref] source: &str as to_owned,
        [ref] events: Vec<String>,
    ) -> Vec<String> {
        Way::Read, organization => known_events
    }

    /// Counts a request whose signature was wrong.
    async fn count_rejected(organization: OrganizationId, [ref] source: &str as to_owned, now: Timestamp) -> () {
        Way::Quiet, organization => count_rejected
    }

    /// Records how a poll of a list of a source ended: with a failure, in words, or well.
    async fn end_poll(
        organization: OrganizationId,
        [ref] source: &str as to_owned,
        [ref] list: &str as to_owned,
        [ref] failure: Option<String>,
        now: Timestamp,
    ) -> () {
        Way::Quiet, organization => end_poll
    }

    /// Counts of every source that ever sent something, by name.
    async fn source_counts(organization: OrganizationId) -> Vec<SourceStatus> {
        Way::AtOnce, organization => counts
    }

    /// Events of a source, at most `size`.
    async fn source_events(
        organization: OrganizationId,
        [ref] source: &str as to_owned,
        wanted: EventsOf,
        size: u32,
    ) -> Vec<SourceEvent> {
        Way::List(Some(organization)), organization => events
    }

    /// Replaces what an event became that is no alert yet. `false` where it is one by now, or is gone.
    async fn remap_event(organization: OrganizationId, id: Uuid, [ref] result: EventResult, now: Timestamp) -> bool {
        result.way(), organization => remap
    }
}

async fn known_events(unit: &UnitOfWork<'_>, owner: i64, source: &str, events: &[String]) -> Work<Vec<String>> {
    let known = format!("SELECT event FROM source_event WHERE organization = ?1 AND source = ?3 AND event IN {TEXTS}");
    unit.all(&known, &[&owner, &serde_json::json!(events).to_string(), &source], cell).await
}

async fn count_rejected(unit: &UnitOfWork<'_>, owner: i64, source: &str, now: Timestamp) -> Work<()> {
    // Failures before counts, as where an event comes: so two of them at once do not deadlock.
    let failure = Some("the signatures of its events are wrong");
    source_ended(unit, owner, source, EVENTS, failure, now).await?;
    count(unit, owner, source, "rejected = rejected + 1", None).await
}

async fn end_poll(
    unit: &UnitOfWork<'_>,
    owner: i64,
    source: &str,
    list: &str,
    failure: &Option<String>,
    now: Timestamp,
) -> Work<()> {
    source_ended(unit, owner, source, list, failure.as_deref(), now).await
}

async fn receive(unit: &UnitOfWork<'_>, owner: i64, incoming: &IncomingEvent, now: Timestamp) -> Work<bool> {
    let IncomingEvent { source, event, sent_at, body, result } = incoming;
    let id = Uuid::new_v4();
    let sealed = SOURCE_BODY.seal(&unit.sealing().await?, id.as_bytes(), body)?;
    let added = "INSERT INTO source_event (id, organization, source, event, received_at, body, state, reasons, sent_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (organization, source, event) DO NOTHING";
    let (state, reasons) = (result.state(), result.reasons().join("\n"));
    let values: BoundValues<'_> = &[&id, &owner, source, event, &now, &sealed, &state, &reasons, sent_at];
    let is_new = unit.run(added, values).await? == 1;
    let mut counted = "received = received + 1".to_owned();
    if is_new {
        counted += &format!(", {0} = {0} + 1", state.as_str());
        if state != EventState::Ignored {
            let failure = (state == EventState::Unmapped).then_some("its events cannot be mapped");
            source_ended(unit, owner, source, EVENTS, failure, now).await?;
        }
        store_result(unit, owner, (id, *sent_at), result, now).await?;
    }
    count(unit, owner, source, &counted, Some(now)).await?;
    Ok(is_new)
}

/// Stores what an event became, beside the event.
async fn store_result(
    unit: &UnitOfWork<'_>,
    owner: i64,
    (id, sent_at): (Uuid, Option<Timestamp>),
    result: &EventResult,
    now: Timestamp,
) -> Work<()> {
    match result {
        EventResult::Alert(row) => {
            take_turn(unit, owner).await?;
            let mut row = AlertPatch::clone(row);
            if let Some(known) = key_of(unit, owner, &row).await?
                && is_told_since(unit, "alert", known, sent_at).await?
            {
                row = row.told_late(&unit.alert(known).await?);
            }
            ingest(unit, owner, std::slice::from_ref(&row), now).await?;
            let alert = key_of(unit, owner, &row).await?;
            unit.run("UPDATE source_event SET alert = ?2 WHERE id = ?1", &[&id, &alert]).await.map(drop)
        }
        EventResult::Report(report) => {
            take_turn(unit, owner).await?;
            let is_late = async |key| is_told_since(unit, "truth", key, sent_at).await;
            let truth = record_told(unit, owner, report, now, is_late).await?;
            unit.run("UPDATE source_event SET truth = ?2 WHERE id = ?1", &[&id, &truth]).await.map(drop)
        }
        EventResult::Ignored | EventResult::Unmapped(_) => Ok(()),
    }
}

/// Checks for an event about the same alert or report that its sender sent later.
async fn is_told_since(unit: &UnitOfWork<'_>, about: &str, key: i64, sent_at: Option<Timestamp>) -> Work<bool> {
    let later = format!("SELECT EXISTS (SELECT 1 FROM source_event WHERE {about} = ?1 AND sent_at > ?2)");
    unit.one(&later, &[&key, &sent_at], cell).await
}

async fn remap(unit: &UnitOfWork<'_>, owner: i64, id: Uuid, result: &EventResult, now: Timestamp) -> Work<bool> {
    let known = "SELECT source, state, sent_at FROM source_event
        WHERE organization = ?1 AND id = ?2 AND state <> 'mapped'/*+ FOR UPDATE*/";
    let read = |row: &StoredRow<'_>| Ok((row.get::<String>(0)?, row.get(1)?, row.get(2)?));
    let Some((source, before, sent_at)) = unit.first(known, &[&owner, &id], read).await? else {
        return Ok(false);
    };
    let state = result.state();
    let changed = "UPDATE source_event SET state = ?2, reasons = ?3 WHERE id = ?1";
    unit.run(changed, &[&id, &state, &result.reasons().join("\n")]).await?;
    store_result(unit, owner, (id, sent_at), result, now).await?;
    if state != before {
        let moved = format!("{0} = {0} - 1, {1} = {1} + 1", before.as_str(), state.as_str());
        count(unit, owner, &source, &moved, None).await?;
    }
    Ok(true)
}

/// Changes the counts of a source, by assignments to some of them.
async fn count(
    unit: &UnitOfWork<'_>,
    owner: i64,
    source: &str,
    changes: &str,
    received_at: Option<Timestamp>,
) -> Work<()> {
    let first = "INSERT INTO source_count (organization, source, received, mapped, ignored, unmapped, rejected)
        VALUES (?1, ?2, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING";
    unit.run(first, &[&owner, &source]).await?;
    let changed = format!(
        "UPDATE source_count SET {changes}, last_received = coalesce(?3, last_received)
        WHERE organization = ?1 AND source = ?2"
    );
    unit.run(&changed, &[&owner, &source, &received_at]).await.map(drop)
}

async fn counts(unit: &UnitOfWork<'_>, owner: i64) -> Work<Vec<SourceStatus>> {
    let counts = "SELECT source, received, mapped, ignored, unmapped, rejected, last_received FROM source_count
        WHERE organization = ?1 ORDER BY source";
    unit.all(counts, &[&owner], |row| {
        Ok(SourceStatus {
            name: row.get(0)?,
            preset: None,
            answers: None,
            received: row.get(1)?,
            mapped: row.get(2)?,
            ignored: row.get(3)?,
            unmapped: row.get(4)?,
            rejected: row.get(5)?,
            last_received: row.get(6)?,
        })
    })
    .await
}

async fn events(
    unit: &UnitOfWork<'_>,
    owner: i64,
    source: &str,
    wanted: EventsOf,
    size: u32,
) -> Work<Vec<SourceEvent>> {
    let (after, order) = match wanted {
        EventsOf::Shown => (0, "ORDER BY e.state = 'unmapped' DESC, e.key DESC"),
        EventsOf::OpenAfter(number) => (number, "AND e.state <> 'mapped' ORDER BY e.key"),
    };
    let events = format!(
        "SELECT e.key, e.id, e.event, e.received_at, e.body, e.state, e.reasons, a.id, t.kind, t.id, {CHECK}
         FROM source_event e LEFT JOIN alert a ON a.key = e.alert LEFT JOIN truth t ON t.key = e.truth
         WHERE e.key IN (SELECT e.key FROM source_event e
             WHERE e.organization = ?1 AND e.source = ?2 AND e.key > ?3 {order} LIMIT ?4) {order}"
    );
    unit.all(&events, &[&owner, &source, &after, &size], |row| {
        let id: Uuid = row.get(1)?;
        Ok(SourceEvent {
            number: row.get(0)?,
            id,
            event: row.get(2)?,
            received_at: row.get(3)?,
            body: SOURCE_BODY.open(&unit.seal_of(row, 10)?, id.as_bytes(), row.get(4)?)?,
            state: row.get(5)?,
            reasons: row.get::<&str>(6)?.lines().map(str::to_owned).collect(),
            alert: row.get(7)?,
            report: row.get::<Option<_>>(8)?.zip(row.get(9)?),
        })
    })
    .await
}
