//! The list of views: the built-in ones, then one's own, which are saved, deleted and brought back here. What is typed
//! narrows it.

use crossterm::event::{Event, KeyEvent};
use ratatui::{
    Frame,
    layout::Rect,
    style::Modifier,
    text::{Line, Span},
};

use super::{
    form_dialog::prompt,
    menu::{List, OpenMenu, type_into},
    palette::names_that_fit,
};
use crate::{
    Action, AppContext, Dialog, Effect, Keep, KeyContext, Message, Order, Orders, TextInput, Tone,
    desk::{BuiltIn, SavedView},
    domain::query,
    screens::queue::state::Queue,
    text::sanitize,
    ui::areas::rest_of,
    views::View,
    widgets::menu::{Selection, is_roomy},
};

/// Columns for the names.
const NAMES: usize = 20;

/// The list of views while it is open.
#[derive(Debug)]
pub struct ViewsMenu {
    menu: OpenMenu,
    /// What the names are narrowed by.
    input: TextInput,
    /// What is listed now, under the name of the view that it began from.
    listed: View,
}

impl ViewsMenu {
    /// All views; the one that is shown is chosen.
    pub fn of(queue: &Queue, cx: &AppContext) -> Self {
        let at = cx.views.names().iter().position(|name| *name == queue.view.name).unwrap_or(0);
        let listed = View::listed(queue.view.name.clone(), queue.filter().clone(), queue.sort());
        let menu = OpenMenu::new(Selection::at(at), &[KeyContext::Menu, KeyContext::Views], Action::MenuPick);
        Self { menu, input: TextInput::one_line(""), listed }
    }

    /// The places of the views that are shown, among all of them.
    fn shown(&self, cx: &AppContext) -> Vec<usize> {
        names_that_fit(&cx.views.names(), &self.input.text())
    }

    /// The place of the chosen view among all of them.
    fn chosen(&self, cx: &AppContext) -> Option<usize> {
        let shown = self.shown(cx);
        self.menu.chosen.index(shown.len()).map(|at| shown[at])
    }

    /// Shows every view again.
    fn widen(&mut self, chosen: usize) {
        self.input = TextInput::one_line("");
        self.menu.chosen = Selection::at(chosen);
    }

    fn show(&self, at: usize, cx: &mut AppContext) -> Orders {
        let name = cx.views.names()[at].to_owned();
        match cx.views.named(&name, cx.now, cx.calendar()) {
            Some(Ok(view)) => vec![Order::Close, Message::ShowView(view).into()],
            Some(Err(error)) => {
                cx.notify(Tone::Bad, format!("View {name} cannot be read: {error}"));
                vec![Order::Close]
            }
            None => vec![Order::Close],
        }
    }

    /// Does what is wanted of the list.
    fn perform(&mut self, wanted: Option<Action>, cx: &mut AppContext) -> Orders {
        match (wanted, self.chosen(cx)) {
            // What is typed is cleared first.
            (Some(Action::MenuClose), chosen) if !self.input.is_empty() => {
                self.widen(chosen.unwrap_or(0));
                Vec::new()
            }
            (Some(Action::MenuClose), _) => vec![Order::Close],
            (Some(Action::MenuPick), Some(at)) => self.show(at, cx),
            (Some(Action::ViewSave), _) => self.save(),
            (Some(Action::ViewDelete), Some(at)) => delete(at, cx),
            (Some(Action::ViewRestore), _) => match cx.views.restore().map(|(at, view)| (at, view.clone())) {
                Ok((at, view)) => {
                    self.widen(at);
                    cx.notify(Tone::Good, format!("{} is back.", view.name));
                    vec![Effect::Keep(Keep::View(view)).into()]
                }
                Err(why) => {
                    cx.notify(Tone::Note, why);
                    Vec::new()
                }
            },
            _ => Vec::new(),
        }
    }

