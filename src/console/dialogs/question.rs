//! Small dialogs: a question, which is a panel with lines of text and answers as buttons, each known by its key; and a
//! form with what is done once it is submitted.

use crossterm::event::{Event, KeyCode};
use ratatui::{Frame, buffer::Buffer, layout::Rect, style::Style};

use super::menu::NO_FIELD;
use crate::{
    AppContext, ClickTargets, Dialog, Effect, Message, SessionInfo, Task, Tasks, Theme, Tone,
    keymap::Chord,
    pen::{put_lines, put_right},
    text::{CUT, count, wrap},
    ui::{
        areas::{FILL, stacked},
        form::{Entered, Form},
    },
    widgets::{
        buttons::{Button, ButtonKind, button_lines, draw_buttons},
        panel::{Panel, PanelWidth},
    },
};

/// The badge of what reaches the real world.
const PRODUCTION: &str = " PRODUCTION ";

/// The lines of a small dialog.
pub struct Question {
    panel: Panel,
    lines: Vec<(String, Style)>,
    /// True where what is asked reaches the real world.
    production: bool,
}

impl Question {
    fn new(area: Rect) -> Self {
        Self { panel: Panel::of(PanelWidth::Dialog, area), lines: Vec::new(), production: false }
    }

    /// Asks about decisions of this place: where they reach the real world, its first line says so.
    pub fn about(&mut self, place: &SessionInfo) {
        self.production = place.is_production();
    }

    /// Columns of a line.
    pub fn room(&self) -> u16 {
        self.panel.room()
    }

    /// Adds a line.
    pub fn line(&mut self, text: impl Into<String>, style: Style) {
        self.lines.push((text.into(), style));
    }

    /// Adds a blank line.
    pub fn gap(&mut self) {
        self.line("", Style::new());
    }

    /// Adds a text in as many lines as it takes.
    pub fn say(&mut self, text: &str, style: Style) {
        self.lines.extend(wrap(text, self.room()).into_iter().map(|line| (line, style)));
    }

    /// Says the first ones of all, each in lines of its own, and how many more there are.
    pub fn say_some(&mut self, all: impl ExactSizeIterator<Item = String>, most: usize, style: Style, theme: &Theme) {
        let more = all.len() - all.len().min(most);
        all.take(most).for_each(|words| self.say(&words, style));
        if more > 0 {
            self.line(format!("and {} more", count(more as u64)), theme.quiet);
        }
    }

    /// Keeps so many lines: the answers stay where there is no room for all that is said. Blank ones go first; where
    /// that is not enough, the last one says that there is more.
    fn keep_to(&mut self, most: usize, theme: &Theme) {
        while self.lines.len() > most
            && let Some(blank) = self.lines.iter().position(|(text, _)| text.is_empty())
        {
            self.lines.remove(blank);
        }
        if self.lines.len() > most {
            self.lines.truncate(most.saturating_sub(1));
            self.line(CUT, theme.quiet);
        }
    }

    /// Draws the lines on a panel, and below them the answers as buttons: the first one is the safe one, has the focus
    /// and alone is filled.
    fn draw(
        mut self,
        answers: &[KeyedAnswer],
        targets: &ClickTargets<&'static str>,
        theme: &Theme,
        buffer: &mut Buffer,
    ) {
        let kind = |index: usize| if index == 0 { ButtonKind::Safe } else { ButtonKind::Quiet };
        let answers_in_order = answers.iter().enumerate();
        let buttons: Vec<_> =
            answers_in_order.map(|(index, (key, words))| Button::new(kind(index), *key, *words, *key)).collect();
        let below = button_lines(&buttons, self.room());
        self.gap();
        self.keep_to(self.panel.most_lines().saturating_sub(below).into(), theme);
        let lines = u16::try_from(self.lines.len()).unwrap_or(u16::MAX);
        let inside = self.panel.open(lines + below, theme, buffer);
        let [said, foot] = stacked(inside, [lines, FILL]);
        put_lines(buffer, said, self.lines);
        if let (true, Some(first)) = (self.production, inside.rows().next()) {
            put_right(buffer, first, PRODUCTION, theme.production);
        }
        if let Some((safe, _)) = answers.first() {
            draw_buttons(&buttons, *safe, 0, (theme, buffer, foot), |area, answer| targets.push(area, answer));
        }
    }
}

/// An answer: its key and its words. Enter and esc both give the one whose key is either.
pub type KeyedAnswer = (&'static str, &'static str);

/// A question that lies over the screen.
pub trait PanelQuestion: Send {
    /// The answers that are offered now, the safe one first.
    fn answers(&self, cx: &AppContext) -> Vec<KeyedAnswer>;

    /// Says what is asked.
    fn tell(&self, question: &mut Question, cx: &AppContext);

    /// Does what follows from the answer of this key.
    fn answered(&mut self, key: &str, cx: &mut AppContext) -> Tasks;

