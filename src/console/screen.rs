//! The trait of every screen.

use ratatui::{Frame, layout::Rect};

use super::{Action, AppContext, KeyContext, Message, Orders};
use crate::domain::Timestamp;

/// A screen: it owns its state, what changes it, and how it is drawn.
pub trait Screen {
    /// Takes a message that is for it. Input comes while it is shown and no dialog lies over it; [`Message::Tick`]
    /// after every other message, for what is due.
    fn update(&mut self, message: Message, cx: &mut AppContext) -> Orders;

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
