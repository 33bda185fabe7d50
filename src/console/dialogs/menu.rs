//! Menus: lists that are open as dialogs: which entry is chosen, what keys, clicks and the wheel do to it, and the
//! field that narrows it.

use crossterm::event::{Event, KeyCode, MouseEventKind};
use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use crate::{
    Action, AppContext, ClickTargets, Dialog, KeyContext, Message, Pen, Task, Tasks, TextInput, Theme, Tone, dialog,
    text::capitalized,
    ui::{
        areas::{FILL, stacked},
        table::{self, Cursor},
    },
    widgets::{
        buttons::{Button, button_lines, draw_buttons},
        panel::{Panel, PanelWidth},
    },
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Entry(usize),
    Do(Action),
}

/// What is shown of an open list.
#[derive(Default)]
pub struct List<'m> {
    /// Over it.
    pub title: &'m str,
    /// Of what it is, behind the title.
    pub about: &'m str,
    /// One line each.
    pub entries: Vec<Line<'m>>,
    /// Headings, each with the entry that it stands over; in order.
    pub groups: Vec<(usize, &'m str)>,
    /// Words where there are no entries.
    pub empty: &'m str,
    /// Its width.
    pub width: PanelWidth,
    /// Lines left free under the title, for a field.
    pub field: u16,
    /// The rest of the chosen line that has no room: it stands under the list.
    pub below: String,
    /// Words for choosing an entry, where they are other than usual; empty for none.
    pub pick: Option<&'m str>,
    /// Other keys for the chosen entry, each with its words and its action.
    pub also: Vec<(&'m str, &'m str, Action)>,
    /// Actions that the chosen entry does not have: their keys are not told.
    pub withheld: &'m [Action],
}

impl<'m> List<'m> {
    /// The entries with their headings, and a blank line before each heading but the first: each line with its entry.
    fn lines(&self, cx: &AppContext) -> Vec<(Option<usize>, Line<'m>)> {
        let mut lines = Vec::with_capacity(self.entries.len() + 2 * self.groups.len());
        for (index, entry) in self.entries.iter().enumerate() {
            if let Some((_, heading)) = self.groups.iter().find(|(first, _)| *first == index) {
                lines.extend((index > 0).then(|| (None, Line::default())));
                lines.push((None, Line::styled(*heading, cx.theme.quiet)));
            }
            lines.push((Some(index), entry.clone()));
        }
        lines
    }
}

/// An open list.
#[derive(Debug)]
pub struct OpenMenu {
    /// The cursor, on the chosen entry.
    pub cursor: Cursor,
    contexts: &'static [KeyContext],
    targets: ClickTargets<Target>,
}

impl OpenMenu {
    /// A list with the keys of these contexts; its first entry is chosen.
    pub fn new(contexts: &'static [KeyContext]) -> Self {
        Self { cursor: Cursor::default(), contexts, targets: ClickTargets::default() }
    }

    /// The chosen entry of so many.
    pub fn chosen(&self, length: usize) -> Option<usize> {
        (length > 0).then(|| self.cursor.at.min(length - 1))
    }

    /// Takes an event. What it asks for beyond moving the choice, such as [`Action::MenuPick`].
    pub fn update(&mut self, event: &Event, length: usize, cx: &mut AppContext) -> Option<Action> {
        let action = match event {
            Event::Key(key) => match cx.settings.keymap.action(self.contexts, (*key).into()) {
                Some(action) => action,
                None => {
                    cx.hint_unknown(*key);
                    return None;
                }
            },
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollDown => Action::MenuDown,
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::ScrollUp => Action::MenuUp,
            Event::Mouse(_) => match self.targets.clicked(event)? {
                Target::Entry(index) => {
                    self.cursor.at = index;
                    Action::MenuPick
                }
                Target::Do(action) => action,
            },
            Event::Paste(_) => {
                cx.notify(Tone::Note, NO_FIELD);
                return None;
            }
            _ => return None,
        };
        let code = match action {
            Action::MenuDown => KeyCode::Down,
            Action::MenuUp => KeyCode::Up,
            Action::MenuFirst => KeyCode::Home,
            Action::MenuLast => KeyCode::End,
            Action::MenuPageDown => KeyCode::PageDown,
            Action::MenuPageUp => KeyCode::PageUp,
            other => return Some(other),
        };
        self.cursor.at = self.chosen(length).unwrap_or(0);
        self.cursor.key(code, length);
        None
    }

    /// Columns of an entry in a list as wide as those of searches.
    pub fn room(area: Rect) -> u16 {
        table::room(Rect { width: Panel::of(PanelWidth::Search, area).room(), ..area })
    }