    /// Returns true where there is nothing left to be asked.
    fn is_stale(&self, _: &AppContext) -> bool {
        false
    }

    /// Takes it away unanswered.
    fn abandon(&mut self, _: &mut AppContext) {}
}

/// The dialog of a question.
struct QuestionDialog<A> {
    asked: A,
    targets: ClickTargets<&'static str>,
}

/// Returns the dialog that asks a question.
pub fn ask(asked: impl PanelQuestion + 'static) -> Box<dyn Dialog> {
    Box::new(QuestionDialog { asked, targets: ClickTargets::default() })
}

impl<A: PanelQuestion> Dialog for QuestionDialog<A> {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let answer = match message {
            Message::Input(Event::Key(key)) => {
                let typed = Chord::from(*key).to_string().to_lowercase();
                let leaves = matches!(key.code, KeyCode::Enter | KeyCode::Esc);
                let is_meant = |(key, _): &KeyedAnswer| *key == typed || leaves && (*key == "enter" || *key == "esc");
                let answer = self.asked.answers(cx).into_iter().find(is_meant).map(|(key, _)| key);
                if answer.is_none() {
                    cx.hint_unknown(*key);
                }
                answer
            }
            Message::Input(Event::Paste(_)) => {
                cx.notify(Tone::Note, NO_FIELD);
                None
            }
            Message::Input(event) => self.targets.clicked(event),
            _ => None,
        };
        answer.map_or_else(Vec::new, |key| self.asked.answered(key, cx))
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        self.asked.is_stale(cx)
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        self.asked.abandon(cx);
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let mut question = Question::new(area);
        self.asked.tell(&mut question, cx);
        question.draw(&self.asked.answers(cx), &self.targets, &cx.theme, frame.buffer_mut());
    }
}

/// Does what was confirmed.
type Confirmed = Box<dyn FnMut(&mut AppContext) -> Tasks + Send>;

/// The question before something that cannot be undone.
pub struct Confirmation {
    title: String,
    /// Words for what it is about.
    about: String,
    /// Words for what follows, and a warning.
    follows: [&'static str; 2],
    yes: KeyedAnswer,
    confirmed: Confirmed,
}

impl Confirmation {
    /// Asks by a title, with words for what it is about; the answer of `yes` does it.
    pub fn new(
        title: String,
        about: String,
        yes: KeyedAnswer,
        confirmed: impl FnMut(&mut AppContext) -> Tasks + Send + 'static,
    ) -> Self {
        Self { title, about, follows: [""; 2], yes, confirmed: Box::new(confirmed) }
    }

    /// The same with words for what follows, and a warning, each empty for none.
    #[must_use]
    pub fn follows(self, follows: [&'static str; 2]) -> Self {
        Self { follows, ..self }
    }

    /// Opens it.
    pub fn open(self) -> Tasks {
        vec![Task::Open(ask(self))]
    }
}

impl PanelQuestion for Confirmation {
    fn answers(&self, _: &AppContext) -> Vec<KeyedAnswer> {
        vec![("enter", "Cancel"), self.yes]
    }

    fn answered(&mut self, key: &str, cx: &mut AppContext) -> Tasks {
        let tasks = if key == self.yes.0 { (self.confirmed)(cx) } else { Vec::new() };
        [Task::Close].into_iter().chain(tasks).collect()
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let theme = &cx.theme;
        question.line(self.title.as_str(), theme.strong);
        question.say(&self.about, theme.quiet);
        question.gap();
        let [follows, warning] = self.follows;
        question.say(follows, theme.plain);
        question.say(warning, theme.warning);
    }
}

/// Tasks that a form leads to, or the field at fault and what is wrong with it.
pub type Submitted = Result<Tasks, (usize, String)>;

/// Handler of a form that is submitted.
type Submit = Box<dyn FnMut(&Form, &mut AppContext) -> Submitted + Send>;

/// A form as a dialog, while it is open.
pub struct FormDialog {
    form: Form,
    submit: Submit,
}

impl FormDialog {
    /// A form, and what is done once it is submitted.
    pub fn new(form: Form, submit: impl FnMut(&Form, &mut AppContext) -> Submitted + Send + 'static) -> Self {
        Self { form, submit: Box::new(submit) }
    }
}

impl Dialog for FormDialog {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks {
        let Message::Input(event) = message else { return Vec::new() };
        let tasks = match self.form.handle(event) {
            Entered::Nothing => return Vec::new(),
            Entered::Leave => Vec::new(),
            Entered::Submit => match (self.submit)(&self.form, cx) {
                Ok(tasks) => tasks,
                Err((field, wrong)) => {
                    self.form.refuse(field, wrong);
                    return Vec::new();
                }
            },
        };
        [Task::Close].into_iter().chain(tasks).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.form.draw(&cx.theme, frame, area);
    }
}
