//! Click targets: the areas of the last frame that can be clicked, noted while it is drawn. What each stands for is its
//! owner's alone. A button acts when it is let go where it was pressed, so that a slip can be taken back.

use std::cell::RefCell;

use crossterm::event::{Event, MouseButton, MouseEventKind};
use ratatui::layout::{Position, Rect};

/// The areas of the last frame, each with what it is; what was drawn later lies above.
#[derive(Debug, Clone)]
pub struct ClickTargets<T> {
    areas: RefCell<Vec<(Rect, T)>>,
    pressed: Option<T>,
}

impl<T> Default for ClickTargets<T> {
    fn default() -> Self {
        Self { areas: RefCell::default(), pressed: None }
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

    /// What lies topmost at a place.
    pub fn at(&self, at: Position) -> Option<T> {
        self.areas.borrow().iter().rev().find(|(area, _)| area.contains(at)).map(|(_, target)| *target)
    }

    /// What an event clicks: where the left button of the mouse went down.
    pub fn clicked(&self, event: &Event) -> Option<T> {
        match event {
            Event::Mouse(mouse) if mouse.kind == MouseEventKind::Down(MouseButton::Left) => {
                self.at((mouse.column, mouse.row).into())
            }
            _ => None,
        }
    }

    /// The button of the mouse went down here: on what.
    pub fn press(&mut self, at: Position) -> Option<T> {
        self.pressed = self.at(at);
        self.pressed
    }

    /// It was let go here: on what, if that is what it went down on.
    pub fn release(&mut self, at: Position) -> Option<T> {
        let here = self.at(at);
        self.pressed.take().filter(|pressed| Some(*pressed) == here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_let_go_where_it_was_pressed_is_meant() {
        let mut targets = ClickTargets::default();
        targets.push(Rect::new(0, 0, 4, 1), 'a');
        targets.push(Rect::new(4, 0, 4, 1), 'b');
        let mut drag = |from: u16, to: u16| {
            let pressed = targets.press(Position::new(from, 0));
            (pressed, targets.release(Position::new(to, 0)), targets.release(Position::new(to, 0)))
        };

        assert_eq!(drag(1, 3), (Some('a'), Some('a'), None));
        assert_eq!(drag(1, 5), (Some('a'), None, None));
        assert_eq!(drag(9, 5), (None, None, None));
    }

    #[test]
    fn what_was_drawn_later_lies_above() {
        let targets = ClickTargets::default();
        targets.push(Rect::new(0, 0, 9, 9), 'a');
        targets.push(Rect::new(4, 4, 1, 1), 'b');

        assert_eq!((targets.at(Position::new(4, 4)), targets.at(Position::new(3, 4))), (Some('b'), Some('a')));
    }
}
