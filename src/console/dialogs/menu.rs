//! A list that is open as a dialog: which entry is chosen, and what keys, clicks and the wheel do to it.

use std::cell::Cell;

use crossterm::event::{Event, MouseEventKind};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::console::keymap::Binding;
use crate::console::text::capitalized;
use crate::console::widgets::buttons::Button;
use crate::console::widgets::menu::{DrawnMenu, Menu, Selection};
use crate::console::widgets::panel::{Panel, PanelWidth};
use crate::console::{Action, AppContext, ClickTargets, KeyContext, Tone};
use crate::ui::table::moved;

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
    pub fn draw<'m>(&self, list: List<'m>, frame: &mut Frame<'_>, area: Rect, cx: &'m AppContext) -> Rect {
        self.draw_without(&[], list, frame, area, cx)
    }

    /// The same without the keys of what cannot be done with the chosen entry.
    pub fn draw_without<'m>(
        &self,
        withheld: &[Action],
        list: List<'m>,
        frame: &mut Frame<'_>,
        area: Rect,
        cx: &'m AppContext,
    ) -> Rect {
        self.targets.clear();
        let List { title, about, entries, groups, empty, width, field, below, below_lines, pick, also } = list;
        let bindings = self.contexts.iter().flat_map(|context| cx.settings.keymap.bindings(*context));
        let told: Vec<&Binding> =
            bindings.filter(|binding| binding.footer && !withheld.contains(&binding.action)).collect();
        let key = |binding: &'m Binding| {
            Some((binding.keys.first()?.to_string(), binding.words.as_str(), Target::Do(binding.action)))
        };
        let of = |action| told.iter().find(|binding| binding.action == action).and_then(|binding| key(binding));
        let leave = of(Action::MenuClose).map(|(key, words, target)| Button::quiet(target, capitalized(words), key));
        let choose = of(Action::MenuPick).filter(|_| self.click == Action::MenuPick && pick != Some(""));
        let choose =
            choose.map(|(key, words, target)| Button::primary(target, capitalized(pick.unwrap_or(words)), key));
        let others = told.iter().filter(|binding| !matches!(binding.action, Action::MenuClose | Action::MenuPick));
        let also = also.into_iter().map(|(key, words, action)| (key.to_owned(), words, Target::Do(action)));
        let menu = Menu {
            title,
            about,
            entries,
            groups,
            chosen: self.chosen,
            buttons: leave.into_iter().chain(choose).collect(),
            keys: also.chain(others.filter_map(|binding| key(binding))).collect(),
            entry: Target::Entry,
            empty,
            width,
            field,
            below,
            below_lines,
            top: self.top.get(),
            is_marked: cx.settings.plain,
        };
        let DrawnMenu { field, top, page } = menu.draw(&cx.theme, frame, area, &self.targets);
        self.top.set(top);
        self.page.set(page);
        field
    }
}

/// What is said to one who pastes where nothing can be typed.
pub const NO_FIELD: &str = "Not pasted: no field is open.";
