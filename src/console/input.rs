//! Input: it goes to the dialog on top, else to the screen; below the smallest size it only ends the console.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Rect;

use super::{Action, Effect, KeyContext, Message, Order, Orders, Tone, app::App, areas::SMALLEST, screens::ScreenName};

impl App {
    pub(super) fn is_too_small(&self) -> bool {
        self.area.width < SMALLEST.0 || self.area.height < SMALLEST.1
    }

    /// Takes input in.
    pub(super) fn input(&mut self, event: Event) -> Vec<Effect> {
        if !matches!(event, Event::Resize(..) | Event::FocusLost) {
            self.screens.queue.touch(self.cx.now);
        }
        match event {
            Event::Resize(columns, rows) => {
                self.resize(Rect::new(0, 0, columns, rows));
                // What a smaller window cut off is gone from the terminal, also where the size is what it was before.
                vec![Effect::Redraw]
            }
            Event::FocusGained => {
                let outcome = self.screens.get_mut(ScreenName::Queue).update(Message::Input(event), &mut self.cx);
                self.carry_out(outcome)
            }
            Event::FocusLost => Vec::new(),
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
            Event::Key(_) | Event::Paste(_) if self.is_typed_ahead(&event) => Vec::new(),
            Event::Key(key) if let Some(action) = self.leads_from_list(key) => {
                if action == Action::Find && !self.dialogs.iter().any(|dialog| dialog.hides_lists()) {
                    return self.act(action);
                }
                // What lies below it takes the key.
                self.dialogs.pop();
                self.input(Event::Key(key))
            }
            // The footer asks about what waits on a page too.
            Event::Mouse(_) if self.is_under_page() && self.targets.clicked(&event) == Some(Action::Refresh) => {
                self.act(Action::Refresh)
            }
            event => {
                let is_key = matches!(event, Event::Key(_));
                if is_key {
                    self.cx.toasts.age_hints();
                }
                let outcome = match self.dialogs.last_mut() {
                    Some(dialog) => dialog.update(&Message::Input(event), &mut self.cx),
                    None => self.input_to_screen(event),
                };
                let effects = self.carry_out(outcome);
                // Only now: what takes messages away finds them still there.
                if is_key {
                    self.cx.toasts.drop_old_hints();
                }
                effects
            }
        }
    }

    /// Returns true where what is typed was meant for what lies below the form that a guard has opened: it is not
    /// taken, and that is said. The way out is always open.
    fn is_typed_ahead(&mut self, event: &Event) -> bool {
        if matches!(event, Event::Key(KeyEvent { code: KeyCode::Esc, .. })) {
            self.cx.typed_ahead = None;
        }
        let is_ahead = !self.dialogs.is_empty() && self.cx.is_typed_ahead();
        if is_ahead {
            self.cx.hint("Ignored: typed before the form was seen.");
        }
        is_ahead
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

    fn input_to_screen(&mut self, event: Event) -> Orders {
        match &event {
            Event::Key(key) => {
                let contexts = [self.screens.shown().keys(), KeyContext::Always];
                let action = self.cx.settings.keymap.action(&contexts, (*key).into());
                self.reopening = None;
                if action.is_none() {
                    self.cx.hint_unknown(*key);
                }
                return action.map(Order::Act).into_iter().collect();
            }
            Event::Paste(_) => {
                let search = self.cx.key(Action::Search);
                self.cx.notify(Tone::Note, format!("Not pasted: no field is open. {search} search"));
                return Vec::new();
            }
            _ => {}
        }
        match self.targets.clicked(&event) {
            Some(action) => vec![Order::Act(action)],
            None => self.screens.get_mut(self.screens.current).update(Message::Input(event), &mut self.cx),
        }
    }
}
