//! The command palette: one searchable list of keys, commands, views, settings and profiles; enter runs the chosen one.

pub mod offers;

use ratatui::{
    Frame,
    layout::Rect,
    text::{Line, Span},
};

use super::menu::{List, OpenMenu, type_into};
use crate::{
    Action, AppContext, Dialog, KeyContext, Message, Order, Orders, TextInput, Theme, Tone,
    text::{columns, cut, sanitize},
    ui::areas::rest_of,
    widgets::{menu::Selection, panel::PanelWidth},
};

use offers::{PaletteGoal, PaletteOffer};

/// Blank columns before the scrollbar.
const BEFORE_BAR: u16 = 2;

/// The most columns for the keys and for the names.
const KEYS: u16 = 16;
const NAMES: u16 = 22;

/// Number of commands used last that stand on top while nothing is typed.
const RECENT: usize = 5;

/// The palette while it is open.
#[derive(Debug)]
pub struct Palette {
    input: TextInput,
    menu: OpenMenu,
    offers: Vec<PaletteOffer>,
    /// True where a page lies between it and the screen, which is left with it.
    over_page: bool,
}

impl Palette {
    /// Returns the palette with these offers.
    pub fn of(offers: Vec<PaletteOffer>, over_page: bool) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        Self { input: TextInput::one_line(""), menu, offers, over_page }
    }

    /// Returns the offers that match, best first; those without effect now come last.
    fn rows(&self, cx: &AppContext) -> Vec<&PaletteOffer> {
        let typed = self.input.text();
        let recent = if typed.trim().is_empty() { &cx.recent[..cx.recent.len().min(RECENT)] } else { &cx.recent };
        let ranked = offers::ranked(&self.offers, &typed, recent).into_iter().map(|at| &self.offers[at]);
        let (idle, active): (Vec<_>, Vec<_>) = ranked.partition(|offer| is_behind(offer, &typed));
        active.into_iter().chain(idle).collect()
    }

    /// Returns the headings over the rows. Search results stand without them, except for what has no effect now.
    fn headings<'r>(&self, rows: &[&'r PaletteOffer], cx: &AppContext) -> Vec<(usize, &'r str)> {
        let typed = self.input.text();
        let first_idle = rows.iter().position(|offer| is_behind(offer, &typed));
        let idle = first_idle.map(|at| (at, "Not available now"));
        if !self.input.is_empty() {
            return idle.into_iter().collect();
        }
        let rows = &rows[..first_idle.unwrap_or(rows.len())];
        let is_recent = |offer: &PaletteOffer| cx.recent.iter().take(RECENT).any(|id| *id == offer.goal.id());
        let used = rows.iter().take_while(|offer| is_recent(offer)).count();
        let mut headings: Vec<(usize, &str)> = if used > 0 { vec![(0, "Used last")] } else { Vec::new() };
        for (at, offer) in rows.iter().enumerate().skip(used) {
            if headings.last().is_none_or(|(first, heading)| *heading != offer.group || *first < used) {
                headings.push((at, &offer.group));
            }
        }
        headings.extend(idle);
        headings
    }

    /// Runs the chosen one.
    fn pick(&self, cx: &mut AppContext) -> Orders {
        let rows = self.rows(cx);
        let Some(offer) = self.menu.chosen.index(rows.len()).map(|at| rows[at].clone()) else { return Vec::new() };
        if offer.idle.is_none() {
            cx.used(offer.goal.id());
        }
        // What leads elsewhere leaves the page that lies between.
        let leave = self.over_page.then_some(Order::Leave);
        let there: Orders = match offer.goal {
            // A sign has a meaning and does nothing.
            PaletteGoal::Sign(_) => return Vec::new(),
            PaletteGoal::Act(action) => return vec![Order::Close, Order::Choose(action)],
            PaletteGoal::InList(list, action) => {
                return vec![Order::Close, Order::Choose(list), Order::Choose(action)];
            }
            PaletteGoal::Setting(setting) => {
                vec![Order::Act(Action::ShowSettings), Message::GoToSetting(setting).into()]
            }
            PaletteGoal::Open(next) => vec![Message::OpenConsole(next).into()],
            PaletteGoal::View(name) => match cx.views.named(&name, cx.now, cx.calendar()) {
                Some(Ok(view)) => vec![Order::Act(Action::ShowQueue), Message::ShowView(view).into()],
                Some(Err(error)) => {
                    cx.notify(Tone::Bad, format!("View {name} cannot be read: {error}"));
                    return vec![Order::Close];
                }
                None => return vec![Order::Close],
            },
        };
        std::iter::once(Order::Close).chain(leave).chain(there).collect()
    }
}

/// Returns whether an offer stands last: it has no effect now, and its very name is not typed.
fn is_behind(offer: &PaletteOffer, typed: &str) -> bool {
    offer.idle.is_some() && !offers::is_named(offer, typed)
}

/// Returns the text of an offer: its effect, or why it has none now.
fn about(offer: &PaletteOffer) -> &str {
    offer.idle.unwrap_or(&offer.about)
}

/// Returns an offer as a line: keys, name, effect. All of it is quiet where it has no effect now.
fn offer_line<'l>(offer: &PaletteOffer, room: u16, theme: &Theme) -> Line<'l> {
    let cell = |text: &str, width: u16| {
        let text = cut(text, width).into_owned();
        let blanks = " ".repeat(usize::from(width - columns(&text)) + 2);
        text + &blanks
    };
    let (key_style, name_style) = match (&offer.goal, offer.idle) {
        (PaletteGoal::Sign(sign), _) => (sign.drawn(theme).1, theme.strong),
        (_, Some(_)) => (theme.quiet, theme.quiet),
        (_, None) => (theme.key, theme.strong),
    };
    let mut line = Line::from(vec![Span::styled(cell(&offer.keys, KEYS), key_style)]);
    if !offer.name.is_empty() {
        line.push_span(Span::styled(cell(&sanitize(&offer.name), NAMES), name_style));
    }
    let left = room - room.min(columns(&line.to_string()));
    line.push_span(Span::styled(cut(&sanitize(about(offer)), left).into_owned(), theme.quiet));
    line
}

impl Dialog for Palette {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        // Letters are searched for, so they are no commands here.
        match type_into(&mut self.input, event, cx) {
            Some(true) => self.menu.chosen = Selection::default(),
            Some(false) => {}
            None => {
                let length = self.rows(cx).len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Order::Close],
                    Some(Action::MenuPick) => return self.pick(cx),
                    _ => {}
                }
            }
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let room = OpenMenu::room(PanelWidth::Search, area) - BEFORE_BAR;
        let rows = self.rows(cx);
        let chosen = self.menu.chosen.index(rows.len()).map(|at| rows[at]);
        let pick = chosen.and_then(|offer| match (&offer.goal, offer.idle) {
            (_, Some(_)) => Some("say why"),
            (PaletteGoal::Act(_) | PaletteGoal::InList(..), None) => Some("run"),
            _ => None,
        });
        let list = List {
            title: "Keys and commands",
            entries: rows.iter().map(|offer| offer_line(offer, room, theme)).collect(),
            groups: self.headings(&rows, cx),
            empty: "No match",
            width: PanelWidth::Search,
            field: 2,
            below: chosen.map(|offer| sanitize(about(offer)).into_owned()).unwrap_or_default(),
            below_lines: 1,
            pick,
            ..List::default()
        };
        let fields = self.menu.draw(&list, frame, area, cx);
        let field = rest_of(fields, (1, 0));
        self.input.draw_field(frame, field, theme, true, "a key, a command, a view, a setting, a profile");
    }
}
