//! What the mouse can meet: noted while a frame is drawn, looked up when a click comes.

use ratatui::layout::{Position, Rect};

use super::keymap::Action;
use super::screens::queue::columns::Column;
use crate::domain::query::Key;

/// Something that can be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hit {
    /// A row of the list, by its number in the whole list.
    Row(u64),
    /// The title of a column.
    Title(Column),
    /// Whatever a key would do.
    Do(Action),
    /// A chip, by what it sets.
    Chip(Key),
    /// The line between list and detail.
    Divider,
    /// The list's scrollbar.
    Scrollbar,
    /// The list, for the wheel.
    List,
    /// The detail, for the wheel.
    Detail,
    /// An entry of a menu.
    Entry(usize),
    /// A choice of the dialog that asks before leaving.
    Leave(super::screens::leave::Leave),
    /// A row of keys and clients.
    Credential(usize),
    /// A button beside a secret.
    Secret(super::screens::settings::dialogs::SecretStep),
    /// An answer to whether a credential is to be revoked.
    Revoke(super::screens::settings::dialogs::Revoke),
    /// Something of the dialog on a parked decision.
    Settle(super::screens::settle::Spot),
    /// Inside a menu or dialog, on nothing.
    Inside,
}

/// Every area of the last frame that can be clicked; what was drawn later lies above.
#[derive(Debug, Default)]
pub struct Hits {
    areas: Vec<(Rect, Hit)>,
}

impl Hits {
    /// Forgets the last frame.
    pub fn clear(&mut self) {
        self.areas.clear();
    }

    /// Notes an area.
    pub fn push(&mut self, area: Rect, hit: Hit) {
        self.areas.push((area, hit));
    }

    /// What lies topmost at a place.
    pub fn at(&self, column: u16, row: u16) -> Option<Hit> {
        self.areas.iter().rev().find(|(area, _)| area.contains(Position::new(column, row))).map(|(_, hit)| *hit)
    }

    /// The area of something, as it was drawn last.
    pub fn area_of(&self, wanted: Hit) -> Option<Rect> {
        self.areas.iter().rev().find(|(_, hit)| *hit == wanted).map(|(area, _)| *area)
    }
}
