//! The dialog at the start that says what an earlier console left: decisions that did not leave, those whose answer
//! never came, and what was lost with it. It sends nothing.

use ratatui::{Frame, layout::Rect};

use super::question::{KeyedAnswer, Question, answered_of};
use crate::{
    Action, AppContext, ClickTargets, Dialog, Message, Order, Orders,
    decisions::alert_of,
    desk::{JournalAlert, JournalStep, LeftDecision, Leftovers},
    resolving::subject,
    text::sanitize,
    unfinished::said_in_words,
};

/// How many of a kind are named.
const NAMED: usize = 3;

const ANSWERS: [KeyedAnswer<'static, ()>; 1] = [((), "enter", "Continue")];

/// The dialog while it is open.
#[derive(Debug)]
pub struct EarlierSession {
    left: Leftovers,
    targets: ClickTargets<()>,
}

impl EarlierSession {
    /// Tells of what was left unfinished.
    pub fn of(left: Leftovers) -> Self {
        Self { left, targets: ClickTargets::default() }
    }

    fn decisions(&self, question: &mut Question, title: &str, left: &[&LeftDecision], after: &str, cx: &AppContext) {
        let (theme, times) = (&cx.theme, cx.times());
        if left.is_empty() {
            return;
        }
        question.gap();
        question.line(title, theme.warning);
        for left in left.iter().take(NAMED) {
            let word = said_in_words(&left.said);
            let when = times.at(left.sent_at.unwrap_or(left.made_at), cx.now);
            question.line(format!("{word}  {}  {when}", named(&left.said.alert)), theme.plain);
        }
        question.and_more(left.len(), NAMED, theme);
        question.say(after, theme.quiet);
    }
}

fn named(alert: &JournalAlert) -> String {
    sanitize(&subject(&alert_of(alert))).into_owned()
}

impl Dialog for EarlierSession {
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Orders {
        if answered_of(message, &self.targets, &ANSWERS, cx).is_none() {
            return Vec::new();
        }
        let unsent = &self.left.unsent;
        let go = unsent.first().map(|left| Message::GoToAlert(left.said.alert.id).into());
        let read = unsent.iter().map(|left| cx.record(JournalStep::Read { decision: left.key.clone() }).into());
        [Order::Close].into_iter().chain(read).chain(go).collect()
    }

    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext) {
        self.targets.clear();
        let theme = &cx.theme;
        let mut question = Question::new(area).about(&cx.place);
        let Leftovers { unsent, unanswered, lost } = &self.left;
        // Who leaves in order is asked about what has not left; an answer may stay away from them as well.
        question.line(
            match (unsent.is_empty() && lost.is_empty(), unanswered.len()) {
                (false, _) => "The last session ended early",
                (true, 1) => "One answer is unconfirmed",
                (true, _) => "Some answers are unconfirmed",
            },
            theme.strong,
        );
        let [activity, again] = [Action::ShowActivity, Action::Reopen].map(|action| cx.key(action));
        let kept = match cx.place.read_only {
            // Where nothing is sent from, no form opens.
            true => format!("Not sent. Answer again in Activity ({activity})."),
            false => format!("Not sent. Retry in Activity ({activity}, then {again})."),
        };
        self.decisions(&mut question, "Not sent", &unsent.iter().collect::<Vec<_>>(), &kept, cx);
        let (parked, looked_up): (Vec<_>, Vec<_>) =
            unanswered.iter().partition(|left| cx.unfinished.parked_on(left.said.alert.id).is_some());
        let word = format!("Check the network's portal, then {} sets the result.", cx.key(Action::Settle));
        self.decisions(&mut question, "Unconfirmed", &parked, &word, cx);
        let looks = "Checking. It is not sent twice.";
        self.decisions(&mut question, "Sent, no reply", &looked_up, looks, cx);
        if !lost.is_empty() {
            question.gap();
            lost.iter().take(NAMED).for_each(|words| question.say(&sanitize(words), theme.warning));
            question.and_more(lost.len(), NAMED, theme);
        }
        question.gap();
        question.draw(&ANSWERS, &self.targets, theme, frame.buffer_mut());
    }
}
