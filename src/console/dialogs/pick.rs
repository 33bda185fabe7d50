//! A list to pick one of, as a dialog.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::menu::{List, OpenMenu};
use crate::console::widgets::menu::Selection;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, dialog};

/// Handler of the entry that is picked.
type Picked = Box<dyn FnMut(usize, &mut AppContext) -> Orders + Send>;

struct Pick {
    menu: OpenMenu,
    title: String,
    entries: Vec<Line<'static>>,
    picked: Picked,
}

/// Opens a list; the entry at `at` is chosen. What is picked closes it, where its orders say so.
pub fn open(
    title: impl Into<String>,
    at: usize,
    entries: Vec<Line<'static>>,
    picked: impl FnMut(usize, &mut AppContext) -> Orders + Send + 'static,
) -> Orders {
    let menu = OpenMenu::new(Selection::at(at), &[KeyContext::Menu], Action::MenuPick);
    dialog::open(Pick { menu, title: title.into(), entries, picked: Box::new(picked) })
}

impl Dialog for Pick {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        let length = self.entries.len();
        match (self.menu.update(event, length, cx), self.menu.chosen.index(length)) {
            (Some(Action::MenuPick), Some(at)) => (self.picked)(at, cx),
            (Some(Action::MenuClose), _) => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let (title, entries) = (self.title.as_str(), self.entries.clone());
        self.menu.draw(List { title, entries, ..List::default() }, frame, area, cx);
    }
}
