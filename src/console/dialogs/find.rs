//! Search: one box for words in any field of any alert, and for words of the filter. The Queue shows what is chosen.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use super::{
    alert_search::{AlertSearch, type_into},
    case, copy_menu,
    found_rows::lines,
    links_menu,
    menu::{List, OpenMenu},
};
use crate::{
    Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, TextInput,
    desk::find::FoundAlerts,
    dialog,
    domain::{
        Alert, AlertFilter, Sort, Timestamp,
        query::{Key, chips, parse, render, without},
    },
    message::SHOWN_OF_FOUND,
    pen::put_lines,
    screens::queue::state::Queue,
    service::ServiceError,
    text::{counted, sanitize, wrap_to},
    ui::areas::{FILL, stacked},
    widgets::{
        menu::{Selection, is_roomy},
        panel::PanelWidth,
    },
};

/// What is searched.
const WHAT: &str = "order number, ARN, amount, auth code, transaction, card, name, comment";

/// Shown before anything is typed.
const EXPLAINED: &str = "Open alerts first. All words must match.";

/// What could not be searched is told in so many lines each at most.
const LINES_OF_A_LIMIT: usize = 2;

/// The dialog while it is open.
#[derive(Debug)]
pub struct FindDialog {
    input: TextInput,
    menu: OpenMenu,
    search: AlertSearch,
    /// True where the best one is gone to as soon as it is known.
    goes: bool,
    /// Filter and sort of the Queue, which words of the filter narrow.
    view: (AlertFilter, Sort),
    /// What the Queue holds, to be compared here where the service cannot be asked for every field, or is not reached.
    held: Vec<Alert>,
}

/// Opens it.
pub fn open(queue: &Queue) -> Orders {
    dialog::open(FindDialog::of(queue.before_search(), queue.listing.alerts().cloned().collect()))
}

impl FindDialog {
    fn of(view: (AlertFilter, Sort), held: Vec<Alert>) -> Self {
        let menu = OpenMenu::new(Selection::default(), &[KeyContext::Menu], Action::MenuPick);
        Self { input: TextInput::one_line(""), menu, search: AlertSearch::default(), goes: false, view, held }
    }

    fn typed(&mut self, cx: &AppContext) {
        self.search.typed(cx);
        self.goes = false;
    }

    /// Searches for the typed text. A filter is listed by enter and not searched for.
    fn search(&mut self, cx: &AppContext) -> Orders {
        let text = self.input.text();
        self.search.search(if self.filter(cx).is_some() { "" } else { &text })
    }

    /// Goes to what is chosen: to the best one of what is typed, once it is known, unless another one was chosen of
    /// what is shown.
    fn pick(&mut self, event: &Event, cx: &AppContext) -> Orders {
        let chosen = self.menu.chosen.index(self.search.alerts().len());
        let is_meant = self.search.is_current() || chosen > Some(0) || matches!(event, Event::Mouse(_));
        if let Some(at) = chosen.filter(|_| is_meant) {
            return self.go(at);
        }
        self.goes = true;
        let is_asked = self.search.is_under_way() && self.search.next_due().is_none();
        let orders = if is_asked { Vec::new() } else { self.search(cx) };
        // What is typed means what is shown already.
        if self.search.is_under_way() { orders } else { self.go(0) }
    }

