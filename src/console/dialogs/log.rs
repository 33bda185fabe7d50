//! The program's log: what went wrong with networks and reads, the newest first; a key leaves out what is less grave.

use chrono::Duration;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::menu::{List, OpenMenu};
use crate::console::dialog::{open, run};
use crate::console::program_log::{LogLine, LogSeverity};
use crate::console::text::{columns, count, counted, wrap_to};
use crate::console::widgets::menu::Selection;
use crate::console::widgets::panel::PanelWidth;
use crate::console::{Action, AppContext, Dialog, Effect, KeyContext, Message, Order, Orders, Pen, Theme};
use crate::domain::Timestamp;

/// How often it is looked for new events while it is open.
const LOOK: Duration = Duration::seconds(1);

/// Lines for the whole text of the chosen event.
const WHOLE: u16 = 3;

/// Most events that are held.
const MOST: usize = 1_000;

/// What is shown: everything up to these.
const SHOWN: [(LogSeverity, &str); 3] = [
    (LogSeverity::Detail, "everything"),
    (LogSeverity::Warning, "warnings and errors"),
    (LogSeverity::Error, "errors alone"),
];

/// The log while it is open.
#[derive(Debug)]
pub struct LogDialog {
    menu: OpenMenu,
    /// The newest first.
    lines: Vec<LogLine>,
    /// Which of the choices of what is shown.
    shown: usize,
    due: Timestamp,
}

/// Opens it.
pub fn open_log(cx: &AppContext) -> Orders {
    // There is nothing to be done with an event but to read it.
    let menu = OpenMenu::new(Selection::default(), &[KeyContext::Log, KeyContext::Menu], Action::Refresh);
    let log = LogDialog { menu, lines: Vec::new(), shown: 0, due: cx.now + LOOK };
    open(log).into_iter().chain(run(vec![Effect::ReadLog(0)])).collect()
}

impl LogDialog {
    fn shown(&self) -> Vec<&LogLine> {
        self.lines.iter().filter(|line| line.severity <= SHOWN[self.shown].0).collect()
    }

    fn chosen(&self) -> Option<&LogLine> {
        let shown = self.shown();
        self.menu.chosen.index(shown.len()).map(|at| shown[at])
    }

    /// Takes in newer events. Who looks at the newest one goes on with it, who looks at another one stays there.
    fn take(&mut self, newer: &[LogLine]) {
        let last = self.lines.first().map_or(0, |line| line.number);
        let chosen =
            self.chosen().map(|line| line.number).filter(|_| self.menu.chosen.index(self.lines.len()) > Some(0));
        let new = newer.iter().rev().filter(|line| line.number > last).cloned();
        self.lines = new.chain(std::mem::take(&mut self.lines)).take(MOST).collect();
        self.choose(chosen);
    }

    /// Chooses the event of a number, or the one next to it.
    fn choose(&mut self, number: Option<u64>) {
        let at = number.and_then(|number| self.shown().iter().position(|line| line.number <= number));
        self.menu.chosen = Selection::at(at.unwrap_or(0));
    }
}

fn style_of(severity: LogSeverity, theme: &Theme) -> (&'static str, Style) {
    match severity {
        LogSeverity::Error => ("!", theme.danger),
        LogSeverity::Warning => ("▲", theme.warning),
        LogSeverity::Note => ("·", theme.plain),
        LogSeverity::Detail => (" ", theme.quiet),
    }
}

impl Dialog for LogDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        match message {
            Message::Tick if self.due <= cx.now => {
                self.due = cx.now + LOOK;
                return vec![Effect::ReadLog(self.lines.first().map_or(0, |line| line.number)).into()];
            }
            Message::LogRead(newer) => self.take(newer),
            Message::Input(event) => {
                let length = self.shown().len();
                match self.menu.update(event, length, cx) {
                    Some(Action::MenuClose) => return vec![Order::Close],
                    Some(Action::LogSeverity) => {
                        let chosen = self.chosen().map(|line| line.number);
                        self.shown = (self.shown + 1) % SHOWN.len();
                        self.choose(chosen);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        Vec::new()
    }

    fn gives_way(&self) -> bool {
        true
    }

    fn act(&mut self, action: Action, _: &mut AppContext) -> Option<Orders> {
        (action == Action::ProgramLog).then(Vec::new)
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        let theme = &cx.theme;
        let shown = self.shown();
        let when = shown.iter().map(|line| columns(&cx.times().moment(line.at, cx.now))).max().unwrap_or(0);
        let when = usize::from(when);
        let line = |line: &&LogLine| {
            let (sign, style) = style_of(line.severity, theme);
            Line::from(vec![
                Span::styled(format!("{:<when$} ", cx.times().moment(line.at, cx.now)), theme.quiet),
                Span::styled(format!("{sign} {:<8}", line.severity.as_str()), style),
                Span::styled(format!("{:<10}", line.part), theme.quiet),
                Span::styled(
                    line.text.clone(),
                    if line.severity == LogSeverity::Detail { theme.quiet } else { theme.plain },
                ),
            ])
        };
        let empty =
            if self.lines.is_empty() { "Nothing was logged yet." } else { "Nothing as grave as that was logged." };
        let room = OpenMenu::room(PanelWidth::Search, area).saturating_sub(2);
        let entries: Vec<Line<'_>> = shown.iter().map(line).collect();
        // What is cut in its row stands in full over the list; the list stays where it is, whichever is chosen.
        let is_cut = |entry: &&Line<'_>| entry.width() > usize::from(room);
        let whole = match entries.iter().any(|entry| is_cut(&entry)) {
            true => shown.iter().map(|line| wrap_to(&line.text, room, usize::from(WHOLE)).len()).max().unwrap_or(0),
            false => 0,
        };
        let field = 1 + u16::try_from(whole).unwrap_or(WHOLE);
        let list = List { title: "Log", entries, empty, width: PanelWidth::Search, field, ..List::default() };
        let field = self.menu.draw(list, frame, area, cx);
        let mut pen = Pen::new(frame.buffer_mut(), Rect { height: 1, ..field });
        pen.put(SHOWN[self.shown].1, theme.accent);
        pen.skip(2);
        let number = if shown.len() == self.lines.len() {
            counted(shown.len() as u64, "event", "events")
        } else {
            format!("{} of {}", count(shown.len() as u64), counted(self.lines.len() as u64, "event", "events"))
        };
        pen.put_whole(&format!("{number} of this console, newest first, {}", cx.times().heading()), theme.quiet);
        let whole = self.chosen().map(|line| wrap_to(&line.text, room, usize::from(WHOLE))).unwrap_or_default();
        for (text, y) in whole.iter().zip(field.y + 1..field.bottom()) {
            Pen::new(frame.buffer_mut(), Rect { y, height: 1, ..field }).put(text, theme.strong);
        }
    }

    fn next_due(&self) -> Option<Timestamp> {
        Some(self.due)
    }
}
