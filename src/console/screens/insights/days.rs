//! The days on the Insights screen as charts: decisions of each, and what lapsed on it.

use ratatui::style::Style;
use ratatui::text::Line;

use super::chart::{column_chart, pack};
use super::parts::{InsightsView, heading, limited};
use crate::console::text::count;
use crate::console::times;
use crate::domain::DayCount;
use crate::domain::insights::{INSIGHT_DAYS, first_day};

/// How many rows the charts of days have: of decisions, and of what lapsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChartRows {
    pub decisions: u16,
    pub lapsed: u16,
}

impl ChartRows {
    /// The least.
    pub const LEAST: Self = Self { decisions: 6, lapsed: 1 };

    /// The most: taller ones are no clearer.
    pub const MOST: Self = Self { decisions: 18, lapsed: 6 };

    /// With so many rows more.
    pub fn with(room: u16) -> Self {
        let lapsed = (room / 3).min(Self::MOST.lapsed - Self::LEAST.lapsed);
        let decisions = (room - lapsed).min(Self::MOST.decisions - Self::LEAST.decisions);
        Self { decisions: Self::LEAST.decisions + decisions, lapsed: Self::LEAST.lapsed + lapsed }
    }

    /// With so many rows more for the decisions, where what lapsed stands beside them.
    pub fn beside(room: u16) -> Self {
        Self { decisions: Self::MOST.decisions.min(Self::LEAST.decisions + room), ..Self::MOST }
    }

    /// No column is taller than it counts, but for the least: one decision is no tower.
    fn at_most(rows: u16, least: u16, counted: u64) -> u16 {
        rows.min(u16::try_from(counted).unwrap_or(u16::MAX).max(least))
    }
}

/// Whose days they are.
fn day_words(view: &InsightsView<'_>) -> &'static str {
    if view.insights().calendar.is_utc() { "UTC days" } else { "local days" }
}

/// The days that are told, each with what is counted of it.
fn each_day(view: &InsightsView<'_>, pick: fn(&DayCount) -> u64) -> Vec<(i64, u64)> {
    let on = |day: i64| view.insights().days.iter().filter(|count| count.day == day).map(pick).sum::<u64>();
    (first_day(view.insights().calendar, view.now())..=view.today()).map(|day| (day, on(day))).collect()
}

/// A chart of days in so many rows: today in the first style, the days before in the other one.
fn days_chart(
    view: &InsightsView<'_>,
    days: &[(i64, u64)],
    (today, before): (Style, Style),
    width: u16,
    rows: u16,
) -> Vec<Line<'static>> {
    let styled = days.iter().map(|(day, number)| (*number, if *day == view.today() { today } else { before }));
    column_chart(&styled.collect::<Vec<_>>(), day_cells(days, width), rows, view.draw.theme.quiet)
}

/// How wide a day is, and the gap behind it, as far as there is room: two cells and a gap, or one with or without it.
fn day_cells(days: &[(i64, u64)], width: u16) -> (usize, usize) {
    match usize::from(width) / days.len().max(1) {
        3.. => (2, 1),
        2 => (1, 1),
        _ => (1, 0),
    }
}

/// The first and the last day, below a chart of them.
fn day_axis(view: &InsightsView<'_>, days: &[(i64, u64)], width: u16) -> Line<'static> {
    let (calendar, (wide, gap)) = (view.insights().calendar, day_cells(days, width));
    let first = days.first().map_or(view.today(), |(day, _)| *day);
    let first = times::day_of_axis(calendar.day_start(first).with_timezone(&calendar.offset()).date_naive());
    let rest = (days.len() * (wide + gap)).saturating_sub(first.len() + gap);
    Line::from(view.quiet(format!("{first}{:>rest$}", "today")))
}

/// Decisions of each day as columns.
pub fn decisions(view: &InsightsView<'_>, width: u16, rows: ChartRows) -> Vec<Line<'static>> {
    let theme = view.draw.theme;
    let made = each_day(view, DayCount::decisions);
    let numbers = || made.iter().map(|(_, number)| *number);
    let (most, all) = (numbers().max().unwrap_or(0), numbers().sum::<u64>());
    if most == 0 {
        let of_known = if view.insights().undated > 0 { " whose time is known" } else { "" };
        let told = format!("none{of_known} in {INSIGHT_DAYS} {}", day_words(view));
        return std::iter::once(heading(view, "DECISIONS A DAY", &told)).chain(limited(view, false, width)).collect();
    }
    let told = format!(
        "{} in {INSIGHT_DAYS} {}, {} today",
        count(all),
        day_words(view),
        count(numbers().next_back().unwrap_or(0))
    );
    let mut lines = vec![heading(view, "DECISIONS A DAY", &told)];
    let with_most = heading(view, "DECISIONS A DAY", &format!("{told}, most {}", count(most)));
    // A number that is cut is another one.
    if with_most.width() <= usize::from(width) {
        lines = vec![with_most];
    }
    lines.extend(limited(view, false, width));
    if view.plain {
        lines.extend(days_told(view, &made, width));
    } else {
        let rows = ChartRows::at_most(rows.decisions, ChartRows::LEAST.decisions, most);
        lines.extend(days_chart(view, &made, (theme.ok, theme.accent), width, rows));
        lines.push(day_axis(view, &made, width));
    }
    lines
}

/// What was missed on each day as columns. Below the decisions they have the days of those.
pub fn lapsed(view: &InsightsView<'_>, width: u16, rows: ChartRows, is_below: bool) -> Vec<Line<'static>> {
    let theme = view.draw.theme;
    let missed = each_day(view, |count| count.missed);
    let numbers = || missed.iter().map(|(_, number)| *number);
    let (most, all) = (numbers().max().unwrap_or(0), numbers().sum::<u64>());
    let told = format!(
        "{} in {INSIGHT_DAYS} {}, {} today",
        count(all),
        day_words(view),
        count(numbers().next_back().unwrap_or(0))
    );
    let mut lines = vec![heading(view, "LAPSED A DAY", &told)];
    if view.plain {
        lines.extend(days_told(view, &missed, width));
    } else if most > 0 {
        let rows = ChartRows::at_most(rows.lapsed, ChartRows::LEAST.lapsed, most);
        lines.extend(days_chart(view, &missed, (theme.fill_now, theme.fill_now), width, rows));
        lines.extend((!is_below).then(|| day_axis(view, &missed, width)));
    }
    lines
}

/// A number of each day that has any, for whoever is read a chart: `24 Nov: 12  25 Nov: 9`.
fn days_told(view: &InsightsView<'_>, days: &[(i64, u64)], width: u16) -> Vec<Line<'static>> {
    let calendar = view.insights().calendar;
    let label = |day: i64| times::day_of_axis(calendar.day_start(day).with_timezone(&calendar.offset()).date_naive());
    let told = days.iter().filter(|(_, number)| *number > 0);
    let told: Vec<String> = told.map(|(day, number)| format!("{}: {}", label(*day), count(*number))).collect();
    pack(&told, width).into_iter().map(|line| Line::from(view.plain(line))).collect()
}
