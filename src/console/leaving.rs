//! Ends the console, and asks before about queued answers and unsaved drafts; holds answers while the service is away.

use super::{
    Effect, Message, Tone,
    answer_words::in_words,
    app::App,
    decisions::PendingDecision,
    dialogs::{
        question::ask,
        unsent::{Leave, Reconnected, lose_texts},
    },
    resolving,
    text::counted,
};

impl App {
    /// Ends the console, and opens no other one.
    pub(super) fn quit_for_good(&mut self) -> Vec<Effect> {
        self.cx.next_console = None;
        self.quit()
    }

    pub(super) fn quit(&mut self) -> Vec<Effect> {
        if self.cx.leaving {
            // The second time: what is sending goes on at the service.
            return vec![Effect::Quit];
        }
        let effects = self.abandon();
        self.cx.unkept.leaving();
        if self.unsent() > 0 && !self.is_too_small() {
            self.dialogs.push(ask(Leave::ask(&mut self.cx)));
        } else {
            // The next start reports what was not sent.
            self.cx.ledger.forget_unsent();
            self.cx.leaving = true;
        }
        effects
    }

    /// Ends the console once nothing is sending; stays and asks where an answer was not sent or a draft would be lost.
    pub(super) fn leave_or_ask(&mut self) -> Vec<Effect> {
        if self.unsent() > 0 {
            self.stay_for_unsent();
            return Vec::new();
        }
        let again = self.cx.keep_again();
        if !again.is_empty() {
            // The disk is tried once more before the question.
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

    /// Stays, and says what was not sent.
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

    /// Closes the dialogs; returns what keeps their drafts.
    pub fn abandon(&mut self) -> Vec<Effect> {
        self.dialogs.drain(..).rev().flat_map(|mut dialog| dialog.abandon(&mut self.cx)).collect()
    }

    /// Ends the console on a signal; returns what keeps the drafts of its dialogs.
    pub fn end(&mut self) -> Vec<Effect> {
        let effects = self.abandon();
        self.cx.unkept.watch(&effects);
        effects
    }

    /// Takes in the last results of writing, and describes what is lost with the console: `; lost: the note on ETHOCA
    /// 9.99 EUR`. Empty where nothing is.
    pub fn lost_words(&mut self, last: impl IntoIterator<Item = Message>) -> String {
        last.into_iter().for_each(|message| self.cx.unkept.hear(&message));
        let undone = counted(self.unsent() as u64, "queued answer was undone", "queued answers were undone");
        let undone = (self.unsent() > 0).then_some(undone);
        let texts = self.cx.unsaved().into_iter().map(|(named, _)| format!("lost: {named}"));
        undone.into_iter().chain(texts).map(|what| format!("; {what}")).collect()
    }

    /// Returns the number of queued answers.
    pub fn unsent(&self) -> usize {
        self.cx.ledger.not_left().count()
    }

    /// Holds what is due while a remote service does not reply or cannot record, and asks about it afterwards.
    pub(super) fn hold_back(&mut self) {
        let cx = &mut self.cx;
        let before = cx.held_back;
        cx.held_back = cx.place.remote && self.screens.queue.link.is_unreachable || cx.writes.failing.is_some();
        cx.ledger.ask_about_held(cx.now);
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
            cx.reminders.failed(&decision.alert);
            cx.notify_about(&decision.alert, Tone::Bad, words);
        }
    }

    /// Opens the next question about waiting answers, unless the service is away or something is typed.
    fn ask_of_waiting(&mut self) {
        let may_ask = !self.cx.held_back && self.dialogs.last().is_none_or(|page| page.takes_questions());
        if may_ask && let Some(why) = self.cx.ledger.take_question() {
            self.dialogs.push(ask(Reconnected(why)));
        }
    }
}
