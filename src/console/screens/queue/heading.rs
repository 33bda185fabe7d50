//! The line over the list: its name, how many alerts it has and their sums, what is marked and came in, and what lapses
//! soon. Where there is little room words are shortened before anything goes; the sums go last.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::listing::ListRow;
use super::marked::MOST_MARKED;
use super::state::{AT_RISK_HOURS, Queue, QueueTarget};
use super::sums::KnownSums;
use crate::console::text::{columns, count, counted, cut, sanitize};
use crate::console::{Action, DrawContext, Loadable, Pen};
use crate::domain::money::sums_by_currency;
use crate::domain::{Alert, AlertFilter, AlertStatus, Money, Sort, SortField, SortOrder, query};

/// How many times the line can be said in fewer words.
const SHORTEST: u8 = 7;

/// From here on the name gives way too: what lapses soon is worth more than all of it.
const NAME_GIVES_WAY: u8 = 6;

/// No name is cut to fewer columns.
const LEAST_NAME: u16 = 6;

/// A part of the line.
#[derive(Clone)]
struct Piece {
    /// Blank columns before it.
    gap: u16,
    text: String,
    style: Style,
    /// What a click on it does.
    action: Option<Action>,
}

impl Piece {
    fn new(gap: u16, text: impl Into<String>, style: Style) -> Self {
        Self { gap, text: text.into(), style, action: None }
    }

    fn doing(self, action: Action) -> Self {
        Self { action: Some(action), ..self }
    }
}

/// Draws the line in as many words as there is room for.
pub fn draw(queue: &Queue, draw: &DrawContext<'_>, buffer: &mut Buffer, area: Rect) {
    let line = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    let mut ways = (0..SHORTEST).map(|brevity| pieces(queue, draw, brevity, line.width));
    let (pieces, _) = ways.find(|(_, fits)| *fits).unwrap_or_else(|| pieces(queue, draw, SHORTEST, line.width));
    let mut pen = Pen::new(buffer, line);
    let mut before: Option<(Rect, Action)> = None;
    for Piece { gap, text, style, action } in &pieces {
        pen.skip(*gap);
        let mut area = pen.put(&sanitize(text), *style);
        if let Some(action) = action {
            // The words and the key after them are one target.
            if let Some((words, _)) = before.filter(|(_, known)| known == action) {
                area = area.union(words);
            }
            queue.targets.push(area, QueueTarget::Do(*action));
        }
        before = action.map(|action| (area, action));
    }
}

/// The parts of the line at one of its lengths, and whether all of them have room. Sums have what the others leave.
fn pieces(queue: &Queue, draw: &DrawContext<'_>, brevity: u8, width: u16) -> (Vec<Piece>, bool) {
    let (mut pieces, behind) = (name_and_counts(queue, draw, brevity), news(queue, draw, brevity));
    let room = width.saturating_sub(needed(&pieces) + needed(&behind));
    // One sum stands there: that of what is marked, where something is.
    let has_marks = queue.marked.range.is_some() || queue.marked.is_reading() || !queue.marked.is_empty();
    let put_sums = if has_marks { put_marked } else { put_list_sums };
    let mut summed = pieces.clone();
    let mut all = put_sums(queue, draw, &mut summed, brevity, SumRoom { columns: room, most: usize::MAX });
    if brevity == NAME_GIVES_WAY && !all {
        // The name is cut for the first sum alone.
        let columns = room + columns(&pieces[0].text).saturating_sub(LEAST_NAME);
        summed.clone_from(&pieces);
        all = put_sums(queue, draw, &mut summed, brevity, SumRoom { columns, most: 1 });
    }
    pieces = summed;
    pieces.extend(behind);
    let excess = needed(&pieces).saturating_sub(width);
    if brevity >= NAME_GIVES_WAY && excess > 0 {
        // The name goes before the sums do.
        let name = &mut pieces[0].text;
        *name = cut(name, columns(name).saturating_sub(excess).max(LEAST_NAME)).into_owned();
    }
    let fits = needed(&pieces) <= width;
    (pieces, all && fits)
}

