//! What the keys of every screen do on a page that lies over one.

use crate::{
    Action, AppContext, Order, Orders,
    idle::{NONE_STAGED, OTHER_PLACE, unless},
    screens::ScreenName,
};

/// Does what an action means on every page; none where it has no meaning beside a page's own. For a screen the page is
/// left, with what lies below it.
pub fn on_every_page(action: Action) -> Option<Orders> {
    use Action::{Find, Help, Mouse, Quit, Suspend, Undo};
    match action {
        Find | Help | Mouse | Quit | Suspend | Undo => Some(vec![Order::Act(action)]),
        _ => ScreenName::of(action).map(|_| vec![Order::Leave, Order::Act(action)]),
    }
}

/// Returns the reason for which an action does nothing on a page now that has no meaning of its own for it.
pub fn why_idle_on_page(action: Action, cx: &AppContext) -> Option<&'static str> {
    match action {
        Action::Undo => unless(cx.decisions.not_left().next().is_some(), NONE_STAGED),
        Action::Back => None,
        action => unless(on_every_page(action).is_some(), OTHER_PLACE),
    }
}
