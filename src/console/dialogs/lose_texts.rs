//! The dialog that asks before leaving while begun texts could not be kept: they are lost with the console.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::question::{KeyedAnswer, Question, answered};
use crate::console::answer_drafts::AnswerDraftList;
use crate::console::begun_text::BegunText;
use crate::console::decisions::alert_of;
use crate::console::resolving::subject;
use crate::console::text::{counted, sanitize};
use crate::console::{AppContext, ClickTargets, Dialog, Message, Order, Orders};

/// Texts that are named at most.
const NAMED: usize = 6;

/// What to do with texts that could not be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Do not leave.
    Stay,
    /// Leave without them.
    Lose,
}

const CHOICES: [KeyedAnswer<'static, Choice>; 2] =
    [(Choice::Stay, "enter", "Stay"), (Choice::Lose, "l", "Discard and leave")];

impl Choice {
    fn of(key: KeyEvent) -> Option<Self> {
        match key.code {
            KeyCode::Char('l' | 'L') => Some(Self::Lose),
            KeyCode::Enter | KeyCode::Esc | KeyCode::Char('x' | 'X') => Some(Self::Stay),
            _ => None,
        }
    }
}

/// The dialog while it is open.
#[derive(Debug, Default)]
pub struct LoseTexts {
    targets: ClickTargets<Choice>,
}

/// A text in words: `the note on ETHOCA 129.90 EUR`.
pub fn named(text: BegunText, cx: &AppContext) -> String {
    let alert = |id| cx.alert_named(id).map_or_else(|| format!("alert {id}"), |named| subject(&alert_of(named)));
    let words = match text {
        BegunText::Note(id) => format!("the note on {}", alert(id)),
        BegunText::Answer(id) => {
            let whom = cx.answer_drafts.get(id).map(|draft| match draft.alerts.as_slice() {
                [one] => alert(*one),
                _ => AnswerDraftList::for_whom(draft),
            });
            format!("the answer to {}", whom.unwrap_or_else(|| "several alerts".to_owned()))
        }
    };
    sanitize(&words).into_owned()
}

impl Dialog for LoseTexts {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Some(choice) = answered(message, &self.targets, Choice::of, cx) else { return Vec::new() };
        match choice {
            Choice::Lose => {
                cx.unkept.give_up();
                cx.leaving = true;
            }
            Choice::Stay => cx.next_console = None,
        }
        vec![Order::Close]
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let (theme, texts) = (&cx.theme, cx.unkept.all());
        let all = texts.len();
        let mut question = Question::new(area);
        question.line(format!("{} could not be saved", counted(all as u64, "text", "texts")), theme.strong);
        question.gap();
        texts.take(NAMED).for_each(|text| question.say(&named(text, cx), theme.plain));
        question.and_more(all, NAMED, theme);
        question.gap();
        question.say("Leaving discards what you typed.", theme.plain);
        question.gap();
        question.draw(&CHOICES, &self.targets, theme, frame.buffer_mut());
    }
}
