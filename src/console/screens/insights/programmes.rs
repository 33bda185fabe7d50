//! The gauges of monitoring programmes: how near this month's alerts bring a merchant, by the sales that were entered.

use ratatui::text::{Line, Span};

use super::chart::bar;
use super::parts::{InsightsView, heading, said};
use crate::console::Action;
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
    let mut lines = vec![heading(view, "MEASURED AGAINST", &format!("{}, all alerts", month.words()))];
    if !view.found.knows_monitored {
        lines.extend(said(view, "What programmes count this month is not known here.", width));
        return lines;
    }
    for programme in PROGRAMMES {
        if let Some(sales) = sales_of(view, programme, month) {
            match ProgrammeReading::of(programme, &view.found.insights.monitored, sales.count) {
                Some(reading) => lines.extend(gauge(view, &reading, width)),
                None => lines.extend(said(view, &format!("{}: no sales, so no ratio.", programme.name), width)),
            }
        }
    }
    for scheme in CardScheme::ALL {
        lines.extend(said(view, &sales_words(view, scheme, month), width));
    }
    let counted = "Counted are alerts raised this month that were answered with a chargeback or lapsed, for Visa reports of fraud too. What became \
                   a chargeback without an alert is not among them.";
    lines.extend(said(view, counted, width));
    lines
}

/// The sales that a programme is measured by.
fn sales_of<'a>(view: &'a InsightsView<'_>, programme: Programme, month: SalesMonth) -> Option<&'a SalesCount> {
    let wanted = programme.sales_month(month);
    view.figures.sales.iter().find(|sales| sales.scheme == programme.scheme && sales.month == wanted)
}

/// A programme in a line, or in two: the one of number and ratio that is further from its bound with its gauge, then the other one.
fn gauge(view: &InsightsView<'_>, reading: &ProgrammeReading, width: u16) -> Vec<Line<'static>> {
    let (theme, programme) = (view.draw.theme, reading.programme);
    let percent = |hundredths: u64| format!("{}.{:02} %", count(hundredths / 100), hundredths % 100);
    // Rounded up it may read as the bound, which it has not reached.
    let is_below = reading.ratio() >= programme.ratio && !reading.reaches_ratio();
    let ratio = if is_below { format!("<{}", percent(programme.ratio)) } else { percent(reading.ratio()) };
    let by_ratio = (ratio, percent(programme.ratio), reading.reaches_ratio());
    let by_number = (count(reading.items), count(programme.number), reading.reaches_number());
    let ((value, bound, _), (other, others_bound, is_passed)) =
        if reading.is_led_by_number() { (by_number, by_ratio) } else { (by_ratio, by_number) };
    let style = match reading.reached() {
        1_000.. => theme.danger,
        NEAR.. => theme.fill_soon,
        _ if is_passed => theme.fill_soon,
        _ => theme.ok,
    };
    let filled = bar(reading.reached().min(1_000), 1_000, GAUGE);
    let rest = "─".repeat(usize::from(GAUGE.saturating_sub(columns(&filled))));
    let mut first = vec![
        Span::styled(format!("{:<17}", programme.name), theme.plain),
        Span::styled(format!("{value:>8}  "), if reading.applies() { theme.danger } else { theme.strong }),
    ];
    if !view.plain {
        first.extend([Span::styled(filled, style), Span::styled(rest, theme.line)]);
    }
    let about = if programme.about.is_empty() { String::new() } else { format!("   {}", programme.about) };
    let second = [
        Span::styled(format!("of {bound}   "), theme.quiet),
        match is_passed {
            true => Span::styled(format!("{other}, over {others_bound}"), theme.warning),
            false => Span::styled(format!("{other} of {others_bound}"), theme.quiet),
        },
        Span::styled(about, theme.quiet),
    ];
    // Name, value and gauge take 41 columns with the blanks.
    if second.iter().map(|span| columns(&span.content)).sum::<u16>() + 41 <= width {
        return vec![first.into_iter().chain([Span::raw("  ")]).chain(second).collect()];
    }
    vec![first.into(), std::iter::once(Span::raw("  ")).chain(second).collect()]
}

/// Which sales are measured by, or what to enter.
fn sales_words(view: &InsightsView<'_>, scheme: CardScheme, month: SalesMonth) -> String {
    let Some(programme) = PROGRAMMES.into_iter().find(|programme| programme.scheme == scheme) else { return String::new() };
    let (wanted, key) = (programme.sales_month(month).words(), view.draw.key(Action::SalesEnter));
    match sales_of(view, programme, month) {
        Some(sales) => {
            let entered = view.draw.times.day(sales.entered_at);
            format!("{} sales of {wanted}: {}, entered {entered}; {key} enters a newer count.", scheme.name(), count(sales.count))
        }
        None => format!("{}: no sales entered for {wanted}, so no ratio is known; {key} enters them.", scheme.name()),
    }
}
