//! The line over the list: its name, how many alerts it has and their sums, what is marked and came in, and what lapses
//! soon.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::listing::ListRow;
use super::marked::MOST_MARKED;
use super::state::{AT_RISK_HOURS, Queue, QueueTarget};
use super::sums::KnownSums;
use crate::console::text::{count, counted, sanitize};
use crate::console::{Action, DrawContext, Loadable};
use crate::domain::money::sums_by_currency;
use crate::domain::{Alert, Money, Sort, SortField, SortOrder, query};
use crate::ui::fit::{self, Segment};

/// No name is cut to fewer columns.
const LEAST_NAME: u16 = 6;

/// Sums that are told at most.
const MOST_SUMS: usize = 6;

/// The ranks by which parts of the line give way, the last one first. Above them are those of the sums: one goes after
/// another, and the first one is shortened.
mod rank {
    pub(super) const AT_RISK: u8 = 1;
    pub(super) const CUT_NAME: u8 = 2;
    pub(super) const NAME: u8 = 3;
    pub(super) const VERB: u8 = 4;
    pub(super) const SORT: u8 = 5;
    pub(super) const SHORT_WORDS: u8 = 6;
    pub(super) const COUNTS: u8 = 7;
    pub(super) const SHORT_SUM: u8 = 9;
    pub(super) const ONE_SUM: u8 = 10;
}

/// Draws the line.
pub fn draw(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let mut segments = name_and_counts(queue, draw);
    // One sum stands there: that of what is marked, where something is.
    let has_marks = queue.marked.range.is_some() || queue.marked.is_reading() || !queue.marked.is_empty();
    segments.extend(if has_marks { marked(queue, draw) } else { list_sums(queue, draw) });
    segments.extend(news(queue, draw));
    fit::draw(&segments, buffer, area, |area, action| queue.targets.push(area, QueueTarget::Do(action)));
}

/// The name of what is listed, and how many alerts it has.
fn name_and_counts(queue: &Queue, draw: &DrawContext<'_>) -> Vec<Segment<Action>> {
    let theme = draw.theme;
    let called = Segment::new(0, sanitize(&title(queue)), theme.strong)
        .or(rank::SORT, sanitize(&short_title(queue)))
        .or(rank::NAME, sanitize(&name(queue)))
        .cut_to(rank::CUT_NAME, LEAST_NAME);
    let mut segments = vec![called];
    match queue.listing.listed() {
        Some(listed) => {
            segments.push(Segment::new(3, count(listed), theme.strong));
            // Of what was found it would say nothing, and it was counted at another moment.
            if let Some(all) = queue.all.loaded().filter(|all| **all != listed && !queue.is_set_aside()) {
                let of_all = Segment::new(0, format!(" of {}", count(*all)), theme.quiet);
                segments.push(of_all.or_none(rank::COUNTS));
            }
        }
        None => segments.push(Segment::new(3, "…", theme.quiet)),
    }
    if queue.incoming.is_some() && queue.listing.total().is_some() {
        segments.push(Segment::new(0, " …", theme.accent));
    }
    let is_old = queue.link.trouble.is_some() && queue.listing.total().is_some();
    if let Some(at) = queue.link.read_at.filter(|_| is_old) {
        // The rows look as they do while they are read again and again.
        let words = format!("as of {}", draw.times.at(at, draw.now));
        segments.push(Segment::new(3, words, theme.warning).or_none(rank::NAME));
    }
    if queue.is_set_aside() {
        let words = format!("esc back to {}", sanitize(&queue.view.name));
        segments.push(Segment::new(3, words, theme.quiet).or_none(rank::SORT));
    }
    // What lapses soon is worth more than what is put aside.
    segments.extend(queue.snoozed_words().map(|words| Segment::new(2, words, theme.quiet).or_none(rank::VERB)));
    segments
}

/// Words and the key after them, which are one target.
fn keyed(draw: &DrawContext<'_>, words: Segment<Action>, action: Action) -> [Segment<Action>; 2] {
    [words.target(action), Segment::new(2, draw.key(action), draw.theme.key).target(action)]
}

