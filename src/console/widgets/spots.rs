//! What can be clicked in a form, noted while it is drawn. A button acts when it is let go where it was pressed, so that a slip can be
//! taken back.

use std::cell::RefCell;

use ratatui::layout::{Position, Rect};

/// The areas of the last frame, each with what it is.
#[derive(Debug)]
pub struct Spots<S> {
    areas: RefCell<Vec<(Rect, S)>>,
    pressed: Option<S>,
}

impl<S> Default for Spots<S> {
    fn default() -> Self {
        Self { areas: RefCell::default(), pressed: None }
    }
}

impl<S: Copy + PartialEq> Spots<S> {
    /// Forgets the last frame.
    pub fn clear(&self) {
        self.areas.borrow_mut().clear();
    }

    /// Notes an area.
    pub fn push(&self, area: Rect, spot: S) {
        self.areas.borrow_mut().push((area, spot));
    }

    /// What is at a place.
    pub fn at(&self, at: Position) -> Option<S> {
        self.areas.borrow().iter().find(|(area, _)| area.contains(at)).map(|(_, spot)| *spot)
    }

    /// The button of the mouse went down here: on what.
    pub fn press(&mut self, at: Position) -> Option<S> {
        self.pressed = self.at(at);
        self.pressed
    }

    /// It was let go here: on what, if that is what it went down on.
    pub fn release(&mut self, at: Position) -> Option<S> {
        let here = self.at(at);
        self.pressed.take().filter(|pressed| Some(*pressed) == here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_let_go_where_it_was_pressed_is_meant() {
        let mut spots = Spots::default();
        spots.push(Rect::new(0, 0, 4, 1), 'a');
        spots.push(Rect::new(4, 0, 4, 1), 'b');
        let mut drag = |from: u16, to: u16| {
            let pressed = spots.press(Position::new(from, 0));
            (pressed, spots.release(Position::new(to, 0)), spots.release(Position::new(to, 0)))
        };

        assert_eq!(drag(1, 3), (Some('a'), Some('a'), None));
        assert_eq!(drag(1, 5), (Some('a'), None, None));
        assert_eq!(drag(9, 5), (None, None, None));
    }
}
