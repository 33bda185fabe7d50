//! The help: every key of the screen, written from the keymap, and what the signs of the list mean; what is typed
//! narrows it, and the chosen key is run.

use crossterm::event::{Event, KeyCode, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::keymap::{Binding, Chord, Keymap};
use crate::console::screens::queue::signs::ListSign;
use crate::console::text::columns;
use crate::console::widgets::menu::Selection;
use crate::console::widgets::panel::PanelWidth;
use crate::console::{Action, AppContext, Dialog, KeyContext, Message, Order, Orders, TextInput, Tone};

/// Columns for the keys, with the blanks behind them: at most, and where there are fewer columns than this.
const KEYS: usize = 18;
const NARROW: u16 = 100;
const FEW_KEYS: usize = 12;

/// The help while it is open.
#[derive(Debug)]
pub struct Help {
    /// What is typed.
    search: TextInput,
    menu: OpenMenu,
    /// Whose keys it tells of.
    contexts: Vec<KeyContext>,
    /// Of these those that mean something there.
    actions: Vec<Action>,
}

/// An entry: a key, or a sign of the list.
#[derive(Clone, Copy)]
enum HelpEntry<'k> {
    Key(&'k Binding),
    Sign(ListSign),
}

impl HelpEntry<'_> {
    /// The heading it stands under.
    fn group(&self) -> &str {
        match self {
            Self::Key(binding) => &binding.group,
            Self::Sign(_) => "Signs in the list",
        }
    }

    /// What it says.
    fn about(&self) -> &str {
        match self {
            Self::Key(binding) => &binding.about,
            Self::Sign(sign) => sign.about(),
        }
    }
}

