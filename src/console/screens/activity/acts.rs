//! Actions on a row of the Activity screen: open its case, retry, dismiss, copy.

use super::{
    proof::{can_be_made_again, is_overtaken_refund, live},
    rows::ActivityItem,
};
use crate::{
    Action, AppContext, Effect, Message, Order, Orders,
    desk::{AnswerDraft, AnswerStep, DecisionRecord, Fate, JournalStep},
    dialogs::alert_menus,
    domain::AlertId,
    idle::{OTHER_PLACE, READ_ONLY, unless},
};

/// The item under a cursor, on its own.
#[derive(Debug, Clone)]
pub struct ChosenItem {
    pub alert: Option<AlertId>,
    /// The answer, where it is one of this desk.
    record: Option<DecisionRecord>,
    is_attempt: bool,
    draft: Option<AnswerDraft>,
}

impl From<&ActivityItem<'_>> for ChosenItem {
    fn from(item: &ActivityItem<'_>) -> Self {
        Self {
            alert: item.alert(),
            record: item.record().cloned(),
            is_attempt: matches!(item, ActivityItem::Attempt(_)),
            draft: if let ActivityItem::Draft(draft) = item { Some((*draft).clone()) } else { None },
        }
    }
}

/// Reason for which an action means nothing for a row.
pub fn why_idle(chosen: &ChosenItem, action: Action, cx: &AppContext) -> Option<&'static str> {
    let record = chosen.record.as_ref();
    match action {
        Action::Open | Action::CopyId => unless(chosen.alert.is_some(), "this is not about one alert"),
        Action::Reopen if cx.place.read_only => Some(READ_ONLY),
        Action::Reopen => {
            let is_open = record.is_some_and(|record| can_be_made_again(record, cx) || is_unconfirmed(record, cx));
            unless(chosen.is_attempt || chosen.draft.is_some() || is_open, "nothing here can be retried")
        }
        Action::Dismiss => {
            let can_be = record.is_some_and(|record| can_be_dismissed(record, cx));
            unless(chosen.draft.is_some() || can_be, "nothing here can be dismissed")
        }
        _ => Some(OTHER_PLACE),
    }
}

/// Does an action with a row.
pub fn act(chosen: &ChosenItem, action: Action, cx: &mut AppContext) -> Orders {
    if why_idle(chosen, action, cx).is_some() {
        return Vec::new();
    }
    if let Some(draft) = &chosen.draft {
        match action {
            Action::Reopen => return go_on(draft),
            Action::Dismiss => return cx.answer_drafts.drop(draft.id).map(Order::from).into_iter().collect(),
            _ => {}
        }
    }
    match (action, chosen.alert, &chosen.record) {
        (Action::Open, Some(alert), _) => vec![Message::OpenCase(alert).into()],
        (Action::CopyId, Some(alert), _) => alert_menus::read(alert),
        (Action::Reopen, _, Some(decision)) if can_be_made_again(decision, cx) => {
            vec![Message::Reopen(Box::new(decision.said.clone())).into()]
        }
        (Action::Reopen, ..) => look_again(cx),
        (Action::Dismiss, _, Some(decision)) => dismiss(decision, cx),
        _ => Vec::new(),
    }
}

/// Goes where a draft is gone on with: its text stands in the form that its answer opens.
fn go_on(draft: &AnswerDraft) -> Orders {
    match draft.alerts.as_slice() {
        [] => Vec::new(),
        [alert] if !draft.case => vec![Message::Seek(*alert).into()],
        [first, ..] if draft.case => vec![Message::OpenCase(*first).into()],
        alerts => vec![Order::Act(Action::ShowQueue), Effect::ReadAlerts(alerts.to_vec(), draft.id).into()],
    }
}

/// Looks at once at what is unconfirmed; it is never sent again.
fn look_again(cx: &mut AppContext) -> Orders {
    cx.decisions.poll_now(cx.now);
    cx.unfinished.changed(cx.now);
    cx.hint("Checking again. It is not sent twice.");
    Vec::new()
}

fn is_unconfirmed(record: &DecisionRecord, cx: &AppContext) -> bool {
    live(record, cx).map_or_else(|| record.fate().may_have_arrived(), |decision| decision.fate == Fate::Unconfirmed)
}

/// Returns true where somebody can dismiss it, or take that back.
fn can_be_dismissed(record: &DecisionRecord, cx: &AppContext) -> bool {
    let is_over = live(record, cx).is_none_or(|pending| pending.fate == Fate::NotRecorded);
    (record.fate() == Fate::NotRecorded || is_overtaken_refund(record)) && is_over
}

/// Dismisses it; dismissed again that is taken back.
fn dismiss(decision: &DecisionRecord, cx: &mut AppContext) -> Orders {
    cx.decisions.dismiss(decision.said.alert.id);
    if !decision.dismissed {
        cx.hint(format!("Dismissed. In History {} takes that back.", cx.key(Action::Dismiss)));
    }
    let dismissed = JournalStep::Dismissed { decision: decision.key.clone(), taken_back: decision.dismissed };
    // It may be known here alone that it did not leave.
    let read =
        (*decision.step() == AnswerStep::NeverLeft).then(|| JournalStep::Read { decision: decision.key.clone() });
    read.into_iter().chain([dismissed]).map(|step| cx.record(step).into()).collect()
}
