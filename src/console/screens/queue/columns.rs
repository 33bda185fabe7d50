//! The layout of the Queue screen and the columns of its list: which there are, which fit, and what stands in each
//! for an alert.

use std::borrow::Cow;

use ratatui::layout::{Constraint, Layout, Rect, Size};

use crate::{
    answer_words::answer_words,
    domain::{Alert, AlertFilter, AlertStatus, AlertType, Money, SortField, Timestamp},
    text::{columns as width_of, sanitize},
    times::{self, Zone},
    ui::{
        areas::{Areas, FILL, inset, stacked},
        table,
    },
};

/// A column of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Column {
    Left,
    When,
    Provider,
    Type,
    Order,
    Status,
    Amount,
    Card,
    Descriptor,
    Outcome,
    ProviderId,
}

/// What a column needs and is called.
struct Spec {
    title: &'static str,
    sort: Option<SortField>,
    /// The narrowest it is of use while nothing is known of its content, and the widest it ever gets.
    room: (u16, u16),
    /// True where its text may be cut: what is a word of a few, a figure or a moment is shown in full.
    is_cut: bool,
}

impl Spec {
    const fn new(title: &'static str, sort: Option<SortField>, room: (u16, u16)) -> Self {
        Self { title, sort, room, is_cut: false }
    }

    const fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }
}

/// The columns, in the order of [`Column`].
const SPECS: [Spec; Column::ALL.len()] = {
    use SortField as By;
    [
        Spec::new("DUE IN", Some(By::HoursLeft), (7, 7)),
        Spec::new("WHEN", None, (7, 7)),
        Spec::new("NETWORK", Some(By::Provider), (8, 8)),
        Spec::new("TYPE", Some(By::Type), (7, 12)).cut(),
        Spec::new("ORDER", None, (9, 26)).cut(),
        Spec::new("STATUS", Some(By::Status), (10, 10)),
        Spec::new("AMOUNT", Some(By::Amount), (14, 28)),
        Spec::new("CARD", Some(By::CardLastFour), (6, 16)).cut(),
        Spec::new("DESCRIPTOR", Some(By::MerchantDescriptor), (10, 30)).cut(),
        Spec::new("ANSWER", None, (12, 20)).cut(),
        Spec::new("NETWORK ID", Some(By::ProviderId), (10, 26)).cut(),
    ]
};

impl Column {
    /// Every column, in the order of the list of columns.
    pub const ALL: [Self; 11] = [
        Self::Left,
        Self::When,
        Self::Provider,
        Self::Type,
        Self::Order,
        Self::Status,
        Self::Amount,
        Self::Card,
        Self::Descriptor,
        Self::Outcome,
        Self::ProviderId,
    ];

    /// The usual columns.
    pub const USUAL: [Self; 7] =
        [Self::Left, Self::Provider, Self::Type, Self::Order, Self::Amount, Self::Card, Self::Descriptor];

    fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }

    /// The rank by which it gives way: the highest goes first.
    fn rank(self) -> u8 {
        match self {
            Self::Left | Self::When => 0,
            Self::Amount => 1,
            other => other as u8,
        }
    }

    /// What stands over it.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// What the list is sorted by when this column is.
    pub fn sort_field(self) -> Option<SortField> {
        self.spec().sort
    }

    /// Fewest columns that it is cut to, where it may be cut.
    pub fn narrowest(self) -> Option<u16> {
        self.spec().is_cut.then_some(self.spec().room.0)
    }

    /// Most columns that it ever gets.
    pub fn widest(self) -> u16 {
        self.spec().room.1
    }

    /// Returns true where its text stands at its right edge.
    pub fn is_right(self) -> bool {
        matches!(self, Self::Left | Self::When | Self::Amount)
    }

    /// The text of the cell in so many columns.
    pub fn text(self, alert: &Alert, width: u16, told: Zone, now: Timestamp) -> Cow<'_, str> {
        match self {
            Self::Left => times::left(alert, now).text.into(),
            Self::When => over_at(alert).map_or(Cow::Borrowed("–"), |at| told.short(at, now).into()),
            Self::Provider => sanitize(alert.provider.as_str()),
            Self::Type => sanitize(type_word(&alert.alert_type)),
            Self::Status => sanitize(alert.status.as_str()),
            Self::Amount => format!("{} {}", amount(alert), sanitize(alert.currency.as_str())).into(),
            Self::Card => card(alert, width).into(),
            Self::Descriptor => or_dash(&alert.merchant_descriptor),
            Self::Order => or_dash(alert.merchant_order_id.as_deref().unwrap_or_default()),
            Self::Outcome => {
                alert.outcome.as_ref().map_or(Cow::Borrowed("–"), |outcome| answer_words(alert, outcome).into())
            }
            Self::ProviderId => or_dash(&alert.provider_id),
        }
    }
}

