//! Find: a search over all fields of all alerts while one types; the chosen one is gone to in the Queue.

use chrono::Duration;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use super::{case, copy_menu, links_menu};
use crate::console::dialog::{self, run};
use crate::console::screens::queue::columns::{Column, amount};
use crate::console::screens::queue::state::Queue;
use crate::console::text::{columns, counted, cut, sanitize};
use crate::console::widgets::menu::Selection;
use crate::console::widgets::text_input::Typed;
use crate::console::{Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, TextInput, Tone, times};
use crate::desk::find::FoundAlerts;
use crate::domain::{Alert, FindQuery, Timestamp};
use crate::service::ServiceError;

/// Typing rests so long before it is searched for, and so long while an earlier search has not come back.
const REST: [Duration; 2] = [Duration::milliseconds(25), Duration::milliseconds(90)];

/// The same at a deployment that has to be asked for each word by itself.
const LONG_REST: Duration = Duration::milliseconds(350);

/// Columns for the time left or the state, the network, the money, the field that matched, and the card.
const LEFT: u16 = 10;
const NETWORK: u16 = 7;
const MONEY: u16 = 16;
const FIELD: u16 = 38;
const CARD: u16 = 14;

/// How wide it would like to be, and what is around its lines.
const WIDTH: u16 = 118;
const AROUND: u16 = 8;

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
    shown: Option<(FindQuery, Result<FoundAlerts, ServiceError>)>,
    /// Why what is typed cannot be searched for.
    wrong: Option<String>,
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
        let mut find = Self { input: TextInput::one_line(text), menu, due: None, asked: None, shown: None, wrong: None, goes: false };
        if !text.is_empty() {
            find.due = Some(cx.now);
        }
        find
    }

    fn typed(&mut self, cx: &AppContext) {
        let rest = if cx.operator { REST[usize::from(self.asked.is_some())] } else { LONG_REST };
        self.due = Some(cx.now + rest);
        self.goes = false;
    }

    /// Searches for what is typed now.
    fn search(&mut self) -> Orders {
        self.due = None;
        let text = self.input.text();
        self.asked = None;
        self.wrong = None;
        if text.trim().is_empty() {
            self.shown = None;
            return Vec::new();
        }
        match FindQuery::parse(&text) {
            Ok(query) if self.shown.as_ref().is_some_and(|(known, answer)| *known == query && answer.is_ok()) => Vec::new(),
            Ok(query) => {
                self.asked = Some(query.clone());
                vec![Effect::Find(query).into()]
            }
            Err(why) => {
                self.wrong = Some(why);
                self.shown = None;
                Vec::new()
            }
        }
    }

    fn alerts(&self) -> &[Alert] {
        match &self.shown {
            Some((_, Ok(found))) => &found.alerts,
            _ => &[],
        }
    }

    /// What could not be searched; the last sentence says it of the whole deployment.
    fn limits(&self) -> &[String] {
        match &self.shown {
            Some((_, Ok(found))) => &found.limits[found.limits.len().saturating_sub(2)..],
            _ => &[],
        }
    }

    /// Goes to what is chosen: to the best one of what is typed, once it is known, unless another one was chosen of what is shown.
    fn pick(&mut self, event: &Event) -> Orders {
        let chosen = self.menu.chosen.index(self.alerts().len());
        let is_current = self.due.is_none() && self.asked.is_none();
        let is_meant = is_current || chosen > Some(0) || matches!(event, Event::Mouse(_));
        if let Some(at) = chosen.filter(|_| is_meant) {
            return self.go(at);
        }
        self.goes = true;
        let orders = if self.asked.is_some() && self.due.is_none() { Vec::new() } else { self.search() };
        // What is typed means what is shown already.
        if self.asked.is_none() { self.go(0) } else { orders }
    }

    /// Goes to an alert in the Queue.
    fn go(&self, at: usize) -> Orders {
        let Some(alert) = self.alerts().get(at) else { return Vec::new() };
        vec![Order::Close, Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert.clone())).into()]
    }

    /// Opens the case of what is chosen.
    fn open_case(&self, cx: &AppContext) -> Orders {
        let Some(alert) = self.menu.chosen.index(self.alerts().len()).and_then(|at| self.alerts().get(at)) else { return Vec::new() };
        [Effect::GiveUpFind.into(), Order::Close].into_iter().chain(case::open_on(alert, None, cx)).collect()
    }

    /// What stands under the field: what is wrong, what is under way, or how much was found.
    fn note(&self, cx: &AppContext) -> (String, ratatui::style::Style) {
        let theme = &cx.theme;
        if let Some(wrong) = &self.wrong {
            return (wrong.clone(), theme.danger);
        }
        if self.asked.is_some() || self.due.is_some() {
            return ("looking…".to_owned(), theme.quiet);
        }
        match &self.shown {
            None => (String::new(), theme.quiet),
            Some((_, Err(error))) => (sanitize(&error.to_string()).into_owned(), theme.danger),
            Some((_, Ok(found))) if found.alerts.is_empty() => (String::new(), theme.quiet),
            Some((_, Ok(found))) => {
                let found = counted(found.alerts.len() as u64, "alert", "alerts");
                (format!("{found} found, best first   alt-enter case   alt-y copy   alt-o open"), theme.quiet)
            }
        }
    }

    /// An alert in so many columns: what it is known by first, as much else as there is room for.
    fn line<'l>(&self, alert: &Alert, query: &FindQuery, room: u16, cx: &AppContext) -> Line<'l> {
        let theme = &cx.theme;
        let (left, style) = if alert.is_over() {
            (sanitize(alert.status.as_str()).to_lowercase(), theme.quiet)
        } else {
            let left = times::left(alert, cx.now);
            (left.text, cx.draw_context().urgency(left.urgency))
        };
        let (value, strong) = if alert.is_over() { (theme.quiet, theme.plain) } else { (theme.plain, theme.strong) };
        let money = format!("{} {}", amount(alert), sanitize(alert.currency.as_str()));
        let mut spans = vec![
            Span::styled(cell(&left, LEFT), style),
            Span::styled(cell(&sanitize(alert.provider.as_str()), NETWORK), value),
            Span::styled(format!("{}{money}  ", blanks(MONEY.saturating_sub(columns(&money)))), value),
        ];
        let mut room = room.saturating_sub(LEFT + NETWORK + MONEY + 6);
        let mut last = Column::Descriptor;
        if let Some(field) = query.best_field(alert) {
            // What stands here already is not said twice.
            if field.value == alert.merchant_descriptor {
                last = Column::Order;
            }
            let name = format!("{} ", field.label);
            let width = FIELD.min(room).saturating_sub(columns(&name));
            spans.push(Span::styled(name, theme.quiet));
            spans.push(Span::styled(cell(&sanitize(&field.value), width), strong));
            room = room.saturating_sub(FIELD + 2);
        }
        if room >= CARD {
            spans.push(Span::styled(cell(&Column::Card.text(alert, CARD, cx.now), CARD), theme.quiet));
            let width = room.saturating_sub(CARD + 2);
            spans.push(Span::styled(cut(&last.text(alert, width, cx.now), width).into_owned(), theme.quiet));
        }
        Line::from(spans)
    }
}

