//! Draws a delivery with every attempt: what was sent, what came back, how long it took, and what follows.

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    text::{Line, Span},
};

use super::state::WebhooksScreen;
use crate::{
    DrawContext, Loadable,
    domain::{Delivery, DeliveryAttempt, DeliveryLog, sanitize::lines},
    screens::facts::FactSheet,
    text::{indented_json, sanitize, wrap_indented},
    times,
};

/// Draws what is known of the delivery under the cursor, scrolled as it was left.
pub fn draw(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let Some(delivery) = screen.delivery().filter(|_| !area.is_empty()) else { return };
    let mut sheet = FactSheet::new(draw.theme, area.width);
    put_head(delivery, draw, &mut sheet);
    match screen.log() {
        Some(Loadable::Loaded(log)) => put_log(log, delivery, draw, &mut sheet),
        Some(Loadable::Failed(error)) => {
            sheet.say(&format!("Its attempts cannot be shown: {error}"), draw.theme.danger);
        }
        Some(Loadable::Loading | Loadable::NotAsked) | None => sheet.say("Loading its attempts…", draw.theme.quiet),
    }
    screen.scroll.draw(&sheet.lines, draw.theme, buffer, area);
}

fn put_head(delivery: &Delivery, draw: &DrawContext<'_>, sheet: &mut FactSheet<'_>) {
    let (theme, times, now) = (draw.theme, draw.times, draw.now);
    let (sign, word, style) = draw.delivery_state(delivery.state);
    let title = if delivery.test { "test event".to_owned() } else { format!("alert.{}", event(delivery)) };
    sheet.lines.push(Line::from(vec![
        Span::styled(title, theme.strong),
        Span::raw("   "),
        Span::styled(format!("{sign} {word}"), style),
    ]));
    sheet.fact("to", &delivery.url, theme.plain);
    if !delivery.test {
        let named = draw.known.get(delivery.alert).map(|alert| format!("{} {}", alert.provider, alert.provider_id));
        sheet.fact("network id", &named.unwrap_or_default(), theme.plain);
        sheet.fact("avert id", &delivery.alert.to_string(), theme.quiet);
    }
    let when = format!("{}, {}", times.minute(delivery.at), times::ago(delivery.at, now));
    sheet.fact("event", &when, theme.plain);
    sheet.fact("event id", &delivery.event.to_string(), theme.quiet);
    let next = delivery.due.map(|due| match due - now {
        left if left <= chrono::Duration::zero() => "now".to_owned(),
        left => format!("in {}, {}", times::short(left), times.at(due, now)),
    });
    sheet.fact("next attempt", &next.unwrap_or_default(), theme.warning);
    let taken = delivery.delivered_at.map(|at| format!("{}, {}", times.at(at, now), times::ago(at, now)));
    sheet.fact("taken", &taken.unwrap_or_default(), theme.plain);
    sheet.gap();
}

fn put_log(log: &DeliveryLog, delivery: &Delivery, draw: &DrawContext<'_>, sheet: &mut FactSheet<'_>) {
    let theme = draw.theme;
    if log.attempts.is_empty() {
        let words = if delivery.attempts == 0 { "No attempt yet." } else { "Its attempts are pruned." };
        sheet.say(words, theme.quiet);
        sheet.gap();
    }
    // The last one matters most.
    for attempt in log.attempts.iter().rev() {
        put_attempt(attempt, draw, sheet);
    }
    sheet.say("BODY", theme.quiet);
    let body = wrap_indented(&lines(&indented_json(&log.body)), sheet.width);
    sheet.lines.extend(body.into_iter().map(|line| Line::styled(line, theme.plain)));
}

fn put_attempt(attempt: &DeliveryAttempt, draw: &DrawContext<'_>, sheet: &mut FactSheet<'_>) {
    let theme = draw.theme;
    let (result, style) = match (attempt.status, &attempt.error) {
        (_, Some(error)) => (error.clone(), theme.danger),
        (Some(status @ 200..300), None) => (status.to_string(), theme.ok),
        (Some(status), None) => (status.to_string(), theme.danger),
        (None, None) => ("unknown".to_owned(), theme.quiet),
    };
    let when = format!("{}  {} ms", draw.times.row(attempt.started_at, draw.now), attempt.duration_ms);
    sheet.lines.push(Line::from(vec![
        Span::styled(format!("Attempt {}", attempt.number), theme.strong),
        Span::raw("   "),
        Span::styled(when, theme.quiet),
    ]));
    sheet.fact("  result", &result, style);
    if let Some(sent) = &attempt.sent {
        sheet.fact("  POST", &sent.url, theme.plain);
        for (name, value) in &sent.headers {
            sheet.fact("", &format!("{name}: {value}"), theme.quiet);
        }
    }
    sheet.fact("  answer", &attempt.answer, theme.plain);
    sheet.gap();
}

/// `created`, `resolved`, `test`.
pub(super) fn event(delivery: &Delivery) -> String {
    let kind = if delivery.test { "test" } else { delivery.kind.as_str().trim_start_matches("alert.") };
    sanitize(kind).into_owned()
}