/// What came in, and what lapses soon.
fn news(queue: &Queue, draw: &DrawContext<'_>) -> Vec<Segment<Action>> {
    let theme = draw.theme;
    let mut segments = Vec::new();
    if queue.listing.arrived_above() > 0 {
        let many = count(queue.listing.arrived_above());
        let words = Segment::new(3, format!("{many} new above"), theme.accent);
        segments.extend(keyed(draw, words.or(rank::SHORT_WORDS, format!("{many} above")), Action::Arrived));
    }
    if let Some(new) =
        queue.new.zip(queue.listing.total()).and_then(|(now, before)| now.checked_sub(before)).filter(|new| *new > 0)
    {
        segments.push(Segment::new(2, format!("{} new", count(new)), theme.accent));
    }
    segments.extend(at_risk(queue, draw));
    if matches!(queue.at_risk, Loadable::NotAsked) && !queue.counts_at_risk() {
        // Only an avert counts what is due; Insights reads lists for it.
        let key = draw.key(Action::ShowInsights);
        let words = Segment::new(3, format!("Press {key} to see what is due"), theme.quiet).or_none(rank::COUNTS);
        segments.push(words.target(Action::ShowInsights));
    }
    segments
}

/// Number of marked alerts, their sums, and the key that answers them.
fn marked(queue: &Queue, draw: &DrawContext<'_>) -> Vec<Segment<Action>> {
    let (theme, marked) = (draw.theme, &queue.marked);
    let (words, does, action) = match queue.range_rows() {
        Some((first, rows)) => {
            let alerts = counted(queue.listing.lines_between(first, first + rows), "alert", "alerts");
            (format!("range of {alerts}"), "marks", Action::MarkRange)
        }
        None if marked.is_reading() => ("reading what to mark…".to_owned(), "stops", Action::Back),
        None => (format!("{} marked", count(marked.alerts().len() as u64)), "answers", Action::Bulk),
    };
    // Where nothing is sent from, nothing is offered that would.
    let is_idle = action == Action::Bulk && draw.place.read_only;
    let shorter = words.trim_end_matches(" alerts").to_owned();
    let said = Segment::new(3, words, theme.accent).or(rank::SHORT_WORDS, shorter);
    let mut segments = vec![if is_idle { said } else { said.target(action) }];
    let alerts: Option<Vec<&Alert>> = match action {
        Action::Bulk => Some(marked.alerts().iter().collect()),
        Action::MarkRange => in_range(queue),
        _ => Some(Vec::new()),
    };
    segments.extend(match alerts {
        Some(alerts) => {
            sums(&sums_by_currency(alerts.into_iter().filter_map(Alert::money).map(|money| (1, money))), 2, draw)
        }
        None => Some(Segment::new(2, "sum unknown", theme.quiet).or(rank::NAME, "no sum")),
    });
    if !is_idle {
        // What lapses soon is worth more than the key, which the footer has too.
        let key = Segment::new(2, draw.key(action), theme.key);
        let does = Segment::new(1, does, theme.quiet);
        segments.extend([key, does].map(|part| part.or_none(rank::NAME).target(action)));
    }
    segments
}

/// The alerts of the range that is being marked; none where not all of them are here, or more than are marked at once.
fn in_range(queue: &Queue) -> Option<Vec<&Alert>> {
    let (first, rows) = queue.range_rows().filter(|(_, rows)| *rows <= MOST_MARKED as u64)?;
    let alerts: Option<Vec<&Alert>> = (first..first + rows)
        .map(|row| match queue.listing.row(row) {
            ListRow::Alert(alert) | ListRow::Gone(alert) => Some(alert),
            ListRow::Pending => None,
        })
        .collect();
    Some(alerts?.into_iter().filter(|alert| !queue.listing.passes_over(alert)).collect())
}

/// The sums of what is listed.
fn list_sums(queue: &Queue, draw: &DrawContext<'_>) -> Vec<Segment<Action>> {
    let quiet = |words: &str| Segment::new(3, words, draw.theme.quiet);
    if queue.listing.total().is_none() {
        return Vec::new();
    }
    let known = match KnownSums::of(&queue.listing, &queue.sums, queue.counts_at_risk()) {
        KnownSums::Known(known) => known,
        KnownSums::Pending => return vec![quiet("sum …")],
        KnownSums::Failed => return vec![quiet("sum unknown")],
        KnownSums::NotTold => return vec![quiet("sums not available here").or(rank::COUNTS, "no sums here")],
    };
    let unpriced: u64 = known.iter().map(|sum| sum.unpriced).sum();
    let money: Vec<Money> = known.into_iter().filter(|sum| sum.unpriced < sum.alerts).map(|sum| sum.money).collect();
    let untold = Segment::new(2, format!("{} without an amount", count(unpriced)), draw.theme.quiet);
    let untold = (unpriced > 0).then(|| untold.or_none(rank::COUNTS));
    sums(&money, 3, draw).into_iter().chain(untold).collect()
}

