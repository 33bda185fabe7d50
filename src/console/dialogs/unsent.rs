//! Questions about answers that were not sent, and texts that were not saved: at the end of the console, after an
//! outage or a refund that failed, and at the start after a console that ended early.

use super::question::{Confirmation, KeyedAnswer, PanelQuestion, Question, ask};
use crate::{
    Action, AppContext, Dialog, Message, Task, Tasks, Tone,
    answer_words::{answer_told, in_words, said_in_words},
    decisions::{HoldReason, PendingDecision, alert_of},
    desk::{DecisionRecord, JournalStep, Leftovers},
    domain::Alert,
    reminders::due_words,
    resolving::{briefly, subject, taken_back},
    text::{counted, sanitize},
};

/// Answers or texts that are named at most.
const NAMED: usize = 7;

/// Answers of a kind that an earlier console left which are named at most.
const NAMED_OF_A_KIND: usize = 3;

/// The question what becomes of answers that have not left. Until it is answered none leaves.
pub struct Leave;

impl Leave {
    /// Asks. They cannot be sent while the deployment does not answer.
    pub fn ask(cx: &mut AppContext) -> Self {
        cx.ledger.hold(true, cx.now);
        Self
    }
}

impl PanelQuestion for Leave {
    // Enter is the safe choice: nothing final is ever one stray Enter.
    fn answers(&self, cx: &AppContext) -> Vec<KeyedAnswer> {
        let send = (!cx.held_back).then_some(("s", "Send and leave"));
        [("enter", "Stay"), ("t", "Undo and leave")].into_iter().chain(send).collect()
    }

    fn answered(&mut self, key: &str, cx: &mut AppContext) -> Tasks {
        cx.ledger.hold(false, cx.now);
        cx.leaving = key != "enter";
        let mut outcome = vec![Task::Close];
        match key {
            "s" => {
                cx.ledger.release_waiting(HoldReason::NoAnswer, cx.now);
                cx.ledger.send_now(cx.now);
            }
            "t" => {
                let taken = cx.ledger.take_back_all(cx.now);
                outcome.extend(taken_back(&taken, cx));
            }
            _ => cx.next_console = None,
        }
        outcome
    }

    fn abandon(&mut self, cx: &mut AppContext) {
        cx.ledger.hold(false, cx.now);
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let (theme, staged) = (&cx.theme, cx.ledger.not_left().collect::<Vec<_>>());
        question.about(&cx.place);
        let many = counted(staged.len() as u64, "answer has", "answers have");
        question.line(format!("{many} not sent yet"), theme.strong);
        question.gap();
        name_all(question, &staged, cx);
        question.gap();
        if let Some(why) = cx.held_back_by() {
            question.say(&format!("Nothing can be sent: {why}."), theme.warning);
        } else {
            question.say("Sending is paused.", theme.plain);
        }
    }
}

/// Asks before one leaves while begun texts could not be kept: they are lost with the console.
pub fn lose_texts(cx: &AppContext) -> Box<dyn Dialog> {
    let texts: Vec<String> = cx.unsaved().into_iter().map(|(named, _)| named).collect();
    let title = format!("{} could not be saved", counted(texts.len() as u64, "text", "texts"));
    let leave = |cx: &mut AppContext| {
        cx.unkept.give_up();
        cx.leaving = true;
        Vec::new()
    };
    let question = Confirmation::new(title, texts.join("\n"), ("l", "Discard and leave"), leave);
    ask(question.follows(["Leaving discards what you typed.", ""]))
}

/// The question what becomes of answers that waited here: another deployment answers again, the decision that they
/// were to follow was not recorded, or a window closes while they are paused.
pub struct Reconnected(pub HoldReason);

impl Reconnected {
    /// Says why the refund that others were to follow was not recorded, as far as that is known.
    fn tell_refund(first: u64, question: &mut Question, cx: &AppContext) {
        let (certain, theme) = (cx.ledger.is_certain_of_first(first), &cx.theme);
        let title = if certain { "The refund was not recorded" } else { "The refund is unconfirmed" };
        question.line(title, theme.strong);
        if let Some(case) = cx.runs.subject(first) {
            question.line(sanitize(case), theme.plain);
        }
        let answered = |alert: &Alert| {
            format!("{} is already answered{}", subject(alert), cx.answer_known(alert.id, &answer_told(alert)))
        };
        let overtaken = cx.ledger.overtaken(first).map(answered);
        let why = overtaken.or_else(|| Some(briefly(cx.ledger.awaited(first)?.why()?)));
        why.iter().for_each(|why| question.say(&sanitize(&format!("{why}.")), theme.plain));
        let follows = match (cx.ledger.is_paid_otherwise(first), certain) {
            (true, _) => "Its follow-up answers are not sent. The payment is refunded.",
            (false, true) => "Its follow-up answers are not sent. They may be wrong now.",
            (false, false) => "Its follow-up answers are sent once the refund is recorded.",
        };
        question.say(follows, theme.plain);
    }
}

