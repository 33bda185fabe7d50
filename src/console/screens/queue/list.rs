//! Draws the list: what is asked for, the titles, the visible rows, and what to do where there are none.

use std::collections::HashSet;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::columns::{self, Column, Placed};
use super::heading;
use super::layout::{BAR, GUTTER, Regions};
use super::listing::ListRow;
use super::signs::ListSign;
use super::state::{Queue, QueueTarget};
use crate::console::pen::{put_middle, put_right};
use crate::console::text::{capitalized, counted, cut, sanitize};
use crate::console::times::{self, Urgency};
use crate::console::widgets::scrollbar;
use crate::console::{Action, DrawContext, Loadable, Pen, text};
use crate::domain::exchange::without_exchange;
use crate::domain::{Alert, AlertId, SortOrder, duplicate, query};
use crate::service::ServiceError;
use crate::ui::areas::inset;
use crate::ui::fit::{self, Segment};
use crate::ui::table::{DataTable, TableColumn};

/// Draws everything of the list.
pub fn draw(queue: &Queue, draw: &DrawContext<'_>, frame: &mut Frame<'_>) {
    let regions = queue.regions();
    heading::draw(queue, draw, frame.buffer_mut(), regions.title);
    draw_chips(queue, draw, frame, &regions);
    let placed = queue.placed_columns();
    if !queue.listing.window().is_empty() {
        draw_heads(queue, draw, frame.buffer_mut(), &regions, &placed);
    }
    draw_rows(queue, draw, frame.buffer_mut(), &regions, &placed);
    draw_left_above(queue, draw, frame.buffer_mut(), regions.rows);
    draw_scrollbar(queue, draw, frame.buffer_mut(), regions.rows);
    if queue.listing.window().is_empty() {
        draw_empty(queue, draw, frame.buffer_mut(), regions.rows);
    }
}

/// A chip is cut to so many columns before it is left out.
const LEAST_CHIP: u16 = 6;
const LEAST_SEARCH: u16 = 12;

/// The ranks by which chips are cut, and by which they are left out.
const FIRST_CHIP: u8 = 100;
const LAST_CHIP: u8 = 1;

fn draw_chips(queue: &Queue, draw: &DrawContext<'_>, frame: &mut Frame<'_>, regions: &Regions) {
    let theme = draw.theme;
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
            let words = draw.keymap.binding(action).map_or("", |binding| &binding.words);
            let key = Segment::new(gap, format!("{} {words}", draw.key(action)), theme.quiet).or_none(u8::MAX);
            segments.push(key.target(QueueTarget::Do(action)));
        }
    }
    fit::draw(&segments, frame.buffer_mut(), regions.chips, |area, target| queue.targets.push(area, target));
}

fn draw_heads(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, regions: &Regions, placed: &[Placed]) {
    let sort = queue.order();
    for place in placed {
        let (column, area) = (place.column, place.within(regions.heads));
        let sorted = column.sort_field() == Some(sort.field);
        let arrow = match sort.order {
            _ if !sorted => "",
            SortOrder::Ascending => "▲",
            SortOrder::Descending => "▼",
        };
        let style = if sorted { draw.theme.accent } else { draw.theme.quiet };
        let with_arrow = format!("{}{arrow}", column.title());
        let title = if text::columns(&with_arrow) <= area.width { with_arrow } else { column.title().to_owned() };
        if column.is_right() {
            put_right(buffer, area, &title, style);
        } else {
            Pen::new(buffer, area).put(&title, style);
        }
        if column.sort_field().is_some() {
            queue.targets.push(area, QueueTarget::Title(column));
        }
    }
}