    /// Draws it into the middle of an area. Returns the free lines under its title.
    pub fn draw<'m>(&self, list: &List<'m>, frame: &mut Frame<'_>, area: Rect, cx: &'m AppContext) -> Rect {
        self.targets.clear();
        let (theme, panel) = (&cx.theme, Panel::of(list.width, area));
        let buttons = self.buttons(list, cx);
        let of_buttons = button_lines(&buttons, panel.room());
        let lines = list.lines(cx);
        let entries = u16::try_from(lines.len().max(1)).unwrap_or(u16::MAX);
        let all = entries.saturating_add(3 + list.field + of_buttons).min(panel.most_lines());
        let inside = panel.open(all, theme, frame.buffer_mut());
        let [title, field, _, body, below, foot] = stacked(inside, [1, list.field, 1, FILL, 1, of_buttons]);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(list.title, theme.strong);
        pen.skip(1);
        pen.put(list.about, theme.quiet);
        if list.entries.is_empty() {
            Pen::new(frame.buffer_mut(), body).put(list.empty, theme.quiet);
        }
        let rows: Vec<Option<usize>> = lines.iter().map(|(entry, _)| *entry).collect();
        let chosen = (self.chosen(list.entries.len()).unwrap_or(0), true);
        let line = |index: usize| lines[index].1.clone();
        let mut note = |area, target| self.targets.push(area, target);
        self.cursor.draw_page(&rows, line, chosen, theme, frame.buffer_mut(), body, |area, entry| {
            note(area, Target::Entry(entry));
        });
        Pen::new(frame.buffer_mut(), below).put(&list.below, theme.plain);
        // The entries have the focus.
        draw_buttons(&buttons, Target::Entry(0), 0, (theme, frame.buffer_mut(), foot), &mut note);
        field
    }

    /// Buttons of its keys: the one that leaves first, the one that chooses last.
    fn buttons<'m>(&self, list: &List<'m>, cx: &'m AppContext) -> Vec<Button<'m, Target>> {
        let bindings = self.contexts.iter().flat_map(|context| cx.settings.keymap.bindings(*context));
        let told = bindings.filter(|binding| binding.footer && !list.withheld.contains(&binding.action));
        let (mut leave, mut others, mut choose) = (Vec::new(), Vec::new(), Vec::new());
        for (key, binding) in told.filter_map(|binding| Some((binding.keys.first()?.to_string(), binding))) {
            let target = Target::Do(binding.action);
            let quiet = |words: &str| Button::quiet(target, capitalized(words), key.clone());
            match (binding.action, list.pick) {
                (Action::MenuClose, _) => leave.push(quiet(&binding.words)),
                (Action::MenuPick, Some("")) => {}
                (Action::MenuPick, pick) => {
                    choose.push(Button::primary(target, capitalized(pick.unwrap_or(&binding.words)), key));
                }
                _ => others.push(quiet(&binding.words)),
            }
        }
        let also =
            list.also.iter().map(|(key, words, action)| Button::quiet(Target::Do(*action), capitalized(words), *key));
        leave.into_iter().chain(also).chain(others).chain(choose).collect()
    }
}

/// What is said to one who pastes where nothing can be typed.
pub const NO_FIELD: &str = "Not pasted: no field is open.";

/// Columns of the keys, and blank ones behind the names.
const KEYS: usize = 3;
const BEHIND_NAMES: usize = 3;

/// Handler of the entry that is picked.
type Picked = Box<dyn FnMut(usize, &mut AppContext) -> Tasks + Send>;

/// A list of entries that is open as a dialog.
pub struct Pick {
    menu: OpenMenu,
    title: String,
    about: String,
    /// Name of each, and what it is about.
    entries: Vec<(String, String)>,
    /// Keys that pick an entry by themselves, in the order of the entries.
    keys: Vec<String>,
    picked: Picked,
}

impl Pick {
    /// A list of these entries, each a name and what it is about. What is picked closes it, where its tasks say so.
    pub fn new(
        title: impl Into<String>,
        entries: Vec<(String, String)>,
        picked: impl FnMut(usize, &mut AppContext) -> Tasks + Send + 'static,
    ) -> Self {
        let menu = OpenMenu::new(&[KeyContext::Menu]);
        let (title, picked) = (title.into(), Box::new(picked));
        Self { menu, title, about: String::new(), entries, keys: Vec::new(), picked }
    }

    /// The same with the entry at `at` chosen.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.menu.cursor.at = at;
        self
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
    pub fn open(self) -> Tasks {
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
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let Message::Input(event) = message else { return Vec::new() };
        if let Some(at) = self.by_key(event, cx) {
            return (self.picked)(at, cx);
        }
        let length = self.entries.len();
        match (self.menu.update(event, length, cx), self.menu.chosen(length)) {
            (Some(Action::MenuPick), Some(at)) => (self.picked)(at, cx),
            (Some(Action::MenuClose), _) => vec![Task::Close],
            _ => Vec::new(),
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let (title, about) = (self.title.as_str(), self.about.as_str());
        let entries = named_lines(&self.entries, &self.keys, &cx.theme);
        self.menu.draw(&List { title, about, entries, ..List::default() }, frame, area, cx);
    }
}

/// Lines of entries, each with its key where it has one, its name, and what it is about.
pub fn named_lines(entries: &[(String, String)], keys: &[String], theme: &Theme) -> Vec<Line<'static>> {
    let names = entries.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0) + BEHIND_NAMES;
    let entry = |(at, (name, about)): (usize, &(String, String))| {
        let key = keys.get(at).map_or_else(String::new, |key| format!("{key:<KEYS$}"));
        let (key, name) = (Span::styled(key, theme.key), Span::styled(format!("{name:<names$}"), theme.strong));
        Line::from(vec![key, name, Span::styled(about.clone(), theme.quiet)])
    };
    entries.iter().enumerate().map(entry).collect()
}

/// Types an event into the field of a dialog. Returns whether the text is another one; nothing where the event is not
/// the field's.
pub fn type_into(input: &mut TextInput, event: &Event, cx: &mut AppContext) -> Option<bool> {
    match event {
        Event::Key(key) => {
            let before = input.text();
            input.key(*key).then(|| input.text() != before)
        }
        Event::Paste(text) => {
            let pasted = input.paste(text);
            let is_changed = pasted.is_ok();
            pasted.unwrap_or_else(Some).into_iter().for_each(|words| cx.notify(Tone::Note, words));
            Some(is_changed)
        }
        _ => None,
    }
}
