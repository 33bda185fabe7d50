//! The state of the Webhooks screen: endpoints, sources, deliveries and the attempts of one of them. Cursors hold ids,
//! never rows.

use chrono::Duration;

use crate::{
    Action, ClickTargets, Effect, Loadable, Reply,
    domain::{
        AlertId, Delivery, DeliveryFilter, DeliveryId, DeliveryLog, DeliveryPage, DeliveryState, Endpoint, EndpointId,
        Timestamp, source::SourceStatus,
    },
    screens::loading::{LoadSchedule, Polled, row_after},
    ui::table::Cursor,
    widgets::scrollbar::Scroll,
};

/// How often everything is loaded again while it is looked at and nothing tells of changes.
const POLL: Duration = Duration::seconds(15);

/// How long the cursor rests on a delivery before its attempts are loaded.
const REST: Duration = Duration::milliseconds(150);

/// How many deliveries are loaded at a time, and how near to their end the next ones are.
const CHUNK: usize = 100;
const NEAR: usize = 20;

/// A part of the screen that has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WebhooksPane {
    Endpoints,
    Sources,
    #[default]
    Deliveries,
}

/// The Webhooks screen.
#[derive(Debug, Default)]
pub struct WebhooksScreen {
    /// The endpoints, as they were told last.
    pub endpoints: Polled<Vec<Endpoint>>,
    /// The sources, as they were told last.
    pub sources: Polled<Vec<SourceStatus>>,
    /// The deliveries of the filter from the newest on, as far as they were looked at.
    pub deliveries: Polled<DeliveryPage>,
    pub pane: WebhooksPane,
    /// True where the attempts have a page of their own.
    pub page: bool,
    /// The endpoint that is being tested: one at a time.
    pub testing: Option<EndpointId>,
    pub endpoint_list: Cursor,
    pub source_list: Cursor,
    pub delivery_list: Cursor,
    /// Scroll position of the attempts.
    pub scroll: Scroll,
    pub(super) targets: ClickTargets<(WebhooksPane, usize)>,
    /// True where the service has webhooks that can be seen from here.
    pub offered: bool,
    pub(super) loads: LoadSchedule,
    /// The delivery whose attempts were asked for.
    log: Option<(DeliveryId, Loadable<DeliveryLog>)>,
    log_due: Option<Timestamp>,
    endpoint_cursor: Option<EndpointId>,
    source_cursor: Option<String>,
    delivery_cursor: Option<DeliveryId>,
    /// Number of deliveries that were asked for.
    wanted: usize,
}

impl WebhooksScreen {
    /// The screen, nothing asked for yet.
    pub fn new(offered: bool) -> Self {
        Self { offered, wanted: CHUNK, ..Self::default() }
    }

    /// The endpoints that are known.
    pub fn endpoint_rows(&self) -> &[Endpoint] {
        self.endpoints.loaded().map(Vec::as_slice).unwrap_or_default()
    }

    /// The sources that are known.
    pub fn source_rows(&self) -> &[SourceStatus] {
        self.sources.loaded().map(Vec::as_slice).unwrap_or_default()
    }

    /// The row of the sources' cursor.
    pub fn source_row(&self) -> usize {
        self.source_rows().iter().position(|row| Some(&row.name) == self.source_cursor.as_ref()).unwrap_or(0)
    }

    /// The deliveries that are known.
    pub fn delivery_rows(&self) -> &[Delivery] {
        self.deliveries.loaded().map(|page| page.data.as_slice()).unwrap_or_default()
    }

    /// Returns true where there are more deliveries than are known.
    pub fn has_more(&self) -> bool {
        self.deliveries.loaded().is_some_and(|page| page.next.is_some())
    }

    /// Words for the listed deliveries to an endpoint that failed for good: `4 failed`; nothing where none did.
    pub fn failed_words(&self, endpoint: EndpointId) -> Option<String> {
        let failed = |row: &&Delivery| row.endpoint == endpoint && row.state == DeliveryState::Exhausted;
        let failed = self.delivery_rows().iter().filter(failed).count();
        (failed > 0).then(|| format!("{failed} failed"))
    }