fn draw_rows(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, regions: &Regions, placed: &[Placed]) {
    let listing = &queue.listing;
    let range = queue.range_rows();
    let coming = draw.known_decisions().refunds_unlisted(listing.alerts(), |id| listing.find(id));
    let in_sight = || {
        let rows = listing.window().into_iter().filter_map(|(_, index)| listing.row(index).alert());
        rows.filter(|alert| alert.outcome.is_none())
    };
    let (refunded, answered): (Vec<_>, Vec<_>) =
        draw.known_decisions().here.landed().partition(|alert| alert.refund_is_likely());
    let warned = duplicate::with_duplicate_in(in_sight(), coming.iter().copied().chain(refunded));
    let paired = duplicate::with_duplicate_in(in_sight(), answered);
    let known = |alert: &Alert| Known::of(alert, [&warned, &paired], queue);
    let rows: Vec<Rect> = inset(regions.rows, 0, BAR).rows().collect();
    for (line, index) in listing.window() {
        let row = rows[usize::from(line)];
        if index == listing.cursor() {
            draw.theme.mark_row(buffer, row);
        }
        queue.targets.push(row, QueueTarget::Row(index));
        let text = inset(row, GUTTER, 0);
        match listing.row(index) {
            ListRow::Alert(alert) => {
                let is_snoozed = listing.chosen().is_none() && draw.snoozes.until(alert.id).is_some();
                let is_aside = is_snoozed && alert.outcome.is_none() || draw.list_behind(alert).is_some();
                let stand = match (is_aside, index == listing.cursor()) {
                    (true, _) => Stand::Gone,
                    (false, true) => Stand::Cursor,
                    (false, false) => Stand::Row,
                };
                draw_alert(alert, known(alert), stand, draw, buffer, text, placed);
            }
            ListRow::Gone(alert) => draw_alert(alert, known(alert), Stand::Gone, draw, buffer, text, placed),
            ListRow::Pending => {
                Pen::new(buffer, text).put("     ·", draw.theme.quiet);
            }
        }
        // What is answered together is seen whatever else there is to say of it.
        let in_range = range.is_some_and(|(first, rows)| (first..first + rows).contains(&index));
        if in_range || listing.row(index).alert().is_some_and(|alert| queue.marked.contains(alert.id)) {
            let (sign, style) = ListSign::Marked.drawn(draw.theme);
            buffer.set_stringn(text.x - 1, text.y, sign, 1, style);
        }
        carry_over_blanks(buffer, row);
    }
}

/// Says in the line over the first row why there is none: the cursor's row keeps its line while rows above it leave.
fn draw_left_above(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, rows: Rect) {
    let listing = &queue.listing;
    let last = listing.lead().checked_sub(1).and_then(|line| usize::try_from(line).ok());
    let Some(area) = last.and_then(|line| inset(rows, GUTTER, BAR).rows().nth(line)) else { return };
    let words = format!("{} no longer listed", counted(listing.lead(), "alert", "alerts"));
    Pen::new(buffer, area).put(&words, draw.theme.quiet);
}

