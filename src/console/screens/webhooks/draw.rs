//! Draws the Webhooks screen: the endpoints with their health above, the sources, the deliveries below, and beside them
//! every attempt of one.

use std::iter::repeat;

use ratatui::{
    buffer::Buffer,
    layout::{Constraint, Layout, Margin, Rect},
    style::Style,
    text::{Line, Span, Text},
    widgets::Widget,
};

use super::state::{WebhooksPane, WebhooksScreen};
use crate::{
    AppContext, Loadable, Pen,
    domain::{Delivery, DeliveryAttempt, DeliveryLog, DeliveryState, Endpoint, sanitize::lines, source::SourceStatus},
    pen::put_lines,
    screens::{
        activity::rows::alert_name,
        loading::{has_rows, say_absent},
    },
    text::{count, indented_json, sanitize, wrap_indented},
    times,
    ui::{
        areas::{BESIDE, FILL, inset, stacked},
        sheet::Sheet,
        table::{self, DataTable, TableColumn},
    },
};

/// Columns left and right of a text.
const MARGIN: u16 = 2;

/// The most columns of the attempts beside the deliveries, and the fewest of the deliveries beside them.
const ATTEMPTS: u16 = 62;
const LIST: u16 = 66;

/// The most rows that endpoints are given, as a share of the screen.
const ENDPOINTS_SHARE: u16 = 4;

/// Draws everything below the header and above the notes.
pub fn draw(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    screen.targets.clear();
    if !screen.offered {
        let inside = area.inner(Margin::new(MARGIN, 0));
        let mut sheet = Sheet::new(&cx.theme, inside.width);
        say_absent("Webhooks", &mut sheet);
        return Text::from(sheet.lines).render(inside, buffer);
    }
    if screen.page {
        return draw_delivery(screen, cx, buffer, inset(area, MARGIN, MARGIN + 1));
    }
    let endpoints = u16::try_from(screen.endpoint_rows().len()).unwrap_or(u16::MAX);
    let shown = endpoints.min(area.height / ENDPOINTS_SHARE).max(1);
    let sources = u16::try_from(screen.source_rows().len()).unwrap_or(u16::MAX).min(area.height / ENDPOINTS_SHARE);
    let rows = if sources == 0 { 0 } else { sources + 2 };
    let [title, _, top, _, middle, below] = stacked(area, [1, 1, shown + 1, 1, rows, FILL]);
    draw_title(screen, cx, buffer, title.inner(Margin::new(MARGIN, 0)));
    draw_endpoints(screen, cx, buffer, top);
    draw_sources(screen, cx, buffer, middle);
    if area.width < BESIDE {
        return draw_deliveries(screen, cx, buffer, below);
    }
    let columns = [Constraint::Min(LIST), Constraint::Length(1), Constraint::Max(ATTEMPTS)];
    let [list, line, beside] = Layout::horizontal(columns).areas(below);
    draw_deliveries(screen, cx, buffer, list);
    put_lines(buffer, line, repeat(("│", cx.theme.line)));
    draw_delivery(screen, cx, buffer, inset(beside, 1, 2));
}

fn draw_title(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let mut pen = Pen::new(buffer, line);
    pen.put("Webhooks", theme.strong);
    pen.skip(3);
    let stale = screen.endpoints.stale_words(cx).or_else(|| screen.deliveries.stale_words(cx));
    match stale {
        Some(words) => pen.put(&words, theme.warning),
        None => pen.put(if screen.testing.is_some() { "test sent, waiting…" } else { "" }, theme.accent),
    };
}

