//! Use cases of sources: an event is stored with its alert or report in one commit; kept events are mapped again once
//! the map was corrected.

use std::net::IpAddr;

use async_trait::async_trait;
use axum::http::HeaderMap;

use crate::{
    acting::ActingEngine,
    domain::{
        EventState, IngestReport, IntakeTerms, Timestamp,
        source::{SourceEvent, SourceStatus},
    },
    handle::{Caller, Engine, service_error},
    inbound::signature::SourceHeaders,
    service::{ServiceError, Sources},
    source::{InboundSource, SentEvent},
    store::{EventsOf, IncomingEvent},
};

/// Number of events that are mapped again at once; each can have a megabyte.
const AT_ONCE: u32 = 20;

/// A request of a source whose signature is right.
#[derive(Debug)]
pub struct SignedRequest<'r> {
    pub headers: SourceHeaders<'r>,
    pub body: Vec<u8>,
    /// Address that it came from.
    pub from: IpAddr,
}

/// Numbers of events that were mapped again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remapped {
    /// Those that are alerts or reports now.
    pub mapped: u64,
    /// Those that still cannot be mapped.
    pub unmapped: u64,
}

impl Engine {
    /// The source of this name, where it is set up.
    pub fn source(&self, name: &str) -> Option<&InboundSource> {
        self.settings().sources.iter().find(|source| source.name == name)
    }

    /// Checks that it is settled for which organization each source is.
    ///
    /// # Errors
    /// When one names an organization that there is not, or none where there are several.
    pub async fn check_sources(&self) -> Result<(), ServiceError> {
        for source in &*self.settings().sources {
            self.caller_of(source).await?;
        }
        Ok(())
    }

    /// Stores the events of a request, each with its alert or report in one commit; one that was there before changes
    /// nothing.
    ///
    /// # Errors
    /// When nothing can be stored now, or it is not settled for which organization.
    pub async fn receive(&self, source: &InboundSource, request: SignedRequest<'_>) -> Result<(), ServiceError> {
        let SignedRequest { headers, body, from } = request;
        // The organizations are none of the sender's business.
        let caller = self.caller_of(source).await;
        let caller = caller.map_err(|_| ServiceError::Unavailable("it takes no events now".into()))?.from_address(from);
        let now = self.now();
        for mut sent in source.events(body) {
            source.complete(&mut sent).await;
            let incoming = self.incoming(source, headers, sent, &caller, now);
            self.store_event(incoming, &caller, now).await?;
        }
        Ok(())
    }

    /// Maps an event on its way into the store.
    fn incoming(
        &self,
        source: &InboundSource,
        headers: SourceHeaders<'_>,
        sent: SentEvent,
        caller: &Caller,
        now: Timestamp,
    ) -> IncomingEvent {
        let result = source.map(&sent, &self.terms_of(caller, now));
        let event = source.event_id(headers, &sent, &result);
        let sent_at = sent.body.as_ref().and_then(|body| source.reader.sent_at(body));
        IncomingEvent { source: source.name.clone(), event, sent_at, body: sent.raw, result }
    }

    /// Stores an event; `true` where it is new.
    async fn store_event(&self, event: IncomingEvent, caller: &Caller, now: Timestamp) -> Result<bool, ServiceError> {
        if event.result.state() == EventState::Unmapped {
            let reasons = event.result.reasons().join("; ");
            tracing::warn!(source = event.source, reasons, "an event could not be mapped, and is kept");
        }
        let organization = caller.organization.organization.id;
        self.signed(caller).receive_event(organization, event, now).await.map_err(service_error)
    }

    /// Stores the rows of a polled page as events. Those that are there are not counted again: polls overlap.
    pub(super) async fn take_events(
        &self,
        name: &str,
        caller: &Caller,
        rows: Vec<String>,
    ) -> Result<IngestReport, String> {
        let source = self.source(name).ok_or_else(|| format!("source {name} is not set up"))?;
        let (now, headers) = (self.now(), HeaderMap::new());
        let events = rows.into_iter().flat_map(|row| source.events(row.into_bytes()));
        let events = events.map(|sent| self.incoming(source, SourceHeaders(&headers), sent, caller, now));
        let events: Vec<IncomingEvent> = events.collect();
        let ids = events.iter().map(|event| event.event.clone()).collect();
        let organization = caller.organization.organization.id;
        let known = self.store().known_events(organization, name, ids).await.map_err(|error| error.to_string())?;
        let mut report = IngestReport::default();
        for event in events.into_iter().filter(|event| !known.contains(&event.event)) {
            let is_new = self.store_event(event, caller, now).await.map_err(|error| error.to_string())?;
            report.created += u64::from(is_new);
        }
        Ok(report)
    }