/// The room of sums: columns, and how many of them have it at most.
#[derive(Clone, Copy)]
struct SumRoom {
    columns: u16,
    most: usize,
}

impl SumRoom {
    fn less(self, columns: u16) -> Self {
        Self { columns: self.columns.saturating_sub(columns), ..self }
    }
}

fn needed(pieces: &[Piece]) -> u16 {
    pieces.iter().map(|piece| piece.gap + columns(&piece.text)).sum()
}

/// The name of what is listed, and how many alerts it has.
fn name_and_counts(queue: &Queue, draw: &DrawContext<'_>, brevity: u8) -> Vec<Piece> {
    let (theme, title) = (draw.theme, title(queue));
    let called = match brevity {
        ..4 => title,
        NAME_GIVES_WAY if queue.is_set_aside() => "Found".to_owned(),
        NAME_GIVES_WAY => name(queue),
        _ => short_title(queue),
    };
    let mut pieces = vec![Piece::new(0, called, theme.strong)];
    match queue.listing.listed() {
        Some(listed) => {
            pieces.push(Piece::new(3, count(listed), theme.strong));
            // Of what was found it would say nothing, and it was counted at another moment.
            if let Some(all) = queue.all.loaded().filter(|all| **all != listed && brevity < 2 && !queue.is_set_aside())
            {
                pieces.push(Piece::new(0, format!(" of {}", count(*all)), theme.quiet));
            }
        }
        None => pieces.push(Piece::new(3, "…", theme.quiet)),
    }
    if queue.incoming.is_some() && queue.listing.total().is_some() {
        pieces.push(Piece::new(0, " …", theme.accent));
    }
    let is_old = queue.link.trouble.is_some() && queue.listing.total().is_some() && brevity < NAME_GIVES_WAY;
    if let Some(at) = queue.link.read_at.filter(|_| is_old) {
        // The rows look as they do while they are read again and again.
        pieces.push(Piece::new(3, format!("as of {}", draw.times.day_near(at, draw.now)), theme.warning));
    }
    // What lapses soon is worth more than what is put aside.
    if let Some(words) = queue.snoozed_words().filter(|_| brevity < NAME_GIVES_WAY - 1) {
        pieces.push(Piece::new(2, words, theme.quiet));
    }
    pieces
}

/// What came in, and what lapses soon.
fn news(queue: &Queue, draw: &DrawContext<'_>, brevity: u8) -> Vec<Piece> {
    let theme = draw.theme;
    let mut pieces = Vec::new();
    if let Some(begun) = draw.begun.filter(|_| queue.marked.is_empty()) {
        // Offered since the start: the key opens it.
        let words = match brevity {
            ..3 => format!("answer to {} begun  ", count(begun.alerts.len() as u64)),
            NAME_GIVES_WAY.. => "begun  ".to_owned(),
            _ => "answer begun  ".to_owned(),
        };
        pieces.push(Piece::new(3, words, theme.accent).doing(Action::Bulk));
        pieces.push(Piece::new(0, draw.key(Action::Bulk), theme.key).doing(Action::Bulk));
    }
    if queue.listing.arrived_above() > 0 {
        let many = count(queue.listing.arrived_above());
        let words = if brevity < 3 { format!("{many} came in above  ") } else { format!("{many} above  ") };
        pieces.push(Piece::new(3, words, theme.accent).doing(Action::Arrived));
        pieces.push(Piece::new(0, draw.key(Action::Arrived), theme.key).doing(Action::Arrived));
    }
    if let Some(new) =
        queue.new.zip(queue.listing.total()).and_then(|(now, before)| now.checked_sub(before)).filter(|new| *new > 0)
    {
        pieces.push(Piece::new(2, format!("{} new", count(new)), theme.accent));
    }
    if brevity < SHORTEST {
        pieces.extend(at_risk(queue, draw, brevity));
    }
    if matches!(queue.at_risk, Loadable::NotAsked) && !queue.counts_at_risk() && brevity < 2 {
        // Only an avert counts what lapses; Insights reads lists for it.
        let words = if brevity == 0 { "what lapses soon: Insights  " } else { "what lapses soon  " };
        pieces.push(Piece::new(3, words, theme.quiet).doing(Action::ShowInsights));
        pieces.push(Piece::new(0, draw.key(Action::ShowInsights), theme.key).doing(Action::ShowInsights));
    }
    pieces
}

