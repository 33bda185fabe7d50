//! The parts of the Insights screen as lines: the sentence that matters, money, response times, and what cannot be
//! known.

use chrono::Duration;
use ratatui::text::{Line, Span};

use super::state::InsightsScreen;
use crate::{
    AppContext,
    desk::{DeskFigures, FoundInsights, InsightLimit},
    domain::{
        CurrencySum, Insights, Lapsing, Timestamp, WorkPace,
        insights::{INSIGHT_DAYS, SOON_HOURS, due_soon, percentile},
        stats::{QUARTER, will_lapse},
    },
    text::{count, counted, sanitize, wrap, wrap_spans},
    times,
    totals::total_words,
};

/// Columns of labels.
const LABEL: u16 = 20;

/// What is drawn, and with what.
pub struct InsightsView<'a> {
    pub found: &'a FoundInsights,
    pub figures: &'a DeskFigures,
    pub cx: &'a AppContext,
    /// True where it is another deployment.
    pub remote: bool,
}

impl<'a> InsightsView<'a> {
    /// What the screen is drawn of, once something was found.
    pub fn of(screen: &'a InsightsScreen, cx: &'a AppContext) -> Option<Self> {
        let found = screen.found.loaded()?;
        Some(Self { found, figures: &screen.figures, cx, remote: cx.place.remote })
    }
}

impl InsightsView<'_> {
    pub(super) fn insights(&self) -> &Insights {
        &self.found.insights
    }

    pub(super) fn now(&self) -> Timestamp {
        self.cx.now
    }

    /// What has not lapsed since it was read.
    pub(super) fn lapsing(&self) -> impl Iterator<Item = &Lapsing> {
        let now = self.now();
        self.insights().lapsing.iter().filter(move |row| row.quarter.is_none_or(|quarter| quarter + QUARTER > now))
    }

    /// Returns true where not all of what waits was read.
    pub(super) fn is_waiting_cut(&self) -> bool {
        self.found.limits.iter().any(|limit| matches!(limit, InsightLimit::Waiting { .. }))
    }

    pub(super) fn plain(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.cx.theme.plain)
    }

    pub(super) fn quiet(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.cx.theme.quiet)
    }

    pub(super) fn strong(&self, text: impl Into<String>) -> Span<'static> {
        Span::styled(text.into(), self.cx.theme.strong)
    }

    /// Today, by the days that were counted.
    pub(super) fn today(&self) -> i64 {
        self.insights().calendar.day_of(self.now())
    }

    /// `18:40 UTC, 22:40 local`
    fn clock(&self, moment: Timestamp) -> String {
        self.cx.times().at(moment, self.cx.now)
    }
}

