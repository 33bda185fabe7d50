//! The layout of the Queue screen; the columns of its list: which there are, and what stands in each for an alert; and
//! the signs beside alerts, with their words in the help.

use std::borrow::Cow;

use ratatui::{
    layout::{Constraint, Layout, Rect},
    style::Style,
    text::Span,
};

use crate::{
    Theme,
    answer_words::answer_words,
    desk::Fate,
    domain::{Alert, AlertFilter, AlertStatus, AlertType, Money, SortField, Timestamp},
    text::{columns as width_of, sanitize},
    times::{self, Zone},
    ui::{
        areas::{Areas, BESIDE, FILL, inset, stacked},
        table::TableColumn,
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
    Amount,
    Card,
    Descriptor,
    Outcome,
    ProviderId,
}

/// Number of columns that there are.
pub const COLUMNS: usize = Column::ProviderId as usize + 1;

/// Head and widths of a column.
struct Spec {
    title: &'static str,
    sort: Option<SortField>,
    /// Fewest columns that it is cut to; what is a word of a few, a figure or a moment is shown in full.
    min: Option<u16>,
    max: u16,
}

impl Column {
    /// The usual columns.
    pub const USUAL: [Self; 7] =
        [Self::Left, Self::Provider, Self::Type, Self::Order, Self::Amount, Self::Card, Self::Descriptor];

    fn spec(self) -> Spec {
        use SortField as By;
        let (title, sort, min, max) = match self {
            Self::Left => ("DUE IN", Some(By::HoursLeft), None, 7),
            Self::When => ("WHEN", None, None, 7),
            Self::Provider => ("NETWORK", Some(By::Provider), None, 8),
            Self::Type => ("TYPE", Some(By::Type), Some(7), 12),
            Self::Order => ("ORDER", None, Some(9), 26),
            Self::Amount => ("AMOUNT", Some(By::Amount), None, 28),
            Self::Card => ("CARD", Some(By::CardLastFour), Some(6), 16),
            Self::Descriptor => ("DESCRIPTOR", Some(By::MerchantDescriptor), Some(10), 30),
            Self::Outcome => ("ANSWER", None, Some(12), 20),
            Self::ProviderId => ("NETWORK ID", Some(By::ProviderId), Some(10), 26),
        };
        Spec { title, sort, min, max }
    }

    /// Its head.
    pub fn title(self) -> &'static str {
        self.spec().title
    }

    /// The field that the list is sorted by when this column is.
    pub fn sort_field(self) -> Option<SortField> {
        self.spec().sort
    }

    /// Fewest columns that it is cut to, where it may be cut.
    pub fn narrowest(self) -> Option<u16> {
        self.spec().min
    }

    /// Most columns that it ever gets.
    pub fn widest(self) -> u16 {
        self.spec().max
    }

    /// Returns true where its text stands at its right edge.
    pub fn is_right(self) -> bool {
        matches!(self, Self::Left | Self::When | Self::Amount)
    }

    /// The column of a table under this head whose cells are drawn so.
    pub fn drawn<'c, T>(
        self,
        head: impl Into<Cow<'c, str>>,
        cell: impl Fn(&T, u16) -> Span<'c> + 'c,
    ) -> TableColumn<'c, T> {
        let rank = match self {
            Self::Left | Self::When => 0,
            Self::Amount => 1,
            other => other as u8,
        };
        let column = TableColumn::new(head, cell).max(self.widest()).rank(rank);
        let column = self.narrowest().into_iter().fold(column, TableColumn::min);
        if self.is_right() { column.right() } else { column }
    }

    /// The text of the cell in so many columns.
    pub fn text(self, alert: &Alert, width: u16, times: Zone, now: Timestamp) -> Cow<'_, str> {
        match self {
            Self::Left => times::left(alert, now).text.into(),
            Self::When => over_at(alert).map_or(Cow::Borrowed("–"), |at| times.short(at, now).into()),
            Self::Provider => sanitize(alert.provider.as_str()),
            Self::Type => sanitize(type_word(&alert.alert_type)),
            Self::Amount => format!("{} {}", amount(alert), sanitize(alert.currency.as_str())).into(),
            Self::Card => card(alert, width).into(),
            Self::Descriptor => or_dash(&alert.merchant_descriptor),
            Self::Order => or_dash(alert.merchant_order_id.as_deref().unwrap_or_default()),
            Self::Outcome => match &alert.outcome {
                Some(outcome) => answer_words(alert, outcome).into(),
                None if alert.status == AlertStatus::Open => Cow::Borrowed("–"),
                None => sanitize(alert.status.words()),
            },
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
        AlertType::EarlyFraudWarning => "Warning",
        notice if notice.is_notice() => "Notice",
        other => other.as_str(),
    }
}

/// Returns how an alert stands in a word; an answered one's answer is told beside it.
pub fn status_word(alert: &Alert) -> &str {
    if alert.outcome.is_some() { "Answered" } else { alert.status.words() }
}

fn or_dash(text: &str) -> Cow<'_, str> {
    if text.is_empty() { Cow::Borrowed("–") } else { sanitize(text) }
}

