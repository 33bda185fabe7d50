//! The Webhooks screen: endpoints with their health, deliveries with their state, and every attempt of the one under
//! the cursor.

pub mod draw;
pub mod log;
pub mod state;
pub mod words;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::console::dialog::run;
use crate::console::dialogs::confirmation;
use crate::console::idle::{NO_ALERT, READ_ONLY, unless};
use crate::console::text::{counted, sanitize};
use crate::console::{Action, AppContext, Effect, KeyContext, Keys, Message, Order, Orders, Reply, Screen, Tone};
use crate::domain::{AlertId, Delivery, DeliveryFilter, DeliveryLog, DeliveryState, EndpointId, Timestamp};
use crate::service::ServiceError;

use state::{WebhooksPane, WebhooksScreen, WebhooksTarget, can_be_sent_again};

/// Why nothing is done with what is not seen.
const UNSEEN: &str = "webhooks are not available here";

/// Lines a notch of the wheel scrolls the attempts.
const WHEEL: i16 = 3;

impl Screen for WebhooksScreen {
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders {
        let now = cx.now;
        match message {
            Message::Tick => {
                let mut effects = self.run_due(now);
                effects.extend(self.unnamed(&cx.known).into_iter().map(Effect::Get));
                return run(effects);
            }
            Message::Shown => self.refresh(now),
            Message::Act(action) => return act(self, action, cx),
            Message::Input(event) => return input(self, &event, cx),
            Message::Endpoints(answer) => self.took_endpoints(answer, now),
            Message::DeliveryList(asked, answer) => self.took_deliveries(asked, answer, now),
            Message::DeliveryAttempts(id, answer) => self.took_log(id, answer),
            Message::EndpointTested(id, answer) => tested(self, id, answer, cx),
            Message::SentAgain(answer) => sent_again(self, answer, cx),
            Message::GivenUp(id, answer) => return given_up(self, id, answer, cx),
            Message::AllSentAgain(id, answer) => all_sent_again(self, id, answer, cx),
            Message::ShowDeliveries(filter) => self.show(filter, now),
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        draw::draw(self, &cx.draw_context(), frame.buffer_mut(), body);
    }

    fn keys(&self) -> Keys {
        Keys::Of(KeyContext::Webhooks)
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due()
    }

    fn words(&self, action: Action, _: &AppContext) -> Option<String> {
        (action == Action::Open && self.pane == WebhooksPane::Endpoints).then(|| "deliveries".to_owned())
    }

    fn why_idle(&self, action: Action, cx: &AppContext) -> Option<&'static str> {
        const NO_DELIVERY: &str = "no delivery is here";
        const NO_ENDPOINT: &str = "no endpoint is here";
        let writes = || unless(!cx.place.read_only, READ_ONLY).or_else(|| unless(self.is_offered(), UNSEEN));
        let on_list = || unless(!self.page, "the delivery's page is open");
        match action {
            Action::Open => on_list().or_else(|| match self.pane {
                WebhooksPane::Endpoints => unless(self.endpoint().is_some(), NO_ENDPOINT),
                WebhooksPane::Deliveries => unless(self.delivery().is_some(), NO_DELIVERY),
            }),
            Action::CopyId => unless(copied_id(self).is_some(), "nothing with an id is here"),
            Action::NextPane => on_list().or_else(|| unless(!self.is_empty(), NO_DELIVERY)),
            Action::DeliveryFilter => {
                let has_rows = self.is_filtered() || !self.delivery_rows().is_empty();
                unless(self.is_offered(), UNSEEN).or_else(on_list).or_else(|| unless(has_rows, "no delivery is listed"))
            }
            Action::GoToAlert => unless(self.alert().is_some(), NO_ALERT),
            Action::EndpointTest | Action::SendAllAgain => {
                writes().or_else(on_list).or_else(|| unless(self.subject().is_some(), NO_ENDPOINT))
            }
            Action::SendAgain => {
                writes().or_else(|| match self.delivery().filter(|_| self.pane == WebhooksPane::Deliveries) {
                    None => Some(NO_DELIVERY),
                    Some(delivery) => unless(can_be_sent_again(delivery), "the delivery is sending"),
                })
            }
            _ => None,
        }
    }
}

