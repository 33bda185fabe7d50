//! What keys, clicks and pastes do to whatever lies over the screen.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

use super::app::App;
use super::effects::{Effect, Keep};
use super::keymap::{Action, Context};
use super::screens::filter_form::{FilterForm, FilterStep};
use super::screens::help::Help;
use super::screens::leave::Leave;
use super::screens::prompt::{Prompt, Purpose};
use super::screens::queue::View;
use super::screens::queue::columns::Column;
use super::screens::resolve_form::ResolveForm;
use super::screens::settings::KINDS;
use super::screens::settings::dialogs::{Revoke, SecretDialog};
use super::screens::settle::Settle;
use super::screens::{columns_menu, views_menu};
use super::toasts::Tone;
use super::widgets::menu;
use super::widgets::text_input::Typed;
use crate::desk::{BuiltIn, SavedView};
use crate::domain::{Credential, query};

/// What lies over the screen. While something does, the order of the list is frozen.
#[derive(Debug)]
pub(super) enum Overlay {
    Resolve(Box<ResolveForm>),
    Settle(Box<Settle>),
    Filter(Box<FilterForm>),
    Help(Help),
    Views(menu::Choice),
    Columns(menu::Choice),
    Prompt(Prompt),
    Leave,
    NewCredential(menu::Choice),
    Secret(Box<SecretDialog>),
    Revoke(Box<Credential>),
}

impl App {
    pub(super) fn input_to_overlay(&mut self, overlay: Overlay, event: &Event) -> Vec<Effect> {
        match overlay {
            Overlay::Resolve(form) => self.input_to_resolve(form, event),
            Overlay::Settle(dialog) => self.input_to_settle(dialog, event),
            Overlay::Filter(mut form) => match form.handle(event) {
                FilterStep::Apply(filter, sort) => self.queue.ask(*filter, sort),
                FilterStep::Cancel => Vec::new(),
                FilterStep::Stay | FilterStep::Ignored => {
                    self.overlay = Some(Overlay::Filter(form));
                    Vec::new()
                }
            },
            other => match event {
                Event::Key(key) => self.key_to_menu(other, *key),
                Event::Mouse(mouse) => self.mouse_to_menu(other, *mouse),
                Event::Paste(text) => self.paste_to_menu(other, text),
                _ => {
                    self.overlay = Some(other);
                    Vec::new()
                }
            },
        }
    }

    fn paste_to_menu(&mut self, mut overlay: Overlay, text: &str) -> Vec<Effect> {
        let pasted = match &mut overlay {
            Overlay::Help(help) => help.search.paste(text),
            Overlay::Prompt(prompt) => prompt.input.paste(text),
            _ => Err("Nothing was pasted: no field is open.".to_owned()),
        };
        if let Err(why) = pasted {
            self.tell(Tone::Note, why);
        }
        self.overlay = Some(overlay);
        Vec::new()
    }

    fn key_to_menu(&mut self, mut overlay: Overlay, key: KeyEvent) -> Vec<Effect> {
        let contexts: &[Context] = match &mut overlay {
            Overlay::Leave => {
                return match Leave::of(key) {
                    Some(choice) => self.leave(choice),
                    None => {
                        self.overlay = Some(overlay);
                        Vec::new()
                    }
                };
            }
            Overlay::Prompt(_) => return self.key_to_prompt(overlay, key),
            Overlay::Secret(_) | Overlay::Revoke(_) => return self.key_to_dialog(overlay, key),
            Overlay::NewCredential(_) => &[Context::Menu],
            Overlay::Help(help) => {
                // What is typed is searched for, so letters are no commands here.
                let is_text = matches!(key.code, KeyCode::Char(_)) && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
                if is_text || key.code == KeyCode::Backspace {
                    help.search.key(key);
                    help.choice = menu::Choice::default();
                    self.overlay = Some(overlay);
                    return Vec::new();
                }
                &[Context::Menu]
            }
            Overlay::Views(_) => &[Context::Views, Context::Menu],
            _ => &[Context::Columns, Context::Menu],
        };
        match self.settings.keymap.action(contexts, key.into()) {
            Some(action) => self.act_in_menu(overlay, action),
            None => {
                self.overlay = Some(overlay);
                Vec::new()
            }
        }
    }

