//! Draws the local receiver: how it stands, what has to be reachable, and what came.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::receiver::Listening;
use super::state::{WebhooksPane, WebhooksScreen, WebhooksTarget};
use super::words::moment;
use crate::console::text::{columns, count, sanitize, wrap_to};
use crate::console::{Action, DrawContext, Pen};
use crate::domain::webhook::received::{Forwarding, Receipt, ReceivedEvent, what_has_to_be_reachable};

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// How many lines it asks for.
pub fn lines(screen: &WebhooksScreen, height: u16) -> u16 {
    let part = &screen.receiver;
    match (part.is_offered(), part.is_shown()) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) if screen.is_offered() => (height / 3).max(6),
        (true, true) => height,
    }
}

/// Draws the receiver: a line of how it stands, and below it what came.
pub fn draw(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let (part, theme) = (&screen.receiver, draw.theme);
    let inside = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), ..area };
    let mut pen = Pen::new(buffer, Rect { height: 1, ..inside });
    pen.put("Receiver", theme.strong);
    pen.skip(3);
    match &part.listening {
        Listening::Off => {
            pen.put("not listening", theme.quiet);
        }
        Listening::Starting => {
            pen.put("being started…", theme.accent);
        }
        Listening::Stopping => {
            pen.put("being stopped: what is on its way has a moment…", theme.accent);
        }
        Listening::At(address, since) => {
            pen.put("● ", theme.ok);
            pen.put(&format!("listening at http://{address}"), theme.plain);
            pen.put_whole(&format!(" since {}", since.format("%H:%M")), theme.quiet);
        }
    }
    if part.is_shown() {
        pen.skip(3);
        pen.put_whole(&format!("{} taken", count(part.taken)), theme.plain);
        if part.refused > 0 {
            pen.put_whole(&format!(", {} refused", count(part.refused)), theme.danger);
        }
    }
    pen.skip(3);
    let words = if part.can_start() { "listens for this deployment's webhooks" } else { "stops it" };
    if !matches!(part.listening, Listening::Starting | Listening::Stopping)
        && let Some(area) = pen.put_whole(&format!("{} {words}", draw.key(Action::Listen)), theme.quiet)
    {
        screen.targets.push(area, WebhooksTarget::Do(Action::Listen));
    }
    let mut y = area.y + 1;
    if let Listening::At(address, _) = &part.listening
        && part.events.len() < 2
    {
        // What has to be reachable matters until something comes.
        for line in wrap_to(&what_has_to_be_reachable(*address), inside.width.min(120), 3) {
            if y < area.bottom() {
                Pen::new(buffer, Rect { y, height: 1, ..inside }).put(&line, theme.quiet);
            }
            y += 1;
        }
    }
    if part.is_shown() {
        draw_events(screen, draw, buffer, Rect { y, height: area.bottom().saturating_sub(y), ..area });
    }
}

fn draw_events(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let (part, theme) = (&screen.receiver, draw.theme);
    if part.events.is_empty() {
        let line = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER), height: 1, ..area }.intersection(area);
        Pen::new(buffer, line).put("Nothing came yet.", theme.plain);
        return;
    }
    let (height, cursor) = (usize::from(area.height).max(1), part.row());
    let top = part.window.get().0.clamp((cursor + 1).saturating_sub(height), cursor).min(part.events.len().saturating_sub(height));
    part.window.set((top, height));
    for ((index, event), y) in part.events.iter().enumerate().skip(top).zip(area.y..area.bottom()) {
        let row = Rect { y, height: 1, width: area.width.saturating_sub(2), ..area };
        if index == cursor && screen.pane == WebhooksPane::Receiver {
            theme.mark_row(buffer, row);
        }
        screen.targets.push(row, WebhooksTarget::Event(index));
        let mut pen = Pen::new(buffer, Rect { x: row.x + GUTTER, width: row.width.saturating_sub(GUTTER), ..row });
        for (text, style, width) in cells(event, draw, area.width) {
            pen.put(&text, style);
            pen.skip(width.saturating_sub(columns(&text)) + 2);
        }
    }
}

/// The cells of a row: text, style, width.
fn cells(event: &ReceivedEvent, draw: &DrawContext<'_>, width: u16) -> Vec<(String, Style, u16)> {
    let theme = draw.theme;
    let kind = event.subject.event.as_deref().map_or("–", |kind| kind.trim_start_matches("alert."));
    let (result, style) = match &event.receipt {
        Receipt::Accepted => ("✓ taken".to_owned(), theme.ok),
        Receipt::WrongCredential => ("! wrong credential".to_owned(), theme.danger),
        Receipt::WrongSignature => ("! wrong signature".to_owned(), theme.danger),
        Receipt::NotKept(why) => (format!("! not kept: {}", sanitize(why)), theme.danger),
    };
    let signed = if event.verified == Some(true) { "signature right" } else { "" };
    let forwarded = match &event.forwarding {
        Forwarding::Nowhere => (String::new(), theme.quiet),
        Forwarding::OnItsWay => ("forwarding…".to_owned(), theme.accent),
        Forwarding::Answered(status @ 200..300) => (format!("forwarded, {status}"), theme.ok),
        Forwarding::Answered(status) => (format!("not forwarded, {status}"), theme.danger),
        Forwarding::Failed(why) => (format!("not forwarded: {}", sanitize(why)), theme.danger),
    };
    let alert = event.subject.alert.as_deref().map(|alert| sanitize(alert).into_owned()).unwrap_or_default();
    let mut cells =
        vec![(moment(event.at, draw.now), draw.digits(), 12), (sanitize(kind).into_owned(), theme.plain, 8), (result, style, 18)];
    if width >= 100 {
        cells.push((alert, theme.quiet, 36));
    }
    cells.push((signed.to_owned(), theme.quiet, columns(signed)));
    cells.push((forwarded.0, forwarded.1, 0));
    cells
}