/// Gives every blank of a row the colour and weight of the text before it. That cannot be seen, and saves a third of
/// the bytes that a move of the cursor sends: the two rows it touches are written anew.
fn carry_over_blanks(buffer: &mut Buffer, row: Rect) {
    const WEIGHT: Modifier = Modifier::BOLD.union(Modifier::DIM);
    // In reverse the colour of a text is what is behind a blank.
    if row.positions().any(|at| buffer[at].modifier.contains(Modifier::REVERSED)) {
        return;
    }
    let mut last: Option<(Color, Modifier)> = None;
    for x in row.x..row.right() {
        let cell = &mut buffer[(x, row.y)];
        match last {
            Some((color, weight)) if cell.symbol() == " " => {
                cell.fg = color;
                cell.modifier = cell.modifier.difference(WEIGHT).union(weight);
            }
            _ if cell.symbol() != " " => last = Some((cell.fg, cell.modifier.intersection(WEIGHT))),
            _ => {}
        }
    }
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

/// What is known of an alert beyond itself: whether it is one of several on a payment, and whether its order was
/// refunded.
#[derive(Debug, Clone, Copy)]
struct Known {
    duplicate: Option<bool>,
    order_refunded: bool,
}

impl Known {
    /// `warned`: the alerts on whose payment a refund is on its way or was recorded here, of which the detail warns as
    /// it does of one that is listed; `paired`: those on whose payment another answer was.
    fn of(alert: &Alert, [warned, paired]: [&HashSet<AlertId>; 2], queue: &Queue) -> Self {
        let listed = || queue.duplicate(alert.id).or(paired.contains(&alert.id).then_some(false));
        let duplicate = if warned.contains(&alert.id) { Some(true) } else { listed() };
        Self { duplicate, order_refunded: queue.refunded_by_order(alert.id) }
    }

    /// Returns true where a refund may be the second one.
    fn may_be_paid_twice(self) -> bool {
        self.duplicate == Some(true) || self.order_refunded
    }
}

fn draw_alert(
    alert: &Alert,
    known: Known,
    stand: Stand,
    draw: &DrawContext<'_>,
    buffer: &mut Buffer,
    area: Rect,
    placed: &[Placed],
) {
    let theme = draw.theme;
    let left = times::left(alert, draw.now);
    // What has more than a day steps back, and what is over further still: how it ended is what is left to be read.
    let (text, digits, plain, quiet) = match (stand, left.urgency) {
        (Stand::Gone, _) => (theme.quiet, theme.quiet, theme.quiet, theme.quiet),
        (Stand::Cursor, _) => (draw.digits(), draw.digits(), draw.digits(), draw.digits()),
        (Stand::Row, Urgency::Later) => (theme.quiet, theme.plain, theme.plain, theme.quiet),
        (Stand::Row, Urgency::Over) => (theme.quiet, theme.quiet, theme.quiet, theme.quiet),
        (Stand::Row, Urgency::Now | Urgency::Soon | Urgency::Today) => {
            (theme.plain, draw.digits(), theme.plain, theme.quiet)
        }
    };
    let gone = stand == Stand::Gone;
    if let Some((sign, style)) = decision_sign(alert, draw).map(|sign| sign.drawn(theme)) {
        buffer.set_stringn(area.x - 1, area.y, sign, 1, style);
    }
    for place in placed {
        let (column, cell) = (place.column, place.within(area));
        let told = || column.text(alert, place.width, draw.times, draw.now);
        match column {
            Column::Left | Column::When => {
                let style = match column {
                    _ if gone => theme.quiet,
                    Column::When => plain,
                    _ => draw.urgency(left.urgency),
                };
                put_right(buffer, cell, &told(), style);
                if let Some((sign, style)) = flag(alert, known, draw).map(|flag| flag.drawn(theme)) {
                    buffer.set_stringn(cell.right() + 1, cell.y, sign, 1, if gone { theme.quiet } else { style });
                }
            }
            Column::Amount => draw_amount(alert, buffer, cell, digits, quiet),
            _ => {
                let style = match column {
                    Column::Type | Column::Descriptor => text,
                    Column::Outcome if stand == Stand::Row => theme.plain,
                    Column::Provider
                    | Column::Order
                    | Column::Status
                    | Column::Card
                    | Column::Outcome
                    | Column::Merchant => plain,
                    _ => quiet,
                };
                Pen::new(buffer, cell).put(&told(), style);
            }
        }
    }
}

/// The number up to the currency's three columns, so that numbers stand under numbers.
fn draw_amount(alert: &Alert, buffer: &mut Buffer, cell: Rect, digits: Style, quiet: Style) {
    put_right(buffer, inset(cell, 0, 4), &columns::amount(alert), digits);
    put_right(buffer, cell, &format!("{:<3}", cut(&sanitize(alert.currency.as_str()), 3)), quiet);
}

/// The flag right of the time left: what warns first, then what is suggested. An answered alert has none.
fn flag(alert: &Alert, known: Known, draw: &DrawContext<'_>) -> Option<ListSign> {
    if alert.outcome.is_some() {
        return None;
    }
    if known.may_be_paid_twice() || alert.network_rule_applied() {
        return Some(ListSign::LookFirst);
    }
    let duplicate = known.duplicate.map(|_| ListSign::SamePayment);
    duplicate.or_else(|| draw.suggestion(alert).map(|_| ListSign::Suggested))
}

/// The sign at the left edge: where an answer to the alert is, this console's own or what the engine has not finished.
fn decision_sign(alert: &Alert, draw: &DrawContext<'_>) -> Option<ListSign> {
    let own = draw.decisions.of(alert.id).map(|decision| ListSign::of(decision.fate));
    let engines = draw.unfinished.of(alert.id).map(ListSign::of_unfinished);
    let decision = match draw.decisions.is_checking(alert.id) {
        true => engines.or(own),
        false => own.or(engines),
    };
    decision.or_else(|| draw.failed_before(alert).map(|_| ListSign::NotRecorded))
}

fn draw_scrollbar(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let bar = scrollbar::draw(draw.theme, buffer, area, queue.listing.top(), queue.listing.rows());
    bar.into_iter().for_each(|bar| queue.targets.push(bar, QueueTarget::Scrollbar));
}

/// A command, and what it is for.
type FirstCommand = (&'static str, &'static str);

/// What there is to do at a desk that has no alert at all: the words, then the commands with what each is for.
fn first_page(draw: &DrawContext<'_>) -> (Vec<(String, Style)>, &'static [FirstCommand]) {
    const HERE: [FirstCommand; 4] = [
        ("avert import FILE", "imports alerts"),
        ("avert serve", "receives them over HTTP"),
        ("avert profiles add NAME --url URL", "connects to your service"),
        ("avert demo", "shows generated alerts"),
    ];
    const ELSEWHERE: [FirstCommand; 2] =
        [("avert profiles test", "tests address and key"), ("avert doctor", "finds problems")];
    let (theme, place) = (draw.theme, draw.place);
    let mut lines = vec![("No alerts yet.".to_owned(), theme.strong)];
    let commands: &'static [FirstCommand] = match (place.demo, place.remote) {
        (true, _) => &[],
        (_, true) => &ELSEWHERE,
        (_, false) => &HERE,
    };
    if place.remote {
        lines.push(("The service has none for this key.".to_owned(), theme.plain));
    }
    lines.push(("New alerts appear by themselves.".to_owned(), theme.plain));
    (lines, commands)
}

