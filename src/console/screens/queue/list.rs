//! Draws the list: what is asked for, the titles, the visible rows, and what to do where there are none.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Constraint, Layout, Rect},
    style::Style,
    text::{Line, Span},
};

use super::{
    ListSign,
    columns::{BAR, Column, GUTTER, Placed, Regions},
    heading,
    listing::ListRow,
    state::{Queue, QueueTarget},
};
use crate::{
    Action, AppContext, Loadable, Pen,
    domain::{Alert, SortOrder, duplicate, query, redact::without_exchange},
    pen::put_middle,
    service::ServiceError,
    text::{self, capitalized, counted, sanitize},
    times::{self, Urgency},
    ui::{
        areas::inset,
        fit::{self, Segment},
        table,
    },
    widgets::scrollbar,
};

/// Draws everything of the list.
pub fn draw(queue: &Queue, cx: &AppContext, frame: &mut Frame<'_>) {
    let regions = queue.regions();
    heading::draw(queue, cx, frame.buffer_mut(), regions.title);
    draw_chips(queue, cx, frame, &regions);
    let placed = queue.placed_columns();
    if !queue.listing.window().is_empty() {
        draw_heads(queue, cx, frame.buffer_mut(), &regions, &placed);
    }
    draw_rows(queue, cx, frame.buffer_mut(), &regions, &placed);
    draw_left_above(queue, cx, frame.buffer_mut(), regions.rows);
    scrollbar::draw(&cx.theme, frame.buffer_mut(), regions.rows, queue.listing.top(), queue.listing.rows());
    if queue.listing.window().is_empty() {
        draw_empty(queue, cx, frame.buffer_mut(), regions.rows);
    }
}

/// A chip is cut to so many columns before it is left out.
const LEAST_CHIP: u16 = 6;
const LEAST_SEARCH: u16 = 12;

/// The ranks by which chips are cut, and by which they are left out.
const FIRST_CHIP: u8 = 100;
const LAST_CHIP: u8 = 1;

fn draw_chips(queue: &Queue, cx: &AppContext, frame: &mut Frame<'_>, regions: &Regions) {
    let theme = &cx.theme;
    let mut segments: Vec<Segment<QueueTarget>> = Vec::new();
    // What the list does not show is said before what it was asked for.
    segments.extend(queue.view_note().map(|note| Segment::new(0, note, theme.warning)));
    let of_view = query::chips(&queue.view.filter, queue.view.sort);
    let set = query::chips(queue.filter(), queue.sort()).into_iter().filter(|chip| !of_view.contains(chip));
    let (search, others): (Vec<_>, Vec<_>) = set.partition(|chip| chip.key == query::Key::Text);
    // What is searched for is the last to give way: it says why so few are listed.
    let chips = (1..).zip(others).chain(search.into_iter().map(|chip| (0, chip)));
    for (rank, chip) in chips {
        let style = if chip.set { theme.accent } else { theme.quiet };
        let gap = if segments.is_empty() { 0 } else { 2 };
        let shown = Segment::new(gap, sanitize(&chip.text), style);
        let shown = shown
            .cut_to(FIRST_CHIP + rank, if rank == 0 { LEAST_SEARCH } else { LEAST_CHIP })
            .or_none(LAST_CHIP + rank);
        segments.push(if chip.set { shown.target(QueueTarget::Chip(chip.key)) } else { shown });
    }
    // Where there is nothing at all there is nothing to search, filter or view.
    if queue.all != Loadable::Loaded(0) {
        let first = if segments.is_empty() { 0 } else { 4 };
        for (gap, action) in [(first, Action::Search), (3, Action::Filter), (3, Action::Views)] {
            let words = cx.settings.keymap.binding(action).map_or("", |binding| &binding.words);
            let key = Segment::new(gap, format!("{} {words}", cx.key(action)), theme.quiet).or_none(u8::MAX);
            segments.push(key.target(QueueTarget::Do(action)));
        }
    }
    fit::draw(&segments, frame.buffer_mut(), regions.chips, |area, target| queue.targets.push(area, target));
}

/// The titles of the columns, with the direction of the sort.
fn draw_heads(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, regions: &Regions, placed: &[Placed]) {
    let sort = queue.order();
    let arrow = if sort.order == SortOrder::Ascending { "▲" } else { "▼" };
    let heads = placed.iter().map(|Placed { column, x, width }| {
        let title = column.title();
        let head = match column.sort_field() == Some(sort.field) {
            true if text::columns(title) < *width => Span::styled(format!("{title}{arrow}"), cx.theme.accent),
            true => Span::styled(title, cx.theme.accent),
            false => Span::styled(title, cx.theme.quiet),
        };
        (*x, *width, column.is_right(), head)
    });
    buffer.set_line(regions.heads.x, regions.heads.y, &table::line_of(heads), regions.heads.width);
    for place in placed.iter().filter(|place| place.column.sort_field().is_some()) {
        queue.targets.push(place.within(regions.heads), QueueTarget::Title(place.column));
    }
}