    /// Goes to an alert in the Queue.
    fn go(&self, at: usize) -> Orders {
        let Some(alert) = self.search.alerts().get(at) else { return Vec::new() };
        vec![Order::Leave, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
    }

    /// The filter and the sort of the typed words, where they are words of the filter: those of the view, with
    /// the typed ones in their place.
    fn filter(&self, cx: &AppContext) -> Option<(AlertFilter, Sort)> {
        let (text, vocabulary) = (self.input.text(), cx.views.vocabulary);
        let (typed, sort) = parse(&text, vocabulary).ok()?;
        let mut set = chips(&typed, sort).into_iter().filter(|chip| chip.set && chip.key != Key::Text).peekable();
        set.peek()?;
        let (filter, sort) = set.fold(self.view.clone(), |(filter, sort), chip| without(&filter, sort, chip.key));
        parse(&format!("{} {text}", render(&filter, sort)), vocabulary).ok()
    }

    /// Lists in the Queue what the words of the filter ask for.
    fn list(&self, filter: AlertFilter, sort: Sort) -> Orders {
        vec![
            Effect::GiveUpFind.into(),
            Order::Leave,
            Order::Act(Action::ShowQueue),
            Message::ListFound(filter, sort, None).into(),
        ]
    }

    /// What is chosen.
    fn chosen(&self) -> Option<&Alert> {
        self.menu.chosen.index(self.search.alerts().len()).and_then(|at| self.search.alerts().get(at))
    }

    /// Copies of what is chosen, opens its link or its case.
    fn with_chosen(&self, action: Action, cx: &mut AppContext) -> Orders {
        let Some(alert) = self.chosen() else { return Vec::new() };
        match action {
            Action::CopyId => copy_menu::open(alert, cx),
            Action::OpenLink => links_menu::open(alert, cx),
            _ => [Effect::GiveUpFind.into(), Order::Close].into_iter().chain(case::open_on(alert, None, cx)).collect(),
        }
    }

    /// Does what a key or a click asks for that types nothing.
    fn command(&mut self, event: &Event, cx: &mut AppContext) -> Orders {
        if let Event::Key(KeyEvent { code, modifiers, .. }) = event {
            let is_alt = *modifiers == KeyModifiers::ALT;
            match code {
                KeyCode::Enter if is_alt || *modifiers == KeyModifiers::CONTROL => {
                    return self.with_chosen(Action::Open, cx);
                }
                KeyCode::Char('y') if is_alt => return self.with_chosen(Action::CopyId, cx),
                KeyCode::Char('o') if is_alt => return self.with_chosen(Action::OpenLink, cx),
                _ => {}
            }
        }
        match self.menu.update(event, self.search.alerts().len(), cx) {
            Some(Action::MenuClose) => vec![Effect::GiveUpFind.into(), Order::Close],
            Some(Action::MenuPick) => match self.filter(cx) {
                Some((filter, sort)) => self.list(filter, sort),
                None => self.pick(event, cx),
            },
            Some(action @ (Action::Open | Action::CopyId | Action::OpenLink)) => self.with_chosen(action, cx),
            _ => Vec::new(),
        }
    }

    /// What stands under the field: what is wrong, what is under way, or how much was found.
    fn note(&self, filter: Option<&(AlertFilter, Sort)>, cx: &AppContext) -> (String, ratatui::style::Style) {
        let theme = &cx.theme;
        if let Some((filter, sort)) = filter {
            return (format!("Filter: {}", render(filter, *sort)), theme.quiet);
        }
        if let Some(wrong) = self.search.wrong() {
            return (wrong.to_owned(), theme.danger);
        }
        if !self.search.is_current() {
            return ("looking…".to_owned(), theme.quiet);
        }
        match self.search.shown() {
            None => (String::new(), theme.quiet),
            Some((_, Err(error))) => (sanitize(&error.to_string()).into_owned(), theme.danger),
            // Words of the filter that cannot be read were searched for as text.
            Some((_, Ok(found))) if found.alerts.is_empty() => {
                let error = parse(&self.input.text(), cx.views.vocabulary).err();
                (error.map(|error| sanitize(&error.to_string()).into_owned()).unwrap_or_default(), theme.warning)
            }
            // How many there are beyond these was not looked for.
            Some((_, Ok(found))) if found.alerts.len() >= SHOWN_OF_FOUND as usize => {
                (format!("best {SHOWN_OF_FOUND}, add a word to narrow"), theme.quiet)
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
            Message::Tick if self.search.next_due().is_some_and(|due| due <= cx.now) => return self.search(cx),
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
                self.goes &= !matches!(self.search.shown(), Some((_, Ok(found))) if found.only_held);
                return if self.goes { self.go(0) } else { Vec::new() };
            }
            Message::Input(event) => {
                // What is typed is searched for, so letters are no commands here.
                match type_into(&mut self.input, event, cx) {
                    Some(true) => self.typed(cx),
                    Some(false) => {}
                    None => return self.command(event, cx),
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
        let filter = self.filter(cx);
        let is_filter = filter.is_some();
        let empty = match self.search.shown() {
            _ if is_filter => "Enter lists these alerts.",
            Some((_, Ok(_))) if !self.search.is_current() => "",
            Some((_, Ok(found))) if found.only_held => "No match among loaded alerts.",
            Some((_, Ok(_))) => "No match. Try fewer words.",
            _ if self.input.is_empty() => EXPLAINED,
            _ => "",
        };
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
        let list = List {
            title: "Search",
            entries,
            empty,
            width: PanelWidth::Search,
            field: above + 2 + u16::try_from(limits.len()).unwrap_or(0),
            // Nothing is gone to where it is known that nothing was found.
            pick: Some(match () {
                () if is_filter => "list",
                () if self.input.is_empty() || self.search.alerts().is_empty() && self.search.is_current() => "",
                () => "show",
            }),
            also: of_alert,
            ..List::default()
        };
        let fields = self.menu.draw(&list, frame, area, cx);
        let [_, field, said, limited] = stacked(fields, [above, 1, 1, FILL]);
        self.input.draw_field(frame, field, theme, true, WHAT);
        let (words, style) = self.note(filter.as_ref(), cx);
        Pen::new(frame.buffer_mut(), said).put(&words, style);
        put_lines(frame.buffer_mut(), limited, limits.iter().map(|limit| (limit, theme.warning)));
    }

    fn hides_lists(&self) -> bool {
        true
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.search.next_due()
    }
}