    fn key_to_dialog(&mut self, overlay: Overlay, key: KeyEvent) -> Vec<Effect> {
        match overlay {
            Overlay::Secret(dialog) => self.key_to_secret(dialog, key),
            Overlay::Revoke(credential) => match Revoke::of(key) {
                Some(choice) => self.answer_revoke(&credential, choice),
                None => {
                    self.overlay = Some(Overlay::Revoke(credential));
                    Vec::new()
                }
            },
            other => {
                self.overlay = Some(other);
                Vec::new()
            }
        }
    }

    fn key_to_prompt(&mut self, overlay: Overlay, key: KeyEvent) -> Vec<Effect> {
        let Overlay::Prompt(mut prompt) = overlay else { return Vec::new() };
        match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => match self.answer_prompt(&prompt) {
                Ok(effects) => return effects,
                Err(error) => prompt.error = Some(error),
            },
            _ => {
                if prompt.input.key(key) == Typed::Changed {
                    prompt.error = None;
                }
            }
        }
        self.overlay = Some(Overlay::Prompt(prompt));
        Vec::new()
    }

    fn answer_prompt(&mut self, prompt: &Prompt) -> Result<Vec<Effect>, String> {
        let text = prompt.input.text();
        let text = text.trim();
        match prompt.purpose {
            Purpose::Jump => {
                let digits: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '.')).collect();
                let row: u64 = digits.parse().ok().filter(|row| *row > 0).ok_or("a number from 1 on is needed")?;
                self.queue.listing.move_to(row - 1);
                Ok(Vec::new())
            }
            Purpose::ViewName => {
                if BuiltIn::named(text).is_some() {
                    return Err(format!("{text} is the name of a built-in view"));
                }
                if text.is_empty() || text.chars().count() > 40 || text.contains(char::is_control) {
                    return Err("a name has 1 to 40 characters".to_owned());
                }
                let view = SavedView { name: text.to_owned(), query: query::render(self.queue.filter(), self.queue.sort()) };
                match self.views.iter_mut().find(|known| known.name.to_lowercase() == text.to_lowercase()) {
                    Some(known) => known.clone_from(&view),
                    None => self.views.push(view.clone()),
                }
                let (filter, sort) = (self.queue.filter().clone(), self.queue.sort());
                self.queue.view = View { name: view.name.clone(), filter, sort };
                self.tell(Tone::Good, format!("Saved as {}.", view.name));
                Ok(vec![Effect::Keep(Keep::View(view))])
            }
        }
    }

    /// Does what a key or a click asks for in a list that lies over the screen.
    pub(super) fn act_in_menu(&mut self, mut overlay: Overlay, action: Action) -> Vec<Effect> {
        let (choice, length) = match &mut overlay {
            Overlay::Help(help) => {
                let length = help.entries(&self.settings.keymap).len();
                (&mut help.choice, length)
            }
            Overlay::Views(choice) => (choice, BuiltIn::ALL.len() + self.views.len()),
            Overlay::Columns(choice) => (choice, columns_menu::all(&self.queue.columns).len()),
            Overlay::NewCredential(choice) => (choice, KINDS.len()),
            _ => return Vec::new(),
        };
        match action {
            Action::MenuDown | Action::MenuUp => choice.step(action == Action::MenuDown, length),
            Action::MenuFirst => *choice = menu::Choice::default(),
            Action::MenuLast => *choice = menu::Choice::at(length.saturating_sub(1)),
            Action::MenuPageDown => choice.leap(true, length),
            Action::MenuPageUp => choice.leap(false, length),
            Action::MenuClose => return Vec::new(),
            Action::MenuPick => return self.pick(overlay),
            _ => return self.change_in_menu(overlay, action),
        }
        self.overlay = Some(overlay);
        Vec::new()
    }

    fn pick(&mut self, overlay: Overlay) -> Vec<Effect> {
        match overlay {
            Overlay::Help(help) => match help.chosen(&self.settings.keymap) {
                Some(action) => self.act(action),
                None => Vec::new(),
            },
            Overlay::Views(choice) => {
                let names = views_menu::names(&self.views);
                let name = choice.index(names.len()).map(|index| names[index].clone()).unwrap_or_default();
                match View::named(&name, &self.views, self.now) {
                    Some(Ok(view)) => self.queue.show(view),
                    Some(Err(error)) => {
                        self.tell(Tone::Bad, format!("The view {name} cannot be read: {error}"));
                        Vec::new()
                    }
                    None => Vec::new(),
                }
            }
            Overlay::NewCredential(choice) => self.create_credential(choice),
            // In the list of columns, choosing is done.
            _ => Vec::new(),
        }
    }

    fn change_in_menu(&mut self, overlay: Overlay, action: Action) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.overlay = Some(match (overlay, action) {
            (Overlay::Views(_), Action::ViewSave) => Overlay::Prompt(Prompt::new(Purpose::ViewName, "")),
            (Overlay::Views(choice), Action::ViewDelete) => {
                let index = choice.index(BuiltIn::ALL.len() + self.views.len()).and_then(|index| index.checked_sub(BuiltIn::ALL.len()));
                match index {
                    Some(index) => {
                        let view = self.views.remove(index);
                        let key = self.settings.keymap.key_of(Action::ViewRestore);
                        self.tell(Tone::Good, format!("Deleted {}. {key} in this list brings it back.", view.name));
                        effects.push(Effect::Keep(Keep::NoView(view.name.clone())));
                        self.deleted_view = Some((index, view));
                    }
                    None => self.tell(Tone::Note, "The built-in views stay."),
                }
                Overlay::Views(choice)
            }
            (Overlay::Views(choice), Action::ViewRestore) => Overlay::Views(self.restore_view(choice, &mut effects)),
            (Overlay::Columns(choice), action) => Overlay::Columns(self.change_columns(choice, action, &mut effects)),
            (other, _) => other,
        });
        effects
    }

    /// Brings back the view that was deleted last. One that was saved under its name meanwhile stays.
    fn restore_view(&mut self, choice: menu::Choice, effects: &mut Vec<Effect>) -> menu::Choice {
        let Some((index, view)) = self.deleted_view.take() else {
            self.tell(Tone::Note, "No view was deleted.");
            return choice;
        };
        if self.views.iter().any(|known| known.name.to_lowercase() == view.name.to_lowercase()) {
            self.tell(Tone::Note, format!("There is another view {} by now.", view.name));
            return choice;
        }
        let at = index.min(self.views.len());
        self.views.insert(at, view.clone());
        self.tell(Tone::Good, format!("{} is back.", view.name));
        effects.push(Effect::Keep(Keep::View(view)));
        menu::Choice::at(BuiltIn::ALL.len() + at)
    }

    fn change_columns(&mut self, choice: menu::Choice, action: Action, effects: &mut Vec<Effect>) -> menu::Choice {
        let columns = columns_menu::all(&self.queue.columns);
        let Some(at) = choice.index(columns.len()) else { return choice };
        let shown = &mut self.queue.columns;
        match action {
            Action::ColumnToggle => menu::Choice::at(columns_menu::toggle(shown, columns[at])),
            Action::ColumnLeft => menu::Choice::at(columns_menu::shift(shown, at, false)),
            Action::ColumnRight => menu::Choice::at(columns_menu::shift(shown, at, true)),
            Action::ColumnReset => {
                *shown = Column::USUAL.to_vec();
                choice
            }
            Action::ColumnSort => {
                match columns[at].sort_field() {
                    Some(field) => effects.extend(self.queue.sort_by(field)),
                    None => self.tell(Tone::Note, "The service cannot sort by this."),
                }
                choice
            }
            _ => choice,
        }
    }

    pub(super) fn leave(&mut self, choice: Leave) -> Vec<Effect> {
        match choice {
            Leave::Send => {
                self.decisions.hold(false, self.now);
                self.decisions.hurry(self.now);
                self.leave_now()
            }
            Leave::TakeBack => {
                self.decisions.take_back_all();
                self.leave_now()
            }
            Leave::Stay => Vec::new(),
        }
    }
}
