//! Find: a search over all fields of all alerts while one types; the chosen one is gone to in the Queue.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::alert_search::{AlertSearch, is_typed};
use super::found_rows::lines;
use super::menu::{List, OpenMenu};
use super::{case, copy_menu, links_menu};
use crate::console::dialog::{self, run};
use crate::console::effects::SHOWN_OF_FOUND;
use crate::console::screens::queue::state::Queue;
use crate::console::text::{columns, counted, sanitize};
use crate::console::widgets::menu::{Selection, is_roomy};
use crate::console::widgets::text_input::Typed;
use crate::console::{Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, TextInput, Tone};
use crate::domain::Timestamp;

/// How wide it would like to be, and what is around its lines.
const WIDTH: u16 = 118;
const AROUND: u16 = 4;

/// The dialog while it is open.
#[derive(Debug)]
pub struct FindDialog {
    input: TextInput,
    menu: OpenMenu,
    search: AlertSearch,
    /// Whether the best one is gone to as soon as it is known.
    goes: bool,
}

/// Opens it; on what was searched for in the Queue and is not in its view, which is as it was before then.
pub fn open(queue: &mut Queue, cx: &AppContext) -> Orders {
    let missed = queue.missed();
    let before = if missed.is_some() { queue.close_search(false) } else { Vec::new() };
    let find = FindDialog::of(missed.as_deref().unwrap_or_default(), cx);
    run(before).into_iter().chain(dialog::open(find)).collect()
}

impl FindDialog {
    /// A search for this text.
    fn of(text: &str, cx: &AppContext) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        let search = if text.is_empty() { AlertSearch::default() } else { AlertSearch::due_at(cx.now) };
        Self { input: TextInput::one_line(text), menu, search, goes: false }
    }

    fn typed(&mut self, cx: &AppContext) {
        self.search.typed(cx);
        self.goes = false;
    }

    /// Searches for what is typed now.
    fn search(&mut self) -> Orders {
        self.search.search(&self.input.text())
    }

    /// Goes to what is chosen: to the best one of what is typed, once it is known, unless another one was chosen of what is shown.
    fn pick(&mut self, event: &Event) -> Orders {
        let chosen = self.menu.chosen.index(self.search.alerts().len());
        let is_meant = self.search.is_current() || chosen > Some(0) || matches!(event, Event::Mouse(_));
        if let Some(at) = chosen.filter(|_| is_meant) {
            return self.go(at);
        }
        self.goes = true;
        let is_asked = self.search.is_under_way() && self.search.next_due().is_none();
        let orders = if is_asked { Vec::new() } else { self.search() };
        // What is typed means what is shown already.
        if self.search.is_under_way() { orders } else { self.go(0) }
    }

    /// Goes to an alert in the Queue.
    fn go(&self, at: usize) -> Orders {
        let Some(alert) = self.search.alerts().get(at) else { return Vec::new() };
        vec![Order::Close, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
    }

    /// Opens the case of what is chosen.
    fn open_case(&self, cx: &AppContext) -> Orders {
        let Some(alert) = self.menu.chosen.index(self.search.alerts().len()).and_then(|at| self.search.alerts().get(at)) else {
            return Vec::new();
        };
        [Effect::GiveUpFind.into(), Order::Close].into_iter().chain(case::open_on(alert, None, cx)).collect()
    }

    /// What stands under the field: what is wrong, what is under way, or how much was found.
    fn note(&self, cx: &AppContext) -> (String, ratatui::style::Style) {
        let theme = &cx.theme;
        if let Some(wrong) = self.search.wrong() {
            return (wrong.to_owned(), theme.danger);
        }
        if !self.search.is_current() {
            return ("looking…".to_owned(), theme.quiet);
        }
        match self.search.shown() {
            None => (String::new(), theme.quiet),
            Some((_, Err(error))) => (sanitize(&error.to_string()).into_owned(), theme.danger),
            Some((_, Ok(found))) if found.alerts.is_empty() => (String::new(), theme.quiet),
            // How many there are beyond these was not looked for.
            Some((_, Ok(found))) if found.alerts.len() >= SHOWN_OF_FOUND as usize => {
                (format!("the best {SHOWN_OF_FOUND} found; another word narrows it"), theme.quiet)
            }
            Some((_, Ok(found))) => {
                let found = counted(found.alerts.len() as u64, "alert", "alerts");
                (format!("{found} found, best first"), theme.quiet)
            }
        }
    }
}