fn draw_endpoints(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let theme = &cx.theme;
    let words = ["The endpoints", "None yet: avert webhooks add URL"];
    let below = area.inner(Margin::new(MARGIN, 0));
    let mut sheet = Sheet::new(theme, below.width);
    if !has_rows(&screen.endpoints.data, Vec::is_empty, words, cx, &mut sheet) {
        return Text::from(sheet.lines).render(below, buffer);
    }
    let rows = screen.endpoint_rows();
    let quiet_if_off = |endpoint: &Endpoint, style| if endpoint.disabled.is_some() { theme.quiet } else { style };
    let address = move |endpoint: &Endpoint, _| {
        let url = endpoint.url.to_string();
        Span::styled(sanitize(short(&url)).into_owned(), quiet_if_off(endpoint, theme.plain))
    };
    let taken = |endpoint: &Endpoint, _| match endpoint.last_success {
        Some(at) => Span::styled(times::ago(at, cx.now), theme.plain),
        None => Span::styled("never", theme.quiet),
    };
    let health = |endpoint: &Endpoint, _| {
        let (words, style) = health(endpoint, screen, cx);
        Span::styled(words, quiet_if_off(endpoint, style))
    };
    let credential = |endpoint: &Endpoint, _| Span::styled(sanitize(&endpoint.auth).into_owned(), theme.quiet);
    let signed = |endpoint: &Endpoint, _| Span::styled(if endpoint.signed { "yes" } else { "no" }, theme.quiet);
    let columns = vec![
        TableColumn::new("ENDPOINT", address).min(16).rank(4),
        TableColumn::new("CREDENTIAL", credential).rank(9),
        TableColumn::new("SIGNED", signed).rank(8),
        TableColumn::new("LAST SUCCESS", taken).rank(7),
        // The health stands last: what is wrong has all the room.
        TableColumn::new("HEALTH", health).min(16),
    ];
    let table = DataTable::of(columns, rows, table::room(area));
    let at = (screen.endpoint_row(), screen.pane == WebhooksPane::Endpoints);
    let note = |area, row| screen.targets.push(area, (WebhooksPane::Endpoints, row));
    screen.endpoint_list.draw((&table, rows), at, theme, buffer, area, note);
}

/// Draws the sources with what became of their events; nothing where there are none.
fn draw_sources(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let (theme, rows) = (&cx.theme, screen.source_rows());
    let [area, _] = stacked(area, [FILL, 1]);
    let quiet = |text: &str| Span::styled(sanitize(text).into_owned(), theme.quiet);
    let number = |of: u64, style| Span::styled(count(of), if of == 0 { theme.quiet } else { style });
    let received = |source: &SourceStatus, _| match source.last_received {
        Some(at) => Span::styled(times::ago(at, cx.now), theme.plain),
        None => quiet("never"),
    };
    let columns = vec![
        TableColumn::new("SOURCE", |source: &SourceStatus, _| {
            Span::styled(sanitize(&source.name).into_owned(), theme.plain)
        })
        .min(12),
        TableColumn::new("PRESET", move |source: &SourceStatus, _| {
            quiet(source.preset.as_deref().unwrap_or("own map"))
        })
        .rank(9),
        TableColumn::new("ANSWERS", move |source: &SourceStatus, _| {
            quiet(source.answers.map_or("not set up", |answers| answers.as_str()))
        })
        .rank(7),
        TableColumn::new("LAST RECEIVED", received).rank(8),
        TableColumn::new("MAPPED", move |source: &SourceStatus, _| number(source.mapped, theme.plain)).right(),
        TableColumn::new("UNMAPPED", move |source: &SourceStatus, _| number(source.unmapped, theme.danger)).right(),
        TableColumn::new("IGNORED", move |source: &SourceStatus, _| number(source.ignored, theme.plain))
            .right()
            .rank(9),
        TableColumn::new("REJECTED", move |source: &SourceStatus, _| number(source.rejected, theme.warning)).right(),
    ];
    let table = DataTable::of(columns, rows, table::room(area));
    let at = (screen.source_row(), screen.pane == WebhooksPane::Sources);
    let note = |area, row| screen.targets.push(area, (WebhooksPane::Sources, row));
    screen.source_list.draw((&table, rows), at, theme, buffer, area, note);
}

/// The health of an endpoint in words: `▲ failing for 2h10, 4 failed`, `– disabled 3d ago: by the operator`.
fn health(endpoint: &Endpoint, screen: &WebhooksScreen, cx: &AppContext) -> (String, Style) {
    let (theme, now) = (&cx.theme, cx.now);
    if let Some((at, reason)) = &endpoint.disabled {
        return (format!("– disabled {}: {}", times::ago(*at, now), sanitize(reason)), theme.danger);
    }
    let failing = endpoint.failing_since.map(|since| format!("failing for {}", times::short(now - since)));
    let bad = failing.into_iter().chain(screen.failed_words(endpoint.id)).collect::<Vec<_>>().join(", ");
    match endpoint.last_success {
        _ if !bad.is_empty() => (format!("▲ {bad}"), theme.danger),
        // Whether all of it was taken is not known before the deliveries are.
        Some(_) if screen.deliveries.loaded().is_none() => ("· healthy".to_owned(), theme.plain),
        Some(_) => ("● healthy".to_owned(), theme.ok),
        None => ("· nothing sent yet".to_owned(), theme.plain),
    }
}

