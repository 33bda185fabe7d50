//! Draws the Webhooks screen: the endpoints with their health above, the deliveries below, and beside them the attempts
//! of one.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::log;
use super::state::{FilterPart, RowWindow, WebhooksPane, WebhooksScreen, WebhooksTarget};
use super::words::{AlertNames, EndpointNames, event, is_tried_again, outlook, short, standing};
use crate::console::screens::loading::{ListWords, has_rows};
use crate::console::text::{columns, count, counted, cut, cut_start, sanitize, wrap};
use crate::console::widgets::scrollbar;
use crate::console::{Action, DrawContext, Pen, times};
use crate::domain::{Delivery, DeliveryState, Endpoint, Timestamp};

/// Columns left of a row's text: the cursor's bar and a blank.
const GUTTER: u16 = 2;

/// From so many columns on the attempts stand beside the deliveries.
const WIDE: u16 = 110;

/// Columns that a delivery in full has at most beside the list.
const BESIDE: u16 = 70;

/// The most rows that endpoints are given, as a share of the screen.
const ENDPOINTS_SHARE: u16 = 4;

/// A column of a table: title, width, whether it is of numbers.
type Head = (&'static str, u16, bool);

/// Draws everything below the header and above the notes.
pub fn draw(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    screen.targets.clear();
    let inside = Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), ..area };
    if !screen.is_offered() {
        let said = [
            ("Webhooks are not available here.", draw.theme.strong),
            ("An avert engine shows them with an operator key: avert login --operator.", draw.theme.plain),
        ];
        say(&said, draw, buffer, inside);
        return;
    }
    if screen.page {
        log::draw(screen, draw, buffer, inside);
        return;
    }
    draw_title(screen, draw, buffer, inside);
    let endpoints = u16::try_from(screen.endpoint_rows().len()).unwrap_or(u16::MAX).max(1);
    let height = endpoints.min(area.height / ENDPOINTS_SHARE).max(1);
    let top = Rect { y: area.y + 2, height: height + 1, ..area }.intersection(area);
    draw_endpoints(screen, draw, buffer, top);
    let below = Rect { y: top.bottom() + 1, height: area.bottom().saturating_sub(top.bottom() + 1), ..area };
    if below.height < 3 {
        return;
    }
    if area.width < WIDE {
        draw_deliveries(screen, draw, buffer, below);
        return;
    }
    let list = Rect { width: (area.width * 11 / 20).max(WIDE / 2).max(area.width.saturating_sub(BESIDE)), ..below };
    draw_deliveries(screen, draw, buffer, list);
    for y in below.y..below.bottom() {
        buffer.set_stringn(list.right(), y, "│", 1, draw.theme.line);
    }
    let beside = Rect { x: list.right() + 2, width: below.right().saturating_sub(list.right() + 3), ..below };
    log::draw(screen, draw, buffer, beside);
}

/// Writes paragraphs, a blank line after each.
fn say(paragraphs: &[(&str, Style)], draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let mut y = area.y;
    for (text, style) in paragraphs {
        for line in wrap(text, area.width.min(100)) {
            if y < area.bottom() {
                Pen::new(buffer, Rect { y, height: 1, ..area }).put(&line, draw.theme.page.patch(*style));
            }
            y += 1;
        }
        y += 1;
    }
}

fn draw_title(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    let mut pen = Pen::new(buffer, Rect { height: 1, ..area });
    pen.put("Webhooks", theme.strong);
    pen.skip(3);
    if let Some(endpoints) = screen.endpoints.loaded() {
        let disabled = endpoints.iter().filter(|endpoint| endpoint.disabled.is_some()).count() as u64;
        let failing =
            endpoints.iter().filter(|endpoint| endpoint.disabled.is_none() && endpoint.failing_since.is_some()).count()
                as u64;
        pen.put(&counted(endpoints.len() as u64, "endpoint", "endpoints"), theme.quiet);
        if failing > 0 {
            pen.skip(3);
            pen.put_whole(&format!("{} failing", count(failing)), theme.danger);
        }
        if let Some(words) = given_up_words(screen.given_up_to(None)) {
            pen.skip(3);
            pen.put_whole(&words, theme.danger);
        }
        if disabled > 0 {
            pen.skip(3);
            pen.put_whole(&format!("{} disabled", count(disabled)), theme.warning);
        }
    }
    if screen.testing.is_some() {
        pen.skip(3);
        pen.put_whole("test sent, waiting…", theme.accent);
    }
    if let Some((since, error)) = screen.trouble().filter(|_| screen.endpoints.loaded().is_some()) {
        pen.skip(3);
        pen.put(
            &format!("▲ stale since {}: {}", draw.times.at(*since, draw.now), sanitize(&error.to_string())),
            theme.warning,
        );
    }
}

