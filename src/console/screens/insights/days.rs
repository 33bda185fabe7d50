//! The last days on the Insights screen as a table: how many alerts were answered on each, and how many expired.

use ratatui::text::Line;

use super::parts::{InsightsView, heading, limited};
use crate::console::text::count;
use crate::console::times;
use crate::domain::DayCount;

/// Days of the table.
const DAYS: i64 = 7;

/// Answers of each of the last days, today first.
pub fn days(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let (calendar, today) = (view.insights().calendar, view.today());
    let whose = if calendar.is_utc() { "UTC days" } else { "local days" };
    let mut lines = vec![heading(view, "ANSWERED PER DAY", whose)];
    lines.extend(limited(view, false, width));
    lines.push(Line::from(view.quiet(format!("{:<12}{:>9}{:>9}", "", "ANSWERED", "EXPIRED"))));
    for day in (0..DAYS).map(|ago| today - ago) {
        let on_day = |pick: fn(&DayCount) -> u64| {
            let counted = view.insights().days.iter().filter(|count| count.day == day);
            count(counted.map(pick).sum())
        };
        let date = || times::day_of_axis(calendar.day_start(day).with_timezone(&calendar.offset()).date_naive());
        let name = if day == today { "today".to_owned() } else { date() };
        let answered = on_day(DayCount::decisions);
        let expired = on_day(|count| count.missed);
        let row = format!("{name:<12}{answered:>9}{expired:>9}");
        lines.push(Line::from(if day == today { view.strong(row) } else { view.plain(row) }));
    }
    lines
}
