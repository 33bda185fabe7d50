//! The list of columns: which are shown, in which order, and by which the list is sorted.

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use super::menu::{List, OpenMenu};
use crate::{
    Action, AppContext, Dialog, KeyContext, Message, Order, Orders, Tone,
    domain::{Sort, SortOrder},
    screens::queue::{
        columns::Column,
        state::{Queue, sorted_by},
    },
    widgets::menu::Selection,
};

/// Every column: the shown ones in their order, then the others.
fn all(shown: &[Column]) -> Vec<Column> {
    shown.iter().copied().chain(Column::ALL.into_iter().filter(|column| !shown.contains(column))).collect()
}

/// Moves a shown column by one place. Returns where it stands then.
fn shift(shown: &mut [Column], at: usize, right: bool) -> usize {
    let to = if right { at + 1 } else { at.wrapping_sub(1) };
    if at < shown.len() && to < shown.len() {
        shown.swap(at, to);
        return to;
    }
    at
}

/// Shows a column after the others, or hides it; the last one stays. Returns where it stands then.
fn toggle(shown: &mut Vec<Column>, column: Column) -> usize {
    match shown.iter().position(|known| *known == column) {
        Some(at) if shown.len() > 1 => {
            shown.remove(at);
        }
        Some(_) => {}
        None => shown.push(column),
    }
    all(shown).iter().position(|known| *known == column).unwrap_or(0)
}

/// The list of columns while it is open.
#[derive(Debug)]
pub struct ColumnsMenu {
    menu: OpenMenu,
    shown: Vec<Column>,
    sort: Sort,
}

impl ColumnsMenu {
    /// The columns of the list.
    pub fn of(queue: &Queue) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Columns, KeyContext::Menu], Action::ColumnToggle);
        Self { menu, shown: queue.columns.clone(), sort: queue.sort() }
    }

    fn change(&mut self, action: Action, at: usize, cx: &mut AppContext) -> Orders {
        let column = all(&self.shown)[at];
        let to = match action {
            Action::ColumnToggle => toggle(&mut self.shown, column),
            Action::ColumnLeft | Action::ColumnRight => shift(&mut self.shown, at, action == Action::ColumnRight),
            Action::ColumnReset => {
                self.shown = Column::USUAL.to_vec();
                at
            }
            Action::ColumnSort => {
                let Some(field) = column.sort_field() else {
                    cx.notify(Tone::Note, "The service cannot sort by this.");
                    return Vec::new();
                };
                self.sort = sorted_by(self.sort, field);
                return vec![Message::Sort(self.sort).into()];
            }
            _ => return Vec::new(),
        };
        self.menu.chosen = Selection::at(to);
        vec![Message::Columns(self.shown.clone()).into()]
    }
}

impl Dialog for ColumnsMenu {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let length = all(&self.shown).len();
        match (self.menu.update(event, length, cx), self.menu.chosen.index(length)) {
            // Here, choosing is done.
            (Some(Action::MenuClose | Action::MenuPick), _) => vec![Order::Close],
            (Some(action), Some(at)) => self.change(action, at, cx),
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Orders> {
        use Action::{ColumnLeft, ColumnReset, ColumnRight, ColumnSort, ColumnToggle};
        match action {
            ColumnReset => Some(self.change(action, 0, cx)),
            // What is about one of the columns needs one to be chosen, here.
            ColumnLeft | ColumnRight | ColumnSort | ColumnToggle => Some(Vec::new()),
            _ => None,
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let line = |column: &Column| {
            let (sign, style) = if self.shown.contains(column) { ("✓ ", theme.strong) } else { ("  ", theme.quiet) };
            let sorted = match self.sort.order {
                _ if column.sort_field() != Some(self.sort.field) => "  ",
                SortOrder::Ascending => "▲ ",
                SortOrder::Descending => "▼ ",
            };
            Line::from(vec![
                Span::styled(sign, theme.accent),
                Span::styled(format!("{:<14}", column.title()), style),
                Span::styled(sorted, theme.accent),
                Span::styled(column.about(), theme.quiet),
            ])
        };
        let entries = all(&self.shown).iter().map(line).collect();
        self.menu.draw(&List { title: "Columns", entries, ..List::default() }, frame, area, cx);
    }
}