/// Returns when an alert was answered or expired; none while it is open, and where that was not told.
fn over_at(alert: &Alert) -> Option<Timestamp> {
    match &alert.outcome {
        Some(outcome) => outcome.action_time,
        None if alert.status == AlertStatus::Expired => alert.expired_at.or(alert.deadline.moment()),
        None => alert.expired_at,
    }
}

/// The amount as a number, without its currency.
pub fn amount(alert: &Alert) -> String {
    alert.money().as_ref().map_or_else(|| "–".to_owned(), Money::number)
}

/// The card as it is displayed, in so many columns: the six first digits where they have room, and the last four.
pub fn card(alert: &Alert, width: u16) -> String {
    let last = sanitize(&alert.card_last_four);
    let whole = format!("{} ·· {last}", sanitize(&alert.card_bin));
    match alert.card_bin.is_empty() && last.is_empty() {
        true => "–".to_owned(),
        false if width_of(&whole) <= width => whole,
        false => format!("··{last}"),
    }
}

/// The card as it is told where it has room: `497401 ······ 9769`.
pub fn masked(alert: &Alert) -> String {
    let (bin, last) = (sanitize(&alert.card_bin), sanitize(&alert.card_last_four));
    if bin.is_empty() && last.is_empty() { "–".to_owned() } else { format!("{bin} ······ {last}") }
}

/// Returns true where a filter leaves nothing in that waits for an answer.
fn is_of_answered(filter: &AlertFilter) -> bool {
    use AlertStatus::{Chargeback, Expired, Invalid, Refunded, Resolved};
    let is_over = |status: &AlertStatus| matches!(status, Chargeback | Expired | Invalid | Refunded | Resolved);
    filter.conditions.answered.is_some() || (!filter.statuses.is_empty() && filter.statuses.iter().all(is_over))
}

/// The columns that are shown: the usual ones, and how alerts ended where not only open ones are listed. What all of
/// them have alike has none. Where nothing waits, no time is left: when it was over stands there.
pub fn shown(filter: &AlertFilter) -> Vec<Column> {
    let mut columns = Column::USUAL.to_vec();
    if filter.statuses != [AlertStatus::Open] && filter.expires_in.is_none() {
        if is_of_answered(filter) {
            columns[0] = Column::When;
        }
        if filter.statuses != [AlertStatus::Expired] {
            columns.push(Column::Outcome);
        }
    }
    columns
}

/// The narrowest that a list beside a detail may get, and the narrowest detail.
const NARROWEST: (u16, u16) = (56, 34);

/// The layout of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regions {
    /// Name of the view and totals.
    pub title: Rect,
    /// Chips, or the search line.
    pub chips: Rect,
    /// Titles of the columns; as wide as the text of a row with its sign.
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
        let beside = area.width >= BESIDE;
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
            heads: inset(heads, GUTTER - 1, BAR),
            rows,
            divider: beside.then_some(divider),
            detail: beside.then(|| inset(aside, 1, 2)),
        }
    }
}

/// A sign beside an alert in the list: the first four left of it, the others as its one flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSign {
    Marked,
    /// Queued or sending.
    Queued,
    Unconfirmed,
    NotRecorded,
    /// A fact warns against a plain answer.
    LookFirst,
    /// Another alert is on the payment.
    SamePayment,
    Suggested,
}

impl ListSign {
    /// Every sign, in the order of the help.
    pub const ALL: [Self; 7] = [
        Self::Marked,
        Self::Queued,
        Self::Unconfirmed,
        Self::NotRecorded,
        Self::LookFirst,
        Self::SamePayment,
        Self::Suggested,
    ];

    /// Returns the sign of an answer of this console.
    pub fn of(fate: Fate) -> Self {
        match fate {
            Fate::Unconfirmed => Self::Unconfirmed,
            Fate::NotRecorded => Self::NotRecorded,
            _ => Self::Queued,
        }
    }

    /// Returns its character and style.
    pub fn drawn(self, theme: &Theme) -> (&'static str, Style) {
        match self {
            Self::Marked => ("✓", theme.accent),
            Self::Queued => ("»", theme.accent),
            Self::Unconfirmed => ("?", theme.warning),
            Self::NotRecorded => ("!", theme.danger),
            Self::LookFirst => ("⚠", theme.warning),
            Self::SamePayment => ("=", theme.quiet),
            Self::Suggested => ("•", theme.accent),
        }
    }

    /// Describes it.
    pub fn about(self) -> &'static str {
        match self {
            Self::Marked => "Marked",
            Self::Queued => "Answer queued or sending",
            Self::Unconfirmed => "Answer unconfirmed",
            Self::NotRecorded => "Answer not recorded",
            Self::LookFirst => "Look first: a check warns",
            Self::SamePayment => "More alerts on this payment",
            Self::Suggested => "An answer is suggested",
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
    fn the_detail_stands_beside_the_list_from_120_columns_on() {
        let detail = |width: u16| Regions::of(Rect::new(0, 0, width, 30), 64, 0).detail;

        assert_eq!(detail(119), None);
        assert!(detail(120).is_some_and(|area| area.x > 60));
    }
}
