//! The list of views: the built-in ones, then one's own, which are saved and deleted here.

use ratatui::{Frame, layout::Rect};

use super::{
    menu::{List, OpenMenu, named_lines},
    question::{Confirmation, FormDialog},
};
use crate::{
    Action, AppContext, Dialog, Effect, Keep, KeyContext, Message, Task, Tasks, Tone,
    desk::{BuiltIn, SavedView},
    domain::query,
    screens::queue::state::Queue,
    text::sanitize,
    ui::form::{Form, FormField},
    views::View,
};

/// The list of views while it is open.
#[derive(Debug)]
pub struct ViewsMenu {
    menu: OpenMenu,
    /// The list of now, under the name of the view that it began from.
    listed: View,
}

impl ViewsMenu {
    /// All views; the one that is shown is chosen.
    pub fn of(queue: &Queue, cx: &AppContext) -> Self {
        let at = cx.views.names().iter().position(|name| *name == queue.view.name).unwrap_or(0);
        let listed = View::listed(queue.view.name.clone(), queue.filter().clone(), queue.sort());
        let mut menu = OpenMenu::new(&[KeyContext::Menu, KeyContext::Views]);
        menu.cursor.at = at;
        Self { menu, listed }
    }

    /// The place of the chosen view among all of them.
    fn chosen(&self, cx: &AppContext) -> Option<usize> {
        self.menu.chosen(cx.views.names().len())
    }

    /// Does what is wanted of the list.
    fn perform(&mut self, wanted: Option<Action>, cx: &mut AppContext) -> Tasks {
        match (wanted, self.chosen(cx)) {
            (Some(Action::MenuClose), _) => vec![Task::Close],
            (Some(Action::MenuPick), Some(at)) => {
                let name = cx.views.names()[at].to_owned();
                [Task::Close].into_iter().chain(shown(&name, cx)).collect()
            }
            (Some(Action::ViewSave), _) => self.save(),
            (Some(Action::ViewDelete), Some(at)) => delete(at, cx),
            _ => Vec::new(),
        }
    }

    /// Asks for the name to save what is listed under.
    fn save(&self) -> Tasks {
        let listed = self.listed.clone();
        let name = FormField::text("", "").note("saved on this computer");
        let form = Form::new("Save this view as", "Save", vec![name], 0);
        let dialog =
            FormDialog::new(form, move |form, cx| save_as(&form.text(0), &listed, cx).map_err(|wrong| (0, wrong)));
        vec![Task::Close, Task::Open(Box::new(dialog))]
    }
}

/// Shows a view by its name, or says why it cannot be.
fn shown(name: &str, cx: &mut AppContext) -> Option<Task> {
    match cx.views.named(name, cx.now, cx.calendar())? {
        Ok(view) => Some(Message::ShowView(view).into()),
        Err(error) => {
            cx.notify(Tone::Bad, format!("View {name} cannot be read: {error}"));
            None
        }
    }
}

/// Asks before a view of one's own is deleted.
fn delete(at: usize, cx: &mut AppContext) -> Tasks {
    let Some(SavedView { name, query }) = cx.views.own(at).cloned() else {
        cx.notify(Tone::Note, "The built-in views stay.");
        return Vec::new();
    };
    let (title, about) = (format!("Delete the view {}?", sanitize(&name)), sanitize(&query).into_owned());
    let delete = move |cx: &mut AppContext| {
        cx.views.delete(&name);
        cx.notify(Tone::Good, format!("Deleted {name}."));
        vec![Effect::Keep(Keep::NoView(name.clone())).into()]
    };
    Confirmation::new(title, about, ("d", "Delete"), delete).follows(["Its alerts stay.", ""]).open()
}

fn save_as(name: &str, listed: &View, cx: &mut AppContext) -> Result<Tasks, String> {
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
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let Message::Input(event) = message else { return Vec::new() };
        let wanted = self.menu.update(event, cx.views.names().len(), cx);
        self.perform(wanted, cx)
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let about = |at: usize| match BuiltIn::ALL.get(at) {
            Some(view) => view.about(cx.views.vocabulary),
            None => cx.views.own(at).map_or("", |view| &view.query),
        };
        let named = |(at, name): (usize, &&str)| (sanitize(name).into_owned(), sanitize(about(at)).into_owned());
        let entries: Vec<(String, String)> = cx.views.names().iter().enumerate().map(named).collect();
        let entries = named_lines(&entries, &[], &cx.theme);
        // The built-in views stay.
        let is_own = self.chosen(cx).is_some_and(|at| cx.views.own(at).is_some());
        let withheld: &[Action] = if is_own { &[] } else { &[Action::ViewDelete] };
        let list = List { title: "Views", entries, withheld, ..List::default() };
        self.menu.draw(&list, frame, area, cx);
    }
}
