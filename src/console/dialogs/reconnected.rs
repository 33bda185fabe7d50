//! The dialog that asks what becomes of decisions that waited here: another deployment answers again, the decision that
//! they were to follow was not recorded, or a window closes while they are paused. What gives money back is compared
//! once more before it leaves: others may have refunded the payment meanwhile.

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;

use super::question::{KeyedAnswer, Question, answered};
use crate::console::decisions::{HoldReason, PendingDecision};
use crate::console::resolving::{answer_known, subject, taken_back};
use crate::console::text::{count, counted, sanitize};
use crate::console::{AppContext, ClickTargets, Dialog, Effect, Loadable, Message, Order, Orders, Tone};
use crate::domain::exchange::without_exchange;
use crate::domain::{Alert, AlertId, duplicate};

/// Rows that the names of decisions take at most.
const NAMED: u16 = 8;

/// So many of those that may be paid twice are named.
const TOLD_TWICE: usize = 3;

/// That another alert on a payment is refunded.
fn is_refunded(other: &Alert) -> String {
    format!("{} {} is refunded", sanitize(other.provider.as_str()), sanitize(&other.provider_id))
}

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
    /// The other alerts on the payments of the refunds among them, as they are now.
    others: HashMap<AlertId, Loadable<Vec<Alert>>>,
    targets: ClickTargets<Choice>,
}

impl Reconnected {
    /// Asks about those that waited for this reason.
    pub fn about(why: HoldReason) -> Self {
        Self { why, others: HashMap::new(), targets: ClickTargets::default() }
    }
}

impl Reconnected {
    /// The refunds among them.
    fn refunds<'c>(&self, cx: &'c AppContext) -> impl Iterator<Item = &'c PendingDecision> {
        let why = self.why;
        cx.decisions.waiting().filter(move |decision| decision.waits_for(why) && decision.resolution.gives_money_back())
    }

    /// Looks for the doubles of those that were not asked about.
    fn look(&mut self, cx: &AppContext) -> Orders {
        let new: Vec<_> = self
            .refunds(cx)
            .map(|decision| &decision.alert)
            .filter(|alert| !self.others.contains_key(&alert.id))
            .collect();
        let asked: Vec<_> = new.into_iter().map(|alert| (alert.id, duplicate::query(alert))).collect();
        self.others.extend(asked.iter().map(|(id, _)| (*id, Loadable::Loading)));
        if asked.is_empty() { Vec::new() } else { vec![Effect::SameCards(asked).into()] }
    }

    fn is_looking(&self) -> bool {
        self.others.values().any(|found| matches!(found, Loadable::Loading))
    }

    /// The refunds among them whose payment is refunded already, each with the alert that says so.
    fn paid_twice<'s>(&'s self, cx: &'s AppContext) -> impl Iterator<Item = (&'s PendingDecision, &'s Alert)> {
        self.refunds(cx).filter_map(|decision| {
            let others = self.others.get(&decision.alert.id)?.loaded()?;
            let known = cx.known_decisions();
            let is_new = |other: &Alert| known.answered(other).was_refunded() && !decision.knew_refund_of(other.id);
            let refunded = |other: &&Alert| duplicate::evidence(&decision.alert, other).is_some() && is_new(other);
            Some((decision, others.iter().find(refunded)?))
        })
    }

    /// Takes back what may be paid twice: its form asks for a confirmation.
    fn keep_back(&self, cx: &mut AppContext) -> Orders {
        let twice: Vec<(u64, String)> = self
            .paid_twice(cx)
            .map(|(decision, other)| (decision.key, format!("{}: {}", decision.subject(), is_refunded(other))))
            .collect();
        let Some((_, first)) = twice.first().cloned() else { return Vec::new() };
        let back = cx.decisions.take_back_those(&twice.iter().map(|(key, _)| *key).collect());
        let more =
            if twice.len() > 1 { format!(", and {} more", count(twice.len() as u64 - 1)) } else { String::new() };
        let many = counted(back.len() as u64, "answer undone, not sent", "answers undone, not sent");
        cx.notify_about(&back[0].alert, Tone::Bad, format!("{many}: {first}{more}."));
        taken_back(&back, cx)
    }

    /// The number of the case that is asked about.
    fn case(&self) -> Option<u64> {
        if let HoldReason::NotRecorded(first) = self.why { Some(first) } else { None }
    }
}

impl Dialog for Reconnected {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        if let Message::SameCards(found) = message {
            for (id, answer) in found {
                if let Some(known) = self.others.get_mut(id) {
                    known.answer(answer.clone());
                }
            }
        }
        let mut outcome = self.look(cx);
        let Some(choice) = answered(message, &self.targets, Choice::of, cx) else { return outcome };
        if choice == Choice::Send && self.is_looking() {
            cx.notify(Tone::Note, "Checking duplicates. Nothing is sent before.");
            return outcome;
        }
        outcome.push(Order::Close);
        match choice {
            Choice::Send => {
                outcome.extend(self.keep_back(cx));
                // What was to follow a refund that may not be recorded is asked about by itself, each case alone.
                cx.decisions.release_waiting(self.why, cx.now);
                cx.runs.released(self.case());
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
                if let Some(case) = cx.runs.get(first) {
                    question.line(sanitize(&case.subject), theme.plain);
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
        if self.is_looking() {
            question.say("Checking duplicates…", theme.quiet);
        }
        for (decision, other) in self.paid_twice(cx).take(TOLD_TWICE) {
            let words = format!("⚠ {} undone, not sent: {}", decision.subject(), is_refunded(other));
            question.say(&words, theme.warning);
        }
        let unknown = self.others.values().filter(|found| matches!(found, Loadable::Failed(_))).count();
        if unknown > 0 {
            question.say("Duplicates could not be checked.", theme.warning);
        }
        question.gap();
        question.draw(&Choice::ALL, &self.targets, theme, frame.buffer_mut());
    }
}