fn draw_rows(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, regions: &Regions, placed: &[Placed]) {
    let listing = &queue.listing;
    let range = queue.range_rows();
    let coming = cx.known_decisions().refunds_unlisted(listing.alerts(), |id| listing.find(id));
    let in_sight = || listing.in_sight().filter(|alert| alert.outcome.is_none());
    let (refunded, answered): (Vec<_>, Vec<_>) =
        cx.known_decisions().here.landed().partition(|alert| alert.refund_is_likely());
    let warned = duplicate::with_duplicate_in(in_sight(), coming.iter().copied().chain(refunded));
    let paired = duplicate::with_duplicate_in(in_sight(), answered);
    let rows: Vec<Rect> = inset(regions.rows, 0, BAR).rows().collect();
    for (line, index) in listing.window() {
        let row = rows[usize::from(line)];
        if index == listing.cursor() {
            cx.theme.mark_row(buffer, row);
        }
        queue.targets.push(row, QueueTarget::Row(index));
        // The sign stands left of the cells.
        let area = inset(row, GUTTER - 1, 0);
        let Some(alert) = listing.row(index).alert() else {
            buffer.set_stringn(area.x + 6, area.y, "·", 1, cx.theme.quiet);
            continue;
        };
        let stand = match listing.row(index) {
            ListRow::Gone(_) => Stand::Gone,
            _ if is_aside(queue, alert, cx) => Stand::Gone,
            _ if index == listing.cursor() => Stand::Cursor,
            _ => Stand::Row,
        };
        // What is answered together is seen whatever else there is to say of it.
        let in_range = range.is_some_and(|(first, rows)| (first..first + rows).contains(&index));
        let is_marked = in_range || queue.marked.contains(alert.id);
        let sign = if is_marked { Some(ListSign::Marked) } else { decision_sign(alert, cx) };
        // A refund that is on its way or was recorded here warns as one does that is listed.
        let duplicate = match warned.contains(&alert.id) {
            true => Some(true),
            false => queue.duplicate(alert.id).or(paired.contains(&alert.id).then_some(false)),
        };
        let flag = flag(alert, duplicate, queue, cx);
        buffer.set_line(area.x, area.y, &row_line(alert, stand, [sign, flag], cx, placed), area.width);
    }
}

/// Returns true where an alert is snoozed, or has its outcome though the list shows none.
fn is_aside(queue: &Queue, alert: &Alert, cx: &AppContext) -> bool {
    let is_snoozed = queue.listing.chosen().is_none() && cx.snoozes.until(alert.id).is_some();
    is_snoozed && alert.outcome.is_none() || cx.list_behind(alert).is_some()
}

/// Says in the line over the first row why there is none: the cursor's row keeps its line while rows above it leave.
fn draw_left_above(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, rows: Rect) {
    let listing = &queue.listing;
    let last = listing.lead().checked_sub(1).and_then(|line| usize::try_from(line).ok());
    let Some(area) = last.and_then(|line| inset(rows, GUTTER, BAR).rows().nth(line)) else { return };
    let words = format!("{} no longer listed", counted(listing.lead(), "alert", "alerts"));
    Pen::new(buffer, area).put(&words, cx.theme.quiet);
}

/// How a row stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    /// Under the cursor: as bright as what decides, all of it alike.
    Cursor,
    Row,
    /// No longer in the list, or put aside.
    Gone,
}

/// A row: its sign, its cells, and its flag right of the time left.
fn row_line(
    alert: &Alert,
    stand: Stand,
    [sign, flag]: [Option<ListSign>; 2],
    cx: &AppContext,
    placed: &[Placed],
) -> Line<'static> {
    let urgency = times::left(alert, cx.now).urgency;
    let signed = |sign: ListSign| {
        let (sign, style) = sign.drawn(&cx.theme);
        Span::styled(sign, style)
    };
    let mut cells: Vec<(u16, u16, bool, Span<'_>)> = sign.into_iter().map(|sign| (0, 1, false, signed(sign))).collect();
    for Placed { column, x, width } in placed {
        let text = column.text(alert, *width, cx.times(), cx.now);
        let style = cell_style(*column, stand, urgency, cx);
        cells.push((x + 1, *width, column.is_right(), Span::styled(text, style)));
        if let (Column::Left | Column::When, Some(flag)) = (column, flag) {
            let flag = signed(flag);
            let flag = if stand == Stand::Gone { flag.style(cx.theme.quiet) } else { flag };
            cells.push((x + width + 2, 1, false, flag));
        }
    }
    table::line_of(cells)
}

/// Styles the time left: more than a day steps back, and what is over further still.
fn cell_style(column: Column, stand: Stand, urgency: Urgency, cx: &AppContext) -> Style {
    use Column::{Amount, Card, Descriptor, Left, Order, Outcome, Provider, Status, Type, When};
    let theme = &cx.theme;
    match (stand, urgency, column) {
        (Stand::Gone, ..) => theme.quiet,
        (_, _, Left) => cx.urgency(urgency),
        (Stand::Cursor, ..) => cx.digits(),
        (_, _, Outcome) => theme.plain,
        (_, Urgency::Over, _) => theme.quiet,
        (_, Urgency::Later, Type | Descriptor) => theme.quiet,
        (_, Urgency::Now | Urgency::Soon | Urgency::Today, Amount) => cx.digits(),
        (_, _, Type | Descriptor | Provider | Order | Status | Card | When | Amount) => theme.plain,
        _ => theme.quiet,
    }
}