/// How many alerts are marked, their sums, and the key that answers them. Whether all of it has room.
fn put_marked(queue: &Queue, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>, brevity: u8, room: SumRoom) -> bool {
    let (theme, marked) = (draw.theme, &queue.marked);
    let (words, action) = match queue.range_rows() {
        Some((first, rows)) => {
            let shown = queue.listing.lines_between(first, first + rows);
            let alerts = if brevity < 3 { counted(shown, "alert", "alerts") } else { count(shown) };
            (format!("range of {alerts}"), Action::MarkRange)
        }
        None if marked.is_reading() => ("reading what is to be marked…".to_owned(), Action::Back),
        None if marked.is_empty() => return true,
        None => (format!("{} marked", count(marked.alerts().len() as u64)), Action::Bulk),
    };
    let (key, does) = (draw.key(action), does(action));
    // Where nothing is sent from, nothing is offered that would.
    let is_idle = action == Action::Bulk && draw.place.read_only;
    // What lapses soon is worth more than the key, which says nothing without what it does; the footer has it too.
    let is_told = !is_idle && brevity != NAME_GIVES_WAY;
    let needed = 3 + columns(&words) + if is_told { 2 + columns(&key) + columns(does) } else { 0 };
    let marked_words = Piece::new(3, words, theme.accent);
    pieces.push(if is_idle { marked_words } else { marked_words.doing(action) });
    let mut all = needed <= room.columns;
    let alerts: Option<Vec<&Alert>> = match action {
        Action::Bulk => Some(marked.alerts().iter().collect()),
        Action::MarkRange => in_range(queue),
        _ => Some(Vec::new()),
    };
    match alerts {
        Some(alerts) => {
            let money = sums_by_currency(alerts.into_iter().filter_map(Alert::money).map(|money| (1, money)));
            let sums = sums(&money, room.less(needed));
            all &= sums.is_some() || money.is_empty();
            put_sums(sums, draw, pieces);
        }
        None if brevity == NAME_GIVES_WAY => pieces.push(Piece::new(2, "no sum yet", theme.quiet)),
        None => pieces.push(Piece::new(2, "sum not known yet", theme.quiet)),
    }
    if is_told {
        pieces.push(Piece::new(2, key, theme.key).doing(action));
        pieces.push(Piece::new(0, does, theme.quiet).doing(action));
    }
    all
}

/// What the key behind the sums does with what is marked.
fn does(action: Action) -> &'static str {
    match action {
        Action::Bulk => " answers",
        Action::MarkRange => " marks",
        _ => " stops",
    }
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

/// The sums of what is listed. Whether they have room.
fn put_list_sums(queue: &Queue, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>, brevity: u8, room: SumRoom) -> bool {
    let quiet = draw.theme.quiet;
    if queue.listing.total().is_none() {
        return true;
    }
    let known = match KnownSums::of(&queue.listing, &queue.sums, queue.counts_at_risk()) {
        KnownSums::Known(known) => known,
        KnownSums::Pending => {
            pieces.push(Piece::new(3, "sum …", quiet));
            return true;
        }
        KnownSums::Failed => {
            pieces.push(Piece::new(3, "sum not known", quiet));
            return true;
        }
        KnownSums::NotTold => {
            pieces.push(Piece::new(3, if brevity < 2 { "sums are not told here" } else { "sum not told" }, quiet));
            return true;
        }
    };
    let unpriced: u64 = known.iter().map(|sum| sum.unpriced).sum();
    let untold =
        (unpriced > 0 && brevity < 2).then(|| Piece::new(2, format!("{} without an amount", count(unpriced)), quiet));
    let room = room.less(untold.as_ref().map_or(0, |piece| piece.gap + columns(&piece.text)));
    let money: Vec<Money> = known.into_iter().filter(|sum| sum.unpriced < sum.alerts).map(|sum| sum.money).collect();
    let shown = sums(&money, room.less(1));
    let all = shown.is_some() || money.is_empty();
    if shown.is_some() {
        pieces.push(Piece::new(1, "", quiet));
    }
    put_sums(shown, draw, pieces);
    pieces.extend(untold);
    all
}

