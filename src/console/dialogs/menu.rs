//! Menus: lists that are open as dialogs: which entry is chosen, what keys, clicks and the wheel do to it, and the
//! field that narrows it.

use std::cell::Cell;

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseEventKind};
use ratatui::{
    Frame,
    layout::{Margin, Rect},
    text::Line,
};

use crate::{
    Action, AppContext, ClickTargets, Dialog, KeyContext, Message, Order, Orders, Pen, TextInput, Tone, dialog,
    keymap::Binding,
    pen::put_lines,
    text::{CUT, capitalized, columns, wrap_to},
    ui::{
        areas::{FILL, inset, stacked},
        fit::{self, KeyHint},
        table::{moved, scrolled},
    },
    widgets::{
        buttons::{BETWEEN, Button, draw_buttons},
        menu::{Selection, is_roomy},
        panel::{Panel, PanelWidth},
        scrollbar,
        text_input::Typed,
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
    /// What to say where there are no entries.
    pub empty: &'m str,
    /// How wide it is.
    pub width: PanelWidth,
    /// Lines left free under the title, for a field.
    pub field: u16,
    /// What has no room in the chosen line: it stands under the list.
    pub below: String,
    /// Lines that are kept for that, where it is more than one.
    pub below_lines: u16,
    /// What it is to choose an entry, in other words than usual; nothing is told where these are none.
    pub pick: Option<&'m str>,
    /// What else a key does with the chosen entry, and what a click on it is.
    pub also: Vec<(&'m str, &'m str, Action)>,
}

/// A line of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown<'m> {
    Blank,
    Heading(&'m str),
    Entry(usize),
}

impl List<'_> {
    /// The entries with their headings, and a blank line before each heading but the first.
    fn lines(&self) -> Vec<Shown<'_>> {
        let mut lines = Vec::with_capacity(self.entries.len() + 2 * self.groups.len());
        for index in 0..self.entries.len() {
            if let Some((_, heading)) = self.groups.iter().find(|(first, _)| *first == index) {
                if !lines.is_empty() {
                    lines.push(Shown::Blank);
                }
                lines.push(Shown::Heading(heading));
            }
            lines.push(Shown::Entry(index));
        }
        lines
    }
}

/// The buttons of a list, and the other keys that work in it.
type Hints<'m> = (Vec<Button<'m, Target>>, Vec<KeyHint<Target>>);

/// An open list.
#[derive(Debug)]
pub struct OpenMenu {
    /// Which entry is chosen.
    pub chosen: Selection,
    contexts: &'static [KeyContext],
    click: Action,
    targets: ClickTargets<Target>,
    /// The first line in sight, and how many lines and entries the last frame had.
    top: Cell<usize>,
    page: Cell<[isize; 2]>,
}

