//! The list of columns: which are shown, in which order, and by which the list is sorted.

use std::cell::Cell;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::screens::queue::columns::{self, Column, ContentWidths};
use crate::console::screens::queue::state::{Queue, sorted_by};
use crate::console::widgets::menu::Selection;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, Tone};
use crate::domain::{AlertFilter, Sort, SortOrder};

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
    room: ListRoom,
}

/// What the list has room for: what it lists, how wide its contents are, and its own width as the menu was opened, in a
/// place of such a width.
#[derive(Debug)]
struct ListRoom {
    filter: AlertFilter,
    may_wait: bool,
    widths: ContentWidths,
    columns: u16,
    place: Cell<Option<u16>>,
}

impl ListRoom {
    /// Which of these columns have no room; once the place has another width that is not known.
    fn left_out(&self, chosen: &[Column], place: u16) -> Vec<Column> {
        let before = self.place.get().unwrap_or(place);
        self.place.set(Some(before));
        if before != place {
            return Vec::new();
        }
        let shown = columns::shown(chosen, &self.filter, self.may_wait);
        let placed = columns::lay_out(&shown, &self.widths, self.columns);
        shown.into_iter().filter(|column| !placed.iter().any(|known| known.column == *column)).collect()
    }
}

impl ColumnsMenu {
    /// The columns of the list.
    pub fn of(queue: &Queue) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Columns, KeyContext::Menu], Action::ColumnToggle);
        let (filter, may_wait) = (queue.listing.filter().clone(), queue.listing.may_wait());
        let room = ListRoom {
            filter,
            may_wait,
            widths: *queue.listing.widths(),
            columns: queue.regions().heads.width,
            place: Cell::default(),
        };
        Self { menu, shown: queue.columns.clone(), sort: queue.sort(), room }
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
        let left_out = self.room.left_out(&self.shown, area.width);
        let line = |column: &Column| {
            let (sign, style) = if self.shown.contains(column) { ("✓ ", theme.strong) } else { ("  ", theme.quiet) };
            let sorted = match self.sort.order {
                _ if column.sort_field() != Some(self.sort.field) => "  ",
                SortOrder::Ascending => "▲ ",
                SortOrder::Descending => "▼ ",
            };
            let about = match left_out.contains(column) {
                true => "no room at this width",
                false => column.about(),
            };
            let style = if left_out.contains(column) { theme.quiet } else { style };
            Line::from(vec![
                Span::styled(sign, theme.accent),
                Span::styled(format!("{:<14}", column.title()), style),
                Span::styled(sorted, theme.accent),
                Span::styled(about, theme.quiet),
            ])
        };
        let entries = all(&self.shown).iter().map(line).collect();
        self.menu.draw(List { title: "Columns", entries, ..List::default() }, frame, area, cx);
    }
}
