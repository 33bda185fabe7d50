//! The dialogs that ask before leaving: while decisions have not left yet, and while texts could not be kept.

use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered_of};
use crate::{
    AppContext, ClickTargets, Dialog, Effect, Message, Order, Orders,
    answer_drafts::AnswerDraftList,
    begun_text::BegunText,
    decisions::{HoldReason, alert_of},
    resolving::{subject, taken_back},
    text::{counted, sanitize},
};

/// Rows that the names of decisions take at most.
const NAMED: u16 = 6;

/// What to do with decisions that have not left. They cannot be sent while the deployment does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// Send them now, then leave.
    Send,
    /// Take them back and leave.
    TakeBack,
    /// Do not leave.
    Stay,
}

impl Choice {
    const ALL: [KeyedAnswer<'static, Self>; 3] =
        [(Self::Stay, "enter", "Stay"), (Self::TakeBack, "t", "Undo and leave"), (Self::Send, "s", "Send and leave")];

    /// What is offered.
    fn offered(held_back: bool) -> &'static [KeyedAnswer<'static, Self>] {
        if held_back { &Self::ALL[..2] } else { &Self::ALL }
    }
}

/// The dialog while it is open.
#[derive(Debug)]
pub struct Leave {
    targets: ClickTargets<Choice>,
}

impl Leave {
    /// Asks. Until it is answered no decision leaves.
    pub fn ask(cx: &mut AppContext) -> Self {
        cx.decisions.hold(true, cx.now);
        Self { targets: ClickTargets::default() }
    }
}

impl Dialog for Leave {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        // Enter is the safe choice: nothing final is ever one stray Enter.
        let offered = Choice::offered(cx.held_back);
        let Some(choice) = answered_of(message, &self.targets, offered, cx) else {
            return Vec::new();
        };
        cx.decisions.hold(false, cx.now);
        let mut outcome = vec![Order::Close];
        match choice {
            Choice::Send => {
                cx.decisions.release_waiting(HoldReason::NoAnswer, cx.now);
                cx.runs.released(None, cx.now);
                cx.decisions.send_now(cx.now);
            }
            Choice::TakeBack => {
                let taken = cx.decisions.take_back_all();
                outcome.extend(taken_back(&taken, cx));
            }
            Choice::Stay => cx.next_console = None,
        }
        cx.leaving = choice != Choice::Stay;
        outcome
    }

    fn abandon(&mut self, cx: &mut AppContext) -> Vec<Effect> {
        cx.decisions.hold(false, cx.now);
        Vec::new()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let (theme, staged) = (&cx.theme, cx.decisions.not_left().collect::<Vec<_>>());
        let mut question = Question::new(area).about(&cx.place);
        let verb = if staged.len() == 1 { "has" } else { "have" };
        let many = counted(staged.len() as u64, "answer", "answers");
        question.line(format!("{many} {verb} not sent yet"), theme.strong);
        question.gap();
        question.name_all(&staged, (area.height / 2).min(NAMED), cx);
        question.gap();
        if let Some(why) = cx.held_back_by() {
            question.say(&format!("Nothing can be sent: {why}."), theme.warning);
        } else if let Some(seconds) = cx.decisions.first_leaves_in(cx.now) {
            let what = if staged.len() == 1 { "it is sent" } else { "the first is sent" };
            question.say(&format!("Sending is paused. Stay, and {what} in {seconds} s."), theme.plain);
        }
        question.gap();
        question.draw(Choice::offered(cx.held_back), &self.targets, theme, frame.buffer_mut());
    }
}

/// Texts that are named at most.
const NAMED_TEXTS: usize = 6;

/// Stay, or leave without the texts.
const LOSES: [KeyedAnswer<'static, bool>; 2] = [(false, "enter", "Stay"), (true, "l", "Discard and leave")];

/// The dialog that asks before leaving while begun texts could not be kept: they are lost with the console.
#[derive(Debug, Default)]
pub struct LoseTexts {
    targets: ClickTargets<bool>,
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
        match answered_of(message, &self.targets, &LOSES, cx) {
            Some(true) => {
                cx.unkept.give_up();
                cx.leaving = true;
            }
            Some(false) => cx.next_console = None,
            None => return Vec::new(),
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
        texts.take(NAMED_TEXTS).for_each(|text| question.say(&named(text, cx), theme.plain));
        question.and_more(all, NAMED_TEXTS, theme);
        question.gap();
        question.say("Leaving discards what you typed.", theme.plain);
        question.gap();
        question.draw(&LOSES, &self.targets, theme, frame.buffer_mut());
    }
}