/// A heading, and quiet words behind it.
pub fn heading(view: &InsightsView<'_>, title: &str, beside: &str) -> Line<'static> {
    Line::from(vec![view.quiet(title), Span::raw("   "), view.quiet(beside)])
}

/// What is counted of too few alerts, said beside the figures that rest on them: of what waits, or of what came of all.
pub(super) fn limited(view: &InsightsView<'_>, of_waiting: bool, width: u16) -> Vec<Line<'static>> {
    let has_lapsing = view.lapsing().next().is_some();
    let words = view.found.limits.iter().filter_map(|limit| match limit {
        InsightLimit::Waiting { total, .. } if of_waiting => {
            Some(format!("▲ not all of {} open alerts were read", count(*total)))
        }
        InsightLimit::WholeHours if of_waiting && has_lapsing => Some("whole hours, at the earliest".to_owned()),
        InsightLimit::Past { read, total, in_order } if !of_waiting => {
            let which = if *in_order { "newest" } else { "first" };
            Some(format!("▲ of the {which} {} of {} alerts", count(*read), count(*total)))
        }
        _ => None,
    });
    let style = |words: &str| if words.starts_with('▲') { view.cx.theme.warning } else { view.cx.theme.quiet };
    words
        .flat_map(|words| {
            wrap(&words, width).into_iter().map(|line| Line::styled(line, style(&words))).collect::<Vec<_>>()
        })
        .collect()
}

/// Paragraphs in quiet lines.
pub fn said(view: &InsightsView<'_>, text: &str, width: u16) -> Vec<Line<'static>> {
    wrap(&sanitize(text), width).into_iter().map(|line| Line::from(view.quiet(line))).collect()
}

/// The sentence that matters, and the money at risk; a blank line behind it.
pub fn head(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let mut lines = wrap_spans(&sentence(view), width);
    let soon: Vec<&Lapsing> = view.lapsing().filter(|row| row.soon).collect();
    let all: Vec<&Lapsing> = view.lapsing().collect();
    let scopes = [(format!("at risk within {SOON_HOURS} h"), soon), ("at risk in all".to_owned(), all)];
    for (label, rows) in scopes.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let label = format!("{label:<wide$}", wide = usize::from(LABEL));
        lines.push(Line::from(vec![view.quiet(label), view.plain(money_of(&rows))]));
    }
    lines.extend(limited(view, true, width));
    lines.push(Line::default());
    lines
}

/// `31 due within 4 h, you do 11 an hour: 9 will expire`
fn sentence(view: &InsightsView<'_>) -> Vec<Span<'static>> {
    let theme = &view.cx.theme;
    let rows: Vec<Lapsing> = view.lapsing().filter(|row| row.soon).cloned().collect();
    let soon: u64 = rows.iter().map(|row| row.sum.alerts).sum();
    let due = match soon {
        0 if view.is_waiting_cut() => "nothing read".to_owned(),
        0 => "nothing open".to_owned(),
        soon => count(soon),
    };
    let mut spans = vec![view.strong(format!("{due} due within {SOON_HOURS} h"))];
    let Some(pace) = WorkPace::of(&view.cx.journal.recorded_at(), view.now()) else {
        spans.push(view.quiet("   Pace: shown after 10 minutes of work"));
        return spans;
    };
    spans.push(view.plain(format!(", you do {} an hour", count(pace.per_hour()))));
    if soon > 0 {
        spans.push(view.plain(": "));
        spans.push(match will_lapse(&due_soon(&rows), &pace, view.now()) {
            0 => Span::styled(format!("all can be done by {}", view.clock(view.now() + pace.time_for(soon))), theme.ok),
            lost => Span::styled(format!("{} will expire", count(lost)), theme.danger),
        });
    }
    spans
}

/// The sum in the currency of most alerts, how many currencies more there are, and how many alerts have no amount:
/// `1,480.00 AED + 2 currencies`.
pub(super) fn money_of(rows: &[&Lapsing]) -> String {
    let sums = CurrencySum::by_currency(rows.iter().map(|row| row.sum.clone()));
    let unpriced: u64 = sums.iter().map(|sum| sum.unpriced).sum();
    let untold = if unpriced > 0 { format!("  {} without an amount", count(unpriced)) } else { String::new() };
    format!("{}{untold}", total_words(&sums)).trim_start().to_owned()
}

/// How long answers took.
pub fn response_times(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let times = &view.insights().response_times;
    let mut lines = vec![heading(view, "RESPONSE TIME", &format!("of the last {INSIGHT_DAYS} days"))];
    lines.extend(limited(view, false, width));
    let all: u64 = times.iter().map(|time| time.alerts).sum();
    if all == 0 {
        lines.push(Line::from(view.plain("no response times")));
        return lines;
    }
    let within = |per_mille| {
        let minutes = i64::try_from(percentile(times, per_mille).unwrap_or(0)).unwrap_or(i64::MAX / 60_000);
        times::short(Duration::try_minutes(minutes).unwrap_or_default())
    };
    let told = [("median ", within(500)), ("   90 % ", within(900)), ("   99 % ", within(990))];
    let spans = told.into_iter().flat_map(|(label, value)| [view.plain(label), view.strong(value)]);
    lines.push(Line::from(spans.collect::<Vec<_>>()));
    lines
}

/// What cannot be known here.
pub fn unknown(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let months = view.found.limits.iter().filter_map(|limit| match limit {
        InsightLimit::Month { total } => {
            Some(format!("This month has {} alerts, too many to count for schemes.", count(*total)))
        }
        _ => None,
    });
    let mut sentences: Vec<String> = months.collect();
    let undated = view.insights().undated;
    if undated > 0 {
        sentences.push(format!("{} no time and are left out.", counted(undated, "answer has", "answers have")));
    }
    sentences.push("Chargebacks after an answer are not available.".to_owned());
    sentences.push("Pace is this computer's alone.".to_owned());
    if view.remote {
        sentences.push("Who answered elsewhere is not available.".to_owned());
    }
    sentences.extend(view.figures.troubles.iter().cloned());
    let mut lines = vec![heading(view, "NOT AVAILABLE HERE", "")];
    lines.extend(sentences.iter().flat_map(|sentence| said(view, sentence, width)));
    lines
}

/// A bar of at most so many cells; the most there is takes all of them, and anything but nothing takes one at least.
pub fn bar(value: u64, most: u64, cells: u16) -> String {
    let (value, most, cells) = (u128::from(value), u128::from(most.max(1)), u128::from(cells));
    let filled = ((value * cells + most / 2) / most).max(u128::from(value > 0)).min(cells);
    // Lower than its line, so that bars below each other stay apart.
    "▆".repeat(usize::try_from(filled).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::text::columns;

    #[rstest]
    #[case(8, 8, "▆▆▆▆")]
    #[case(4, 8, "▆▆")]
    #[case(3, 8, "▆▆")]
    #[case(1, 1_000, "▆")]
    #[case(0, 8, "")]
    #[case(0, 0, "")]
    #[case(9, 8, "▆▆▆▆")]
    fn a_bar_is_as_long_as_its_share(#[case] value: u64, #[case] most: u64, #[case] drawn: &str) {
        assert_eq!(bar(value, most, 4), drawn);
    }

    proptest! {
        #[test]
        fn a_bar_never_leaves_its_room(value in any::<u64>(), most in any::<u64>(), cells in 0u16..200) {
            prop_assert!(columns(&bar(value, most, cells)) <= cells);
        }
    }
}