fn blanks(columns: u16) -> String {
    " ".repeat(columns.into())
}

/// A text in so many columns, and two blank ones.
fn cell(text: &str, width: u16) -> String {
    let text = cut(text, width);
    format!("{text}{}", blanks(width.saturating_sub(columns(&text)) + 2))
}

impl Dialog for FindDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick if self.due.is_some_and(|due| due <= cx.now) => return self.search(),
            Message::Found(query, answer) if self.asked.as_ref() == Some(query) => {
                self.asked = None;
                self.shown = Some((query.clone(), answer.clone()));
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
                let chosen = self.menu.chosen.index(self.alerts().len()).and_then(|at| self.alerts().get(at));
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
                let length = self.alerts().len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Effect::GiveUpFind.into(), Order::Close],
                    Some(Action::MenuPick) => return self.pick(event),
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
        let entries = match &self.shown {
            Some((query, Ok(found))) => found.alerts.iter().map(|alert| self.line(alert, query, room, cx)).collect(),
            _ => Vec::new(),
        };
        let empty = match &self.shown {
            Some((_, Ok(_))) if self.due.is_none() && self.asked.is_none() => "Nothing found.",
            Some((_, Ok(_))) => "",
            _ if self.input.is_empty() => "Answered alerts too. Several words narrow it: all have to match.",
            _ => "",
        };
        let list = List {
            title: "Find",
            entries,
            empty,
            width: WIDTH,
            field: 3 + u16::try_from(self.limits().len()).unwrap_or(0),
            ..List::default()
        };
        let fields = self.menu.draw(list, frame, area, cx);
        let field = Rect { y: fields.y + 1, height: 1, ..fields };
        let style = theme.page.patch(theme.field);
        frame.buffer_mut().set_style(field, style);
        if self.input.is_empty() {
            let what = " order number, ARN, amount, auth code, transaction, card, name, comment";
            Pen::new(frame.buffer_mut(), Rect { x: field.x + 1, ..field }).put(what, theme.quiet);
        }
        self.input.draw(frame, field, style, true);
        let (words, style) = self.note(cx);
        Pen::new(frame.buffer_mut(), Rect { y: fields.y + 2, ..field }).put(&words, style);
        for (limit, y) in self.limits().iter().zip(fields.y + 3..fields.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, ..field }).put(&sanitize(limit), theme.warning);
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        self.due
    }
}

/// Whether a key goes to the field: what is a letter, and what edits a line. Letters by AltGr come with both control and alt.
fn is_typed(key: &KeyEvent) -> bool {
    let both = KeyModifiers::CONTROL | KeyModifiers::ALT;
    let plain = !key.modifiers.intersects(both) || key.modifiers.contains(both);
    let edits = key.modifiers == KeyModifiers::CONTROL && matches!(key.code, KeyCode::Char('a' | 'e' | 'k' | 'u' | 'w'));
    match key.code {
        KeyCode::Char(_) => plain || edits,
        code => matches!(code, KeyCode::Backspace | KeyCode::Delete | KeyCode::Left | KeyCode::Right),
    }
}
