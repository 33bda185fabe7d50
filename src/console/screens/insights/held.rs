//! The answers that held: of those of the last weeks, how many were disputed afterwards, by network, answer, issuer and
//! time before the deadline.

use std::collections::BTreeMap;

use chrono::Duration;
use ratatui::text::Span;

use super::parts::InsightsView;
use crate::{
    Loadable,
    domain::HeldCount,
    perform::HELD_FOR,
    text::{count, sanitize},
    times,
    ui::{sheet::Sheet, table::TableColumn},
};

/// Columns of a row's name.
const LABEL: u16 = 20;

/// Issuers that are listed, those with the most answers.
const ISSUERS: usize = 5;

/// A row: what the answers have in common, how many there are, and how many were disputed.
type HeldRow = (String, u64, u64);

/// Adds the answers and those disputed afterwards, each way of counting below the other.
pub fn held(view: &InsightsView<'_>, sheet: &mut Sheet<'_>) {
    let theme = &view.cx.theme;
    sheet.title("ANSWERS THAT HELD", &format!("of the last {HELD_FOR} days"), theme.quiet);
    let counts = match view.held {
        Loadable::Loaded(counts) => counts,
        Loadable::Failed(error) => return sheet.say(&format!("Not counted: {error}"), theme.warning),
        _ if !view.cx.operator => return sheet.say("Not available here.", theme.quiet),
        _ => return sheet.say("Loading…", theme.quiet),
    };
    if counts.is_empty() {
        return sheet.say("No answers yet.", theme.plain);
    }
    let mut rows = by(counts, |_| (0, "all".to_owned()));
    rows.extend(by(counts, |of| (0, of.network.to_string())));
    rows.extend(by(counts, |of| (0, of.answer.as_str().to_owned())));
    let mut issuers = by(counts, |of| (0, of.issuer.clone()));
    issuers.retain(|(issuer, ..)| !issuer.is_empty());
    issuers.sort_by_key(|(_, answered, _)| std::cmp::Reverse(*answered));
    rows.extend(issuers.into_iter().take(ISSUERS));
    rows.extend(by(counts, |of| (-of.minutes.unwrap_or(-2), lead_words(of.minutes))));
    let rate = |row: &HeldRow| format!("{:.1} %", 100.0 * HeldCount::rate(row.1, row.2));
    let disputed = |row: &HeldRow, _| {
        let style = if row.2 > 0 { theme.warning } else { theme.quiet };
        Span::styled(count(row.2), style)
    };
    let columns = vec![
        TableColumn::new("", |row: &HeldRow, _| view.plain(sanitize(&row.0).into_owned())).reserve(LABEL).max(LABEL),
        TableColumn::new("ANSWERED", |row: &HeldRow, _| view.plain(count(row.1))).right(),
        TableColumn::new("DISPUTED", disputed).right(),
        TableColumn::new("RATE", move |row: &HeldRow, _| view.plain(rate(row))).right(),
    ];
    sheet.table(columns, &rows);
}

/// Adds counts up by what they have in common, in the order of its rank and its name.
fn by(counts: &[HeldCount], common: impl Fn(&HeldCount) -> (i64, String)) -> Vec<HeldRow> {
    let mut sums: BTreeMap<(i64, String), (u64, u64)> = BTreeMap::new();
    for of in counts {
        let sum = sums.entry(common(of)).or_default();
        *sum = (sum.0 + of.answered, sum.1 + of.disputed);
    }
    sums.into_iter().map(|((_, name), (answered, disputed))| (name, answered, disputed)).collect()
}

/// `4h before due` for a lead time of at least that.
fn lead_words(minutes: Option<i64>) -> String {
    match minutes {
        None => "no deadline".to_owned(),
        Some(..0) => "after due".to_owned(),
        Some(0) => "just before due".to_owned(),
        Some(minutes) => format!("{} before due", times::short(Duration::minutes(minutes))),
    }
}
