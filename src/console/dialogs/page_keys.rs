//! What the keys of every screen do on a page that lies over one.

use crate::{Action, Order, Orders, screens::ScreenName};

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