impl OpenMenu {
    /// A list with the keys of these contexts. A click on an entry chooses it and does this action.
    pub fn new(chosen: Selection, contexts: &'static [KeyContext], click: Action) -> Self {
        Self { chosen, contexts, click, targets: ClickTargets::default(), top: Cell::new(0), page: Cell::new([1, 1]) }
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
                    self.chosen = Selection::at(index);
                    self.click
                }
                Target::Do(action) => action,
            },
            Event::Paste(_) => {
                cx.notify(Tone::Note, NO_FIELD);
                return None;
            }
            _ => return None,
        };
        match action {
            Action::MenuDown | Action::MenuUp => self.chosen.step(action == Action::MenuDown, length),
            Action::MenuFirst => self.chosen = Selection::default(),
            Action::MenuLast => self.chosen = Selection::at(usize::MAX),
            Action::MenuPageDown | Action::MenuPageUp => {
                let (way, [lines, entries]) = (if action == Action::MenuPageDown { 1 } else { -1 }, self.page.get());
                self.chosen.leap(way * entries.max(1), length);
                // The last page ends with the last entry, whoever draws it sees to that.
                self.top.set(moved(self.top.get(), way * lines, usize::MAX));
            }
            other => return Some(other),
        }
        None
    }

    /// How many columns an entry has in a list of this width.
    pub fn room(width: PanelWidth, area: Rect) -> u16 {
        Panel::of(width, area).room()
    }

    /// Draws it into the middle of an area. Returns the free lines under its title.
    pub fn draw<'m>(&self, list: &List<'m>, frame: &mut Frame<'_>, area: Rect, cx: &'m AppContext) -> Rect {
        self.draw_without(&[], list, frame, area, cx)
    }

    /// The same without the keys of what cannot be done with the chosen entry.
    pub fn draw_without<'m>(
        &self,
        withheld: &[Action],
        list: &List<'m>,
        frame: &mut Frame<'_>,
        area: Rect,
        cx: &'m AppContext,
    ) -> Rect {
        self.targets.clear();
        let (buttons, keys) = self.hints(withheld, list, cx);
        let (theme, panel) = (&cx.theme, Panel::of(list.width, area));
        let lines = list.lines();
        let entries = u16::try_from(lines.len().max(1)).unwrap_or(u16::MAX);
        let below = list.below_lines.max(1);
        let of_buttons: u16 = buttons.iter().map(|button| button.width() + BETWEEN).sum();
        let of_keys: u16 = keys.iter().map(|hint| columns(&hint.key) + 1 + columns(&hint.words) + BETWEEN).sum();
        let hint_lines = if of_buttons + of_keys <= panel.room() + BETWEEN { 1 } else { 2 };
        // Where there is little room the entries have it, and no line is blank.
        let all = entries.saturating_add(2 + list.field + below + hint_lines);
        let blank = u16::from(is_roomy(area) || all <= panel.most_lines());
        let inside = panel.open(all.min(panel.most_lines()), theme, frame.buffer_mut());
        let [title, field, _, body, told, foot] = stacked(inside, [1, list.field, blank, FILL, below, hint_lines]);
        let mut pen = Pen::new(frame.buffer_mut(), title);
        pen.put(list.title, theme.strong);
        pen.skip(1);
        pen.put(list.about, theme.quiet);
        if list.entries.is_empty() {
            Pen::new(frame.buffer_mut(), body).put(list.empty, theme.quiet);
        }
        self.draw_entries(list, &lines, frame, body, cx);
        let words = wrap_to(&list.below, inside.width, below.into()).into_iter();
        put_lines(frame.buffer_mut(), told, words.map(|line| (line, theme.plain)));
        let [first, second] = stacked(foot, [1, FILL]);
        let beside = if hint_lines == 1 { inset(first, of_buttons, 0) } else { second };
        // The entries have the focus.
        let mut note = |area, target| self.targets.push(area, target);
        draw_buttons(&buttons, Target::Entry(0), 0, (theme, frame.buffer_mut(), first), &mut note);
        fit::draw(&fit::keys(keys, theme), frame.buffer_mut(), beside, &mut note);
        field
    }

    /// The buttons that end it, and the other keys that work in it, each with its words.
    fn hints<'m>(&self, withheld: &[Action], list: &List<'m>, cx: &'m AppContext) -> Hints<'m> {
        let bindings = self.contexts.iter().flat_map(|context| cx.settings.keymap.bindings(*context));
        let told: Vec<&Binding> =
            bindings.filter(|binding| binding.footer && !withheld.contains(&binding.action)).collect();
        let key = |binding: &'m Binding| {
            Some((binding.keys.first()?.to_string(), binding.words.as_str(), Target::Do(binding.action)))
        };
        let of = |action| told.iter().find(|binding| binding.action == action).and_then(|binding| key(binding));
        let leave = of(Action::MenuClose).map(|(key, words, target)| Button::quiet(target, capitalized(words), key));
        let choose = of(Action::MenuPick).filter(|_| self.click == Action::MenuPick && list.pick != Some(""));
        let choose =
            choose.map(|(key, words, target)| Button::primary(target, capitalized(list.pick.unwrap_or(words)), key));
        let others = told.iter().filter(|binding| !matches!(binding.action, Action::MenuClose | Action::MenuPick));
        let also = list.also.iter().map(|(key, words, action)| ((*key).to_owned(), *words, Target::Do(*action)));
        let keys = also.chain(others.filter_map(|binding| key(binding)));
        let keys = keys.map(|(key, words, target)| KeyHint::new(key, words, target)).collect();
        (leave.into_iter().chain(choose).collect(), keys)
    }

    /// Draws the entries in sight with their headings.
    fn draw_entries(&self, list: &List<'_>, lines: &[Shown<'_>], frame: &mut Frame<'_>, body: Rect, cx: &AppContext) {
        let (theme, chosen) = (&cx.theme, self.chosen.index(list.entries.len()));
        let visible = usize::from(body.height);
        let first = self.first_in_sight(chosen, lines, visible);
        let in_sight = lines.iter().skip(first).take(visible);
        let entries = in_sight.filter(|line| matches!(line, Shown::Entry(_))).count();
        for (shown, line) in lines.iter().skip(first).zip(body.rows()) {
            let (index, entry) = match shown {
                Shown::Blank => continue,
                // Below it stands what is none of its own.
                Shown::Heading(_) if line.bottom() == body.bottom() => continue,
                Shown::Heading(words) => {
                    Pen::new(frame.buffer_mut(), line).put(words, theme.quiet);
                    continue;
                }
                Shown::Entry(index) => (*index, &list.entries[*index]),
            };
            let row = line.outer(Margin::new(1, 0));
            match Some(index) == chosen {
                true if cx.settings.plain => theme.mark_row(frame.buffer_mut(), row),
                true => frame.buffer_mut().set_style(row, theme.selection),
                false => {}
            }
            frame.buffer_mut().set_line(line.x, line.y, entry, line.width);
            if entry.width() > usize::from(line.width) {
                frame.buffer_mut().set_stringn(line.right() - 1, line.y, CUT, 1, theme.quiet);
            }
            self.targets.push(row, Target::Entry(index));
        }
        let window = body.outer(Margin::new(1, 0));
        scrollbar::draw(theme, frame.buffer_mut(), window, first as u64, lines.len() as u64);
        self.top.set(first);
        self.page.set([visible, entries].map(|lines| isize::try_from(lines).unwrap_or(1)));
    }

    /// The first line in sight: as it was left, where the chosen entry is in sight so, with a heading over it.
    fn first_in_sight(&self, chosen: Option<usize>, lines: &[Shown<'_>], visible: usize) -> usize {
        let Some(at) = chosen.and_then(|chosen| lines.iter().position(|line| *line == Shown::Entry(chosen))) else {
            return 0;
        };
        let headed =
            lines[..at].iter().rposition(|line| matches!(line, Shown::Entry(_))).map_or(0, |before| before + 1);
        scrolled(self.top.get().min(headed), at, lines.len(), visible)
    }
}

