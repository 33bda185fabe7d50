//! Draws the list: its name and totals, what is filtered and searched for, the columns, the rows with their signs, and
//! what to do where there are none.

use ratatui::{
    Frame,
    buffer::Buffer,
    layout::{Rect, Size},
    style::Style,
    text::Span,
    widgets::Widget as _,
};

use super::{
    ListSign,
    columns::{BAR, Column, GUTTER, Regions, shown},
    heading,
    link::reason,
    state::{Queue, QueueTarget},
};
use crate::{
    Action, AppContext, Loadable, Pen, Theme,
    domain::{Alert, SortOrder, duplicate, query},
    pen::put_middle,
    service::ServiceError,
    suggestion::Suggestion,
    text::{self, capitalized, columns, counted, sanitize},
    times::{self, Urgency},
    ui::{
        areas::{FILL, ROOMY, inset, stacked},
        fit::{self, Segment},
        table::{DataTable, TableColumn},
    },
    unfinished::attempt_fate,
    widgets::scrollbar,
};

/// Draws everything of the list.
pub fn draw(queue: &Queue, cx: &AppContext, frame: &mut Frame<'_>) {
    let (regions, buffer) = (queue.regions(), frame.buffer_mut());
    heading::draw(queue, cx, buffer, regions.title);
    draw_chips(queue, cx, buffer, regions.chips);
    if queue.listing.window().is_empty() {
        draw_empty(queue, cx, buffer, regions.rows);
        return;
    }
    draw_rows(queue, cx, buffer, &regions);
    draw_left_above(queue, cx, buffer, regions.rows);
    scrollbar::draw(&cx.theme, buffer, regions.rows, queue.listing.top, queue.listing.rows());
}

/// A chip is cut to so many columns before it is left out.
const LEAST_CHIP: u16 = 6;
const LEAST_SEARCH: u16 = 12;

/// The ranks by which chips are cut, and by which they are left out.
const FIRST_CHIP: u8 = 100;
const LAST_CHIP: u8 = 1;

fn draw_chips(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, line: Rect) {
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
    fit::draw(&segments, buffer, line, |area, target| queue.targets.push(area, target));
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

/// A row: an alert, the sign left of it, and its flag right of the time left.
struct QueueRow<'a> {
    alert: &'a Alert,
    stand: Stand,
    sign: Option<ListSign>,
    flag: Option<ListSign>,
}

impl QueueRow<'_> {
    /// Styles the time left and the amount; what is over steps back.
    fn style(&self, column: Column, cx: &AppContext) -> Style {
        let urgency = times::left(self.alert, cx.now).urgency;
        match (self.stand, column) {
            (Stand::Gone, _) => cx.theme.quiet,
            (_, Column::Left) => cx.urgency(urgency),
            (Stand::Cursor, _) => cx.digits(),
            (_, Column::Outcome) => cx.theme.plain,
            _ if urgency == Urgency::Over => cx.theme.quiet,
            (_, Column::Amount) => cx.digits(),
            _ => cx.theme.plain,
        }
    }
}

fn drawn_sign(sign: Option<ListSign>, theme: &Theme) -> Span<'static> {
    sign.map(|sign| sign.drawn(theme)).map(|(sign, style)| Span::styled(sign, style)).unwrap_or_default()
}

/// Columns of a card without its BIN: in a narrow list the descriptor needs the room more.
const SHORT_CARD: u16 = 6;

/// The columns of a list, each with what it shows; a sign and the flag show nothing that is sorted by.
fn columns_of<'c>(
    queue: &Queue,
    cx: &'c AppContext,
    is_roomy: bool,
) -> Vec<(Option<Column>, TableColumn<'c, QueueRow<'c>>)> {
    let (theme, sort, known) = (&cx.theme, queue.asked_listing().order, queue.listing.widths.get());
    let arrow = if sort.order == SortOrder::Ascending { "▲" } else { "▼" };
    let sign = TableColumn::new("", move |row: &QueueRow<'_>, _| drawn_sign(row.sign, theme));
    let mut all = vec![(None, sign.reserve(1).gap(0))];
    for column in shown(&queue.listing.filter) {
        let (title, by) = (column.title(), column.sort_field());
        let head = if by == Some(sort.field) { format!("{title}{arrow}") } else { title.to_owned() };
        let cell = move |row: &QueueRow<'c>, width| {
            Span::styled(column.text(row.alert, width, cx.times(), cx.now), row.style(column, cx))
        };
        // The direction of the sort stands behind the title.
        let least = columns(title) + u16::from(by.is_some());
        let drawn = column.drawn(head, cell).reserve(known[column as usize].max(least));
        match column {
            Column::Left | Column::When => {
                let flag = move |row: &QueueRow<'_>, _| {
                    let flag = drawn_sign(row.flag, theme);
                    if row.stand == Stand::Gone { flag.style(theme.quiet) } else { flag }
                };
                all.push((Some(column), drawn.gap(1)));
                all.push((None, TableColumn::new("", flag).reserve(1)));
            }
            Column::Card if !is_roomy => all.push((Some(column), drawn.max(SHORT_CARD))),
            _ => all.push((Some(column), drawn)),
        }
    }
    all
}