/// The flag right of the time left: what warns first, then what is suggested. An answered alert has none.
fn flag(alert: &Alert, duplicate: Option<bool>, queue: &Queue, cx: &AppContext) -> Option<ListSign> {
    if alert.outcome.is_some() {
        return None;
    }
    if duplicate == Some(true) || queue.refunded_by_order(alert.id) || alert.network_rule_applied() {
        return Some(ListSign::LookFirst);
    }
    let duplicate = duplicate.map(|_| ListSign::SamePayment);
    duplicate.or_else(|| cx.suggestion(alert).map(|_| ListSign::Suggested))
}

/// The sign at the left edge: where an answer to the alert is, this console's own or what the engine has not finished.
fn decision_sign(alert: &Alert, cx: &AppContext) -> Option<ListSign> {
    let own = cx.decisions.of(alert.id).map(|decision| ListSign::of(decision.fate));
    let engines = cx.unfinished.of(alert.id).map(ListSign::of_unfinished);
    let decision = match cx.decisions.is_checking(alert.id) {
        true => engines.or(own),
        false => own.or(engines),
    };
    decision.or_else(|| cx.failed_before(alert).map(|_| ListSign::NotRecorded))
}

/// Returns the first steps at a desk that has no alert at all.
fn first_steps(cx: &AppContext) -> String {
    let steps = match (cx.place.demo, cx.place.remote) {
        (true, _) => "",
        (_, true) => "The service has none for this key: avert profiles test tests it. ",
        (_, false) => "avert import FILE imports alerts, avert serve receives them. ",
    };
    format!("{steps}New alerts appear by themselves.")
}

/// What is wrong, as a sentence.
fn sentence(error: &ServiceError) -> String {
    format!("{}.", capitalized(sanitize(&error.to_string()).trim_end_matches('.')))
}

/// Says why there is no row: a title, and what to do next.
fn draw_empty(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let (title, told) = nothing_listed(queue, cx);
    let room = inset(area, 4, 4).width.min(72);
    let lines: Vec<String> = told.iter().flat_map(|line| text::wrap_even(line, room)).collect();
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX);
    let parts = [Constraint::Fill(1), Constraint::Length(height), Constraint::Fill(2)];
    let [_, words, _] = Layout::vertical(parts).areas(area);
    let styled = [(&title, cx.theme.strong)].into_iter().chain(lines.iter().map(|line| (line, cx.theme.plain)));
    for ((line, style), row) in styled.zip(words.rows()) {
        put_middle(buffer, row, line, style);
    }
}

fn nothing_listed(queue: &Queue, cx: &AppContext) -> (String, Vec<String>) {
    let key = |action: Action| cx.key(action);
    let (title, told) = match (&queue.link.trouble, queue.listing.total()) {
        (Some((_, error @ ServiceError::InvalidRequest(_))), _) => (
            "The service refused this filter.",
            vec![sentence(error), format!("{} changes the filter.", key(Action::Filter))],
        ),
        (Some((since, error)), None) if queue.link.is_unreachable => {
            let why = if let ServiceError::Unreachable(why) = error { why.clone() } else { error.to_string() };
            let why = sanitize(&without_exchange(&why)).into_owned();
            let hour = cx.times().at(*since, cx.now);
            let next = queue.link.retry_due.map(|at| format!("at {}", cx.times().second(at)));
            let retry =
                format!("Retry {}. {} retries now.", next.as_deref().unwrap_or("by itself"), key(Action::Refresh));
            ("This list was not read.", vec![format!("Offline since {hour}: {}.", why.trim_end_matches('.')), retry])
        }
        (Some((_, error)), _) => (
            "The alerts cannot be shown now.",
            vec![sentence(error), format!("Retrying. {} retries now.", key(Action::Refresh))],
        ),
        (None, None) => ("Loading…", Vec::new()),
        (None, Some(_)) if queue.all == Loadable::Loaded(0) => ("No alerts yet.", vec![first_steps(cx)]),
        (None, Some(1..)) => {
            let back = cx.snoozes.next_wake().map(|at| format!(" until {}", cx.times().at(at, cx.now)));
            let back = back.unwrap_or_default();
            let told = format!("None comes back{back}. {} opens the view Snoozed.", key(Action::Views));
            ("All alerts here are snoozed.", vec![told])
        }
        (None, Some(_)) if *queue.filter() == queue.view.filter => {
            let all = queue.all.loaded().map(|all| format!(" ({} in all)", counted(*all, "alert", "alerts")));
            let told = format!("{} chooses another view{}.", key(Action::Views), all.unwrap_or_default());
            ("Nothing in this view.", vec![told])
        }
        (None, Some(_)) => {
            let [search, filter, views] = [Action::Search, Action::Filter, Action::Views].map(key);
            ("No match.", vec![format!("{search} search, {filter} filter, {views} views")])
        }
    };
    (title.to_owned(), told)
}
