//! Search: one box for words in any field of any alert, and for words of the filter. It is searched while one types;
//! the Queue shows what is chosen.

use std::borrow::Cow;

use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::{Frame, layout::Rect, style::Style};

use super::{
    alert_rows::{self, AlertRow},
    case,
    menu::{List, OpenMenu, type_into},
};
use crate::{
    Action, AppContext, Dialog, Effect, KeyContext, Message, Pen, Reply, Task, Tasks, TextInput, Theme,
    answer_words::{answer_words, without_reason},
    desk::find::FoundAlerts,
    dialog,
    domain::{
        Alert, AlertFilter, FindQuery, Sort, Timestamp,
        find::FindField,
        query::{Key, chips, parse, render, without},
    },
    message::SHOWN_OF_FOUND,
    pen::put_lines,
    screens::queue::{columns::Column, state::Queue},
    text::{counted, sanitize, wrap_to},
    times::searched_at,
    ui::areas::{FILL, stacked},
    widgets::panel::PanelWidth,
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
    /// When it is searched for what is typed.
    due: Option<Timestamp>,
    /// The search that is on its way.
    asked: Option<FindQuery>,
    /// The newest answer, and what it is an answer to.
    shown: Option<(FindQuery, Reply<FoundAlerts>)>,
    /// Why what is typed cannot be searched for.
    wrong: Option<String>,
    /// True where the best one is gone to as soon as it is known.
    goes: bool,
    /// Filter and sort of the Queue, which words of the filter narrow.
    view: (AlertFilter, Sort),
}

/// Opens it.
pub fn open(queue: &Queue) -> Tasks {
    dialog::open(FindDialog::of(queue.before_search()))
}

impl FindDialog {
    fn of(view: (AlertFilter, Sort)) -> Self {
        let menu = OpenMenu::new(&[KeyContext::Menu]);
        let input = TextInput::one_line("");
        Self { input, menu, due: None, asked: None, shown: None, wrong: None, goes: false, view }
    }

    /// Something was typed: it is searched for when typing rests.
    fn typed(&mut self, cx: &AppContext) {
        self.due = Some(if cx.operator { searched_at(self.asked.is_some(), cx.now) } else { cx.now + LONG_REST });
        self.goes = false;
    }

    /// Searches for the typed text. A filter is listed by enter and not searched for.
    fn search(&mut self, cx: &AppContext) -> Tasks {
        let text = self.input.text();
        (self.due, self.asked, self.wrong) = (None, None, None);
        if text.trim().is_empty() || self.filter(cx).is_some() {
            self.shown = None;
            return Vec::new();
        }
        match FindQuery::parse(&text) {
            Ok(query) if matches!(&self.shown, Some((known, Ok(_))) if *known == query) => Vec::new(),
            Ok(query) => {
                self.asked = Some(query.clone());
                vec![Effect::Find(query).into()]
            }
            Err(why) => {
                (self.wrong, self.shown) = (Some(why), None);
                Vec::new()
            }
        }
    }

    /// Returns true where what is shown is the answer to what is typed.
    fn is_current(&self) -> bool {
        self.due.is_none() && self.asked.is_none()
    }

    /// What was found last.
    fn found(&self) -> Option<&FoundAlerts> {
        self.shown.as_ref()?.1.as_ref().ok()
    }

    fn alerts(&self) -> &[Alert] {
        self.found().map_or(&[], |found| found.alerts.as_slice())
    }

    /// Goes to what is chosen: to the best one of what is typed, once it is known, unless another one was chosen of
    /// what is shown.
    fn pick(&mut self, event: &Event, cx: &AppContext) -> Tasks {
        let chosen = self.menu.chosen(self.alerts().len());
        let is_meant = self.is_current() || chosen > Some(0) || matches!(event, Event::Mouse(_));
        if let Some(at) = chosen.filter(|_| is_meant) {
            return self.go(at);
        }
        self.goes = true;
        let is_asked = self.asked.is_some() && self.due.is_none();
        let tasks = if is_asked { Vec::new() } else { self.search(cx) };
        // What is typed means what is shown already.
        if self.asked.is_some() { tasks } else { self.go(0) }
    }

