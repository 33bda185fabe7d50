//! Draws a delivery with every attempt: what was sent, what came back, how long it took, and what follows.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::state::WebhooksScreen;
use super::words::event;
use crate::console::text::{hanging, indented_json, sanitize, wrap, wrap_indented};
use crate::console::{DrawContext, Loadable, times};
use crate::domain::sanitize::lines;
use crate::domain::{Delivery, DeliveryAttempt, DeliveryLog};

/// Columns of the labels.
const LABEL: u16 = 14;

/// Columns that an attempt's facts are set in by.
const INDENT: u16 = 2;

/// Draws what is known of the delivery under the cursor, scrolled as it was left.
pub fn draw(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let Some(delivery) = screen.delivery().filter(|_| !area.is_empty()) else { return };
    let mut page = Page { draw, width: area.width, lines: Vec::new() };
    page.head(delivery);
    match screen.log() {
        Some(Loadable::Loaded(log)) => page.log(log, delivery),
        Some(Loadable::Failed(error)) => {
            page.say(&format!("Its attempts cannot be shown: {}", sanitize(&error.to_string())), draw.theme.danger);
        }
        Some(Loadable::Loading | Loadable::NotAsked) | None => page.say("Loading its attempts…", draw.theme.quiet),
    }
    screen.scroll.draw(&page.lines, draw.theme, buffer, area);
}

/// The lines of a delivery.
struct Page<'d> {
    draw: &'d DrawContext<'d>,
    width: u16,
    lines: Vec<Line<'static>>,
}

impl Page<'_> {
    fn say(&mut self, text: &str, style: ratatui::style::Style) {
        self.lines.extend(wrap(text, self.width).into_iter().map(|line| Line::styled(line, style)));
    }

    fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// A label and a text beside it, in as many lines as it takes.
    fn fact(&mut self, indent: u16, label: &str, text: &str, style: ratatui::style::Style) {
        let before = usize::from(indent);
        let label = format!("{:before$}{label:<width$}", "", width = usize::from(LABEL));
        self.lines.extend(hanging(Span::styled(label, self.draw.theme.quiet), text, style, self.width));
    }

    fn head(&mut self, delivery: &Delivery) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let (sign, word, style) = self.draw.delivery_state(delivery.state);
        let title = if delivery.test { "test event".to_owned() } else { format!("alert.{}", event(delivery)) };
        self.lines.push(Line::from(vec![
            Span::styled(title, theme.strong),
            Span::raw("   "),
            Span::styled(format!("{sign} {word}"), style),
        ]));
        self.fact(0, "to", &sanitize(&delivery.url), theme.plain);
        if !delivery.test {
            let named =
                self.draw.known.get(delivery.alert).map(|alert| format!("{} {}", alert.provider, alert.provider_id));
            match named {
                Some(name) => {
                    self.fact(0, "network id", &sanitize(&name), theme.plain);
                    self.fact(0, "avert id", &delivery.alert.to_string(), theme.quiet);
                }
                None => self.fact(0, "avert id", &delivery.alert.to_string(), theme.plain),
            }
        }
        self.fact(
            0,
            "event",
            &format!("{}, {}", self.draw.times.minute(delivery.at), times::ago(delivery.at, now)),
            theme.plain,
        );
        self.fact(0, "event id", &delivery.event.to_string(), theme.quiet);
        if let Some(due) = delivery.due {
            let when = if due <= now {
                "now".to_owned()
            } else {
                format!("in {}, {}", times::short(due - now), self.draw.times.at(due, now))
            };
            self.fact(0, "next attempt", &when, theme.warning);
        }
        if let Some(at) = delivery.delivered_at {
            self.fact(0, "taken", &format!("{}, {}", self.draw.times.at(at, now), times::ago(at, now)), theme.plain);
        }
        self.gap();
    }

    fn log(&mut self, log: &DeliveryLog, delivery: &Delivery) {
        let theme = self.draw.theme;
        if log.attempts.is_empty() {
            let words = if delivery.attempts == 0 { "No attempt yet." } else { "Its attempts are pruned." };
            self.say(words, theme.quiet);
            self.gap();
        }
        // The last one matters most.
        for attempt in log.attempts.iter().rev() {
            self.attempt(attempt);
        }
        self.lines.push(Line::styled("BODY", theme.quiet));
        let body = wrap_indented(&lines(&indented_json(&log.body)), self.width);
        self.lines.extend(body.into_iter().map(|line| Line::styled(line, theme.plain)));
    }

    fn attempt(&mut self, attempt: &DeliveryAttempt) {
        let (theme, now) = (self.draw.theme, self.draw.now);
        let taken = attempt.status.is_some_and(|status| (200..300).contains(&status));
        let (result, style) = match (attempt.status, &attempt.error) {
            (_, Some(error)) => (sanitize(error).into_owned(), theme.danger),
            (Some(status), None) => (status.to_string(), if taken { theme.ok } else { theme.danger }),
            (None, None) => ("unknown".to_owned(), theme.quiet),
        };
        let when = format!("{}  {} ms", self.draw.times.row(attempt.started_at, now), attempt.duration_ms);
        self.lines.push(Line::from(vec![
            Span::styled(format!("Attempt {}", attempt.number), theme.strong),
            Span::raw("   "),
            Span::styled(when, theme.quiet),
        ]));
        self.fact(INDENT, "result", &result, style);
        if let Some(sent) = &attempt.sent {
            self.fact(INDENT, "POST", &sanitize(&sent.url), theme.plain);
            for (name, value) in &sent.headers {
                self.fact(INDENT, "", &format!("{}: {}", sanitize(name), sanitize(value)), theme.quiet);
            }
        }
        if !attempt.answer.is_empty() {
            self.fact(INDENT, "answer", &sanitize(&attempt.answer), theme.plain);
        }
        self.gap();
    }
}
