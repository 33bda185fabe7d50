//! What lapses when: a bar for each hour of the clock, and the money of each.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, Timelike};
use ratatui::{style::Style, text::Span};

use super::parts::{InsightsView, bar, money_of};
use crate::{
    domain::{Lapsing, Timestamp, insights::SOON_HOURS},
    text::count,
    ui::{sheet::Sheet, table::TableColumn},
};

/// Hours that are told one by one; what lapses later is one row.
const HOURS: i64 = 16;

/// What lapses in one hour.
struct Hour<'a> {
    label: String,
    style: Style,
    /// True for all that lapses later: it is no hour, and no bar tells it.
    is_later: bool,
    rows: Vec<&'a Lapsing>,
}

impl Hour<'_> {
    fn alerts(&self) -> u64 {
        self.rows.iter().map(|row| row.sum.alerts).sum()
    }
}

/// Adds a bar for each hour, with its money.
pub fn lapses(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let (theme, width) = (&view.cx.theme, sheet.width);
    sheet.title("DUE BY HOUR", "", theme.quiet);
    let hours = hours(view);
    if hours.is_empty() {
        let words = if view.is_waiting_cut() { "Nothing read can expire." } else { "Nothing to answer." };
        return sheet.say(words, theme.plain);
    }
    let most = hours.iter().filter(|hour| !hour.is_later).map(Hour::alerts).max().unwrap_or(0);
    let drawn = |hour: &Hour<'_>, cells| {
        let drawn = if hour.is_later { String::new() } else { bar(hour.alerts(), most, cells) };
        Span::styled(drawn, hour.style)
    };
    let columns = vec![
        TableColumn::new("", |hour: &Hour<'_>, _| view.quiet(hour.label.clone())),
        TableColumn::new("", drawn).min(6).max(width / 2).reserve(u16::MAX).gap(0).rank(1),
        TableColumn::new("", |hour: &Hour<'_>, _| Span::styled(count(hour.alerts()), view.cx.digits()))
            .reserve(6)
            .right(),
        TableColumn::new("", |hour: &Hour<'_>, _| view.quiet(money_of(&hour.rows))),
    ];
    sheet.table(columns, &hours);
}

/// The hours from this one on as far as something lapses, and what lapses later.
fn hours<'a>(view: &'a InsightsView<'_>) -> Vec<Hour<'a>> {
    let theme = &view.cx.theme;
    let hour_of = |moment: Timestamp| {
        let offset = i64::from(view.cx.times().offset(moment).local_minus_utc());
        (moment.timestamp() + offset).div_euclid(3_600) * 3_600 - offset
    };
    let this_hour = hour_of(view.now());
    let (mut of_hour, mut later): (BTreeMap<i64, Vec<&Lapsing>>, Vec<&Lapsing>) = (BTreeMap::new(), Vec::new());
    for row in view.lapsing() {
        match row.quarter.map(|quarter| (hour_of(quarter.max(view.now())) - this_hour) / 3_600) {
            Some(ahead) if ahead < HOURS => of_hour.entry(ahead).or_default().push(row),
            _ => later.push(row),
        }
    }
    let last = of_hour.keys().last().copied();
    let mut hours: Vec<Hour<'_>> = Vec::new();
    for ahead in 0..=last.unwrap_or(-1) {
        let start = DateTime::from_timestamp(this_hour + ahead * 3_600, 0).unwrap_or_default();
        let start = start.with_timezone(&view.cx.times().offset(start));
        let style = match ahead {
            0 => theme.fill_now,
            1..SOON_HOURS => theme.fill_soon,
            _ => theme.accent,
        };
        // The first one is not the next sixty minutes: it ends when this hour of the clock is full.
        let label = match ahead {
            0 => format!("before {:02}:00", (start + Duration::hours(1)).hour()),
            _ => format!("{:02}", start.hour()),
        };
        hours.push(Hour { label, style, is_later: false, rows: of_hour.remove(&ahead).unwrap_or_default() });
    }
    if !later.is_empty() {
        hours.push(Hour { label: "later".to_owned(), style: theme.quiet, is_later: true, rows: later });
    }
    hours
}