    /// Goes to an alert in the Queue.
    fn go(&self, at: usize) -> Tasks {
        let Some(alert) = self.alerts().get(at) else { return Vec::new() };
        vec![Task::Leave, Task::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
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
    fn list(&self, filter: AlertFilter, sort: Sort) -> Tasks {
        vec![
            Effect::GiveUpFind.into(),
            Task::Leave,
            Task::Act(Action::ShowQueue),
            Message::ListFound(filter, sort).into(),
        ]
    }

    /// Opens the case of what is chosen.
    fn open_case(&self, cx: &mut AppContext) -> Tasks {
        let alerts = self.alerts();
        let Some(alert) = self.menu.chosen(alerts.len()).map(|at| &alerts[at]) else { return Vec::new() };
        [Effect::GiveUpFind.into(), Task::Close].into_iter().chain(case::open_on(alert, None, cx)).collect()
    }

    /// Does what a key or a click asks for that types nothing.
    fn command(&mut self, event: &Event, cx: &mut AppContext) -> Tasks {
        let is_alt_enter = |key: &KeyEvent| {
            key.code == KeyCode::Enter && matches!(key.modifiers, KeyModifiers::ALT | KeyModifiers::CONTROL)
        };
        if matches!(event, Event::Key(key) if is_alt_enter(key)) {
            return self.open_case(cx);
        }
        match self.menu.update(event, self.alerts().len(), cx) {
            Some(Action::MenuClose) => vec![Effect::GiveUpFind.into(), Task::Close],
            Some(Action::MenuPick) => match self.filter(cx) {
                Some((filter, sort)) => self.list(filter, sort),
                None => self.pick(event, cx),
            },
            Some(Action::Open) => self.open_case(cx),
            _ => Vec::new(),
        }
    }

    /// What stands under the field: what is wrong, what is under way, or how much was found.
    fn note(&self, filter: Option<&(AlertFilter, Sort)>, cx: &AppContext) -> (String, Style) {
        let theme = &cx.theme;
        if let Some((filter, sort)) = filter {
            return (format!("Filter: {}", render(filter, *sort)), theme.quiet);
        }
        if let Some(wrong) = &self.wrong {
            return (wrong.clone(), theme.danger);
        }
        if !self.is_current() {
            return ("looking…".to_owned(), theme.quiet);
        }
        match &self.shown {
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
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        match message {
            Message::Tick if self.due.is_some_and(|due| due <= cx.now) => return self.search(cx),
            Message::Found(query, answer) if self.asked.as_ref() == Some(query) => {
                (self.asked, self.shown) = (None, Some((query.clone(), answer.clone())));
                self.menu.cursor.at = 0;
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
        let room = OpenMenu::room(area);
        let rows = match &self.shown {
            Some((query, Ok(found))) => rows(found, query, theme),
            _ => Vec::new(),
        };
        let table = alert_rows::table(&rows, OF_FOUND, "MATCH", room, cx);
        let heads = table.head(theme).to_string();
        let filter = self.filter(cx);
        let is_filter = filter.is_some();
        let empty = match &self.shown {
            _ if is_filter => "Enter lists these alerts.",
            Some((_, Ok(_))) if !self.is_current() => "",
            Some((_, Ok(_))) => "No match. Try fewer words.",
            _ if self.input.is_empty() => EXPLAINED,
            _ => "",
        };
        // What could not be searched; the last sentences say it of the whole deployment.
        let limits = self.found().map_or(&[][..], |found| &found.limits[found.limits.len().saturating_sub(3)..]);
        let limits: Vec<String> =
            limits.iter().flat_map(|limit| wrap_to(&sanitize(limit), room, LINES_OF_A_LIMIT)).collect();
        let of_alert = match self.alerts() {
            [] => Vec::new(),
            _ => vec![("alt-enter", "case", Action::Open)],
        };
        let list = List {
            title: "Search",
            entries: rows.iter().map(|row| table.line(row)).collect(),
            groups: vec![(0, &heads)],
            empty,
            width: PanelWidth::Search,
            field: 3 + u16::try_from(limits.len()).unwrap_or(0),
            // Nothing is gone to where it is known that nothing was found.
            pick: Some(match () {
                () if is_filter => "list",
                () if self.input.is_empty() || self.alerts().is_empty() && self.is_current() => "",
                () => "show",
            }),
            also: of_alert,
            ..List::default()
        };
        let fields = self.menu.draw(&list, frame, area, cx);
        let [_, field, said, limited] = stacked(fields, [1, 1, 1, FILL]);
        self.input.draw_field(frame, field, theme, true, WHAT);
        let (words, style) = self.note(filter.as_ref(), cx);
        Pen::new(frame.buffer_mut(), said).put(&words, style);
        put_lines(frame.buffer_mut(), limited, limits.iter().map(|limit| (limit, theme.warning)));
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due
    }
}

/// Typing rests so long before it is searched for at a deployment that has to be asked for each word by itself.
const LONG_REST: Duration = Duration::milliseconds(350);

/// The columns of what was found, behind which stands what matched, with the answer.
const OF_FOUND: &[Column] =
    &[Column::Left, Column::Provider, Column::Amount, Column::Card, Column::Order, Column::Descriptor];

/// The rows of what was found: each with what matched, and its answer, whose reason is for whoever goes there.
fn rows<'a>(found: &'a FoundAlerts, query: &FindQuery, theme: &Theme) -> Vec<AlertRow<'a>> {
    let row = |alert: &'a Alert| {
        let order = || {
            let (order_id, confidence) = found.order_of(alert.id)?;
            Some(FindField { label: "order", value: Cow::Owned(format!("{order_id}, {} match", confidence.as_str())) })
        };
        let matched = query.best_field(alert).or_else(order);
        let matched = matched.map(|field| format!("{} {}", field.label, sanitize(&field.value)));
        let answer = alert.outcome.as_ref().map(|outcome| without_reason(&answer_words(alert, outcome)).to_owned());
        let what = matched.into_iter().chain(answer).collect::<Vec<_>>().join(", ");
        let quiet = alert.is_over();
        AlertRow { sign: ("", theme.plain), alert, what, style: if quiet { theme.plain } else { theme.strong }, quiet }
    };
    found.alerts.iter().map(row).collect()
}