/// The titles of columns, one blank cell apart from the cursor's bar.
fn draw_heads(heads: &[(&str, u16, bool)], style: Style, buffer: &mut Buffer, area: Rect) {
    let mut pen =
        Pen::new(buffer, Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER), height: 1, ..area });
    for (title, width, right) in heads {
        let width = usize::from(*width);
        let title = cut(title, u16::try_from(width).unwrap_or(u16::MAX));
        pen.put(&if *right { format!("{title:>width$}") } else { format!("{title:<width$}") }, style);
        pen.skip(2);
    }
}

/// The cells of a row.
fn draw_cells(cells: &[(String, Style)], heads: &[Head], buffer: &mut Buffer, row: Rect) {
    let mut x = row.x + GUTTER;
    for ((text, style), (_, width, right)) in cells.iter().zip(heads) {
        let pad = if *right { width.saturating_sub(columns(text)) } else { 0 };
        let cell = Rect { x: x + pad, y: row.y, width: width.saturating_sub(pad), height: 1 };
        Pen::new(buffer, cell.intersection(row)).put(text, *style);
        x += width + 2;
    }
}

/// The first row that is shown, so that the cursor's is among them.
fn scroll(window: &RowWindow, cursor: usize, rows: usize, height: usize) -> usize {
    let top = window.get().0.clamp((cursor + 1).saturating_sub(height), cursor).min(rows.saturating_sub(height));
    window.set((top, height));
    top
}

/// The columns of the endpoints, whose addresses have at most so many columns, and so many what is said of their health
/// in so much room.
fn endpoint_heads(width: u16, widest: u16, health: impl Fn(u16) -> u16) -> Vec<Head> {
    let (known_by, signed, success) = (12, 6, 11);
    let others = known_by + signed + success + 2 * 4;
    let room = width.saturating_sub(GUTTER + 2 + others);
    if width < 100 {
        // What is wrong matters more than how it is known.
        let room = width.saturating_sub(GUTTER + 2 + success + 2 * 2);
        let state = health((room * 11 / 20).clamp(14, 40));
        return vec![
            ("ENDPOINT", room.saturating_sub(state), false),
            ("HEALTH", state, false),
            ("LAST SUCCESS", success, false),
        ];
    }
    let endpoint = widest.clamp(8, room.saturating_sub((room / 2).clamp(20, 72)).max(8));
    // The health stands last: what is wrong has all the room, and where nothing is there is no gap behind it.
    vec![
        ("ENDPOINT", endpoint, false),
        ("CREDENTIAL", known_by, false),
        ("SIGNED", signed, false),
        ("LAST SUCCESS", success, false),
        ("HEALTH", room.saturating_sub(endpoint), false),
    ]
}

fn draw_endpoints(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let place = Rect { x: body.x + GUTTER, width: body.width.saturating_sub(GUTTER + 1), ..body };
    let words = ListWords { name: "The endpoints", empty: "None yet: avert webhooks add URL" };
    if !has_rows(&screen.endpoints, Vec::is_empty, &words, draw, buffer, place) {
        return;
    }
    let rows = screen.endpoint_rows();
    let widest = rows.iter().map(|endpoint| columns(&sanitize(&endpoint.url.to_string()))).max().unwrap_or(0);
    let said = |room: u16| {
        let all = rows.iter().map(|endpoint| columns(&health(endpoint, screen, draw, room).0));
        all.fold(columns("HEALTH"), u16::max).min(room)
    };
    let heads = endpoint_heads(area.width, widest, said);
    draw_heads(&heads, theme.quiet, buffer, area);
    let (height, cursor) = (usize::from(body.height).max(1), screen.endpoint_row());
    let top = scroll(&screen.endpoint_window, cursor, rows.len(), height);
    for ((index, endpoint), y) in rows.iter().enumerate().skip(top).zip(body.y..body.bottom()) {
        let row = Rect { y, height: 1, width: body.width.saturating_sub(2), ..body };
        mark(index == cursor, screen.pane == WebhooksPane::Endpoints, draw, buffer, row);
        screen.targets.push(row, WebhooksTarget::Endpoint(index));
        let room = heads.iter().find(|(title, ..)| *title == "HEALTH").map_or(0, |(_, width, _)| *width);
        let (health, style) = health(endpoint, screen, draw, room);
        let style = if endpoint.disabled.is_some() { theme.quiet } else { style.of(draw) };
        let taken = endpoint.last_success.map_or_else(|| "never".to_owned(), |at| times::ago(at, draw.now));
        let cells = heads.iter().map(|(title, ..)| match *title {
            "ENDPOINT" => {
                let url = endpoint.url.to_string();
                // Where there is little room, what tells one from another has it.
                let shown = if heads.len() < 5 { short(&url) } else { &url };
                (sanitize(shown).into_owned(), if endpoint.disabled.is_some() { theme.quiet } else { theme.plain })
            }
            "CREDENTIAL" => (sanitize(&endpoint.auth).into_owned(), theme.quiet),
            "SIGNED" => (if endpoint.signed { "yes" } else { "no" }.to_owned(), theme.quiet),
            "HEALTH" => (health.clone(), style),
            _ => (taken.clone(), if endpoint.last_success.is_some() { theme.plain } else { theme.quiet }),
        });
        draw_cells(&cells.collect::<Vec<_>>(), &heads, buffer, row);
    }
    if rows.len() > height {
        let bar = Rect { x: body.right().saturating_sub(1), width: 1, ..body };
        scrollbar::draw(theme, buffer, bar, top as u64, rows.len() as u64);
    }
}

