//! The dialog that asks what becomes of decisions that waited here: another deployment answers again, the decision that
//! they were to follow was not recorded, or a window closes while they are paused.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered};
use crate::{
    AppContext, ClickTargets, Dialog, Message, Order, Orders, Tone,
    decisions::HoldReason,
    domain::redact::without_exchange,
    resolving::{answer_known, subject, taken_back},
    text::{counted, sanitize},
};

/// Rows that the names of decisions take at most.
const NAMED: u16 = 8;

/// Why the refund that others were to follow was not recorded, as far as that is known.
fn not_recorded(first: u64, cx: &AppContext) -> Option<String> {
    if let Some(alert) = cx.decisions.overtaken(first) {
        return Some(format!("Already answered: {} is {}.", sanitize(&subject(alert)), answer_known(alert, cx)));
    }
    let why = cx.decisions.awaited(first)?.why.as_deref()?;
    Some(format!("{}.", sanitize(without_exchange(why).trim_end_matches('.'))))
}

/// What becomes of decisions that waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// They leave now.
    Send,
    TakeBack,
    /// They wait on.
    Wait,
}

impl Choice {
    const ALL: [KeyedAnswer<'static, Self>; 3] =
        [(Self::Wait, "esc", "Keep queued"), (Self::TakeBack, "ctrl-t", "Undo"), (Self::Send, "ctrl-s", "Send now")];

    /// What a key means here. It opens by itself, under whatever is being typed: no letter alone means anything, and
    /// they are sent as from their form.
    fn of(key: KeyEvent) -> Option<Self> {
        match key.code {
            KeyCode::Char('s') if key.modifiers == KeyModifiers::CONTROL => Some(Self::Send),
            KeyCode::Char('t') if key.modifiers == KeyModifiers::CONTROL => Some(Self::TakeBack),
            KeyCode::Enter | KeyCode::Esc => Some(Self::Wait),
            _ => None,
        }
    }
}

/// The dialog while it is open.
#[derive(Debug)]
pub struct Reconnected {
    why: HoldReason,
    targets: ClickTargets<Choice>,
}

impl Reconnected {
    /// Asks about those that waited for this reason.
    pub fn about(why: HoldReason) -> Self {
        Self { why, targets: ClickTargets::default() }
    }
}

impl Reconnected {
    /// The number of the case that is asked about.
    fn case(&self) -> Option<u64> {
        if let HoldReason::NotRecorded(first) = self.why { Some(first) } else { None }
    }
}

impl Dialog for Reconnected {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        let Some(choice) = answered(message, &self.targets, Choice::of, cx) else { return Vec::new() };
        let mut outcome = vec![Order::Close];
        match choice {
            Choice::Send => {
                // What was to follow a refund that may not be recorded is asked about by itself, each case alone.
                cx.decisions.release_waiting(self.why, cx.now);
                cx.runs.released(self.case(), cx.now);
                if self.case().is_none() {
                    cx.decisions.ask_again();
                }
            }
            Choice::TakeBack => {
                let back = cx.decisions.take_back_waiting(self.why);
                let many = counted(back.len() as u64, "answer undone", "answers undone");
                cx.notify(Tone::Good, format!("{many}. Nothing was sent."));
                outcome.extend(taken_back(&back, cx));
            }
            Choice::Wait => {}
        }
        outcome
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        cx.held_back || !cx.decisions.waiting().any(|decision| decision.waits_for(self.why))
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let waiting: Vec<_> = cx.decisions.waiting().filter(|decision| decision.waits_for(self.why)).collect();
        let mut question = Question::new(area).about(&cx.place);
        match self.why {
            HoldReason::NoAnswer => question.line("Back online", theme.strong),
            HoldReason::NotRecorded(first) => {
                let certain = cx.decisions.is_certain_of_first(first);
                question.line(
                    if certain { "The refund was not recorded" } else { "The refund is unconfirmed" },
                    theme.strong,
                );
                if let Some(case) = cx.runs.subject(first) {
                    question.line(sanitize(case), theme.plain);
                }
                if let Some(why) = not_recorded(first, cx) {
                    question.say(&why, theme.plain);
                }
                question.say(
                    match (cx.decisions.is_paid_otherwise(first), certain) {
                        (true, _) => "Its follow-up answers are not sent. The payment is refunded.",
                        (false, true) => "Its follow-up answers are not sent. They may be wrong now.",
                        (false, false) => "Its follow-up answers are sent once the refund is recorded.",
                    },
                    theme.plain,
                );
            }
            HoldReason::Paused => {
                question.line("An alert is due while answers are paused", theme.strong);
                question.say("Paused answers are not sent by themselves.", theme.plain);
            }
        }
        question.gap();
        question.line(format!("{} queued, not sent:", counted(waiting.len() as u64, "answer", "answers")), theme.plain);
        question.name_all(&waiting, (area.height / 2).min(NAMED), cx);
        question.gap();
        question.draw(&Choice::ALL, &self.targets, theme, frame.buffer_mut());
    }
}
