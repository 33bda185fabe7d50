//! The days on the Insights screen: how alerts were answered on each of the last seven, and how many expired.

use ratatui::text::{Line, Span};

use super::parts::{InsightsView, heading, limited};
use crate::console::text::count;
use crate::console::times;
use crate::domain::DayCount;

/// The days that are told.
const DAYS: i64 = 7;

/// A column of the table: its title, its number of a day, and whether it stands only where there is any.
type Column = (&'static str, fn(&DayCount) -> u64, bool);

const COLUMNS: [Column; 5] = [
    ("REFUNDED", |count| count.refunded, false),
    ("NOT REFUNDED", |count| count.not_refunded, false),
    ("NOT SETTLED", |count| count.not_settled, true),
    ("INVALID", |count| count.invalid, false),
    ("EXPIRED", |count| count.missed, false),
];

/// A row for each of the last seven days, today first.
pub fn answered(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let (theme, calendar, today) = (view.draw.theme, view.insights().calendar, view.today());
    let on = |day: i64, pick: fn(&DayCount) -> u64| {
        view.insights().days.iter().filter(|count| count.day == day).map(pick).sum::<u64>()
    };
    let days = || (today - DAYS + 1..=today).rev();
    let has_any = |pick: fn(&DayCount) -> u64| days().any(|day| on(day, pick) > 0);
    let columns: Vec<Column> = COLUMNS.into_iter().filter(|(_, pick, only_any)| !only_any || has_any(*pick)).collect();
    let mut lines = vec![heading(view, "ANSWERED PER DAY", "")];
    lines.extend(limited(view, false, width));
    let titles: String = columns.iter().map(|(title, ..)| format!("  {title}")).collect();
    lines.push(Line::from(view.quiet(format!("{:<8}{titles}", ""))));
    for day in days() {
        let date = calendar.day_start(day).with_timezone(&calendar.offset()).date_naive();
        let label = if day == today { "today".to_owned() } else { times::day_of_axis(date) };
        let mut line = Line::from(view.plain(format!("{label:<8}")));
        for (title, pick, _) in &columns {
            let number = on(day, *pick);
            let style = match (number, *title) {
                (0, _) => theme.quiet,
                (_, "EXPIRED") => theme.danger,
                _ => theme.plain,
            };
            line.push_span(Span::styled(format!("  {:>wide$}", count(number), wide = title.len()), style));
        }
        lines.push(line);
    }
    lines
}