fn draw_rows(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, regions: &Regions) {
    let (listing, window) = (&queue.listing, queue.listing.window());
    let rows = rows(queue, window.iter().map(|(_, index)| *index), cx);
    let in_sight: Vec<QueueRow<'_>> = rows.into_iter().flatten().collect();
    let room = regions.heads.width;
    let (shown, columns): (Vec<_>, Vec<_>) = columns_of(queue, cx, buffer.area.width >= ROOMY).into_iter().unzip();
    let table = DataTable::of(columns, &in_sight, room);
    let mut widths = listing.widths.get();
    for place in &table.places {
        let Some(column) = shown[place.column] else { continue };
        widths[column as usize] = place.width;
        if let Some(field) = column.sort_field() {
            let title = inset(regions.heads, place.x, 0).resize(Size::new(place.width, 1));
            queue.targets.push(title, QueueTarget::Title(field));
        }
    }
    listing.widths.set(widths);
    table.head(&cx.theme).render(regions.heads, buffer);
    let lines: Vec<Rect> = inset(regions.rows, 0, BAR).rows().collect();
    for (line, index) in window {
        let line = lines[usize::from(line)];
        if index == listing.cursor {
            cx.theme.mark_row(buffer, line);
        }
        queue.targets.push(line, QueueTarget::Row(index));
        let area = inset(line, GUTTER - 1, 0);
        let alert = listing.row(index).map(|alert| alert.id);
        match in_sight.iter().find(|row| Some(row.alert.id) == alert) {
            Some(row) => table.line(row).render(area, buffer),
            None => Span::styled("      ·", cx.theme.quiet).render(area, buffer),
        }
    }
}

/// The rows of a list, each with its signs.
fn rows<'a>(queue: &'a Queue, indices: impl Iterator<Item = u64>, cx: &AppContext) -> Vec<Option<QueueRow<'a>>> {
    let (listing, range) = (&queue.listing, queue.range_rows());
    let coming = cx.known_decisions().refunds_unlisted(listing.alerts(), |id| listing.find(id));
    let in_sight = || listing.in_sight().filter(|alert| alert.outcome.is_none());
    let (refunded, answered): (Vec<_>, Vec<_>) =
        cx.known_decisions().here.landed().partition(|alert| alert.refund_is_likely());
    // A refund that is on its way or was recorded here warns as one does that is listed.
    let warned = duplicate::with_duplicate_in(in_sight(), coming.iter().copied().chain(refunded));
    let paired = duplicate::with_duplicate_in(in_sight(), answered);
    let row = |index| {
        let alert = listing.row(index)?;
        let is_cursor = index == listing.cursor;
        let stand = match is_cursor {
            _ if is_cursor && listing.is_gone() || is_aside(queue, alert, cx) => Stand::Gone,
            true => Stand::Cursor,
            false => Stand::Row,
        };
        // What is answered together is seen whatever else there is to say of it.
        let in_range = range.is_some_and(|(first, rows)| (first..first + rows).contains(&index));
        let is_marked = in_range || queue.marked.contains(alert.id);
        let sign = if is_marked { Some(ListSign::Marked) } else { decision_sign(alert, cx) };
        let duplicate = match warned.contains(&alert.id) {
            true => Some(true),
            false => queue.duplicate(alert.id).or(paired.contains(&alert.id).then_some(false)),
        };
        let flag = flag(alert, duplicate, queue, cx);
        Some(QueueRow { alert, stand, sign, flag })
    };
    indices.map(row).collect()
}

