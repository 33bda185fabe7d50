//! The lines of the list: the rows of a view, and in the view of what needs somebody the decisions of the day below
//! them, under their title.

use super::state::ActivityScreen;
use super::views::ActivityView;
use crate::console::{AppContext, Theme};
use ratatui::style::Style;

/// A line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListLine {
    /// The row of this number.
    Row(usize),
    Blank,
    /// The title of the decisions of the day; in other words where there is none, of what was told.
    Today {
        decided: bool,
    },
    /// What stands where no row needs anybody, and in quiet words what would stand there.
    Nothing(&'static str, &'static str),
}

/// The lines of a view of so many rows. In the view of what needs somebody the first `needing` of them do; those behind
/// are the day's, which has decided something or not.
pub(super) fn lines(
    rows: usize,
    (needing, decided): (usize, bool),
    nothing: (&'static str, &'static str),
    is_roomy: bool,
) -> Vec<ListLine> {
    let mut lines: Vec<ListLine> = (0..needing).map(ListLine::Row).collect();
    if needing == rows {
        return lines;
    }
    if needing == 0 {
        lines.push(ListLine::Nothing(nothing.0, nothing.1));
    }
    if is_roomy {
        lines.push(ListLine::Blank);
    }
    lines.push(ListLine::Today { decided });
    lines.extend((needing..rows).map(ListLine::Row));
    lines
}

/// How many lines are scrolled away where `top` were: the row under the cursor is in sight, and with it what stands
/// above it up to the row before, where there is room.
pub(super) fn scrolled(lines: &[ListLine], cursor: usize, top: usize, height: usize) -> usize {
    let at = lines.iter().position(|line| *line == ListLine::Row(cursor)).unwrap_or(0);
    let before = lines[..at].iter().rposition(|line| matches!(line, ListLine::Row(_))).map_or(0, |row| row + 1);
    let least = (at + 1).saturating_sub(height);
    top.clamp(least, before.max(least)).min(lines.len().saturating_sub(height))
}

/// How many rows of the view need somebody, or are all that it has.
pub(super) fn needing(screen: &ActivityScreen, rows: usize, cx: &AppContext) -> usize {
    if screen.view == ActivityView::NeedsYou { screen.each(cx).len() } else { rows }
}

/// What is said where nothing needs anybody, and what would stand there: only what could be read is known.
pub(super) fn nothing_needs_you(screen: &ActivityScreen, cx: &AppContext) -> (&'static str, &'static str) {
    if cx.journal.is_loading() {
        return ("Reading the journal…", "");
    }
    if screen.filter().is_some() {
        return ("Nothing that needs you has these words.", "");
    }
    if is_read_in_part(cx) {
        return ("Nothing that could be read needs you.", "What could not be read may: it is not here.");
    }
    (
        "Nothing needs you.",
        "What fails, is not known or waits for a person's word stands here until somebody has seen to it.",
    )
}

/// Whether the journal cannot be read, or some lines of it: what they tell may need somebody.
pub(super) fn is_read_in_part(cx: &AppContext) -> bool {
    cx.journal.trouble().is_some() || cx.journal.unreadable().is_some()
}

/// What a line says that is no row, each with how it is told: the second only where it is whole.
pub(super) fn words(line: &ListLine, theme: &Theme) -> [(&'static str, Style); 2] {
    match line {
        ListLine::Row(_) | ListLine::Blank => [("", theme.plain); 2],
        ListLine::Today { decided: true } => [("TODAY", theme.quiet), ("", theme.quiet)],
        ListLine::Today { decided: false } => {
            [("TODAY", theme.quiet), ("nothing was decided here yet; this was told", theme.quiet)]
        }
        ListLine::Nothing(words, more) => [(words, theme.strong), (more, theme.quiet)],
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use ListLine::{Blank, Nothing, Row};

    const DECIDED: ListLine = ListLine::Today { decided: true };

    const NOTHING: (&str, &str) = ("nothing", "");

    #[test]
    fn the_day_stands_below_what_needs_somebody_and_below_that_nothing_does() {
        let told = [(3, 1, true), (2, 0, false), (2, 2, true)]
            .map(|(rows, needing, roomy)| lines(rows, (needing, true), NOTHING, roomy));

        assert_eq!(told[0], [Row(0), Blank, DECIDED, Row(1), Row(2)]);
        assert_eq!(told[1], [Nothing("nothing", ""), DECIDED, Row(0), Row(1)]);
        assert_eq!(told[2], [Row(0), Row(1)]);
    }

    #[rstest]
    #[case::the_first_row_with_what_stands_above_it(0, 3, 4, 0)]
    #[case::but_the_row_first(0, 0, 2, 1)]
    #[case::a_row_further_down(3, 0, 3, 3)]
    #[case::what_was_scrolled_away_stays_so(2, 3, 3, 3)]
    #[case::there_is_no_room_behind_the_last_row(3, 9, 4, 2)]
    fn the_row_under_the_cursor_is_in_sight(
        #[case] cursor: usize,
        #[case] top: usize,
        #[case] height: usize,
        #[case] expected: usize,
    ) {
        let lines = lines(4, (0, true), NOTHING, false);

        assert_eq!(scrolled(&lines, cursor, top, height), expected);
    }
}