/// What is said to one who pastes where nothing can be typed.
pub const NO_FIELD: &str = "Not pasted: no field is open.";

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
pub fn pick(
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

/// Types an event into the field of a dialog. Returns whether the text is another one; nothing where the event is not
/// the field's.
pub fn type_into(input: &mut TextInput, event: &Event, cx: &mut AppContext) -> Option<bool> {
    match event {
        Event::Key(key) if is_typed(key) => Some(input.key(*key) == Typed::Changed),
        Event::Paste(text) => {
            let pasted = input.paste(text);
            let is_changed = pasted.is_ok();
            pasted.unwrap_or_else(Some).into_iter().for_each(|words| cx.notify(Tone::Note, words));
            Some(is_changed)
        }
        _ => None,
    }
}

/// Returns true where a key goes to the field: what is a letter, and what edits a line. Letters by AltGr come with both
/// control and alt.
pub fn is_typed(key: &KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let plain = !key.modifiers.intersects(both) || key.modifiers.contains(both);
    let edits =
        key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('a' | 'e' | 'k' | 'u' | 'w'));
    match key.code {
        KeyCode::Char(_) => plain || edits,
        code => matches!(code, KeyCode::Backspace | KeyCode::Delete | KeyCode::Left | KeyCode::Right),
    }
}
