//! The list of views: the built-in ones, then one's own.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::console::hits::Hits;
use crate::console::keymap::Context;
use crate::console::look::Look;
use crate::console::text::clean;
use crate::console::widgets::menu::{Choice, Menu};
use crate::desk::{BuiltIn, SavedView};

/// Columns for the names.
const NAMES: usize = 17;

/// The names of all views in their order.
pub fn names(own: &[SavedView]) -> Vec<String> {
    BuiltIn::ALL.iter().map(|view| view.name().to_owned()).chain(own.iter().map(|view| view.name.clone())).collect()
}

/// Draws the list over the screen.
pub fn draw(choice: Choice, own: &[SavedView], current: &str, look: &Look<'_>, frame: &mut Frame<'_>, area: Rect, hits: &mut Hits) {
    let theme = look.theme;
    let line = |name: &str, about: &str| {
        let style = if name == current { theme.accent } else { theme.strong };
        let sign = if name == current { "• " } else { "  " };
        Line::from(vec![
            Span::styled(sign, theme.accent),
            Span::styled(format!("{:<NAMES$}", clean(name)), style),
            Span::styled(clean(about).into_owned(), theme.quiet),
        ])
    };
    let built_in = BuiltIn::ALL.iter().map(|view| line(view.name(), view.about()));
    let entries = built_in.chain(own.iter().map(|view| line(&view.name, &view.query))).collect();
    let menu = Menu {
        title: "Views",
        entries,
        groups: Vec::new(),
        choice,
        contexts: &[Context::Menu, Context::Views],
        empty: "",
        picks: true,
        width: 96,
        field: 0,
    };
    menu.draw(look, frame, area, hits);
}