/// Returns the kind of an alert in one word; an unknown type as it is.
fn type_word(alert_type: &AlertType) -> &str {
    match alert_type {
        AlertType::EthocaConfirmedFraud => "Fraud",
        AlertType::EthocaCustomerDispute | AlertType::VerifiDispute => "Dispute",
        AlertType::VerifiCancel => "Cancel",
        AlertType::Other(text) => text,
        notice => {
            if notice.is_notice() {
                "Notice"
            } else {
                notice.as_str()
            }
        }
    }
}

fn or_dash(text: &str) -> Cow<'_, str> {
    if text.is_empty() { Cow::Borrowed("–") } else { sanitize(text) }
}

/// Returns when an alert was answered or expired; none while it is open, and where that was not told.
fn over_at(alert: &Alert) -> Option<Timestamp> {
    match &alert.outcome {
        Some(outcome) => outcome.action_time,
        None if has_expired(alert) => alert.expired_at.or(alert.deadline.moment()),
        None => None,
    }
}

fn has_expired(alert: &Alert) -> bool {
    alert.expired_at.is_some() || alert.status == AlertStatus::Expired
}

/// Returns true where an alert waits for an answer.
pub fn waits(alert: &Alert) -> bool {
    alert.outcome.is_none() && !has_expired(alert)
}

/// The amount as a number, without its currency.
pub fn amount(alert: &Alert) -> String {
    alert.money().as_ref().map_or_else(|| "–".to_owned(), Money::number)
}

/// The card as it is displayed, in so many columns: the six first digits where they have room, and the last four.
pub fn card(alert: &Alert, width: u16) -> String {
    let (bin, last) = (sanitize(&alert.card_bin), sanitize(&alert.card_last_four));
    if bin.is_empty() && last.is_empty() {
        return "–".to_owned();
    }
    let spaced = format!("{bin} ·· {last}");
    let tight = format!("{bin}··{last}");
    let room = |text: &String| width_of(text) <= width;
    [spaced, tight].into_iter().find(room).unwrap_or_else(|| format!("··{last}"))
}

/// The card as it is told where it has room: `497401 ······ 9769`.
pub fn masked(alert: &Alert) -> String {
    let (bin, last) = (sanitize(&alert.card_bin), sanitize(&alert.card_last_four));
    if bin.is_empty() && last.is_empty() { "–".to_owned() } else { format!("{bin} ······ {last}") }
}

/// A column with its place in the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    pub column: Column,
    /// Columns from the left edge of the row.
    pub x: u16,
    pub width: u16,
}

impl Placed {
    /// Returns its cell in a row.
    pub fn within(self, row: Rect) -> Rect {
        inset(row, self.x, 0).resize(Size::new(self.width, 1)).intersection(row)
    }
}

/// Returns true where a filter leaves nothing in that waits for an answer.
fn is_of_answered(filter: &AlertFilter) -> bool {
    use AlertStatus::{Chargeback, Expired, Invalid, Refunded, Resolved};
    let is_over = |status: &AlertStatus| matches!(status, Chargeback | Expired | Invalid | Refunded | Resolved);
    filter.conditions.answered.is_some() || (!filter.statuses.is_empty() && filter.statuses.iter().all(is_over))
}

/// The place of the status, behind the type.
const STATUS_AT: usize = 3;

/// The columns that are shown: the usual ones, and how alerts ended where not only open ones are listed. What all of
/// them have alike has none. Where nothing waits, by the filter or by all of what it found (`waits`), no time is left:
/// when it was over stands there.
pub fn shown(filter: &AlertFilter, waits: bool) -> Vec<Column> {
    let mut columns = Column::USUAL.to_vec();
    if filter.statuses != [AlertStatus::Open] && filter.expires_in.is_none() {
        if !waits || is_of_answered(filter) {
            columns[0] = Column::When;
        }
        // What was refunded has one status; how it ended says more.
        if filter.statuses.len() != 1 && filter.conditions.answered.is_none() {
            columns.insert(STATUS_AT, Column::Status);
        }
        if filter.statuses != [AlertStatus::Expired] {
            columns.push(Column::Outcome);
        }
    }
    columns
}

/// Blank columns between two columns.
const GAP: u16 = 2;

/// The flag stands right of DUE IN or WHEN, where there is one: a blank, the flag, two blanks.
pub const MARKER: u16 = 4;

/// The widths of what the columns of a list hold, in columns of the screen. They grow with what is listed and never
/// shrink, so that nothing moves to and fro while one scrolls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ContentWidths([u16; Column::ALL.len()]);

impl ContentWidths {
    /// Those of a list that comes by pages: what is usual has its room from the start, and nothing moves aside for a
    /// later page.
    pub fn of_pages() -> Self {
        let mut widths = Self::default();
        // `Dispute`, `1,480.00 AED`
        (widths.0[Column::Type as usize], widths.0[Column::Amount as usize]) = (7, 12);
        widths
    }

    /// Takes the content of an alert in.
    pub fn take_in(&mut self, alert: &Alert) {
        for column in Column::ALL {
            let widest = &mut self.0[column as usize];
            let width = match column {
                // As wide as they ever are: the moment does not matter.
                Column::Left | Column::When => continue,
                _ => width_of(&column.text(alert, u16::MAX, Zone::default(), Timestamp::UNIX_EPOCH)),
            };
            *widest = width.max(*widest);
        }
    }

