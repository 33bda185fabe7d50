//! What can be done with a row of the journal, on the screen and in the pane: go to its alert, decide again what failed, say that it is seen to.

use super::rows::{can_be_made_again, live};
use super::state::ChosenRow;
use crate::console::decisions::{State, alert_of};
use crate::console::dialogs::copy_menu::{self, CopiedFact};
use crate::console::resolving::record;
use crate::console::{Action, AppContext, Message, Order, Orders, Tone};
use crate::desk::{DecisionFate, DecisionRecord, JournalStep};

/// Whether an action means something for a row.
pub fn offers(chosen: &ChosenRow, action: Action, cx: &AppContext) -> bool {
    match action {
        Action::GoToAlert | Action::CopyId | Action::CopyJson => chosen.alert.is_some(),
        Action::Reopen => !cx.place.read_only && chosen.record.as_ref().is_some_and(|record| can_be_made_again(record, cx)),
        Action::Dismiss => chosen.record.as_ref().is_some_and(|record| can_be_dismissed(record, cx)),
        _ => false,
    }
}

/// Does an action with a row.
pub fn act(chosen: &ChosenRow, action: Action, cx: &mut AppContext) -> Orders {
    match (action, &chosen.record) {
        (Action::GoToAlert, _) => go_to(chosen, cx),
        (Action::CopyId, _) => chosen.alert.map_or_else(Vec::new, |alert| copy_menu::read(alert, None)),
        (Action::CopyJson, _) => chosen.alert.map_or_else(Vec::new, |alert| copy_menu::read(alert, Some(CopiedFact::Json))),
        (Action::Reopen, Some(decision)) => reopen(decision, cx),
        (Action::Dismiss, Some(decision)) => dismiss(decision, cx),
        (Action::Reopen | Action::Dismiss, None) => {
            cx.notify(Tone::Note, "This is no decision of this desk.");
            Vec::new()
        }
        _ => Vec::new(),
    }
}

fn go_to(chosen: &ChosenRow, cx: &mut AppContext) -> Orders {
    match (&chosen.named, chosen.alert) {
        (Some(named), _) => vec![Order::Act(Action::ShowQueue), Message::GoToFound(Box::new(alert_of(named))).into()],
        (None, Some(alert)) => vec![Message::Seek(alert).into()],
        (None, None) => {
            cx.notify(Tone::Note, "This is about no alert.");
            Vec::new()
        }
    }
}

/// Opens the form on the alert again, as it was filled in.
fn reopen(decision: &DecisionRecord, cx: &mut AppContext) -> Orders {
    if !can_be_made_again(decision, cx) {
        let why = match decision.fate() {
            _ if decision.place != cx.journal.place() => "It was made at another place",
            _ if cx.journal.history().is_superseded(decision) => "A later decision was made on this alert",
            DecisionFate::Recorded(_) | DecisionFate::Overtaken(_) => "The alert is answered",
            DecisionFate::Unknown(_) | DecisionFate::Sent => "It may have arrived: it is never sent twice",
            _ => &not_over(decision, cx),
        };
        cx.notify(Tone::Note, format!("Only what failed is decided again. {why}."));
        return Vec::new();
    }
    vec![Message::Reopen(Box::new(decision.said.clone())).into()]
}

/// Where a decision is that has not come to an end: what waits here is not on its way.
fn not_over(decision: &DecisionRecord, cx: &AppContext) -> String {
    let [ask, undo] = [Action::Refresh, Action::Undo].map(|action| cx.key(action));
    match live(decision, cx).map(|pending| (&pending.state, pending.follows())) {
        Some((State::Waiting, _)) => format!("It waits here, not sent: {ask} asks whether it leaves, {undo} takes it back"),
        Some((State::Staged(_), true)) => format!("It waits here for the refund, not sent: {undo} takes it back"),
        Some((State::Staged(_), false)) => format!("It has not been sent yet: {undo} takes it back"),
        Some(_) => "It is on its way".to_owned(),
        None => "It was made at another console, and what became of it there is not known here".to_owned(),
    }
}

fn can_be_dismissed(decision: &DecisionRecord, cx: &AppContext) -> bool {
    let failed = matches!(decision.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft);
    failed && !decision.dismissed && live(decision, cx).is_none_or(|pending| matches!(pending.state, State::Refused(_)))
}

/// Says that somebody has seen to it.
fn dismiss(decision: &DecisionRecord, cx: &mut AppContext) -> Orders {
    if !can_be_dismissed(decision, cx) {
        let why = if decision.dismissed { "It was seen to already." } else { "Only what certainly failed can be taken off the list." };
        cx.notify(Tone::Note, why);
        return Vec::new();
    }
    cx.decisions.dismiss(decision.said.alert.id);
    vec![record(JournalStep::Dismissed { decision: decision.key.clone() })]
}
