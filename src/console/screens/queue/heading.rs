//! The line over the list: its name and totals, what is marked and came in, what lapses soon, and the sums of that. Where there is little
//! room words are shortened before anything goes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::state::{AT_RISK_HOURS, Queue, QueueTarget};
use crate::console::text::{columns, count, counted, sanitize};
use crate::console::{Action, DrawContext, Loadable, Pen};
use crate::domain::money::sums_by_currency;
use crate::domain::{Alert, AlertFilter, AlertStatus, Money, SortField, SortOrder, query};

/// How many times the line can be said in fewer words.
const SHORTEST: u8 = 4;

/// A part of the line.
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

/// The parts of the line at one of its lengths, and whether all of them have room.
fn pieces(queue: &Queue, draw: &DrawContext<'_>, brevity: u8, width: u16) -> (Vec<Piece>, bool) {
    let theme = draw.theme;
    let mut pieces = Vec::with_capacity(12);
    let title = title(queue);
    let name = if brevity < SHORTEST { title.as_str() } else { title.split(", by ").next().unwrap_or(&title) };
    pieces.push(Piece::new(0, name, theme.strong));
    match queue.listing.total() {
        Some(total) => {
            pieces.push(Piece::new(3, count(total), theme.strong));
            if let Some(all) = queue.all.loaded().filter(|all| **all != total && brevity < 2) {
                pieces.push(Piece::new(0, format!(" of {}", count(*all)), theme.quiet));
            }
        }
        None => pieces.push(Piece::new(3, "…", theme.quiet)),
    }
    if queue.incoming.is_some() && queue.listing.total().is_some() {
        pieces.push(Piece::new(0, " …", theme.accent));
    }
    if let Some(words) = queue.snoozed_words() {
        pieces.push(Piece::new(2, words, theme.quiet));
    }
    // From here on what has no room is left out; what comes first has it first.
    let room = |pieces: &[Piece]| width.saturating_sub(pieces.iter().map(|piece| piece.gap + columns(&piece.text)).sum());
    let left = room(&pieces);
    let marked_all = put_marked(queue, draw, &mut pieces, brevity, left);
    if queue.listing.arrived_above() > 0 {
        let many = count(queue.listing.arrived_above());
        let words = if brevity < 3 { format!("{many} came in above  ") } else { format!("{many} above  ") };
        pieces.push(Piece::new(3, words, theme.accent).doing(Action::Arrived));
        pieces.push(Piece::new(0, draw.key(Action::Arrived), theme.key).doing(Action::Arrived));
    }
    if let Some(new) = queue.new.zip(queue.listing.total()).and_then(|(now, before)| now.checked_sub(before)).filter(|new| *new > 0) {
        pieces.push(Piece::new(2, format!("{} new", count(new)), theme.accent));
    }
    let left = room(&pieces);
    let risk_all = put_at_risk(queue, draw, &mut pieces, brevity, left);
    let needed: u16 = pieces.iter().map(|piece| piece.gap + columns(&piece.text)).sum();
    (pieces, marked_all && risk_all && needed <= width)
}

/// How many alerts are marked, their sums, and the key that answers them. Whether all of it has room.
fn put_marked(queue: &Queue, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>, brevity: u8, room: u16) -> bool {
    let (theme, marked) = (draw.theme, &queue.marked);
    let (words, action) = match queue.range_rows() {
        Some((first, rows)) => {
            let shown = queue.listing.lines_between(first, first + rows);
            (format!("range of {}", counted(shown, "alert", "alerts")), Action::MarkRange)
        }
        None if marked.is_reading() => ("reading what is to be marked…".to_owned(), Action::Back),
        None if marked.is_empty() => return true,
        None => (format!("{} marked", count(marked.alerts().len() as u64)), Action::Bulk),
    };
    let key = draw.key(action);
    let needed = 3 + columns(&words) + 2 + columns(&key);
    pieces.push(Piece::new(3, words, theme.accent).doing(action));
    let mut all = needed <= room;
    if action == Action::Bulk {
        let money = sums_by_currency(marked.alerts().iter().filter_map(Alert::money).map(|money| (1, money)));
        // Room for what lapses is kept where it gets scarce.
        let most = [room, 30, 22, 18, 14][usize::from(brevity.min(SHORTEST))];
        let sums = sums(&money, room.saturating_sub(needed).min(most));
        all &= sums.is_some() || money.is_empty();
        put_sums(sums, draw, pieces);
    }
    pieces.push(Piece::new(2, key, theme.key).doing(action));
    // The footer has the words too.
    let words = draw.keymap.binding(action).filter(|_| action == Action::Bulk && brevity == 0 && room > needed + 110);
    pieces.extend(words.map(|binding| Piece::new(1, &*binding.words, theme.quiet)));
    all
}

