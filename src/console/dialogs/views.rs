//! The list of views: the built-in ones, then one's own, which are saved, deleted and brought back here.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use super::prompt::Prompt;
use crate::console::screens::queue::state::Queue;
use crate::console::text::sanitize;
use crate::console::views::View;
use crate::console::widgets::menu::Selection;
use crate::console::widgets::panel::PanelWidth;
use crate::console::{Action, AppContext, Dialog, Effect, Keep, KeyContext, Message, Order, Orders, Tone};
use crate::desk::{BuiltIn, SavedView};
use crate::domain::query;

/// Columns for the names.
const NAMES: usize = 17;

/// The list of views while it is open.
#[derive(Debug)]
pub struct ViewsMenu {
    menu: OpenMenu,
    /// What is listed now, under the name of the view that it began from.
    listed: View,
}

impl ViewsMenu {
    /// All views; the one that is shown is chosen.
    pub fn of(queue: &Queue, cx: &AppContext) -> Self {
        let at = cx.views.names().iter().position(|name| *name == queue.view.name).unwrap_or(0);
        let listed = View::listed(queue.view.name.clone(), queue.filter().clone(), queue.sort());
        Self { menu: OpenMenu::new(Selection::at(at), &[KeyContext::Menu, KeyContext::Views], Action::MenuPick), listed }
    }

    fn show(&self, at: usize, cx: &mut AppContext) -> Orders {
        let name = cx.views.names()[at].to_owned();
        match cx.views.named(&name, cx.now, cx.calendar()) {
            Some(Ok(view)) => vec![Order::Close, Message::ShowView(view).into()],
            Some(Err(error)) => {
                cx.notify(Tone::Bad, format!("The view {name} cannot be read: {error}"));
                vec![Order::Close]
            }
            None => vec![Order::Close],
        }
    }

    /// Does what is wanted of the list.
    fn perform(&mut self, wanted: Option<Action>, cx: &mut AppContext) -> Orders {
        let length = cx.views.names().len();
        match (wanted, self.menu.chosen.index(length)) {
            (Some(Action::MenuClose), _) => vec![Order::Close],
            (Some(Action::MenuPick), Some(at)) => self.show(at, cx),
            (Some(Action::ViewSave), _) => self.save(),
            (Some(Action::ViewDelete), Some(at)) => delete(at, cx),
            (Some(Action::ViewRestore), _) => match cx.views.restore().map(|(at, view)| (at, view.clone())) {
                Ok((at, view)) => {
                    self.menu.chosen = Selection::at(at);
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
        vec![Order::Close, Order::Open(Box::new(Prompt::new("Save this view as", ("kept on this workstation", "Save"), answer)))]
    }
}

fn delete(at: usize, cx: &mut AppContext) -> Orders {
    let Some(name) = cx.views.delete(at).map(|view| view.name.clone()) else {
        cx.notify(Tone::Note, "The built-in views stay.");
        return Vec::new();
    };
    let key = cx.key(Action::ViewRestore);
    cx.notify(Tone::Good, format!("Deleted {name}. {key} in this list brings it back."));
    vec![Effect::Keep(Keep::NoView(name)).into()]
}

fn save_as(name: &str, listed: &View, cx: &mut AppContext) -> Result<Orders, String> {
    if BuiltIn::named(name).is_some() {
        return Err(format!("{name} is the name of a built-in view"));
    }
    if name.is_empty() || name.chars().count() > 40 || name.contains(char::is_control) {
        return Err("a name has 1 to 40 characters".to_owned());
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
        let length = cx.views.names().len();
        let wanted = self.menu.update(event, length, cx);
        self.perform(wanted, cx)
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
            let (sign, style) = if is_current { ("• ", theme.accent.add_modifier(Modifier::BOLD)) } else { ("  ", theme.plain) };
            Line::from(vec![
                Span::styled(sign, theme.accent),
                Span::styled(format!("{:<NAMES$}", sanitize(name)), style),
                Span::styled(sanitize(about).into_owned(), theme.quiet),
            ])
        };
        let words = |view: &BuiltIn| view.about(cx.views.vocabulary);
        let built_in = BuiltIn::ALL.iter().map(|view| line(view.name(), words(view)));
        let entries: Vec<Line<'_>> = built_in.chain(cx.views.own().iter().map(|view| line(&view.name, &view.query))).collect();
        let chosen = self.menu.chosen.index(entries.len()).unwrap_or(0);
        let own = chosen.checked_sub(BuiltIn::ALL.len());
        let about = own
            .and_then(|at| cx.views.own().get(at))
            .map_or_else(|| words(&BuiltIn::ALL[chosen.min(BuiltIn::ALL.len() - 1)]), |view| &view.query);
        // What has no room in its line stands below.
        let is_cut = entries.get(chosen).is_some_and(|entry| entry.width() > usize::from(OpenMenu::room(PanelWidth::Dialog, area)));
        let below = if is_cut { sanitize(about).into_owned() } else { String::new() };
        // The built-in views stay.
        let withheld: &[Action] = if own.is_none() { &[Action::ViewDelete] } else { &[] };
        self.menu.draw_without(withheld, List { title: "Views", entries, below, ..List::default() }, frame, area, cx);
    }
}