fn draw_deliveries(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let theme = &cx.theme;
    let [line, table] = stacked(area, [1, FILL]);
    let line = line.inner(Margin::new(MARGIN, 0));
    draw_heading(screen, cx, buffer, line);
    let words = ["The deliveries", "Nothing sent yet. New and answered alerts are sent."];
    let below = table.inner(Margin::new(MARGIN, 1));
    let mut sheet = Sheet::new(theme, below.width);
    if !has_rows(&screen.deliveries.data, |page| page.data.is_empty(), words, cx, &mut sheet) {
        return Text::from(sheet.lines).render(below, buffer);
    }
    let rows = screen.delivery_rows();
    let endpoint = |delivery: &Delivery, _| Span::styled(sanitize(short(&delivery.url)).into_owned(), theme.quiet);
    let state = |delivery: &Delivery, _| {
        let (sign, word, style) = match cx.delivery_state(delivery.state) {
            // What went well is no news.
            (sign, word, _) if delivery.state == DeliveryState::Delivered => (sign, word, theme.quiet),
            (_, word, _) if is_tried_again(delivery) => ("↻", word, theme.warning),
            told => told,
        };
        Span::styled(format!("{sign} {word}"), style)
    };
    let result = |delivery: &Delivery, _| {
        let style = if is_tried_again(delivery) { theme.warning } else { theme.quiet };
        Span::styled(outlook(delivery, cx).collect::<Vec<_>>().join(", "), style)
    };
    let plain = |text: String| Span::styled(text, theme.plain);
    let alert = |delivery: &Delivery, _| {
        plain(delivery.subject().map_or_else(|| "–".to_owned(), |alert| alert_name(alert, cx)))
    };
    let columns = vec![
        TableColumn::new("WHEN", |delivery: &Delivery, _| {
            Span::styled(cx.times().row(delivery.at, cx.now), cx.digits())
        }),
        TableColumn::new("EVENT", |delivery: &Delivery, _| plain(event(delivery))).reserve(8),
        TableColumn::new("ALERT", alert).min(13).rank(6),
        TableColumn::new("ENDPOINT", endpoint).min(15).rank(7),
        TableColumn::new("STATE", state),
        TableColumn::new("TRIES", |delivery: &Delivery, _| plain(delivery.attempts.to_string())).right().rank(9),
        TableColumn::new("RESULT", result).min(10).rank(8),
    ];
    let at = (screen.delivery_row(), screen.pane == WebhooksPane::Deliveries);
    let note = |area, row| screen.targets.push(area, (WebhooksPane::Deliveries, row));
    let data = DataTable::of(columns, rows, table::room(table));
    screen.delivery_list.draw((&data, rows), at, theme, buffer, table, note);
}

/// Heading of the deliveries, with their number.
fn draw_heading(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
    let theme = &cx.theme;
    let more = if screen.has_more() { "+" } else { "" };
    let mut pen = Pen::new(buffer, line);
    pen.put("Deliveries", theme.strong);
    pen.skip(2);
    pen.put(&format!("{}{more}", count(screen.delivery_rows().len() as u64)), theme.quiet);
}

/// An address without its scheme.
fn short(url: &str) -> &str {
    url.split_once("://").map_or(url, |(_, rest)| rest).trim_end_matches('/')
}

/// Returns true where it was tried in vain, and will be again.
fn is_tried_again(delivery: &Delivery) -> bool {
    delivery.state == DeliveryState::Pending && delivery.last_result.is_some()
}

/// Words for the next attempt and the result of the last one: `in 2m`, `503`.
pub fn outlook(delivery: &Delivery, cx: &AppContext) -> impl Iterator<Item = String> {
    let next = delivery.due.map(|due| times::until(due, cx.now));
    let result = delivery.last_result.as_ref().map(|result| sanitize(result).into_owned());
    next.into_iter().chain(result)
}