impl Help {
    /// The help of a place, which has the keys of these contexts as far as they mean something there.
    pub fn of(contexts: Vec<KeyContext>, means_something: impl Fn(Action) -> bool, cx: &AppContext) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        let bindings = cx.settings.keymap.all().filter(|binding| contexts.contains(&binding.context));
        let actions = bindings
            .map(|binding| binding.action)
            .filter(|action| *action != Action::Help && means_something(*action))
            .collect();
        Self { search: TextInput::one_line(""), menu, contexts, actions }
    }

    /// The entries that hold every word that is typed, those of one heading together.
    fn entries<'k>(&self, keymap: &'k Keymap) -> Vec<HelpEntry<'k>> {
        let typed = self.search.text().to_lowercase();
        let found = |text: String| {
            let text = text.to_lowercase();
            typed.split_whitespace().all(|word| text.contains(word))
        };
        let all: Vec<&'k Binding> = {
            let here = |binding: &&'k Binding| {
                self.contexts.contains(&binding.context) && self.actions.contains(&binding.action)
            };
            keymap.all().filter(here).collect()
        };
        let rank = |binding: &Binding| all.iter().position(|other| other.group == binding.group).unwrap_or(all.len());
        let text =
            |binding: &Binding| format!("{} {} {} {}", keys(binding), binding.words, binding.about, binding.group);
        let mut bindings: Vec<&'k Binding> = all.iter().copied().filter(|binding| found(text(binding))).collect();
        bindings.sort_by_key(|binding| rank(binding));
        let lists_alerts = self.contexts.contains(&KeyContext::Queue);
        let signs = ListSign::ALL
            .into_iter()
            .filter(|sign| lists_alerts && found(format!("{} sign mark legend", sign.about())));
        bindings.into_iter().map(HelpEntry::Key).chain(signs.map(HelpEntry::Sign)).collect()
    }

    /// The headings over the entries. What was searched for stands without them.
    fn groups<'e>(&self, entries: &'e [HelpEntry<'_>]) -> Vec<(usize, &'e str)> {
        if !self.search.is_empty() {
            return Vec::new();
        }
        let mut groups: Vec<(usize, &str)> = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if groups.last().is_none_or(|(_, heading)| *heading != entry.group()) {
                groups.push((index, entry.group()));
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
                if let Some(words) = self.search.paste(text).unwrap_or_else(Some) {
                    cx.notify(Tone::Note, words);
                }
                return Vec::new();
            }
            _ => {}
        }
        let length = self.entries(&cx.settings.keymap).len();
        match self.menu.update(event, length, cx) {
            Some(Action::MenuPick) => {
                let entries = self.entries(&cx.settings.keymap);
                match self.menu.chosen.index(length).map(|index| entries[index]) {
                    Some(HelpEntry::Key(binding)) => vec![Order::Close, Order::Choose(binding.action)],
                    // A sign says what it means and does nothing.
                    Some(HelpEntry::Sign(_)) => Vec::new(),
                    None => vec![Order::Close],
                }
            }
            Some(Action::MenuClose) => vec![Order::Close],
            _ => Vec::new(),
        }
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let entries = self.entries(&cx.settings.keymap);
        let wide = if area.width < NARROW { FEW_KEYS } else { KEYS };
        let line = |entry: &HelpEntry<'_>| match entry {
            HelpEntry::Key(binding) => {
                let keys = Span::styled(format!("{:<wide$}", keys_in(binding, wide)), theme.key);
                Line::from(vec![keys, Span::styled(binding.about.clone(), theme.plain)])
            }
            HelpEntry::Sign(sign) => {
                let (drawn, style) = sign.drawn(theme);
                let blanks = wide.saturating_sub(usize::from(columns(drawn)));
                Line::from(vec![
                    Span::styled(drawn, style),
                    Span::raw(" ".repeat(blanks)),
                    Span::styled(sign.about(), theme.plain),
                ])
            }
        };
        let room = usize::from(OpenMenu::room(PanelWidth::Search, area)).saturating_sub(wide);
        let chosen = self.menu.chosen.index(entries.len()).map(|index| entries[index]);
        let below = match chosen {
            // Keys that have no room in the line stand below it too.
            Some(HelpEntry::Key(binding)) if keys_in(binding, wide) != keys(binding) => {
                format!("{}: {}", keys(binding), binding.about)
            }
            Some(entry) if usize::from(columns(entry.about())) > room => entry.about().to_owned(),
            _ => String::new(),
        };
        let list = List {
            title: "Help",
            about: " keys of this place",
            entries: entries.iter().map(line).collect(),
            groups: self.groups(&entries),
            empty: "No key does that.",
            width: PanelWidth::Search,
            field: 2,
            below,
            pick: Some("run"),
            ..List::default()
        };
        let field = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: field.y + 1, height: 1, ..field };
        self.search.draw_field(frame, field, theme, true, "type to search");
    }
}

fn is_text(code: KeyCode, modifiers: KeyModifiers) -> bool {
    let letter = matches!(code, KeyCode::Char(_)) && !modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    letter || code == KeyCode::Backspace
}

/// As many of the keys as have room with a blank behind them; the first one always stands there.
fn keys_in(binding: &Binding, wide: usize) -> String {
    let all = keys(binding);
    if usize::from(columns(&all)) < wide {
        return all;
    }
    let ends = all.match_indices("  ").map(|(at, _)| &all[..at]).filter(|keys| usize::from(columns(keys)) < wide);
    ends.last().map_or_else(|| all.clone(), str::to_owned)
}

fn keys(binding: &Binding) -> String {
    match binding.keys.as_slice() {
        [] => "(no key)".to_owned(),
        keys => keys.iter().map(Chord::to_string).collect::<Vec<_>>().join("  "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_key_does_has_room_in_its_line_at_120_columns() {
        let room = usize::from(OpenMenu::room(PanelWidth::Search, Rect::new(0, 0, 120, 38))) - KEYS;
        let keymap = Keymap::default();

        let cut: Vec<&str> = keymap
            .all()
            .map(|binding| binding.about.as_str())
            .filter(|about| usize::from(columns(about)) > room)
            .collect();

        assert!(cut.is_empty(), "{cut:?}");
    }
}