    /// How wide a column is at least, and how wide with all of its content.
    pub fn room(&self, column: Column) -> (u16, u16) {
        let Spec { title, sort, room: (narrow, wide), is_cut, .. } = *column.spec();
        // The direction of the sort stands behind the title.
        let title = width_of(title) + u16::from(sort.is_some());
        let content = match self.0[column as usize] {
            0 => return (narrow, wide),
            content => content.max(title).min(wide),
        };
        if is_cut { (narrow.min(content), content) } else { (content, content) }
    }
}

/// Width of a list from which on it shows cards with their BIN.
const CARD_ROOM: u16 = 100;

/// Lays columns out in so much room, each as wide as its content. What does not fit gives way, the least important
/// first.
pub fn lay_out(columns: &[Column], content: &ContentWidths, room: u16) -> Vec<Placed> {
    let want = |column: &Column| {
        let (min, wide) = content.room(*column);
        // A card is whole or its last four digits: in a narrow list the descriptor needs the room more.
        let wide = if *column == Column::Card && room < CARD_ROOM { min } else { wide };
        table::Want { min, wide, rank: column.rank() }
    };
    let wants: Vec<table::Want> = columns.iter().map(want).collect();
    let placed = table::place(&wants, |at| gap_after(columns[at]), room);
    placed.into_iter().map(|place| Placed { column: columns[place.column], x: place.x, width: place.width }).collect()
}

fn gap_after(column: Column) -> u16 {
    if matches!(column, Column::Left | Column::When) { MARKER } else { GAP }
}

/// From so many columns on the detail stands beside the list.
pub const WIDE: u16 = 100;

/// The narrowest that a list beside a detail may get, and the narrowest detail.
const NARROWEST: (u16, u16) = (56, 34);

/// The layout of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// Name of the view and totals.
    pub title: Rect,
    /// Chips, or the search line.
    pub chips: Rect,
    /// Titles of the columns; as wide as the text of a row.
    pub heads: Rect,
    /// The rows of the list, with cursor bar and scrollbar.
    pub rows: Rect,
    /// The line between list and detail.
    pub divider: Option<Rect>,
    pub detail: Option<Rect>,
}

/// Columns left of a row's text: the cursor's bar and the decision's sign.
pub const GUTTER: u16 = 2;

/// Columns right of it: a blank one and the scrollbar's.
pub const BAR: u16 = 2;

impl Regions {
    /// The areas in so much room. Above the footer one line is kept for notes; `more_notes` is how many lines more they
    /// need now.
    pub fn of(area: Rect, divider: u8, more_notes: u16) -> Self {
        let [body, _] = stacked(Areas::of(area).body, [FILL, more_notes]);
        let beside = area.width >= WIDE;
        let list = if beside {
            let share = u16::try_from(u32::from(area.width) * u32::from(divider) / 100).unwrap_or(area.width);
            Constraint::Length(share.clamp(NARROWEST.0, area.width - NARROWEST.1))
        } else {
            Constraint::Fill(1)
        };
        let columns = [list, Constraint::Length(1), Constraint::Fill(1)];
        let [list, divider, aside] = if beside { Layout::horizontal(columns).areas(body) } else { [body; 3] };
        let [title, chips, _, heads, rows] = stacked(list, [1, 1, 1, 1, FILL]);
        Self {
            title: inset(title, GUTTER, 1),
            chips: inset(chips, GUTTER, 1),
            heads: inset(heads, GUTTER, BAR),
            rows,
            divider: beside.then_some(divider),
            detail: beside.then(|| inset(aside, 1, 2)),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod layout_tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ui::areas::SMALLEST;

    proptest! {
        #[test]
        fn nothing_ever_leaves_the_screen(width in 0u16..400, height in 0u16..120, divider in 0u8..=100,
            notes in 0u16..3) {
            let area = Rect::new(0, 0, width, height);
            let (frame, regions) = (Areas::of(area), Regions::of(area, divider, notes));
            let inside = |part: Rect| part.is_empty() || (part.right() <= area.right()
                && part.bottom() <= area.bottom());

            prop_assume!(width >= SMALLEST.0 && height >= SMALLEST.1);
            for part in [frame.header, frame.footer, frame.body, regions.title, regions.chips, regions.heads,
                regions.rows] {
                prop_assert!(inside(part), "{part:?}");
            }
            prop_assert!(regions.detail.is_none_or(inside));
            prop_assert!(regions.divider.is_none_or(inside));
            prop_assert!(regions.rows.height >= 5);
        }
    }

    #[test]
    fn the_detail_stands_beside_the_list_from_a_hundred_columns_on() {
        let detail = |width: u16| Regions::of(Rect::new(0, 0, width, 30), 64, 0).detail;

        assert_eq!(detail(99), None);
        assert!(detail(100).is_some_and(|area| area.x > 60));
    }
}
