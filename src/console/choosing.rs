//! Lists of actions in the application: the palette and the help open over whatever is there, and do what
//! is chosen in them.

use crossterm::event::KeyEvent;

use super::{
    Action, Effect, KeyContext, Orders,
    app::App,
    dialog,
    dialogs::{
        palette::{Palette, offers},
        repeat_in_form,
    },
    idle::{NONE_STAGED, NONE_TOLD, unless},
};

impl App {
    /// The contexts of the keys that are taken now, the innermost first; none where text is typed.
    fn contexts(&self) -> Vec<KeyContext> {
        match self.dialogs.last() {
            Some(dialog) => dialog.contexts().to_vec(),
            None => vec![self.screens.shown().keys(), KeyContext::Always],
        }
    }

    /// Returns the reason for which an action does nothing here.
    pub(super) fn why_idle(&self, action: Action) -> Option<&'static str> {
        let cx = &self.cx;
        match self.dialogs.last() {
            Some(dialog) => dialog.why_idle(action, cx),
            None => self.why_idle_anywhere(action).unwrap_or_else(|| self.screens.shown().why_idle(action, cx)),
        }
    }

    /// The same of what is the same on every screen; `None` of what is not.
    fn why_idle_anywhere(&self, action: Action) -> Option<Option<&'static str>> {
        Some(match action {
            Action::Undo => unless(!self.cx.decisions.staged().is_empty(), NONE_STAGED),
            Action::GoToTold => unless(self.cx.toasts.about().is_some(), NONE_TOLD),
            _ => return None,
        })
    }

    /// Returns where a key leads from an open list: the palette, for which it is closed, or Find, which stands in its
    /// place meanwhile.
    pub(super) fn leads_from_list(&self, key: KeyEvent) -> Option<Action> {
        let all = [KeyContext::Views, KeyContext::Columns, KeyContext::Menu, KeyContext::Always];
        let gives_way = self.dialogs.last().is_some_and(|dialog| dialog.gives_way());
        let action = self.cx.settings.keymap.action(&all, key.into()).filter(|_| gives_way)?;
        matches!(action, Action::Help | Action::Find).then_some(action)
    }

    /// Says that an action does nothing where one is. Who goes as far as it goes sees that.
    pub(super) fn say_nothing_done(&mut self, action: Action) {
        use Action::{Back, Bottom, DetailDown, DetailUp, Down, PageDown, PageUp, Top, Up};
        if !matches!(action, Back | Bottom | DetailDown | DetailUp | Down | PageDown | PageUp | Top | Up) {
            let why = self.why_idle(action);
            self.cx.hint_idle(action, why);
        }
    }

    /// Opens the palette over the screen, or over a page that lies over it.
    pub(super) fn palette(&self) -> Orders {
        let contexts = self.contexts();
        if contexts.is_empty() {
            return Vec::new();
        }
        let keymap = &self.cx.settings.keymap;
        let mut all = offers::actions(keymap, &contexts, |action| self.why_idle(action));
        if contexts.contains(&KeyContext::Queue) && self.dialogs.is_empty() {
            all.extend(offers::in_lists(keymap));
            all.extend(offers::signs(&self.cx.theme));
        }
        all.extend(offers::views(&self.cx.views));
        all.extend(offers::settings());
        all.extend(offers::consoles(&self.cx.place));
        dialog::open(Palette::of(all, !self.dialogs.is_empty()))
    }

    /// Does what was chosen in a list: on the page that lies over the screen where that is its own, else on the screen.
    /// Opens the form of what a key would send.
    pub(super) fn choose(&mut self, action: Action) -> Vec<Effect> {
        let own = self.dialogs.last_mut().and_then(|page| page.act(action, &mut self.cx));
        match (own, action) {
            (Some(outcome), _) => self.carry_out(outcome),
            (None, Action::Repeat) => {
                let outcome = repeat_in_form(&mut self.screens, &mut self.cx);
                self.carry_out(outcome)
            }
            (None, action) => self.act(action),
        }
    }
}