/// The cursor's row: where the keys go it is marked, elsewhere its bar alone is left.
fn mark(is_cursor: bool, has_keys: bool, draw: &DrawContext<'_>, buffer: &mut Buffer, row: Rect) {
    if is_cursor && has_keys {
        draw.theme.mark_row(buffer, row);
    } else if is_cursor {
        Pen::new(buffer, Rect { width: 1, ..row }).put("▏", draw.theme.quiet);
    }
}

/// How well an endpoint is.
enum Health {
    Well,
    Unknown,
    Bad,
}

impl Health {
    fn of(&self, draw: &DrawContext<'_>) -> Style {
        match self {
            Self::Well => draw.theme.ok,
            Self::Unknown => draw.theme.plain,
            Self::Bad => draw.theme.danger,
        }
    }
}

/// `4 given up`, `100+ given up`; nothing where none was, or it is not known.
fn given_up_words(known: Option<(u64, bool)>) -> Option<String> {
    let (given_up, more) = known.filter(|(given_up, _)| *given_up > 0)?;
    Some(format!("{}{} failed", count(given_up), if more { "+" } else { "" }))
}

/// `▲ failing for 2 h 10 min`, `– disabled 3 d ago: by the operator`, `● takes what comes`, `▲ 2 given up`: in as many
/// words as have room.
fn health(endpoint: &Endpoint, screen: &WebhooksScreen, draw: &DrawContext<'_>, room: u16) -> (String, Health) {
    let now = draw.now;
    if let Some((at, reason)) = &endpoint.disabled {
        return (format!("– disabled {}: {}", times::ago(*at, now), sanitize(reason)), Health::Bad);
    }
    let given_up = given_up_words(screen.given_up_to(Some(endpoint.id)));
    let fitting =
        |ways: &[String]| ways.iter().find(|words| columns(words) <= room).or(ways.last()).cloned().unwrap_or_default();
    match (endpoint.failing_since, endpoint.last_success, given_up) {
        (Some(since), _, None) => {
            let since = times::short(now - since);
            (
                fitting(&[format!("▲ failing for {since}"), format!("▲ failing {since}"), "▲ failing".to_owned()]),
                Health::Bad,
            )
        }
        (Some(since), _, Some(given_up)) => {
            let since = times::short(now - since);
            let failing = format!("▲ failing for {since}, {given_up}");
            let ways = [failing, format!("▲ failing {since}, {given_up}"), format!("▲ failing, {given_up}")];
            (fitting(&ways), Health::Bad)
        }
        (None, _, Some(given_up)) => (format!("▲ {given_up}"), Health::Bad),
        // Whether all of it was taken is not known before what was given up is.
        (None, Some(_), None) if screen.given_up.loaded().is_none() => ("· healthy".to_owned(), Health::Unknown),
        (None, Some(_), None) => ("● healthy".to_owned(), Health::Well),
        (None, None, None) => ("· nothing sent yet".to_owned(), Health::Unknown),
    }
}

