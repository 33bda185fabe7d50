//! The line over the list: its name, how many alerts it has and their sums, what is marked and came in, and what is due
//! soon.

use ratatui::{buffer::Buffer, layout::Rect};

use super::{
    state::{AT_RISK_HOURS, Queue, QueueTarget},
    sums::known_sums,
};
use crate::{
    Action, AppContext, Loadable,
    domain::{Alert, Sort, SortField, SortOrder},
    text::{count, counted, sanitize},
    totals::{total_of, total_words},
    ui::fit::{self, Segment},
};

/// No name is cut to fewer columns.
const LEAST_NAME: u16 = 6;

/// The ranks by which parts of the line give way, the last one first.
mod rank {
    pub(super) const AT_RISK: u8 = 1;
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
    segments.extend(news(queue, cx));
    fit::draw(&segments, buffer, area, |area, action| queue.targets.push(area, QueueTarget::Do(action)));
}

/// The name of what is listed, and how many alerts it has.
fn name_and_counts(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let theme = &cx.theme;
    // An order that the service refuses is told as long as there is room for it.
    let is_refused = queue.sort() != queue.order();
    let (called, sorted) = if is_refused { (title(queue), String::new()) } else { (name(queue), sort_words(queue)) };
    let called = Segment::new(0, sanitize(&called), theme.strong).cut_to(rank::NAME, LEAST_NAME);
    let sorted = Segment::new(0, sanitize(&sorted), theme.strong).or_none(rank::SORT);
    let mut segments = vec![called, sorted];
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
        segments.push(Segment::new(3, words, theme.warning).or_none(rank::AT_RISK));
    }
    if queue.is_set_aside() {
        let words = format!("esc back to {}", sanitize(&queue.view.name));
        segments.push(Segment::new(3, words, theme.quiet).or_none(rank::BACK));
    }
    segments.extend(queue.snoozed_words().map(|words| Segment::new(2, words, theme.quiet).or_none(rank::SNOOZED)));
    segments
}

/// Words for new alerts, and for what is due soon.
fn news(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let theme = &cx.theme;
    let mut segments = Vec::new();
    if queue.listing.arrived_above() > 0 {
        let words = format!("{} new above", count(queue.listing.arrived_above()));
        let key = cx.key(Action::Arrived);
        let parts = [Segment::new(3, words, theme.accent), Segment::new(2, key, theme.key)];
        segments.extend(parts.map(|part| part.target(Action::Arrived)));
    }
    let new = queue.new.zip(queue.listing.total()).and_then(|(now, before)| now.checked_sub(before));
    if let Some(new) = new.filter(|new| *new > 0) {
        segments.push(Segment::new(2, format!("{} new", count(new)), theme.accent));
    }
    let at_risk = queue.at_risk.loaded().map(|at_risk| at_risk.iter().map(|risk| risk.alerts).sum());
    segments.extend(match at_risk {
        // Where there is nothing at all nothing can expire.
        Some(0) if queue.all == Loadable::Loaded(0) => None,
        Some(0) => Some(Segment::new(3, format!("none due within {AT_RISK_HOURS} h"), theme.quiet).or_none(rank::BACK)),
        Some(alerts) => {
            let said = format!("▲ {} due within {AT_RISK_HOURS} h", count(alerts));
            Some(Segment::new(3, said, theme.warning).or_none(rank::AT_RISK))
        }
        None => None,
    });
    segments
}

/// Number of marked alerts, and their sums.
fn marked(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    let (words, alerts): (String, Option<Vec<&Alert>>) = match queue.range_rows() {
        Some((_, rows)) => {
            let alerts = counted(rows, "alert", "alerts");
            (format!("range of {alerts}"), queue.range_alerts())
        }
        None if queue.marked.is_reading() => ("reading what to mark…".to_owned(), Some(Vec::new())),
        None => {
            let marked = queue.marked.alerts();
            (format!("{} marked", count(marked.len() as u64)), Some(marked.iter().collect()))
        }
    };
    let said = Segment::new(3, words, cx.theme.accent);
    let sums = match alerts {
        Some(alerts) => total(total_of(alerts.into_iter()), 2, cx),
        None => Some(Segment::new(2, "sum unknown", cx.theme.quiet)),
    };
    [said].into_iter().chain(sums).collect()
}

/// The sums of what is listed.
fn list_sums(queue: &Queue, cx: &AppContext) -> Vec<Segment<Action>> {
    if queue.listing.total().is_none() {
        return Vec::new();
    }
    let known = match known_sums(&queue.listing, &queue.sums, queue.counts_at_risk()) {
        Ok(known) => known,
        Err(words) => return vec![Segment::new(3, words, cx.theme.quiet)],
    };
    let unpriced: u64 = known.iter().map(|sum| sum.unpriced).sum();
    let untold = Segment::new(2, format!("{} without an amount", count(unpriced)), cx.theme.quiet);
    let untold = (unpriced > 0).then(|| untold.or_none(rank::COUNTS));
    total(total_words(&known), 3, cx).into_iter().chain(untold).collect()
}

/// A total, where there is one, after so many blanks.
fn total(words: String, gap: u16, cx: &AppContext) -> Option<Segment<Action>> {
    (!words.is_empty()).then(|| Segment::new(gap, words, cx.theme.plain))
}

/// The view's name and what it is sorted by: `Open, by deadline`.
pub fn title(queue: &Queue) -> String {
    format!("{}{}", name(queue), sort_words(queue))
}

/// Order of a view, behind its name: `, by deadline`.
fn sort_words(queue: &Queue) -> String {
    if queue.is_set_aside() {
        return String::new();
    }
    let sort = queue.order();
    let refused = match queue.sort() {
        asked if asked == sort => String::new(),
        asked => format!(" (no order by {} here)", asked.field.words()),
    };
    format!(", {}{refused}", order_words(sort))
}

/// What a list is sorted by: `by deadline`, `newest first`.
fn order_words(sort: Sort) -> String {
    let word = sort.field.words();
    match (sort.field, sort.order) {
        (SortField::AlertTimeStamp, SortOrder::Ascending) => "oldest first".to_owned(),
        (SortField::AlertTimeStamp, SortOrder::Descending) => "newest first".to_owned(),
        // What expired is listed by itself: its name says what is latest.
        (SortField::ExpiredAt, SortOrder::Ascending) => "earliest first".to_owned(),
        (SortField::ExpiredAt, SortOrder::Descending) => "latest first".to_owned(),
        (_, SortOrder::Ascending) => format!("by {word}"),
        (_, SortOrder::Descending) => format!("by {word}, descending"),
    }
}

/// The view's name, and whether it is filtered in another way; of what was found what is set aside for it.
fn name(queue: &Queue) -> String {
    if queue.is_set_aside() {
        return "Search results".to_owned();
    }
    let narrowed = match queue.filter() {
        filter if *filter == queue.view.filter => "",
        // Under the view's name alone it would be taken for what waits.
        filter if filter.statuses.is_empty() && !queue.view.filter.statuses.is_empty() => " (changed: every status)",
        _ => " (changed)",
    };
    format!("{}{narrowed}", sanitize(&queue.view.name))
}
