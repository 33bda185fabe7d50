//! Buttons: what ends a dialog. The one that leaves all as it is stands first and looks alike in all, and so does the
//! one that does it, which stands last.

use std::borrow::Cow;

use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
};

use crate::{
    Pen, Theme,
    areas::{inset, rest_of},
    text::columns,
};

/// What a button does, which is its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ButtonKind {
    /// It leaves all as it is, or changes only the form.
    Quiet,
    /// It does what the dialog is for.
    Primary,
    /// It leaves all as it is where what the dialog asks cannot be undone: it alone is filled, and needs no brackets
    /// for its focus.
    Safe,
}

/// A button of a dialog: what has it, its words, the key that presses it, and its look.
#[derive(Debug, Clone)]
pub struct Button<'b, S> {
    pub spot: S,
    pub words: Cow<'b, str>,
    /// Empty where it has none of its own.
    pub key: Cow<'b, str>,
    pub kind: ButtonKind,
}

impl<'b, S> Button<'b, S> {
    /// A button.
    pub fn new(kind: ButtonKind, spot: S, words: impl Into<Cow<'b, str>>, key: impl Into<Cow<'b, str>>) -> Self {
        Self { spot, words: words.into(), key: key.into(), kind }
    }

    /// One that leaves all as it is.
    pub fn quiet(spot: S, words: impl Into<Cow<'b, str>>, key: impl Into<Cow<'b, str>>) -> Self {
        Self::new(ButtonKind::Quiet, spot, words, key)
    }

    /// One that does what the dialog is for.
    pub fn primary(spot: S, words: impl Into<Cow<'b, str>>, key: impl Into<Cow<'b, str>>) -> Self {
        Self::new(ButtonKind::Primary, spot, words, key)
    }

    /// Columns that it takes with its key.
    fn width(&self) -> u16 {
        let key = if self.key.is_empty() { 0 } else { columns(&self.key) + BESIDE };
        columns(&button(&self.words, false)) + key
    }
}

/// Blank columns between two buttons, and before a button's key.
const BETWEEN: u16 = 4;
const BESIDE: u16 = 2;

/// How many lines buttons take in so many columns.
pub fn button_lines<S>(buttons: &[Button<'_, S>], room: u16) -> u16 {
    placed(buttons, room).last().map_or(1, |(line, _)| line + 1)
}

/// The line and the column of each button.
fn placed<S>(buttons: &[Button<'_, S>], room: u16) -> Vec<(u16, u16)> {
    let widths: Vec<u16> = buttons.iter().map(Button::width).collect();
    flow(&widths, BETWEEN, room)
}

/// Draws buttons, under what stands beside the labels; from the left edge on where they have no room for that, in as
/// many lines as they take. `note` is told where each stands.
pub fn draw_buttons<S: Copy + PartialEq>(
    buttons: &[Button<'_, S>],
    focus: S,
    label: u16,
    (theme, buffer, area): (&Theme, &mut Buffer, Rect),
    mut note: impl FnMut(Rect, S),
) {
    let indented = inset(area, label, 0);
    let area = if button_lines(buttons, indented.width) == 1 { indented } else { area };
    for (each, at) in buttons.iter().zip(placed(buttons, area.width)) {
        note(draw_button(each, focus == each.spot, theme, buffer, rest_of(area, at)), each.spot);
    }
}

/// Draws one button with its key. Returns the area of both.
fn draw_button<S>(each: &Button<'_, S>, focused: bool, theme: &Theme, buffer: &mut Buffer, place: Rect) -> Rect {
    let mut pen = Pen::new(buffer, place);
    let mut drawn = pen
        .put(&button(&each.words, focused && each.kind != ButtonKind::Safe), button_style(theme, each.kind, focused));
    if !each.key.is_empty() {
        pen.skip(BESIDE);
        drawn = drawn.union(pen.put(&each.key, theme.key));
    }
    drawn
}

/// Row and column of things of these widths beside each other, in a row more where one has no room.
pub fn flow(widths: &[u16], gap: u16, room: u16) -> Vec<(u16, u16)> {
    let (mut row, mut x) = (0, 0);
    let place = |width: &u16| {
        if x > 0 && x + width > room {
            (row, x) = (row + 1, 0);
        }
        let at = (row, x);
        x += width + gap;
        at
    };
    widths.iter().map(place).collect()
}

/// A button's look: without colour the one that has the focus is in reverse.
pub fn button_style(theme: &Theme, kind: ButtonKind, focused: bool) -> Style {
    let style = match kind {
        ButtonKind::Quiet => theme.button,
        ButtonKind::Primary | ButtonKind::Safe => theme.primary,
    };
    let by_reverse = focused && theme.selection.add_modifier.contains(Modifier::REVERSED);
    if by_reverse { style.patch(theme.selection) } else { style }
}

/// A button's text; the one that has the focus is in brackets.
pub fn button(text: &str, focused: bool) -> String {
    if focused { format!("[ {text} ]") } else { format!("  {text}  ") }
}