fn draw_deliveries(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    draw_filter(
        screen,
        draw,
        buffer,
        Rect { x: area.x + GUTTER, width: area.width.saturating_sub(GUTTER + 1), height: 1, ..area },
    );
    let table = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    let body = Rect { y: table.y + 1, height: table.height.saturating_sub(1), ..table };
    let place = Rect { x: body.x + GUTTER, width: body.width.saturating_sub(GUTTER + 1), ..body };
    let empty = match screen.is_filtered() {
        true => format!("No match. {} shows all again.", draw.key(Action::Back)),
        false => "Nothing sent yet. New and answered alerts are sent.".to_owned(),
    };
    let words = ListWords { name: "The deliveries", empty: &empty };
    if !has_rows(&screen.deliveries, |page| page.data.is_empty(), &words, draw, buffer, place) {
        return;
    }
    let rows = screen.delivery_rows();
    let names = EndpointNames::of(rows.iter().map(|delivery| delivery.url.as_str()), area.width >= SEPARATE);
    let widest = rows.iter().map(|delivery| columns(names.name(&delivery.url))).max().unwrap_or(0);
    let times = rows.iter().map(|delivery| columns(&draw.times.row(delivery.at, draw.now))).max().unwrap_or(0);
    let called = AlertNames::ALL.map(|names| {
        (names, rows.iter().map(|delivery| columns(&names.name(delivery, draw.known))).max().unwrap_or(0))
    });
    let results = rows.iter().map(|delivery| columns(&outlook(delivery, u16::MAX, draw.now))).max().unwrap_or(0);
    let (alerts, heads) = delivery_heads(area.width, times, widest, results, called);
    let endpoint = heads.iter().find(|(title, ..)| *title == "ENDPOINT").map_or(0, |(_, width, _)| *width);
    let is_told = names.tells_within(rows.iter().map(|delivery| delivery.url.as_str()), endpoint);
    draw_heads(&heads, theme.quiet, buffer, table);
    let (height, cursor) = (usize::from(body.height).max(1), screen.delivery_row());
    let top = scroll(&screen.delivery_window, cursor, rows.len(), height);
    for ((index, delivery), y) in rows.iter().enumerate().skip(top).zip(body.y..body.bottom()) {
        let row = Rect { y, height: 1, width: body.width.saturating_sub(2), ..body };
        mark(index == cursor, screen.pane == WebhooksPane::Deliveries, draw, buffer, row);
        screen.targets.push(row, WebhooksTarget::Delivery(index));
        let named = names.name(&delivery.url);
        let named = if is_told { named.into() } else { cut_start(named, endpoint) };
        draw_cells(&delivery_cells(delivery, &heads, (alerts, &named), draw), &heads, buffer, row);
    }
    let known = rows.len() as u64 + u64::from(screen.has_more());
    if rows.len() > height {
        let bar = Rect { x: body.right().saturating_sub(1), width: 1, ..body };
        scrollbar::draw(theme, buffer, bar, top as u64, known);
    }
}

/// What is shown: `Deliveries`, how many are known, and a chip for each part of the filter.
fn draw_filter(screen: &WebhooksScreen, draw: &DrawContext<'_>, buffer: &mut Buffer, line: Rect) {
    let theme = draw.theme;
    let mut pen = Pen::new(buffer, line);
    pen.put("Deliveries", theme.strong);
    pen.skip(2);
    let rows = screen.delivery_rows();
    if !rows.is_empty() {
        let known = count(rows.len() as u64);
        pen.put_whole(&if screen.has_more() { format!("{known} newest") } else { known }, theme.quiet);
        pen.skip(2);
    }
    let chips = chips(screen, draw);
    for (index, (part, text)) in chips.iter().enumerate() {
        let text = format!("{text} ✕");
        let behind = if index + 1 < chips.len() { 4 } else { 0 };
        if columns(&text) + behind > pen.room() {
            pen.put_whole(&format!("+{}", chips.len() - index), theme.accent);
            break;
        }
        screen.targets.push(pen.put(&text, theme.accent), WebhooksTarget::Chip(*part));
        pen.skip(2);
    }
    if !screen.is_filtered() {
        let note = |area, action| screen.targets.push(area, WebhooksTarget::Do(action));
        draw.put_actions(&mut pen, &[Action::DeliveryFilter], note);
    }
}

fn chips(screen: &WebhooksScreen, draw: &DrawContext<'_>) -> Vec<(FilterPart, String)> {
    let filter = &screen.filter;
    let states: Vec<_> = filter.states.iter().map(|state| draw.delivery_state(*state).1).collect();
    let host = |id| {
        let endpoint = screen.known(id).map(|endpoint| short(&endpoint.url.to_string()).to_owned());
        sanitize(&endpoint.unwrap_or_else(|| "a removed endpoint".to_owned())).into_owned()
    };
    let moment = |word: &str, at: Timestamp| format!("{word} {}", at.format("%Y-%m-%d %H:%M"));
    [
        (FilterPart::States, (!states.is_empty()).then(|| states.join(", "))),
        (FilterPart::Endpoint, filter.endpoint.map(host)),
        (FilterPart::From, filter.from.map(|at| moment("from", at))),
        (FilterPart::Until, filter.until.map(|at| moment("until", at))),
    ]
    .into_iter()
    .filter_map(|(part, text)| Some((part, text?)))
    .collect()
}

