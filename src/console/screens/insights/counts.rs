//! The counts on the Insights screen: how alerts were answered on each of the last seven days, and by network what
//! waits, was answered and missed of its types.

use std::collections::BTreeMap;

use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::parts::{InsightsView, heading, limited};
use crate::{
    domain::{DayCount, KindCount},
    text::{count, cut, sanitize},
    times,
};

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

/// Alerts of a network, and of each of its types.
pub fn networks(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let theme = view.draw.theme;
    let mut lines = vec![heading(view, "BY NETWORK", "alerts")];
    let mut of_network: BTreeMap<&str, Vec<&KindCount>> = BTreeMap::new();
    for kind in &view.insights().kinds {
        of_network.entry(kind.provider.as_str()).or_default().push(kind);
    }
    if of_network.is_empty() {
        lines.extend(limited(view, false, width));
        lines.push(Line::from(view.plain("no alerts")));
        return lines;
    }
    lines.push(Line::from(
        view.quiet(format!("{:<20}{:>7}{:>10}{:>8}{:>9}", "", "OPEN", "ANSWERED", "EXPIRED", "IN TIME")),
    ));
    lines.extend(limited(view, false, width));
    for kinds in of_network.into_values() {
        lines.push(kind_row(&sanitize(kinds[0].provider.as_str()), &kinds, theme.plain));
        for kind in kinds {
            lines.push(kind_row(&format!("  {}", sanitize(kind.alert_type.words())), &[kind], theme.quiet));
        }
    }
    lines
}

/// A share in thousandths, rounded; all is said of all alone, and none of none. Nothing where there is nothing to
/// share.
fn permille(part: u64, all: u64) -> Option<u64> {
    let rounded = (part * 1_000 + all / 2).checked_div(all)?;
    let (least, most) = (u64::from(part > 0), if part < all { 999 } else { 1_000 });
    Some(rounded.clamp(least, most))
}

/// One row: waiting, answered, missed, and the share that was answered in time.
fn kind_row(label: &str, kinds: &[&KindCount], style: Style) -> Line<'static> {
    let all = |pick: fn(&KindCount) -> u64| kinds.iter().map(|kind| pick(kind)).sum::<u64>();
    // A notice asks for no answer, and none of it is missed.
    let asking: Vec<&KindCount> = kinds.iter().filter(|kind| !kind.alert_type.is_notice()).copied().collect();
    let of_asking = |pick: fn(&KindCount) -> u64| asking.iter().map(|kind| pick(kind)).sum::<u64>();
    let (in_time, missed) = (of_asking(|kind| kind.answered), of_asking(|kind| kind.missed));
    let share = permille(in_time, in_time + of_asking(|kind| kind.late) + missed);
    let missed = if asking.is_empty() { "–".to_owned() } else { count(missed) };
    let words = share.map_or_else(|| "–".to_owned(), |share| format!("{}.{} %", share / 10, share % 10));
    Line::from(vec![
        Span::styled(format!("{:<20}", cut(label, 20)), style),
        Span::styled(format!("{:>7}", count(all(|kind| kind.waiting))), style),
        Span::styled(format!("{:>10}", count(all(|kind| kind.answered + kind.late))), style),
        Span::styled(format!("{missed:>8}"), style),
        // No limit was set that it could be below.
        Span::styled(format!("{words:>9}"), style),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_rounded_and_all_or_none_is_said_of_all_or_none_alone() {
        let told = [(29, 33), (1, 3), (2, 3), (9_999, 10_000), (1, 10_000), (4, 4), (0, 4), (0, 0)]
            .map(|(part, all)| permille(part, all));

        assert_eq!(told, [Some(879), Some(333), Some(667), Some(999), Some(1), Some(1_000), Some(0), None]);
    }
}