/// How many alerts lapse soon.
fn at_risk(queue: &Queue, draw: &DrawContext<'_>, brevity: u8) -> Option<Piece> {
    let theme = draw.theme;
    let Loadable::Loaded(at_risk) = &queue.at_risk else { return None };
    let alerts: u64 = at_risk.iter().map(|risk| risk.alerts).sum();
    if alerts == 0 {
        let words = match brevity {
            // Where there is nothing at all nothing can lapse.
            _ if queue.all == Loadable::Loaded(0) => return None,
            0 => format!("nothing open lapses within {AT_RISK_HOURS} h"),
            1..=3 => format!("none lapses within {AT_RISK_HOURS} h"),
            _ => return None,
        };
        return Some(Piece::new(3, words, theme.quiet));
    }
    // It counts everything that is open: said where something else is listed, so that nobody takes it for the list's.
    let all_open = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };
    let is_all = *queue.listing.filter() == all_open;
    let (verb, alerts) = (if alerts == 1 { "lapses" } else { "lapse" }, count(alerts));
    let whose = match (is_all, brevity) {
        (true, _) => "",
        (false, ..3) => " of all open",
        (false, _) => " open",
    };
    let verb = if brevity < 5 { format!(" {verb}") } else { String::new() };
    let words = format!("▲ {alerts}{whose}{verb} within {AT_RISK_HOURS} h");
    Some(Piece::new(3, words, theme.warning))
}

fn put_sums(sums: Option<(Vec<String>, String)>, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>) {
    let Some((sums, more)) = sums else { return };
    pieces.extend(sums.into_iter().map(|sum| Piece::new(2, sum, draw.theme.plain)));
    if !more.is_empty() {
        pieces.push(Piece::new(2, more, draw.theme.quiet));
    }
}

/// As many of these sums as there is room for, each after two blanks, and how many more there are; none where not even
/// the first one has room. They are shortened only where the first one has no room as it is; a sum in one currency
/// never stands for all.
fn sums(money: &[Money], room: SumRoom) -> Option<(Vec<String>, String)> {
    if money.is_empty() {
        return None;
    }
    let whole: Vec<String> = money.iter().map(Money::to_string).collect();
    let short: Vec<String> = money.iter().map(Money::short).collect();
    let width = |shown: &[String], more: &str| {
        let more = if more.is_empty() { 0 } else { 2 + columns(more) };
        shown.iter().map(|sum| 2 + columns(sum)).sum::<u16>() + more
    };
    let counted = |left_out: usize| if left_out == 0 { String::new() } else { format!("+{left_out} more") };
    for all in [&whole, &short] {
        for shown in (1..=all.len().min(room.most)).rev() {
            let more = counted(all.len() - shown);
            if width(&all[..shown], &more) <= room.columns {
                return Some((all[..shown].to_vec(), more));
            }
        }
    }
    None
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
        return format!("Found, {} set aside", sanitize(&queue.view.name));
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::Currency;

    #[rstest]
    #[case::all(60, "1,234,567.50 EUR  900.00 USD  12,000 JPY")]
    #[case::the_first_and_how_many_more(30, "1,234,567.50 EUR  +2 more")]
    #[case::shortened_before_the_words_go(24, "1.2M EUR  +2 more")]
    #[case::shortened(20, "1.2M EUR  +2 more")]
    #[case::no_room(9, "")]
    fn sums_are_shortened_and_counted_before_they_go(#[case] room: u16, #[case] words: &str) {
        let of =
            |amount: &str, currency: &str| Money { amount: amount.parse().unwrap(), currency: Currency::new(currency) };
        let money = [of("1234567.50", "EUR"), of("900", "USD"), of("12000", "JPY")];

        let shown = sums(&money, SumRoom { columns: room, most: usize::MAX })
            .map_or_else(String::new, |(shown, more)| [shown, vec![more]].concat().join("  "));

        assert_eq!(shown.trim_end(), words);
        assert!(columns(&shown) <= room);
    }
}
