//! The parts of the Insights screen: the sentence that matters, money, what the numbers lack, and response times.

use chrono::Duration;
use ratatui::text::{Line, Span};

use super::{
    pace::{WorkPace, will_lapse},
    state::InsightsScreen,
};
use crate::{
    AppContext, Loadable,
    desk::{DecisionRecord, Fate, FoundInsights, InsightLimit},
    domain::{
        CurrencySum, HeldCount, Insights, Lapsing, SalesCount, Timestamp,
        insights::{INSIGHT_DAYS, SOON_HOURS, due_soon, percentile},
        stats::QUARTER,
    },
    screens::queue::sums::total_words,
    text::{count, counted, wrap_spans},
    times,
    ui::sheet::Sheet,
};

/// Columns of labels.
const LABEL: u16 = 20;

/// What is drawn, and with what.
pub struct InsightsView<'a> {
    pub found: &'a FoundInsights,
    pub sales: &'a Loadable<Vec<SalesCount>>,
    pub held: &'a Loadable<Vec<HeldCount>>,
    pub cx: &'a AppContext,
}

impl<'a> InsightsView<'a> {
    /// The data that the screen is drawn of, once something was found.
    pub fn of(screen: &'a InsightsScreen, cx: &'a AppContext) -> Option<Self> {
        Some(Self { found: screen.found.loaded()?, sales: &screen.sales.data, held: &screen.held.data, cx })
    }
}

impl InsightsView<'_> {
    pub(super) fn insights(&self) -> &Insights {
        &self.found.insights
    }

    pub(super) fn now(&self) -> Timestamp {
        self.cx.now
    }

    /// The alerts that have not lapsed since they were read.
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
}

/// Adds the sentence that matters, the money at risk, and what is not in the numbers.
pub fn head(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    sheet.lines.extend(wrap_spans(&sentence(view), sheet.width));
    let soon: Vec<&Lapsing> = view.lapsing().filter(|row| row.soon).collect();
    let all: Vec<&Lapsing> = view.lapsing().collect();
    let scopes = [(format!("at risk within {SOON_HOURS} h"), soon), ("at risk in all".to_owned(), all)];
    for (label, rows) in scopes.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        let label = format!("{label:<wide$}", wide = usize::from(LABEL));
        sheet.lines.push(Line::from(vec![view.quiet(label), view.plain(money_of(&rows))]));
    }
    let undated = view.insights().undated;
    let undated =
        (undated > 0).then(|| format!("{} no time and are left out.", counted(undated, "answer has", "answers have")));
    let limits = view.found.limits.iter().map(limit_words);
    let unread = if let Loadable::Failed(error) = view.sales { Some(format!("Sales not read: {error}")) } else { None };
    for words in limits.chain(undated).chain(unread) {
        sheet.say(&format!("▲ {words}"), view.cx.theme.warning);
    }
}

/// Sentence on what the numbers rest on, where not all was read.
fn limit_words(limit: &InsightLimit) -> String {
    match limit {
        InsightLimit::Waiting { total, .. } => format!("Not all of {} open alerts were read.", count(*total)),
        InsightLimit::Past { read, total, in_order } => {
            let which = if *in_order { "newest" } else { "first" };
            format!("Answers are those of the {which} {} of {} alerts.", count(*read), count(*total))
        }
        InsightLimit::WholeHours => "Due times are whole hours, at the earliest.".to_owned(),
    }
}

/// The last hour of work is among so many recorded decisions, however fast somebody works.
const MOST_OF_PACE: usize = 2_000;

/// The moments at which the newest decisions of this place were recorded: the pace of work follows from them.
fn recorded_at(cx: &AppContext) -> Vec<Timestamp> {
    let recorded = |record: &DecisionRecord| {
        record.steps.iter().find(|(_, step)| step.fate() == Fate::Recorded).map(|(at, _)| *at)
    };
    let here = cx.ledger.history().records().iter().rev().filter(|record| record.place == cx.place.name);
    here.filter_map(recorded).take(MOST_OF_PACE).collect()
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
    let Some(pace) = WorkPace::of(&recorded_at(view.cx), view.now()) else {
        spans.push(view.quiet("   Pace: shown after 10 minutes of work"));
        return spans;
    };
    spans.push(view.plain(format!(", you do {} an hour", count(pace.per_hour()))));
    if soon > 0 {
        spans.push(view.plain(": "));
        spans.push(match will_lapse(&due_soon(&rows), &pace, view.now()) {
            0 => {
                let done = view.cx.times().at(view.now() + pace.time_for(soon), view.now());
                Span::styled(format!("all can be done by {done}"), theme.ok)
            }
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

/// Adds how long answers took.
pub fn response_times(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let times = &view.insights().response_times;
    sheet.title("RESPONSE TIME", &format!("of the last {INSIGHT_DAYS} days"), view.cx.theme.quiet);
    if times.iter().all(|time| time.alerts == 0) {
        return sheet.say("no response times", view.cx.theme.plain);
    }
    let within = |per_mille| {
        let minutes = i64::try_from(percentile(times, per_mille).unwrap_or(0)).unwrap_or(i64::MAX / 60_000);
        times::short(Duration::try_minutes(minutes).unwrap_or_default())
    };
    let told = [("median ", within(500)), ("   90 % ", within(900)), ("   99 % ", within(990))];
    let spans = told.into_iter().flat_map(|(label, value)| [view.plain(label), view.strong(value)]);
    sheet.lines.push(Line::from(spans.collect::<Vec<_>>()));
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