/// Draws commands under each other, with what each is for where there is room for all of that.
fn draw_commands(commands: &[FirstCommand], draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let theme = draw.theme;
    let command = TableColumn::new("", |row: &FirstCommand, _| Span::styled(row.0, theme.strong));
    let about = TableColumn::new("", |row: &FirstCommand, _| Span::styled(row.1, theme.quiet)).rank(1);
    let table = DataTable::of(vec![command, about], commands, area.width);
    let lines: Vec<Line<'_>> = commands.iter().map(|command| table.line(command)).collect();
    let widest = lines.iter().map(|line| u16::try_from(line.width()).unwrap_or(u16::MAX)).max().unwrap_or(0);
    let [middle] = Layout::horizontal([Constraint::Length(widest)]).flex(Flex::Center).areas(area);
    for (line, row) in lines.iter().zip(middle.rows()) {
        buffer.set_line(row.x, row.y, line, row.width);
    }
}

/// What is wrong, as a sentence.
fn sentence(error: &ServiceError) -> String {
    format!("{}.", capitalized(sanitize(&error.to_string()).trim_end_matches('.')))
}

fn draw_empty(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let key = |action: Action| draw.key(action);
    let mut lines: Vec<(String, Style)> = Vec::new();
    let mut commands: &[FirstCommand] = &[];
    match (&queue.link.trouble, queue.listing.total()) {
        (Some((_, error @ ServiceError::InvalidRequest(_))), _) => {
            lines.push(("The service refused this filter.".to_owned(), draw.theme.strong));
            lines.push((sentence(error), draw.theme.plain));
            lines.push((format!("{} changes the filter.", key(Action::Filter)), draw.theme.quiet));
        }
        (Some((since, error)), None) if queue.link.is_unreachable() => {
            let hour = draw.times.at(*since, draw.now);
            let why = if let ServiceError::Unreachable(why) = error { why.clone() } else { error.to_string() };
            let why = sanitize(&without_exchange(&why)).into_owned();
            let next = queue
                .link
                .next_try()
                .map_or_else(|| "by itself".to_owned(), |at| format!("at {}", draw.times.second(at)));
            lines.push(("This list was not read.".to_owned(), draw.theme.strong));
            lines.push((format!("Offline since {hour}: {}.", why.trim_end_matches('.')), draw.theme.plain));
            lines.push((format!("Retry {next}. {} retries now.", key(Action::Refresh)), draw.theme.quiet));
        }
        (Some((_, error)), _) => {
            lines.push(("The alerts cannot be shown now.".to_owned(), draw.theme.strong));
            lines.push((sentence(error), draw.theme.plain));
            lines.push((format!("Retrying. {} retries now.", key(Action::Refresh)), draw.theme.quiet));
        }
        (None, None) => lines.push(("Loading…".to_owned(), draw.theme.quiet)),
        (None, Some(_)) if queue.all == Loadable::Loaded(0) => (lines, commands) = first_page(draw),
        (None, Some(1..)) => {
            let back = draw
                .snoozes
                .next_wake()
                .map_or_else(String::new, |at| format!(" until {}", draw.times.at(at, draw.now)));
            lines.push(("All alerts here are snoozed.".to_owned(), draw.theme.strong));
            lines.push((
                format!("None comes back{back}. {} opens the view Snoozed.", key(Action::Views)),
                draw.theme.quiet,
            ));
        }
        (None, Some(_)) if *queue.filter() == queue.view.filter => {
            let name = sanitize(&queue.view.name).into_owned();
            let said = match name.as_str() {
                // Whether there are others was asked, and is not known yet.
                _ if queue.all.loaded().is_none() => "Nothing in this view.",
                "To answer" | "Due within 6 hours" => "Nothing to answer here.",
                "Expired" => "Nothing expired.",
                "Snoozed" => "Nothing is snoozed.",
                _ => "Nothing in this view.",
            };
            lines.push((said.to_owned(), draw.theme.strong));
            let all = queue
                .all
                .loaded()
                .map_or_else(String::new, |all| format!(" ({} in all)", counted(*all, "alert", "alerts")));
            lines.push((format!("{} chooses another view{all}.", key(Action::Views)), draw.theme.quiet));
        }
        (None, Some(_)) => {
            lines.push(("No match.".to_owned(), draw.theme.strong));
            let (search, filter, views) = (key(Action::Search), key(Action::Filter), key(Action::Views));
            let words = format!("{search} search, {filter} filter, {views} views");
            lines.push((words, draw.theme.quiet));
        }
    }
    let shown: Vec<(String, Style)> = lines
        .into_iter()
        .flat_map(|(line, style)| {
            text::wrap_even(&line, inset(area, 4, 4).width.min(72)).into_iter().map(move |line| (line, style))
        })
        .collect();
    // A blank line stands before the commands.
    let [said, told] = [shown.len(), commands.len()].map(|lines| u16::try_from(lines).unwrap_or(u16::MAX));
    let [_, words, _, below, _] = Layout::vertical([
        Constraint::Fill(1),
        Constraint::Length(said),
        Constraint::Length(1),
        Constraint::Length(told),
        Constraint::Fill(2),
    ])
    .areas(area);
    for ((line, style), row) in shown.iter().zip(words.rows()) {
        put_middle(buffer, row, line, *style);
    }
    draw_commands(commands, draw, buffer, below);
}