fn input(screen: &mut WebhooksScreen, event: &Event, cx: &mut AppContext) -> Orders {
    let Event::Mouse(mouse) = event else { return Vec::new() };
    let at = (mouse.column, mouse.row).into();
    match mouse.kind {
        MouseEventKind::ScrollDown | MouseEventKind::ScrollUp => {
            let down = mouse.kind == MouseEventKind::ScrollDown;
            match screen.targets.at(at) {
                Some(WebhooksTarget::Endpoint(_)) => screen.pane = WebhooksPane::Endpoints,
                Some(WebhooksTarget::Delivery(_)) => screen.pane = WebhooksPane::Deliveries,
                Some(WebhooksTarget::Chip(_) | WebhooksTarget::Do(_)) => return Vec::new(),
                None => {
                    screen.scroll.by(if down { WHEEL } else { -WHEEL });
                    return Vec::new();
                }
            }
            screen.move_by(if down { 1 } else { -1 }, cx.now);
        }
        MouseEventKind::Down(MouseButton::Left) => match screen.targets.at(at) {
            Some(WebhooksTarget::Endpoint(row)) => {
                screen.pane = WebhooksPane::Endpoints;
                screen.move_to(row, cx.now);
            }
            Some(WebhooksTarget::Delivery(row)) => {
                screen.pane = WebhooksPane::Deliveries;
                screen.move_to(row, cx.now);
            }
            Some(WebhooksTarget::Chip(part)) => screen.drop_part(part, cx.now),
            Some(WebhooksTarget::Do(action)) => return vec![Order::Act(action)],
            None => {}
        },
        _ => {}
    }
    Vec::new()
}

fn act(screen: &mut WebhooksScreen, action: Action, cx: &mut AppContext) -> Orders {
    let now = cx.now;
    let window = match screen.pane {
        WebhooksPane::Endpoints => screen.endpoint_list.page(),
        WebhooksPane::Deliveries => screen.delivery_list.page(),
    };
    let page = isize::try_from(window.max(2) - 1).unwrap_or(1);
    match action {
        Action::Down => screen.move_by(1, now),
        Action::Up => screen.move_by(-1, now),
        Action::PageDown if screen.page => screen.scroll.by(10),
        Action::PageUp if screen.page => screen.scroll.by(-10),
        Action::PageDown => screen.move_by(page, now),
        Action::PageUp => screen.move_by(-page, now),
        Action::Top => screen.move_to(0, now),
        Action::Bottom => screen.move_to(usize::MAX, now),
        Action::DetailDown => screen.scroll.by(WHEEL),
        Action::DetailUp => screen.scroll.by(-WHEEL),
        Action::Refresh => screen.refresh(now),
        Action::NextPane if !screen.page => {
            screen.pane = screen.next_pane();
        }
        Action::Open => open(screen, now),
        Action::Back => return back(screen, cx),
        Action::CopyId => return copy(screen, cx),
        Action::GoToAlert => return go_to_alert(screen, cx),
        Action::EndpointTest => return test(screen, cx),
        Action::SendAgain => return send_again(screen, cx),
        Action::SendAllAgain => return send_all_again(screen, cx),
        _ => {}
    }
    Vec::new()
}

fn open(screen: &mut WebhooksScreen, now: Timestamp) {
    match screen.pane {
        WebhooksPane::Endpoints => {
            if let Some(endpoint) = screen.endpoint().map(|endpoint| endpoint.id) {
                screen.show(DeliveryFilter { endpoint: Some(endpoint), ..screen.filter.clone() }, now);
            }
        }
        WebhooksPane::Deliveries => screen.page = screen.delivery().is_some(),
    }
}

fn back(screen: &mut WebhooksScreen, cx: &mut AppContext) -> Orders {
    if cx.toasts.dismiss() {
        return Vec::new();
    }
    if screen.page {
        screen.page = false;
    } else if screen.is_filtered() {
        screen.show(DeliveryFilter::default(), cx.now);
    } else {
        return vec![Order::Act(Action::ShowQueue)];
    }
    Vec::new()
}

/// The id of what is under the cursor.
fn copied_id(screen: &WebhooksScreen) -> Option<String> {
    match screen.pane {
        WebhooksPane::Endpoints => screen.endpoint().map(|endpoint| endpoint.id.to_string()),
        WebhooksPane::Deliveries => screen.delivery().map(|delivery| delivery.id.to_string()),
    }
}

fn copy(screen: &WebhooksScreen, cx: &mut AppContext) -> Orders {
    let Some(id) = copied_id(screen) else { return Vec::new() };
    cx.notify(Tone::Note, format!("Copied {}", sanitize(&id)));
    vec![Effect::Copy(id).into()]
}

fn go_to_alert(screen: &WebhooksScreen, cx: &mut AppContext) -> Orders {
    match screen.alert() {
        Some(alert) if alert != AlertId::default() => vec![Message::Seek(alert).into()],
        Some(_) => {
            cx.notify(Tone::Note, "This is a test with a generated alert.");
            Vec::new()
        }
        None => Vec::new(),
    }
}

/// Returns true where something may be sent; says why not.
fn may_send(screen: &WebhooksScreen, cx: &mut AppContext) -> bool {
    let refusal = screen.refusal(cx.place.read_only);
    if let Some(words) = refusal {
        cx.notify(Tone::Note, words);
    }
    refusal.is_none()
}

