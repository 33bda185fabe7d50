//! A list to pick one of, as a dialog.

use crossterm::event::Event;
use ratatui::{Frame, layout::Rect, text::Line};

use super::menu::{List, OpenMenu};
use crate::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, dialog, widgets::menu::Selection};

/// Handler of the entry that is picked.
type Picked = Box<dyn FnMut(usize, &mut AppContext) -> Orders + Send>;

/// A list of entries that is open as a dialog.
pub struct Pick {
    menu: OpenMenu,
    title: String,
    about: String,
    entries: Vec<Line<'static>>,
    /// Keys that pick an entry by themselves, in the order of the entries.
    keys: Vec<String>,
    picked: Picked,
}

/// Opens a list; the entry at `at` is chosen. What is picked closes it, where its orders say so.
pub fn open(
    title: impl Into<String>,
    at: usize,
    entries: Vec<Line<'static>>,
    picked: impl FnMut(usize, &mut AppContext) -> Orders + Send + 'static,
) -> Orders {
    let mut pick = Pick::new(title, entries, picked);
    pick.menu.chosen = Selection::at(at);
    pick.open()
}

impl Pick {
    /// A list of these entries. What is picked closes it, where its orders say so.
    pub fn new(
        title: impl Into<String>,
        entries: Vec<Line<'static>>,
        picked: impl FnMut(usize, &mut AppContext) -> Orders + Send + 'static,
    ) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        let (title, picked) = (title.into(), Box::new(picked));
        Self { menu, title, about: String::new(), entries, keys: Vec::new(), picked }
    }

    /// The same with words behind its title.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// The same with a key for each of its first entries.
    #[must_use]
    pub fn keys(self, keys: Vec<String>) -> Self {
        Self { keys, ..self }
    }

    /// Opens it.
    pub fn open(self) -> Orders {
        dialog::open(self)
    }

    /// The entry that a key picks by itself.
    fn by_key(&self, event: &Event, cx: &AppContext) -> Option<usize> {
        let Event::Key(key) = event else { return None };
        let chord = (*key).into();
        let is_free = cx.settings.keymap.action(&[KeyContext::Menu], chord).is_none();
        let named = chord.to_string();
        self.keys.iter().position(|key| is_free && *key == named)
    }
}

impl Dialog for Pick {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        if let Some(at) = self.by_key(event, cx) {
            return (self.picked)(at, cx);
        }
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
        let (title, about, entries) = (self.title.as_str(), self.about.as_str(), self.entries.clone());
        self.menu.draw(&List { title, about, entries, ..List::default() }, frame, area, cx);
    }
}