    /// Records how a poll of a list of a source ended, which calls people where it fails for long.
    pub(super) async fn told_of_poll(&self, name: &str, list: &str, failure: Option<String>, now: Timestamp) {
        let told = async {
            let Some(source) = self.source(name) else { return Ok(()) };
            let organization = self.caller_of(source).await?.organization.organization.id;
            self.store().end_poll(organization, name, list, failure, now).await.map_err(service_error)
        };
        if let Err(error) = told.await {
            tracing::warn!(%error, source = name, "the end of a poll was not recorded");
        }
    }

    /// Counts a request whose signature was wrong.
    pub async fn reject(&self, source: &InboundSource) {
        let counted = async {
            let organization = self.caller_of(source).await?.organization.organization.id;
            self.store().count_rejected(organization, &source.name, self.now()).await.map_err(service_error)
        };
        if let Err(error) = counted.await {
            tracing::warn!(%error, source = source.name, "a rejected request was not counted");
        }
    }

    /// Acts for a source in the audit log.
    async fn caller_of(&self, source: &InboundSource) -> Result<Caller, ServiceError> {
        let mut caller = self.local_caller(source.organization.as_deref()).await.map_err(|error| {
            ServiceError::Unavailable(format!("unknown organization of source {}: {error}", source.name))
        })?;
        caller.actor.name = format!("source {}", source.name);
        Ok(caller)
    }

    fn terms_of(&self, caller: &Caller, now: Timestamp) -> IntakeTerms<'_> {
        let organization = &caller.organization;
        let (company, enrollment) = (organization.default_company, organization.default_enrollment);
        IntakeTerms { company, enrollment, windows: &self.settings().windows, events: true, now }
    }
}

#[async_trait]
impl Sources for ActingEngine {
    async fn sources(&self) -> Result<Vec<SourceStatus>, ServiceError> {
        let mut counted = self.store().source_counts(self.organization()).await.map_err(service_error)?;
        let mut all = Vec::new();
        for InboundSource { name, preset, answers, .. } in &*self.engine.settings().sources {
            let place = counted.iter().position(|counts| counts.name == *name);
            let counts = place.map(|place| counted.remove(place)).unwrap_or_default();
            all.push(SourceStatus { name: name.clone(), preset: preset.clone(), answers: Some(*answers), ..counts });
        }
        all.extend(counted);
        Ok(all)
    }
}

impl ActingEngine {
    /// Returns events of a source, at most `size`: those that wait for a map, then the others; newest first in each.
    ///
    /// # Errors
    /// When the store cannot answer.
    pub async fn source_events(&self, name: &str, size: u32) -> Result<Vec<SourceEvent>, ServiceError> {
        self.store().source_events(self.organization(), name, EventsOf::Shown, size).await.map_err(service_error)
    }

    /// Maps every event of a source again that is no alert or report yet, oldest first, by the settings as they are
    /// now. Where nothing becomes of it that was not known, nothing is written.
    ///
    /// # Errors
    /// [`ServiceError::NotFound`] where the source is not set up, or when the store cannot do it now; what was mapped
    /// stays.
    pub async fn remap(&self, name: &str) -> Result<Remapped, ServiceError> {
        let source = self.engine.source(name).ok_or_else(|| ServiceError::NotFound(format!("source {name}")))?;
        let (store, organization, mut after) = (self.store(), self.organization(), 0);
        let mut remapped = Remapped::default();
        loop {
            let wanted = EventsOf::OpenAfter(after);
            let events = store.source_events(organization, name, wanted, AT_ONCE).await.map_err(service_error)?;
            let Some(last) = events.last() else { return Ok(remapped) };
            after = last.number;
            for event in events {
                let now = self.engine.now();
                let sent = source.events(event.body).into_iter().next();
                let Some(mut sent) = sent else { continue };
                source.complete(&mut sent).await;
                let result = source.map(&sent, &self.engine.terms_of(&self.caller, now));
                let state = result.state();
                let is_known = state == event.state && result.reasons() == event.reasons;
                let is_open =
                    is_known || store.remap_event(organization, event.id, result, now).await.map_err(service_error)?;
                remapped.mapped += u64::from(is_open && state == EventState::Mapped);
                remapped.unmapped += u64::from(is_open && state == EventState::Unmapped);
            }
        }
    }
}