/// Columns that say when a delivery is tried next and what came of it: `in 13 min, no answer within 15 s`.
const RESULT: u16 = 32;
const LEAST_RESULT: u16 = 24;
const RESULT_TITLE: u16 = 12;

/// From so many columns on state, tries and result have a column each; below they share one.
const SEPARATE: u16 = 90;

/// Below so many columns the end of an address has to do.
const SMALL: u16 = 60;

/// Columns of that one: `↻ 503, in 13 min`.
const TOGETHER: u16 = 17;

/// Columns of an alert's id at least, cut to its end.
const ALERT: u16 = 6;

/// The columns of the deliveries, whose times and endpoints have at most so many columns: what tells one from the other
/// comes first. And what alerts are called there: by the most that leaves endpoint and result their room, each way with
/// how many columns it takes.
fn delivery_heads(
    width: u16,
    times: u16,
    endpoints: u16,
    results: u16,
    called: [(AlertNames, u16); 3],
) -> (AlertNames, Vec<Head>) {
    let room = width.saturating_sub(GUTTER + 2);
    let is_separate = room >= SEPARATE;
    let mut behind: Vec<Head> = if is_separate { vec![("STATE", 12, false), ("TRIES", 5, true)] } else { Vec::new() };
    let least_together = if room < SMALL { 8 } else { 12 };
    let (least, wanted) =
        if is_separate { (16, results.clamp(RESULT_TITLE, RESULT)) } else { (least_together, TOGETHER) };
    let others = times + 2 + 8 + 2 + 2 + behind.iter().map(|(_, width, _)| width + 2).sum::<u16>();
    // With a column of its own the result may be cut, and so may an address.
    let behind_it = if is_separate { least + 2 + LEAST_RESULT } else { endpoints.clamp(least, 44) + 2 + wanted };
    let fits = |(_, alert): &(AlertNames, u16)| others + alert + behind_it <= room;
    let (names, alert) = called.into_iter().find(fits).unwrap_or((AlertNames::End, ALERT));
    let mut heads: Vec<Head> = vec![("WHEN", times, false), ("EVENT", 8, false), ("ALERT", alert.max(ALERT), false)];
    let taken: u16 = heads.iter().chain(&behind).map(|(_, width, _)| width + 2).sum();
    let rest = room.saturating_sub(taken);
    let share = if room < SMALL { least } else { rest * 2 / 5 };
    let endpoint = share.max(rest.saturating_sub(wanted + 2)).min(endpoints.clamp(least, 44));
    heads.push(("ENDPOINT", endpoint, false));
    behind.push((if is_separate { "NEXT, RESULT" } else { "STATE" }, rest.saturating_sub(endpoint + 2), false));
    heads.extend(behind);
    (names, heads)
}

fn delivery_cells(
    delivery: &Delivery,
    heads: &[Head],
    (alerts, endpoint): (AlertNames, &str),
    draw: &DrawContext<'_>,
) -> Vec<(String, Style)> {
    let theme = draw.theme;
    let (sign, word, style) = match draw.delivery_state(delivery.state) {
        // What went well is no news.
        (sign, word, _) if delivery.state == DeliveryState::Delivered => (sign, word, theme.quiet),
        (_, word, _) if is_tried_again(delivery) => ("↻", word, theme.warning),
        told => told,
    };
    let is_separate = heads.iter().any(|(title, ..)| *title == "TRIES");
    let cells = heads.iter().map(|(title, width, _)| match *title {
        "WHEN" => (draw.times.row(delivery.at, draw.now), draw.digits()),
        "EVENT" => (event(delivery), theme.plain),
        "ALERT" => (alerts.name(delivery, draw.known), theme.plain),
        "ENDPOINT" => (sanitize(endpoint).into_owned(), theme.quiet),
        "STATE" if is_separate => (format!("{sign} {word}"), style),
        "STATE" => (format!("{sign} {}", standing(delivery, word, width.saturating_sub(2), draw.now)), style),
        "TRIES" => (delivery.attempts.to_string(), theme.plain),
        _ => (outlook(delivery, *width, draw.now), if is_tried_again(delivery) { theme.warning } else { theme.quiet }),
    });
    cells.collect()
}