impl PanelQuestion for Reconnected {
    // It opens by itself, under whatever is being typed: no letter alone means anything, and they are sent as from
    // their form.
    fn answers(&self, _: &AppContext) -> Vec<KeyedAnswer> {
        vec![("esc", "Keep queued"), ("ctrl-t", "Undo"), ("ctrl-s", "Send now")]
    }

    fn answered(&mut self, key: &str, cx: &mut AppContext) -> Tasks {
        let mut outcome = vec![Task::Close];
        match key {
            "ctrl-s" => {
                // What was to follow a refund that may not be recorded is asked about by itself, each case alone.
                cx.ledger.release_waiting(self.0, cx.now);
                if !matches!(self.0, HoldReason::NotRecorded(_)) {
                    cx.ledger.ask_again();
                }
            }
            "ctrl-t" => {
                let back = cx.ledger.take_back_waiting(self.0, cx.now);
                let many = counted(back.len() as u64, "answer undone", "answers undone");
                cx.notify(Tone::Good, format!("{many}. Nothing was sent."));
                outcome.extend(taken_back(&back, cx));
            }
            _ => {}
        }
        outcome
    }

    fn is_stale(&self, cx: &AppContext) -> bool {
        cx.held_back || !cx.ledger.waiting().any(|decision| decision.waits_for(self.0))
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let theme = &cx.theme;
        let waiting: Vec<_> = cx.ledger.waiting().filter(|decision| decision.waits_for(self.0)).collect();
        question.about(&cx.place);
        match self.0 {
            HoldReason::NoAnswer => question.line("Back online", theme.strong),
            HoldReason::NotRecorded(first) => Self::tell_refund(first, question, cx),
            HoldReason::Paused => {
                question.line("An alert is due while answers are paused", theme.strong);
                question.say("Paused answers are not sent by themselves.", theme.plain);
            }
        }
        question.gap();
        let many = counted(waiting.len() as u64, "answer", "answers");
        question.line(format!("{many} queued, not sent:"), theme.plain);
        name_all(question, &waiting, cx);
    }
}

/// What an earlier console left, told at the start: answers that did not leave, and those whose reply never came. It
/// sends nothing.
pub struct EarlierSession(pub Leftovers);

impl PanelQuestion for EarlierSession {
    fn answers(&self, _: &AppContext) -> Vec<KeyedAnswer> {
        vec![("enter", "Continue")]
    }

    fn answered(&mut self, _: &str, cx: &mut AppContext) -> Tasks {
        let unsent = &self.0.unsent;
        let go = unsent.first().map(|left| Message::GoToAlert(left.said.alert.id).into());
        unsent.iter().for_each(|left| cx.record(left.key.clone(), JournalStep::NeverLeft));
        [Task::Close].into_iter().chain(go).collect()
    }

    fn tell(&self, question: &mut Question, cx: &AppContext) {
        let theme = &cx.theme;
        question.about(&cx.place);
        let Leftovers { unsent, unanswered } = &self.0;
        // Who leaves in order is asked about what has not left; an answer may stay away from them as well.
        let is_early = !unsent.is_empty();
        question.line(if is_early { "The last session ended early" } else { "Left by the last session" }, theme.strong);
        let kept = "Answer again later in Activity, To do.".to_owned();
        let (parked, checked): (Vec<_>, Vec<_>) =
            unanswered.iter().partition(|left| cx.unfinished.parked_on(left.said.alert.id).is_some());
        let word = format!("Check the network's portal, then {} sets the result.", cx.key(Action::Settle));
        tell_left(question, "Not sent", &unsent.iter().collect::<Vec<_>>(), &kept, cx);
        tell_left(question, "Unconfirmed", &parked, &word, cx);
        tell_left(question, "Sent, no reply", &checked, "Checking. It is not sent twice.", cx);
    }
}

/// Tells of answers of one kind that an earlier console left.
fn tell_left(question: &mut Question, title: &str, left: &[&DecisionRecord], after: &str, cx: &AppContext) {
    let theme = &cx.theme;
    if left.is_empty() {
        return;
    }
    question.gap();
    question.line(title, theme.warning);
    let named = |left: &&DecisionRecord| {
        let when = cx.times().at(left.sent_at().unwrap_or(left.made_at), cx.now);
        format!("{}  {}  {when}", said_in_words(&left.said), sanitize(&subject(&alert_of(&left.said.alert))))
    };
    question.say_some(left.iter().map(named), NAMED_OF_A_KIND, theme.plain, theme);
    question.say(after, theme.quiet);
}

/// Names answers that have not left: what each says, on which alert, and when that is due.
fn name_all(question: &mut Question, decisions: &[&PendingDecision], cx: &AppContext) {
    let named = |decision: &&PendingDecision| {
        let due = if decision.is_closed(cx.now) {
            "expired".to_owned()
        } else {
            due_words(&decision.alert, cx.times(), cx.now)
        };
        format!("{}  {}  {due}", in_words(&decision.resolution), sanitize(&subject(&decision.alert)))
    };
    question.say_some(decisions.iter().map(named), NAMED, cx.theme.plain, &cx.theme);
}
