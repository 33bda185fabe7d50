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
use crate::console::text::{columns, counted, sanitize, wrap_to};
use crate::console::widgets::menu::{Selection, is_roomy};
use crate::console::widgets::panel::PanelWidth;
use crate::console::widgets::text_input::Typed;
use crate::console::{Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, TextInput, Tone};
use crate::desk::find::FoundAlerts;
use crate::domain::query::{DEFAULT_SORT, meant, render};
use crate::domain::{Alert, AlertFilter, Timestamp};
use crate::service::ServiceError;

/// What is searched.
const WHAT: &str = "order number, ARN, amount, auth code, transaction, card, name, comment";

/// What is said before anything is typed.
const EXPLAINED: &str = "Answered alerts too. Several words narrow it: all have to match.";
const EXPLAINED_BRIEFLY: &str = "Answered alerts too. Every word has to match.";

/// The key that lists what the words name, and from so many columns on it stands with the others.
const LIST_KEY: &str = "alt-l";
const ROOM_FOR_LIST: u16 = 102;

/// What to do next where nothing was found has so many lines, the last one blank.
const LINES_OF_NEXT: u16 = 4;

/// What could not be searched is told in so many lines each at most.
const LINES_OF_A_LIMIT: usize = 2;

/// The dialog while it is open.
#[derive(Debug)]
pub struct FindDialog {
    input: TextInput,
    menu: OpenMenu,
    search: AlertSearch,
    /// Whether the best one is gone to as soon as it is known.
    goes: bool,
    /// What the Queue holds, to be compared here where the service cannot be asked for every field, or is not reached.
    held: Vec<Alert>,
}

/// Opens it; on what was searched for in the Queue and is not in its view, which is as it was before then.
pub fn open(queue: &mut Queue, cx: &AppContext) -> Orders {
    let missed = queue.missed();
    let before = if missed.is_some() { queue.close_search(false) } else { Vec::new() };
    let held = queue.listing.alerts().cloned().collect();
    let find = FindDialog::of(missed.as_deref().unwrap_or_default(), held, cx);
    run(before).into_iter().chain(dialog::open(find)).collect()
}