fn test(screen: &mut WebhooksScreen, cx: &mut AppContext) -> Orders {
    if !may_send(screen, cx) {
        return Vec::new();
    }
    if screen.testing.is_some() {
        cx.notify(Tone::Note, "A test is running.");
        return Vec::new();
    }
    let Some(endpoint) = screen.subject() else {
        cx.hint("There is no endpoint to test.");
        return Vec::new();
    };
    let id = endpoint.id;
    cx.notify(Tone::Note, format!("Testing {}.", sanitize(&endpoint.url.to_string())));
    screen.testing = Some(id);
    vec![Effect::TestEndpoint(id).into()]
}

fn tested(screen: &mut WebhooksScreen, id: EndpointId, answer: Reply<DeliveryLog>, cx: &mut AppContext) {
    screen.testing = None;
    screen.refresh(cx.now);
    let to = screen.known(id).map_or_else(|| id.to_string(), |endpoint| endpoint.url.to_string());
    match answer {
        Ok(log) => {
            let took = log.attempts.last().map_or(0, |attempt| attempt.duration_ms);
            let result = log.delivery.last_result.unwrap_or_default();
            let taken = log.delivery.state == DeliveryState::Delivered;
            let (tone, word) = if taken { (Tone::Good, "succeeded") } else { (Tone::Bad, "failed") };
            cx.notify(
                tone,
                format!(
                    "The test {word} at {}: {} in {took} ms.",
                    sanitize(&to),
                    sanitize(result.trim_end_matches('.'))
                ),
            );
        }
        Err(error) => cx.notify(Tone::Bad, format!("Test of {} failed: {error}", sanitize(&to))),
    }
}

fn send_again(screen: &WebhooksScreen, cx: &mut AppContext) -> Orders {
    let Some(delivery) = screen.delivery().filter(|_| screen.pane == WebhooksPane::Deliveries).cloned() else {
        cx.hint("There is no delivery under the cursor.");
        return Vec::new();
    };
    if !may_send(screen, cx) {
        return Vec::new();
    }
    if !can_be_sent_again(&delivery) {
        cx.notify(Tone::Note, "This delivery is already pending.");
        return Vec::new();
    }
    vec![Effect::SendAgain(delivery.id).into()]
}

/// Returns true where a write that has no good answer may have been done all the same: another deployment may have
/// heard of it.
fn is_indefinite(error: &ServiceError, cx: &AppContext) -> bool {
    cx.place.remote && matches!(error, ServiceError::Unavailable(_) | ServiceError::Unreachable(_))
}

fn sent_again(screen: &mut WebhooksScreen, answer: Reply<Delivery>, cx: &mut AppContext) {
    match answer {
        Ok(delivery) => {
            screen.put(&delivery);
            cx.notify(Tone::Good, format!("Resent: {}", sanitize(&delivery.url)));
        }
        Err(error) => {
            cx.writes.suspect(&error, cx.now);
            let undone = if is_indefinite(&error, cx) { "Resend unconfirmed" } else { "Not resent" };
            cx.notify(Tone::Bad, format!("{undone}: {error}"));
        }
    }
    screen.refresh(cx.now);
}

/// Asks how many there are; the question comes with their number.
fn send_all_again(screen: &WebhooksScreen, cx: &mut AppContext) -> Orders {
    if !may_send(screen, cx) {
        return Vec::new();
    }
    match screen.subject() {
        Some(endpoint) if endpoint.disabled.is_some() => {
            cx.notify(Tone::Note, format!("The endpoint is disabled: avert webhooks update {} --enable", endpoint.id));
            Vec::new()
        }
        Some(endpoint) => vec![Effect::CountGivenUp(endpoint.id).into()],
        None => Vec::new(),
    }
}

fn given_up(screen: &WebhooksScreen, id: EndpointId, answer: Reply<(u64, bool)>, cx: &mut AppContext) -> Orders {
    match (answer, screen.known(id)) {
        (Ok((0, _)), _) => cx.notify(Tone::Note, "No failed delivery at this endpoint."),
        (Ok((count, more)), Some(endpoint)) => {
            return vec![Order::OpenNext(Box::new(confirmation::send_all_again(
                id,
                &endpoint.url.to_string(),
                count,
                more,
            )))];
        }
        (Ok(_), None) => cx.notify(Tone::Note, "This endpoint is gone."),
        (Err(error), _) => cx.notify(Tone::Bad, format!("Failed deliveries cannot be counted: {error}")),
    }
    Vec::new()
}

fn all_sent_again(screen: &mut WebhooksScreen, id: EndpointId, answer: Reply<u64>, cx: &mut AppContext) {
    let to = screen.known(id).map_or_else(|| id.to_string(), |endpoint| endpoint.url.to_string());
    match answer {
        Ok(count) => {
            let due = counted(count, "delivery", "deliveries");
            cx.notify(Tone::Good, format!("Resent {due}: {}", sanitize(&to)));
        }
        Err(error) => {
            cx.writes.suspect(&error, cx.now);
            let undone = if is_indefinite(&error, cx) { "Resend unconfirmed" } else { "Not resent" };
            cx.notify(Tone::Bad, format!("{undone}: {error}"));
        }
    }
    screen.refresh(cx.now);
}