    /// The row of the endpoints' cursor.
    pub fn endpoint_row(&self) -> usize {
        self.endpoint_rows().iter().position(|row| Some(row.id) == self.endpoint_cursor).unwrap_or(0)
    }

    /// The row of the deliveries' cursor.
    pub fn delivery_row(&self) -> usize {
        self.delivery_rows().iter().position(|row| Some(row.id) == self.delivery_cursor).unwrap_or(0)
    }

    /// The endpoint under the cursor.
    pub fn endpoint(&self) -> Option<&Endpoint> {
        self.endpoint_rows().get(self.endpoint_row())
    }

    /// The delivery under the cursor.
    pub fn delivery(&self) -> Option<&Delivery> {
        self.delivery_rows().get(self.delivery_row())
    }

    /// The endpoint that an action is for: the one under the cursor, or the one that the delivery under it goes to.
    pub fn subject(&self) -> Option<&Endpoint> {
        let of_delivery = self.delivery().filter(|_| self.pane == WebhooksPane::Deliveries);
        let of_delivery = of_delivery.and_then(|delivery| self.known(delivery.endpoint));
        of_delivery.or_else(|| self.endpoint()).filter(|_| self.pane != WebhooksPane::Sources)
    }

    /// An endpoint by its id.
    pub fn known(&self, id: EndpointId) -> Option<&Endpoint> {
        self.endpoint_rows().iter().find(|endpoint| endpoint.id == id)
    }

    /// The alert that the delivery under the cursor is about.
    pub fn alert(&self) -> Option<AlertId> {
        self.delivery().and_then(Delivery::subject)
    }

    /// The id of what is under the cursor.
    pub fn chosen_id(&self) -> Option<String> {
        match self.pane {
            WebhooksPane::Endpoints => self.endpoint().map(|endpoint| endpoint.id.to_string()),
            WebhooksPane::Sources => self.source_rows().get(self.source_row()).map(|source| source.name.clone()),
            WebhooksPane::Deliveries => self.delivery().map(|delivery| delivery.id.to_string()),
        }
    }

    /// The attempts of the delivery under the cursor, as far as they are known.
    pub fn log(&self) -> Option<&Loadable<DeliveryLog>> {
        let shown = self.delivery()?.id;
        self.log.as_ref().filter(|(id, _)| *id == shown).map(|(_, log)| log)
    }

    /// Gives the keys to the next pane.
    pub fn next_pane(&mut self) {
        self.pane = match self.pane {
            WebhooksPane::Endpoints if !self.source_rows().is_empty() => WebhooksPane::Sources,
            WebhooksPane::Endpoints | WebhooksPane::Sources => WebhooksPane::Deliveries,
            WebhooksPane::Deliveries => WebhooksPane::Endpoints,
        };
    }

    /// Puts the cursor of the pane with the keys on a row.
    pub fn move_to(&mut self, row: usize, now: Timestamp) {
        match self.pane {
            WebhooksPane::Endpoints => {
                self.endpoint_cursor = self.endpoint_rows().get(row).map(|endpoint| endpoint.id);
                return;
            }
            WebhooksPane::Sources => {
                self.source_cursor = self.source_rows().get(row).map(|source| source.name.clone());
                return;
            }
            WebhooksPane::Deliveries => {}
        }
        let before = self.delivery().map(|delivery| delivery.id);
        self.delivery_cursor = self.delivery_rows().get(row).map(|delivery| delivery.id);
        if self.delivery_cursor != before {
            self.scroll.reset();
            self.log_due = Some(now + REST);
        }
        // Where the cursor comes near to the end of what is known, more is loaded.
        let known = self.delivery_rows().len();
        if self.has_more() && self.delivery_row() + NEAR >= known && self.wanted <= known {
            self.loads.refresh(now);
        }
    }