/// Number of alerts that are due soon.
fn at_risk(queue: &Queue, draw: &DrawContext<'_>) -> Option<Segment<Action>> {
    let theme = draw.theme;
    let Loadable::Loaded(at_risk) = &queue.at_risk else { return None };
    let alerts: u64 = at_risk.iter().map(|risk| risk.alerts).sum();
    if alerts == 0 {
        // Where there is nothing at all nothing can expire.
        let none = Segment::new(3, format!("none due within {AT_RISK_HOURS} h"), theme.quiet).or_none(rank::SORT);
        return (queue.all != Loadable::Loaded(0)).then_some(none);
    }
    let said = format!("▲ {} due within {AT_RISK_HOURS} h", count(alerts));
    Some(Segment::new(3, said, theme.warning).or_none(rank::AT_RISK))
}

/// Sums, and how many more there are, after so many blanks; as many as have room. The first one is shortened last: a
/// sum in one currency never stands for all.
fn sums(money: &[Money], gap: u16, draw: &DrawContext<'_>) -> Option<Segment<Action>> {
    let told = |shown: usize, write: fn(&Money) -> String| {
        let more = money.len() - shown;
        let more = (more > 0).then(|| format!("+{more} more"));
        money[..shown].iter().map(write).chain(more).collect::<Vec<_>>().join("  ")
    };
    let most = money.len().min(MOST_SUMS);
    if most == 0 {
        return None;
    }
    let all = Segment::new(gap, told(most, Money::to_string), draw.theme.plain);
    let fewer: Vec<(usize, u8)> = (1..most).zip(rank::ONE_SUM..).collect();
    let fewer = fewer.into_iter().rev().fold(all, |sums, (shown, rank)| sums.or(rank, told(shown, Money::to_string)));
    Some(fewer.or(rank::SHORT_SUM, told(1, Money::short)))
}

/// The view's name and what it is sorted by: `Open, by deadline`.
pub fn title(queue: &Queue) -> String {
    if queue.is_set_aside() {
        return name(queue);
    }
    let sort = queue.order();
    let refused = match queue.sort() {
        asked if asked == sort => String::new(),
        asked => format!(" (no order by {} here)", query::sort_word(asked).trim_start_matches('-')),
    };
    format!("{}, {}{refused}", name(queue), order_words(sort))
}

/// What a list is sorted by: `by deadline`, `newest first`.
fn order_words(sort: Sort) -> String {
    let word = query::field_word(sort.field);
    let is_first_first = sort.order == SortOrder::Ascending;
    match sort.field {
        // What lapsed is listed by itself: its name says what is latest.
        SortField::ExpiredAt => if is_first_first { "earliest first" } else { "latest first" }.to_owned(),
        SortField::AlertTimeStamp => if is_first_first { "oldest first" } else { "newest first" }.to_owned(),
        field if is_time(field) => format!("{} {word} first", if is_first_first { "earliest" } else { "latest" }),
        _ if is_first_first => format!("by {word}"),
        SortField::Amount => format!("by {word}, largest first"),
        SortField::HoursLeft => format!("by {word}, latest first"),
        _ => format!("by {word}, Z to A"),
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

/// The title in few words: what it is sorted by stands where no column on the screen shows it.
fn short_title(queue: &Queue) -> String {
    let name = name(queue);
    let sort = queue.order();
    if queue.is_set_aside()
        || queue.placed_columns().iter().any(|placed| placed.column.sort_field() == Some(sort.field))
    {
        return name;
    }
    match (sort.field, sort.order) {
        (SortField::AlertTimeStamp | SortField::ExpiredAt, _) => format!("{name}, {}", order_words(sort)),
        (field, SortOrder::Ascending) => format!("{name}, by {} ▲", query::field_word(field)),
        (field, SortOrder::Descending) => format!("{name}, by {} ▼", query::field_word(field)),
    }
}

fn is_time(field: SortField) -> bool {
    use SortField::{AlertTimeStamp, CreatedAt, ExpiredAt, TransactionTimeStamp, UpdatedAt};
    matches!(field, AlertTimeStamp | TransactionTimeStamp | CreatedAt | UpdatedAt | ExpiredAt)
}