/// Returns true where an alert is snoozed, or has its outcome though the list shows none.
fn is_aside(queue: &Queue, alert: &Alert, cx: &AppContext) -> bool {
    let is_snoozed = queue.listing.chosen.is_none() && cx.snoozes.until(alert.id).is_some();
    is_snoozed && alert.outcome.is_none() || cx.list_behind(alert).is_some()
}

/// Says in the line over the first row why there is none: the cursor's row keeps its line while rows above it leave.
fn draw_left_above(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, rows: Rect) {
    let left = queue.listing.lead;
    let last = left.checked_sub(1).and_then(|line| usize::try_from(line).ok());
    let Some(area) = last.and_then(|line| inset(rows, GUTTER, BAR).rows().nth(line)) else { return };
    let words = format!("{} no longer listed", counted(left, "alert", "alerts"));
    Pen::new(buffer, area).put(&words, cx.theme.quiet);
}

/// The flag right of the time left: what warns first, then what is suggested. An answered alert has none.
fn flag(alert: &Alert, duplicate: Option<bool>, queue: &Queue, cx: &AppContext) -> Option<ListSign> {
    if alert.outcome.is_some() {
        return None;
    }
    let orders = queue.orders.get(&alert.id).copied().unwrap_or_default();
    if duplicate == Some(true) || orders.warn() || alert.network_rule_applied() {
        return Some(ListSign::LookFirst);
    }
    let duplicate = duplicate.map(|_| ListSign::SamePayment);
    duplicate.or_else(|| Suggestion::by(alert, &[], orders, cx).map(|_| ListSign::Suggested))
}

/// The sign at the left edge: where an answer to the alert is, this console's own or what the engine has not finished.
fn decision_sign(alert: &Alert, cx: &AppContext) -> Option<ListSign> {
    let own = cx.ledger.of(alert.id).map(|decision| ListSign::of(decision.fate()));
    let engines = cx.unfinished.of(alert.id).map(|attempt| ListSign::of(attempt_fate(attempt)));
    let decision = match cx.ledger.is_checking(alert.id) {
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

/// Says why there is no row: a title, and what to do next.
fn draw_empty(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let (title, told) = nothing_listed(queue, cx);
    let room = inset(area, 4, 4).width.min(72);
    let lines: Vec<String> = told.iter().flat_map(|line| text::wrap(line, room)).collect();
    let height = u16::try_from(lines.len() + 1).unwrap_or(u16::MAX);
    let [_, words] = stacked(area, [(area.height - height.min(area.height)) / 3, FILL]);
    let styled = [(title, cx.theme.strong)].into_iter().chain(lines.iter().map(|line| (line.as_str(), cx.theme.plain)));
    for ((line, style), row) in styled.zip(words.rows()) {
        put_middle(buffer, row, line, style);
    }
}

fn nothing_listed(queue: &Queue, cx: &AppContext) -> (&'static str, Vec<String>) {
    let [search, filter, views] = [Action::Search, Action::Filter, Action::Views].map(|action| cx.key(action));
    let because = |error: &ServiceError| format!("{}.", capitalized(&reason(error)));
    match (&queue.link.trouble, queue.listing.total) {
        (Some((_, error @ ServiceError::InvalidRequest(_))), _) => {
            ("The service refused this filter.", vec![because(error), format!("{filter} changes the filter.")])
        }
        (Some((_, error)), _) => {
            let now = cx.key(Action::Refresh);
            let retry = format!("Retry {}. {now} retries now.", queue.link.retry_words(cx.times()));
            ("This list was not read.", vec![because(error), retry])
        }
        (None, None) => ("Loading…", Vec::new()),
        (None, Some(_)) if queue.all == Loadable::Loaded(0) => ("No alerts yet.", vec![first_steps(cx)]),
        (None, Some(1..)) => ("All alerts here are snoozed.", vec![format!("{views} opens the view Snoozed.")]),
        (None, Some(_)) if *queue.filter() == queue.view.filter => {
            let all = queue.all.loaded().map(|all| format!(" ({} in all)", counted(*all, "alert", "alerts")));
            let told = format!("{views} chooses another view{}.", all.unwrap_or_default());
            ("Nothing in this view.", vec![told])
        }
        (None, Some(_)) => ("No match.", vec![format!("{search} search, {filter} filter, {views} views")]),
    }
}
