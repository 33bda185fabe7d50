//! The help: every key of the screen, written from the keymap; what is typed narrows it, and the chosen entry is run.

use crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::keymap::{Binding, Chord, Keymap};
use crate::console::widgets::menu::Selection;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, Pen, TextInput, Tone};

/// Columns for the keys.
const KEYS: usize = 18;

/// The help while it is open.
#[derive(Debug)]
pub struct Help {
    /// What is typed.
    search: TextInput,
    menu: OpenMenu,
    /// Whose keys it tells of.
    contexts: [KeyContext; 2],
}

impl Help {
    /// The help of a screen, which has the keys of these contexts.
    pub fn of(contexts: [KeyContext; 2]) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        Self { search: TextInput::one_line(""), menu, contexts }
    }

    /// The entries that hold every word that is typed, those of one heading together.
    fn entries<'k>(&self, keymap: &'k Keymap) -> Vec<&'k Binding> {
        let typed = self.search.text().to_lowercase();
        let found = |binding: &&'k Binding| {
            let text = format!("{} {} {} {}", keys(binding), binding.words, binding.about, binding.group).to_lowercase();
            typed.split_whitespace().all(|word| text.contains(word))
        };
        let all: Vec<&'k Binding> = {
            let here = |binding: &&'k Binding| self.contexts.contains(&binding.context) && binding.action != Action::Help;
            keymap.all().filter(here).collect()
        };
        let rank = |binding: &Binding| all.iter().position(|other| other.group == binding.group).unwrap_or(all.len());
        let mut entries: Vec<&'k Binding> = all.iter().copied().filter(found).collect();
        entries.sort_by_key(|binding| rank(binding));
        entries
    }

    /// The headings over the entries. What was searched for stands without them.
    fn groups<'e>(&self, entries: &[&'e Binding]) -> Vec<(usize, &'e str)> {
        if !self.search.is_empty() {
            return Vec::new();
        }
        let mut groups: Vec<(usize, &str)> = Vec::new();
        for (index, binding) in entries.iter().enumerate() {
            if groups.last().is_none_or(|(_, heading)| *heading != binding.group) {
                groups.push((index, &binding.group));
            }
        }
        groups
    }
}

impl Dialog for Help {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        match event {
            // What is typed is searched for, so letters are no commands here.
            Event::Key(key) if is_text(key.code, key.modifiers) => {
                self.search.key(*key);
                self.menu.chosen = Selection::default();
                return Vec::new();
            }
            Event::Paste(text) => {
                if let Err(why) = self.search.paste(text) {
                    cx.notify(Tone::Note, why);
                }
                return Vec::new();
            }
            _ => {}
        }
        let length = self.entries(&cx.settings.keymap).len();
        match self.menu.update(event, length, cx) {
            Some(Action::MenuPick) => {
                let chosen = self.menu.chosen.index(length).map(|index| self.entries(&cx.settings.keymap)[index].action);
                [Order::Close].into_iter().chain(chosen.map(Order::Act)).collect()
            }
            Some(Action::MenuClose) => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let entries = self.entries(&cx.settings.keymap);
        let line = |binding: &&Binding| {
            Line::from(vec![Span::styled(format!("{:<KEYS$}", keys(binding)), theme.key), Span::styled(binding.about.clone(), theme.plain)])
        };
        let list = List {
            title: "Keys",
            entries: entries.iter().map(line).collect(),
            groups: self.groups(&entries),
            empty: "No key does that.",
            width: 84,
            field: 2,
        };
        let field = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: field.y + 1, height: 1, ..field };
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(field, style);
        if self.search.is_empty() {
            Pen::new(frame.buffer_mut(), Rect { x: field.x + 1, ..field }).put(" type to search", theme.quiet);
        }
        self.search.draw(frame, field, style, true);
    }
}

fn is_text(code: KeyCode, modifiers: KeyModifiers) -> bool {
    let letter = matches!(code, KeyCode::Char(_)) && !modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    letter || code == KeyCode::Backspace
}

fn keys(binding: &Binding) -> String {
    match binding.keys.as_slice() {
        [] => "(no key)".to_owned(),
        keys => keys.iter().map(Chord::to_string).collect::<Vec<_>>().join("  "),
    }
}
