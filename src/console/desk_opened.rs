//! A desk that can be written and could not be at the start: what was decided and begun
//! meanwhile is kept there.

use uuid::Uuid;

use super::{
    Effect, Keep, Order, Orders, Tone,
    app::App,
    desk_check::DeskCheck,
    dialogs::{question::ask, unsent::EarlierSession},
};
use crate::desk::{Layout, Leftovers};

impl App {
    /// Takes in that the desk was opened to be written, under this name in its journal, or that it still cannot be.
    pub(super) fn desk_opened(&mut self, answer: Result<(Uuid, Leftovers), String>) -> Orders {
        let cx = &mut self.cx;
        let Ok((session, mut left)) = answer else {
            cx.desk = DeskCheck::failed(cx.now);
            return Vec::new();
        };
        // From here on nothing leaves that is not in the journal: first of all comes what it does not have yet.
        let mut effects =
            vec![Effect::UseDesk, Effect::Keep(Keep::JournalEntries(cx.journal.kept_from(session, cx.now)))];
        cx.unkept.keeps_again();
        effects.extend(cx.keep_again());
        // What the screens look like is kept anew.
        self.kept = Layout::default();
        self.cx.notify(Tone::Good, "This computer's files can be written again. Everything is saved.");
        let cx = &mut self.cx;
        // What was decided here on an alert is the newer one.
        left.unanswered.retain(|left| cx.decisions.of(left.said.alert.id).is_none());
        let mut orders: Orders = effects.into_iter().map(Order::from).collect();
        orders.extend(self.take_left(left).map(|said| Order::OpenNext(ask(said))));
        orders
    }

    /// Takes in what earlier consoles left unfinished; what is to be said of it.
    pub(super) fn take_left(&mut self, left: Leftovers) -> Option<EarlierSession> {
        let cx = &mut self.cx;
        for left in &left.unanswered {
            cx.decisions.adopt(left, cx.now);
        }
        cx.journal.know_unsent(&left.unsent, cx.now);
        (!left.is_empty()).then(|| EarlierSession(left))
    }
}