    /// Moves that cursor by an action; returns false for one that does not move.
    pub fn step(&mut self, action: Action, now: Timestamp) -> bool {
        let (at, rows, list) = match self.pane {
            WebhooksPane::Endpoints => (self.endpoint_row(), self.endpoint_rows().len(), &self.endpoint_list),
            WebhooksPane::Sources => (self.source_row(), self.source_rows().len(), &self.source_list),
            WebhooksPane::Deliveries => (self.delivery_row(), self.delivery_rows().len(), &self.delivery_list),
        };
        let row = row_after(action, at, rows, list.page());
        row.into_iter().for_each(|row| self.move_to(row, now));
        row.is_some()
    }

    /// Returns the filter of the list.
    fn filter(&self) -> DeliveryFilter {
        let size = Some(u32::try_from(self.wanted).unwrap_or(u32::MAX));
        DeliveryFilter { size, ..DeliveryFilter::default() }
    }

    /// Something changed at the service: what is shown is loaded again soon.
    pub fn changed(&mut self, now: Timestamp) {
        self.loads.changed(now);
    }

    /// Takes the endpoints in; the cursor stays on its own.
    pub fn took_endpoints(&mut self, answer: Reply<Vec<Endpoint>>, now: Timestamp) {
        self.endpoint_cursor = self.endpoint().map(|endpoint| endpoint.id);
        self.endpoints.take(answer, now);
    }

    /// Takes a list of deliveries in, unless another one was asked for since; the cursor stays on its own.
    pub fn took_deliveries(&mut self, filter: &DeliveryFilter, answer: Reply<DeliveryPage>, now: Timestamp) {
        if *filter != self.filter() {
            return;
        }
        self.delivery_cursor = self.delivery().map(|delivery| delivery.id);
        self.deliveries.take(answer, now);
        self.log_due.get_or_insert(now);
    }

    /// Takes the attempts of a delivery in.
    pub fn took_log(&mut self, id: DeliveryId, answer: Reply<DeliveryLog>) {
        if let Some((known, log)) = &mut self.log
            && *known == id
        {
            log.answer(answer);
        }
    }

    /// Effects that are due while the screen is looked at.
    pub fn run_due(&mut self, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.offered {
            return effects;
        }
        if self.loads.take_due(now, POLL) {
            self.endpoints.data.ask();
            self.deliveries.data.ask();
            // What was scrolled past and left again is not loaded again.
            let seen = self.delivery_row() + self.delivery_list.page() + NEAR;
            self.wanted = seen.div_ceil(CHUNK).max(1) * CHUNK;
            effects.extend([Effect::ListDeliveries(self.filter()), Effect::LoadEndpoints, Effect::LoadSources]);
        }
        if self.log_due.take_if(|due| *due <= now).is_some()
            && let Some(id) = self.delivery().map(|delivery| delivery.id)
        {
            match &mut self.log {
                Some((known, log)) if *known == id => log.ask(),
                log => *log = Some((id, Loadable::Loading)),
            }
            effects.push(Effect::LoadDelivery(id));
        }
        effects
    }

    /// When [`WebhooksScreen::run_due`] has something to do by itself.
    pub fn due(&self) -> Option<Timestamp> {
        [self.loads.due, self.log_due].into_iter().flatten().min().filter(|_| self.offered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_come_soon_after_a_load_are_gathered() {
        let now = Timestamp::UNIX_EPOCH;
        let mut screen = WebhooksScreen::new(true);
        let first = screen.run_due(now).len();

        screen.changed(now + Duration::milliseconds(1));
        screen.changed(now + Duration::milliseconds(500));

        let loads = [999, 1_000, 2_000].map(|after| screen.run_due(now + Duration::milliseconds(after)).len());
        assert_eq!((first, loads), (3, [0, 3, 0]), "endpoints, sources and deliveries, once");
    }
}