/// Draws what is known of the delivery under the cursor, scrolled as it was left.
fn draw_delivery(screen: &WebhooksScreen, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let Some(delivery) = screen.delivery().filter(|_| !area.is_empty()) else { return };
    let mut sheet = Sheet::new(&cx.theme, area.width);
    put_head(delivery, cx, &mut sheet);
    match screen.log() {
        Some(Loadable::Loaded(log)) => put_log(log, delivery, cx, &mut sheet),
        Some(Loadable::Failed(error)) => {
            sheet.say(&format!("Its attempts cannot be shown: {error}"), cx.theme.danger);
        }
        Some(Loadable::Loading | Loadable::NotAsked) | None => sheet.say("Loading its attempts…", cx.theme.quiet),
    }
    screen.scroll.draw(&sheet.lines, &cx.theme, buffer, area);
}

fn put_head(delivery: &Delivery, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let (theme, times, now) = (&cx.theme, cx.times(), cx.now);
    let (sign, word, style) = cx.delivery_state(delivery.state);
    let title = if delivery.test { "test event".into() } else { sanitize(delivery.kind.as_str()) };
    sheet.title(&title, &format!("{sign} {word}"), style);
    sheet.fact("to", &delivery.url, theme.plain);
    if let Some(alert) = delivery.subject() {
        let named = cx.known.get(alert).map(|alert| format!("{} {}", alert.provider, alert.provider_id));
        sheet.fact("network id", &named.unwrap_or_default(), theme.plain);
        sheet.fact("avert id", &alert.to_string(), theme.quiet);
    }
    sheet.fact("event", &times.since(delivery.at, now), theme.plain);
    sheet.fact("event id", &delivery.event.to_string(), theme.quiet);
    let next = delivery.due.map(|due| format!("{}, {}", times::until(due, now), times.at(due, now)));
    sheet.fact("next attempt", &next.unwrap_or_default(), theme.warning);
    let taken = delivery.delivered_at.map(|at| times.since(at, now));
    sheet.fact("delivered", &taken.unwrap_or_default(), theme.plain);
}

fn put_log(log: &DeliveryLog, delivery: &Delivery, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let theme = &cx.theme;
    if log.attempts.is_empty() {
        let words = if delivery.attempts == 0 { "No attempt yet." } else { "Its attempts are pruned." };
        sheet.say(words, theme.quiet);
    }
    // The last one matters most.
    for attempt in log.attempts.iter().rev() {
        put_attempt(attempt, cx, sheet);
    }
    sheet.title("BODY", "", theme.quiet);
    let body = wrap_indented(&lines(&indented_json(&log.body)), sheet.width);
    sheet.lines.extend(body.into_iter().map(|line| Line::styled(line, theme.plain)));
}

fn put_attempt(attempt: &DeliveryAttempt, cx: &AppContext, sheet: &mut Sheet<'_>) {
    let theme = &cx.theme;
    let (result, style) = match (attempt.status, &attempt.error) {
        (_, Some(error)) => (error.clone(), theme.danger),
        (Some(status @ 200..300), None) => (status.to_string(), theme.ok),
        (Some(status), None) => (status.to_string(), theme.danger),
        (None, None) => ("unknown".to_owned(), theme.quiet),
    };
    let when = format!("{}  {} ms", cx.times().row(attempt.started_at, cx.now), attempt.duration_ms);
    sheet.title(&format!("Attempt {}", attempt.number), &when, theme.quiet);
    sheet.fact("  result", &result, style);
    if let Some(sent) = &attempt.sent {
        sheet.fact("  POST", &sent.url, theme.plain);
        for (name, value) in &sent.headers {
            sheet.fact("", &format!("{name}: {value}"), theme.quiet);
        }
    }
    sheet.fact("  answer", &attempt.answer, theme.plain);
}

/// `created`, `resolved`, `test`.
fn event(delivery: &Delivery) -> String {
    let kind = if delivery.test { "test" } else { delivery.kind.as_str().trim_start_matches("alert.") };
    sanitize(kind).into_owned()
}
