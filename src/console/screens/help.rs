//! The help: every key of the screen, written from the keymap; what is typed narrows it, and the chosen entry is run.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::console::hits::Hits;
use crate::console::keymap::{Action, Binding, Context, Key, Keymap};
use crate::console::look::Look;
use crate::console::pen::Pen;
use crate::console::widgets::menu::{Choice, Menu};
use crate::console::widgets::text_input::TextInput;

/// Columns for the keys.
const KEYS: usize = 18;

/// The help while it is open.
#[derive(Debug)]
pub struct Help {
    /// What is typed.
    pub search: TextInput,
    /// Which entry is chosen.
    pub choice: Choice,
    /// Whose keys it tells of.
    contexts: [Context; 2],
}

impl Help {
    /// The help of a screen, which has the keys of these contexts.
    pub fn of(contexts: [Context; 2]) -> Self {
        Self { search: TextInput::one_line(""), choice: Choice::default(), contexts }
    }

    /// The entries that hold every word that is typed, those of one heading together.
    pub fn entries<'k>(&self, keymap: &'k Keymap) -> Vec<&'k Binding> {
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

    /// What the chosen entry does.
    pub fn chosen(&self, keymap: &Keymap) -> Option<Action> {
        let entries = self.entries(keymap);
        self.choice.index(entries.len()).map(|index| entries[index].action)
    }

    /// Draws it over the screen.
    pub fn draw(&self, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
        let theme = look.theme;
        let entries = self.entries(look.keymap);
        let line = |binding: &&Binding| {
            Line::from(vec![Span::styled(format!("{:<KEYS$}", keys(binding)), theme.key), Span::styled(binding.about.clone(), theme.plain)])
        };
        let menu = Menu {
            title: "Keys",
            entries: entries.iter().map(line).collect(),
            groups: self.groups(&entries),
            choice: self.choice,
            contexts: &[Context::Menu],
            empty: "No key does that.",
            picks: true,
            width: 84,
            field: 2,
        };
        let field = menu.draw(look, frame, area, hits);
        let field = Rect { y: field.y + 1, height: 1, ..field };
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(field, style);
        if self.search.is_empty() {
            Pen::new(frame.buffer_mut(), Rect { x: field.x + 1, ..field }).put(" type to search", theme.quiet);
        }
        self.search.draw(frame, field, style, true);
    }
}

fn keys(binding: &Binding) -> String {
    match binding.keys.as_slice() {
        [] => "(no key)".to_owned(),
        keys => keys.iter().map(Key::to_string).collect::<Vec<_>>().join("  "),
    }
}
