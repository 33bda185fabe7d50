//! The gauges of monitoring programmes: how near this month's alerts bring a merchant, by the sales that were entered.

use ratatui::text::{Line, Span};

use super::chart::bar;
use super::parts::{InsightsView, heading, said};
use crate::console::text::{columns, count};
use crate::desk::SalesCount;
use crate::domain::monitoring::{PROGRAMMES, Programme, ProgrammeReading};
use crate::domain::{CardScheme, SalesMonth};

/// Cells of a gauge.
const GAUGE: u16 = 12;

/// From so many thousandths on it is near.
const NEAR: u64 = 750;

/// Each programme with its gauge, and where the numbers come from.
pub fn measured(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let month = SalesMonth::of(view.draw.now);
    let mut lines = vec![heading(view, "SCHEME THRESHOLDS", &format!("{}, all alerts", month.words()))];
    if !view.found.knows_monitored {
        lines.extend(said(view, "Not available here.", width));
        return lines;
    }
    let measured = PROGRAMMES.into_iter().filter_map(|programme| Some((programme, sales_of(view, programme, month)?)));
    let (mut readings, mut without) = (Vec::new(), Vec::new());
    for (programme, sales) in measured {
        match ProgrammeReading::of(programme, &view.found.insights.monitored, sales.count) {
            Some(reading) => readings.push(reading),
            None => without.push(format!("{}: no sales, so no ratio.", programme.name)),
        }
    }
    lines.extend(gauges(view, &readings, width));
    lines.extend(without.iter().flat_map(|words| said(view, words, width)));
    for scheme in CardScheme::ALL {
        lines.extend(said(view, &sales_words(view, scheme, month), width));
    }
    let counted = "This month's alerts not refunded or expired, and Visa fraud reports. Chargebacks without an \
        alert are not included.";
    lines.extend(said(view, counted, width));
    lines
}

/// The sales that a programme is measured by.
fn sales_of<'a>(view: &'a InsightsView<'_>, programme: Programme, month: SalesMonth) -> Option<&'a SalesCount> {
    let wanted = programme.sales_month(month);
    view.figures.sales.iter().find(|sales| sales.scheme == programme.scheme && sales.month == wanted)
}

/// What a programme measures: its bounds with how near they are, and how far it is from the nearer one.
struct Gauge<'r> {
    reading: &'r ProgrammeReading,
    /// `5.70 %` of `1.50 %`, and `570` of `1,500`.
    ratio: [String; 2],
    number: [String; 2],
}

impl<'r> Gauge<'r> {
    fn of(reading: &'r ProgrammeReading) -> Self {
        let programme = reading.programme;
        let percent = |hundredths: u64| format!("{}.{:02} %", count(hundredths / 100), hundredths % 100);
        // Rounded up it may read as the bound, which it has not reached.
        let is_below = reading.ratio() >= programme.ratio && !reading.reaches_ratio();
        let ratio = if is_below { format!("<{}", percent(programme.ratio)) } else { percent(reading.ratio()) };
        Self {
            reading,
            ratio: [ratio, percent(programme.ratio)],
            number: [count(reading.items), count(programme.number)],
        }
    }
}

/// A line for each programme: ratio, number and a gauge of the one that is further from its bound, which decides.
fn gauges(view: &InsightsView<'_>, readings: &[ProgrammeReading], width: u16) -> Vec<Line<'static>> {
    let theme = view.draw.theme;
    let gauges: Vec<Gauge<'_>> = readings.iter().map(Gauge::of).collect();
    let widest = |text: &dyn Fn(&Gauge<'_>) -> u16| gauges.iter().map(text).max().unwrap_or(0);
    let of = [0, 1].map(|at| (widest(&|gauge| columns(&gauge.ratio[at])), widest(&|gauge| columns(&gauge.number[at]))));
    let [(ratio, ratio_bound), (number, number_bound)] = [(of[0].0, of[1].0), (of[0].1, of[1].1)];
    let name = widest(&|gauge| columns(gauge.reading.programme.name));
    let used = name + 2 + ratio + 4 + ratio_bound + 2 + number + 4 + number_bound + 2;
    // One that is read aloud tells the numbers alone.
    let cells = if view.plain { 0 } else { width.saturating_sub(used).min(GAUGE) };
    let line = |gauge: &Gauge<'_>| {
        let reading = gauge.reading;
        let by_number = reading.is_led_by_number();
        let style = match reading.reached() {
            1_000.. => theme.fill_now,
            NEAR.. => theme.fill_soon,
            _ if if by_number { reading.reaches_ratio() } else { reading.reaches_number() } => theme.fill_soon,
            _ => theme.ok,
        };
        let part = |[value, bound]: &[String; 2], (wide, wide_bound): (u16, u16), decides: bool, is_passed: bool| {
            let value_style = match (decides, is_passed) {
                (true, _) if reading.applies() => theme.danger,
                (true, _) => theme.strong,
                (false, true) => theme.warning,
                (false, false) => theme.quiet,
            };
            let (wide, wide_bound) = (usize::from(wide), usize::from(wide_bound));
            [
                Span::styled(format!("{value:>wide$}"), value_style),
                Span::styled(format!(" of {bound:<wide_bound$}  "), theme.quiet),
            ]
        };
        let mut spans = vec![Span::styled(
            format!("{:<width$}", reading.programme.name, width = usize::from(name + 2)),
            theme.plain,
        )];
        spans.extend(part(&gauge.ratio, (ratio, ratio_bound), !by_number, reading.reaches_ratio()));
        spans.extend(part(&gauge.number, (number, number_bound), by_number, reading.reaches_number()));
        if cells > 0 {
            let filled = bar(reading.reached().min(1_000), 1_000, cells);
            let rest = "─".repeat(usize::from(cells.saturating_sub(columns(&filled))));
            spans.extend([Span::styled(filled, style), Span::styled(rest, theme.line)]);
        }
        let about = format!("  {}", reading.programme.about);
        if !reading.programme.about.is_empty() && used + cells + columns(&about) <= width {
            spans.push(Span::styled(about, theme.quiet));
        }
        Line::from(spans)
    };
    gauges.iter().map(line).collect()
}

/// Which sales are measured by, or what to enter.
fn sales_words(view: &InsightsView<'_>, scheme: CardScheme, month: SalesMonth) -> String {
    let Some(programme) = PROGRAMMES.into_iter().find(|programme| programme.scheme == scheme) else {
        return String::new();
    };
    let wanted = programme.sales_month(month).words();
    match sales_of(view, programme, month) {
        Some(sales) => {
            let entered = view.draw.times.day(sales.entered_at);
            format!("{} sales of {wanted}: {}, entered {entered}.", scheme.name(), count(sales.count))
        }
        None => format!("{}: no sales of {wanted}. Enter them: avert sales set", scheme.name()),
    }
}
