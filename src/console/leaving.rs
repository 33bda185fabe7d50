//! Leaving the console, and what is held back: decisions that have not left, texts that would be lost, and who is asked
//! what becomes of them.

use super::{
    Effect, Message, Tone,
    app::App,
    decisions::PendingDecision,
    dialogs::{
        question::ask,
        unsent::{Leave, Reconnected, lose_texts},
    },
    resolving,
    text::counted,
    words::in_words,
};

impl App {
    /// Leaves, and opens no other console after it.
    pub(super) fn quit_for_good(&mut self) -> Vec<Effect> {
        self.cx.next_console = None;
        self.quit()
    }

    pub(super) fn quit(&mut self) -> Vec<Effect> {
        if self.cx.leaving {
            // Asked a second time: what is with the service goes on there.
            return vec![Effect::Quit];
        }
        let effects = self.abandon();
        self.cx.unkept.leaving();
        if self.unsent() > 0 && !self.is_too_small() {
            self.dialogs.push(ask(Leave::ask(&mut self.cx)));
        } else {
            // Where it cannot be asked, the next start says what did not leave.
            self.cx.ledger.forget_unsent();
            self.cx.leaving = true;
        }
        effects
    }

    /// Leaves, now that nothing is on its way; or stays and asks, where a decision was not sent or a text would be
    /// lost.
    pub(super) fn leave_or_ask(&mut self) -> Vec<Effect> {
        if self.unsent() > 0 {
            self.stay_for_unsent();
            return Vec::new();
        }
        let again = self.cx.keep_again();
        if !again.is_empty() {
            // Whether there is room by now is known before anything is asked.
            return again;
        }
        if self.cx.unsaved().is_empty() || self.is_too_small() {
            return vec![Effect::Quit];
        }
        self.cx.leaving = false;
        self.dialogs.push(lose_texts(&self.cx));
        self.cx.covered = true;
        Vec::new()
    }

    /// Whoever left to have it sent is to see that it was not.
    fn stay_for_unsent(&mut self) {
        self.cx.leaving = false;
        self.cx.ledger.ask_again();
        self.ask_of_waiting();
        self.open_next();
        if !self.cx.covered {
            let unchecked = self.cx.ledger.not_left().any(PendingDecision::waits_for_check);
            let what = if unchecked { "until duplicates are checked" } else { "until a refund is recorded" };
            let waits = counted(self.unsent() as u64, "answer is queued", "answers are queued");
            self.cx.notify(Tone::Bad, format!("Not sent: {waits} {what}."));
        }
    }

    /// Takes the dialogs away; returns what is to be kept of them.
    pub fn abandon(&mut self) -> Vec<Effect> {
        self.dialogs.drain(..).rev().flat_map(|mut dialog| dialog.abandon(&mut self.cx)).collect()
    }

    /// Ends the console from outside: what is to be kept of the dialogs.
    pub fn end(&mut self) -> Vec<Effect> {
        let effects = self.abandon();
        self.cx.unkept.watch(&effects);
        effects
    }

    /// Hears what came of what was still to be kept, once nothing else is done. What is lost with the console, in words
    /// behind those of its end; empty for nothing.
    pub fn lost_words(&mut self, last: impl IntoIterator<Item = Message>) -> String {
        last.into_iter().for_each(|message| self.cx.unkept.hear(&message));
        let undone = counted(self.unsent() as u64, "queued answer was undone", "queued answers were undone");
        let undone = (self.unsent() > 0).then_some(undone);
        let texts = self.cx.unsaved().into_iter().map(|(named, _)| format!("lost: {named}"));
        undone.into_iter().chain(texts).map(|what| format!("; {what}")).collect()
    }

    /// Returns the number of decisions that have not left.
    pub fn unsent(&self) -> usize {
        self.cx.ledger.not_left().count()
    }

    /// While another deployment cannot be reached, or nothing can be recorded, what would leave waits; after that it is
    /// asked what becomes of it.
    pub(super) fn hold_back(&mut self) {
        let cx = &mut self.cx;
        let before = cx.held_back;
        cx.held_back = cx.place.remote && self.screens.queue.link.is_unreachable || cx.writes.failing.is_some();
        cx.ledger.call_held(cx.now);
        if cx.held_back {
            if !before {
                cx.ledger.ask_again();
            }
            cx.ledger.wait(cx.now);
        }
        self.ask_of_waiting();
        let cx = &mut self.cx;
        for decision in cx.ledger.closed_waiting(cx.now) {
            let words = format!(
                "{}: expired while {} was queued.",
                resolving::subject(&decision.alert),
                in_words(&decision.resolution)
            );
            cx.calls.failed(&decision.alert);
            cx.notify_about(&decision.alert, Tone::Bad, words);
        }
    }

    /// Asks what becomes of decisions that wait, while something can become of them: over the screen, or over a page on
    /// which nothing is typed.
    fn ask_of_waiting(&mut self) {
        let may_ask = !self.cx.held_back && self.dialogs.last().is_none_or(|page| page.takes_questions());
        if may_ask && let Some(why) = self.cx.ledger.take_question() {
            self.dialogs.push(ask(Reconnected(why)));
        }
    }
}
