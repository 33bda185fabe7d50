//! Input: it goes to the dialog on top, else to the screen; below the smallest size it only ends the console. The
//! palette and the help open over whatever is there, and do what is chosen in them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;

use super::{
    Action, Effect, KeyContext, Message, Task, Tasks, Tone,
    app::App,
    dialog,
    dialogs::{
        answer_form,
        palette::{self, Palette},
    },
    idle::{NONE_STAGED, unless},
    ui::areas::SMALLEST,
};

impl App {
    pub(super) fn is_too_small(&self) -> bool {
        self.area.width < SMALLEST.0 || self.area.height < SMALLEST.1
    }

    /// Takes input in.
    pub(super) fn input(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::Resize(columns, rows) => {
                self.resize(Rect::new(0, 0, columns, rows));
                // What a smaller window cut off is gone from the terminal, also where the size is what it was before.
                vec![Effect::Redraw]
            }
            Event::FocusGained | Event::FocusLost => Vec::new(),
            Event::Key(key) if key.kind == KeyEventKind::Release => Vec::new(),
            Event::Key(KeyEvent { code: KeyCode::Char('c'), modifiers: KeyModifiers::CONTROL, .. }) => {
                self.quit_for_good()
            }
            Event::Key(key) if self.is_too_small() => {
                let quits = self.cx.settings.keymap.action(&[KeyContext::Always], key.into()) == Some(Action::Quit);
                if quits { self.quit_for_good() } else { Vec::new() }
            }
            _ if self.is_too_small() || self.cx.leaving => Vec::new(),
            Event::Key(key) if self.suspends(key) => self.act(Action::Suspend),
            Event::Key(key) if self.leads_from_list(key) => {
                // What lies below it takes the key.
                self.dialogs.pop();
                self.input(Event::Key(key))
            }
            // The footer asks about what waits on a page too.
            Event::Mouse(_) if self.is_under_page() && self.targets.clicked(&event) == Some(Action::Refresh) => {
                self.act(Action::Refresh)
            }
            event => {
                if let Event::Key(_) = event {
                    self.cx.toasts.drop_hints();
                }
                let outcome = match self.dialogs.last_mut() {
                    Some(dialog) => dialog.update(&Message::Input(event), &mut self.cx),
                    None => self.input_to_screen(event),
                };
                self.carry_out(outcome)
            }
        }
    }

    /// Returns true where a page lies over the screen and has the input.
    fn is_under_page(&self) -> bool {
        self.dialogs.last().is_some_and(|page| page.takes_questions())
    }

    /// Returns true where a key stops the program: whatever lies over the screen, also where text is typed. What is
    /// typed stays.
    fn suspends(&self, key: KeyEvent) -> bool {
        let is_text = matches!(key.code, KeyCode::Char(_))
            && !key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
        !self.dialogs.is_empty()
            && !is_text
            && self.cx.settings.keymap.action(&[KeyContext::Always], key.into()) == Some(Action::Suspend)
    }

    fn input_to_screen(&mut self, event: Event) -> Tasks {
        match &event {
            Event::Key(key) => {
                let contexts = [self.screens.shown().keys(), KeyContext::Always];
                let action = self.cx.settings.keymap.action(&contexts, (*key).into());
                self.reopening = None;
                if action.is_none() {
                    self.cx.hint_unknown(*key);
                }
                return action.map(Task::Act).into_iter().collect();
            }
            Event::Paste(_) => {
                let search = self.cx.key(Action::Search);
                self.cx.notify(Tone::Note, format!("Not pasted: no field is open. {search} search"));
                return Vec::new();
            }
            _ => {}
        }
        match self.targets.clicked(&event) {
            Some(action) => vec![Task::Act(action)],
            None => self.screens.get_mut(self.screens.current).update(Message::Input(event), &mut self.cx),
        }
    }
}

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
            None if action == Action::Undo => unless(!cx.ledger.staged().is_empty(), NONE_STAGED),
            None => self.screens.shown().why_idle(action, cx),
        }
    }

    /// Returns true where a key leads from an open list to the palette or to Find, for which it is closed.
    pub(super) fn leads_from_list(&self, key: KeyEvent) -> bool {
        let all = [KeyContext::Views, KeyContext::Menu, KeyContext::Always];
        let action = self.cx.settings.keymap.action(&all, key.into());
        let gives_way = self.dialogs.last().is_some_and(|dialog| dialog.gives_way());
        gives_way && matches!(action, Some(Action::Help | Action::Find))
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
    pub(super) fn palette(&self) -> Tasks {
        let contexts = self.contexts();
        if contexts.is_empty() {
            return Vec::new();
        }
        let keymap = &self.cx.settings.keymap;
        let mut all = palette::actions(keymap, &contexts, |action| self.why_idle(action));
        if contexts.contains(&KeyContext::Queue) && self.dialogs.is_empty() {
            all.extend(palette::signs(&self.cx.theme));
        }
        all.extend(palette::consoles(&self.cx.place));
        dialog::open(Palette::of(all))
    }

    /// Does what was chosen in a list: on the page that lies over the screen where that is its own, else on the screen.
    /// Opens the form of what a key would send.
    pub(super) fn choose(&mut self, action: Action) -> Vec<Effect> {
        let own = self.dialogs.last_mut().and_then(|page| page.act(action, &mut self.cx));
        match (own, action) {
            (Some(outcome), _) => self.carry_out(outcome),
            (None, Action::Repeat) => {
                let outcome = answer_form::repeat(true, &mut self.screens.queue, &mut self.cx);
                self.carry_out(outcome)
            }
            (None, action) => self.act(action),
        }
    }
}
