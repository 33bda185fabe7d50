//! The signs of the list: what each looks like and what it means. The list draws them and the help explains them from
//! this one table.

use ratatui::style::Style;

use crate::console::Theme;
use crate::console::decisions::State;
use crate::console::unfinished::Stage;
use crate::domain::ResolutionAttempt;

/// A sign beside an alert in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListSign {
    /// To be answered together with others.
    Marked,
    /// Waits for its grace.
    Staged,
    /// Waits for a deployment that does not answer.
    Waiting,
    /// With the network.
    Sending,
    /// Of unknown fate.
    Unknown,
    /// Not recorded.
    Refused,
    /// Waits for a person's word.
    Parked,
    /// This desk knows of an outcome that the list does not show.
    ListBehind,
    /// A refund may be the second one on the payment.
    PaidTwice,
    /// A duplicate.
    Duplicate,
    /// The shop's order was refunded before.
    OrderRefunded,
    /// A rule of the network applied.
    NetworkRule,
    /// A notice.
    Notice,
    /// A rule of one's own suggests an answer.
    Suggested,
    /// Its answer was begun and not sent.
    Drafted,
    /// Set aside for a while.
    Snoozed,
    /// Has a note.
    Noted,
    /// More signs than there are cells.
    More,
}

/// Cells for signs beside the time left.
pub const MARKS: usize = 3;

/// The signs in their cells: each in its own where that is free, else in the last free one. What weighs most comes
/// first; where not all have room the last cell says so.
pub fn in_cells(signs: impl IntoIterator<Item = Option<ListSign>>) -> [Option<ListSign>; MARKS] {
    let mut cells = [None; MARKS];
    for sign in signs.into_iter().flatten() {
        let own = sign.cell();
        match std::iter::once(own).chain((0..MARKS).rev()).find(|at| cells[*at].is_none()) {
            Some(at) => cells[at] = Some(sign),
            None => cells[MARKS - 1] = Some(ListSign::More),
        }
    }
    cells
}

impl ListSign {
    /// All of them: those at the left edge, then those beside the time left.
    pub const ALL: [Self; 18] = [
        Self::Marked,
        Self::Staged,
        Self::Waiting,
        Self::Sending,
        Self::Unknown,
        Self::Refused,
        Self::Parked,
        Self::ListBehind,
        Self::Drafted,
        Self::Snoozed,
        Self::PaidTwice,
        Self::Duplicate,
        Self::OrderRefunded,
        Self::NetworkRule,
        Self::Notice,
        Self::Suggested,
        Self::Noted,
        Self::More,
    ];

    /// Which of the cells beside the time left is its own.
    fn cell(self) -> usize {
        match self {
            Self::PaidTwice | Self::Duplicate => 0,
            Self::NetworkRule | Self::Noted => 1,
            _ => 2,
        }
    }

    /// The sign of a decision of this console, by how far it is.
    pub fn of(state: &State) -> Self {
        match state {
            State::Staged(_) => Self::Staged,
            State::Waiting => Self::Waiting,
            State::Sending => Self::Sending,
            State::Checking(_) => Self::Unknown,
            State::Refused(_) => Self::Refused,
        }
    }

    /// The sign of a decision that the engine has not finished.
    pub fn of_unfinished(unfinished: &ResolutionAttempt) -> Self {
        match Stage::of(unfinished) {
            Stage::Sending => Self::Sending,
            Stage::Unknown => Self::Unknown,
            Stage::Parked => Self::Parked,
        }
    }

    /// What it looks like.
    pub fn drawn(self, theme: &Theme) -> (&'static str, Style) {
        match self {
            Self::Marked => ("✓", theme.accent),
            Self::Staged => ("»", theme.accent),
            Self::Waiting => ("…", theme.warning),
            Self::Sending => ("→", theme.accent),
            Self::Unknown => ("?", theme.warning),
            Self::Refused => ("!", theme.danger),
            Self::Parked => ("P", theme.danger),
            Self::ListBehind => ("r", theme.quiet),
            Self::PaidTwice => ("⚠", theme.warning),
            Self::Duplicate => ("=", theme.quiet),
            Self::OrderRefunded => ("o", theme.warning),
            Self::NetworkRule => ("R", theme.rule),
            Self::Notice => ("i", theme.quiet),
            Self::Suggested => ("•", theme.accent),
            Self::Drafted => ("d", theme.accent),
            Self::Snoozed => ("z", theme.quiet),
            Self::Noted => ("n", theme.quiet),
            Self::More => ("+", theme.quiet),
        }
    }

    /// What it means.
    pub fn about(self) -> &'static str {
        match self {
            Self::Marked => "Marked, to be answered together",
            Self::Staged => "A decision that leaves in a moment, and can be taken back",
            Self::Waiting => "A decision that waits: nothing can be sent",
            Self::Sending => "A decision that is with the network now",
            Self::Unknown => "A decision whose answer did not come: it is looked up",
            Self::Refused => "A decision that was not recorded; the detail says why",
            Self::Parked => "A decision whose fate only a person can say",
            Self::ListBehind => "An answer is recorded as this desk knows; the list is behind",
            Self::PaidTwice => "May be paid twice: a refund on the payment is known, likely or on its way",
            Self::Duplicate => "Another alert on the payment; none refunded, as far as known",
            Self::OrderRefunded => "The shop's order is refunded already",
            Self::NetworkRule => "The network's own rule applied: probably refunded by it",
            Self::Notice => "A notice: no answer is asked for",
            Self::Suggested => "A rule of your own suggests an answer",
            Self::Drafted => "An answer is begun and not sent; its form has it",
            Self::Snoozed => "Snoozed: the detail says until when",
            Self::Noted => "It has a note, kept on this machine",
            Self::More => "There is more to see than has room; the detail has all",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use rstest::rstest;

    use super::ListSign::{Duplicate, NetworkRule, Noted, Notice, OrderRefunded, PaidTwice, Suggested};
    use super::*;
    use crate::console::theme::ThemeName;

    #[rstest]
    #[case::each_in_its_own(&[Duplicate, Notice, Noted], "=ni")]
    #[case::a_note_beside_a_rule_of_the_network(&[NetworkRule, Noted], " Rn")]
    #[case::a_notice_with_such_a_rule_and_a_note(&[NetworkRule, Notice, Noted], "nRi")]
    #[case::a_notice_whose_order_was_refunded(&[Notice, OrderRefunded], " oi")]
    #[case::a_suggestion_and_a_note(&[Suggested, Noted], " n•")]
    #[case::more_than_there_are_cells(&[PaidTwice, NetworkRule, Notice, Noted], "⚠R+")]
    fn every_sign_has_a_cell_or_the_last_one_says_that_there_are_more(#[case] signs: &[ListSign], #[case] drawn: &str) {
        let theme = Theme::named(ThemeName::Dark);

        let cells = in_cells(signs.iter().copied().map(Some));

        assert_eq!(cells.map(|cell| cell.map_or(" ", |sign| sign.drawn(&theme).0)).concat(), drawn);
    }

    #[test]
    fn every_sign_is_in_the_legend_once_and_is_told_from_every_other_without_its_colour() {
        let theme = Theme::named(ThemeName::Dark);

        let drawn: HashSet<&str> = ListSign::ALL.map(|sign| sign.drawn(&theme).0).into();
        let about: HashSet<&str> = ListSign::ALL.map(ListSign::about).into();

        assert_eq!((drawn.len(), about.len()), (ListSign::ALL.len(), ListSign::ALL.len()));
    }
}
