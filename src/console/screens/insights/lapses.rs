//! What lapses when: a bar for each hour of the clock, the money of each, and the list of the alerts of one.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, Timelike};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::parts::{InsightsView, bar, heading, money_of};
use crate::{
    domain::{
        AlertFilter, AlertStatus, Lapsing, LocalConditions, Sort, SortField, SortOrder, Timestamp,
        insights::SOON_HOURS, query::Vocabulary,
    },
    text::{columns, count},
};

/// Hours that are told one by one; what lapses later is one row.
const HOURS: i64 = 16;

/// Columns of the alerts of an hour, and of the blanks around them.
const AROUND: u16 = 6 + 2;

/// Lines above the first hour.
pub const HEADING: usize = 1;

/// What lapses in one hour.
pub struct Hour<'a> {
    label: String,
    style: Style,
    /// Its beginning; none for all that lapses later: it is no hour, and no bar tells it.
    pub hour: Option<Timestamp>,
    rows: Vec<&'a Lapsing>,
}

impl Hour<'_> {
    fn alerts(&self) -> u64 {
        self.rows.iter().map(|row| row.alerts).sum()
    }

    /// The hour where something lapses in it, so that its alerts can be listed.
    pub fn listed(&self) -> Option<Timestamp> {
        self.hour.filter(|_| self.alerts() > 0)
    }
}

/// Bars by hour, with the money of each hour.
pub fn lapses(view: &InsightsView<'_>, width: u16) -> Vec<Line<'static>> {
    let mut lines = vec![heading(view, "DUE BY HOUR", "")];
    let hours = hours(view);
    if hours.is_empty() {
        let words = if view.is_waiting_cut() { "Nothing read can expire." } else { "Nothing to answer." };
        lines.push(Line::from(view.plain(words)));
        return lines;
    }
    let most = hours.iter().filter(|hour| hour.hour.is_some()).map(Hour::alerts).max().unwrap_or(0);
    let money: Vec<String> = hours.iter().map(|hour| money_of(&hour.rows)).collect();
    let widest = money.iter().map(|money| columns(money)).max().unwrap_or(0);
    // A bar that is read aloud says nothing.
    let named = hours.iter().map(|hour| columns(&hour.label)).max().unwrap_or(0) + 2;
    let cells = if view.plain { 0 } else { width.saturating_sub(AROUND + named + widest).min(width / 2).max(6) };
    for (hour, money) in hours.iter().zip(money) {
        let is_chosen = hour.hour.is_some() && hour.hour == view.hour;
        let label = format!("{:<named$}", hour.label, named = usize::from(named));
        let label = if is_chosen { Span::styled(label, view.draw.theme.strong) } else { view.quiet(label) };
        let drawn = if hour.hour.is_some() { bar(hour.alerts(), most, cells) } else { String::new() };
        let number = count(hour.alerts());
        lines.push(Line::from(vec![
            label,
            Span::styled(format!("{drawn:<cells$}", cells = usize::from(cells)), hour.style),
            Span::styled(format!("{number:>6}  "), view.draw.digits()),
            view.quiet(money),
        ]));
    }
    lines
}

/// The hours from this one on as far as something lapses, and what lapses later.
pub fn hours<'a>(view: &'a InsightsView<'_>) -> Vec<Hour<'a>> {
    let theme = view.draw.theme;
    let hour_of = |moment: Timestamp| {
        let offset = i64::from(view.draw.times.zone.offset(moment).local_minus_utc());
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
        let offset = view.draw.times.zone.offset(start);
        let local = start.with_timezone(&offset);
        let style = match ahead {
            0 => theme.fill_now,
            1..SOON_HOURS => theme.fill_soon,
            _ => theme.accent,
        };
        // The first one is not the next sixty minutes: it ends when this hour of the clock is full.
        let label = match ahead {
            0 => format!("before {:02}:00", (local + Duration::hours(1)).hour()),
            _ => format!("{:02}", local.hour()),
        };
        hours.push(Hour { label, style, hour: Some(start), rows: of_hour.remove(&ahead).unwrap_or_default() });
    }
    if !later.is_empty() {
        hours.push(Hour { label: "later".to_owned(), style: theme.quiet, hour: None, rows: later });
    }
    hours
}

/// The list of what lapses until the end of an hour, latest first, within what is counted; and what has to be said
/// where the service does not list so many hours.
pub fn list_of(
    hour: Timestamp,
    scope: &AlertFilter,
    vocabulary: Vocabulary,
    now: Timestamp,
) -> (AlertFilter, Sort, Option<String>) {
    let latest = Sort { field: SortField::HoursLeft, order: SortOrder::Descending };
    // Notices do not lapse.
    let notices = (vocabulary == Vocabulary::Desk).then_some(false);
    let conditions = LocalConditions { notices, ..scope.conditions.clone() };
    let filter = AlertFilter { statuses: vec![AlertStatus::Open], conditions, ..scope.clone() };
    let left = (hour + Duration::hours(1) - now).num_seconds().max(1);
    let within = u32::try_from((left - 1) / 3_600 + 1).unwrap_or(1);
    if vocabulary.most_hours().is_some_and(|most| within > most) {
        return (filter, latest, Some("Not available here: all open alerts instead, latest first.".to_owned()));
    }
    (AlertFilter { expires_in: Some(within), ..filter }, latest, None)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::domain::query::render;
    use crate::domain::time::from_iso;

    #[rstest]
    #[case(
        Vocabulary::Desk,
        "2026-03-10T14:00:00Z",
        "status:open provider:cdrn expires:1 notices:no sort:-deadline",
        false
    )]
    #[case(Vocabulary::Interface, "2026-03-10T14:00:00Z", "status:open provider:cdrn expires:1 sort:-deadline", false)]
    #[case(Vocabulary::Interface, "2026-03-10T17:00:00Z", "status:open provider:cdrn expires:4 sort:-deadline", false)]
    #[case(Vocabulary::Interface, "2026-03-12T17:00:00Z", "status:open provider:cdrn expires:52 sort:-deadline", false)]
    #[case(Vocabulary::Older, "2026-03-12T17:00:00Z", "status:open provider:cdrn sort:-deadline", true)]
    fn an_hour_is_listed_with_all_that_lapses_before_its_end(
        #[case] vocabulary: Vocabulary,
        #[case] moment: &str,
        #[case] query: &str,
        #[case] is_said: bool,
    ) {
        let scope = AlertFilter { providers: vec![crate::domain::Provider::Cdrn], ..AlertFilter::default() };
        let hour = from_iso(moment).unwrap();

        let (filter, sort, said) = list_of(hour, &scope, vocabulary, from_iso("2026-03-10T14:03:00Z").unwrap());

        assert_eq!((render(&filter, sort).as_str(), said.is_some()), (query, is_said));
    }
}
