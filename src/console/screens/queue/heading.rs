//! The line over the list: its name, how many alerts it has and their sum, what is marked, and what is out of sight.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{
    state::{Queue, QueueTarget},
    sums::{total_of, total_words},
};
use crate::{
    Action, AppContext,
    domain::{Alert, Sort, SortField, SortOrder},
    text::{count, counted, sanitize},
    ui::fit::{self, KeyHint, Segment},
};

/// No name is cut to fewer columns.
const LEAST_NAME: u16 = 6;

/// The ranks by which parts of the line give way, the last one first.
mod rank {
    pub(super) const AS_OF: u8 = 1;
    pub(super) const SNOOZED: u8 = 2;
    pub(super) const BACK: u8 = 3;
    pub(super) const NAME: u8 = 4;
    pub(super) const SORT: u8 = 5;
    pub(super) const COUNTS: u8 = 6;
}

/// Draws the line.
pub fn draw(queue: &Queue, cx: &AppContext, buffer: &mut Buffer, area: Rect) {
    let mut segments = name_and_counts(queue, cx);
    // One sum stands there: that of what is marked, where something is.
    segments.extend(if queue.has_marks() { marked(queue, cx) } else { list_sums(queue, cx) });
    if queue.listing.top > 0 {
        let above = KeyHint::new(cx.key(Action::Top), format!("{} above", count(queue.listing.top)), Action::Top);
        segments.extend(above.segments(3, &cx.theme).map(|part| part.or_none(rank::BACK)));
    }
    fit::draw(&segments, buffer, area, |area, action| queue.targets.push(area, QueueTarget::Do(action)));
}

/// The name of what is listed, and how many alerts it has.
fn name_and_counts(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let theme = &cx.theme;
    let (name, sorted) = match queue.is_set_aside() {
        true => ("Search results".to_owned(), String::new()),
        false => {
            let changed = if *queue.filter() == queue.view.filter { "" } else { " (changed)" };
            (format!("{}{changed}", queue.view.name), format!(", {}", order_words(queue.asked_listing().order)))
        }
    };
    let name = Segment::new(0, sanitize(&name), theme.strong).cut_to(rank::NAME, LEAST_NAME);
    let mut segments = vec![name, Segment::new(0, sorted, theme.strong).or_none(rank::SORT)];
    let Some(listed) = queue.listing.listed() else {
        segments.push(Segment::new(3, "…", theme.quiet));
        return segments;
    };
    segments.push(Segment::new(3, count(listed), theme.strong));
    // Of what was found it would say nothing, and it was counted at another moment.
    if let Some(all) = queue.all.loaded().filter(|all| **all != listed && !queue.is_set_aside()) {
        segments.push(Segment::new(0, format!(" of {}", count(*all)), theme.quiet).or_none(rank::COUNTS));
    }
    if queue.incoming.is_some() {
        segments.push(Segment::new(0, " …", theme.accent));
    }
    // The rows look as they do while they are read again and again.
    if let Some(at) = queue.link.read_at.filter(|_| queue.link.trouble.is_some()) {
        let words = format!("as of {}", cx.times().at(at, cx.now));
        segments.push(Segment::new(3, words, theme.warning).or_none(rank::AS_OF));
    }
    if queue.is_set_aside() {
        let words = format!("esc back to {}", sanitize(&queue.view.name));
        segments.push(Segment::new(3, words, theme.quiet).or_none(rank::BACK));
    }
    segments.extend(queue.snoozed_words().map(|words| Segment::new(2, words, theme.quiet).or_none(rank::SNOOZED)));
    segments
}

/// Number of marked alerts, and their sum where all of them are here.
fn marked(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let (words, alerts): (String, Option<Vec<&Alert>>) = match queue.range_rows() {
        Some((_, rows)) => (format!("range of {}", counted(rows, "alert", "alerts")), queue.range_alerts()),
        None if queue.marked.is_reading() => ("reading what to mark…".to_owned(), None),
        None => {
            let marked = queue.marked.alerts();
            (format!("{} marked", count(marked.len() as u64)), Some(marked.iter().collect()))
        }
    };
    let sum = total_of(alerts.unwrap_or_default().into_iter());
    vec![Segment::new(3, words, cx.theme.accent), Segment::new(2, sum, cx.theme.plain)]
}

/// The sum of what is listed, where it is known.
fn list_sums(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let Some(known) = queue.sums.of_list(&queue.listing) else { return Vec::new() };
    let unpriced: u64 = known.iter().map(|sum| sum.unpriced).sum();
    let untold = Segment::new(2, format!("{} without an amount", count(unpriced)), cx.theme.quiet);
    let untold = (unpriced > 0).then(|| untold.or_none(rank::COUNTS));
    [Segment::new(3, total_words(&known), cx.theme.plain)].into_iter().chain(untold).collect()
}

/// What a list is sorted by: `by deadline`, `newest first`.
fn order_words(sort: Sort) -> String {
    let word = sort.field.words();
    match (sort.field, sort.order) {
        (SortField::AlertTimeStamp | SortField::ExpiredAt, SortOrder::Ascending) => "oldest first".to_owned(),
        (SortField::AlertTimeStamp | SortField::ExpiredAt, SortOrder::Descending) => "newest first".to_owned(),
        (_, SortOrder::Ascending) => format!("by {word}"),
        (_, SortOrder::Descending) => format!("by {word}, descending"),
    }
}