impl FindDialog {
    /// A search for this text.
    fn of(text: &str, held: Vec<Alert>, cx: &AppContext) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        let search = if text.is_empty() { AlertSearch::default() } else { AlertSearch::due_at(cx.now) };
        Self { input: TextInput::one_line(text), menu, search, goes: false, held }
    }

    fn typed(&mut self, cx: &AppContext) {
        self.search.typed(cx);
        self.goes = false;
    }

    /// Searches for what is typed now.
    fn search(&mut self) -> Orders {
        self.search.search(&self.input.text())
    }

    /// Goes to what is chosen: to the best one of what is typed, once it is known, unless another one was chosen of
    /// what is shown.
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
        vec![Order::Leave, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
    }

    /// The list of what the words name that no text says.
    fn meant(&self, cx: &AppContext) -> Option<AlertFilter> {
        meant(&self.input.text(), cx.views.vocabulary).filter(|_| !self.is_of_held())
    }

    /// Whether the service was not reached, and only what the Queue holds was looked through.
    fn is_of_held(&self) -> bool {
        matches!(self.search.shown(), Some((_, Ok(found))) if found.only_held)
    }

    /// Whether it is known that no text says what is typed.
    fn is_nothing(&self) -> bool {
        self.search.is_current() && matches!(self.search.shown(), Some((_, Ok(found))) if found.alerts.is_empty())
    }

    /// Lists what the words name in the Queue.
    fn list_meant(&self, cx: &AppContext) -> Orders {
        let Some(filter) = self.meant(cx) else { return Vec::new() };
        vec![
            Effect::GiveUpFind.into(),
            Order::Leave,
            Order::Act(Action::ShowQueue),
            Message::ListFound(filter, DEFAULT_SORT, None).into(),
        ]
    }

    /// What is chosen.
    fn chosen(&self) -> Option<&Alert> {
        self.menu.chosen.index(self.search.alerts().len()).and_then(|at| self.search.alerts().get(at))
    }

    fn copy(&self) -> Orders {
        self.chosen().map(copy_menu::open).unwrap_or_default()
    }

    fn open_link(&self, cx: &mut AppContext) -> Orders {
        self.chosen().map(|alert| links_menu::open(alert, cx)).unwrap_or_default()
    }

    /// Opens the case of what is chosen.
    fn open_case(&self, cx: &AppContext) -> Orders {
        let Some(alert) = self.chosen() else { return Vec::new() };
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
            Message::Found(query, answer) => {
                let answer = match answer.clone() {
                    Err(ServiceError::Unreachable(_)) if !self.held.is_empty() => {
                        Ok(FoundAlerts::among_held(query, &self.held, SHOWN_OF_FOUND))
                    }
                    Ok(found) if !cx.operator => Ok(found.and_held(query, &self.held, SHOWN_OF_FOUND)),
                    answer => answer,
                };
                if !self.search.answered(query, &answer) {
                    return Vec::new();
                }
                self.menu.chosen = Selection::default();
                // What is best among those that are loaded may not be what was meant: that it is only of them is seen
                // first.
                self.goes &= !self.is_of_held();
                return if self.goes { self.go(0) } else { Vec::new() };
            }
            Message::Input(Event::Key(KeyEvent { code: KeyCode::Enter, modifiers, .. }))
                if modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT) =>
            {
                return self.open_case(cx);
            }
            // What is typed is searched for, so letters are no commands here.
            Message::Input(Event::Key(KeyEvent {
                code: KeyCode::Char(letter @ ('y' | 'o')),
                modifiers: KeyModifiers::ALT,
                ..
            })) => {
                return if *letter == 'y' { self.copy() } else { self.open_link(cx) };
            }
            Message::Input(Event::Key(KeyEvent { code: KeyCode::Char('l'), modifiers: KeyModifiers::ALT, .. })) => {
                return self.list_meant(cx);
            }
            Message::Input(Event::Key(key)) if is_typed(key) => {
                let typed = self.input.key(*key);
                if typed == Typed::Changed {
                    self.typed(cx);
                }
            }
            Message::Input(Event::Paste(text)) => match self.input.paste(text) {
                Ok(changed) => {
                    self.typed(cx);
                    changed.into_iter().for_each(|words| cx.notify(Tone::Note, words));
                }
                Err(why) => cx.notify(Tone::Note, why),
            },
            Message::Input(event) => {
                let length = self.search.alerts().len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Effect::GiveUpFind.into(), Order::Close],
                    Some(Action::MenuPick) if self.is_nothing() && self.meant(cx).is_some() => {
                        return self.list_meant(cx);
                    }
                    Some(Action::MenuPick) => return self.pick(event),
                    Some(Action::Open) => return self.open_case(cx),
                    Some(Action::CopyId) => return self.copy(),
                    Some(Action::OpenLink) => return self.open_link(cx),
                    Some(Action::Filter) => return self.list_meant(cx),
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let room = OpenMenu::room(PanelWidth::Search, area);
        let entries = match self.search.shown() {
            Some((query, Ok(found))) => lines(&found.alerts, query, found, room, cx),
            _ => Vec::new(),
        };
        let (is_nothing, meant) = (self.is_nothing(), self.meant(cx).map(|filter| render(&filter, DEFAULT_SORT)));
        let nothing = match &meant {
            Some(query) => format!("No text of an alert says this. As a list: {query}"),
            None if self.is_of_held() => "None of these has all of these words.".to_owned(),
            None => "No alert has all of these words.".to_owned(),
        };
        let next = format!(
            "Searched are {WHAT} of open and answered alerts. Fewer words or another spelling may find it; in the \
                Queue {} lists by network, type and day.",
            cx.key(Action::Filter)
        );
        let empty = match self.search.shown() {
            Some((_, Ok(_))) if self.search.is_current() => &nothing,
            Some((_, Ok(_))) => "",
            _ if self.input.is_empty() => {
                [EXPLAINED, EXPLAINED_BRIEFLY].into_iter().find(|words| columns(words) <= room).unwrap_or_default()
            }
            _ => "",
        };
        // Where what the words name can be listed, that is what to do next.
        let says_next = is_nothing && meant.is_none() && !self.is_of_held() && is_roomy(area);
        let above = u16::from(is_roomy(area));
        let limits: Vec<String> =
            self.search.limits().iter().flat_map(|limit| wrap_to(&sanitize(limit), room, LINES_OF_A_LIMIT)).collect();
        let of_alert = match self.search.alerts() {
            [] => Vec::new(),
            _ => vec![
                ("alt-enter", "case", Action::Open),
                ("alt-y", "copy", Action::CopyId),
                ("alt-o", "open", Action::OpenLink),
            ],
        };
        // What the list would be stands above, where its key has no room beside the others.
        let is_wide = room >= ROOM_FOR_LIST;
        let listed = meant.as_ref().filter(|_| !is_nothing);
        let list = List {
            title: "Find",
            entries,
            empty,
            width: PanelWidth::Search,
            field: above + 2 + u16::try_from(limits.len()).unwrap_or(0),
            // Nothing is gone to where it is known that nothing was found.
            pick: Some(match &meant {
                Some(_) if is_nothing => "list in Queue",
                _ if self.input.is_empty() || self.search.alerts().is_empty() && self.search.is_current() => "",
                _ if is_wide => "show in Queue",
                _ => "show",
            }),
            below: if says_next { next } else { String::new() },
            below_lines: if says_next { LINES_OF_NEXT } else { 0 },
            also: of_alert
                .into_iter()
                .chain(listed.filter(|_| is_wide).map(|_| (LIST_KEY, "list", Action::Filter)))
                .collect(),
            ..List::default()
        };
        let fields = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: fields.y + above, height: 1, ..fields };
        self.input.draw_field(frame, field, theme, true, WHAT);
        let (words, style) = self.note(cx);
        let mut pen = Pen::new(frame.buffer_mut(), Rect { y: field.y + 1, ..field });
        pen.put(&words, style);
        if let Some(query) = listed {
            pen.skip(3);
            pen.put(if is_wide { "as a list: " } else { "" }, theme.quiet);
            pen.put(if is_wide { "" } else { LIST_KEY }, theme.key);
            pen.put(if is_wide { "" } else { " lists " }, theme.quiet);
            pen.put(query, theme.quiet);
        }
        for (limit, y) in limits.iter().zip(field.y + 2..fields.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, ..field }).put(limit, theme.warning);
        }
    }

    fn hides_lists(&self) -> bool {
        true
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.search.next_due()
    }
}
