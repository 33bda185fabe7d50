//! The counts on the Insights screen: the alerts that are due in each hour of the clock with their money, how alerts
//! were answered on each of the last seven days, by network, and how near this month's bring a merchant to the
//! thresholds of schemes.

use std::collections::BTreeMap;

use chrono::{DateTime, Duration, Timelike};
use ratatui::{style::Style, text::Span};

use super::parts::{InsightsView, bar, money_of};
use crate::{
    domain::{
        CardScheme, DayCount, KindCount, Lapsing, SalesCount, SalesMonth, Timestamp,
        insights::SOON_HOURS,
        monitoring::{PROGRAMMES, Programme, ProgrammeReading},
    },
    text::{count, sanitize},
    ui::{sheet::Sheet, table::TableColumn},
};

/// Hours that are told one by one; what lapses later is one row.
const HOURS: i64 = 16;

/// Alerts that are due in one hour.
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

/// The days that are told.
const DAYS: i64 = 7;

/// Columns of a network's name.
const LABEL: u16 = 20;

/// The column that stands only where there is any: in the current dialect none is left open.
const NOT_SETTLED: &str = "NOT SETTLED";

/// A column of the days: its title, and its number of a day.
type DayColumn = (&'static str, fn(&DayCount) -> u64);

const COLUMNS: [DayColumn; 5] = [
    ("REFUNDED", |count| count.refunded),
    ("NOT REFUNDED", |count| count.not_refunded),
    (NOT_SETTLED, |count| count.not_settled),
    ("INVALID", |count| count.invalid),
    ("EXPIRED", |count| count.missed),
];

/// Adds a row for each of the last seven days, today first.
pub fn answered(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let (theme, calendar) = (&view.cx.theme, view.insights().calendar);
    let today = calendar.day_of(view.now());
    let on = |day: i64, pick: fn(&DayCount) -> u64| {
        view.insights().days.iter().filter(|count| count.day == day).map(pick).sum::<u64>()
    };
    let day_words = |day: &i64, _| {
        let date = calendar.day_start(*day).with_timezone(&calendar.offset()).date_naive();
        view.plain(if *day == today { "today".to_owned() } else { date.format("%d %b").to_string() })
    };
    let mut columns = vec![TableColumn::new("", day_words).reserve(8)];
    columns.extend(COLUMNS.into_iter().map(|(title, pick)| {
        let number = move |day: &i64, _| match (on(*day, pick), title) {
            (0, NOT_SETTLED) => Span::default(),
            (0, _) => view.quiet("0"),
            (number, "EXPIRED") => Span::styled(count(number), theme.danger),
            (number, _) => view.plain(count(number)),
        };
        TableColumn::new(title, number).right()
    }));
    sheet.title("ANSWERED PER DAY", "", theme.quiet);
    let days: Vec<i64> = (today - DAYS + 1..=today).rev().collect();
    sheet.table(columns, &days);
}

/// A row of the networks: what it is called, and the counts that it adds up.
type KindRow<'k> = (String, Vec<&'k KindCount>, Style);