    /// Asks for the name to save what is listed under.
    fn save(&self) -> Orders {
        let listed = self.listed.clone();
        let answer = move |name: &str, cx: &mut AppContext| save_as(name, &listed, cx);
        let asked = prompt("Save this view as", ("saved on this computer", "Save"), "", answer);
        [Order::Close].into_iter().chain(asked).collect()
    }
}

fn delete(at: usize, cx: &mut AppContext) -> Orders {
    let Some(name) = cx.views.delete(at).map(|view| view.name.clone()) else {
        cx.notify(Tone::Note, "The built-in views stay.");
        return Vec::new();
    };
    let key = cx.key(Action::ViewRestore);
    cx.notify(Tone::Good, format!("Deleted {name}. {key} brings it back."));
    vec![Effect::Keep(Keep::NoView(name)).into()]
}

fn save_as(name: &str, listed: &View, cx: &mut AppContext) -> Result<Orders, String> {
    if BuiltIn::named(name).is_some() {
        return Err(format!("{name} is the name of a built-in view"));
    }
    if name.is_empty() || name.chars().count() > 40 || name.contains(char::is_control) {
        return Err("use 1 to 40 characters".to_owned());
    }
    let saved = SavedView { name: name.to_owned(), query: query::render(&listed.filter, listed.sort) };
    cx.views.save(saved.clone());
    cx.notify(Tone::Good, format!("Saved as {name}."));
    let shown = View { name: name.to_owned(), ..listed.clone() };
    Ok(vec![Message::ShowView(shown).into(), Effect::Keep(Keep::View(saved)).into()])
}

impl Dialog for ViewsMenu {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Message::Input(event) = message else { return Vec::new() };
        // Letters narrow the list, but for one that its user has made a key of it.
        let is_key = |key: &KeyEvent| cx.settings.keymap.action(&[KeyContext::Views], (*key).into()).is_some();
        let is_command = matches!(event, Event::Key(key) if is_key(key));
        let typed = if is_command { None } else { type_into(&mut self.input, event, cx) };
        match typed {
            Some(is_changed) => {
                if is_changed {
                    self.menu.chosen = Selection::default();
                }
                Vec::new()
            }
            None => {
                let length = self.shown(cx).len();
                let wanted = self.menu.update(event, length, cx);
                self.perform(wanted, cx)
            }
        }
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action, cx: &mut AppContext) -> Option<Orders> {
        // What is about one of the views needs one to be chosen, here.
        let is_own = matches!(action, Action::ViewSave | Action::ViewRestore | Action::ViewDelete);
        is_own.then(|| if action == Action::ViewDelete { Vec::new() } else { self.perform(Some(action), cx) })
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let line = |name: &str, about: &str| {
            let is_current = name == self.listed.name;
            let (sign, style) =
                if is_current { ("• ", theme.accent.add_modifier(Modifier::BOLD)) } else { ("  ", theme.plain) };
            Line::from(vec![
                Span::styled(sign, theme.accent),
                Span::styled(format!("{:<NAMES$}", sanitize(name)), style),
                Span::styled(sanitize(about).into_owned(), theme.quiet),
            ])
        };
        let about = |at: usize| match at.checked_sub(BuiltIn::ALL.len()) {
            None => BuiltIn::ALL[at].about(cx.views.vocabulary),
            Some(own) => cx.views.own().get(own).map_or("", |view| &view.query),
        };
        let (names, shown) = (cx.views.names(), self.shown(cx));
        let entries: Vec<Line<'_>> = shown.iter().map(|at| line(names[*at], about(*at))).collect();
        // The built-in views stay.
        let is_own = self.chosen(cx).is_some_and(|at| at >= BuiltIn::ALL.len());
        let withheld: &[Action] = if is_own { &[] } else { &[Action::ViewDelete] };
        let above = u16::from(is_roomy(area));
        let list = List { title: "Views", entries, field: above + 1, empty: "No match", ..List::default() };
        let fields = self.menu.draw_without(withheld, &list, frame, area, cx);
        self.input.draw_field(frame, rest_of(fields, (above, 0)), theme, true, "letters of a name");
    }
}
