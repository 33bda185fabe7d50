//! The traits of screens and dialogs, and the tasks that come of what they hear.

use ratatui::{Frame, buffer::Buffer, layout::Rect};

use super::{Action, AppContext, Effect, KeyContext, Message, idle::OTHER_PLACE};
use crate::domain::{AlertId, Timestamp};

/// A dialog: it owns its state, what changes it, and how it is drawn.
pub trait Dialog: Send {
    /// Takes a message: input while it is on top, and whatever else happens before a screen hears of it.
    fn update(&mut self, message: &Message, cx: &mut AppContext) -> Tasks;

    /// Works out anew what it shows of what others have changed: after each message, before it is drawn.
    fn refresh(&mut self, _: &AppContext) {}

    /// Draws it over the screen. What can be clicked is noted on the way.
    fn draw(&self, frame: &mut Frame<'_>, area: Rect, cx: &AppContext);

    /// Returns true where it stands in the columns of the Queue's list, with a detail of its own beside it.
    fn docks(&self) -> bool {
        false
    }

    /// Draws the detail beside it, where it docks.
    fn draw_beside(&self, _: &mut Buffer, _: Rect, _: &AppContext) {}

    /// Draws its keys into the footer, after it was drawn itself. What lies on a screen has them in its own area
    /// instead.
    fn draw_keys(&self, _: &mut Buffer, _: Rect, _: &AppContext) {}

    /// When it wants to hear of the time: a [`Message::Tick`].
    fn next_due(&self) -> Option<Timestamp> {
        None
    }

    /// Returns true where an unasked question may open over it, since nothing is typed there.
    fn takes_questions(&self) -> bool {
        false
    }

    /// Returns true where what it asks or says is no longer so: it is taken away.
    fn is_stale(&self, _: &AppContext) -> bool {
        false
    }

    /// The alerts that its user is about to answer.
    fn in_hand(&self) -> Vec<AlertId> {
        Vec::new()
    }

    /// The contexts of its keys, where it is a page with actions of the keymap; the innermost first.
    fn contexts(&self) -> &'static [KeyContext] {
        &[]
    }

    /// Returns the reason for which an action of those contexts does nothing on it now.
    fn why_idle(&self, _: Action, _: &AppContext) -> Option<&'static str> {
        Some(OTHER_PLACE)
    }

    /// Does an action that was chosen in a list over it; `None` where that is not its own.
    fn act(&mut self, _: Action, _: &mut AppContext) -> Option<Tasks> {
        None
    }

    /// The decision, or the run of them, whose fate it tells: no notification repeats that beside it.
    fn tells_fate(&self, _: &AppContext) -> Option<String> {
        None
    }

    /// Returns true where it is a list with nothing to lose, which is closed for the palette and for Find.
    fn gives_way(&self) -> bool {
        false
    }

    /// Returns the effects of taking it away unanswered.
    fn abandon(&mut self, _: &mut AppContext) -> Vec<Effect> {
        Vec::new()
    }
}

/// Tasks of an update to the application, in this order.
pub type Tasks = Vec<Task>;

/// One thing that is wanted of the application.
pub enum Task {
    /// Perform an effect.
    Run(Box<Effect>),
    /// Hand a message to the screen that it is for.
    Send(Box<Message>),
    /// Do what a key would do.
    Act(Action),
    /// Do what was chosen in a list: what a key would do where one is, but what would send opens its form.
    Choose(Action),
    /// Lay a dialog over what is there.
    Open(Box<dyn Dialog>),
    /// Lay a dialog over the screen as soon as no other one is there.
    OpenNext(Box<dyn Dialog>),
    /// Take away the dialog on top.
    Close,
    /// Take away whatever lies over the screen, unanswered.
    Leave,
}

impl From<Effect> for Task {
    fn from(effect: Effect) -> Self {
        Self::Run(Box::new(effect))
    }
}

impl From<Message> for Task {
    fn from(message: Message) -> Self {
        Self::Send(Box::new(message))
    }
}

/// The outcome that performs these effects.
pub fn run(effects: Vec<Effect>) -> Tasks {
    effects.into_iter().map(Task::from).collect()
}

/// The outcome that opens a dialog.
pub fn open(dialog: impl Dialog + 'static) -> Tasks {
    vec![Task::Open(Box::new(dialog))]
}

/// A screen: it owns its state, what changes it, and how it is drawn.
pub trait Screen {
    /// Takes a message that is for it. Input comes while it is shown and no dialog lies over it; [`Message::Tick`]
    /// after every other message, for what is due.
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Tasks;

    /// Draws it into the body of the frame. What can be clicked is noted on the way.
    fn draw(&self, frame: &mut Frame<'_>, body: Rect, cx: &AppContext);

    /// Returns the context of the keymap whose keys it takes, beside those of every screen.
    fn keys(&self) -> KeyContext;

    /// When [`Message::Tick`] has something to do by itself.
    fn next_due(&self) -> Option<Timestamp>;

    /// Takes the frame's size, and how many lines notifications need beyond the one that is kept for them.
    fn resize(&mut self, _area: Rect, _more_notes: u16) {}

    /// Returns true where it goes on while another screen is shown.
    fn runs_hidden(&self) -> bool {
        false
    }

    /// Returns the footer's name of an action here, where it is not the keymap's.
    fn words(&self, _action: Action, _cx: &AppContext) -> Option<String> {
        None
    }

    /// Returns the actions that the footer tells of before all else.
    fn leads_with(&self) -> Option<Action> {
        None
    }

    /// Returns the reason for which an action does nothing now.
    fn why_idle(&self, _action: Action, _cx: &AppContext) -> Option<&'static str> {
        None
    }
}