/// Adds the alerts of each network, and of each of its types.
pub fn networks(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let theme = &view.cx.theme;
    sheet.title("BY NETWORK", "alerts", theme.quiet);
    let mut of_network: BTreeMap<&str, Vec<&KindCount>> = BTreeMap::new();
    for kind in &view.insights().kinds {
        of_network.entry(kind.provider.as_str()).or_default().push(kind);
    }
    if of_network.is_empty() {
        return sheet.say("no alerts", theme.plain);
    }
    let mut rows: Vec<KindRow<'_>> = Vec::new();
    for (network, kinds) in of_network {
        rows.push((sanitize(network).into_owned(), kinds.clone(), theme.plain));
        let of_kind = |kind: &KindCount| format!("  {}", sanitize(kind.alert_type.words()));
        rows.extend(kinds.into_iter().map(|kind| (of_kind(kind), vec![kind], theme.quiet)));
    }
    let all = |row: &KindRow<'_>, pick: fn(&KindCount) -> u64| row.1.iter().map(|kind| pick(kind)).sum::<u64>();
    // A notice asks for no answer, and none of it is missed.
    let of_asking = |row: &KindRow<'_>, pick: fn(&KindCount) -> u64| {
        row.1.iter().filter(|kind| !kind.alert_type.is_notice()).map(|kind| pick(kind)).sum::<u64>()
    };
    let missed = move |row: &KindRow<'_>| of_asking(row, |kind| kind.missed);
    let in_time = move |row: &KindRow<'_>| {
        let in_time = of_asking(row, |kind| kind.answered);
        let permille = (in_time * 1_000).checked_div(in_time + of_asking(row, |kind| kind.late) + missed(row));
        permille.map_or_else(|| "–".to_owned(), |share| format!("{}.{} %", share / 10, share % 10))
    };
    let cell = |row: &KindRow<'_>, text: String| Span::styled(text, row.2);
    let columns = vec![
        TableColumn::new("", |row: &KindRow<'_>, _| cell(row, row.0.clone())).reserve(LABEL).max(LABEL),
        TableColumn::new("OPEN", |row: &KindRow<'_>, _| cell(row, count(all(row, |kind| kind.waiting))))
            .reserve(5)
            .right(),
        TableColumn::new("ANSWERED", |row: &KindRow<'_>, _| {
            cell(row, count(all(row, |kind| kind.answered + kind.late)))
        })
        .gap(1)
        .right(),
        TableColumn::new("EXPIRED", |row: &KindRow<'_>, _| cell(row, count(missed(row)))).right(),
        TableColumn::new("IN TIME", |row: &KindRow<'_>, _| cell(row, in_time(row))).right(),
    ];
    sheet.table(columns, &rows);
}

/// Cells of a gauge.
const GAUGE: u16 = 12;

/// From so many thousandths on it is near.
const NEAR: u64 = 750;

/// Adds each programme with its gauge, and where the numbers come from.
pub fn measured(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let (theme, month) = (&view.cx.theme, SalesMonth::of(view.now()));
    sheet.title("SCHEME THRESHOLDS", &month.words(), theme.quiet);
    if !view.cx.operator {
        return sheet.say("Not available here.", theme.quiet);
    }
    let reading = |programme| {
        ProgrammeReading::of(programme, &view.found.insights.monitored, sales_of(view, programme, month)?.count)
    };
    let readings: Vec<_> = PROGRAMMES.into_iter().filter_map(reading).collect();
    sheet.table(gauges(view), &readings);
    let sales = CardScheme::ALL.map(|scheme| sales_words(view, scheme, month));
    let chargebacks = match view.insights().has_dispute_feed {
        true => "Chargebacks are this month's disputes that name a scheme.",
        false => {
            "No dispute of this month names a scheme: alerts not refunded or expired count. Chargebacks without an \
                alert are not included."
        }
    };
    let fraud = match view.insights().has_fraud_feed {
        true => "Visa fraud is this month's fraud reports that name a scheme.",
        false => "No fraud report of this month names a scheme: fraud alerts count.",
    };
    let how = ["Enter sales: avert sales set", chargebacks, fraud].map(str::to_owned);
    for words in sales.into_iter().chain(how) {
        sheet.say(&words, theme.quiet);
    }
}

/// The sales that a programme is measured by.
fn sales_of<'a>(view: &'a InsightsView<'_>, programme: Programme, month: SalesMonth) -> Option<&'a SalesCount> {
    let wanted = programme.sales_month(month);
    view.sales.loaded()?.iter().find(|sales| sales.scheme == programme.scheme && sales.month == wanted)
}

/// The ratio that was reached: rounded up it may read as the bound, which it has not reached.
fn ratio_words(reading: &ProgrammeReading) -> String {
    let bound = reading.programme.ratio;
    let is_below = reading.ratio() >= bound && !reading.reaches_ratio();
    if is_below { format!("<{}", percent(bound)) } else { percent(reading.ratio()) }
}

/// `1.50 %`
fn percent(hundredths: u64) -> String {
    format!("{}.{:02} %", count(hundredths / 100), hundredths % 100)
}

/// The columns of the programmes: ratio, number and a gauge of the one that is further from its bound, which decides.
fn gauges<'v>(view: &'v InsightsView<'_>) -> Vec<TableColumn<'v, ProgrammeReading>> {
    let theme = &view.cx.theme;
    let value = |words: String, reading: &ProgrammeReading, decides: bool, is_passed: bool| {
        let style = match (decides, is_passed) {
            (true, _) if reading.applies() => theme.danger,
            (true, _) => theme.strong,
            (false, true) => theme.warning,
            (false, false) => theme.quiet,
        };
        Span::styled(words, style)
    };
    let ratio = move |reading: &ProgrammeReading, _| {
        value(ratio_words(reading), reading, !reading.is_led_by_number(), reading.reaches_ratio())
    };
    let number = move |reading: &ProgrammeReading, _| {
        value(count(reading.items), reading, reading.is_led_by_number(), reading.reaches_number())
    };
    let gauge = |reading: &ProgrammeReading, cells: u16| {
        let style = match reading.reached() {
            1_000.. => theme.fill_now,
            NEAR.. => theme.fill_soon,
            _ => theme.ok,
        };
        Span::styled(bar(reading.reached().min(1_000), 1_000, cells.min(GAUGE)), style)
    };
    let of = |bound: String| view.quiet(format!("of {bound}"));
    vec![
        TableColumn::new("", |reading: &ProgrammeReading, _| view.plain(reading.programme.name)),
        TableColumn::new("", ratio).right().gap(1),
        TableColumn::new("", move |reading: &ProgrammeReading, _| of(percent(reading.programme.ratio))),
        TableColumn::new("", number).right().gap(1),
        TableColumn::new("", move |reading: &ProgrammeReading, _| of(count(reading.programme.number))),
        TableColumn::new("", gauge).reserve(GAUGE).rank(1),
        TableColumn::new("", |reading: &ProgrammeReading, _| view.quiet(reading.programme.about)).rank(2),
    ]
}

/// Which sales are measured by, or what to enter.
fn sales_words(view: &InsightsView<'_>, scheme: CardScheme, month: SalesMonth) -> String {
    let Some(programme) = PROGRAMMES.into_iter().find(|programme| programme.scheme == scheme) else {
        return String::new();
    };
    let wanted = programme.sales_month(month).words();
    match sales_of(view, programme, month) {
        Some(sales) => {
            let entered = view.cx.times().day(sales.entered_at);
            format!("{} sales of {wanted}: {}, entered {entered}.", scheme.words(), count(sales.count))
        }
        None => format!("{}: no sales of {wanted}.", scheme.words()),
    }
}
