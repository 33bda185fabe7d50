//! Draws the local receiver: how it stands, what has to be reachable, and what came.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::receiver::{Listening, ReceiverRow, Replaying};
use super::state::{WebhooksPane, WebhooksScreen, WebhooksTarget};
use crate::console::text::{columns, count, cut, sanitize, wrap_to};
use crate::console::{Action, DrawContext, Pen};
use crate::domain::signing::SignatureFault;
use crate::domain::webhook::received::{Forwarding, Receipt, what_has_to_be_reachable};

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// From so many columns on there is room for ids and for when it began.
const WIDE: u16 = 100;

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
            // What was refused is never left out for it.
            if area.width >= WIDE {
                pen.put_whole(&format!(" since {}", draw.times.hour(*since)), theme.quiet);
            }
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
    if let Some(replaying) = &part.replaying {
        draw_replay(screen, replaying, draw, buffer, Rect { y, height: 1, ..inside }.intersection(area));
        y += 1;
    }
    if let Listening::At(address, _) = &part.listening
        && part.rows().len() < 2
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

/// `Sending again to http://127.0.0.1:9100/   12 sent, 1 not taken   p stops it`
fn draw_replay(
    screen: &WebhooksScreen,
    replaying: &Replaying,
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    line: Rect,
) {
    let theme = draw.theme;
    let Replaying { to, sent, taken, stopping } = replaying;
    let (sent, missed) = (format!("{} sent", count(*sent)), sent - taken);
    let missed = if missed > 0 { format!(", {} not taken", count(missed)) } else { String::new() };
    let stops =
        if *stopping { "is being stopped".to_owned() } else { format!("{} stops it", draw.key(Action::Replay)) };
    let mut pen = Pen::new(buffer, line);
    pen.put("Sending again", theme.accent);
    pen.put(" to ", theme.quiet);
    // The address gives way, the figures do not.
    let room = pen.room().saturating_sub(columns(&sent) + columns(&missed) + columns(&stops) + 6);
    pen.put(&cut(&sanitize(to), room), theme.plain);
    pen.skip(3);
    pen.put(&sent, theme.plain);
    pen.put(&missed, theme.danger);
    pen.skip(3);
    let area = pen.put(&stops, theme.quiet);
    if !stopping {
        screen.targets.push(area, WebhooksTarget::Do(Action::Replay));
    }
}

fn draw_events(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let (part, theme) = (&screen.receiver, draw.theme);
    let rows = part.rows().len();
    if rows == 0 {
        let line =
            Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER), height: 1, ..area }.intersection(area);
        let words = if part.listening == Listening::Off { "Nothing was sent yet." } else { "Nothing came yet." };
        Pen::new(buffer, line).put(words, theme.plain);
        return;
    }
    let (height, cursor) = (usize::from(area.height).max(1), part.row());
    let top = part.window.get().0.clamp((cursor + 1).saturating_sub(height), cursor).min(rows.saturating_sub(height));
    part.window.set((top, height));
    for ((index, shown), y) in part.rows().enumerate().skip(top).zip(area.y..area.bottom()) {
        let row = Rect { y, height: 1, width: area.width.saturating_sub(2), ..area };
        if index == cursor && screen.pane == WebhooksPane::Receiver {
            theme.mark_row(buffer, row);
        }
        screen.targets.push(row, WebhooksTarget::Event(index));
        let mut pen = Pen::new(buffer, Rect { x: row.x + GUTTER, width: row.width.saturating_sub(GUTTER), ..row });
        for (text, style, width) in cells(shown, draw, area.width) {
            pen.put(&text, style);
            pen.skip(width.saturating_sub(columns(&text)) + 2);
        }
    }
}

/// The cells of a row: text, style, width.
fn cells(row: &ReceiverRow, draw: &DrawContext<'_>, width: u16) -> Vec<(String, Style, u16)> {
    let theme = draw.theme;
    let subject = row.subject();
    let kind = subject.event.as_deref().map_or("–", |kind| kind.trim_start_matches("alert."));
    let alert = subject.alert.as_deref().map(|alert| sanitize(alert).into_owned()).unwrap_or_default();
    let (at, result, signed, sent_on) = match row {
        ReceiverRow::Received(event) => {
            let signed = if event.verified == Some(true) { "signature right" } else { "" };
            (event.at, receipt(&event.receipt, draw), signed, forwarding(&event.forwarding, draw))
        }
        ReceiverRow::Replayed(event) => {
            let answer = match &event.result {
                Ok(status) if event.is_taken() => (format!("taken, {status}"), theme.ok),
                Ok(status) => (format!("not taken, {status}"), theme.danger),
                Err(why) => (format!("not taken: {}", sanitize(why)), theme.danger),
            };
            (event.at, ("→ sent again".to_owned(), theme.accent), "", answer)
        }
    };
    let mut cells = vec![
        (draw.times.moment(at, draw.now), draw.digits(), 12),
        (sanitize(kind).into_owned(), theme.plain, 8),
        (result.0, result.1, 18),
    ];
    if width >= WIDE {
        cells.push((alert, theme.quiet, 36));
    }
    if !signed.is_empty() {
        cells.push((signed.to_owned(), theme.quiet, columns(signed)));
    }
    cells.push((sent_on.0, sent_on.1, 0));
    cells
}

fn receipt(receipt: &Receipt, draw: &DrawContext<'_>) -> (String, Style) {
    let theme = draw.theme;
    match receipt {
        Receipt::Accepted => ("✓ taken".to_owned(), theme.ok),
        Receipt::WrongCredential => ("! wrong credential".to_owned(), theme.danger),
        Receipt::NotVerified(SignatureFault::Wrong) => ("! wrong signature".to_owned(), theme.danger),
        Receipt::NotVerified(SignatureFault::Old | SignatureFault::Ahead) => ("! wrong time".to_owned(), theme.danger),
        Receipt::NotKept(why) => (format!("! not kept: {}", sanitize(why)), theme.danger),
    }
}

fn forwarding(forwarding: &Forwarding, draw: &DrawContext<'_>) -> (String, Style) {
    let theme = draw.theme;
    match forwarding {
        Forwarding::Nowhere => (String::new(), theme.quiet),
        Forwarding::OnItsWay => ("forwarding…".to_owned(), theme.accent),
        Forwarding::Answered(status @ 200..300) => (format!("forwarded, {status}"), theme.ok),
        Forwarding::Answered(status) => (format!("not forwarded, {status}"), theme.danger),
        Forwarding::Failed(why) => (format!("not forwarded: {}", sanitize(why)), theme.danger),
    }
}
