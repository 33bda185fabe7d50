//! What the keys of every screen do on a page that lies over one.

use crate::{
    Action, AppContext, Order, Orders,
    idle::{NONE_STAGED, OTHER_PLACE, unless},
    screens::ScreenName,
};

/// Returns true where an action means the same on a page over the screen as on every screen.
pub fn is_everywhere(action: Action) -> bool {
    use Action::{Help, Mouse, Quit, Suspend, Undo};
    matches!(action, Help | Mouse | Quit | Suspend | Undo)
}

/// Returns true where an action leads away from the page.
pub fn leads_elsewhere(action: Action) -> bool {
    action == Action::Find || ScreenName::of(action).is_some()
}

/// Does what leads away from a page: Find lies over it, and `esc` there brings it back; for anything else it is left,
/// with what lies below it.
pub fn lead_elsewhere(action: Action) -> Orders {
    let left = (action != Action::Find).then_some(Order::Leave);
    left.into_iter().chain([Order::Act(action)]).collect()
}

/// Returns the reason for which an action does nothing on a page now that has no meaning of its own for it.
pub fn why_idle_on_page(action: Action, cx: &AppContext) -> Option<&'static str> {
    match action {
        Action::Undo => unless(cx.decisions.not_left().next().is_some(), NONE_STAGED),
        Action::Back => None,
        action => unless(leads_elsewhere(action) || is_everywhere(action), OTHER_PLACE),
    }
}