/// How many alerts lapse soon, and their sums. Whether all of it has room.
fn put_at_risk(queue: &Queue, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>, brevity: u8, room: u16) -> bool {
    let theme = draw.theme;
    let whole = |piece: &Piece| piece.gap + columns(&piece.text) <= room;
    let at_risk = match &queue.at_risk {
        Loadable::Loaded(at_risk) => at_risk,
        // Only an avert counts what lapses, and adds it up.
        Loadable::NotAsked if !queue.counts_at_risk() => {
            let ways = ["what lapses soon, and sums, are not told here", "no sums here"];
            pieces.extend(ways.map(|words| Piece::new(3, words, theme.quiet)).into_iter().find(whole));
            return true;
        }
        _ => return true,
    };
    let alerts: u64 = at_risk.iter().map(|risk| risk.alerts).sum();
    if alerts == 0 {
        let ways = [format!("nothing open lapses within {AT_RISK_HOURS} h"), format!("none lapses in {AT_RISK_HOURS} h")];
        pieces.extend(ways.map(|words| Piece::new(3, words, theme.quiet)).into_iter().find(whole));
        return true;
    }
    // It counts everything that is open: said where something else is listed, so that nobody takes it for the list's sum.
    let all_open = AlertFilter { statuses: vec![AlertStatus::Open], ..AlertFilter::default() };
    let scope = if *queue.listing.filter() == all_open { "" } else { "in all " };
    let (verb, alerts) = (if alerts == 1 { "lapses" } else { "lapse" }, count(alerts));
    let words = match brevity {
        0 => format!("▲ {scope}{alerts} {verb} within {AT_RISK_HOURS} h"),
        1 | 2 => format!("▲ {scope}{alerts} {verb} in {AT_RISK_HOURS} h"),
        _ => format!("▲ {scope}{alerts} in {AT_RISK_HOURS} h"),
    };
    let piece = Piece::new(3, words, theme.warning);
    if !whole(&piece) {
        return false;
    }
    let left = room - piece.gap - columns(&piece.text);
    pieces.push(piece);
    let money: Vec<Money> = at_risk.iter().map(|risk| risk.money.clone()).collect();
    // What is marked has a sum of its own, which comes first.
    let has_other = !queue.marked.is_empty();
    let sums = sums(&money, left.saturating_sub(1));
    let all = sums.is_some() || has_other;
    if sums.is_some() {
        pieces.push(Piece::new(1, "", theme.plain));
    }
    put_sums(sums, draw, pieces);
    all
}

fn put_sums(sums: Option<(Vec<String>, String)>, draw: &DrawContext<'_>, pieces: &mut Vec<Piece>) {
    let Some((sums, more)) = sums else { return };
    pieces.extend(sums.into_iter().map(|sum| Piece::new(2, sum, draw.theme.plain)));
    if !more.is_empty() {
        pieces.push(Piece::new(2, more, draw.theme.quiet));
    }
}

/// As many of these sums as there is room for, each after two blanks, and how many more there are; none where not even the first one has
/// room. They are shortened only where the first one has no room as it is; a sum in one currency never stands for all.
fn sums(money: &[Money], room: u16) -> Option<(Vec<String>, String)> {
    if money.is_empty() {
        return None;
    }
    let whole: Vec<String> = money.iter().map(Money::to_string).collect();
    let short: Vec<String> = money.iter().map(Money::short).collect();
    let width = |shown: &[String], more: &str| {
        let more = if more.is_empty() { 0 } else { 2 + columns(more) };
        shown.iter().map(|sum| 2 + columns(sum)).sum::<u16>() + more
    };
    let counted = |left_out: usize, word: &str| if left_out == 0 { String::new() } else { format!("+{left_out}{word}") };
    for (all, word) in [(&whole, " more"), (&whole, ""), (&short, " more"), (&short, "")] {
        for shown in (1..=all.len()).rev() {
            let more = counted(all.len() - shown, word);
            if width(&all[..shown], &more) <= room {
                return Some((all[..shown].to_vec(), more));
            }
        }
    }
    None
}

/// The view's name and what it is sorted by: `Open, by deadline`.
pub fn title(queue: &Queue) -> String {
    let sort = queue.order();
    let word = query::sort_word(sort);
    let word = word.trim_start_matches('-');
    let refused = match queue.sort() {
        asked if asked == sort => String::new(),
        asked => format!(" (no order by {} here)", query::sort_word(asked).trim_start_matches('-')),
    };
    let direction = match (sort.order, sort.field) {
        (SortOrder::Ascending, _) => "",
        (SortOrder::Descending, SortField::Amount | SortField::HoursLeft) => ", largest first",
        (SortOrder::Descending, field) if is_time(field) => ", latest first",
        (SortOrder::Descending, _) => ", Z to A",
    };
    if queue.is_set_aside() {
        return format!("Found, {} set aside", sanitize(&queue.view.name));
    }
    let narrowed = if *queue.filter() == queue.view.filter { "" } else { " (changed)" };
    format!("{}{narrowed}, by {word}{direction}{refused}", sanitize(&queue.view.name))
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
    #[case::in_fewer_words(24, "1,234,567.50 EUR  +2")]
    #[case::shortened(20, "1.2M EUR  +2 more")]
    #[case::no_room(9, "")]
    fn sums_are_shortened_and_counted_before_they_go(#[case] room: u16, #[case] words: &str) {
        let of = |amount: &str, currency: &str| Money { amount: amount.parse().unwrap(), currency: Currency::new(currency) };
        let money = [of("1234567.50", "EUR"), of("900", "USD"), of("12000", "JPY")];

        let shown = sums(&money, room).map_or_else(String::new, |(shown, more)| [shown, vec![more]].concat().join("  "));

        assert_eq!(shown.trim_end(), words);
        assert!(columns(&shown) <= room);
    }
}
