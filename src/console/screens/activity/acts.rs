//! What can be done with a row of the journal, on the screen and in the pane: go to its alert, unfold a run, decide
//! again what failed, say that it is seen to.

use super::proof::{can_be_made_again, live};
use super::state::ChosenRow;
use super::views::ShownRows;
use crate::console::decisions::{State, alert_of};
use crate::console::dialogs::copy_menu::{self, CopiedFact};
use crate::console::idle::{OTHER_PLACE, READ_ONLY, unless};
use crate::console::resolving::record;
use crate::console::{Action, AppContext, KeyContext, Message, Order, Orders};
use crate::desk::{DecisionFate, DecisionRecord, JournalStep};

/// Why an action means nothing for a row.
pub fn why_idle(chosen: &ChosenRow, action: Action, cx: &AppContext) -> Option<&'static str> {
    let is =
        |what: fn(&DecisionRecord, &AppContext) -> bool| chosen.record.as_ref().is_some_and(|record| what(record, cx));
    match action {
        Action::GoToAlert => unless(chosen.alert.is_some() || chosen.run.is_some(), ABOUT_NONE),
        Action::CopyId | Action::CopyJson => unless(chosen.alert.is_some(), ABOUT_NONE),
        Action::Reopen if cx.place.read_only => Some(READ_ONLY),
        Action::Reopen => unless(is(can_be_made_again), "this is not to be decided again"),
        Action::Dismiss => unless(is(can_be_dismissed), "this is not to be seen to"),
        _ => Some(OTHER_PLACE),
    }
}

/// Why nothing is done with the alert of a row.
const ABOUT_NONE: &str = "this is not about one alert";

/// What the key that goes to a row's alert is called, where that is not what the keymap calls it.
pub fn words_of_going(chosen: &ChosenRow, shown: &ShownRows) -> Option<&'static str> {
    let run = chosen.run.as_deref()?;
    Some(if shown.is_unfolded(run) { "fold" } else { "show each" })
}

/// Does an action with a row.
pub fn act(chosen: &ChosenRow, action: Action, cx: &mut AppContext) -> Orders {
    match (action, chosen.alert, &chosen.record) {
        (Action::GoToAlert, ..) => go_to(chosen, cx),
        (Action::CopyId, Some(alert), _) => copy_menu::read(alert, None),
        (Action::CopyJson, Some(alert), _) => copy_menu::read(alert, Some(CopiedFact::Json)),
        (Action::Reopen, _, Some(decision)) => reopen(decision, cx),
        (Action::Dismiss, _, Some(decision)) => dismiss(decision, cx),
        (Action::Reopen | Action::Dismiss | Action::CopyId | Action::CopyJson, ..) => {
            cx.hint(not_for_this(chosen, action, cx));
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
            cx.hint("This is about no alert.".to_owned());
            Vec::new()
        }
    }
}

/// What a key is for that does nothing with a row, and which one does something.
fn not_for_this(chosen: &ChosenRow, action: Action, cx: &AppContext) -> String {
    let [key, goes] = [action, Action::GoToAlert].map(|action| cx.settings.keymap.key_in(KeyContext::Activity, action));
    let does = match action {
        Action::Reopen => "opens the form of a decision that failed",
        Action::Dismiss => "says that a decision that failed is seen to",
        _ => "copies from an alert",
    };
    match (&chosen.run, chosen.alert) {
        (Some(_), _) => format!("{key} {does}: {goes} shows each of these."),
        (None, Some(_)) => format!("{key} {does}; {goes} goes to the alert that this is about."),
        (None, None) => format!("{key} {does}; this is about no alert."),
    }
}

/// Opens the form on the alert again, as it was filled in.
fn reopen(decision: &DecisionRecord, cx: &mut AppContext) -> Orders {
    if !can_be_made_again(decision, cx) {
        let why = match decision.fate() {
            _ if decision.place != cx.journal.place() => "It was made at another place",
            _ if cx.journal.history().is_superseded(decision) => "A later decision was made on this alert",
            fate if fate.status().is_some() => "The alert is answered",
            DecisionFate::Unknown(_) | DecisionFate::Sent => {
                let goes = cx.settings.keymap.key_in(KeyContext::Activity, Action::GoToAlert);
                let words = format!(
                    "It may have arrived, and is looked up by itself: {goes} goes to its alert, where a new answer is \
                        given."
                );
                cx.hint(words);
                return Vec::new();
            }
            _ => &not_over(decision, cx),
        };
        cx.hint(format!("Only what failed is decided again. {why}."));
        return Vec::new();
    }
    vec![Message::Reopen(Box::new(decision.said.clone())).into()]
}

/// Where a decision is that has not come to an end: what waits here is not on its way.
fn not_over(decision: &DecisionRecord, cx: &AppContext) -> String {
    let [ask, undo] = [Action::Refresh, Action::Undo].map(|action| cx.key(action));
    match live(decision, cx).map(|pending| (&pending.state, pending.follows())) {
        Some((State::Waiting, _)) => {
            format!("It waits here, not sent: {ask} asks whether it leaves, {undo} takes it back")
        }
        Some((State::Staged(_), true)) => format!("It waits here for the refund, not sent: {undo} takes it back"),
        Some((State::Staged(_), false)) => format!("It has not been sent yet: {undo} takes it back"),
        Some(_) => "It is on its way".to_owned(),
        None => "It was made at another console, and what became of it there is not known here".to_owned(),
    }
}

/// Whether somebody can say that it is seen to, or take that back.
fn can_be_dismissed(decision: &DecisionRecord, cx: &AppContext) -> bool {
    let failed = matches!(decision.fate(), DecisionFate::Refused(_) | DecisionFate::NeverLeft);
    failed && live(decision, cx).is_none_or(|pending| matches!(pending.state, State::Refused(_)))
}

/// Says that somebody has seen to it; said again that is taken back.
fn dismiss(decision: &DecisionRecord, cx: &mut AppContext) -> Orders {
    if !can_be_dismissed(decision, cx) {
        cx.hint("Only what certainly failed can be taken off the list.".to_owned());
        return Vec::new();
    }
    cx.decisions.dismiss(decision.said.alert.id);
    if !decision.dismissed {
        let key = cx.settings.keymap.key_in(KeyContext::Activity, Action::Dismiss);
        cx.hint(format!("Seen to. In the view All {key} takes that back."));
    }
    let dismissed = JournalStep::Dismissed { decision: decision.key.clone(), taken_back: decision.dismissed };
    // It may be known here alone that it did not leave.
    let read =
        (*decision.fate() == DecisionFate::NeverLeft).then(|| JournalStep::Read { decision: decision.key.clone() });
    read.into_iter().chain([dismissed]).map(record).collect()
}
