//! The Webhooks screen: endpoints with their health, sources with their counts, deliveries with their state, and every
//! attempt of the one under the cursor.

pub mod draw;
pub mod state;

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect};

use crate::{
    Action, AppContext, Effect, KeyContext, Message, Reply, Screen, Task, Tasks, Tone,
    dialog::run,
    domain::{Delivery, DeliveryLog, DeliveryState, EndpointId, Secret, Timestamp},
    idle::{NO_ALERT, READ_ONLY, unless},
    screens::loading::wheel,
    service::ServiceError,
    text::sanitize,
};
use state::{WebhooksPane, WebhooksScreen};

/// Why nothing is done with what is not seen.
const UNSEEN: &str = "webhooks are not available here";

/// Lines a notch of the wheel scrolls the attempts.
const WHEEL: i16 = 3;

/// Lines that a page of attempts scrolls.
const PAGE: i16 = 10;

impl Screen for WebhooksScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks {
        let now = cx.now;
        match message {
            Message::Tick => return run(self.run_due(now)),
            Message::Shown => self.loads.refresh(now),
            Message::Act(action) if self.why_idle(action, cx).is_none() => return act(self, action, cx),
            Message::Input(event) => input(self, &event, cx),
            Message::Endpoints(answer) => self.took_endpoints(answer, now),
            Message::Sources(answer) => self.sources.take(answer, now),
            Message::DeliveryList(filter, answer) => self.took_deliveries(&filter, answer, now),
            Message::DeliveryAttempts(id, answer) => self.took_log(id, answer),
            Message::EndpointTested(id, answer) => tested(self, id, answer, cx),
            Message::SentAgain(answer) => resent(self, answer, cx),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, cx, frame.buffer_mut(), body);
    }

    fn keys(&self) -> KeyContext {
        KeyContext::Webhooks
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        const NO_DELIVERY: &str = "no delivery is here";
        const NO_ENDPOINT: &str = "no endpoint is here";
        let writes = || unless(!cx.place.read_only, READ_ONLY).or_else(|| unless(self.offered, UNSEEN));
        let on_list = || unless(!self.page, "the delivery's page is open");
        let delivery = || self.delivery().filter(|_| self.pane == WebhooksPane::Deliveries);
        match action {
            Action::Open => on_list().or_else(|| unless(delivery().is_some(), NO_DELIVERY)),
            Action::CopyId => unless(self.chosen_id().is_some(), "nothing with an id is here"),
            Action::NextPane => {
                let has_rows = self.endpoint().is_some() || self.delivery().is_some();
                on_list().or_else(|| unless(has_rows, NO_DELIVERY))
            }
            Action::GoToAlert => unless(self.alert().is_some(), NO_ALERT),
            Action::EndpointTest => writes()
                .or_else(on_list)
                .or_else(|| unless(self.subject().is_some(), NO_ENDPOINT))
                .or_else(|| unless(self.testing.is_none(), "a test is running")),
            Action::SendAgain => writes().or_else(|| match delivery() {
                None => Some(NO_DELIVERY),
                Some(delivery) => unless(delivery.state != DeliveryState::Leased, "the delivery is sending"),
            }),
            _ => None,
        }
    }
}

fn input(screen: &mut WebhooksScreen, event: &Event, cx: &AppContext) {
    let Event::Mouse(mouse) = event else { return };
    let met = screen.targets.at((mouse.column, mouse.row).into());
    match (wheel(event), met) {
        (Some(way), Some((pane, _))) => {
            screen.pane = pane;
            screen.step(if way > 0 { Action::Down } else { Action::Up }, cx.now);
        }
        (Some(way), None) => screen.scroll.by(way * WHEEL),
        (None, _) => {
            if let Some((pane, row)) = screen.targets.clicked(event) {
                screen.pane = pane;
                screen.move_to(row, cx.now);
            }
        }
    }
}

fn act(screen: &mut WebhooksScreen, action: Action, cx: &mut AppContext) -> Tasks {
    let now = cx.now;
    match action {
        Action::PageDown if screen.page => screen.scroll.by(PAGE),
        Action::PageUp if screen.page => screen.scroll.by(-PAGE),
        action if screen.step(action, now) => {}
        Action::DetailDown => screen.scroll.by(WHEEL),
        Action::DetailUp => screen.scroll.by(-WHEEL),
        Action::Refresh => screen.loads.refresh(now),
        Action::NextPane => screen.next_pane(),
        Action::Open => screen.page = true,
        Action::Back if screen.page => screen.page = false,
        Action::Back => return vec![Task::Act(Action::ShowQueue)],
        Action::CopyId => return screen.chosen_id().map(|id| copy(id, cx)).unwrap_or_default(),
        Action::GoToAlert => return screen.alert().map(|alert| Message::Seek(alert).into()).into_iter().collect(),
        Action::EndpointTest => {
            screen.testing = screen.subject().map(|endpoint| endpoint.id);
            let Some(id) = screen.testing else { return Vec::new() };
            cx.notify(Tone::Note, format!("Testing {}.", screen.name_of(id)));
            return vec![Effect::TestEndpoint(id).into()];
        }
        Action::SendAgain => {
            return screen.delivery().map(|delivery| Effect::SendAgain(delivery.id).into()).into_iter().collect();
        }
        _ => {}
    }
    Vec::new()
}

/// Copies an id.
pub fn copy(id: String, cx: &mut AppContext) -> Tasks {
    cx.notify(Tone::Note, format!("Copied {}", sanitize(&id)));
    vec![Effect::Copy(Secret::new(id)).into()]
}

impl WebhooksScreen {
    /// The address of an endpoint, where it is known.
    pub(super) fn name_of(&self, id: EndpointId) -> String {
        let url = self.known(id).map_or_else(|| id.to_string(), |endpoint| endpoint.url.to_string());
        sanitize(&url).into_owned()
    }
}

fn tested(screen: &mut WebhooksScreen, id: EndpointId, answer: Reply<DeliveryLog>, cx: &mut AppContext) {
    screen.testing = None;
    screen.loads.refresh(cx.now);
    let to = screen.name_of(id);
    match answer {
        Ok(log) => {
            let took = log.attempts.last().map_or(0, |attempt| attempt.duration_ms);
            let result = log.delivery.last_result.unwrap_or_default();
            let taken = log.delivery.state == DeliveryState::Delivered;
            let (tone, word) = if taken { (Tone::Good, "succeeded") } else { (Tone::Bad, "failed") };
            let result = sanitize(result.trim_end_matches('.'));
            cx.notify(tone, format!("The test {word} at {to}: {result} in {took} ms."));
        }
        Err(error) => cx.notify(Tone::Bad, format!("Test of {to} failed: {error}")),
    }
}

/// Says what became of a delivery that was to be sent again.
fn resent(screen: &mut WebhooksScreen, answer: Reply<Delivery>, cx: &mut AppContext) {
    match answer {
        Ok(delivery) => cx.notify(Tone::Good, format!("Resent: {}", sanitize(&delivery.url))),
        Err(error) => {
            cx.writes.suspect(&error, cx.now);
            // Another deployment may have heard of it.
            let is_indefinite = matches!(error, ServiceError::Unavailable(_) | ServiceError::Unreachable(_));
            let undone = if cx.place.remote && is_indefinite { "Resend unconfirmed" } else { "Not resent" };
            cx.notify(Tone::Bad, format!("{undone}: {error}"));
        }
    }
    screen.loads.refresh(cx.now);
}
