//! Widgets: parts that screens and dialogs are drawn with. They know text, pen and theme, and nothing of what they are
//! part of.

pub mod buttons;
pub mod panel;
pub mod scrollbar;
pub mod text_input;

use std::cell::RefCell;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// The areas of the last frame, each with what it is; what was drawn later lies above.
#[derive(Debug, Clone)]
pub struct ClickTargets<T> {
    areas: RefCell<Vec<(Rect, T)>>,
}

impl<T> Default for ClickTargets<T> {
    fn default() -> Self {
        Self { areas: RefCell::default() }
    }
}

impl<T: Copy + PartialEq> ClickTargets<T> {
    /// Forgets the last frame.
    pub fn clear(&self) {
        self.areas.borrow_mut().clear();
    }

    /// Notes an area.
    pub fn push(&self, area: Rect, target: T) {
        self.areas.borrow_mut().push((area, target));
    }

    /// The topmost target at a place.
    pub fn at(&self, at: Position) -> Option<T> {
        self.areas.borrow().iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| *target)
    }

    /// The target that an event clicks: where the left button of the mouse went down.
    pub fn clicked(&self, event: &Event) -> Option<T> {
        match event {
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => {
                self.at((mouse.column, mouse.row).into())
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_later_lies_above() {
        let targets = ClickTargets::default();
        targets.push(Rect::new(0, 0, 9, 9), 'a');
        targets.push(Rect::new(4, 4, 1, 1), 'b');

        assert_eq!((targets.at(Position::new(4, 4)), targets.at(Position::new(3, 4))), (Some('b'), Some('a')));
    }
}
