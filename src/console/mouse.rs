//! The mouse: clicks on whatever the last frame showed, the wheel, and dragging.

use chrono::Duration;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};

use super::app::{App, ScreenName};
use super::effects::Effect;
use super::hits::Hit;
use super::keymap::Action;
use super::overlays::Overlay;
use super::widgets::menu::Choice;
use crate::domain::{AlertId, Timestamp, query};

/// Two clicks within so long are a double click.
const DOUBLE_CLICK: Duration = Duration::milliseconds(400);

/// Rows a notch of the wheel.
const WHEEL: i64 = 3;

/// What the mouse is doing.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    on: bool,
    last_click: Option<(AlertId, Timestamp)>,
    drag: Option<Hit>,
}

impl Mouse {
    pub(super) fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Whether the console has the mouse.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Takes the mouse or gives it back; whether the console has it now.
    pub(super) fn toggle(&mut self) -> bool {
        self.on = !self.on;
        self.on
    }
}

impl App {
    pub(super) fn mouse_event(&mut self, event: MouseEvent) -> Vec<Effect> {
        let hit = self.hits.at(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => match hit {
                Some(hit) => self.click(hit, event),
                None => Vec::new(),
            },
            MouseEventKind::Drag(MouseButton::Left) => {
                self.drag(event);
                Vec::new()
            }
            MouseEventKind::Up(_) => {
                self.mouse.drag = None;
                Vec::new()
            }
            MouseEventKind::ScrollDown => self.wheel(event, WHEEL),
            MouseEventKind::ScrollUp => self.wheel(event, -WHEEL),
            _ => Vec::new(),
        }
    }

    fn wheel(&mut self, event: MouseEvent, rows: i64) -> Vec<Effect> {
        if self.screen == ScreenName::Settings {
            self.settings_screen.move_by(rows.signum());
            return Vec::new();
        }
        let in_detail = self.queue.regions().detail.is_some_and(|area| area.contains((event.column, event.row).into()));
        if in_detail || self.queue.page {
            self.scroll_detail(rows);
        } else {
            self.queue.listing.scroll_by(rows);
        }
        Vec::new()
    }

    fn click(&mut self, hit: Hit, event: MouseEvent) -> Vec<Effect> {
        match hit {
            Hit::Row(row) => return self.click_row(row),
            Hit::Credential(row) => self.settings_screen.move_to(row),
            Hit::Title(column) => {
                if let Some(field) = column.sort_field() {
                    return self.queue.sort_by(field);
                }
            }
            Hit::Do(action) => return self.act(action),
            Hit::Chip(key) => {
                let (filter, sort) = query::without(self.queue.filter().clone(), self.queue.sort(), key);
                return self.queue.ask(filter, sort);
            }
            Hit::Divider | Hit::Scrollbar => {
                self.mouse.drag = Some(hit);
                self.drag(event);
            }
            Hit::List | Hit::Detail | Hit::Entry(_) | Hit::Leave(_) | Hit::Settle(_) | Hit::Secret(_) | Hit::Revoke(_) | Hit::Inside => {}
        }
        Vec::new()
    }

    fn click_row(&mut self, row: u64) -> Vec<Effect> {
        self.queue.listing.move_to(row);
        // The alert is what was clicked, wherever its row may be by the second click.
        let Some(id) = self.queue.listing.cursor_id() else { return Vec::new() };
        let before = self.mouse.last_click.replace((id, self.now));
        if before.is_some_and(|(clicked, at)| clicked == id && self.now - at <= DOUBLE_CLICK) {
            self.mouse.last_click = None;
            return self.act(Action::Open);
        }
        Vec::new()
    }

    fn drag(&mut self, event: MouseEvent) {
        match self.mouse.drag {
            Some(Hit::Divider) => {
                let percent = u32::from(event.column) * 100 / u32::from(self.area.width.max(1));
                self.move_divider(u8::try_from(percent).unwrap_or(100));
            }
            Some(Hit::Scrollbar) => {
                let rows = self.queue.regions().rows;
                let line = u64::from(event.row.saturating_sub(rows.y).min(rows.height.saturating_sub(1)));
                let last = u64::from(rows.height.max(2)) - 1;
                let listing = &mut self.queue.listing;
                let furthest = listing.rows().saturating_sub(u64::from(rows.height));
                listing.scroll_to(furthest * line / last);
            }
            _ => {}
        }
    }

    pub(super) fn mouse_to_menu(&mut self, overlay: Overlay, event: MouseEvent) -> Vec<Effect> {
        let hit = self.hits.at(event.column, event.row);
        match (event.kind, hit, overlay) {
            (MouseEventKind::ScrollDown, _, overlay) => return self.act_in_menu_or_keep(overlay, Action::MenuDown),
            (MouseEventKind::ScrollUp, _, overlay) => return self.act_in_menu_or_keep(overlay, Action::MenuUp),
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Entry(index)), Overlay::Help(mut help)) => {
                help.choice = Choice::at(index);
                return self.act_in_menu(Overlay::Help(help), Action::MenuPick);
            }
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Entry(index)), Overlay::Views(_)) => {
                return self.act_in_menu(Overlay::Views(Choice::at(index)), Action::MenuPick);
            }
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Entry(index)), Overlay::NewCredential(_)) => {
                return self.act_in_menu(Overlay::NewCredential(Choice::at(index)), Action::MenuPick);
            }
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Entry(index)), Overlay::Columns(_)) => {
                return self.act_in_menu(Overlay::Columns(Choice::at(index)), Action::ColumnToggle);
            }
            (
                MouseEventKind::Down(MouseButton::Left),
                Some(Hit::Do(action)),
                overlay @ (Overlay::Help(_) | Overlay::Views(_) | Overlay::Columns(_) | Overlay::NewCredential(_)),
            ) => {
                return self.act_in_menu(overlay, action);
            }
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Leave(choice)), Overlay::Leave) => return self.leave(choice),
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Secret(step)), Overlay::Secret(dialog)) => {
                return self.step_secret(dialog, step);
            }
            (MouseEventKind::Down(MouseButton::Left), Some(Hit::Revoke(choice)), Overlay::Revoke(credential)) => {
                return self.answer_revoke(&credential, choice);
            }
            (_, _, overlay) => self.overlay = Some(overlay),
        }
        Vec::new()
    }

    fn act_in_menu_or_keep(&mut self, overlay: Overlay, action: Action) -> Vec<Effect> {
        match overlay {
            overlay @ (Overlay::Help(_) | Overlay::Views(_) | Overlay::Columns(_) | Overlay::NewCredential(_)) => {
                self.act_in_menu(overlay, action)
            }
            other => {
                self.overlay = Some(other);
                Vec::new()
            }
        }
    }
}
