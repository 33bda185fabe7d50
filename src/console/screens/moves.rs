//! Moves by the keys and the wheel that mean the same in every list and text.

use crossterm::event::{Event, MouseEventKind};

use crate::{Action, ui::table::moved};

/// The row that an action moves a cursor to among so many rows; `None` for an action that does not move.
pub fn row_after(action: Action, at: usize, rows: usize, page: usize) -> Option<usize> {
    let page = isize::try_from(page.max(2) - 1).unwrap_or(1);
    let by = match action {
        Action::Down => 1,
        Action::Up => -1,
        Action::PageDown => page,
        Action::PageUp => -page,
        Action::Top => isize::MIN,
        Action::Bottom => isize::MAX,
        _ => return None,
    };
    Some(moved(at, by, rows))
}

/// The way of the mouse's wheel: 1 for down, -1 for up.
pub fn wheel(event: &Event) -> Option<i16> {
    let Event::Mouse(mouse) = event else { return None };
    match mouse.kind {
        MouseEventKind::ScrollDown => Some(1),
        MouseEventKind::ScrollUp => Some(-1),
        _ => None,
    }
}