impl Dialog for FindDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick if self.search.next_due().is_some_and(|due| due <= cx.now) => return self.search(),
            Message::Found(query, answer) if self.search.answered(query, answer) => {
                self.menu.chosen = Selection::default();
                return if self.goes { self.go(0) } else { Vec::new() };
            }
            Message::Input(Event::Key(KeyEvent { code: KeyCode::Enter, modifiers, .. }))
                if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                return self.open_case(cx);
            }
            // What is typed is searched for, so letters are no commands here.
            Message::Input(Event::Key(KeyEvent { code: KeyCode::Char(letter @ ('y' | 'o')), modifiers: KeyModifiers::ALT, .. })) => {
                let chosen = self.menu.chosen.index(self.search.alerts().len()).and_then(|at| self.search.alerts().get(at));
                return match chosen {
                    Some(alert) if *letter == 'y' => copy_menu::open(alert),
                    Some(alert) => links_menu::open(alert, cx),
                    None => Vec::new(),
                };
            }
            Message::Input(Event::Key(key)) if is_typed(key) => {
                let typed = self.input.key(*key);
                if typed == Typed::Changed {
                    self.typed(cx);
                }
            }
            Message::Input(Event::Paste(text)) => match self.input.paste(text) {
                Ok(()) => self.typed(cx),
                Err(why) => cx.notify(Tone::Note, why),
            },
            Message::Input(event) => {
                let length = self.search.alerts().len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Effect::GiveUpFind.into(), Order::Close],
                    Some(Action::MenuPick) => return self.pick(event),
                    Some(Action::Open) => return self.open_case(cx),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let room = WIDTH.min(area.width.saturating_sub(4)).saturating_sub(AROUND);
        let entries = match self.search.shown() {
            Some((query, Ok(found))) => lines(&found.alerts, query, found, room, cx),
            _ => Vec::new(),
        };
        let empty = match self.search.shown() {
            Some((_, Ok(_))) if self.search.is_current() => "Nothing found.",
            Some((_, Ok(_))) => "",
            _ if self.input.is_empty() => "Answered alerts too. Several words narrow it: all have to match.",
            _ => "",
        };
        let is_nothing = self.search.is_current() && self.search.alerts().is_empty();
        let above = u16::from(is_roomy(area));
        let list = List {
            title: "Find",
            entries,
            empty,
            width: WIDTH,
            field: above + 2 + u16::try_from(self.search.limits().len()).unwrap_or(0),
            // Nothing is gone to where it is known that nothing was found.
            pick: Some(if self.input.is_empty() || is_nothing { "" } else { "show in Queue" }),
            also: if self.search.alerts().is_empty() { Vec::new() } else { vec![("alt-enter", "its case", Action::Open)] },
            ..List::default()
        };
        let fields = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: fields.y + above, height: 1, ..fields };
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(field, style);
        if self.input.is_empty() {
            let what = " order number, ARN, amount, auth code, transaction, card, name, comment";
            Pen::new(frame.buffer_mut(), Rect { x: field.x + 1, ..field }).put(what, theme.quiet);
        }
        self.input.draw(frame, field, style, true);
        let (words, style) = self.note(cx);
        let mut pen = Pen::new(frame.buffer_mut(), Rect { y: field.y + 1, ..field });
        pen.put(&words, style);
        for (key, words) in [("alt-y", "copy"), ("alt-o", "open")] {
            if self.search.alerts().is_empty() || columns(key) + 4 + columns(words) > pen.room() {
                break;
            }
            pen.skip(3);
            pen.put_key(key, words, theme);
        }
        for (limit, y) in self.search.limits().iter().zip(field.y + 2..fields.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, ..field }).put(&sanitize(limit), theme.warning);
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.search.next_due()
    }
}
